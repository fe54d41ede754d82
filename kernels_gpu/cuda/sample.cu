/*
 * Samples of images: resizes by tables of taps, deformable convolution, regions of interest, grids, columns, and the
 * inverse of a maximum pooling; a thread per output, ONNX's planes but for resizes. Coordinates that are cut to whole
 * pixels are computed in doubles, so that they are those of the CPU.
 */
#include "kernels_gpu/cuda/element.cuh"

/* Tap i of an output's; NULL: of a dim that does not change, the walk's own. */
static __device__ __forceinline__ int tap_at(const ig_gpu_tap *taps, int i)
{
    return taps ? taps[i].at : 0;
}

static __device__ __forceinline__ float tap_weight(const ig_gpu_tap *taps, int i)
{
    return taps ? taps[i].weight : 1;
}

/* Up to three dims change. */
GPU_KERNEL(128, 4, resize_taps, ig_gpu_taps)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const ig_gpu_tap *taps[IG_GPU_TAP_DIMS] = {0, 0, 0};
    int base = 0, to = 0, rest = i, n[IG_GPU_TAP_DIMS] = {1, 1, 1}, stride[IG_GPU_TAP_DIMS] = {0, 0, 0};
    bool outside = false;
    for (int d = p.n - 1; d >= 0; d--) {
        const int q = rest / p.dims[d], o = rest - q * p.dims[d];
        base += o * p.in_at[d];
        to += o * p.out_at[d];
        rest = q;
        UNROLL
        for (int k = 0; k < IG_GPU_TAP_DIMS; k++) {
            if (k >= p.changing || p.dim[k] != d) continue;
            taps[k] = p.table + (p.first[k] + o * p.taps[k]);
            n[k] = p.taps[k];
            stride[k] = p.stride[k];
            outside = outside || taps[k]->at < 0;
        }
    }
    if (p.move) {
        if (outside) put_real(p.out, p.type, to, p.outside);
        else
            move(p.out, to, p.in, base + tap_at(taps[0], 0) * stride[0] + tap_at(taps[1], 0) * stride[1] + tap_at(taps[2], 0) * stride[2],
                 p.move);
        return;
    }
    float sum = 0;
    for (int a = 0; a < n[0]; a++)
        for (int b = 0; b < n[1]; b++)
            for (int c = 0; c < n[2]; c++) {
                if (outside) continue;
                const int from = base + tap_at(taps[0], a) * stride[0] + tap_at(taps[1], b) * stride[1] + tap_at(taps[2], c) * stride[2];
                const float weight = tap_weight(taps[0], a) * tap_weight(taps[1], b) * tap_weight(taps[2], c);
                sum = fmaf(weight, load_either1((const float *)p.in, from, p.from == IG_F16), sum);
            }
    store_either1((float *)p.out, to, p.type == IG_F16, outside ? p.outside : sum);
}

/* --- deformable convolution --- */

static __device__ __forceinline__ float pixel_or_0(const float *image, int h, int w, int y, int x)
{
    return (unsigned)y < (unsigned)h && (unsigned)x < (unsigned)w ? image[y * w + x] : 0;
}

static __device__ __forceinline__ float bilinear(const float *image, int h, int w, float y, float x)
{
    if (!(y > -1 && y < h && x > -1 && x < w)) return 0;
    const int iy = (int)floorf(y), ix = (int)floorf(x);
    const float fy = y - (float)iy, fx = x - (float)ix;
    return (1 - fy) * ((1 - fx) * pixel_or_0(image, h, w, iy, ix) + fx * pixel_or_0(image, h, w, iy, ix + 1)) +
           fy * ((1 - fx) * pixel_or_0(image, h, w, iy + 1, ix) + fx * pixel_or_0(image, h, w, iy + 1, ix + 1));
}

GPU_KERNEL(128, 8, deform_conv, ig_gpu_deform)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int plane = p.out_h * p.out_w, at = i % plane, y = at / p.out_w, x = at % p.out_w;
    const int oc = i / plane % p.out_c, n = i / plane / p.out_c, first = oc / p.group_out * p.group_in, taps = p.kh * p.kw;
    float sum = p.bias ? p.bias[oc] : 0;
    for (int c = 0; c < p.group_in; c++) {
        const int ic = first + c, moved = n * p.offset_groups + ic / (p.channels / p.offset_groups);
        const float *image = p.in + (long long)(n * p.channels + ic) * p.in_h * p.in_w;
        const float *w = p.weights + (long long)(oc * p.group_in + c) * taps;
        const float *offset = p.offset + (long long)moved * taps * 2 * plane + at;
        const float *mask = p.mask ? p.mask + (long long)moved * taps * plane + at : 0;
        for (int k = 0; k < taps; k++) {
            const float py = (float)(y * p.sh - p.top + k / p.kw * p.dh) + offset[(long long)2 * k * plane];
            const float px = (float)(x * p.sw - p.left + k % p.kw * p.dw) + offset[(long long)(2 * k + 1) * plane];
            const float v = bilinear(image, p.in_h, p.in_w, py, px);
            sum = fmaf(w[k], mask ? v * mask[(long long)k * plane] : v, sum);
        }
    }
    p.out[i] = sum;
}

/* --- regions of interest --- */

enum { ROI_SAMPLES = 4096 };

struct roi_span {       /* one dim of a region */
    double start, bin;
    int samples;
};

static __device__ __forceinline__ roi_span span_of(const ig_gpu_roi &p, double from, double to, int bins)
{
    const double shift = p.half_pixel ? 0.5 : 0, start = from * p.scale - shift;
    double size = to * p.scale - shift - start;
    if (!p.half_pixel && size < 1) size = 1;
    const double samples = p.sampling > 0 ? p.sampling : ceil(size / bins);
    const roi_span s = {start, size / bins, samples >= 0 ? (int)fmin(samples, (double)ROI_SAMPLES) : 0};
    return s;
}

/* Lower and upper index about v, and the share of the upper. */
static __device__ __forceinline__ double roi_between(double v, int n, int *low, int *high)
{
    v = v < 0 ? 0 : v;
    *low = (int)v;
    *high = *low + 1;
    if (*low < n - 1) return v - *low;
    *low = *high = n - 1;
    return 0;
}

static __device__ __forceinline__ float roi_sampled(const ig_gpu_roi &p, const float *image, const float *roi, int y, int x)
{
    const roi_span v = span_of(p, roi[1], roi[3], p.out_h), h = span_of(p, roi[0], roi[2], p.out_w);
    double sum = 0, most = 0;
    bool any = false;
    for (int a = 0; a < v.samples; a++)
        for (int b = 0; b < h.samples; b++) {
            const double py = v.start + (y + (a + 0.5) / v.samples) * v.bin, px = h.start + (x + (b + 0.5) / h.samples) * h.bin;
            const bool inside = py >= -1 && py <= p.h && px >= -1 && px <= p.w;
            int y0, y1, x0, x1;
            const double fy = roi_between(inside ? py : 0, p.h, &y0, &y1), fx = roi_between(inside ? px : 0, p.w, &x0, &x1);
            UNROLL
            for (int k = 0; k < 4; k++) {
                const int at = (inside ? (k / 2 ? y1 : y0) * p.w + (k % 2 ? x1 : x0) : 0) * p.c;
                const double part = inside ? (k / 2 ? fy : 1 - fy) * (k % 2 ? fx : 1 - fx) * image[at] : 0.0 * image[at];
                sum += part;
                most = !any || part > most ? part : most;
                any = true;
            }
        }
    const long long count = (long long)v.samples * h.samples;
    return (float)(p.mode == IG_ROI_MAX ? most : sum / (count > 1 ? (double)count : 1));
}

/* The whole pixels of a bin in a dim of n. */
static __device__ __forceinline__ void roi_pixels(float scale, float from, float to, int bin, int bins, int n, int *first, int *end)
{
    const double start = round((double)(from * scale)), length = round((double)(to * scale)) - start + 1;
    const float size = (float)(length > 1 ? length : 1) / (float)bins;
    *first = (int)fmin(fmax(floor((double)((float)bin * size)) + start, 0.0), (double)n);
    *end = (int)fmin(fmax(ceil((double)((float)(bin + 1) * size)) + start, 0.0), (double)n);
}

static __device__ __forceinline__ float roi_pooled(const ig_gpu_roi &p, const float *image, const float *roi, int y, int x)
{
    int y0, y1, x0, x1;
    roi_pixels(p.scale, roi[1], roi[3], y, p.out_h, p.h, &y0, &y1);
    roi_pixels(p.scale, roi[0], roi[2], x, p.out_w, p.w, &x0, &x1);
    float most = y0 < y1 && x0 < x1 ? image[(y0 * p.w + x0) * p.c] : 0;
    for (int i = y0; i < y1; i++)
        for (int j = x0; j < x1; j++) {
            const float pixel = image[(i * p.w + j) * p.c];
            most = pixel > most ? pixel : most;
        }
    return most;
}

GPU_KERNEL(128, 4, roi_align, ig_gpu_roi)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int c = i % p.c, x = i / p.c % p.out_w, y = i / p.c / p.out_w % p.out_h, r = i / p.c / p.out_w / p.out_h;
    const float *roi = p.rois + 4 * r; /* x1, y1, x2, y2 */
    const float *image = p.in + (long long)get_index(p.images, p.index_type, r, p.n) * p.h * p.w * p.c + c;
    p.out[i] = p.mode == IG_ROI_POOL ? roi_pooled(p, image, roi, y, x) : roi_sampled(p, image, roi, y, x);
}

/* --- grids --- */

/* v folded back into [low, high]. */
static __device__ __forceinline__ double reflected(double v, double low, double high)
{
    const double length = high - low;
    if (length <= 0) return low;
    const double over = v < low ? low - v : v > high ? v - high : 0;
    if (over == 0) return v;
    const double turns = floor(over / length), rest = over - turns * length;
    const bool even = fmod(turns, 2.0) == 0;
    if (v < low) return even ? low + rest : high - rest;
    return even ? high - rest : low + rest;
}

static __device__ __forceinline__ double grid_clamped(double v, double high)
{
    return v < 0 ? 0 : v > high ? high : v;
}

static __device__ __forceinline__ double grid_inside(const ig_gpu_grid &p, double v, int n)
{
    const double low = p.align_corners ? 0 : -0.5, high = p.align_corners ? n - 1 : n - 0.5;
    if (v >= low && v <= high) return v;
    if (p.padding == IG_SAMPLE_BORDER) { /* of cubic taps each is brought back by itself, as PyTorch does; that far out all are */
        const int beyond = p.mode == IG_CUBIC ? 4 : 0;
        return grid_clamped(v + beyond, n - 1 + 2 * beyond) - beyond;
    }
    return p.padding == IG_SAMPLE_REFLECTION ? reflected(v, low, high) : v;
}

static __device__ __forceinline__ int grid_index(const ig_gpu_grid &p, double v, int n)
{
    const double low = p.align_corners ? 0 : -0.5, high = p.align_corners ? n - 1 : n - 0.5;
    if (v >= 0 && v <= n - 1) return (int)v;
    if (p.padding == IG_SAMPLE_ZEROS || v != v) return -1;
    if (p.padding == IG_SAMPLE_REFLECTION) v = reflected(v, low, high);
    return (int)grid_clamped(v, n - 1);
}

static __device__ __forceinline__ double keys_cubic(double d)
{
    const double a = -0.75;
    d = fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Taps along one dim: how many, the first (or the nearest), and the point that they are about. */
struct grid_taps {
    int n;
    double first, point;
};

static __device__ __forceinline__ grid_taps grid_taps_of(const ig_gpu_grid &p, double g, int n)
{
    double v = p.align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (p.mode == IG_NEAREST) v = rint(v);
    v = grid_inside(p, v, n);
    const int taps = p.mode == IG_NEAREST ? 1 : p.mode == IG_LINEAR ? 2 : 4;
    const grid_taps t = {taps, p.mode == IG_NEAREST ? rint(v) : floor(v) - (taps == 4), v};
    return t;
}

static __device__ __forceinline__ double grid_weight(const grid_taps &t, int k)
{
    const double d = t.point - (t.first + k);
    return t.n == 1 ? 1 : t.n == 2 ? 1 - fabs(d) : keys_cubic(d);
}

GPU_KERNEL(128, 4, grid_sample, ig_gpu_grid)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int at = i % p.points, c = i / p.points % p.c, n = i / p.points / p.c, d = p.in_dims[0], h = p.in_dims[1], w = p.in_dims[2];
    const float *point = p.grid + (long long)(n * p.points + at) * p.rank;
    const float *image = p.in + (long long)(n * p.c + c) * d * h * w;
    const grid_taps one = {1, 0, 0};
    const grid_taps tz = p.rank == 3 ? grid_taps_of(p, point[2], d) : one;
    const grid_taps ty = grid_taps_of(p, point[1], h), tx = grid_taps_of(p, point[0], w);
    double sum = 0;
    for (int a = 0; a < tz.n; a++)
        for (int b = 0; b < ty.n; b++)
            for (int e = 0; e < tx.n; e++) {
                const int z = p.rank == 3 ? grid_index(p, tz.first + a, d) : 0;
                const int y = grid_index(p, ty.first + b, h), x = grid_index(p, tx.first + e, w);
                if (z < 0 || y < 0 || x < 0) continue;
                sum += grid_weight(tz, a) * grid_weight(ty, b) * grid_weight(tx, e) * image[(z * h + y) * w + x];
            }
    p.out[i] = (float)sum;
}

/* --- columns to an image: the sum of all column elements whose window and tap fall on a pixel --- */

GPU_KERNEL(128, 8, col2im, ig_gpu_columns)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int plane = i / p.pixels;
    float sum = 0;
    for (int tap = 0; tap < p.taps; tap++) {
        int at = 0, step = 1, pixel = i % p.pixels, rest = tap;
        bool falls = true;
        UNROLL
        for (int d = IG_GPU_COLUMN_DIMS - 1; d >= 0; d--) {
            if (d >= p.rank) continue;
            const int v = pixel % p.image[d] + p.begin[d] - rest % p.block[d] * p.dilation[d];
            falls = falls && v >= 0 && v % p.stride[d] == 0 && v / p.stride[d] < p.positions[d];
            at += v / p.stride[d] * step;
            step *= p.positions[d];
            pixel /= p.image[d];
            rest /= p.block[d];
        }
        if (falls) sum += p.in[(long long)(plane * p.taps + tap) * p.columns + at];
    }
    p.out[i] = sum;
}

/* --- the inverse of a maximum pooling: of inputs with one index the last stays --- */

GPU_KERNEL(128, 8, unpool_none, ig_gpu_unpool)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < p.outputs) p.winner[i] = -1;
}

/* Offset in the output of an index; -1: outside. */
static __device__ __forceinline__ int unpool_place(const ig_gpu_unpool &p, long long index)
{
    int at = 0, step = 1;
    if (index < 0) return -1;
    UNROLL
    for (int d = IG_GPU_UNPOOL_DIMS - 1; d >= 0; d--) {
        if (d >= p.rank) continue;
        const int x = (int)(index % p.dims[d]);
        if (x >= p.out_dims[d]) return -1;
        at += x * step;
        step *= p.out_dims[d];
        index /= p.dims[d];
    }
    return index ? -1 : at;
}

GPU_KERNEL(128, 8, unpool_last, ig_gpu_unpool)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.inputs) return;
    const int at = unpool_place(p, p.index[i]);
    if (at >= 0) atomicMax(p.winner + at, i);
}

GPU_KERNEL(128, 8, unpool_put, ig_gpu_unpool)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < p.outputs) p.out[i] = p.winner[i] < 0 ? 0 : p.in[p.winner[i]];
}
