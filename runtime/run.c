/* The executor: resolves a step's operands and calls its kernel chunk by chunk. */
#include "runtime/run.h"

static void *resolve(const struct ig_run *run, const struct ig_place *a, int32_t image)
{
    const char *base = NULL;
    switch (a->space) {
    case IG_SPACE_ARENA: base = run->arena; break;
    case IG_SPACE_WEIGHTS: base = run->weights; break;
    case IG_SPACE_INPUT: base = (const char *)run->inputs[a->index]; break;
    case IG_SPACE_OUTPUT: base = (const char *)run->outputs[a->index]; break;
    default: return NULL;
    }
    return (void *)(uintptr_t)(base + a->offset + image * a->image);
}

static void operand(struct ig_operand *o, const struct ig_place *a, void *data)
{
    o->data = data;
    o->shape = a->shape;
    o->h = a->h;
    o->w = a->w;
    o->c = a->c;
    o->ring_rows = a->ring_rows;
    o->row_stride = a->row_stride;
    o->pixel_stride = a->pixel_stride;
}

static void fill_call(const struct ig_run *run, const struct ig_step *s, struct ig_call *call)
{
    call->attrs = s->attrs;
    call->weights = s->weights < 0 ? NULL : run->weights + s->weights;
    call->zeros = run->weights + run->model->zeros;
    call->n_in = s->n_in;
    call->n_out = s->n_out;
    call->image = 0;
    for (int32_t i = 0; i < s->n_in; i++) operand(&call->in[i], &s->in[i], resolve(run, &s->in[i], 0));
    for (int32_t i = 0; i < s->n_out; i++) operand(&call->out[i], &s->out[i], resolve(run, &s->out[i], 0));
}

static void next_image(const struct ig_step *s, struct ig_call *call)
{
    for (int32_t i = 0; i < s->n_in; i++)
        if (call->in[i].data) call->in[i].data = (char *)call->in[i].data + s->in[i].image;
    for (int32_t i = 0; i < s->n_out; i++)
        if (call->out[i].data) call->out[i].data = (char *)call->out[i].data + s->out[i].image;
    call->image++;
}

static struct ig_range chunk_range(const struct ig_step *s, int32_t i)
{
    struct ig_range r = {0, s->rows, 0, s->cols};
    int32_t *lo = s->split == 1 ? &r.y0 : &r.c0, *hi = s->split == 1 ? &r.y1 : &r.c1;
    if (s->split) {
        int32_t end = *hi;
        *lo = i * s->chunk;
        *hi = end - *lo < s->chunk ? end : *lo + s->chunk;
    }
    return r;
}

static void run_chunk(const struct ig_step *s, const struct ig_call *whole, int32_t i, void *scratch)
{
    struct ig_range r = chunk_range(s, i);
    if (s->images == 1) {
        s->run(whole, r, scratch);
        return;
    }
    struct ig_call call = *whole;
    for (int32_t n = 0; n < s->images; n++, next_image(s, &call)) s->run(&call, r, scratch);
}

void ig_run_steps(const struct ig_run *run, const struct ig_sync *sync, int32_t thread)
{
    const struct ig_model *m = run->model;
    char *scratch = run->arena + m->arena_bytes + thread * m->scratch_bytes;
    struct ig_call call;
    int timed = run->step_ns && !thread;
    int64_t before = timed ? run->clock_ns() : 0;
    for (int32_t k = 0; k < m->n_steps; k++) {
        const struct ig_step *s = &m->steps[k];
        if (!sync->team) {
            fill_call(run, s, &call);
            for (int32_t i = 0; i < s->chunks; i++) run_chunk(s, &call, i, scratch);
        } else {
            int32_t i = s->chunks > 1 ? sync->claim(sync->team) : thread;
            if (i < s->chunks) fill_call(run, s, &call);
            for (; i < s->chunks; i = s->chunks > 1 ? sync->claim(sync->team) : s->chunks)
                run_chunk(s, &call, i, scratch);
            sync->barrier(sync->team);
        }
        if (!timed) continue;
        /* A thread that slept at the barrier must not book the next step's work on this one. */
        int64_t now = sync->team ? *sync->passed_ns : run->clock_ns();
        run->step_ns[k] = now - before;
        before = now;
    }
}

const char *ig_status_text(int status)
{
    static const char *const text[] = {
        "ok",
        "arena too small: give INGOT_ARENA_BYTES(threads) bytes",
        "arena not aligned to 64 bytes",
        "NULL context, input or output",
        "cannot start that many threads",
        "weights missing or of another model",
        "not initialised",
    };
    return status >= 0 && status < (int)(sizeof text / sizeof *text) ? text[status] : "unknown status";
}
