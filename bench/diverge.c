#include "bench/diverge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bed.h"
#include "bench/interp.h"
#include "kernels_cpu/registry.h"

struct values { /* what the interpreter made */
    const struct ig_graph *g;
    void **at; /* by value: a copy, or NULL */
    int out_of_memory;
};

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

/* The tables' side of the comparison. */
struct run {
    struct ig_bed bed;
    const void *const *inputs;
    void **outputs;
};

/* The reference's values; the outputs are scratch to it. 0 or -1. */
static int interpret(struct values *v, const struct run *r)
{
    v->at = calloc((size_t)v->g->n_values + 1, sizeof *v->at);
    if (!v->at) return -1;
    return ig_interp_watched(v->g, r->inputs, r->outputs, keep, v) || v->out_of_memory ? -1 : 0;
}

/* A step's output, dense: all images, one after the other; malloc'ed. */
static void *gather(const struct run *r, const struct ig_place *p)
{
    int32_t bytes = ig_type_bytes(p->shape->type);
    int64_t rows = ig_count(p->shape) / p->w / p->c;
    const char *base =
        (char *)(p->space == IG_SPACE_OUTPUT ? r->outputs[p->index] : r->bed.arena) + p->offset;
    size_t pixel = (size_t)p->c * (size_t)bytes;
    char *dense = malloc((size_t)ig_bytes(p->shape) + 1), *to = dense;
    for (int64_t y = 0; dense && y < rows; y++)
        for (int32_t x = 0; x < p->w; x++, to += pixel)
            memcpy(to, base + ((int64_t)y * p->row_stride + (int64_t)x * p->pixel_stride) * bytes, pixel);
    return dense;
}

/* 1 if an output of `step`, which has just run, is outside the tolerance; -1 without memory. */
static int diverges(const struct run *r, const struct values *v, int32_t step,
                    const struct ig_tolerance *tolerance, char *text, size_t n)
{
    const struct ig_lowered *l = r->bed.lowered;
    const struct ig_step *s = &l->steps[step];
    int status = 0;
    for (int32_t k = 0; !status && k < s->n_out; k++) {
        int32_t value = l->nodes[step]->out[k];
        double error = 0;
        char what[256];
        if (value < 0 || !v->at[value] || s->out[k].space == IG_SPACE_SCRATCH) continue;
        void *dense = gather(r, &s->out[k]);
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
    struct run r = {.inputs = inputs};
    struct values v = {l->graph, NULL, 0};
    if (!runs_here(l)) {
        snprintf(text, n, "its kernels do not run on this machine");
        return -1;
    }
    if (ig_bed_make(&r.bed, l, 1, text, n)) return -1;
    r.outputs = ig_io_buffers(l->model.outputs, l->model.n_outputs);
    int status = r.outputs ? interpret(&v, &r) : -1;
    for (int32_t i = 0, next; !status && i < l->model.n_steps; i = next) {
        next = i + (l->steps[i].band ? l->steps[i].band : 1);
        status = ig_bed_step(&r.bed, i, inputs, r.outputs) ? -1 : diverges(&r, &v, next - 1, tolerance, text, n);
    }
    if (status < 0) snprintf(text, n, "the reference kernels do not compute it, or memory is short");
    values_free(&v);
    ig_io_buffers_free(r.outputs, l->model.outputs, l->model.n_outputs);
    ig_bed_free(&r.bed);
    return status;
}
