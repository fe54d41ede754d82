/* Random networks with random alternatives, another one for every frame: the bits of the plan run step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/stages.h"
#include "runtime/cuts.h"
#include "tests/support/frames.h"
#include "tests/support/isa.h"

enum { NETS = 80 };

/* Stages of other numbers of threads, bands in plenty. */
static struct ig_plan *plan(const struct ig_graph *g, int32_t isa, struct rng *r)
{
    struct ig_plan_options o = {.target = "host",
                                .isa = isa,
                                .threads = 1,
                                .max_error = 1,
                                .bands = RNG_OF(r, IG_BANDS_AUTO, IG_BANDS_CHAINS, IG_BANDS_ALL, IG_BANDS_OFF)};
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    int32_t n = rng_int(r, 2, 4), others = rng_int(r, 1, 5), *of = test_calloc((size_t)g->n_nodes, sizeof *of);
    char err[1024];
    if (n > g->n_nodes) n = g->n_nodes;
    for (int32_t i = 0; i < n; i++) {
        stages[i] = (struct ig_plan_stage){.threads = RNG_OF(r, 1, 1, 2), .slots = rng_int(r, 0, 3)};
        snprintf(stages[i].processor, sizeof stages[i].processor, "cpu:%d", rng_int(r, 0, 3));
    }
    cut_at_random(r, g->n_nodes, n, of);
    struct ig_plan *p = ig_plan_stages(g, &o, of, stages, n, err, sizeof err);
    if (!p) fail_msg("%s", err);
    p->others = calloc((size_t)others, sizeof *p->others);
    o.like = p;
    while (n > 1 && p->n_others < others) {
        cut_at_random(r, g->n_nodes, n, of);
        p->others[p->n_others] = ig_plan_stages(g, &o, of, stages, n, err, sizeof err);
        if (!p->others[p->n_others++]) fail_msg("%s", err);
    }
    int verdict = ig_validate_all(g, p, 0, err, sizeof err);
    if (verdict) fail_msg("%s: %s", ig_verdict_name(verdict), err);
    test_free(of);
    return p;
}

static int32_t any(void *arg, uint32_t frame)
{
    (void)frame;
    struct ig_cut_run *run = ((void **)arg)[1];
    return rng_int(((void **)arg)[0], 0, run->cuts->n - 1);
}

static void run_frames(struct ig_lowered *l, struct ig_bed *bed, const struct frames *f, uint64_t seed)
{
    static struct ig_pipeline pipeline;
    static struct ig_cut_run run;
    struct rng choices = {seed};
    void *arg[] = {&choices, &run};
    ig_pipeline_clear(&pipeline);
    if (l->cuts.n) {
        assert_int_equal(ig_cuts_attach(&run, &l->cuts, &pipeline), IG_OK);
        run.choose = any;
        run.choose_arg = arg;
    }
    memset(bed->arena, POISON, bed->arena_bytes);
    assert_int_equal(ig_pipeline_start(&pipeline, &l->pipe, bed->weights, bed->arena, bed->arena_bytes), IG_OK);
    frames_flow(&pipeline, &l->model, f, seed);
    ig_pipeline_stop(&pipeline);
}

static void run_net(uint64_t seed, int32_t isa)
{
    struct rng r = {seed};
    struct frames f;
    struct ig_bed bed;
    char err[256];
    struct ig_graph *g = frames_net(&r, seed);
    struct ig_plan *p = plan(g, isa, &r);
    struct ig_lowered *l = ig_lower(g, p);
    if (ig_bed_make(&bed, l, 1, err, sizeof err)) fail_msg("%s", err);
    frames_make(&f, &l->model, &bed, seed);
    run_frames(l, &bed, &f, seed);
    frames_free(&f, &l->model);
    ig_bed_free(&bed);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void adapt_bitexact_in_order(void **state)
{
    (void)state;
    int32_t isa = fastest_isa();
    for (uint64_t seed = 1; seed <= NETS; seed++) run_net(seed, isa);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adapt_bitexact_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
