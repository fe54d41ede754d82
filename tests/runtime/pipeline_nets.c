/* Random networks, cut at random, as pipelines of teams: every frame has the bits of the plan run step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/stages.h"
#include "tests/support/frames.h"
#include "tests/support/isa.h"

enum { NETS = 90 };

/* Bands in plenty, kernels of this processor. The fastest ones of the same number of threads, in stages or not. */
static struct ig_plan *cut(const struct ig_graph *g, int32_t isa, struct rng *r)
{
    struct ig_plan_options o = {.target = "host",
                                .isa = isa,
                                .threads = 1,
                                .max_error = 1,
                                .bands = RNG_OF(r, IG_BANDS_AUTO, IG_BANDS_CHAINS, IG_BANDS_ALL, IG_BANDS_OFF)};
    if (o.bands == IG_BANDS_AUTO && rng_one_in(r, 2)) o.objective = IG_OBJECTIVE_MEMORY; /* each stage by parts */
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    int32_t n = rng_int(r, 2, 4), *of = test_calloc((size_t)g->n_nodes, sizeof *of);
    char err[1024];
    if (n > g->n_nodes) n = g->n_nodes;
    cut_at_random(r, g->n_nodes, n, of);
    for (int32_t i = 0; i < n; i++) {
        snprintf(stages[i].processor, sizeof stages[i].processor, "cpu:%d", i);
        stages[i].threads = RNG_OF(r, 1, 1, 2);
        stages[i].cores = 0;
        stages[i].slots = rng_int(r, 0, 3);
    }
    struct ig_plan *p = ig_plan_stages(g, &o, of, stages, n, err, sizeof err);
    if (!p) fail_msg("%s", err);
    int verdict = ig_validate(g, p, 0, err, sizeof err);
    if (verdict) fail_msg("%s: %s", ig_verdict_name(verdict), err);
    test_free(of);
    return p;
}

static void run_net(uint64_t seed, int32_t isa)
{
    static struct ig_pipeline pipeline;
    struct rng r = {seed};
    struct frames f;
    struct ig_bed bed;
    char err[256];
    struct ig_graph *g = frames_net(&r, seed);
    struct ig_plan *p = cut(g, isa, &r);
    struct ig_lowered *l = ig_lower(g, p);
    if (ig_bed_make(&bed, l, 1, err, sizeof err)) fail_msg("%s", err);
    frames_make(&f, &l->model, &bed, seed);
    memset(bed.arena, POISON, bed.arena_bytes);
    assert_int_equal(ig_pipeline_start(&pipeline, &l->pipe, bed.weights, bed.arena, bed.arena_bytes), IG_OK);
    frames_flow(&pipeline, &l->model, &f, seed);
    ig_pipeline_stop(&pipeline);
    frames_free(&f, &l->model);
    ig_bed_free(&bed);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void bits_of_the_sequential_run(void **state)
{
    (void)state;
    int32_t isa = fastest_isa();
    for (uint64_t seed = 1; seed <= NETS; seed++) run_net(seed, isa);
}

/* Stages of one thread have the kernels of a plan without stages: then the bits are that plan's, too. */
static void bits_of_the_whole_plan(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_branches(&r, 5);
        struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1};
        struct ig_plan_stage stages[2] = {{.processor = "cpu:0", .threads = 1}, {.processor = "cpu:1", .threads = 1}};
        char err[1024];
        ig_prepare_views(g);
        int32_t *of = test_calloc((size_t)g->n_nodes, sizeof *of);
        for (int32_t i = g->n_nodes / 2; i < g->n_nodes; i++) of[i] = 1;
        struct ig_plan *whole = ig_plan_make(g, &o, err, sizeof err),
                       *staged = ig_plan_stages(g, &o, of, stages, 2, err, sizeof err);
        void *want[16], *got[16];
        assert_true(whole && staged && g->n_outputs <= 16);
        net_run_tables(g, whole, 1, seed, want);
        net_run_tables(g, staged, 3, seed, got);
        for (int32_t i = 0; i < g->n_outputs; i++) {
            assert_memory_equal(want[i], got[i], (size_t)ig_bytes(&g->values[g->outputs[i]].shape));
            test_free(want[i]);
            test_free(got[i]);
        }
        ig_plan_free(whole);
        ig_plan_free(staged);
        ig_graph_free(g);
        test_free(of);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_of_the_sequential_run),
                                       cmocka_unit_test(bits_of_the_whole_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
