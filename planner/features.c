#include "planner/features.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)IG_FEATURES <= (int)IG_COST_TERMS, "a cost per feature");

const char *const ig_feature_names[IG_COST_TERMS + 1] = {
    "start", "work",   "tiles", "taps", "gather", "groups",    "a_l2",        "a_l3",      "a_dram",      "b_l2",
    "b_l3",  "b_dram", "y_l2",  "y_l3", "y_dram", "x_runs_l3", "x_runs_dram", "y_runs_l3", "y_runs_dram", "conflicts"};

/*
 * A cache holds what is much smaller than it, and nothing of what is passed over in turns and much larger: between
 * these shares of its size the part that stays falls with the logarithm.
 */
static const struct {
    double from, to;
} fade[IG_MAX_CACHES] = {{0.5, 1.5}, {0.5, 1.2}, {0.25, 1.0}};

enum {
    F = 4,                 /* bytes of an element */
    TABLE_BYTES = 1 << 16, /* of a GEMM block's addresses; a block has at most BLOCK groups */
    BLOCK = 16,
    STREAM_BYTES = 512 << 10, /* weights beyond are read panel by panel */
    LATENCY = 4,              /* cycles of a multiply-add: what a tile of few rows takes all the same */
    VECTOR = 8,
    READ_ONLY = 2, /* what is read alone stays in a cache as if it were so much smaller */
    FC_WIDE = 64   /* channels that a one-row product takes at a time */
};

struct ig_caches ig_caches_of(const struct ig_platform *b, const struct ig_processor *p)
{
    struct ig_caches c = {{0}};
    for (int32_t i = 0; i < p->n_caches; i++) c.bytes[i] = b->stores[p->caches[i]].bytes;
    return c;
}

/* The part of `bytes` passed over in turns that cache `level` does not hold. */
static double beyond(const struct ig_caches *c, int level, double bytes)
{
    double from = fade[level].from * (double)c->bytes[level], to = fade[level].to * (double)c->bytes[level];
    if (bytes <= from) return 0;
    return bytes >= to ? 1 : log(bytes / from) / log(to / from);
}

/* Parts that come from L2, L3, memory, if `reach` bytes lie between two uses. */
struct split {
    double l2, l3, dram;
};

static struct split split_of(const struct ig_caches *c, double reach)
{
    double l1 = beyond(c, 0, reach), l2 = beyond(c, 1, reach), l3 = beyond(c, 2, reach);
    if (!c->bytes[2]) l3 = l2; /* no third level: what leaves the second comes from memory */
    if (l2 < l3) l2 = l3;
    if (l1 < l2) l1 = l2;
    return (struct split){l1 - l2, l2 - l3, l3};
}

static void book(double *f, int first, const struct ig_caches *c, double bytes, double reach)
{
    struct split s = split_of(c, reach);
    f[first] += bytes * s.l2;
    f[first + 1] += bytes * s.l3;
    f[first + 2] += bytes * s.dram;
}

/* Pixels of less than 256 bytes follow each other closely enough to be one stream; from 512 on they are none. */
static double apart(double pixel_bytes)
{
    double part = (pixel_bytes - 256) / 256;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

static double bytes_of(const struct ig_operand *o)
{
    return o->shape ? (double)o->h * o->w * o->c * ig_type_bytes(o->shape->type) : 0;
}

/* Image and output once each, when all of them and the weights are passed over in turns. */
static void whole_operands(double *f, const struct ig_caches *c, const struct ig_call *call, double weights, int runs)
{
    double x = bytes_of(&call->in[0]), y = bytes_of(&call->out[0]), residual = 0;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    if (call->n_in > 3) residual = bytes_of(&call->in[3]);
    double reach = x + y + residual + weights;
    struct split s = split_of(c, reach);
    book(f, IG_F_A_L2, c, x, reach);
    book(f, IG_F_Y_L2, c, y + residual, reach);
    double y_runs = (double)out->h * out->w * apart((double)out->c * F) * (residual > 0 ? 2 : 1);
    f[IG_F_Y_RUNS_L3] += s.l3 * y_runs;
    f[IG_F_Y_RUNS_DRAM] += s.dram * y_runs;
    if (!runs) return;
    double x_runs = (double)in->h * in->w * apart((double)in->c * F);
    f[IG_F_X_RUNS_L3] += s.l3 * x_runs;
    f[IG_F_X_RUNS_DRAM] += s.dram * x_runs;
}

struct tile {
    int32_t mr, nr, rows;
}; /* of a kernel: of the micro-kernel; output rows that go together */

/* --- matrix products: groups of mr pixels by panels of nr channels, k deep (kernels_cpu/common/gemm_block.c) --- */

struct gemm {
    double pixels, taps, k; /* k: of one tap */
    int32_t mr, nr;
    double oc, groups; /* output channels and how many of a convolution's groups */
    double reread;     /* times that a pixel of the image is read by one group of pixels' taps */
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

static void gemm(double *f, const struct ig_caches *c, const struct ig_call *call, const struct gemm *g)
{
    double k = g->taps * g->k, panels = ceil_of(g->oc, g->nr), groups = ceil_of(g->pixels, g->mr);
    double table = floor(TABLE_BYTES / (g->taps * g->mr * 8)), weights = panels * g->nr * k * F;
    double panel = g->nr * k * F, a = fmin(g->mr, g->pixels) * k * F, x = bytes_of(&call->in[0]);
    double cut = fmod(g->oc, VECTOR) > 0; /* a panel that ends inside a vector goes by way of a tile */
    table = table < 1 ? 1 : table > BLOCK ? BLOCK : table;
    double blocks = ceil_of(groups, table), tiles = groups * (panels + cut) * g->groups;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = cycles_of(g) * k * g->groups;
    f[IG_F_TILES] = tiles;
    f[IG_F_TAPS] = tiles * g->taps;
    f[IG_F_GATHER] = g->pixels * g->taps;
    f[IG_F_GROUPS] = groups;
    if (weights * g->groups <= STREAM_BYTES) {
        book(f, IG_F_B_L2, c, weights * groups * g->groups, weights + a);
        book(f, IG_F_A_L2, c, a * groups * (panels - 1) * g->groups, a + panel);
    } else {
        double block = fmin(x, table * a / g->reread), y = fmin(bytes_of(&call->out[0]), table * g->mr * g->oc * F);
        double all = weights * g->groups + x + bytes_of(&call->out[0]);
        book(f, IG_F_B_L2, c, weights * blocks * g->groups, blocks > 1 ? weights + block + y : all);
        book(f, IG_F_B_L2, c, weights * (groups - blocks) * g->groups, panel + a);
        book(f, IG_F_A_L2, c, block * blocks * (panels - 1) * g->groups, block + panel);
    }
    whole_operands(f, c, call, weights * g->groups, g->taps <= 1);
}

static void conv_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = (double)y->h * y->w,
                     .taps = (double)conv->w.kh * conv->w.kw,
                     .mr = t->mr,
                     .nr = t->nr,
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
    book(f, IG_F_B_L2, c, weights, weights / READ_ONLY);
}

/* Seven products of half the depth for two pixels by two panels; their sums are formed before and after. */
static void strassen_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    enum { PRODUCTS = 7, SUMS = 5 };
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = ceil((double)y->h * y->w / 2),
                     .taps = 1,
                     .k = x->c / 2.,
                     .mr = t->mr,
                     .nr = t->nr,
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
    book(f, IG_F_B_L2, c, weights * blocks, weights + bytes_of(x) + bytes_of(y));
    book(f, IG_F_A_L2, c, bytes_of(x), bytes_of(x) + bytes_of(y) + weights);
}

/*
 * F(m,3): for each of (m+2)^2 points a product of tiles by channels, and transforms of images and results. Weights are
 * read once a block of groups; a block has few, unless the weights do not stay in a cache
 * (kernels_cpu/common/winograd.c).
 */
static void winograd_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    enum { NEAR_BYTES = 16 << 20, NEAR_GROUPS = 2, FAR_GROUPS = 8, FAR_BYTES = 1536 << 10 };
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    double m = t->rows, points = (m + 2) * (m + 2), tiles = ceil_of(y->h, m) * ceil_of(y->w, m);
    struct gemm g = {.pixels = tiles, .taps = 1, .k = (double)x->c, .mr = t->mr, .nr = t->nr, .oc = y->c};
    double panels = ceil_of(y->c, t->nr), weights = points * panels * t->nr * x->c * F, groups = ceil_of(tiles, t->mr);
    double group = points * t->mr * x->c * F, in_block = NEAR_GROUPS;
    if (weights > NEAR_BYTES) in_block = fmax(NEAR_GROUPS, fmin(FAR_GROUPS, floor(FAR_BYTES / group)));
    double block = fmin(in_block, groups) * (group + points * t->mr * y->c * F), blocks = ceil_of(groups, in_block);
    double all = weights + bytes_of(x) + bytes_of(y);
    f[IG_F_START] = 1;
    f[IG_F_WORK] = cycles_of(&g) * x->c * points;
    f[IG_F_TILES] = groups * panels * points;
    f[IG_F_GATHER] = tiles * points * ceil_of(x->c, VECTOR); /* vectors of images transformed */
    f[IG_F_TAPS] = tiles * points * ceil_of(y->c, VECTOR);   /* and of results */
    f[IG_F_GROUPS] = tiles;
    book(f, IG_F_B_L2, c, weights * blocks, (blocks > 1 ? weights + block : all) / READ_ONLY);
    book(f, IG_F_A_L2, c, groups * (group + points * t->mr * y->c * F), block);
    whole_operands(f, c, call, weights, 1);
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
    whole_operands(f, c, call, 0, 0);
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
    whole_operands(f, c, call, 0, 1);
}

static double common_divisor(double a, double b)
{
    return b > 0 ? common_divisor(b, fmod(a, b)) : a;
}

/*
 * How much `lines` lines, one of each pixel, crowd a cache of 4 KiB ways: the pixels' distance may leave them few sets.
 * Two sets or one count whole, more by the square of how few they are.
 */
static double crowded(const struct ig_caches *c, double pixel_bytes, double lines)
{
    enum { LINE = 64, SETS = 64 };
    double shared = common_divisor(ceil_of(pixel_bytes, LINE), SETS), part = fmin(1, 2 * shared / SETS);
    double room = (double)c->bytes[0] / LINE / shared;
    return lines > room ? part * part : 0;
}

/* Stretches of a row's outputs, whose input pixels are to stay while all channels pass over them. */
static void depthwise_features(const struct ig_call *call, const struct ig_caches *c, const struct tile *t, double *f)
{
    enum { STRETCH = 28, ROWS = 2 };
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    double columns = fmin(x->w, fmin(STRETCH, y->w) * conv->w.sw + conv->w.kw - 1);
    double rows = fmin(x->h, (ROWS - 1) * conv->w.sh + conv->w.kh);
    (void)t;
    window_features(call, c, (double)conv->w.kh * conv->w.kw, f);
    double read = (double)x->h * x->w * ceil_of(x->c, VECTOR) * conv->w.kh;
    f[IG_F_CONFLICTS] = read * crowded(c, (double)x->c * F, columns * rows);
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
    double reach = bytes_of(&call->out[0]), in = 0;
    (void)t;
    for (int32_t i = 0; i < call->n_in; i++) in += bytes_of(&call->in[i]);
    reach += in;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = bytes_of(&call->out[0]) / F / VECTOR;
    f[IG_F_GROUPS] = call->out[0].h;
    book(f, IG_F_A_L2, c, in, reach);
    book(f, IG_F_Y_L2, c, bytes_of(&call->out[0]), reach);
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
    struct tile t = {6, 16, k->row_tile};
    const char *at = strstr(k->name, "__");
    while (at && at > k->name && (at[-1] == 'x' || (at[-1] >= '0' && at[-1] <= '9'))) at--;
    int mr, nr;
    if (at && sscanf(at, "%dx%d", &mr, &nr) == 2 && mr > 0 && nr > 0) t = (struct tile){mr, nr, k->row_tile};
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

/* Weights that other layers' have pushed out since the last frame. */
static void cool_weights(double *f, const struct ig_kernel *k, const struct ig_call *call,
                         const struct ig_caches *caches, double between)
{
    if (between <= 0 || !k->pack) return;
    if (k->op == IG_FC) f[IG_F_B_L2] = f[IG_F_B_L3] = f[IG_F_B_DRAM] = 0;
    book(f, IG_F_B_L2, caches, (double)k->pack(call, NULL), between / READ_ONLY);
}

double ig_cost_ns(const struct ig_platform *b, const struct ig_processor *p, const struct ig_kernel *k,
                  const struct ig_call *call, double between)
{
    double f[IG_FEATURES], ns = 0;
    char name[IG_WORD_BYTES];
    struct ig_caches caches = ig_caches_of(b, p);
    if (!ig_family(k, call, name)) return IG_UNKNOWN;
    for (int32_t i = 0; i < p->n_costs; i++) {
        if (strcmp(p->costs[i].family, name)) continue;
        ig_features(k, call, &caches, f);
        cool_weights(f, k, call, &caches, between);
        for (int j = 0; j < IG_FEATURES; j++) ns += f[j] * p->costs[i].ns[j];
        return ns;
    }
    return IG_UNKNOWN;
}
