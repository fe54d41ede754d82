/*
 * Depthwise convolution of quantised numbers by pairs of rows (common/depthwise_pairs.h): seven outputs of a row at a time, of 8 channels: 0-3
 * and 8-11 of a block, or 4-7 and 12-15, as unpacking makes them; of a block of 8 channels all. A vector of weights, of a pair of rows and a
 * column, multiplies as many vectors of the ring, where they lie side by side. The 14 vectors of 16 channels' sums become outputs in registers.
 */
#include "kernels_cpu/common/depthwise_pairs.h"

#include <string.h>

#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"
#include "kernels_cpu/avx2/widen_bytes.h"

#define INLINE static inline __attribute__((always_inline))

enum { N = IG_BYTES_CHANNELS, HALF = N / 2, FOUR = N / 4, COLUMN = 2 * N /* numbers of a column of a pair */, SEVEN = 7 };

struct sum {                    /* of a row, of a vector of channels */
    const int16_t *ring;        /* from these on */
    int64_t slot, next, step;   /* numbers to the next pair, tap, output */
    int32_t first, pairs, kw;   /* the slot of the first pair; how many; taps of a row */
    const int16_t *weights;
    __m256i bias;
};

struct job {
    const struct ig_call *call;
    const struct ig_window *w;
    struct ig_range range;
    struct ig_bytes_head head;
    const int32_t *blocks;      /* behind the head in packed weights, */
    int64_t block;              /* of so many words */
    int are_sums, are_floats;   /* outputs are; or were sums */
    ig_bytes_floats_fn *floats; /* what makes floats of sums, or NULL; */
    struct ig_bytes_floats to_floats; /* how, but for what depends on channels */
    struct ig_pairs_cut cut;
    struct ig_bytes_limits limits;
    struct sum sum;             /* but for what depends on rows and channels */
    const uint8_t *pad;         /* x_zero */
    int16_t *weights, *ring, *ring_end;
    int32_t x, n;               /* outputs of a stretch */
    int32_t from, end;          /* its columns in the image */
};

/* --- the ring --- */

/* `count` columns of two rows of 16 channels. The first vector has channels 0-3 and 8-11. */
INLINE void fill_whole(int16_t *to, const uint8_t *a, int64_t step_a, const uint8_t *b, int64_t step_b, int32_t count, const int is_signed)
{
#pragma GCC unroll 2
    for (int32_t i = 0; i < count; i++, a += step_a, b += step_b, to += COLUMN) {
        const __m256i x = ig_bytes_words_at(a, is_signed), y = ig_bytes_words_at(b, is_signed);
        _mm256_storeu_si256((__m256i *)to, _mm256_unpacklo_epi16(x, y));
        _mm256_storeu_si256((__m256i *)(to + N), _mm256_unpackhi_epi16(x, y));
    }
}

/* Of 8, which are a vector. */
INLINE void fill_half(int16_t *to, const uint8_t *a, int64_t step_a, const uint8_t *b, int64_t step_b, int32_t count, const int is_signed)
{
    for (int32_t i = 0; i < count; i++, a += step_a, b += step_b, to += COLUMN) {
        const __m128i x = _mm_loadl_epi64((const __m128i *)a), y = _mm_loadl_epi64((const __m128i *)b);
        _mm256_storeu_si256((__m256i *)to, ig_bytes_widened(_mm_unpacklo_epi8(x, y), is_signed));
    }
}

/* Of n, of which more than 8 are in the order of 16. */
static void fill_some(int16_t *to, const uint8_t *a, int64_t step_a, const uint8_t *b, int64_t step_b, int32_t count, int32_t n, int is_signed)
{
    for (int32_t i = 0; i < count; i++, a += step_a, b += step_b, to += COLUMN) {
        uint8_t x[N], y[N];
        _mm_storeu_si128((__m128i *)x, ig_bytes_load_some(a, n));
        _mm_storeu_si128((__m128i *)y, ig_bytes_load_some(b, n));
        if (n > HALF && is_signed) fill_whole(to, x, 0, y, 0, 1, 1);
        else if (n > HALF) fill_whole(to, x, 0, y, 0, 1, 0);
        else if (is_signed) fill_half(to, x, 0, y, 0, 1, 1);
        else fill_half(to, x, 0, y, 0, 1, 0);
    }
}

/* Row iy of the image, from the stretch's first column on; `step` is 0 where it is padding, or not needed. */
static const uint8_t *row_at(const struct job *job, int32_t iy, int32_t c, int64_t *step)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = job->w;
    const int32_t first = job->range.y0 * w->sh - w->top, last = (job->range.y1 - 1) * w->sh - w->top + (w->kh - 1) * w->dh;
    *step = iy >= 0 && iy < in->h && iy >= first && iy <= last ? in->pixel_stride : 0;
    return *step ? (const uint8_t *)ig_row(in, iy, 1) + (job->x * w->sw - w->left + job->from) * *step + c : job->pad;
}

/* Rows iy and `below`, channels [c, end). */
static void fill(const struct job *job, int32_t iy, int32_t below, int32_t c, int32_t end, int16_t *slot)
{
    int64_t step_a, step_b;
    const uint8_t *a = row_at(job, iy, c, &step_a), *b = row_at(job, below, c, &step_b);
    const int32_t count = job->end - job->from;
    slot += job->from * COLUMN;
    for (; c < end; c += N, slot += job->cut.pairs * job->cut.slot, a += step_a ? N : 0, b += step_b ? N : 0) {
        const int32_t n = end - c < N ? end - c : N;
        if (n == N && job->head.is_signed) fill_whole(slot, a, step_a, b, step_b, count, 1);
        else if (n == N) fill_whole(slot, a, step_a, b, step_b, count, 0);
        else if (n == HALF && job->head.is_signed) fill_half(slot, a, step_a, b, step_b, count, 1);
        else if (n == HALF) fill_half(slot, a, step_a, b, step_b, count, 0);
        else fill_some(slot, a, step_a, b, step_b, count, n, job->head.is_signed);
    }
}

/* Padding on either side, which stays. */
static void fill_sides(const struct job *job)
{
    const int16_t zero = (int16_t)job->head.x_zero;
    for (int16_t *slot = job->ring; slot < job->ring_end; slot += job->cut.slot) {
        for (int64_t i = 0; i < job->from * COLUMN; i++) slot[i] = zero;
        for (int64_t i = job->end * COLUMN; i < job->cut.slot; i++) slot[i] = zero;
    }
}

/* --- weights --- */

/* Weights of a vector: of the first four channels at `taps`, and of those `apart` from them. */
INLINE __m128i tap(const int16_t *taps, const struct ig_window *w, int32_t ky, int32_t kx, int32_t apart)
{
    if (ky < 0 || ky >= w->kh) return _mm_setzero_si128();
    const int16_t *t = taps + (ky * w->kw + kx) * N;
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)t), _mm_loadl_epi64((const __m128i *)(t + apart)));
}

/* Of a vector's channels, by pairs of which the first has kernel row -odd and the next one. */
static void arrange(const struct job *job, const int16_t *taps, int32_t odd, int32_t apart, int16_t *to)
{
    const struct ig_window *w = job->w;
    for (int32_t i = 0; i < job->cut.pairs; i++)
        for (int32_t kx = 0; kx < w->kw; kx++, to += N) {
            const __m128i a = tap(taps, w, 2 * i - odd, kx, apart), b = tap(taps, w, 2 * i + 1 - odd, kx, apart);
            _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi16(a, b));
            _mm_storeu_si128((__m128i *)(to + HALF), _mm_unpackhi_epi16(a, b));
        }
}

/* From the first four of a vector's channels to the others, of n in a block. */
static int32_t apart_of(int32_t n)
{
    return n > HALF ? HALF : FOUR;
}

static const int32_t *block_of(const struct job *job, int32_t c)
{
    return job->blocks + c / N * job->block;
}

/* Where no output begins at an odd row, there are no weights for it. */
static void arrange_blocks(const struct job *job, int32_t c, int32_t end)
{
    const int32_t kinds = job->cut.apart || job->w->sh % 2 == 0 ? 2 : 4;
    int16_t *to = job->weights;
    for (; c < end; c += N, to += 4 * job->cut.weights)
        for (int32_t k = 0; k < kinds; k++)
            arrange(job, (const int16_t *)(block_of(job, c) + 2 * N) + k % 2 * FOUR, k / 2, apart_of(end - c), to + k * job->cut.weights);
}

/* --- sums --- */

/* A tap of `count` outputs. Compilers must not make trees of the sums: their products would not fit the registers. */
INLINE void add(__m256i *v, const int16_t *x, const int64_t step, __m256i by, const int count)
{
#pragma GCC unroll 7
    for (int j = 0; j < count; j++) {
        v[j] = _mm256_add_epi32(v[j], _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)(x + j * step)), by));
        __asm__("" : "+x"(v[j]));
    }
}

INLINE void start(__m256i *v, __m256i bias, const int count)
{
#pragma GCC unroll 7
    for (int j = 0; j < count; j++) v[j] = bias;
}

INLINE void store(const __m256i *v, const int count, int32_t *sums)
{
#pragma GCC unroll 7
    for (int j = 0; j < count; j++) _mm256_storeu_si256((__m256i *)(sums + j * N), v[j]);
}

/* `count` outputs from number `at` of a pair on; step: s->step, or COLUMN. */
INLINE void tile(const struct sum *s, int64_t at, const int64_t step, const int count, int32_t *sums)
{
    const int16_t *w = s->weights;
    const int32_t pairs = s->pairs, kw = s->kw;
    const int64_t next = s->next;
    __m256i v[SEVEN];
    start(v, s->bias, count);
    for (int32_t i = 0, slot = s->first; i < pairs; i++, slot = slot + 1 < pairs ? slot + 1 : 0) {
        const int16_t *x = s->ring + slot * s->slot + at;
        for (int32_t kx = 0; kx < kw; kx++, x += next, w += N) add(v, x, step, _mm256_loadu_si256((const __m256i *)w), count);
    }
    store(v, count, sums);
}

/* The same, 3x3, seven outputs at a time. */
INLINE void three(const struct sum *s, int32_t n, const int64_t step, int32_t *sums)
{
    const int16_t *a = s->ring + s->first * s->slot, *b = s->ring + (s->first ^ 1) * s->slot;
    __m256i w[6], v[SEVEN];
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) w[k] = _mm256_loadu_si256((const __m256i *)(s->weights + k * N));
    for (int32_t x = 0; x < n; x += SEVEN) {
        const int32_t first = x + SEVEN <= n ? x : n - SEVEN;
        start(v, s->bias, SEVEN);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            add(v, a + first * step + k * COLUMN, step, w[k], SEVEN);
            add(v, b + first * step + k * COLUMN, step, w[3 + k], SEVEN);
        }
        store(v, SEVEN, sums + first * N);
    }
}

/* Of n outputs; the last seven may overlap those before. */
static void sum_row(const struct sum *s, int32_t n, int32_t *sums)
{
    const int is_three = s->pairs == 2 && s->kw == 3 && s->next == COLUMN && n >= SEVEN;
    if (is_three && s->step == COLUMN) three(s, n, COLUMN, sums);
    else if (is_three && s->step == 2 * COLUMN) three(s, n, 2 * COLUMN, sums);
    else if (n < SEVEN)
        for (int32_t x = 0; x < n; x++) tile(s, x * s->step, s->step, 1, sums + x * N);
    else
        for (int32_t x = 0; x < n; x += SEVEN) {
            const int32_t first = x + SEVEN <= n ? x : n - SEVEN;
            if (s->step == COLUMN) tile(s, first * COLUMN, COLUMN, SEVEN, sums + first * N);
            else tile(s, first * s->step, s->step, SEVEN, sums + first * N);
        }
}

/* Eight numbers of 32 bits: four, and four that are `apart` from them. */
INLINE __m256i eight(const void *from, int32_t apart)
{
    const __m128i *p = (const __m128i *)from;
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(p)), _mm_loadu_si128(p + apart / FOUR), 1);
}

struct whole {                  /* of a row of all 16 channels */
    const struct sum *s;        /* of the first vector */
    int64_t part;               /* weights to the second one's */
    __m256i bias;               /* of it */
    __m256 scale[2];
    int64_t to_step;            /* bytes from an output to the next */
    const struct ig_bytes_limits *limits;
};

INLINE __m256i rounded(__m256i v, __m256 scale)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(v), scale));
}

/* Outputs a and b, each of two vectors. */
INLINE void put_two(uint8_t *a, uint8_t *b, __m256i a0, __m256i a1, __m256i b0, __m256i b1, const struct whole *by)
{
    const __m256i v = ig_bytes_packed_avx2(rounded(a0, by->scale[0]), rounded(a1, by->scale[1]), rounded(b0, by->scale[0]), rounded(b1, by->scale[1]),
                                           by->limits);
    const __m128i low = _mm256_castsi256_si128(v), high = _mm256_extracti128_si256(v, 1);
    _mm_storeu_si128((__m128i *)a, _mm_unpacklo_epi64(low, high));
    _mm_storeu_si128((__m128i *)b, _mm_unpackhi_epi64(low, high));
}

/* A tap of seven outputs. */
INLINE void add_whole(__m256i *low, __m256i *high, const int16_t *x, const int64_t step, const int16_t *w, int64_t part)
{
    add(low, x, step, _mm256_loadu_si256((const __m256i *)w), SEVEN);
    add(high, x + N, step, _mm256_loadu_si256((const __m256i *)(w + part)), SEVEN);
}

INLINE void put_seven(const __m256i *low, const __m256i *high, const struct whole *by, uint8_t *to)
{
    const int64_t step = by->to_step;
    __asm__("" : "+r"(by)); /* what follows is loaded then: sums have all registers */
#pragma GCC unroll 4
    for (int j = 0; j < SEVEN; j += 2, to += 2 * step) {
        const int k = j + 1 < SEVEN ? j + 1 : j;
        put_two(to, to + (k - j) * step, low[j], high[j], low[k], high[k], by);
    }
}

/* Seven outputs from number `at` of a pair on. */
INLINE void seven(const struct whole *by, int64_t at, const int64_t step, uint8_t *to)
{
    const struct sum *s = by->s;
    const int16_t *w = s->weights;
    const int64_t next = s->next, part = by->part;
    const int32_t pairs = s->pairs, kw = s->kw;
    __m256i low[SEVEN], high[SEVEN];
    start(low, s->bias, SEVEN);
    start(high, by->bias, SEVEN);
    for (int32_t i = 0, slot = s->first; i < pairs; i++, slot = slot + 1 < pairs ? slot + 1 : 0) {
        const int16_t *x = s->ring + slot * s->slot + at;
        for (int32_t kx = 0; kx < kw; kx++, x += next, w += N) add_whole(low, high, x, step, w, part);
    }
    put_seven(low, high, by, to);
}

/* The same, 3x3. */
INLINE void seven_three(const struct whole *by, const int16_t *a, const int16_t *b, const int64_t step, uint8_t *to)
{
    enum { PART = 6 * N };
    const int16_t *w = by->s->weights;
    __m256i low[SEVEN], high[SEVEN];
    start(low, by->s->bias, SEVEN);
    start(high, by->bias, SEVEN);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        add_whole(low, high, a + k * COLUMN, step, w + k * N, PART);
        add_whole(low, high, b + k * COLUMN, step, w + (3 + k) * N, PART);
    }
    put_seven(low, high, by, to);
}

/* n outputs, seven at least; the last seven may overlap those before. */
INLINE void whole_row(const struct whole *by, int32_t n, const int64_t step, uint8_t *to)
{
    const struct sum *s = by->s;
    const int is_three = s->pairs == 2 && s->kw == 3 && s->next == COLUMN;
    const int16_t *a = s->ring + s->first * s->slot, *b = s->ring + (is_three ? s->first ^ 1 : 0) * s->slot;
    for (int32_t x = 0; x < n; x += SEVEN) {
        const int32_t first = x + SEVEN <= n ? x : n - SEVEN;
        if (is_three) seven_three(by, a + first * step, b + first * step, step, to + first * by->to_step);
        else seven(by, first * step, step, to + first * by->to_step);
    }
}

/* Stride 1. */
static __attribute__((noinline)) void whole_row_near(const struct whole *by, int32_t n, uint8_t *to)
{
    whole_row(by, n, COLUMN, to);
}

/* Stride 2. */
static __attribute__((noinline)) void whole_row_far(const struct whole *by, int32_t n, uint8_t *to)
{
    whole_row(by, n, 2 * COLUMN, to);
}

static void run_whole(const struct job *job, struct sum *s, int32_t c, uint8_t *to, int64_t to_step)
{
    const int32_t *block = block_of(job, c);
    const __m256 first = _mm256_castsi256_ps(eight(block + N, HALF)), second = _mm256_castsi256_ps(eight(block + N + FOUR, HALF));
    const struct whole by = {s, job->cut.weights, eight(block + FOUR, HALF), {first, second}, to_step, &job->limits};
    s->bias = eight(block, HALF);
    if (s->step == COLUMN) whole_row_near(&by, job->n, to + c);
    else whole_row_far(&by, job->n, to + c);
}

/* Channels one after the other. */
static void order(int32_t *sums, int32_t n)
{
    for (; n > 0; n--, sums += N) {
        const __m256i a = _mm256_loadu_si256((const __m256i *)sums), b = _mm256_loadu_si256((const __m256i *)(sums + HALF));
        _mm256_storeu_si256((__m256i *)sums, _mm256_permute2x128_si256(a, b, 0x20));
        _mm256_storeu_si256((__m256i *)(sums + HALF), _mm256_permute2x128_si256(a, b, 0x31));
    }
}

/* Outputs at `pixel` and `step` bytes from each other. */
static void put(const struct job *job, uint8_t *pixel, int64_t step, int32_t c, int32_t n, int32_t *sums)
{
    uint8_t *to[PAIRS_STRETCH];
    const int32_t *block = block_of(job, c);
    const float *scale = (const float *)(block + N);
    for (int32_t i = 0; i < job->n; i++, pixel += step) to[i] = pixel;
    if (n > HALF) order(sums, job->n);
    if (job->are_sums) {
        struct ig_bytes_floats f = job->to_floats;
        f.total = block + N;
        f.scale = (const float *)(block + job->block) - 2 * N, f.bias = job->head.has_bias ? f.scale + N : NULL;
        ig_bytes_put_pixels(to, c, job->n, sums, n, &f, job->floats);
    } else if (job->are_floats) {
        for (int32_t i = 0; i < job->n; i++) ig_bytes_put_floats((float *)(void *)to[i] + c, sums + i * N, scale, n);
    } else {
        ig_bytes_put_avx2(to, c, job->n, sums, N, scale, n, &job->head);
    }
}

/* --- the driver --- */

/* Row iy, which is filled next, of as many channels as a cache line has; fewer follow each other more closely. */
static void fetch(const struct job *job, int32_t iy, int32_t c)
{
    int64_t step;
    const uint8_t *p = row_at(job, iy, c, &step);
    for (int32_t x = job->from; step && x < job->end; x++, p += step) {
        _mm_prefetch((const char *)p, _MM_HINT_T0);
        _mm_prefetch((const char *)p + PAIRS_BLOCKS * N - 1, _MM_HINT_T0);
    }
}

/* Pair p of rows, of a row of outputs that begins at input row `top` where pairs are its own. */
static void fill_pair(const struct job *job, int32_t top, int32_t p, int32_t c, int32_t end)
{
    const struct ig_window *w = job->w;
    const int32_t first = job->cut.apart ? top + 2 * p * w->dh : 2 * p - w->top, below = job->cut.apart ? first + w->dh : first + 1;
    if (!job->cut.apart && end - c == PAIRS_BLOCKS * N) fetch(job, first + 2, c), fetch(job, below + 2, c);
    fill(job, first, below, c, end, job->ring + p % job->cut.pairs * job->cut.slot);
}

/* Row y of a stretch; pairs below `filled` are in the ring. */
static void run_row(const struct job *job, int32_t y, int32_t c, int32_t end, int32_t filled, uint8_t *pixel, int64_t step)
{
    const struct ig_pairs_cut *cut = &job->cut;
    const int32_t top = y * job->w->sh, p0 = cut->apart ? 0 : top / 2, odd = cut->apart ? 0 : top % 2;
    const int is_whole = job->head.narrows && job->n >= SEVEN && job->w->sw <= 2 && !job->are_sums && !job->are_floats;
    const int16_t *weights = job->weights + odd * 2 * cut->weights, *ring = job->ring;
    struct sum s = job->sum;
    s.first = p0 % cut->pairs;
    for (int32_t p = filled > p0 ? filled : p0; p < p0 + cut->pairs; p++) fill_pair(job, top - job->w->top, p, c, end);
    for (; c < end; c += N, ring += cut->pairs * cut->slot, weights += 4 * cut->weights) {
        const int32_t n = end - c < N ? end - c : N;
        int32_t sums[PAIRS_STRETCH * N];
        if (is_whole && n == N) {
            s.ring = ring, s.weights = weights;
            run_whole(job, &s, c, pixel, step);
            continue;
        }
        for (int32_t h = 0; h * HALF < n; h++) {
            s.ring = ring + h * N, s.weights = weights + h * cut->weights, s.bias = eight(block_of(job, c) + h * FOUR, apart_of(n));
            sum_row(&s, job->n, sums + h * HALF);
        }
        put(job, pixel, step, c, n, sums);
    }
}

/* Outputs [x, x + n) of all rows, channels [c, end). */
static void run_stretch(struct job *job, int32_t c, int32_t end)
{
    const struct ig_operand *out = &job->call->out[0];
    const struct ig_pairs_cut *cut = &job->cut;
    const int32_t wide = ig_type_bytes(out->shape->type);
    const int64_t step = out->pixel_stride * wide;
    arrange_blocks(job, c, end);
    for (int32_t y = job->range.y0, filled = 0; y < job->range.y1; y++) {
        uint8_t *pixel = (uint8_t *)ig_row(out, y, wide) + job->x * step;
        run_row(job, y, c, end, filled, pixel, step);
        filled = cut->apart ? 0 : y * job->w->sh / 2 + cut->pairs;
    }
}

static int32_t between(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

static void start_stretch(struct job *job, int32_t x, int32_t n)
{
    const struct ig_window *w = job->w;
    const int32_t first = x * w->sw - w->left, columns = (n - 1) * w->sw + (w->kw - 1) * w->dw + 1;
    job->x = x, job->n = n;
    job->from = between(-first, 0, columns);
    job->end = between(job->call->in[0].w - first, job->from, columns);
    fill_sides(job);
}

static struct job job_of(const struct ig_call *call, struct ig_range range, void *scratch, ig_bytes_floats_fn *floats)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_bytes_head *head = (const struct ig_bytes_head *)call->weights;
    struct job job = {.call = call, .w = w, .range = range, .head = *head, .blocks = (const int32_t *)(head + 1), .are_sums = ig_bytes_are_sums(call),
                      .are_floats = ig_bytes_are_floats(call), .cut = ig_pairs_cut_of(call), .pad = (const uint8_t *)scratch};
    job.block = (2 + 2 * ig_bytes_become_floats(call)) * N + (w->kh * w->kw + 1) / 2 * N;
    if (job.are_sums) job.head.x_zero = ig_bytes_zero_of(call, head);
    job.floats = ig_bytes_become_floats(call) ? floats : NULL;
    job.limits = ig_bytes_limits_of(head);
    job.sum = (struct sum){.slot = job.cut.slot, .next = w->dw * COLUMN, .step = w->sw * COLUMN, .pairs = job.cut.pairs, .kw = w->kw};
    job.to_floats = (struct ig_bytes_floats){.x_scale = ig_bytes_scale_of(call, head), .zero = job.head.x_zero + head->shift,
                                             .act = &((const struct ig_conv *)call->attrs)->act};
    job.weights = (int16_t *)((char *)scratch + IG_BYTES_LINE);
    job.ring = (int16_t *)((char *)scratch + job.cut.ring_at);
    job.ring_end = (int16_t *)((char *)scratch + job.cut.bytes);
    memset(scratch, job.head.x_zero, IG_BYTES_LINE);
    return job;
}

static void run(const struct ig_call *call, struct ig_range range, void *scratch, ig_bytes_floats_fn *floats)
{
    enum { MANY = PAIRS_BLOCKS * N };
    struct job job = job_of(call, range, scratch, floats);
    const int32_t width = call->out[0].w, parts = (width + job.cut.stretch - 1) / job.cut.stretch;
    for (int32_t i = 0, x = 0; i < parts; i++, x += job.n) {
        start_stretch(&job, x, width / parts + (i < width % parts));
        for (int32_t c = range.c0; c < range.c1; c += MANY) run_stretch(&job, c, range.c1 - c < MANY ? range.c1 : c + MANY);
    }
}

void qlinear_conv_i8_depthwise16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run(call, range, scratch, NULL);
}

void conv_integer_i8_depthwise16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run(call, range, scratch, ig_bytes_floats_avx2);
}
