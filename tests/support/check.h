/*
 * The kernel test: one body per op makes random problems; everything else is generic over the registry. A
 * kernel that runs here is checked on the problems it supports:
 *   oracle    the whole output against the reference kernel: bit for bit on small integers, within a bound from
 *             sum |a||b| on reals; a kernel whose descriptor states an error keeps within just that, on both
 *   contract  the same bits when data starts or ends at an unmapped page, when the output is cut at tile
 *             multiples, from views with gaps and from rings of rows (IG_STRIDED), from several threads, and
 *             in place; nothing outside the rectangle is written. Gaps, missing ring rows and scratch hold
 *             NaN.
 * A fault is that kernel's failure.
 */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include "kernels_cpu/registry.h"
#include "tests/support/rng.h"

enum check_pass { CHECK_INTEGERS = 0, CHECK_REALS, CHECK_PASSES };

enum { CHECK_NO_NUMBERS = 2 };

struct check_problem {            /* zeroed, but for op, before make() */
    char text[160];               /* what it is, for messages */
    enum ig_op op;                /* the body's */
    union ig_attrs attrs;
    union ig_attrs magnitude;     /* under these the reference, run on |inputs|, gives sum |a||b| */
    int32_t n_in, n_out;
    struct ig_shape in[IG_MAX_IN], out[IG_MAX_OUT]; /* one image: N = 1 */
    uint32_t has_in, has_out;     /* bit k: operand k is there */
    uint32_t constant;            /* bit k: input k is known when the plan is made */
    uint32_t dense;               /* bit k: input k, though not constant, is always dense and whole */
    double low[IG_MAX_IN];        /* smallest value; where low and high are 0: -4 of integers, -1 of reals */
    double high[IG_MAX_IN];       /* largest */
    uint32_t bell;                /* bit k: of input k's integers most are about the middle, as trained weights are; few are at the ends */
    int specials;                 /* of reals some are no number, infinite or -0; CHECK_NO_NUMBERS: no number */
    int any_nan;                  /* sign and payload of what is no number may depend on the cut: which operand an instruction takes first does */
    int broadcasts;               /* inputs are numpy-broadcast to the output */
    int steps_first;              /* rows of out[0] [T,...,C] and of the others [...,C] are the dims between: image_steps_first */
    int exact;                    /* floats must equal the reference's */
    double terms;                 /* else: products summed per element; 0: no sum, magnitude is unused */
    double rel, abs;              /* and: further error, in units of eps |y| and of eps */
};

struct check_body {
    enum ig_op op;
    int problems;                 /* to check per kernel and pass */
    int draws;                    /* to try for that */
    void (*make)(struct rng *r, enum check_pass pass, struct check_problem *p);
    /*
     * Rows [*a, *b) of input `in` (neither constant nor dense) that output rows [y0, y1) need; NULL: the same
     * rows, or all of 1
     */
    void (*rows)(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b);
};

/* Shapes and presence of an operand of p. */
void check_in(struct check_problem *p, int k, int type, int rank, const int32_t *dims);
void check_out(struct check_problem *p, int k, int type, int rank, const int32_t *dims);

/* 0; or -1 with what is wrong, where, on which problem, and the seed. */
int check_kernel(const struct ig_kernel *k, const struct check_body *body, uint64_t seed, char *why,
                 size_t why_bytes);

/*
 * main() of tests/kernels/<op>.c: one cmocka test per kernel of the registry that is of body->op and runs
 * here. argv[1]: only kernels whose name contains it. In the environment, INGOT_SEED: the seed; INGOT_MEMORY=n: n
 * problems per kernel and pass, small ones where it takes such, held to the contract but not to the reference, as is
 * enough under valgrind.
 */
int check_main(const struct check_body *body, int argc, char **argv);
/* The same for a family of n ops. */
int check_main_of(const struct check_body *bodies, int n, int argc, char **argv);

#endif
