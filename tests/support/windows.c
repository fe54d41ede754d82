#include "tests/support/windows.h"

#include <stdio.h>
#include <string.h>

struct axis { /* one spatial dim of a window */
    int32_t k, s, d, before, after, in, out;
};

static struct axis make_axis(struct rng *r, int square_k, int square_s, int32_t longest)
{
    struct axis a = {.k = square_k, .s = square_s, .d = rng_one_in(r, 6) ? 2 : 1};
    if (rng_one_in(r, 8)) a.k = rng_int(r, 1, 5);
    if (rng_one_in(r, 12)) a.s = rng_int(r, 1, 3);
    int32_t span = (a.k - 1) * a.d + 1;
    if (a.k > 1 && !rng_one_in(r, 4)) a.before = a.after = span / 2;
    if (rng_one_in(r, 6)) a.before = rng_int(r, 0, span - 1);
    if (rng_one_in(r, 6)) a.after = rng_int(r, 0, span - 1);
    if (rng_one_in(r, 16)) a.before = rng_int(r, span, 2 * span + 4); /* windows in the padding alone */
    if (rng_one_in(r, 16)) a.after = rng_int(r, span, 2 * span + 4);
    do a.in = rng_int(r, 1, longest > span ? longest : span);
    while (a.in + a.before + a.after < span);
    a.out = (a.in + a.before + a.after - span) / a.s + 1;
    return a;
}

static struct axis make_axis_back(struct rng *r, int square_k, int square_s, int32_t longest)
{
    struct axis a = {.k = square_k, .s = square_s, .d = rng_one_in(r, 8) ? 2 : 1};
    if (rng_one_in(r, 8)) a.k = rng_int(r, 1, 5);
    if (rng_one_in(r, 8)) a.s = rng_int(r, 1, 3);
    if (rng_one_in(r, 24)) a.k = rng_int(r, 1, 12), a.s = rng_int(r, 4, 9), a.d = rng_int(r, 1, 6), longest = 4; /* many phases */
    int32_t span = (a.k - 1) * a.d + 1;
    do {
        a.in = rng_int(r, 1, longest);
        a.before = rng_one_in(r, 3) ? 0 : rng_int(r, 0, span - 1);
        a.after = rng_int(r, -a.s + 1, span - 1);
        a.out = (a.in - 1) * a.s + span - a.before - a.after;
    } while (a.out < 1);
    return a;
}

typedef struct axis axis_fn(struct rng *r, int square_k, int square_s, int32_t longest);

static void make(struct rng *r, struct ig_window *w, int rank, int32_t *in, int32_t *out, axis_fn *axis)
{
    int32_t k = RNG_OF(r, 1, 1, 3, 3, 3, 3, 5, 7, 2), s = RNG_OF(r, 1, 1, 2);
    struct axis unused = {1, 1, 1, 0, 0, 1, 1}, d = unused, h = unused;
    struct axis x = axis(r, k, s, rng_one_in(r, 6) ? 40 : 15);
    if (rank > 1) h = axis(r, k, s, rank == 3 ? 7 : 13);
    if (rank > 2) d = axis(r, k > 3 ? 3 : k, s, 7);
    *w = (struct ig_window){d.k, h.k, x.k, d.s, h.s, x.s, d.d, h.d, x.d, d.before, h.before, x.before,
                            d.after, h.after, x.after, d.in, d.out};
    const int32_t i[3] = {d.in, h.in, x.in}, o[3] = {d.out, h.out, x.out};
    memcpy(in, i, sizeof i);
    memcpy(out, o, sizeof o);
}

void windows_make(struct rng *r, struct ig_window *w, int rank, int32_t *in, int32_t *out)
{
    make(r, w, rank, in, out, make_axis);
}

void windows_make_back(struct rng *r, struct ig_window *w, int rank, int32_t *in, int32_t *out)
{
    make(r, w, rank, in, out, make_axis_back);
}

void windows_image(struct check_problem *p, int k, int rank, const int32_t *extent, int32_t c, int is_output)
{
    int32_t dims[5] = {1};
    memcpy(dims + 1, extent + 3 - rank, (size_t)rank * sizeof *dims);
    dims[rank + 1] = c;
    if (is_output) check_out(p, k, IG_F32, rank + 2, dims);
    else check_in(p, k, IG_F32, rank + 2, dims);
}

/* Rows of one image of [1, (D,) H, W, C] or [1, L, C], of one depth. */
static int32_t height(const struct ig_shape *s)
{
    return s->rank > 3 ? s->dims[s->rank - 3] : 1;
}

void windows_rows(const struct check_problem *p, const struct ig_window *w, int32_t y0, int32_t y1,
                  int32_t *a, int32_t *b)
{
    int32_t in_h = height(&p->in[0]), out_h = height(&p->out[0]);
    if (w->in_d > 1 || w->out_d > 1) { /* whole depths */
        int32_t z0 = y0 / out_h * w->sd - w->front,
                z1 = (y1 - 1) / out_h * w->sd - w->front + (w->kd - 1) * w->dd + 1;
        *a = (z0 < 0 ? 0 : z0) * in_h;
        *b = z1 * in_h;
        return;
    }
    *a = y0 * w->sh - w->top;
    *b = (y1 - 1) * w->sh - w->top + (w->kh - 1) * w->dh + 1;
}

void windows_rows_back(const struct check_problem *p, const struct ig_window *w, int32_t y0, int32_t y1,
                       int32_t *a, int32_t *b)
{
    int32_t low = y0 + w->top - (w->kh - 1) * w->dh;
    *a = low > 0 ? (low + w->sh - 1) / w->sh : 0;
    *b = (y1 - 1 + w->top) / w->sh + 1;
    if (w->in_d > 1 || w->out_d > 1) *a = 0, *b = w->in_d * height(&p->in[0]);
}

struct ig_act windows_act(struct rng *r, enum check_pass pass)
{
    static const struct ig_act acts[IG_FUSABLE] = {
        {IG_NONE, 0, 0},       {IG_RELU, 0, 0},         {IG_CLIP, -2, 6},     {IG_LEAKY_RELU, 0.25f, 0},
        {IG_SIGMOID, 0, 0},    {IG_TANH, 0, 0},         {IG_HARD_SIGMOID, 0.2f, 0.5f}, {IG_HARD_SWISH, 0, 0},
        {IG_SWISH, 1, 0},      {IG_ELU, 1, 0},          {IG_MISH, 0, 0},      {IG_SOFTPLUS, 0, 0},
        {IG_GELU, 0, 0},       {IG_GELU_TANH, 0, 0}};
    if (rng_one_in(r, 3)) return acts[IG_NONE];
    return acts[rng_int(r, 0, pass == CHECK_INTEGERS ? IG_LEAKY_RELU : IG_FUSABLE - 1)];
}

int windows_act_is_linear(const struct ig_act *act)
{
    return act->kind <= IG_LEAKY_RELU;
}

void windows_scales(struct rng *r, enum check_pass pass, struct check_problem *p, int32_t n, double size, struct ig_act *act)
{
    int32_t one = 1;
    p->out[0].type = IG_F32;
    check_in(p, 4, IG_F32, rng_one_in(r, 2), &one);
    p->low[4] = pass == CHECK_INTEGERS ? 1 : 0.5 / size, p->high[4] = pass == CHECK_INTEGERS ? 3 : 2 / size;
    if (!rng_one_in(r, 4)) check_in(p, 5, IG_F32, 1, rng_one_in(r, 2) ? &one : &n);
    p->low[5] = pass == CHECK_INTEGERS ? 1 : 0.5, p->high[5] = 2;
    if (!rng_one_in(r, 3)) check_in(p, 6, IG_F32, 1, &n);
    p->low[6] = -1, p->high[6] = 1;
    *act = windows_act(r, pass);
    p->exact = windows_act_is_linear(act);
    p->abs = p->exact ? 0 : 16;
}

void windows_text(struct check_problem *p, const struct ig_window *w, const int32_t *in, int32_t ic,
                  int32_t oc)
{
    snprintf(p->text, sizeof p->text,
             "%dx%dx%dx%d -> %d, kernel %dx%dx%d stride %d,%d,%d dilation %d,%d,%d pads %d,%d,%d %d,%d,%d",
             in[0], in[1], in[2], ic, oc, w->kd, w->kh, w->kw, w->sd, w->sh, w->sw, w->dd, w->dh, w->dw,
             w->front, w->top, w->left, w->back, w->bottom, w->right);
}
