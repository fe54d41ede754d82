/* Random poolings: maximum (with indices), average with its ways of counting, Lp; overhang, dilation; averages of bytes. */
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/windows.h"

struct axis {
    int32_t k, s, d, before, after, overhang, in, out;
};

/* The first window's taps have the whole image between them. */
static struct axis between_taps(struct rng *r)
{
    struct axis a = {.k = RNG_OF(r, 2, 3), .s = rng_int(r, 1, 2), .in = rng_int(r, 1, 4)};
    a.d = a.in + rng_int(r, 1, 2);
    a.before = rng_int(r, 1, a.d - a.in);
    a.after = (a.k - 1) * a.d + 1 - a.in - a.before + rng_int(r, 0, 3);
    a.out = (a.in + a.before + a.after - (a.k - 1) * a.d - 1) / a.s + 1;
    return a;
}

/* Now and then a window lies in the padding alone. */
static struct axis make_axis(struct rng *r, int32_t longest)
{
    struct axis a = {
        .k = RNG_OF(r, 1, 2, 2, 3, 3, 3, 5), .s = RNG_OF(r, 1, 2, 2, 3), .d = rng_one_in(r, 6) ? 2 : 1};
    if (a.d == 1 && a.k > 1) {
        int32_t most = rng_one_in(r, 4) ? a.k - 1 : a.k / 2;
        a.before = rng_int(r, 0, most);
        a.after = rng_int(r, 0, most);
    }
    if (rng_one_in(r, 16)) a.before = rng_int(r, a.k, a.k + 4);
    if (rng_one_in(r, 16)) a.after = rng_int(r, a.k, a.k + 4);
    int32_t span = (a.k - 1) * a.d + 1;
    a.in = span + rng_int(r, 0, longest);
    int32_t free = a.in + a.before + a.after - span;
    if (a.d == 1 && free % a.s && rng_one_in(r, 2)) a.overhang = a.s - free % a.s;
    if (a.overhang && (free + a.overhang) / a.s * a.s >= a.in + a.before) a.overhang = 0;
    a.out = (free + a.overhang) / a.s + 1;
    return a;
}

/* Of an image for which a GPU has a kernel of its own. */
static struct axis large_axis(struct rng *r)
{
    struct axis a = {.k = 3, .s = 1, .d = 1, .before = rng_int(r, 0, 2), .after = rng_int(r, 0, 2), .in = rng_int(r, 63, 66)};
    a.out = a.in + a.before + a.after - 2;
    return a;
}

static void make_kind(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_pool *a = &p->attrs.pool;
    a->kind = RNG_OF(r, IG_POOL_MAX, IG_POOL_MAX, IG_POOL_AVERAGE, IG_POOL_AVERAGE, IG_POOL_LP);
    a->count_include_pad = rng_int(r, 0, 1);
    a->column_major = rng_int(r, 0, 1);
    a->p = rng_int(r, 1, 3);
    p->exact = a->kind == IG_POOL_MAX && pass == CHECK_INTEGERS;
    p->terms = a->kind == IG_POOL_AVERAGE ? a->w.kd * a->w.kh * a->w.kw : 0;
    p->rel = a->kind == IG_POOL_LP ? 64 : 0;
}

static void make_floats(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_pool *a = &p->attrs.pool;
    int rank = rng_one_in(r, 4) ? RNG_OF(r, 1, 3, 3, 3) : 2;
    struct axis d = {1, 1, 1, 0, 0, 0, 1, 1}, h = d, w = make_axis(r, rng_one_in(r, 4) ? 64 : 12);
    if (rank > 1) h = rng_one_in(r, 16) ? between_taps(r) : make_axis(r, 9);
    if (rank > 2) d = make_axis(r, 4);
    int large = rank == 2 && rng_one_in(r, 24);
    if (large) h = large_axis(r), w = large_axis(r);
    a->w = (struct ig_window){d.k, h.k, w.k, d.s, h.s, w.s, d.d, h.d, w.d, d.before, h.before, w.before,
                              d.after + d.overhang, h.after + h.overhang, w.after + w.overhang, d.in, d.out};
    a->ceil_d = d.overhang;
    a->ceil_h = h.overhang;
    a->ceil_w = w.overhang;
    make_kind(r, pass, p);
    int32_t c = large ? 72 : RNG_OF(r, 1, 3, 4, 7, 8, 9, 16, 17, 31, 32, 40, 72, 107);
    const int32_t in[3] = {d.in, h.in, w.in}, out[3] = {d.out, h.out, w.out};
    windows_image(p, 0, rank, in, c, 0);
    windows_image(p, 0, rank, out, c, 1);
    if (a->kind == IG_POOL_MAX && rng_one_in(r, 4)) check_out(p, 1, IG_I64, p->out[0].rank, p->out[0].dims);
    if (a->kind == IG_POOL_MAX && rng_one_in(r, 8)) p->in[0].type = p->out[0].type = RNG_OF(r, IG_U8, IG_I8);
    p->magnitude = p->attrs;
    windows_text(p, &a->w, in, c, c);
}

/* Inputs k and k + 1, a scale and a zero point. */
static void parameters(struct rng *r, struct check_problem *p, int k, int32_t type, double low, double high)
{
    int32_t one = 1, least = type == IG_I8 ? -128 : 0;
    check_in(p, k, IG_F32, rng_one_in(r, 2), &one);
    check_in(p, k + 1, type, rng_one_in(r, 2), &one);
    p->low[k] = low, p->high[k] = high;
    p->low[k + 1] = least, p->high[k + 1] = least + 255;
}

/* A window that the image is. */
static void cover(struct rng *r, struct check_problem *p, int32_t c)
{
    int32_t one[3] = {1, 1, 1}, in[3] = {1, RNG_OF(r, 1, 7, 13, 56), RNG_OF(r, 1, 7, 14, 57)};
    if (rng_one_in(r, 3)) in[1] = rng_int(r, 1, 2), in[2] = RNG_OF(r, 128, 129, 256, 257, 300, 600); /* about what 16 bits hold */
    p->attrs.pool.w = (struct ig_window){1, in[1], in[2], 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    p->attrs.pool.ceil_d = p->attrs.pool.ceil_h = p->attrs.pool.ceil_w = 0;
    windows_image(p, 0, 2, in, c, 0);
    windows_image(p, 0, 2, one, c, 1);
    windows_text(p, &p->attrs.pool.w, in, c, c);
}

static void make_bytes(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    make_floats(r, pass, p);
    int32_t from = RNG_OF(r, IG_U8, IG_I8), to = RNG_OF(r, IG_U8, IG_I8);
    if (p->has_out > 1 || rng_one_in(r, 8)) p->has_out = 1, p->n_out = 1, cover(r, p, RNG_OF(r, 1, 3, 16, 33, 72, 200));
    p->attrs.pool.kind = IG_POOL_AVERAGE;
    p->magnitude = p->attrs;
    p->in[0].type = from, p->out[0].type = to;
    p->low[0] = from == IG_I8 ? -128 : 0, p->high[0] = p->low[0] + 255;
    if (rng_one_in(r, 4)) p->low[0] = p->high[0]; /* the largest sums */
    else if (from == IG_I8 && rng_one_in(r, 4)) p->high[0] = p->low[0];
    parameters(r, p, 1, from, 1, 2);
    parameters(r, p, 3, to, 1, 4);
    if (rng_one_in(r, 2)) p->low[1] = p->high[1] = p->low[3] = p->high[3] = 2; /* averages in the middle between integers */
    if (pass == CHECK_REALS && rng_one_in(r, 8)) p->low[3] = 2e-38, p->high[3] = 2e-36; /* products beyond the largest float */
    p->exact = 1, p->terms = 0, p->rel = 0;
    p->dense = ~1u;
}

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    if (rng_one_in(r, 3)) make_bytes(r, pass, p);
    else make_floats(r, pass, p);
}

static void rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    (void)in;
    windows_rows(p, &p->attrs.pool.w, y0, y1, a, b);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_POOL, 48, 1200, make, rows};
    return check_main(&body, argc, argv);
}
