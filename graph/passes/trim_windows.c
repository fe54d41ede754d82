/*
 * Taps of a convolution that meet nothing but padding, whatever the output, go with their weights: dilated windows on images smaller
 * than they reach (the branches of DeepLab's pyramid), 3x3 on one pixel, which becomes 1x1.
 */
#include <string.h>

#include "graph/late.h"
#include "graph/passes/edit.h"

/* One spatial dim of a convolution: what is left of its taps is [first, end). */
struct dim {
    int32_t *k, *d, *before, *after;
    int32_t first, end;
};

/* No more goes than padding is left for: what a tap beyond it would cut off the image is needed. */
static void find_taps(struct dim *dim, int64_t in, int64_t out, int64_t stride) {
    const int64_t k = *dim->k, d = *dim->d, before = *dim->before, last = (out - 1) * stride - before;
    dim->first = 0;
    dim->end = *dim->k;
    while (dim->first + 1 < k && dim->first * d + last < 0 && (dim->first + 1) * d <= before) dim->first++;
    while (dim->end - 1 > dim->first && (dim->end - 1) * d - before >= in && (k - dim->end + 1) * d <= *dim->after) dim->end--;
}

/* Takes the others out of the window; 1 if there are any. */
static int trim_dim(struct dim *dim) {
    const int32_t end = *dim->k - dim->end, taps = dim->end - dim->first;
    if (taps == *dim->k) return 0;
    *dim->before -= dim->first * *dim->d;
    *dim->after -= end * *dim->d;
    *dim->k = taps;
    if (taps == 1) *dim->d = 1;
    return 1;
}

/* The constant [OC, IC, (KD,)(KH,)KW] with the taps that are left: a new one. */
static int32_t trimmed(struct ig_graph *g, int32_t w, const struct dim *dims, int32_t rank) {
    struct ig_shape shape = g->values[w].shape;
    const int64_t bytes = ig_type_bytes(shape.type), outer = (int64_t)shape.dims[0] * shape.dims[1];
    int64_t k[3] = {1, 1, 1}, first[3] = {0}, n[3] = {1, 1, 1};
    for (int32_t i = 0; i < rank; i++) {
        const struct dim *dim = &dims[i];
        k[3 - rank + i] = shape.dims[2 + i];
        first[3 - rank + i] = dim->first;
        n[3 - rank + i] = shape.dims[2 + i] = dim->end - dim->first;
    }
    const char *from = g->values[w].data;
    ig_late_fetch(g, from);
    int32_t made = ig_add_const(g, g->values[w].name, &shape, NULL);
    char *to = (char *)(uintptr_t)g->values[made].data;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t z = 0; z < n[0]; z++)
            for (int64_t y = 0; y < n[1]; y++, to += n[2] * bytes) {
                int64_t row = (o * k[0] + first[0] + z) * k[1] + first[1] + y;
                memcpy(to, from + (row * k[2] + first[2]) * bytes, (size_t)(n[2] * bytes));
            }
    return made;
}

/* Which input of the node is its weights; -1: it is no convolution. */
static int weights_of(const struct ig_node *n) {
    return n->op == IG_QLINEAR_CONV ? 3 : n->op == IG_CONV || n->op == IG_CONV_INTEGER ? 1 : -1;
}

static int trim(struct ig_graph *g, int32_t node) {
    struct ig_node *n = &g->nodes[node];
    const int which = weights_of(n);
    if (which < 0 || !n->n_out || !g->values[n->in[which]].data) return 0;
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    const int32_t rank = x->rank - 2;
    struct ig_window *w = &n->attrs.conv.w;
    struct dim dims[3] = {{&w->kd, &w->dd, &w->front, &w->back, 0, 0},
                          {&w->kh, &w->dh, &w->top, &w->bottom, 0, 0},
                          {&w->kw, &w->dw, &w->left, &w->right, 0, 0}};
    const int32_t stride[3] = {w->sd, w->sh, w->sw};
    struct dim *used = dims + 3 - rank;
    int rewrites = 0;
    for (int32_t i = 0; i < rank; i++) find_taps(&used[i], x->dims[1 + i], y->dims[1 + i], stride[3 - rank + i]);
    for (int32_t i = 0; i < rank; i++) rewrites |= trim_dim(&used[i]);
    if (rewrites) n->in[which] = trimmed(g, n->in[which], used, rank);
    return rewrites;
}

int ig_pass_trim_windows(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++)
        rewrites += trim(g, i);
    return edit_finish(g, rewrites);
}
