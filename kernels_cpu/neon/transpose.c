/*
 * Transpose of 4-byte elements in blocks of 4x4; three rows into pixels of three, and back, by the structure
 * loads and stores. kernels_cpu/common/permute.c makes matrices of a permutation.
 */
#include "kernels_cpu/common/permute.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

static void block_4x4(const float *src, int64_t src_stride, float *dst, int64_t dst_stride)
{
    float32x4x2_t even = vtrnq_f32(vld1q_f32(src), vld1q_f32(src + src_stride));
    float32x4x2_t odd = vtrnq_f32(vld1q_f32(src + 2 * src_stride), vld1q_f32(src + 3 * src_stride));
    for (int i = 0; i < 2; i++) {
        float32x4_t a = even.val[i], b = odd.val[i];
        vst1q_f32(dst + i * dst_stride, vcombine_f32(vget_low_f32(a), vget_low_f32(b)));
        vst1q_f32(dst + (i + 2) * dst_stride, vcombine_f32(vget_high_f32(a), vget_high_f32(b)));
    }
}

static void scalar(const float *src, int64_t src_stride, float *dst, int64_t dst_stride, int64_t rows,
                   int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rows; j++) dst[i * dst_stride + j] = src[j * src_stride + i];
}

/* Three rows become pixels; returns how many. */
static int64_t join_3(const float *src, int64_t src_stride, float *dst, int64_t n)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        float32x4x3_t v = {
            {vld1q_f32(src + i), vld1q_f32(src + src_stride + i), vld1q_f32(src + 2 * src_stride + i)}};
        vst3q_f32(dst + 3 * i, v);
    }
    return i;
}

/* Pixels of three become three rows; returns how many. */
static int64_t split_3(const float *src, float *dst, int64_t dst_stride, int64_t pixels)
{
    int64_t j = 0;
    for (; j + 4 <= pixels; j += 4) {
        float32x4x3_t v = vld3q_f32(src + 3 * j);
        for (int i = 0; i < 3; i++) vst1q_f32(dst + i * dst_stride + j, v.val[i]);
    }
    return j;
}

void ig_transpose_b32_neon(const void *from, int64_t src_stride, void *to, int64_t dst_stride, int64_t rows,
                      int64_t n) {
    const float *src = (const float *)from;
    float *dst = (float *)to;
    int64_t i = 0, j = 0;
    if (rows == 3 && dst_stride == 3) {
        i = join_3(src, src_stride, dst, n);
        scalar(src + i, src_stride, dst + i * dst_stride, dst_stride, rows, n - i);
        return;
    }
    if (n == 3 && src_stride == 3) j = split_3(src, dst, dst_stride, rows);
    for (; j + 4 <= rows; j += 4) {
        for (i = 0; i + 4 <= n; i += 4)
            block_4x4(src + j * src_stride + i, src_stride, dst + i * dst_stride + j, dst_stride);
        scalar(src + j * src_stride + i, src_stride, dst + i * dst_stride + j, dst_stride, 4, n - i);
    }
    scalar(src + j * src_stride, src_stride, dst + j, dst_stride, rows - j, n);
}

void transpose_b32_4x4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_permute(call, range, 4, ig_transpose_b32_neon);
}
