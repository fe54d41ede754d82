/*
 * Transposed convolution: conv.cu and depthwise.cu, without a tap that is not there.
 *
 * Outputs whose row and column have the same rests by the strides, a phase, are computed from the same taps, and their
 * neighbours from neighbouring inputs: a phase is a convolution of stride 1 of its own, whose outputs are stride pixels
 * apart. With stride s, dilation d and g = gcd(s, d) the taps of a phase are every s/g'th, from the first that falls on
 * an input on, and their inputs d/g apart; as a convolution goes forward they are packed backward. Output r + s i meets
 * tap k at input (r + padding - k d)/s + i: the first such k is (r + padding)/g times the inverse of d/g modulo s/g, and
 * there is none where g does not divide r + padding or the kernel is smaller than that, as one smaller than its stride
 * may be. Then only bias, residual and activation are left.
 *
 * Blocks find out what their phase is by themselves (cuda/phase.cuh), so that all phases are one launch: as one each,
 * the 64 of a stride of 8x8 would be small ones, and wait for one another.
 *
 * Weights: the bias, then [group][first row of taps][first column][tap of the phase][ic][oc4]. Those that are halves have rows of
 * whole eights for conv_half.cu, of fours for depthwise.cu.
 */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/half.h"
#include "kernels_cpu/pack/pack.h"

enum { POINTERS = 7 };

static int32_t gcd(int32_t a, int32_t b)
{
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct ig_gpu_axis axis_of(int32_t s, int32_t d, int32_t before)
{
    int32_t common = gcd(s, d);
    struct ig_gpu_axis a = {common, (before % s + s) % s, s / common, d / common, 0};
    while (a.step > 1 && (int64_t)a.dilation * a.inverse % a.step != 1) a.inverse++;
    return a;
}

int ig_gpu_supports_deconv(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return ig_supports_conv(call) && ig_gpu_holds_all(call) && (int64_t)w->sh * w->sw <= IG_GPU_MOST_GRID;
}

int ig_gpu_supports_deconv_tile(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    return ig_gpu_supports_deconv(call) && (int64_t)a->w.sh * a->w.sw * a->groups <= IG_GPU_MOST_GRID;
}

int ig_gpu_supports_half_deconv(const struct ig_call *call)
{
    return ig_supports_half(call, ig_gpu_supports_deconv);
}

int ig_gpu_supports_half_deconv_tile(const struct ig_call *call)
{
    return ig_supports_half(call, ig_gpu_supports_deconv_tile);
}

int ig_gpu_supports_half_deconv_mma(const struct ig_call *call)
{
    return ig_gpu_is_halves(&call->in[0]) && ig_gpu_supports_half_deconv_tile(call);
}

/* --- weights --- */

/* Channels of a row of packed weights. */
static int32_t row_of(int32_t oc, int32_t columns)
{
    return ig_gpu_ceil(oc, columns) * columns;
}

/* One tap of a group: [ic][oc4]. */
static float *put_tap(const struct ig_call *call, int32_t group, int32_t tap, int32_t columns, float *to)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    int32_t ic = call->in[0].c / a->groups, oc = call->out[0].c / a->groups, taps = a->w.kh * a->w.kw;
    const float *w = (const float *)call->in[1].data + (int64_t)group * ic * oc * taps;
    for (int32_t i = 0; i < ic; i++)
        for (int32_t o = 0; o < row_of(oc, columns); o++)
            *to++ = o < oc ? w[((int64_t)i * oc + o) * taps + tap] : 0;
    return to;
}

/* The taps of a group's phases that begin with row y and column x. */
static float *put_phase(const struct ig_call *call, int32_t group, int32_t y, int32_t x, int32_t step_y, int32_t step_x, int32_t columns, float *to)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    int32_t last_y = y + (w->kh - 1 - y) / step_y * step_y, last_x = x + (w->kw - 1 - x) / step_x * step_x;
    for (int32_t ky = last_y; ky >= 0; ky -= step_y)
        for (int32_t kx = last_x; kx >= 0; kx -= step_x) to = put_tap(call, group, ky * w->kw + kx, columns, to);
    return to;
}

/* Rows are multiples of `columns`. */
static size_t pack(const struct ig_call *call, int32_t columns, void *dst)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    int32_t step_y = a->w.sh / gcd(a->w.sh, a->w.dh), step_x = a->w.sw / gcd(a->w.sw, a->w.dw);
    int64_t bias = ig_gpu_bias_room(call), taps = (int64_t)a->w.kh * a->w.kw;
    int64_t tap = (int64_t)(call->in[0].c / a->groups) * row_of(call->out[0].c / a->groups, columns);
    size_t bytes = (size_t)(bias + a->groups * taps * tap) * sizeof(float);
    float *to = (float *)dst;
    if (!dst) return bytes;
    memset(to, 0, (size_t)bias * sizeof *to);
    if (bias) memcpy(to, call->in[2].data, (size_t)call->out[0].c * sizeof *to);
    to += bias;
    for (int32_t group = 0; group < a->groups; group++)
        for (int32_t y = 0; y < step_y && y < a->w.kh; y++)
            for (int32_t x = 0; x < step_x && x < a->w.kw; x++) to = put_phase(call, group, y, x, step_y, step_x, columns, to);
    return bytes;
}

size_t ig_gpu_pack_deconv(const struct ig_call *call, void *dst)
{
    return pack(call, 4, dst);
}

static size_t pack8(const struct ig_call *call, void *dst)
{
    return pack(call, 8, dst);
}

size_t ig_gpu_pack_half_deconv(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, pack8);
}

size_t ig_gpu_pack_half_deconv_direct(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_gpu_pack_deconv);
}

/* --- launches --- */

static struct ig_gpu_deconv deconv_of(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    struct ig_gpu_deconv p = {ig_gpu_conv_of(call), axis_of(w->sh, w->dh, w->top), axis_of(w->sw, w->dw, w->left)};
    p.all.chunk = INT32_MAX; /* of sums: one piece, the whole */
    return p;
}

/* Outputs of the largest phase, which is the first. */
static int64_t most_of_phase(const struct ig_gpu_conv *p)
{
    return (int64_t)ig_gpu_ceil(p->out_h, p->sh) * ig_gpu_ceil(p->out_w, p->sw);
}

static int fill_tiles(const struct ig_gpu_deconv *p, int32_t tile, const char *function, struct ig_gpu_launch *to)
{
    ig_gpu_fill(to, function, ig_gpu_ceil(most_of_phase(&p->all), tile), ig_gpu_ceil(p->all.oc, tile),
                p->all.sh * p->all.sw * p->all.groups, tile == 64 ? 128 : 64, POINTERS, p, sizeof *p);
    return 1;
}

static int tiles(const struct ig_call *call, int32_t tile, const char *function, struct ig_gpu_launch *to)
{
    const struct ig_gpu_deconv p = deconv_of(call);
    return fill_tiles(&p, tile, function, to);
}

/* May pixels be read so many channels at a time, of one tap each? */
static int has_pieces(const struct ig_call *call, int32_t n)
{
    return call->in[0].c / ((const struct ig_conv *)call->attrs)->groups % n == 0 && ig_gpu_is_vector_of(&call->in[0], n);
}

static int has_quads(const struct ig_call *call)
{
    return has_pieces(call, 4);
}

int ig_gpu_deconv_64x64(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return has_quads(call) ? tiles(call, 64, "deconv_64x64", to) : tiles(call, 32, "deconv_any32x32", to);
}

int ig_gpu_deconv_32x32(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return tiles(call, 32, has_quads(call) ? "deconv_32x32" : "deconv_any32x32", to);
}

static int one_by_one(const struct ig_gpu_deconv *p, const char *function, struct ig_gpu_launch *to)
{
    ig_gpu_fill(to, function, ig_gpu_ceil(most_of_phase(&p->all) * p->all.groups * p->all.oc, 128), 1, p->all.sh * p->all.sw, 128,
                POINTERS, p, sizeof *p);
    return 1;
}

int ig_gpu_deconv_direct(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_deconv p = deconv_of(call);
    (void)scratch;
    return one_by_one(&p, "deconv_direct", to);
}

/* Of weights that are halves, in rows of whole eights. */
static struct ig_gpu_deconv half_of(const struct ig_call *call)
{
    struct ig_gpu_deconv p = deconv_of(call);
    p.all = ig_gpu_in_eights(ig_gpu_on_halves(call, p.all));
    return p;
}

int ig_gpu_half_deconv_mma64x64(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_deconv p = half_of(call);
    (void)scratch;
    return fill_tiles(&p, 64, has_pieces(call, 8) ? "deconv_half_mma64x64" : "deconv_half_mma_any64x64", to);
}

int ig_gpu_half_deconv_64x64(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_deconv p = half_of(call);
    int halves = ig_gpu_is_halves(&call->in[0]);
    if (!has_quads(call)) return ig_gpu_half_deconv_32x32(call, scratch, to);
    return fill_tiles(&p, 64, halves ? "deconv_half64x64" : "deconv_half_floats64x64", to);
}

int ig_gpu_half_deconv_32x32(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_deconv p = half_of(call);
    const char *of_halves = has_quads(call) ? "deconv_half32x32" : "deconv_half_any32x32";
    (void)scratch;
    return fill_tiles(&p, 32, ig_gpu_is_halves(&call->in[0]) ? of_halves : "deconv_half_floats_any32x32", to);
}

int ig_gpu_half_deconv_direct(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_deconv p = deconv_of(call);
    (void)scratch;
    p.all = ig_gpu_on_halves(call, p.all);
    return one_by_one(&p, ig_gpu_is_halves(&call->in[0]) ? "deconv_half_direct" : "deconv_half_floats_direct", to);
}
