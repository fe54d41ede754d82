/* Frames of one stream, each cut at another place: all of them, in order, with the bits of a run step by step. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "tests/support/relay_cuts.h"

enum { FRAMES = 400 };

struct line { /* a pipeline with its memory */
    struct relay_cuts relay;
    struct ig_pipeline p;
    struct ig_cut_run run;
    char *arena;
    _Alignas(64) char weights[64];
    struct rng choices, stalls[IG_MAX_STAGES];
    int32_t stall_us;
    int (*inner)(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run);
};

static int32_t any(void *arg, uint32_t frame)
{
    struct line *l = arg;
    (void)frame;
    return rng_int(&l->choices, 0, l->relay.cuts.n - 1);
}

/* What the cuts do, and now and then a pause. */
static int stalled(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct line *l = arg;
    struct timespec t = {0, rng_int(&l->stalls[stage], 0, l->stall_us) * 1000};
    if (!rng_int(&l->stalls[stage], 0, 3)) nanosleep(&t, NULL);
    return l->inner(&l->run, stage, team, run);
}

static struct line *line_new(uint64_t seed, int32_t n, int32_t n_stages, int32_t copies, int32_t threads)
{
    struct line *l = aligned_alloc(64, (sizeof *l + 63) / 64 * 64);
    struct rng r = {seed};
    assert_non_null(l);
    memset(l, 0, sizeof *l);
    relay_cuts_make(&l->relay, &r, n, n_stages, copies, threads);
    l->choices.state = seed;
    for (int i = 0; i < IG_MAX_STAGES; i++) l->stalls[i].state = seed + (uint64_t)i;
    size_t bytes = ((size_t)l->relay.cut[0].model.arena_bytes + 63) / 64 * 64;
    l->arena = aligned_alloc(64, bytes);
    assert_non_null(l->arena);
    memset(l->arena, 0xa5, bytes);
    ig_pipeline_clear(&l->p);
    assert_int_equal(ig_cuts_attach(&l->run, &l->relay.cuts, &l->p), IG_OK);
    return l;
}

static void line_start(struct line *l)
{
    assert_int_equal(ig_pipeline_start(&l->p, l->relay.cuts.pipe, l->weights, l->arena,
                                       (size_t)l->relay.cut[0].model.arena_bytes),
                     IG_OK);
}

static void line_free(struct line *l)
{
    ig_pipeline_stop(&l->p);
    free(l->arena);
    free(l);
}

static int pop(struct line *l, uint32_t frame)
{
    uint32_t in[RELAY_WIDTH], want[RELAY_WIDTH], out[RELAY_WIDTH] = {0};
    int status = ig_pop(&l->p, (void *[]){out}, 1);
    if (status == IG_END) return 0;
    assert_int_equal(status, IG_OK);
    relay_fill(in, frame);
    relay_expect(&l->relay.cut[0], in, want);
    assert_memory_equal(out, want, sizeof want);
    return 1;
}

static void flow(struct line *l, uint32_t frames)
{
    uint32_t pushed = 0, popped = 0;
    while (popped < frames) {
        if (pushed < frames && relay_push(&l->p, pushed, 0) == IG_OK)
            pushed++;
        else
            popped += (uint32_t)pop(l, popped);
    }
}

static uint32_t ran(const struct line *l, int32_t *used)
{
    uint32_t sum = 0;
    *used = 0;
    for (int32_t i = 0; i < l->relay.cuts.n; i++) {
        sum += atomic_load(&l->run.ran[i]);
        *used += atomic_load(&l->run.ran[i]) > 0;
    }
    return sum;
}

static void adapt_bitexact_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct line *l = line_new(seed, 2 + (int32_t)(seed % 5), 1 + (int32_t)(seed % 4), 1 + (int32_t)(seed / 4 % 3),
                                  seed % 5 == 0 ? 2 : 1);
        int32_t used;
        l->run.choose = any;
        l->run.choose_arg = l;
        line_start(l);
        flow(l, FRAMES);
        assert_int_equal(ran(l, &used), FRAMES);
        assert_int_equal(used, l->relay.cuts.n);
        assert_true(atomic_load(&l->run.switches) > FRAMES / 4);
        line_free(l);
    }
}

/* By its own judgement, whatever that is. */
static void adapts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct line *l = line_new(seed, 4, 2 + (int32_t)(seed % 3), 2, 1);
        int32_t used;
        line_start(l);
        flow(l, FRAMES);
        ig_pipeline_stop(&l->p);
        line_start(l); /* again, from its first frame */
        flow(l, FRAMES);
        assert_int_equal(ran(l, &used), 2 * FRAMES);
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

static void stalls_and_two_callers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct line *l = line_new(seed, 5, 2 + (int32_t)(seed % 3), 2, 1);
        uint32_t popped = 0;
        pthread_t thread;
        void *failed;
        l->run.choose = seed % 2 ? any : NULL;
        l->run.choose_arg = l;
        l->stall_us = 200;
        l->inner = l->p.work;
        l->p.work = stalled;
        l->p.work_arg = l;
        line_start(l);
        assert_int_equal(pthread_create(&thread, NULL, pusher, l), 0);
        while (pop(l, popped)) popped++;
        assert_int_equal(popped, FRAMES);
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        line_free(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adapt_bitexact_in_order), cmocka_unit_test(adapts),
                                       cmocka_unit_test(stalls_and_two_callers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
