/*
 * Convolutions whose sums are short: depthwise, and what no other kernel has.
 *
 * depthwise_<k>s<s>: a thread computes four channels of OY x OX outputs. It goes down the input rows once; of each it
 * holds the columns that its outputs share, four channels at a time, and adds every tap that the row is for an output. Rows are
 * read together, those of 7x7, and of 5x5 dilated, one after the other: there are not registers for more. Addresses advance by strides.
 * depthwise_<k>d: the same of dilated windows and stride 1, of outputs that lie as far apart as the taps.
 * depthwise_<k>s1_wide: a thread computes one channel of OX columns, p.chunk rows down. Its weights stay in registers: those of a
 * quad do not fit there, and read for every row they would take more of the first-level cache than pixels do. It holds sums of the K
 * rows of outputs that an input row is for; while it adds a row, the next is under way. 7x7 has registers for four columns.
 * depthwise_<k>s1_ring: the same outputs a thread, but a block of 32 columns x 64 channels brings each row of them to shared memory
 * once, four rows before it is needed: more are under way than threads have registers for, by 256 bytes of a pixel at once.
 * conv_direct: a thread computes one channel of one pixel, whatever the window and groups; deconv_direct: of all phases.
 * Sums go in the order of the taps. *_half: of pixels and weights that are halves; outputs and residuals of either precision.
 */
#include "kernels_gpu/cuda/outputs.cuh"
#include "kernels_gpu/cuda/phase.cuh"

/* Adds every tap that input row r of a thread's is for an output. DILATED: rows and columns lie p.dh and p.dw apart. */
template <int K, int S, typename E, bool DILATED, int OY, int OX>
static __device__ __forceinline__ void depthwise_row(const ig_gpu_conv &p, int r, int iy, int ix, int channel, float4 (&sum)[OY][OX])
{
    enum { COLUMNS = (OX - 1) * S + K };
    float4 column[COLUMNS];
    const int row = iy + (DILATED ? r * p.dh : r), apart = DILATED ? p.dw : 1;
    const bool row_inside = (unsigned)row < (unsigned)p.in_h;
    const E *in = (const E *)p.in + (row * p.in_row + ix * p.in_pixel + channel);
    UNROLL
    for (int c = 0; c < COLUMNS; c++)
        column[c] = row_inside && (unsigned)(ix + c * apart) < (unsigned)p.in_w ? load4(in + c * apart * p.in_pixel) : make_float4(0, 0, 0, 0);
    UNROLL
    for (int oy = 0; oy < OY; oy++) {
        const int ky = r - oy * S;
        if (ky < 0 || ky >= K) continue;
        UNROLL
        for (int kx = 0; kx < K; kx++) {
            const float4 w = load4((const E *)p.weights + ((ky * K + kx) * p.oc4 + channel));
            UNROLL
            for (int ox = 0; ox < OX; ox++) {
                const float4 v = column[ox * S + kx];
                sum[oy][ox].x = fmaf(v.x, w.x, sum[oy][ox].x);
                sum[oy][ox].y = fmaf(v.y, w.y, sum[oy][ox].y);
                sum[oy][ox].z = fmaf(v.z, w.z, sum[oy][ox].z);
                sum[oy][ox].w = fmaf(v.w, w.w, sum[oy][ox].w);
            }
        }
    }
}

template <int K, int S, int OY, int OX, typename E = float, bool DILATED = false>
static __device__ __forceinline__ void depthwise(const ig_gpu_conv &p)
{
    enum { ROWS = (OY - 1) * S + K };
    outputs<OY, OX, DILATED> to;
    if (!to.find(p, blockIdx.x * 128 + threadIdx.x, p.oc4 / 4)) return;
    const int iy = to.y * S - p.top, ix = to.x * S - p.left;
    to.template begin<E>(p);
    if (K < (DILATED ? 5 : 7)) {
        UNROLL
        for (int r = 0; r < ROWS; r++) depthwise_row<K, S, E, DILATED>(p, r, iy, ix, to.channel, to.sum);
    } else {
#pragma unroll 1
        for (int r = 0; r < ROWS; r++) depthwise_row<K, S, E, DILATED>(p, r, iy, ix, to.channel, to.sum);
    }
    to.template put<E>(p);
}

/* Columns ix ... of input row iy, 0 beyond the edges. */
template <int COLUMNS>
static __device__ __forceinline__ void read_columns(const ig_gpu_conv &p, const float *in, int iy, int ix, float (&to)[COLUMNS])
{
    const bool row_inside = (unsigned)iy < (unsigned)p.in_h;
    if (row_inside && ix >= 0 && ix + COLUMNS <= p.in_w) {
        UNROLL
        for (int c = 0; c < COLUMNS; c++) to[c] = in[c * p.in_pixel];
    } else {
        UNROLL
        for (int c = 0; c < COLUMNS; c++) to[c] = row_inside && (unsigned)(ix + c) < (unsigned)p.in_w ? in[c * p.in_pixel] : 0;
    }
}

/* The first n of a row's outputs; residual: or NULL. */
template <int OX>
static __device__ __forceinline__ void put_columns(const ig_gpu_conv &p, float *out, const float *residual, const float (&sum)[OX], int n)
{
    UNROLL
    for (int x = 0; x < OX; x += 4) {
        float4 v = make_float4(sum[x], sum[x + 1], sum[x + 2], sum[x + 3]);
        if (residual) {
            UNROLL
            for (int j = 0; j < 4; j++)
                if (x + j < n) at(v, j) += residual[(x + j) * p.residual_pixel];
        }
        v = activate(p.act, v);
        if (n >= OX) {
            UNROLL
            for (int j = 0; j < 4; j++) out[(x + j) * p.out_pixel] = at(v, j);
        } else {
            UNROLL
            for (int j = 0; j < 4; j++)
                if (x + j < n) out[(x + j) * p.out_pixel] = at(v, j);
        }
    }
}

/* An input row's taps: it is row K - 1 of sum[0]'s window, row 0 of sum[K - 1]'s. */
template <int K, int OX>
static __device__ __forceinline__ void add_row(const float (&w)[K * K], const float (&column)[OX + K - 1], float (&sum)[K][OX])
{
    UNROLL
    for (int j = 0; j < K; j++)
        UNROLL
        for (int kx = 0; kx < K; kx++)
            UNROLL
            for (int ox = 0; ox < OX; ox++) sum[j][ox] = fmaf(column[ox + kx], w[(K - 1 - j) * K + kx], sum[j][ox]);
}

/* Sums go up a row; that of the last begins. */
template <int K, int OX> static __device__ __forceinline__ void next_row(float bias, float (&sum)[K][OX])
{
    UNROLL
    for (int ox = 0; ox < OX; ox++) {
        UNROLL
        for (int j = 0; j < K - 1; j++) sum[j][ox] = sum[j + 1][ox];
        sum[K - 1][ox] = bias;
    }
}

template <int K, int OX> static __device__ __forceinline__ void depthwise_down(const ig_gpu_conv &p)
{
    enum { COLUMNS = OX + K - 1 };
    const int across = (p.out_w + OX - 1) / OX;
    const int i = blockIdx.x * 128 + threadIdx.x, tile = i / p.groups, channel = i - tile * p.groups;
    const int ty = tile / across, x = (tile - ty * across) * OX, y = ty * p.chunk;
    if (y >= p.out_h) return;
    const int iy = y - p.top, ix = x - p.left, rows = min(p.chunk, p.out_h - y) + K - 1;
    const float *in = p.in + (iy * p.in_row + ix * p.in_pixel + channel);
    const float *residual = p.residual ? p.residual + (y * p.residual_row + x * p.residual_pixel + channel) : (const float *)0;
    float *out = p.out + (y * p.out_row + x * p.out_pixel + channel);
    float w[K * K], sum[K][OX], column[COLUMNS], next[COLUMNS];
    const float bias = p.bias ? p.bias[channel] : 0;
    read_columns(p, in, iy, ix, next);
    UNROLL
    for (int t = 0; t < K * K; t++) w[t] = p.weights[t * p.oc4 + channel];
    UNROLL
    for (int j = 0; j < K; j++) next_row<K, OX>(bias, sum);
#pragma unroll 1
    for (int r = 0; r < rows; r++) {
        UNROLL
        for (int c = 0; c < COLUMNS; c++) column[c] = next[c];
        in += p.in_row;
        if (r + 1 < rows) read_columns(p, in, iy + r + 1, ix, next);
        add_row<K, OX>(w, column, sum);
        if (r >= K - 1) {
            put_columns<OX>(p, out, residual, sum[0], p.out_w - x);
            out += p.out_row;
            if (residual) residual += p.residual_row;
        }
        next_row<K, OX>(bias, sum);
    }
}

template <int K, int OX> struct ring {
    enum { CHANNELS = 64, WIDE = 32 /* columns of outputs */, AHEAD = K - 1 /* rows under way, where there is room for K */ };
    enum { COLUMNS = WIDE + K - 1, ROW = COLUMNS * CHANNELS, QUADS = CHANNELS / 4, AT_ONCE = CHANNELS * WIDE / OX / QUADS };

    /* Row iy's columns from ix on, channels from `channel` on: a thread brings a quad of every AT_ONCE-th. */
    static __device__ __forceinline__ void bring(const ig_gpu_conv &p, float *row, int iy, int ix, int channel)
    {
        const int quad = threadIdx.x % QUADS * 4;
        const bool inside = (unsigned)iy < (unsigned)p.in_h && channel + quad < p.groups;
        UNROLL
        for (int first = 0; first < COLUMNS; first += AT_ONCE) {
            const int c = first + threadIdx.x / QUADS, x = ix + c;
            const bool there = inside && (unsigned)x < (unsigned)p.in_w;
            if (c >= COLUMNS) continue;
            COPY4(row + (c * CHANNELS + quad), there ? p.in + (iy * p.in_row + x * p.in_pixel + channel + quad) : p.in, there);
        }
    }
    /* An input row's taps: row ky of the window of sum u - ky, by turns. */
    static __device__ __forceinline__ void add(const float *row, const float (&w)[K * K], float (&sum)[K][OX], int u)
    {
        float column[OX + K - 1];
        UNROLL
        for (int c = 0; c < OX + K - 1; c++) column[c] = row[c * CHANNELS];
        UNROLL
        for (int t = 0; t < K * K; t++)
            UNROLL
            for (int ox = 0; ox < OX; ox++) {
                float &to = sum[(u - t / K + K) % K][ox];
                to = fmaf(column[ox + t % K], w[t], to);
            }
    }
    static __device__ __forceinline__ void compute(const ig_gpu_conv &p)
    {
        SHARED(float, pixels, [K * ROW]);
        const int own = threadIdx.x % CHANNELS, right = threadIdx.x / CHANNELS * OX, parts = (p.groups + CHANNELS - 1) / CHANNELS;
        const int tile = blockIdx.x / parts, channel0 = (blockIdx.x - tile * parts) * CHANNELS, channel = channel0 + own;
        const int x0 = tile * WIDE, x = x0 + right, y = blockIdx.y * p.chunk, n = channel < p.groups ? p.out_w - x : 0;
        const int iy = y - p.top, ix = x0 - p.left, rows = min(p.chunk, p.out_h - y) + K - 1, known = min(channel, p.groups - 1);
        const float *residual = p.residual ? p.residual + (y * p.residual_row + x * p.residual_pixel + channel) : (const float *)0;
        const float *mine = pixels + (right * CHANNELS + own);
        const float bias = p.bias ? p.bias[known] : 0;
        float *out = p.out + (y * p.out_row + x * p.out_pixel + channel);
        float w[K * K], sum[K][OX];
        UNROLL
        for (int r = 0; r < AHEAD; r++) {
            if (r < rows) bring(p, pixels + r * ROW, iy + r, ix, channel0);
            COPY_GROUP();
        }
        UNROLL
        for (int t = 0; t < K * K; t++) w[t] = p.weights[t * p.oc4 + known];
        UNROLL
        for (int t = 0; t < K * OX; t++) sum[t / OX][t % OX] = bias;
#pragma unroll 1
        for (int first = 0; first < rows; first += K)
            UNROLL
            for (int u = 0; u < K; u++) {
                const int r = first + u;
                if (r >= rows) break;
                COPY_WAIT(AHEAD - 1); /* this row is there, and all have read that whose place is taken */
                __syncthreads();
                if (r + AHEAD < rows) bring(p, pixels + (u + AHEAD) % K * ROW, iy + r + AHEAD, ix, channel0);
                COPY_GROUP();
                add(mine + u * ROW, w, sum, u);
                if (r >= K - 1) {
                    put_columns<OX>(p, out, residual, sum[(u + 1) % K], n);
                    out += p.out_row;
                    if (residual) residual += p.residual_row;
                }
                UNROLL
                for (int ox = 0; ox < OX; ox++) sum[(u + 1) % K][ox] = bias;
            }
    }
};

GPU_KERNEL(128, 3, depthwise_3s1, ig_gpu_conv)
{
    depthwise<3, 1, 2, 4>(p);
}

GPU_KERNEL(128, 3, depthwise_3s2, ig_gpu_conv)
{
    depthwise<3, 2, 2, 2>(p);
}

GPU_KERNEL(128, 3, depthwise_5s1, ig_gpu_conv)
{
    depthwise<5, 1, 2, 2>(p);
}

GPU_KERNEL(128, 4, depthwise_5s1_wide, ig_gpu_conv)
{
    depthwise_down<5, 8>(p);
}

GPU_KERNEL(256, 2, depthwise_5s1_ring, ig_gpu_conv)
{
    ring<5, 8>::compute(p);
}

GPU_KERNEL(128, 2, depthwise_5s2, ig_gpu_conv)
{
    depthwise<5, 2, 1, 2>(p);
}

GPU_KERNEL(128, 3, depthwise_7s1, ig_gpu_conv)
{
    depthwise<7, 1, 2, 4>(p);
}

GPU_KERNEL(128, 3, depthwise_7s1_wide, ig_gpu_conv)
{
    depthwise_down<7, 4>(p);
}

GPU_KERNEL(128, 2, depthwise_7s2, ig_gpu_conv)
{
    depthwise<7, 2, 1, 2>(p);
}

GPU_KERNEL(128, 3, depthwise_3d, ig_gpu_conv)
{
    depthwise<3, 1, 2, 4, float, true>(p);
}

GPU_KERNEL(128, 3, depthwise_5d, ig_gpu_conv)
{
    depthwise<5, 1, 2, 2, float, true>(p);
}

GPU_KERNEL(128, 3, depthwise_half3s1, ig_gpu_conv)
{
    depthwise<3, 1, 2, 4, binary16>(p);
}

GPU_KERNEL(128, 3, depthwise_half3s2, ig_gpu_conv)
{
    depthwise<3, 2, 2, 2, binary16>(p);
}

GPU_KERNEL(128, 3, depthwise_half5s1, ig_gpu_conv)
{
    depthwise<5, 1, 2, 2, binary16>(p);
}

GPU_KERNEL(128, 2, depthwise_half5s2, ig_gpu_conv)
{
    depthwise<5, 2, 1, 2, binary16>(p);
}

GPU_KERNEL(128, 3, depthwise_half7s1, ig_gpu_conv)
{
    depthwise<7, 1, 2, 4, binary16>(p);
}

GPU_KERNEL(128, 2, depthwise_half7s2, ig_gpu_conv)
{
    depthwise<7, 2, 1, 2, binary16>(p);
}

GPU_KERNEL(128, 3, depthwise_half3d, ig_gpu_conv)
{
    depthwise<3, 1, 2, 4, binary16, true>(p);
}

GPU_KERNEL(128, 3, depthwise_half5d, ig_gpu_conv)
{
    depthwise<5, 1, 2, 2, binary16, true>(p);
}

/* IN: of pixels; W: of weights and bias. */
template <typename IN, typename W> static __device__ __forceinline__ void direct(const ig_gpu_conv &p)
{
    const int channels = p.groups * p.oc;
    const int i = blockIdx.x * 128 + threadIdx.x, m = i / channels, channel = i - m * channels;
    const int y = m / p.out_w, x = m - y * p.out_w, group = channel / p.oc;
    if (y >= p.out_h) return;
    const W *w = (const W *)p.weights + ((long long)group * p.weight_group + (channel - group * p.oc));
    float sum = p.bias ? widened(((const W *)p.bias)[channel]) : 0;
    for (int ky = 0; ky < p.kh; ky++)
        for (int kx = 0; kx < p.kw; kx++, w += p.weight_tap) {
            const int iy = y * p.sh - p.top + ky * p.dh, ix = x * p.sw - p.left + kx * p.dw;
            if ((unsigned)iy >= (unsigned)p.in_h || (unsigned)ix >= (unsigned)p.in_w) continue;
            const IN *in = (const IN *)p.in + (iy * p.in_row + ix * p.in_pixel + group * p.ic);
            for (int c = 0; c < p.ic; c++) sum = fmaf(widened(in[c]), widened(w[c * p.oc4]), sum);
        }
    const bool halves = sizeof(W) < sizeof(float);
    const int of_residual = y * p.residual_row + x * p.residual_pixel + channel, of_out = y * p.out_row + x * p.out_pixel + channel;
    if (p.residual) sum += load_either1(p.residual, of_residual, halves && (p.halves & IG_GPU_RESIDUAL_HALVES));
    store_either1(p.out, of_out, halves && (p.halves & IG_GPU_OUT_HALVES), activate(p.act, sum));
}

GPU_KERNEL(128, 4, conv_direct, ig_gpu_conv)
{
    direct<float, float>(p);
}

GPU_KERNEL(128, 4, conv_half_direct, ig_gpu_conv)
{
    direct<binary16, binary16>(p);
}

GPU_KERNEL(128, 4, conv_half_floats_direct, ig_gpu_conv)
{
    direct<float, binary16>(p);
}

template <typename IN, typename W> static __device__ __forceinline__ void direct_phase(const ig_gpu_deconv &d)
{
    const ig_gpu_conv phase = conv_of_phase<W>(d, blockIdx.z);
    if (phase.out_w > 0) direct<IN, W>(phase); /* a row may have fewer outputs than there are phases */
}

GPU_KERNEL(128, 4, deconv_direct, ig_gpu_deconv)
{
    direct_phase<float, float>(p);
}

GPU_KERNEL(128, 4, deconv_half_direct, ig_gpu_deconv)
{
    direct_phase<binary16, binary16>(p);
}

GPU_KERNEL(128, 4, deconv_half_floats_direct, ig_gpu_deconv)
{
    direct_phase<float, binary16>(p);
}
