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

struct stream {
    vec8 *from, *to;
    int64_t reads, writes;       /* vectors, multiples of 8 */
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
    int64_t blocks = ((s->reads > s->writes ? s->reads : s->writes) + BLOCK - 1) / BLOCK;
    for (int64_t i = 0; i < blocks; i++) {
        int64_t r0 = s->reads * i / blocks & ~7, r1 = s->reads * (i + 1) / blocks & ~7;
        int64_t w0 = s->writes * i / blocks & ~7, w1 = s->writes * (i + 1) / blocks & ~7;
        read_run(s->from + r0, r1 - r0);
        write_run(s->to + w0, w1 - w0);
    }
}

double ig_stream_ns(int64_t read, int64_t write)
{
    struct stream s = {.reads = (read + 255) / 256 * 8, .writes = (write + 255) / 256 * 8};
    s.from = aligned_alloc(64, (size_t)(s.reads + 8) * sizeof(vec8));
    s.to = aligned_alloc(64, (size_t)(s.writes + 8) * sizeof(vec8));
    if (!s.from || !s.to) abort();
    memset(s.from, 0, (size_t)s.reads * sizeof(vec8));
    memset(s.to, 0, (size_t)s.writes * sizeof(vec8));
    double ns = ig_time_least(stream, &s, 0.01);
    free(s.from);
    free(s.to);
    return ns;
}

double ig_memory_gbytes(void)
{
    return MEMORY_BYTES / ig_stream_ns(MEMORY_BYTES, 0);
}
