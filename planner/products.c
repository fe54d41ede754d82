/*
 * Features of convolutions as matrix products: groups of mr pixels by panels of nr channels, k deep, as
 * kernels_cpu/common/{gemm_block,winograd,strassen}.c walk over them.
 */
#include "planner/products.h"

#include <math.h>

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/pieces.h"
#include "kernels_cpu/common/winograd_shape.h"
#include "kernels_cpu/ref/window.h"
#include "planner/traffic.h"

enum {
    F = 4,       /* bytes of an element */
    LATENCY = 4, /* cycles of a multiply-add: what a tile of few rows takes all the same */
    VECTOR = 8,
    READ_ONLY = 2, /* what is read alone stays in a cache as if it were so much smaller */
    FC_WIDE = 64   /* channels that a one-row product takes at a time */
};

/* How the driver of an ISA's products cuts them. */
struct cut {
    int64_t stream_bytes;
    int32_t loops; /* one call takes several panels and groups */
};

static const struct cut cuts[IG_ISAS] = {
    [IG_ISA_AVX2] = {IG_GEMM_STREAM_BYTES_AVX2, IG_GEMM_LOOPS_AVX2},
    [IG_ISA_AVX512] = {IG_GEMM_STREAM_BYTES_AVX512, IG_GEMM_LOOPS_AVX512},
    [IG_ISA_NEON] = {IG_GEMM_STREAM_BYTES_NEON, IG_GEMM_LOOPS_NEON},
};

struct gemm {
    double pixels, taps, k; /* k: of one tap */
    int32_t mr, nr, block;
    double oc, groups; /* output channels and how many of a convolution's groups */
    double vector;     /* channels of one */
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
    double full = floor(g->oc / g->nr), rest = ceil_of(g->oc - full * g->nr, g->vector), wide = g->nr / g->vector;
    double cycles = more * step_cycles(rows + 1, wide) + (groups - more) * step_cycles(rows, wide);
    double narrow = rest > 0 ? more * step_cycles(rows + 1, rest) + (groups - more) * step_cycles(rows, rest) : 0;
    return cycles * full + narrow;
}

/* `bytes` of weights are passed over `passes` times, the first time from where they are left. */
static void book_weights(double *f, const struct ig_caches *c, double bytes, double passes, double reach)
{
    ig_book(f, IG_F_B_L2, c, bytes * (passes - 1), reach);
    ig_book(f, IG_F_B_L2, c, bytes, fmax(reach, c->away.weights));
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
    if (ig_taps(w) * w->sd * w->sh * w->sw == 1 && in->h == out->h && in->w == out->w) {
        double odd = fmod(all, groups) > 0;
        return (struct walk){groups, g->cut->loops ? ceil_of(groups, block) + odd : groups, 0};
    }
    int32_t x0, x1, y0, y1, z0, z1, count = (int32_t)(all / groups), more = (int32_t)(all - groups * count), last = -1;
    int32_t in_h = in->h / w->in_d, out_h = out->h / w->out_d;
    struct walk walk = {groups, 0, 0};
    inside(out->w, in->w, w->left, w->sw, (w->kw - 1) * w->dw + 1, &x0, &x1);
    inside(out_h, in_h, w->top, w->sh, (w->kh - 1) * w->dh + 1, &y0, &y1);
    inside(w->out_d, w->in_d, w->front, w->sd, (w->kd - 1) * w->dd + 1, &z0, &z1);
    for (int32_t i = 0, x = 0, y = 0; i < (int32_t)groups; i++) {
        int32_t n = count + (i < more), z = y / out_h, even = x >= x0 && x + n <= x1 && y % out_h >= y0 && y % out_h < y1 && z >= z0 && z < z1;
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
    table = table < 1 ? 1 : table > g->block ? g->block : table;
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
        struct ig_split again = ig_split_of(c, panel + a);
        f[IG_F_B_L2] += weights * (groups - blocks) * g->groups * again.l2;
        f[IG_F_B_AGAIN] = weights * (groups - blocks) * g->groups * (again.l3 + again.dram);
        ig_book(f, IG_F_A_L2, c, block * blocks * (panels - 1) * g->groups, block + panel);
    }
    ig_book_operands(f, c, call, weights * g->groups, g->taps <= 1);
    ig_overlap(f);
}

void ig_conv_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = (double)y->h * y->w,
                     .taps = ig_taps(&conv->w),
                     .mr = t->mr,
                     .nr = t->nr,
                     .vector = t->vector,
                     .block = t->block,
                     .cut = &cuts[t->isa],
                     .w = &conv->w,
                     .k = (double)x->c / conv->groups,
                     .oc = (double)y->c / conv->groups,
                     .groups = conv->groups,
                     .reread = conv->w.kw};
    gemm(f, c, call, &g);
}

/*
 * Products of pieces (kernels_cpu/amx/conv.c). Work: 24 products of two tiles by two take as long as 768 multiply-adds of a step's 2048 would.
 * Tiles: four of sums are stored. Gather: a pixel's step is cut. Taps: a step of two panels is.
 */
void ig_pieces_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    enum { PRODUCTS = 768 };
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct ig_pieces p = ig_pieces_of(call);
    double pixels = (double)y->h * y->w, tiles = ceil_of(pixels, IG_PIECES_ROWS), groups = conv->groups, step = 2 * IG_PIECES_STEP;
    double pairs = ceil_of(tiles, 2), panels = ceil_of((double)y->c / groups, t->nr), blocks = ceil_of(2 * pairs, p.tiles);
    double weights = panels * t->nr * (double)x->c / groups * conv->w.kh * conv->w.kw * F, passes = ceil_of(p.steps, p.most);
    f[IG_F_START] = 1;
    f[IG_F_WORK] = PRODUCTS * fmin(1, pixels / pairs / t->mr) * pairs * panels * p.steps * groups;
    f[IG_F_TILES] = pairs * panels * passes * groups;
    f[IG_F_GATHER] = pixels * p.steps * groups;
    f[IG_F_TAPS] = panels * p.steps * blocks * groups;
    f[IG_F_GROUPS] = blocks * passes * groups;
    book_weights(f, c, weights * groups, blocks, weights * groups + ig_operand_bytes(x) + ig_operand_bytes(y));
    ig_book(f, IG_F_A_L2, c, pairs * panels * p.steps * step * groups, fmin(2 * pairs, p.tiles) * p.most * IG_PIECES_STEP);
    ig_book_operands(f, c, call, weights * groups, conv->w.kh * conv->w.kw <= 1);
    ig_overlap(f);
}

void ig_first_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_conv *conv = call->attrs;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = (double)y->h * y->w,
                     .taps = (double)conv->w.kd * conv->w.kh,
                     .k = (double)conv->w.kw * x->c,
                     .mr = t->mr,
                     .nr = t->nr,
                     .vector = t->vector,
                     .block = t->block,
                     .cut = &cuts[t->isa],
                     .oc = y->c,
                     .groups = 1,
                     .reread = 1};
    gemm(f, c, call, &g);
    f[IG_F_X_RUNS_L3] = f[IG_F_X_RUNS_DRAM] = 0;
}

/* One row: every weight is read once. */
void ig_fc_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = (double)y->h * y->w,
                     .taps = 1,
                     .k = (double)x->c,
                     .mr = t->mr,
                     .nr = t->nr,
                     .vector = t->vector,
                     .block = t->block,
                     .cut = &cuts[t->isa],
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
void ig_strassen_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    enum { PRODUCTS = 7, SUMS = 5, BLOCK = 16 };
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    struct gemm g = {.pixels = ceil((double)y->h * y->w / 2),
                     .taps = 1,
                     .k = x->c / 2.,
                     .mr = t->mr,
                     .nr = t->nr,
                     .vector = t->vector,
                     .block = t->block,
                     .cut = &cuts[t->isa],
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
 * F(rows x columns, kh x kw): for each of its points a product of tiles by channels, and transforms of images and results.
 * Weights are read once a block of groups; a block has few, unless the weights do not stay in a cache
 * (kernels_cpu/common/winograd.c).
 */
void ig_winograd_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, t->rows, t->columns);
    double points = ig_winograd_points(&shape), tiles = ceil_of(y->h, shape.rows) * ceil_of(y->w, shape.columns), ic = (double)x->c * shape.kd;
    struct gemm g = {.pixels = tiles, .taps = 1, .k = ic, .mr = t->mr, .nr = t->nr, .oc = y->c, .vector = t->vector};
    double panels = ceil_of(y->c, t->nr), weights = points * panels * t->nr * ic * F, groups = ceil_of(tiles, t->mr);
    double group = points * t->mr * ic * F, in_block = IG_WINOGRAD_NEAR_GROUPS;
    if (weights > IG_WINOGRAD_NEAR_BYTES)
        in_block = fmax(in_block, fmin(ceil_of(IG_WINOGRAD_FAR_TILES, t->mr), floor(IG_WINOGRAD_FAR_BYTES / group)));
    double touched = points * ceil_of(tiles, groups) * (ic + y->c) * F; /* of a group: V and M */
    double block = fmin(in_block, groups) * touched, blocks = ceil_of(groups, in_block);
    double all = weights + ig_operand_bytes(x) + ig_operand_bytes(y);
    f[IG_F_START] = 1;
    f[IG_F_WORK] = cycles_of(&g) * ic * points;
    f[IG_F_TILES] = groups * panels * points;
    f[IG_F_GATHER] = tiles * points * ceil_of(ic, VECTOR);   /* vectors of images transformed */
    f[IG_F_TAPS] = tiles * points * ceil_of(y->c, VECTOR);   /* and of results */
    f[IG_F_GROUPS] = tiles;
    double reach = (blocks > 1 ? weights + block : all) / READ_ONLY;
    book_weights(f, c, weights / 2, 2 * blocks, reach); /* prefetched: half of their way from memory is hidden */
    ig_book(f, IG_F_A_L2, c, groups * touched, block);
    ig_book_operands(f, c, call, weights, 0);
    /* Tiles are read and written, not pixels; what the near caches take of it is part of the transforms. */
    f[IG_F_Y_RUNS_L3] = f[IG_F_Y_RUNS_DRAM] = f[IG_F_Y_L2] = f[IG_F_Y_L3] = f[IG_F_A_L2] = 0;
}

/* Tiles that raw weights are transformed for at a time (sizes_of in kernels_cpu/common/winograd.c). */
static double raw_block(const struct ig_call *call, const struct ig_tile *t, double points)
{
    double across = ceil_of(call->out[0].w, t->columns), least = t->mr * ceil_of(IG_WINOGRAD_LEAN_TILES, t->mr);
    double most = t->mr * ceil_of(IG_WINOGRAD_RAW_TILES, t->mr), fit = IG_WINOGRAD_RAW_BYTES / (points * t->mr * call->in[0].c * F);
    if (!t->lean) return fmin(most, fmax(least, t->mr * floor(fit)));
    return across < least ? floor(least / across) * across : fmin(across, most);
}

void ig_winograd_raw_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, t->rows, t->columns);
    double points = ig_winograd_points(&shape), tiles = ceil_of(y->h, t->rows) * ceil_of(y->w, t->columns);
    double block = fmin(tiles, raw_block(call, t, points)), blocks = ceil_of(tiles, block), panels = ceil_of(y->c, t->nr);
    struct gemm g = {.pixels = block, .taps = 1, .k = (double)x->c, .mr = t->mr, .nr = t->nr, .oc = y->c, .vector = t->vector};
    double filter = panels * t->nr * x->c * F, weights = 9 * filter, touched = points * block * ((double)x->c + y->c) * F;
    double depth = t->lean ? IG_WINOGRAD_LEAN_DEPTH : IG_WINOGRAD_RAW_DEPTH;
    f[IG_F_START] = 1;
    f[IG_F_WORK] = cycles_of(&g) * x->c * points * tiles / block;
    f[IG_F_TILES] = blocks * ceil_of(block, t->mr) * panels * points * ceil_of(x->c, depth);
    f[IG_F_GATHER] = tiles * points * ceil_of(x->c, VECTOR);
    f[IG_F_TAPS] = tiles * points * ceil_of(y->c, VECTOR);
    f[IG_F_GROUPS] = tiles;
    f[IG_F_B_AGAIN] = blocks * points * filter;
    double all = weights + ig_operand_bytes(x) + ig_operand_bytes(y);
    book_weights(f, c, weights, blocks, blocks > 1 ? weights + touched : all);
    ig_book(f, IG_F_A_L2, c, tiles / block * touched, touched);
    ig_book_operands(f, c, call, weights, 0);
    f[IG_F_Y_RUNS_L3] = f[IG_F_Y_RUNS_DRAM] = f[IG_F_Y_L2] = f[IG_F_A_L2] = 0; /* as above */
}

/* Straight lines: an output row by a panel, groups of pixels of which the last may go back over some. */
void ig_line_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
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

/*
 * Sums over eight channels side by side, three pixels by four outputs: twelve multiply-adds for seven loads. Pixels that
 * are left of a row go one by one, four sums at a time.
 */
void ig_dot_features(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f)
{
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    double whole = floor((double)y->w / t->mr) * y->h, single = (double)y->h * y->w - whole * t->mr;
    double fours = ceil_of(y->c, t->nr), steps = ceil_of(x->c, VECTOR), weights = (double)x->c * y->c * F;
    double cycles = whole * step_cycles(t->mr, t->nr) + single * step_cycles(1, t->nr);
    f[IG_F_START] = 1;
    f[IG_F_WORK] = cycles * fours * steps;
    f[IG_F_TILES] = (whole + single) * fours;
    f[IG_F_TAPS] = (double)y->h * y->w * y->c; /* sums stored one by one */
    f[IG_F_GROUPS] = whole + single;
    book_weights(f, c, weights, whole + single, weights + ig_operand_bytes(x) / y->h / y->w);
    if (whole + single > 1) ig_book_operands(f, c, call, weights, 0); /* of one pixel the weights are all */
}
