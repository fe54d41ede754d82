#include "bench/diverge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/interp.h"
#include "kernels_cpu/registry.h"
#include "runtime/api.h"

struct values {            /* what the interpreter made */
    const struct ig_graph *g;
    void **at;             /* by value: a copy, or NULL */
    int out_of_memory;
};

struct bed {               /* the tables with the memory they run in */
    struct ig_ctx ctx;
    char *weights, *arena;
    void **outputs;
};

static void *zeroed(int64_t bytes)
{
    size_t n = ((size_t)bytes + 64) / 64 * 64;
    void *p = aligned_alloc(64, n);
    if (p) memset(p, 0, n);
    return p;
}

static void keep(void *context, int32_t value, const void *data)
{
    struct values *v = context;
    size_t bytes = (size_t)ig_bytes(&v->g->values[value].shape);
    v->at[value] = malloc(bytes + 1);
    if (v->at[value]) memcpy(v->at[value], data, bytes);
    else v->out_of_memory = 1;
}

static void values_free(struct values *v)
{
    for (int32_t i = 0; v->at && i < v->g->n_values; i++) free(v->at[i]);
    free(v->at);
}

static void bed_free(struct bed *b, const struct ig_model *m)
{
    for (int32_t i = 0; b->outputs && i < m->n_outputs; i++) free(b->outputs[i]);
    free(b->outputs);
    free(b->weights);
    free(b->arena);
}

static int bed_make(struct bed *b, struct ig_lowered *l)
{
    const struct ig_model *m = &l->model;
    int64_t arena = ig_arena_total(m, 1);
    *b = (struct bed){.weights = zeroed(m->weights_bytes), .arena = zeroed(arena),
                      .outputs = calloc((size_t)m->n_outputs + 1, sizeof *b->outputs)};
    int failed = !b->weights || !b->arena || !b->outputs;
    for (int32_t i = 0; !failed && i < m->n_outputs; i++)
        failed = !(b->outputs[i] = zeroed(ig_bytes(m->outputs[i].shape)));
    if (failed) return -1;
    ig_fill_weights(l, b->weights);
    return ig_ctx_init(&b->ctx, m, b->weights, b->arena, (size_t)arena) ? -1 : 0;
}

/* The reference's values in v, from the interpreter's own outputs too. 0 or -1. */
static int interpret(struct values *v, const struct ig_lowered *l, const struct bed *b, const void *const *inputs)
{
    *v = (struct values){l->graph, calloc((size_t)l->graph->n_values + 1, sizeof *v->at), 0};
    if (!v->at) return -1;
    return ig_interp_watched(l->graph, inputs, b->outputs, keep, v) || v->out_of_memory ? -1 : 0;
}

/* A step's output, dense; malloc'ed. */
static void *gather(const struct bed *b, const struct ig_place *p, int32_t images)
{
    int32_t bytes = ig_type_bytes(p->shape->type);
    const char *base = (p->space == IG_SPACE_OUTPUT ? (char *)b->outputs[p->index] : b->arena) + p->offset;
    size_t pixel = (size_t)p->c * (size_t)bytes;
    char *dense = malloc((size_t)ig_bytes(p->shape) + 1), *to = dense;
    for (int32_t i = 0; dense && i < images; i++)
        for (int32_t y = 0; y < p->h; y++)
            for (int32_t x = 0; x < p->w; x++, to += pixel)
                memcpy(to, base + i * p->image + (y * p->row_stride + x * p->pixel_stride) * bytes, pixel);
    return dense;
}

static int run_step(struct bed *b, const struct ig_model *m, int32_t step, const void *const *inputs)
{
    struct ig_model one = *m;
    one.steps += step;
    one.n_steps = 1;
    b->ctx.model = &one;
    int status = ig_ctx_run(&b->ctx, inputs, b->outputs);
    b->ctx.model = m;
    return status;
}

/* 1 if an output of `step`, which has just run, is outside the tolerance; -1 without memory. */
static int diverges(const struct ig_lowered *l, const struct bed *b, const struct values *v, int32_t step,
                    const struct ig_tolerance *tolerance, char *text, size_t n)
{
    const struct ig_step *s = &l->steps[step];
    int status = 0;
    for (int32_t k = 0; !status && k < s->n_out; k++) {
        int32_t value = l->nodes[step]->out[k];
        double error = 0;
        char what[256];
        if (value < 0 || !v->at[value]) continue;
        void *dense = gather(b, &s->out[k], s->images);
        if (!dense) return -1;
        const struct ig_shape *shape = s->out[k].shape;
        if (ig_compare(shape, dense, shape, v->at[value], tolerance, &error, what, sizeof what)) {
            snprintf(text, n, "layer '%s' (%s), %s", l->layers[step].name, l->layers[step].kernel, what);
            status = 1;
        }
        free(dense);
    }
    return status;
}

static int runs_here(const struct ig_lowered *l)
{
    for (int32_t i = 0; i < l->model.n_steps; i++)
        if (!l->steps[i].run || !ig_isa_runs_here(l->kernels[i]->isa)) return 0;
    return 1;
}

int ig_first_divergence(struct ig_lowered *l, const void *const *inputs, const struct ig_tolerance *tolerance,
                        char *text, size_t n)
{
    struct bed b;
    struct values v = {l->graph, NULL, 0};
    if (!runs_here(l)) {
        snprintf(text, n, "its kernels do not run on this machine");
        return -1;
    }
    int status = bed_make(&b, l);
    if (!status) status = interpret(&v, l, &b, inputs);
    for (int32_t i = 0; !status && i < l->model.n_steps; i++) {
        if (run_step(&b, &l->model, i, inputs)) status = -1;
        else status = diverges(l, &b, &v, i, tolerance, text, n);
    }
    if (status < 0) snprintf(text, n, "the reference kernels do not compute it, or memory is short");
    values_free(&v);
    bed_free(&b, &l->model);
    return status;
}
