/* Blocks of tiles of quantised numbers: see winograd_bytes.h. */
#include "kernels_cpu/common/winograd_bytes.h"

#include <string.h>

enum {
    M = IG_WINOGRAD_BYTES_M, N = IG_WINOGRAD_BYTES_N, POINTS = IG_WINOGRAD_BYTES_POINTS, NR = IG_WINOGRAD_BYTES_NR,
    MR = IG_WINOGRAD_BYTES_MR, STRIP = IG_WINOGRAD_BYTES_STRIP, LANES = IG_WINOGRAD_BYTES_LANES, OUTPUTS = IG_WINOGRAD_BYTES_OUTPUTS,
    BLOCK_BYTES = 340 << 10,    /* of a block's V and M, */
    MOST_TILES = 64,            /* but no more tiles than this: transforms of filters take as long as two and a half of them */
    DEPTH = 64,                 /* pairs of input channels that U has at a time, at most */
    LINE = 64,
    PAIR = 2 * IG_WINOGRAD_BYTES_TAPS * 16, /* bytes of a pair's filters of a panel */
    COLUMNS = M * (STRIP - 1) + N           /* of a strip */
};

struct job {
    const struct ig_call *call;
    const struct ig_winograd_bytes_set *set;
    struct ig_range range;
    struct ig_winograd_bytes_cut cut;
    struct ig_bytes_head head;
    const char *panels;         /* behind the head in packed weights */
    int32_t first_row;          /* of tiles */
    int are_sums, are_floats;   /* outputs are; or were sums */
    int32_t wide;               /* bytes of an output */
    struct ig_bytes_floats to_floats; /* how sums become floats, but for what depends on channels */
    int16_t *v, *u, *strip;
    int32_t *m, *sums;
    const uint8_t **pixel;      /* [COLUMNS][6] */
    uint8_t *pad;               /* x_zero, as many as a pixel has */
};

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* n / to, rounded up. */
static int64_t ratio_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to;
}

/* So many numbers of `bytes` are an odd number of cache lines, so that points do not fight for the same sets. */
static int64_t odd_lines(int64_t numbers, int64_t bytes)
{
    return (ratio_up(numbers * bytes, LINE) | 1) * LINE / bytes;
}

/* The most tiles of so many channels that a block has: as equal ones as can be. */
static int32_t tiles_of(int64_t channels, int64_t all)
{
    int64_t most = BLOCK_BYTES / (POINTS * (channels * (int64_t)sizeof(int16_t) + NR * (int64_t)sizeof(int32_t)));
    if (most < MR) most = MR;
    if (most > MOST_TILES) most = MOST_TILES;
    return (int32_t)ratio_up(all, ratio_up(all, most));
}

/* Tiles whose sums are kept: one, where they are outputs as soon as they are made. */
static int64_t kept(const struct ig_winograd_bytes_cut *c)
{
    return c->depth < c->pairs ? c->tiles : 1;
}

struct ig_winograd_bytes_cut ig_winograd_bytes_cut_of(const struct ig_call *call)
{
    const struct ig_operand *out = &call->out[0];
    struct ig_winograd_bytes_cut c = {.across = (int32_t)ratio_up(out->w, M), .pairs = (call->in[0].c + 1) / 2};
    c.v_row = ratio_up(call->in[0].c, LANES) * LANES;
    c.tiles = tiles_of(c.v_row, c.across * ratio_up(out->h, M));
    c.depth = (int32_t)ratio_up(c.pairs, ratio_up(c.pairs, DEPTH));
    c.rows = ig_bytes_become_floats(call) ? 4 : 2;
    c.panel = ratio_up(c.rows * NR * 4 + (int64_t)c.pairs * PAIR, LINE) * LINE;
    c.v_plane = odd_lines(c.tiles * c.v_row, sizeof(int16_t));
    c.u_plane = odd_lines(IG_WINOGRAD_BYTES_HEAD + 2 * NR * (int64_t)c.depth, sizeof(int16_t));
    c.m_plane = odd_lines(c.tiles * (int64_t)NR, sizeof(int32_t));
    return c;
}

static int64_t pixel_bytes(void)
{
    return ratio_up(COLUMNS * N * (int64_t)sizeof(void *), LINE) * LINE;
}

static int64_t pad_bytes(const struct ig_call *call)
{
    return ratio_up(call->in[0].c, LINE) * LINE;
}

size_t ig_winograd_bytes_scratch(const struct ig_call *call)
{
    const struct ig_winograd_bytes_cut c = ig_winograd_bytes_cut_of(call);
    const int64_t shorts = POINTS * c.v_plane + N * c.u_plane + COLUMNS * N * LANES;
    const int64_t words = POINTS * c.m_plane + kept(&c) * OUTPUTS * NR;
    return (size_t)(2 * shorts + 4 * words + pixel_bytes() + pad_bytes(call));
}

/* The parts of scratch. */
static void place(struct job *job, char *scratch)
{
    const struct ig_winograd_bytes_cut *c = &job->cut;
    job->v = (int16_t *)(void *)scratch;
    job->u = job->v + POINTS * c->v_plane;
    job->strip = job->u + N * c->u_plane;
    job->m = (int32_t *)(void *)(job->strip + COLUMNS * N * LANES);
    job->sums = job->m + POINTS * c->m_plane;
    job->pixel = (const uint8_t **)(void *)(job->sums + kept(c) * OUTPUTS * NR);
    job->pad = (uint8_t *)job->pixel + pixel_bytes();
}

/* An odd channel's partner has weights of zero: something is to be there, no matter what. */
static void clear_rest(const struct job *job)
{
    const int32_t ic = job->call->in[0].c;
    for (int32_t p = 0; ic % 2 && p < POINTS; p++)
        for (int32_t t = 0; t < job->cut.tiles; t++) job->v[p * job->cut.v_plane + t * job->cut.v_row + ic] = 0;
}

static void start(struct job *job, char *scratch)
{
    const struct ig_call *call = job->call;
    job->head = *(const struct ig_bytes_head *)call->weights;
    job->panels = (const char *)((const struct ig_bytes_head *)call->weights + 1);
    job->cut = ig_winograd_bytes_cut_of(call);
    job->first_row = job->range.y0 / M;
    job->are_sums = ig_bytes_are_sums(call);
    job->are_floats = ig_bytes_are_floats(call);
    job->wide = ig_type_bytes(call->out[0].shape->type);
    if (job->are_sums) job->head.x_zero = ig_bytes_zero_of(call, &job->head);
    job->to_floats = (struct ig_bytes_floats){.x_scale = ig_bytes_scale_of(call, &job->head), .zero = job->head.x_zero + job->head.shift,
                                              .act = &((const struct ig_conv *)call->attrs)->act};
    place(job, scratch);
    memset(job->pad, job->head.x_zero, (size_t)call->in[0].c);
    clear_rest(job);
}

/* Addresses of the pixels that `tiles` tiles from (row, column) of the grid on read; outside, the padding. */
static void place_pixels(const struct job *job, int32_t row, int32_t column, int32_t tiles)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = &((const struct ig_conv *)job->call->attrs)->w;
    const int32_t columns = M * (tiles - 1) + N, x0 = column * M - w->left, y0 = row * M - w->top;
    for (int32_t i = 0; i < N; i++) {
        const uint8_t *p = y0 + i >= 0 && y0 + i < in->h ? (const uint8_t *)ig_row(in, y0 + i, 1) : NULL, **slot = job->pixel + i;
        for (int32_t x = x0; x < x0 + columns; x++, slot += N) *slot = p && x >= 0 && x < in->w ? p + x * in->pixel_stride : job->pad;
    }
}

/* V of tiles [first, first + count), numbered across the rows of the range. */
static void transform_input(const struct job *job, int32_t first, int32_t count)
{
    const struct ig_winograd_bytes_cut *c = &job->cut;
    for (int32_t i = 0, n; i < count; i += n) {
        const int32_t column = (first + i) % c->across;
        n = min32(min32(count - i, c->across - column), STRIP);
        place_pixels(job, job->first_row + (first + i) / c->across, column, n);
        job->set->in(&(struct ig_winograd_bytes_in){job->pixel, n, job->call->in[0].c, job->head.flip, job->strip, job->v + i * c->v_row,
                                                    c->v_row, c->v_plane});
    }
}

/* The part of packed weights that is needed next, one point's share of it. */
static void fetch(const char *from, int64_t bytes, int32_t point)
{
    const int64_t share = ratio_up(bytes, POINTS * LINE) * LINE;
    for (int64_t at = 0; at < share; at += LINE) __builtin_prefetch(from + point * share + at, 0, 2);
}

/* M of n pairs of input channels, from the k-th on, of one panel for `tiles` tiles. What is fetched behind the last weights does no harm. */
static void multiply(const struct job *job, const char *panel, int32_t k, int32_t n, int32_t tiles)
{
    const struct ig_winograd_bytes_cut *c = &job->cut;
    const char *w = panel + c->rows * NR * 4 + (int64_t)k * PAIR;
    for (int32_t p = 0; p < POINTS; p++) {
        if (p % N == 0) job->set->filter(&(struct ig_winograd_bytes_filter){(const int8_t *)w, n, p / N, job->u, c->u_plane});
        fetch(w + (int64_t)n * PAIR, (int64_t)n * PAIR, p);
        job->set->product(&(struct ig_winograd_bytes_product){job->v + p * c->v_plane + 2 * k, job->u + p % N * c->u_plane, c->v_row, n, tiles,
                                                              job->m + p * c->m_plane});
    }
}

/* Sums of the block's i-th tile, to which those of pairs from the k-th on are added. */
static int32_t *add_up(const struct job *job, const char *panel, int32_t k, int32_t i)
{
    const int32_t *bias = (const int32_t *)(const void *)panel;
    int32_t *sums = job->sums + (kept(&job->cut) > 1 ? i : 0) * OUTPUTS * NR;
    job->set->sums(&(struct ig_winograd_bytes_sums){job->m + i * NR, job->cut.m_plane, k ? sums : bias, k ? NR : 0, sums});
    return sums;
}

/* n sums of `pixels` pixels to outputs from channel c on. */
static void put(const struct job *job, uint8_t *const *to, int32_t c, int32_t pixels, const int32_t *sums, const int32_t *panel, int32_t n)
{
    const float *scale = (const float *)(const void *)(panel + NR);
    struct ig_bytes_floats f = job->to_floats;
    f.total = panel + NR, f.scale = scale + NR, f.bias = job->head.has_bias ? f.scale + NR : NULL;
    if (job->are_sums) ig_bytes_put_pixels(to, c, pixels, sums, n, &f, ig_bytes_become_floats(job->call) ? job->set->floats : NULL);
    else if (!job->are_floats) job->set->put(to, c, pixels, sums, scale, n, &job->head);
    for (int32_t i = 0; job->are_floats && i < pixels; i++) ig_bytes_put_floats((float *)(void *)to[i] + c, sums + i * NR, scale, n);
}

/* Outputs of tile number `tile`. */
static void put_tile(const struct job *job, int32_t tile, int32_t c, const char *panel, const int32_t *sums)
{
    const struct ig_operand *out = &job->call->out[0];
    const int32_t y = (job->first_row + tile / job->cut.across) * M, x = tile % job->cut.across * M;
    const int32_t rows = min32(M, job->range.y1 - y), columns = min32(M, out->w - x), n = min32(NR, job->range.c1 - c);
    const int64_t step = out->pixel_stride * job->wide;
    uint8_t *to[OUTPUTS];
    for (int32_t k = 0; k < rows; k++) {
        uint8_t *at = (uint8_t *)ig_row(out, y + k, job->wide) + x * step;
        for (int32_t j = 0; j < columns; j++, at += step) to[k * M + j] = at;
    }
    const int32_t at_once = columns == M ? rows : 1, *heads = (const int32_t *)(const void *)panel;
    for (int32_t k = 0; k < rows; k += at_once) put(job, to + k * M, c, at_once * columns, sums + k * M * NR, heads, n);
}

/* Channels from c on, a panel, of n tiles from `first` on, whose V is there. */
static void run_panel(const struct job *job, int32_t c, int32_t first, int32_t n)
{
    const int32_t pairs = job->cut.pairs;
    const char *panel = job->panels + c / NR * job->cut.panel;
    for (int32_t k = 0, some; k < pairs; k += some) {
        some = min32(job->cut.depth, pairs - k);
        multiply(job, panel, k, some, n);
        for (int32_t i = 0; i < n; i++) {
            const int32_t *sums = add_up(job, panel, k, i);
            if (k + some == pairs) put_tile(job, first + i, c, panel, sums);
        }
    }
}

void ig_winograd_bytes(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_winograd_bytes_set *set)
{
    struct job job = {.call = call, .set = set, .range = range};
    start(&job, (char *)scratch);
    const int32_t tiles = (int32_t)ratio_up(range.y1 - range.y0, M) * job.cut.across;
    for (int32_t first = 0, n; first < tiles; first += n) {
        n = min32(job.cut.tiles, tiles - first);
        transform_input(&job, first, n);
        for (int32_t c = range.c0; c < range.c1; c += NR) run_panel(&job, c, first, n);
    }
}
