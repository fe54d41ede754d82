/*
 * Blocks, groups, panels: see gemm_block.h. `i` is a group of pixels, `j` a panel of channels; all of K in one call,
 * never cut.
 *   IG_GEMM_PANELS_INSIDE:  block > i > j   the better one as long as the weights stay in a cache, also in L3
 *   IG_GEMM_GROUPS_INSIDE:  block > j > i   up to a fifth better where they come from memory; the next panel then
 *                                           comes bit by bit while all groups use this one
 */
#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/gemm_packed.h"

#include <string.h>

enum {
    TABLE_BYTES = IG_GEMM_TABLE_BYTES,
    AHEAD_BYTES = 2048 /* prefetch distance of streamed weights */
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int32_t block_groups(int64_t taps, int32_t mr, int32_t most)
{
    int64_t fit = TABLE_BYTES / (taps * mr * (int64_t)sizeof(void *));
    return (int32_t)(fit < 1 ? 1 : min64(fit, most));
}

int32_t ig_gemm_block_pixels(int64_t taps, int32_t mr)
{
    return block_groups(taps, mr, IG_GEMM_MAX_BLOCK) * mr;
}

size_t ig_gemm_block_bytes(int64_t taps, int32_t mr, int32_t nr, int32_t block)
{
    size_t addresses = (size_t)(block_groups(taps, mr, block) * mr + mr) * (size_t)(taps + 2) + (size_t)taps;
    return ((addresses * sizeof(void *) + 63) & ~(size_t)63) + (size_t)(mr * nr) * sizeof(float);
}

size_t ig_gemm_table_bytes(int64_t taps, int32_t mr)
{
    int32_t tile = mr * IG_GEMM_MAX_NR, spare = tile < IG_GEMM_MAX_GEMV ? IG_GEMM_MAX_GEMV - tile : 0;
    return ig_gemm_block_bytes(taps, mr, IG_GEMM_MAX_NR, IG_GEMM_MAX_BLOCK) + (size_t)spare * sizeof(float);
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
    job->args.groups = 1;
    split_act(job, act);
}

/* Do the pixels of successive rows of o follow each other as those of one row do? */
static int rows_join(const struct ig_operand *o)
{
    return o->row_stride == o->w * o->pixel_stride && o->ring_rows >= o->h;
}

static void place_tables(struct ig_gemm_job *job, void *scratch)
{
    int32_t mr = job->set->mr, pixels = block_groups(job->taps, mr, job->set->block) * mr;
    struct ig_gemm_tables *t = &job->t;
    t->a = (const float **)scratch;
    t->even_a = t->a + pixels * job->taps;
    t->c = (float **)(t->even_a + mr * job->taps);
    t->even_c = t->c + pixels;
    t->r = (const float **)(t->even_c + mr);
    t->even_r = t->r + pixels;
    t->rows = t->even_r + mr;
    size_t end = ig_gemm_block_bytes(job->taps, mr, job->set->nr, job->set->block);
    t->tile = (float *)((char *)scratch + end) - mr * job->set->nr;
    for (int32_t i = 0; i < mr; i++) t->tile_row[i] = t->tile + i * job->set->nr;
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
    int stream = job->panels * job->panel * (int64_t)sizeof(float) > job->set->stream_bytes;
    job->order = stream ? IG_GEMM_GROUPS_INSIDE : IG_GEMM_PANELS_INSIDE;
    job->args.prefetch = stream ? AHEAD_BYTES : 0;
    job->block = block_groups(taps, job->set->mr, job->set->block);
    place_tables(job, scratch);
}

void ig_gemm_finish(const struct ig_gemm_job *job, const float *tile, float *c, const float *r, int32_t n)
{
    for (int32_t i = 0; i < n; i++) c[i] = r ? tile[i] + r[i] : tile[i];
    if (job->args.flags) job->set->act(c, c, n, &job->clamp);
}

static float *moved(float *p, int64_t bytes)
{
    return (float *)((char *)p + bytes);
}

static const float *moved_const(const float *p, int64_t bytes)
{
    return (const float *)((const char *)p + bytes);
}

/* Channels [lo, hi) of a panel whose first channel is `channel`, by way of the tile. */
static void part_of_panel(struct ig_gemm_job *job, const struct ig_gemm_group *group, int64_t a_offset,
                          int32_t channel, int32_t lo, int32_t hi)
{
    const struct ig_gemm_tables *t = &job->t;
    struct ig_gemm_args args = job->args;
    int64_t first = (channel + lo) * (int64_t)sizeof(float);
    args.a_offset = group->a_offset + a_offset;
    args.c = t->tile_row;
    args.c_offset = 0;
    args.r = NULL;
    args.groups = 1;
    args.flags = 0;
    job->set->fn[(hi + IG_GEMM_STEP - 1) / IG_GEMM_STEP - 1][group->count - 1](&args);
    for (int32_t m = 0; m < group->count; m++)
        ig_gemm_finish(job, t->tile_row[m] + lo, moved(group->c[m], group->c_offset + first),
                       group->r ? moved_const(group->r[m], group->r_offset + first) : NULL, hi - lo);
}

/* Groups that lie evenly, one by one the same step on. */
static void take_run(struct ig_gemm_args *args, const struct ig_gemm_group *group)
{
    args->groups = group->run;
    if (group->run == 1) return;
    args->a_step = group[1].a_offset - group->a_offset;
    args->c_step = group[1].c_offset - group->c_offset;
    args->r_step = group[1].r_offset - group->r_offset;
}

/* While `passes` of panels go over a group of a run, the next group's pixels come in, if they lie without gaps. */
static void fetch_pixels(struct ig_gemm_args *args, int32_t pixels, int32_t passes)
{
    int64_t times = passes * (args->k / 4);
    args->ahead = NULL;
    if (args->groups == 1 || args->a_step != pixels * args->k * (int64_t)sizeof(float) || !times) return;
    args->ahead = moved_const(args->a[0], args->a_offset + args->a_step);
    args->ahead_step = (args->a_step + times - 1) / times;
}

/* A run of the block's `groups` groups of pixels by panels [j0, j1) of convolution group g. */
static void tiles(struct ig_gemm_job *job, const struct ig_gemm_group *group, int32_t groups, int32_t g, int32_t j0,
                  int32_t j1)
{
    const struct ig_gemm_set *set = job->set;
    struct ig_gemm_args *args = &job->args;
    int32_t base = g * job->oc, nr = set->nr;
    int64_t a_offset = g * (int64_t)job->ic * (int64_t)sizeof(float);
    args->a = group->a + group->tap * set->mr;
    args->taps = group->taps;
    args->unused = (job->taps - group->taps) * job->k * nr * (int64_t)sizeof(float);
    args->a_offset = group->a_offset + a_offset;
    args->c = group->c;
    args->r = group->r;
    take_run(args, group);
    for (int32_t j = j0, n; j < j1; j += n) {
        int32_t channel = base + j * nr;
        int32_t lo = job->range.c0 - channel, hi = job->range.c1 - channel, width = job->oc - j * nr;
        args->bias = job->weights + (g * (int64_t)job->panels + j) * job->panel;
        args->b = args->bias + nr + group->tap * job->k * nr;
        args->c_offset = group->c_offset + channel * (int64_t)sizeof(float);
        args->r_offset = group->r_offset + channel * (int64_t)sizeof(float);
        args->panels = n = 1;
        if (lo < 0) lo = 0;
        if (hi > width) hi = width;
        if (hi >= nr) {
            if (set->loops && lo == 0) args->panels = n = (int32_t)min64(hi / nr, j1 - j);
            hi = nr;
        }
        if (job->order == IG_GEMM_GROUPS_INSIDE)
            ig_gemm_fetch(args, args->bias + n * job->panel, n * nr, (int32_t)(group - job->t.group), groups);
        else if (set->loops)
            fetch_pixels(args, group->count, (n + set->loops - 1) / set->loops);
        if (lo == 0 && hi % IG_GEMM_STEP == 0)
            set->fn[hi / IG_GEMM_STEP - 1][group->count - 1](args);
        else
            for (int32_t i = 0; i < group->run; i++) part_of_panel(job, group + i, a_offset, channel, lo, hi);
    }
}

/* The activations that are not a clamp, over the finished channels of a group. */
static void activate(const struct ig_gemm_job *job, const struct ig_gemm_group *group)
{
    int32_t c0 = job->range.c0, n = job->range.c1 - c0;
    for (int32_t m = 0; m < group->count; m++) {
        float *c = moved(group->c[m], group->c_offset) + c0;
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
        if (ig_gemm_packed_pays(job, groups, j0, j1)) {
            ig_gemm_packed_run(job, groups, g, j0, j1);
            continue;
        }
        int32_t step = job->order == IG_GEMM_PANELS_INSIDE ? j1 - j0 : job->set->loops > 1 ? job->set->loops : 1;
        for (int32_t j = j0, end; j < j1; j = end) {
            end = (int32_t)min64(j1, j + step);
            for (int32_t i = 0; i < groups; i += job->t.group[i].run) tiles(job, &job->t.group[i], groups, g, j, end);
        }
    }
    if (job->act.kind != IG_NONE)
        for (int32_t i = 0; i < groups; i++) activate(job, &job->t.group[i]);
}

/* The walk's next pixel in `o`, which has the output's extent. */
static float *pixel_of(const struct ig_operand *o, const struct ig_gemm_walk *w)
{
    return ig_row_f32(o, w->y) + (w->x + (int64_t)w->i * w->x_step) * o->pixel_stride;
}

static int64_t bytes_between(const void *from, const void *to)
{
    return (const char *)to - (const char *)from;
}

/* What all groups that lie evenly share. */
static void start_even(struct ig_gemm_job *job, const struct ig_gemm_walk *w)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    int whole_rows = w->x_step == 1 && w->y_step == 1 && w->width == out->w, has_r = ig_gemm_has_residual(job->call);
    job->even_out = whole_rows && rows_join(out);
    job->even_r = whole_rows && has_r && rows_join(r);
    for (int32_t m = 0; m < job->set->mr; m++) {
        job->t.even_c[m] = (float *)out->data + m * w->x_step * out->pixel_stride;
        if (has_r) job->t.even_r[m] = (const float *)r->data + m * w->x_step * r->pixel_stride;
    }
}

/* The next pixels' taps, outputs and residuals, as far as they have tables of their own. */
static void fill_tables(struct ig_gemm_job *job, struct ig_gemm_walk w, const struct ig_gemm_group *group,
                        ig_gemm_place_fn *place, void *state)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    for (int32_t m = 0, n; m < group->count; m += n) {
        n = (int32_t)min64(group->count - m, w.width - w.i);
        if (group->a != job->t.even_a) place(job, state, &w, group->a + m, n);
        for (int32_t i = 0; group->c != job->t.even_c && i < n; i++)
            group->c[m + i] = pixel_of(out, &w) + i * w.x_step * out->pixel_stride;
        for (int32_t i = 0; group->r && group->r != job->t.even_r && i < n; i++)
            group->r[m + i] = pixel_of(r, &w) + i * w.x_step * r->pixel_stride;
        w.i = 0;
        w.y += w.y_step;
    }
}

/* Is tap `tap` of all the group's pixels in the padding? */
static int is_padding(const struct ig_gemm_job *job, const struct ig_gemm_group *group, int32_t tap)
{
    const float *const *slot = group->a + tap * job->set->mr;
    int32_t m = 0;
    while (m < group->count && slot[m] == (const float *)job->call->zeros) m++;
    return m == group->count;
}

/* Of a group with a table of its own: the taps to compute with. */
static void find_taps(struct ig_gemm_job *job, struct ig_gemm_group *group)
{
    while (group->taps > 1 && is_padding(job, group, group->tap)) group->tap++, group->taps--;
    while (group->taps > 1 && is_padding(job, group, group->tap + group->taps - 1)) group->taps--;
    job->padding += job->taps - group->taps;
}

/* The next `count` pixels as group i of the block. */
static void place_group(struct ig_gemm_job *job, struct ig_gemm_walk *w, int32_t i, int32_t count,
                        ig_gemm_place_fn *place, void *state)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    struct ig_gemm_tables *t = &job->t;
    struct ig_gemm_group *group = &t->group[i];
    int32_t mr = job->set->mr, one_row = w->i + count <= w->width;
    *group = (struct ig_gemm_group){t->a + i * job->taps * mr, t->c + i * mr, NULL, 0, 0, 0, count, 1, 0, (int32_t)job->taps};
    if (job->even && job->even(job, state, w, count, &group->a_offset)) group->a = t->even_a;
    if (one_row || job->even_out) {
        group->c = t->even_c;
        group->c_offset = bytes_between(out->data, pixel_of(out, w));
    }
    if (ig_gemm_has_residual(job->call)) {
        int even = one_row || job->even_r;
        group->r = even ? t->even_r : t->r + i * mr;
        if (even) group->r_offset = bytes_between(r->data, pixel_of(r, w));
    }
    if (group->a != t->even_a || group->c != t->even_c || (group->r && group->r != t->even_r))
        fill_tables(job, *w, group, place, state);
    if (group->a != t->even_a) find_taps(job, group);
    for (w->i += count; w->i >= w->width; w->i -= w->width) w->y += w->y_step;
}

/* Can the micro-kernel go on from a to b? */
static int same_tables(const struct ig_gemm_group *a, const struct ig_gemm_group *b)
{
    return a->a == b->a && a->c == b->c && a->r == b->r && a->count == b->count;
}

static int same_step(const struct ig_gemm_group *a)
{
    return a[1].a_offset - a[0].a_offset == a[2].a_offset - a[1].a_offset &&
           a[1].c_offset - a[0].c_offset == a[2].c_offset - a[1].c_offset &&
           a[1].r_offset - a[0].r_offset == a[2].r_offset - a[1].r_offset;
}

/* Groups that the micro-kernels' own loop can take, joined to runs. */
static void find_runs(struct ig_gemm_job *job, int32_t groups)
{
    struct ig_gemm_group *group = job->t.group;
    for (int32_t i = 0; job->set->loops && i < groups; i += group[i].run)
        for (int32_t k = i + 1; k < groups && same_tables(&group[i], &group[k]); k++) {
            if (k > i + 1 && !same_step(&group[k - 2])) break;
            group[i].run++;
        }
}

/*
 * Groups [from, to) of `count` pixels each, where all pixels lie evenly: two are placed, the others follow. A group may
 * be all the work of a hundred cycles.
 */
static void place_evenly(struct ig_gemm_job *job, struct ig_gemm_walk *w, int32_t from, int32_t to, int32_t count,
                         ig_gemm_place_fn *place, void *state)
{
    struct ig_gemm_group *group = &job->t.group[from];
    int32_t n = to - from, placed = n < 2 ? n : 2;
    for (int32_t i = 0; i < placed; i++) place_group(job, w, from + i, count, place, state);
    if (n <= 2) return;
    int64_t a = group[1].a_offset - group[0].a_offset, c = group[1].c_offset - group[0].c_offset;
    int64_t r = group[1].r_offset - group[0].r_offset;
    for (int64_t i = 2; i < n; i++)
        group[i] = (struct ig_gemm_group){group->a, group->c, group->r, group->a_offset + i * a,
                                          group->c_offset + i * c, group->r_offset + i * r, count, 1, 0, group->taps};
    if (job->set->loops) group->run = n;
    w->i += (n - 2) * count;
    w->y += w->i / w->width * w->y_step;
    w->i %= w->width;
}

void ig_gemm_run(struct ig_gemm_job *job, struct ig_gemm_walk w, ig_gemm_place_fn *place, void *state)
{
    int32_t mr = job->set->mr, most = job->block;
    int64_t pixels = (int64_t)w.rows * w.width, groups = (pixels + mr - 1) / mr;
    int32_t count = (int32_t)(pixels / groups);
    int64_t larger = pixels - groups * count; /* the first groups have one pixel more */
    start_even(job, &w);
    int even = job->even_in && job->even_out && (job->even_r || !ig_gemm_has_residual(job->call));
    for (int64_t first = 0; first < groups; first += most) {
        int32_t n = (int32_t)min64(most, groups - first);
        job->padding = 0;
        if (even) {
            int32_t m = (int32_t)min64(n, larger < first ? 0 : larger - first);
            place_evenly(job, &w, 0, m, count + 1, place, state);
            place_evenly(job, &w, m, n, count, place, state);
        } else {
            for (int32_t i = 0; i < n; i++) place_group(job, &w, i, count + (first + i < larger), place, state);
            find_runs(job, n);
        }
        run_block(job, n);
    }
}
