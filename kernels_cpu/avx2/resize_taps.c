/* Resize by taps, common/resize_taps.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

enum { N = 8 };

#define VEC __m256
#define SPLAT(x) _mm256_set1_ps(x)
#define LOAD_UPTO(p, n) ig_load_upto8(p, n)
#define STORE_UPTO(p, v, n) ig_store_upto8(p, v, n)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define FMA(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#include "kernels_cpu/common/resize_taps.inc"

void resize_f32_taps__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    resize_taps(call, range, (struct ig_resize_taps *)scratch);
}
