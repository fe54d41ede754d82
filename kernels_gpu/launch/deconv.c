/*
 * Transposed convolution: conv.cu and depthwise.cu, without a tap that is not there.
 *
 * Outputs whose row and column have the same rests by the strides, a phase, are computed from the same taps, and their
 * neighbours from neighbouring inputs: a phase is a convolution of stride 1 of its own, whose outputs are stride pixels
 * apart. With dilation d and g = gcd(stride, d) the taps of a phase are every stride/g'th, from the first that falls on
 * an input on, and their inputs d/g apart; as a convolution goes forward they are packed backward. A phase may have none,
 * as a kernel smaller than its stride leaves: then only bias, residual and activation are left.
 *
 * Weights: the bias, then [group][phase][tap of the phase][ic][oc4].
 */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/pack.h"

struct phase {           /* along one axis */
    int32_t outputs;     /* how many; the first is output `rest` */
    int32_t first, step, taps; /* first tap, taps from one to the next, number */
    int32_t before, dilation;  /* of the convolution that it is */
};

static int32_t gcd(int32_t a, int32_t b)
{
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct phase phase_of(int32_t rest, int32_t out, int32_t k, int32_t s, int32_t d, int32_t before)
{
    int32_t g = gcd(s, d);
    struct phase p = {.outputs = out > rest ? (out - rest + s - 1) / s : 0, .step = s / g, .dilation = d / g};
    while (p.first < p.step && (rest + before - p.first * d) % s) p.first++;
    if (p.first == p.step || p.first >= k) return p;
    p.taps = (k - p.first + p.step - 1) / p.step;
    p.before = (p.taps - 1) * p.dilation - (rest + before - p.first * d) / s;
    return p;
}

static struct phase row_phase(const struct ig_call *call, int32_t rest)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return phase_of(rest, call->out[0].h, w->kh, w->sh, w->dh, w->top);
}

static struct phase column_phase(const struct ig_call *call, int32_t rest)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return phase_of(rest, call->out[0].w, w->kw, w->sw, w->dw, w->left);
}

int ig_gpu_supports_deconv(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return ig_supports_conv(call) && ig_gpu_holds_all(call) && (int64_t)w->sh * w->sw <= IG_GPU_LAUNCHES;
}

/* --- weights --- */

/* One tap of a group: [ic][oc4]. */
static float *put_tap(const struct ig_call *call, int32_t group, int32_t tap, float *to)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    int32_t ic = call->in[0].c / a->groups, oc = call->out[0].c / a->groups, taps = a->w.kh * a->w.kw;
    const float *w = (const float *)call->in[1].data + (int64_t)group * ic * oc * taps;
    for (int32_t i = 0; i < ic; i++)
        for (int32_t o = 0; o < ig_gpu_round4(oc); o++)
            *to++ = o < oc ? w[((int64_t)i * oc + o) * taps + tap] : 0;
    return to;
}

static float *put_phase(const struct ig_call *call, int32_t group, const struct phase *rows, const struct phase *columns, float *to)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    for (int32_t y = rows->taps - 1; y >= 0; y--)
        for (int32_t x = columns->taps - 1; x >= 0; x--)
            to = put_tap(call, group, (rows->first + y * rows->step) * w->kw + columns->first + x * columns->step, to);
    return to;
}

size_t ig_gpu_pack_deconv(const struct ig_call *call, void *dst)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    int64_t bias = ig_gpu_bias_floats(call), taps = (int64_t)a->w.kh * a->w.kw;
    int64_t tap = (int64_t)(call->in[0].c / a->groups) * ig_gpu_round4(call->out[0].c / a->groups);
    size_t bytes = (size_t)(bias + a->groups * taps * tap) * sizeof(float);
    float *to = (float *)dst;
    if (!dst) return bytes;
    memset(to, 0, (size_t)bias * sizeof *to);
    if (bias) memcpy(to, call->in[2].data, (size_t)call->out[0].c * sizeof *to);
    to += bias;
    for (int32_t group = 0; group < a->groups; group++)
        for (int32_t y = 0; y < a->w.sh; y++)
            for (int32_t x = 0; x < a->w.sw; x++) {
                struct phase rows = row_phase(call, y), columns = column_phase(call, x);
                to = put_phase(call, group, &rows, &columns, to);
            }
    return bytes;
}

/* --- launches --- */

/* `all` as the convolution that a phase is, whose taps begin at `tap`. */
static struct ig_gpu_conv phase_conv(const struct ig_gpu_conv *all, int32_t y, int32_t x, const struct phase *rows,
                                     const struct phase *columns, int32_t tap)
{
    struct ig_gpu_conv p = *all;
    p.weights = all->weights + (int64_t)tap * all->weight_tap;
    p.out = all->out + ((int64_t)y * all->out_row + (int64_t)x * all->out_pixel);
    p.out_h = rows->outputs, p.out_w = columns->outputs;
    p.out_row = all->out_row * all->sh, p.out_pixel = all->out_pixel * all->sw;
    if (all->residual) p.residual = all->residual + ((int64_t)y * all->residual_row + (int64_t)x * all->residual_pixel);
    p.residual_row = all->residual_row * all->sh, p.residual_pixel = all->residual_pixel * all->sw;
    p.sh = p.sw = 1;
    p.kh = rows->taps, p.kw = columns->taps;
    if (!p.kh || !p.kw) p.kh = 0, p.kw = 1;
    p.dh = rows->dilation, p.dw = columns->dilation;
    p.top = rows->before, p.left = columns->before;
    return p;
}

typedef int phase_fill_fn(const struct ig_call *call, const struct ig_gpu_conv *p, struct ig_gpu_launch *to);

static int phases(const struct ig_call *call, phase_fill_fn *fill, struct ig_gpu_launch *to)
{
    struct ig_gpu_conv all = ig_gpu_conv_of(call);
    int32_t tap = 0;
    int n = 0;
    for (int32_t y = 0; y < all.sh; y++)
        for (int32_t x = 0; x < all.sw; x++) {
            struct phase rows = row_phase(call, y), columns = column_phase(call, x);
            struct ig_gpu_conv p = phase_conv(&all, y, x, &rows, &columns, tap);
            if (rows.outputs && columns.outputs) n += fill(call, &p, &to[n]);
            tap += rows.taps * columns.taps;
        }
    return n;
}

static int fill_64x64(const struct ig_call *call, const struct ig_gpu_conv *p, struct ig_gpu_launch *to)
{
    return ig_gpu_conv_tile(call, p, 64, to);
}

static int fill_32x32(const struct ig_call *call, const struct ig_gpu_conv *p, struct ig_gpu_launch *to)
{
    return ig_gpu_conv_tile(call, p, 32, to);
}

static int fill_direct(const struct ig_call *call, const struct ig_gpu_conv *p, struct ig_gpu_launch *to)
{
    (void)call;
    return ig_gpu_conv_one_by_one(p, to);
}

int ig_gpu_deconv_64x64(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return phases(call, fill_64x64, to);
}

int ig_gpu_deconv_32x32(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return phases(call, fill_32x32, to);
}

int ig_gpu_deconv_direct(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return phases(call, fill_direct, to);
}
