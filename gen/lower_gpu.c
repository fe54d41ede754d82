#include "gen/lower_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_gpu/kernel.h"

_Static_assert((int)IG_GPU_PINNED == (int)IG_PASS_PINNED && (int)IG_GPU_MAPPED == (int)IG_PASS_MAPPED &&
                   (int)IG_GPU_MANAGED == (int)IG_PASS_MANAGED, "one number for each kind");

enum { GRAIN = 256 };

static int64_t round_up(int64_t bytes)
{
    return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

static void *must_alloc(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p) {
        fputs("ingot: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

/* --- places --- */

static void *address(enum ig_gpu_region region, int64_t offset)
{
    return (void *)(uintptr_t)IG_GPU_ADDRESS(region, offset);
}

static void *address_of_edge(const struct ig_gpu_copy *edge, int64_t offset)
{
    return address(edge->kind ? IG_GPU_STAGING : IG_GPU_ARENA, edge->offset + offset);
}

static void *address_of(const struct ig_gpu_lowered *to, const struct ig_place *a)
{
    switch (a->space) {
    case IG_SPACE_ARENA: return address(IG_GPU_ARENA, a->offset);
    case IG_SPACE_WEIGHTS: return address(IG_GPU_CONSTANTS, a->offset);
    case IG_SPACE_INPUT: return address_of_edge(&to->plan.inputs[a->index], a->offset);
    case IG_SPACE_OUTPUT: return address_of_edge(&to->plan.outputs[a->index], a->offset);
    default: return NULL;
    }
}

uint64_t ig_gpu_address_of(const struct ig_gpu_lowered *l, const struct ig_place *place)
{
    return (uint64_t)(uintptr_t)address_of(l, place);
}

static struct ig_operand operand(const struct ig_gpu_lowered *to, const struct ig_place *a, int32_t image)
{
    char *data = address_of(to, a);
    if (data) data += (int64_t)image * a->image * ig_type_bytes(a->shape->type);
    return (struct ig_operand){data, a->shape, a->h, a->w, a->c, a->ring_rows, a->row_stride, a->pixel_stride};
}

static struct ig_call call_of(const struct ig_gpu_lowered *to, const struct ig_model *m, const struct ig_step *s, int32_t image)
{
    struct ig_call call = {.attrs = s->attrs, .n_in = s->n_in, .n_out = s->n_out, .image = image};
    call.weights = s->weights < 0 ? NULL : address(IG_GPU_CONSTANTS, s->weights);
    call.zeros = address(IG_GPU_CONSTANTS, m->zeros);
    for (int32_t i = 0; i < s->n_in; i++) call.in[i] = operand(to, &s->in[i], image);
    for (int32_t i = 0; i < s->n_out; i++) call.out[i] = operand(to, &s->out[i], image);
    return call;
}

/* --- launches --- */

static uint32_t function_of(struct ig_gpu_lowered *to, const char *name)
{
    int32_t i = 0;
    while (i < to->plan.n_functions && strcmp(to->functions[i], name)) i++;
    if (i == IG_GPU_FUNCTIONS) {
        fprintf(stderr, "ingot: more than %d GPU functions\n", IG_GPU_FUNCTIONS);
        exit(1);
    }
    if (i == to->plan.n_functions) to->functions[to->plan.n_functions++] = name;
    return (uint32_t)i;
}

static void add(struct ig_gpu_lowered *to, const struct ig_gpu_launch *l)
{
    int32_t i = to->plan.n_calls++;
    memcpy(to->params[i], l->params, l->bytes);
    to->calls[i] = (struct ig_gpu_call){function_of(to, l->function), {l->grid[0], l->grid[1], l->grid[2]}, l->block,
                                        l->pointers, (l->bytes + 7) / 8, l->turns, to->params[i]};
}

static void add_step(struct ig_gpu_lowered *to, const struct ig_lowered *l, int32_t step)
{
    const struct ig_step *s = &l->steps[step];
    for (int32_t image = 0; image < s->images; image++) {
        struct ig_gpu_launch launches[IG_GPU_LAUNCHES];
        struct ig_call call = call_of(to, &l->model, s, image);
        int n = ig_gpu_launcher(l->kernels[step]->name)(&call, address(IG_GPU_ARENA, s->scratch), launches);
        for (int i = 0; i < n; i++) add(to, &launches[i]);
    }
}

/* Inputs and outputs behind the plan's arena, which has no room for them, or in the staging. */
static void place_copies(struct ig_gpu_lowered *to, const struct ig_lowered *l)
{
    const struct ig_model *m = &l->model;
    int64_t end = round_up(m->arena_bytes), staged = 0;
    int32_t n = m->n_inputs + m->n_outputs;
    to->copies = must_alloc((size_t)n, sizeof *to->copies);
    for (int32_t i = 0; i < n; i++) {
        const struct ig_io *io = i < m->n_inputs ? &m->inputs[i] : &m->outputs[i - m->n_inputs];
        struct ig_gpu_copy *copy = &to->copies[i];
        int32_t value = i < m->n_inputs ? l->graph->inputs[i] : l->graph->outputs[i - m->n_inputs];
        *copy = (struct ig_gpu_copy){end, ig_bytes(io->shape), ig_pass_kind(l->plan, value)};
        if (copy->kind) copy->offset = staged;
        else end += round_up(copy->bytes);
        staged += ig_gpu_slot(copy);
    }
    to->plan.inputs = to->copies;
    to->plan.outputs = to->copies + m->n_inputs;
    to->plan.n_inputs = m->n_inputs;
    to->plan.n_outputs = m->n_outputs;
    to->plan.arena_bytes = end ? end : GRAIN;
}

/* The edges in, then those out, each at its place of the staging; for launches one that is both has that of the first. */
static void list_edges(struct ig_gpu_lowered *to, const struct ig_gpu_edge *edges, int32_t n)
{
    struct ig_gpu_copy *list = must_alloc((size_t)n * 2, sizeof *list);
    int64_t staged = 0;
    to->plan.n_inputs = to->plan.n_outputs = 0;
    for (int32_t k = 0; k < 2 * n; k++) {
        struct ig_gpu_copy *copy = &to->copies[k % n];
        if (k < n ? !edges[k].in : !edges[k - n].out) continue;
        if (copy->kind && (k < n || !edges[k - n].in)) copy->offset = staged;
        staged += ig_gpu_slot(copy);
        list[to->plan.n_inputs + to->plan.n_outputs] = *copy;
        ++*(k < n ? &to->plan.n_inputs : &to->plan.n_outputs);
    }
    to->edges = list;
}

static void place_edges(struct ig_gpu_lowered *to, const struct ig_lowered *l, const struct ig_gpu_edge *edges, int32_t n)
{
    int64_t end = round_up(l->model.arena_bytes);
    to->copies = must_alloc((size_t)n, sizeof *to->copies);
    for (int32_t i = 0; i < n; i++) {
        struct ig_gpu_copy *copy = &to->copies[i];
        *copy = (struct ig_gpu_copy){end, ig_bytes(edges[i].shape), edges[i].kind};
        if (!copy->kind) end += round_up(copy->bytes);
    }
    to->plan.inputs = to->plan.outputs = to->copies;
    to->plan.arena_bytes = end ? end : GRAIN;
    list_edges(to, edges, n);
}

/* Room for what all steps take; NULL with a line in err. */
static struct ig_gpu_lowered *begin(const struct ig_lowered *l, char *err, size_t err_bytes)
{
    const struct ig_model *m = &l->model;
    size_t calls = 0;
    for (int32_t i = 0; i < m->n_steps; i++) {
        if (!ig_gpu_launcher(l->kernels[i]->name)) {
            snprintf(err, err_bytes, "layer '%s' (%s) has no GPU kernel: %s is the CPU's", l->layers[i].name,
                     ig_op_info((enum ig_op)l->nodes[i]->op)->name, l->kernels[i]->name);
            return NULL;
        }
        calls += (size_t)(l->steps[i].images * IG_GPU_LAUNCHES);
    }
    struct ig_gpu_lowered *to = must_alloc(1, sizeof *to);
    to->calls = must_alloc(calls, sizeof *to->calls);
    to->params = must_alloc(calls, sizeof *to->params);
    to->first = must_alloc((size_t)m->n_steps + 1, sizeof *to->first);
    return to;
}

static void add_steps(struct ig_gpu_lowered *to, const struct ig_lowered *l)
{
    for (int32_t i = 0; i < l->model.n_steps; i++) {
        add_step(to, l, i);
        to->first[i + 1] = to->plan.n_calls;
    }
    to->plan.functions = to->functions;
    to->plan.calls = to->calls;
    to->plan.constants_bytes = l->model.weights_bytes;
}

struct ig_gpu_lowered *ig_lower_gpu(const struct ig_lowered *l, char *err, size_t err_bytes)
{
    if (l->model.n_inputs > IG_GPU_EDGES || l->model.n_outputs > IG_GPU_EDGES) {
        snprintf(err, err_bytes, "%d inputs and %d outputs, a GPU's plan has at most %d of each", l->model.n_inputs,
                 l->model.n_outputs, IG_GPU_EDGES);
        return NULL;
    }
    struct ig_gpu_lowered *to = begin(l, err, err_bytes);
    if (!to) return NULL;
    place_copies(to, l);
    add_steps(to, l);
    return to;
}

struct ig_gpu_lowered *ig_lower_gpu_part(const struct ig_lowered *l, const struct ig_gpu_edge *edges, int32_t n,
                                         char *err, size_t err_bytes)
{
    struct ig_gpu_lowered *to = begin(l, err, err_bytes);
    if (!to) return NULL;
    place_edges(to, l, edges, n);
    add_steps(to, l);
    to->plan.inputs = to->edges;
    to->plan.outputs = to->edges + to->plan.n_inputs;
    return to;
}

void ig_gpu_lowered_free(struct ig_gpu_lowered *l)
{
    if (!l) return;
    free(l->calls);
    free(l->params);
    free(l->first);
    free(l->copies);
    free(l->edges);
    free(l);
}
