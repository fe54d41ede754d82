/* What is linear in a quantised tensor, channel by channel, such as a batch normalisation that no convolution took: one op on bytes. */
#include <math.h>

#include "graph/late.h"
#include "graph/passes/affine.h"
#include "graph/passes/edit.h"
#include "graph/passes/quantised.h"

/* All from the dequantised tensor *x to float value v, nothing of which is read elsewhere: 1, and affine_free is due. */
static int read_chain(const struct ig_graph *g, int32_t v, struct affine *all, struct quantised *x) {
    int links = 0;
    for (; !links || !quantised_read_one(g, v, x); links++) {
        struct affine a = {.channels = 0};
        int32_t node = g->values[v].producer;
        int reads = node >= 0 && (!links || edit_sole_reader(g, v) >= 0) && affine_read(g, &g->nodes[node], &a);
        if (reads && links) affine_append(&a, all);
        if (links) affine_free(all);
        if (!reads) return 0;
        *all = a;
        v = a.x;
    }
    return 1;
}

static double number(const struct ig_graph *g, int32_t v) {
    ig_late_fetch(g, g->values[v].data);
    return ig_as_double(g->values[v].shape.type, g->values[v].data, 0);
}

/* Scales and offsets from bytes to bytes, two constants: 1 if they are finite. */
static int add_constants(struct ig_graph *g, const struct affine *a, const struct quantised *x, const struct quantised *y, int32_t *in) {
    const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {a->channels, 1, 1, 1, 1, 1, 1, 1}};
    double scale = number(g, x->scale), zero = x->zero < 0 ? 0 : number(g, x->zero), y_scale = number(g, y->scale);
    in[0] = ig_add_const(g, "scale", &shape, NULL);
    in[1] = ig_add_const(g, "offset", &shape, NULL);
    float *scales = (float *)(uintptr_t)g->values[in[0]].data, *offsets = (float *)(uintptr_t)g->values[in[1]].data;
    for (int32_t c = 0; c < a->channels; c++) {
        double s = scale * a->scale[c] / y_scale;
        scales[c] = (float)s;
        offsets[c] = (float)(a->offset[c] / y_scale - zero * s);
        if (!isfinite(scales[c]) || !isfinite(offsets[c])) return 0;
    }
    return 1;
}

int quantised_affine(struct ig_graph *g, const struct quantised_end *end) {
    int32_t node = g->values[end->float_value].producer, in[4];
    struct quantised x;
    struct affine a;
    if (!read_chain(g, end->float_value, &a, &x)) return 0;
    int is_finite = add_constants(g, &a, &x, &end->y, in + 1);
    affine_free(&a);
    if (!is_finite) return 0;
    in[0] = x.value;
    in[3] = quantised_zero(g, &end->y);
    edit_become(g, node, IG_QLINEAR_AFFINE, 4, in);
    g->nodes[node].attrs.unary.act = end->clip;
    if (end->act >= 0) edit_kill(&g->nodes[end->act]);
    edit_take_output(g, node, end->node);
    return 1;
}
