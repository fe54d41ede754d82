/* Questions about a call on halves are put to the float kernel, about the same call on floats. */
#include "kernels_cpu/pack/half.h"

#include <stdlib.h>

#include "kernels_cpu/common/half_first.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/window.h"

struct floats {         /* a call whose halves are floats; its constants keep their data, which are halves */
    struct ig_call call;
    struct ig_shape in[IG_MAX_IN], out[IG_MAX_OUT];
};

/* Returns how many operands are of halves. */
static int widen_shape(struct ig_operand *o, struct ig_shape *shape)
{
    if (!o->shape) return 0;
    *shape = *o->shape;
    o->shape = shape;
    if (shape->type != IG_F16) return 0;
    shape->type = IG_F32;
    return 1;
}

static int as_floats(const struct ig_call *call, struct floats *f)
{
    int halves = 0;
    f->call = *call;
    for (int i = 0; i < call->n_in; i++) halves += widen_shape(&f->call.in[i], &f->in[i]);
    for (int i = 0; i < call->n_out; i++) halves += widen_shape(&f->call.out[i], &f->out[i]);
    return halves;
}

static int supports(const struct ig_call *call, ig_supports_fn *float_supports)
{
    struct floats f;
    return as_floats(call, &f) && float_supports(&f.call);
}

static int is_half_or_none(const struct ig_call *call, int i)
{
    return !ig_has(call, i) || call->in[i].shape->type == IG_F16;
}

int ig_supports_half(const struct ig_call *call, ig_supports_fn *float_supports)
{
    return is_half_or_none(call, 1) && is_half_or_none(call, 2) && supports(call, float_supports);
}

int ig_supports_half_conv(const struct ig_call *call)
{
    return ig_supports_half(call, ig_supports_conv_gemm);
}

int ig_supports_half_deconv(const struct ig_call *call)
{
    return ig_supports_half(call, ig_supports_conv);
}

int ig_supports_half_depthwise(const struct ig_call *call)
{
    return ig_supports_half(call, ig_supports_depthwise);
}

int ig_supports_half_depthwise3x3(const struct ig_call *call)
{
    return ig_supports_half(call, ig_supports_depthwise3x3);
}

int ig_supports_half_fc(const struct ig_call *call)
{
    return ig_supports_half(call, ig_supports_fc);
}

int ig_supports_half_gemm_conv(const struct ig_call *call)
{
    return call->in[0].shape->type == IG_F16 && ig_supports_half_conv(call);
}

int ig_supports_half_gemm_first(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return call->in[0].shape->type == IG_F32 && !ig_has(call, 3) && ig_supports_half_conv(call) && ig_supports_half(call, ig_supports_conv_first) &&
           w->dh == 1 && w->top >= 0;
}

/* The products of a window are added in halves. */
int ig_supports_half_gemm_depthwise(const struct ig_call *call)
{
    return call->in[0].shape->type == IG_F16 && ig_supports_half_depthwise(call) &&
           ig_taps(&((const struct ig_conv *)call->attrs)->w) <= IG_HALF_WINDOW;
}

int ig_supports_half_gemm_fc(const struct ig_call *call)
{
    return call->in[0].shape->type == IG_F16 && ig_supports_half_fc(call);
}

int ig_supports_half_pool(const struct ig_call *call)
{
    return supports(call, ig_supports_pool);
}

int ig_supports_half_pool_slide(const struct ig_call *call)
{
    return supports(call, ig_supports_pool_slide);
}

int ig_supports_half_global_pool(const struct ig_call *call)
{
    return supports(call, ig_supports_global_pool);
}

int ig_supports_half_unary(const struct ig_call *call)
{
    return supports(call, ig_supports_unary);
}

int ig_supports_half_binary(const struct ig_call *call)
{
    return supports(call, ig_supports_binary);
}

int ig_supports_halves_binary(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    return call->in[0].shape->type == IG_F16 && call->n_in == 2 && call->in[1].shape->type == IG_F16 && call->out[0].shape->type == IG_F16 &&
           attr->kind <= IG_MIN && attr->act.kind <= IG_CLIP && ig_supports_half_binary(call);
}

int ig_supports_half_softmax(const struct ig_call *call)
{
    return supports(call, ig_supports_softmax);
}

int ig_supports_half_resize_nearest(const struct ig_call *call)
{
    return call->in[0].shape->type == IG_F16 && call->out[0].shape->type == IG_F16 && supports(call, ig_supports_resize_nearest);
}

int ig_supports_half_resize_linear(const struct ig_call *call)
{
    return supports(call, ig_supports_resize_linear);
}

static void *must(void *p)
{
    if (!p) abort();
    return p;
}

/* Constant k as floats; caller frees. */
static float *widened(const struct ig_call *call, int k)
{
    const uint16_t *from = (const uint16_t *)call->in[k].data;
    if (!ig_has(call, k) || !from) return NULL;
    int64_t n = ig_count(call->in[k].shape);
    float *to = (float *)must(malloc((size_t)n * sizeof *to + 1));
    for (int64_t i = 0; i < n; i++) to[i] = ig_half_to_float(from[i]);
    return to;
}

size_t ig_pack_half_as_floats(const struct ig_call *call, void *dst, ig_pack_fn *float_pack)
{
    struct floats f;
    as_floats(call, &f);
    if (!dst) return float_pack(&f.call, NULL);
    float *w = widened(call, 1), *bias = widened(call, 2);
    f.call.in[1].data = w;
    f.call.in[2].data = bias;
    size_t n = float_pack(&f.call, dst);
    free(w);
    free(bias);
    return n;
}

size_t ig_pack_half(const struct ig_call *call, void *dst, ig_pack_fn *float_pack)
{
    size_t n = ig_pack_half_as_floats(call, NULL, float_pack) / sizeof(float);
    if (!dst) return n * sizeof(uint16_t);
    float *packed = (float *)must(malloc(n * sizeof *packed + 1));
    ig_pack_half_as_floats(call, packed, float_pack);
    for (size_t i = 0; i < n; i++) ((uint16_t *)dst)[i] = ig_float_to_half(packed[i]);
    free(packed);
    return n * sizeof(uint16_t);
}

size_t ig_pack_half_conv16(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_pack_conv16);
}

size_t ig_pack_half_deconv16(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_pack_deconv16);
}

size_t ig_pack_half_depthwise8(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_pack_depthwise8);
}

size_t ig_pack_half_fc16(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_pack_fc16);
}

size_t ig_scratch_half_conv_mr6(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_conv16) + ig_scratch_conv_mr6(call);
}

size_t ig_scratch_half_conv_mr12(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_conv16) + ig_scratch_conv_mr12(call);
}

size_t ig_scratch_half_conv_lean_mr6(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_conv16_lean) + ig_scratch_conv_mr6(call);
}

size_t ig_scratch_half_deconv_mr6(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_deconv16) + ig_scratch_deconv_mr6(call);
}

size_t ig_scratch_half_deconv_mr12(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_deconv16) + ig_scratch_deconv_mr12(call);
}

size_t ig_scratch_half_depthwise8(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_depthwise8);
}

size_t ig_scratch_half_fc_mr6(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_fc16) + ig_scratch_fc_mr6(call);
}

size_t ig_scratch_half_fc_mr12(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_fc16) + ig_scratch_fc_mr12(call);
}

size_t ig_scratch_half_pool(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_pool);
}

size_t ig_scratch_half_global_pool(const struct ig_call *call)
{
    return ig_half_global_pool_scratch(call);
}

size_t ig_scratch_half_unary(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_unary);
}

size_t ig_scratch_half_binary(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_binary);
}

size_t ig_scratch_half_softmax(const struct ig_call *call)
{
    return ig_half_scratch(call, &ig_half_softmax);
}

size_t ig_scratch_half_gemm_conv(const struct ig_call *call)
{
    return ig_half_gemm_conv_scratch(call);
}

size_t ig_scratch_half_gemm_first(const struct ig_call *call)
{
    return ig_half_first_scratch(call);
}

size_t ig_scratch_half_gemm_fc(const struct ig_call *call)
{
    return ig_half_gemm_fc_scratch(call);
}
