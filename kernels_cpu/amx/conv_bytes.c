/*
 * Convolution of quantised numbers, common/conv_bytes.h, by tiles of bytes: four tiles of sums are 32 pixels x 32 channels; a step is
 * 64 numbers of each pixel, 16 words.
 */
#include "kernels_cpu/amx/kernels.h"
#include "kernels_cpu/amx/tile.h"
#include "kernels_cpu/avx512/fill_bytes.h"
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/avx512/sums_floats.h"

enum { SIDE = 16, ROW = 64, WORDS = 16, MR = 2 * SIDE, NR = IG_BYTES_PUT_STEP, SUMS_ROW = NR * sizeof(int32_t), AHEAD = 4 };

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx512(to, from, n, head);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_avx512(to, at, rows, sums, scale, n, head);
}

#define FOUR(OP, p) OP(0, p, SUMS_ROW); OP(1, (p) + SIDE, SUMS_ROW); OP(2, (p) + SIDE * NR, SUMS_ROW); OP(3, (p) + SIDE * NR + SIDE, SUMS_ROW)

/* Weights to come; the panels lie one behind the other. */
static inline void fetch(const int32_t *w)
{
#pragma GCC unroll 32
    for (int i = 0; i < WORDS * NR; i += 16) _mm_prefetch((const char *)(w + AHEAD * WORDS * NR + i), _MM_HINT_T0);
}

/* Rows beyond the last are read, too, and their sums written: scratch has room for whole tiles. */
static inline __attribute__((always_inline)) void two_tiles(const struct ig_bytes_pixels *p, const int32_t *panel, int32_t *sums, const int ahead)
{
    const int32_t *w = panel + 2 * NR;
    const char *line = p->at;
    TILE_LOAD(0, panel, 0); TILE_LOAD(1, panel + SIDE, 0); TILE_LOAD(2, panel, 0); TILE_LOAD(3, panel + SIDE, 0);
    for (int32_t l = 0; l < p->lines; l++, line += p->pitch) {
        const char *a = line;
        for (int64_t k = 0; k < p->words; k += WORDS, a += ROW, w += WORDS * NR) {
            if (ahead) fetch(w);
            TILE_LOAD(4, a, p->step); TILE_LOAD(5, a + SIDE * p->step, p->step);
            TILE_LOAD(6, w, SUMS_ROW); TILE_LOAD(7, w + SIDE, SUMS_ROW);
            TILE_DOT_BYTES(0, 4, 6); TILE_DOT_BYTES(1, 4, 7); TILE_DOT_BYTES(2, 5, 6); TILE_DOT_BYTES(3, 5, 7);
        }
    }
    FOUR(TILE_STORE, sums);
}

static inline __attribute__((always_inline)) void one_tile(const struct ig_bytes_pixels *p, const int32_t *panel, int32_t *sums, const int ahead)
{
    const int32_t *w = panel + 2 * NR;
    const char *line = p->at;
    TILE_LOAD(0, panel, 0); TILE_LOAD(1, panel + SIDE, 0);
    for (int32_t l = 0; l < p->lines; l++, line += p->pitch) {
        const char *a = line;
        for (int64_t k = 0; k < p->words; k += WORDS, a += ROW, w += WORDS * NR) {
            if (ahead) fetch(w);
            TILE_LOAD(4, a, p->step);
            TILE_LOAD(6, w, SUMS_ROW); TILE_LOAD(7, w + SIDE, SUMS_ROW);
            TILE_DOT_BYTES(0, 4, 6); TILE_DOT_BYTES(1, 4, 7);
        }
    }
    TILE_STORE(0, sums, SUMS_ROW); TILE_STORE(1, sums + SIDE, SUMS_ROW);
}

static void tile(const struct ig_bytes_pixels *a, int32_t rows, const int32_t *panel, int32_t *sums)
{
    if (rows > SIDE && a->fetch) two_tiles(a, panel, sums, 1);
    else if (rows > SIDE) two_tiles(a, panel, sums, 0);
    else if (a->fetch) one_tile(a, panel, sums, 1);
    else one_tile(a, panel, sums, 0);
}

#define TOTAL(from, n) ig_bytes_total_avx2(from, n)
#include "kernels_cpu/common/conv_bytes.inc"

typedef void bytes_fn(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_shape *shape,
                      ig_bytes_floats_fn *floats);

static inline void with_tiles(bytes_fn *run, const struct ig_call *call, struct ig_range range, void *scratch, ig_bytes_floats_fn *floats)
{
    struct ig_tile_config config = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        config.row_bytes[i] = ROW;
        config.rows[i] = SIDE;
    }
    TILE_CONFIGURE(&config);
    run(call, range, scratch, &ig_bytes_amx, floats);
    TILE_RELEASE();
}

void qlinear_conv_i8_32x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    with_tiles(run_bytes, call, range, scratch, NULL);
}

void conv_integer_i8_32x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    with_tiles(run_bytes, call, range, scratch, ig_bytes_floats_avx512);
}

void matmul_integer_i8_32x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    with_tiles(product_bytes, call, range, scratch, ig_bytes_floats_avx512);
}
