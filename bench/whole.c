#include "bench/whole.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/bed.h"

enum { LEAST_FRAMES = 3, MOST_FRAMES = 1 << 12 };

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median frame in ns, behind one that warms up. */
static double run_frames(struct ig_bed *bed, void *const *inputs, void *const *outputs, int64_t end_ns)
{
    static int64_t ns[MOST_FRAMES];
    int32_t n = 0;
    ig_ctx_run(&bed->ctx, (const void *const *)inputs, outputs);
    for (int64_t before = ig_bench_ns(), now; n < MOST_FRAMES && (n < LEAST_FRAMES || before < end_ns); before = now) {
        ig_ctx_run(&bed->ctx, (const void *const *)inputs, outputs);
        now = ig_bench_ns();
        ns[n++] = now - before;
    }
    qsort(ns, (size_t)n, sizeof *ns, by_time);
    return (double)ns[n / 2];
}

static int time_frames(struct ig_bed *bed, int64_t end_ns, double *frame_ns, char *err, size_t err_bytes)
{
    const struct ig_model *m = &bed->lowered->model;
    void **inputs = ig_io_buffers(m->inputs, m->n_inputs), **outputs = ig_io_buffers(m->outputs, m->n_outputs);
    int status = inputs && outputs ? 0 : -1;
    if (status) snprintf(err, err_bytes, "out of memory");
    for (int32_t i = 0; !status && i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, inputs[i]);
    if (!status) *frame_ns = run_frames(bed, inputs, outputs, end_ns);
    ig_io_buffers_free(inputs, m->inputs, m->n_inputs);
    ig_io_buffers_free(outputs, m->outputs, m->n_outputs);
    return status;
}

void ig_profile_scale(struct ig_profile *p, double by)
{
    p->whole_over_sum = by;
    for (int32_t i = 0; i < p->n; i++) {
        p->timings[i].alone_ns *= by;
        p->timings[i].in_order_ns *= by;
    }
    for (int32_t i = 0; i < p->n_bands; i++) {
        p->bands[i].in_order_ns *= by;
        p->bands[i].apart_ns *= by;
    }
}

int ig_profile_whole(const struct ig_graph *g, const struct ig_profile_options *o, int64_t end_ns, struct ig_profile *p,
                     char *err, size_t err_bytes)
{
    struct ig_plan_options options = {.target = "host", .isa = o->isa, .threads = o->threads, .profile = p,
                                      .max_error = IG_MAX_ERROR, .seed = 1};
    struct ig_plan *plan = ig_plan_make(g, &options, err, err_bytes);
    struct ig_bed bed;
    double frame_ns = 0;
    if (!plan) return -1;
    struct ig_lowered *l = ig_lower(g, plan);
    int status = ig_bed_make(&bed, l, o->threads, err, err_bytes);
    if (!status) {
        status = time_frames(&bed, end_ns, &frame_ns, err, err_bytes);
        ig_bed_free(&bed);
    }
    if (!status && plan->latency_ns > 0 && frame_ns > 0) ig_profile_scale(p, frame_ns / plan->latency_ns);
    ig_lowered_free(l);
    ig_plan_free(plan);
    return status;
}
