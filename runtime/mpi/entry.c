/* Frames enter: from files, from stdin, or as they are, over and over, for --bench. */
#include <string.h>

#include "runtime/mpi/user.h"

enum { MIN_FRAMES = 20 }; /* of --bench, however long they take */

static int32_t n_inputs(const struct ig_entry *f)
{
    return f->rank->whole->model->n_inputs;
}

static struct ig_flow *input(const struct ig_entry *f, int32_t i)
{
    return &f->flows[f->rank->inputs[i]];
}

static int has_room(const struct ig_entry *f, uint64_t frame)
{
    for (int32_t i = 0; i < n_inputs(f); i++)
        if (!ig_flow_free(input(f, i), frame)) return 0;
    return ig_flow_free(f->stamp, frame);
}

static void await_room(struct ig_entry *f, uint64_t frame)
{
    for (;;) {
        uint32_t seen = ig_bell_seen(f->bell);
        if (has_room(f, frame)) return;
        ig_bell_wait(f->bell, seen, -1);
    }
}

static void enter(struct ig_entry *f, uint64_t frame)
{
    *(int64_t *)ig_flow_at(f->stamp, frame) = ig_now_ns();
    ig_flow_fill(f->stamp, frame + 1);
    for (int32_t i = 0; i < n_inputs(f); i++) ig_flow_fill(input(f, i), frame + 1);
    ig_bell_ring(f->bell);
}

static void end(struct ig_entry *f, uint64_t frames)
{
    ig_flow_close(f->stamp, frames);
    for (int32_t i = 0; i < n_inputs(f); i++) ig_flow_close(input(f, i), frames);
    atomic_store(&f->over, 1);
    ig_bell_ring(f->bell);
}

/* The stream's next frame: 1, or 0 at its end. */
static int read_frame(struct ig_entry *f, uint64_t frame)
{
    for (int32_t i = 0; i < n_inputs(f); i++) {
        size_t bytes, got = ig_read_input(f->rank->whole, i, ig_flow_at(input(f, i), frame), &bytes);
        if (got == bytes) continue;
        if (got || i) f->got = got, f->bytes = bytes;
        return 0;
    }
    return 1;
}

static void *feed(void *arg)
{
    struct ig_entry *f = arg;
    const struct ig_options *o = f->options;
    uint64_t frame = 0;
    int64_t stop = ig_now_ns() + (int64_t)(o->seconds * 1e9);
    for (;; frame++) {
        if (!o->stream && !o->bench && frame) break;
        await_room(f, frame);
        if (o->bench ? frame >= MIN_FRAMES && ig_now_ns() >= stop : o->stream && !read_frame(f, frame)) break;
        enter(f, frame);
    }
    end(f, frame);
    return NULL;
}

/* The files' tensors into the first copies; for --bench into all. */
static void load(struct ig_entry *f)
{
    struct ig_session s = {.program = f->rank->whole};
    for (int32_t i = 0; i < n_inputs(f); i++) s.inputs[i] = ig_flow_at(input(f, i), 0);
    for (int32_t i = 0; i < f->options->n_inputs; i++) ig_load_input(&s, i, f->options->inputs[i]);
    for (int32_t i = 0; f->options->bench && i < n_inputs(f); i++)
        for (int32_t k = 1; k < input(f, i)->copies; k++)
            memcpy(ig_flow_at(input(f, i), (uint64_t)k), s.inputs[i], (size_t)input(f, i)->bytes);
}

void ig_entry_start(struct ig_entry *f)
{
    if (!f->options->stream) load(f);
    if (pthread_create(&f->thread, NULL, feed, f)) ig_die("cannot start a thread");
}
