/* Element-wise operators, copies and softmax: map.cu, softmax.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/half.h"
#include "kernels_cpu/pack/pack.h"

enum { MANY_PIXELS = 16 };

/* Kinds that function.cuh does not have, but elementwise.cu. */
static int is_rare(const struct ig_call *call)
{
    switch (((const struct ig_unary_attr *)call->attrs)->act.kind) {
    case IG_SHRINK:
    case IG_SIGN:
    case IG_ERF:
    case IG_ATAN: return 1;
    default: return 0;
    }
}

int ig_gpu_supports_unary(const struct ig_call *call)
{
    return ig_supports_unary(call) && !is_rare(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_binary(const struct ig_call *call)
{
    return ig_supports_binary(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_unary(const struct ig_call *call)
{
    return ig_supports_half_unary(call) && !is_rare(call) && ig_gpu_is_halves(&call->in[0]) && ig_gpu_is_halves(&call->out[0]) &&
           ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_binary(const struct ig_call *call)
{
    return ig_supports_half_binary(call) && ig_gpu_is_halves(&call->in[0]) && ig_gpu_is_halves(&call->out[0]) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_softmax(const struct ig_call *call)
{
    return ig_supports_softmax(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_softmax(const struct ig_call *call)
{
    return ig_supports_half_softmax(call) && ig_gpu_holds_all(call);
}

/* Elements of four bytes move as floats do. */
int ig_gpu_supports_copy(const struct ig_call *call)
{
    return ig_supports_copy(call) && ig_type_bytes(call->in[0].shape->type) == 4 && ig_gpu_holds_all(call);
}

static int32_t stride(int32_t extent, int32_t of_out, int64_t elements)
{
    return extent == of_out ? (int32_t)elements : 0;
}

static struct ig_gpu_map operands(const struct ig_call *call)
{
    const struct ig_operand *a = &call->in[0], *out = &call->out[0];
    return (struct ig_gpu_map){.a = (const float *)a->data, .out = (float *)out->data, .h = out->h, .w = out->w, .c = out->c,
                               .a_row = stride(a->h, out->h, a->row_stride),
                               .a_pixel = stride(a->w, out->w, a->pixel_stride),
                               .a_channel = stride(a->c, out->c, 1), .out_row = (int32_t)out->row_stride,
                               .out_pixel = (int32_t)out->pixel_stride};
}

/* Whether an operand's elements are one run, as long as the output's (channel 1), or one for all. */
static int is_run(const struct ig_gpu_map *p, int32_t row, int32_t pixel, int32_t channel)
{
    if (!row && !pixel && !channel) return 1;
    return (p->h == 1 || row == p->w * p->c) && (p->w == 1 || pixel == p->c) && (p->c == 1 || channel);
}

/* Four elements of so many bytes. */
static int is_aligned(const void *p, size_t bytes)
{
    return (uintptr_t)p % (4 * bytes) == 0;
}

/* An operand's strides allow four channels at a time, or have one for all. */
static int are_quads(int32_t row, int32_t pixel, int32_t channel)
{
    return !channel || (row % 4 == 0 && pixel % 4 == 0);
}

/*
 * By `vector` if every operand can be accessed four channels at a time, else by `any`; elements of a and the output, and of b, have so
 * many bytes.
 */
static int fill(const struct ig_gpu_map *given, size_t bytes, size_t b_bytes, const char *vector, const char *any, struct ig_gpu_launch *to)
{
    struct ig_gpu_map p = *given;
    if (is_run(&p, p.a_row, p.a_pixel, p.a_channel) && (!p.b || is_run(&p, p.b_row, p.b_pixel, p.b_channel)) &&
        is_run(&p, p.out_row, p.out_pixel, 1)) {
        p.c *= p.h * p.w;
        p.h = p.w = 1;
        p.a_row = p.a_pixel = p.b_row = p.b_pixel = p.out_row = p.out_pixel = 0;
    }
    int quads = p.c % 4 == 0 && is_aligned(p.out, bytes) && (!p.a_channel || is_aligned(p.a, bytes)) &&
                (!p.b_channel || is_aligned(p.b, b_bytes)) &&
                are_quads(p.a_row, p.a_pixel, p.a_channel) && are_quads(p.b_row, p.b_pixel, p.b_channel) &&
                are_quads(p.out_row, p.out_pixel, 1);
    ig_gpu_fill(to, quads ? vector : any, ig_gpu_some_blocks((int64_t)p.h * p.w * ((p.c + 3) / 4)), 1, 1, 128, 3, &p, sizeof p);
    return 1;
}

static int unary(const struct ig_call *call, const struct ig_act *act, struct ig_gpu_launch *to)
{
    struct ig_gpu_map p = operands(call);
    p.act = ig_gpu_act_of(act);
    if (ig_gpu_is_halves(&call->out[0])) return fill(&p, sizeof(uint16_t), 0, "unary_half4", "unary_half_any", to);
    return fill(&p, sizeof(float), 0, "unary_4", "unary_any", to);
}

int ig_gpu_unary(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return unary(call, &((const struct ig_unary_attr *)call->attrs)->act, to);
}

int ig_gpu_copy(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    static const struct ig_act none = {IG_NONE, 0, 0};
    (void)scratch;
    return unary(call, &none, to);
}

int ig_gpu_binary(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    const struct ig_operand *b = &call->in[1], *out = &call->out[0];
    struct ig_gpu_map p = operands(call);
    (void)scratch;
    p.b = (const float *)b->data;
    p.b_row = stride(b->h, out->h, b->row_stride);
    p.b_pixel = stride(b->w, out->w, b->pixel_stride);
    p.b_channel = stride(b->c, out->c, 1);
    p.kind = attr->kind;
    p.act = ig_gpu_act_of(&attr->act);
    if (!ig_gpu_is_halves(out)) return fill(&p, sizeof(float), sizeof(float), "binary_4", "binary_any", to);
    if (ig_gpu_is_halves(b)) return fill(&p, sizeof(uint16_t), sizeof(uint16_t), "binary_half4", "binary_half_any", to);
    return fill(&p, sizeof(uint16_t), sizeof(float), "binary_half_floats4", "binary_half_floats_any", to);
}

int ig_gpu_softmax(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    static const char *const functions[2][3] = {{"softmax_128", "softmax_warp4", "softmax_warp32"},
                                                {"softmax_half128", "softmax_half_warp4", "softmax_half_warp32"}};
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_gpu_softmax p = {(const float *)in->data, (float *)out->data, out->h * out->w, out->w, out->c, (int32_t)in->row_stride,
                               (int32_t)in->pixel_stride, (int32_t)out->row_stride, (int32_t)out->pixel_stride,
                               ((const struct ig_axis *)call->attrs)->mode == IG_SOFTMAX_LOG, ig_gpu_is_halves(in), ig_gpu_is_halves(out)};
    const char *const *of = functions[p.in_halves || p.out_halves];
    (void)scratch;
    if (p.pixels < MANY_PIXELS || p.c > 1024) ig_gpu_fill(to, of[0], p.pixels, 1, 1, 128, 2, &p, sizeof p);
    else ig_gpu_fill(to, of[p.c > 128 ? 2 : 1], ig_gpu_ceil(p.pixels, 4), 1, 1, 128, 2, &p, sizeof p);
    return 1;
}
