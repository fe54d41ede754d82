/* Other people's placements. */
#include "planner/baseline.h"

#include <stdlib.h>

#include "planner/alloc.h"

static int meet(const struct ig_pack_item *a, const struct ig_pack_item *b)
{
    return a->lower < b->upper && b->lower < a->upper;
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

struct place { const struct ig_pack_item *item; int32_t index; };

static int larger_first(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    if (a->item->size != b->item->size) return a->item->size > b->item->size ? -1 : 1;
    if (a->item->lower != b->item->lower) return a->item->lower < b->item->lower ? -1 : 1;
    return a->index - b->index;
}

static int earlier_first(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    return a->item->lower != b->item->lower ? a->item->lower - b->item->lower : a->index - b->index;
}

static struct place *sorted(const struct ig_pack_item *items, int32_t n,
                            int (*order)(const void *, const void *))
{
    struct place *places = ig_must_alloc((size_t)n, sizeof *places);
    for (int32_t i = 0; i < n; i++) places[i] = (struct place){&items[i], i};
    qsort(places, (size_t)n, sizeof *places, order);
    return places;
}

/* placed[n]: indices of items by offset. The smallest gap that takes `item`, else the end of the last it meets. */
static int64_t smallest_gap(const struct ig_pack_item *items, const int32_t *placed, int32_t n,
                            const struct ig_pack_item *item)
{
    int64_t at = 0, best = -1, best_gap = INT64_MAX;
    for (int32_t i = 0; i < n; i++) {
        const struct ig_pack_item *p = &items[placed[i]];
        if (!meet(p, item)) continue;
        if (p->offset - at >= item->size && p->offset - at < best_gap) {
            best = at;
            best_gap = p->offset - at;
        }
        if (aligned(p->offset + p->size) > at) at = aligned(p->offset + p->size);
    }
    return best >= 0 ? best : at;
}

int64_t ig_baseline_by_size(struct ig_pack_item *items, int32_t n)
{
    struct place *order = sorted(items, n, larger_first);
    int32_t *placed = ig_must_alloc((size_t)n, sizeof *placed);
    int64_t height = 0;
    for (int32_t i = 0; i < n; i++) {
        struct ig_pack_item *item = &items[order[i].index];
        int32_t at = i;
        item->offset = smallest_gap(items, placed, i, item);
        for (; at > 0 && items[placed[at - 1]].offset > item->offset; at--) placed[at] = placed[at - 1];
        placed[at] = order[i].index;
        if (item->offset + item->size > height) height = item->offset + item->size;
    }
    free(order);
    free(placed);
    return height;
}

struct token { int64_t size; int32_t busy_until; };

enum { MATCH_RANGE = 16 };

static int32_t find_token(const struct token *tokens, int32_t n, const struct ig_pack_item *item)
{
    int32_t fits = -1, grows = -1;
    for (int32_t i = 0; i < n; i++) {
        if (tokens[i].busy_until > item->lower) continue;
        int64_t size = tokens[i].size;
        if (size >= item->size && size <= item->size * MATCH_RANGE && (fits < 0 || size < tokens[fits].size))
            fits = i;
        if (size < item->size && size >= item->size / MATCH_RANGE && (grows < 0 || size > tokens[grows].size))
            grows = i;
    }
    return fits >= 0 ? fits : grows;
}

int64_t ig_baseline_best_fit(const struct ig_pack_item *items, int32_t n)
{
    struct place *order = sorted(items, n, earlier_first);
    struct token *tokens = ig_must_alloc((size_t)n, sizeof *tokens);
    int32_t n_tokens = 0;
    int64_t total = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t t = find_token(tokens, n_tokens, order[i].item);
        if (t < 0) t = n_tokens++;
        if (tokens[t].size < order[i].item->size) tokens[t].size = order[i].item->size;
        tokens[t].busy_until = order[i].item->upper;
    }
    for (int32_t t = 0; t < n_tokens; t++) total += tokens[t].size;
    free(order);
    free(tokens);
    return total;
}

static int suits(const struct ig_pack_item *items, const int32_t *buffer, int32_t b, int32_t item)
{
    for (int32_t i = 0; i < item; i++)
        if (buffer[i] == b && meet(&items[i], &items[item])) return 0;
    return 1;
}

int64_t ig_baseline_reuse(const struct ig_pack_item *items, int32_t n)
{
    int32_t *buffer = ig_must_alloc((size_t)n, sizeof *buffer), n_buffers = 0;
    int64_t *size = ig_must_alloc((size_t)n, sizeof *size), total = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t least = INT64_MAX;
        int32_t best = n_buffers;
        for (int32_t b = 0; b < n_buffers; b++) {
            int64_t cost = items[i].size > size[b] ? items[i].size - size[b] : 0;
            if (cost >= least || !suits(items, buffer, b, i)) continue;
            best = b;
            least = cost;
        }
        if (best == n_buffers) least = items[i].size;
        n_buffers += best == n_buffers;
        buffer[i] = best;
        size[best] += least;
        total += least;
    }
    free(buffer);
    free(size);
    return total;
}
