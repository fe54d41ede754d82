/* Random transposed convolutions: strides, dilations, groups, output padding, 1-D to 3-D; all epilogues. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/windows.h"

/* Few pixels of many channels: weights that kernels take a part of at a time, a phase or some channels. */
static void wide(struct rng *r, int32_t *ic, int32_t *oc, const int32_t *out)
{
    if (out[0] * out[1] * out[2] > 200 || rng_one_in(r, 3)) return;
    *ic = RNG_OF(r, 40, 64, 100, 136);
    *oc = RNG_OF(r, 24, 40, 72, 100);
}

/* Windows side by side, of rows of all widths up to some tiles, to few channels; at times with a row or column more, one less, or shifted. */
static void side_by_side(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out, int32_t *oc)
{
    const int32_t kh = rng_int(r, 1, 4), kw = rng_int(r, 1, 4), beside = rng_one_in(r, 2), odd = rng_int(r, 0, 11);
    *w = (struct ig_window){1, kh, kw, 1, kh, kw, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    in[0] = out[0] = 1;
    in[1] = rng_int(r, 2, 9);
    in[2] = rng_int(r, 2, rng_one_in(r, 4) ? 70 : 17);
    *oc = rng_int(r, 1, kw > 2 ? 2 : 4 / kw);
    if (odd < 2) *(beside ? &w->right : &w->bottom) = odd ? 1 : -1;
    if (odd == 2) *(beside ? &w->right : &w->bottom) = -1, *(beside ? &w->left : &w->top) = 1;
    out[1] = in[1] * kh - w->top - w->bottom;
    out[2] = in[2] * kw - w->left - w->right;
}

/* Windows of strides to four or more, no smaller than these, to few channels, of rows of all widths up to some tiles. */
static void overlapping(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out, int32_t *oc)
{
    const int32_t sh = rng_int(r, 1, 4), sw = rng_one_in(r, 8) ? 8 : rng_int(r, 1, 4), kh = rng_int(r, sh, 3 * sh), kw = rng_int(r, sw, 3 * sw);
    *w = (struct ig_window){1, kh, kw, 1, sh, sw, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    in[0] = out[0] = 1;
    in[1] = rng_int(r, 1, 6);
    in[2] = rng_int(r, 1, rng_one_in(r, 6) ? 70 : 14);
    *oc = RNG_OF(r, 1, 1, 2, 3, 4, 5, 8, 21);
    w->top = rng_int(r, 0, (kh - 1) / 2), w->bottom = rng_int(r, 1 - sh, (kh - 1) / 2);
    w->left = rng_int(r, 0, (kw - 1) / 2), w->right = rng_int(r, 1 - sw, (kw - 1) / 2);
    out[1] = (in[1] - 1) * sh + kh - w->top - w->bottom;
    out[2] = (in[2] - 1) * sw + kw - w->left - w->right;
}

/* Each channel by itself: of few and of many, overlapping. */
static void depthwise(struct rng *r, struct ig_window *w, int32_t *groups, int32_t *in, int32_t *out)
{
    int32_t oc;
    overlapping(r, w, in, out, &oc);
    *groups = RNG_OF(r, 2, 4, 7, 16, 19, 32, 33, 64, 72, 130);
}

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_conv *a = &p->attrs.conv;
    int32_t rank = rng_one_in(r, 4) ? RNG_OF(r, 1, 3, 3, 3) : 2, in[3], out[3];
    a->groups = rng_one_in(r, 3) ? rng_int(r, 2, 5) : 1;
    int32_t ic = a->groups * RNG_OF(r, 1, 2, 3, 5, 8, 12), oc = a->groups * RNG_OF(r, 1, 2, 3, 7, 8, 16, 19);
    windows_make_back(r, &a->w, rank, in, out);
    if (a->groups == 1) wide(r, &ic, &oc, out);
    if (a->groups == 1 && rank == 2 && rng_one_in(r, 3)) side_by_side(r, &a->w, in, out, &oc);
    else if (a->groups == 1 && rank == 2 && rng_one_in(r, 2)) overlapping(r, &a->w, in, out, &oc);
    else if (a->groups > 1 && rank == 2 && rng_one_in(r, 2)) depthwise(r, &a->w, &a->groups, in, out), ic = oc = a->groups;
    a->act = windows_act(r, pass);
    int32_t weights[5] = {ic, oc / a->groups};
    const int32_t k[3] = {a->w.kd, a->w.kh, a->w.kw};
    memcpy(weights + 2, k + 3 - rank, (size_t)rank * sizeof *k);
    windows_image(p, 0, rank, in, ic, 0);
    windows_image(p, 0, rank, out, oc, 1);
    check_in(p, 1, IG_F32, rank + 2, weights);
    if (!rng_one_in(r, 3)) check_in(p, 2, IG_F32, 1, &oc);
    if (rng_one_in(r, 4)) windows_image(p, 3, rank, out, oc, 0);
    p->constant = rng_one_in(r, 12) ? 0 : 6;
    p->dense = 6;
    p->exact = pass == CHECK_INTEGERS;
    p->terms = (double)k[0] * k[1] * k[2] * ic / a->groups + 2;
    p->abs = windows_act_is_linear(&a->act) ? 0 : 16;
    p->magnitude = p->attrs;
    p->magnitude.conv.act.kind = IG_NONE;
    windows_text(p, &a->w, in, ic, oc);
    size_t n = strlen(p->text);
    snprintf(p->text + n, sizeof p->text - n, " groups %d act %s", a->groups, ig_unary_name(a->act.kind));
}

static void rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    if (in == 0) windows_rows_back(p, &p->attrs.conv.w, y0, y1, a, b);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_DECONV, 36, 600, make, rows};
    return check_main(&body, argc, argv);
}
