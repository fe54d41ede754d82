/*
 * The driver of conv_gemm.h: cuts a range into blocks of pixel groups, builds their tables of addresses, and walks
 * the panels. `i` is a group, `j` a panel; all of K in one call, never cut.
 *   packed weights stay in L2:  block > i > j   (a group's pixels are read from L1 by all panels)
 *   they do not:                block > j > i   (a panel is read once per block)
 */
#include "kernels_cpu/common/conv_gemm.h"

#include <string.h>

enum {
    BLOCK = 16,            /* groups whose addresses are in the table at a time */
    TABLE_BYTES = 1 << 16, /* of addresses; fewer groups a block where there are very many taps */
    AHEAD_BYTES = 2048     /* prefetch distance of streamed weights */
};

struct tables {                     /* of one block */
    const float **a;                /* [group][tap][mr] */
    float **c;                      /* [group][mr] */
    const float **r;                /* the same, unused without a residual */
    const float **in_rows;          /* [kh], at most as many as taps */
    float *tile;                    /* [mr][nr], where a panel does not fit the output */
    float *tile_row[IG_GEMM_MAX_MR];
    int32_t rows[BLOCK];            /* pixels of each group */
};

struct job {
    const struct ig_call *call;
    const struct ig_gemm_set *set;
    struct ig_range range;
    struct ig_act act;              /* what the micro-kernel cannot do; kind IG_NONE if it can */
    int32_t groups, ic, oc;         /* ic, oc of one group */
    int64_t taps, k, panel;         /* floats of a panel */
    int32_t panels;                 /* of one group */
    int stream;
    struct ig_gemm_args args;       /* what all tiles share */
    struct tables t;
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static size_t round_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static int32_t block_groups(int64_t taps, int32_t mr)
{
    int64_t fit = TABLE_BYTES / (taps * mr * (int64_t)sizeof(void *));
    return (int32_t)(fit < 1 ? 1 : min64(fit, BLOCK));
}

static size_t table_bytes(int64_t taps, int32_t mr)
{
    return round_up((size_t)block_groups(taps, mr) * (size_t)mr * (size_t)(taps + 2) * sizeof(void *) +
                    (size_t)taps * sizeof(void *)) +
           IG_GEMM_MAX_MR * IG_GEMM_MAX_NR * sizeof(float);
}

static void split_act(struct job *job, const struct ig_act *act)
{
    job->act = *act;
    if (act->kind == IG_RELU) {
        job->args.flags = IG_GEMM_LO;
        job->args.lo = 0;
    } else if (act->kind == IG_CLIP) {
        job->args.flags = IG_GEMM_LO | IG_GEMM_HI;
        job->args.lo = act->alpha;
        job->args.hi = act->beta;
    } else {
        return;
    }
    job->act.kind = IG_NONE;
}

static int has_residual(const struct ig_call *call)
{
    return call->n_in > 3 && call->in[3].data;
}

static void place_tables(struct job *job, void *scratch)
{
    int32_t mr = job->set->mr, groups = block_groups(job->taps, mr);
    struct tables *t = &job->t;
    t->a = (const float **)scratch;
    t->c = (float **)(t->a + groups * job->taps * mr);
    t->r = (const float **)(t->c + groups * mr);
    t->in_rows = t->r + groups * mr;
    if (has_residual(job->call)) job->args.r = t->r;
    t->tile = (float *)((char *)scratch + table_bytes(job->taps, mr)) - IG_GEMM_MAX_MR * IG_GEMM_MAX_NR;
    for (int32_t i = 0; i < mr; i++) t->tile_row[i] = t->tile + i * job->set->nr;
}

static void start(struct job *job, const struct ig_call *call, const struct ig_gemm_set *set,
                  struct ig_range range, const struct ig_act *act)
{
    memset(job, 0, sizeof *job);
    job->call = call;
    job->set = set;
    job->range = range;
    split_act(job, act);
}

/* Sizes of one group, once taps, k, groups and oc are set. */
static void size_job(struct job *job)
{
    int32_t nr = job->set->nr;
    job->panel = ig_gemm_panel(job->taps, job->k, nr);
    job->panels = (job->oc + nr - 1) / nr;
    job->stream = job->panels * job->panel * (int64_t)sizeof(float) > job->set->stream_bytes;
    job->args.taps = job->taps;
    job->args.k = job->k;
    job->args.prefetch = job->stream ? AHEAD_BYTES : 0;
}

/* c = act(tile + r) for `width` channels; the operations of the micro-kernels, in their order. */
static void finish_row(const struct job *job, const float *tile, float *c, const float *r, int32_t width)
{
    float lo = job->args.lo, hi = job->args.hi;
    for (int32_t i = 0; i < width; i++) {
        float v = tile[i];
        if (r) v += r[i];
        if (job->args.flags & IG_GEMM_LO) v = lo > v ? lo : v;
        if (job->args.flags & IG_GEMM_HI) v = hi < v ? hi : v;
        c[i] = v;
    }
}

/* Channels [lo, hi) of a panel whose first channel is `channel`, by way of the tile. */
static void part_of_panel(struct job *job, int32_t i, int32_t channel, int32_t lo, int32_t hi)
{
    const struct tables *t = &job->t;
    int32_t mr = job->set->mr;
    struct ig_gemm_args args = job->args;
    args.c = t->tile_row;
    args.c_offset = 0;
    args.r = NULL;
    args.flags = 0;
    job->set->fn[(hi + IG_GEMM_STEP - 1) / IG_GEMM_STEP - 1][t->rows[i] - 1](&args);
    for (int32_t m = 0; m < t->rows[i]; m++)
        finish_row(job, t->tile_row[m] + lo, t->c[i * mr + m] + channel + lo,
                   job->args.r ? t->r[i * mr + m] + channel + lo : NULL, hi - lo);
}

/* What all panels of group i of pixels and convolution group g share. */
static void take_group(struct job *job, int32_t i, int32_t g)
{
    struct ig_gemm_args *args = &job->args;
    int32_t mr = job->set->mr;
    args->a = job->t.a + i * job->taps * mr;
    args->a_offset = g * (int64_t)job->ic * (int64_t)sizeof(float);
    args->c = job->t.c + i * mr;
    if (args->r) args->r = job->t.r + i * mr;
}

/* Group i of pixels by panels [j0, j1) of convolution group g. */
static void tiles(struct job *job, int32_t i, int32_t g, int32_t j0, int32_t j1)
{
    const struct ig_gemm_set *set = job->set;
    struct ig_gemm_args *args = &job->args;
    int32_t base = g * job->oc, nr = set->nr;
    take_group(job, i, g);
    for (int32_t j = j0, n; j < j1; j += n) {
        int32_t channel = base + j * nr;
        int32_t lo = job->range.c0 - channel, hi = job->range.c1 - channel, width = job->oc - j * nr;
        args->bias = (const float *)job->call->weights + (g * (int64_t)job->panels + j) * job->panel;
        args->b = args->bias + nr;
        args->c_offset = args->r_offset = channel * (int64_t)sizeof(float);
        args->panels = n = 1;
        if (lo < 0) lo = 0;
        if (hi > width) hi = width;
        if (hi >= nr) {
            if (set->loops && lo == 0) args->panels = n = (int32_t)min64(hi / nr, j1 - j);
            hi = nr;
        }
        if (lo == 0 && hi % IG_GEMM_STEP == 0)
            set->fn[hi / IG_GEMM_STEP - 1][job->t.rows[i] - 1](args);
        else
            part_of_panel(job, i, channel, lo, hi);
    }
}

/* The activations that are not a clamp, over the finished channels of group i. */
static void activate(const struct job *job, int32_t i)
{
    int32_t c0 = job->range.c0, n = job->range.c1 - c0;
    for (int32_t m = 0; m < job->t.rows[i]; m++) {
        float *c = job->t.c[i * job->set->mr + m] + c0;
        job->set->act(c, c, n, &job->act);
    }
}

static void run_block(struct job *job, int32_t groups)
{
    struct ig_range range = job->range;
    int32_t nr = job->set->nr;
    for (int32_t g = range.c0 / job->oc; g * job->oc < range.c1; g++) {
        int32_t base = g * job->oc;
        int32_t j0 = range.c0 > base ? (range.c0 - base) / nr : 0;
        int32_t j1 = range.c1 - base < job->oc ? (range.c1 - base + nr - 1) / nr : job->panels;
        int32_t step = job->stream ? 1 : j1 - j0;
        for (int32_t j = j0; j < j1; j += step)
            for (int32_t i = 0; i < groups; i++) tiles(job, i, g, j, j + step);
    }
    if (job->act.kind != IG_NONE)
        for (int32_t i = 0; i < groups; i++) activate(job, i);
}

/* A walk over the pixels of a range in order, and their division into groups of nearly equal size. */
struct walk {
    int64_t pixels, groups;
    int32_t width, x, y;
    float *c;              /* output pixel (y, x) */
    const float *r;        /* its residual, or NULL */
    const float **rows;    /* [kh] input row of each ky; NULL: outside */
};

static struct walk walk_range(const struct job *job)
{
    struct ig_range range = job->range;
    int32_t width = job->call->out[0].w, mr = job->set->mr;
    struct walk w = {(int64_t)(range.y1 - range.y0) * width, 0, width, 0, range.y0, NULL, NULL, job->t.in_rows};
    w.groups = (w.pixels + mr - 1) / mr;
    return w;
}

static int32_t group_rows(const struct walk *w, int64_t group)
{
    return (int32_t)((group + 1) * w->pixels / w->groups - group * w->pixels / w->groups);
}

/* Addresses of the next n pixels, all of one row, into the tables of outputs and residuals. */
static void place_output(struct job *job, struct walk *w, int32_t slot, int32_t n)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    if (w->x == 0) {
        w->c = ig_row_f32(out, w->y);
        if (job->args.r) w->r = ig_row_f32(r, w->y);
    }
    for (int32_t m = 0; m < n; m++, w->c += out->pixel_stride) job->t.c[slot + m] = w->c;
    if (!job->args.r) return;
    for (int32_t m = 0; m < n; m++, w->r += r->pixel_stride) job->t.r[slot + m] = w->r;
}

/* Pixels that the walk can do in one go: `most`, or to the end of the row. */
static int32_t run_of(const struct walk *w, int32_t most)
{
    int32_t left = w->width - w->x;
    return left < most ? left : most;
}

static void advance(struct walk *w, int32_t n)
{
    w->x += n;
    if (w->x < w->width) return;
    w->x = 0;
    w->y++;
}

/* The taps of n pixels, taps mr entries apart; those in the padding read the zero pixel. */
static void place_taps(const struct job *job, const struct ig_window *w, const struct walk *at, const float **slot,
                       int32_t n)
{
    const struct ig_operand *in = &job->call->in[0];
    const float *zero = (const float *)job->call->zeros;
    int32_t mr = job->set->mr, x0 = at->x * w->sw - w->left;
    for (int32_t ky = 0; at->x == 0 && ky < w->kh; ky++) {
        int32_t y = at->y * w->sh - w->top + ky * w->dh;
        at->rows[ky] = y >= 0 && y < in->h ? ig_row_f32(in, y) : NULL;
    }
    for (int32_t ky = 0; ky < w->kh; ky++)
        for (int32_t kx = 0; kx < w->kw; kx++, slot += mr) {
            const float *row = at->rows[ky];
            int32_t x = x0 + kx * w->dw;
            for (int32_t m = 0; m < n; m++, x += w->sw)
                slot[m] = row && x >= 0 && x < in->w ? row + x * in->pixel_stride : zero;
        }
}

void ig_gemm_conv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                  const struct ig_gemm_set *set)
{
    struct job job;
    start(&job, call, set, range, &conv->act);
    job.groups = conv->groups;
    job.ic = call->in[0].c / conv->groups;
    job.oc = call->out[0].c / conv->groups;
    job.taps = (int64_t)conv->w.kh * conv->w.kw;
    job.k = job.ic;
    size_job(&job);
    place_tables(&job, scratch);

    struct walk w = walk_range(&job);
    int32_t most = block_groups(job.taps, set->mr);
    for (int64_t first = 0; first < w.groups; first += most) {
        int32_t n = (int32_t)min64(most, w.groups - first);
        for (int32_t i = 0; i < n; i++) {
            job.t.rows[i] = group_rows(&w, first + i);
            for (int32_t m = 0, run; m < job.t.rows[i]; m += run, advance(&w, run)) {
                run = run_of(&w, job.t.rows[i] - m);
                place_output(&job, &w, i * set->mr + m, run);
                place_taps(&job, &conv->w, &w, job.t.a + i * job.taps * set->mr + m, run);
            }
        }
        run_block(&job, n);
    }
}

size_t ig_gemm_conv_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return table_bytes((int64_t)conv->w.kh * conv->w.kw, mr);
}

static const struct ig_window one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};

/* One row: panels are streamed several at a time, as the reading of the weights is all that counts. */
static struct ig_range fc_row(struct job *job, struct ig_range range)
{
    const struct ig_gemm_set *set = job->set;
    const struct ig_call *call = job->call;
    const float *x = ig_row_f32(&call->in[0], range.y0);
    float *c = ig_row_f32(&call->out[0], range.y0);
    const float *r = has_residual(call) ? ig_row_f32(&call->in[3], range.y0) : NULL;
    int32_t width = set->gemv_panels * set->nr, done = range.c0;
    for (; range.c1 - done > width - set->nr; done += width) {
        int32_t n = range.c1 - done < width ? range.c1 - done : width;
        set->gemv(x, job->k, (const float *)call->weights + done / set->nr * job->panel, job->t.tile);
        finish_row(job, job->t.tile, c + done, r ? r + done : NULL, n);
        if (job->act.kind != IG_NONE) set->act(c + done, c + done, n, &job->act);
    }
    range.c0 = done < range.c1 ? done : range.c1;
    return range;
}

void ig_gemm_fc(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_gemm_set *set)
{
    const struct ig_fc *fc = (const struct ig_fc *)call->attrs;
    struct ig_conv conv = {one, 1, fc->act};
    if (range.y1 - range.y0 == 1 && set->gemv) {
        struct job job;
        start(&job, call, set, range, &fc->act);
        job.groups = 1;
        job.oc = call->out[0].c;
        job.taps = 1;
        job.k = job.ic = call->in[0].c;
        size_job(&job);
        place_tables(&job, scratch);
        range = fc_row(&job, range);
        if (range.c0 == range.c1) return;
    }
    ig_gemm_conv(call, &conv, range, scratch, set);
}

size_t ig_gemm_fc_scratch(const struct ig_call *call, int32_t mr)
{
    (void)call;
    return table_bytes(1, mr);
}

/* --- first layer --- */

struct rows {              /* input rows between zeros, slot = row mod n */
    float *data, *zero;    /* zero: a row outside the image */
    int64_t width;         /* floats of a row: all that the output's columns touch */
    int32_t n, filled;     /* rows [.., filled) have been copied */
};

static int64_t first_width(const struct ig_call *call, const struct ig_conv *conv)
{
    return ((call->out[0].w - 1) * (int64_t)conv->w.sw + conv->w.kw) * call->in[0].c;
}

/* Rows that the pixels of one block may touch. */
static int32_t first_rows(const struct ig_call *call, const struct ig_conv *conv, int32_t mr)
{
    int32_t pixels = block_groups(conv->w.kh, mr) * mr, width = call->out[0].w;
    int32_t rows = (pixels + width - 2) / width + 1;
    if (rows > call->out[0].h) rows = call->out[0].h;
    return (rows - 1) * conv->w.sh + (conv->w.kh - 1) * conv->w.dh + 1;
}

static void copy_row(const struct ig_operand *in, const struct ig_conv *conv, int32_t y, float *dst, int64_t width)
{
    int32_t c = in->c;
    const float *src = ig_row_f32(in, y);
    int64_t n = min64(in->w, width / c - conv->w.left);
    memset(dst, 0, (size_t)(conv->w.left * c) * sizeof *dst);
    dst += conv->w.left * c;
    if (in->pixel_stride == c)
        memcpy(dst, src, (size_t)(n * c) * sizeof *dst);
    else
        for (int64_t x = 0; x < n; x++)
            for (int32_t i = 0; i < c; i++) dst[x * c + i] = src[x * in->pixel_stride + i];
    memset(dst + n * c, 0, (size_t)(width - (n + conv->w.left) * c) * sizeof *dst);
}

static void fill_rows(struct rows *rows, const struct ig_operand *in, const struct ig_conv *conv, int32_t end)
{
    for (; rows->filled < end && rows->filled < in->h; rows->filled++)
        copy_row(in, conv, rows->filled, rows->data + rows->filled % rows->n * rows->width, rows->width);
}

/* The taps of n pixels, a kernel row each. */
static void place_rows(const struct job *job, const struct ig_window *w, const struct rows *rows,
                       const struct walk *at, const float **slot, int32_t n)
{
    const struct ig_operand *in = &job->call->in[0];
    int64_t next = w->sw * in->c;
    for (int32_t ky = 0; at->x == 0 && ky < w->kh; ky++) {
        int32_t y = at->y * w->sh - w->top + ky * w->dh;
        at->rows[ky] = y >= 0 && y < in->h ? rows->data + y % rows->n * rows->width : NULL;
    }
    for (int32_t ky = 0; ky < w->kh; ky++, slot += job->set->mr)
        for (int32_t m = 0; m < n; m++)
            slot[m] = at->rows[ky] ? at->rows[ky] + (at->x + m) * next : rows->zero;
}

void ig_gemm_first(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                   const struct ig_gemm_set *set)
{
    struct job job;
    const struct ig_window *win = &conv->w;
    start(&job, call, set, range, &conv->act);
    job.groups = 1;
    job.oc = call->out[0].c;
    job.taps = win->kh;
    job.k = (int64_t)win->kw * call->in[0].c;
    size_job(&job);
    place_tables(&job, scratch);

    struct rows rows = {NULL, NULL, first_width(call, conv), first_rows(call, conv, set->mr), 0};
    int32_t above = range.y0 * win->sh - win->top;
    rows.zero = (float *)((char *)scratch + table_bytes(job.taps, set->mr));
    rows.data = rows.zero + job.k;
    rows.filled = above < 0 ? 0 : above;
    memset(rows.zero, 0, (size_t)job.k * sizeof(float));

    struct walk w = walk_range(&job);
    int32_t most = block_groups(job.taps, set->mr);
    for (int64_t first = 0; first < w.groups; first += most) {
        int32_t n = (int32_t)min64(most, w.groups - first);
        int64_t last = (first + n) * w.pixels / w.groups - 1;
        int32_t y = range.y0 + (int32_t)(last / w.width);
        fill_rows(&rows, &call->in[0], conv, y * win->sh - win->top + (win->kh - 1) * win->dh + 1);
        for (int32_t i = 0; i < n; i++) {
            job.t.rows[i] = group_rows(&w, first + i);
            for (int32_t m = 0, run; m < job.t.rows[i]; m += run, advance(&w, run)) {
                run = run_of(&w, job.t.rows[i] - m);
                place_output(&job, &w, i * set->mr + m, run);
                place_rows(&job, win, &rows, &w, job.t.a + i * job.taps * set->mr + m, run);
            }
        }
        run_block(&job, n);
    }
}

size_t ig_gemm_first_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    int64_t floats = conv->w.kw * (int64_t)call->in[0].c + first_width(call, conv) * first_rows(call, conv, mr);
    return table_bytes(conv->w.kh, mr) + round_up((size_t)floats * sizeof(float));
}
