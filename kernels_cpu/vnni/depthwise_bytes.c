/*
 * Depthwise convolution of quantised numbers by products of four bytes: four successive pixels of a row, 16 channels of each, become
 * 16 words in two shuffles. Where the stride is 1 they serve two outputs: the second one's weights are shifted by a pixel.
 */
#include <string.h>

#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/vnni/kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { N = IG_BYTES_CHANNELS, MOST = 32 /* outputs at a time */ };

struct job {
    const struct ig_call *call;
    const struct ig_bytes_head *head;
    const struct ig_window *w;
    struct ig_range range;
    int32_t words, row_words;   /* of a filter and an output; of a kernel row */
    const uint8_t *pad;         /* x_zero, a pixel of it */
    const uint8_t **at;         /* [4 words] pixels */
    int64_t *step;              /* [words] bytes from a word's pixel to its next one, 0 in the padding */
};

/* The pixels from column x of the input on, for a kernel's rows from input row y on. */
static void find_pixels(const struct job *job, int32_t y, int32_t x)
{
    const struct ig_operand *in = &job->call->in[0];
    int32_t word = 0;
    for (int32_t ky = 0; ky < job->w->kh; ky++, y += job->w->dh) {
        int32_t there = y >= 0 && y < in->h;
        const uint8_t *row = there ? (const uint8_t *)ig_row(in, y, 1) : job->pad;
        for (int32_t i = 0; i < job->row_words; i++, word++) {
            job->step[word] = there ? in->pixel_stride : 0;
            for (int32_t j = 0, ix = x + 4 * i; j < 4; j++, ix++)
                job->at[4 * word + j] = there && ix >= 0 && ix < in->w ? row + ix * in->pixel_stride : job->pad;
        }
    }
}

INLINE __m128i load(const uint8_t *p, __mmask16 there)
{
    return there == 0xffff ? _mm_loadu_si128((const __m128i *)p) : _mm_maskz_loadu_epi8(there, p);
}

/* Words of four pixels' sixteen channels, of those that are there. */
INLINE __m512i words_of(__m128i a, __m128i b, __m128i c, __m128i d, __m512i flip)
{
    const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i v = _mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi128_si512(a), b, 1), c, 2), d, 3);
    return _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_permutexvar_epi32(lanes, v), bytes), flip);
}

/* The words of pixels at `at`, of a run from the first of them and `step`; i: outputs that are behind it. */
INLINE __m512i words_at(const uint8_t *const *at, int64_t step, int64_t i, int64_t c, __mmask16 there, const int run, __m512i flip)
{
    const uint8_t *p = at[0] + i * step + c;
    if (!run) return words_of(load(p, there), load(at[1] + c, there), load(at[2] + c, there), load(at[3] + c, there), flip);
    return words_of(load(p, there), load(p + step, there), load(p + 2 * step, there), load(p + 3 * step, there), flip);
}

/* sums[count * outputs][16] of channels from c on; `apart` pixels from one sum's to the next one's. Of a run all pixels are in the image. */
INLINE void sums_of(const struct job *job, int64_t c, const __mmask16 there, const int32_t *block, const int outputs, const int run,
                    int32_t count, int32_t apart, int32_t *sums)
{
    const __m512i flip = _mm512_set1_epi8((char)job->head->flip), bias = _mm512_loadu_si512(block);
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        const int32_t *w = block + 2 * N;
        __m512i first = bias, second = bias;
        for (int32_t k = 0; k < job->words; k++, w += 2 * N) {
            const __m512i x = words_at(job->at + 4 * k, job->step[k], (int64_t)i * apart, c, there, run, flip);
            first = _mm512_dpbusd_epi32(first, x, _mm512_loadu_si512(w));
            if (outputs == 2) second = _mm512_dpbusd_epi32(second, x, _mm512_loadu_si512(w + N));
        }
        _mm512_storeu_si512(sums, first);
        if (outputs == 2) _mm512_storeu_si512(sums + N, second);
    }
}

/* The same of runs by three words, as 3x3 has, all channels there: weights stay in registers. */
INLINE void sums_by_three(const struct job *job, int64_t c, const int32_t *block, const int outputs, int32_t count, int32_t apart, int32_t *sums)
{
    enum { WORDS = 3 };
    const __m512i flip = _mm512_set1_epi8((char)job->head->flip), bias = _mm512_loadu_si512(block);
    const uint8_t *at[WORDS];
    __m512i w[2 * WORDS];
    int64_t step[WORDS];
#pragma GCC unroll 3
    for (int k = 0; k < WORDS; k++) {
        at[k] = job->at[4 * k] + c;
        step[k] = job->step[k];
        w[2 * k] = _mm512_loadu_si512(block + (2 + 2 * k) * N);
        w[2 * k + 1] = _mm512_loadu_si512(block + (3 + 2 * k) * N);
    }
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        __m512i first = bias, second = bias;
#pragma GCC unroll 3
        for (int k = 0; k < WORDS; k++) {
            const uint8_t *p = at[k];
            const __m512i x = words_of(load(p, 0xffff), load(p + step[k], 0xffff), load(p + 2 * step[k], 0xffff), load(p + 3 * step[k], 0xffff), flip);
            first = _mm512_dpbusd_epi32(first, x, w[2 * k]);
            if (outputs == 2) second = _mm512_dpbusd_epi32(second, x, w[2 * k + 1]);
            at[k] += apart * step[k];
        }
        _mm512_storeu_si512(sums, first);
        if (outputs == 2) _mm512_storeu_si512(sums + N, second);
    }
}

/* n outputs from column x on: a run of them, or one. */
static void run_pixels(const struct job *job, int32_t y, int32_t x, int32_t n, int run)
{
    const struct ig_window *w = job->w;
    const struct ig_operand *out = &job->call->out[0];
    const int64_t size = 2 * (1 + job->words) * N;
    const int pairs = run && w->sw == 1;
    uint8_t *to[MOST];
    int32_t sums[MOST * N];
    find_pixels(job, y * w->sh - w->top, x * w->sw - w->left);
    for (int32_t i = 0; i < n; i++) to[i] = (uint8_t *)ig_row(out, y, 1) + (x + i) * out->pixel_stride;
    for (int32_t c = job->range.c0; c < job->range.c1; c += N) {
        const int32_t left = job->range.c1 - c, *block = (const int32_t *)(job->head + 1) + c / N * size;
        const __mmask16 there = left < N ? (__mmask16)((1u << left) - 1) : 0xffff;
        if (pairs && left >= N && job->words == 3) sums_by_three(job, c, block, 2, n / 2, 2, sums);
        else if (run && left >= N && job->words == 3) sums_by_three(job, c, block, 1, n, w->sw, sums);
        else if (pairs && left >= N) sums_of(job, c, 0xffff, block, 2, 1, n / 2, 2, sums);
        else if (pairs) sums_of(job, c, there, block, 2, 1, n / 2, 2, sums);
        else if (run && left >= N) sums_of(job, c, 0xffff, block, 1, 1, n, w->sw, sums);
        else sums_of(job, c, there, block, 1, run, n, w->sw, sums);
        ig_bytes_put_quads(to, c, n, sums, (const float *)(block + N), left < N ? left : N, job->head);
    }
}

void qlinear_conv_i8_depthwise16__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t words = ig_bytes_depthwise_words(w), width = call->out[0].w;
    struct job job = {.call = call, .head = (const struct ig_bytes_head *)call->weights, .w = w, .range = range, .words = words,
                      .row_words = words / w->kh, .pad = (uint8_t *)scratch + ig_bytes_pixels(w), .at = (const uint8_t **)scratch};
    /* Columns [first, end) have all their words' pixels in the image; of a pair these are the first one's. */
    const int32_t first = (w->left + w->sw - 1) / w->sw, room = call->in[0].w + w->left - 4 * job.row_words, pair = w->sw == 1;
    const int32_t end = room < 0 ? 0 : room / w->sw + 1 + pair, last = end < width ? end : width;
    job.step = (int64_t *)(job.at + 4 * words);
    memset((void *)(uintptr_t)job.pad, job.head->x_zero, (size_t)call->in[0].c);
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0, n; x < width; x += n) {
            int32_t left = x < first ? 0 : last - x < MOST ? last - x : MOST;
            left -= pair ? left & 1 : 0;
            n = left > 0 ? left : 1;
            run_pixels(&job, y, x, n, left > 0);
        }
}
