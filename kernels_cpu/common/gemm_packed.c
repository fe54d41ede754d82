/*
 * Packed pixels: see gemm_packed.h. Weights that stay in L2 are read once per group of pixels, which is then packed
 * right before; for weights that do not, several groups wait packed, and a few panels at a time pass over them.
 */
#include "kernels_cpu/common/gemm_packed.h"

enum {
    WAIT_BYTES = 1 << 20,  /* of packed groups that streamed weights pass over */
    PASS_BYTES = 1 << 17,  /* of weights that pass at a time */
    MOST_GROUPS = 16,
    PANELS = 2,            /* from here on packing pays, */
    PADDING = 6            /* up to one in so many taps that need not be computed with */
};

static int64_t group_floats(int64_t depth)
{
    return (IG_PACKED_MR * depth + 15) & ~(int64_t)15;
}

static int64_t most_groups(int64_t depth)
{
    int64_t n = WAIT_BYTES / (group_floats(depth) * (int64_t)sizeof(float));
    return n < 1 ? 1 : n < MOST_GROUPS ? n : MOST_GROUPS;
}

size_t ig_gemm_packed_bytes(const struct ig_call *call, int64_t depth)
{
    const struct ig_operand *out = &call->out[0];
    int64_t panels = (out->c + IG_PACKED_NR - 1) / IG_PACKED_NR, groups = 1;
    if (panels * ig_gemm_panel(1, depth, IG_PACKED_NR) * (int64_t)sizeof(float) > IG_PACKED_STREAM_BYTES) {
        groups = ((int64_t)out->h * out->w + IG_PACKED_MR - 1) / IG_PACKED_MR;
        if (groups > most_groups(depth)) groups = most_groups(depth);
    }
    return (size_t)(groups * group_floats(depth)) * sizeof(float);
}

void ig_gemm_packed_place(struct ig_gemm_job *job, void *scratch)
{
    job->packed = job->set->packed ? (float *)scratch : NULL;
}

int ig_gemm_packed_pays(const struct ig_gemm_job *job, int32_t groups, int32_t j0, int32_t j1)
{
    if (job->padding * PADDING > groups * job->taps) return 0;
    return job->packed && j1 - j0 >= PANELS && job->taps * job->k >= 8;
}

/* Channels [lo, hi) of a panel by way of the tile. */
static void part_of_panel(struct ig_gemm_job *job, int32_t rows, struct ig_packed_args args, int32_t lo, int32_t hi)
{
    const struct ig_gemm_tables *t = &job->t;
    float *const *c = args.c;
    const float *const *r = args.r;
    int64_t c0 = args.c_offset / (int64_t)sizeof(float) + lo, r0 = args.r_offset / (int64_t)sizeof(float) + lo;
    args.c = t->tile_row;
    args.c_offset = 0;
    args.r = NULL;
    args.flags = 0;
    job->set->packed->fn[1][rows - 1](&args);
    for (int32_t m = 0; m < rows; m++)
        ig_gemm_finish(job, t->tile_row[m] + lo, c[m] + c0, r ? r[m] + r0 : NULL, hi - lo);
}

/* Packed group i by panels [j0, j1) of convolution group g. */
static void panels_of(struct ig_gemm_job *job, int32_t i, const float *packed, int32_t g, int32_t j0, int32_t j1)
{
    const struct ig_gemm_group *group = &job->t.group[i];
    int32_t nr = IG_PACKED_NR, rows = group->count;
    struct ig_packed_args args = {.a = packed, .k = job->taps * job->k, .c = group->c, .r = group->r,
                                  .flags = job->args.flags, .lo = job->args.lo, .hi = job->args.hi};
    for (int32_t j = j0; j < j1; j += (int32_t)args.panels) {
        int32_t channel = g * job->oc + j * nr, width = job->oc - j * nr;
        int32_t lo = job->range.c0 - channel, hi = job->range.c1 - channel;
        if (lo < 0) lo = 0;
        if (hi > width) hi = width;
        args.b = job->weights + (g * (int64_t)job->panels + j) * job->panel;
        args.c_offset = group->c_offset + channel * (int64_t)sizeof(float);
        args.r_offset = group->r_offset + channel * (int64_t)sizeof(float);
        args.panels = lo == 0 && hi >= nr ? (hi / nr < j1 - j ? hi / nr : j1 - j) : 1;
        if (lo == 0 && (hi >= nr || hi == nr / 2))
            job->set->packed->fn[hi >= nr][rows - 1](&args);
        else
            part_of_panel(job, rows, args, lo, hi < nr ? hi : nr);
    }
}

void ig_gemm_packed_run(struct ig_gemm_job *job, int32_t groups, int32_t g, int32_t j0, int32_t j1)
{
    int64_t depth = job->taps * job->k, floats = group_floats(depth);
    int64_t channel = g * (int64_t)job->ic * (int64_t)sizeof(float);
    int streams = job->order == IG_GEMM_GROUPS_INSIDE;
    int32_t most = streams ? (int32_t)most_groups(depth) : 1, step = j1 - j0;
    if (streams) step = (int32_t)(PASS_BYTES / (job->panel * (int64_t)sizeof(float)));
    if (step < 1) step = 1;
    for (int32_t first = 0, n; first < groups; first += n) {
        n = groups - first < most ? groups - first : most;
        for (int32_t i = first; i < first + n; i++) {
            const struct ig_gemm_group *group = &job->t.group[i];
            job->set->packed->pack[group->count - 1](group->a, group->a_offset + channel, job->taps, job->k,
                                                     job->packed + (i - first) * floats);
        }
        for (int32_t j = j0; j < j1; j += step)
            for (int32_t i = first; i < first + n; i++)
                panels_of(job, i, job->packed + (i - first) * floats, g, j, j + step < j1 ? j + step : j1);
    }
}
