/* Convolution and fully connected layers whose weights are halves: conv_half.cu, depthwise.cu, grouped.cu, fc.cu; and by Winograd's algorithm. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/half.h"
#include "kernels_cpu/pack/pack.h"

enum { POINTERS = 7, UNIT = 16, MMA_UNIT = 32 /* of sums: conv.cuh */, COLUMNS = 8 /* that packed rows are multiples of */ };

struct block {          /* a function of conv_half.cu: a block's pixels, channels and threads */
    const char *function;
    int32_t rows, columns;
    uint32_t threads;
};

struct tiling {         /* of inputs that are halves and lie in multiples of `align`, of other halves, of floats in fours, of others */
    struct block aligned, halves, fours, floats;
    int32_t align, unit, splits;
};

/* --- which --- */

int ig_gpu_supports_half_conv(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    return ig_supports_half_conv(call) && ig_gpu_holds_all(call) && ig_gpu_fits_grid(a->groups, call->out[0].c / a->groups);
}

int ig_gpu_supports_half_mma(const struct ig_call *call)
{
    return ig_gpu_is_halves(&call->in[0]) && ig_gpu_supports_half_conv(call);
}

int ig_gpu_supports_half_direct(const struct ig_call *call)
{
    return ig_supports_half(call, ig_supports_conv) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_depthwise(const struct ig_call *call)
{
    return ig_gpu_is_halves(&call->in[0]) && ig_supports_half(call, ig_gpu_supports_depthwise);
}

int ig_gpu_supports_half_grouped(const struct ig_call *call)
{
    return ig_gpu_is_halves(&call->in[0]) && ig_supports_half(call, ig_gpu_supports_grouped);
}

int ig_gpu_supports_half_conv_gemv(const struct ig_call *call)
{
    return ig_supports_half(call, ig_gpu_supports_conv_gemv) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_fc(const struct ig_call *call)
{
    return ig_supports_half_fc(call) && ig_gpu_holds_all(call) && ig_gpu_fits_grid(1, call->out[0].c);
}

int ig_gpu_supports_half_winograd2(const struct ig_call *call)
{
    return ig_gpu_is_halves(&call->in[0]) && ig_supports_half(call, ig_gpu_supports_winograd2);
}

int ig_gpu_supports_half_winograd4(const struct ig_call *call)
{
    return ig_gpu_is_halves(&call->in[0]) && ig_supports_half(call, ig_gpu_supports_winograd4);
}

/* --- weights --- */

size_t ig_gpu_pack_half_conv(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_gpu_pack_conv8);
}

size_t ig_gpu_pack_half_direct(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_gpu_pack_conv);
}

size_t ig_gpu_pack_half_depthwise(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_gpu_pack_depthwise);
}

size_t ig_gpu_pack_half_grouped(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_gpu_pack_grouped);
}

size_t ig_gpu_pack_half_gemv(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_gpu_pack_gemv);
}

size_t ig_gpu_pack_half_winograd2(const struct ig_call *call, void *dst)
{
    return ig_pack_half_as_floats(call, dst, ig_gpu_pack_winograd2);
}

size_t ig_gpu_pack_half_winograd4(const struct ig_call *call, void *dst)
{
    return ig_pack_half_as_floats(call, dst, ig_gpu_pack_winograd4);
}

#define SPLIT(n)                                                    \
    size_t ig_gpu_scratch_half_split##n(const struct ig_call *call) \
    {                                                               \
        return ig_gpu_partial_bytes(call, COLUMNS, n);              \
    }
SPLIT(2)
SPLIT(4)
SPLIT(8)
SPLIT(16)

/* --- launches --- */

struct ig_gpu_conv ig_gpu_on_halves(const struct ig_call *call, struct ig_gpu_conv p)
{
    p.weights = (const float *)(const void *)((const uint16_t *)call->weights + ig_gpu_bias_room(call));
    p.halves = ig_gpu_halves_of(call);
    return p;
}

struct ig_gpu_conv ig_gpu_in_eights(struct ig_gpu_conv p)
{
    p.oc4 = (p.oc + COLUMNS - 1) / COLUMNS * COLUMNS;
    p.weight_tap = p.ic * p.oc4;
    p.weight_group = p.kh * p.kw * p.weight_tap;
    return p;
}

static int gemm(const struct ig_call *call, const struct ig_gpu_conv *of, const struct tiling *t, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_conv p = ig_gpu_in_eights(ig_gpu_on_halves(call, *of));
    const struct ig_operand *in = &call->in[0];
    int halves = ig_gpu_is_halves(in), align = halves ? t->align : 4, aligned = p.ic % align == 0 && ig_gpu_is_vector_of(in, align);
    const struct block *b = halves ? aligned ? &t->aligned : &t->halves : aligned ? &t->fours : &t->floats;
    int64_t pixels = (int64_t)p.out_h * p.out_w;
    ig_gpu_split(&p, halves ? t->unit : UNIT, t->splits, scratch);
    ig_gpu_fill(&to[0], b->function, ig_gpu_ceil(pixels, b->rows), ig_gpu_ceil(p.oc, b->columns), p.groups * p.splits, b->threads,
                POINTERS, &p, sizeof p);
    if (p.splits == 1) return 1;
    ig_gpu_fill(&to[1], "conv_half_reduce", ig_gpu_ceil(pixels * (p.oc4 / 4), 128), p.groups, 1, 128, POINTERS, &p, sizeof p);
    return 2;
}

#define ANY64x64 {"conv_half_any64x64", 64, 64, 128}
#define FLOATS64x64 {"conv_half_floats64x64", 64, 64, 128}, {"conv_half_floats_any64x64", 64, 64, 128}
#define ANY32x32 {"conv_half_any32x32", 32, 32, 64}
#define FLOATS32x32 {"conv_half_floats_any32x32", 32, 32, 64}, {"conv_half_floats_any32x32", 32, 32, 64}
#define OF_128x64 {"conv_half128x64", 128, 64, 128}, ANY64x64, FLOATS64x64, 4, UNIT
#define OF_64x64 {"conv_half64x64", 64, 64, 64}, ANY64x64, FLOATS64x64, 4, UNIT
#define OF_64x64s {"conv_half64x64s", 64, 64, 128}, ANY64x64, FLOATS64x64, 4, UNIT
#define OF_32x32 {"conv_half32x32", 32, 32, 64}, ANY32x32, FLOATS32x32, 4, UNIT
#define OF_mma64x64 {"conv_half_mma64x64", 64, 64, 128}, {"conv_half_mma_any64x64", 64, 64, 128}, FLOATS64x64, 8, MMA_UNIT
#define OF_mma128x64 {"conv_half_mma128x64", 128, 64, 128}, {"conv_half_mma_any64x64", 64, 64, 128}, FLOATS64x64, 8, MMA_UNIT

/* A kernel of a tile and of so many pieces of the sum. */
#define TILE(name, tile, pieces)                                                                \
    static const struct tiling tile_##name = {OF_##tile, pieces};                               \
    int ig_gpu_half_##name(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to) \
    {                                                                                           \
        const struct ig_gpu_conv p = ig_gpu_conv_of(call);                                      \
        return gemm(call, &p, &tile_##name, scratch, to);                                       \
    }
TILE(128x64, 128x64, 1)
TILE(128x64k2, 128x64, 2)
TILE(64x64, 64x64, 1)
TILE(64x64k2, 64x64, 2)
TILE(64x64k4, 64x64, 4)
TILE(64x64k8, 64x64, 8)
TILE(64x64s, 64x64s, 1)
TILE(32x32, 32x32, 1)
TILE(32x32k4, 32x32, 4)
TILE(32x32k16, 32x32, 16)
TILE(mma128x64, mma128x64, 1)
TILE(mma128x64k2, mma128x64, 2)
TILE(mma64x64, mma64x64, 1)
TILE(mma64x64k2, mma64x64, 2)
TILE(mma64x64k4, mma64x64, 4)
TILE(mma64x64k8, mma64x64, 8)
TILE(mma64x64k16, mma64x64, 16)

int ig_gpu_half_fc_64x64(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_fc_of(call);
    return gemm(call, &p, &tile_64x64, scratch, to);
}

int ig_gpu_half_fc_mma64x64k8(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_fc_of(call);
    return gemm(call, &p, &tile_mma64x64k8, scratch, to);
}

int ig_gpu_half_gemv(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_on_halves(call, ig_gpu_fc_of(call));
    (void)scratch;
    return ig_gpu_gemv_fill(call, &p, 1, to);
}

int ig_gpu_half_conv_gemv(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_on_halves(call, ig_gpu_conv_of(call));
    (void)scratch;
    return ig_gpu_gemv_fill(call, &p, 1, to);
}

static int one_by_one(const struct ig_call *call, const struct ig_gpu_conv *p, struct ig_gpu_launch *to)
{
    int64_t outputs = (int64_t)p->out_h * p->out_w * p->groups * p->oc;
    ig_gpu_fill(to, ig_gpu_is_halves(&call->in[0]) ? "conv_half_direct" : "conv_half_floats_direct", ig_gpu_ceil(outputs, 128), 1, 1, 128,
                POINTERS, p, sizeof *p);
    return 1;
}

int ig_gpu_half_direct(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_on_halves(call, ig_gpu_conv_of(call));
    (void)scratch;
    return one_by_one(call, &p, to);
}

int ig_gpu_half_depthwise(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_on_halves(call, ig_gpu_depthwise_of(call));
    (void)scratch;
    if (!ig_gpu_are_quads(call, &p)) return one_by_one(call, &p, to);
    ig_gpu_depthwise_fill(&p, 1, to);
    return 1;
}

int ig_gpu_half_grouped2x4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_on_halves(call, ig_gpu_conv_of(call));
    (void)scratch;
    return ig_gpu_grouped_fill(call, &p, 2, 1, to);
}

int ig_gpu_half_grouped1x4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_on_halves(call, ig_gpu_conv_of(call));
    (void)scratch;
    return ig_gpu_grouped_fill(call, &p, 1, 1, to);
}
