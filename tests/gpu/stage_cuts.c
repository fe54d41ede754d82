/*
 * Pipelines with a stage on the GPU that may be cut at several places, on the emulated driver: frames of which every one
 * takes another alternative have, in order, the bits that they have where all frames take it, and what the CPU computes.
 */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bed.h"
#include "gen/lower_gpu_stage.h"
#include "kernels_cpu/registry.h"
#include "planner/alternatives.h"
#include "planner/passes.h"
#include "planner/stages.h"
#include "runtime/cuts.h"
#include "tests/support/emulated.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"

enum { NETS = 12, FRAMES = 7, WANTED = 4, POISON = 0xf5, SOME = -1 };

struct job { /* a network as a pipeline with the GPU */
    struct ig_graph *g;
    struct ig_plan *staged, *gpu_plan;
    struct ig_lowered *l;
    struct ig_gpu_stage_lowered *part;
    void *constants;
    struct ig_gpu gpu;
    struct ig_gpu_beside others[WANTED];
    struct ig_gpu_worker worker;
    struct ig_gpu_stage stages[WANTED];
    struct ig_cut_run run;
    struct ig_bed bed;
    int32_t fixed;         /* every frame's alternative; -1: another one each time */
    void **in[FRAMES], **cpu[FRAMES], **want[FRAMES][WANTED];
};

static struct ig_pipeline pipeline;

/* The plan of the GPU's kernels has each tensor pass as all alternatives of the pipeline count it. */
static void assert_same_kinds(const struct job *j, const struct ig_platform *board)
{
    ig_plan_passes(j->g, j->gpu_plan, j->staged, board);
    for (int32_t a = 0; a <= j->staged->n_others; a++) {
        const struct ig_plan *p = ig_alternative(j->staged, a);
        assert_true(p->n_passes > 0 && p->stages[ig_gpu_stage_of(p)].pass_ns > 0);
        for (int32_t i = 0; i < p->n_passes; i++)
            assert_int_equal(ig_pass_kind(j->gpu_plan, p->passes[i].value), p->passes[i].kind);
    }
}

/* The GPU is stage `gpu` of n; 0: it cannot compute that, or there is but one way to cut. */
static int plan(struct job *j, int32_t n, int32_t gpu)
{
    struct ig_platform board = {.n_processors = 1}; /* passing costs about as much in each way */
    struct ig_plan_options o = {.target = "test", .isa = fastest_isa(), .threads = 1, .max_error = IG_MAX_ERROR, .board = &board};
    struct ig_plan_options cuda = {.target = "test", .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan_stage stages[IG_PLAN_STAGES] = {{.threads = 0}};
    char err[1024];
    int32_t *of = test_calloc((size_t)j->g->n_nodes, sizeof *of);
    board.processors[0].overhead_ns = 1000;
    board.processors[0].integrated = (struct ig_integrated){1, 1, 2500, 20000000000, 40000000000};
    for (int32_t i = 0; i < j->g->n_nodes; i++) of[i] = i * n / j->g->n_nodes;
    for (int32_t i = 0; i < n; i++) {
        if (i == gpu) strcpy(stages[i].processor, "gpu");
        else snprintf(stages[i].processor, sizeof stages[i].processor, "cpu:%d", i);
        stages[i].threads = 1;
    }
    int bad = ig_time_gpu_stage(j->g, &o, of, stages, n, err, sizeof err);
    if (!bad && !(j->staged = ig_plan_stages(j->g, &o, of, stages, n, err, sizeof err))) fail_msg("%s", err);
    test_free(of);
    if (bad) return 0;
    if (ig_add_alternatives(j->g, &o, j->staged, WANTED, err, sizeof err)) fail_msg("%s", err);
    int verdict = ig_validate_all(j->g, j->staged, 0, err, sizeof err);
    if (verdict) fail_msg("%s: %s", ig_verdict_name(verdict), err);
    if (!j->staged->n_others) return 0;
    for (int32_t i = 0; i <= j->staged->n_others; i++) {
        assert_int_equal(ig_gpu_stage_of(ig_alternative(j->staged, i)), gpu);
        assert_true(ig_alternative(j->staged, i)->stages[gpu].gpu_ns < 1e12);
    }
    j->gpu_plan = ig_plan_make(j->g, &cuda, err, sizeof err);
    if (!j->gpu_plan) fail_msg("%s", err);
    assert_same_kinds(j, &board);
    return 1;
}

static void open_gpus(struct job *j)
{
    char err[1024];
    int64_t bytes = j->part->weights->model.weights_bytes;
    j->constants = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
    memset(j->constants, 0, (size_t)bytes);
    ig_fill_weights(j->part->weights, j->constants);
    j->part->launches->plan.fatbin = "emulated";
    if (ig_gpu_open(&j->gpu, &j->part->launches->plan, j->constants, err, sizeof err)) fail_msg("%s", err);
    for (int32_t i = 0; i < j->part->n_others; i++) {
        const struct ig_gpu_plan *p = &j->part->others[i]->launches->plan;
        assert_true(p->constants_bytes == j->part->launches->plan.constants_bytes);
        assert_true(p->arena_bytes == j->part->launches->plan.arena_bytes);
    }
    j->worker.gpu = &j->gpu;
    j->worker.stage = j->stages;
    j->worker.others = j->others;
    if (ig_gpu_open_others(&j->worker, j->part->n_others, err, sizeof err)) fail_msg("%s", err);
    for (int32_t i = 0; i < j->part->n_others; i++)
        assert_true(j->others[i].gpu.constants == j->gpu.constants && j->others[i].gpu.arena == j->gpu.arena);
}

/* What passes in any alternative is of that kind, or each of another one. */
static void set_kinds(struct job *j, int32_t kind, uint64_t seed)
{
    struct ig_platform board = {.n_processors = 1};
    struct rng r = {seed};
    ig_plan_passes(j->g, j->gpu_plan, j->staged, &board);
    for (int32_t i = 0; i < j->gpu_plan->n_passes; i++)
        j->gpu_plan->passes[i].kind = kind == SOME ? rng_int(&r, IG_PASS_PINNED, IG_PASS_MANAGED) : kind;
}

/* What every alternative's frames are to be is not known yet. */
static int job_make(struct job *j, struct ig_graph *g, int32_t n, int32_t gpu, uint64_t seed, int32_t kind)
{
    char err[1024];
    memset(j, 0, sizeof *j);
    j->g = g;
    ig_prepare_views(g);
    if (g->n_nodes < 2 * n || !plan(j, n, gpu)) return 0;
    j->l = ig_lower(g, j->staged);
    const struct ig_model *m = &j->l->model;
    if (ig_bed_make(&j->bed, j->l, 1, err, sizeof err)) fail_msg("%s", err);
    for (int k = 0; k < FRAMES; k++) {
        struct rng r = {seed * FRAMES + (uint64_t)k};
        j->in[k] = ig_io_buffers(m->inputs, m->n_inputs);
        j->cpu[k] = ig_io_buffers(m->outputs, m->n_outputs);
        for (int32_t i = 0; i < m->n_inputs; i++)
            for (int64_t e = 0; e < ig_count(m->inputs[i].shape); e++) ((float *)j->in[k][i])[e] = (float)rng_real(&r, -1, 1);
        assert_int_equal(ig_ctx_run(&j->bed.ctx, (const void *const *)j->in[k], j->cpu[k]), IG_OK);
    }
    set_kinds(j, kind, seed);
    j->part = ig_lower_gpu_stages(j->l, j->gpu_plan, err, sizeof err);
    if (!j->part) fail_msg("seed %d: %s", (int)seed, err);
    j->stages[0] = j->part->stage;
    for (int32_t i = 0; i < j->part->n_others; i++) j->stages[1 + i] = j->part->others[i]->stage;
    open_gpus(j);
    return 1;
}

static void job_free(struct job *j)
{
    for (int k = 0; j->l && k < FRAMES; k++) {
        ig_io_buffers_free(j->in[k], j->l->model.inputs, j->l->model.n_inputs);
        ig_io_buffers_free(j->cpu[k], j->l->model.outputs, j->l->model.n_outputs);
        for (int32_t i = 0; i < j->l->cuts.n; i++)
            if (j->want[k][i]) ig_io_buffers_free(j->want[k][i], j->l->model.outputs, j->l->model.n_outputs);
    }
    if (j->part) ig_gpu_part(&j->worker);
    if (j->l) ig_bed_free(&j->bed);
    free(j->constants);
    ig_gpu_stage_lowered_free(j->part);
    ig_lowered_free(j->l);
    ig_plan_free(j->staged);
    ig_plan_free(j->gpu_plan);
    ig_graph_free(j->g);
}

static int32_t choice(const struct job *j, uint32_t frame)
{
    return j->fixed >= 0 ? j->fixed : (int32_t)(frame * 2654435761u >> 16) % j->l->cuts.n;
}

static int32_t choose(void *arg, uint32_t frame)
{
    return choice(arg, frame);
}

/* joins: slots that the GPU reaches, else frames go through its staging. */
static void start_through(struct job *j, int32_t fixed, int joins)
{
    memset(j->bed.arena, POISON, j->bed.arena_bytes);
    ig_pipeline_clear(&pipeline);
    assert_int_equal(ig_cuts_attach(&j->run, &j->l->cuts, &pipeline), IG_OK);
    j->fixed = fixed;
    j->run.choose = choose;
    j->run.choose_arg = j;
    j->run.work = ig_gpu_cut_work;
    j->run.work_arg = &j->worker;
    char err[300];
    if (joins && ig_gpu_join_cuts(&j->worker, &j->l->pipe, j->bed.arena, err, sizeof err)) fail_msg("%s", err);
    assert_int_equal(ig_pipeline_start(&pipeline, &j->l->pipe, j->bed.weights, j->bed.arena, j->bed.arena_bytes), IG_OK);
}

static void start(struct job *j, int32_t fixed)
{
    start_through(j, fixed, 1);
}

/* Within what other sums round differently. */
static void near(const struct ig_shape *s, const float *got, const float *want)
{
    double most = 0, off = 0;
    for (int64_t k = 0; k < ig_count(s); k++) {
        most = fmax(most, fabs((double)want[k]));
        off = fmax(off, isnan(got[k]) ? INFINITY : fabs((double)got[k] - want[k]));
    }
    if (!(off <= 1e-4 * most)) fail_msg("off by %g of %g", off, most);
}

/* Frame `popped` of the stream; keeps what it was, or compares with what was kept. */
static void check(struct job *j, void *const *out, int popped)
{
    int32_t cut = choice(j, (uint32_t)popped), frame = popped % FRAMES;
    const struct ig_model *m = &j->l->model;
    int keeps = j->fixed >= 0;
    if (keeps) j->want[frame][cut] = ig_io_buffers(m->outputs, m->n_outputs);
    for (int32_t i = 0; i < m->n_outputs; i++) {
        size_t bytes = (size_t)ig_bytes(m->outputs[i].shape);
        near(m->outputs[i].shape, out[i], j->cpu[frame][i]);
        if (keeps) memcpy(j->want[frame][cut][i], out[i], bytes);
        assert_memory_equal(out[i], j->want[frame][cut][i], bytes);
        memset(out[i], POISON, bytes);
    }
}

static void flow(struct job *j, int frames)
{
    void *out[IG_MAX_SLOTS];
    for (int pushed = 0, popped = 0; popped < frames;) {
        if (pushed < frames && ig_push(&pipeline, (const void *const *)j->in[pushed % FRAMES], 0) == IG_OK) {
            pushed++;
            continue;
        }
        assert_int_equal(ig_pop_begin(&pipeline, out, 1, NULL), IG_OK);
        check(j, out, popped++);
        ig_pop_end(&pipeline);
    }
    ig_pipeline_stop(&pipeline);
}

/* How many alternatives; 0: none were compared. */
static int run_net(struct ig_graph *g, int32_t n, int32_t gpu, uint64_t seed)
{
    static struct job j;
    int ran = job_make(&j, g, n, gpu, seed, SOME) ? j.l->cuts.n : 0;
    for (int32_t i = 0; i < ran; i++) {
        start_through(&j, i, 0);
        flow(&j, FRAMES);
    }
    if (ran) {
        start(&j, -1);
        flow(&j, 3 * FRAMES);
        assert_true(atomic_load(&j.run.switches) > FRAMES);
    }
    job_free(&j);
    return ran;
}

static struct ig_graph *net_of(uint64_t seed)
{
    struct rng r = {seed};
    return seed % 3 == 0 ? net_branches(&r, 5) : seed % 3 == 1 ? net_dense(4, 0) : net_chain(&r, 12);
}

/* cpu -> gpu, gpu -> cpu, cpu -> gpu -> cpu, with memory shared and of its own. */
static void frames_of_their_cut(void **state)
{
    static const struct { int32_t n, gpu; } ways[] = {{2, 1}, {2, 0}, {3, 1}};
    int alternatives[3] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= NETS; seed++) {
        int way = (int)(seed % 4 % 3);
        if (seed % 5 == 1) setenv("EMU_CUDA_DISCRETE", "1", 1);
        setenv("EMU_CUDA_LACKS", seed % 3 == 2 ? "register" : "", 1);
        alternatives[way] += run_net(net_of(seed), ways[way].n, ways[way].gpu, seed);
        unsetenv("EMU_CUDA_DISCRETE");
        unsetenv("EMU_CUDA_LACKS");
    }
    for (int i = 0; i < 3; i++) assert_true(alternatives[i] >= 2);
}

/* Copies that frames of all alternatives take, whose outputs are compared with those of frames through the staging. */
static int copies_of(int32_t kind, const char *lacking)
{
    static struct job j;
    int before, copies, now, attachments;
    void *address = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "emu_cuda_counts");
    int (*counts)(int *, int *);
    assert_non_null(address);
    memcpy(&counts, &address, sizeof counts);
    setenv("EMU_CUDA_LACKS", lacking, 1);
    assert_true(job_make(&j, net_dense(4, 0), 3, 1, 12, kind));
    for (int32_t i = 0; i < j.l->cuts.n; i++) {
        start_through(&j, i, 0);
        flow(&j, FRAMES);
    }
    start(&j, -1);
    counts(&before, &attachments);
    flow(&j, 3 * FRAMES);
    counts(&copies, &attachments);
    job_free(&j);
    unsetenv("EMU_CUDA_LACKS");
    assert_int_equal(counts(&now, &attachments), 0);
    return copies - before;
}

/* Where the arena can be locked, mapped tensors take no copies in any alternative. */
static void slots_in_place(void **state)
{
    (void)state;
    int all = copies_of(IG_PASS_PINNED, "");
    assert_true(all >= 2 * 3 * FRAMES);
    assert_int_equal(copies_of(IG_PASS_PINNED, "register"), all);
    assert_int_equal(copies_of(IG_PASS_MAPPED, "map"), all);
    assert_int_equal(copies_of(IG_PASS_MAPPED, ""), 0);
    assert_int_equal(copies_of(IG_PASS_MAPPED, "register"), 0);
    assert_int_equal(copies_of(IG_PASS_MANAGED, ""), 0);
}

/* One copy of each weight on the GPU, of all steps that may be its, and of no others. */
static void weights_are_shared(void **state)
{
    static struct job j;
    int64_t sum = 0;
    (void)state;
    assert_true(job_make(&j, net_dense(4, 0), 3, 1, 9, SOME));
    for (int32_t i = 0; i < j.l->cuts.n; i++) {
        char err[300];
        struct ig_gpu_stage_lowered *one =
            ig_lower_gpu_stage(j.g, ig_alternative(j.staged, i), j.gpu_plan, err, sizeof err);
        if (!one) fail_msg("%s", err);
        assert_true(one->weights->model.weights_bytes <= j.part->weights->model.weights_bytes);
        sum += one->weights->model.weights_bytes;
        ig_gpu_stage_lowered_free(one);
    }
    assert_true(j.part->weights->model.weights_bytes < sum);
    assert_true(j.part->weights->model.weights_bytes <= j.gpu_plan->weights_bytes);
    job_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_of_their_cut), cmocka_unit_test(slots_in_place),
                                       cmocka_unit_test(weights_are_shared)};
    return cmocka_run_group_tests(tests, emulate, NULL);
}
