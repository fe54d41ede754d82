/* Inside the packer: the problem in sections, the greedy orders and the exact search. pack.c puts them
 * together. */
#ifndef PLANNER_PACK_H
#define PLANNER_PACK_H

#include <stdint.h>

#include "planner/plan.h"

/*
 * A section is a maximal set of simultaneously live items; two items overlap in time exactly if they share
 * one. Sections are numbered by time, so an item lies in the sections [first, last] and that, with its size,
 * is all that decides a placement.
 */
struct ig_sections {
    int32_t n;               /* items of positive size and life, sorted by (lower, upper, size) */
    int32_t n_sections;
    int32_t *id;             /* [n]: index in the caller's array */
    int64_t *size;           /* [n] bytes, rounded up to the alignment */
    int64_t *pad;            /* [n] bytes that rounding added; whatever lies on top of a section needs none */
    int64_t *length;         /* [n] steps of life; only for ranking */
    int32_t *first, *last;   /* [n]: sections, inclusive */
    int32_t *starts; /* [n_sections + 1]: items whose first section is s are [starts[s], starts[s+1]) */
    int32_t *members;        /* items of section s are members[member_at[s] .. member_at[s+1]) */
    int32_t *member_at;      /* [n_sections + 1] */
    int32_t *under, *over;   /* [n]: the item that this one may begin over, or under; -1: none */
    int64_t *distance;       /* [n]: bytes that it must be above it then */
    int32_t *overlaps;       /* items that overlap item b are overlaps[overlap_at[b] .. overlap_at[b+1]) */
    int32_t *overlap_at;     /* [n + 1] */
    int64_t max_live;        /* bytes that the largest section needs: all sizes but the largest pad */
    int64_t granule; /* greatest common divisor of sizes and pads: every height worth a try is a multiple */
};

void ig_sections_make(struct ig_sections *p, const struct ig_pack_item *items, int32_t n);
/* Those items may overlap; max_live follows. */
void ig_sections_tie(struct ig_sections *p, const struct ig_pack_pair *pairs, int32_t n);
/* Bytes from the start of item `below` that item `above`, which it overlaps in time and lies under, must be away. */
static inline int64_t ig_section_reach(const struct ig_sections *p, int32_t below, int32_t above)
{
    return p->under[above] == below ? p->distance[above] : p->size[below];
}
/* Bytes that item b and the one that it may begin over need less than side by side. */
static inline int64_t ig_section_gain(const struct ig_sections *p, int32_t b)
{
    int64_t both = p->distance[b] + p->size[b], under = p->size[p->under[b]];
    return p->size[b] + under - (both > under ? both : under);
}
void ig_sections_free(struct ig_sections *p);
/* Sum of the sizes of the largest section that item b lies in. */
int64_t ig_section_total(const struct ig_sections *p, int32_t b);

/*
 * Order in which restart i = 0, 1, ... tries items; rank[b] = place of b. Eight kinds of order take turns,
 * the last four seeded by i.
 */
void ig_rank_items(const struct ig_sections *p, int32_t restart, int32_t *rank);

/* Places items in the order of `rank`, each in the lowest gap that takes it; returns the height. */
int64_t ig_greedy(const struct ig_sections *p, const int32_t *rank, int64_t *offsets);

enum ig_search_result { IG_SEARCH_FAILED = 0, IG_SEARCH_SOLVED, IG_SEARCH_UNSETTLED };

struct ig_search;
struct ig_search *ig_search_new(const struct ig_sections *p);
void ig_search_free(struct ig_search *s);
/*
 * Is there a placement of height <= capacity? Complete: FAILED is a proof. Stops UNSETTLED after about
 * `budget` nodes. Adds the nodes it used to *nodes; fills offsets if SOLVED.
 */
int ig_search_run(struct ig_search *s, int64_t capacity, int64_t budget, int64_t *nodes, int64_t *offsets);

#endif
