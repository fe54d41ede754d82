/*
 * Weights of Winograd convolution F(m,3): the bias, then for each of the n*n points, n = m + 2, panels of 16
 * channels in the order the micro-kernel reads, with a bias of zeros.
 *
 *   bias[oc rounded up to 16]
 *   point (0,0)                                        point (0,1)  ...  point (n-1,n-1)
 *   panel 0                  panel 1
 *   0[16]                    0[16] ...
 *   ic 0: oc 0 .. 15
 *   ic 1: oc 0 .. 15
 *   ...
 * Channels past the last are zero. U = G g G^T is computed in double and rounded once. With points p_0 .. p_{m}
 * and infinity, row j of G is (1, p_j, p_j^2) / product of (p_j - p_k) over all other k; (0, 0, 1) for infinity.
 */
#include "kernels_cpu/common/winograd.h"

#include <string.h>

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

enum { NR = 16, MAX_N = IG_WINOGRAD_MAX_M + 2 };

static const double points[][MAX_N - 1] = {
    [2] = {0, 1, -1},
    [4] = {0, 0.75, -0.75, 1.5, -1.5},
    [6] = {0, 1, -1, 2, -2, 0.5, -0.5},
};

static void make_g(int32_t m, double g[MAX_N][3])
{
    for (int32_t j = 0; j <= m; j++) {
        double p = points[m][j], product = 1;
        for (int32_t k = 0; k <= m; k++)
            if (k != j) product *= p - points[m][k];
        for (int32_t a = 0; a < 3; a++) g[j][a] = (a == 0 ? 1 : a == 1 ? p : p * p) / product;
    }
    g[m + 1][0] = g[m + 1][1] = 0;
    g[m + 1][2] = 1;
}

void ig_winograd_filter(const float *w, int32_t m, float *u, int64_t step)
{
    int32_t n = m + 2;
    double half[MAX_N][3], g[MAX_N][3];
    make_g(m, g);
    for (int32_t i = 0; i < n; i++)
        for (int32_t b = 0; b < 3; b++)
            half[i][b] = g[i][0] * (double)w[b] + g[i][1] * (double)w[3 + b] + g[i][2] * (double)w[6 + b];
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++, u += step)
            *u = (float)(half[i][0] * g[j][0] + half[i][1] * g[j][1] + half[i][2] * g[j][2]);
}

/* The same of channel c of 16 filters w[16][ic][9]: each step is one of vectors, in the same order. */
static void filter_panel(const float *w, int32_t ic, int32_t n, double g[MAX_N][3], float u[][NR])
{
    double taps[9][NR], half[3][NR];
    for (int32_t k = 0; k < NR; k++)
        for (int32_t t = 0; t < 9; t++) taps[t][k] = (double)w[(int64_t)k * ic * 9 + t];
    for (int32_t i = 0; i < n; i++) {
        for (int32_t b = 0; b < 3; b++)
            for (int32_t k = 0; k < NR; k++)
                half[b][k] = g[i][0] * taps[b][k] + g[i][1] * taps[3 + b][k] + g[i][2] * taps[6 + b][k];
        for (int32_t j = 0; j < n; j++, u++)
            for (int32_t k = 0; k < NR; k++)
                (*u)[k] = (float)(half[0][k] * g[j][0] + half[1][k] * g[j][1] + half[2][k] * g[j][2]);
    }
}

static void pack_points(const float *w, int32_t ic, int32_t oc, int32_t m, float *dst)
{
    int32_t n = m + 2, panels = (oc + NR - 1) / NR;
    int64_t panel = ig_gemm_panel(1, ic, NR), plane = panels * panel;
    float u[MAX_N * MAX_N][NR];
    double g[MAX_N][3];
    make_g(m, g);
    for (int32_t j = 0; j < panels; j++, dst += panel) {
        int32_t width = oc - j * NR < NR ? oc - j * NR : NR;
        memset(u, 0, sizeof u);
        for (int32_t p = 0; p < n * n; p++) memset(dst + p * plane, 0, NR * sizeof *dst);
        for (int32_t c = 0; c < ic; c++) {
            const float *filter = w + ((int64_t)j * NR * ic + c) * 9;
            if (width == NR) filter_panel(filter, ic, n, g, u);
            else
                for (int32_t k = 0; k < width; k++) ig_winograd_filter(filter + (int64_t)k * ic * 9, m, &u[0][k], NR);
            for (int32_t p = 0; p < n * n; p++) memcpy(dst + p * plane + (c + 1) * NR, u[p], sizeof u[p]);
        }
    }
}

static size_t pack(const struct ig_call *call, int32_t m, void *dst)
{
    int32_t ic = call->in[0].c, oc = call->out[0].c, panels = (oc + NR - 1) / NR;
    int64_t floats = panels * NR + (int64_t)(m + 2) * (m + 2) * panels * ig_gemm_panel(1, ic, NR);
    float *bias = (float *)dst;
    if (dst) {
        memset(bias, 0, (size_t)(panels * NR) * sizeof *bias);
        if (ig_has(call, 2)) memcpy(bias, call->in[2].data, (size_t)oc * sizeof *bias);
        pack_points((const float *)call->in[1].data, ic, oc, m, bias + panels * NR);
    }
    return (size_t)floats * sizeof(float);
}

/* The filters as they are: panels of bias[16], w[ic][tap][16]. */
size_t ig_pack_winograd_raw(const struct ig_call *call, void *dst)
{
    int32_t ic = call->in[0].c, oc = call->out[0].c, panels = (oc + NR - 1) / NR;
    const float *w = (const float *)call->in[1].data, *bias = ig_has(call, 2) ? (const float *)call->in[2].data : NULL;
    int64_t floats = ig_gemm_panel(9, ic, NR);
    float *to = (float *)dst;
    for (int32_t k = 0; dst && k < panels * NR; k++) {
        float *at = to + k / NR * floats + k % NR;
        *at = bias && k < oc ? bias[k] : 0;
        for (int32_t i = 0; i < ic * 9; i++) at[(1 + i) * NR] = k < oc ? w[(int64_t)k * ic * 9 + i] : 0;
    }
    return (size_t)(panels * floats) * sizeof(float);
}

int ig_supports_winograd(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return ig_supports_conv(call) && conv->groups == 1 && w->kh == 3 && w->kw == 3 && w->sh == 1 &&
           w->sw == 1 && w->dh == 1 && w->dw == 1;
}

size_t ig_pack_winograd2(const struct ig_call *call, void *dst)
{
    return pack(call, 2, dst);
}

size_t ig_pack_winograd4(const struct ig_call *call, void *dst)
{
    return pack(call, 4, dst);
}

size_t ig_pack_winograd6(const struct ig_call *call, void *dst)
{
    return pack(call, 6, dst);
}

size_t ig_scratch_winograd2(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 2);
}

size_t ig_scratch_winograd4(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 4);
}

size_t ig_scratch_winograd6(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 6);
}

size_t ig_scratch_winograd2_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 2, 2, IG_WINOGRAD_LEAN_GROUPS);
}

size_t ig_scratch_winograd1x4_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 1, 4, IG_WINOGRAD_LEAN_GROUPS);
}

size_t ig_scratch_winograd2x4_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 2, 4, IG_WINOGRAD_LEAN_GROUPS);
}

size_t ig_scratch_winograd4_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 4, 4, IG_WINOGRAD_RAW_GROUPS);
}

size_t ig_scratch_winograd4_lean(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 4, 4, IG_WINOGRAD_LEAN_GROUPS);
}

size_t ig_scratch_winograd2_packed(const struct ig_call *call)
{
    return ig_winograd_packed_scratch(call, 2);
}

size_t ig_scratch_winograd4_packed(const struct ig_call *call)
{
    return ig_winograd_packed_scratch(call, 4);
}

size_t ig_scratch_winograd6_packed(const struct ig_call *call)
{
    return ig_winograd_packed_scratch(call, 6);
}
