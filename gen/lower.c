#include "gen/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"

static void *own(struct ig_lowered *l, size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    void **owned = realloc(l->owned, (size_t)(l->n_owned + 1) * sizeof *owned);
    if (!p || !owned) {
        fputs("ingot: out of memory\n", stderr);
        exit(1);
    }
    l->owned = owned;
    l->owned[l->n_owned++] = p;
    return p;
}

static const int space_of[] = {
    [IG_MEMORY_NONE] = IG_SPACE_NONE,       [IG_MEMORY_ARENA] = IG_SPACE_ARENA,
    [IG_MEMORY_WEIGHTS] = IG_SPACE_WEIGHTS, [IG_MEMORY_INPUT] = IG_SPACE_INPUT,
    [IG_MEMORY_OUTPUT] = IG_SPACE_OUTPUT,   [IG_MEMORY_RING] = IG_SPACE_SCRATCH,
    [IG_MEMORY_SLOT] = IG_SPACE_SLOT,
};

/* Tables have 32 bits for it: a row of 8 GiB of floats. */
static int32_t stride(const struct ig_lowered *l, int32_t v, int64_t elements)
{
    if (elements <= INT32_MAX) return (int32_t)elements;
    fprintf(stderr, "ingot: tensor '%s' is too large: a row of it has %lld elements\n", l->graph->values[v].name,
            (long long)elements);
    exit(1);
}

/* What alternatives share an arena for, a stage of each has at other places than alone. */
static int64_t shift_of(const struct ig_lowered *l, int32_t plan_step)
{
    return l->part ? l->part->shift[l->plan->steps[plan_step].stage] : 0;
}

static void place_buffer(const struct ig_lowered *l, const struct ig_plan_buffer *b, int32_t plan_step,
                         struct ig_place *out)
{
    out->space = (int16_t)space_of[b->memory];
    out->index = (int16_t)b->index;
    out->offset = b->offset;
    if (b->memory == IG_MEMORY_ARENA) out->offset += shift_of(l, plan_step);
    if (b->memory != IG_MEMORY_SLOT) return;
    out->offset += l->part ? l->part->offset[b->index] : l->plan->slots[b->index].offset;
    if (l->part) out->index = (int16_t)l->part->slot[b->index];
}

static void place(const struct ig_lowered *l, int32_t v, const struct ig_operand *o, int packed, int32_t plan_step,
                  struct ig_place *out)
{
    out->shape = o->shape;
    if (v < 0) return;
    out->h = o->h;
    out->w = o->w;
    out->c = o->c;
    out->ring_rows = o->ring_rows;
    out->row_stride = stride(l, v, o->row_stride);
    out->pixel_stride = stride(l, v, o->pixel_stride);
    if (packed) return;
    if (ig_is_const(l->graph, v)) {
        out->space = IG_SPACE_WEIGHTS;
        out->offset = l->consts[v];
        return;
    }
    const struct ig_plan_buffer *b = &l->plan->buffers[v];
    place_buffer(l, b, plan_step, out);
    if (b->ring_rows) out->ring_rows = b->ring_rows;
}

/* Only activations come one per image; weights and other parameters serve them all. */
static void image_stride(const struct ig_node *n, int32_t k, struct ig_place *p)
{
    if (p->space && (k == 0 || (k == 3 && n->op == IG_CONV)))
        p->image = p->h * p->row_stride;
}

static struct ig_place *places(struct ig_lowered *l, const int32_t *values, const struct ig_operand *operands,
                               int32_t n, const struct ig_kernel *packs, int32_t plan_step)
{
    struct ig_place *p = own(l, (size_t)n, sizeof *p);
    for (int32_t i = 0; i < n; i++)
        place(l, values[i], &operands[i],
              packs && ig_packs_input(packs, i) && values[i] >= 0 && ig_is_const(l->graph, values[i]), plan_step, &p[i]);
    return p;
}

static void lower_step(struct ig_lowered *l, const struct ig_view *views, int32_t plan_step, int32_t at)
{
    const struct ig_plan_step *ps = &l->plan->steps[plan_step];
    const struct ig_node *n = &l->graph->nodes[ps->node];
    struct ig_step *s = &l->steps[at];
    struct ig_call call;
    int32_t images;
    ig_node_call(l->graph, views, n, &call, &images);
    if (!ps->kernel->row_tile) images = 1; /* sees the whole batch through its shapes */
    struct ig_range all = ig_full_range(&call);
    s->run = ps->kernel->run;
    s->attrs = ig_op_info((enum ig_op)n->op)->struct_tag ? (const void *)&n->attrs : NULL;
    s->n_in = call.n_in;
    s->n_out = call.n_out;
    struct ig_place *in = places(l, n->in, call.in, call.n_in, ps->kernel, plan_step);
    struct ig_place *out = places(l, n->out, call.out, call.n_out, NULL, plan_step);
    for (int32_t k = 0; images > 1 && k < s->n_in; k++) image_stride(n, k, &in[k]);
    for (int32_t k = 0; images > 1 && k < s->n_out; k++) image_stride(n, 0, &out[k]);
    s->in = in;
    s->out = out;
    s->weights = l->packed[plan_step];
    s->images = images;
    s->rows = all.y1;
    s->cols = all.c1;
    s->split = ps->split;
    s->chunk = ps->chunk;
    s->chunks = ps->chunks;
    s->row_tile = ps->kernel->row_tile;
    s->scratch = ps->scratch_offset + (ps->scratch_bytes ? shift_of(l, plan_step) : 0);
    s->scratch_bytes = ps->scratch_bytes;
    l->layers[at] = (struct ig_layer){n->name, ps->kernel->name, n->macs, ps->predicted_ns};
    l->kernels[at] = ps->kernel;
    l->nodes[at] = n;
}

static void refuse_band(const struct ig_lowered *l, const struct ig_band *band)
{
    const struct ig_plan_step *steps = l->plan->steps;
    fprintf(stderr, "ingot: the layers from '%s' to '%s' cannot run by rows: plan them without that band\n",
            l->graph->nodes[steps[band->first].node].name, l->graph->nodes[steps[band->last].node].name);
    exit(1);
}

/* The steps of a band stand together, where its last one is in the plan. Returns where the next one goes. */
static int32_t lower_band(struct ig_lowered *l, const struct ig_view *views, const struct ig_band *band, int32_t at)
{
    struct ig_flow *flow = own(l, 1, sizeof *flow);
    struct ig_step *s = &l->steps[at];
    if (!ig_band_flow(l->graph, l->plan, band, flow)) refuse_band(l, band);
    for (int32_t i = 0; i < flow->n; i++) {
        lower_step(l, views, flow->step[i], at + i);
        s[i].n_feeds = flow->n_feeds[i];
        s[i].feeds = flow->feeds[i];
    }
    s->band = flow->n;
    s->phase = band->rows;
    s->kept = flow->kept;
    s->scratch = s[flow->n - 1].scratch;
    s->scratch_bytes = s[flow->n - 1].scratch_bytes;
    return at + flow->n;
}

static void lower_steps(struct ig_lowered *l, const struct ig_view *views)
{
    const struct ig_plan *p = l->plan;
    for (int32_t i = 0, at = 0; i < p->n_steps; i++) {
        const struct ig_band *band = ig_band_of(p, i);
        if (band && band->last == i) at = lower_band(l, views, band, at);
        else if (!band && p->steps[i].kernel) lower_step(l, views, i, at++);
    }
}

/* The caller's tensors, under their ONNX names. */
static void lower_ios(struct ig_lowered *l)
{
    const struct ig_graph *g = l->graph;
    l->ios = own(l, (size_t)(g->n_inputs + g->n_outputs), sizeof *l->ios);
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const struct ig_value *v = &g->values[g->inputs[i]];
        l->ios[i] = (struct ig_io){v->name, &v->shape};
    }
    for (int32_t i = 0; i < g->n_outputs; i++) {
        const struct ig_value *v = &g->values[g->outputs[i]];
        l->ios[g->n_inputs + i] = (struct ig_io){v->name, &v->shape};
    }
}

/* Steps of the table that come of the plan's steps [0, end). Bands are in one stage. */
static int32_t steps_before(const struct ig_plan *p, int32_t end)
{
    int32_t n = 0;
    for (int32_t i = 0; i < end; i++) n += p->steps[i].kernel != NULL;
    return n;
}

/* The stages of l's plan. */
static void fill_stages(const struct ig_lowered *l, struct ig_stage *stages)
{
    const struct ig_plan *p = l->plan;
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        int32_t first = steps_before(p, s->first);
        struct ig_stage *to = &stages[i];
        *to = (struct ig_stage){l->model, s->processor, s->cores, first, 0};
        to->model.steps = l->steps + first;
        to->model.n_steps = steps_before(p, s->last + 1) - first;
        to->model.threads = ig_stage_is_gpu(s) ? 1 : s->threads; /* who waits for the GPU */
        to->predicted_ns = ig_stage_ns(p, i);
    }
}

/* A stage is a model of its own, whose inputs and outputs are slots. */
static void lower_stages(struct ig_lowered *l)
{
    const struct ig_plan *p = l->plan;
    int32_t n_slots = p->n_others ? l->united.n_slots : p->n_slots;
    struct ig_slot *slots = own(l, (size_t)n_slots, sizeof *slots);
    l->stages = own(l, (size_t)p->n_stages * (size_t)(1 + p->n_others), sizeof *l->stages);
    for (int32_t i = 0; i < n_slots; i++) {
        const struct ig_plan_slot *s = p->n_others ? &l->united.slots[i] : &p->slots[i];
        slots[i] = (struct ig_slot){s->offset, s->bytes, (int16_t)s->from, (int16_t)s->to, s->copies};
    }
    fill_stages(l, l->stages);
    l->pipe = (struct ig_pipe){&l->model, l->stages, slots, p->n_stages, n_slots, ig_plan_flight(p), p->period_ns,
                               p->full_ns};
}

/* weights_of: the plan whose blob it is. */
static struct ig_lowered *lower_plan(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan *weights_of,
                                     const struct ig_share_of *part, int64_t arena_bytes)
{
    struct ig_lowered *l = calloc(1, sizeof *l);
    if (!l) abort();
    l->graph = g;
    l->plan = p;
    l->part = part;
    l->packed = own(l, (size_t)p->n_steps, sizeof *l->packed);
    l->consts = own(l, (size_t)g->n_values, sizeof *l->consts);
    int64_t zeros;
    int64_t weights = ig_weight_layout(g, weights_of, &zeros, l->packed, l->consts);
    struct ig_view *views = own(l, (size_t)g->n_values, sizeof *views);
    for (int32_t v = 0; v < g->n_values; v++) views[v] = p->buffers[v].view;
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_steps; i++) n += p->steps[i].kernel != NULL;
    l->steps = own(l, (size_t)n, sizeof *l->steps);
    l->layers = own(l, (size_t)n, sizeof *l->layers);
    l->kernels = own(l, (size_t)n, sizeof *l->kernels);
    l->nodes = own(l, (size_t)n, sizeof *l->nodes);
    lower_steps(l, views);
    lower_ios(l);
    l->model = (struct ig_model){.name = g->name,
                                 .steps = l->steps,
                                 .inputs = l->ios,
                                 .outputs = l->ios + g->n_inputs,
                                 .n_steps = n,
                                 .n_inputs = g->n_inputs,
                                 .n_outputs = g->n_outputs,
                                 .threads = p->n_stages ? 1 : p->threads,
                                 .arena_bytes = (arena_bytes + 63) / 64 * 64,
                                 .scratch_bytes = (p->scratch_bytes + 63) / 64 * 64,
                                 .weights_bytes = weights,
                                 .zeros = zeros};
    return l;
}

/* The stages of all alternatives, those of the first one first. */
static void lower_others(struct ig_lowered *l)
{
    const struct ig_plan *p = l->plan;
    l->others = own(l, (size_t)p->n_others, sizeof *l->others);
    for (int32_t i = 0; i < p->n_others; i++) {
        struct ig_lowered *other = lower_plan(l->graph, p->others[i], p->others[i], &l->united.parts[1 + i], l->united.arena_bytes);
        fill_stages(other, l->stages + (1 + i) * p->n_stages);
        l->others[i] = other;
    }
    l->cuts = (struct ig_cuts){&l->pipe, l->stages, 1 + p->n_others};
}

struct ig_lowered *ig_lower(const struct ig_graph *g, const struct ig_plan *p)
{
    struct ig_united u = {.arena_bytes = p->arena_bytes};
    if (p->n_others) ig_unite(p, &u);
    struct ig_lowered *l = lower_plan(g, p, p, u.parts, u.arena_bytes);
    l->united = u;
    if (p->n_stages) lower_stages(l);
    if (p->n_others) lower_others(l);
    return l;
}

struct ig_lowered *ig_lower_sharing(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan *whole)
{
    return lower_plan(g, p, whole, NULL, p->arena_bytes);
}

void ig_lowered_free(struct ig_lowered *l)
{
    if (!l) return;
    for (int32_t i = 1; i < l->cuts.n; i++) ig_lowered_free(l->others[i - 1]);
    ig_united_free(&l->united);
    for (int32_t i = 0; i < l->n_owned; i++) free(l->owned[i]);
    free(l->owned);
    free(l);
}

void ig_fill_weights_of(struct ig_lowered *l, const char *nodes, void *blob)
{
    const struct ig_graph *g = l->graph;
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    if (!views) abort();
    for (int32_t v = 0; v < g->n_values; v++) views[v] = l->plan->buffers[v].view;
    for (int32_t v = 0; v < g->n_values; v++)
        if (l->consts[v] >= 0)
            memcpy((char *)blob + l->consts[v], g->values[v].data, (size_t)ig_bytes(&g->values[v].shape));
    for (int32_t i = 0; i < l->plan->n_steps; i++) {
        int32_t node = l->plan->steps[i].node;
        if (l->packed[i] < 0 || (nodes && !nodes[node])) continue;
        struct ig_call call;
        int32_t images;
        ig_node_call(g, views, &g->nodes[node], &call, &images);
        l->plan->steps[i].kernel->pack(&call, (char *)blob + l->packed[i]);
    }
    free(views);
}

void ig_fill_weights(struct ig_lowered *l, void *blob)
{
    ig_fill_weights_of(l, NULL, blob);
    ig_set_weights_hash(l, ig_blob_hash(blob, (size_t)l->model.weights_bytes));
}

void ig_set_weights_hash(struct ig_lowered *l, uint64_t hash)
{
    int32_t n = l->pipe.n_stages * (l->cuts.n ? l->cuts.n : 1);
    l->model.weights_hash = hash;
    for (int32_t i = 0; i < n; i++) l->stages[i].model.weights_hash = hash;
}
