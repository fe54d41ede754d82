/* Weights of the pointwise convolution by Strassen's algorithm: the right sides of its seven products. */
#include "kernels_cpu/common/strassen.h"
#include "kernels_cpu/common/strassen_packed.h"
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

static int is_plain_pointwise(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return ig_supports_conv_gemm(call) && conv->groups == 1 && w->kh == 1 && w->kw == 1 && !w->top && !w->left &&
           !w->bottom && !w->right;
}

/* So many channels that an eighth of the products may be more than the sums that replace it. */
int ig_supports_strassen(const struct ig_call *call)
{
    return is_plain_pointwise(call) && call->in[0].c % 16 == 0 && call->in[0].c >= 128 &&
           call->out[0].c % (2 * NR) == 0 && call->out[0].c >= 128 && call->out[0].h * call->out[0].w >= 12;
}

size_t ig_scratch_strassen6x16(const struct ig_call *call)
{
    return ig_strassen_scratch(call, 6, NR);
}

/* --- on packed pixels --- */

static float *pack_product(const int8_t sign[4], const float *w, int64_t ic, int32_t c, float *dst)
{
    for (int64_t k = 0; k < ic / 2; k++)
        for (int32_t n = 0; n < NR; n++) *dst++ = sum(sign, w, ic, c + n, k);
    return dst;
}

size_t ig_pack_strassen_chain16(const struct ig_call *call, void *to)
{
    static const int8_t t1[4] = {-1, 1, 0, 0}, rest[][4] = {{1, 0, 0, 0},  {0, 0, 1, 0},   {1, -1, 0, 1},
                                                            {0, -1, 0, 1}, {-1, 1, 1, -1}, {0, 0, 0, 1}};
    const float *w = (const float *)call->in[1].data, *bias = ig_has(call, 2) ? (const float *)call->in[2].data : NULL;
    int64_t ic = call->in[0].c, oc = call->out[0].c;
    float *dst = (float *)to;
    for (int32_t c = 0; dst && c < oc; c += 2 * NR) {
        for (int32_t n = 0; n < NR; n++) *dst++ = bias ? (float)((double)bias[c + NR + n] - bias[c + n]) : 0;
        dst = pack_product(t1, w, ic, c, dst);
        for (int32_t n = 0; n < NR; n++) *dst++ = bias ? bias[c + n] : 0;
        for (size_t p = 0; p < sizeof rest / sizeof rest[0]; p++) dst = pack_product(rest[p], w, ic, c, dst);
    }
    return (size_t)(oc / (2 * NR) * ig_strassen_pair(ic)) * sizeof(float);
}

/* Packing and the sums take a tenth of what two panels do: three pairs of panels leave a gain. */
int ig_supports_strassen_packed(const struct ig_call *call)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return is_plain_pointwise(call) && in->c % 16 == 0 && in->c >= 64 && out->c % IG_STRASSEN_NR == 0 &&
           out->c >= 3 * IG_STRASSEN_NR && out->h * out->w >= 12;
}

size_t ig_scratch_strassen_packed(const struct ig_call *call)
{
    int64_t ic = call->in[0].c, oc = call->out[0].c;
    int64_t floats = IG_STRASSEN_TILES + ig_strassen_block(ic, oc) * ig_strassen_group(ic) + oc;
    return (size_t)((floats + 15) & ~(int64_t)15) * sizeof(float);
}
