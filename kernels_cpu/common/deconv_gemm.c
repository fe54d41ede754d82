/*
 * Transposed convolution without scattering: output pixels of one phase, (z + front) mod sd, (y + top) mod sh and
 * (x + left) mod sw, see the same kernel taps, at neighbouring input pixels. So each phase is a convolution of stride 1 of
 * its own, whose outputs lie sd, sh and sw apart, with its own panels (kernels_cpu/pack/deconv.c); a volume's depths are
 * computed one by one. See conv_gemm.h.
 */
#include "kernels_cpu/common/gemm_block.h"
#include "kernels_cpu/ref/window.h"

struct phase {
    const struct ig_window *w;
    int32_t in_h, out_h;            /* rows of a depth */
    int32_t z;                      /* the output's depth at hand */
    int32_t kz, ky, kx;             /* the first tap; the others follow sd / gcd(sd, dd), ... apart */
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

int32_t ig_deconv_phase_taps(const struct ig_window *w, int32_t pz, int32_t py, int32_t px)
{
    int32_t taps = ig_deconv_taps(pz, w->kd, w->sd, w->dd) * ig_deconv_taps(py, w->kh, w->sh, w->dh) * ig_deconv_taps(px, w->kw, w->sw, w->dw);
    return taps ? taps : 1;
}

/* The addresses of a kernel row's taps for n pixels: all zero where its row is outside the image. Returns the next slot. */
static const float **place_row(const struct ig_gemm_job *job, const struct phase *p, const struct ig_gemm_walk *at, const float *row,
                               const float **slot, int32_t n)
{
    const struct ig_window *w = p->w;
    const struct ig_operand *in = &job->call->in[0];
    const float *zero = (const float *)job->call->zeros;
    int32_t px = mod(at->x + w->left, w->sw);
    for (int32_t kx = p->kx; kx >= 0; kx = ig_deconv_tap(px, w->kw, w->sw, w->dw, kx + 1), slot += job->set->mr) {
        int32_t x = (at->x + at->i * w->sw + w->left - kx * w->dw) / w->sw; /* exact, also below 0 */
        for (int32_t m = 0; m < n; m++, x++) slot[m] = row && ig_inside(x, in->w) ? row + x * in->pixel_stride : zero;
    }
    return slot;
}

/* Taps outside the image, and the one of a phase that has none, read the zero pixel. */
static void place(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at, const float **slot,
                  int32_t n)
{
    const struct phase *p = (const struct phase *)state;
    const struct ig_window *w = p->w;
    int32_t out_y = at->y - p->z * p->out_h, pz = mod(p->z + w->front, w->sd), py = mod(out_y + w->top, w->sh);
    if (p->kz < 0 || p->ky < 0 || p->kx < 0) {
        for (int32_t m = 0; m < n; m++) slot[m] = (const float *)job->call->zeros;
        return;
    }
    for (int32_t kz = p->kz; kz >= 0; kz = ig_deconv_tap(pz, w->kd, w->sd, w->dd, kz + 1))
        for (int32_t ky = p->ky; ky >= 0; ky = ig_deconv_tap(py, w->kh, w->sh, w->dh, ky + 1)) {
            int32_t z = ig_tap_back(p->z, w->sd, w->front, kz, w->dd), y = ig_tap_back(out_y, w->sh, w->top, ky, w->dh);
            int inside = ig_inside(z, w->in_d) && ig_inside(y, p->in_h);
            slot = place_row(job, p, at, inside ? ig_row_f32(&job->call->in[0], z * p->in_h + y) : NULL, slot, n);
        }
}

/* Multiples of `step` from the first one at or after `from` that is `phase` (mod step), counted up to `to`. */
static int32_t count_from(int32_t *first, int32_t from, int32_t to, int32_t phase, int32_t step)
{
    *first = from + mod(phase - from, step);
    return *first < to ? (to - *first + step - 1) / step : 0;
}

/* The rows of the range that are of the phase's depths, and of its rows and columns. */
static void run_phase(struct ig_gemm_job *job, struct phase *phase, struct ig_range range, int32_t pz, int32_t py, int32_t px)
{
    const struct ig_window *w = phase->w;
    int32_t end = (range.y1 - 1) / phase->out_h;
    for (int32_t z = range.y0 / phase->out_h; z <= end; z++) {
        int32_t top = z * phase->out_h, from = range.y0 > top ? range.y0 - top : 0;
        int32_t to = range.y1 - top < phase->out_h ? range.y1 - top : phase->out_h;
        struct ig_gemm_walk walk = {.y_step = w->sh, .x_step = w->sw};
        if (mod(z + w->front, w->sd) != pz) continue;
        walk.rows = count_from(&walk.y, from, to, mod(py - w->top, w->sh), w->sh);
        walk.width = count_from(&walk.x, 0, job->call->out[0].w, mod(px - w->left, w->sw), w->sw);
        walk.y += top;
        phase->z = z;
        if (walk.rows && walk.width) ig_gemm_run(job, walk, place, phase);
    }
}

int32_t ig_deconv_phases(const struct ig_window *w)
{
    return w->sd * w->sh * w->sw;
}

int64_t ig_deconv_panel(const struct ig_window *w, int32_t i, int32_t ic, int32_t nr)
{
    return ig_gemm_panel(ig_deconv_phase_taps(w, i / (w->sh * w->sw), i / w->sw % w->sh, i % w->sw), ic, nr);
}

int ig_deconv_meets(const struct ig_window *w, int32_t i, int32_t y0, int32_t y1)
{
    int32_t first;
    return i / (w->sh * w->sw) == mod(w->front, w->sd) && count_from(&first, y0, y1, mod(i / w->sw % w->sh - w->top, w->sh), w->sh) > 0;
}

void ig_gemm_deconv_phase(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, int32_t i,
                          const float *weights, void *scratch, const struct ig_gemm_set *set)
{
    const struct ig_window *w = &conv->w;
    int32_t ic = call->in[0].c / conv->groups, oc = call->out[0].c / conv->groups;
    int32_t pz = i / (w->sh * w->sw), py = i / w->sw % w->sh, px = i % w->sw;
    struct ig_gemm_job job;
    struct phase phase = {.w = w, .in_h = call->in[0].h / w->in_d, .out_h = call->out[0].h / w->out_d,
                          .kz = ig_deconv_tap(pz, w->kd, w->sd, w->dd, 0), .ky = ig_deconv_tap(py, w->kh, w->sh, w->dh, 0),
                          .kx = ig_deconv_tap(px, w->kw, w->sw, w->dw, 0)};
    ig_gemm_start(&job, call, set, range, &conv->act);
    ig_gemm_size(&job, ic, oc, ig_deconv_phase_taps(w, pz, py, px), ic, weights, scratch);
    run_phase(&job, &phase, range, pz, py, px);
}

void ig_gemm_deconv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                    const struct ig_gemm_set *set)
{
    const struct ig_window *w = &conv->w;
    const float *weights = (const float *)call->weights;
    int32_t ic = call->in[0].c / conv->groups, oc = call->out[0].c / conv->groups;
    int64_t panels = (int64_t)conv->groups * ((oc + set->nr - 1) / set->nr);
    for (int32_t i = 0; i < ig_deconv_phases(w); i++) {
        ig_gemm_deconv_phase(call, conv, range, i, weights, scratch, set);
        weights += panels * ig_deconv_panel(w, i, ic, set->nr);
    }
}

size_t ig_gemm_deconv_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    size_t most = 0;
    for (int32_t p = 0; p < ig_deconv_phases(w); p++) {
        size_t n = ig_gemm_table_bytes(ig_deconv_phase_taps(w, p / (w->sh * w->sw), p / w->sw % w->sh, p % w->sw), mr);
        if (n > most) most = n;
    }
    return most;
}
