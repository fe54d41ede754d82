#include "graph/onnx/window.h"

static void read_list(struct im *m, const struct im_node *n, const char *name, int64_t *dst, int count,
                      int64_t absent, int64_t min)
{
    int got = im_ints(m, n, name, dst, 2 * 3);
    for (int i = 0; i < count && got < 0; i++)
        dst[i] = absent;
    if (got >= 0 && got != count) im_fail(m, "attribute '%s' has %d elements, not %d", name, got, count);
    for (int i = 0; i < count; i++)
        if (dst[i] < min || dst[i] > IM_MAX_WINDOW)
            im_fail(m, "attribute '%s' holds %lld; it must be in %lld..%d", name, (long long)dst[i],
                    (long long)min, IM_MAX_WINDOW);
}

static void read_kernel(struct im *m, const struct im_node *n, struct im_window *w,
                        const struct ig_shape *weights)
{
    int64_t list[6];
    if (im_attr(n, "kernel_shape")) {
        read_list(m, n, "kernel_shape", list, w->rank, 1, 1);
    } else if (!weights) {
        im_fail(m, "attribute 'kernel_shape' is missing");
    } else {
        if (weights->rank != w->rank + 2)
            im_fail(m, "the weights have rank %d, the data %d", weights->rank, w->rank + 2);
        for (int i = 0; i < w->rank; i++)
            list[i] = weights->dims[2 + i];
    }
    for (int i = 0; i < w->rank; i++)
        w->k[i] = list[i];
}

struct im_window im_window_read(struct im *m, const struct im_node *n, const struct ig_shape *x,
                                const struct ig_shape *weights)
{
    static const char *const modes[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};
    struct im_window w = {.rank = x->rank - 2};
    int64_t list[6];
    if (w.rank < 1 || w.rank > 3) im_refuse(m, "data of rank %d; 3 to 5 are supported", x->rank);
    for (int i = 0; i < w.rank; i++)
        w.in[i] = x->dims[2 + i];
    w.auto_pad = im_choice(m, n, "auto_pad", "NOTSET", modes);
    read_kernel(m, n, &w, weights);
    read_list(m, n, "strides", list, w.rank, 1, 1);
    for (int i = 0; i < w.rank; i++)
        w.s[i] = list[i];
    read_list(m, n, "dilations", list, w.rank, 1, 1);
    for (int i = 0; i < w.rank; i++)
        w.d[i] = list[i];
    if (w.auto_pad != IM_NOTSET) return w;
    read_list(m, n, "pads", list, 2 * w.rank, 0, -IM_MAX_WINDOW);
    for (int i = 0; i < w.rank; i++) {
        w.begin[i] = list[i];
        w.end[i] = list[w.rank + i];
    }
    return w;
}

int64_t im_window_reach(const struct im_window *w, int i)
{
    return (w->k[i] - 1) * w->d[i] + 1;
}

/* SAME: as many outputs as strides fit; an odd pixel of padding goes to the end (UPPER) or the start (LOWER).
 */
static void pad_same(struct im_window *w, int i)
{
    int64_t out = (w->in[i] + w->s[i] - 1) / w->s[i];
    int64_t total = (out - 1) * w->s[i] + im_window_reach(w, i) - w->in[i];
    if (total < 0) total = 0;
    w->begin[i] = w->auto_pad == IM_SAME_UPPER ? total / 2 : total - total / 2;
    w->end[i] = total - w->begin[i];
}

void im_window_resolve(struct im *m, struct im_window *w)
{
    for (int i = 0; i < w->rank; i++) {
        if (w->auto_pad == IM_SAME_UPPER || w->auto_pad == IM_SAME_LOWER) pad_same(w, i);
        int64_t room = w->in[i] + w->begin[i] + w->end[i] - im_window_reach(w, i);
        if (w->begin[i] < 0 || w->end[i] < 0) im_refuse(m, "negative padding is not supported; use a Slice");
        if (room < 0 && !(w->ceil && room + w->s[i] > 0))
            im_misfit(m, "the window (%lld) is larger than the padded image (%lld)",
                    (long long)im_window_reach(w, i), (long long)(room + im_window_reach(w, i)));
        w->out[i] = room < 0 ? 0 : room / w->s[i] + 1;
    }
}

struct ig_window im_window_make(const struct im_window *w)
{
    struct ig_window g = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    int32_t *const k[3] = {&g.kd, &g.kh, &g.kw}, *const s[3] = {&g.sd, &g.sh, &g.sw},
                   *const d[3] = {&g.dd, &g.dh, &g.dw};
    int32_t *const begin[3] = {&g.front, &g.top, &g.left}, *const end[3] = {&g.back, &g.bottom, &g.right};
    for (int i = 0; i < w->rank; i++) {
        int to = 3 - w->rank + i;
        *k[to] = (int32_t)w->k[i];
        *s[to] = (int32_t)w->s[i];
        *d[to] = (int32_t)w->d[i];
        *begin[to] = (int32_t)w->begin[i];
        *end[to] = (int32_t)w->end[i];
    }
    if (w->rank == 3) {
        g.in_d = (int32_t)w->in[0];
        g.out_d = (int32_t)w->out[0];
    }
    return g;
}
