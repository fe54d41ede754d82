/* Random networks with random alternatives, another one for every frame: the bits of the plan run step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bed.h"
#include "kernels_cpu/registry.h"
#include "planner/stages.h"
#include "runtime/cuts.h"
#include "tests/support/nets.h"

enum { NETS = 80, FRAMES = 32, POISON = 0xf5 };

static void cut(struct rng *r, int32_t n_nodes, int32_t n, int32_t *of)
{
    for (int32_t i = 0, left = n - 1; i < n_nodes; i++) {
        of[i] = n - 1 - left;
        if (left && (n_nodes - 1 - i == left || !rng_int(r, 0, n_nodes / n))) left--;
    }
}

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
    cut(r, g->n_nodes, n, of);
    struct ig_plan *p = ig_plan_stages(g, &o, of, stages, n, err, sizeof err);
    if (!p) fail_msg("%s", err);
    p->others = calloc((size_t)others, sizeof *p->others);
    o.like = p;
    while (n > 1 && p->n_others < others) {
        cut(r, g->n_nodes, n, of);
        p->others[p->n_others] = ig_plan_stages(g, &o, of, stages, n, err, sizeof err);
        if (!p->others[p->n_others++]) fail_msg("%s", err);
    }
    int verdict = ig_validate_all(g, p, 0, err, sizeof err);
    if (verdict) fail_msg("%s: %s", ig_verdict_name(verdict), err);
    test_free(of);
    return p;
}

struct frames { /* inputs and results by frame */
    void **in[FRAMES], **out[FRAMES];
};

static void make_frames(struct frames *f, const struct ig_model *m, struct ig_bed *bed, uint64_t seed)
{
    for (int k = 0; k < FRAMES; k++) {
        struct rng r = {seed * FRAMES + (uint64_t)k};
        f->in[k] = ig_io_buffers(m->inputs, m->n_inputs);
        f->out[k] = ig_io_buffers(m->outputs, m->n_outputs);
        for (int32_t i = 0; i < m->n_inputs; i++)
            for (int64_t e = 0; e < ig_count(m->inputs[i].shape); e++)
                ((float *)f->in[k][i])[e] = (float)rng_real(&r, -1, 1);
        assert_int_equal(ig_ctx_run(&bed->ctx, (const void *const *)f->in[k], f->out[k]), IG_OK);
    }
}

static void compare(struct ig_pipeline *p, const struct ig_model *m, const struct frames *f, int frame, uint64_t seed)
{
    void *out[IG_MAX_SLOTS];
    assert_int_equal(ig_pop_begin(p, out, 1, NULL), IG_OK);
    for (int32_t i = 0; i < m->n_outputs; i++) {
        size_t bytes = (size_t)ig_bytes(m->outputs[i].shape);
        if (memcmp(out[i], f->out[frame][i], bytes))
            fail_msg("seed %d: frame %d, output %d differs", (int)seed, frame, i);
        memset(out[i], POISON, bytes);
    }
    ig_pop_end(p);
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
    for (int pushed = 0, popped = 0; popped < FRAMES;) {
        if (pushed < FRAMES && ig_push(&pipeline, (const void *const *)f->in[pushed], 0) == IG_OK)
            pushed++;
        else
            compare(&pipeline, &l->model, f, popped++, seed);
    }
    ig_pipeline_stop(&pipeline);
}

static void run_net(uint64_t seed, int32_t isa)
{
    struct rng r = {seed};
    struct frames f;
    struct ig_bed bed;
    char err[256];
    struct ig_graph *g = seed % 3 == 0 ? net_branches(&r, 5) : seed % 3 == 1 ? net_random(&r, 30) : net_chain(&r, 14);
    ig_prepare_views(g);
    struct ig_plan *p = plan(g, isa, &r);
    struct ig_lowered *l = ig_lower(g, p);
    if (ig_bed_make(&bed, l, 1, err, sizeof err)) fail_msg("%s", err);
    make_frames(&f, &l->model, &bed, seed);
    run_frames(l, &bed, &f, seed);
    for (int k = 0; k < FRAMES; k++) {
        ig_io_buffers_free(f.in[k], l->model.inputs, l->model.n_inputs);
        ig_io_buffers_free(f.out[k], l->model.outputs, l->model.n_outputs);
    }
    ig_bed_free(&bed);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void adapt_bitexact_in_order(void **state)
{
    (void)state;
    int32_t isa = ig_isa_runs_here(IG_ISA_AVX2)   ? IG_ISA_AVX2
                  : ig_isa_runs_here(IG_ISA_NEON) ? IG_ISA_NEON
                                                  : IG_ISA_REF;
    for (uint64_t seed = 1; seed <= NETS; seed++) run_net(seed, isa);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adapt_bitexact_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
