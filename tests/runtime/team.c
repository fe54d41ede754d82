/* Teams of threads give the bits of one thread, frame after frame, more of them than cores or not. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "runtime/team.h"
#include "tests/support/mill.h"

enum { MOST_THREADS = 8, FRAMES = 300, ELEMENTS = MILL_WIDTH * MILL_IMAGES };
enum { PATIENCE = 60000 }; /* looks of a millisecond */

struct machine { /* one context with its memory */
    struct mill mill;
    struct ig_ctx ctx;
    struct ig_team team;
    void *arena;
    size_t bytes;
    uint32_t in[ELEMENTS], out[ELEMENTS];
    _Alignas(64) char weights[64];
};

static struct machine *machine_new(void)
{
    struct machine *m = aligned_alloc(64, (sizeof(struct machine) + 63) / 64 * 64);
    assert_non_null(m);
    memset(m, 0, sizeof *m);
    mill_make(&m->mill);
    m->bytes = (size_t)ig_arena_total(&m->mill.model, MOST_THREADS);
    m->arena = aligned_alloc(64, m->bytes);
    assert_int_equal(ig_ctx_init(&m->ctx, &m->mill.model, m->weights, m->arena, m->bytes), IG_OK);
    return m;
}

static void machine_free(struct machine *m)
{
    ig_ctx_stop_threads(&m->ctx);
    free(m->arena);
    free(m);
}

static void set_input(uint32_t in[ELEMENTS], uint32_t seed)
{
    for (uint32_t i = 0; i < ELEMENTS; i++) in[i] = i * 40503u + seed;
}

/* The steps add to what is there: every frame starts from zeros. */
static int frame(struct machine *m, uint32_t seed)
{
    set_input(m->in, seed);
    memset(m->out, 0, sizeof m->out);
    memset(m->arena, 0, m->bytes);
    return ig_ctx_run(&m->ctx, (const void *[]){m->in}, (void *[]){m->out});
}

static void expect(uint32_t seed, uint32_t out[ELEMENTS])
{
    uint32_t in[ELEMENTS];
    set_input(in, seed);
    mill_expect(in, out);
}

static void any_number_of_threads(void **state)
{
    uint32_t want[ELEMENTS];
    struct machine *m = machine_new();
    (void)state;
    for (int32_t threads = 1; threads <= MOST_THREADS; threads++) {
        assert_int_equal(ig_ctx_start_threads(&m->ctx, &m->team, threads), IG_OK);
        for (uint32_t f = 0; f < FRAMES; f++) {
            expect(f, want);
            assert_int_equal(frame(m, f), IG_OK);
            assert_memory_equal(m->out, want, sizeof want);
        }
        ig_ctx_stop_threads(&m->ctx);
    }
    machine_free(m);
}

static void start_and_stop(void **state)
{
    uint32_t want[ELEMENTS];
    struct machine *m = machine_new();
    (void)state;
    expect(7, want);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(ig_ctx_start_threads(&m->ctx, &m->team, 1 + i % 5), IG_OK);
        for (int f = 0; f < i % 3; f++) assert_int_equal(frame(m, 7), IG_OK);
        if (i % 2) ig_ctx_stop_threads(&m->ctx); /* else: a start replaces the team */
        if (i % 3) assert_memory_equal(m->out, want, sizeof want);
    }
    ig_ctx_stop_threads(&m->ctx);
    ig_ctx_stop_threads(&m->ctx);
    assert_int_equal(frame(m, 7), IG_OK); /* alone again */
    assert_memory_equal(m->out, want, sizeof want);
    machine_free(m);
}

static void *many_frames(void *arg)
{
    struct machine *m = arg;
    for (int f = 0; f < FRAMES; f++)
        if (frame(m, 3)) return NULL;
    return m;
}

static void two_teams(void **state)
{
    uint32_t want[ELEMENTS];
    struct machine *m[2] = {machine_new(), machine_new()};
    pthread_t thread[2];
    void *done;
    (void)state;
    expect(3, want);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ig_ctx_start_threads(&m[i]->ctx, &m[i]->team, 2 + i), IG_OK);
        assert_int_equal(pthread_create(&thread[i], NULL, many_frames, m[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(thread[i], &done), 0);
        assert_ptr_equal(done, m[i]);
        assert_memory_equal(m[i]->out, want, sizeof want);
        machine_free(m[i]);
    }
}

/* Idle longer than the threads spin: they sleep, and are woken. */
static void after_a_pause(void **state)
{
    uint32_t want[ELEMENTS];
    struct machine *m = machine_new();
    const struct timespec pause = {0, 1000000};
    (void)state;
    expect(5, want);
    assert_int_equal(ig_ctx_start_threads(&m->ctx, &m->team, 2), IG_OK);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < PATIENCE && !atomic_load(&m->team.sleepers); k++) nanosleep(&pause, NULL);
        assert_true(atomic_load(&m->team.sleepers) > 0);
        assert_int_equal(frame(m, 5), IG_OK);
        assert_memory_equal(m->out, want, sizeof want);
    }
    machine_free(m);
}

static _Atomic int32_t begun, moved;
static void *_Atomic whose[2]; /* scratch of the thread that has a step's first chunk, and its second */

/* Each of a step's two chunks waits until the other has begun: two threads have one each. */
static void meet(const struct ig_call *call, struct ig_range r, void *scratch)
{
    if (call->image) return;
    int32_t second = r.c0 > 0, both = (atomic_fetch_add(&begun, 1) / 2 + 1) * 2;
    void *before = atomic_exchange(&whose[second], scratch);
    if (before && before != scratch) atomic_fetch_add(&moved, 1);
    while (atomic_load(&begun) < both) sched_yield();
}

static void a_thread_keeps_its_chunks(void **state)
{
    struct machine *m = machine_new();
    (void)state;
    for (int k = 0; k < MILL_STEPS; k++) {
        struct ig_step *s = &m->mill.steps[k];
        s->run = meet;
        s->split = s->chunks = 2;
        s->chunk = MILL_WIDTH / 2;
    }
    assert_int_equal(ig_ctx_start_threads(&m->ctx, &m->team, 2), IG_OK);
    for (uint32_t f = 0; f < FRAMES; f++) assert_int_equal(frame(m, f), IG_OK);
    assert_int_equal(atomic_load(&begun), 2 * MILL_STEPS * FRAMES);
    assert_int_equal(atomic_load(&moved), 0);
    assert_ptr_not_equal(whose[0], whose[1]);
    machine_free(m);
}

enum { CHUNKS = 4 };
static _Atomic int32_t finished, stuck;

/* The first of a step's chunks lasts until the others are done: by a thread that takes those of its neighbour, too. */
static void wait_for_others(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const struct timespec pause = {0, 1000000};
    (void)scratch;
    if (call->image) return;
    if (r.c0 == 0) {
        int32_t looks = 0;
        while (atomic_load(&finished) < CHUNKS - 1 && looks++ < PATIENCE) nanosleep(&pause, NULL);
        atomic_store(&finished, 0);
        atomic_fetch_add(&stuck, looks > PATIENCE);
    } else {
        atomic_fetch_add(&finished, 1);
    }
}

static void what_is_left_is_taken(void **state)
{
    struct machine *m = machine_new();
    (void)state;
    struct ig_step *s = &m->mill.steps[0];
    s->run = wait_for_others;
    s->split = 2;
    s->chunks = CHUNKS;
    s->chunk = MILL_WIDTH / CHUNKS;
    m->mill.model.n_steps = 1;
    assert_int_equal(ig_ctx_start_threads(&m->ctx, &m->team, 2), IG_OK);
    for (uint32_t f = 0; f < 20 && !atomic_load(&stuck); f++) assert_int_equal(frame(m, f), IG_OK);
    assert_int_equal(atomic_load(&stuck), 0);
    machine_free(m);
}

static int64_t ticks(void)
{
    static int64_t t;
    return t += 10;
}

/* Only the caller's thread reads the clock: once at the start and once at the end of every step. */
static void times_every_step(void **state)
{
    int64_t ns[MILL_STEPS + 1] = {0};
    struct machine *m = machine_new();
    (void)state;
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        memset(ns, 0, sizeof ns);
        assert_int_equal(ig_ctx_start_threads(&m->ctx, &m->team, threads), IG_OK);
        assert_int_equal(ig_ctx_run_timed(&m->ctx, (const void *[]){m->in}, (void *[]){m->out}, ns, ticks),
                         IG_OK);
        for (int i = 0; i < MILL_STEPS; i++) assert_int_equal(ns[i], 10);
        assert_int_equal(ns[MILL_STEPS], 0);
    }
    machine_free(m);
}

static int32_t begun_early; /* chunks, as the frame's time begins */

static int64_t slow_ticks(void)
{
    static int32_t calls;
    const struct timespec pause = {0, 20000000};
    if (!calls++) {
        nanosleep(&pause, NULL);
        begun_early = atomic_load(&begun);
    }
    return calls;
}

static void count(const struct ig_call *call, struct ig_range r, void *scratch)
{
    (void)call, (void)r, (void)scratch;
    atomic_fetch_add(&begun, 1);
}

/* However late the caller's thread reads the clock: nobody works on the first step before. */
static void time_begins_before_work(void **state)
{
    int64_t ns[MILL_STEPS];
    struct machine *m = machine_new();
    (void)state;
    atomic_store(&begun, 0);
    for (int k = 0; k < MILL_STEPS; k++) m->mill.steps[k].run = count;
    assert_int_equal(ig_ctx_start_threads(&m->ctx, &m->team, 2), IG_OK);
    assert_int_equal(ig_ctx_run_timed(&m->ctx, (const void *[]){m->in}, (void *[]){m->out}, ns, slow_ticks), IG_OK);
    assert_int_equal(begun_early, 0);
    assert_true(atomic_load(&begun) > 0);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(start_and_stop),
        cmocka_unit_test(two_teams),
        cmocka_unit_test(after_a_pause),
        cmocka_unit_test(a_thread_keeps_its_chunks),
        cmocka_unit_test(what_is_left_is_taken),
        cmocka_unit_test(times_every_step),
        cmocka_unit_test(time_begins_before_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
