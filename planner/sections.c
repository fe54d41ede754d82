/* From items with lifetimes to sections, members and overlaps. */
#include "planner/alloc.h"
#include "planner/pack.h"

#include <stdlib.h>

struct keyed { struct ig_pack_item item; int32_t id; };

/* The caller's order matters only between items that are alike in everything. */
static int by_life(const void *pa, const void *pb)
{
    const struct keyed *a = pa, *b = pb;
    if (a->item.lower != b->item.lower) return a->item.lower < b->item.lower ? -1 : 1;
    if (a->item.upper != b->item.upper) return a->item.upper < b->item.upper ? -1 : 1;
    if (a->item.size != b->item.size) return a->item.size < b->item.size ? -1 : 1;
    return a->id < b->id ? -1 : 1;
}

/* gcd(0, x) = x. */
static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* A new section opens at a start that follows an end; what is still alive there belongs to it too. */
static void find_sections(struct ig_sections *p, const struct keyed *k)
{
    int32_t section = -1, min_end = INT32_MIN;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t now = k[i].item.lower;
        if (section < 0 || now >= min_end) {
            section++;
            min_end = INT32_MAX;
            for (int32_t j = 0; j < i; j++) {
                if (k[j].item.upper <= now) continue;
                p->last[j] = section;
                if (k[j].item.upper < min_end) min_end = k[j].item.upper;
            }
        }
        p->first[i] = p->last[i] = section;
        if (k[i].item.upper < min_end) min_end = k[i].item.upper;
    }
    p->n_sections = section + 1;
}

static void list_starts(struct ig_sections *p)
{
    p->starts = ig_must_alloc((size_t)p->n_sections + 1, sizeof *p->starts);
    for (int32_t i = 0; i < p->n; i++) p->starts[p->first[i] + 1]++;
    for (int32_t s = 0; s < p->n_sections; s++) p->starts[s + 1] += p->starts[s];
}

/* Bytes that section s needs at the least. */
static int64_t live_in(const struct ig_sections *p, int32_t s)
{
    int64_t live = 0, pad = 0;
    for (int32_t k = p->member_at[s]; k < p->member_at[s + 1]; k++) {
        int32_t i = p->members[k], u = p->under[i];
        live += p->size[i];
        if (p->pad[i] > pad) pad = p->pad[i];
        if (u >= 0 && p->first[u] <= s && s <= p->last[u]) live -= ig_section_gain(p, i);
    }
    return live - pad;
}

static void find_max_live(struct ig_sections *p)
{
    p->max_live = 0;
    for (int32_t s = 0; s < p->n_sections; s++)
        if (live_in(p, s) > p->max_live) p->max_live = live_in(p, s);
}

static void list_members(struct ig_sections *p)
{
    size_t total = 0;
    for (int32_t i = 0; i < p->n; i++) total += (size_t)(p->last[i] - p->first[i] + 1);
    p->members = ig_must_alloc(total, sizeof *p->members);
    p->member_at = ig_must_alloc((size_t)p->n_sections + 1, sizeof *p->member_at);
    int32_t at = 0;
    for (int32_t s = 0; s < p->n_sections; s++) {
        p->member_at[s] = at;
        for (int32_t i = 0; i < p->starts[s + 1]; i++)
            if (p->last[i] >= s) p->members[at++] = i;
    }
    p->member_at[p->n_sections] = at;
}

static int32_t count_overlaps(const struct ig_sections *p, int32_t a, int32_t *list)
{
    int32_t count = 0;
    for (int32_t b = 0; b < p->starts[p->last[a] + 1]; b++) {
        if (b == a || p->last[b] < p->first[a]) continue;
        if (list) list[count] = b;
        count++;
    }
    return count;
}

static void list_overlaps(struct ig_sections *p)
{
    p->overlap_at = ig_must_alloc((size_t)p->n + 1, sizeof *p->overlap_at);
    for (int32_t a = 0; a < p->n; a++) p->overlap_at[a + 1] = p->overlap_at[a] + count_overlaps(p, a, NULL);
    p->overlaps = ig_must_alloc((size_t)p->overlap_at[p->n], sizeof *p->overlaps);
    for (int32_t a = 0; a < p->n; a++) count_overlaps(p, a, p->overlaps + p->overlap_at[a]);
}

void ig_sections_make(struct ig_sections *p, const struct ig_pack_item *items, int32_t n)
{
    struct keyed *k = ig_must_alloc((size_t)n, sizeof *k);
    *p = (struct ig_sections){0};
    for (int32_t i = 0; i < n; i++)
        if (items[i].size > 0 && items[i].lower < items[i].upper) k[p->n++] = (struct keyed){items[i], i};
    qsort(k, (size_t)p->n, sizeof *k, by_life);
    p->id = ig_must_alloc((size_t)p->n, sizeof *p->id);
    p->size = ig_must_alloc((size_t)p->n, sizeof *p->size);
    p->pad = ig_must_alloc((size_t)p->n, sizeof *p->pad);
    p->length = ig_must_alloc((size_t)p->n, sizeof *p->length);
    p->under = ig_must_alloc((size_t)p->n, sizeof *p->under);
    p->over = ig_must_alloc((size_t)p->n, sizeof *p->over);
    p->distance = ig_must_alloc((size_t)p->n, sizeof *p->distance);
    p->first = ig_must_alloc((size_t)p->n, sizeof *p->first);
    p->last = ig_must_alloc((size_t)p->n, sizeof *p->last);
    for (int32_t i = 0; i < p->n; i++) {
        p->id[i] = k[i].id;
        p->under[i] = p->over[i] = -1;
        p->size[i] = (k[i].item.size + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
        p->pad[i] = p->size[i] - k[i].item.size;
        p->length[i] = (int64_t)k[i].item.upper - k[i].item.lower;
        p->granule = gcd(gcd(p->granule, p->size[i]), p->pad[i]);
    }
    find_sections(p, k);
    free(k);
    list_starts(p);
    list_members(p);
    list_overlaps(p);
    find_max_live(p);
}

static int32_t find_item(const struct ig_sections *p, int32_t id)
{
    int32_t i = 0;
    while (i < p->n && p->id[i] != id) i++;
    return i < p->n ? i : -1;
}

void ig_sections_tie(struct ig_sections *p, const struct ig_pack_pair *pairs, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t under = find_item(p, pairs[k].under), over = find_item(p, pairs[k].over);
        if (under < 0 || over < 0) continue;
        p->under[over] = under;
        p->over[under] = over;
        p->distance[over] = pairs[k].distance;
        p->granule = gcd(p->granule, pairs[k].distance);
    }
    find_max_live(p);
}

void ig_sections_free(struct ig_sections *p)
{
    void *owned[] = {p->id,     p->size,    p->pad,       p->length,   p->first,     p->last,
                     p->under,  p->over,    p->distance, p->starts, p->members, p->member_at, p->overlaps, p->overlap_at};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

int64_t ig_section_total(const struct ig_sections *p, int32_t b)
{
    int64_t most = 0;
    for (int32_t s = p->first[b]; s <= p->last[b]; s++) {
        int64_t total = 0;
        for (int32_t i = p->member_at[s]; i < p->member_at[s + 1]; i++) total += p->size[p->members[i]];
        if (total > most) most = total;
    }
    return most;
}
