/*
 * Convolution of quantised numbers, common/conv_bytes.h, by products of bytes u8 by i8, which are added in 16 bits four at a time: two words
 * of a pixel by two of weights, a step,
 *   sum += vpmaddwd(vpmaddubsw(x, w) + vpmaddubsw(y, v), 1)
 * Which words these are was chosen by the weights (kernels_cpu/pack/pairs.h), so that no such sum leaves 16 bits. Tiles of 4 pixels by 16
 * channels: 8 sums, four vectors of weights, a word of each kind, ones. It wins where processors have no product of four bytes: five
 * instructions make 64 multiply-adds, where pairs of 16 bits take eight.
 */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/word_bytes.h"

enum { MR = 4, NR = 16 };

#define INLINE static inline __attribute__((always_inline))

struct sums {
    __m256i v[MR][2];
};

/* Where words are, and the words; what is left of those that are alone. */
struct steps {
    const int32_t *at, *w, *end;
    const int32_t *at_alone, *alone;
    int32_t left;
    int32_t where[4];            /* one that was alone: in two steps of half of its weights each, */
    int32_t room[4 * NR];        /* whose second words are zero */
};

/* The next word that is alone. */
static __attribute__((noinline)) void next_alone(struct steps *s)
{
    const int8_t *w = (const int8_t *)s->alone;
    int8_t *to = (int8_t *)s->room;
    __builtin_memset(s->room, 0, sizeof s->room);
    for (int i = 0; i < 4 * NR; i++) to[i] = (int8_t)(w[i] >> 1), to[8 * NR + i] = (int8_t)(w[i] - (w[i] >> 1));
    for (int i = 0; i < 4; i++) s->where[i] = *s->at_alone;
    s->at = s->where, s->w = s->room, s->end = s->room + 4 * NR;
    s->at_alone++, s->alone += NR, s->left--;
}

INLINE void sum(const struct ig_bytes_pixels *p, const int rows, const int32_t *panel, struct sums *s)
{
    const char *next = p->next;
    const int64_t ahead = 2 * p->ahead;
    const int64_t step = p->step, n = panel[2 * NR], alone = panel[2 * NR + 1];
    const int32_t *list = panel + 2 * NR + 2, *words = panel + (2 + ig_bytes_rows_of_steps(2 * n + alone)) * NR;
    struct steps steps;
    steps.at = list, steps.w = words, steps.end = words + n * 2 * NR;
    steps.at_alone = list + 2 * n, steps.alone = steps.end, steps.left = (int32_t)alone;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        s->v[i][0] = _mm256_loadu_si256((const __m256i *)panel);
        s->v[i][1] = _mm256_loadu_si256((const __m256i *)(panel + 8));
    }
    for (;; next_alone(&steps)) {
        const int32_t *at = steps.at;
        for (const int32_t *w = steps.w; w < steps.end; at += 2, w += 2 * NR, next += ahead) {
            const __m256i *of = (const __m256i *)w;
            const __m256i low = _mm256_loadu_si256(of), high = _mm256_loadu_si256(of + 1);
            const __m256i other_low = _mm256_loadu_si256(of + 2), other_high = _mm256_loadu_si256(of + 3);
            if (rows > 1) _mm_prefetch(next, _MM_HINT_T1);
            const char *a = p->at + at[0], *b = p->at + at[1];
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++) {
                const __m256i x = ig_word_at(a + i * step), y = ig_word_at(b + i * step);
                s->v[i][0] = ig_words_added(s->v[i][0], x, low, y, other_low);
                s->v[i][1] = ig_words_added(s->v[i][1], x, high, y, other_high);
            }
        }
        if (!steps.left) break;
    }
}

#include "kernels_cpu/avx2/tiles_bytes.inc"

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx2(to, from, n, head);
}

#define TOTAL(from, n) ig_bytes_total_avx2(from, n)
#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_paired4x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_paired);
}

void conv_integer_i8_paired4x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_paired, ig_bytes_floats_avx2);
}

void matmul_integer_i8_paired4x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_paired, ig_bytes_floats_avx2);
}
