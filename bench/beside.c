#include "bench/beside.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bed.h"
#include "bench/profile.h"

enum { MOST = 63 };

struct runner {
    struct ig_plan *plan;
    struct ig_lowered *lowered;
    struct ig_bed bed;
    void **inputs, **outputs;
    atomic_int *stop;
    pthread_t thread;
    int core, made, started;
};

struct ig_beside {
    atomic_int stop;
    int32_t n;
    struct runner runners[MOST];
};

static int fail(char *err, size_t err_bytes, const char *why, const char *list)
{
    snprintf(err, err_bytes, "%s '%s'", why, list);
    return -1;
}

/* Cores of the list into runners; the process keeps the others, one at least. */
static int take_cores(struct ig_beside *b, const char *list, char *err, size_t err_bytes)
{
    cpu_set_t own;
    char *end;
    if (sched_getaffinity(0, sizeof own, &own)) return fail(err, err_bytes, "cannot tell cores from", list);
    for (const char *at = list;; at = end + 1) {
        long core = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || core < 0 || core >= CPU_SETSIZE || b->n == MOST)
            return fail(err, err_bytes, "no list of cores:", list);
        if (!CPU_ISSET((size_t)core, &own))
            return fail(err, err_bytes, "twice, or not for this process, a core of", list);
        CPU_CLR((size_t)core, &own);
        b->runners[b->n++].core = (int)core;
        if (!*end) break;
    }
    if (!CPU_COUNT(&own)) return fail(err, err_bytes, "no core is left to time on beside", list);
    if (sched_setaffinity(0, sizeof own, &own)) return fail(err, err_bytes, "cannot leave the cores", list);
    return 0;
}

static void *run_frames(void *arg)
{
    struct runner *r = arg;
    while (!atomic_load_explicit(r->stop, memory_order_relaxed))
        ig_ctx_run_timed(&r->bed.ctx, (const void *const *)r->inputs, r->outputs, NULL, ig_bench_ns);
    return NULL;
}

/* Everything that its thread needs, as the profiler's own rounds have it. */
static int prepare(struct runner *r, const struct ig_graph *g, int32_t isa, char *err, size_t err_bytes)
{
    struct ig_plan_options o = {.target = "host", .isa = isa, .threads = 1, .bands = IG_BANDS_OFF};
    r->plan = ig_plan_make(g, &o, err, err_bytes);
    if (!r->plan) return -1;
    r->lowered = ig_lower(g, r->plan);
    if (ig_bed_make(&r->bed, r->lowered, 1, err, err_bytes)) return -1;
    r->made = 1;
    const struct ig_model *m = &r->lowered->model;
    r->inputs = ig_io_buffers(m->inputs, m->n_inputs);
    r->outputs = ig_io_buffers(m->outputs, m->n_outputs);
    if (!r->inputs || !r->outputs) {
        snprintf(err, err_bytes, "out of memory");
        return -1;
    }
    for (int32_t i = 0; i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, r->inputs[i]);
    return 0;
}

static int start(struct runner *r, char *err, size_t err_bytes)
{
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET((size_t)r->core, &core);
    if (pthread_create(&r->thread, NULL, run_frames, r)) {
        snprintf(err, err_bytes, "cannot start a thread");
        return -1;
    }
    r->started = 1;
    if (!pthread_setaffinity_np(r->thread, sizeof core, &core)) return 0;
    snprintf(err, err_bytes, "cannot run on core %d", r->core);
    return -1;
}

struct ig_beside *ig_beside_start(const struct ig_graph *g, int32_t isa, const char *list, char *err, size_t err_bytes)
{
    struct ig_beside *b = calloc(1, sizeof *b);
    if (!b) {
        snprintf(err, err_bytes, "out of memory");
        return NULL;
    }
    int status = take_cores(b, list, err, err_bytes);
    for (int32_t i = 0; i < b->n && !status; i++) {
        b->runners[i].stop = &b->stop;
        status = prepare(&b->runners[i], g, isa, err, err_bytes);
    }
    for (int32_t i = 0; i < b->n && !status; i++) status = start(&b->runners[i], err, err_bytes);
    if (!status) return b;
    ig_beside_stop(b);
    return NULL;
}

int32_t ig_beside_count(const struct ig_beside *b)
{
    return b ? b->n : 0;
}

static void end(struct runner *r)
{
    if (r->started) pthread_join(r->thread, NULL);
    if (r->made) {
        const struct ig_model *m = &r->lowered->model;
        if (r->inputs) ig_io_buffers_free(r->inputs, m->inputs, m->n_inputs);
        if (r->outputs) ig_io_buffers_free(r->outputs, m->outputs, m->n_outputs);
        ig_bed_free(&r->bed);
    }
    if (r->lowered) ig_lowered_free(r->lowered);
    ig_plan_free(r->plan);
}

void ig_beside_stop(struct ig_beside *b)
{
    if (!b) return;
    atomic_store(&b->stop, 1);
    for (int32_t i = 0; i < b->n; i++) end(&b->runners[i]);
    free(b);
}
