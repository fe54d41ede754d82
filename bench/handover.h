/* What a core takes to read what another one has just written, beside what it has just written itself. */
#ifndef BENCH_HANDOVER_H
#define BENCH_HANDOVER_H

#include <stdint.h>

enum { IG_HANDOVER_SIZES = 6 }; /* 4 KiB to 4 MiB, by four */

struct ig_handover { /* by size: the least of some medians */
    int64_t bytes[IG_HANDOVER_SIZES];
    int64_t other_ns[IG_HANDOVER_SIZES]; /* from the end of the writing until all is read, by a core that waits for it */
    int64_t own_ns[IG_HANDOVER_SIZES];
};

/* 0, or -1: this process may not use both cores, or there is no memory or no thread. */
int ig_handover_measure(int32_t writer, int32_t reader, struct ig_handover *h);

#endif
