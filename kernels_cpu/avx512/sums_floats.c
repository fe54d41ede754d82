/* Sixteen sums at a time. */
#include "kernels_cpu/avx512/sums_floats.h"

#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx512/lanes.h"

#define INTS __m512i
#define LOAD_INTS(p) _mm512_loadu_si512(p)
#define LOAD_INTS_UPTO(p, n) _mm512_maskz_loadu_epi32((__mmask16)((1u << (n)) - 1), p)
#define SPLAT_INT(x) _mm512_set1_epi32(x)
#define SUB_INTS(a, b) _mm512_sub_epi32(a, b)
#define MUL_INTS(a, b) _mm512_mullo_epi32(a, b)
#define TO_FLOATS(v) _mm512_cvtepi32_ps(v)

/* Rows that lie equally far from each other are one call. */
static void activate(uint8_t *const *to, int64_t at, int32_t rows, int32_t n, const struct ig_act *act)
{
    for (int32_t i = 0, some; i < rows; i += some) {
        const int64_t apart = i + 1 < rows ? to[i + 1] - to[i] : 0;
        for (some = 1; i + some < rows && to[i + some] - to[i + some - 1] == apart;) some++;
        float *y = (float *)(void *)to[i] + at;
        ig_act_pixels_avx512(y, apart / 4, y, apart / 4, some, n, act);
    }
}

#include "kernels_cpu/common/sums_floats.inc"

void ig_bytes_floats_avx512(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step, int32_t n,
                            const struct ig_bytes_floats *f)
{
    put_floats(to, at, rows, sums, step, n, f);
}
