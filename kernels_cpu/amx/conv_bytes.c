/*
 * Convolution of quantised numbers, common/conv_bytes.h, by tiles of bytes: a step is 64 numbers of each pixel, 16 words. Six tiles of sums are
 * 48 pixels x 32 channels, two are left for operands: what is loaded once more comes from the first cache, and the second one, from which
 * weights come, is asked for two thirds of what four tiles of sums ask. Where loads are not between products, these wait.
 */
#include "kernels_cpu/amx/kernels.h"
#include "kernels_cpu/amx/tile.h"
#include "kernels_cpu/avx512/fill_bytes.h"
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/avx512/sums_floats.h"

enum { SIDE = 16, ROW = 64, WORDS = 16, MR = 3 * SIDE, NR = IG_BYTES_PUT_STEP, SUMS_ROW = NR * sizeof(int32_t), TILE = SIDE * ROW, AHEAD = 4 };

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx512(to, from, n, head);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_avx512(to, at, rows, sums, scale, n, head);
}

/* Weights to come; the panels lie one behind the other. */
static inline void fetch(const char *w)
{
#pragma GCC unroll 32
    for (int i = 0; i < 2 * TILE; i += ROW) _mm_prefetch(w + AHEAD * 2 * TILE + i, _MM_HINT_T0);
}

/* Two tiles side by side, of sums or their bias. */
#define PAIR(OP, left, right, p, step) OP(left, p, step); OP(right, (p) + SIDE, step)

/* Rows beyond the last are read, too, and their sums written: scratch has room for whole tiles. */
static inline __attribute__((always_inline)) void tiles(const struct ig_bytes_pixels *p, const int n, const int32_t *panel, int32_t *sums,
                                                        const int ahead)
{
    const char *w = (const char *)(panel + 2 * NR), *line = p->at;
    const int64_t step = p->step, second = SIDE * step, third = 2 * second;
    PAIR(TILE_LOAD, 0, 1, panel, 0);
    if (n > 1) { PAIR(TILE_LOAD, 2, 3, panel, 0); }
    if (n > 2) { PAIR(TILE_LOAD, 4, 5, panel, 0); }
    for (int32_t l = 0; l < p->lines; l++, line += p->pitch) {
        const char *a = line;
        for (int64_t k = 0; k < p->words; k += WORDS, a += ROW, w += 2 * TILE) {
            if (ahead) fetch(w);
            TILE_LOAD(6, a, step); TILE_LOAD(7, w, ROW); TILE_DOT_BYTES(0, 6, 7);
            if (n < 3) {
                TILE_LOAD(5, w + TILE, ROW); TILE_DOT_BYTES(1, 6, 5);
                if (n == 1) continue;
                TILE_LOAD(4, a + second, step); TILE_DOT_BYTES(2, 4, 7); TILE_DOT_BYTES(3, 4, 5);
                continue;
            }
            TILE_LOAD(7, w + TILE, ROW); TILE_DOT_BYTES(1, 6, 7);
            TILE_LOAD(6, a + second, step); TILE_DOT_BYTES(3, 6, 7);
            TILE_LOAD(7, w, ROW); TILE_DOT_BYTES(2, 6, 7);
            TILE_LOAD(6, a + third, step); TILE_DOT_BYTES(4, 6, 7);
            TILE_LOAD(7, w + TILE, ROW); TILE_DOT_BYTES(5, 6, 7);
        }
    }
    PAIR(TILE_STORE, 0, 1, sums, SUMS_ROW);
    if (n > 1) { PAIR(TILE_STORE, 2, 3, sums + SIDE * NR, SUMS_ROW); }
    if (n > 2) { PAIR(TILE_STORE, 4, 5, sums + 2 * SIDE * NR, SUMS_ROW); }
}

static void tile(const struct ig_bytes_pixels *a, int32_t rows, const int32_t *panel, int32_t *sums)
{
#define TILES(n) do { if (a->fetch) tiles(a, n, panel, sums, 1); else tiles(a, n, panel, sums, 0); } while (0)
    if (rows > 2 * SIDE) TILES(3);
    else if (rows > SIDE) TILES(2);
    else TILES(1);
#undef TILES
}

#define TILED
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

void qlinear_conv_i8_48x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    with_tiles(run_bytes, call, range, scratch, NULL);
}

void conv_integer_i8_48x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    with_tiles(run_bytes, call, range, scratch, ig_bytes_floats_avx512);
}

void matmul_integer_i8_48x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    with_tiles(product_bytes, call, range, scratch, ig_bytes_floats_avx512);
}
