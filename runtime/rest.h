/* How long cores had nothing to do, as Linux counts it, in hundredths of a second. */
#ifndef RUNTIME_REST_H
#define RUNTIME_REST_H

#include <stdint.h>

enum { IG_REST_CORES = 64 };

/* rest[core]: ns since the machine started, for each of `cores` (a bit each). 0, or -1: the system does not say. */
int ig_rest_ns(uint64_t cores, int64_t rest[IG_REST_CORES]);

#endif
