/* Results leave: printed as a program of one device prints them, or timed. */
#include <stdlib.h>
#include <string.h>

#include "runtime/host/spec.h"
#include "runtime/mpi/fail.h"
#include "runtime/mpi/user.h"

static int32_t n_outputs(const struct ig_result *r)
{
    return r->rank->whole->model->n_outputs;
}

static struct ig_flow *output(const struct ig_result *r, int32_t i)
{
    return &r->flows[r->rank->outputs[i]];
}

/* 1 when frame is there, 0 if it never will be. */
static int await(struct ig_result *r, uint64_t frame)
{
    for (;;) {
        uint32_t seen = ig_bell_seen(r->bell);
        int32_t there = ig_flow_has(r->stamp, frame);
        for (int32_t i = 0; i < n_outputs(r); i++) {
            if (ig_flow_over(output(r, i), frame)) return 0;
            there &= ig_flow_has(output(r, i), frame);
        }
        if (there) return 1;
        ig_bell_wait(r->bell, seen, -1);
    }
}

static void print(const struct ig_result *r, struct ig_session *s, double ms)
{
    const struct ig_options *o = r->options;
    atomic_store(&ig_printing, 1);
    if (s->program->spec) s->program->spec->finish(s);
    for (int i = 0; i < o->n_outputs; i++)
        ig_write_npy(o->outputs[i], s->program->model->outputs[i].shape, s->outputs[i]);
    if (o->top || o->json) ig_print_result(s, o, ms);
    atomic_store(&ig_printing, 0);
}

static void note(struct ig_result *r, uint64_t frame, int64_t now, int64_t latency)
{
    if (frame >= IG_TIMED) return;
    r->done_ns[frame] = now;
    r->latency_ns[frame] = latency;
}

static void done(struct ig_result *r, uint64_t frame)
{
    ig_flow_use(r->stamp, r->stamp_reader, frame + 1);
    for (int32_t i = 0; i < n_outputs(r); i++) ig_flow_use(output(r, i), r->reader[i], frame + 1);
    r->frames = frame + 1;
    ig_bell_ring(r->bell);
}

/* What comes after the network changes output 0 in place: of its own copy where others read it too. */
static void *copy_of_first(const struct ig_result *r)
{
    if (!r->rank->whole->spec || output(r, 0)->n_readers < 2) return NULL;
    void *p = malloc((size_t)output(r, 0)->bytes);
    if (!p) ig_die("out of memory");
    return p;
}

static void *leave(void *arg)
{
    struct ig_result *r = arg;
    struct ig_session s = {.program = r->rank->whole};
    void *first = copy_of_first(r);
    for (uint64_t frame = 0; await(r, frame); frame++) {
        int64_t now = ig_now_ns(), latency = ig_clock_since(&r->clock, *(int64_t *)ig_flow_at(r->stamp, frame), now);
        for (int32_t i = 0; i < n_outputs(r); i++) s.outputs[i] = ig_flow_at(output(r, i), frame);
        if (first) s.outputs[0] = memcpy(first, s.outputs[0], (size_t)output(r, 0)->bytes);
        if (r->done_ns)
            note(r, frame, now, latency);
        else
            print(r, &s, (double)latency * 1e-6);
        done(r, frame);
    }
    free(first);
    atomic_store(&r->over, 1);
    ig_bell_ring(r->bell);
    return NULL;
}

void ig_result_start(struct ig_result *r)
{
    if (pthread_create(&r->thread, NULL, leave, r)) ig_die("cannot start a thread");
}
