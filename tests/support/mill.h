/*
 * A model made by hand for tests of the runtime: steps whose every element depends on elements that other
 * chunks of the step before have written, and on the thread's own scratch. A lost, doubled or early chunk
 * changes the output.
 */
#ifndef TESTS_SUPPORT_MILL_H
#define TESTS_SUPPORT_MILL_H

#include <string.h>

#include "runtime/api.h"

enum { MILL_WIDTH = 96, MILL_IMAGES = 2, MILL_STEPS = 24, MILL_SCRATCH = 512 };

struct mill {
    struct ig_shape shape;
    struct ig_place places[MILL_STEPS + 1];
    struct ig_step steps[MILL_STEPS];
    struct ig_io in, out;
    struct ig_model model;
};

static inline void mill_kernel(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const uint32_t *x = call->in[0].data;
    uint32_t *y = call->out[0].data, *mine = scratch;
    for (int32_t c = r.c0; c < r.c1; c++) mine[c - r.c0] = x[MILL_WIDTH - 1 - c] * 2654435761u;
    for (int32_t c = r.c0; c < r.c1; c++) y[c] += mine[c - r.c0] + (uint32_t)(c + call->image);
}

/* What a frame makes of `in`, into zeroed memory: the steps one after the other, element by element. */
static inline void mill_expect(const uint32_t *in, uint32_t *out)
{
    uint32_t x[MILL_WIDTH], y[MILL_WIDTH];
    for (int32_t n = 0; n < MILL_IMAGES; n++) {
        memcpy(x, in + n * MILL_WIDTH, sizeof x);
        for (int32_t k = 0; k < MILL_STEPS; k++) {
            for (int32_t c = 0; c < MILL_WIDTH; c++)
                y[c] = x[MILL_WIDTH - 1 - c] * 2654435761u + (uint32_t)(c + n);
            memcpy(x, y, sizeof x);
        }
        memcpy(out + n * MILL_WIDTH, x, sizeof x);
    }
}

/* Step k goes from buffer k to buffer k + 1: input, arena..., output; chunks of 1 + 5k channels. */
static inline void mill_make(struct mill *m)
{
    const int64_t image = MILL_WIDTH * 4, bytes = image * MILL_IMAGES;
    memset(m, 0, sizeof *m);
    m->shape = (struct ig_shape){IG_I32, 3, {MILL_IMAGES, 1, MILL_WIDTH, 1, 1, 1, 1, 1}};
    for (int32_t k = 0; k <= MILL_STEPS; k++)
        m->places[k] = (struct ig_place){.shape = &m->shape,
                                         .space = IG_SPACE_ARENA,
                                         .offset = (k - 1) * bytes,
                                         .image = MILL_WIDTH,
                                         .h = 1,
                                         .w = 1,
                                         .c = MILL_WIDTH,
                                         .ring_rows = 1,
                                         .row_stride = MILL_WIDTH,
                                         .pixel_stride = MILL_WIDTH};
    m->places[0].space = IG_SPACE_INPUT;
    m->places[MILL_STEPS].space = IG_SPACE_OUTPUT;
    m->places[0].offset = m->places[MILL_STEPS].offset = 0;
    for (int32_t k = 0; k < MILL_STEPS; k++) {
        int32_t chunk = 1 + 5 * k, whole = k % 4 == 3;
        m->steps[k] = (struct ig_step){.run = mill_kernel,
                                       .in = &m->places[k],
                                       .out = &m->places[k + 1],
                                       .weights = -1,
                                       .scratch = (MILL_STEPS - 1) * bytes,
                                       .scratch_bytes = MILL_SCRATCH,
                                       .n_in = 1,
                                       .n_out = 1,
                                       .images = MILL_IMAGES,
                                       .rows = 1,
                                       .cols = MILL_WIDTH,
                                       .split = whole ? 0 : 2,
                                       .chunk = whole ? 0 : chunk,
                                       .chunks = whole ? 1 : (MILL_WIDTH + chunk - 1) / chunk};
    }
    m->in = m->out = (struct ig_io){"mill", &m->shape};
    m->model = (struct ig_model){.name = "mill",
                                 .steps = m->steps,
                                 .inputs = &m->in,
                                 .outputs = &m->out,
                                 .n_steps = MILL_STEPS,
                                 .n_inputs = 1,
                                 .n_outputs = 1,
                                 .threads = 1,
                                 .arena_bytes = (MILL_STEPS - 1) * bytes + MILL_SCRATCH,
                                 .scratch_bytes = MILL_SCRATCH,
                                 .weights_bytes = 64};
}

#endif
