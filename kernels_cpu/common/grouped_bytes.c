/* Row by row, as common/grouped.c: what is new of its input is copied, then block after block goes along it in tiles. */
#include "kernels_cpu/common/grouped_bytes.h"

#include <string.h>

enum { N = IG_BYTES_CHANNELS, MOST = 16 };

const struct ig_bytes_grouped_shape ig_bytes_grouped_vnni = {16, 4, IG_BYTES_TO_UNSIGNED, 0, 0};
const struct ig_bytes_grouped_shape ig_bytes_grouped_avxvnni = {8, 4, IG_BYTES_TO_UNSIGNED, 0, 0};
const struct ig_bytes_grouped_shape ig_bytes_grouped_avx2 = {8, 2, IG_BYTES_TO_UNSIGNED, 0, 0};
const struct ig_bytes_grouped_shape ig_bytes_grouped_dotprod = {8, 4, IG_BYTES_TO_SIGNED, 0, 1};
const struct ig_bytes_grouped_shape ig_bytes_grouped_neon = {8, 4, IG_BYTES_TO_SIGNED, 1, 1};

struct job {
    const struct ig_call *call;
    const struct ig_bytes_head *head;
    const struct ig_window *w;
    const struct ig_bytes_grouped_set *set;
    struct ig_bytes_grouped_cut cut;
    struct ig_range range;
    int32_t first, end;         /* blocks of the range's channels */
    char *ring;                 /* [kh][in_blocks][chunks][pitch][16] */
    const char *rows[IG_BYTES_GROUPED_ROWS]; /* an output row's kernel rows in it */
    const int32_t *blocks;      /* packed weights */
    int32_t second;             /* byte of a pixel's where a block's second vector of channels begins */
    struct ig_bytes_grouped_tile tile;
};

/* Bytes of a pixel before those of vector number `part` of a block. */
static int32_t start_of(const struct ig_bytes_grouped_cut *c, const struct ig_bytes_grouped_shape *shape, int32_t part)
{
    return c->merged > 1 ? part * shape->lanes / c->oc * c->ic * (4 / shape->unit) : 0;
}

/* A vector's channels are in one chunk where they are of several groups, or of one of several. */
static int chunks_are_whole(const struct ig_bytes_grouped_cut *c, const struct ig_bytes_grouped_shape *shape)
{
    const int32_t groups = c->oc < shape->lanes ? shape->lanes / c->oc : 1, bytes = groups * c->ic * (4 / shape->unit);
    for (int32_t part = 0; c->merged > 1 && part < N / shape->lanes; part++)
        if (start_of(c, shape, part) % IG_BYTES_CHUNK + bytes > IG_BYTES_CHUNK) return 0;
    return 1;
}

int ig_bytes_grouped_cut_of(const struct ig_call *call, const struct ig_bytes_grouped_shape *shape, struct ig_bytes_grouped_cut *cut)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct ig_bytes_grouped_cut c = {.ic = call->in[0].c / conv->groups, .oc = call->out[0].c / conv->groups};
    c.merged = N % c.oc == 0 && c.ic <= c.oc ? N / c.oc : 1;
    c.parts = (c.oc + N - 1) / N;
    c.in_blocks = (conv->groups + c.merged - 1) / c.merged;
    c.blocks = c.in_blocks * c.parts;
    c.chunks = (c.merged * c.ic * (4 / shape->unit) + IG_BYTES_CHUNK - 1) / IG_BYTES_CHUNK;
    c.words = (c.ic + shape->unit - 1) / shape->unit;
    c.spread = c.merged > 1 && c.oc < shape->lanes;
    c.pitch = (int64_t)(call->out[0].w - 1) * conv->w.sw + conv->w.kw;
    c.packed = N * (2 + (int64_t)conv->w.kh * conv->w.kw * c.words);
    *cut = c;
    if (shape->fours && (c.ic % 4 || (c.spread && c.ic != c.oc))) return 0;
    return (c.merged > 1 || 2 * c.oc >= N) && chunks_are_whole(&c, shape);
}

static int64_t ring_row_bytes(const struct ig_bytes_grouped_cut *c)
{
    return c->in_blocks * c->chunks * c->pitch * IG_BYTES_CHUNK;
}

size_t ig_bytes_grouped_scratch(const struct ig_call *call, const struct ig_bytes_grouped_shape *shape)
{
    struct ig_bytes_grouped_cut c;
    if (!ig_bytes_grouped_cut_of(call, shape, &c)) return 0;
    return (size_t)(((const struct ig_conv *)call->attrs)->w.kh * ring_row_bytes(&c)) + IG_BYTES_LINE; /* a chunk may be read from its middle */
}

/* The block of output channel c, its first channel, how many it has. */
static int32_t block_of(const struct ig_bytes_grouped_cut *cut, int32_t c)
{
    return cut->merged > 1 ? c / N : c / cut->oc * cut->parts + c % cut->oc / N;
}

static int32_t first_of(const struct ig_bytes_grouped_cut *cut, int32_t block)
{
    return cut->merged > 1 ? block * N : block / cut->parts * cut->oc + block % cut->parts * N;
}

static int32_t width_of(const struct job *job, int32_t block)
{
    const int32_t c = first_of(&job->cut, block), end = job->cut.merged > 1 ? job->call->out[0].c : (block / job->cut.parts + 1) * job->cut.oc;
    return end - c < N ? end - c : N;
}

static char *ring_row(const struct job *job, int32_t y)
{
    return job->ring + y % job->w->kh * ring_row_bytes(&job->cut);
}

void ig_bytes_grouped_copy(char *to, const uint8_t *from, int64_t step, int64_t n, int32_t width, const struct ig_bytes_head *head)
{
    const uint64_t flip = (uint64_t)head->flip * 0x0101010101010101;
    uint64_t half[2];
    for (int64_t x = 0; x < n; x++, to += IG_BYTES_CHUNK, from += step)
        if (width == IG_BYTES_CHUNK) {
            memcpy(half, from, sizeof half);
            half[0] ^= flip, half[1] ^= flip;
            memcpy(to, half, sizeof half);
        } else if (width == IG_BYTES_CHUNK / 2) {
            memcpy(half, from, sizeof *half);
            half[0] ^= flip;
            memcpy(to, half, sizeof *half);
        } else {
            for (int32_t c = 0; c < width; c++) to[c] = (char)(from[c] ^ head->flip);
        }
}

/* Row y of the padded image, as far as the range's channels need it. */
static void copy_row(const struct job *job, int32_t y)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_bytes_grouped_cut *cut = &job->cut;
    const int32_t unit = job->set->shape->unit, numbers = IG_BYTES_CHUNK * unit / 4, iy = y - job->w->top, left = job->w->left;
    const int32_t zero = unit == 4 ? job->head->x_zero ^ job->head->flip : 0, first = job->first / cut->parts, end = (job->end - 1) / cut->parts + 1;
    const int64_t chunk = cut->pitch * IG_BYTES_CHUNK, columns = cut->pitch - left, n = columns < in->w ? columns : in->w;
    char *to = ring_row(job, y) + first * cut->chunks * chunk;
    if (iy < 0 || iy >= in->h || n <= 0) {
        memset(to, zero, (size_t)((end - first) * cut->chunks * chunk));
        return;
    }
    for (int32_t b = first; b < end; b++)
        for (int32_t k = 0; k < cut->chunks; k++, to += chunk) {
            const int32_t all = cut->merged * cut->ic, c = b * all + k * numbers, some = all - k * numbers < numbers ? all - k * numbers : numbers;
            memset(to, zero, (size_t)(left * IG_BYTES_CHUNK));
            job->set->copy(to + left * IG_BYTES_CHUNK, (const uint8_t *)ig_row(in, iy, 1) + c, in->pixel_stride, n,
                           in->c - c < some ? in->c - c : some, job->head);
            memset(to + (left + n) * IG_BYTES_CHUNK, zero, (size_t)(chunk - (left + n) * IG_BYTES_CHUNK));
        }
}

/* Sums of n outputs of a block of `width` channels, whose first pixels are `at` bytes behind the kernel rows'. */
static void sum_tile(struct job *job, const int32_t *block, int64_t at, int32_t n, int32_t width, int32_t *sums)
{
    const struct ig_bytes_grouped_shape *shape = job->set->shape;
    struct ig_bytes_grouped_tile *t = &job->tile;
    for (int32_t ky = 0; ky < t->kh; ky++) t->rows[ky] = job->rows[ky] + at;
    for (int32_t lane = 0; lane < width; lane += shape->lanes) {
        t->start = lane ? job->second : 0;
        t->bias = block + lane;
        t->w = block + 2 * N + (shape->halves ? lane / 2 : lane);
        t->sums = sums + lane;
        job->set->tile(t, n);
    }
}

/* A block's outputs of row y, in equal tiles. */
static void run_block(struct job *job, int32_t y, int32_t block)
{
    const struct ig_operand *out = &job->call->out[0];
    const int32_t *weights = job->blocks + block * job->cut.packed;
    const int32_t most = job->set->most, tiles = (out->w + most - 1) / most, first = first_of(&job->cut, block), width = width_of(job, block);
    const int32_t lo = job->range.c0 > first ? job->range.c0 - first : 0, hi = job->range.c1 - first < width ? job->range.c1 - first : width;
    int64_t at = block / job->cut.parts * job->cut.chunks * job->tile.chunk;
    int32_t sums[(MOST + 1) * N], n = out->w / tiles, longer = out->w % tiles;
    uint8_t *to[MOST], *next = (uint8_t *)ig_row(out, y, 1);
    for (int32_t x = 0, some; x < out->w; x += some, at += (int64_t)some * job->w->sw * IG_BYTES_CHUNK) {
        some = n + (longer-- > 0);
        for (int32_t k = 0; k < some; k++, next += out->pixel_stride) to[k] = next;
        sum_tile(job, weights, at, some, width, sums);
        job->set->put(to, first + lo, some, sums + lo, (const float *)(weights + N) + lo, hi - lo, job->head);
    }
}

static struct job start(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_grouped_set *set)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {.call = call, .head = (const struct ig_bytes_head *)call->weights, .w = &conv->w, .set = set, .range = range,
                      .ring = (char *)scratch};
    struct ig_bytes_grouped_tile *t = &job.tile;
    ig_bytes_grouped_cut_of(call, set->shape, &job.cut);
    job.first = block_of(&job.cut, range.c0);
    job.end = block_of(&job.cut, range.c1 - 1) + 1;
    t->lanes = (const int8_t *)(job.head + 1);
    job.blocks = (const int32_t *)(job.head + 1) + (job.cut.spread ? job.cut.words * N : 0);
    t->chunk = job.cut.pitch * IG_BYTES_CHUNK;
    t->kh = conv->w.kh, t->kw = conv->w.kw, t->stride = conv->w.sw;
    job.second = start_of(&job.cut, set->shape, 1);
    t->words = job.cut.words, t->spread = job.cut.spread;
    return job;
}

void ig_bytes_grouped(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_grouped_set *set)
{
    struct job job = start(call, range, scratch, set);
    const struct ig_window *w = job.w;
    int32_t copied = range.y0 * w->sh; /* rows of the padded image below this one */
    for (int32_t y = range.y0; y < range.y1; y++) {
        if (copied < y * w->sh) copied = y * w->sh;
        for (; copied < y * w->sh + w->kh; copied++) copy_row(&job, copied);
        for (int32_t ky = 0; ky < w->kh; ky++) job.rows[ky] = ring_row(&job, y * w->sh + ky);
        for (int32_t block = job.first; block < job.end; block++) run_block(&job, y, block);
    }
}
