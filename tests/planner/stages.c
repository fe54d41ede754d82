/* Plans with stages: their times, their slots, their text, and what the validator says of wrong ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "planner/stages.h"
#include "tests/support/nets.h"

enum { MOST_FRAMES = 3000 };

/* --- times of stages made up --- */

struct made {
    struct ig_plan p;
    struct ig_plan_step steps[IG_PLAN_STAGES];
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    struct ig_plan_slot slots[IG_PLAN_SLOTS];
};

/* A step a stage; slots between neighbours, and the caller's. */
static void make_up(struct made *m, int32_t n, const double *ns, const int32_t *copies)
{
    memset(m, 0, sizeof *m);
    m->p = (struct ig_plan){.n_steps = n, .n_stages = n, .steps = m->steps, .stages = m->stages, .slots = m->slots};
    for (int32_t i = 0; i < n; i++) {
        m->steps[i] = (struct ig_plan_step){.stage = i, .processor = i, .predicted_ns = ns[i]};
        m->stages[i] = (struct ig_plan_stage){.first = i, .last = i, .threads = 1, .slots = copies[i]};
    }
    for (int32_t i = -1; i < n; i++)
        m->slots[m->p.n_slots++] = (struct ig_plan_slot){.from = i, .to = i + 1, .copies = i < 0 ? 2 : copies[i]};
}

/* Frame after frame by the recurrence; slot from -1 waits for nobody but its readers. Returns the period. */
static double run_long(const struct made *m, double *latency)
{
    static double end[MOST_FRAMES][IG_PLAN_STAGES + 2]; /* [.][0]: pushed, [.][j + 1]: stage j, [.][n + 1]: popped */
    const struct ig_plan *p = &m->p;
    int32_t n = p->n_stages;
    for (int32_t k = 0; k < MOST_FRAMES; k++) {
        for (int32_t j = -1; j <= n; j++) {
            double at = j < 0 ? 0 : end[k][j];
            if (j >= 0 && j < n && k && end[k - 1][j + 1] > at) at = end[k - 1][j + 1];
            for (int32_t i = 0; i < p->n_slots; i++) {
                const struct ig_plan_slot *s = &p->slots[i];
                if (s->from == j && k >= s->copies && end[k - s->copies][s->to + 1] > at)
                    at = end[k - s->copies][s->to + 1];
            }
            end[k][j + 1] = at + (j >= 0 && j < n ? m->steps[j].predicted_ns : 0);
        }
    }
    *latency = end[MOST_FRAMES - 1][n + 1] - (end[MOST_FRAMES - 1][1] - m->steps[0].predicted_ns);
    return (end[MOST_FRAMES - 1][n + 1] - end[MOST_FRAMES / 2 - 1][n + 1]) / (MOST_FRAMES / 2);
}

static void slots_formula(void **state)
{
    struct rng r = {1};
    (void)state;
    for (int k = 0; k < 700; k++) {
        struct made m;
        double ns[IG_PLAN_STAGES], latency;
        int32_t copies[IG_PLAN_STAGES], n = rng_int(&r, 1, 6);
        for (int32_t i = 0; i < n; i++) {
            ns[i] = rng_int(&r, 1, 100);
            copies[i] = rng_int(&r, 1, 3);
        }
        make_up(&m, n, ns, copies);
        for (int32_t extra = rng_int(&r, 0, 3); extra > 0; extra--) { /* tensors that skip stages */
            int32_t from = rng_int(&r, -1, n - 1), to = rng_int(&r, from + 1, n);
            m.slots[m.p.n_slots++] = (struct ig_plan_slot){.from = from, .to = to, .copies = rng_int(&r, 1, 4)};
        }
        ig_time_stages(&m.p);
        double period = run_long(&m, &latency);
        if (fabs(period - m.p.period_ns) > 0.01 * m.p.period_ns)
            fail_msg("case %d: %g by the formula, %g frame by frame", k, m.p.period_ns, period);
    }
}

static void slots_one_serialises(void **state)
{
    struct made m;
    (void)state;
    make_up(&m, 2, (double[]){30, 50}, (int32_t[]){1, 2});
    ig_time_stages(&m.p);
    assert_true(fabs(m.p.period_ns - 80) < 1e-9);
    make_up(&m, 2, (double[]){30, 50}, (int32_t[]){2, 2});
    ig_time_stages(&m.p);
    assert_true(fabs(m.p.period_ns - 50) < 1e-9);
}

/* Of two stages the second is the slowest, and frames always wait: from its begin a frame is c periods on its way. */
static void latency_saturated(void **state)
{
    (void)state;
    for (int32_t c = 2; c <= 4; c++) {
        struct made m;
        double latency;
        make_up(&m, 2, (double[]){30, 50}, (int32_t[]){c, 2});
        run_long(&m, &latency);
        assert_true(fabs(latency - c * 50) < 1e-6);
        ig_time_stages(&m.p); /* from its push it also waits for stage 0 to take two others' inputs */
        assert_true(m.p.full_ns > c * 50 && m.p.full_ns <= (c + 2) * 50);
    }
}

/* If frames always wait, each takes about as many periods as frames are on their way, whichever stage is the slower. */
static void latency_is_the_flight(void **state)
{
    (void)state;
    for (int32_t slots = 2; slots <= 4; slots++) {
        double full[2];
        for (int slower = 0; slower < 2; slower++) {
            struct made m;
            make_up(&m, 2, (double[]){slower ? 49 : 50, slower ? 50 : 49}, (int32_t[]){slots, 2});
            m.slots[0].copies = slots;
            ig_time_stages(&m.p);
            full[slower] = m.p.full_ns;
            assert_int_equal(ig_plan_flight(&m.p), slots + 1);
            assert_true(full[slower] <= (slots + 1) * 50 + 1e-6);
        }
        assert_true(fabs(full[0] / full[1] - 1) < 0.02);
    }
}

static void stages_on_one_processor(void **state)
{
    struct made m;
    (void)state;
    make_up(&m, 3, (double[]){20, 50, 25}, (int32_t[]){3, 3, 2});
    m.steps[2].processor = 0;
    ig_time_stages(&m.p);
    assert_true(fabs(m.p.period_ns - 50) < 1e-9);
    m.steps[0].predicted_ns = 40;
    ig_time_stages(&m.p);
    assert_true(fabs(m.p.period_ns - 65) < 1e-9);
}

static void balanced(void **state)
{
    struct rng r = {2};
    (void)state;
    for (int k = 0; k < 200; k++) {
        double ns[10], best = 1e9, most = 0, sum[3] = {0};
        int32_t n = rng_int(&r, 3, 10), of[10];
        for (int32_t i = 0; i < n; i++) ns[i] = rng_int(&r, 0, 9);
        for (int32_t a = 1; a < n - 1; a++)
            for (int32_t b = a + 1; b < n; b++) {
                double s[3] = {0};
                for (int32_t i = 0; i < n; i++) s[i < a ? 0 : i < b ? 1 : 2] += ns[i];
                best = fmin(best, fmax(s[0], fmax(s[1], s[2])));
            }
        ig_balance_stages(ns, n, 3, of);
        for (int32_t i = 0; i < n; i++) {
            assert_in_range(of[i], i ? of[i - 1] : 0, i ? of[i - 1] + 1 : 0);
            sum[of[i]] += ns[i];
        }
        assert_int_equal(of[n - 1], 2);
        for (int i = 0; i < 3; i++) most = fmax(most, sum[i]);
        assert_true(fabs(most - best) < 1e-9);
    }
}

/* --- plans --- */

static struct ig_plan *cut_for(const struct ig_graph *g, struct rng *r, int32_t n, int32_t objective, int64_t budget)
{
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_AVX2, .threads = 1, .max_error = 1, .objective = objective,
                                .memory_budget = budget};
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    int32_t *of = test_calloc((size_t)g->n_nodes, sizeof *of);
    char err[512];
    if (n > g->n_nodes) n = g->n_nodes;
    for (int32_t i = 0, left = n - 1; i < g->n_nodes; i++) {
        of[i] = n - 1 - left;
        if (left && (g->n_nodes - 1 - i == left || rng_int(r, 0, g->n_nodes / n) == 0)) left--;
    }
    for (int32_t i = 0; i < n; i++) {
        stages[i] = (struct ig_plan_stage){.cores = 1u << i, .threads = rng_int(r, 1, 2), .slots = rng_int(r, 0, 3)};
        snprintf(stages[i].processor, sizeof stages[i].processor, "cpu:%d", rng_int(r, 0, 2));
    }
    struct ig_plan *p = ig_plan_stages(g, &o, of, stages, n, err, sizeof err);
    if (!p) fail_msg("%s", err);
    test_free(of);
    return p;
}

static struct ig_plan *cut(const struct ig_graph *g, struct rng *r, int32_t n)
{
    return cut_for(g, r, n, IG_OBJECTIVE_LATENCY, 0);
}

static void expect(const struct ig_graph *g, const struct ig_plan *p, int want, uint64_t seed)
{
    char why[512];
    int verdict = ig_validate(g, p, 0, why, sizeof why);
    if (verdict != want) fail_msg("seed %d: %s: %s", (int)seed, ig_verdict_name(verdict), why);
}

static struct ig_graph *net_of(struct rng *r, uint64_t seed)
{
    struct ig_graph *g = seed % 3 == 0 ? net_branches(r, 4) : seed % 3 == 1 ? net_random(r, 30) : net_chain(r, 12);
    ig_prepare_views(g);
    return g;
}

static void plans_are_valid(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rng_share(150); seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_of(&r, seed);
        struct ig_plan *p = cut(g, &r, rng_int(&r, 1, 4));
        expect(g, p, IG_PLAN_OK, seed);
        assert_true(p->period_ns <= p->latency_ns + 1 && p->full_ns >= p->latency_ns - 1);
        ig_plan_free(p);
        ig_graph_free(g);
    }
}

/* For least memory every stage runs by parts; a budget between that and the fastest plan's bytes is kept. */
static void stages_by_parts(void **state)
{
    int banded = 0, smaller = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= rng_share(40); seed++) {
        struct rng r = {seed}, again = {seed};
        struct ig_graph *g = net_of(&r, seed);
        again = r;
        struct ig_plan *fast = cut_for(g, &r, 3, IG_OBJECTIVE_LATENCY, 0);
        r = again;
        struct ig_plan *small = cut_for(g, &r, 3, IG_OBJECTIVE_MEMORY, 0);
        int64_t most = fast->arena_bytes + fast->weights_bytes, least = small->arena_bytes + small->weights_bytes;
        expect(g, small, IG_PLAN_OK, seed);
        assert_true(least <= most);
        smaller += small->arena_bytes < fast->arena_bytes;
        banded += small->n_bands > 0;
        r = again;
        struct ig_plan *middle = cut_for(g, &r, 3, IG_OBJECTIVE_LATENCY, (least + most) / 2);
        expect(g, middle, IG_PLAN_OK, seed);
        assert_true(middle->arena_bytes + middle->weights_bytes <= (least + most) / 2);
        ig_plan_free(middle);
        ig_plan_free(small);
        ig_plan_free(fast);
        ig_graph_free(g);
    }
    assert_true(banded > (int)rng_share(40) / 4 && smaller > (int)rng_share(40) / 4);
}

static void survive_a_file(void **state)
{
    char path[2][32] = {"/tmp/ingot-stages-XXXXXX", "/tmp/ingot-stages-XXXXXX"}, text[2][1 << 16], err[512];
    (void)state;
    for (int i = 0; i < 2; i++) close(mkstemp(path[i]));
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_of(&r, seed);
        struct ig_plan *p = cut(g, &r, 3);
        size_t n[2];
        for (int i = 0; i < 2; i++) {
            assert_int_equal(ig_plan_write(p, g, path[i], err, sizeof err), 0);
            FILE *f = fopen(path[i], "rb");
            n[i] = fread(text[i], 1, sizeof text[i], f);
            fclose(f);
            ig_plan_free(p);
            if (!(p = ig_plan_read(path[i], g, err, sizeof err))) fail_msg("%s", err);
            expect(g, p, IG_PLAN_OK, seed);
        }
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(text[0], text[1], n[0]);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    for (int i = 0; i < 2; i++) remove(path[i]);
}

/* A chain in three stages, with a tensor that skips the second. */
static struct ig_graph *skipping(void)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 16, 16, 8), a = net_conv(g, x, 8, 3, 1, -1), b = net_conv(g, a, 8, 3, 1, -1);
    ig_add_output(g, net_add(g, net_conv(g, b, 8, 3, 1, -1), a));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

static struct ig_plan *plan_skipping(const struct ig_graph *g)
{
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_AVX2, .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan_stage s[3];
    char err[512];
    for (int32_t i = 0; i < 3; i++)
        s[i] = (struct ig_plan_stage){.processor = "cpu:0", .cores = 1, .threads = 1, .slots = 2};
    struct ig_plan *p = ig_plan_stages(g, &o, (int32_t[]){0, 1, 2, 2}, s, 3, err, sizeof err);
    if (!p) fail_msg("%s", err);
    assert_int_equal(p->n_slots, 4);
    return p;
}

static void slots_for_the_distance(void **state)
{
    struct ig_graph *g = skipping();
    struct ig_plan *p = plan_skipping(g);
    int32_t copies[4][4] = {{0}}; /* by from + 1 and to */
    (void)state;
    for (int32_t i = 0; i < p->n_slots; i++) copies[p->slots[i].from + 1][p->slots[i].to] = p->slots[i].copies;
    assert_int_equal(copies[0][0], 2); /* the input */
    assert_int_equal(copies[1][2], 3); /* over a stage */
    assert_int_equal(copies[2][2], 2);
    assert_int_equal(copies[3][3], 2); /* the output */
    ig_plan_free(p);
    ig_graph_free(g);
}

static void spoil(struct ig_plan *p, int32_t how)
{
    int32_t skip = 0;
    while (p->slots[skip].from != 0 || p->slots[skip].to != 2) skip++;
    switch (how) {
    case 0:
        p->slots[skip].copies = 1;
        break;
    case 1:
        p->slots[skip].copies--;
        break;
    case 2:
        p->slots[skip].to = 1;
        break;
    case 3:
        p->slots[skip].from = 1;
        break;
    case 4:
        p->slots[skip].offset = p->slots[skip ? 0 : 1].offset;
        break;
    case 5:
        p->slots[skip].offset += 4;
        break;
    case 6:
        p->slots[skip].bytes -= IG_ALIGN;
        break;
    case 7:
        p->slots[0].copies = 1;
        break;
    case 8:
        p->slots[skip].value = p->slots[0].value;
        break;
    default:
        break;
    }
}

static void slot_race(void **state)
{
    struct ig_graph *g = skipping();
    (void)state;
    for (int32_t how = 0; how <= 8; how++) {
        struct ig_plan *p = plan_skipping(g);
        char why[512];
        expect(g, p, IG_PLAN_OK, 0);
        spoil(p, how);
        int verdict = ig_validate(g, p, 0, why, sizeof why);
        if (verdict != IG_SLOT_RACE && !(how == 6 && verdict == IG_OUT_OF_ARENA)) /* smaller than its tensor */
            fail_msg("case %d: %s: %s", how, ig_verdict_name(verdict), why);
        ig_plan_free(p);
    }
    struct ig_plan *p = plan_skipping(g); /* a tensor that passes a boundary in the arena */
    for (int32_t v = 0; v < p->n_buffers; v++)
        if (p->buffers[v].memory == IG_MEMORY_SLOT) {
            p->buffers[v].memory = IG_MEMORY_ARENA;
            p->buffers[v].offset = p->slots[p->buffers[v].index].offset;
            p->buffers[v].index = 0;
        }
    expect(g, p, IG_SLOT_RACE, 0);
    ig_plan_free(p);
    p = plan_skipping(g); /* two stages' scratch in one place */
    struct ig_plan_step *a = &p->steps[0], *b = &p->steps[1];
    if (a->scratch_bytes && b->scratch_bytes) {
        b->scratch_offset = a->scratch_offset;
        expect(g, p, IG_SLOT_RACE, 0);
    }
    ig_plan_free(p);
    p = plan_skipping(g);
    p->stages[1].first = 0;
    expect(g, p, IG_BAD_COUNT, 0);
    p->stages[1].first = 1;
    p->steps[1].stage = 2;
    expect(g, p, IG_BAD_COUNT, 0);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void refusals(void **state)
{
    struct ig_graph *g = skipping();
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_AVX2, .threads = 1};
    char err[512];
    struct ig_plan *whole = ig_plan_make(g, &o, err, sizeof err);
    const char *const wrong[] = {"",
                                 "gpu:0",
                                 "gpus",
                                 "gpu,cpu:0",
                                 "gpu@0,cpu:0@1,gpu",
                                 "cpu:",
                                 "cpu:1-0",
                                 "cpu:64",
                                 "cpu:0@9,cpu:1",
                                 "cpu:0@3,cpu:1",
                                 "cpu:0@nope,cpu:1",
                                 "cpu:0@1",
                                 "cpu:0/0@1,cpu:1",
                                 "cpu:0,cpu:1@2",
                                 "cpu:0@1,cpu:1@1,cpu:2",
                                 "cpu:0@0,cpu:1,cpu:2",
                                 "cpu:0,cpu:1,cpu:2,cpu:3,cpu:4"};
    struct ig_plan_stage s[IG_PLAN_STAGES];
    int32_t of[4];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        *err = 0;
        if (ig_parse_stages(g, whole, wrong[i], s, of, err, sizeof err) >= 0) fail_msg("'%s' is taken", wrong[i]);
        assert_true(*err != 0);
    }
    assert_int_equal(ig_parse_stages(g, whole, "cpu:0-1/3@1,cpu:5+7", s, of, err, sizeof err), 2);
    assert_memory_equal(of, ((int32_t[]){0, 0, 1, 1}), sizeof of);
    assert_int_equal(ig_parse_stages(g, whole, "cpu:0@0,gpu/2@2,cpu:1", s, of, err, sizeof err), 3);
    assert_true(!ig_stage_is_gpu(&s[0]) && ig_stage_is_gpu(&s[1]) && s[1].cores == 0 && s[1].slots == 2);
    assert_int_equal(ig_parse_stages(g, whole, "cpu:0-1/3@1,cpu:5+7", s, of, err, sizeof err), 2);
    assert_true(s[0].cores == 3 && s[0].threads == 2 && s[0].slots == 3 && s[1].cores == 0xa0 && !s[1].slots);
    assert_null(ig_plan_stages(g, &o, (int32_t[]){0, 1, 0, 1}, s, 2, err, sizeof err));
    assert_null(ig_plan_stages(g, &o, (int32_t[]){0, 0, 0, 0}, s, 2, err, sizeof err));
    assert_null(ig_plan_stages(g, &o, (int32_t[]){1, 1, 1, 1}, s, 2, err, sizeof err));
    ig_plan_free(whole);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slots_formula),     cmocka_unit_test(slots_one_serialises),
                                       cmocka_unit_test(latency_saturated), cmocka_unit_test(latency_is_the_flight), cmocka_unit_test(stages_on_one_processor),
                                       cmocka_unit_test(balanced),          cmocka_unit_test(plans_are_valid),
                                       cmocka_unit_test(stages_by_parts),
                                       cmocka_unit_test(survive_a_file),    cmocka_unit_test(slots_for_the_distance),
                                       cmocka_unit_test(slot_race),         cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
