/* Convolution of groups of few channels, common/grouped.h. */
#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"

enum { L = 16, MOST = 14 };

#define VEC __m512
#define LANES_OF __m512i
#define LOAD(p) _mm512_loadu_ps(p)
#define LOAD_LANES(p) _mm512_loadu_si512(p)
#define SPREAD(p, lanes) _mm512_permutexvar_ps(lanes, LOAD(p))
#define FMA(sum, x, w) _mm512_fmadd_ps(x, w, sum)
#define FINISH(sum, t) _mm512_min_ps(_mm512_set1_ps((t)->hi), _mm512_max_ps(_mm512_set1_ps((t)->lo), sum)) /* NaN stays */
#define STORE(p, v, channels) ((channels) >= L ? _mm512_storeu_ps(p, v) : ig_store_part16(p, v, channels))
#include "kernels_cpu/common/grouped.inc"

void conv_f32_grouped16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_grouped_set set = {L, MOST, tile, ig_act_row_avx512};
    ig_grouped(call, range, scratch, &set);
}
