/*
 * Pointwise convolution by one level of Strassen's algorithm: pairs of pixels, which are those of common/strassen.h, in
 * groups of up to six. A group's halves and their sums are packed, then all pairs of panels pass over them. Weights
 * that do not stay in L2 pass over several groups at a time.
 */
#include "kernels_cpu/common/strassen_packed.h"

#include <stddef.h>
#include <string.h>

#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"

#define AT(member, offset) (offsetof(struct ig_strassen_args, member) == (offset))
_Static_assert(AT(k, 8) && AT(b, 16) && AT(top, 24) && AT(c_offset, 32) && AT(bottom, 40) && AT(r_top, 48) &&
                   AT(r_bottom, 56) && AT(r_offset, 64) && AT(panel_pairs, 72) && AT(flags, 80) && AT(lo, 84) &&
                   AT(hi, 88) && AT(tiles, 96),
               "strassen.S knows these offsets");

enum {
    NR = IG_STRASSEN_NR,
    PAIRS = IG_STRASSEN_PAIRS,
    LEAST = 4,              /* pairs of a micro-kernel; a group of fewer is filled up */
    PASS_BYTES = 1 << 17    /* of weights that pass over waiting groups at a time */
};

ig_strassen_fn ig_strassen_4_neon, ig_strassen_5_neon, ig_strassen_6_neon;
/* Sets S1 to S4 of the halves at `a`, each of `floats`, a multiple of 16; A21 is in the place of S4. */
void ig_strassen_sums_neon(float *a, int64_t floats);

struct group {
    const float *in[2][PAIRS]; /* upper and lower pixels */
    float *out[2][PAIRS];
    const float *r[2][PAIRS];
    int32_t pairs;
};

struct job {
    const struct ig_call *call;
    struct ig_range range;
    struct ig_act act;       /* what lo and hi do not do; IG_NONE if they can */
    struct ig_strassen_args args;
    int64_t pair;            /* floats of a pair of panels */
    int64_t half;            /* packed floats of a half of a group */
    int32_t most;            /* groups of a block */
    float *packed;           /* [group][IG_STRASSEN_HALVES][half] */
    float *nothing;          /* [oc] where the output of no pixel goes */
    int32_t y, x;            /* the next pair */
    struct group group[IG_STRASSEN_GROUPS];
};

static void start(struct job *job, const struct ig_call *call, struct ig_range range, float *scratch)
{
    const struct ig_act *act = &((const struct ig_conv *)call->attrs)->act;
    int32_t flags = act->kind == IG_RELU ? IG_GEMM_LO : act->kind == IG_CLIP ? IG_GEMM_LO | IG_GEMM_HI : 0;
    job->call = call;
    job->range = range;
    job->act = *act;
    if (flags) job->act.kind = IG_NONE;
    job->args = (struct ig_strassen_args){.k = call->in[0].c / 2, .tiles = scratch, .flags = flags};
    if (act->kind == IG_CLIP) {
        job->args.lo = act->alpha;
        job->args.hi = act->beta;
    }
    job->pair = ig_strassen_pair(call->in[0].c);
    job->half = PAIRS * job->args.k;
    job->packed = scratch + IG_STRASSEN_TILES;
    job->most = ig_strassen_block(call->in[0].c, call->out[0].c);
    job->nothing = job->packed + job->most * ig_strassen_group(call->in[0].c);
    job->y = range.y0;
    job->x = 0;
    memset(job->nothing, 0, (size_t)call->out[0].c * sizeof(float));
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

static void place_nothing(const struct job *job, struct group *g, int32_t half, int32_t slot)
{
    g->in[half][slot] = (const float *)job->call->zeros;
    g->out[half][slot] = job->nothing;
    g->r[half][slot] = job->nothing;
}

/* n pixels of row y from x on; those past its end are none. */
static void place_row(const struct job *job, struct group *g, int32_t half, int32_t slot, int32_t y, int32_t x,
                      int32_t n)
{
    const struct ig_call *call = job->call;
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0], *r = &call->in[3];
    const float *from = ig_row_f32(in, y * w->sh) + x * w->sw * in->pixel_stride;
    float *to = ig_row_f32(out, y) + x * out->pixel_stride;
    const float *residual = ig_gemm_has_residual(call) ? ig_row_f32(r, y) + x * r->pixel_stride : NULL;
    for (int32_t end = slot + n; slot < end; slot++, x++) {
        if (x >= out->w) {
            place_nothing(job, g, half, slot);
            continue;
        }
        g->in[half][slot] = from;
        g->out[half][slot] = to;
        g->r[half][slot] = residual;
        from += w->sw * in->pixel_stride;
        to += out->pixel_stride;
        if (residual) residual += r->pixel_stride;
    }
}

static void place_group(struct job *job, struct group *g, int32_t pairs)
{
    g->pairs = pairs < LEAST ? LEAST : pairs;
    for (int32_t i = 0, n; i < pairs; i += n) {
        int32_t row = pairs_of_row(job->call, job->y), last = job->y + 1 == job->call->out[0].h;
        n = row - job->x < pairs - i ? row - job->x : pairs - i;
        place_row(job, g, 0, i, job->y, job->x, n);
        place_row(job, g, 1, i, last ? job->y : job->y + 1, last ? job->x + row : job->x, n);
        job->x += n;
        if (job->x < row) continue;
        job->x = 0;
        job->y += 2;
    }
    for (int32_t i = pairs; i < g->pairs; i++)
        for (int32_t half = 0; half < 2; half++) place_nothing(job, g, half, i);
}

/* --- products --- */

static void pack(const struct job *job, const struct group *g, float *packed)
{
    ig_pack_rows_fn *rows = ig_gemm_packed6x16_neon.packed->pack[g->pairs - 1];
    int64_t k = job->args.k, second = k * (int64_t)sizeof(float), half = job->half;
    rows(g->in[0], 0, 1, k, packed + half);
    rows(g->in[0], second, 1, k, packed + 2 * half);
    rows(g->in[1], second, 1, k, packed + 5 * half);
    rows(g->in[1], 0, 1, k, packed + 6 * half);
    ig_strassen_sums_neon(packed, half);
}

/* A packed group by pairs of panels [j0, j1). */
static void multiply(struct job *job, const struct group *g, const float *packed, int32_t j0, int32_t j1)
{
    static ig_strassen_fn *const fn[] = {ig_strassen_4_neon, ig_strassen_5_neon, ig_strassen_6_neon};
    struct ig_strassen_args *args = &job->args;
    int residual = ig_gemm_has_residual(job->call);
    args->a = packed;
    args->b = (const float *)job->call->weights + j0 * job->pair;
    args->top = g->out[0];
    args->bottom = g->out[1];
    args->r_top = residual ? g->r[0] : NULL;
    args->r_bottom = residual ? g->r[1] : NULL;
    args->c_offset = args->r_offset = j0 * NR * (int64_t)sizeof(float);
    args->panel_pairs = j1 - j0;
    fn[g->pairs - LEAST](args);
}

static void activate(const struct job *job, const struct group *g)
{
    int32_t c0 = job->range.c0, n = job->range.c1 - c0;
    for (int32_t i = 0; i < 2 * g->pairs; i++) {
        float *c = g->out[i % 2][i / 2];
        if (c != job->nothing) ig_act_row_neon(c + c0, c + c0, n, &job->act);
    }
}

static void run_block(struct job *job, int32_t groups)
{
    int64_t pass = PASS_BYTES / (job->pair * (int64_t)sizeof(float)), floats = IG_STRASSEN_HALVES * job->half;
    int32_t j0 = job->range.c0 / NR, j1 = job->range.c1 / NR;
    int32_t step = groups == 1 ? j1 - j0 : pass < 1 ? 1 : (int32_t)pass;
    for (int32_t i = 0; i < groups; i++) pack(job, &job->group[i], job->packed + i * floats);
    for (int32_t j = j0; j < j1; j += step)
        for (int32_t i = 0; i < groups; i++)
            multiply(job, &job->group[i], job->packed + i * floats, j, j + step < j1 ? j + step : j1);
    for (int32_t i = 0; job->act.kind != IG_NONE && i < groups; i++) activate(job, &job->group[i]);
}

void conv_f32_strassen6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct job job;
    int32_t pairs = count_pairs(call, range), groups = (pairs + PAIRS - 1) / PAIRS;
    int32_t count = pairs / groups, larger = pairs - groups * count; /* the first groups have one more */
    start(&job, call, range, (float *)scratch);
    for (int32_t first = 0, n; first < groups; first += n) {
        n = groups - first < job.most ? groups - first : job.most;
        for (int32_t i = 0; i < n; i++) place_group(&job, &job.group[i], count + (first + i < larger));
        run_block(&job, n);
    }
}
