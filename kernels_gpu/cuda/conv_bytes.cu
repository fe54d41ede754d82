/*
 * Convolution of bytes (QLinearConv whose parameters are constants): y = saturate(rint((float)acc scale) + zero), acc = bias +
 * sum (x - x_zero)(w - w_zero). Sums are integers of 32 bits and exact, so that all of these kernels give the reference's bits.
 *
 * The products are of signed bytes. Weights come less their zero point; pixels as they are, of u8 with the highest bit flipped, which
 * is 128 less; what x_zero adds is part of the bias, for which a tap beyond the edge reads x_zero (launch/conv_bytes.c). A sum's k is
 * one line, tap by tap, of which a tap takes its channels rounded up to four: a tile goes through it 64 bytes a step, wherever a tap
 * ends, and behind the last tap weights are 0. Both operands lie in shared memory as lines of 64 bytes of a pixel or an output channel, 16
 * apart, so that eight of them begin in different banks; words of them travel as floats, which nobody computes with. A piece
 * of 16 bytes of a line is one access where channels and addresses allow (ALIGN 16), by copies without registers on sm_80 and later, in
 * three stages; else four words (ALIGN 4) or single bytes.
 *
 * conv_byte<BM>x<BN>: by dp4a, four products and their sum an instruction: a thread computes 8 x 8, 8 x 4 or 4 x 4 outputs and reads 16 k of
 * each of its lines at once; on sm_62, which has no such instruction, four (HAS_DOT4). conv_byte_mma*: by tensor cores, 16 x 16 x 16
 * products a warp at a time, on chips that have them for bytes (sm_72); others go by dp4a. As only the chip knows which sums a lane has,
 * these go through shared memory in the end, half of the pixels at a time, so that they need no more of it.
 */
#include "kernels_gpu/cuda/conv.cuh"
#include "kernels_gpu/cuda/outputs_bytes.cuh"

static __device__ __forceinline__ float4 flipped(float4 v, unsigned flip)
{
    return make_float4(__uint_as_float(__float_as_uint(v.x) ^ flip), __uint_as_float(__float_as_uint(v.y) ^ flip),
                       __uint_as_float(__float_as_uint(v.z) ^ flip), __uint_as_float(__float_as_uint(v.w) ^ flip));
}

static __device__ VALUE_LINKAGE int dot16(float4 a, float4 b, int sum)
{
    sum = dot4(__float_as_uint(a.x), __float_as_uint(b.x), sum);
    sum = dot4(__float_as_uint(a.y), __float_as_uint(b.y), sum);
    sum = dot4(__float_as_uint(a.z), __float_as_uint(b.z), sum);
    return dot4(__float_as_uint(a.w), __float_as_uint(b.w), sum);
}

/* A tile of BM pixels x BN channels by T threads; of TM x TN outputs each, or by tensor cores: of T = 128, a warp half of each side. */
template <int BM, int BN, int T, int TM, int TN, bool TENSORS, int ALIGN> struct byte_tile {
    enum { STEP = 64, PIECE = 16, PER_LINE = STEP / PIECE /* 4 */, LINE = (STEP + PIECE) / 4 /* words */, APART = T / PER_LINE };
    enum { PIXELS = BM / APART, CHANNELS = BN / APART /* lines that a thread brings a piece of */ };
    enum { OF_B = BM * LINE, STAGE = OF_B + BN * LINE, LINE_SUM = BN + 4 };
    enum { STAGES = ALIGN == 16 ? COPY_STAGES : 2, ROOM = STAGES * STAGE };
    static_assert(!TENSORS || (int)ROOM >= BM / 2 * (int)LINE_SUM, "half of the sums have no room");
    enum { QN = TN / 4, ACROSS = BN / TN / 4, DOWN = BM / 2 / 16, BESIDE = BN / 2 / 16 /* fragments of a warp */ };

    origin from[PIXELS];
    const uint8_t *pixel[PIXELS], *line[CHANNELS]; /* to this thread's pieces of the next step to bring */
    float4 pixel_value[PIXELS], line_value[CHANNELS];
    int ky, kx, c, group; /* where its pieces of pixels are */

    static __device__ __forceinline__ bool copies()
    {
        return HAS_COPIES && ALIGN == 16;
    }
    static __device__ __forceinline__ int piece()
    {
        return threadIdx.x % PER_LINE * PIECE;
    }
    static __device__ __forceinline__ float *pixel_slot(float *stage, int i)
    {
        return stage + ((row_of_piece() + i * APART) * LINE + piece() / 4);
    }
    static __device__ __forceinline__ float *line_slot(float *stage, int i)
    {
        return pixel_slot(stage + OF_B, i);
    }
    __device__ __forceinline__ void point(const ig_gpu_conv_bytes &p)
    {
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            if (ALIGN < 16) continue;
            const uint8_t *tap = tap_of<uint8_t>(p, flat_image(), group, from[i], ky, kx);
            pixel[i] = (tap ? tap : (const uint8_t *)p.pad) + c;
        }
    }
    __device__ __forceinline__ void begin(const ig_gpu_conv_bytes &p, int of, int step)
    {
        const int k = step * STEP + piece(), tap = k / p.tap, row = row_of_piece();
        group = of, c = k - tap * p.tap;
        ky = tap / p.kw, kx = tap - ky * p.kw;
        UNROLL
        for (int i = 0; i < PIXELS; i++) from[i] = origin_of(p, flat_image(), blockIdx.x * BM + row + i * APART);
        point(p);
        UNROLL
        for (int i = 0; i < CHANNELS; i++) /* of channels beyond the last, whose sums nobody reads, the last one's */
            line[i] = (const uint8_t *)p.weights + ((group * p.oc + min((int)blockIdx.y * BN + row + i * APART, p.oc - 1)) * p.depth + k);
    }
    static __device__ __forceinline__ void advance_tap(const ig_gpu_conv_bytes &p, int &ky, int &kx)
    {
        if (++kx == p.kw) kx = 0, ky++;
    }
    __device__ __forceinline__ void next(const ig_gpu_conv_bytes &p)
    {
        UNROLL
        for (int i = 0; i < CHANNELS; i++) line[i] += STEP;
        c += STEP;
        if (c < p.tap) {
            UNROLL
            for (int i = 0; i < PIXELS; i++) pixel[i] += STEP;
            return;
        }
        for (; c >= p.tap; c -= p.tap) advance_tap(p, ky, kx);
        point(p);
    }
    /* Pieces of pixels word by word, each of one tap. */
    __device__ __forceinline__ void gather(const ig_gpu_conv_bytes &p)
    {
        int y = ky, x = kx, at_c = c;
        UNROLL
        for (int w = 0; w < PIECE / 4; w++) {
            UNROLL
            for (int i = 0; i < PIXELS; i++) {
                const uint8_t *tap = tap_of<uint8_t>(p, flat_image(), group, from[i], y, x);
                at(pixel_value[i], w) = tap ? __uint_as_float(bytes_of<ALIGN == 4>(tap + at_c, p.ic - at_c)) : p.ends[3];
            }
            at_c += 4;
            if (at_c < p.tap) continue;
            at_c = 0;
            advance_tap(p, y, x);
        }
    }
    /* Asks memory for a step. */
    __device__ __forceinline__ void bring(const ig_gpu_conv_bytes &p, float *stage)
    {
        if (ALIGN < 16) gather(p);
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            if (ALIGN < 16) continue;
            if (copies()) COPY4(pixel_slot(stage, i), (const float *)pixel[i], true);
            else pixel_value[i] = load4((const float *)pixel[i]);
        }
        UNROLL
        for (int i = 0; i < CHANNELS; i++) {
            if (copies()) COPY4(line_slot(stage, i), (const float *)line[i], true);
            else line_value[i] = load4((const float *)line[i]);
        }
    }
    /* What came to registers. Tensor cores' fragments are flipped later. */
    __device__ __forceinline__ void put(const ig_gpu_conv_bytes &p, float *stage) const
    {
        if (copies()) return;
        UNROLL
        for (int i = 0; i < PIXELS; i++) store4(pixel_slot(stage, i), TENSORS ? pixel_value[i] : flipped(pixel_value[i], p.flip));
        UNROLL
        for (int i = 0; i < CHANNELS; i++) store4(line_slot(stage, i), line_value[i]);
    }
    /* Flips what this thread's copies brought. */
    static __device__ __forceinline__ void settle(const ig_gpu_conv_bytes &p, float *stage)
    {
        const bool flips = !TENSORS && copies() && p.flip;
        UNROLL
        for (int i = 0; i < PIXELS; i++)
            if (flips) store4(pixel_slot(stage, i), flipped(load4(pixel_slot(stage, i)), p.flip));
    }
    /* 16 k at a time. */
    static __device__ __forceinline__ void multiply_quads(const float *stage, int tm, int tn, int (&sum)[TM][TN])
    {
#pragma unroll 1
        for (int k = 0; k < STEP / 4; k += PIECE / 4) {
            float4 x[TM];
            UNROLL
            for (int i = 0; i < TM; i++) x[i] = load4(stage + ((tm + i * (BM / TM)) * LINE + k));
            UNROLL
            for (int j = 0; j < TN; j++) {
                const float4 w = load4(stage + (OF_B + (tn + j / 4 * (BN / QN) + j % 4) * LINE + k));
                UNROLL
                for (int i = 0; i < TM; i++) sum[i][j] = dot16(x[i], w, sum[i][j]);
            }
        }
    }
    /* A word at a time: bytes that are taken out of pixels serve for all of the thread's channels, and stay in registers. */
    static __device__ __forceinline__ void multiply_words(const float *stage, int tm, int tn, int (&sum)[TM][TN])
    {
#pragma unroll 1
        for (int k = 0; k < STEP / 4; k++) {
            unsigned x[TM];
            UNROLL
            for (int i = 0; i < TM; i++) x[i] = __float_as_uint(stage[(tm + i * (BM / TM)) * LINE + k]);
            UNROLL
            for (int j = 0; j < TN; j++) {
                const unsigned w = __float_as_uint(stage[OF_B + (tn + j / 4 * (BN / QN) + j % 4) * LINE + k]);
                UNROLL
                for (int i = 0; i < TM; i++) sum[i][j] = dot4(x[i], w, sum[i][j]);
            }
        }
    }
    /* By the thread's first pixel and channel of the tile. */
    static __device__ __forceinline__ void multiply(const float *stage, int tm, int tn, int (&sum)[TM][TN])
    {
        if (HAS_DOT4) multiply_quads(stage, tm, tn, sum);
        else multiply_words(stage, tm, tn, sum);
    }
    /* By the warp's. */
    static __device__ __forceinline__ void multiply(const float *stage, int down, int across, unsigned flip, int (&sum)[DOWN][BESIDE][8])
    {
        UNROLL
        for (int k = 0; k < STEP / 4; k += PIECE / 4) {
            unsigned w[BESIDE][2];
            UNROLL
            for (int j = 0; j < BESIDE; j++) wmma_load_bytes_b(w[j], stage + (OF_B + (across + j * 16) * LINE + k), LINE * 4);
            UNROLL
            for (int i = 0; i < DOWN; i++) {
                unsigned x[2];
                wmma_load_bytes_a(x, stage + ((down + i * 16) * LINE + k), LINE * 4);
                x[0] ^= flip, x[1] ^= flip;
                UNROLL
                for (int j = 0; j < BESIDE; j++) wmma_bytes(sum[i][j], x, w[j]);
            }
        }
    }
    /* Four channels of pixel m, if there is one. */
    static __device__ __forceinline__ void finish_one(const ig_gpu_conv_bytes &p, const byte_finish &f, int m, int channel, const sums4 &sum)
    {
        const int count = p.out_h * p.out_w, group = blockIdx.z / p.splits;
        if (m >= count) return;
        if (p.splits > 1) store4(p.partial + (((long long)blockIdx.z * count + m) * p.oc4 + channel), as_floats(sum));
        else f.put(p, m, group * p.oc + channel, sum, p.oc - channel);
    }
    static __device__ __forceinline__ void finish(const ig_gpu_conv_bytes &p, int tm, int tn, const int (&sum)[TM][TN])
    {
        UNROLL
        for (int j = 0; j < QN; j++) {
            const int channel = blockIdx.y * BN + j * (BN / QN) + tn;
            if (channel >= p.oc) continue;
            byte_finish f;
            f.begin(p, blockIdx.z / p.splits, channel);
            UNROLL
            for (int i = 0; i < TM; i++) {
                const sums4 s = {{sum[i][4 * j], sum[i][4 * j + 1], sum[i][4 * j + 2], sum[i][4 * j + 3]}};
                finish_one(p, f, blockIdx.x * BM + tm + i * (BM / TM), channel, s);
            }
        }
    }
    static __device__ __forceinline__ void finish(const ig_gpu_conv_bytes &p, float *room, int down, int across, const int (&sum)[DOWN][BESIDE][8])
    {
        enum { QUADS = BN / 4, AT_ONCE = T / QUADS, HALF = BM / 2 };
        const int column = threadIdx.x % QUADS * 4, channel = blockIdx.y * BN + column;
        byte_finish f;
        if (channel < p.oc) f.begin(p, blockIdx.z / p.splits, channel);
#pragma unroll 1
        for (int first = 0; first < BM; first += HALF) {
            __syncthreads();
            UNROLL
            for (int i = 0; i < DOWN * BESIDE; i++) {
                if (down != first) continue;
                wmma_store_bytes(room + (i / BESIDE * 16 * LINE_SUM + across + i % BESIDE * 16), sum[i / BESIDE][i % BESIDE], LINE_SUM);
            }
            __syncthreads();
            if (channel >= p.oc) continue;
#pragma unroll 4
            for (int row = threadIdx.x / QUADS; row < HALF; row += AT_ONCE)
                finish_one(p, f, blockIdx.x * BM + first + row, channel, words_of(load4(room + (row * LINE_SUM + column))));
        }
    }
    static __device__ __forceinline__ void compute(const ig_gpu_conv_bytes &p)
    {
        SHARED(float, room, [ROOM]);
        const int group = blockIdx.z / p.splits, first = (blockIdx.z - group * p.splits) * p.chunk;
        const int steps = min(p.depth / STEP - first, p.chunk), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int ahead = copies() ? 2 : 1;
        /* lanes that differ in bit 0 alone read the same pixels, those that differ in bit 1 the same weights */
        const int tm = warp / ACROSS * 8 + lane / 2 % 8, tn = (warp % ACROSS * 4 + (lane & 1) + lane / 16 * 2) * 4;
        const int down = warp / 2 * (BM / 2), across = warp % 2 * (BN / 2);
        const bool mine = !TENSORS || ((int)blockIdx.x * BM + down < p.out_h * p.out_w && (int)blockIdx.y * BN + across < p.oc);
        int sum[TM][TN] = {}, fragment[DOWN][BESIDE][8] = {};
        byte_tile next = {};
        next.begin(p, group, first);
        UNROLL
        for (int s = 0; s < 2; s++) {
            if (s < ahead && s < steps) {
                next.bring(p, room + s * STAGE);
                next.put(p, room + s * STAGE);
                next.next(p);
            }
            COPY_GROUP();
        }
        int at = 0, to = ahead * STAGE;
        for (int s = 0; s < steps; s++) {
            const bool more = s + ahead < steps;
            COPY_WAIT(1); /* this step is there, and all have read that whose place is taken */
            settle(p, room + at);
            __syncthreads();
            if (more) next.bring(p, room + to);
            COPY_GROUP();
            if (!TENSORS) multiply(room + at, tm, tn, sum);
            else if (mine) multiply(room + at, down, across, p.flip, fragment);
            if (more) {
                next.put(p, room + to);
                next.next(p);
            }
            at = at == ahead * STAGE ? 0 : at + STAGE;
            to = to == ahead * STAGE ? 0 : to + STAGE;
        }
        if (TENSORS) finish(p, room, down, across, fragment);
        else finish(p, tm, tn, sum);
    }
};

template <int BM, int TN, int ALIGN> static __device__ __forceinline__ void byte_mma(const ig_gpu_conv_bytes &p)
{
    if (HAS_WMMA_BYTES) byte_tile<BM, 64, 128, 8, TN, true, ALIGN>::compute(p);
    else byte_tile<BM, 64, 128, 8, TN, false, ALIGN>::compute(p);
}

GPU_KERNEL(128, 3, conv_byte128x64, ig_gpu_conv_bytes)
{
    byte_tile<128, 64, 128, 8, 8, false, 16>::compute(p);
}

GPU_KERNEL(128, 3, conv_byte64x64, ig_gpu_conv_bytes)
{
    byte_tile<64, 64, 128, 8, 4, false, 16>::compute(p);
}

GPU_KERNEL(64, 6, conv_byte32x32, ig_gpu_conv_bytes)
{
    byte_tile<32, 32, 64, 4, 4, false, 16>::compute(p);
}

GPU_KERNEL(128, 3, conv_byte_words64x64, ig_gpu_conv_bytes)
{
    byte_tile<64, 64, 128, 8, 4, false, 4>::compute(p);
}

GPU_KERNEL(64, 6, conv_byte_words32x32, ig_gpu_conv_bytes)
{
    byte_tile<32, 32, 64, 4, 4, false, 4>::compute(p);
}

GPU_KERNEL(128, 3, conv_byte_any64x64, ig_gpu_conv_bytes)
{
    byte_tile<64, 64, 128, 8, 4, false, 1>::compute(p);
}

GPU_KERNEL(64, 6, conv_byte_any32x32, ig_gpu_conv_bytes)
{
    byte_tile<32, 32, 64, 4, 4, false, 1>::compute(p);
}

GPU_KERNEL(128, 3, conv_byte_mma128x64, ig_gpu_conv_bytes)
{
    byte_mma<128, 8, 16>(p);
}

GPU_KERNEL(128, 3, conv_byte_mma64x64, ig_gpu_conv_bytes)
{
    byte_mma<64, 4, 16>(p);
}

GPU_KERNEL(128, 3, conv_byte_mma_words64x64, ig_gpu_conv_bytes)
{
    byte_mma<64, 4, 4>(p);
}

GPU_KERNEL(128, 3, conv_byte_mma_any64x64, ig_gpu_conv_bytes)
{
    byte_mma<64, 4, 1>(p);
}

/* The pieces of split sums: a thread adds those of four channels of a pixel. */
GPU_KERNEL(128, 8, conv_byte_reduce, ig_gpu_conv_bytes)
{
    const int quads_of = p.oc4 / 4, count = p.out_h * p.out_w, group = blockIdx.y;
    const int i = blockIdx.x * 128 + threadIdx.x, m = i / quads_of, channel = (i - m * quads_of) * 4;
    if (m >= count) return;
    sums4 sum = {{0, 0, 0, 0}};
    for (int s = 0; s < p.splits; s++)
        sum = sum_of(sum, words_of(load4(p.partial + ((((long long)group * p.splits + s) * count + m) * p.oc4 + channel))));
    byte_finish f;
    f.begin(p, group, channel);
    f.put(p, m, group * p.oc + channel, sum, p.oc - channel);
}

/* --- a pixel or few: what is waited for are weights, of which a warp reads 512 bytes of four channels at once --- */

template <bool ALIGNED> static __device__ __forceinline__ float4 pixel_piece(const uint8_t *pixel, int n)
{
    if (n <= 0) return make_float4(0, 0, 0, 0);
    if (ALIGNED) return load4((const float *)pixel);
    float4 v = make_float4(0, 0, 0, 0);
    UNROLL
    for (int w = 0; w < 4; w++)
        if (n > 4 * w) at(v, w) = __uint_as_float(bytes_of<false>(pixel + 4 * w, n - 4 * w));
    return v;
}

template <bool ALIGNED> static __device__ __forceinline__ void byte_gemv(const ig_gpu_conv_bytes &p)
{
    enum { PIECE = 16, WARPS = 4 };
    const int lane = threadIdx.x % 32, channel = (blockIdx.x * WARPS + threadIdx.x / 32) * 4, m = blockIdx.y;
    if (channel >= p.oc) return;
    const uint8_t *tap = tap_of<uint8_t>(p, flat_image(), 0, origin_of(p, flat_image(), m), 0, 0), *line[4];
    const uint8_t *pixel = tap ? tap : (const uint8_t *)p.pad;
    sums4 sum = {{0, 0, 0, 0}};
    UNROLL
    for (int j = 0; j < 4; j++) line[j] = (const uint8_t *)p.weights + min(channel + j, p.oc - 1) * p.depth;
#pragma unroll 2
    for (int k = lane * PIECE; k < p.depth; k += 32 * PIECE) {
        const float4 x = flipped(pixel_piece<ALIGNED>(pixel + k, p.ic - k), p.flip);
        UNROLL
        for (int j = 0; j < 4; j++) sum.x[j] = dot16(x, load4((const float *)(line[j] + k)), sum.x[j]);
    }
    UNROLL
    for (int mask = 16; mask > 0; mask /= 2) {
        UNROLL
        for (int j = 0; j < 4; j++) sum.x[j] = (int)((unsigned)sum.x[j] + (unsigned)__shfl_xor_sync(0xffffffff, sum.x[j], mask));
    }
    if (lane) return;
    byte_finish f;
    f.begin(p, 0, channel);
    f.put(p, m, channel, sum, p.oc - channel);
}

GPU_KERNEL(128, 8, conv_byte_gemv, ig_gpu_conv_bytes)
{
    byte_gemv<true>(p);
}

GPU_KERNEL(128, 8, conv_byte_gemv_any, ig_gpu_conv_bytes)
{
    byte_gemv<false>(p);
}

/* --- depthwise: a thread for four channels of four pixels of a row; dp4a adds up four taps of a channel --- */

/* Byte i of each of four words as word i. */
static __device__ __forceinline__ void turn(const unsigned (&from)[4], unsigned (&to)[4])
{
    const unsigned a = __byte_perm(from[0], from[1], 0x5140), b = __byte_perm(from[2], from[3], 0x5140);
    const unsigned c = __byte_perm(from[0], from[1], 0x7362), d = __byte_perm(from[2], from[3], 0x7362);
    to[0] = __byte_perm(a, b, 0x5410), to[1] = __byte_perm(a, b, 0x7632);
    to[2] = __byte_perm(c, d, 0x5410), to[3] = __byte_perm(c, d, 0x7632);
}

template <bool WORD> static __device__ __forceinline__ void byte_depthwise(const ig_gpu_conv_bytes &p)
{
    enum { COLUMNS = 4 };
    const int quads_of = p.oc4 / 4, across = (p.out_w + COLUMNS - 1) / COLUMNS, i = blockIdx.x * 128 + threadIdx.x;
    const int run = i / quads_of, channel = (i - run * quads_of) * 4, y = run / across, x = (run - y * across) * COLUMNS;
    if (y >= p.out_h) return;
    const unsigned pad = __float_as_uint(p.ends[3]);
    const float *weights = (const float *)p.weights + channel;
    sums4 sum[COLUMNS] = {};
    int ky = 0, kx = 0;
    for (int first = 0; first < p.kh * p.kw; first += 4, weights += p.oc4) {
        const float4 w = load4(weights);
        unsigned in[COLUMNS][4];
        UNROLL
        for (int t = 0; t < 4; t++) { /* those behind the last are beyond every edge, and multiplied by 0 */
            const int row = ky < p.kh ? y * p.sh - p.top + ky * p.dh : -1;
            const uint8_t *line = (const uint8_t *)p.in + (row * p.in_row + channel);
            UNROLL
            for (int j = 0; j < COLUMNS; j++) {
                const int column = (x + j) * p.sw - p.left + kx * p.dw;
                const bool inside = (unsigned)row < (unsigned)p.in_h && (unsigned)column < (unsigned)p.in_w;
                in[j][t] = (inside ? bytes_of<WORD>(line + column * p.in_pixel, p.oc - channel) : pad) ^ p.flip;
            }
            if (++kx == p.kw) kx = 0, ky++;
        }
        UNROLL
        for (int j = 0; j < COLUMNS; j++) {
            unsigned taps[4];
            turn(in[j], taps);
            sum[j].x[0] = dot4(taps[0], __float_as_uint(w.x), sum[j].x[0]);
            sum[j].x[1] = dot4(taps[1], __float_as_uint(w.y), sum[j].x[1]);
            sum[j].x[2] = dot4(taps[2], __float_as_uint(w.z), sum[j].x[2]);
            sum[j].x[3] = dot4(taps[3], __float_as_uint(w.w), sum[j].x[3]);
        }
    }
    byte_finish f;
    f.begin(p, 0, channel);
    UNROLL
    for (int j = 0; j < COLUMNS; j++)
        if (x + j < p.out_w) f.put(p, y * p.out_w + x + j, channel, sum[j], p.oc - channel);
}

GPU_KERNEL(128, 5, conv_byte_depthwise, ig_gpu_conv_bytes)
{
    byte_depthwise<true>(p);
}

GPU_KERNEL(128, 5, conv_byte_depthwise_any, ig_gpu_conv_bytes)
{
    byte_depthwise<false>(p);
}
