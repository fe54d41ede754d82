/* The executor: resolves a step's operands and calls its kernel chunk by chunk; bands phase by phase. */
#include "runtime/run.h"

static void *resolve(const struct ig_run *run, const struct ig_place *a, const char *scratch)
{
    const char *base = NULL;
    switch (a->space) {
    case IG_SPACE_ARENA: base = run->arena; break;
    case IG_SPACE_WEIGHTS: base = run->weights; break;
    case IG_SPACE_INPUT: base = (const char *)run->inputs[a->index]; break;
    case IG_SPACE_OUTPUT: base = (const char *)run->outputs[a->index]; break;
    case IG_SPACE_SCRATCH: base = scratch; break;
    case IG_SPACE_SLOT: base = run->slots ? run->slots[a->index] : run->arena; break;
    default: return NULL;
    }
    return (void *)(uintptr_t)(base + a->offset);
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

static void fill_call(const struct ig_run *run, const struct ig_step *s, const char *scratch,
                      struct ig_call *call)
{
    call->attrs = s->attrs;
    call->weights = s->weights < 0 ? NULL : run->weights + s->weights;
    call->zeros = run->weights + run->model->zeros;
    call->n_in = s->n_in;
    call->n_out = s->n_out;
    call->image = 0;
    for (int32_t i = 0; i < s->n_in; i++) operand(&call->in[i], &s->in[i], resolve(run, &s->in[i], scratch));
    for (int32_t i = 0; i < s->n_out; i++) operand(&call->out[i], &s->out[i], resolve(run, &s->out[i], scratch));
}

static void advance(struct ig_operand *o, const struct ig_place *a)
{
    if (o->data) o->data = (char *)o->data + (int64_t)a->image * ig_type_bytes(a->shape->type);
}

static void next_image(const struct ig_step *s, struct ig_call *call)
{
    for (int32_t i = 0; i < s->n_in; i++) advance(&call->in[i], &s->in[i]);
    for (int32_t i = 0; i < s->n_out; i++) advance(&call->out[i], &s->out[i]);
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

struct band { /* a chunk of it on its way */
    const struct ig_step *steps;
    const struct ig_call *calls;
    void *scratch;
    int32_t done[IG_MAX_BAND]; /* rows that a member has computed end there */
    uint32_t several;          /* members that have several readers, or whose rows stay */
    int by_tiles;
};

static void produce(struct band *band, int32_t i, int32_t a, int32_t b);

/*
 * Rows `need` of what the members `from` write, as far as they are not there yet: at once, or in a band of the lowest
 * phases row by row, so that no member is ahead of another by more than it must.
 */
static void feed(struct band *band, uint32_t from, struct ig_rows need)
{
    for (int32_t row = need.a, next; row < need.b; row = next) {
        next = band->by_tiles ? row + 1 : need.b;
        for (uint32_t left = from; left; left &= left - 1) {
            int32_t m = __builtin_ctz(left);
            const struct ig_step *s = &band->steps[m];
            int32_t a = ig_next_row(band->done[m], s->row_tile, need, band->several >> m & 1);
            int32_t b = (next + s->row_tile - 1) / s->row_tile * s->row_tile;
            if (b > s->rows) b = s->rows;
            if (a < b) produce(band, m, a, b);
        }
    }
}

/* Rows of the tensor that those members write. */
static int32_t rows_of(const struct band *band, uint32_t from)
{
    return band->steps[__builtin_ctz(from)].rows;
}

/* Rows [a, b) of member i, after the rows that they need: all at once, or tile by tile. */
static void produce(struct band *band, int32_t i, int32_t a, int32_t b)
{
    const struct ig_step *s = &band->steps[i];
    for (int32_t y = a, end; y < b; y = end) {
        end = band->by_tiles && b - y > s->row_tile ? y + s->row_tile : b;
        for (const struct ig_feed *f = s->feeds; f < s->feeds + s->n_feeds; f++)
            feed(band, f->from, ig_reach_rows(&f->reach, y, end, rows_of(band, f->from)));
        s->run(&band->calls[i], (struct ig_range){y, end, 0, s->cols}, band->scratch);
        band->done[i] = end;
    }
}

/* Where each member begins, for the last one to begin with row y: with the first row that any of its readers wants. */
static void begin(struct band *band, int32_t y)
{
    const struct ig_step *first = band->steps;
    uint32_t read = 0;
    band->several = first->kept;
    for (int32_t i = 0; i < first->band; i++) band->done[i] = first->kept >> i & 1 ? 0 : first[i].rows;
    band->done[first->band - 1] = y;
    for (int32_t i = first->band - 1; i >= 0; i--)
        for (const struct ig_feed *f = first[i].feeds; f < first[i].feeds + first[i].n_feeds; f++) {
            int32_t a = ig_reach_rows(&f->reach, band->done[i], band->done[i] + 1, rows_of(band, f->from)).a;
            band->several |= read & f->from;
            read |= f->from;
            for (int32_t m = 0; m < i; m++)
                if ((f->from >> m & 1) && a < band->done[m]) band->done[m] = a - a % first[m].row_tile;
        }
}

/* Chunk `chunk` of the last member's rows, and as much of the others whose rows stay. A row that two chunks need of an
 * inner tensor is computed in both. */
static void run_band(const struct ig_step *s, const struct ig_call *calls, int32_t chunk, void *scratch)
{
    int32_t last = s->band - 1;
    struct ig_range r = chunk_range(&s[last], chunk);
    struct band band = {s, calls, scratch, {0}, 0, s->phase == s[last].row_tile};
    begin(&band, r.y0);
    for (int32_t y = r.y0, end; y < r.y1; y = end) {
        end = r.y1 - y < s->phase ? r.y1 : y + s->phase;
        produce(&band, last, y, end);
        for (int32_t m = 0; m < last; m++)
            if (s->kept >> m & 1)
                feed(&band, 1u << m, (struct ig_rows){band.done[m], (int32_t)(((int64_t)s[m].rows * end + s[last].rows - 1) /
                                                                               s[last].rows)});
    }
}

/* All chunks that this thread gets of a step, or of the band that it opens. */
static void run_step(const struct ig_run *run, const struct ig_sync *sync, int32_t thread,
                     const struct ig_step *s, void *scratch)
{
    struct ig_call calls[IG_MAX_BAND];
    int32_t members = s->band ? s->band : 1, chunks = s[members - 1].chunks;
    int claims = sync->team && chunks > 1;
    int32_t i = claims ? sync->claim(sync->team, thread, chunks) : sync->team ? thread : 0;
    if (i >= chunks) return;
    for (int32_t k = 0; k < members; k++) fill_call(run, &s[k], scratch, &calls[k]);
    while (i < chunks) {
        if (s->band) run_band(s, calls, i, scratch);
        else run_chunk(s, calls, i, scratch);
        i = claims ? sync->claim(sync->team, thread, chunks) : sync->team ? chunks : i + 1;
    }
}

/* The threads that the plan knows have theirs where the step does not need the arena, others behind it. */
static void *scratch_of(const struct ig_run *run, const struct ig_step *s, int32_t thread)
{
    const struct ig_model *m = run->model;
    if (thread < m->threads) return run->arena + s->scratch + thread * s->scratch_bytes;
    return run->arena + m->arena_bytes + (thread - m->threads) * m->scratch_bytes;
}

void ig_run_steps(const struct ig_run *run, const struct ig_sync *sync, int32_t thread)
{
    const struct ig_model *m = run->model;
    int timed = run->step_ns && !thread;
    int64_t before = !timed ? 0 : sync->team ? *sync->passed_ns : run->clock_ns();
    for (int32_t k = 0, next; k < m->n_steps; k = next) {
        const struct ig_step *s = &m->steps[k];
        next = k + (s->band ? s->band : 1);
        run_step(run, sync, thread, s, scratch_of(run, s, thread));
        if (sync->team) sync->barrier(sync->team, thread);
        if (!timed) continue;
        /* A thread that slept at the barrier must not book the next step's work on this one. */
        int64_t now = sync->team ? *sync->passed_ns : run->clock_ns();
        run->step_ns[k] = now - before;
        while (++k < next) run->step_ns[k] = 0;
        before = now;
    }
}

const char *ig_status_text(int status)
{
    static const char *const text[] = {
        "ok",
        "arena too small: give INGOT_ARENA_BYTES(threads) bytes",
        "arena not aligned to 64 bytes",
        "NULL context, arena, input or output",
        "cannot start that many threads",
        "weights missing or of another model",
        "not initialised, or no such network",
        "a stage could not compute this frame",
        "not now: the pipeline is full, or no frame is ready",
        "the stream is over",
        "the processor lacks what the kernels need, or the system does not grant it",
    };
    return status >= 0 && status < (int)(sizeof text / sizeof *text) ? text[status] : "unknown status";
}
