/* Products of matrices that are both made at run time: matmul.cu. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/matmul.h"
#include "kernels_cpu/ref/quantized.h"
#include "kernels_gpu/launch/loops.h"

enum { TILE = 64, BYTES_POINTERS = 10 };

/* Loops over the leading dims. */
static struct ig_gpu_loops batches(const struct ig_matrices *s)
{
    struct ig_gpu_loops l = {0};
    for (int i = 0; i < s->a.n; i++) ig_gpu_loop(&l, s->a.extent[i], s->a.stride[i], s->b.stride[i], 0, 0);
    return l;
}

static struct ig_matrices matrices(const struct ig_call *call, int a, int b, int trans_a, int trans_b)
{
    return ig_matrices_of(call->in[a].shape, call->in[b].shape, trans_a, trans_b);
}

int ig_gpu_supports_matmul_any(const struct ig_call *call)
{
    const struct ig_matmul *a = (const struct ig_matmul *)call->attrs;
    if (!matmul_any_nd__supports(call) || !ig_gpu_addresses_all(call)) return 0;
    struct ig_matrices s = matrices(call, 0, 1, a->trans_a, a->trans_b);
    return batches(&s).n <= IG_GPU_BATCH_DIMS;
}

int ig_gpu_supports_matmul(const struct ig_call *call)
{
    const struct ig_matmul *a = (const struct ig_matmul *)call->attrs;
    if (!ig_gpu_supports_matmul_any(call) || !ig_is_f32(&call->out[0])) return 0;
    struct ig_matrices s = matrices(call, 0, 1, a->trans_a, a->trans_b);
    return s.a.count <= IG_GPU_MOST_GRID && s.n <= (int64_t)IG_GPU_MOST_GRID * TILE;
}

int ig_gpu_supports_matmul_integer(const struct ig_call *call)
{
    return ig_gpu_supports_matmul_any(call) && call->out[0].shape->type != IG_F32;
}

static struct ig_gpu_matmul product(const struct ig_call *call)
{
    const struct ig_matmul *a = (const struct ig_matmul *)call->attrs;
    struct ig_matrices s = matrices(call, 0, 1, a->trans_a, a->trans_b);
    struct ig_gpu_loops l = batches(&s);
    struct ig_gpu_matmul p = {.a = call->in[0].data, .b = call->in[1].data, .out = call->out[0].data, .m = (int32_t)s.m,
                              .n = (int32_t)s.n, .k = (int32_t)s.k, .a_m = (int32_t)s.a_m, .a_k = (int32_t)s.a_k,
                              .b_k = (int32_t)s.b_k, .b_n = (int32_t)s.b_n, .batches = (int32_t)s.a.count, .loops = l.n,
                              .type = call->out[0].shape->type, .alpha = a->alpha};
    ig_gpu_put_loops(p.dims, l.dims, l.n);
    ig_gpu_put_loops(p.a_at, l.at[0], l.n);
    ig_gpu_put_loops(p.b_at, l.at[1], l.n);
    return p;
}

int ig_gpu_matmul(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_matmul p = product(call);
    (void)scratch;
    ig_gpu_fill(to, "matmul_64x64", ig_gpu_ceil(p.m, TILE), ig_gpu_ceil(p.n, TILE), p.batches, 256, 3, &p, sizeof p);
    return 1;
}

int ig_gpu_matmul_integer(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_matmul p = product(call);
    (void)scratch;
    return ig_gpu_each(to, "matmul_integer", (int64_t)p.batches * p.m * p.n, 128, 3, &p, sizeof p);
}

/* --- quantised operands --- */

struct ig_gpu_scaled ig_gpu_scaled_of(const struct ig_call *call, int k)
{
    return ig_has(call, k) ? (struct ig_gpu_scaled){call->in[k].shape->type, (int32_t)ig_count(call->in[k].shape)}
                           : (struct ig_gpu_scaled){IG_U8, 0};
}

int ig_gpu_scale_fits(const struct ig_call *call, int k)
{
    return ig_has(call, k) && ig_is_f32(&call->in[k]);
}

static int fits(const struct ig_call *call, int b)
{
    struct ig_matrices s = matrices(call, 0, b, 0, 0);
    return ig_gpu_addresses_all(call) && batches(&s).n <= IG_GPU_BATCH_DIMS;
}

int ig_gpu_supports_matmul_bytes(const struct ig_call *call)
{
    return matmul_integer_any_nd__supports(call) && fits(call, 1);
}

int ig_gpu_supports_qlinear_matmul(const struct ig_call *call)
{
    return qlinear_matmul_any_nd__supports(call) && fits(call, 3) && ig_gpu_scale_fits(call, 1) && ig_gpu_scale_fits(call, 4) &&
           ig_gpu_scale_fits(call, 6);
}

/* Inputs a_zero, b, b_zero are number za, b, zb. */
static struct ig_gpu_matmul_bytes product_bytes(const struct ig_call *call, int za, int b, int zb)
{
    struct ig_matrices s = matrices(call, 0, b, 0, 0);
    struct ig_gpu_loops l = batches(&s);
    struct ig_gpu_matmul_bytes p = {.a = call->in[0].data, .b = call->in[b].data, .a_zero = ig_gpu_in(call, za),
                                    .b_zero = ig_gpu_in(call, zb), .out = call->out[0].data, .m = (int32_t)s.m,
                                    .n = (int32_t)s.n, .k = (int32_t)s.k, .a_m = (int32_t)s.a_m, .a_k = (int32_t)s.a_k,
                                    .b_k = (int32_t)s.b_k, .b_n = (int32_t)s.b_n, .count = (int32_t)(s.a.count * s.m * s.n),
                                    .loops = l.n, .a_type = call->in[0].shape->type, .b_type = call->in[b].shape->type,
                                    .out_type = call->out[0].shape->type, .za = ig_gpu_scaled_of(call, za),
                                    .zb = ig_gpu_scaled_of(call, zb)};
    ig_gpu_put_loops(p.dims, l.dims, l.n);
    ig_gpu_put_loops(p.a_at, l.at[0], l.n);
    ig_gpu_put_loops(p.b_at, l.at[1], l.n);
    return p;
}

int ig_gpu_matmul_bytes(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_matmul_bytes p = product_bytes(call, 2, 1, 3);
    (void)scratch;
    p.a_scale = (const float *)ig_gpu_in(call, 4), p.b_scale = (const float *)ig_gpu_in(call, 5), p.bias = (const float *)ig_gpu_in(call, 6);
    if (p.b_scale) p.b_scales = (int32_t)ig_count(call->in[5].shape);
    p.act = ig_gpu_act_of(&((const struct ig_fc *)call->attrs)->act);
    return ig_gpu_each(to, "matmul_bytes", p.count, 128, BYTES_POINTERS, &p, sizeof p);
}

int ig_gpu_qlinear_matmul(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_matmul_bytes p = product_bytes(call, 2, 3, 5);
    (void)scratch;
    p.a_scale = (const float *)call->in[1].data, p.a_scales = (int32_t)ig_count(call->in[1].shape);
    p.b_scale = (const float *)call->in[4].data, p.b_scales = (int32_t)ig_count(call->in[4].shape);
    p.y_scale = (const float *)call->in[6].data;
    p.y_zero = ig_gpu_in(call, 7), p.y_zero_type = ig_has(call, 7) ? call->in[7].shape->type : IG_U8;
    return ig_gpu_each(to, "matmul_bytes", p.count, 128, BYTES_POINTERS, &p, sizeof p);
}
