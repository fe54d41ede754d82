#include "runtime/cuts.h"

#include <string.h>
#include <time.h>

enum {
    SIGMA = 60,        /* of busy times, in 1/1000 */
    ASK_NS = 50000000, /* how often the system is asked whether cores rest: it counts in 10 ms */
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const struct ig_stage *stage_of(const struct ig_cuts *c, int32_t cut, int32_t stage)
{
    return &c->stages[cut * c->pipe->n_stages + stage];
}

/* The frame that the stage is at: only the stage itself opens its gate. */
static uint32_t frame_of(const struct ig_cut_run *r, int32_t stage)
{
    return atomic_load_explicit(&r->pipeline->gates[stage + 1].count, memory_order_relaxed) >> 1;
}

static uint64_t cores_of(const struct ig_cut_run *r, int32_t processor)
{
    const struct ig_pipe *pipe = r->cuts->pipe;
    int32_t i = 0;
    while (r->processor[i] != processor) i++;
    return pipe->stages[i].cores;
}

/* Which processors' cores have rested since it was asked last, or never did. */
static void ask(struct ig_cut_run *r, int64_t now)
{
    int64_t since = now - r->asked_ns, rest[IG_REST_CORES];
    r->asked_ns = now;
    for (int32_t k = 0; k < r->adapt.n_processors; k++) {
        uint64_t cores = cores_of(r, k);
        int64_t least = INT64_MAX;
        if (ig_rest_ns(cores, rest)) continue;
        for (int32_t i = 0; i < IG_REST_CORES; i++) {
            if (!(cores >> i & 1)) continue;
            if (rest[i] - r->rest_ns[i] < least) least = rest[i] - r->rest_ns[i];
            r->rest_ns[i] = rest[i];
        }
        if (since < 4 * ASK_NS && (!least || least > since / 6)) ig_adapt_tell(&r->adapt, k, least > 0);
    }
}

/* When the stage could have begun the frame, as far as it is known: `now`, if the caller may have been what it waited for. */
static int64_t ready_ns(const struct ig_cut_run *r, int32_t stage, uint32_t frame, int64_t now)
{
    const struct ig_pipe *pipe = r->cuts->pipe;
    const struct ig_gate *gates = r->pipeline->gates;
    uint32_t pushed = atomic_load_explicit(&gates[0].count, memory_order_relaxed) >> 1;
    uint32_t popped = atomic_load_explicit(&gates[pipe->n_stages + 1].count, memory_order_relaxed) >> 1;
    int64_t at = stage ? r->frames[frame % IG_MAX_FLIGHT].end_ns[stage - 1] : 0;
    if (!frame || (!stage && pushed < frame + 2)) return now;
    at = later(at, r->frames[(frame - 1) % IG_MAX_FLIGHT].end_ns[stage]);
    for (int32_t i = 0; i < pipe->n_slots; i++) {
        const struct ig_slot *s = &pipe->slots[i];
        uint32_t copies = (uint32_t)s->copies;
        if (s->from != stage || frame < copies) continue;
        if (s->to == pipe->n_stages && popped < frame + 2 - copies) return now;
        if (s->to < pipe->n_stages) at = later(at, r->frames[(frame - copies) % IG_MAX_FLIGHT].end_ns[s->to]);
    }
    return at;
}

/* A frame is done; frames that an earlier stage failed never get here. */
static void leave(struct ig_cut_run *r, const struct ig_cut_frame *f, uint32_t frame, int64_t now)
{
    int64_t busy[IG_ADAPT_PROCESSORS] = {0}, since = frame ? r->last_ns : 0;
    uint32_t frames = frame - r->last_frame;
    r->last_frame = frame;
    r->last_ns = now;
    if (!since || !frames) return;
    for (int32_t i = 0; i < r->cuts->pipe->n_stages; i++) busy[r->processor[i]] += f->busy_ns[i];
    atomic_store_explicit(&r->next, ig_adapt_frame(&r->adapt, f->cut, busy, (now - since) / frames),
                          memory_order_relaxed);
    if (ig_adapt_asks(&r->adapt) && now - r->asked_ns > ASK_NS) ask(r, now);
}

static int32_t enter(struct ig_cut_run *r, uint32_t frame)
{
    int32_t cut = r->choose ? r->choose(r->choose_arg, frame) : atomic_load_explicit(&r->next, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->ran[cut], 1, memory_order_relaxed);
    if (frame && r->frames[(frame - 1) % IG_MAX_FLIGHT].cut != cut)
        atomic_fetch_add_explicit(&r->switches, 1, memory_order_relaxed);
    return cut;
}

static int work(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct ig_cut_run *r = arg;
    uint32_t frame = frame_of(r, stage);
    struct ig_cut_frame *f = &r->frames[frame % IG_MAX_FLIGHT];
    if (!stage) f->cut = enter(r, frame);
    r->runs[stage] = *run;
    r->runs[stage].model = &stage_of(r->cuts, f->cut, stage)->model;
    int64_t begin = ready_ns(r, stage, frame, now_ns());
    int status = IG_OK;
    if (r->work) status = r->work(r->work_arg, f->cut, stage, team, &r->runs[stage]);
    else ig_team_run(team, &r->runs[stage]);
    int64_t end = now_ns();
    f->busy_ns[stage] = end - begin;
    f->end_ns[stage] = end;
    if (!status && stage == r->cuts->pipe->n_stages - 1) leave(r, f, frame, end);
    return status;
}

/* Stages on the same processor take turns: it works for both. Returns how many processors there are. */
static int32_t number_processors(const struct ig_pipe *pipe, int32_t *processor)
{
    int32_t n = 0;
    for (int32_t i = 0; i < pipe->n_stages; i++) {
        int32_t k = 0;
        while (k < i && strcmp(pipe->stages[k].processor, pipe->stages[i].processor)) k++;
        processor[i] = k < i ? processor[k] : n++;
    }
    return n;
}

int ig_cuts_attach(struct ig_cut_run *r, const struct ig_cuts *cuts, struct ig_pipeline *p)
{
    int64_t predicted[IG_ADAPT_ALTERNATIVES * IG_ADAPT_PROCESSORS] = {0};
    int32_t sigma[IG_ADAPT_PROCESSORS];
    memset(r, 0, sizeof *r);
    int32_t n = number_processors(cuts->pipe, r->processor);
    if (cuts->n > IG_ADAPT_ALTERNATIVES || n > IG_ADAPT_PROCESSORS) return IG_ERROR_STATE;
    for (int32_t i = 0; i < cuts->n; i++)
        for (int32_t k = 0; k < cuts->pipe->n_stages; k++)
            predicted[i * n + r->processor[k]] += (int64_t)stage_of(cuts, i, k)->predicted_ns;
    for (int32_t k = 0; k < n; k++) sigma[k] = SIGMA;
    ig_adapt_start(&r->adapt, predicted, cuts->n, n, sigma, 0);
    r->cuts = cuts;
    r->pipeline = p;
    p->work = work;
    p->work_arg = r;
    return IG_OK;
}
