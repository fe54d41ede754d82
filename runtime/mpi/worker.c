#include "runtime/mpi/worker.h"

#include <sched.h>

#include "runtime/wait.h"

enum { STACK_BYTES = 1 << 20, MAX_IO = 256 };

static int32_t n_in(const struct ig_part_run *p)
{
    return p->part->program->model->n_inputs;
}

static int32_t n_out(const struct ig_part_run *p)
{
    return p->part->program->model->n_outputs;
}

static int is_ready(const struct ig_worker *w, const struct ig_part_run *p)
{
    for (int32_t i = 0; i < n_in(p); i++)
        if (!ig_flow_has(&w->flows[p->part->in[i]], p->frame)) return 0;
    for (int32_t i = 0; i < n_out(p); i++)
        if (!ig_flow_free(&w->flows[p->part->out[i]], p->frame)) return 0;
    return 1;
}

/* A stream that ends does so for all tensors with the same frame. */
static int is_over(const struct ig_worker *w, const struct ig_part_run *p)
{
    for (int32_t i = 0; i < n_in(p); i++)
        if (ig_flow_over(&w->flows[p->part->in[i]], p->frame)) return 1;
    return 0;
}

static void end(struct ig_worker *w, struct ig_part_run *p)
{
    p->over = 1;
    for (int32_t i = 0; i < n_out(p); i++) ig_flow_close(&w->flows[p->part->out[i]], p->frame);
    ig_bell_ring(w->bell);
}

/* The part to run, or NULL; *left: parts that may run some time. */
static struct ig_part_run *choose(struct ig_worker *w, int32_t *left)
{
    struct ig_part_run *best = NULL;
    *left = 0;
    for (int32_t i = 0; i < w->rank->n_parts; i++) {
        struct ig_part_run *p = &w->parts[i];
        if (!p->over && is_over(w, p)) end(w, p);
        if (p->over) continue;
        ++*left;
        if ((!best || p->frame < best->frame) && is_ready(w, p)) best = p;
    }
    return best;
}

static void count(struct ig_intervals *v, int64_t ns)
{
    if (!v->n || ns < v->least) v->least = ns;
    if (!v->n || ns > v->most) v->most = ns;
    v->sum += ns;
    v->n++;
}

/* The last part in topological order ends the rank's frame. */
static void frame_done(struct ig_worker *w, uint64_t frame, int64_t now)
{
    if (frame > IG_WARM_FRAMES) count(&w->intervals, now - w->done_ns);
    w->done_ns = now;
    w->frames = frame + 1;
}

static void run(struct ig_worker *w, struct ig_part_run *p)
{
    const void *in[MAX_IO];
    void *out[MAX_IO];
    int64_t begin = ig_now_ns(), now;
    for (int32_t i = 0; i < n_in(p); i++) in[i] = ig_flow_at(&w->flows[p->part->in[i]], p->frame);
    for (int32_t i = 0; i < n_out(p); i++) out[i] = ig_flow_at(&w->flows[p->part->out[i]], p->frame);
    int status = ig_ctx_run(&p->ctx, in, out);
    if (status) ig_die("%s: %s", p->part->program->model->name, ig_status_text(status));
    now = ig_now_ns();
    w->busy_ns += now - begin;
    if (!w->begun_ns) w->begun_ns = begin;
    if (p == &w->parts[w->rank->n_parts - 1]) frame_done(w, p->frame, now);
    p->frame++;
    for (int32_t i = 0; i < n_out(p); i++) ig_flow_fill(&w->flows[p->part->out[i]], p->frame);
    for (int32_t i = 0; i < n_in(p); i++) ig_flow_use(&w->flows[p->part->in[i]], p->reader[i], p->frame);
    ig_bell_ring(w->bell);
}

static void pin_to(pthread_t thread, int16_t core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    pthread_setaffinity_np(thread, sizeof set, &set); /* main.c found the core there */
}

static void start_team(struct ig_worker *w)
{
    const struct ig_rank *r = w->rank;
    int status = ig_team_start(&w->team, r->threads);
    if (status) ig_die("%s", ig_status_text(status));
    for (int32_t i = 0; i < r->n_parts; i++) {
        if (w->parts[i].ctx.team) continue; /* a GPU's */
        w->parts[i].ctx.team = &w->team;
        w->parts[i].ctx.run_team = ig_team_run;
    }
    if (!w->pinned || !r->n_cores) return;
    pin_to(pthread_self(), r->cores[0]);
    for (int32_t i = 1; i < r->threads; i++) pin_to(w->team.handles[i], r->cores[i % r->n_cores]);
}

static void *work(void *arg)
{
    struct ig_worker *w = arg;
    start_team(w);
    for (int32_t left;;) {
        uint32_t seen = ig_bell_seen(w->bell);
        struct ig_part_run *p = choose(w, &left);
        if (p) {
            atomic_store_explicit(&w->waits, 0, memory_order_relaxed);
            run(w, p);
        } else if (!left)
            break;
        else if (!atomic_exchange(&w->waits, 1))
            ig_bell_ring(w->bell); /* messages are wanted soon */
        else
            ig_bell_wait(w->bell, seen, -1);
    }
    ig_team_stop(&w->team);
    if (w->begun_ns) w->wait_ns = w->done_ns - w->begun_ns - w->busy_ns;
    atomic_store(&w->over, 1);
    ig_bell_ring(w->bell);
    return NULL;
}

void ig_worker_start(struct ig_worker *w)
{
    pthread_attr_t attr; /* some C libraries give a thread less stack than kernels take */
    for (int32_t i = 0; i < w->rank->n_parts; i++)
        if (n_in(&w->parts[i]) > MAX_IO || n_out(&w->parts[i]) > MAX_IO)
            ig_die("%s: more than %d inputs or outputs", w->parts[i].part->program->model->name, MAX_IO);
    if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK_BYTES) ||
        pthread_create(&w->thread, &attr, work, w))
        ig_die("cannot start a thread");
    pthread_attr_destroy(&attr);
}

void ig_worker_join(struct ig_worker *w)
{
    pthread_join(w->thread, NULL);
}
