#include "planner/layer.h"

#include <string.h>

enum { OF = 1 << IG_OF, IF = 1 << IG_IF, FH = 1 << IG_FH, FW = 1 << IG_FW, KH = 1 << IG_KH, KW = 1 << IG_KW, MAC = 2 };

const char *const ig_layer_kind_names[IG_LAYER_KINDS] = {"conv", "gemm", "pool", "relu", "add", "deconv", "other"};

int64_t ig_layer_ops(const struct ig_layer *l)
{
    int64_t ops = l->step_ops;
    for (int d = 0; d < IG_LOOPS; d++) ops *= l->n[d];
    return ops;
}

/* Every loop once, every operand once. */
static void start(struct ig_layer *l, int32_t kind, int32_t step_ops)
{
    memset(l, 0, sizeof *l);
    l->kind = kind;
    l->step_ops = step_ops;
    for (int d = 0; d < IG_LOOPS; d++) l->n[d] = 1;
    l->groups = l->inputs = 1;
    l->window = IG_ROLES;
    l->sh = l->sw = l->dh = l->dw = 1;
}

/* Kernels that slide over X give every element of Y, or (deconv) the other way round. */
static void slide(struct ig_layer *l, int window)
{
    l->window = window;
    l->dims[IG_X] = IF | FH | FW;
    l->dims[IG_Y] = OF | FH | FW;
    l->dims[IG_W] = OF | IF | KH | KW;
    l->dims[window] |= KH | KW;
    if (l->groups > 1) l->dims[IG_X] |= OF;
}

/* One result per element of Y from the elements of X under it: element-wise or pooling. */
static void per_element(struct ig_layer *l, const struct ig_operand *of)
{
    l->n[IG_OF] = l->groups = of->c;
    l->n[IG_FH] = of->h;
    l->n[IG_FW] = of->w;
    l->dims[IG_X] = l->dims[IG_Y] = OF | FH | FW;
}

void ig_layer_conv(struct ig_layer *l, const struct ig_conv_size *s)
{
    start(l, IG_LAYER_CONV, MAC);
    l->groups = s->groups ? s->groups : 1;
    l->n[IG_OF] = s->oc;
    l->n[IG_IF] = s->ic / l->groups;
    l->n[IG_FH] = s->h;
    l->n[IG_FW] = s->w;
    l->n[IG_KH] = l->n[IG_KW] = s->k;
    l->sh = l->sw = s->stride;
    l->x_h = s->in_h;
    l->x_w = s->in_w;
    l->elements[IG_X] = s->ic * s->in_h * s->in_w;
    l->elements[IG_Y] = s->oc * s->h * s->w;
    l->elements[IG_W] = s->oc * l->n[IG_IF] * s->k * s->k;
    slide(l, IG_X);
}

void ig_layer_gemm(struct ig_layer *l, int64_t c, int64_t h, int64_t w, int64_t oc)
{
    start(l, IG_LAYER_GEMM, MAC);
    l->n[IG_OF] = oc;
    l->n[IG_IF] = c;
    l->n[IG_FH] = h;
    l->n[IG_FW] = w;
    l->dims[IG_X] = IF | FH | FW;
    l->dims[IG_W] = OF | IF | FH | FW;
    l->dims[IG_Y] = OF;
    l->elements[IG_X] = c * h * w;
    l->elements[IG_Y] = oc;
    l->elements[IG_W] = oc * c * h * w;
}

static int64_t elements(const struct ig_operand *o)
{
    return o->shape ? (int64_t)o->h * o->w * o->c : 0;
}

static void conv_call(struct ig_layer *l, int32_t op, const struct ig_call *call)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    const struct ig_conv *conv = call->attrs;
    const struct ig_window *w = &conv->w;
    const struct ig_operand *over = op == IG_DECONV ? y : x, *at = op == IG_DECONV ? x : y;
    start(l, op == IG_DECONV ? IG_LAYER_DECONV : IG_LAYER_CONV, MAC);
    l->groups = conv->groups;
    l->n[IG_OF] = y->c;
    l->n[IG_IF] = x->c / conv->groups;
    l->n[IG_FH] = at->h;
    l->n[IG_FW] = at->w;
    l->n[IG_KH] = (int64_t)w->kd * w->kh;
    l->n[IG_KW] = w->kw;
    l->sh = w->sh;
    l->sw = w->sw;
    l->dh = w->dh;
    l->dw = w->dw;
    l->x_h = over->h;
    l->x_w = over->w;
    l->residual = op == IG_CONV && call->n_in > 3 && call->in[3].shape;
    slide(l, op == IG_DECONV ? IG_Y : IG_X);
}

/* One row: Table 3's GEMM. More: rows are pixels of a 1x1 convolution. */
static void dense_call(struct ig_layer *l, int32_t op, const struct ig_call *call)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    int turned = op == IG_MATMUL && ((const struct ig_matmul *)call->attrs)->trans_a && x->shape->rank > 1;
    ig_layer_gemm(l, turned ? x->shape->dims[x->shape->rank - 2] : x->c, 1, 1, y->c);
    l->residual = op == IG_FC && call->n_in > 3 && call->in[3].shape;
    l->elements[IG_X] = l->elements[IG_Y] = l->elements[IG_W] = 0;
    if (elements(y) == y->c) return;
    l->n[IG_FH] = y->h;
    l->n[IG_FW] = y->w;
    slide(l, IG_X);
    l->x_h = y->h;
    l->x_w = y->w;
}

static void pool_call(struct ig_layer *l, int32_t op, const struct ig_call *call)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    start(l, IG_LAYER_POOL, 1);
    per_element(l, y);
    l->n[IG_KH] = op == IG_POOL ? (int64_t)w->kd * w->kh : x->h / y->h;
    l->n[IG_KW] = op == IG_POOL ? w->kw : x->w / y->w;
    if (op == IG_POOL) {
        l->sh = w->sh;
        l->sw = w->sw;
        l->dh = w->dh;
        l->dw = w->dw;
    }
    l->dims[IG_X] |= KH | KW;
    l->window = IG_X;
    l->x_h = x->h;
    l->x_w = x->w;
}

static void plain_call(struct ig_layer *l, int32_t op, const struct ig_call *call)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    int kind = op == IG_UNARY ? IG_LAYER_RELU : op == IG_BINARY ? IG_LAYER_ADD : IG_LAYER_OTHER;
    start(l, kind, 1);
    per_element(l, kind == IG_LAYER_OTHER && elements(x) > elements(y) ? x : y);
    if (kind == IG_LAYER_ADD) l->inputs = 2;
}

void ig_layer_of_call(struct ig_layer *l, int32_t op, const struct ig_call *call)
{
    int weights = op == IG_CONV || op == IG_DECONV || op == IG_FC || op == IG_MATMUL;
    if (op == IG_CONV || op == IG_DECONV)
        conv_call(l, op, call);
    else if (op == IG_FC || op == IG_MATMUL)
        dense_call(l, op, call);
    else if (op == IG_POOL || op == IG_GLOBAL_POOL)
        pool_call(l, op, call);
    else
        plain_call(l, op, call);
    for (int32_t i = 0; i < call->n_in; i++)
        if (i == 0 || !weights) l->elements[IG_X] += elements(&call->in[i]);
    for (int32_t i = 0; i < call->n_out; i++) l->elements[IG_Y] += elements(&call->out[i]);
    if (weights) l->elements[IG_W] = elements(&call->in[1]);
}
