/*
 * Where rings lie. A ring is in use from the firing that writes a row to the last one that reads it; many - what a
 * projection adds, a pixel's normalisation - are empty whenever their reader has read, and lie where others of that kind
 * do. The largest first, each in the lowest place where it meets none that is in use when it is.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/band.h"

static int64_t round_up(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

struct placing {
    int32_t n, words;        /* rings; of each ring's bits */
    const uint64_t *busy;    /* [n * words] */
    int64_t bytes[IG_MAX_BAND], *offset;
    uint32_t placed;
};

static int meet(const struct placing *p, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < p->words; i++)
        if (p->busy[a * p->words + i] & p->busy[b * p->words + i]) return 1;
    return 0;
}

/* A ring that ends behind `at`, and that ring r may not share bytes with; -1: none. */
static int32_t obstacle(const struct placing *p, int32_t r, int64_t at)
{
    for (int32_t i = 0; i < p->n; i++)
        if ((p->placed >> i & 1) && p->offset[i] < at + p->bytes[r] && at < p->offset[i] + p->bytes[i] && meet(p, r, i))
            return i;
    return -1;
}

static int32_t largest(const struct placing *p)
{
    int32_t most = -1;
    for (int32_t i = 0; i < p->n; i++)
        if (!(p->placed >> i & 1) && (most < 0 || p->bytes[i] > p->bytes[most])) most = i;
    return most;
}

static int64_t place(struct placing *p, int64_t from)
{
    int64_t end = from;
    for (int32_t r = largest(p); r >= 0; r = largest(p)) {
        int64_t at = from;
        for (int32_t i = obstacle(p, r, at); i >= 0; i = obstacle(p, r, at)) at = p->offset[i] + p->bytes[i];
        p->offset[r] = at;
        p->placed |= 1u << r;
        if (at + p->bytes[r] > end) end = at + p->bytes[r];
    }
    return end;
}

/* Rings and where they lie; *may: members that could write over another ring. Returns where the scratch ends. */
static int64_t place_rings(const struct ig_part *part, int32_t rows, int32_t chunk, int32_t *rings, int64_t *offset,
                           uint32_t *may)
{
    struct placing p = {.n = part->n_rings, .offset = offset};
    struct ig_ring_life lives[IG_MAX_BAND];
    int64_t computed[IG_MAX_BAND], firings = 0;
    int32_t height = 0, is_cut = chunk < ig_part_rows(part);
    if (is_cut) ig_part_work(part, rows, chunk, computed);
    for (int32_t i = 0; i < part->flow.n; i++) {
        firings += is_cut ? computed[i] : part->rows[i];
        if (part->rows[i] > height) height = part->rows[i];
    }
    p.words = (int32_t)(firings / 64 + 1);
    uint64_t *busy = ig_must_alloc((size_t)p.n * (size_t)p.words, sizeof *busy);
    int32_t *times = ig_must_alloc((size_t)p.n * (size_t)height * 2, sizeof *times);
    if (p.n) memset(times, -1, (size_t)p.n * (size_t)height * 2 * sizeof *times);
    for (int32_t i = 0; i < p.n; i++) {
        int32_t *first = times + (size_t)i * (size_t)height * 2;
        lives[i] = (struct ig_ring_life){height, first, first + height, busy + (size_t)i * (size_t)p.words};
    }
    *may = ig_part_lives(part, rows, chunk, rings, lives);
    for (int32_t i = 0; i < p.n; i++) p.bytes[i] = round_up(rings[i] * part->row_bytes[i]);
    p.busy = busy;
    int64_t end = place(&p, part->scratch_bytes);
    free(busy);
    free(times);
    return end;
}

/* Member i's ring becomes one with that which it writes over; the last ring takes its number. */
static void merge(struct ig_part *part, int32_t i)
{
    int32_t gone = part->ring[i], stays = part->source[i][part->over[i]], last = --part->n_rings;
    if (stays == last) stays = gone;
    part->writers[part->source[i][part->over[i]]] |= part->writers[gone];
    for (int32_t m = 0; m < part->flow.n; m++) {
        for (int32_t k = 0; k < part->flow.n_feeds[m]; k++) {
            int32_t *s = &part->source[m][k];
            *s = *s == gone ? stays : *s == last ? gone : *s;
        }
        part->ring[m] = part->ring[m] == gone ? stays : part->ring[m] == last ? gone : part->ring[m];
    }
    part->root[gone] = part->root[last];
    part->row_bytes[gone] = part->row_bytes[last];
    part->writers[gone] = part->writers[last];
}

int64_t ig_part_scratch(struct ig_part *part, int32_t rows, int32_t chunk, int32_t *rings, int64_t *offset)
{
    uint32_t may, none;
    int64_t apart = place_rings(part, rows, chunk, rings, offset, &may);
    if (!may) return apart;
    struct ig_part merged = *part;
    for (int32_t i = 0; i < part->flow.n; i++)
        if (may >> i & 1) merge(&merged, i);
    int32_t own_rings[IG_MAX_BAND];
    int64_t own_offset[IG_MAX_BAND], bytes = place_rings(&merged, rows, chunk, own_rings, own_offset, &none);
    if (bytes >= apart) return apart;
    *part = merged;
    memcpy(rings, own_rings, sizeof own_rings);
    memcpy(offset, own_offset, sizeof own_offset);
    return bytes;
}
