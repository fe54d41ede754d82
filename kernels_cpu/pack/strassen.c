/* Weights of the pointwise convolution by Strassen's algorithm: the right sides of its seven products. */
#include "kernels_cpu/common/strassen.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

enum { NR = 16 };

/* Signs of the four quarters of B (k half, channel half: 11, 12, 21, 22) in each product's right side. */
static const int8_t signs[IG_STRASSEN_PRODUCTS][4] = {
    {1, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1},
};

static float sum(const int8_t sign[4], const float *w, int64_t ic, int32_t channel, int64_t k)
{
    const float *left = w + channel * ic + k, *right = left + NR * ic;
    return (float)(sign[0] * (double)left[0] + sign[1] * (double)right[0] + sign[2] * (double)left[ic / 2] +
                   sign[3] * (double)right[ic / 2]);
}

size_t ig_pack_strassen16(const struct ig_call *call, void *to)
{
    const float *w = (const float *)call->in[1].data, *bias = ig_has(call, 2) ? (const float *)call->in[2].data : NULL;
    int64_t ic = call->in[0].c, oc = call->out[0].c;
    float *dst = (float *)to;
    for (int32_t c = 0; dst && c < oc; c += 2 * NR) {
        for (int32_t n = 0; n < 2 * NR; n++) *dst++ = bias ? bias[c + n] : 0;
        for (int32_t p = 0; p < IG_STRASSEN_PRODUCTS; p++)
            for (int64_t k = 0; k < ic / 2; k++)
                for (int32_t n = 0; n < NR; n++) *dst++ = sum(signs[p], w, ic, c + n, k);
    }
    return (size_t)(oc / (2 * NR) * (2 * NR + IG_STRASSEN_PRODUCTS * (ic / 2) * NR)) * sizeof(float);
}

/* Pointwise, unpadded, with so many channels that an eighth of the products may be more than the sums that replace it. */
int ig_supports_strassen(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return ig_supports_conv_gemm(call) && conv->groups == 1 && w->kh == 1 && w->kw == 1 && !w->top && !w->left &&
           !w->bottom && !w->right && call->in[0].c % 16 == 0 && call->in[0].c >= 128 &&
           call->out[0].c % (2 * NR) == 0 && call->out[0].c >= 128 && call->out[0].h * call->out[0].w >= 12;
}

size_t ig_scratch_strassen6x16(const struct ig_call *call)
{
    return ig_strassen_scratch(call, 6, NR);
}
