/*
 * A tensor's way through a rank: copies that are filled and used in turn, frame after frame. Every count has one
 * writer; who has changed some then rings the rank's bell, once, and who finds nothing to do sleeps until it rings.
 */
#ifndef RUNTIME_MPI_FLOW_H
#define RUNTIME_MPI_FLOW_H

#include <stdatomic.h>
#include <stdint.h>

enum { IG_FLOW_LINE = 64 }; /* bytes of a cache line: no two threads' counts share one; copies start at multiples */
#define IG_NO_END UINT64_MAX

struct ig_bell {
    _Alignas(IG_FLOW_LINE) _Atomic uint32_t rings; /* a futex word */
    _Atomic int32_t sleepers;
};

struct ig_used {
    _Alignas(IG_FLOW_LINE) _Atomic uint64_t frames; /* that one reader is done with */
};

struct ig_flow {
    char *data;    /* of copy 0 */
    int64_t bytes; /* of a copy, without what aligns the next */
    int32_t copies, n_readers;
    struct ig_used *used; /* [n_readers] */
    _Alignas(IG_FLOW_LINE) _Atomic uint64_t filled; /* frames that its writer is done with */
    _Atomic uint64_t end;                           /* frames that there are; IG_NO_END: more may come */
};

/* Bytes that its copies take, a multiple of IG_FLOW_LINE. */
int64_t ig_flow_room(int64_t bytes, int32_t copies);
void ig_flow_start(struct ig_flow *f, void *data, int64_t bytes, int32_t copies);

/* For the writer: is there a copy for this frame? It is filled; there are so many and no more. */
int ig_flow_free(const struct ig_flow *f, uint64_t frame);
void ig_flow_fill(struct ig_flow *f, uint64_t frames);
void ig_flow_close(struct ig_flow *f, uint64_t frames);

/* For a reader: is this frame there? Will it never be? It has used so many. */
int ig_flow_has(const struct ig_flow *f, uint64_t frame);
int ig_flow_over(const struct ig_flow *f, uint64_t frame);
void ig_flow_use(struct ig_flow *f, int32_t reader, uint64_t frames);

void *ig_flow_at(const struct ig_flow *f, uint64_t frame);

/* Whoever sleeps looks again. How often it has rung. */
uint32_t ig_bell_ring(struct ig_bell *b);
/* First ig_bell_seen, then a look at everything, then this: sleeps until the bell rings, at most ns (< 0: for ever);
 * may return early. */
uint32_t ig_bell_seen(struct ig_bell *b);
void ig_bell_wait(struct ig_bell *b, uint32_t seen, int64_t ns);

#endif
