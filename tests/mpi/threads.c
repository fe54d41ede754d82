/*
 * The worker and those around it - who fills inputs, who passes messages, who takes results - without MPI: frames stay
 * in order, none is lost or torn, and nothing is read or written at once by two.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "runtime/mpi/worker.h"
#include "tests/mpi/ranks.h"

enum { WIDTH = 64, FRAMES = 3000, COPIES = 2 };

/* What runtime/host/main.c has in a program. */
_Noreturn void ig_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    abort();
}

int64_t ig_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct setup { /* key 0 of "0:0>1 1:1>2 0:2,1>3": buffers 0 to 3 are the tensors */
    struct ig_bell bell;
    struct ig_flow flows[4];
    struct ig_used used[4][2];
    struct ig_worker worker;
    struct ig_part_run parts[2];
    int32_t reader[2][2];
    int64_t seen; /* results that were right */
};

static float value(uint64_t frame, int32_t c)
{
    return (float)((frame * 31 + (uint64_t)c * 7) % 1000);
}

/* The test's parts, as tests/mpi/ranks.c computes them. */
static void mix(float *y, const float *x, const float *z)
{
    for (int32_t c = 0; c < WIDTH; c++)
        y[c] = (float)(c % 7) * 0.125f + x[WIDTH - 1 - c] * 0.5f + (z ? z[c] * 0.25f : 0);
}

static void await(struct setup *s, const struct ig_flow *f, uint64_t frame, int filled)
{
    for (;;) {
        uint32_t seen = ig_bell_seen(&s->bell);
        if (filled ? ig_flow_has(f, frame) || ig_flow_over(f, frame) : ig_flow_free(f, frame)) return;
        ig_bell_wait(&s->bell, seen, -1);
    }
}

static void *enter(void *arg)
{
    struct setup *s = arg;
    for (uint64_t n = 0; n < FRAMES; n++) {
        await(s, &s->flows[0], n, 0);
        float *x = ig_flow_at(&s->flows[0], n);
        for (int32_t c = 0; c < WIDTH; c++) x[c] = value(n, c);
        ig_flow_fill(&s->flows[0], n + 1);
        ig_bell_ring(&s->bell);
    }
    ig_flow_close(&s->flows[0], FRAMES);
    ig_bell_ring(&s->bell);
    return NULL;
}

/* The other rank, and the messages to it and back. */
static void *pass(void *arg)
{
    struct setup *s = arg;
    for (uint64_t n = 0;; n++) {
        await(s, &s->flows[1], n, 1);
        if (!ig_flow_has(&s->flows[1], n)) {
            ig_flow_close(&s->flows[2], n);
            ig_bell_ring(&s->bell);
            return NULL;
        }
        await(s, &s->flows[2], n, 0);
        mix(ig_flow_at(&s->flows[2], n), ig_flow_at(&s->flows[1], n), NULL);
        ig_flow_use(&s->flows[1], 1, n + 1);
        ig_flow_fill(&s->flows[2], n + 1);
        ig_bell_ring(&s->bell);
    }
}

static void *leave(void *arg)
{
    struct setup *s = arg;
    for (uint64_t n = 0;; n++) {
        float x[WIDTH], t1[WIDTH], t2[WIDTH], t3[WIDTH];
        await(s, &s->flows[3], n, 1);
        if (!ig_flow_has(&s->flows[3], n)) return NULL;
        for (int32_t c = 0; c < WIDTH; c++) x[c] = value(n, c);
        mix(t1, x, NULL);
        mix(t2, t1, NULL);
        mix(t3, t2, t1);
        s->seen += !memcmp(ig_flow_at(&s->flows[3], n), t3, sizeof t3);
        ig_flow_use(&s->flows[3], 0, n + 1);
        ig_bell_ring(&s->bell);
    }
}

static void set_up(struct setup *s, const struct ig_rank *r, int32_t copies)
{
    static const int32_t readers[4] = {1, 2, 1, 1};
    static _Alignas(64) char memory[4][COPIES * WIDTH * 4], arena[64];
    memset(s, 0, sizeof *s);
    for (int32_t i = 0; i < 4; i++) {
        s->flows[i].n_readers = readers[i];
        s->flows[i].used = s->used[i];
        ig_flow_start(&s->flows[i], memory[i], WIDTH * 4, copies);
    }
    s->worker = (struct ig_worker){.rank = r, .flows = s->flows, .bell = &s->bell, .parts = s->parts};
    for (int32_t i = 0; i < 2; i++) {
        s->parts[i].part = &r->parts[i];
        s->parts[i].reader = s->reader[i]; /* tensor 1: read by the second part, and by the message */
        assert_int_equal(ig_ctx_init(&s->parts[i].ctx, r->parts[i].program->model, arena, arena, sizeof arena), 0);
    }
}

static void frames_pass(void **state)
{
    static struct setup s;
    struct ranks_spec spec;
    (void)state;
    assert_int_equal(ranks_parse(&spec, "0:0>1 1:1>2 0:2,1>3", WIDTH, COPIES), 0);
    const struct ig_rank *r = ranks_table(&spec, 0);
    for (int32_t copies = 1; copies <= COPIES; copies++) {
        pthread_t threads[3];
        set_up(&s, r, copies);
        ig_worker_start(&s.worker);
        assert_int_equal(pthread_create(&threads[0], NULL, enter, &s), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, pass, &s), 0);
        assert_int_equal(pthread_create(&threads[2], NULL, leave, &s), 0);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
        ig_worker_join(&s.worker);
        assert_int_equal(s.seen, FRAMES);
        assert_int_equal(s.worker.frames, FRAMES);
        assert_int_equal(s.worker.over, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
