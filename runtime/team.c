/*
 * Waiting is spin-then-futex: a core that has a thread to itself passes a barrier in well under a
 * microsecond, and one that must share it is given up after SPINS looks, fewer while they are in vain, and at
 * once if there are more threads than cores.
 */
#include "runtime/team.h"

#include <sched.h>

#include "runtime/wait.h"

enum { STACK_BYTES = 1 << 20 }; /* of a thread */
enum { SPINS = 4000, RANGE = 16 }; /* the most, and how many times fewer the least is */

/* 1 if looking was enough, 0 if this thread slept. */
static int wait_change(struct ig_team *t, _Atomic uint32_t *word, uint32_t seen)
{
    int32_t spins = atomic_load_explicit(&t->spins, memory_order_relaxed);
    for (int32_t i = 0; i < spins; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != seen) return 1;
        ig_relax();
    }
    atomic_fetch_add(&t->sleepers, 1);
    while (atomic_load(word) == seen) ig_futex_wait(word, seen);
    atomic_fetch_sub(&t->sleepers, 1);
    return 0;
}

/* Threads that share a core never see each other work: they learn to sleep early, and forget it as fast. */
static void learn(struct ig_team *t, int enough)
{
    int32_t spins = atomic_load_explicit(&t->spins, memory_order_relaxed);
    int32_t next = enough ? spins * 2 : spins / 2;
    if (next > t->most_spins) next = t->most_spins;
    if (next < t->most_spins / RANGE) next = t->most_spins / RANGE;
    if (next != spins) atomic_store_explicit(&t->spins, next, memory_order_relaxed);
}

/* Sleepers are counted before they look at the word a last time, so either they see `value` or they are
 * woken. */
static void change(struct ig_team *t, _Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    if (atomic_load(&t->sleepers)) ig_futex_wake(word);
}

static _Atomic int32_t *taken_of(struct ig_team *t, int32_t thread, uint32_t step)
{
    return &t->shares[thread % IG_SHARE_LINES].taken[thread / IG_SHARE_LINES][step & 1];
}

/* Between two barriers nobody looks at the other step's count, so that a thread may reset its own for the next step. */
static void barrier(struct ig_team *t, int32_t thread)
{
    uint32_t phase = atomic_load_explicit(&t->phase, memory_order_relaxed);
    atomic_store_explicit(taken_of(t, thread, phase + 1), 0, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) + 1 < t->threads) {
        learn(t, wait_change(t, &t->phase, phase));
        return;
    }
    atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
    if (t->run->step_ns) t->passed_ns = t->run->clock_ns();
    change(t, &t->phase, phase + 1);
}

/* A thread has the same chunks of a step in every frame, whose weights and rows its core's caches may still hold; when
 * these are done it takes what the others have left. */
static int32_t claim(struct ig_team *t, int32_t thread, int32_t chunks)
{
    uint32_t step = atomic_load_explicit(&t->phase, memory_order_relaxed);
    for (int32_t i = 0; i < t->threads; i++) {
        int32_t of = (thread + i) % t->threads;
        int32_t first = (int32_t)((int64_t)chunks * of / t->threads);
        int32_t end = (int32_t)((int64_t)chunks * (of + 1) / t->threads);
        _Atomic int32_t *taken = taken_of(t, of, step);
        if (atomic_load_explicit(taken, memory_order_relaxed) >= end - first) continue;
        int32_t chunk = first + atomic_fetch_add_explicit(taken, 1, memory_order_relaxed);
        if (chunk < end) return chunk;
    }
    return chunks;
}

static void *worker(void *arg)
{
    struct ig_team *t = arg;
    struct ig_sync sync = {barrier, claim, &t->passed_ns, t};
    int32_t thread = 1 + atomic_fetch_add(&t->ids, 1);
    for (uint32_t seen = 0;; seen++) {
        wait_change(t, &t->frame, seen);
        const struct ig_run *run = t->run;
        if (!run) return NULL;
        ig_run_steps(run, &sync, thread);
        barrier(t, thread);
    }
}

static int32_t cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

int ig_team_start(struct ig_team *t, int32_t threads)
{
    if (threads < 1 || threads > IG_MAX_THREADS) return IG_ERROR_THREADS;
    for (int32_t i = 0; i < IG_MAX_THREADS; i++)
        for (uint32_t step = 0; step < 2; step++) atomic_init(taken_of(t, i, step), 0);
    atomic_init(&t->arrived, 0);
    atomic_init(&t->phase, 0);
    atomic_init(&t->frame, 0);
    atomic_init(&t->ids, 0);
    atomic_init(&t->sleepers, 0);
    pthread_attr_t attr; /* some C libraries give a thread less stack than kernels take */
    t->run = NULL;
    t->most_spins = threads > cores() ? 0 : SPINS;
    atomic_init(&t->spins, t->most_spins);
    t->threads = 1;
    if (pthread_attr_init(&attr)) return IG_ERROR_THREADS;
    int failed = pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (; !failed && t->threads < threads; t->threads += !failed)
        failed = pthread_create(&t->handles[t->threads], &attr, worker, t);
    pthread_attr_destroy(&attr);
    if (failed) ig_team_stop(t);
    return failed ? IG_ERROR_THREADS : IG_OK;
}

static void release(struct ig_team *t, const struct ig_run *run)
{
    t->run = run;
    change(t, &t->frame, atomic_load_explicit(&t->frame, memory_order_relaxed) + 1);
}

void ig_team_run(struct ig_team *t, const struct ig_run *run)
{
    struct ig_sync alone = {NULL, NULL, NULL, NULL}, sync = {barrier, claim, &t->passed_ns, t};
    if (t->threads == 1) {
        ig_run_steps(run, &alone, 0);
        return;
    }
    if (run->step_ns) t->passed_ns = run->clock_ns(); /* before any thread begins: this one may come late */
    release(t, run);
    ig_run_steps(run, &sync, 0);
    barrier(t, 0);
}

void ig_team_stop(struct ig_team *t)
{
    release(t, NULL);
    for (int32_t i = 1; i < t->threads; i++) pthread_join(t->handles[i], NULL);
    t->threads = 1;
}
