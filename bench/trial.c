#include "bench/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bed.h"
#include "bench/profile.h"
#include "runtime/frames.h"

enum { ROUNDS = 64, MOST = 1 << 14, WARM = 2, LEAST = 5, EMPTY = 3, ALONE = 7 };
static const double slow_ns = 1e8; /* a frame of which few make a round */
/*
 * Of a round, what does not count: where the weights do not fit into the last cache, what of them stays there settles within some hundred
 * milliseconds after another plan has run, and frames take up to a fifth longer until then.
 */
static const double warm_share = 2. / 3;

struct round {
    double period_ns, full_ns, alone_ns, stage_ns[IG_PLAN_STAGES];
};

struct ig_trial {
    struct ig_pipeline pipeline; /* of a plan with stages */
    struct ig_lowered *lowered;
    struct ig_bed bed;
    void **inputs, **outputs;
    double frame_ns; /* as far as it is known */
    int32_t rounds;
    struct round of[ROUNDS];
    int64_t interval_ns[MOST], latency_ns[MOST];
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *many, int32_t n)
{
    qsort(many, (size_t)n, sizeof *many, by_size);
    return n % 2 ? many[n / 2] : (many[n / 2 - 1] + many[n / 2]) / 2;
}

static double middle_ns(const int64_t *ns, int32_t n)
{
    static double many[MOST];
    for (int32_t i = 0; i < n; i++) many[i] = (double)ns[i];
    return middle(many, n);
}

/* --- start and end --- */

/* Do the tables find the same in their weights? */
static int same_weights(const struct ig_lowered *a, const struct ig_lowered *b)
{
    size_t steps = (size_t)a->plan->n_steps, values = (size_t)a->graph->n_values;
    if (a->graph != b->graph || a->model.weights_bytes != b->model.weights_bytes || a->plan->n_steps != b->plan->n_steps) return 0;
    for (size_t i = 0; i < steps; i++)
        if (a->plan->steps[i].kernel != b->plan->steps[i].kernel) return 0;
    return !memcmp(a->packed, b->packed, steps * sizeof *a->packed) &&
           !memcmp(a->consts, b->consts, values * sizeof *a->consts);
}

static int make_bed(struct ig_trial *t, const struct ig_trial *like, char *err, size_t err_bytes)
{
    int32_t threads = t->lowered->pipe.n_stages ? 1 : t->lowered->plan->threads;
    if (like && same_weights(t->lowered, like->lowered))
        return ig_bed_share(&t->bed, t->lowered, threads, &like->bed, err, err_bytes);
    return ig_bed_make(&t->bed, t->lowered, threads, err, err_bytes);
}

static int start(struct ig_trial *t, const struct ig_trial *like, char *err, size_t err_bytes)
{
    const struct ig_model *m = &t->lowered->model;
    if (make_bed(t, like, err, err_bytes)) {
        t->bed.lowered = NULL;
        return -1;
    }
    t->inputs = ig_io_buffers(m->inputs, m->n_inputs);
    t->outputs = ig_io_buffers(m->outputs, m->n_outputs);
    if (!t->inputs || !t->outputs) {
        snprintf(err, err_bytes, "out of memory");
        return -1;
    }
    for (int32_t i = 0; i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, t->inputs[i]);
    if (!t->lowered->pipe.n_stages) return 0;
    ig_pipeline_clear(&t->pipeline);
    t->pipeline.clock_ns = ig_bench_ns;
    int status = ig_pipeline_start(&t->pipeline, &t->lowered->pipe, t->bed.weights, t->bed.arena, t->bed.arena_bytes);
    if (status) snprintf(err, err_bytes, "%s", ig_status_text(status));
    return status ? -1 : 0;
}

struct ig_trial *ig_trial_start(const struct ig_graph *g, const struct ig_plan *p, const struct ig_trial *like, char *err,
                                size_t err_bytes)
{
    struct ig_trial *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) {
        snprintf(err, err_bytes, "out of memory");
        return NULL;
    }
    t->lowered = ig_lower(g, p);
    t->frame_ns = p->n_stages ? p->period_ns : p->latency_ns;
    if (!start(t, like, err, err_bytes)) return t;
    ig_trial_end(t);
    return NULL;
}

void ig_trial_end(struct ig_trial *t)
{
    if (!t) return;
    const struct ig_model *m = &t->lowered->model;
    ig_pipeline_stop(&t->pipeline);
    if (t->inputs) ig_io_buffers_free(t->inputs, m->inputs, m->n_inputs);
    if (t->outputs) ig_io_buffers_free(t->outputs, m->outputs, m->n_outputs);
    if (t->bed.lowered) ig_bed_free(&t->bed);
    ig_lowered_free(t->lowered);
    munmap(t, sizeof *t);
}

/* --- rounds --- */

static int32_t frames_for(const struct ig_trial *t, double seconds, int32_t least)
{
    return (int32_t)fmin(fmax(seconds * 1e9 / t->frame_ns, least), MOST - 2 * EMPTY);
}

static double run_whole(struct ig_trial *t, int32_t n)
{
    int64_t before = ig_bench_ns();
    for (int32_t i = 0; i < n; i++) ig_ctx_run(&t->bed.ctx, (const void *const *)t->inputs, t->outputs);
    return (double)(ig_bench_ns() - before) / n;
}

static void whole_round(struct ig_trial *t, double seconds, struct round *r)
{
    t->frame_ns = run_whole(t, 1);
    t->frame_ns = run_whole(t, frames_for(t, warm_share * seconds, WARM));
    r->period_ns = r->full_ns = r->alone_ns = t->frame_ns = run_whole(t, frames_for(t, (1 - warm_share) * seconds, LEAST));
}

/* Other trials may have had the arena meanwhile. */
static void fill_slots(struct ig_trial *t)
{
    const struct ig_pipe *pipe = &t->lowered->pipe;
    for (int32_t i = 0; i < pipe->model->n_inputs; i++)
        for (int32_t k = 0; k < pipe->slots[i].copies; k++)
            memcpy((char *)t->bed.arena + pipe->slots[i].offset + k * pipe->slots[i].bytes, t->inputs[i],
                   (size_t)ig_bytes(pipe->model->inputs[i].shape));
}

static void flow(struct ig_trial *t, int32_t n)
{
    ig_frames_run(&t->pipeline, &(const struct ig_frames){n, n, 0, ig_bench_ns, t->interval_ns, t->latency_ns});
}

static double alone(struct ig_trial *t)
{
    int64_t ns[ALONE];
    int32_t n = t->frame_ns > slow_ns ? 2 : ALONE;
    for (int32_t i = -1; i < n; i++) {
        flow(t, 1);
        if (i >= 0) ns[i] = t->latency_ns[0];
    }
    return middle_ns(ns, n);
}

/* Frames while the pipeline fills or runs dry are not those of a stream. */
static void staged_round(struct ig_trial *t, double seconds, struct round *r)
{
    int64_t busy[IG_PLAN_STAGES], sum = 0;
    int32_t n = frames_for(t, (1 - warm_share) * seconds, LEAST) + 2 * EMPTY, stages = t->lowered->pipe.n_stages;
    fill_slots(t);
    flow(t, frames_for(t, warm_share * seconds, WARM));
    r->alone_ns = alone(t);
    for (int32_t i = 0; i < stages; i++) busy[i] = t->pipeline.stages[i].busy_ns;
    flow(t, n);
    for (int32_t i = 0; i < stages; i++) r->stage_ns[i] = (double)(t->pipeline.stages[i].busy_ns - busy[i]) / n;
    for (int32_t i = EMPTY; i < n - EMPTY; i++) sum += t->interval_ns[i];
    r->full_ns = middle_ns(t->latency_ns + n / 4, n - n / 4 - EMPTY);
    r->period_ns = t->frame_ns = (double)sum / (n - 2 * EMPTY);
}

void ig_trial_round(struct ig_trial *t, double seconds)
{
    if (t->rounds == ROUNDS) memmove(t->of, t->of + 1, (size_t)--t->rounds * sizeof *t->of);
    struct round *r = &t->of[t->rounds++];
    memset(r, 0, sizeof *r);
    if (t->lowered->pipe.n_stages)
        staged_round(t, seconds, r);
    else
        whole_round(t, seconds, r);
}

/* Of the doubles that lie `at` bytes into each round. */
static double middle_of(const struct ig_trial *t, size_t at)
{
    double many[ROUNDS];
    for (int32_t i = 0; i < t->rounds; i++) memcpy(&many[i], (const char *)&t->of[i] + at, sizeof many[i]);
    return t->rounds ? middle(many, t->rounds) : 0;
}

static double spread_of(const struct ig_trial *t)
{
    double many[ROUNDS];
    if (!t->rounds) return 0;
    for (int32_t i = 0; i < t->rounds; i++) many[i] = t->of[i].period_ns;
    double median = middle(many, t->rounds); /* they are in order now */
    return (many[t->rounds * 9 / 10] - many[t->rounds / 10]) / (2 * median);
}

struct ig_found ig_trial_found(const struct ig_trial *t)
{
    struct ig_found f = {.period_ns = middle_of(t, offsetof(struct round, period_ns)),
                         .full_ns = middle_of(t, offsetof(struct round, full_ns)),
                         .alone_ns = middle_of(t, offsetof(struct round, alone_ns)),
                         .spread = spread_of(t),
                         .rounds = t->rounds};
    for (int32_t i = 0; i < t->lowered->pipe.n_stages; i++)
        f.stage_ns[i] = middle_of(t, offsetof(struct round, stage_ns) + (size_t)i * sizeof(double));
    return f;
}
