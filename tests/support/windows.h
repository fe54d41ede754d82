/*
 * Random sliding windows and what follows from them, for the tests of convolution, deconvolution and pooling.
 */
#ifndef TESTS_SUPPORT_WINDOWS_H
#define TESTS_SUPPORT_WINDOWS_H

#include "tests/support/check.h"

/*
 * A window over `rank` (1..3) spatial dims, an input extent in[3] and the output extent out[3], both [D, H,
 * W].
 */
void windows_make(struct rng *r, struct ig_window *w, int rank, int32_t *in, int32_t *out);
/* The same for a transposed window: out from in; padding after may be negative. */
void windows_make_back(struct rng *r, struct ig_window *w, int rank, int32_t *in, int32_t *out);
/* Shape of input k (or output k) of p: [1, extent.., c], f32. */
void windows_image(struct check_problem *p, int k, int rank, const int32_t *extent, int32_t c, int is_output);
/* Input rows that output rows [y0, y1) read, as check_body.rows. */
void windows_rows(const struct check_problem *p, const struct ig_window *w, int32_t y0, int32_t y1,
                  int32_t *a, int32_t *b);
/* The same of a transposed window. */
void windows_rows_back(const struct check_problem *p, const struct ig_window *w, int32_t y0, int32_t y1,
                       int32_t *a, int32_t *b);
/* A fusable activation; on integers one whose result is exact. */
struct ig_act windows_act(struct rng *r, enum check_pass pass);
/* Made of additions, products and comparisons alone? */
/* Scales, mostly the weights' too, maybe a bias, and an activation for a product of integers of n channels, whose sums are about `size`. */
void windows_scales(struct rng *r, enum check_pass pass, struct check_problem *p, int32_t n, double size, struct ig_act *act);
int windows_act_is_linear(const struct ig_act *act);
/* p->text from the window. */
void windows_text(struct check_problem *p, const struct ig_window *w, const int32_t *in, int32_t ic,
                  int32_t oc);

#endif
