#include "runtime/frames.h"

struct feeder {
    struct ig_pipeline *p;
    const struct ig_frames *f;
    int64_t pushed_ns[IG_MAX_FLIGHT];
    _Atomic int32_t all; /* how many frames, once the last one is on its way; else 0 */
};

/* That a frame is the last is said before it goes: who pops never waits for none. */
static void *feed(void *arg)
{
    struct feeder *to = arg;
    void *in[IG_MAX_SLOTS];
    for (int32_t n = 1; ig_push_begin(to->p, in, 1) == IG_OK; n++) {
        int64_t now = to->f->clock_ns();
        int last = n >= to->f->most || (n >= to->f->least && now >= to->f->end_ns);
        to->pushed_ns[(n - 1) % IG_MAX_FLIGHT] = now;
        if (last) atomic_store(&to->all, n);
        ig_push_end(to->p);
        if (last) break;
    }
    return NULL;
}

/* Frames until all are out, or minus the status of one that failed. */
static int32_t take(struct feeder *from, int64_t before)
{
    void *out[IG_MAX_SLOTS];
    int32_t popped = 0;
    int ready;
    do {
        int status = ig_pop_begin(from->p, out, 1, &ready);
        if (status) return -status;
        int64_t now = from->f->clock_ns();
        from->f->interval_ns[popped] = now - before;
        from->f->latency_ns[popped] = now - from->pushed_ns[popped % IG_MAX_FLIGHT];
        before = now;
        popped++;
        ig_pop_end(from->p);
    } while (popped != atomic_load(&from->all));
    return popped;
}

int32_t ig_frames_run(struct ig_pipeline *p, const struct ig_frames *f)
{
    struct feeder feeder = {.p = p, .f = f};
    pthread_t thread;
    int64_t before = f->clock_ns();
    if (f->most == 1) feed(&feeder);
    else if (pthread_create(&thread, NULL, feed, &feeder)) return -IG_ERROR_THREADS;
    int32_t popped = take(&feeder, before);
    if (popped < 0) ig_pipeline_shut(p);
    if (f->most > 1) pthread_join(thread, NULL);
    return popped;
}
