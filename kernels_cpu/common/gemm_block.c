/*
 * Blocks, groups, panels: see gemm_block.h. `i` is a group of pixels, `j` a panel of channels; all of K in one call,
 * never cut.
 *   packed weights stay in L2:  block > i > j   (a group's pixels are read from L1 by all panels)
 *   they do not:                block > j > i   (a panel is read once per block)
 */
#include "kernels_cpu/common/gemm_packed.h"

#include <string.h>

enum {
    TABLE_BYTES = 1 << 16, /* of addresses; fewer groups a block where there are very many taps */
    AHEAD_BYTES = 2048     /* prefetch distance of streamed weights */
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int32_t block_groups(int64_t taps, int32_t mr)
{
    int64_t fit = TABLE_BYTES / (taps * mr * (int64_t)sizeof(void *));
    return (int32_t)(fit < 1 ? 1 : min64(fit, IG_GEMM_BLOCK));
}

int32_t ig_gemm_block_pixels(int64_t taps, int32_t mr)
{
    return block_groups(taps, mr) * mr;
}

size_t ig_gemm_table_bytes(int64_t taps, int32_t mr)
{
    size_t addresses = (size_t)ig_gemm_block_pixels(taps, mr) * (size_t)(taps + 2) + (size_t)taps;
    return ((addresses * sizeof(void *) + 63) & ~(size_t)63) + IG_GEMM_MAX_MR * IG_GEMM_MAX_NR * sizeof(float);
}

static void split_act(struct ig_gemm_job *job, const struct ig_act *act)
{
    job->act = job->clamp = *act;
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

void ig_gemm_start(struct ig_gemm_job *job, const struct ig_call *call, const struct ig_gemm_set *set,
                   struct ig_range range, const struct ig_act *act)
{
    memset(job, 0, sizeof *job);
    job->call = call;
    job->set = set;
    job->range = range;
    split_act(job, act);
}

static void place_tables(struct ig_gemm_job *job, void *scratch)
{
    int32_t mr = job->set->mr, pixels = ig_gemm_block_pixels(job->taps, mr);
    struct ig_gemm_tables *t = &job->t;
    t->a = (const float **)scratch;
    t->c = (float **)(t->a + pixels * job->taps);
    t->r = (const float **)(t->c + pixels);
    t->rows = t->r + pixels;
    t->tile = (float *)((char *)scratch + ig_gemm_table_bytes(job->taps, mr)) - IG_GEMM_MAX_MR * IG_GEMM_MAX_NR;
    for (int32_t i = 0; i < mr; i++) t->tile_row[i] = t->tile + i * job->set->nr;
    job->args.r = ig_gemm_has_residual(job->call) ? t->r : NULL;
}

void ig_gemm_size(struct ig_gemm_job *job, int32_t ic, int32_t oc, int64_t taps, int64_t k, const float *weights,
                  void *scratch)
{
    int32_t nr = job->set->nr;
    job->ic = ic;
    job->oc = oc;
    job->taps = job->args.taps = taps;
    job->k = job->args.k = k;
    job->weights = weights;
    job->panel = ig_gemm_panel(taps, k, nr);
    job->panels = (oc + nr - 1) / nr;
    job->stream = job->panels * job->panel * (int64_t)sizeof(float) > job->set->stream_bytes;
    job->args.prefetch = job->stream ? AHEAD_BYTES : 0;
    place_tables(job, scratch);
}

void ig_gemm_finish(const struct ig_gemm_job *job, const float *tile, float *c, const float *r, int32_t n)
{
    for (int32_t i = 0; i < n; i++) c[i] = r ? tile[i] + r[i] : tile[i];
    if (job->args.flags) job->set->act(c, c, n, &job->clamp);
}

/* Channels [lo, hi) of a panel whose first channel is `channel`, by way of the tile. */
static void part_of_panel(struct ig_gemm_job *job, int32_t i, int32_t channel, int32_t lo, int32_t hi)
{
    const struct ig_gemm_tables *t = &job->t;
    int32_t mr = job->set->mr;
    struct ig_gemm_args args = job->args;
    args.c = t->tile_row;
    args.c_offset = 0;
    args.r = NULL;
    args.flags = 0;
    job->set->fn[(hi + IG_GEMM_STEP - 1) / IG_GEMM_STEP - 1][t->count[i] - 1](&args);
    for (int32_t m = 0; m < t->count[i]; m++)
        ig_gemm_finish(job, t->tile_row[m] + lo, t->c[i * mr + m] + channel + lo,
                       job->args.r ? t->r[i * mr + m] + channel + lo : NULL, hi - lo);
}

/* What all panels of group i of pixels and convolution group g share. */
static void take_group(struct ig_gemm_job *job, int32_t i, int32_t g)
{
    struct ig_gemm_args *args = &job->args;
    int32_t mr = job->set->mr;
    args->a = job->t.a + i * job->taps * mr;
    args->a_offset = g * (int64_t)job->ic * (int64_t)sizeof(float);
    args->c = job->t.c + i * mr;
    if (args->r) args->r = job->t.r + i * mr;
}

/* Group i of pixels by panels [j0, j1) of convolution group g. */
static void tiles(struct ig_gemm_job *job, int32_t i, int32_t g, int32_t j0, int32_t j1)
{
    const struct ig_gemm_set *set = job->set;
    struct ig_gemm_args *args = &job->args;
    int32_t base = g * job->oc, nr = set->nr;
    take_group(job, i, g);
    for (int32_t j = j0, n; j < j1; j += n) {
        int32_t channel = base + j * nr;
        int32_t lo = job->range.c0 - channel, hi = job->range.c1 - channel, width = job->oc - j * nr;
        args->bias = job->weights + (g * (int64_t)job->panels + j) * job->panel;
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
            set->fn[hi / IG_GEMM_STEP - 1][job->t.count[i] - 1](args);
        else
            part_of_panel(job, i, channel, lo, hi);
    }
}

/* The activations that are not a clamp, over the finished channels of group i. */
static void activate(const struct ig_gemm_job *job, int32_t i)
{
    int32_t c0 = job->range.c0, n = job->range.c1 - c0;
    for (int32_t m = 0; m < job->t.count[i]; m++) {
        float *c = job->t.c[i * job->set->mr + m] + c0;
        job->set->act(c, c, n, &job->act);
    }
}

static void run_block(struct ig_gemm_job *job, int32_t groups)
{
    struct ig_range range = job->range;
    int32_t nr = job->set->nr;
    for (int32_t g = range.c0 / job->oc; g * job->oc < range.c1; g++) {
        int32_t base = g * job->oc;
        int32_t j0 = range.c0 > base ? (range.c0 - base) / nr : 0;
        int32_t j1 = range.c1 - base < job->oc ? (range.c1 - base + nr - 1) / nr : job->panels;
        int32_t step = job->stream ? 1 : j1 - j0;
        if (ig_gemm_packed_pays(job, j0, j1)) {
            ig_gemm_packed_run(job, groups, g, j0, j1);
            continue;
        }
        for (int32_t j = j0; j < j1; j += step)
            for (int32_t i = 0; i < groups; i++) tiles(job, i, g, j, j + step);
    }
    if (job->act.kind != IG_NONE)
        for (int32_t i = 0; i < groups; i++) activate(job, i);
}

/* Addresses of the next n pixels, all of one row, into the tables of outputs and residuals. */
static void place_output(struct ig_gemm_job *job, struct ig_gemm_walk *w, int32_t slot, int32_t n)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    int64_t step = w->x_step * out->pixel_stride;
    if (w->i == 0) w->c = ig_row_f32(out, w->y) + w->x * out->pixel_stride;
    for (int32_t m = 0; m < n; m++, w->c += step) job->t.c[slot + m] = w->c;
    if (!job->args.r) return;
    step = w->x_step * r->pixel_stride;
    if (w->i == 0) w->r = ig_row_f32(r, w->y) + w->x * r->pixel_stride;
    for (int32_t m = 0; m < n; m++, w->r += step) job->t.r[slot + m] = w->r;
}

/* The next `count` pixels as group i of the tables. */
static void place_group(struct ig_gemm_job *job, struct ig_gemm_walk *w, int32_t i, int32_t count,
                        ig_gemm_place_fn *place, void *state)
{
    int32_t mr = job->set->mr;
    job->t.count[i] = count;
    for (int32_t m = 0, n; m < count; m += n) {
        n = (int32_t)min64(count - m, w->width - w->i);
        place_output(job, w, i * mr + m, n);
        place(job, state, w, job->t.a + i * job->taps * mr + m, n);
        w->i += n;
        if (w->i < w->width) continue;
        w->i = 0;
        w->y += w->y_step;
    }
}

void ig_gemm_run(struct ig_gemm_job *job, struct ig_gemm_walk w, ig_gemm_place_fn *place, void *state)
{
    int32_t mr = job->set->mr, most = block_groups(job->taps, mr);
    int64_t pixels = (int64_t)w.rows * w.width, groups = (pixels + mr - 1) / mr;
    int32_t count = (int32_t)(pixels / groups);
    int64_t larger = pixels - groups * count; /* the first groups have one pixel more */
    for (int64_t first = 0; first < groups; first += most) {
        int32_t n = (int32_t)min64(most, groups - first);
        for (int32_t i = 0; i < n; i++) place_group(job, &w, i, count + (first + i < larger), place, state);
        run_block(job, n);
    }
}
