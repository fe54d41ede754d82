/* Lowered tables with the memory that they run in, in this process. */
#ifndef BENCH_BED_H
#define BENCH_BED_H

#include "gen/lower.h"
#include "runtime/api.h"
#include "runtime/team.h"

struct ig_bed {
    struct ig_lowered *lowered; /* the caller's */
    struct ig_ctx ctx;
    struct ig_team team; /* of threads > 1 */
    void *arena, *weights;
    size_t arena_bytes; /* that the tables need */
    int64_t room;       /* mapped at `arena`; 0: it is another bed's */
    int borrowed;       /* the weights are another bed's */
};

/*
 * Packs the weights (anew, where `l` was in a bed before), starts the threads. 0, or -1 with a line in err.
 */
int ig_bed_make(struct ig_bed *b, struct ig_lowered *l, int32_t threads, char *err, size_t err_bytes);
/*
 * The same on the weights of another bed that has the same kernels, and in its arena if there is room: what differs in
 * time is then not the pages. That bed is freed later.
 */
int ig_bed_share(struct ig_bed *b, struct ig_lowered *l, int32_t threads, const struct ig_bed *from,
                 char *err, size_t err_bytes);
void ig_bed_free(struct ig_bed *b);
/* One step of the tables alone, or the band that it opens; its inputs are where earlier steps left them. Returns
 * enum ig_status. */
int ig_bed_step(struct ig_bed *b, int32_t step, const void *const *inputs, void *const *outputs);
/* Zeroed buffers for io[n], and their end. NULL if there is no memory. */
void **ig_io_buffers(const struct ig_io *io, int32_t n);
void ig_io_buffers_free(void **buffers, const struct ig_io *io, int32_t n);

#endif
