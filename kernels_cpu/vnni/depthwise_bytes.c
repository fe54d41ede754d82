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
    int32_t words;              /* of a filter and an output */
    int32_t outputs;            /* that share words: 1 or 2 */
    const uint8_t *pad;         /* x_zero, a pixel of it */
    const uint8_t **at;         /* [4 words] pixels; of the next outputs each lies `step` bytes further */
    int64_t *step;              /* 0 in the padding */
};

/* The pixels of `outputs` outputs from column x on; those that no weight is for are padding. */
static void find_pixels(const struct job *job, int32_t y, int32_t x, int32_t outputs)
{
    const struct ig_window *w = job->w;
    const struct ig_operand *in = &job->call->in[0];
    int32_t row_words = job->words / w->kh, used = w->kw + outputs - 1, n = 0;
    for (int32_t ky = 0; ky < w->kh; ky++) {
        int32_t iy = y * w->sh - w->top + ky * w->dh, there = iy >= 0 && iy < in->h;
        const uint8_t *row = there ? (const uint8_t *)ig_row(in, iy, 1) : job->pad;
        for (int32_t kx = 0; kx < 4 * row_words; kx++, n++) {
            int32_t ix = x * w->sw - w->left + kx, is = there && kx < used && ix >= 0 && ix < in->w;
            job->at[n] = is ? row + ix * in->pixel_stride : job->pad;
            job->step[n] = is ? outputs * w->sw * in->pixel_stride : 0;
        }
    }
}

/* Words of four pixels' channels [c, c + 16), of those that are there. */
INLINE __m512i words_of(const struct job *job, int32_t word, int32_t i, int64_t c, __mmask16 there, __m512i flip)
{
    const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m128i x[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        const uint8_t *p = job->at[4 * word + j] + i * job->step[4 * word + j] + c;
        x[j] = there == 0xffff ? _mm_loadu_si128((const __m128i *)p) : _mm_maskz_loadu_epi8(there, p);
    }
    __m512i v = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_inserti128_si256(_mm256_castsi128_si256(x[0]), x[1], 1)),
                                   _mm256_inserti128_si256(_mm256_castsi128_si256(x[2]), x[3], 1), 1);
    return _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_permutexvar_epi32(lanes, v), bytes), flip);
}

/* sums[count * outputs][16] */
INLINE void sums_of(const struct job *job, int64_t c, const __mmask16 there, const int32_t *block, const int outputs, int32_t count, int32_t *sums)
{
    const __m512i flip = _mm512_set1_epi8((char)job->head->flip), bias = _mm512_loadu_si512(block);
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        const int32_t *w = block + 2 * N;
        __m512i first = bias, second = bias;
        for (int32_t k = 0; k < job->words; k++, w += 2 * N) {
            const __m512i x = words_of(job, k, i, c, there, flip);
            first = _mm512_dpbusd_epi32(first, x, _mm512_loadu_si512(w));
            if (outputs == 2) second = _mm512_dpbusd_epi32(second, x, _mm512_loadu_si512(w + N));
        }
        _mm512_storeu_si512(sums, first);
        if (outputs == 2) _mm512_storeu_si512(sums + N, second);
    }
}

/* `count` times `outputs` outputs from column x on, none of whose pixels crosses the image's edge if they are more than one. */
static void run_pixels(const struct job *job, int32_t y, int32_t x, int32_t outputs, int32_t count)
{
    const struct ig_operand *out = &job->call->out[0];
    const int32_t all = outputs * count;
    const int64_t size = 2 * (1 + job->words) * N;
    uint8_t *to[MOST];
    int32_t sums[MOST * N];
    find_pixels(job, y, x, outputs);
    for (int32_t i = 0; i < all; i++) to[i] = (uint8_t *)ig_row(out, y, 1) + (x + i) * out->pixel_stride;
    for (int32_t c = job->range.c0; c < job->range.c1; c += N) {
        int32_t n = job->range.c1 - c < N ? job->range.c1 - c : N;
        const int32_t *block = (const int32_t *)(job->head + 1) + c / N * size;
        const __mmask16 there = (__mmask16)((1u << n) - 1);
        if (n < N) sums_of(job, c, there, block, outputs, count, sums);
        else if (outputs == 2) sums_of(job, c, 0xffff, block, 2, count, sums);
        else sums_of(job, c, 0xffff, block, 1, count, sums);
        ig_bytes_put_quads(to, c, all, sums, (const float *)(block + N), n, job->head);
    }
}

void qlinear_conv_i8_depthwise16__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    struct job job = {.call = call, .head = (const struct ig_bytes_head *)call->weights, .w = w, .range = range,
                      .words = ig_bytes_depthwise_words(w), .outputs = w->sw == 1 ? 2 : 1,
                      .pad = (uint8_t *)scratch + ig_bytes_pixels(w), .at = (const uint8_t **)scratch};
    const int32_t width = call->out[0].w, first = (w->left + w->sw - 1) / w->sw, room = call->in[0].w + w->left - w->kw;
    int32_t end = room < 0 ? 0 : room / w->sw + 1; /* columns [first, end) have all their taps in the image */
    end = end < width ? end : width;
    job.step = (int64_t *)(job.at + 4 * job.words);
    memset((void *)(uintptr_t)job.pad, job.head->x_zero, (size_t)call->in[0].c);
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0, n; x < width; x += n) {
            n = x >= first && x < end ? end - x : 1;
            n = n < MOST ? n : MOST;
            const int32_t outputs = n < job.outputs ? 1 : job.outputs;
            n = n / outputs * outputs;
            run_pixels(&job, y, x, outputs, n / outputs);
        }
}
