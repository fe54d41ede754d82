/* Recognises affine nodes: BINARY with a constant, UNARY affine and neg. Sums and products are kept in
 * double. */
#include "graph/passes/affine.h"

#include <math.h>
#include <stdlib.h>

#include "graph/late.h"
#include "graph/passes/edit.h"

static int32_t channels_of(const struct ig_graph *g, const struct ig_shape *y) {
    return y->rank ? y->dims[ig_channel_dim(g, y)] : 1;
}

/* Elements of constant c as one vector along the channels of a tensor like y; 0 if it varies elsewhere. */
static int32_t vector_length(const struct ig_graph *g, int32_t c, const struct ig_shape *y) {
    const struct ig_shape *s = &g->values[c].shape;
    int32_t at = s->rank - y->rank + ig_channel_dim(g, y);
    int64_t n = ig_count(s);
    if (n == 1) return 1;
    return n == channels_of(g, y) && at >= 0 && s->dims[at] == n ? (int32_t)n : 0;
}

static int reserve(struct affine *a, int32_t channels) {
    a->channels = channels;
    a->scale = malloc(2 * (size_t)channels * sizeof *a->scale);
    a->offset = a->scale ? a->scale + channels : NULL;
    return a->scale != NULL;
}

void affine_free(struct affine *a) {
    free(a->scale);
    a->scale = a->offset = NULL;
}

/* y = kind(x, c), or kind(c, x) if `first`: 0 where that is not affine in x. */
static int linear(int32_t kind, int first, double c, double *scale, double *offset) {
    *scale = 1;
    *offset = 0;
    switch (kind) {
    case IG_ADD:
        *offset = c;
        break;
    case IG_SUB:
        *offset = first ? c : -c;
        *scale = first ? -1 : 1;
        break;
    case IG_MUL:
        *scale = c;
        break;
    case IG_DIV:
        if (first) return 0;
        *scale = 1 / c;
        break;
    default:
        return 0;
    }
    return isfinite((float)*scale) && isfinite((float)*offset);
}

static int read_binary(const struct ig_graph *g, const struct ig_node *n, struct affine *a) {
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    int32_t channels = channels_of(g, y);
    int k = edit_f32(g, n->in[0]) ? 0 : 1; /* which operand is constant */
    const float *c = edit_f32(g, n->in[k]);
    a->x = n->in[1 - k];
    if (!c || ig_is_const(g, a->x) || !edit_same_shape(y, &g->values[a->x].shape)) return 0;
    int32_t length = vector_length(g, n->in[k], y);
    if (!length || !reserve(a, channels)) return 0;
    ig_late_fetch(g, c);
    a->uniform = 1;
    for (int i = 0; i < channels; i++) {
        if (!linear(n->attrs.binary.kind, k == 0, c[length == 1 ? 0 : i], &a->scale[i], &a->offset[i])) {
            affine_free(a);
            return 0;
        }
        a->uniform &= a->scale[i] == a->scale[0] && a->offset[i] == a->offset[0];
    }
    return 1;
}

static int read_unary(const struct ig_graph *g, const struct ig_node *n, struct affine *a) {
    const struct ig_act *act = &n->attrs.unary.act;
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    if (act->kind != IG_AFFINE && act->kind != IG_NEG) return 0;
    a->x = n->in[0];
    a->uniform = 1;
    if (!reserve(a, channels_of(g, y))) return 0;
    for (int i = 0; i < a->channels; i++) {
        a->scale[i] = act->kind == IG_NEG ? -1 : act->alpha;
        a->offset[i] = act->kind == IG_NEG ? 0 : act->beta;
    }
    return 1;
}

int affine_read(const struct ig_graph *g, const struct ig_node *n, struct affine *a) {
    *a = (struct affine){.channels = 0};
    if (!n->n_out || g->values[n->out[0]].shape.type != IG_F32) return 0;
    if (n->op == IG_BINARY) return read_binary(g, n, a);
    return n->op == IG_UNARY && read_unary(g, n, a);
}

void affine_append(struct affine *a, const struct affine *b) {
    for (int i = 0; i < a->channels; i++) {
        a->scale[i] *= b->scale[i];
        a->offset[i] = a->offset[i] * b->scale[i] + b->offset[i];
    }
    a->uniform &= b->uniform;
}

int affine_scales(const struct affine *a) {
    for (int i = 0; i < a->channels; i++)
        if (a->scale[i] != 1) return 1;
    return 0;
}

int affine_shifts(const struct affine *a) {
    for (int i = 0; i < a->channels; i++)
        if (a->offset[i] != 0) return 1;
    return 0;
}
