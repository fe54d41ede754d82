/* Orders of items, and the placement that takes them one by one. */
#include "planner/alloc.h"
#include "planner/pack.h"

#include <stdlib.h>

struct weighed { int64_t key[3]; int32_t item; };

static int heavier_first(const void *pa, const void *pb)
{
    const struct weighed *a = pa, *b = pb;
    for (int i = 0; i < 3; i++)
        if (a->key[i] != b->key[i]) return a->key[i] > b->key[i] ? -1 : 1;
    return a->item < b->item ? -1 : 1;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

enum { KINDS = 8, PLAIN_KINDS = 4 };
static const uint64_t seed = 4000000007u; /* of twelve, the one that solves all of Moffitt's problems in the fewest nodes */

/*
 * 0 area; 1 (total, area, length); 2 (length, area, total); 3 size; then area times a seeded factor in [1/2,
 * 3/2), in integers so that every machine agrees.
 */
static void weigh(const struct ig_sections *p, int32_t restart, int32_t b, int64_t key[3])
{
    int32_t kind = restart % KINDS;
    int64_t length = p->length[b], area = p->size[b] * length, total = ig_section_total(p, b);
    int64_t factor = 512 + (int64_t)(mix(((uint64_t)restart << 32 | (uint32_t)b) + seed) & 1023);
    const int64_t keys[PLAIN_KINDS + 1][3] = {{area, 0, 0},
                                              {total, area, length},
                                              {length, area, total},
                                              {p->size[b], length, 0},
                                              {area / 1024 * factor + area % 1024, 0, 0}};
    for (int i = 0; i < 3; i++) key[i] = keys[kind < PLAIN_KINDS ? kind : PLAIN_KINDS][i];
}

void ig_rank_items(const struct ig_sections *p, int32_t restart, int32_t *rank)
{
    struct weighed *w = ig_must_alloc((size_t)p->n, sizeof *w);
    for (int32_t b = 0; b < p->n; b++) {
        w[b].item = b;
        weigh(p, restart, b, w[b].key);
    }
    qsort(w, (size_t)p->n, sizeof *w, heavier_first);
    for (int32_t i = 0; i < p->n; i++) rank[w[i].item] = i;
    free(w);
}

struct span { int64_t from, to; }; /* who ends before `from` or begins at `to` is out of its way */

static int lower_first(const void *pa, const void *pb)
{
    const struct span *a = pa, *b = pb;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : 0;
}

static int64_t lowest_gap(struct span *taken, int32_t n, int64_t size)
{
    int64_t at = 0;
    qsort(taken, (size_t)n, sizeof *taken, lower_first);
    for (int32_t i = 0; i < n && taken[i].from < at + size; i++)
        if (taken[i].to > at) at = taken[i].to;
    return at;
}

int64_t ig_greedy(const struct ig_sections *p, const int32_t *rank, int64_t *offsets)
{
    int32_t *order = ig_must_alloc((size_t)p->n, sizeof *order);
    struct span *taken = ig_must_alloc((size_t)p->n, sizeof *taken);
    int64_t height = 0;
    for (int32_t b = 0; b < p->n; b++) order[rank[b]] = b;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t b = order[i], n = 0;
        for (int32_t k = p->overlap_at[b]; k < p->overlap_at[b + 1]; k++) {
            int32_t d = p->overlaps[k];
            if (rank[d] >= i) continue;
            taken[n++] = (struct span){offsets[d] + p->size[b] - ig_section_reach(p, b, d),
                                       offsets[d] + ig_section_reach(p, d, b)};
        }
        offsets[b] = lowest_gap(taken, n, p->size[b]);
        int64_t top = offsets[b] + p->size[b] - p->pad[b];
        if (top > height) height = top;
    }
    free(order);
    free(taken);
    return height;
}
