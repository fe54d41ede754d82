/* Element-wise functions of two operands: the loops over a run of floats, eight at a time. */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/binary.h"

#define INLINE static inline __attribute__((always_inline))

typedef __m256 binary8(__m256 a, __m256 b, int32_t kind);

INLINE __m256 add8(__m256 a, __m256 b, int32_t kind)
{
    (void)kind;
    return _mm256_add_ps(a, b);
}

INLINE __m256 mul8(__m256 a, __m256 b, int32_t kind)
{
    (void)kind;
    return _mm256_mul_ps(a, b);
}

/* `of`, but where b is no number: the instructions give a then. */
INLINE __m256 unless_nan(__m256 b, __m256 of)
{
    return _mm256_blendv_ps(of, b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
}

/* The others share their loops, which programs carry all: a branch that goes the same way all along costs little. */
INLINE __m256 other8(__m256 a, __m256 b, int32_t kind)
{
    switch (kind) {
    case IG_SUB: return _mm256_sub_ps(a, b);
    case IG_DIV: return _mm256_div_ps(a, b);
    case IG_MAX: return unless_nan(b, _mm256_max_ps(b, a));
    case IG_MIN: return unless_nan(b, _mm256_min_ps(b, a));
    default: /* IG_PRELU */
        return _mm256_blendv_ps(a, _mm256_mul_ps(a, b), _mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_LT_OQ));
    }
}

/* A sum that is then clamped, as act.c does it: a NaN stays. */
struct bounds {
    __m256 least, most;
};

INLINE __m256 clamped(__m256 x, const struct bounds *to)
{
    return to ? _mm256_min_ps(to->most, _mm256_max_ps(to->least, x)) : x;
}

INLINE __m256 load(const float *p, int one, int64_t i, int64_t n)
{
    return one ? _mm256_broadcast_ss(p) : ig_load_upto8(p + i, n - i);
}

INLINE void loop(struct ig_binary_run r, int a_one, int b_one, binary8 *f, int32_t kind, const struct bounds *to)
{
    int64_t i = 0;
    for (; i + 8 <= r.n; i += 8) {
        __m256 a = a_one ? _mm256_broadcast_ss(r.a) : _mm256_loadu_ps(r.a + i);
        __m256 b = b_one ? _mm256_broadcast_ss(r.b) : _mm256_loadu_ps(r.b + i);
        _mm256_storeu_ps(r.y + i, clamped(f(a, b, kind), to));
    }
    if (i == r.n) return;
    ig_store_part(r.y + i, clamped(f(load(r.a, a_one, i, r.n), load(r.b, b_one, i, r.n), kind), to), r.n - i);
}

INLINE void pixels_of(struct ig_binary_run r, int a_one, int b_one, int32_t pixels, struct ig_binary_steps steps,
                      binary8 *f, int32_t kind, const struct bounds *to)
{
    for (; pixels > 0; pixels--, r.a += steps.a, r.b += steps.b, r.y += steps.y) loop(r, a_one, b_one, f, kind, to);
}

INLINE void run_of(const struct ig_binary_run *r, int32_t pixels, struct ig_binary_steps steps, binary8 *f,
                   int32_t kind, const struct bounds *to)
{
    if (r->a_one)
        pixels_of(*r, 1, r->b_one, pixels, steps, f, kind, to);
    else if (r->b_one)
        pixels_of(*r, 0, 1, pixels, steps, f, kind, to);
    else
        pixels_of(*r, 0, 0, pixels, steps, f, kind, to);
}

static void run(const struct ig_binary_run *r, int32_t kind, int32_t pixels, struct ig_binary_steps steps)
{
    switch (kind) {
    case IG_ADD: run_of(r, pixels, steps, add8, kind, NULL); break;
    case IG_MUL: run_of(r, pixels, steps, mul8, kind, NULL); break;
    default: run_of(r, pixels, steps, other8, kind, NULL); break;
    }
}

static int both(const struct ig_binary_run *r, const struct ig_binary_attr *attr, int32_t pixels,
                struct ig_binary_steps steps)
{
    const struct ig_act *act = &attr->act;
    if (attr->kind != IG_ADD || (act->kind != IG_RELU && act->kind != IG_CLIP)) return 0;
    int relu = act->kind == IG_RELU;
    struct bounds to = {_mm256_set1_ps(relu ? 0 : act->alpha), _mm256_set1_ps(relu ? __builtin_inff() : act->beta)};
    run_of(r, pixels, steps, add8, IG_ADD, &to);
    return 1;
}

void binary_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_binary_loops loops = {run, ig_act_row_avx2, both};
    (void)scratch;
    ig_binary_rows(call, range, &loops);
}

void binary_f32_nd8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    binary_f32_8__avx2(call, range, scratch);
}
