/*
 * A pipeline made by hand for tests of the runtime: every step reads what the step before it wrote and what some
 * earlier step did, however many stages away. A frame that is lost, doubled, late or in another's slot changes the
 * output.
 */
#ifndef TESTS_SUPPORT_RELAY_H
#define TESTS_SUPPORT_RELAY_H

#include <string.h>

#include "runtime/pipeline.h"
#include "tests/support/rng.h"

enum { RELAY_WIDTH = 64, RELAY_STEPS = 12, RELAY_BYTES = RELAY_WIDTH * 4 };

struct relay {
    struct ig_shape shape;
    int32_t skip[RELAY_STEPS]; /* the earlier tensor that a step reads: 0: the input, k: step k-1's output */
    int32_t stage[RELAY_STEPS];
    struct ig_place in[RELAY_STEPS][2], out[RELAY_STEPS];
    struct ig_step steps[RELAY_STEPS];
    struct ig_io io;
    struct ig_model model;
    struct ig_stage stages[IG_MAX_STAGES];
    struct ig_slot slots[RELAY_STEPS + 1];
    struct ig_pipe pipe;
};

static inline void relay_kernel(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const uint32_t *x = call->in[0].data, *z = call->in[1].data;
    uint32_t *y = call->out[0].data;
    (void)scratch;
    for (int32_t c = r.c0; c < r.c1; c++) y[c] = x[RELAY_WIDTH - 1 - c] * 2654435761u + z[c ^ 1] + (uint32_t)c;
}

/* A frame's input. */
static inline void relay_fill(uint32_t in[RELAY_WIDTH], uint32_t frame)
{
    for (uint32_t i = 0; i < RELAY_WIDTH; i++) in[i] = i * 40503u + frame * 2246822519u;
}

static inline int relay_push(struct ig_pipeline *p, uint32_t frame, int wait)
{
    uint32_t in[RELAY_WIDTH];
    relay_fill(in, frame);
    return ig_push(p, (const void *[]){in}, wait);
}

/* What a frame becomes, step after step. */
static inline void relay_expect(const struct relay *m, const uint32_t *in, uint32_t *out)
{
    uint32_t t[RELAY_STEPS + 1][RELAY_WIDTH];
    memcpy(t[0], in, sizeof t[0]);
    for (int32_t k = 0; k < RELAY_STEPS; k++)
        for (int32_t c = 0; c < RELAY_WIDTH; c++)
            t[k + 1][c] = t[k][RELAY_WIDTH - 1 - c] * 2654435761u + t[m->skip[k]][c ^ 1] + (uint32_t)c;
    memcpy(out, t[RELAY_STEPS], sizeof t[0]);
}

/* The stage that writes tensor k, and the last that reads it; the caller is -1 and n_stages. */
static inline void relay_span(const struct relay *m, int32_t n_stages, int32_t k, int32_t *from, int32_t *to)
{
    *from = k ? m->stage[k - 1] : -1;
    *to = k == RELAY_STEPS ? n_stages : m->stage[k];
    for (int32_t s = 0; s < RELAY_STEPS; s++)
        if (m->skip[s] == k && m->stage[s] > *to) *to = m->stage[s];
}

/* Tensor k's place: the caller's, a slot's, or its own bytes of the arena; *end: where the arena ends so far. */
static inline struct ig_place relay_place(struct relay *m, int32_t n_stages, int32_t copies, int32_t k, int64_t *end)
{
    struct ig_place p = {.shape = &m->shape,
                         .h = 1,
                         .w = 1,
                         .c = RELAY_WIDTH,
                         .ring_rows = 1,
                         .row_stride = RELAY_WIDTH,
                         .pixel_stride = RELAY_WIDTH,
                         .space = IG_SPACE_ARENA,
                         .offset = *end};
    int32_t from, to;
    relay_span(m, n_stages, k, &from, &to);
    if (from == to) {
        *end += RELAY_BYTES;
        return p;
    }
    struct ig_slot *s = &m->slots[k == 0 ? 0 : k == RELAY_STEPS ? 1 : m->pipe.n_slots++];
    *s = (struct ig_slot){*end, RELAY_BYTES, (int16_t)from, (int16_t)to, to - from + copies - 1};
    *end += RELAY_BYTES * s->copies;
    p.index = (int16_t)(k == 0 || k == RELAY_STEPS ? 0 : s - m->slots);
    p.space = k == 0 ? IG_SPACE_INPUT : k == RELAY_STEPS ? IG_SPACE_OUTPUT : IG_SPACE_SLOT;
    if (p.space != IG_SPACE_SLOT) p.offset = 0;
    return p;
}

/* n_stages stages cut at random, `copies` slots between neighbours, teams of so many threads. */
static inline void relay_make(struct relay *m, struct rng *r, int32_t n_stages, int32_t copies, int32_t threads)
{
    struct ig_place tensor[RELAY_STEPS + 1];
    int64_t end = 0;
    memset(m, 0, sizeof *m);
    m->shape = (struct ig_shape){IG_I32, 2, {1, RELAY_WIDTH, 1, 1, 1, 1, 1, 1}};
    m->io = (struct ig_io){"relay", &m->shape};
    m->pipe.n_slots = 2;
    for (int32_t k = 0, left = n_stages - 1; k < RELAY_STEPS; k++) {
        m->skip[k] = rng_int(r, 0, k);
        m->stage[k] = n_stages - 1 - left;
        if (left && (RELAY_STEPS - 1 - k == left || rng_int(r, 0, RELAY_STEPS / n_stages) == 0)) left--;
    }
    for (int32_t k = 0; k <= RELAY_STEPS; k++) tensor[k] = relay_place(m, n_stages, copies, k, &end);
    for (int32_t k = 0; k < RELAY_STEPS; k++) {
        int32_t chunk = k % 3 ? 8 : 0;
        m->in[k][0] = tensor[k];
        m->in[k][1] = tensor[m->skip[k]];
        m->out[k] = tensor[k + 1];
        m->steps[k] = (struct ig_step){.run = relay_kernel,
                                       .in = m->in[k],
                                       .out = &m->out[k],
                                       .weights = -1,
                                       .n_in = 2,
                                       .n_out = 1,
                                       .images = 1,
                                       .rows = 1,
                                       .cols = RELAY_WIDTH,
                                       .split = chunk ? 2 : 0,
                                       .chunk = chunk,
                                       .chunks = chunk ? RELAY_WIDTH / chunk : 1,
                                       .row_tile = 1};
    }
    m->model = (struct ig_model){.name = "relay",
                                 .steps = m->steps,
                                 .inputs = &m->io,
                                 .outputs = &m->io,
                                 .n_steps = RELAY_STEPS,
                                 .n_inputs = 1,
                                 .n_outputs = 1,
                                 .threads = 1,
                                 .arena_bytes = end,
                                 .weights_bytes = 64};
    for (int32_t i = 0, k = 0; i < n_stages; i++) {
        struct ig_stage *s = &m->stages[i];
        *s = (struct ig_stage){.model = m->model, .processor = "any", .first = k};
        while (k < RELAY_STEPS && m->stage[k] == i) k++;
        s->model.steps = m->steps + s->first;
        s->model.n_steps = k - s->first;
        s->model.threads = threads;
    }
    m->pipe.model = &m->model;
    m->pipe.stages = m->stages;
    m->pipe.slots = m->slots;
    m->pipe.n_stages = n_stages;
}

#endif
