/*
 * First layers of quantised numbers, common/first_pairs.h: tiles of 6 pixels by 16 channels, 12 sums, two vectors of weights, a word of a pixel and
 * a product; or, where a panel has 8 channels at most, of 12 pixels by 8. A row's last tile overlaps the one before.
 */
#include <string.h>

#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/first_pairs.h"

#define INLINE static inline __attribute__((always_inline))

enum { NR = IG_FIRST_PAIRS_PANEL, HALF = NR / 2, SUMS = 12, MR = IG_FIRST_PAIRS_PIXELS };

struct first {
    const struct ig_call *call;
    const struct ig_window *w;
    struct ig_bytes_head head;
    struct ig_first_pairs_cut cut;
    int16_t *lines;              /* [kernel row and those of further output rows][pitch] */
};

/* n numbers less x_zero, sixteen at a time; the last sixteen overlap what is there. */
static void widen(int16_t *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const int32_t is_signed = head->is_signed, x_zero = head->x_zero;
    const __m256i zero = _mm256_set1_epi16((int16_t)x_zero);
    for (int64_t i = 0; n < 16 && i < n; i++) to[i] = (int16_t)((is_signed ? (int8_t)from[i] : from[i]) - x_zero);
    for (int64_t i = 0; n >= 16 && i < n; i += 16) {
        const int64_t k = i + 16 <= n ? i : n - 16;
        const __m256i x = ig_bytes_widened(_mm_loadu_si128((const __m128i *)(from + k)), is_signed);
        _mm256_storeu_si256((__m256i *)(to + k), _mm256_sub_epi16(x, zero));
    }
}

/* Input row iy with its padding. */
static void fill_line(const struct first *f, int32_t iy, int16_t *to)
{
    const struct ig_operand *in = &f->call->in[0];
    const int32_t columns = (f->call->out[0].w - 1) * f->w->sw + f->w->kw - f->w->left, n = in->w < columns ? in->w : columns;
    const int64_t left = (int64_t)f->w->left * in->c, used = (int64_t)n * in->c;
    if (iy < 0 || iy >= in->h || n <= 0) {
        memset(to, 0, (size_t)f->cut.pitch * sizeof *to);
        return;
    }
    const uint8_t *row = (const uint8_t *)ig_row(in, iy, 1);
    memset(to, 0, (size_t)left * sizeof *to);
    if (in->pixel_stride == in->c) widen(to + left, row, used, &f->head);
    else
        for (int32_t x = 0; x < n; x++) widen(to + left + x * in->c, row + x * in->pixel_stride, in->c, &f->head);
    memset(to + left + used, 0, (size_t)(f->cut.pitch - left - used) * sizeof *to);
}

/* Sums of the pixels from `line` on, `vectors` of 8 channels each. */
INLINE void sum(const struct first *f, const int16_t *line, const int32_t *panel, const int vectors, __m256i s[SUMS])
{
    const int32_t *w = panel + 2 * NR, kh = f->w->kh, words = f->cut.words;
    const int64_t step = 2 * f->cut.step, pitch = f->cut.pitch;
    const int pixels = SUMS / vectors;
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++) s[i] = _mm256_loadu_si256((const __m256i *)(panel + i % vectors * HALF));
    for (int32_t ky = 0; ky < kh; ky++, line += pitch) {
        const char *a = (const char *)line;
        for (int32_t k = 0; k < words; k++, w += NR, a += 4) {
            const __m256i low = _mm256_loadu_si256((const __m256i *)w), high = _mm256_loadu_si256((const __m256i *)(w + HALF));
#pragma GCC unroll 12
            for (int i = 0; i < pixels; i++) {
                int32_t word;
                memcpy(&word, a + i * step, sizeof word);
                const __m256i x = _mm256_set1_epi32(word);
                s[i * vectors] = _mm256_add_epi32(s[i * vectors], _mm256_madd_epi16(x, low));
                if (vectors == 2) s[i * 2 + 1] = _mm256_add_epi32(s[i * 2 + 1], _mm256_madd_epi16(x, high));
            }
        }
    }
}

INLINE __m256i rounded(__m256i sum, __m256 scale)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale));
}

/* Sixteen sums of four vectors each to bytes of successive pixels, 32 / n of them. */
INLINE void store(const struct first *f, const __m256i s[SUMS], const int32_t *panel, const int vectors, uint8_t *to, int32_t n)
{
    const struct ig_bytes_head h = f->head; /* which outputs, as bytes, might be */
    const __m256 low = _mm256_loadu_ps((const float *)panel + NR), high = vectors == 2 ? _mm256_loadu_ps((const float *)panel + NR + HALF) : low;
    const int64_t stride = f->call->out[0].pixel_stride;
#pragma GCC unroll 3
    for (int i = 0; i < SUMS; i += 4, to += 4 / vectors * stride) {
        const __m256i v = ig_bytes_narrowed_avx2(rounded(s[i], low), rounded(s[i + 1], high), rounded(s[i + 2], low), rounded(s[i + 3], high), &h);
        const __m128i first = _mm256_castsi256_si128(v), second = _mm256_extracti128_si256(v, 1);
        if (vectors == 2) {
            ig_bytes_store(to, first, n);
            ig_bytes_store(to + stride, second, n);
            continue;
        }
        ig_bytes_store(to, first, n);
        ig_bytes_store(to + stride, _mm_unpackhi_epi64(first, first), n);
        ig_bytes_store(to + 2 * stride, second, n);
        ig_bytes_store(to + 3 * stride, _mm_unpackhi_epi64(second, second), n);
    }
}

/* A row's n channels of a panel. */
INLINE void row_of(const struct first *f, const int16_t *line, const int32_t *panel, const int vectors, uint8_t *to, int32_t n)
{
    const struct ig_operand *out = &f->call->out[0];
    const int32_t pixels = SUMS / vectors;
    for (int32_t next = 0; next < out->w; next += pixels) {
        const int32_t x = next + pixels <= out->w ? next : out->w - pixels;
        __m256i s[SUMS];
        sum(f, line + x * f->cut.step, panel, vectors, s);
        store(f, s, panel, vectors, to + x * out->pixel_stride, n);
    }
}

/* n rows of the output from y on, whose lines are there. */
static void run_rows(const struct first *f, struct ig_range range, int32_t y, int32_t n)
{
    const struct ig_operand *out = &f->call->out[0];
    for (int32_t c = range.c0; c < range.c1; c += NR) {
        const int32_t *panel = (const int32_t *)((const struct ig_bytes_head *)f->call->weights + 1) + c / NR * f->cut.panel;
        const int32_t channels = range.c1 - c < NR ? range.c1 - c : NR;
        for (int32_t i = 0; i < n; i++) {
            const int16_t *line = f->lines + (int64_t)i * f->w->sh * f->cut.pitch;
            uint8_t *to = (uint8_t *)ig_row(out, y + i, 1) + c;
            if (channels <= HALF && out->w >= SUMS) row_of(f, line, panel, 1, to, channels);
            else row_of(f, line, panel, 2, to, channels);
        }
    }
}

void qlinear_conv_i8_first6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct first f = {call, &((const struct ig_conv *)call->attrs)->w, *(const struct ig_bytes_head *)call->weights,
                            ig_first_pairs_cut_of(call), (int16_t *)scratch};
    for (int32_t y = range.y0, n; y < range.y1; y += n) {
        n = range.y1 - y < f.cut.rows ? range.y1 - y : f.cut.rows;
        for (int32_t i = 0; i < (n - 1) * f.w->sh + f.w->kh; i++) fill_line(&f, y * f.w->sh - f.w->top + i, f.lines + i * f.cut.pitch);
        run_rows(&f, range, y, n);
    }
}
