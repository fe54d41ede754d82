/* The clock, and the rate of plain streams. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/micro/micro.h"

enum { LEAST_RUNS = 3, LONG_NS = 1000000, MEMORY_BYTES = 128 << 20 };

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Long calls are cut up by whatever else the core must do: there the thread's own time counts. */
static double time_call(ig_timed_fn *run, void *data)
{
    double own = now_ns(CLOCK_THREAD_CPUTIME_ID), start = now_ns(CLOCK_MONOTONIC);
    run(data);
    double ns = now_ns(CLOCK_MONOTONIC) - start;
    return ns < LONG_NS ? ns : now_ns(CLOCK_THREAD_CPUTIME_ID) - own;
}

double ig_time_least(ig_timed_fn *run, void *data, double seconds)
{
    double least = 0, end = now_ns(CLOCK_MONOTONIC) + time_call(run, data) + seconds * 1e9;
    for (int n = 0; n < LEAST_RUNS || now_ns(CLOCK_MONOTONIC) < end; n++) {
        double ns = time_call(run, data);
        if (!n || ns < least) least = ns;
    }
    return least > 1 ? least : 1;
}

/* With the widest vectors that are worth it. */
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx")))
#else
#define WIDE
#endif
typedef float vec8 __attribute__((vector_size(32)));

enum { BLOCK = 4096 / sizeof(vec8) };

struct stream {                  /* blocks of equal size; what is left over comes at the end */
    const vec8 *from;
    vec8 *to;
    int64_t blocks, reads, writes; /* of a block: vectors, multiples of 8 */
    int64_t more_reads, more_writes;
    int32_t lanes;               /* places that are read in turn: memory likes several */
};

WIDE static void read_run(const vec8 *p, int64_t n)
{
    for (const vec8 *end = p + n; p < end; p += 8) {
        vec8 a = p[0], b = p[1], c = p[2], d = p[3];
        __asm__ volatile("" ::"x"(a), "x"(b), "x"(c), "x"(d));
        a = p[4], b = p[5], c = p[6], d = p[7];
        __asm__ volatile("" ::"x"(a), "x"(b), "x"(c), "x"(d));
    }
}

WIDE static void write_run(vec8 *p, int64_t n)
{
    vec8 zero = {0};
    for (vec8 *end = p + n; p < end; p += 8) {
        __asm__ volatile("" : "+x"(zero)); /* no memset */
        p[0] = p[1] = p[2] = p[3] = p[4] = p[5] = p[6] = p[7] = zero;
    }
}

/* Reads and writes side by side, as in a kernel. */
static void stream(void *data)
{
    const struct stream *s = data;
    int64_t run = s->blocks / s->lanes * s->reads;
    const vec8 *from = s->from;
    vec8 *to = s->to;
    for (int64_t i = 0; i < s->blocks / s->lanes; i++, from += s->reads)
        for (int32_t lane = 0; lane < s->lanes; lane++, to += s->writes) {
            read_run(from + lane * run, s->reads);
            write_run(to, s->writes);
        }
    read_run(s->from + s->lanes * run, s->more_reads);
    write_run(to, s->more_writes);
}

double ig_stream_ns(int64_t read, int64_t write)
{
    int64_t reads = (read + 255) / 256 * 8, writes = (write + 255) / 256 * 8, most = reads > writes ? reads : writes;
    double least = 0;
    struct stream s = {.blocks = (most / BLOCK + 8) / 8 * 8};
    s.from = aligned_alloc(64, (size_t)(reads + 8) * sizeof(vec8));
    s.to = aligned_alloc(64, (size_t)(writes + 8) * sizeof(vec8));
    if (!s.from || !s.to) abort();
    memset((void *)s.from, 0, (size_t)reads * sizeof(vec8));
    memset(s.to, 0, (size_t)writes * sizeof(vec8));
    s.reads = reads / s.blocks & ~7;
    s.writes = writes / s.blocks & ~7;
    s.more_reads = reads - s.blocks * s.reads;
    s.more_writes = writes - s.blocks * s.writes;
    for (s.lanes = 1; s.lanes <= 8; s.lanes *= 2) {
        double ns = ig_time_least(stream, &s, 0.01);
        if (s.lanes == 1 || ns < least) least = ns;
    }
    free((void *)s.from);
    free(s.to);
    return least;
}

double ig_memory_gbytes(void)
{
    return MEMORY_BYTES / ig_stream_ns(MEMORY_BYTES, 0);
}
