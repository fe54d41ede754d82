/* Pools, LRN, MaxUnpool. */
#include "graph/onnx/window.h"

static int64_t ceil_outputs(const struct im_window *w, int i)
{
    int64_t room = w->in[i] + w->begin[i] + w->end[i] - im_window_reach(w, i);
    int64_t out = (room + w->s[i] - 1) / w->s[i] + 1;
    return (out - 1) * w->s[i] >= w->in[i] + w->begin[i] ? out - 1
                                                         : out; /* no window starts in the end padding */
}

/*
 * ceil_mode: end padding such that rounding down gives the number of outputs; returns how much of it is
 * overhang.
 */
static int64_t resolve_ceil(struct im_window *w, int i)
{
    int64_t out = ceil_outputs(w, i), given = w->end[i];
    if (out == w->out[i]) return 0;
    int64_t exact = (out - 1) * w->s[i] + im_window_reach(w, i) - w->in[i] - w->begin[i];
    w->out[i] = out;
    w->end[i] = exact > 0 ? exact : 0;
    return w->end[i] > given ? w->end[i] - given : 0;
}

static int32_t lp_exponent(struct im *m, const struct im_node *n)
{
    const Onnx__AttributeProto *a = im_attr(n, "p");
    if (!a || !a->has_f || a->has_i) return im_int32(m, n, "p", 2, 1, 1 << 20);
    if (a->f != 1 && a->f != 2) im_refuse(m, "p %g; only integers are supported", (double)a->f);
    return (int32_t)a->f; /* version 1 has a float */
}

void im_pool(struct im *m, const struct im_node *n, int32_t x, int32_t n_out, int32_t *out)
{
    struct ig_shape shape = im_shape(m, x);
    struct im_window w = im_window_read(m, n, &shape, NULL);
    struct im_emit e = {.op = IG_POOL, .n_in = 1, .in = &x, .n_out = n_out};
    struct ig_pool *p = &e.attrs.pool;
    int32_t *const overhang[3] = {&p->ceil_d, &p->ceil_h, &p->ceil_w};
    p->kind = im_op_find(n)->kind;
    w.ceil = im_int(m, n, "ceil_mode", 0) && w.auto_pad != IM_SAME_UPPER && w.auto_pad != IM_SAME_LOWER;
    im_window_resolve(m, &w);
    if (w.ceil)
        for (int i = 0; i < w.rank; i++)
            *overhang[3 - w.rank + i] = (int32_t)resolve_ceil(&w, i);
    p->w = im_window_make(&w);
    p->count_include_pad = im_int(m, n, "count_include_pad", 0) != 0;
    p->p = p->kind == IG_POOL_LP ? lp_exponent(m, n) : 0;
    p->column_major = im_int(m, n, "storage_order", 0) != 0;
    im_emit(m, &e, out);
}

void im_op_pool(struct im *m, const struct im_node *n)
{
    int32_t n_out = im_wants(m, n, 1) ? 2 : 1, out[2];
    im_pool(m, n, im_need(m, n, 0), n_out, out);
    for (int i = 0; i < n_out; i++)
        im_set(m, n, i, out[i]);
}

void im_op_global_pool(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), kind = im_op_find(n)->kind;
    union ig_attrs a = {.global_pool = {.kind = kind, .p = kind == IG_POOL_LP ? lp_exponent(m, n) : 0}};
    im_set(m, n, 0, im_emit1(m, IG_GLOBAL_POOL, 1, &x, &a));
}

void im_op_lrn(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    union ig_attrs a = {.lrn = {im_int32(m, n, "size", 0, 1, 1 << 20), im_float(m, n, "alpha", 1e-4f),
                                im_float(m, n, "beta", 0.75f), im_float(m, n, "bias", 1)}};
    im_set(m, n, 0, im_emit1(m, IG_LRN, 1, &x, &a));
}

/* Zeros appended (or dims cut) so that x gets the shape `want`. */
static int32_t grow_to(struct im *m, int32_t x, const int64_t *want)
{
    struct ig_shape s = im_shape(m, x);
    union ig_attrs a = {.pad = {.mode = IG_PAD_CONSTANT}};
    int grows = 0;
    for (int i = 0; i < s.rank; i++) {
        if (want[i] < 1 || want[i] > INT32_MAX) im_fail(m, "output_shape holds %lld", (long long)want[i]);
        a.pad.end[i] = (int32_t)(want[i] - s.dims[i]);
        grows |= a.pad.end[i] != 0;
    }
    return grows ? im_emit1(m, IG_PAD, 1, &x, &a) : x;
}

void im_op_max_unpool(struct im *m, const struct im_node *n)
{
    int32_t in[2] = {im_need(m, n, 0), im_need(m, n, 1)}, y;
    struct ig_shape x = im_shape(m, in[0]);
    struct im_window w = im_window_read(m, n, &x, NULL);
    int64_t dims[IG_MAX_RANK] = {x.dims[0], x.dims[1]}, want[IG_MAX_RANK];
    for (int i = 0; i < w.rank; i++)
        dims[2 + i] = w.out[i] = (w.in[i] - 1) * w.s[i] + w.k[i] - w.begin[i] - w.end[i];
    struct im_emit e = {
        .op = IG_MAX_UNPOOL, .n_in = 2, .in = in, .given = {im_make_shape(m, IG_F32, x.rank, dims)}};
    e.attrs.pool.w = im_window_make(&w);
    im_emit(m, &e, &y);
    int n_want = im_const_ints(m, im_in(m, n, 2), "output_shape", want, IG_MAX_RANK);
    if (n_want >= 0 && n_want != x.rank) im_fail(m, "output_shape has %d elements, not %d", n_want, x.rank);
    im_set(m, n, 0, n_want > 0 ? grow_to(m, y, want) : y);
}
