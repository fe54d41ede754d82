/* Blocks of pairs; the seven products of a block by a pair of panels, then their sums: see strassen.h. */
#include "kernels_cpu/common/strassen.h"

#include <string.h>

enum {
    MOST_GROUPS = 16,        /* of a block */
    SUM_BYTES = 384 << 10,   /* of a block's sums, so that they stay in L2; a group's at least */
    GAP = 16,                /* floats between the sums, which else would meet in one cache set */
    L2_BYTES = 512 << 10,    /* of one core, at least; beyond, weights are streamed */
    AHEAD_BYTES = 2048       /* prefetch distance of streamed weights */
};

struct pairs {               /* of a block: addresses, [groups][mr] */
    const float **in[2];     /* of the upper and the lower pixels */
    float **out[2];
    const float **residual[2];
};

struct job {
    const struct ig_call *call;
    const struct ig_strassen_set *set;
    struct ig_range range;
    struct pairs pairs;
    const float **a[IG_STRASSEN_PRODUCTS]; /* rows of each product's left side, [groups][mr] */
    float *sums;             /* [sum][pair][k + GAP] */
    float *m;                /* [group][product][mr][nr] */
    float *nothing;          /* [oc] where the output of no pixel goes */
    int32_t count[MOST_GROUPS];
    int64_t k;               /* half of the input channels */
    struct ig_gemm_args args;
    struct ig_act act;       /* what lo and hi do not do; IG_NONE if they can */
};

struct walk {                /* over the pairs of a range, in order */
    int32_t y, x;
};

static int32_t block_groups(const struct ig_call *call, int32_t mr)
{
    int64_t bytes = IG_STRASSEN_SUMS * (int64_t)mr * (call->in[0].c / 2 + GAP) * (int64_t)sizeof(float);
    int64_t fit = SUM_BYTES / bytes;
    return fit < 1 ? 1 : fit > MOST_GROUPS ? MOST_GROUPS : (int32_t)fit;
}

size_t ig_strassen_scratch(const struct ig_call *call, int32_t mr, int32_t nr)
{
    size_t groups = (size_t)block_groups(call, mr), slots = groups * (size_t)mr;
    size_t tables = slots * (6 + IG_STRASSEN_PRODUCTS) * sizeof(void *);
    size_t sums = slots * IG_STRASSEN_SUMS * (size_t)(call->in[0].c / 2 + GAP);
    size_t m = slots * IG_STRASSEN_PRODUCTS * (size_t)nr;
    return ((tables + 63) & ~(size_t)63) + (sums + m + (size_t)call->out[0].c) * sizeof(float);
}

static void place_scratch(struct job *job, void *scratch)
{
    int32_t mr = job->set->gemm->mr, nr = job->set->gemm->nr;
    size_t slots = (size_t)(block_groups(job->call, mr) * mr);
    size_t tables = slots * (6 + IG_STRASSEN_PRODUCTS) * sizeof(void *);
    const float **at = (const float **)scratch;
    for (int32_t i = 0; i < 2; i++, at += 3 * slots) {
        job->pairs.in[i] = at;
        job->pairs.out[i] = (float **)(at + slots);
        job->pairs.residual[i] = at + 2 * slots;
    }
    for (int32_t p = 0; p < IG_STRASSEN_PRODUCTS; p++, at += slots) job->a[p] = at;
    job->m = (float *)((char *)scratch + ((tables + 63) & ~(size_t)63));
    job->sums = job->m + slots * IG_STRASSEN_PRODUCTS * (size_t)nr;
    job->nothing = job->sums + slots * IG_STRASSEN_SUMS * (size_t)(job->k + GAP);
}

/* --- pairs --- */

static int32_t pairs_of_row(const struct ig_call *call, int32_t y)
{
    int32_t w = call->out[0].w;
    return y + 1 < call->out[0].h ? w : (w + 1) / 2;
}

static int32_t count_pairs(const struct ig_call *call, struct ig_range range)
{
    int32_t n = 0;
    for (int32_t y = range.y0; y < range.y1; y += 2) n += pairs_of_row(call, y);
    return n;
}

static void place_pixel(struct job *job, int32_t half, int32_t slot, int32_t y, int32_t x)
{
    const struct ig_call *call = job->call;
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0], *r = &call->in[3];
    struct pairs *p = &job->pairs;
    int there = x < out->w;
    p->in[half][slot] = there ? ig_row_f32(in, y * w->sh) + x * w->sw * in->pixel_stride : (const float *)call->zeros;
    p->out[half][slot] = there ? ig_row_f32(out, y) + x * out->pixel_stride : job->nothing;
    if (job->args.r)
        p->residual[half][slot] = there ? ig_row_f32(r, y) + x * r->pixel_stride : job->nothing;
}

static void place_pair(struct job *job, struct walk *w, int32_t slot)
{
    int32_t n = pairs_of_row(job->call, w->y), last = w->y + 1 == job->call->out[0].h;
    place_pixel(job, 0, slot, w->y, w->x);
    place_pixel(job, 1, slot, last ? w->y : w->y + 1, last ? w->x + n : w->x);
    if (++w->x < n) return;
    w->x = 0;
    w->y += 2;
}

/* Left sides: sums 0, 1, -, -, 2, 3, 4; the third product takes the upper pixel's first half, the fourth the lower's second. */
static void place_left(struct job *job, int32_t slot)
{
    static const int8_t sum_of[IG_STRASSEN_PRODUCTS] = {0, 1, -1, -1, 2, 3, 4};
    int32_t slots = block_groups(job->call, job->set->gemm->mr) * job->set->gemm->mr;
    int64_t row = job->k + GAP, plane = slots * row;
    const float *top = job->pairs.in[0][slot], *bottom = job->pairs.in[1][slot];
    float *sums = job->sums + slot * row;
    job->set->sums(top, bottom, job->k, sums, plane);
    for (int32_t p = 0; p < IG_STRASSEN_PRODUCTS; p++)
        if (sum_of[p] >= 0) job->a[p][slot] = sums + sum_of[p] * plane;
    job->a[2][slot] = top;
    job->a[3][slot] = bottom + job->k;
}

static void place_group(struct job *job, struct walk *w, int32_t i, int32_t count)
{
    int32_t mr = job->set->gemm->mr;
    job->count[i] = count;
    for (int32_t m = 0; m < count; m++) {
        place_pair(job, w, i * mr + m);
        place_left(job, i * mr + m);
    }
}

/* --- products --- */

/* Product p of all groups by one pair of panels, whose seven right sides begin at b. */
static void multiply(struct job *job, int32_t p, int32_t groups, const float *b)
{
    const struct ig_gemm_set *gemm = job->set->gemm;
    struct ig_gemm_args *args = &job->args;
    float *rows[IG_GEMM_MAX_MR];
    args->b = b;
    for (int32_t i = 0; i < groups; i++) {
        float *m = job->m + (i * IG_STRASSEN_PRODUCTS + p) * gemm->mr * gemm->nr;
        for (int32_t r = 0; r < job->count[i]; r++) rows[r] = m + r * gemm->nr;
        args->a = job->a[p] + i * gemm->mr;
        if (args->prefetch) ig_gemm_fetch(args, b + job->k * gemm->nr, gemm->nr, i, groups);
        args->c = rows;
        gemm->fn[gemm->nr / IG_GEMM_STEP - 1][job->count[i] - 1](args);
    }
}

static void join(const struct job *job, int32_t i, const float *bias, int32_t channel, const struct ig_gemm_args *end)
{
    const struct pairs *p = &job->pairs;
    int32_t mr = job->set->gemm->mr, at = i * mr;
    struct ig_strassen_tile tile = {
        .m = job->m + i * IG_STRASSEN_PRODUCTS * mr * job->set->gemm->nr,
        .bias = bias,
        .top = p->out[0] + at,
        .bottom = p->out[1] + at,
        .r_top = end->r ? p->residual[0] + at : NULL,
        .r_bottom = end->r ? p->residual[1] + at : NULL,
        .channel = channel,
        .rows = job->count[i],
        .flags = end->flags,
        .lo = end->lo,
        .hi = end->hi,
    };
    job->set->join(&tile);
}

static void activate(const struct job *job, int32_t i)
{
    int32_t c0 = job->range.c0, n = job->range.c1 - c0;
    for (int32_t half = 0; half < 2; half++)
        for (int32_t m = 0; m < job->count[i]; m++) {
            float *c = job->pairs.out[half][i * job->set->gemm->mr + m];
            if (c != job->nothing) job->set->gemm->act(c + c0, c + c0, n, &job->act);
        }
}

static void run_block(struct job *job, int32_t groups)
{
    int32_t nr = job->set->gemm->nr;
    int64_t product = job->k * nr, pair = 2 * nr + IG_STRASSEN_PRODUCTS * product;
    struct ig_gemm_args end = job->args;
    job->args.r = NULL;
    job->args.flags = 0;
    for (int32_t c = job->range.c0; c < job->range.c1; c += 2 * nr) {
        const float *bias = (const float *)job->call->weights + c / (2 * nr) * pair;
        for (int32_t p = 0; p < IG_STRASSEN_PRODUCTS; p++) multiply(job, p, groups, bias + 2 * nr + p * product);
        for (int32_t i = 0; i < groups; i++) join(job, i, bias, c, &end);
    }
    job->args = end;
    for (int32_t i = 0; job->act.kind != IG_NONE && i < groups; i++) activate(job, i);
}

static void set_args(struct job *job, const struct ig_act *act)
{
    const struct ig_call *call = job->call;
    int64_t bytes = IG_STRASSEN_PRODUCTS * job->k * (call->out[0].c / 2) * (int64_t)sizeof(float);
    job->args = (struct ig_gemm_args){.taps = 1, .k = job->k, .bias = (const float *)call->zeros,
                                       .panels = 1, .groups = 1};
    job->args.prefetch = bytes > L2_BYTES ? AHEAD_BYTES : 0;
    if (call->n_in > 3 && call->in[3].data) job->args.r = job->pairs.residual[0];
    job->act = *act;
    if (act->kind == IG_RELU) job->args.flags = IG_GEMM_LO;
    if (act->kind == IG_CLIP) {
        job->args.flags = IG_GEMM_LO | IG_GEMM_HI;
        job->args.lo = act->alpha;
        job->args.hi = act->beta;
    }
    if (job->args.flags) job->act.kind = IG_NONE;
}

void ig_strassen_conv(const struct ig_call *call, struct ig_range range, void *scratch,
                      const struct ig_strassen_set *set)
{
    struct job job = {.call = call, .set = set, .range = range, .k = call->in[0].c / 2};
    struct walk walk = {range.y0, 0};
    int32_t mr = set->gemm->mr, most = block_groups(call, mr);
    int32_t pairs = count_pairs(call, range), groups = (pairs + mr - 1) / mr;
    int32_t count = pairs / groups, larger = pairs - groups * count; /* the first groups have one more */
    place_scratch(&job, scratch);
    set_args(&job, &((const struct ig_conv *)call->attrs)->act);
    memset(job.nothing, 0, (size_t)call->out[0].c * sizeof(float));
    int32_t blocks = (groups + most - 1) / most;
    for (int32_t b = 0, first = 0, n; b < blocks; b++, first += n) {
        n = (groups - first) / (blocks - b);
        for (int32_t i = 0; i < n; i++) place_group(&job, &walk, i, count + (first + i < larger));
        run_block(&job, n);
    }
}
