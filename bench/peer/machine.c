/* What the machine could do at best: prints the fused multiply-add peak of a core and the bandwidth of a
 * streaming read by as many threads as asked for, as JSON. usage: machine THREADS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/profile.h"

enum { MAX_THREADS = 64, ROUNDS = 8 };
static const size_t piece_bytes = (size_t)128 << 20; /* a thread's; far above any cache of a core */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Sums a piece through eight independent vectors, so that loads, not additions, are what takes time. */
static void *read_piece(void *piece)
{
    typedef uint64_t vec __attribute__((vector_size(32)));
    const vec *p = piece;
    vec sum[8] = {{0}};
    for (size_t i = 0; i < piece_bytes / sizeof *p; i += 8)
        for (int k = 0; k < 8; k++) sum[k] += p[i + (size_t)k];
    for (int k = 1; k < 8; k++) sum[0] += sum[k];
    memcpy(piece, &sum[0], sizeof sum[0]);
    return NULL;
}

/* Best of some rounds, GB/s; 0 if there is no memory for it. */
static double stream_peak(int threads)
{
    char *all = aligned_alloc(64, piece_bytes * (size_t)threads);
    double best = 0;
    if (!all) return 0;
    memset(all, 1, piece_bytes * (size_t)threads);
    for (int r = 0; r < ROUNDS; r++) {
        pthread_t team[MAX_THREADS];
        int started = 0;
        double start = now();
        while (started < threads - 1 &&
               !pthread_create(&team[started], NULL, read_piece, all + (size_t)(started + 1) * piece_bytes))
            started++;
        read_piece(all);
        for (int i = 0; i < started; i++) pthread_join(team[i], NULL);
        double rate = 1e-9 * (double)piece_bytes * (started + 1) / (now() - start);
        if (rate > best) best = rate;
    }
    free(all);
    return best;
}

int main(int argc, char **argv)
{
    char cpu[128];
    int threads = argc == 2 ? atoi(argv[1]) : 0;
    if (threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "usage: machine THREADS\n");
        return 2;
    }
    ig_cpu_name(cpu, sizeof cpu);
    printf("{\"cpu\":\"%s\",\"peak_gflops\":%.1f,\"stream_gbs\":%.2f}\n", cpu, ig_fma_peak(), stream_peak(threads));
    return 0;
}
