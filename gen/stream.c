#include "gen/stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "graph/late.h"
#include "kernels_cpu/slice.h"

enum {
    SLICE_BYTES = 1 << 19, /* packed at once: they are still in a cache when they are hashed and written */
    HUGE_BYTES = 1 << 21   /* of a huge page */
};

struct item {         /* of the blob, in its order */
    int64_t offset;
    int32_t step, value; /* what a step's kernel packs, or a constant as it is; the other is -1 */
};

struct hash {         /* ig_blob_hash, bytes as they come */
    uint64_t lane[4];
    size_t words;
    unsigned char rest[8];
    size_t n_rest;    /* bytes of the next word that are there */
};

struct stream {
    struct ig_lowered *l;
    ig_sink_fn *sink;
    void *to, *room;  /* where items are packed */
    size_t room_bytes;
    void *rows;       /* of weights that are not there yet */
    size_t rows_bytes;
    int64_t at;       /* bytes that are out */
    struct hash hash;
};

static uint64_t mix(uint64_t lane, uint64_t v)
{
    lane = (lane ^ v) * 0x9e3779b97f4a7c15u;
    return lane ^ lane >> 29;
}

static void take_word(struct hash *h, uint64_t v)
{
    uint64_t *lane = &h->lane[h->words++ & 3];
    *lane = mix(*lane, v);
}

/* Four words at a time, one a lane, that do not wait for each other; the lanes stay in registers. Bytes taken. */
static size_t take_rows(struct hash *h, const unsigned char *p, size_t n)
{
    uint64_t a = h->lane[0], b = h->lane[1], c = h->lane[2], d = h->lane[3], v[4];
    size_t at = 0;
    for (; at + 32 <= n; at += 32) {
        memcpy(v, p + at, 32);
        a = mix(a, v[0]);
        b = mix(b, v[1]);
        c = mix(c, v[2]);
        d = mix(d, v[3]);
    }
    memcpy(h->lane, (uint64_t[]){a, b, c, d}, sizeof h->lane);
    h->words += at / 8;
    return at;
}

static void hash_bytes(struct hash *h, const unsigned char *p, size_t n)
{
    uint64_t v;
    while (n && h->n_rest) {
        h->rest[h->n_rest++] = *p++;
        n--;
        if (h->n_rest < 8) continue;
        memcpy(&v, h->rest, 8);
        take_word(h, v);
        h->n_rest = 0;
    }
    for (; n >= 8 && h->words & 3; n -= 8, p += 8) {
        memcpy(&v, p, 8);
        take_word(h, v);
    }
    size_t rows = h->words & 3 ? 0 : take_rows(h, p, n);
    for (p += rows, n -= rows; n >= 8; n -= 8, p += 8) {
        memcpy(&v, p, 8);
        take_word(h, v);
    }
    for (; n; n--) h->rest[h->n_rest++] = *p++;
}

static uint64_t hash_end(const struct hash *h)
{
    uint64_t all = h->words * 8;
    for (int i = 0; i < 4; i++) all = ((all ^ h->lane[i]) * 0x9e3779b97f4a7c15u) ^ (all >> 31);
    return all;
}

static int put(struct stream *s, const void *bytes, size_t n)
{
    hash_bytes(&s->hash, bytes, n);
    s->at += (int64_t)n;
    return s->sink(s->to, bytes, n);
}

static int pad(struct stream *s, int64_t to)
{
    static const char zeros[4096];
    while (s->at < to) {
        int64_t left = to - s->at;
        if (put(s, zeros, left < (int64_t)sizeof zeros ? (size_t)left : sizeof zeros)) return -1;
    }
    return 0;
}

static void *grow(void *room, size_t *have, size_t n)
{
    if (n <= *have) return room;
    free(room);
    size_t align = n < HUGE_BYTES ? 64 : HUGE_BYTES, bytes = (n + align - 1) / align * align;
    room = aligned_alloc(align, bytes);
    if (!room) abort();
    if (align == HUGE_BYTES) madvise(room, bytes, MADV_HUGEPAGE); /* one fault instead of 512 */
    *have = n;
    return room;
}

/* Zeroed, as kernels leave out what pads their panels. */
static void *room(struct stream *s, size_t n)
{
    s->room = grow(s->room, &s->room_bytes, n);
    return memset(s->room, 0, n);
}

/* Rows [first, end) of `rows`; NULL: they cannot be read. */
static void *late_rows(struct stream *s, const struct ig_late *late, int64_t first, int64_t end, int64_t rows)
{
    s->rows = grow(s->rows, &s->rows_bytes, (size_t)(late->bytes / rows * (end - first)));
    return ig_late_read(late, first, end, rows, s->rows) ? NULL : s->rows;
}

static int put_packed(struct stream *s, const struct ig_kernel *k, const struct ig_call *call)
{
    size_t n = k->pack(call, NULL);
    k->pack(call, room(s, n));
    return put(s, s->room, n);
}

static int put_slices(struct stream *s, const struct ig_kernel *k, const struct ig_call *call, int32_t step,
                      const struct ig_late *late)
{
    int32_t all = call->out[0].c;
    int64_t bytes = (int64_t)k->pack(call, NULL), chunk = SLICE_BYTES / (bytes / all + 1) / step * step;
    if (chunk < step) chunk = step;
    for (int32_t c = 0; c < all; c += (int32_t)chunk) {
        struct ig_pack_slice slice;
        int32_t end = all - c < chunk ? all : c + (int32_t)chunk;
        ig_slice_call(call, c, end, &slice);
        if (late && !(slice.call.in[1].data = late_rows(s, late, c, end, all))) return -1;
        if (put_packed(s, k, &slice.call)) return -1;
    }
    return 0;
}

static int put_step(struct stream *s, const struct ig_view *views, int32_t step)
{
    const struct ig_plan_step *p = &s->l->plan->steps[step];
    struct ig_call call;
    int32_t images;
    ig_node_call(s->l->graph, views, &s->l->graph->nodes[p->node], &call, &images);
    int32_t at_once = ig_slice_step(p->kernel, &call);
    const struct ig_late *late = call.n_in > 1 ? ig_late_of(s->l->graph, call.in[1].data) : NULL;
    int64_t rows = late && late->from.rank ? late->from.dims[0] : 1;
    if (at_once) return put_slices(s, p->kernel, &call, at_once, late);
    if (late && !(call.in[1].data = late_rows(s, late, 0, rows, rows))) return -1;
    return put_packed(s, p->kernel, &call);
}

static int put_constant(struct stream *s, const struct ig_value *v)
{
    const struct ig_late *late = ig_late_of(s->l->graph, v->data);
    int64_t rows = late && late->from.rank ? late->from.dims[0] : 1;
    const void *data = late ? late_rows(s, late, 0, rows, rows) : v->data;
    return data ? put(s, data, (size_t)ig_bytes(&v->shape)) : -1;
}

static int by_offset(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static struct item *list_items(const struct ig_lowered *l, int32_t *n)
{
    struct item *items = calloc((size_t)l->plan->n_steps + (size_t)l->graph->n_values + 1, sizeof *items);
    if (!items) abort();
    *n = 0;
    for (int32_t i = 0; i < l->plan->n_steps; i++)
        if (l->packed[i] >= 0) items[(*n)++] = (struct item){l->packed[i], i, -1};
    for (int32_t v = 0; v < l->graph->n_values; v++)
        if (l->consts[v] >= 0) items[(*n)++] = (struct item){l->consts[v], -1, v};
    qsort(items, (size_t)*n, sizeof *items, by_offset);
    return items;
}

int ig_stream_weights(struct ig_lowered *l, ig_sink_fn *sink, void *to)
{
    const struct ig_graph *g = l->graph;
    const uint64_t k = 0x9e3779b97f4a7c15u;
    struct stream s = {.l = l, .sink = sink, .to = to, .hash = {.lane = {k, k << 1, k << 2, k << 3}}};
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    int32_t n, bad = 0;
    struct item *items = list_items(l, &n);
    if (!views) abort();
    for (int32_t v = 0; v < g->n_values; v++) views[v] = l->plan->buffers[v].view;
    for (int32_t i = 0; i < n && !bad; i++) {
        int32_t v = items[i].value;
        bad = pad(&s, items[i].offset);
        if (!bad) bad = v >= 0 ? put_constant(&s, &g->values[v]) : put_step(&s, views, items[i].step);
    }
    if (!bad) bad = pad(&s, l->model.weights_bytes);
    ig_set_weights_hash(l, hash_end(&s.hash));
    free(items);
    free(views);
    free(s.room);
    free(s.rows);
    return bad;
}
