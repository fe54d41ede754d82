/* Element by element, any type and broadcasting: elementwise.cu, convert.cu. Each is for what vectors of floats are not. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/quantized.h"
#include "kernels_gpu/launch/loops.h"

enum { POINTERS = 4, QUANTIZE_POINTERS = 7, QLINEAR_POINTERS = 9, AFFINE_POINTERS = 5 };

/* --- which --- */

int ig_gpu_supports_unary_any(const struct ig_call *call)
{
    return unary_any_1x1__supports(call) && ig_gpu_addresses_all(call) && !ig_gpu_supports_unary(call) && !ig_gpu_supports_half_unary(call);
}

int ig_gpu_supports_binary_any(const struct ig_call *call)
{
    return binary_any_1x1__supports(call) && ig_gpu_addresses_all(call) && !ig_gpu_supports_binary(call) && !ig_gpu_supports_half_binary(call);
}

int ig_gpu_supports_binary_nd(const struct ig_call *call)
{
    return binary_any_nd__supports(call) && ig_gpu_addresses_all(call) && !binary_any_1x1__supports(call);
}

int ig_gpu_supports_where(const struct ig_call *call)
{
    return where_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_supports_cast(const struct ig_call *call)
{
    return cast_any_1x1__supports(call) && ig_gpu_addresses_all(call);
}

static int is_f32(const struct ig_call *call, int k)
{
    return ig_has(call, k) && ig_is_f32(&call->in[k]);
}

int ig_gpu_supports_quantize(const struct ig_call *call)
{
    return quantize_any_nd__supports(call) && is_f32(call, 1) && ig_gpu_addresses_all(call);
}

int ig_gpu_supports_dequantize(const struct ig_call *call)
{
    return dequantize_any_nd__supports(call) && is_f32(call, 1) && ig_gpu_addresses_all(call);
}

int ig_gpu_supports_dynamic_quantize(const struct ig_call *call)
{
    return dynamic_quantize_f32_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_supports_qlinear_binary(const struct ig_call *call)
{
    return qlinear_binary_any_1x1__supports(call) && is_f32(call, 1) && is_f32(call, 4) && is_f32(call, 6) && ig_is_byte(&call->in[7]) &&
           ig_gpu_addresses_all(call);
}

int ig_gpu_supports_qlinear_affine(const struct ig_call *call)
{
    return qlinear_affine_any_1x1__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_supports_lookup(const struct ig_call *call)
{
    return lookup_any_1x1__supports(call) && ig_gpu_addresses_all(call);
}

/* --- parameters --- */

static int64_t stride(int32_t extent, int32_t of_out, int64_t elements)
{
    return extent == of_out ? elements : 0;
}

/* Walks over [h, w, c] of a, of b or a again, and of the output. */
static struct ig_gpu_loops walk_rows(const struct ig_operand *a, const struct ig_operand *b, const struct ig_operand *out)
{
    struct ig_gpu_loops l = {0};
    ig_gpu_loop(&l, out->h, stride(a->h, out->h, a->row_stride), stride(b->h, out->h, b->row_stride), 0, out->row_stride);
    ig_gpu_loop(&l, out->w, stride(a->w, out->w, a->pixel_stride), stride(b->w, out->w, b->pixel_stride), 0, out->pixel_stride);
    ig_gpu_loop(&l, out->c, stride(a->c, out->c, 1), stride(b->c, out->c, 1), 0, 1);
    return l;
}

/* Walks over the output's dims, of inputs that are broadcast to it. */
static struct ig_gpu_loops walk_dims(const struct ig_shape *a, const struct ig_shape *b, const struct ig_shape *c,
                                     const struct ig_shape *out)
{
    struct ig_gpu_loops l = {0};
    for (int d = 0; d < out->rank; d++)
        ig_gpu_loop(&l, out->dims[d], ig_gpu_broadcast(a, out, d), ig_gpu_broadcast(b, out, d), ig_gpu_broadcast(c, out, d),
                    ig_span(out, d + 1, out->rank));
    return l;
}

/* Quads of elements of `type` may be read and written there. */
static int has_quads(const void *at, int32_t type)
{
    int32_t bytes = 4 * ig_type_bytes(type);
    return (uintptr_t)at % (uintptr_t)(bytes < 16 ? bytes : 16) == 0;
}

/* The function for what is one run in memory, of input and output alike, if it is so. */
static const char *run_or(const char *run, const char *other, const struct ig_gpu_typed *p, const struct ig_gpu_loops *l)
{
    int is_run = l->n == 0 || (l->n == 1 && l->at[0][0] == 1 && l->at[3][0] == 1);
    return is_run && has_quads(p->a, p->a_type) && has_quads(p->out, p->out_type) ? run : other;
}

static int fill(struct ig_gpu_typed *p, const struct ig_gpu_loops *l, const char *function, struct ig_gpu_launch *to)
{
    p->count = ig_gpu_visits(l);
    p->n = l->n;
    ig_gpu_put_loops(p->dims, l->dims, l->n);
    ig_gpu_put_loops(p->a_at, l->at[0], l->n);
    ig_gpu_put_loops(p->b_at, l->at[1], l->n);
    ig_gpu_put_loops(p->c_at, l->at[2], l->n);
    ig_gpu_put_loops(p->out_at, l->at[3], l->n);
    return ig_gpu_some(to, function, strstr(function, "_run") ? ig_gpu_ceil(p->count, 4) : p->count, POINTERS, p, sizeof *p);
}

static struct ig_gpu_typed operands(const struct ig_call *call)
{
    return (struct ig_gpu_typed){.a = call->in[0].data, .out = call->out[0].data, .a_type = call->in[0].shape->type,
                                 .out_type = call->out[0].shape->type};
}

/* --- launches --- */

int ig_gpu_unary_any(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_typed p = operands(call);
    struct ig_gpu_loops l = walk_rows(&call->in[0], &call->in[0], &call->out[0]);
    (void)scratch;
    p.act = ig_gpu_act_of(&((const struct ig_unary_attr *)call->attrs)->act);
    int integers = p.a_type == p.out_type && p.a_type != IG_F32 && p.a_type != IG_F16 && p.a_type != IG_BOOL;
    return fill(&p, &l, integers ? run_or("unary_run", "unary_typed", &p, &l) : "unary_typed", to);
}

int ig_gpu_cast(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_typed p = operands(call);
    struct ig_gpu_loops l = walk_rows(&call->in[0], &call->in[0], &call->out[0]);
    (void)scratch;
    return fill(&p, &l, p.out_type == IG_BOOL ? "cast_typed" : run_or("cast_run", "cast_typed", &p, &l), to);
}

/* A sum, difference, product, greater or lesser of integers. */
static int is_plain(const struct ig_gpu_typed *p)
{
    int plain = p->kind == IG_ADD || p->kind == IG_SUB || p->kind == IG_MUL || p->kind == IG_MAX || p->kind == IG_MIN;
    return plain && (p->a_type == IG_I32 || p->a_type == IG_I64) && p->b_type == p->a_type && p->out_type == p->a_type;
}

/* One run in memory, or one number for all; alike for both operands and the output. */
static int is_run_of_two(const struct ig_gpu_typed *p, const struct ig_gpu_loops *l)
{
    if (l->n > 1 || !has_quads(p->a, p->a_type) || !has_quads(p->b, p->b_type) || !has_quads(p->out, p->out_type)) return 0;
    return l->n == 0 || ((unsigned)l->at[0][0] <= 1 && (unsigned)l->at[1][0] <= 1 && l->at[3][0] == 1);
}

static int binary(const struct ig_call *call, const struct ig_gpu_loops *l, struct ig_gpu_launch *to)
{
    const struct ig_binary_attr *a = (const struct ig_binary_attr *)call->attrs;
    struct ig_gpu_typed p = operands(call);
    p.b = call->in[1].data;
    p.b_type = call->in[1].shape->type;
    p.kind = a->kind;
    p.act = ig_gpu_act_of(&a->act);
    return fill(&p, l, is_plain(&p) && is_run_of_two(&p, l) ? "binary_run" : "binary_typed", to);
}

int ig_gpu_binary_any(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = walk_rows(&call->in[0], &call->in[1], &call->out[0]);
    (void)scratch;
    return binary(call, &l, to);
}

int ig_gpu_binary_nd(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = walk_dims(call->in[0].shape, call->in[1].shape, call->in[1].shape, call->out[0].shape);
    (void)scratch;
    return binary(call, &l, to);
}

/* Elements of four bytes, a condition that is one run as the output is, operands that are one run or one number. */
static int is_run_of_three(const struct ig_gpu_typed *p, const struct ig_gpu_loops *l)
{
    int is_run = l->n == 1 && (unsigned)l->at[0][0] <= 1 && (unsigned)l->at[1][0] <= 1 && l->at[2][0] == 1 && l->at[3][0] == 1;
    return is_run && p->kind == 4 && has_quads(p->a, p->a_type) && has_quads(p->b, p->a_type) && has_quads(p->c, IG_BOOL) &&
           has_quads(p->out, p->a_type);
}

int ig_gpu_where(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = walk_dims(call->in[1].shape, call->in[2].shape, call->in[0].shape, call->out[0].shape);
    struct ig_gpu_typed p = {.a = call->in[1].data, .b = call->in[2].data, .c = call->in[0].data, .out = call->out[0].data,
                             .a_type = call->out[0].shape->type, .kind = ig_type_bytes(call->out[0].shape->type)};
    (void)scratch;
    return fill(&p, &l, is_run_of_three(&p, &l) ? "where_run" : "where_typed", to);
}

/* Elements of a parameter of a quantisation. */
static int32_t elements(const struct ig_call *call, int k)
{
    return ig_has(call, k) ? (int32_t)ig_count(call->in[k].shape) : 1;
}

static int quantize(const struct ig_call *call, const char *function, const char *run, int takes_run, struct ig_gpu_launch *to)
{
    const struct ig_axis *a = (const struct ig_axis *)call->attrs;
    const struct ig_shape *x = call->in[0].shape;
    struct ig_gpu_quantize p = {.in = call->in[0].data, .scale = call->in[1].data, .zero = ig_gpu_in(call, 2),
                                .out = call->out[0].data, .count = (int32_t)ig_count(x), .scale_n = elements(call, 1),
                                .zero_n = elements(call, 2), .inner = 1, .in_type = x->type,
                                .zero_type = ig_has(call, 2) ? call->in[2].shape->type : IG_U8,
                                .out_type = call->out[0].shape->type};
    if (p.scale_n > 1 || p.zero_n > 1) p.inner = (int32_t)ig_span(x, (a->axis < 0 ? a->axis + x->rank : a->axis) + 1, x->rank);
    int zero_fits = !p.zero || (p.zero_n == 1 && (p.zero_type == IG_U8 || p.zero_type == IG_I8));
    int is_run = p.scale_n == 1 && zero_fits && has_quads(p.in, p.in_type) && has_quads(p.out, p.out_type);
    return is_run && takes_run ? ig_gpu_some(to, run, ig_gpu_ceil(p.count, 4), QUANTIZE_POINTERS, &p, sizeof p)
                               : ig_gpu_some(to, function, p.count, QUANTIZE_POINTERS, &p, sizeof p);
}

int ig_gpu_quantize(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return quantize(call, "quantize_typed", "quantize_run", is_f32(call, 0), to);
}

int ig_gpu_dequantize(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    int32_t type = call->in[0].shape->type;
    return quantize(call, "dequantize_typed", "dequantize_run", type == IG_U8 || type == IG_I8, to);
}

size_t ig_gpu_scratch_dynamic_quantize(const struct ig_call *call)
{
    (void)call;
    return 2 * sizeof(float);
}

int ig_gpu_dynamic_quantize(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_quantize p = {.in = call->in[0].data, .out = ig_gpu_out(call, 0), .found = (float *)scratch,
                                .scale_out = ig_gpu_out(call, 1), .zero_out = ig_gpu_out(call, 2),
                                .count = (int32_t)ig_count(call->in[0].shape)};
    ig_gpu_fill(&to[0], "quantize_range", 1, 1, 1, 256, QUANTIZE_POINTERS, &p, sizeof p);
    return p.out ? 1 + ig_gpu_each(&to[1], "quantize_found", p.count, 128, QUANTIZE_POINTERS, &p, sizeof p) : 1;
}

int ig_gpu_supports_extremes(const struct ig_call *call)
{
    return extremes_f32_nd__supports(call) && ig_gpu_addresses_all(call) && call->out[0].shape->dims[0] <= IG_GPU_MOST_GRID;
}

/* A block finds a part's. */
int ig_gpu_extremes(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const int32_t parts = call->out[0].shape->dims[0];
    struct ig_gpu_quantize p = {.in = call->in[0].data, .out = call->out[0].data, .count = (int32_t)ig_count(call->in[0].shape), .inner = parts};
    (void)scratch;
    ig_gpu_fill(to, "extremes", parts, 1, 1, 256, QUANTIZE_POINTERS, &p, sizeof p);
    return 1;
}

/* Walks over [images, rows, w, c] of a, of b, which may be one pixel of each image, and of the output; `wide` channels at a time. */
static struct ig_gpu_loops walk_pixels(const struct ig_operand *a, const struct ig_operand *b, const struct ig_operand *out, int32_t wide)
{
    struct ig_gpu_loops l = {0};
    int32_t rows = out->h / b->h;
    ig_gpu_loop(&l, b->h, rows * a->row_stride, b->row_stride, 0, rows * out->row_stride);
    ig_gpu_loop(&l, rows, a->row_stride, 0, 0, out->row_stride);
    ig_gpu_loop(&l, out->w, a->pixel_stride, stride(b->w, out->w, b->pixel_stride), 0, out->pixel_stride);
    ig_gpu_loop(&l, out->c / wide, wide, wide, 0, wide);
    return l;
}

/* One run in memory, of both operands and the output alike. */
static int is_run_of_bytes(const struct ig_gpu_qlinear_binary *p, const struct ig_gpu_loops *l)
{
    int is_run = l->n == 0 || (l->n == 1 && l->at[0][0] == 1 && l->at[1][0] == 1 && l->at[3][0] == 1);
    return is_run && has_quads(p->a, IG_U8) && has_quads(p->b, IG_U8) && has_quads(p->out, IG_U8);
}

int ig_gpu_qlinear_binary(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    const struct ig_operand *a = &call->in[0], *b = &call->in[3], *out = &call->out[0];
    struct ig_gpu_loops l = walk_pixels(a, b, out, 1);
    struct ig_gpu_qlinear_binary p = {.a = a->data, .b = b->data, .a_zero = call->in[2].data, .b_zero = call->in[5].data,
                                      .y_zero = call->in[7].data, .a_scale = (const float *)call->in[1].data,
                                      .b_scale = (const float *)call->in[4].data, .y_scale = (const float *)call->in[6].data,
                                      .out = out->data, .a_type = a->shape->type, .b_type = b->shape->type,
                                      .zero_type = call->in[7].shape->type, .kind = attr->kind};
    (void)scratch;
    ig_quantized_bounds(&attr->act, out->shape->type, &p.low, &p.high);
    int is_run = is_run_of_bytes(&p, &l), words = !is_run && out->c % 4 == 0 && ig_gpu_is_vector(a) && ig_gpu_is_vector(b) && ig_gpu_is_vector(out);
    if (words) l = walk_pixels(a, b, out, 4);
    p.count = ig_gpu_visits(&l), p.n = l.n;
    p.by = ig_gpu_inverse(l.n ? l.dims[l.n - 1] : 1, &p.shift);
    ig_gpu_put_loops(p.dims, l.dims, l.n);
    ig_gpu_put_loops(p.a_at, l.at[0], l.n);
    ig_gpu_put_loops(p.b_at, l.at[1], l.n);
    ig_gpu_put_loops(p.out_at, l.at[3], l.n);
    return ig_gpu_some(to, is_run ? "qlinear_run" : words ? "qlinear_words" : "qlinear_typed", is_run ? ig_gpu_ceil(p.count, 4) : p.count,
                       QLINEAR_POINTERS, &p, sizeof p);
}

int ig_gpu_qlinear_affine(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_operand *x = &call->in[0], *out = &call->out[0], *scale = &call->in[1], *offset = &call->in[2], *zero = &call->in[3];
    struct ig_gpu_qlinear_affine p = {.x = x->data, .zero = zero->data, .scale = (const float *)scale->data, .offset = (const float *)offset->data,
                                      .out = out->data, .pixels = out->h * out->w, .w = out->w, .c = out->c, .quads = ig_gpu_ceil(out->c, 4),
                                      .x_row = (int32_t)x->row_stride, .x_pixel = (int32_t)x->pixel_stride, .out_row = (int32_t)out->row_stride,
                                      .out_pixel = (int32_t)out->pixel_stride, .type = x->shape->type, .zero_type = zero->shape->type};
    int words = p.c % 4 == 0 && ig_gpu_is_vector(x) && ig_gpu_is_vector(out) && has_quads(p.scale, IG_F32) && has_quads(p.offset, IG_F32);
    int64_t quads = (int64_t)p.pixels * p.quads;
    (void)scratch;
    ig_quantized_bounds(&((const struct ig_unary_attr *)call->attrs)->act, out->shape->type, &p.low, &p.high);
    if (p.x_row == p.w * p.x_pixel && p.out_row == p.w * p.out_pixel) p.w = p.pixels;
    p.step = ig_gpu_ceil(p.pixels, ig_gpu_ceil(quads, 128 * ig_gpu_some_blocks(quads)));
    p.by = ig_gpu_inverse(p.quads, &p.shift);
    return ig_gpu_each(to, words ? "qlinear_affine4" : "qlinear_affine_any", (int64_t)p.step * p.quads, 128, AFFINE_POINTERS, &p, sizeof p);
}

int ig_gpu_lookup(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_typed p = operands(call);
    struct ig_gpu_loops l = walk_rows(&call->in[0], &call->in[0], &call->out[0]);
    (void)scratch;
    p.b = call->in[1].data;
    return fill(&p, &l, has_quads(p.b, IG_U8) ? run_or("lookup_run", "lookup_typed", &p, &l) : "lookup_typed", to);
}
