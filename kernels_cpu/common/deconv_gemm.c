/*
 * Transposed convolution without scattering: output pixels of one phase, (y + top) mod sh and (x + left) mod sw,
 * see the same kernel taps, at neighbouring input pixels. So each phase is a convolution of stride 1 of its own, whose
 * outputs lie sh and sw apart, with its own panels (kernels_cpu/pack/deconv.c). See conv_gemm.h.
 */
#include "kernels_cpu/common/gemm_block.h"

struct phase {
    const struct ig_window *w;
    int32_t ky, kx;                 /* the first tap; the others follow sh / gcd(sh, dh) apart */
};

static int32_t mod(int32_t a, int32_t n)
{
    int32_t m = a % n;
    return m < 0 ? m + n : m;
}

int32_t ig_deconv_tap(int32_t phase, int32_t k, int32_t stride, int32_t dilation, int32_t from)
{
    for (; from < k; from++)
        if (from * dilation % stride == phase) return from;
    return -1;
}

int32_t ig_deconv_taps(int32_t phase, int32_t k, int32_t stride, int32_t dilation)
{
    int32_t n = 0;
    for (int32_t i = 0; i < k; i++) n += i * dilation % stride == phase;
    return n;
}

int32_t ig_deconv_phase_taps(const struct ig_window *w, int32_t py, int32_t px)
{
    int32_t taps = ig_deconv_taps(py, w->kh, w->sh, w->dh) * ig_deconv_taps(px, w->kw, w->sw, w->dw);
    return taps ? taps : 1;
}

/* Taps outside the image, and the one of a phase that has none, read the zero pixel. */
static void place(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at, const float **slot,
                  int32_t n)
{
    const struct phase *p = (const struct phase *)state;
    const struct ig_window *w = p->w;
    const struct ig_operand *in = &job->call->in[0];
    const float *zero = (const float *)job->call->zeros;
    int32_t mr = job->set->mr, py = mod(at->y + w->top, w->sh), px = mod(at->x + w->left, w->sw);
    if (p->ky < 0 || p->kx < 0) {
        for (int32_t m = 0; m < n; m++) slot[m] = zero;
        return;
    }
    for (int32_t ky = p->ky; ky >= 0; ky = ig_deconv_tap(py, w->kh, w->sh, w->dh, ky + 1)) {
        int32_t y = at->y + w->top - ky * w->dh;
        const float *row = y >= 0 && y / w->sh < in->h ? ig_row_f32(in, y / w->sh) : NULL;
        for (int32_t kx = p->kx; kx >= 0; kx = ig_deconv_tap(px, w->kw, w->sw, w->dw, kx + 1), slot += mr) {
            int32_t x = (at->x + at->i * w->sw + w->left - kx * w->dw) / w->sw; /* exact, also below 0 */
            for (int32_t m = 0; m < n; m++, x++)
                slot[m] = row && x >= 0 && x < in->w ? row + x * in->pixel_stride : zero;
        }
    }
}

/* Multiples of `step` from the first one at or after `from` that is `phase` (mod step), counted up to `to`. */
static int32_t count_from(int32_t *first, int32_t from, int32_t to, int32_t phase, int32_t step)
{
    *first = from + mod(phase - from, step);
    return *first < to ? (to - *first + step - 1) / step : 0;
}

void ig_gemm_deconv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                    const struct ig_gemm_set *set)
{
    const struct ig_window *w = &conv->w;
    const float *weights = (const float *)call->weights;
    int32_t ic = call->in[0].c / conv->groups, oc = call->out[0].c / conv->groups;
    for (int32_t py = 0; py < w->sh; py++)
        for (int32_t px = 0; px < w->sw; px++) {
            struct ig_gemm_job job;
            struct phase phase = {w, ig_deconv_tap(py, w->kh, w->sh, w->dh, 0),
                                  ig_deconv_tap(px, w->kw, w->sw, w->dw, 0)};
            struct ig_gemm_walk walk = {.y_step = w->sh, .x_step = w->sw};
            ig_gemm_start(&job, call, set, range, &conv->act);
            ig_gemm_size(&job, ic, oc, ig_deconv_phase_taps(w, py, px), ic, weights, scratch);
            weights += conv->groups * job.panels * job.panel;
            walk.rows = count_from(&walk.y, range.y0, range.y1, mod(py - w->top, w->sh), w->sh);
            walk.width = count_from(&walk.x, 0, call->out[0].w, mod(px - w->left, w->sw), w->sw);
            if (walk.rows && walk.width) ig_gemm_run(&job, walk, place, &phase);
        }
}

size_t ig_gemm_deconv_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    size_t most = 0;
    for (int32_t py = 0; py < w->sh; py++)
        for (int32_t px = 0; px < w->sw; px++) {
            size_t n = ig_gemm_table_bytes(ig_deconv_phase_taps(w, py, px), mr);
            if (n > most) most = n;
        }
    return most;
}
