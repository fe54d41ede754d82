#include "bench/handover.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST = 4096, ROUNDS = 5, SAMPLES = 21, LINE = 64, MOST = LEAST << 2 * (IG_HANDOVER_SIZES - 1) };

struct pair {
    uint64_t *data;
    size_t words;            /* of the size that is timed */
    _Atomic int32_t turn;    /* the writer's: 1; the reader's: 0; the end: -1 */
    int64_t written_ns;      /* when the writer was done */
    _Atomic uint64_t summed; /* what reading computes, so that no compiler leaves it out */
    struct ig_handover *h;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void fill(struct pair *p, uint64_t with)
{
    for (size_t i = 0; i < p->words; i++) p->data[i] = with + i;
}

static void read_all(struct pair *p)
{
    uint64_t sum[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < p->words; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += p->data[i + (size_t)k];
    atomic_store_explicit(&p->summed, sum[0] + sum[1] + sum[2] + sum[3], memory_order_relaxed);
}

static void *writes(void *arg)
{
    struct pair *p = arg;
    for (uint64_t k = 0;; k++) {
        int32_t turn;
        while (!(turn = atomic_load_explicit(&p->turn, memory_order_acquire))) {}
        if (turn < 0) return NULL;
        fill(p, k);
        p->written_ns = now_ns();
        atomic_store_explicit(&p->turn, 0, memory_order_release);
    }
}

static int64_t from_other(struct pair *p)
{
    atomic_store_explicit(&p->turn, 1, memory_order_release);
    while (atomic_load_explicit(&p->turn, memory_order_acquire)) {}
    read_all(p);
    return now_ns() - p->written_ns;
}

static int64_t from_itself(struct pair *p)
{
    fill(p, 7);
    int64_t start = now_ns();
    read_all(p);
    return now_ns() - start;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median(struct pair *p, int64_t once(struct pair *))
{
    int64_t ns[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) ns[i] = once(p);
    qsort(ns, SAMPLES, sizeof *ns, by_size);
    return ns[SAMPLES / 2] > 0 ? ns[SAMPLES / 2] : 1;
}

static void *reads(void *arg)
{
    struct pair *p = arg;
    struct ig_handover *h = p->h;
    for (int i = 0; i < IG_HANDOVER_SIZES; i++) {
        h->bytes[i] = (int64_t)LEAST << 2 * i;
        h->other_ns[i] = h->own_ns[i] = INT64_MAX;
        p->words = (size_t)h->bytes[i] / sizeof *p->data;
        for (int round = 0; round < ROUNDS; round++) {
            int64_t other = median(p, from_other), own = median(p, from_itself);
            if (other < h->other_ns[i]) h->other_ns[i] = other;
            if (own < h->own_ns[i]) h->own_ns[i] = own;
        }
    }
    atomic_store_explicit(&p->turn, -1, memory_order_release);
    return NULL;
}

static int start(pthread_t *thread, int32_t core, void *run(void *), struct pair *p)
{
    pthread_attr_t attr;
    cpu_set_t set;
    if (core < 0 || core >= CPU_SETSIZE) return -1;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (pthread_attr_init(&attr)) return -1;
    int rc = pthread_attr_setaffinity_np(&attr, sizeof set, &set) || pthread_create(thread, &attr, run, p);
    pthread_attr_destroy(&attr);
    return rc ? -1 : 0;
}

int ig_handover_measure(int32_t writer, int32_t reader, struct ig_handover *h)
{
    struct pair p = {.data = aligned_alloc(LINE, MOST), .h = h};
    pthread_t threads[2];
    if (!p.data) return -1;
    memset(p.data, 1, MOST);
    int rc = start(&threads[0], writer, writes, &p);
    if (!rc) {
        rc = start(&threads[1], reader, reads, &p);
        if (rc) atomic_store(&p.turn, -1);
        else pthread_join(threads[1], NULL);
        pthread_join(threads[0], NULL);
    }
    free(p.data);
    return rc;
}
