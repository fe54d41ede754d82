/*
 * The micro-kernels of gemm.S by rows and width, those of gemm_packed.S, and gemv.S for the one row of FC, which is
 * bound by the loads of B.
 */
#include "kernels_cpu/neon/gemm.h"

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/gemm_packed.h"
#include "kernels_cpu/neon/act.h"

enum { STREAM_BYTES = IG_GEMM_STREAM_BYTES_NEON, BLOCK = IG_GEMM_BLOCK_NEON, LOOPS = IG_GEMM_LOOPS_NEON };
_Static_assert((int)STREAM_BYTES == (int)IG_PACKED_STREAM_BYTES, "what every set that has packed kernels streams from");

ig_gemm_fn ig_gemm16_1x8_neon, ig_gemm16_2x8_neon, ig_gemm16_3x8_neon, ig_gemm16_4x8_neon,
    ig_gemm16_5x8_neon, ig_gemm16_6x8_neon, ig_gemm16_1x16_neon, ig_gemm16_2x16_neon,
    ig_gemm16_3x16_neon, ig_gemm16_4x16_neon, ig_gemm16_5x16_neon, ig_gemm16_6x16_neon,
    ig_gemm8_1x8_neon, ig_gemm8_2x8_neon, ig_gemm8_3x8_neon, ig_gemm8_4x8_neon, ig_gemm8_5x8_neon,
    ig_gemm8_6x8_neon, ig_gemm8_7x8_neon, ig_gemm8_8x8_neon;

typedef void panels_fn(const float *x, int64_t k, const void *panels, float *c);
panels_fn ig_gemv_1x16_neon, ig_gemv_2x16_neon, ig_gemv_3x16_neon, ig_gemv_4x16_neon;

enum { PANELS = 4 };

static void gemv(const float *x, int64_t k, const void *panels, int32_t n, float *c)
{
    static panels_fn *const by[PANELS] = {ig_gemv_1x16_neon, ig_gemv_2x16_neon, ig_gemv_3x16_neon, ig_gemv_4x16_neon};
    by[n - 1](x, k, panels, c);
}

static ig_gemm_fn *const w8of16[] = {ig_gemm16_1x8_neon, ig_gemm16_2x8_neon, ig_gemm16_3x8_neon,
                                     ig_gemm16_4x8_neon, ig_gemm16_5x8_neon, ig_gemm16_6x8_neon};
static ig_gemm_fn *const w16[] = {ig_gemm16_1x16_neon, ig_gemm16_2x16_neon, ig_gemm16_3x16_neon,
                                  ig_gemm16_4x16_neon, ig_gemm16_5x16_neon, ig_gemm16_6x16_neon};
static ig_gemm_fn *const w8[] = {ig_gemm8_1x8_neon, ig_gemm8_2x8_neon, ig_gemm8_3x8_neon,
                                 ig_gemm8_4x8_neon, ig_gemm8_5x8_neon, ig_gemm8_6x8_neon,
                                 ig_gemm8_7x8_neon, ig_gemm8_8x8_neon};

#define PACKED_AT(member, offset) (offsetof(struct ig_packed_args, member) == (offset))
_Static_assert(PACKED_AT(k, 8) && PACKED_AT(b, 16) && PACKED_AT(c, 24) && PACKED_AT(c_offset, 32) &&
               PACKED_AT(r, 40) && PACKED_AT(r_offset, 48) && PACKED_AT(panels, 56) && PACKED_AT(flags, 64) &&
               PACKED_AT(lo, 68) && PACKED_AT(hi, 72),
               "gemm_packed.S knows these offsets");

ig_packed_fn ig_packed_1x8_neon, ig_packed_2x8_neon, ig_packed_3x8_neon, ig_packed_4x8_neon,
    ig_packed_5x8_neon, ig_packed_6x8_neon, ig_packed_1x16_neon, ig_packed_2x16_neon, ig_packed_3x16_neon,
    ig_packed_4x16_neon, ig_packed_5x16_neon, ig_packed_6x16_neon;
ig_pack_rows_fn ig_pack_1_neon, ig_pack_2_neon, ig_pack_3_neon, ig_pack_4_neon, ig_pack_5_neon,
    ig_pack_6_neon;

static const struct ig_gemm_packed packed = {
    {ig_pack_1_neon, ig_pack_2_neon, ig_pack_3_neon, ig_pack_4_neon, ig_pack_5_neon, ig_pack_6_neon},
    {{ig_packed_1x8_neon, ig_packed_2x8_neon, ig_packed_3x8_neon, ig_packed_4x8_neon, ig_packed_5x8_neon,
      ig_packed_6x8_neon},
     {ig_packed_1x16_neon, ig_packed_2x16_neon, ig_packed_3x16_neon, ig_packed_4x16_neon,
      ig_packed_5x16_neon, ig_packed_6x16_neon}}};

const struct ig_gemm_set ig_gemm_6x16_neon = {6, 16, {w8of16, w16}, ig_act_row_neon, gemv, PANELS,
                                               STREAM_BYTES, LOOPS, BLOCK, NULL};
const struct ig_gemm_set ig_gemm_packed6x16_neon = {6, 16, {w8of16, w16}, ig_act_row_neon, NULL, 0,
                                                     STREAM_BYTES, LOOPS, BLOCK, &packed};
const struct ig_gemm_set ig_gemm_8x8_neon = {8, 8, {w8}, ig_act_row_neon, NULL, 0,
                                             STREAM_BYTES, LOOPS, BLOCK, NULL};
