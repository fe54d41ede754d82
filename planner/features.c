#include "planner/features.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/depthwise7.h"
#include "planner/traffic.h"

_Static_assert((int)IG_FEATURES <= (int)IG_COST_TERMS, "a cost per feature");

const char *const ig_feature_names[IG_COST_TERMS + 1] = {
    "start",  "work",      "tiles",       "taps",      "gather",      "groups",    "a_l2",
    "a_l3",   "a_dram",    "b_l2",        "b_l3",      "b_dram",      "y_l2",      "y_l3",
    "y_dram", "x_runs_l3", "x_runs_dram", "y_runs_l3", "y_runs_dram", "conflicts", "calls"};

enum {
    F = 4,       /* bytes of an element */
    LATENCY = 4, /* cycles of a multiply-add: what a tile of few rows takes all the same */
    VECTOR = 8,
    READ_ONLY = 2, /* what is read alone stays in a cache as if it were so much smaller */
    FC_WIDE = 64   /* channels that a one-row product takes at a time */
};

struct ig_caches ig_caches_of(const struct ig_platform *b, const struct ig_processor *p)
{
    struct ig_caches c = {.weights_away = 0};
    for (int32_t i = 0; i < p->n_caches; i++) c.bytes[i] = b->stores[p->caches[i]].bytes;
    return c;
}

/* How the driver of an ISA's products cuts them. */
struct cut {
    int32_t block; /* groups */
    int64_t stream_bytes;
    int32_t loops; /* one call takes several panels and groups */
};

static const struct cut cuts[IG_ISAS] = {
    [IG_ISA_AVX2] = {IG_GEMM_BLOCK_AVX2, IG_GEMM_STREAM_BYTES_AVX2, IG_GEMM_LOOPS_AVX2},
    [IG_ISA_NEON] = {IG_GEMM_BLOCK_NEON, IG_GEMM_STREAM_BYTES_NEON, IG_GEMM_LOOPS_NEON},
};

struct tile {
    int32_t mr, nr, rows; /* of a kernel: of the micro-kernel; output rows that go together */
    const struct cut *cut;
};

/* --- matrix products: groups of mr pixels by panels of nr channels, k deep (kernels_cpu/common/gemm_block.c) --- */

struct gemm {
    double pixels, taps, k; /* k: of one tap */
    int32_t mr, nr;
    double oc, groups; /* output channels and how many of a convolution's groups */
    double reread;     /* times that a pixel of the image is read by one group of pixels' taps */
    const struct cut *cut;
    const struct ig_window *w; /* whose groups may lie evenly; NULL: none does, each has addresses of its own */
};

static double ceil_of(double a, double b)
{
    return ceil(a / b);
}

/* Cycles for one step of k: rows x vectors multiply-adds, two a cycle. */
static double step_cycles(double rows, double vectors)
{
    double cycles = rows * vectors / 2;
    return cycles < LATENCY ? LATENCY : cycles;
}

/* Of all pixels by all panels; pixels are dealt evenly to their groups. */
static double cycles_of(const struct gemm *g)
{
    double groups = ceil_of(g->pixels, g->mr), rows = floor(g->pixels / groups), more = g->pixels - groups * rows;
    double full = floor(g->oc / g->nr), rest = ceil_of(g->oc - full * g->nr, VECTOR), wide = g->nr / VECTOR;
    double cycles = more * step_cycles(rows + 1, wide) + (groups - more) * step_cycles(rows, wide);
    double narrow = rest > 0 ? more * step_cycles(rows + 1, rest) + (groups - more) * step_cycles(rows, rest) : 0;
    return cycles * full + narrow;
}

/* `bytes` of weights are passed over `passes` times, the first time from where they are left. */
static void book_weights(double *f, const struct ig_caches *c, double bytes, double passes, double reach)
{
    ig_book(f, IG_F_B_L2, c, bytes * (passes - 1), reach);
    ig_book(f, IG_F_B_L2, c, bytes, fmax(reach, c->weights_away));
}

/* How the driver walks over a product's pixels. */
struct walk {
    double groups, runs, placed; /* groups; runs of them that one call takes; pixels whose addresses are written */
};

/* Columns, or rows, [*from, *to) of the output whose taps all lie in the input. */
static void inside(int32_t out, int32_t in, int32_t before, int32_t stride, int32_t reach, int32_t *from, int32_t *to)
{
    *from = (before + stride - 1) / stride;
    *to = in + before >= reach ? (in + before - reach) / stride + 1 : 0;
    if (*to > out) *to = out;
}

/* Group by group, as ig_gemm_run does: even ones of one row, or of rows that join, make a run. */
static struct walk walk_of(const struct gemm *g, const struct ig_call *call, double block)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_window *w = g->w;
    double groups = ceil_of(g->pixels, g->mr), all = g->pixels;
    if (!w) return (struct walk){groups, groups, all};
    if (w->kh * w->kw * w->sh * w->sw == 1 && in->h == out->h && in->w == out->w) {
        double odd = fmod(all, groups) > 0;
        return (struct walk){groups, g->cut->loops ? ceil_of(groups, block) + odd : groups, 0};
    }
    int32_t x0, x1, y0, y1, count = (int32_t)(all / groups), more = (int32_t)(all - groups * count), last = -1;
    struct walk walk = {groups, 0, 0};
    inside(out->w, in->w, w->left, w->sw, (w->kw - 1) * w->dw + 1, &x0, &x1);
    inside(out->h, in->h, w->top, w->sh, (w->kh - 1) * w->dh + 1, &y0, &y1);
    for (int32_t i = 0, x = 0, y = 0; i < (int32_t)groups; i++) {
        int32_t n = count + (i < more), even = x >= x0 && x + n <= x1 && y >= y0 && y < y1;
        int starts = !even || last != y || i % (int32_t)block == 0 || i == more || !g->cut->loops;
        walk.runs += starts;
        if (!even) walk.placed += n;
        last = even ? y : -1;
        for (x += n; x >= out->w; x -= out->w) y++;
    }
    return walk;
}

static void gemm(double *f, const struct ig_caches *c, const struct ig_call *call, const struct gemm *g)
{
    double k = g->taps * g->k, panels = ceil_of(g->oc, g->nr), weights = panels * g->nr * k * F;
    double table = floor(IG_GEMM_TABLE_BYTES / (g->taps * g->mr * 8)), panel = g->nr * k * F;
    double a = fmin(g->mr, g->pixels) * k * F, x = ig_operand_bytes(&call->in[0]);
    double rest = fmod(g->oc, g->nr), cut = fmod(rest, VECTOR) > 0; /* ends inside a vector: by way of a tile */
    table = table < 1 ? 1 : table > g->cut->block ? g->cut->block : table;
    struct walk walk = walk_of(g, call, table);
    double groups = walk.groups, blocks = ceil_of(groups, table), tiles = groups * (panels + cut) * g->groups;
    int stream = weights > (double)g->cut->stream_bytes;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = cycles_of(g) * k * g->groups;
    f[IG_F_TILES] = tiles;
    f[IG_F_TAPS] = tiles * g->taps;
    f[IG_F_GATHER] = walk.placed * g->taps;
    f[IG_F_GROUPS] = groups;
    f[IG_F_CALLS] = walk.runs * g->groups * (stream || !g->cut->loops ? panels : 1 + (rest > 0 && panels > 1));
    if (!stream) {
        book_weights(f, c, weights * g->groups, groups, weights + a);
        ig_book(f, IG_F_A_L2, c, a * groups * (panels - 1) * g->groups, a + panel);
    } else {
        double block = fmin(x, table * a / g->reread),
               y = fmin(ig_operand_bytes(&call->out[0]), table * g->mr * g->oc * F);
        double all = weights * g->groups + x + ig_operand_bytes(&call->out[0]);
        book_weights(f, c, weights * g->groups, blocks, blocks > 1 ? weights + block + y : all);
        ig_book(f, IG_F_B_L2, c, weights * (groups - blocks) * g->groups, panel + a);
        ig_book(f, IG_F_A_L2, c, block * blocks * (panels - 1) * g->groups, block + panel);
    }
    ig_book_operands(f, c, call, weights * g->groups, g->taps <= 1);
}

static void conv_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = (double)y->h * y->w,
                     .taps = (double)conv->w.kh * conv->w.kw,
                     .mr = t->mr,
                     .nr = t->nr,
                     .cut = t->cut,
                     .w = &conv->w,
                     .k = (double)x->c / conv->groups,
                     .oc = (double)y->c / conv->groups,
                     .groups = conv->groups,
                     .reread = conv->w.kw};
    gemm(f, c, call, &g);
}

static void first_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = (double)y->h * y->w,
                     .taps = conv->w.kh,
                     .k = (double)conv->w.kw * x->c,
                     .mr = t->mr,
                     .nr = t->nr,
                     .cut = t->cut,
                     .oc = y->c,
                     .groups = 1,
                     .reread = 1};
    gemm(f, c, call, &g);
    f[IG_F_X_RUNS_L3] = f[IG_F_X_RUNS_DRAM] = 0;
}

/* One row: every weight is read once. */
static void fc_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = (double)y->h * y->w,
                     .taps = 1,
                     .k = (double)x->c,
                     .mr = t->mr,
                     .nr = t->nr,
                     .cut = t->cut,
                     .oc = y->c,
                     .groups = 1,
                     .reread = 1};
    double weights = (double)x->c * y->c * F;
    if (g.pixels > 1) {
        gemm(f, c, call, &g);
        return;
    }
    double wide = floor((double)y->c / FC_WIDE), rest = ceil_of(y->c - wide * FC_WIDE, t->nr);
    f[IG_F_START] = 1;
    f[IG_F_WORK] = LATENCY * x->c * (wide + rest);
    f[IG_F_TILES] = wide + rest;
    book_weights(f, c, weights, 1, weights / READ_ONLY);
}

/* Seven products of half the depth for two pixels by two panels; their sums are formed before and after. */
static void strassen_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    enum { PRODUCTS = 7, SUMS = 5, BLOCK = 16 };
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = ceil((double)y->h * y->w / 2),
                     .taps = 1,
                     .k = x->c / 2.,
                     .mr = t->mr,
                     .nr = t->nr,
                     .cut = t->cut,
                     .oc = y->c / 2.,
                     .groups = 1,
                     .reread = 1};
    gemm(f, c, call, &g);
    f[IG_F_WORK] *= PRODUCTS;
    f[IG_F_TILES] *= PRODUCTS;
    f[IG_F_TAPS] = g.pixels * 2 * y->c / VECTOR;     /* vectors of results joined */
    f[IG_F_GATHER] = g.pixels * SUMS * g.k / VECTOR; /* vectors of sums */
    for (int i = IG_F_A_L2; i <= IG_F_B_DRAM; i++) f[i] = 0;
    double weights = PRODUCTS * g.k * g.oc * F, blocks = ceil_of(ceil_of(g.pixels, t->mr), BLOCK);
    book_weights(f, c, weights, blocks, weights + ig_operand_bytes(x) + ig_operand_bytes(y));
    ig_book(f, IG_F_A_L2, c, ig_operand_bytes(x), ig_operand_bytes(x) + ig_operand_bytes(y) + weights);
}

/*
 * F(m,3): for each of (m+2)^2 points a product of tiles by channels, and transforms of images and results. Weights are
 * read once a block of groups; a block has few, unless the weights do not stay in a cache
 * (kernels_cpu/common/winograd.c).
 */
static void winograd_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    double m = t->rows, points = (m + 2) * (m + 2), tiles = ceil_of(y->h, m) * ceil_of(y->w, m);
    struct gemm g = {.pixels = tiles, .taps = 1, .k = (double)x->c, .mr = t->mr, .nr = t->nr, .oc = y->c};
    double panels = ceil_of(y->c, t->nr), weights = points * panels * t->nr * x->c * F, groups = ceil_of(tiles, t->mr);
    double group = points * t->mr * x->c * F, in_block = IG_WINOGRAD_NEAR_GROUPS;
    if (weights > IG_WINOGRAD_NEAR_BYTES)
        in_block = fmax(in_block, fmin(IG_WINOGRAD_FAR_GROUPS, floor(IG_WINOGRAD_FAR_BYTES / group)));
    double block = fmin(in_block, groups) * (group + points * t->mr * y->c * F), blocks = ceil_of(groups, in_block);
    double all = weights + ig_operand_bytes(x) + ig_operand_bytes(y);
    f[IG_F_START] = 1;
    f[IG_F_WORK] = cycles_of(&g) * x->c * points;
    f[IG_F_TILES] = groups * panels * points;
    f[IG_F_GATHER] = tiles * points * ceil_of(x->c, VECTOR); /* vectors of images transformed */
    f[IG_F_TAPS] = tiles * points * ceil_of(y->c, VECTOR);   /* and of results */
    f[IG_F_GROUPS] = tiles;
    double reach = (blocks > 1 ? weights + block : all) / READ_ONLY;
    book_weights(f, c, weights / 2, 2 * blocks, reach); /* prefetched: half of their way from memory is hidden */
    ig_book(f, IG_F_A_L2, c, groups * (group + points * t->mr * y->c * F), block);
    ig_book_operands(f, c, call, weights, 1);
}

/* Straight lines: an output row by a panel, groups of pixels of which the last may go back over some. */
static void line_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    double panels = ceil_of(y->c, t->nr), narrow = ceil_of(fmod(y->c, t->nr), VECTOR) * VECTOR, rows = y->h;
    double k = (double)conv->w.kh * conv->w.kw * x->c, wide = rows * ceil_of(y->w, t->mr) * floor((double)y->c / t->nr);
    double half = narrow > 0 ? rows * ceil_of(y->w, 2. * t->mr) : 0;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = (wide + half) * t->mr * k;
    f[IG_F_TILES] = wide + half;
    f[IG_F_TAPS] = (wide + half) * conv->w.kh;
    f[IG_F_GATHER] = (double)x->h * x->w;
    f[IG_F_GROUPS] = rows * panels;
    ig_book_operands(f, c, call, 0, 0);
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

static void depthwise_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_conv *conv = call->attrs;
    (void)t;
    window_features(call, c, (double)conv->w.kh * conv->w.kw, f);
}

/*
 * 3x3: two rows of outputs at a time; where pixels are an odd number of lines they spread over all cache sets, so that
 * stretches are longer and the next rows are fetched ahead.
 */
static void depthwise3_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    enum { LINE = 16, STRETCH = 28 };
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    int spreads = x->c / LINE % 2;
    double blocks = ceil_of(x->c, VECTOR), pairs = ceil_of(y->h, 2), rows = 3 + conv->w.sh;
    double stretches = ceil_of(y->w, spreads ? 2 * STRETCH : STRETCH), columns = fmin(x->w, STRETCH * conv->w.sw + 2);
    double bytes = ig_operand_bytes(x);
    struct ig_split s = ig_split_of(c, bytes + ig_operand_bytes(y));
    depthwise_features(call, c, t, f);
    f[IG_F_TAPS] = stretches * pairs * blocks;
    f[IG_F_GROUPS] = stretches * pairs * (spreads ? ceil_of(x->c, LINE) : 1);
    f[IG_F_GATHER] = spreads ? 0 : (s.l3 + s.dram) * bytes / F / LINE;
    f[IG_F_CONFLICTS] =
        (pairs * rows * x->w + (double)y->h * y->w) * blocks * crowded(c, (double)x->c * F, columns * rows);
}

/* Seven outputs of a stretch at a time, by sixteen channels or eight; rows may be copied (common/depthwise7.h). */
static void depthwise7_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
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
    f[IG_F_WORK] = sevens * SEVEN * ceil_of(y->c, VECTOR) * conv->w.kh * conv->w.kw;
    f[IG_F_TILES] = sevens * blocks;
    f[IG_F_TAPS] = sevens * blocks * conv->w.kh;
    f[IG_F_GROUPS] = parts * groups * y->h;
    if (ig_depthwise7_copies(call))
        f[IG_F_GATHER] = parts * columns * x->h * ceil_of(y->c, VECTOR);
    else
        f[IG_F_CONFLICTS] = reads * crowded(c, (double)x->c * F, columns * conv->w.kh);
    ig_book_streams(f, c, call);
}

static void pool_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_pool *pool = call->attrs;
    (void)t;
    window_features(call, c, (double)pool->w.kh * pool->w.kw, f);
}

static void global_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    (void)t;
    window_features(call, c, (double)call->in[0].h * call->in[0].w, f);
    f[IG_F_GATHER] = (double)call->in[0].h * call->in[0].w;
}

static void plain_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    (void)t;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = ig_operand_bytes(&call->out[0]) / F / VECTOR;
    f[IG_F_GROUPS] = call->out[0].h;
    ig_book_streams(f, c, call);
}

/* --- families --- */

typedef void family_fn(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f);

static const struct family {
    int32_t op;
    const char *name; /* what follows "<op>_f32_" or "<op>_any_"; a tile may follow */
    family_fn *features;
} families[] = {
    {IG_CONV, "first6x", first_features},
    {IG_CONV, "first", line_features},
    {IG_CONV, "strassen", strassen_features},
    {IG_CONV, "winograd", winograd_features},
    {IG_CONV, "depthwise3x3__avx2", depthwise3_features},
    {IG_CONV, "depthwise7", depthwise7_features},
    {IG_CONV, "depthwise", depthwise_features},
    {IG_CONV, "", conv_features},
    {IG_FC, "", fc_features},
    {IG_POOL, "", pool_features},
    {IG_GLOBAL_POOL, "", global_features},
    {IG_UNARY, "", plain_features},
    {IG_BINARY, "", plain_features},
    {IG_COPY, "", plain_features},
    {IG_SOFTMAX, "", plain_features},
};

/* The part of a kernel's name behind op and type. */
static const char *variant(const struct ig_kernel *k)
{
    const char *type = strstr(k->name, "_f32_"), *any = strstr(k->name, "_any_");
    return type ? type + 5 : any ? any + 5 : NULL;
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
static struct tile tile_of(const struct ig_kernel *k)
{
    struct tile t = {6, 16, k->row_tile, &cuts[k->isa]};
    const char *at = strstr(k->name, "__");
    while (at && at > k->name && (at[-1] == 'x' || (at[-1] >= '0' && at[-1] <= '9'))) at--;
    int mr, nr;
    if (at && sscanf(at, "%dx%d", &mr, &nr) == 2 && mr > 0 && nr > 0) t.mr = mr, t.nr = nr;
    return t;
}

int ig_features(const struct ig_kernel *k, const struct ig_call *call, const struct ig_caches *caches, double *f)
{
    const struct family *family = family_of(k);
    memset(f, 0, sizeof *f * IG_FEATURES);
    if (!family) return -1;
    struct tile t = tile_of(k);
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
                  const struct ig_call *call)
{
    double f[IG_FEATURES], ns = 0;
    char name[IG_WORD_BYTES];
    if (!ig_family(k, call, name)) return IG_UNKNOWN;
    for (int32_t i = 0; i < p->n_costs; i++) {
        if (strcmp(p->costs[i].family, name)) continue;
        ig_features(k, call, caches, f);
        for (int j = 0; j < IG_FEATURES; j++) ns += f[j] * p->costs[i].ns[j];
        return ns + act_ns(p, call, act_of(k, call));
    }
    return IG_UNKNOWN;
}
