/* A program of several networks: which one runs is said on the command line, or for every frame. */
#ifndef RUNTIME_HOST_BUNDLE_H
#define RUNTIME_HOST_BUNDLE_H

#include "runtime/host/program.h"

struct ig_bundled {
    const struct ig_program *program;
    int64_t base; /* where its arena begins in the shared one, bytes, a multiple of 64 */
};

struct ig_bundle { /* filled by the generated main file */
    const char *name;
    const struct ig_bundled *at;
    int32_t n;
    int64_t arena_bytes; /* of the shared arena, on the threads that were planned for */
};

enum { IG_MAX_BUNDLE = 64, IG_MAX_SEQUENCE = 256 };

struct ig_turns { /* networks one after the other, all ready, in the shared arena */
    const struct ig_bundle *bundle;
    struct ig_session *sessions; /* bundle->n */
    int order[IG_MAX_SEQUENCE];  /* numbers of networks */
    int n;                       /* 0: each frame of the stream names its own */
    int threads;
    double init_ms;
};

/* The whole program; returns its exit status as ig_main does. */
int ig_bundle_main(int argc, char **argv, const struct ig_bundle *bundle);
/* program->start of each network: finds its weights, which may be appended, and starts it alone. */
void ig_bundle_start(struct ig_session *s, int threads);
/* runtime/host/bundle_bench.c: each network alone, then all in their order. */
void ig_bench_bundle(struct ig_turns *t, const struct ig_options *o);

#endif
