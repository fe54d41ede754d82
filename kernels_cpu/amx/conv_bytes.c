/*
 * Convolution of quantised numbers, common/conv_bytes.h, by tiles of bytes: four tiles of sums are 32 pixels x 32 channels; a step is
 * 64 numbers of each pixel, 16 words. And by the vectors' products of four bytes (VNNI), which every processor with such tiles has.
 */
#include "kernels_cpu/common/conv_bytes.h"

#define DOT(sum, x, w) _mm512_dpbusd_epi32(sum, x, w)
#include "kernels_cpu/avx512/conv_bytes.inc"

#include "kernels_cpu/amx/kernels.h"
#include "kernels_cpu/amx/tile.h"
#include "kernels_cpu/avx2/conv_bytes.h"

enum { SIDE = 16, ROW = 64, WORDS = 16, SUMS_ROW = NR * sizeof(int32_t) };

static void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m512i flip = _mm512_set1_epi8((char)head->flip);
    char *p = (char *)to;
    for (int64_t i = 0; i < n; i += 64) {
        const __mmask64 there = n - i < 64 ? (1ull << (n - i)) - 1 : ~0ull;
        _mm512_storeu_si512(p + i, _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, from + i), flip));
    }
}

static const struct ig_bytes_set vnni = {{MR, NR, 4, 1, IG_BYTES_TO_UNSIGNED}, fill, tile, ig_bytes_put_avx2};

void qlinear_conv_i8_vnni12x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_bytes_conv(call, range, scratch, &vnni);
}

#define FOUR(OP, p) OP(0, p, SUMS_ROW); OP(1, (p) + SIDE, SUMS_ROW); OP(2, (p) + SIDE * NR, SUMS_ROW); OP(3, (p) + SIDE * NR + SIDE, SUMS_ROW)

/* Rows beyond the last are read, too, and their sums written: scratch has room for whole tiles. */
static void two_tiles(const char *a, int64_t step, const int32_t *w, int64_t words, int32_t *sums)
{
    TILE_ZERO(0); TILE_ZERO(1); TILE_ZERO(2); TILE_ZERO(3);
    for (int64_t k = 0; k < words; k += WORDS, a += ROW, w += WORDS * NR) {
        TILE_LOAD(4, a, step); TILE_LOAD(5, a + SIDE * step, step);
        TILE_LOAD(6, w, SUMS_ROW); TILE_LOAD(7, w + SIDE, SUMS_ROW);
        TILE_DOT_BYTES(0, 4, 6); TILE_DOT_BYTES(1, 4, 7); TILE_DOT_BYTES(2, 5, 6); TILE_DOT_BYTES(3, 5, 7);
    }
    FOUR(TILE_STORE, sums);
}

static void one_tile(const char *a, int64_t step, const int32_t *w, int64_t words, int32_t *sums)
{
    TILE_ZERO(0); TILE_ZERO(1);
    for (int64_t k = 0; k < words; k += WORDS, a += ROW, w += WORDS * NR) {
        TILE_LOAD(4, a, step);
        TILE_LOAD(6, w, SUMS_ROW); TILE_LOAD(7, w + SIDE, SUMS_ROW);
        TILE_DOT_BYTES(0, 4, 6); TILE_DOT_BYTES(1, 4, 7);
    }
    TILE_STORE(0, sums, SUMS_ROW); TILE_STORE(1, sums + SIDE, SUMS_ROW);
}

static void tiles(const void *a, int64_t step, int32_t rows, const int32_t *w, int64_t words, int32_t *sums)
{
    if (rows > SIDE) two_tiles(a, step, w, words, sums);
    else one_tile(a, step, w, words, sums);
}

static const struct ig_bytes_set set = {{2 * SIDE, NR, 4, WORDS, IG_BYTES_TO_UNSIGNED}, fill, tiles, ig_bytes_put_avx2};

void qlinear_conv_i8_32x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct ig_tile_config config = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        config.row_bytes[i] = ROW;
        config.rows[i] = SIDE;
    }
    TILE_CONFIGURE(&config);
    ig_bytes_conv(call, range, scratch, &set);
    TILE_RELEASE();
}
