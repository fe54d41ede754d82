/* Frames through stages: every one, in order, with the bits of a run step by step, whatever the stages do. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "runtime/api.h"
#include "tests/support/relay.h"

enum { FRAMES = 400, BAD = 7, PATIENCE = 3000 /* looks, 20 ms apart */ };

struct line { /* a pipeline with its memory */
    struct relay relay;
    struct ig_pipeline p;
    char *arena;
    _Alignas(64) char weights[64];
    struct rng stalls[IG_MAX_STAGES];
    int32_t stall_us, bad; /* the longest stall; frames whose number this divides fail in the first stage */
    uint32_t frame[IG_MAX_STAGES], count; /* of frames: by stage so far, and to push */
    _Atomic int32_t inside, overlaps;
};

static void pause_us(int32_t us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int work(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct line *l = arg;
    uint32_t frame = l->frame[stage]++;
    if (atomic_fetch_add(&l->inside, 1)) atomic_fetch_add(&l->overlaps, 1);
    if (l->stall_us && !rng_int(&l->stalls[stage], 0, 3)) pause_us(rng_int(&l->stalls[stage], 0, l->stall_us));
    ig_team_run(team, run);
    atomic_fetch_sub(&l->inside, 1);
    return l->bad && frame % (uint32_t)l->bad == 0 && stage == 0 ? IG_ERROR_STAGE : IG_OK;
}

static struct line *line_new(uint64_t seed, int32_t n_stages, int32_t copies, int32_t threads)
{
    struct line *l = aligned_alloc(64, (sizeof *l + 63) / 64 * 64);
    struct rng r = {seed};
    assert_non_null(l);
    memset(l, 0, sizeof *l);
    relay_make(&l->relay, &r, n_stages, copies, threads);
    for (int i = 0; i < IG_MAX_STAGES; i++) l->stalls[i].state = seed + (uint64_t)i;
    l->arena = aligned_alloc(64, (size_t)l->relay.model.arena_bytes);
    assert_non_null(l->arena);
    memset(l->arena, 0xa5, (size_t)l->relay.model.arena_bytes);
    ig_pipeline_clear(&l->p);
    return l;
}

static void line_start(struct line *l)
{
    assert_int_equal(ig_pipeline_start(&l->p, &l->relay.pipe, l->weights, l->arena, (size_t)l->relay.model.arena_bytes),
                     IG_OK);
}

static void hook(struct line *l)
{
    l->p.work = work;
    l->p.work_arg = l;
}

static void line_free(struct line *l)
{
    ig_pipeline_stop(&l->p);
    free(l->arena);
    free(l);
}

/* Pops the frame and compares it; 0 if none was ready. */
static int pop(struct line *l, uint32_t frame, int wait)
{
    uint32_t in[RELAY_WIDTH], want[RELAY_WIDTH], out[RELAY_WIDTH] = {0};
    int status = ig_pop(&l->p, (void *[]){out}, wait);
    if (status == IG_AGAIN || status == IG_END) return 0;
    if (l->bad && frame % (uint32_t)l->bad == 0) {
        assert_int_equal(status, IG_ERROR_STAGE);
        return 1;
    }
    assert_int_equal(status, IG_OK);
    relay_fill(in, frame);
    relay_expect(&l->relay, in, want);
    assert_memory_equal(out, want, sizeof want);
    return 1;
}

/* Pushes and pops as they come, by one thread. */
static void flow(struct line *l, uint32_t frames)
{
    uint32_t pushed = 0, popped = 0;
    while (popped < frames) {
        if (pushed < frames && relay_push(&l->p, pushed, 0) == IG_OK)
            pushed++;
        else
            popped += (uint32_t)pop(l, popped, 1);
    }
}

static void bits_of_the_sequential_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        int32_t n = 1 + (int32_t)(seed % 4), threads = seed % 5 == 0 ? 2 : 1;
        struct line *l = line_new(seed, n, 1 + (int32_t)(seed / 4 % 3), threads);
        line_start(l);
        flow(l, FRAMES);
        line_free(l);
    }
}

/* The model itself, step by step in slots' first copies. */
static void sequential(void **state)
{
    uint32_t in[RELAY_WIDTH], want[RELAY_WIDTH], out[RELAY_WIDTH];
    struct line *l = line_new(3, 4, 2, 1);
    struct ig_ctx ctx;
    (void)state;
    assert_int_equal(ig_ctx_init(&ctx, &l->relay.model, l->weights, l->arena, (size_t)l->relay.model.arena_bytes),
                     IG_OK);
    for (uint32_t f = 0; f < 20; f++) {
        relay_fill(in, f);
        relay_expect(&l->relay, in, want);
        assert_int_equal(ig_ctx_run(&ctx, (const void *[]){in}, (void *[]){out}), IG_OK);
        assert_memory_equal(out, want, sizeof want);
    }
    line_free(l);
}

static void random_stalls(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct line *l = line_new(seed, 2 + (int32_t)(seed % 3), 2, 1);
        l->stall_us = 300;
        hook(l);
        line_start(l);
        flow(l, FRAMES / 2);
        line_free(l);
    }
}

static void *pusher(void *arg)
{
    struct line *l = arg;
    for (uint32_t f = 0; f < FRAMES; f++)
        if (relay_push(&l->p, f, 1)) return l;
    ig_push_close(&l->p);
    return NULL;
}

static void two_callers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct line *l = line_new(seed, 2 + (int32_t)(seed % 3), 2 + (int32_t)(seed % 2), 1);
        uint32_t popped = 0;
        pthread_t thread;
        void *failed;
        line_start(l);
        assert_int_equal(pthread_create(&thread, NULL, pusher, l), 0);
        while (pop(l, popped, 1)) popped++;
        assert_int_equal(popped, FRAMES);
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        assert_int_equal(relay_push(&l->p, 0, 1), IG_END);
        assert_false(pop(l, popped, 1));
        line_free(l);
    }
}

/* Nobody pops: pushes find room for what slots there are, then none, and nothing is lost. */
static void back_pressure(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct line *l = line_new(seed, 3, 2, 1);
        uint32_t pushed = 0, more;
        int32_t looks = 0;
        line_start(l);
        do { /* stages may get no core for a while */
            pause_us(20000);
            for (more = 0; relay_push(&l->p, pushed, 0) == IG_OK; more++) pushed++;
        } while (more || (pushed < 3 && looks++ < PATIENCE));
        assert_in_range(pushed, 3, IG_MAX_FLIGHT);
        for (uint32_t f = 0; f < pushed; f++) assert_true(pop(l, f, 1));
        assert_false(pop(l, pushed, 0));
        l->p.work = NULL;
        for (uint32_t f = pushed; f < pushed + 50; f++) {
            assert_int_equal(relay_push(&l->p, f, 1), IG_OK);
            assert_true(pop(l, f, 1));
        }
        line_free(l);
    }
}

/* With room for many but a flight of one, no two stages are ever at work, and frames go on without a pop between. */
static void flight_is_kept(void **state)
{
    struct line *l = line_new(3, 3, 3, 1);
    (void)state;
    l->relay.pipe.flight = 1;
    l->stall_us = 200;
    hook(l);
    line_start(l);
    for (uint32_t f = 0; f < 100; f++) {
        assert_int_equal(relay_push(&l->p, f, 1), IG_OK);
        if (f) assert_true(pop(l, f - 1, 1));
    }
    assert_true(pop(l, 99, 1));
    assert_int_equal(atomic_load(&l->overlaps), 0);
    line_free(l);
}

static void error_is_the_frames(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct line *l = line_new(seed, 3, 2, 1);
        l->bad = BAD;
        hook(l);
        line_start(l);
        flow(l, FRAMES / 2);
        line_free(l);
    }
}

static void stop_in_the_midst(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct line *l = line_new(seed, 2 + (int32_t)(seed % 3), 2, seed % 4 ? 1 : 2);
        pthread_t thread;
        void *failed;
        uint32_t popped = 0;
        line_start(l);
        assert_int_equal(pthread_create(&thread, NULL, pusher, l), 0);
        while (popped < seed * 3) popped += (uint32_t)pop(l, popped, 1);
        ig_pipeline_shut(&l->p);
        assert_int_equal(pthread_join(thread, &failed), 0);
        ig_pipeline_stop(&l->p);
        ig_pipeline_stop(&l->p);
        assert_int_equal(relay_push(&l->p, 0, 1), IG_ERROR_STATE);
        line_start(l); /* again, from the first frame */
        flow(l, 30);
        line_free(l);
    }
}

static void slots_one_serialises(void **state)
{
    int32_t overlaps[3];
    (void)state;
    for (int32_t copies = 1; copies <= 2; copies++) {
        struct line *l = line_new(5, 2, copies, 1);
        l->stall_us = 500;
        hook(l);
        line_start(l);
        flow(l, 200);
        overlaps[copies] = atomic_load(&l->overlaps);
        line_free(l);
    }
    assert_int_equal(overlaps[1], 0);
    assert_true(overlaps[2] > 0);
}

static int sleepy(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    const int32_t *us = arg;
    int64_t end = now_ns() + us[stage] * 1000ll;
    ig_team_run(team, run);
    while (now_ns() < end) pause_us((int32_t)((end - now_ns()) / 1000) + 1);
    return IG_OK;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of two stages that sleep for so long each: how long the median frame is on its way, in % of as many periods as there are copies. */
static int64_t saturated(int32_t copies, int32_t us[2])
{
    enum { N = 48, SETTLED = 12 };
    static struct ig_span spans[N * 2];
    int64_t percent[N];
    struct line *l = line_new(5, 2, copies, 1);
    l->p.work = sleepy;
    l->p.work_arg = us;
    l->p.clock_ns = now_ns;
    l->p.spans = spans;
    l->p.n_spans = N;
    line_start(l);
    flow(l, N);
    ig_pipeline_stop(&l->p);
    for (int i = SETTLED; i < N - 4; i++) {
        int64_t given_up = spans[(i - copies) * 2 + 1].end, end = spans[i * 2 + 1].end;
        assert_true(spans[i * 2].begin >= given_up);
        percent[i - SETTLED] = 100 * (end - spans[i * 2].begin) / (end - given_up);
    }
    qsort(percent, N - 4 - SETTLED, sizeof *percent, by_size);
    line_free(l);
    return percent[(N - 4 - SETTLED) / 2];
}

/*
 * The second of two stages is the slowest and frames always wait: the first begins one when the second gives up the
 * copy that it takes, so that a frame is on its way for c periods. Measured in periods as they were: the machine has
 * other work; where that wakes the first stage late, in longer ones.
 */
static void latency_saturated(void **state)
{
    (void)state;
    for (int32_t copies = 2; copies <= 3; copies++) {
        int64_t percent = 0;
        for (int32_t longer = 1; longer <= 32 && percent < 85; longer *= 2)
            percent = saturated(copies, (int32_t[]){2000 * longer, 10000 * longer});
        assert_in_range(percent, 85, 100);
    }
}

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &size, &resident), 2);
    fclose(f);
    return resident;
}

#ifdef __SANITIZE_THREAD__
enum { GROWTH = 1 << 20 }; /* pages: the sanitizer keeps books */
#else
enum { GROWTH = 64 };
#endif

/* A few frames in a thousand stall in each stage, for up to a fifth of a millisecond. */
static int stumble(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct line *l = arg;
    if (!rng_int(&l->stalls[stage], 0, 300)) pause_us(rng_int(&l->stalls[stage], 0, 200));
    ig_team_run(team, run);
    return IG_OK;
}

static void *push_many(void *arg)
{
    struct line *l = arg;
    for (uint32_t f = 0; f < l->count; f++)
        if (relay_push(&l->p, f, 1)) return l;
    ig_push_close(&l->p);
    return NULL;
}

/* INGOT_LONG=1: a million of them. None is lost, late or wrong, and memory does not grow. */
static void many_frames(void **state)
{
    uint32_t all = getenv("INGOT_LONG") ? 1000000 : 6000;
    (void)state;
    for (int32_t n = 2; n <= 4; n++) {
        struct line *l = line_new((uint64_t)n, n, n == 3 ? 3 : 2, 1);
        uint32_t frames = all / 3 + 1, popped = 0;
        pthread_t thread;
        void *failed;
        long before = 0;
        l->p.work = stumble;
        l->p.work_arg = l;
        l->count = frames;
        line_start(l);
        assert_int_equal(pthread_create(&thread, NULL, push_many, l), 0);
        for (; pop(l, popped, 1); popped++)
            if (popped == frames / 4) before = resident_pages();
        assert_int_equal(popped, frames);
        assert_true(resident_pages() - before <= GROWTH);
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        line_free(l);
    }
}

static void refusals(void **state)
{
    struct line *l = line_new(1, 2, 2, 1);
    size_t bytes = (size_t)l->relay.model.arena_bytes;
    void *at[IG_MAX_SLOTS];
    int ready;
    (void)state;
    assert_int_equal(ig_pipeline_start(&l->p, &l->relay.pipe, l->weights, l->arena, bytes - 1), IG_ERROR_ARENA_SMALL);
    assert_int_equal(ig_pipeline_start(&l->p, &l->relay.pipe, l->weights, l->arena + 4, bytes), IG_ERROR_ARENA_ALIGN);
    assert_int_equal(ig_pipeline_start(&l->p, &l->relay.pipe, NULL, l->arena, bytes), IG_ERROR_WEIGHTS);
    assert_int_equal(ig_pipeline_start(&l->p, NULL, l->weights, l->arena, bytes), IG_ERROR_NULL);
    assert_int_equal(relay_push(&l->p, 0, 0), IG_ERROR_STATE);
    assert_int_equal(ig_pop_begin(&l->p, at, 0, &ready), IG_ERROR_STATE);
    l->relay.stages[1].model.threads = IG_MAX_THREADS + 1; /* the second stage cannot start: nor does the first stay */
    assert_int_equal(ig_pipeline_start(&l->p, &l->relay.pipe, l->weights, l->arena, bytes), IG_ERROR_THREADS);
    l->relay.stages[1].model.threads = 1;
    line_start(l);
    assert_int_equal(ig_push(&l->p, NULL, 0), IG_ERROR_NULL);
    assert_int_equal(ig_pop_begin(&l->p, at, 0, &ready), IG_AGAIN);
    assert_false(ready);
    flow(l, 5);
    line_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_of_the_sequential_run),
                                       cmocka_unit_test(sequential),
                                       cmocka_unit_test(random_stalls),
                                       cmocka_unit_test(two_callers),
                                       cmocka_unit_test(back_pressure), cmocka_unit_test(flight_is_kept),
                                       cmocka_unit_test(error_is_the_frames),
                                       cmocka_unit_test(stop_in_the_midst),
                                       cmocka_unit_test(slots_one_serialises),
                                       cmocka_unit_test(latency_saturated),
                                       cmocka_unit_test(many_frames),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
