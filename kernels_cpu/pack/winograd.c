/*
 * Weights of Winograd convolution F(rows x columns, kh x kw): the bias, then for each of the points, down and
 * across, panels of 16 channels in the order the micro-kernel reads, with a bias of zeros.
 *
 *   bias[oc rounded up to 16]
 *   point (0,0)                                        point (0,1)  ...  the last point
 *   panel 0                  panel 1
 *   0[16]                    0[16] ...
 *   ic 0: oc 0 .. 15
 *   ic 1: oc 0 .. 15
 *   ...
 * Channels past the last are zero. U = G g G^T is computed in double and rounded once. With n points p_0 .. p_{n-2}
 * and infinity and k taps, row j of G is (1, p_j, .. p_j^(k-1)) / product of (p_j - p_i) over all other i; (0, .. 0, 1) for
 * infinity. The points depend on n alone, and so does B^T; those of n = 5, 6, 8 and 10 are among the best of dyadic ones.
 * With stride 2 the first points are those of taps 0 and 2, as F(m,2), then m times tap 1. Of a volume's kernel all input channels of
 * depth 0 come first, then those of depth 1.
 */
#include "kernels_cpu/common/winograd.h"

#include <string.h>

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

enum { NR = 16, MAX_N = IG_WINOGRAD_MAX_N, MAX_K = IG_WINOGRAD_MAX_K };

static const double points[MAX_N + 1][MAX_N - 1] = {
    [3] = {1, -1},
    [4] = {0, 1, -1},
    [5] = {0.5, -0.5, 1.25, -1.25},
    [6] = {0, 0.75, -0.75, 1.5, -1.5},
    [8] = {0, 1, -1, 2, -2, 0.5, -0.5},
    [10] = {0, 0.4375, -0.4375, 0.8125, -0.8125, 1.25, -1.25, 2, -2},
};

/* F(m,taps), whose taps are `apart`. */
static void toom_cook(int32_t m, int32_t taps, double g[MAX_N][MAX_K], int32_t apart)
{
    int32_t n = m + taps - 1;
    for (int32_t j = 0; j < n - 1; j++) {
        double p = points[n][j], product = 1, power = 1;
        for (int32_t i = 0; i < n - 1; i++)
            if (i != j) product *= p - points[n][i];
        for (int32_t a = 0; a < taps; a++, power *= p) g[j][a * apart] = power / product;
    }
    g[n - 1][(taps - 1) * apart] = 1;
}

/* One output has the taps for points. */
static void make_g(int32_t m, int32_t taps, int32_t stride, double g[MAX_N][MAX_K])
{
    memset(g, 0, MAX_N * sizeof *g);
    for (int32_t j = 0; m == 1 && j < taps; j++) g[j][j] = 1;
    if (m > 1 && stride == 1) toom_cook(m, taps, g, 1);
    if (m == 1 || stride == 1) return;
    toom_cook(m, 2, g, 2);
    for (int32_t j = 0; j < m; j++) g[m + 1 + j][1] = 1;
}

struct factors {
    double down[MAX_N][MAX_K], across[MAX_N][MAX_K];
};

/* U of one channel of up to 16 filters, w[width][ic][taps] from that channel on: each step is one of vectors. */
static void filter_panel(const float *w, int32_t width, int32_t ic, const struct ig_winograd_shape *s, const struct factors *g, float u[][NR])
{
    int32_t kw = s->kw, n_taps = s->kh * kw;
    double taps[MAX_K * MAX_K][NR], half[MAX_K][NR], sum[NR];
    for (int32_t k = 0; k < NR; k++)
        for (int32_t t = 0; t < n_taps; t++) taps[t][k] = k < width ? (double)w[(int64_t)k * ic * n_taps + t] : 0;
    for (int32_t i = 0; i < ig_winograd_high(s); i++) {
        for (int32_t b = 0; b < kw; b++) {
            for (int32_t k = 0; k < NR; k++) half[b][k] = g->down[i][0] * taps[b][k];
            for (int32_t a = 1; a < s->kh; a++)
                for (int32_t k = 0; k < NR; k++) half[b][k] += g->down[i][a] * taps[a * kw + b][k];
        }
        for (int32_t j = 0; j < ig_winograd_wide(s); j++, u++) {
            for (int32_t k = 0; k < NR; k++) sum[k] = half[0][k] * g->across[j][0];
            for (int32_t b = 1; b < kw; b++)
                for (int32_t k = 0; k < NR; k++) sum[k] += half[b][k] * g->across[j][b];
            for (int32_t k = 0; k < NR; k++) (*u)[k] = (float)sum[k];
        }
    }
}

void ig_winograd_filters(const float *w, int32_t ic, int32_t oc, const struct ig_winograd_shape *s, const struct ig_winograd_layout *l,
                         float *dst)
{
    int32_t n = ig_winograd_points(s), taps = s->kh * s->kw;
    float u[IG_WINOGRAD_MAX_POINTS][NR];
    struct factors g;
    make_g(s->rows, s->kh, s->stride, g.down);
    make_g(s->columns, s->kw, s->stride, g.across);
    for (int32_t o = 0; o < oc; o += NR, dst += l->panel) {
        int32_t width = oc - o < NR ? oc - o : NR;
        for (int32_t c = 0; c < ic * s->kd; c++) {
            int64_t channel = c % s->kd * ic + c / s->kd;
            filter_panel(w + ((int64_t)o * ic * s->kd + c) * taps, width, ic * s->kd, s, &g, u);
            for (int32_t p = 0; p < n; p++) memcpy(dst + p * l->point + channel * l->channel, u[p], (size_t)width * sizeof **u);
        }
    }
}

static size_t pack(const struct ig_call *call, int32_t m, void *dst)
{
    const struct ig_winograd_shape s = ig_winograd_shape_of(call, m, m);
    int32_t ic = call->in[0].c, oc = call->out[0].c, panels = (oc + NR - 1) / NR;
    struct ig_winograd_layout l = {.panel = ig_gemm_panel(1, (int64_t)ic * s.kd, NR), .channel = NR};
    l.point = panels * l.panel;
    int64_t floats = panels * NR + ig_winograd_points(&s) * l.point;
    float *bias = (float *)dst;
    if (dst) {
        memset(bias, 0, (size_t)floats * sizeof *bias);
        if (ig_has(call, 2)) memcpy(bias, call->in[2].data, (size_t)oc * sizeof *bias);
        ig_winograd_filters((const float *)call->in[1].data, ic, oc, &s, &l, bias + (panels + 1) * NR); /* a panel begins with a bias of none */
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

static int supports_nd(const struct ig_call *call, int32_t kh, int32_t kw, int32_t stride)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return ig_supports_conv_nd(call) && conv->groups == 1 && w->kh == kh && w->kw == kw && w->sh == stride && w->sw == stride &&
           w->dh == 1 && w->dw == 1;
}

static int supports(const struct ig_call *call, int32_t kh, int32_t kw, int32_t stride)
{
    return supports_nd(call, kh, kw, stride) && ig_is_flat(&((const struct ig_conv *)call->attrs)->w);
}

/* 3x3, of volumes where rows of tiles fit a depth, and vectors the channels. */
static int supports_tiles(const struct ig_call *call, int32_t stride, int32_t rows)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return supports_nd(call, 3, 3, stride) && (ig_is_flat(w) || (call->out[0].h / w->out_d % rows == 0 && call->in[0].c % NR == 0));
}

int ig_supports_winograd2(const struct ig_call *call)
{
    return supports_tiles(call, 1, 2);
}

int ig_supports_winograd4(const struct ig_call *call)
{
    return supports_tiles(call, 1, 4);
}

int ig_supports_winograd6(const struct ig_call *call)
{
    return supports_tiles(call, 1, 6);
}

int ig_supports_winograd2s2(const struct ig_call *call)
{
    return supports_tiles(call, 2, 2);
}

int ig_supports_winograd4s2(const struct ig_call *call)
{
    return supports_tiles(call, 2, 4);
}

int ig_supports_winograd(const struct ig_call *call)
{
    return supports(call, 3, 3, 1);
}

int ig_supports_winograd_of5(const struct ig_call *call)
{
    return supports(call, 5, 5, 1);
}

int ig_supports_winograd_of7(const struct ig_call *call)
{
    return supports(call, 7, 7, 1);
}

int ig_supports_winograd_s2(const struct ig_call *call)
{
    return supports(call, 3, 3, 2);
}

int ig_supports_winograd_row(const struct ig_call *call)
{
    return supports(call, 1, 3, 1) || supports(call, 1, 5, 1) || supports(call, 1, 7, 1);
}

int ig_supports_winograd_column(const struct ig_call *call)
{
    return supports(call, 3, 1, 1) || supports(call, 5, 1, 1) || supports(call, 7, 1, 1);
}

int ig_supports_winograd_line(const struct ig_call *call)
{
    return ig_supports_winograd_row(call) || ig_supports_winograd_column(call);
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
    return ig_winograd_scratch(call, 2, 6);
}

size_t ig_scratch_winograd4(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 4, 6);
}

size_t ig_scratch_winograd6(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 6, 6);
}

size_t ig_scratch_winograd2_mr12(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 2, 12);
}

size_t ig_scratch_winograd4_mr12(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 4, 12);
}

size_t ig_scratch_winograd6_mr12(const struct ig_call *call)
{
    return ig_winograd_scratch(call, 6, 12);
}

size_t ig_scratch_winograd2_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 2, 2, IG_WINOGRAD_LEAN_TILES, 6);
}

size_t ig_scratch_winograd1x4_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 1, 4, IG_WINOGRAD_LEAN_TILES, 6);
}

size_t ig_scratch_winograd2x4_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 2, 4, IG_WINOGRAD_LEAN_TILES, 6);
}

size_t ig_scratch_winograd4_raw(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 4, 4, IG_WINOGRAD_RAW_TILES, 6);
}

size_t ig_scratch_winograd4_lean(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 4, 4, IG_WINOGRAD_LEAN_TILES, 6);
}

size_t ig_scratch_winograd2_raw_mr12(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 2, 2, IG_WINOGRAD_LEAN_TILES, 12);
}

size_t ig_scratch_winograd4_raw_mr12(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 4, 4, IG_WINOGRAD_RAW_TILES, 12);
}

size_t ig_scratch_winograd4_lean_mr12(const struct ig_call *call)
{
    return ig_winograd_raw_scratch(call, 4, 4, IG_WINOGRAD_LEAN_TILES, 12);
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
