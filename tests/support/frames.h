/*
 * Frames of a network through a pipeline, beside what the plan run step by step makes of them. For tests that include
 * cmocka.h themselves.
 */
#ifndef TESTS_SUPPORT_FRAMES_H
#define TESTS_SUPPORT_FRAMES_H

#include <stdlib.h>
#include <string.h>

#include "bench/bed.h"
#include "runtime/pipeline.h"
#include "tests/support/nets.h"

enum { FRAMES = 32, POISON = 0xf5 };

/* A network with branches, one with many views, or a chain, by turns; ready for plans. */
static inline struct ig_graph *frames_net(struct rng *r, uint64_t seed)
{
    struct ig_graph *g = seed % 3 == 0 ? net_branches(r, 5) : seed % 3 == 1 ? net_random(r, 30) : net_chain(r, 14);
    ig_prepare_views(g);
    return g;
}

/* n runs of steps, none of them empty; of[n_nodes]: which run a node is in. */
static inline void cut_at_random(struct rng *r, int32_t n_nodes, int32_t n, int32_t *of)
{
    for (int32_t i = 0, left = n - 1; i < n_nodes; i++) {
        of[i] = n - 1 - left;
        if (left && (n_nodes - 1 - i == left || !rng_int(r, 0, n_nodes / n))) left--;
    }
}

struct frames { /* inputs and results by frame */
    void **in[FRAMES], **out[FRAMES];
};

static inline void frames_make(struct frames *f, const struct ig_model *m, struct ig_bed *bed, uint64_t seed)
{
    for (int k = 0; k < FRAMES; k++) {
        struct rng r = {seed * FRAMES + (uint64_t)k};
        f->in[k] = ig_io_buffers(m->inputs, m->n_inputs);
        f->out[k] = ig_io_buffers(m->outputs, m->n_outputs);
        for (int32_t i = 0; i < m->n_inputs; i++)
            for (int64_t e = 0; e < ig_count(m->inputs[i].shape); e++)
                ((float *)f->in[k][i])[e] = (float)rng_real(&r, -1, 1);
        assert_int_equal(ig_ctx_run(&bed->ctx, (const void *const *)f->in[k], f->out[k]), IG_OK);
    }
}

static inline void frames_free(struct frames *f, const struct ig_model *m)
{
    for (int k = 0; k < FRAMES; k++) {
        ig_io_buffers_free(f->in[k], m->inputs, m->n_inputs);
        ig_io_buffers_free(f->out[k], m->outputs, m->n_outputs);
    }
}

/* Takes a result, which must have the bits of that frame. */
static inline void frames_pop(struct ig_pipeline *p, const struct ig_model *m, const struct frames *f, int frame, uint64_t seed)
{
    void *out[IG_MAX_SLOTS];
    assert_int_equal(ig_pop_begin(p, out, 1, NULL), IG_OK);
    for (int32_t i = 0; i < m->n_outputs; i++) {
        size_t bytes = (size_t)ig_bytes(m->outputs[i].shape);
        if (memcmp(out[i], f->out[frame][i], bytes))
            fail_msg("seed %d: frame %d, output %d differs", (int)seed, frame, i);
        memset(out[i], POISON, bytes);
    }
    ig_pop_end(p);
}

/* All of them, as many at a time as the pipeline takes. */
static inline void frames_flow(struct ig_pipeline *p, const struct ig_model *m, const struct frames *f, uint64_t seed)
{
    for (int pushed = 0, popped = 0; popped < FRAMES;)
        if (pushed < FRAMES && ig_push(p, (const void *const *)f->in[pushed], 0) == IG_OK)
            pushed++;
        else
            frames_pop(p, m, f, popped++, seed);
}

#endif
