#include "runtime/cuts.h"

#include <string.h>
#include <time.h>

enum { SIGMA = 80 }; /* of means of busy times, in 1/1000 */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
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

static int64_t predicted_ns(const struct ig_cut_run *r, int32_t cut, int32_t processor)
{
    double ns = 0;
    for (int32_t i = 0; i < r->cuts->pipe->n_stages; i++)
        if (r->processor[i] == processor) ns += stage_of(r->cuts, cut, i)->predicted_ns;
    return (int64_t)ns;
}

static uint32_t window(const struct ig_cut_run *r)
{
    return r->n_out < IG_CUT_WINDOW ? r->n_out : IG_CUT_WINDOW;
}

/* What a frame of `cut` takes the processor, by the last frames, whatever cuts they had. */
static int64_t usual_busy(const struct ig_cut_run *r, int32_t cut, int32_t processor)
{
    int64_t busy = 0, predicted = 0, mine = predicted_ns(r, cut, processor);
    for (uint32_t i = 0; i < window(r); i++) {
        busy += r->busy_ns[i][processor];
        predicted += predicted_ns(r, r->cut[i], processor);
    }
    return predicted ? (int64_t)((double)mine * (double)busy / (double)predicted) : 0;
}

/* From frame to frame, since they have been of this cut. */
static int64_t usual_interval(const struct ig_cut_run *r, int32_t cut)
{
    int64_t sum = 0, n = 0;
    for (uint32_t i = 1; i <= window(r) && r->cut[(r->n_out - i) % IG_CUT_WINDOW] == cut; i++, n++)
        sum += r->interval_ns[(r->n_out - i) % IG_CUT_WINDOW];
    return sum / n;
}

/* A frame is done; frames that an earlier stage failed never get here. */
static void leave(struct ig_cut_run *r, const struct ig_cut_frame *f, uint32_t frame, int64_t now)
{
    int64_t busy[IG_ADAPT_PROCESSORS] = {0}, since = frame ? r->last_ns : 0;
    uint32_t frames = frame - r->last_frame;
    uint32_t at = r->n_out % IG_CUT_WINDOW;
    r->last_frame = frame;
    r->last_ns = now;
    if (!since || !frames) return;
    memset(r->busy_ns[at], 0, sizeof r->busy_ns[at]);
    for (int32_t i = 0; i < r->cuts->pipe->n_stages; i++) r->busy_ns[at][r->processor[i]] += f->busy_ns[i];
    r->interval_ns[at] = (now - since) / frames;
    r->cut[at] = f->cut;
    r->n_out++;
    for (int32_t k = 0; k < r->adapt.n_processors; k++) busy[k] = usual_busy(r, f->cut, k);
    atomic_store_explicit(&r->next, ig_adapt_frame(&r->adapt, f->cut, busy, usual_interval(r, f->cut)),
                          memory_order_relaxed);
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
    int64_t begin = now_ns();
    ig_team_run(team, &r->runs[stage]);
    int64_t end = now_ns();
    f->busy_ns[stage] = end - begin;
    if (stage == r->cuts->pipe->n_stages - 1) leave(r, f, frame, end);
    return IG_OK;
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
