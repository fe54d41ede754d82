/* Blocks of tiles: see winograd.h. */
#include "kernels_cpu/common/winograd.h"

#include <string.h>

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/gemm_packed.h"
#include "kernels_cpu/ref/window.h"

enum {
    NR = 16, MAX_TILES = 60,   /* of a block */
    NEAR_BYTES = IG_WINOGRAD_NEAR_BYTES, NEAR_GROUPS = IG_WINOGRAD_NEAR_GROUPS,
    FAR_TILES = IG_WINOGRAD_FAR_TILES, FAR_BYTES = IG_WINOGRAD_FAR_BYTES,
    M_BYTES = 1 << 20,         /* of a block's M */
    L2_BYTES = 512 << 10,      /* of one core, at least */
    AHEAD_BYTES = 2048         /* prefetch distance of weights that do not fit L2 */
};

struct sizes {                 /* what follows from the call alone */
    int32_t n, high, points;   /* points across, down, of a tile */
    int32_t rows, m, stride;   /* outputs down, across; pixels from one to the next */
    int32_t kd;                /* taps through depth */
    int32_t ic, oc;            /* ic: of all of these */
    int32_t across, down;      /* tiles in a row, rows of tiles in a depth */
    int32_t raw;               /* weights are transformed here, a panel of so many input channels at a time; 0: were */
    int32_t mr;                /* tiles that the micro-kernels take at a time, */
    int32_t at_once;           /* and panels; of raw weights so many are made */
    int32_t groups;            /* of at most mr tiles, in a block */
    int32_t most;              /* tiles in a block; 0: as many as the groups have */
    int32_t depth;             /* input channels of V */
    int32_t chunk;             /* channels of M */
    int32_t panels;            /* packed ones of a point */
    int64_t panel;             /* floats of each, or of those made here */
    int64_t v_row, m_row;      /* floats from a tile to the next */
    int64_t v_plane, m_plane;  /* from a point to the next */
};

struct job {
    const struct ig_call *call;
    const struct ig_winograd_set *set;
    struct ig_range range;
    struct sizes s;
    int32_t first_row;         /* of tiles */
    struct ig_act act;         /* what the output transform cannot do; kind IG_NONE if it can */
    float lo, hi;
    int far, stream;           /* the weights come from memory; each panel is read once a block, */
    int fetch;                 /* and the next fetched meanwhile */
    struct ig_gemm_args gemm;
    const float *bias, *u;     /* packed */
    const float *next;         /* packed weights that are needed after these, if they are to be fetched meanwhile; or NULL */
    const float *filters;      /* of raw weights: panels of 9 taps; */
    float *points;             /* and room for a row of points of one, where u then is, too */
    float *v, *m, *strip;
    float *packed;             /* [group][ic][mr], one point's V as packed kernels want it */
    const float **pixel;       /* [m*stride*(STRIP - 1) + n][high] */
    const float *a[MAX_TILES];
    float *c[MAX_TILES];
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of so many floats, an odd number of cache lines apart, so that they do not fight for the same sets. */
static int64_t odd_lines(int64_t floats)
{
    return ((floats + 15) / 16 | 1) * 16;
}

/* n / to, rounded up. */
static int64_t ratio_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to;
}

/* So many tiles, rounded up to groups. */
static int32_t whole_groups(const struct sizes *s, int32_t tiles)
{
    return (int32_t)ratio_up(tiles, s->mr) * s->mr;
}

/*
 * Lean blocks, where room is dear: whole rows of tiles without gaps, and V of all input channels and M of a panel,
 * or V of some and M of all panels, which is less where there are few.
 */
static void make_lean(struct sizes *s, int64_t tiles)
{
    int32_t least = whole_groups(s, IG_WINOGRAD_LEAN_TILES), most = whole_groups(s, IG_WINOGRAD_RAW_TILES);
    int32_t ic = (int32_t)ratio_up(s->ic, NR) * NR, oc = (int32_t)ratio_up(s->panels, s->at_once) * s->at_once * NR;
    int some = IG_WINOGRAD_LEAN_DEPTH + oc < ic + NR;
    s->most = s->across < least ? least / s->across * s->across : (int32_t)min64(s->across, most);
    s->most = (int32_t)min64(s->most, tiles);
    s->groups = (int32_t)ratio_up(s->most, s->mr);
    s->raw = (int32_t)min64(s->raw, some || s->high < s->n ? IG_WINOGRAD_LEAN_DEPTH : IG_WINOGRAD_RAW_DEPTH);
    s->panel = ig_gemm_panel(1, s->raw, NR);
    s->depth = some ? s->raw : s->ic;
    s->v_row = some ? IG_WINOGRAD_LEAN_DEPTH : ic;
    s->m_row = s->chunk = some ? oc : s->at_once * NR;
}

/* most: tiles of a block, where weights are raw; else 0. */
static struct sizes sizes_of(const struct ig_call *call, int32_t rows, int32_t m, int32_t most, int32_t mr)
{
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, rows, m);
    struct sizes s = {.n = ig_winograd_wide(&shape), .high = ig_winograd_high(&shape), .points = ig_winograd_points(&shape),
                      .rows = shape.rows, .m = shape.columns, .stride = shape.stride, .kd = shape.kd, .mr = mr, .at_once = mr > 6 ? 2 : 1};
    s.ic = call->in[0].c * s.kd;
    s.oc = call->out[0].c;
    int64_t group = (int64_t)s.points * mr * (int64_t)sizeof(float); /* bytes of one float a tile */
    s.across = (int32_t)ratio_up(call->out[0].w, s.m);
    s.down = (int32_t)ratio_up(call->out[0].h / ((const struct ig_conv *)call->attrs)->w.out_d, s.rows);
    s.panels = (int32_t)ratio_up(s.oc, NR);
    s.raw = most ? (int32_t)min64(s.ic, IG_WINOGRAD_RAW_DEPTH) : 0;
    s.panel = ig_gemm_panel(1, most ? s.raw : s.ic, NR);
    s.v_row = odd_lines(s.ic);
    s.depth = s.ic;
    int64_t groups = NEAR_GROUPS;
    if (s.points * s.panels * s.panel * (int64_t)sizeof(float) > NEAR_BYTES)
        groups = min64(ratio_up(FAR_TILES, mr), FAR_BYTES / (group * s.v_row));
    if (groups < NEAR_GROUPS) groups = NEAR_GROUPS;
    if (most) groups = min64(ratio_up(most, mr), IG_WINOGRAD_RAW_BYTES / (group * s.v_row));
    if (most && groups < ratio_up(IG_WINOGRAD_LEAN_TILES, mr)) groups = ratio_up(IG_WINOGRAD_LEAN_TILES, mr);
    int64_t tiles = (int64_t)s.across * ratio_up(call->out[0].h, s.rows);
    s.groups = (int32_t)min64(groups, ratio_up(tiles, mr));
    int64_t chunks = ratio_up(group * s.groups * s.oc, M_BYTES);
    s.chunk = most ? s.at_once * NR : (int32_t)ratio_up(s.panels, min64(chunks, s.panels)) * NR;
    s.m_row = odd_lines(s.chunk);
    if (most == IG_WINOGRAD_LEAN_TILES) make_lean(&s, tiles);
    tiles = s.most ? s.most : s.groups * mr;
    s.v_plane = odd_lines(tiles * s.v_row);
    s.m_plane = odd_lines(tiles * s.m_row);
    return s;
}

/* Pixels of a strip. */
static size_t strip_pixels(const struct sizes *s)
{
    return (size_t)(s->m * s->stride * (IG_WINOGRAD_STRIP - 1) + s->n) * (size_t)s->high;
}

static size_t table_bytes(const struct sizes *s)
{
    return (strip_pixels(s) * sizeof(void *) + 63) & ~(size_t)63;
}

static size_t strip_floats(const struct sizes *s)
{
    return strip_pixels(s) * (s->mr > 6 ? IG_WINOGRAD_LANES : IG_WINOGRAD_LANES / 2); /* who has many rows has long vectors */
}

/* A row of points of the panels that are made at once. */
static size_t raw_floats(const struct sizes *s)
{
    return s->raw ? (size_t)odd_lines(s->n * s->at_once * s->panel) : 0;
}

static int64_t packed_floats(const struct sizes *s)
{
    return odd_lines(s->mr * (int64_t)s->ic);
}

static size_t scratch_bytes(const struct sizes *s)
{
    size_t floats = (size_t)s->points * (size_t)(s->v_plane + s->m_plane) + strip_floats(s) + raw_floats(s);
    return table_bytes(s) + floats * sizeof(float);
}

size_t ig_winograd_scratch(const struct ig_call *call, int32_t m, int32_t mr)
{
    struct sizes s = sizes_of(call, m, m, 0, mr);
    return scratch_bytes(&s);
}

size_t ig_winograd_raw_scratch(const struct ig_call *call, int32_t rows, int32_t m, int32_t tiles, int32_t mr)
{
    struct sizes s = sizes_of(call, rows, m, tiles, mr);
    return scratch_bytes(&s);
}

size_t ig_winograd_packed_scratch(const struct ig_call *call, int32_t m)
{
    struct sizes s = sizes_of(call, m, m, 0, IG_PACKED_MR);
    return scratch_bytes(&s) + (size_t)(s.groups * packed_floats(&s)) * sizeof(float);
}

static void split_act(struct job *job, const struct ig_act *act)
{
    float inf = __builtin_inff();
    job->act = *act;
    job->lo = act->kind == IG_RELU ? 0 : act->kind == IG_CLIP ? act->alpha : -inf;
    job->hi = act->kind == IG_CLIP ? act->beta : inf;
    if (act->kind == IG_RELU || act->kind == IG_CLIP) job->act.kind = IG_NONE;
}

/* Weights as they are. */
static void start_raw(struct job *job, float *room)
{
    job->filters = (const float *)job->call->weights;
    job->u = job->points = room;
    job->far = job->stream = job->fetch = 0;
    job->gemm.prefetch = 0;
}

static void start(struct job *job, const struct ig_call *call, struct ig_range range, char *scratch,
                  const struct ig_winograd_set *set)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    memset(job, 0, sizeof *job);
    job->call = call;
    job->set = set;
    job->range = range;
    job->s = sizes_of(call, set->rows, set->m, set->tiles, set->gemm->mr);
    job->first_row = range.y0 / job->s.rows;
    split_act(job, &conv->act);
    int64_t panel_bytes = job->s.panel * (int64_t)sizeof(float), near = L2_BYTES;
    job->bias = (const float *)call->weights;
    job->u = job->bias + job->s.panels * NR;
    job->far = job->s.points * job->s.panels * panel_bytes > IG_WINOGRAD_NEAR_BYTES;
    job->stream = job->far || job->s.chunk / NR * panel_bytes > near || set->gemm->loops > 1;
    job->fetch = job->far || set->gemm->loops > 1;
    job->gemm.taps = job->gemm.groups = 1;
    job->gemm.k = job->s.ic;
    job->gemm.prefetch = job->s.points * job->s.panels * panel_bytes > near ? AHEAD_BYTES : 0;
    job->pixel = (const float **)(void *)scratch;
    job->strip = (float *)(void *)(scratch + table_bytes(&job->s));
    job->v = job->strip + strip_floats(&job->s);
    job->m = job->v + job->s.points * job->s.v_plane;
    if (set->tiles) start_raw(job, job->m + job->s.points * job->s.m_plane);
    else if (set->gemm->packed) job->packed = job->m + job->s.points * job->s.m_plane;
}

/* Addresses of channel k0 of the pixels that `tiles` tiles from (row, column) of the grid on read at tap kz; outside, zeros. */
static void place_pixels(const struct job *job, int32_t row, int32_t column, int32_t tiles, int32_t kz, int32_t k0)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = &((const struct ig_conv *)job->call->attrs)->w;
    const float *zero = (const float *)job->call->zeros;
    int32_t wide = job->s.m * job->s.stride, tall = job->s.rows * job->s.stride, high = job->s.high;
    int32_t columns = wide * (tiles - 1) + job->s.n, x0 = column * wide - w->left;
    int32_t z = ig_tap(row / job->s.down, w->sd, w->front, kz, w->dd), y0 = row % job->s.down * tall - w->top, in_h = in->h / w->in_d;
    for (int32_t i = 0; i < high; i++) {
        int inside = ig_inside(z, w->in_d) && ig_inside(y0 + i, in_h);
        const float *p = inside ? ig_row_f32(in, z * in_h + y0 + i) : NULL, **slot = job->pixel + i;
        for (int32_t k = 0; k < columns; k++, slot += high) {
            int32_t x = x0 + k;
            *slot = p && x >= 0 && x < in->w ? p + x * in->pixel_stride + k0 : zero;
        }
    }
}

/* V of tiles [first, first + count), numbered across the rows of the range, of input channels [k0, k1). */
static void transform_input(const struct job *job, int64_t first, int32_t count, int32_t k0, int32_t k1)
{
    const struct sizes *s = &job->s;
    int32_t channels = (k1 - k0) / s->kd;
    for (int32_t i = 0, n; i < count; i += n) {
        int32_t row = (int32_t)((first + i) / s->across), column = (int32_t)((first + i) % s->across);
        n = (int32_t)min64(min64(count - i, s->across - column), IG_WINOGRAD_STRIP);
        for (int32_t kz = 0; kz < s->kd; kz++) {
            place_pixels(job, job->first_row + row, column, n, kz, k0);
            struct ig_winograd_in in = {job->pixel, n, channels, job->strip, job->v + i * s->v_row + kz * channels, s->v_row, s->v_plane};
            job->set->in(&in);
        }
    }
}

/* Panel j of a point; of raw weights those from `first` on are there, of as many channels as were made. */
static const float *panel_at(const struct job *job, int32_t point, int32_t j, int32_t first)
{
    const struct sizes *s = &job->s;
    if (!s->raw) return job->u + (point * (int64_t)s->panels + j) * s->panel;
    return job->u + point % s->n * s->at_once * s->panel + (j - first) * ig_gemm_panel(1, job->gemm.k, NR);
}

/* Of raw weights: input channels [k0, k1) of panels [j, end) of a row of points, from `point` on; each has a bias of zeros. */
static void transform_filters(struct job *job, int32_t point, int32_t j, int32_t end, int32_t k0, int32_t k1)
{
    const struct sizes *s = &job->s;
    float *u = job->points;
    for (; j < end; j++, u += ig_gemm_panel(1, k1 - k0, NR)) {
        const float *w = job->filters + j * ig_gemm_panel(9, s->ic, NR) + (1 + 9 * (int64_t)k0) * NR;
        struct ig_winograd_filter args = {w, k1 - k0, point / s->n, u + NR, s->at_once * s->panel};
        for (int32_t k = 0; k < s->n; k++) memset(u + k * args.plane, 0, NR * sizeof *u);
        job->set->filter(&args);
    }
}

/* Panels [j0, j1) of one point by group i of `groups`: `count` tiles from `first` on. */
static void multiply_group(struct job *job, int32_t groups, int32_t i, int32_t point, int32_t first, int32_t count,
                           int32_t j0, int32_t j1)
{
    const struct ig_gemm_set *set = job->set->gemm;
    const struct sizes *s = &job->s;
    struct ig_gemm_args *args = &job->gemm;
    args->a = job->a + first;
    args->c = job->c + first;
    for (int32_t j = j0, n; j < j1; j += n) {
        int32_t left = s->oc - j * NR, wide = left > NR / 2;
        n = set->loops ? left / NR : 1;
        if (n > j1 - j) n = j1 - j;
        if (n < 1) n = 1;
        args->panels = n;
        args->bias = panel_at(job, point, j, j0);
        args->b = args->bias + NR;
        if (job->next)
            ig_gemm_fetch(args, job->next, n * NR, i, groups);
        else if (args->prefetch && set->loops == 1)
            ig_gemm_fetch(args, args->b + AHEAD_BYTES / (int64_t)sizeof(float), NR, 0, 1);
        set->fn[wide][count - 1](args);
        args->c_offset += n * NR * (int64_t)sizeof(float);
        args->r_offset += n * NR * (int64_t)sizeof(float);
    }
}

/* The same of group i, packed. */
static void multiply_packed(const struct job *job, int32_t i, int32_t point, int32_t first, int32_t count,
                            int32_t j0, int32_t j1)
{
    const struct sizes *s = &job->s;
    struct ig_packed_args args = {.a = job->packed + i * packed_floats(s), .k = s->ic, .c = job->c + first,
                                  .c_offset = job->gemm.c_offset};
    for (int32_t j = j0; j < j1; j += (int32_t)args.panels) {
        int32_t left = s->oc - j * NR, whole = left / NR, wide = left > NR / 2;
        args.b = panel_at(job, point, j, j0);
        args.panels = whole < 1 ? 1 : min64(whole, j1 - j);
        job->set->gemm->packed->fn[wide][count - 1](&args);
        args.c_offset += args.panels * NR * (int64_t)sizeof(float);
    }
}

static void pack_groups(struct job *job, int32_t groups, int32_t count, int32_t larger)
{
    for (int32_t i = 0, first = 0, n; i < groups; i++, first += n) {
        n = count + (i < larger);
        job->set->gemm->packed->pack[n - 1](job->a + first, job->gemm.a_offset, 1, job->s.ic,
                                            job->packed + i * packed_floats(&job->s));
    }
}

struct block {
    int64_t first;                  /* tile */
    int32_t groups, count, larger;  /* `larger` groups of count + 1 tiles, then others of count */
};

/* The panels that are needed after those before `end` of a point, while channels [c0, c1) are computed. */
static const float *panels_after(const struct job *job, int32_t point, int32_t end, int32_t c0, int32_t c1)
{
    int32_t last = c1 < job->range.c1 ? (c1 + NR - 1) / NR : job->range.c0 / NR;
    if (end * NR < c1) return panel_at(job, point, end, 0);
    return point + 1 < job->s.points ? panel_at(job, point + 1, c0 / NR, 0) : panel_at(job, 0, last, 0);
}

/* M of channels [c0, c1) for the block's tiles: `larger` groups of count + 1, then others of count. */
static void multiply(struct job *job, int32_t groups, int32_t count, int32_t larger, int32_t c0, int32_t c1)
{
    const struct sizes *s = &job->s;
    int32_t end = (c1 + NR - 1) / NR, step = !job->stream ? end - c0 / NR : job->set->gemm->loops > 1 ? job->set->gemm->loops : 1;
    for (int32_t point = 0; point < s->points; point++) {
        job->gemm.a_offset = point * s->v_plane * (int64_t)sizeof(float);
        if (job->packed) pack_groups(job, groups, count, larger);
        for (int32_t j = c0 / NR, to; j < end; j = to) {
            to = (int32_t)min64(end, j + step);
            job->next = job->fetch ? panels_after(job, point, to, c0, c1) : NULL;
            for (int32_t i = 0, first = 0, n; i < groups; i++, first += n) {
                n = count + (i < larger);
                job->gemm.c_offset = (point * s->m_plane + j * NR - c0) * (int64_t)sizeof(float);
                if (job->packed)
                    multiply_packed(job, i, point, first, n, j, to);
                else
                    multiply_group(job, groups, i, point, first, n, j, to);
            }
        }
    }
}

/*
 * The same from raw weights, panels [j, end), of input channels [from, to), which V has: products of so many of them are added
 * to those before.
 */
static void multiply_raw(struct job *job, const struct block *b, int32_t j, int32_t end, int32_t c0, int32_t from, int32_t to)
{
    const struct sizes *s = &job->s;
    for (int32_t k0 = from, k1; k0 < to; k0 = k1) {
        k1 = (int32_t)min64(to, k0 + s->raw);
        job->gemm.k = k1 - k0;
        for (int32_t point = 0; point < s->points; point++) {
            if (point % s->n == 0) transform_filters(job, point, j, end, k0, k1);
            job->gemm.a_offset = (point * s->v_plane + k0 - from) * (int64_t)sizeof(float);
            for (int32_t i = 0, first = 0, n; i < b->groups; i++, first += n) {
                n = b->count + (i < b->larger);
                job->gemm.c_offset = job->gemm.r_offset = (point * s->m_plane + j * NR - c0) * (int64_t)sizeof(float);
                job->gemm.r = k0 ? (const float *const *)job->c + first : NULL;
                multiply_group(job, b->groups, i, point, first, n, j, end);
            }
        }
    }
}

/* Channels [c0, c1) of the output from M, where they begin at `from`, of tile number `tile`, the block's i-th. */
static void transform_tile(const struct job *job, int64_t tile, int32_t i, int32_t c0, int32_t c1, int32_t from)
{
    const struct ig_operand *out = &job->call->out[0], *res = &job->call->in[3];
    const struct sizes *s = &job->s;
    int has_residual = ig_gemm_has_residual(job->call);
    int32_t y = (job->first_row + (int32_t)(tile / s->across)) * s->rows, x = (int32_t)(tile % s->across) * s->m;
    int32_t rows = (int32_t)min64(s->rows, job->range.y1 - y), columns = (int32_t)min64(s->m, out->w - x);
    const float *bias = s->raw ? job->filters + c0 / NR * ig_gemm_panel(9, s->ic, NR) : job->bias + c0;
    float *c[IG_WINOGRAD_MAX_M];
    const float *r[IG_WINOGRAD_MAX_M];
    for (int32_t k = 0; k < rows; k++) {
        c[k] = ig_row_f32(out, y + k) + x * out->pixel_stride + c0;
        if (has_residual) r[k] = ig_row_f32(res, y + k) + x * res->pixel_stride + c0;
    }
    struct ig_winograd_out args = {job->m + i * s->m_row + from, s->m_plane, bias, c,
                                   has_residual ? r : NULL, out->pixel_stride, res->pixel_stride, rows, columns,
                                   c1 - c0, job->lo, job->hi};
    job->set->out(&args);
    for (int32_t k = 0; job->act.kind != IG_NONE && k < rows; k++)
        for (int32_t j = 0; j < columns; j++) {
            float *p = c[k] + j * out->pixel_stride;
            job->set->gemm->act(p, p, c1 - c0, &job->act);
        }
}

static void run_block(struct job *job, const struct block *b)
{
    const struct sizes *s = &job->s;
    const struct ig_range *range = &job->range;
    int32_t tiles = b->groups * b->count + b->larger, wide = s->raw ? NR : s->chunk;
    if (s->depth == s->ic) transform_input(job, b->first, tiles, 0, s->ic);
    for (int32_t c0 = range->c0, c1; c0 < range->c1; c0 = c1) {
        c1 = (int32_t)min64(range->c1, c0 + s->chunk);
        if (!s->raw) multiply(job, b->groups, b->count, b->larger, c0, c1);
        for (int32_t k0 = 0; s->raw && k0 < s->ic; k0 += s->depth) {
            int32_t k1 = (int32_t)min64(s->ic, k0 + s->depth);
            if (s->depth < s->ic) transform_input(job, b->first, tiles, k0, k1);
            for (int32_t j = c0 / NR, end; j * NR < c1; j = end) {
                end = (int32_t)min64(ratio_up(c1, NR), j + s->at_once);
                multiply_raw(job, b, j, end, c0, k0, k1);
            }
        }
        for (int32_t i = 0; i < tiles; i++)
            for (int32_t c = c0; c < c1; c += wide)
                transform_tile(job, b->first + i, i, c, (int32_t)min64(c1, c + wide), c - c0);
    }
}

void ig_winograd(const struct ig_call *call, struct ig_range range, void *scratch,
                 const struct ig_winograd_set *set)
{
    struct job job;
    start(&job, call, range, (char *)scratch, set);
    const struct sizes *s = &job.s;
    int64_t tiles = ratio_up(range.y1 - range.y0, s->rows) * s->across, groups = ratio_up(tiles, s->mr);
    int32_t count = (int32_t)(tiles / groups);
    int64_t larger = tiles - groups * count; /* the first groups have one tile more */
    for (int32_t i = 0; i < s->groups * s->mr; i++) {
        job.a[i] = job.v + i * s->v_row;
        job.c[i] = job.m + i * s->m_row;
    }
    struct block b = {.first = 0};
    for (; s->most && b.first < tiles; b.first += s->most) {
        int32_t in_block = (int32_t)min64(s->most, tiles - b.first);
        b.groups = (int32_t)ratio_up(in_block, s->mr);
        b.count = in_block / b.groups;
        b.larger = in_block % b.groups;
        run_block(&job, &b);
    }
    for (int64_t g = 0; !s->most && g < groups; g += s->groups) {
        b.groups = (int32_t)min64(s->groups, groups - g);
        b.count = count;
        b.larger = (int32_t)min64(b.groups, larger > g ? larger - g : 0);
        run_block(&job, &b);
        b.first += b.groups * count + b.larger;
    }
}
