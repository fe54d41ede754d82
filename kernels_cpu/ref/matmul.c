/*
 * numpy's matmul: y[..][m][n] = alpha * sum over k of a[..][m][k] b[..][k][n], the leading dims broadcast,
 * either side transposed on request; a vector is a row on the left and a column on the right.
 */
#include "kernels_cpu/ref/matmul.h"

#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

int matmul_any_nd__supports(const struct ig_call *call)
{
    const struct ig_matmul *a = call->attrs;
    int32_t type = call->out[0].shape->type;
    if (call->in[0].shape->type != type || call->in[1].shape->type != type) return 0;
    return type == IG_F32 || ((type == IG_I32 || type == IG_I64) && a->alpha == 1);
}

static double dot_real(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t k)
{
    double sum = 0;
    for (int64_t i = 0; i < k; i++) sum += (double)a[i * a_step] * b[i * b_step];
    return sum;
}

static int64_t dot_integer(const struct ig_matrices *s, int32_t type, const void *a, int64_t ia,
                           const void *b, int64_t ib)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < s->k; i++)
        sum +=
            (uint64_t)ig_get_int(a, type, ia + i * s->a_k) * (uint64_t)ig_get_int(b, type, ib + i * s->b_k);
    return (int64_t)sum;
}

void matmul_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_matmul *attr = call->attrs;
    const struct ig_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    struct ig_matrices s = ig_matrices_of(a->shape, b->shape, attr->trans_a, attr->trans_b);
    int64_t to = 0;
    (void)range, (void)scratch;
    for (int64_t i = 0; i < s.a.count; i++)
        for (int64_t m = 0; m < s.m; m++)
            for (int64_t n = 0; n < s.n; n++, to++) {
                int64_t ia = ig_walk_at(&s.a, i) + m * s.a_m, ib = ig_walk_at(&s.b, i) + n * s.b_n;
                if (out->shape->type != IG_F32)
                    ig_put_int(out->data, out->shape->type, to,
                               dot_integer(&s, out->shape->type, a->data, ia, b->data, ib));
                else
                    ((float *)out->data)[to] =
                        (float)(attr->alpha * dot_real((const float *)a->data + ia, s.a_k,
                                                       (const float *)b->data + ib, s.b_k, s.k));
            }
}
