/*
 * A stream through the stages: one thread reads frames into the pipeline's slots, the main one prints results, a line
 * each, in order. A signal that ends the program waits until a line is written.
 */
#include "runtime/host/stages.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "runtime/host/spec.h"

struct reader {
    const struct ig_program *program;
    struct ig_pipeline *p;
    int64_t pushed_ns[IG_MAX_FLIGHT]; /* when a frame was there */
    size_t got, bytes;                /* of an input that the stream ends in; 0 and 0: it does not */
};

/* The next frame into in[]: 1, or 0 at the stream's end. */
static int read_frame(struct reader *r, void *const *in)
{
    for (int i = 0; i < r->program->model->n_inputs; i++) {
        size_t bytes, got = ig_read_input(r->program, i, in[i], &bytes);
        if (got == bytes) continue;
        if (got || i) r->got = got, r->bytes = bytes;
        return 0;
    }
    return 1;
}

static void *read_stream(void *arg)
{
    struct reader *r = arg;
    void *in[IG_MAX_SLOTS];
    for (unsigned frame = 0; ig_push_begin(r->p, in, 1) == IG_OK && read_frame(r, in); frame++) {
        r->pushed_ns[frame % IG_MAX_FLIGHT] = ig_now_ns();
        ig_push_end(r->p);
    }
    ig_push_close(r->p);
    return NULL;
}

static void print_frame(struct ig_session *s, const struct ig_options *o, int status, double ms)
{
    if (!status && s->program->spec) s->program->spec->finish(s);
    for (int i = 0; !status && i < o->n_outputs; i++)
        ig_write_npy(o->outputs[i], s->program->model->outputs[i].shape, s->outputs[i]);
    if (status) {
        printf(o->json ? "{\"error\":\"%s\"}\n" : "error: %s\n", ig_status_text(status));
        fflush(stdout);
    } else if (o->top || o->json) {
        ig_print_result(s, o, ms);
    }
}

static void stream(struct ig_session *s, const struct ig_options *o, struct ig_pipeline *p, const sigset_t *ending)
{
    static struct reader r;
    pthread_t thread;
    int ready, status;
    r.program = s->program;
    r.p = p;
    if (pthread_create(&thread, NULL, read_stream, &r)) ig_die("cannot start a thread");
    for (unsigned frame = 0;; frame++) {
        pthread_sigmask(SIG_UNBLOCK, ending, NULL);
        status = ig_pop_begin(p, s->outputs, 1, &ready);
        pthread_sigmask(SIG_BLOCK, ending, NULL);
        if (!ready) break;
        print_frame(s, o, status, (double)(ig_now_ns() - r.pushed_ns[frame % IG_MAX_FLIGHT]) * 1e-6);
        ig_pop_end(p);
    }
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, ending, NULL);
    if (r.bytes) ig_die("stdin: the stream ends in the middle of a frame (%zu of %zu bytes)", r.got, r.bytes);
}

struct ig_pipeline ig_stages_pipeline;
struct ig_cut_worker ig_stages_worker;

void ig_run_stages(struct ig_session *s, const struct ig_options *o)
{
    struct ig_pipeline *p = &ig_stages_pipeline;
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ending, NULL); /* of the stages' threads for good */
    p->clock_ns = ig_now_ns;
    if (s->program->staged->calls) s->program->staged->calls->attach(p, s->program->staged->cuts);
    int status =
        ig_pipeline_start(p, s->program->staged->pipe, s->ctx.weights, s->ctx.arena, (size_t)s->ctx.arena_bytes);
    if (status) ig_die("%s", ig_status_text(status));
    if (!o->bench && o->stream) {
        stream(s, o, p, &ending);
    } else {
        pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
        if (o->bench) ig_bench_stages(s, o, p);
    }
    ig_pipeline_stop(p);
    if (o->trace) ig_trace_stages(s, o->trace, p);
}
