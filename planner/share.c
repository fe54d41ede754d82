/* Arenas of several networks. */
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

int32_t ig_share_chain(struct ig_pack_item *items, int32_t n, int32_t steps, int32_t own_steps)
{
    for (int32_t i = 0; i < n; i++) {
        items[i].lower += steps;
        items[i].upper += steps;
    }
    return steps + own_steps;
}
