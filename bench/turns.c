#include "bench/turns.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/profile.h"

enum { MOST_RUNS = 15, LEAST_RUNS = 3 };

int ig_turns_begin(struct ig_turns *t, const struct ig_graph *g, const struct ig_plan *plan, int32_t threads, char *err,
                   size_t err_bytes)
{
    *t = (struct ig_turns){.g = g, .threads = threads, .apart = ig_lower(g, plan)};
    const struct ig_model *m = &t->apart->model;
    if (ig_bed_make(&t->whole, t->apart, threads, err, err_bytes)) {
        t->whole.lowered = NULL;
        return -1;
    }
    t->inputs = ig_io_buffers(m->inputs, m->n_inputs);
    t->outputs = ig_io_buffers(m->outputs, m->n_outputs);
    t->step_ns = calloc((size_t)m->n_steps + 1, sizeof *t->step_ns);
    if (!t->inputs || !t->outputs || !t->step_ns) {
        snprintf(err, err_bytes, "out of memory");
        return -1;
    }
    for (int32_t i = 0; i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, t->inputs[i]);
    return 0;
}

void ig_turns_end(struct ig_turns *t)
{
    const struct ig_model *m = &t->apart->model;
    ig_io_buffers_free(t->inputs, m->inputs, m->n_inputs);
    ig_io_buffers_free(t->outputs, m->outputs, m->n_outputs);
    free(t->step_ns);
    if (t->whole.lowered) ig_bed_free(&t->whole);
    ig_lowered_free(t->apart);
}

static void run(struct ig_turns *t, struct ig_bed *bed)
{
    ig_ctx_run_timed(&bed->ctx, (const void *const *)t->inputs, t->outputs, t->step_ns, ig_bench_ns);
}

/* Time of the table's steps that run nodes of the band in the last frame. */
static double time_of(const struct ig_turns *t, const struct ig_lowered *l, const struct ig_plan *plan,
                      const struct ig_band *band)
{
    int32_t members[IG_MAX_BAND], n = ig_band_members(plan, band, members);
    int64_t ns = 0;
    for (int32_t s = 0; s < l->model.n_steps; s++)
        for (int32_t i = 0; i < n; i++)
            if (l->nodes[s] == &t->g->nodes[plan->steps[members[i]].node]) ns += t->step_ns[s];
    return (double)ns;
}

/* A frame; of every band the least so far: all above it is others' doing. */
static void run_once(struct ig_turns *t, struct ig_bed *bed, const struct ig_plan *plan, int is_first, double *ns)
{
    run(t, bed);
    for (int32_t i = 0; i < plan->n_bands; i++) {
        double now = time_of(t, bed->lowered, plan, &plan->bands[i]);
        if (is_first || now < ns[i]) ns[i] = now;
    }
}

int ig_turns_run(struct ig_turns *t, const struct ig_plan *plan, int64_t until_ns, double *in_order_ns, double *apart_ns,
                 char *err, size_t err_bytes)
{
    struct ig_lowered *l = ig_lower(t->g, plan);
    int status = ig_bed_share(&t->banded, l, t->threads, &t->whole, err, err_bytes);
    if (!status) {
        run(t, &t->whole);
        run(t, &t->banded);
        for (int i = 0; i < MOST_RUNS && (i < LEAST_RUNS || ig_bench_ns() < until_ns); i++) {
            run_once(t, &t->whole, plan, !i, apart_ns);
            run_once(t, &t->banded, plan, !i, in_order_ns);
        }
        ig_bed_free(&t->banded);
    }
    ig_lowered_free(l);
    return status;
}
