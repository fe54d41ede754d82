#include "runtime/pipeline.h"

#include <sched.h>
#include <string.h>

#include "runtime/wait.h"

enum { SPINS = 4000, STACK_BYTES = 1 << 20, CORES = 64 };

/* --- gates --- */

/* Have `frames` passed? */
static int has_passed(uint32_t count, uint32_t frames)
{
    return (int32_t)((count & ~1u) - 2 * frames) >= 0;
}

/* 1 when `frames` have passed the gate; 0 if they never will, or not yet and it is not to wait. */
static int await(struct ig_gate *g, uint32_t frames, int32_t spins, int wait)
{
    uint32_t count = atomic_load_explicit(&g->count, memory_order_acquire);
    for (int32_t i = 0; wait && i < spins && !has_passed(count, frames) && !(count & 1); i++) {
        ig_relax();
        count = atomic_load_explicit(&g->count, memory_order_acquire);
    }
    if (has_passed(count, frames)) return 1;
    if (!wait) return 0;
    /* A sleeper is counted before it looks a last time: who opens the gate sees it, or it sees the gate open. */
    atomic_fetch_add(&g->sleepers, 1);
    while (!has_passed(count = atomic_load(&g->count), frames) && !(count & 1)) ig_futex_wait(&g->count, count);
    atomic_fetch_sub(&g->sleepers, 1);
    return has_passed(count, frames);
}

static void wake(struct ig_gate *g)
{
    if (atomic_load(&g->sleepers)) ig_futex_wake(&g->count);
}

static void pass(struct ig_gate *g)
{
    atomic_fetch_add(&g->count, 2);
    wake(g);
}

static void shut(struct ig_gate *g)
{
    atomic_fetch_or(&g->count, 1);
    wake(g);
}

/* Frames that have passed; for the gate's own writer. */
static uint32_t passed(const struct ig_gate *g)
{
    return atomic_load_explicit(&g->count, memory_order_relaxed) >> 1;
}

/* --- slots --- */

/* The gate behind a stage; -1: push, n_stages: pop. */
static struct ig_gate *gate_of(struct ig_pipeline *p, int32_t stage)
{
    return &p->gates[stage + 1];
}

/* Waits until every tensor that `stage` is the first to touch has a copy for frame `frame`. */
static int await_room(struct ig_pipeline *p, int32_t stage, uint32_t frame, int32_t spins, int wait)
{
    for (int32_t i = 0; i < p->pipe->n_slots; i++) {
        const struct ig_slot *s = &p->pipe->slots[i];
        if (s->from == stage && !await(gate_of(p, s->to), frame + 1 - (uint32_t)s->copies, spins, wait)) return 0;
    }
    return 1;
}

static char *copy_of(const struct ig_pipeline *p, int32_t slot, int32_t copy)
{
    const struct ig_slot *s = &p->pipe->slots[slot];
    char *elsewhere = p->place ? p->place(p->place_arg, slot, copy) : NULL;
    return elsewhere ? elsewhere : p->arena + s->offset + copy * s->bytes;
}

static void next_copies(const struct ig_pipeline *p, int32_t *copy)
{
    for (int32_t i = 0; i < p->pipe->n_slots; i++) copy[i] = copy[i] + 1 < p->pipe->slots[i].copies ? copy[i] + 1 : 0;
}

/* Waits until there are fewer frames on their way than may be: of the stages, and of all that have a status. */
static int await_flight(struct ig_pipeline *p, uint32_t frame, int wait)
{
    int32_t n = p->pipe->n_stages;
    uint32_t most = p->pipe->flight ? (uint32_t)p->pipe->flight : IG_MAX_FLIGHT;
    return await(gate_of(p, n - 1), frame + 1 - most, 0, wait) && await(gate_of(p, n), frame + 1 - IG_MAX_FLIGHT, 0, wait);
}

/* The caller's tensors are found by their copy's start, others from the arena's. */
static void set_bases(struct ig_stage_run *r)
{
    const struct ig_pipeline *p = r->pipeline;
    int32_t ios = p->pipe->model->n_inputs + p->pipe->model->n_outputs;
    for (int32_t i = 0; i < p->pipe->n_slots; i++)
        r->base[i] = copy_of(p, i, r->copy[i]) - (i < ios ? 0 : p->pipe->slots[i].offset);
}

/* --- stages --- */

static int compute(struct ig_stage_run *r, const struct ig_run *run)
{
    const struct ig_pipeline *p = r->pipeline;
    if (p->work) return p->work(p->work_arg, r->stage, &r->team, run);
    ig_team_run(&r->team, run);
    return IG_OK;
}

static void run_frame(struct ig_stage_run *r, const struct ig_run *run, uint32_t frame)
{
    struct ig_pipeline *p = r->pipeline;
    int32_t *status = &p->status[frame % IG_MAX_FLIGHT];
    int64_t begin = p->clock_ns ? p->clock_ns() : 0, end;
    set_bases(r);
    if (!*status) *status = compute(r, run);
    end = p->clock_ns ? p->clock_ns() : 0;
    r->busy_ns += end - begin;
    if (frame < p->n_spans)
        p->spans[frame * (uint32_t)p->pipe->n_stages + (uint32_t)r->stage] = (struct ig_span){begin, end};
}

/* The stage's cores, as far as this process may use them. */
static void pin(uint64_t cores)
{
    cpu_set_t mine, set;
    if (!cores || sched_getaffinity(0, sizeof mine, &mine)) return;
    CPU_ZERO(&set);
    for (int i = 0; i < CORES; i++)
        if ((cores >> i & 1) && CPU_ISSET(i, &mine)) CPU_SET(i, &set);
    if (CPU_COUNT(&set)) sched_setaffinity(0, sizeof set, &set);
}

static void tell(struct ig_stage_run *r, int32_t state)
{
    atomic_store(&r->state, state);
    ig_futex_wake((_Atomic uint32_t *)&r->state);
}

static void *stage_main(void *arg)
{
    struct ig_stage_run *r = arg;
    struct ig_pipeline *p = r->pipeline;
    const struct ig_stage *s = &p->pipe->stages[r->stage];
    const struct ig_run run = {&s->model,
                               p->arena,
                               p->weights,
                               (const void *const *)r->base,
                               r->base + s->model.n_inputs,
                               NULL,
                               NULL,
                               (char *const *)r->base};
    struct ig_gate *before = gate_of(p, r->stage - 1), *own = gate_of(p, r->stage);
    pin(s->cores);
    int status = ig_team_start(&r->team, s->model.threads);
    tell(r, status);
    if (status) return NULL;
    for (uint32_t frame = 0;; frame++) {
        if (!await(before, frame + 1, p->spins, 1) || !await_room(p, r->stage, frame, p->spins, 1)) break;
        if (atomic_load_explicit(&p->stopped, memory_order_relaxed)) break;
        run_frame(r, &run, frame);
        next_copies(p, r->copy);
        pass(own);
    }
    shut(own);
    ig_team_stop(&r->team);
    return NULL;
}

/* --- the caller --- */

void ig_pipeline_clear(struct ig_pipeline *p)
{
    memset(p, 0, sizeof *p);
}

/* Threads that find a core each see what they wait for sooner than they would wake; others keep it from who makes it. */
static int32_t spins_of(const struct ig_pipe *pipe)
{
    cpu_set_t mine;
    int32_t threads = 0, cores = 0;
    uint64_t any = 0;
    if (sched_getaffinity(0, sizeof mine, &mine)) return 0;
    for (int32_t i = 0; i < pipe->n_stages; i++) {
        threads += pipe->stages[i].model.threads;
        any |= pipe->stages[i].cores ? pipe->stages[i].cores : ~(uint64_t)0;
    }
    for (int i = 0; i < CORES; i++) cores += (any >> i & 1) && CPU_ISSET(i, &mine);
    return threads <= cores ? SPINS : 0;
}

static void reset(struct ig_pipeline *p)
{
    memset(p->end, 0, sizeof p->end);
    memset(p->status, 0, sizeof p->status);
    atomic_store(&p->stopped, 0);
    for (int32_t i = 0; i < IG_MAX_STAGES + 2; i++) {
        atomic_store(&p->gates[i].count, 0);
        atomic_store(&p->gates[i].sleepers, 0);
    }
}

static int start_stage(struct ig_pipeline *p, int32_t stage)
{
    struct ig_stage_run *r = &p->stages[stage];
    pthread_attr_t attr; /* some C libraries give a thread less stack than kernels take */
    memset(r->copy, 0, sizeof r->copy);
    r->pipeline = p;
    r->stage = stage;
    r->busy_ns = 0;
    atomic_store(&r->state, -1);
    if (pthread_attr_init(&attr)) return IG_ERROR_THREADS;
    int failed = pthread_attr_setstacksize(&attr, STACK_BYTES) || pthread_create(&r->thread, &attr, stage_main, r);
    pthread_attr_destroy(&attr);
    if (failed) return IG_ERROR_THREADS;
    while (atomic_load(&r->state) == -1) ig_futex_wait((_Atomic uint32_t *)&r->state, (uint32_t)-1);
    if (atomic_load(&r->state)) pthread_join(r->thread, NULL);
    return atomic_load(&r->state);
}

void ig_pipeline_shut(struct ig_pipeline *p)
{
    if (!p || !p->pipe) return;
    atomic_store(&p->stopped, 1);
    for (int32_t i = -1; i <= p->pipe->n_stages; i++) shut(gate_of(p, i));
}

static void stop_stages(struct ig_pipeline *p, int32_t n)
{
    ig_pipeline_shut(p);
    for (int32_t i = 0; i < n; i++) pthread_join(p->stages[i].thread, NULL);
    p->pipe = NULL;
}

int ig_pipeline_start(struct ig_pipeline *p, const struct ig_pipe *pipe, const void *weights, void *arena, size_t bytes)
{
    if (!p || !pipe || !arena) return IG_ERROR_NULL;
    if (!weights) return IG_ERROR_WEIGHTS;
    if ((uintptr_t)arena % 64) return IG_ERROR_ARENA_ALIGN;
    if ((int64_t)bytes < pipe->model->arena_bytes) return IG_ERROR_ARENA_SMALL;
    ig_pipeline_stop(p);
    p->pipe = pipe;
    p->weights = weights;
    p->arena = arena;
    p->spins = spins_of(pipe);
    reset(p);
    for (int32_t i = 0; i < pipe->n_stages; i++) {
        int status = start_stage(p, i);
        if (!status) continue;
        stop_stages(p, i);
        return status;
    }
    return IG_OK;
}

void ig_pipeline_stop(struct ig_pipeline *p)
{
    if (p && p->pipe) stop_stages(p, p->pipe->n_stages);
}

int ig_push_begin(struct ig_pipeline *p, void **in, int wait)
{
    if (!p || !in) return IG_ERROR_NULL;
    if (!p->pipe) return IG_ERROR_STATE;
    struct ig_gate *own = gate_of(p, -1);
    uint32_t frame = passed(own);
    if (atomic_load(&own->count) & 1) return IG_END;
    if (!await_flight(p, frame, wait) || !await_room(p, -1, frame, 0, wait))
        return atomic_load(&own->count) & 1 ? IG_END : IG_AGAIN;
    p->status[frame % IG_MAX_FLIGHT] = IG_OK;
    for (int32_t i = 0; i < p->pipe->model->n_inputs; i++) in[i] = copy_of(p, i, p->end[0][i]);
    return IG_OK;
}

void ig_push_end(struct ig_pipeline *p)
{
    next_copies(p, p->end[0]);
    pass(gate_of(p, -1));
}

int ig_push(struct ig_pipeline *p, const void *const *in, int wait)
{
    void *to[IG_MAX_SLOTS];
    if (!in) return IG_ERROR_NULL;
    int status = ig_push_begin(p, to, wait);
    if (status) return status;
    for (int32_t i = 0; i < p->pipe->model->n_inputs; i++)
        memcpy(to[i], in[i], (size_t)ig_bytes(p->pipe->model->inputs[i].shape));
    ig_push_end(p);
    return IG_OK;
}

void ig_push_close(struct ig_pipeline *p)
{
    if (p && p->pipe) shut(gate_of(p, -1));
}

int ig_pop_begin(struct ig_pipeline *p, void **out, int wait, int *ready)
{
    if (ready) *ready = 0;
    if (!p || !out) return IG_ERROR_NULL;
    if (!p->pipe) return IG_ERROR_STATE;
    const struct ig_model *m = p->pipe->model;
    struct ig_gate *last = gate_of(p, p->pipe->n_stages - 1);
    uint32_t frame = passed(gate_of(p, p->pipe->n_stages));
    if (!await(last, frame + 1, 0, wait)) return atomic_load(&last->count) & 1 ? IG_END : IG_AGAIN;
    for (int32_t i = 0; i < m->n_outputs; i++) out[i] = copy_of(p, m->n_inputs + i, p->end[1][m->n_inputs + i]);
    if (ready) *ready = 1;
    return p->status[frame % IG_MAX_FLIGHT];
}

void ig_pop_end(struct ig_pipeline *p)
{
    next_copies(p, p->end[1]);
    pass(gate_of(p, p->pipe->n_stages));
}

int ig_pop(struct ig_pipeline *p, void *const *out, int wait)
{
    void *from[IG_MAX_SLOTS];
    int ready;
    if (!out) return IG_ERROR_NULL;
    int status = ig_pop_begin(p, from, wait, &ready);
    if (!ready) return status;
    for (int32_t i = 0; !status && i < p->pipe->model->n_outputs; i++)
        memcpy(out[i], from[i], (size_t)ig_bytes(p->pipe->model->outputs[i].shape));
    ig_pop_end(p);
    return status;
}
