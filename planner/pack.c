/*
 * Offset packing. Greedy orders first: where one meets the lower bound (most networks), that is all.
 * Otherwise the exact search at the lower bound, and if that does not settle it, bisection between what is
 * proven and what was found.
 */
#include "planner/alloc.h"
#include "planner/pack.h"

#include <stdlib.h>
#include <string.h>

/* Nodes, never seconds: the same input gives the same plan on every machine. */
enum {
    GREEDY_ORDERS = 4, FIRST_BUDGET = 1 << 21, BISECT_BUDGET = 1 << 16,
    PAIRS = 6 /* bits less where some may overlap: the bound is then often none that can be reached */
};

struct best { int64_t height; int64_t *offsets; };

static int64_t height_of(const struct ig_sections *p, const int64_t *offsets)
{
    int64_t height = 0;
    for (int32_t b = 0; b < p->n; b++)
        if (offsets[b] + p->size[b] - p->pad[b] > height) height = offsets[b] + p->size[b] - p->pad[b];
    return height;
}

static void keep_if_better(const struct ig_sections *p, struct best *best, const int64_t *offsets)
{
    int64_t height = height_of(p, offsets);
    if (best->height >= 0 && height >= best->height) return;
    best->height = height;
    memcpy(best->offsets, offsets, (size_t)p->n * sizeof *offsets);
}

static void try_greedy(const struct ig_sections *p, struct best *best, int64_t *offsets)
{
    int32_t *rank = ig_must_alloc((size_t)p->n, sizeof *rank);
    for (int32_t which = 0; which < GREEDY_ORDERS && best->height != p->max_live; which++) {
        ig_rank_items(p, which, rank);
        ig_greedy(p, rank, offsets);
        keep_if_better(p, best, offsets);
    }
    free(rank);
}

/* Invariant: below `proven` nothing fits; `low` is what is still worth a try, best->height is reached. */
static void try_exact(const struct ig_sections *p, struct best *best, int64_t *offsets, int less,
                      struct ig_pack_result *r)
{
    struct ig_search *s = ig_search_new(p);
    int64_t low = p->max_live, capacity = low, budget = FIRST_BUDGET >> less;
    while (low < best->height) {
        int result = ig_search_run(s, capacity, budget, &r->nodes, offsets);
        if (result == IG_SEARCH_SOLVED)
            keep_if_better(p, best, offsets);
        else
            low = capacity + p->granule;
        if (result == IG_SEARCH_FAILED && low > r->proven) r->proven = low;
        capacity = low + (best->height - p->granule - low) / 2 / p->granule * p->granule;
        budget = BISECT_BUDGET >> less;
    }
    ig_search_free(s);
}

struct ig_pack_result ig_pack_offsets(struct ig_pack_item *items, int32_t n)
{
    return ig_pack_overlapping(items, n, NULL, 0);
}

struct ig_pack_result ig_pack_overlapping(struct ig_pack_item *items, int32_t n, const struct ig_pack_pair *pairs,
                                          int32_t n_pairs)
{
    struct ig_sections p;
    ig_sections_make(&p, items, n);
    ig_sections_tie(&p, pairs, n_pairs);
    struct ig_pack_result r = {.max_live = p.max_live, .proven = p.max_live};
    struct best best = {-1, ig_must_alloc((size_t)p.n, sizeof *best.offsets)};
    int64_t *offsets = ig_must_alloc((size_t)p.n, sizeof *offsets);
    try_greedy(&p, &best, offsets);
    if (best.height > p.max_live) try_exact(&p, &best, offsets, n_pairs ? PAIRS : 0, &r);
    for (int32_t i = 0; i < n; i++) items[i].offset = 0;
    for (int32_t b = 0; b < p.n; b++) items[p.id[b]].offset = best.offsets[b];
    r.height = best.height > 0 ? best.height : 0;
    free(best.offsets);
    free(offsets);
    ig_sections_free(&p);
    return r;
}
