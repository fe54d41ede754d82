/* The weight blob, piece by piece and in order: no memory of its size is needed. */
#ifndef GEN_STREAM_H
#define GEN_STREAM_H

#include "gen/lower.h"

/* Takes the next bytes of the blob; 0, or -1 to end it. */
typedef int ig_sink_fn(void *to, const void *bytes, size_t n);
/* What ig_fill_weights fills. Sets l->model.weights_hash. 0, or -1 where the sink said so. */
int ig_stream_weights(struct ig_lowered *l, ig_sink_fn *sink, void *to);

#endif
