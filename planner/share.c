/* Arenas of several networks. */
#include <string.h>

#include "planner/share.h"

static int64_t aligned(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

int64_t ig_share_alternate(const int64_t *arena_bytes, int32_t n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < n; i++)
        if (arena_bytes[i] > most) most = arena_bytes[i];
    return most;
}

int64_t ig_share_stack(const int64_t *arena_bytes, int32_t n, int64_t *base)
{
    int64_t top = 0, end = 0;
    for (int32_t i = 0; i < n; i++) {
        base[i] = top;
        if (arena_bytes[i] > 0) end = top + arena_bytes[i];
        top += aligned(arena_bytes[i]);
    }
    return end;
}

enum { MOST = 64, STEPS = 1 << 15 };

struct placing {
    const int64_t *bytes;
    const uint64_t *beside;
    int32_t n, steps;
    int32_t order[MOST]; /* the largest first */
    int64_t at[MOST], best_at[MOST], best;
};

/* The least offset at which network i meets none of those placed that run beside it. */
static int64_t lowest(const struct placing *p, uint64_t placed, int32_t i)
{
    int64_t at = 0;
    for (int32_t k = 0; k < p->n; k++) {
        if (!((placed & p->beside[i]) >> k & 1) || p->at[k] >= at + p->bytes[i] || at >= p->at[k] + p->bytes[k]) continue;
        at = aligned(p->at[k] + p->bytes[k]);
        k = -1;
    }
    return at;
}

static void place(struct placing *p, uint64_t placed, int32_t left, int64_t top)
{
    if (top >= p->best) return;
    if (!left) {
        p->best = top;
        memcpy(p->best_at, p->at, sizeof p->at);
    }
    for (int32_t k = 0; left && k < p->n && p->steps < STEPS; k++) {
        int32_t i = p->order[k];
        if (placed >> i & 1) continue;
        p->steps++;
        p->at[i] = lowest(p, placed, i);
        int64_t end = p->at[i] + p->bytes[i];
        place(p, placed | (uint64_t)1 << i, left - 1, end > top ? end : top);
    }
}

int64_t ig_share_beside(const int64_t *arena_bytes, const uint64_t *beside, int32_t n, int64_t *base)
{
    struct placing p = {.bytes = arena_bytes, .beside = beside, .n = n, .best = INT64_MAX};
    for (int32_t i = 0; i < n; i++) {
        int32_t k = i;
        for (; k > 0 && arena_bytes[p.order[k - 1]] < arena_bytes[i]; k--) p.order[k] = p.order[k - 1];
        p.order[k] = i;
    }
    place(&p, 0, n, 0);
    memcpy(base, p.best_at, (size_t)n * sizeof *base);
    return p.best;
}

int32_t ig_share_chain(struct ig_pack_item *items, int32_t n, int32_t steps, int32_t own_steps)
{
    for (int32_t i = 0; i < n; i++) {
        items[i].lower += steps;
        items[i].upper += steps;
    }
    return steps + own_steps;
}
