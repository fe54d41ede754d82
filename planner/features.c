#include "planner/features.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/depthwise7.h"
#include "kernels_cpu/ref/window.h"
#include "planner/products.h"
#include "planner/traffic.h"

_Static_assert((int)IG_FEATURES <= (int)IG_COST_TERMS, "a cost per feature");

const char *const ig_feature_names[IG_COST_TERMS + 1] = {
    "start",  "work",      "tiles",       "taps",      "gather",      "groups",    "a_l2",
    "a_l3",   "a_dram",    "b_l2",        "b_l3",      "b_dram",      "y_l2",      "y_l3",
    "y_dram", "x_runs_l3", "x_runs_dram", "y_runs_l3", "y_runs_dram", "conflicts", "calls",
    "b_again"};

enum { F = 4 /* bytes of an element */, VECTOR = 8 };

struct ig_caches ig_caches_of(const struct ig_platform *b, const struct ig_processor *p, const struct ig_away *away)
{
    struct ig_caches c = {.away = away ? *away : (struct ig_away){0, 0}};
    for (int32_t i = 0; i < p->n_caches; i++) c.bytes[i] = b->stores[p->caches[i]].bytes;
    return c;
}

static double ceil_of(double a, double b)
{
    return ceil(a / b);
}

/* --- passes over vectors of channels --- */

static void window_features(const struct ig_call *call, const struct ig_caches *c, double taps, double *f)
{
    const struct ig_operand *y = &call->out[0];
    double vectors = (double)y->h * y->w * ceil_of(y->c, VECTOR);
    f[IG_F_START] = 1;
    f[IG_F_WORK] = vectors * taps;
    f[IG_F_TILES] = vectors;
    f[IG_F_TAPS] = ceil_of(y->c, VECTOR) * y->h;
    f[IG_F_GATHER] = (double)y->h * y->w;
    f[IG_F_GROUPS] = y->h;
    ig_book_streams(f, c, call);
}

static double common_divisor(double a, double b)
{
    return b > 0 ? common_divisor(b, fmod(a, b)) : a;
}

/*
 * How much `lines` lines, one of each pixel, crowd a cache of 4 KiB ways: the pixels' distance may leave them few sets.
 * Those that find no room count, whole where there are two sets or one, else by the square of how few sets there are.
 */
static double crowded(const struct ig_caches *c, double pixel_bytes, double lines)
{
    enum { LINE = 64, SETS = 64 };
    double shared = common_divisor(ceil_of(pixel_bytes, LINE), SETS), part = fmin(1, 2 * shared / SETS);
    double room = (double)c->bytes[0] / LINE / shared;
    return lines > room ? part * part * (1 - room / lines) : 0;
}

/* Taps inside the image, of all outputs along one dim. */
static double taps_inside(int32_t out, int32_t in, int32_t taps, int32_t stride, int32_t dilation, int32_t before)
{
    double n = 0;
    for (int32_t i = 0; i < out; i++)
        for (int32_t k = 0; k < taps; k++) {
            int32_t at = i * stride - before + k * dilation;
            n += at >= 0 && at < in;
        }
    return n;
}

/* Of all depths. */
static double rows_inside(const struct ig_call *call, const struct ig_window *w)
{
    return taps_inside(w->out_d, w->in_d, w->kd, w->sd, w->dd, w->front) *
           taps_inside(call->out[0].h / w->out_d, call->in[0].h / w->in_d, w->kh, w->sh, w->dh, w->top);
}

static double columns_inside(const struct ig_call *call, const struct ig_window *w)
{
    return taps_inside(call->out[0].w, call->in[0].w, w->kw, w->sw, w->dw, w->left);
}

static void depthwise_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t,
                               double *f)
{
    const struct ig_conv *conv = call->attrs;
    (void)t;
    window_features(call, c, ig_taps(&conv->w), f);
    f[IG_F_WORK] = rows_inside(call, &conv->w) * columns_inside(call, &conv->w) * ceil_of(call->out[0].c, VECTOR) / 2;
}

/* Of the bytes booked from each level so many come in while `cycles` are computed. */
static void hide(double *f, double cycles)
{
    static const double per_cycle[] = {32, 16, 7}; /* L2, L3, memory */
    double all = f[IG_F_A_L2] + f[IG_F_A_L3] + f[IG_F_A_DRAM];
    for (int i = 0; i < 3 && all > 0; i++)
        f[IG_F_A_L2 + i] *= fmax(0, 1 - per_cycle[i] * cycles / all);
}

/* Images that are fetched ahead, and what an output from farther away than they adds, which is not. */
static void book_ahead(double *f, const struct ig_caches *c, const struct ig_call *call, double cycles)
{
    double far[IG_FEATURES] = {0}, near[IG_FEATURES] = {0};
    struct ig_caches warm = *c;
    warm.away = (struct ig_away){0, 0};
    ig_book_streams(far, c, call);
    ig_book_streams(near, &warm, call);
    ig_book_streams(f, &warm, call);
    hide(f, cycles);
    for (int i = IG_F_A_L2; i <= IG_F_A_DRAM; i++) f[i] += fmax(0, far[i] - near[i]);
}

/* How the 3x3 kernel cuts its work, by what L1 holds of such pixels (cut_of in kernels_cpu/avx2/depthwise.c). */
struct slide_cut {
    double lines;     /* of L1 that such pixels may be in */
    double stretches; /* of a row */
    int spreads;      /* over all sets: sixteen channels go down all rows; else all channels pass over a stretch */
    int fetches;      /* what is next comes in meanwhile */
};

static struct slide_cut slide_cut_of(const struct ig_call *call)
{
    enum { LINE = 64, L1_LINES = 512, FEW_LINES = 64, STRETCH = 28, CROWDED = 8 };
    int32_t bytes = call->in[0].c * F, alike = (bytes & -bytes) / LINE, s = ((const struct ig_conv *)call->attrs)->w.sw;
    double lines = (double)L1_LINES / (alike < 1 ? 1 : alike > LINE ? LINE : alike), most = 2 * STRETCH;
    if (alike >= 2 && s == 1 && lines < FEW_LINES) most = STRETCH;
    else if (alike >= 2) most = fmax(1, fmin(STRETCH, floor(lines / (4 * s * s))));
    return (struct slide_cut){lines, ceil_of(call->out[0].w, most), alike < 2, alike < CROWDED};
}

/* 3x3: two rows of outputs at a time. Vectors that a stretch reads and writes crowd L1 where few lines are theirs. */
static void depthwise3_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t,
                                double *f)
{
    enum { CHANNELS = 16, FEW_LINES = 64 };
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct slide_cut cut = slide_cut_of(call);
    double blocks = floor((double)x->c / VECTOR), pairs = ceil_of(y->h, 2), rows = 3 + conv->w.sh;
    double outputs = y->w / cut.stretches, columns = fmin(x->w, outputs * conv->w.sw + 2);
    double touched = columns * rows + 2 * outputs, crowd = fmax(0, 1 - cut.lines / touched) * FEW_LINES / cut.lines;
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = rows_inside(call, &conv->w) * columns_inside(call, &conv->w) * blocks / 2;
    f[IG_F_TAPS] = cut.stretches * pairs * blocks;
    f[IG_F_GROUPS] = cut.stretches * pairs * (cut.spreads ? ceil_of(x->c, CHANNELS) : 1);
    f[IG_F_CONFLICTS] = (pairs * rows * x->w + (double)y->h * y->w) * blocks * crowd;
    book_ahead(f, c, call, cut.fetches ? f[IG_F_WORK] : 0);
}

/* Seven outputs of a stretch at a time, by sixteen channels or eight; rows may be copied (common/depthwise7.h). */
static void depthwise7_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t,
                                double *f)
{
    enum { SEVEN = 7, CHANNELS = 16 };
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    double parts = ceil_of(y->w, IG_DEPTHWISE7_STRETCH), n = floor(y->w / parts);
    double columns = (double)ig_depthwise7_columns(call, (int64_t)n), sevens = parts * ceil_of(n, SEVEN) * y->h;
    double groups = ceil_of(y->c, ig_depthwise7_group(call, (int64_t)n)), blocks = ceil_of(y->c, CHANNELS);
    double reads = sevens * (SEVEN - 1 + conv->w.kw) * ceil_of(y->c, VECTOR) * conv->w.kh;
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = rows_inside(call, &conv->w) * sevens / y->h * SEVEN * ceil_of(y->c, VECTOR) * conv->w.kw / 2;
    f[IG_F_TILES] = sevens * blocks;
    f[IG_F_TAPS] = sevens * blocks * conv->w.kh;
    f[IG_F_GROUPS] = parts * groups * y->h;
    if (ig_depthwise7_copies(call))
        f[IG_F_GATHER] = parts * columns * x->h * ceil_of(y->c, VECTOR);
    else
        f[IG_F_CONFLICTS] = reads * crowded(c, (double)x->c * F, columns * conv->w.kh);
    ig_book_streams(f, c, call);
}

static void pool_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_pool *pool = call->attrs;
    (void)t;
    window_features(call, c, ig_taps(&pool->w), f);
}

/* Small windows slide: loads and stores of an output; 32 channels at a time, what is left by eights. */
static void slide_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    enum { WIDE = 32, STRETCH = 28, GROUP = 64 };
    const struct ig_pool *pool = call->attrs;
    const struct ig_operand *y = &call->out[0];
    double outputs = (double)y->h * y->w, parts = floor((double)y->c / WIDE) + ceil_of(y->c % WIDE, VECTOR);
    int32_t s = pool->w.sw;
    (void)t;
    window_features(call, c, pool->w.kw == 2 || s == 1 ? 5 : 7, f);
    f[IG_F_TILES] = outputs * parts;
    f[IG_F_GATHER] = outputs;
    f[IG_F_TAPS] = pool->w.kw == 2 ? y->h * parts : y->h * parts * ceil_of(y->w, (double)STRETCH / s);
    f[IG_F_GROUPS] = y->h * ceil_of(y->c, GROUP);
}

/* Few pixels of many channels go onto the output two by two, other images row by row, 64 channels at a time. */
static void global_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    enum { MANY = 256, MOST = 4096, FEW_PIXELS = 256, WIDE = 64, HALF = 32 };
    const struct ig_operand *x = &call->in[0];
    double pixels = (double)x->h * x->w, vectors = ceil_of(x->c, VECTOR);
    int pairs = ((const struct ig_global_pool *)call->attrs)->kind == IG_POOL_AVERAGE && x->c >= MANY && x->c <= MOST &&
                pixels > 3 && pixels <= FEW_PIXELS;
    double parts = floor((double)x->c / WIDE) + floor((double)(x->c % WIDE) / HALF) + ceil_of(x->c % HALF, VECTOR);
    (void)t;
    f[IG_F_START] = 1;
    f[pairs ? IG_F_TAPS : IG_F_WORK] = pixels * vectors;
    f[IG_F_TILES] = pairs ? 0 : x->h * parts;
    f[IG_F_GATHER] = pairs ? 0 : pixels * parts;
    f[IG_F_GROUPS] = pairs ? pixels / 2 : 0;
    ig_book_streams(f, c, call);
}

static void plain_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = ig_operand_bytes(&call->out[0]) / F / VECTOR;
    f[IG_F_GROUPS] = call->out[0].h;
    ig_book_streams(f, c, call);
}

/* Of every pixel the greatest, the exponentials and their sum, and a product. */
static void softmax_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_operand *y = &call->out[0];
    double pixels = (double)y->h * y->w;
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = pixels * ceil_of(y->c, VECTOR);
    f[IG_F_TILES] = pixels;
    ig_book_streams(f, c, call);
}

/* A pixel is copied as often as the factor says; a copy of few channels takes as long as one of some more. */
static void nearest_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    enum { LEAST = 6 };
    const struct ig_operand *y = &call->out[0];
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = (double)y->h * y->w * fmax(ceil_of(y->c, VECTOR), LEAST);
    ig_book_streams(f, c, call);
}

/* Rows of the input are spread to the output's columns once, then each output row lies between two of them. */
static void linear_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    enum { STRETCH = 28, GROUP = 64 };
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    double vectors = ceil_of(y->c, VECTOR), parts = ceil_of(y->w, STRETCH), groups = ceil_of(y->c, GROUP);
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = (double)y->h * y->w * vectors;
    f[IG_F_TAPS] = (double)x->h * y->w * vectors;
    f[IG_F_TILES] = (double)x->h * y->w * groups;
    f[IG_F_GATHER] = y->w;
    f[IG_F_GROUPS] = parts * groups * y->h;
    ig_book_streams(f, c, call);
}

struct matrices { /* what a permutation is made of (kernels_cpu/common/permute.h) */
    double n, rows, columns; /* that many of so many rows of contiguous elements */
    double stride;           /* elements from row to row */
};

/* The input's last dim becomes the output's last but one, or one further forward: planes become pixels, or pixels planes. */
static struct matrices matrices_of(const struct ig_call *call)
{
    const int32_t *perm = ((const struct ig_transpose *)call->attrs)->perm;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    int32_t last = in->rank - 1, at = last;
    while (at > 0 && perm[at] != last) at--;
    double all = (double)ig_count(in), stride = 1;
    if (in->rank < 2 || at == last) return (struct matrices){0, 1, all, all};
    for (int32_t i = perm[last] + 1; i < in->rank; i++) stride *= (double)in->dims[i];
    double rows = (double)out->dims[last], columns = (double)in->dims[last];
    if (at == last - 1) columns = stride;
    else rows = all / columns / (at > 0 ? (double)out->dims[0] : 1);
    return (struct matrices){all / rows / columns, rows, columns, stride};
}

/* Blocks of eight rows by four; three and four rows or columns have ways of their own; what is left goes one by one. */
static void transpose_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    enum { ROWS = 8, COLUMNS = 4, AT_A_TIME = 64 };
    struct matrices m = matrices_of(call);
    double all = m.n * m.rows * m.columns;
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_GROUPS] = m.n;
    ig_book_streams(f, c, call);
    if (m.rows >= ROWS && m.columns >= COLUMNS) {
        f[IG_F_TILES] = m.n * ceil_of(m.rows, ROWS) * ceil_of(m.columns, COLUMNS);
        f[IG_F_CONFLICTS] = all / VECTOR * crowded(c, m.stride * F, AT_A_TIME);
    } else if (m.n == 0 || m.rows == 3 || m.rows == 4 || (m.columns == 3 && m.stride == 3)) {
        f[IG_F_WORK] = (m.n > 0 ? all : m.columns) / VECTOR;
    } else {
        f[IG_F_GATHER] = all;
        f[IG_F_TAPS] = m.n * m.columns;
    }
}

/* --- families --- */

static const struct family {
    int32_t op;
    const char *name; /* what follows "<op>_f32_" or "<op>_any_"; a tile may follow */
    ig_features_fn *features;
} families[] = {
    {IG_CONV, "32x32__amx", ig_pieces_features},
    {IG_CONV, "first6x", ig_first_features},
    {IG_CONV, "first12x", ig_first_features},
    {IG_CONV, "first", ig_line_features},
    {IG_CONV, "strassen", ig_strassen_features},
    {IG_CONV, "winograd1x4_raw", ig_winograd_raw_features},
    {IG_CONV, "winograd2x4_raw", ig_winograd_raw_features},
    {IG_CONV, "winograd2_raw", ig_winograd_raw_features},
    {IG_CONV, "winograd4_raw", ig_winograd_raw_features},
    {IG_CONV, "winograd", ig_winograd_features},
    {IG_CONV, "depthwise3x3__avx2", depthwise3_features},
    {IG_CONV, "depthwise7", depthwise7_features},
    {IG_CONV, "depthwise", depthwise_features},
    {IG_CONV, "dot", ig_dot_features},
    {IG_CONV, "", ig_conv_features},
    {IG_FC, "dot", ig_dot_features},
    {IG_FC, "", ig_fc_features},
    {IG_POOL, "slide", slide_features},
    {IG_POOL, "", pool_features},
    {IG_GLOBAL_POOL, "", global_features},
    {IG_UNARY, "", plain_features},
    {IG_BINARY, "", plain_features},
    {IG_COPY, "", plain_features},
    {IG_SOFTMAX, "", softmax_features},
    {IG_RESIZE, "nearest", nearest_features},
    {IG_RESIZE, "linear", linear_features},
    {IG_TRANSPOSE, "", transpose_features},
};

/* The part of a kernel's name behind op and type. */
static const char *variant(const struct ig_kernel *k)
{
    static const char *const types[] = {"_f32_", "_any_", "_b32_"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *at = strstr(k->name, types[i]);
        if (at) return at + strlen(types[i]);
    }
    return NULL;
}

static const struct family *family_of(const struct ig_kernel *k)
{
    const char *name = variant(k);
    if (k->isa == IG_ISA_REF || !name) return NULL;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].op == k->op && !strncmp(name, families[i].name, strlen(families[i].name))) return &families[i];
    return NULL;
}

const char *ig_family(const struct ig_kernel *k, const struct ig_call *call, char text[IG_WORD_BYTES])
{
    const char *kind = "";
    if (!family_of(k)) return NULL;
    if (k->op == IG_UNARY) kind = ig_unary_name(((const struct ig_unary_attr *)call->attrs)->act.kind);
    if (k->op == IG_BINARY) kind = ig_binary_name(((const struct ig_binary_attr *)call->attrs)->kind);
    snprintf(text, IG_WORD_BYTES, "%s%s%s", k->name, kind[0] ? "/" : "", kind);
    return text;
}

/* "..._6x16__avx2": the last two numbers before the ISA, or 6x16. */
static struct ig_tile tile_of(const struct ig_kernel *k)
{
    struct ig_tile t = {6, 16, k->isa == IG_ISA_AVX512 ? 2 * VECTOR : VECTOR, k->row_tile, k->tile_columns, k->isa, 0, 0};
    t.lean = strstr(k->name, "_raw") && (k->row_tile < 4 || strstr(k->name, "_rawlean"));
    const char *at = strstr(k->name, "__");
    while (at && at > k->name && (at[-1] == 'x' || (at[-1] >= '0' && at[-1] <= '9'))) at--;
    int mr, nr;
    if (at && sscanf(at, "%dx%d", &mr, &nr) == 2 && mr > 0 && nr > 0) t.mr = mr, t.nr = nr;
    t.block = strstr(k->name, "small") ? IG_GEMM_BLOCK_SMALL
              : k->isa == IG_ISA_NEON     ? IG_GEMM_BLOCK_NEON
              : k->isa == IG_ISA_AVX512   ? IG_GEMM_BLOCK_AVX512
                                          : IG_GEMM_BLOCK_AVX2;
    return t;
}

int ig_features(const struct ig_kernel *k, const struct ig_call *call, const struct ig_caches *caches, double *f)
{
    const struct family *family = family_of(k);
    memset(f, 0, sizeof *f * IG_FEATURES);
    if (!family) return -1;
    struct ig_tile t = tile_of(k);
    family->features(call, caches, &t, f);
    return 0;
}

/* An activation that is no clamp, over finished outputs: what the element-wise kernel of its kind takes for them. */
static double act_ns(const struct ig_processor *p, const struct ig_call *call, int32_t kind)
{
    double vectors = ig_operand_bytes(&call->out[0]) / F / VECTOR;
    for (int32_t i = 0; i < p->n_costs; i++) {
        const char *name = p->costs[i].family, *of = strchr(name, '/');
        if (of && !strncmp(name, "unary", 5) && !strcmp(of + 1, ig_unary_name(kind)))
            return vectors * p->costs[i].ns[IG_F_WORK];
    }
    return 0;
}

static int32_t act_of(const struct ig_kernel *k, const struct ig_call *call)
{
    if (k->op == IG_CONV) return ((const struct ig_conv *)call->attrs)->act.kind;
    return k->op == IG_FC ? ((const struct ig_fc *)call->attrs)->act.kind : IG_NONE;
}

double ig_cost_ns(const struct ig_processor *p, const struct ig_caches *caches, const struct ig_kernel *k,
                  const struct ig_call *call, double *memory_ns)
{
    static const int from_memory[] = {IG_F_A_DRAM, IG_F_B_DRAM, IG_F_Y_DRAM, IG_F_X_RUNS_DRAM, IG_F_Y_RUNS_DRAM};
    double f[IG_FEATURES], ns = 0, memory = 0;
    char name[IG_WORD_BYTES];
    if (!ig_family(k, call, name)) return IG_UNKNOWN;
    for (int32_t i = 0; i < p->n_costs; i++) {
        if (strcmp(p->costs[i].family, name)) continue;
        ig_features(k, call, caches, f);
        for (int j = 0; j < IG_FEATURES; j++) ns += f[j] * p->costs[i].ns[j];
        for (int j = 0; j < (int)(sizeof from_memory / sizeof *from_memory); j++)
            memory += f[from_memory[j]] * p->costs[i].ns[from_memory[j]];
        if (memory_ns) *memory_ns = memory;
        return ns + act_ns(p, call, act_of(k, call));
    }
    return IG_UNKNOWN;
}
