/*
 * Matrix product of quantised operands: acc = sum (a - a_zero) (b - b_zero); acc itself (MatMulInteger), or scaled (ref/scaled.h), or
 * saturate(round(acc a_scale b_scale / y_scale) + y_zero) (QLinearMatMul). Parameters of a may be one per
 * row, those of b one per column.
 */
#include "kernels_cpu/ref/matmul.h"
#include "kernels_cpu/ref/quantized.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/scaled.h"

int matmul_integer_any_nd__supports(const struct ig_call *call)
{
    return ig_is_byte(&call->in[0]) && ig_is_byte(&call->in[1]) && ig_is_sum(call);
}

int qlinear_matmul_any_nd__supports(const struct ig_call *call)
{
    return ig_is_byte(&call->in[0]) && ig_is_byte(&call->in[3]) && ig_is_byte(&call->out[0]);
}

static int64_t dot(const struct ig_matrices *s, const struct ig_operand *a, int64_t ia, int64_t a_zero,
                   const struct ig_operand *b, int64_t ib, int64_t b_zero)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < s->k; i++)
        sum += (ig_get_int(a->data, a->shape->type, ia + i * s->a_k) - a_zero) *
               (ig_get_int(b->data, b->shape->type, ib + i * s->b_k) - b_zero);
    return sum;
}

void matmul_integer_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[1];
    struct ig_matrices s = ig_matrices_of(a->shape, b->shape, 0, 0);
    int64_t to = 0;
    (void)range, (void)scratch;
    for (int64_t i = 0; i < s.a.count; i++)
        for (int64_t m = 0; m < s.m; m++)
            for (int64_t n = 0; n < s.n; n++) {
                int64_t a_zero = (int64_t)ig_parameter(call, 2, m), b_zero = (int64_t)ig_parameter(call, 3, n);
                const int64_t sum = dot(&s, a, ig_walk_at(&s.a, i) + m * s.a_m, a_zero, b, ig_walk_at(&s.b, i) + n * s.b_n, b_zero);
                ig_put_sum(call, &((const struct ig_fc *)call->attrs)->act, call->out[0].data, to++, n, (int32_t)sum);
            }
}

void qlinear_matmul_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[3], *out = &call->out[0];
    struct ig_matrices s = ig_matrices_of(a->shape, b->shape, 0, 0);
    int64_t to = 0;
    (void)range, (void)scratch;
    for (int64_t i = 0; i < s.a.count; i++)
        for (int64_t m = 0; m < s.m; m++)
            for (int64_t n = 0; n < s.n; n++) {
                int64_t acc = dot(&s, a, ig_walk_at(&s.a, i) + m * s.a_m, (int64_t)ig_parameter(call, 2, m),
                                  b, ig_walk_at(&s.b, i) + n * s.b_n, (int64_t)ig_parameter(call, 5, n));
                ig_put_int(out->data, out->shape->type, to++,
                           ig_requantized(acc, ig_scale(call, 1, m), ig_scale(call, 4, n), ig_scale(call, 6, 0),
                                          ig_parameter(call, 7, 0), out->shape->type));
            }
}
