/*
 * The exact search: can all items be placed below a capacity C?
 *
 * State: low[b], the least offset still possible for each unplaced item b. Per section, over its unplaced
 * items: rest = sum of sizes less the largest pad, floor = min low, slack = C - floor - rest. Some
 * left-justified placement exists if any does, so in a section whose floor is the least of all either an item
 * of low = floor rests there, or each of those items lies on top of another unplaced one and its low rises. A
 * section without slack must have an item exactly at its floor wherever that lies; branching on the one with
 * fewest candidates is what makes the search short. The part of the sections that no unplaced item crosses is
 * a component, and components are settled one by one. A state that failed is remembered by a 128-bit hash,
 * over restarts too: the lows of a component's unplaced items decide everything.
 */
#include "planner/alloc.h"
#include "planner/pack.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_LIMIT = 1 << 22, MAX_DEPTH = 1 << 20, OPEN = IG_SEARCH_UNSETTLED + 1 };

struct change { int32_t item; int64_t low; };  /* item < 0: ~item was placed */
struct key { uint64_t a, b; };

struct level {               /* the sections [a, b) that are being settled, component by component; on the heap, as there are many */
    int32_t a, b;            /* what is left of them */
    int32_t end;             /* the component is [a, end) */
    int32_t n, next, slack;  /* its candidates, the next one to try, and whether none of them may rest at its low */
    size_t base, mark;       /* where the candidates and the trail begin */
    struct key key;          /* of the state */
};

struct ig_search {
    const struct ig_sections *p;
    int64_t capacity;
    int64_t nodes, limit;
    int64_t *low;              /* [n]: of a placed item, its offset */
    uint8_t *placed;           /* [n] */
    int32_t *rank;             /* [n] */
    struct change *trail;
    size_t n_trail, max_trail;
    int32_t *candidates;       /* of all nodes on the path, stacked */
    size_t n_candidates, max_candidates;
    struct level *levels;      /* the path */
    size_t n_levels, max_levels;
    int64_t *floor, *rest, *pad; /* [n_sections], good until the next node */
    int32_t *count;            /* candidates per section */
    struct key *table;         /* failed states, open addressing; a == b == 0: empty */
    size_t table_size, table_used;
};

static void *grown(void *array, size_t n, size_t *max, size_t bytes)
{
    if (n < *max) return array;
    size_t room = *max ? *max * 2 : 256;
    void *p = ig_must_alloc(room, bytes);
    if (*max) memcpy(p, array, *max * bytes);
    free(array);
    *max = room;
    return p;
}

static void note(struct ig_search *s, int32_t item, int64_t low)
{
    s->trail = grown(s->trail, s->n_trail, &s->max_trail, sizeof *s->trail);
    s->trail[s->n_trail++] = (struct change){item, low};
}

static void undo(struct ig_search *s, size_t mark)
{
    while (s->n_trail > mark) {
        struct change c = s->trail[--s->n_trail];
        if (c.item < 0)
            s->placed[~c.item] = 0;
        else
            s->low[c.item] = c.low;
    }
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static struct key state_key(const struct ig_search *s, int32_t a, int32_t b)
{
    struct key k = {mix((uint64_t)s->capacity + 1), mix(~(uint64_t)s->capacity)};
    for (int32_t i = s->p->starts[a]; i < s->p->starts[b]; i++) {
        if (s->placed[i]) continue;
        uint64_t h = mix((uint64_t)s->low[i] + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1));
        k.a += h;
        k.b += mix(h ^ 0xd1b54a32d192ed03u);
    }
    if (!k.a && !k.b) k.a = 1;
    return k;
}

/* The slot that holds k, or the empty one where it belongs. */
static struct key *slot_of(struct key *table, size_t size, struct key k)
{
    size_t i = k.a & (size - 1);
    while ((table[i].a || table[i].b) && (table[i].a != k.a || table[i].b != k.b)) i = (i + 1) & (size - 1);
    return &table[i];
}

static int known_to_fail(const struct ig_search *s, struct key k)
{
    const struct key *slot = slot_of(s->table, s->table_size, k);
    return slot->a || slot->b;
}

static void remember_failure(struct ig_search *s, struct key k)
{
    if (2 * s->table_used >= s->table_size) {
        if (s->table_size >= TABLE_LIMIT) return;
        struct key *bigger = ig_must_alloc(2 * s->table_size, sizeof *bigger);
        for (size_t i = 0; i < s->table_size; i++)
            if (s->table[i].a || s->table[i].b)
                *slot_of(bigger, 2 * s->table_size, s->table[i]) = s->table[i];
        free(s->table);
        s->table = bigger;
        s->table_size *= 2;
    }
    struct key *slot = slot_of(s->table, s->table_size, k);
    s->table_used += !slot->a && !slot->b;
    *slot = k;
}

/* Floor, rest and candidates of the sections [a, b); 0 if one has not room enough. */
static int measure(struct ig_search *s, int32_t a, int32_t b)
{
    for (int32_t i = a; i < b; i++) {
        s->floor[i] = INT64_MAX;
        s->rest[i] = s->pad[i] = 0;
        s->count[i] = 0;
    }
    for (int32_t i = s->p->starts[a]; i < s->p->starts[b]; i++) {
        if (s->placed[i]) continue;
        int64_t low = s->low[i];
        for (int32_t t = s->p->first[i]; t <= s->p->last[i]; t++) {
            s->rest[t] += s->p->size[i];
            if (s->p->pad[i] > s->pad[t]) s->pad[t] = s->p->pad[i];
            s->count[t] = low < s->floor[t] ? 1 : s->count[t] + (low == s->floor[t]);
            if (low < s->floor[t]) s->floor[t] = low;
        }
        int32_t under = s->p->under[i];
        if (under < 0 || s->placed[under]) continue;
        for (int32_t t = s->p->first[i]; t <= s->p->last[i]; t++)
            if (s->p->first[under] <= t && t <= s->p->last[under]) s->rest[t] -= ig_section_gain(s->p, i);
    }
    for (int32_t i = a; i < b; i++) {
        s->rest[i] -= s->pad[i];
        if (s->rest[i] && s->floor[i] + s->rest[i] > s->capacity) return 0;
    }
    return 1;
}

/* 1 if nothing unplaced can lie below a candidate of section t: then one of them must rest on a floor without
 * slack. */
static int nothing_fits_below(const struct ig_search *s, int32_t t)
{
    const struct ig_sections *p = s->p;
    for (int32_t i = p->member_at[t]; i < p->member_at[t + 1]; i++) {
        int32_t b = p->members[i];
        if (s->placed[b] || s->low[b] != s->floor[t]) continue;
        for (int32_t k = p->overlap_at[b]; k < p->overlap_at[b + 1]; k++) {
            int32_t d = p->overlaps[k];
            if (!s->placed[d] && s->low[d] + ig_section_reach(p, d, b) <= s->low[b]) return 0;
        }
    }
    return 1;
}

static int32_t choose_section(const struct ig_search *s, int32_t a, int32_t b)
{
    int64_t least = INT64_MAX;
    int32_t best = -1, best_score = INT32_MAX;
    for (int32_t i = a; i < b; i++)
        if (s->rest[i] && s->floor[i] < least) least = s->floor[i];
    for (int32_t i = a; i < b; i++) {
        if (!s->rest[i]) continue;
        int slack = s->floor[i] + s->rest[i] < s->capacity, lowest = s->floor[i] == least;
        int32_t score = 2 * s->count[i] + 3 * slack - lowest;
        if (score >= best_score || (!lowest && (slack || !nothing_fits_below(s, i)))) continue;
        best = i;
        best_score = score;
    }
    return best;
}

/* Stacks the candidates of section t by rank; returns how many. */
static int32_t list_candidates(struct ig_search *s, int32_t t)
{
    size_t base = s->n_candidates;
    for (int32_t i = s->p->member_at[t]; i < s->p->member_at[t + 1]; i++) {
        int32_t b = s->p->members[i];
        if (s->placed[b] || s->low[b] != s->floor[t]) continue;
        s->candidates = grown(s->candidates, s->n_candidates, &s->max_candidates, sizeof *s->candidates);
        size_t at = s->n_candidates++;
        for (; at > base && s->rank[s->candidates[at - 1]] > s->rank[b]; at--)
            s->candidates[at] = s->candidates[at - 1];
        s->candidates[at] = b;
    }
    return (int32_t)(s->n_candidates - base);
}

static int is_twin(const struct ig_search *s, size_t base, int32_t i)
{
    const struct ig_sections *p = s->p;
    int32_t b = s->candidates[base + (size_t)i];
    for (int32_t j = 0; j < i && p->under[b] < 0 && p->over[b] < 0; j++) {
        int32_t c = s->candidates[base + (size_t)j];
        int alone = p->under[c] < 0 && p->over[c] < 0, same_life = p->first[b] == p->first[c] && p->last[b] == p->last[c];
        if (alone && same_life && p->size[b] == p->size[c] && p->pad[b] == p->pad[c]) return 1;
    }
    return 0;
}

/* Rests b at its low; whatever overlaps it must lie above. 0 if that cannot be. */
static int place(struct ig_search *s, int32_t b)
{
    const struct ig_sections *p = s->p;
    note(s, ~b, 0);
    s->placed[b] = 1;
    for (int32_t k = p->overlap_at[b]; k < p->overlap_at[b + 1]; k++) {
        int32_t d = p->overlaps[k];
        int64_t top = s->low[b] + ig_section_reach(p, b, d);
        if (s->placed[d] || s->low[d] >= top) continue;
        if (top + p->size[d] - p->pad[d] > s->capacity) return 0;
        note(s, d, s->low[d]);
        s->low[d] = top;
    }
    return 1;
}

/* None of the candidates rests at its low: each lies on top of an unplaced item. 0 if that cannot be. */
static int raise_all(struct ig_search *s, size_t base, int32_t n)
{
    const struct ig_sections *p = s->p;
    for (int32_t i = 0; i < n; i++) {
        int32_t b = s->candidates[base + (size_t)i];
        int64_t least = INT64_MAX;
        for (int32_t k = p->overlap_at[b]; k < p->overlap_at[b + 1]; k++) {
            int32_t d = p->overlaps[k];
            int64_t top = s->low[d] + ig_section_reach(p, d, b);
            if (!s->placed[d] && top < least) least = top;
        }
        if (least == INT64_MAX || least + p->size[b] - p->pad[b] > s->capacity) return 0;
        note(s, b, s->low[b]);
        s->low[b] = least;
    }
    return 1;
}

/* Is there no room for the two side by side? Then the one is above the other by its distance. */
static int must_overlap(const struct ig_search *s, int32_t over)
{
    const struct ig_sections *p = s->p;
    int32_t under = p->under[over];
    for (int32_t t = p->first[over]; under >= 0 && t <= p->last[over]; t++) {
        int64_t live = 0, pad = 0;
        if (t < p->first[under] || t > p->last[under]) continue;
        for (int32_t k = p->member_at[t]; k < p->member_at[t + 1]; k++) {
            live += p->size[p->members[k]];
            if (p->pad[p->members[k]] > pad) pad = p->pad[p->members[k]];
        }
        if (live - pad > s->capacity) return 1;
    }
    return 0;
}

/* Distances add up where several lie over each other in a row. 0 if one is too high then. */
static int begin_above(struct ig_search *s)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t b = 0; b < s->p->n; b++) {
            if (s->p->under[b] < 0 || !must_overlap(s, b)) continue;
            int64_t least = s->low[s->p->under[b]] + s->p->distance[b];
            changed |= least > s->low[b];
            if (least > s->low[b]) s->low[b] = least;
            if (s->low[b] + s->p->size[b] - s->p->pad[b] > s->capacity) return 0;
        }
    }
    return 1;
}

/* Past the end of the component that begins at section a; a if nothing unplaced begins there. */
static int32_t component_end(const struct ig_search *s, int32_t a)
{
    int32_t end = a;
    for (int32_t t = a; t < end || t == a; t++)
        for (int32_t i = s->p->starts[t]; i < s->p->starts[t + 1]; i++)
            if (!s->placed[i] && s->p->last[i] >= end) end = s->p->last[i] + 1;
    return end;
}

/* The level's next component, with its candidates stacked: OPEN, or SOLVED if none is left, FAILED or UNSETTLED. */
static int open_component(struct ig_search *s, struct level *l)
{
    while (l->a < l->b && (l->end = component_end(s, l->a)) == l->a) l->a++;
    if (l->a == l->b) return IG_SEARCH_SOLVED;
    if (s->nodes++ >= s->limit || s->n_levels > MAX_DEPTH) return IG_SEARCH_UNSETTLED;
    if (!measure(s, l->a, l->end)) return IG_SEARCH_FAILED;
    l->key = state_key(s, l->a, l->end);
    if (known_to_fail(s, l->key)) return IG_SEARCH_FAILED;
    int32_t section = choose_section(s, l->a, l->end);
    l->slack = s->floor[section] + s->rest[section] < s->capacity;
    l->base = s->n_candidates;
    l->mark = s->n_trail;
    l->n = list_candidates(s, section);
    l->next = 0;
    return OPEN;
}

/* Places the component's next candidate, or behind the last, with slack, none of them; 0: there is nothing more to try. */
static int try_next(struct ig_search *s, struct level *l)
{
    while (l->next < l->n + l->slack) {
        int32_t i = l->next++;
        if (i < l->n && is_twin(s, l->base, i)) continue;
        if (i < l->n ? place(s, s->candidates[l->base + (size_t)i]) : raise_all(s, l->base, l->n)) return 1;
        undo(s, l->mark);
    }
    return 0;
}

static void descend(struct ig_search *s, int32_t a, int32_t b)
{
    s->levels = grown(s->levels, s->n_levels, &s->max_levels, sizeof *s->levels);
    s->levels[s->n_levels++] = (struct level){.a = a, .b = b};
}

/* Goes back to the level above, whose component is settled or not; returns `result`. */
static int ascend(struct ig_search *s, int result)
{
    struct level *above = --s->n_levels ? &s->levels[s->n_levels - 1] : NULL;
    if (!above) return result;
    if (result == IG_SEARCH_SOLVED) above->a = above->end, s->n_candidates = above->base;
    else undo(s, above->mark);
    return result;
}

/* Depth first. A component with an item placed is a level: it may have come apart, and its parts are settled one by one. */
static int settle(struct ig_search *s)
{
    int result = IG_SEARCH_SOLVED; /* of what was below */
    s->n_levels = 0;
    descend(s, 0, s->p->n_sections);
    while (s->n_levels && result != IG_SEARCH_UNSETTLED) {
        struct level *l = &s->levels[s->n_levels - 1];
        result = result == IG_SEARCH_SOLVED ? open_component(s, l) : OPEN;
        if (result == OPEN && try_next(s, l)) {
            descend(s, l->a, l->end);
            result = IG_SEARCH_SOLVED;
        } else if (result == OPEN) {
            remember_failure(s, l->key);
            s->n_candidates = l->base;
            result = ascend(s, IG_SEARCH_FAILED);
        } else {
            result = ascend(s, result);
        }
    }
    return result;
}

struct ig_search *ig_search_new(const struct ig_sections *p)
{
    size_t n = (size_t)p->n, sections = (size_t)p->n_sections;
    struct ig_search *s = ig_must_alloc(1, sizeof *s);
    s->p = p;
    s->low = ig_must_alloc(n, sizeof *s->low);
    s->placed = ig_must_alloc(n, sizeof *s->placed);
    s->rank = ig_must_alloc(n, sizeof *s->rank);
    s->floor = ig_must_alloc(sections, sizeof *s->floor);
    s->rest = ig_must_alloc(sections, sizeof *s->rest);
    s->pad = ig_must_alloc(sections, sizeof *s->pad);
    s->count = ig_must_alloc(sections, sizeof *s->count);
    s->table_size = 1024;
    s->table = ig_must_alloc(s->table_size, sizeof *s->table);
    return s;
}

void ig_search_free(struct ig_search *s)
{
    void *owned[] = {s->low, s->placed, s->rank,  s->trail, s->candidates, s->floor, s->rest,
                     s->pad, s->count,  s->table, s->levels, s};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* 1 1 2 1 1 2 4 1 1 2 ... (Luby, Sinclair, Zuckerman 1993), i from 1. */
static int64_t luby(int64_t i)
{
    int64_t power = 1;
    while (power - 1 < i) power *= 2;
    return power - 1 == i ? power / 2 : luby(i - power / 2 + 1);
}

int ig_search_run(struct ig_search *s, int64_t capacity, int64_t budget, int64_t *nodes, int64_t *offsets)
{
    const struct ig_sections *p = s->p;
    int result = IG_SEARCH_UNSETTLED;
    int64_t used = 0;
    s->capacity = capacity;
    if (capacity < p->max_live) return IG_SEARCH_FAILED;
    for (int64_t i = 1; result == IG_SEARCH_UNSETTLED && used < budget; i++) {
        memset(s->low, 0, (size_t)p->n * sizeof *s->low);
        memset(s->placed, 0, (size_t)p->n);
        if (!begin_above(s)) return IG_SEARCH_FAILED;
        s->n_trail = s->n_candidates = 0;
        s->nodes = 0;
        s->limit = luby(i) * 2 * p->n;
        ig_rank_items(p, (int32_t)(i - 1), s->rank);
        result = settle(s);
        used += s->nodes;
    }
    *nodes += used;
    if (result == IG_SEARCH_SOLVED) memcpy(offsets, s->low, (size_t)p->n * sizeof *offsets);
    return result;
}
