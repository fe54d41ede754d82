/* Convolution of groups of few channels, common/grouped.h. */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

enum { L = 8, MOST = 10 };

#define VEC __m256
#define LANES_OF __m256i
#define LOAD(p) _mm256_loadu_ps(p)
#define LOAD_LANES(p) _mm256_loadu_si256((const __m256i *)(p))
#define SPREAD(p, lanes) _mm256_permutevar8x32_ps(LOAD(p), lanes)
#define FMA(sum, x, w) _mm256_fmadd_ps(x, w, sum)
#define FINISH(sum, t) _mm256_min_ps(_mm256_set1_ps((t)->hi), _mm256_max_ps(_mm256_set1_ps((t)->lo), sum)) /* NaN stays */
#define STORE(p, v, channels) ig_store_upto8(p, v, channels)
#include "kernels_cpu/common/grouped.inc"

void conv_f32_grouped8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_grouped_set set = {L, MOST, tile, ig_act_row_avx2};
    ig_grouped(call, range, scratch, &set);
}
