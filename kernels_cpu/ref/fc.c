/* Fully connected: row m, channel n of y = act(bias[n] + sum over k of x[m][k] w[n][k] + residual[m][n]). */
#include "kernels_cpu/ref/act.h"
#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

int fc_f32_1x1__supports(const struct ig_call *call)
{
    return ig_ref_is_float(call) && ig_ref_dense_float(call, 1) && ig_ref_dense_float(call, 2);
}

void fc_f32_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_fc *a = call->attrs;
    const struct ig_operand *in = &call->in[0], *w = &call->in[1], *residual = &call->in[3];
    const struct ig_operand *bias = call->n_in > 2 && call->in[2].shape ? &call->in[2] : NULL;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t n = range.c0; n < range.c1; n++) {
            double sum = bias ? ig_load(bias, 0, n) : 0;
            for (int32_t k = 0; k < in->c; k++)
                sum += (double)ig_load(in, y, k) * ig_get_float(w->data, w->shape->type, (int64_t)n * in->c + k);
            if (call->n_in > 3 && residual->shape) sum += ig_load(residual, y, n);
            ig_store(&call->out[0], y, n, (float)ig_ref_act(&a->act, sum));
        }
}
