/* The replay of deployments: closed forms, the recurrences of pipelines, a thousand devices, what cannot run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/deploy/replay.h"
#include "planner/pipe_slots.h"
#include "tests/support/rng.h"

enum { MOST = 2048, FRAMES = 400, WINDOW = 120, STAGES = 7 };

struct box { /* a fleet with room for its arrays */
    struct ig_fleet f;
    int32_t device[MOST], in[MOST][4], out[MOST][2];
    struct ig_fleet_part parts[MOST];
    struct ig_fleet_buffer buffers[2 * MOST];
    struct ig_fleet_message messages[MOST];
};

static struct box box;

static void box_start(int32_t ranks)
{
    box.f = (struct ig_fleet){.n_ranks = ranks, .n_devices = ranks, .device = box.device, .parts = box.parts,
                              .buffers = box.buffers, .messages = box.messages};
    for (int32_t i = 0; i < ranks; i++) box.device[i] = i;
}

static int32_t add_buffer(int32_t rank, int32_t copies, int32_t writer)
{
    box.buffers[box.f.n_buffers] = (struct ig_fleet_buffer){.rank = rank, .copies = copies, .writer = writer};
    return box.f.n_buffers++;
}

/* A part that fills a buffer of its own, which is returned. */
static int32_t add_part(int32_t rank, int64_t ns, int32_t copies)
{
    int32_t i = box.f.n_parts++;
    box.out[i][0] = add_buffer(rank, copies, i);
    box.parts[i] = (struct ig_fleet_part){.rank = rank, .ns = ns, .n_out = 1, .in = box.in[i], .out = box.out[i]};
    return box.out[i][0];
}

static void add_read(int32_t buffer) /* by the last part */
{
    struct ig_fleet_part *p = &box.parts[box.f.n_parts - 1];
    box.in[box.f.n_parts - 1][p->n_in++] = buffer;
}

/* The last part reads another rank's buffer. */
static void add_message(int32_t from, int64_t ns, int32_t copies)
{
    int32_t to = add_buffer(box.parts[box.f.n_parts - 1].rank, copies, IG_FLEET_MESSAGE);
    box.messages[box.f.n_messages++] = (struct ig_fleet_message){.from = from, .to = to, .ns = ns};
    add_read(to);
}

/* Stages in a chain, rank[j] each (NULL: one each); copies on both sides of every link. */
static void chain(int32_t n, const int32_t *rank, const int64_t *ns, const int64_t *link, const int32_t *copies)
{
    int32_t ranks = 0;
    for (int32_t j = 0; j < n; j++) ranks = rank && rank[j] < ranks ? ranks : (rank ? rank[j] : j) + 1;
    box_start(ranks);
    int32_t last = add_buffer(rank ? rank[0] : 0, 1, IG_FLEET_USER);
    for (int32_t j = 0; j < n; j++) {
        int32_t made = add_part(rank ? rank[j] : j, ns[j], copies[2 * j]);
        if (j && box.parts[j].rank != box.parts[j - 1].rank) add_message(last, link[j - 1], copies[2 * j - 1]);
        else add_read(last);
        last = made;
    }
    box.buffers[last].is_output = 1;
}

static struct ig_fleet_run replay(int32_t frames, int64_t interval)
{
    struct ig_fleet_run run;
    char err[200] = "";
    if (ig_fleet_replay(&box.f, frames, interval, &run, err, sizeof err)) fail_msg("%s", err);
    return run;
}

static double period(void)
{
    struct ig_fleet_run run = replay(FRAMES, 0);
    double ns = ig_fleet_period(&run);
    ig_fleet_run_free(&run);
    return ns;
}

static int64_t latency(int64_t interval)
{
    struct ig_fleet_run run = replay(20, interval);
    int64_t ns = run.out_ns[19] - run.in_ns[19];
    ig_fleet_run_free(&run);
    return ns;
}

/* A frame takes all stages and links; results come as fast as the slowest of them lets; with one copy of a tensor on
 * either side of a link, computing and sending take turns. */
static void replay_closed_forms(void **state)
{
    const int64_t ns[] = {20, 17, 12}, links[][2] = {{4, 1}, {16, 3}, {32, 8}};
    const int32_t two[] = {2, 2, 2, 2, 2}, one[] = {1, 1, 1, 1, 1}, sender[] = {1, 2, 1, 2, 1};
    (void)state;
    for (int i = 0; i < 3; i++) {
        int64_t slowest = links[i][0] > 20 ? links[i][0] : 20;
        chain(3, NULL, ns, links[i], two);
        assert_true(period() == (double)slowest);
        assert_int_equal(ig_fleet_bound(&box.f), slowest);
        assert_int_equal(latency(1000), 20 + 17 + 12 + links[i][0] + links[i][1]);
        chain(3, NULL, ns, links[i], one);
        assert_true(period() == (double)(20 + links[i][0]));
        chain(3, NULL, ns, links[i], sender);
        assert_true(period() == (double)(20 + links[i][0]));
    }
}

/*
 * Moving bytes takes time of the cores that compute: each rank's time for a frame is its own and its messages', as
 * long as it has always something to compute; where a link decides, it costs nothing.
 */
static void replay_messages_burden_cores(void **state)
{
    const int64_t ns[] = {15000, 17000, 12000}, fast[] = {4000, 1000}, slow[] = {40000, 1000};
    const int32_t two[] = {2, 2, 2, 2, 2};
    (void)state;
    chain(3, NULL, ns, fast, two);
    box.messages[0].send_ns = 1000;
    box.messages[0].receive_ns = 3500;
    box.messages[1].send_ns = 700;
    assert_int_equal(ig_fleet_bound(&box.f), 17000);
    assert_true(period() > 21150 && period() < 21210);
    struct ig_fleet_run run = replay(1, 0); /* alone, a message finds nobody at work */
    assert_int_equal(run.out_ns[0] - run.in_ns[0], 15000 + 17000 + 12000 + 4000 + 1000);
    ig_fleet_run_free(&run);
    run = replay(FRAMES, 0);
    assert_in_range(run.busy_ns[1] / FRAMES, 21000, 21300);
    ig_fleet_run_free(&run);
    chain(3, NULL, ns, slow, two);
    box.messages[0].send_ns = box.messages[0].receive_ns = 8000;
    assert_true(period() > 39950 && period() <= 40000); /* the last frame meets no other on its way */
    box.messages[0].send_ns = 40001;
    char err[200];
    assert_int_equal(ig_fleet_check(&box.f, err, sizeof err), -1);
    assert_non_null(strstr(err, "message 0 takes more of a core than its time"));
}

/*
 * Ranks of one machine want its memory. The second, of 20 us, takes 26 beside the first, which takes 25 beside it as it
 * wants half as much, and then waits: 20 = 25 * 20/26 + (T - 25).
 */
static void replay_machines_share_memory(void **state)
{
    const int64_t ns[] = {20000000, 20000000}, link[] = {1000};
    const int32_t two[] = {2, 2, 2};
    static const int32_t apart[] = {0, 1}, together[] = {1, 1};
    (void)state;
    chain(2, NULL, ns, link, two);
    for (int32_t i = 0; i < 2; i++) {
        box.parts[i].beside_ns = i ? 26000000 : 30000000;
        box.parts[i].demand = i ? 500 : 1000;
    }
    assert_true(period() == 20e6);
    box.f.machine = apart;
    assert_true(period() == 20e6);
    box.f.machine = together;
    assert_int_equal(ig_fleet_bound(&box.f), 20000000);
    struct ig_fleet_run run = replay(FRAMES, 0);
    assert_in_range((run.out_ns[FRAMES - 50] - run.out_ns[50]) / (FRAMES - 100), 25769000, 25770000);
    assert_in_range(run.busy_ns[0] / FRAMES, 24950000, 25050000);
    ig_fleet_run_free(&run);
    run = replay(1, 0); /* alone, nobody is beside it */
    assert_int_equal(run.out_ns[0] - run.in_ns[0], 40001000);
    ig_fleet_run_free(&run);
    run = replay(20, 30000000); /* they meet, but are in time */
    assert_in_range(run.out_ns[15] - run.out_ns[10], 150000000 - 20, 150000000 + 20);
    assert_in_range(run.busy_ns[0] / 20, 20000001, 24999999);
    ig_fleet_run_free(&run);
    box.parts[1].demand = 0; /* the first is as fast as alone, and waits for six of 26 us */
    run = replay(FRAMES, 0);
    assert_in_range((run.out_ns[FRAMES - 50] - run.out_ns[50]) / (FRAMES - 100), 24615000, 24616000);
    ig_fleet_run_free(&run);
}

/* One link for all that a device sends, one for all that it is sent; messages within a device take no link. */
static void replay_links_are_shared(void **state)
{
    (void)state;
    for (int32_t into = 0; into < 2; into++) {
        box_start(into ? 4 : 3);
        int32_t input = add_buffer(0, 2, IG_FLEET_USER), first = add_part(0, 5, 2), second, third;
        add_read(input);
        second = add_part(1, 5, 2);
        add_message(first, 30, 2);
        third = add_part(2, 5, 2);
        add_message(first, 40, 2);
        if (into) {
            box.buffers[add_part(3, 5, 2)].is_output = 1;
            add_message(second, 50, 2);
            add_message(third, 60, 2);
        } else {
            box.buffers[second].is_output = box.buffers[third].is_output = 1;
        }
        assert_int_equal(ig_fleet_bound(&box.f), into ? 110 : 70);
        assert_true(period() == (into ? 110 : 70));
        for (int32_t i = 0; i < 4; i++) box.device[i] = 0;
        assert_int_equal(ig_fleet_bound(&box.f), 5);
        assert_int_equal(latency(1000), into ? 5 + 40 + 5 + 60 + 5 : 5 + 40 + 5);
    }
}

/* Both sides of a fork have to be there; the one that is quicker waits in its copies. */
static void replay_joins_wait(void **state)
{
    (void)state;
    box_start(3);
    int32_t input = add_buffer(0, 2, IG_FLEET_USER), first = add_part(0, 10, 2);
    add_read(input);
    int32_t away = add_part(1, 70, 2);
    add_message(first, 3, 2);
    box.buffers[add_part(2, 20, 2)].is_output = 1;
    add_message(away, 4, 2);
    add_message(first, 5, 2);
    assert_int_equal(latency(1000), 10 + 3 + 70 + 4 + 20);
    assert_true(period() == 70);
}

/* --- the recurrence of pipelines: a link is a stage, copies on its sides are slots --- */

static void expect_starts(const struct ig_slots *s, const int32_t *stage_of_part, int64_t interval)
{
    int64_t *start = malloc(sizeof *start * FRAMES * (size_t)s->n);
    int64_t end = ig_slots_run(s, FRAMES, interval, start);
    struct ig_fleet_run run = replay(FRAMES, interval);
    for (int32_t k = 0; k < FRAMES; k++)
        for (int32_t i = 0; i < box.f.n_parts; i++)
            assert_int_equal(run.part_ns[k * box.f.n_parts + i], start[k * s->n + stage_of_part[i]]);
    assert_int_equal(run.out_ns[FRAMES - 1], end);
    assert_int_equal(run.events, (int64_t)FRAMES * (box.f.n_parts + box.f.n_messages));
    ig_fleet_run_free(&run);
    free(start);
}

/* Stages on one rank each, or on two in turns, which share both directions of one link. */
static void replay_is_the_recurrence(void **state)
{
    struct rng r = {21};
    (void)state;
    for (int t = 0; t < 600; t++) {
        int32_t n = rng_int(&r, 1, STAGES), most = RNG_OF(&r, 5, 40, 100000), two = rng_one_in(&r, 2), m = 0;
        int32_t rank[STAGES], copies[2 * STAGES], slots[2 * STAGES], on[2 * STAGES], stage_of[STAGES];
        int64_t ns[STAGES], link[STAGES], all[2 * STAGES];
        for (int32_t j = 0; j < n; j++) {
            rank[j] = two ? rng_int(&r, 0, 1) : j;
            ns[j] = rng_int(&r, 1, most);
            link[j] = rng_int(&r, 1, most);
            copies[2 * j] = rng_int(&r, 1, 3);
            copies[2 * j + 1] = rng_int(&r, 1, 3);
        }
        for (int32_t j = 0; j < n; j++) {
            if (j && rank[j] != rank[j - 1]) {
                all[m] = link[j - 1];
                on[m] = two ? 2 + rank[j] : STAGES + j;
                slots[m++] = copies[2 * j - 1];
            }
            stage_of[j] = m;
            all[m] = ns[j];
            on[m] = rank[j];
            slots[m++] = copies[2 * j];
        }
        chain(n, rank, ns, link, copies);
        struct ig_slots s = {.n = m, .ns = all, .on = on, .slots = slots};
        expect_starts(&s, stage_of, rng_one_in(&r, 3) ? most : 0);
        if (two) continue;
        struct ig_ratio period_ns = ig_slots_period(&s);
        struct ig_fleet_run run = replay(4 * FRAMES, 0);
        int64_t took = run.out_ns[4 * FRAMES - 1] - run.out_ns[4 * FRAMES - 1 - WINDOW];
        assert_int_equal(took * period_ns.den, period_ns.num * WINDOW);
        ig_fleet_run_free(&run);
    }
}

/* --- size --- */

static void random_line(int32_t n)
{
    static int64_t ns[MOST], link[MOST];
    static int32_t copies[2 * MOST];
    struct rng r = {22};
    for (int32_t i = 0; i < n; i++) {
        ns[i] = rng_int(&r, 1000, 90000);
        link[i] = rng_int(&r, 100, 80000);
        copies[2 * i] = copies[2 * i + 1] = 2;
    }
    chain(n, NULL, ns, link, copies);
}

static void random_star(int32_t n) /* one hands out, all send to it */
{
    struct rng r = {23};
    box_start(n);
    int32_t input = add_buffer(0, 2, IG_FLEET_USER), first = add_part(0, 1000, 2);
    add_read(input);
    for (int32_t i = 1; i < n; i++) {
        box.buffers[add_part(i, rng_int(&r, 1000, 90000), 2)].is_output = 1;
        add_message(first, rng_int(&r, 100, 800), 2);
    }
}

/* A thousand devices: an event a part and a message a frame, and the same run twice. */
static void replay_thousand(void **state)
{
    (void)state;
    for (int star = 0; star < 2; star++) {
        (star ? random_star : random_line)(1000);
        struct ig_fleet_run one = replay(200, 0), two = replay(200, 0);
        assert_int_equal(one.events, 200 * (box.f.n_parts + box.f.n_messages));
        assert_memory_equal(one.part_ns, two.part_ns, sizeof *one.part_ns * 200 * (size_t)box.f.n_parts);
        assert_memory_equal(one.out_ns, two.out_ns, sizeof *one.out_ns * 200);
        assert_true(ig_fleet_period(&one) >= (double)ig_fleet_bound(&box.f));
        assert_true(ig_fleet_period(&one) <= 1.01 * (double)ig_fleet_bound(&box.f));
        ig_fleet_run_free(&one);
        ig_fleet_run_free(&two);
    }
}

/* --- what cannot run --- */

static void refused(const char *words)
{
    struct ig_fleet_run run;
    char err[200] = "";
    assert_int_equal(ig_fleet_replay(&box.f, 10, 0, &run, err, sizeof err), -1);
    if (!strstr(err, words)) fail_msg("'%s' is not in '%s'", words, err);
    ig_fleet_run_free(&run);
}

static void replay_refuses(void **state)
{
    const int64_t ns[] = {3, 4}, link[] = {5};
    const int32_t copies[] = {2, 2, 2};
    (void)state;
    chain(2, NULL, ns, link, copies);
    box.buffers[1].copies = 0;
    refused("buffer 1 has no possible number of copies");
    chain(2, NULL, ns, link, copies);
    box.device[1] = 2;
    refused("rank 1 has no device");
    chain(2, NULL, ns, link, copies);
    box.messages[0].to = 1;
    refused("message 0 fills a buffer that does not say so");
    chain(2, NULL, ns, link, copies);
    box.parts[1].demand = IG_FLEET_DEMAND + 1;
    refused("part 1 wants more of the memory than can be");
    chain(2, NULL, ns, link, copies);
    box.f.machine = (const int32_t[]){0, 2};
    refused("of 2 ranks one has no machine");
    chain(2, NULL, ns, link, copies);
    box.parts[1].rank = 0;
    refused("part 1 ");
    chain(2, NULL, ns, link, copies);
    box.f.n_messages = 0;
    refused("is not filled by one");
    chain(2, NULL, ns, link, copies);
    box.in[0][box.parts[0].n_in++] = box.out[0][0]; /* it waits for itself */
    refused("stands still: frame 0 never comes out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_closed_forms),      cmocka_unit_test(replay_links_are_shared),
        cmocka_unit_test(replay_joins_wait),        cmocka_unit_test(replay_is_the_recurrence),
        cmocka_unit_test(replay_messages_burden_cores), cmocka_unit_test(replay_machines_share_memory),
        cmocka_unit_test(replay_thousand),          cmocka_unit_test(replay_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
