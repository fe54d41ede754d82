/*
 * Pipelines with a stage on the GPU, on the emulated driver: random networks cut at random, every frame beside the CPU's
 * plan step by step, in order, and what becomes of frames when the GPU fails.
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
#include "planner/passes.h"
#include "planner/stages.h"
#include "tests/support/emulated.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"

enum { NETS = 36, FRAMES = 9, POISON = 0xf5 };

struct job { /* a network as a pipeline with the GPU */
    struct ig_graph *g;
    struct ig_plan *staged, *gpu_plan;
    struct ig_lowered *l;
    struct ig_gpu_stage_lowered *part;
    void *constants;
    struct ig_gpu gpu;
    struct ig_gpu_worker worker;
    struct ig_bed bed;
    void **in[FRAMES], **out[FRAMES];
};

static struct ig_pipeline pipeline;

/* Kinds of passes, and what the GPU lacks: all that a plan may want beside all that may be missing. */
enum { SOME = IG_PASS_MANAGED + 1 }; /* kinds by chance */
static const char *const lacks[] = {"", "register", "manage", "map register", "map manage", "map manage register"};
enum { LACKS = sizeof lacks / sizeof *lacks };

/* The GPU is stage `gpu` of n; 0: it computes not all of that. */
static int cut(struct job *j, int32_t n, int32_t gpu, struct rng *r, char *err, size_t err_bytes)
{
    struct ig_plan_options o = {.target = "test", .isa = fastest_isa(), .threads = 1, .max_error = IG_MAX_ERROR,
                                .bands = RNG_OF(r, IG_BANDS_AUTO, IG_BANDS_ALL, IG_BANDS_OFF)};
    struct ig_plan_options cuda = {.target = "test", .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan_stage stages[IG_PLAN_STAGES] = {{.threads = 0}};
    int32_t *of = test_calloc((size_t)j->g->n_nodes, sizeof *of);
    for (int32_t i = 0, left = n - 1; i < j->g->n_nodes; i++) {
        of[i] = n - 1 - left;
        if (left && (j->g->n_nodes - 1 - i == left || !rng_int(r, 0, j->g->n_nodes / n))) left--;
    }
    for (int32_t i = 0; i < n; i++) {
        if (i == gpu) strcpy(stages[i].processor, "gpu");
        else snprintf(stages[i].processor, sizeof stages[i].processor, "cpu:%d", i);
        stages[i].threads = i == gpu ? 1 : RNG_OF(r, 1, 2);
        stages[i].slots = rng_int(r, 0, 3);
    }
    int bad = ig_time_gpu_stage(j->g, &o, of, stages, n, err, err_bytes);
    if (!bad && !(j->staged = ig_plan_stages(j->g, &o, of, stages, n, err, err_bytes))) fail_msg("%s", err);
    test_free(of);
    if (bad) return 0;
    int verdict = ig_validate(j->g, j->staged, 0, err, err_bytes);
    if (verdict) fail_msg("%s: %s", ig_verdict_name(verdict), err);
    assert_int_equal(ig_gpu_stage_of(j->staged), gpu);
    assert_true(j->staged->stages[gpu].gpu_ns > 0 || j->staged->stages[gpu].first == j->staged->stages[gpu].last);
    j->gpu_plan = ig_plan_make(j->g, &cuda, err, err_bytes);
    if (!j->gpu_plan) fail_msg("%s", err);
    return 1;
}

static void make_frames(struct job *j, uint64_t seed)
{
    const struct ig_model *m = &j->l->model;
    for (int k = 0; k < FRAMES; k++) {
        struct rng r = {seed * FRAMES + (uint64_t)k};
        j->in[k] = ig_io_buffers(m->inputs, m->n_inputs);
        j->out[k] = ig_io_buffers(m->outputs, m->n_outputs);
        for (int32_t i = 0; i < m->n_inputs; i++)
            for (int64_t e = 0; e < ig_count(m->inputs[i].shape); e++) ((float *)j->in[k][i])[e] = (float)rng_real(&r, -1, 1);
        assert_int_equal(ig_ctx_run(&j->bed.ctx, (const void *const *)j->in[k], j->out[k]), IG_OK);
    }
    memset(j->bed.arena, POISON, j->bed.arena_bytes);
}

/* Every tensor that passes is of that kind. */
static void set_kinds(struct job *j, int32_t kind, struct rng *r)
{
    struct ig_platform board = {.n_processors = 1};
    ig_plan_passes(j->g, j->gpu_plan, j->staged, &board);
    for (int32_t i = 0; i < j->gpu_plan->n_passes; i++)
        j->gpu_plan->passes[i].kind = kind == SOME ? rng_int(r, IG_PASS_PINNED, IG_PASS_MANAGED) : kind;
}

/* 0: the GPU cannot. */
static int job_make_of(struct job *j, struct ig_graph *g, int32_t n, int32_t gpu, uint64_t seed, int32_t kind)
{
    struct rng r = {seed};
    char err[1024];
    memset(j, 0, sizeof *j);
    j->g = g;
    ig_prepare_views(g);
    if (g->n_nodes < n || !cut(j, n, gpu, &r, err, sizeof err)) return 0;
    j->l = ig_lower(g, j->staged);
    if (ig_bed_make(&j->bed, j->l, 1, err, sizeof err)) fail_msg("%s", err);
    make_frames(j, seed);
    set_kinds(j, kind, &r);
    j->part = ig_lower_gpu_stage(g, j->staged, j->gpu_plan, err, sizeof err);
    if (!j->part) fail_msg("seed %d: %s", (int)seed, err);
    int64_t bytes = j->part->lowered->model.weights_bytes;
    j->constants = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
    memset(j->constants, 0, (size_t)bytes);
    ig_fill_weights(j->part->lowered, j->constants);
    j->part->launches->plan.fatbin = "emulated";
    if (ig_gpu_open(&j->gpu, &j->part->launches->plan, j->constants, err, sizeof err)) fail_msg("%s", err);
    if (ig_gpu_try(&j->gpu, err, sizeof err)) fail_msg("%s", err);
    j->worker.gpu = &j->gpu;
    j->worker.stage = &j->part->stage;
    return 1;
}

static int job_make(struct job *j, struct ig_graph *g, int32_t n, int32_t gpu, uint64_t seed)
{
    return job_make_of(j, g, n, gpu, seed, SOME);
}

static void job_start(struct job *j)
{
    ig_pipeline_clear(&pipeline);
    char err[300];
    if (ig_gpu_join(&j->worker, &pipeline, &j->l->pipe, j->bed.arena, err, sizeof err)) fail_msg("%s", err);
    assert_int_equal(ig_pipeline_start(&pipeline, &j->l->pipe, j->bed.weights, j->bed.arena, j->bed.arena_bytes), IG_OK);
}

static void job_free(struct job *j)
{
    if (j->l) {
        for (int k = 0; k < FRAMES; k++) {
            ig_io_buffers_free(j->in[k], j->l->model.inputs, j->l->model.n_inputs);
            ig_io_buffers_free(j->out[k], j->l->model.outputs, j->l->model.n_outputs);
        }
        ig_gpu_close(&j->gpu);
        ig_bed_free(&j->bed);
    }
    free(j->constants);
    ig_gpu_stage_lowered_free(j->part);
    ig_lowered_free(j->l);
    ig_plan_free(j->staged);
    ig_plan_free(j->gpu_plan);
    ig_graph_free(j->g);
}

static void compare(const struct job *j, void *const *out, int frame, uint64_t seed)
{
    for (int32_t i = 0; i < j->l->model.n_outputs; i++) {
        const struct ig_shape *s = j->l->model.outputs[i].shape;
        const float *want = j->out[frame][i], *got = out[i];
        double most = 0, off = 0;
        for (int64_t k = 0; k < ig_count(s); k++) {
            most = fmax(most, fabs((double)want[k]));
            off = fmax(off, isnan(got[k]) ? INFINITY : fabs((double)got[k] - want[k]));
        }
        if (!(off <= 1e-4 * most)) fail_msg("seed %d: frame %d, output %d: off by %g of %g", (int)seed, frame, i, off, most);
        memset(out[i], POISON, (size_t)ig_bytes(s));
    }
}

/* 1: compared. */
static int run_net(struct ig_graph *g, int32_t n, int32_t gpu, uint64_t seed)
{
    static struct job j;
    void *out[IG_MAX_SLOTS];
    int ran = job_make(&j, g, n, gpu, seed);
    if (ran) job_start(&j);
    for (int pushed = 0, popped = 0; ran && popped < FRAMES;) {
        if (pushed < FRAMES && ig_push(&pipeline, (const void *const *)j.in[pushed], 0) == IG_OK) {
            pushed++;
            continue;
        }
        assert_int_equal(ig_pop_begin(&pipeline, out, 1, NULL), IG_OK);
        compare(&j, out, popped++, seed);
        ig_pop_end(&pipeline);
    }
    ig_pipeline_stop(&pipeline);
    job_free(&j);
    return ran;
}

static struct ig_graph *net_of(uint64_t seed)
{
    struct rng r = {seed};
    return seed % 3 == 0 ? net_branches(&r, 5) : seed % 3 == 1 ? net_random(&r, 20) : net_chain(&r, 10);
}

/* cpu -> gpu, gpu -> cpu, cpu -> gpu -> cpu, and the GPU alone. */
static void frames_of_the_sequential_run(void **state)
{
    static const struct { int32_t n, gpu; } ways[] = {{2, 1}, {2, 0}, {3, 1}, {1, 0}};
    int compared[4] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= NETS; seed++) {
        int way = (int)(seed / 3 % 4);
        if (seed % 5 == 1) setenv("EMU_CUDA_DISCRETE", "1", 1);
        setenv("EMU_CUDA_LACKS", lacks[seed % LACKS], 1);
        compared[way] += run_net(net_of(seed), ways[way].n, ways[way].gpu, seed);
        unsetenv("EMU_CUDA_DISCRETE");
        unsetenv("EMU_CUDA_LACKS");
    }
    for (int i = 0; i < 4; i++) assert_true(compared[i] >= 2);
}

/* A storage that stages of CPU and GPU fill by turns. */
static void a_dense_block(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) assert_true(run_net(net_dense(4, seed % 2), 2 + (int)seed % 2, 1, seed + 100));
}

/* As many tensors to and from the caller as a pipeline may have. */
static void many_ends(void **state)
{
    enum { N = IG_MAX_SLOTS / 2 };
    (void)state;
    for (int n = 1; n <= 3; n++) {
        struct ig_graph *g = net_new();
        int32_t x[N];
        for (int i = 0; i < N; i++) x[i] = net_input(g, 1, 2, 3, 5);
        for (int i = 0; i < N; i++) ig_add_output(g, net_add(g, x[i], x[(i + 1) % N]));
        net_done(g);
        assert_true(run_net(g, n, n / 2, (uint64_t)n));
    }
}

/* Frames that the GPU fails are in error, in their places, as are all behind them; none hangs. */
static void the_gpu_fails(void **state)
{
    static struct job j;
    void *out[IG_MAX_SLOTS];
    int ready;
    (void)state;
    assert_true(job_make(&j, net_dense(4, 0), 3, 1, 5));
    job_start(&j);
    for (int frame = 0; frame < FRAMES; frame++) {
        int fails = frame >= 3;
        if (frame == 3) setenv("EMU_CUDA_FAILS", "launch", 1);
        assert_int_equal(ig_push(&pipeline, (const void *const *)j.in[frame], 1), IG_OK);
        assert_int_equal(ig_pop_begin(&pipeline, out, 1, &ready), fails ? IG_ERROR_STAGE : IG_OK);
        assert_true(ready);
        unsetenv("EMU_CUDA_FAILS");
        if (!fails) compare(&j, out, frame, 5);
        ig_pop_end(&pipeline);
    }
    assert_string_equal(j.worker.why, "running a frame on the GPU failed: CUDA_ERROR_LAUNCH_FAILED (CUDA error 719)");
    ig_push_close(&pipeline);
    assert_int_equal(ig_pop_begin(&pipeline, out, 1, &ready), IG_END);
    ig_pipeline_stop(&pipeline);
    job_free(&j);
}

/* What the driver was asked for: copies, changes of managed memory, managed allocations that are left. */
struct counts {
    int copies, attachments, managed;
};

static struct counts counts_now(void)
{
    struct counts c;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *address = driver ? dlsym(driver, "emu_cuda_counts") : NULL;
    int (*counts)(int *, int *);
    assert_non_null(address);
    memcpy(&counts, &address, sizeof counts);
    c.managed = counts(&c.copies, &c.attachments);
    dlclose(driver);
    return c;
}

/* All frames of one network, whose outputs go to `bits`; returns what that took of the driver. */
static struct counts count_frames(int32_t kind, const char *lacking, unsigned char *bits, int32_t *ends)
{
    static struct job j;
    void *out[IG_MAX_SLOTS];
    struct counts before, now;
    setenv("EMU_CUDA_LACKS", lacking, 1);
    assert_true(job_make_of(&j, net_dense(4, 0), 3, 1, 12, kind));
    job_start(&j);
    before = counts_now();
    for (int frame = 0; frame < FRAMES; frame++) {
        assert_int_equal(ig_push(&pipeline, (const void *const *)j.in[frame], 1), IG_OK);
        assert_int_equal(ig_pop_begin(&pipeline, out, 1, NULL), IG_OK);
        for (int32_t i = 0; i < j.l->model.n_outputs; i++) {
            int64_t bytes = ig_bytes(j.l->model.outputs[i].shape);
            memcpy(bits, out[i], (size_t)bytes);
            bits += bytes;
        }
        compare(&j, out, frame, 12);
        ig_pop_end(&pipeline);
    }
    now = counts_now();
    ig_pipeline_stop(&pipeline);
    *ends = j.part->launches->plan.n_inputs + j.part->launches->plan.n_outputs;
    job_free(&j);
    unsetenv("EMU_CUDA_LACKS");
    assert_int_equal(counts_now().managed, 0);
    return (struct counts){now.copies - before.copies, now.attachments - before.attachments, now.managed};
}

/* Slots that the GPU uses in place take no copies; where it cannot, they are copied, and the bits are the same. */
static void zero_copy(void **state)
{
    static unsigned char want[1 << 20], got[1 << 20];
    int32_t ends;
    (void)state;
    struct counts c = count_frames(IG_PASS_PINNED, "", want, &ends);
    assert_int_equal(c.copies, ends * FRAMES);
    for (int32_t kind = IG_PASS_PINNED; kind <= IG_PASS_MANAGED; kind++)
        for (int i = 0; i < LACKS; i++) {
            int cannot = (kind == IG_PASS_MAPPED && strstr(lacks[i], "map")) || (kind == IG_PASS_MANAGED && strstr(lacks[i], "manage"));
            c = count_frames(kind, lacks[i], got, &ends);
            assert_int_equal(c.copies, kind == IG_PASS_PINNED || cannot ? ends * FRAMES : 0);
            assert_int_equal(c.attachments > 0, kind == IG_PASS_MANAGED && !cannot);
            assert_int_equal(c.managed > 0, kind == IG_PASS_MANAGED && !cannot);
            assert_memory_equal(got, want, sizeof want);
        }
    setenv("EMU_CUDA_DISCRETE", "1", 1);
    c = count_frames(IG_PASS_MAPPED, "", got, &ends);
    unsetenv("EMU_CUDA_DISCRETE");
    assert_int_equal(c.copies, ends * FRAMES);
    assert_memory_equal(got, want, sizeof want);
}

/* Its weights are those of its own steps. */
static void weights_of_the_stage_alone(void **state)
{
    static struct job j;
    (void)state;
    assert_true(job_make(&j, net_dense(4, 0), 3, 1, 9));
    assert_true(j.part->lowered->model.weights_bytes < j.gpu_plan->weights_bytes);
    assert_true(j.part->lowered->model.n_steps < j.l->model.n_steps);
    job_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_of_the_sequential_run), cmocka_unit_test(a_dense_block),
                                       cmocka_unit_test(many_ends), cmocka_unit_test(the_gpu_fails),
                                       cmocka_unit_test(zero_copy), cmocka_unit_test(weights_of_the_stage_alone)};
    return cmocka_run_group_tests(tests, emulate, NULL);
}
