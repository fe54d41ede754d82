#include "kernels_cpu/reach.h"

static int is_flat(const struct ig_window *w)
{
    return w->in_d == 1 && w->out_d == 1;
}

static int window(const struct ig_window *w, struct ig_reach *r)
{
    *r = (struct ig_reach){w->sh, 1, -w->top, (w->kh - 1) * w->dh - w->top};
    return is_flat(w);
}

/* Output row y is made of the input rows i with 0 <= y + top - i*sh <= (kh - 1)*dh. */
static int window_back(const struct ig_window *w, struct ig_reach *r)
{
    *r = (struct ig_reach){1, w->sh, w->top - (w->kh - 1) * w->dh + w->sh - 1, w->top};
    return is_flat(w);
}

static int same_rows(const struct ig_call *call, int32_t k, struct ig_reach *r)
{
    *r = (struct ig_reach){1, 1, 0, 0};
    return call->in[k].h == call->out[0].h;
}

/*
 * Enlarging by rows: all of ONNX's maps put the centre of row y within a row of y*in/out, and a neighbour is
 * one more away.
 */
static int resize(const struct ig_call *call, struct ig_reach *r)
{
    const struct ig_resize *a = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    if (a->mode == IG_CUBIC || a->antialias || a->coord == IG_TF_CROP_AND_RESIZE) return 0;
    if (in->shape->rank != 4 || in->h > out->h) return 0;
    float height = a->scale[1] * (float)in->h - (float)out->h;
    if (height < -0.01f || height > 0.01f) return 0;
    *r = (struct ig_reach){in->h, out->h, -2 * out->h, 2 * out->h};
    return 1;
}

int ig_reach_of(enum ig_op op, const struct ig_call *call, int32_t k, struct ig_reach *reach)
{
    switch (op) {
    case IG_CONV:
        if (k == 3) return same_rows(call, k, reach);
        return k == 0 && window(&((const struct ig_conv *)call->attrs)->w, reach);
    case IG_CONV_INTEGER:
    case IG_QLINEAR_CONV: return k == 0 && window(&((const struct ig_conv *)call->attrs)->w, reach);
    case IG_DECONV: return k == 0 && window_back(&((const struct ig_conv *)call->attrs)->w, reach);
    case IG_POOL: return k == 0 && window(&((const struct ig_pool *)call->attrs)->w, reach);
    case IG_RESIZE: return k == 0 && resize(call, reach);
    case IG_LRN:
    case IG_UNARY:
    case IG_CAST:
    case IG_QUANTIZE:
    case IG_DEQUANTIZE:
    case IG_LOOKUP:
    case IG_QLINEAR_AFFINE:
    case IG_COPY: return k == 0 && same_rows(call, k, reach);
    case IG_BINARY: return k <= 1 && same_rows(call, k, reach);
    case IG_QLINEAR_BINARY: return (k == 0 || k == 3) && same_rows(call, k, reach);
    default: return 0;
    }
}
