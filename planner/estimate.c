/*
 * A stand-in for a measurement, good enough to rank kernels and cuts, until a profile replaces it: what the features
 * of the call cost on the calibrated board of the kernel's ISA (planner/features.h). Kernels without costs - of an
 * ISA that no board at hand has, of rare ops - take the larger of the time to compute and the time to move the
 * bytes, by constants of typical cores.
 */
#include <math.h>
#include <string.h>

#include "graph/tensor.h"
#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/joined.h"
#include "kernels_cpu/common/winograd_bytes.h"
#include "kernels_cpu/common/winograd_shape.h"
#include "kernels_cpu/registry.h"
#include "planner/costs.h"
#include "planner/features.h"
#include "planner/recurrent_gpu.h"

static const struct { double gflops, gbytes, all_gbytes; } machines[IG_ISAS] = {
    /* one core's multiply-add peak, one core's and all cores' memory bandwidth */
    [IG_ISA_REF] = {4, 6, 12},
    [IG_ISA_AVX2] = {100, 12, 24},
    [IG_ISA_AVXVNNI] = {100, 12, 24},
    [IG_ISA_AVX512] = {180, 12, 24},
    [IG_ISA_VNNI] = {180, 12, 24},
    [IG_ISA_AMX] = {180, 12, 24}, /* of multiply-adds, which most of its plan's kernels go by */
    [IG_ISA_NEON] = {16, 6, 16},
    [IG_ISA_FP16] = {16, 6, 16}, /* of multiply-adds of floats, which its plans' other kernels go by */
    [IG_ISA_DOTPROD] = {16, 6, 16}, /* the same */
    [IG_ISA_CUDA] = {600, 45, 45}, /* a whole TX2 */
};

enum { WINOGRAD = 0 };

static const struct family {
    int32_t op;
    const char *part;   /* of the kernel's name */
    double efficiency;  /* of the machine's peak */
    double saving;      /* multiplications that the algorithm needs, of the direct ones; or WINOGRAD */
    int32_t rows;       /* pixels that a tile has; a rest costs as much as a tile */
    int32_t columns;    /* channels in multiples of which the last panel is computed; 0: of the column tile */
} families[] = {
    {IG_CONV, "__ref", 0.1, 1, 1, 0},
    {IG_CONV, "first_mma128x64__cuda", 0.9, 1, 128, 64},
    {IG_CONV, "first_mma128x32__cuda", 0.85, 1, 128, 32},
    {IG_CONV, "first128x64__cuda", 0.85, 1, 128, 64},
    {IG_CONV, "first64x32k2__cuda", 0.8, 1, 64, 32},
    {IG_CONV, "first64x16k4__cuda", 0.65, 1, 64, 16},
    {IG_CONV, "f16_mma128x64__cuda", 0.91, 1, 128, 64}, /* without tensor cores they are multiply-adds, no slower than the others */
    {IG_CONV, "f16_mma64x64__cuda", 0.885, 1, 64, 64},
    {IG_CONV, "f16_mma128x64k2__cuda", 0.63, 1, 128, 64},
    {IG_CONV, "f16_mma64x64k2__cuda", 0.63, 1, 64, 64},
    {IG_CONV, "f16_mma64x64k4__cuda", 0.61, 1, 64, 64},
    {IG_CONV, "f16_mma64x64k8__cuda", 0.56, 1, 64, 64},
    {IG_CONV, "f16_mma64x64k16__cuda", 0.51, 1, 64, 64},
    {IG_CONV, "mma64x", 0.1, 1, 64, 64}, /* for profiles to choose: this machine has no tensor cores */
    {IG_CONV, "winograd2_64x64__cuda", 0.5, 4 / 9., 4, 64},
    {IG_CONV, "winograd2_128x64__cuda", 0.45, 4 / 9., 4, 64},
    {IG_CONV, "winograd2_16x128__cuda", 0.4, 4 / 9., 64, 128},
    {IG_CONV, "winograd4_64x64__cuda", 0.3, 1 / 4., 16, 64},
    {IG_CONV, "winograd4_128x64__cuda", 0.28, 1 / 4., 16, 64},
    {IG_CONV, "winograd4_16x128__cuda", 0.25, 1 / 4., 256, 128},
    {IG_CONV, "winograd2of5_64x64__cuda", 0.4, 36 / 100., 4, 64},
    {IG_CONV, "winograd2of5_16x128__cuda", 0.35, 36 / 100., 64, 128},
    {IG_CONV, "winograd4of5_64x64__cuda", 0.22, 64 / 400., 16, 64},
    {IG_CONV, "winograd4of5_16x128__cuda", 0.2, 64 / 400., 256, 128},
    {IG_CONV, "winograd2of7_64x64__cuda", 0.35, 64 / 196., 4, 64},
    {IG_CONV, "winograd2of7_16x128__cuda", 0.33, 64 / 196., 64, 128},
    {IG_CONV, "winograd2s2_64x64__cuda", 0.5, 25 / 36., 4, 64},
    {IG_CONV, "winograd2s2_16x128__cuda", 0.4, 25 / 36., 64, 128},
    {IG_CONV, "winograd4s2_64x64__cuda", 0.4, 81 / 144., 16, 64},
    {IG_CONV, "winograd4s2_128x64__cuda", 0.38, 81 / 144., 16, 64},
    {IG_CONV, "winograd4line_64x64__cuda", 0.4, 10 / 28., 4, 64},
    {IG_CONV, "winograd4line_32x32__cuda", 0.38, 10 / 28., 4, 32},
    {IG_CONV, "winograd4line_16x128__cuda", 0.35, 10 / 28., 64, 128},
    {IG_CONV, "16x128__cuda", 0.6, 1, 16, 128},
    {IG_CONV, "128x128__cuda", 0.85, 1, 128, 128},
    {IG_CONV, "128x64__cuda", 0.9, 1, 128, 64},
    {IG_CONV, "64x64__cuda", 0.88, 1, 64, 64},
    {IG_CONV, "64x64s__cuda", 0.8, 1, 64, 64},
    {IG_CONV, "32x32__cuda", 0.7, 1, 32, 32},
    {IG_CONV, "f32_64x128k", 0.45, 1, 64, 128}, /* it has run on no GPU: a profile may choose it */
    {IG_CONV, "128x128k", 0.6, 1, 128, 128},
    {IG_CONV, "128x64k", 0.62, 1, 128, 64},
    {IG_CONV, "k2__cuda", 0.62, 1, 64, 64},
    {IG_CONV, "k4__cuda", 0.6, 1, 64, 64},
    {IG_CONV, "k8__cuda", 0.55, 1, 64, 64},
    {IG_CONV, "k16__cuda", 0.5, 1, 64, 64},
    {IG_CONV, "depthwise__cuda", 0.3, 1, 1, 4},
    {IG_CONV, "gemv__cuda", 0.25, 1, 4, 0},
    {IG_CONV, "grouped2x4__cuda", 0.5, 1, 8, 4},
    {IG_CONV, "grouped1x4__cuda", 0.45, 1, 4, 4},
    {IG_CONV, "direct__cuda", 0.02, 1, 1, 0},
    {IG_CONV, "window__cuda", 0.01, 1, 1, 0},
    {IG_CONV, "f16_8x16__fp16", 1.6, 1, 8, 8}, /* of halves twice as many multiply-adds a cycle as of floats */
    {IG_CONV, "first8x16__fp16", 1.3, 1, 8, 8},
    {IG_CONV, "depthwise8__fp16", 0.6, 1, 1, 0},
    {IG_CONV, "depthwise3x3", 0.4, 1, 1, 0},
    {IG_CONV, "depthwise7x16", 0.39, 1, 1, 0},
    {IG_CONV, "depthwise", 0.2, 1, 1, 0},
    {IG_CONV, "grouped", 0.7, 1, 1, 0},
    {IG_CONV, "few8__avx2", 0.8, 1, 1, 1},
    {IG_CONV, "few", 0.6, 1, 1, 1},
    {IG_CONV, "c3__neon", 0.96, 1, 6, 8},
    {IG_CONV, "first6x16__neon", 0.94, 1, 6, 8},
    {IG_CONV, "first", 0.6, 1, 6, 0},
    {IG_CONV, "_raw", 0.8, WINOGRAD, 1, 0},
    {IG_CONV, "winograd", 0.9, WINOGRAD, 1, 0},
    {IG_CONV, "strassen", 0.85, 7 / 8., 2, 0},
    {IG_CONV, "small6x16", 0.86, 1, 6, 0},
    {IG_CONV, "small4x24", 0.81, 1, 4, 0},
    {IG_CONV, "dot", 0.45, 1, 3, 0},
    {IG_CONV, "4x24", 0.85, 1, 4, 0},
    {IG_CONV, "packed", 0.92, 1, 6, 8},
    {IG_CONV, "", 0.9, 1, 6, 0},
    {IG_FC, "__ref", 0.1, 1, 1, 0},
    {IG_FC, "gemv__cuda", 0.25, 1, 4, 0},
    {IG_FC, "64x64__cuda", 0.8, 1, 64, 64},
    {IG_FC, "k16__cuda", 0.5, 1, 32, 32},
    {IG_FC, "mma64x64k8__cuda", 0.5, 1, 64, 64},
    {IG_FC, "window__cuda", 0.01, 1, 1, 0},
    {IG_FC, "f16_8x16__fp16", 1.5, 1, 1, 8},
    {IG_FC, "dot", 0.5, 1, 1, 0},
    {IG_FC, "", 0.8, 1, 1, 0},
    {IG_DECONV, "__ref", 0.05, 1, 1, 0},
    {IG_DECONV, "f16_mma64x64__cuda", 0.81, 1, 64, 64},
    {IG_DECONV, "64x64__cuda", 0.8, 1, 64, 64},
    {IG_DECONV, "32x32__cuda", 0.7, 1, 32, 32},
    {IG_DECONV, "direct__cuda", 0.02, 1, 1, 0},
    {IG_DECONV, "window__cuda", 0.01, 1, 1, 0},
    {IG_DECONV, "few", 0.6, 1, 1, 1},
    {IG_DECONV, "depthwise", 0.15, 1, 1, 0},
    {IG_DECONV, "joined", 0.8, 1, 1, 1},
    {IG_DECONV, "", 0.7, 1, 1, 0},
    {IG_QLINEAR_CONV, "__ref", 0.1, 1, 1, 0},
    {IG_QLINEAR_CONV, "i8_mma128x64__cuda", 0.81, 1, 128, 64}, /* in multiply-adds of floats, of which dp4a is four where there is one */
    {IG_QLINEAR_CONV, "i8_mma64x64__cuda", 0.79, 1, 64, 64},
    {IG_QLINEAR_CONV, "i8_mma128x64k", 0.56, 1, 128, 64},
    {IG_QLINEAR_CONV, "i8_mma64x64k", 0.5, 1, 64, 64},
    {IG_QLINEAR_CONV, "128x64__cuda", 0.8, 1, 128, 64},
    {IG_QLINEAR_CONV, "64x64__cuda", 0.78, 1, 64, 64},
    {IG_QLINEAR_CONV, "32x32__cuda", 0.6, 1, 32, 32},
    {IG_QLINEAR_CONV, "128x64k", 0.55, 1, 128, 64},
    {IG_QLINEAR_CONV, "64x64k", 0.48, 1, 64, 64},
    {IG_QLINEAR_CONV, "32x32k", 0.4, 1, 32, 32},
    {IG_QLINEAR_CONV, "depthwise__cuda", 0.2, 1, 1, 4},
    {IG_QLINEAR_CONV, "grouped2x4__cuda", 0.5, 1, 8, 4},
    {IG_QLINEAR_CONV, "grouped1x4__cuda", 0.42, 1, 4, 4},
    {IG_QLINEAR_CONV, "gemv__cuda", 0.25, 1, 1, 16},
    {IG_QLINEAR_CONV, "any_1__cuda", 0.01, 1, 1, 0},
    {IG_QLINEAR_CONV, "i8_4x16__neon", 1.6, 1, 4, 0}, /* of bytes twice as many multiply-adds a cycle as of floats */
    {IG_QLINEAR_CONV, "i16_4x16__neon", 0.85, 1, 4, 0},
    {IG_QLINEAR_CONV, "i8_winograd4_4x16__neon", 0.82, WINOGRAD, 1, 0}, /* products as the last one's */
    {IG_QLINEAR_CONV, "i8_depthwise16__neon", 0.33, 1, 1, 0},
    {IG_QLINEAR_CONV, "depthwise16__neon", 0.25, 1, 1, 0},
    {IG_QLINEAR_CONV, "grouped16__neon", 1.65, 1, 1, 8},
    {IG_QLINEAR_CONV, "grouped16__dotprod", 3.3, 1, 1, 8},
    {IG_QLINEAR_CONV, "grouped16__avx2", 1.5, 1, 10, 8},
    {IG_QLINEAR_CONV, "grouped16__avxvnni", 3.15, 1, 10, 8},
    {IG_QLINEAR_CONV, "grouped16__vnni", 3.25, 1, 14, 0},
    {IG_QLINEAR_CONV, "first32x16__vnni", 3.4, 1, 32, 4},
    {IG_QLINEAR_CONV, "pixel16__avx2", 0.45, 1, 1, 0}, /* weights that come from memory take longer */
    {IG_QLINEAR_CONV, "first6x16__avx2", 1.45, 1, 6, 8},
    {IG_QLINEAR_CONV, "depthwise16__dotprod", 0.6, 1, 1, 0},
    {IG_QLINEAR_CONV, "6x16__dotprod", 3.2, 1, 1, 0}, /* of four, as many a cycle as of floats, of fewer pixels too */
    {IG_QLINEAR_CONV, "depthwise16__avx2", 0.45, 1, 1, 0},
    {IG_QLINEAR_CONV, "depthwise16__avxvnni", 0.5, 1, 1, 0},
    {IG_QLINEAR_CONV, "depthwise16__vnni", 0.25, 1, 1, 0},
    {IG_QLINEAR_CONV, "i8_winograd4_6x16__avx2", 1.45, WINOGRAD, 1, 0}, /* products as the next one's */
    {IG_QLINEAR_CONV, "6x16__avx2", 1.4, 1, 6, 0}, /* of two multiply-adds a lane, and an addition */
    {IG_QLINEAR_CONV, "split4x16__avx2", 2, 1, 2, 0}, /* as paired, and some words by themselves */
    {IG_QLINEAR_CONV, "inner4x16__avx2", 1.5, 1, 2, 0}, /* as many instructions, fewer of them products */
    {IG_QLINEAR_CONV, "paired4x16__avx2", 1.9, 1, 2, 0}, /* of eight, and three instructions more, where weights let it */
    {IG_QLINEAR_CONV, "6x16__avxvnni", 3.1, 1, 6, 0}, /* of four */
    {IG_QLINEAR_CONV, "12x32__avx512", 1.1, 1, 12, 0},
    {IG_QLINEAR_CONV, "12x32__vnni", 3.2, 1, 12, 0}, /* of four */
    {IG_QLINEAR_CONV, "48x32__amx", 8, 1, 32, 0},
    {IG_MATMUL, "__ref", 0.1, 1, 1, 0},
    {IG_MATMUL, "any_1__cuda", 0.01, 1, 1, 0},
    {IG_MATMUL, "64x64__cuda", 0.5, 1, 64, 64},
    {IG_MATMUL, "", 0.6, 1, 1, 0},
    {IG_DEFORM_CONV, "__ref", 0.05, 1, 1, 1},
    {IG_DEFORM_CONV, "__cuda", 0.1, 1, 1, 1},
    {IG_DEFORM_CONV, "", 0.4, 1, 1, 1},
    {IG_RECURRENT, "__ref", 0.05, 1, 1, 0},
    {IG_RECURRENT, "", 0.3, 1, 1, 0}, /* weights are read again for every step */
};

static int is_recurrent_of_gpu(const struct ig_kernel *k)
{
    return k->isa == IG_ISA_CUDA && k->op == IG_RECURRENT;
}

enum { CALL_NS = 300, BARRIER_NS = 2000 };
enum { PLAIN = 2, TRANSCENDENTAL = 20 };          /* operations per element of what is no multiply-add */
static const double plain_efficiency = 0.1;

/* Products of integers take as long as those that become bytes. */
static const struct family *family_of(const struct ig_kernel *k)
{
    const int32_t op = k->op == IG_CONV_INTEGER || k->op == IG_MATMUL_INTEGER ? IG_QLINEAR_CONV : k->op;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].op == op && strstr(k->name, families[i].part)) return &families[i];
    return NULL;
}

static double round_up(double n, double to)
{
    int64_t tiles = (int64_t)((n + to - 1) / to);
    return to > 1 ? (double)tiles * to : n;
}

static double elements(const struct ig_operand *o)
{
    return (double)o->h * o->w * o->c;
}

int32_t ig_second_operand(int32_t op)
{
    return op == IG_QLINEAR_CONV || op == IG_QLINEAR_MATMUL || op == IG_QLINEAR_BINARY ? 3 : 1;
}

/* Multiply-adds per output element. */
static double depth(int32_t op, const struct ig_call *call)
{
    if (op == IG_MATMUL || op == IG_FC) return call->in[0].c;
    if (op == IG_DEFORM_CONV) return (double)ig_count(call->in[1].shape) / call->in[1].shape->dims[0];
    if (op == IG_DECONV)
        return elements(&call->in[1]) / call->in[0].c * elements(&call->in[0]) / elements(&call->out[0]);
    return elements(&call->in[ig_second_operand(op)]) / call->out[0].c;
}

static double window_of(int32_t op, const struct ig_call *call)
{
    const struct ig_pool *pool = call->attrs;
    if (op == IG_POOL) return (double)pool->w.kd * pool->w.kh * pool->w.kw;
    if (op == IG_SOFTMAX || op == IG_NORM || op == IG_LRN) return TRANSCENDENTAL;
    return PLAIN;
}

/* Of a group. */
static double group_channels(const struct ig_call *call)
{
    return (double)call->out[0].c / ((const struct ig_conv *)call->attrs)->groups;
}

/* Tiles are of one group's channels: depthwise kernels cut across groups, those for groups of few channels across small ones. */
static int tiles_in_groups(const struct ig_kernel *k, const struct ig_call *call)
{
    enum { SMALL = 16 };
    const int is_conv = k->op == IG_CONV || k->op == IG_QLINEAR_CONV || k->op == IG_CONV_INTEGER || k->op == IG_DECONV;
    if (!is_conv || strstr(k->name, "depthwise")) return 0;
    return !strstr(k->name, "grouped") || group_channels(call) > SMALL;
}

/* Output channels computed, with what the last tile of every group wastes. */
static double channels_of(const struct ig_kernel *k, const struct family *f, const struct ig_call *call)
{
    const struct ig_conv *conv = call->attrs;
    double groups = tiles_in_groups(k, call) ? conv->groups : 1;
    return groups * round_up(call->out[0].c / groups, f->columns ? f->columns : k->col_tile);
}

/*
 * F(rows x columns, kh x kw): per tile its points, each a product of ic by oc, and transforms that cost
 * as much as so many multiply-adds more per channel on either side, by NEON's of bytes fewer.
 */
static const double transform = 10, transform_neon_bytes = 5;
/* Raw weights are transformed for every block of tiles, which costs as much as so many tiles do. */
static const double raw_transform = 5, bytes_transform = 2.5, raw_tiles = IG_WINOGRAD_RAW_TILES, lean_tiles = IG_WINOGRAD_LEAN_TILES;

static struct ig_winograd_shape winograd_shape(const struct ig_kernel *k, const struct ig_call *call)
{
    return ig_winograd_shape_of(call, k->row_tile, k->tile_columns);
}

/* Of so many tiles, what transforms of weights cost. */
static double weight_transforms(const struct ig_kernel *k, const struct ig_call *call, double tiles)
{
    double block = k->row_tile > 2 && !strstr(k->name, "_rawlean") ? raw_tiles : lean_tiles;
    if (k->op != IG_CONV) return bytes_transform * ceil(tiles / ig_winograd_bytes_cut_of(call).tiles);
    return strstr(k->name, "_raw") ? raw_transform * ceil(tiles / block) : 0;
}

static double winograd_operations(const struct ig_kernel *k, const struct family *f, const struct ig_call *call)
{
    const struct ig_operand *out = &call->out[0];
    const struct ig_winograd_shape s = winograd_shape(k, call);
    double ic = (double)call->in[0].c * s.kd, oc = channels_of(k, f, call);
    double tiles = round_up(out->h, s.rows) * round_up(out->w, s.columns) / (s.rows * s.columns);
    double transforms = k->op != IG_CONV && k->isa == IG_ISA_NEON ? transform_neon_bytes : transform;
    return 2 * ig_winograd_points(&s) * ((tiles + weight_transforms(k, call, tiles)) * ic * oc + tiles * transforms * (ic + oc)) / f->efficiency;
}

/* Weights of floats are as many times larger. */
static double winograd_growth(const struct ig_kernel *k, const struct ig_call *call)
{
    const struct ig_winograd_shape s = winograd_shape(k, call);
    return k->op != IG_CONV || strstr(k->name, "_raw") ? 1 : (double)ig_winograd_points(&s) / (s.kh * s.kw);
}

/* Of more channels than few, groups of bytes take no less time than matrix products that waste nothing. */
static double beyond_few(const struct ig_kernel *k, const struct ig_call *call)
{
    enum { FEW = 32 };
    return k->op == IG_QLINEAR_CONV && strstr(k->name, "grouped") && group_channels(call) > FEW ? 1.1 : 1;
}

/* A GPU's tiles bring so few channels one at a time, or leave most of a step empty, as do Winograd's products: 23 % of an H100's peak, not 66. */
static double one_at_a_time(const struct ig_kernel *k, const struct ig_call *call)
{
    enum { FEW = 4 };
    if (k->isa != IG_ISA_CUDA || k->op != IG_CONV || call->in[0].c > FEW || ((const struct ig_conv *)call->attrs)->groups > 1) return 1;
    return strstr(k->name, "first") ? 1 : 2;
}

/* first_half.cu: a row of taps takes steps of four taps of four channels, and a float is two halves. */
static double of_steps(const struct ig_kernel *k, const struct ig_call *call)
{
    enum { TAPS = 4, CHANNELS = 4 };
    if (!strstr(k->name, "first_mma")) return 1;
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return round_up(w->kw, TAPS) * CHANNELS / ((double)w->kw * call->in[0].c) * (call->in[0].shape->type == IG_F16 ? 1 : 2);
}

/* Products of a transposed convolution's parts, with what panels and columns of taps waste. */
static double of_parts(const struct ig_kernel *k, const struct ig_call *call)
{
    enum { PANEL = 16 };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    double products = 0;
    if (!strstr(k->name, "_joined")) return 1;
    for (int32_t py = 0, rows; py < w->sh; py += rows) {
        rows = ig_joined_rows(call, py);
        const struct ig_joined part = ig_joined_part(call, py, rows);
        products += part.kh * part.kw * round_up(part.channels, PANEL);
    }
    return products / ((double)w->kh * w->kw * call->out[0].c);
}

/* Of rows of taps those that a tile of a GPU's has a pixel in the image for: others it leaves out (units_of_piece, kernels_gpu/cuda/conv.cuh). */
static double rows_met(const struct ig_kernel *k, const struct family *f, const struct ig_call *call)
{
    enum { LEAST_TILE = 16 };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const int64_t pixels = (int64_t)out->h * out->w;
    int64_t met = 0, all = 0;
    if (k->isa != IG_ISA_CUDA || k->op != IG_CONV || f->rows < LEAST_TILE || w->dh <= 1 || w->kd > 1 || w->in_d > 1) return 1;
    for (int64_t m = 0; m < pixels; m += f->rows, all += w->kh) {
        const int64_t last = m + f->rows < pixels ? m + f->rows - 1 : pixels - 1;
        const int64_t top = m / out->w * w->sh - w->top, bottom = last / out->w * w->sh - w->top;
        const int64_t first = bottom < 0 ? (w->dh - 1 - bottom) / w->dh : 0, end = (in->h - top + w->dh - 1) / w->dh;
        if (end > first) met += (end < w->kh ? end : w->kh) - first;
    }
    return (double)met / (double)all;
}

/* Pixels computed, with what the last tile wastes, of a transposed convolution that of every phase. */
static double pixels_of(const struct ig_kernel *k, const struct family *f, const struct ig_call *call)
{
    const struct ig_window *w = k->op == IG_DECONV ? &((const struct ig_conv *)call->attrs)->w : NULL;
    double phases = w ? (double)w->sh * w->sw : 1;
    return phases * round_up((double)call->out[0].h * call->out[0].w / phases, f->rows);
}

static double operations(const struct ig_kernel *k, const struct family *f, const struct ig_call *call)
{
    const struct ig_operand *out = &call->out[0];
    double in = elements(&call->in[0]);
    if (!f && k->op == IG_POOL) return elements(out) * window_of(k->op, call) / plain_efficiency;
    if (!f) return (in > elements(out) ? in : elements(out)) * window_of(k->op, call) / plain_efficiency;
    if (f->saving == WINOGRAD) return winograd_operations(k, f, call);
    double waste = beyond_few(k, call) * one_at_a_time(k, call) * of_steps(k, call) * of_parts(k, call) * rows_met(k, f, call);
    return 2 * pixels_of(k, f, call) * channels_of(k, f, call) * depth(k->op, call) * f->saving * waste / f->efficiency;
}

static double bytes_of(const struct ig_operand *o)
{
    return o->shape ? elements(o) * ig_type_bytes(o->shape->type) : 0;
}

/* Times the machine's bandwidth: kernels that read images as they lie get them as fast as caches, where most are, give them; fitted costs of
 * other kernels have that in them. */
static double nearness(const struct ig_kernel *k)
{
    enum { CACHES = 4 };
    return strstr(k->name, "conv_f32_few") && k->isa != IG_ISA_NEON ? CACHES : 1;
}

/* By constants; `rate`: times the machine's arithmetic. */
static double rough_ns(const struct ig_kernel *k, const struct ig_call *call, double cores, double rate)
{
    const struct family *f = family_of(k);
    double bytes = 0, bandwidth = machines[k->isa].gbytes * cores;
    for (int32_t i = 0; i < call->n_in; i++) bytes += bytes_of(&call->in[i]);
    for (int32_t i = 0; i < call->n_out; i++) bytes += bytes_of(&call->out[i]);
    if (f && f->saving == WINOGRAD) bytes += bytes_of(&call->in[ig_second_operand(k->op)]) * (winograd_growth(k, call) - 1);
    if (bandwidth > machines[k->isa].all_gbytes) bandwidth = machines[k->isa].all_gbytes;
    double compute = operations(k, f, call) / machines[k->isa].gflops / rate / cores;
    double move = bytes / bandwidth / nearness(k);
    return (compute > move ? compute : move) + CALL_NS;
}

/* Kernels that have run on no calibrated board, as parts of the time that another's costs give. */
static const struct { const char *name, *other; double part; } likes[] = {
    {"conv_f32_depthwise16__avx512", "conv_f32_depthwise8__avx2", 0.7}, /* 0.4 to 0.7 on a Zen 5 */
    {"softmax_f32_16__avx512", "softmax_f32_8__avx2", 0.7},
    {"unary_f32_gelu16__avx512", "unary_f32_8__avx2", 0.5},
};

/* By the costs of a calibrated board; memory serves only so many cores at once. IG_UNKNOWN: it has none. */
static double fitted_ns(const struct ig_kernel *k, const struct ig_call *call, double cores, const struct ig_away *away)
{
    const struct ig_platform *b = ig_costs_of(k->isa);
    double memory = 0, most = machines[k->isa].all_gbytes / machines[k->isa].gbytes;
    if (!b) return IG_UNKNOWN;
    struct ig_caches caches = ig_caches_of(b, &b->processors[0], away);
    double ns = ig_cost_ns(&b->processors[0], &caches, k, call, &memory);
    return ns < 0 ? IG_UNKNOWN : (ns - memory) / cores + memory / (cores < most ? cores : most);
}

static double fitted_like_ns(const struct ig_kernel *k, const struct ig_call *call, double cores, const struct ig_away *away)
{
    double ns = fitted_ns(k, call, cores, away);
    for (size_t i = 0; ns < 0 && i < sizeof likes / sizeof *likes; i++) {
        if (strcmp(k->name, likes[i].name)) continue;
        ns = fitted_ns(ig_kernel_by_name(likes[i].other), call, cores, away);
        if (ns >= 0) ns *= likes[i].part;
    }
    return ns;
}

/* What threads cost beside their work. */
static double barrier_ns(int32_t isa, int32_t threads)
{
    const struct ig_platform *b = ig_costs_of(isa);
    const struct ig_processor *p = b ? &b->processors[0] : NULL;
    if (!p || p->n_teams < 2) return BARRIER_NS;
    return (double)(p->team_overhead_ns[(threads < p->n_teams ? threads : p->n_teams) - 1] - p->team_overhead_ns[0]);
}

double ig_estimate_ns(const struct ig_kernel *k, const struct ig_call *call, int32_t threads,
                      const struct ig_away *away)
{
    double cores = k->row_tile || k->col_tile ? threads : 1, ns = fitted_like_ns(k, call, cores, away);
    if (ns < 0) ns = is_recurrent_of_gpu(k) ? ig_recurrent_gpu_ns(k, call, 0) : rough_ns(k, call, cores, 1);
    return ns + (cores > 1 ? barrier_ns(k->isa, threads) : 0);
}

/* What chips from sm on have more of than multiply-adds of floats: tensor cores, of whose peak on a Xavier half is kept busy; dp4a. */
static const struct { const char *part; int32_t sm; double rate; } chips[] = {
    {"_f16_mma", 70, 4}, {"_f16_first_mma", 70, 4}, {"conv_i8_mma", 72, 8}, {"conv_i8_", 70, 4}};

double ig_estimate_chip_ns(const struct ig_kernel *k, const struct ig_call *call, int32_t sm, double ns)
{
    if (is_recurrent_of_gpu(k)) return ig_recurrent_gpu_ns(k, call, sm);
    for (size_t i = 0; i < sizeof chips / sizeof *chips && k->isa == IG_ISA_CUDA; i++)
        if (sm >= chips[i].sm && strstr(k->name, chips[i].part)) return rough_ns(k, call, 1, chips[i].rate);
    return ns;
}

void ig_estimate_rates(int32_t isa, int32_t threads, double *gflops, double *gbytes)
{
    *gflops = machines[isa].gflops * threads;
    *gbytes = machines[isa].gbytes * threads;
    if (*gbytes > machines[isa].all_gbytes) *gbytes = machines[isa].all_gbytes;
}
