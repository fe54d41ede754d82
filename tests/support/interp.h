/* Runs a whole graph, node by node, and compares two graphs on the same random inputs. */
#ifndef TESTS_SUPPORT_INTERP_H
#define TESTS_SUPPORT_INTERP_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "tests/support/rng.h"

enum { INTERP_EDGE = 16 }; /* most inputs and outputs of a graph that interp_agree compares */

/* Random elements: f32 in [-2, 2), integers in [0, 4), booleans. */
static inline void interp_fill(const struct ig_shape *s, uint64_t seed, void *data) {
    struct rng r = {seed};
    int64_t n = ig_count(s);
    for (int64_t i = 0; i < n; i++) {
        int32_t small = rng_int(&r, 0, s->type == IG_BOOL ? 1 : 3);
        switch (s->type) {
        case IG_F32:
            ((float *)data)[i] = (float)rng_real(&r, -2, 2);
            break;
        case IG_I32:
            ((int32_t *)data)[i] = small;
            break;
        case IG_I64:
            ((int64_t *)data)[i] = small;
            break;
        default:
            memset((char *)data + i * ig_type_bytes(s->type), small, (size_t)ig_type_bytes(s->type));
        }
    }
}

static inline int interp_node(const struct ig_graph *g, const struct ig_node *n, ig_eval_fn *eval,
                              void **buffers) {
    const void **in = calloc((size_t)n->n_in, sizeof *in);
    void **out = calloc((size_t)n->n_out, sizeof *out);
    for (int k = 0; k < n->n_in; k++)
        in[k] = n->in[k] < 0 ? NULL : buffers[n->in[k]];
    for (int k = 0; k < n->n_out; k++)
        out[k] = n->out[k] < 0 ? NULL : buffers[n->out[k]];
    int bad = eval(g, n, in, out);
    if (bad)
        fprintf(stderr, "node '%s' (%s) cannot be evaluated\n", n->name, ig_op_info((enum ig_op)n->op)->name);
    free(in);
    free(out);
    return bad;
}

/* Evaluates g on inputs[0..n_inputs); outputs[i] is malloc'ed. 0, or -1 where a node cannot be evaluated. */
static inline int interp_run(const struct ig_graph *g, ig_eval_fn *eval, void *const *inputs,
                             void **outputs) {
    void **buffers = calloc((size_t)g->n_values + 1, sizeof *buffers);
    int bad = 0;
    for (int v = 0; v < g->n_values; v++) {
        size_t bytes = (size_t)ig_bytes(&g->values[v].shape);
        buffers[v] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (g->values[v].data)
            memcpy(buffers[v], g->values[v].data, bytes);
        else
            memset(buffers[v], 0xee, bytes);
    }
    for (int i = 0; i < g->n_inputs; i++)
        memcpy(buffers[g->inputs[i]], inputs[i], (size_t)ig_bytes(&g->values[g->inputs[i]].shape));
    for (int i = 0; i < g->n_nodes && !bad; i++)
        bad = interp_node(g, &g->nodes[i], eval, buffers);
    for (int i = 0; i < g->n_outputs; i++) {
        size_t bytes = (size_t)ig_bytes(&g->values[g->outputs[i]].shape);
        outputs[i] = memcpy(malloc(bytes), buffers[g->outputs[i]], bytes);
    }
    for (int v = 0; v < g->n_values; v++)
        free(buffers[v]);
    free(buffers);
    return bad;
}

/* Index of the first element of b that is not a's: f32 within `tolerance` (1 + |a|), others exactly; -1 if
 * none. */
static inline int64_t interp_difference(const struct ig_shape *s, const void *a, const void *b,
                                        double tolerance) {
    int64_t n = ig_count(s), bytes = ig_type_bytes(s->type);
    for (int64_t i = 0; i < n; i++) {
        if (s->type == IG_F32) {
            double x = ((const float *)a)[i], y = ((const float *)b)[i];
            if (!(fabs(x - y) <= tolerance * (1 + fabs(x)))) return i;
        } else if (memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, (size_t)bytes)) {
            return i;
        }
    }
    return -1;
}

/* 1 if both graphs have the same edge (names, shapes) and the same results on random inputs; else 0 and a
 * line on stderr. */
static inline int interp_agree(const struct ig_graph *a, ig_eval_fn *eval_a, const struct ig_graph *b,
                               ig_eval_fn *eval_b, double tolerance) {
    void *in[INTERP_EDGE] = {0}, *out_a[INTERP_EDGE] = {0}, *out_b[INTERP_EDGE] = {0};
    int agree = a->n_inputs == b->n_inputs && a->n_outputs == b->n_outputs && a->n_inputs <= INTERP_EDGE &&
                a->n_outputs <= INTERP_EDGE;
    for (int i = 0; i < a->n_inputs && agree; i++) {
        const struct ig_value *v = &a->values[a->inputs[i]];
        agree = !memcmp(&v->shape, &b->values[b->inputs[i]].shape, sizeof v->shape);
        in[i] = malloc((size_t)ig_bytes(&v->shape));
        interp_fill(&v->shape, 1 + (uint64_t)i, in[i]);
    }
    if (!agree) fprintf(stderr, "the graphs' inputs or outputs differ, or are too many\n");
    agree = agree && !interp_run(a, eval_a, in, out_a) && !interp_run(b, eval_b, in, out_b);
    for (int i = 0; i < a->n_outputs && agree; i++) {
        const struct ig_value *x = &a->values[a->outputs[i]], *y = &b->values[b->outputs[i]];
        agree = !strcmp(x->name, y->name) && !memcmp(&x->shape, &y->shape, sizeof x->shape);
        if (!agree)
            fprintf(stderr, "output %d: '%s' and '%s' differ in name or shape\n", i, x->name, y->name);
        int64_t at = agree ? interp_difference(&x->shape, out_a[i], out_b[i], tolerance) : -1;
        if (at >= 0)
            fprintf(stderr, "output '%s' differs at element %lld: %g, %g\n", x->name, (long long)at,
                    x->shape.type == IG_F32 ? (double)((float *)out_a[i])[at] : 0,
                    x->shape.type == IG_F32 ? (double)((float *)out_b[i])[at] : 0);
        agree = agree && at < 0;
    }
    for (int i = 0; i < INTERP_EDGE; i++) {
        free(in[i]);
        free(out_a[i]);
        free(out_b[i]);
    }
    return agree;
}

#endif
