#include "bench/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void use_modules(struct ig_gpu_plan *p, const void *const *modules)
{
    p->fatbin = modules[0];
    p->others = modules + 1;
    p->n_others = 0;
    while (p->others[p->n_others]) p->n_others++;
}

struct ig_plan *ig_gpu_plan(const struct ig_graph *g, const struct ig_profile *profile, double max_error, char *err, size_t err_bytes)
{
    struct ig_plan_options o = {.target = "gpu", .isa = IG_ISA_CUDA, .threads = 1, .profile = profile, .bands = IG_BANDS_OFF,
                                .max_error = max_error};
    return ig_plan_make(g, &o, err, err_bytes);
}

int ig_gpu_bed_make(struct ig_gpu_bed *b, const struct ig_graph *g, const struct ig_profile *profile, double max_error,
                    const char *nodes, const void *const *modules, char *err, size_t err_bytes)
{
    memset(b, 0, sizeof *b);
    b->plan = ig_gpu_plan(g, profile, max_error, err, err_bytes);
    if (!b->plan) return -1;
    b->lowered = ig_lower(g, b->plan);
    b->launches = ig_lower_gpu(b->lowered, err, err_bytes);
    size_t bytes = (size_t)(b->lowered->model.weights_bytes + 63) / 64 * 64;
    void *constants = b->launches ? aligned_alloc(64, bytes) : NULL;
    int bad = !constants;
    if (b->launches && !constants) snprintf(err, err_bytes, "out of memory");
    if (!bad) {
        memset(constants, 0, bytes);
        ig_fill_weights_of(b->lowered, nodes, constants);
        use_modules(&b->launches->plan, modules);
        bad = ig_gpu_open(&b->gpu, &b->launches->plan, constants, err, err_bytes);
    }
    free(constants);
    if (bad) ig_gpu_bed_free(b);
    return bad;
}

void ig_gpu_bed_free(struct ig_gpu_bed *b)
{
    if (b->gpu.plan) ig_gpu_close(&b->gpu);
    ig_gpu_lowered_free(b->launches);
    ig_lowered_free(b->lowered);
    ig_plan_free(b->plan);
    memset(b, 0, sizeof *b);
}

/* A graph of `times` times the calls; the driver's error. */
static int graph_of(struct ig_gpu *g, int32_t first, int32_t n, int times, ig_cuda_exec *exec)
{
    ig_cuda_graph graph = NULL;
    int error = g->cuda.capture_begin(g->stream, IG_CUDA_CAPTURE_THREAD), inner = 0;
    if (error) return error;
    for (int i = 0; i < times && !inner; i++) inner = ig_gpu_enqueue(g, first, n);
    error = g->cuda.capture_end(g->stream, &graph);
    if (!inner && !error) error = ig_cuda_make_exec(&g->cuda, exec, graph);
    if (graph) g->cuda.graph_free(graph);
    return inner ? inner : error;
}

/* Two of the stream's. */
struct clock {
    ig_cuda_event from, to;
};

static int clock_make(const struct ig_gpu *g, struct clock *c)
{
    *c = (struct clock){NULL, NULL};
    int error = g->cuda.event(&c->from, 0);
    return error ? error : g->cuda.event(&c->to, 0);
}

static void clock_free(const struct ig_gpu *g, struct clock *c)
{
    if (c->from) g->cuda.event_free(c->from);
    if (c->to) g->cuda.event_free(c->to);
}

/* By the GPU's own clock: what the processor takes to launch it and to hear of its end is not in it. */
static int run_graph(struct ig_gpu *g, ig_cuda_exec exec, const struct clock *c, double *ns)
{
    float ms = 0;
    int error = g->cuda.event_record(c->from, g->stream);
    if (!error) error = g->cuda.exec_launch(exec, g->stream);
    if (!error) error = g->cuda.event_record(c->to, g->stream);
    if (!error) error = g->cuda.stream_wait(g->stream);
    if (!error) error = g->cuda.event_wait(c->to);
    if (!error) error = g->cuda.event_ms(&ms, c->from, c->to);
    *ns = (double)ms * 1e6;
    return error;
}

static double least_ns(struct ig_gpu *g, int32_t first, int32_t n, int times, int runs)
{
    ig_cuda_exec exec = NULL;
    struct clock c;
    double least = 1e30, ns;
    int error = clock_make(g, &c);
    if (!error) error = graph_of(g, first, n, times, &exec);
    for (int i = 0; i < runs && !error; i++) {
        error = run_graph(g, exec, &c, &ns);
        if (ns < least) least = ns;
    }
    if (exec) g->cuda.exec_free(exec);
    clock_free(g, &c);
    return error ? -error : least;
}

double ig_gpu_step_ns(struct ig_gpu_bed *b, int32_t step, int repeats, int runs)
{
    int32_t first = b->launches->first[step], n = b->launches->first[step + 1] - first;
    double once = least_ns(&b->gpu, first, n, repeats, runs);
    double twice = once < 0 ? once : least_ns(&b->gpu, first, n, 2 * repeats, runs);
    if (twice < 0) return twice;
    return twice > once ? (twice - once) / repeats : twice / (2 * repeats);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ig_gpu_frame_ns(struct ig_gpu_bed *b, int runs)
{
    ig_cuda_exec exec = NULL;
    double *ns = calloc((size_t)runs, sizeof *ns), median;
    struct clock c;
    if (!ns) abort();
    int error = clock_make(&b->gpu, &c);
    if (!error) error = graph_of(&b->gpu, 0, b->launches->plan.n_calls, 1, &exec);
    for (int i = 0; i < runs && !error; i++) error = run_graph(&b->gpu, exec, &c, &ns[i]);
    clock_free(&b->gpu, &c);
    if (exec) b->gpu.cuda.exec_free(exec);
    qsort(ns, (size_t)runs, sizeof *ns, by_value);
    median = error ? -error : ns[runs / 2];
    free(ns);
    return median;
}
