/* Frames through a pipeline one behind the other, and when each of them comes out: what --bench and trials time. */
#ifndef RUNTIME_FRAMES_H
#define RUNTIME_FRAMES_H

#include "runtime/pipeline.h"

struct ig_frames {
    int32_t least, most;       /* frames, 1 or more */
    int64_t end_ns;            /* by the clock: beyond `least` the frame pushed then is the last */
    int64_t (*clock_ns)(void);
    int64_t *interval_ns;      /* [most]: since the result before; the first one's since the start */
    int64_t *latency_ns;       /* [most]: since it was pushed */
};

/*
 * Frames without a pause, whose inputs are what lies in the slots; the pipeline is empty before and after. As in a stream
 * a thread of its own pushes, so that a frame always waits for room, not for a result that is taken. Returns how many,
 * or an enum ig_status, negative; then the pipeline has been shut.
 */
int32_t ig_frames_run(struct ig_pipeline *p, const struct ig_frames *f);

#endif
