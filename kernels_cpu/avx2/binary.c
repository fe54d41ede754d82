/*
 * Element-wise functions of two operands, then an activation. An operand has the output's rows, columns and channels,
 * or one of each. Runs are as long as both operands allow: a whole row, or the channels of a pixel; the activation
 * follows in pieces that are still in L1.
 */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

#define INLINE static inline __attribute__((always_inline))

enum { PIECE = 1024 };        /* floats */

typedef __m256 binary8(__m256 a, __m256 b);

INLINE __m256 add8(__m256 a, __m256 b)
{
    return _mm256_add_ps(a, b);
}

INLINE __m256 sub8(__m256 a, __m256 b)
{
    return _mm256_sub_ps(a, b);
}

INLINE __m256 mul8(__m256 a, __m256 b)
{
    return _mm256_mul_ps(a, b);
}

INLINE __m256 div8(__m256 a, __m256 b)
{
    return _mm256_div_ps(a, b);
}

INLINE __m256 max8(__m256 a, __m256 b)
{
    return _mm256_max_ps(b, a);
}

INLINE __m256 min8(__m256 a, __m256 b)
{
    return _mm256_min_ps(b, a);
}

INLINE __m256 prelu8(__m256 x, __m256 slope)
{
    return _mm256_blendv_ps(x, _mm256_mul_ps(x, slope), _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ));
}

struct run {
    const float *a, *b;
    int a_one, b_one;         /* the operand is one value for the whole run */
    float *y;
    int64_t n;
};

INLINE __m256 load(const float *p, int one, int64_t i, int64_t n)
{
    return one ? _mm256_broadcast_ss(p) : ig_load_upto8(p + i, n - i);
}

INLINE void loop(const struct run *r, int a_one, int b_one, binary8 *f)
{
    int64_t i = 0;
    for (; i + 8 <= r->n; i += 8) {
        __m256 a = a_one ? _mm256_broadcast_ss(r->a) : _mm256_loadu_ps(r->a + i);
        __m256 b = b_one ? _mm256_broadcast_ss(r->b) : _mm256_loadu_ps(r->b + i);
        _mm256_storeu_ps(r->y + i, f(a, b));
    }
    if (i < r->n) ig_store_part(r->y + i, f(load(r->a, a_one, i, r->n), load(r->b, b_one, i, r->n)), r->n - i);
}

INLINE void run_of(const struct run *r, binary8 *f)
{
    if (r->a_one)
        loop(r, 1, r->b_one, f);
    else if (r->b_one)
        loop(r, 0, 1, f);
    else
        loop(r, 0, 0, f);
}

static void run_kind(const struct run *r, int32_t kind)
{
    switch (kind) {
    case IG_ADD: run_of(r, add8); break;
    case IG_SUB: run_of(r, sub8); break;
    case IG_MUL: run_of(r, mul8); break;
    case IG_DIV: run_of(r, div8); break;
    case IG_MAX: run_of(r, max8); break;
    case IG_MIN: run_of(r, min8); break;
    case IG_PRELU: run_of(r, prelu8); break;
    default: break;
    }
}

static void run(struct run r, const struct ig_binary_attr *attr)
{
    int64_t left = r.n;
    for (; left > 0; left -= PIECE) {
        r.n = left < PIECE ? left : PIECE;
        run_kind(&r, attr->kind);
        if (attr->act.kind != IG_NONE) ig_act_row_avx2(r.y, r.y, r.n, &attr->act);
        r.y += PIECE;
        if (!r.a_one) r.a += PIECE;
        if (!r.b_one) r.b += PIECE;
    }
}

/* Rows of `o` follow each other without gaps over the whole width of the output. */
static int is_dense(const struct ig_operand *o, const struct ig_operand *out)
{
    return o->w == out->w && o->c == out->c && o->pixel_stride == o->c;
}

/* Of row y of o: its pixel 0, channel c0; a broadcast dim has one element. */
static const float *first_of(const struct ig_operand *o, int32_t y, int32_t c0)
{
    return ig_row_f32(o, o->h == 1 ? 0 : y) + (o->c == 1 ? 0 : c0);
}

void binary_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    int whole = range.c1 - range.c0 == out->c && is_dense(out, out);
    int a_one = a->c == 1 && a->w == 1, b_one = b->c == 1 && b->w == 1;
    whole = whole && (a_one || is_dense(a, out)) && (b_one || is_dense(b, out));
    int64_t a_step = a->w == 1 ? 0 : a->pixel_stride, b_step = b->w == 1 ? 0 : b->pixel_stride;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct run r = {first_of(a, y, range.c0), first_of(b, y, range.c0), a_one, b_one,
                        ig_row_f32(out, y) + range.c0, (int64_t)out->w * out->c};
        if (whole) {
            run(r, attr);
            continue;
        }
        r.a_one = a->c == 1;
        r.b_one = b->c == 1;
        r.n = range.c1 - range.c0;
        for (int32_t x = 0; x < out->w; x++, r.a += a_step, r.b += b_step, r.y += out->pixel_stride) run(r, attr);
    }
}
