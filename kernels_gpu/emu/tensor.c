/*
 * mma.m16n8k16 on bfloat16, by the PTX manual's figures: lane 4g + t has of a, 16 x 16, rows g and g + 8 at k = 2t, 2t + 1 and then at
 * 2t + 8, 2t + 9; of b, 16 x 8, column g at these k; of the sums, 16 x 8, rows g and g + 8 of columns 2t, 2t + 1.
 */
#include "kernels_gpu/emu/tensor.h"

#include <fenv.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16, AT_ONCE = 4 };

static float upper(uint32_t word)
{
    float v;
    word &= 0xffff0000;
    memcpy(&v, &word, sizeof v);
    return v;
}

static float lower(uint32_t word)
{
    return upper(word << 16);
}

typedef float floats __attribute__((vector_size(4 * sizeof(float))));
typedef double doubles __attribute__((vector_size(4 * sizeof(double))));

/* Four columns of sum += a b. Called while floats are made by cutting doubles off, which have the sum of four products to within far less. */
__attribute__((noinline)) static void multiply(double (*a)[DEPTH], const doubles *b, floats *sum)
{
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < DEPTH; k += AT_ONCE) {
            doubles v = __builtin_convertvector(sum[row], doubles);
            for (int j = k; j < k + AT_ONCE; j++) v += a[row][j] * b[j];
            sum[row] = __builtin_convertvector(v, floats);
        }
}

void emu_multiply(struct emu_fragment *lanes[EMU_WARP])
{
    double a[ROWS][DEPTH];
    doubles b[COLUMNS / 4][DEPTH];
    floats sum[COLUMNS / 4][ROWS];
    for (int lane = 0; lane < EMU_WARP; lane++) {
        const struct emu_fragment *f = lanes[lane];
        const int g = lane / 4, t = lane % 4 * 2;
        for (int i = 0; i < 4; i++) {
            const int row = g + i % 2 * 8, k = t + i / 2 * 8;
            a[row][k] = lower(f->a[i]), a[row][k + 1] = upper(f->a[i]);
        }
        for (int i = 0; i < 2; i++) b[g / 4][t + i * 8][g % 4] = lower(f->b[i]), b[g / 4][t + i * 8 + 1][g % 4] = upper(f->b[i]);
        for (int i = 0; i < 4; i++) sum[t / 4][g + i / 2 * 8][t % 4 + i % 2] = f->sum[i];
    }
    fesetround(FE_TOWARDZERO);
    for (int i = 0; i < COLUMNS / 4; i++) multiply(a, b[i], sum[i]);
    fesetround(FE_TONEAREST);
    for (int lane = 0; lane < EMU_WARP; lane++) {
        struct emu_fragment *f = lanes[lane];
        for (int i = 0; i < 4; i++) f->sum[i] = sum[lane % 4 / 2][lane / 4 + i / 2 * 8][lane % 2 * 2 + i % 2];
        f->is_done = 1;
    }
}
