/*
 * wmma.m16n16k16 on binary16, of which a lane has half a row of each operand, and on bytes, of which it has four of a row of a, or of
 * a column of b, and four of the eighth behind; and
 * mma.m16n8k16 on bfloat16, by the PTX manual's figures: lane 4g + t has of a, 16 x 16, rows g and g + 8 at k = 2t, 2t + 1 and then at
 * 2t + 8, 2t + 9; of b, 16 x 8, column g at these k; of the sums, 16 x 8, rows g and g + 8 of columns 2t, 2t + 1.
 */
#include "kernels_gpu/emu/mma.h"

#include <fenv.h>
#include <string.h>

#include "graph/tensor.h"

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

static void get_a(struct emu_fragment **lanes, int which, double (*a)[DEPTH])
{
    for (int lane = 0; lane < EMU_WARP; lane++) {
        const uint32_t *words = lanes[lane]->a[which];
        for (int i = 0; i < 4; i++) {
            const int row = lane / 4 + i % 2 * 8, k = lane % 4 * 2 + i / 2 * 8;
            a[row][k] = lower(words[i]), a[row][k + 1] = upper(words[i]);
        }
    }
}

static void get_b(struct emu_fragment **lanes, int which, doubles (*b)[DEPTH])
{
    for (int lane = 0; lane < EMU_WARP; lane++) {
        const uint32_t *words = lanes[lane]->b[which];
        for (int i = 0; i < 2; i++) {
            const int column = lane / 4, k = lane % 4 * 2 + i * 8;
            b[column / 4][k][column % 4] = lower(words[i]), b[column / 4][k + 1][column % 4] = upper(words[i]);
        }
    }
}

/* Copies lane's two sums of a row, of the upper half or the lower one: between them and their place. */
static void get_sums(const struct emu_fragment *lane, int n, int at, floats (*sum)[ROWS])
{
    const int row = at / 4, half = at % 4 / 2, column = at % 2 * 2;
    for (int i = 0; i < 2; i++) memcpy((float *)&sum[half][row + 8 * i] + column, &lane->sum[n][2 * i], 2 * sizeof(float));
}

static void put_sums(struct emu_fragment *lane, int n, int at, floats (*sum)[ROWS])
{
    const int row = at / 4, half = at % 4 / 2, column = at % 2 * 2;
    for (int i = 0; i < 2; i++) memcpy(&lane->sum[n][2 * i], (float *)&sum[half][row + 8 * i] + column, 2 * sizeof(float));
}

void emu_multiply(int rows, int columns, struct emu_fragment *lanes[EMU_WARP])
{
    double a[EMU_MOST_MMA][ROWS][DEPTH];
    doubles b[EMU_MOST_MMA][COLUMNS / 4][DEPTH];
    for (int i = 0; i < rows; i++) get_a(lanes, i, a[i]);
    for (int i = 0; i < columns; i++) get_b(lanes, i, b[i]);
    for (int n = 0; n < rows * columns; n++) {
        floats sum[COLUMNS / 4][ROWS];
        for (int lane = 0; lane < EMU_WARP; lane++) get_sums(lanes[lane], n, lane, sum);
        fesetround(FE_TOWARDZERO);
        for (int i = 0; i < COLUMNS / 4; i++) multiply(a[n / columns], b[n % columns][i], sum[i]);
        fesetround(FE_TONEAREST);
        for (int lane = 0; lane < EMU_WARP; lane++) put_sums(lanes[lane], n, lane, sum);
    }
    for (int lane = 0; lane < EMU_WARP; lane++) lanes[lane]->is_done = 1;
}

/* Row `lane % 16` from column `lane / 16 * 8` on, of one operand. */
static void widen(const uint32_t *words, double *to)
{
    for (int i = 0; i < 8; i++) to[i] = ig_half_to_float((uint16_t)(words[i / 2] >> i % 2 * 16));
}

void emu_multiply_halves(struct emu_fragment *lanes[EMU_WARP])
{
    double a[ROWS][DEPTH], b[DEPTH][2 * COLUMNS];
    doubles quads[4][DEPTH];
    floats sum[4][ROWS];
    for (int lane = 0; lane < EMU_WARP; lane++) {
        widen(lanes[lane]->a[0], &a[lane % 16][lane / 16 * 8]);
        widen(lanes[lane]->a[1], &b[lane % 16][lane / 16 * 8]);
        for (int i = 0; i < 2; i++) memcpy(&sum[lane / 16 * 2 + i][lane % 16], lanes[lane]->sum[i], sizeof sum[0][0]);
    }
    for (int i = 0; i < 4 * DEPTH; i++) memcpy(&quads[i / DEPTH][i % DEPTH], &b[i % DEPTH][i / DEPTH * 4], sizeof quads[0][0]);
    fesetround(FE_TOWARDZERO);
    for (int i = 0; i < 4; i++) multiply(a, quads[i], sum[i]);
    fesetround(FE_TONEAREST);
    for (int lane = 0; lane < EMU_WARP; lane++) {
        for (int i = 0; i < 2; i++) memcpy(lanes[lane]->sum[i], &sum[lane / 16 * 2 + i][lane % 16], sizeof sum[0][0]);
        lanes[lane]->is_done = 1;
    }
}

void emu_multiply_bytes(struct emu_fragment *lanes[EMU_WARP])
{
    int8_t a[ROWS][DEPTH], b[2 * COLUMNS][DEPTH];
    uint32_t sum[ROWS][2 * COLUMNS];
    for (int lane = 0; lane < EMU_WARP; lane++) {
        for (int i = 0; i < 2; i++) {
            memcpy(&a[lane / 4 + 8 * i][lane % 4 * 4], &lanes[lane]->a[0][i], 4);
            memcpy(&b[lane / 4 + 8 * i][lane % 4 * 4], &lanes[lane]->a[1][i], 4);
        }
        memcpy(&sum[lane % 16][lane / 16 * 8], lanes[lane]->sum, EMU_WMMA_SUMS * sizeof sum[0][0]);
    }
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < 2 * COLUMNS; column++)
            for (int k = 0; k < DEPTH; k++) sum[row][column] += (uint32_t)(a[row][k] * b[column][k]);
    for (int lane = 0; lane < EMU_WARP; lane++) {
        memcpy(lanes[lane]->sum, &sum[lane % 16][lane / 16 * 8], EMU_WMMA_SUMS * sizeof sum[0][0]);
        lanes[lane]->is_done = 1;
    }
}
