/* How often device memory is read: what a GPU's caches would hide. */
#include <stdlib.h>
#include <string.h>

#include "kernels_gpu/emu/emu.h"

enum { LANE_READS = 1 << 27 };

int emu_is_watching;

static const char *from;
static size_t watched;
static unsigned long long bytes_read;
static uint32_t reads[EMU_MAX_THREADS]; /* of each thread of the running block */
static uint64_t *seen;                  /* reads of the block's warps, a hash table; 0: free */
static size_t room, n_seen;             /* room: a power of two */

void emu_watch(const void *address, size_t bytes)
{
    from = address;
    emu_is_watching = !!from;
    watched = bytes;
    if (!from) return; /* what was counted stays */
    bytes_read = 0;
    emu_watch_block();
}

unsigned long long emu_watched(void)
{
    return bytes_read;
}

void emu_watch_block(void)
{
    if (!from) return;
    memset(reads, 0, sizeof reads);
    if (n_seen) memset(seen, 0, room * sizeof *seen);
    n_seen = 0;
}

/* 1 if it was not there. */
static int insert(uint64_t key)
{
    size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
    while (seen[i] && seen[i] != key) i = (i + 1) & (room - 1);
    if (seen[i]) return 0;
    seen[i] = key;
    n_seen++;
    return 1;
}

static void grow(void)
{
    uint64_t *old = seen;
    size_t n = room;
    if (2 * n_seen < room) return;
    room = room ? 2 * room : 1 << 12;
    seen = calloc(room, sizeof *seen);
    if (!seen) abort();
    n_seen = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i]) insert(old[i]);
    free(old);
}

void emu_watch_read(const void *p, size_t bytes)
{
    uint64_t at = (uint64_t)((const char *)p - from);
    unsigned me = emu_now.thread.x;
    if ((const char *)p < from || at >= watched) return;
    if (reads[me] == LANE_READS) emu_fail("too many reads of what is watched");
    grow();
    if (insert((at << 32 | (uint64_t)(me / EMU_WARP) << 27 | reads[me]++) + 1)) bytes_read += bytes;
}
