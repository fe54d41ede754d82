#include "gen/lower_gpu_stage.h"

#include <stdio.h>
#include <stdlib.h>

static void *must_alloc(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p) {
        fputs("ingot: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

struct edges {
    struct ig_gpu_edge edge[2 * IG_GPU_EDGES];
    int32_t value[2 * IG_GPU_EDGES]; /* roots */
    int32_t n, ins, outs;
};

/* -1: too many. */
static int find_edges(const struct ig_graph *g, const struct ig_plan *p, const uint8_t *marks, struct edges *e)
{
    for (int want = 1; want >= 0; want--) /* those in come first */
        for (int32_t v = 0; v < g->n_values; v++) {
            int in = ig_passes_in(marks[v]), out = ig_passes_out(marks[v]);
            if (in != want || !(in || out)) continue;
            e->ins += in;
            e->outs += out;
            if (e->ins > IG_GPU_EDGES || e->outs > IG_GPU_EDGES) return -1;
            e->edge[e->n] = (struct ig_gpu_edge){&g->values[v].shape, in, out, ig_pass_kind(p, v)};
            e->value[e->n++] = v;
        }
    return 0;
}

/* Only the stage's steps run; what it has from outside, or leaves there, lies by itself. */
static void take_apart(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan_stage *s, const struct edges *e)
{
    for (int32_t i = 0; i < p->n_steps; i++)
        if (i < s->first || i > s->last) p->steps[i].kernel = NULL;
    for (int32_t k = 0; k < e->n; k++) {
        int64_t start = p->buffers[e->value[k]].offset;
        for (int32_t v = 0; v < g->n_values; v++) {
            struct ig_plan_buffer *b = &p->buffers[v];
            if (b->view.root != e->value[k]) continue;
            b->offset -= start;
            b->memory = e->edge[k].in ? IG_MEMORY_INPUT : IG_MEMORY_OUTPUT;
            b->index = k;
        }
    }
}

/* Where the CPU's stages have value v; -1: in no slot. */
static int place_of(const struct ig_graph *g, const struct ig_plan *staged, int32_t v, struct ig_gpu_place *to)
{
    const struct ig_plan_buffer *b = &staged->buffers[v];
    to->offset = b->offset;
    switch (b->memory) {
    case IG_MEMORY_INPUT: to->slot = b->index; return 0;
    case IG_MEMORY_OUTPUT: to->slot = g->n_inputs + b->index; return 0;
    case IG_MEMORY_SLOT:
        to->slot = b->index;
        to->offset += staged->slots[b->index].offset;
        return 0;
    default: return -1;
    }
}

static int find_places(const struct ig_graph *g, const struct ig_plan *staged, const struct edges *e,
                       struct ig_gpu_place *places, char *err, size_t err_bytes)
{
    int32_t n = 0;
    for (int32_t k = 0; k < 2 * e->n; k++) {
        int32_t i = k % e->n;
        if (k < e->n ? !e->edge[i].in : !e->edge[i].out) continue;
        if (!place_of(g, staged, e->value[i], &places[n++])) continue;
        snprintf(err, err_bytes, "'%s' passes to or from the GPU's stage, but is in no slot", g->values[e->value[i]].name);
        return -1;
    }
    return 0;
}

/* One graph has one way to lie in storage; a plan that was edited may have another. */
static int check_views(const struct ig_graph *g, const struct ig_plan *a, const struct ig_plan *b, char *err, size_t err_bytes)
{
    for (int32_t v = 0; v < g->n_values; v++)
        if (a->buffers[v].view.root != b->buffers[v].view.root) {
            snprintf(err, err_bytes, "the plans of CPU and GPU have '%s' in different tensors", g->values[v].name);
            return -1;
        }
    return 0;
}

struct ig_gpu_stage_lowered *ig_lower_gpu_stage(const struct ig_graph *g, const struct ig_plan *staged, struct ig_plan *gpu,
                                                char *err, size_t err_bytes)
{
    struct edges e = {.n = 0};
    int32_t stage = ig_gpu_stage_of(staged);
    snprintf(err, err_bytes, "no stage of the plan is the GPU's");
    if (stage < 0 || check_views(g, staged, gpu, err, err_bytes)) return NULL;
    const struct ig_plan_stage *s = &staged->stages[stage];
    uint8_t *marks = must_alloc((size_t)g->n_values, 1);
    ig_mark_passes(g, gpu, s, marks);
    int bad = find_edges(g, gpu, marks, &e);
    free(marks);
    if (bad) snprintf(err, err_bytes, "more than %d tensors pass to or from the GPU's stage: cut elsewhere", IG_GPU_EDGES);
    if (bad) return NULL;
    struct ig_gpu_stage_lowered *l = must_alloc(1, sizeof *l);
    l->places = must_alloc((size_t)(e.ins + e.outs), sizeof *l->places);
    take_apart(g, gpu, s, &e);
    l->lowered = ig_lower(g, gpu);
    if (!find_places(g, staged, &e, l->places, err, err_bytes))
        l->launches = ig_lower_gpu_part(l->lowered, e.edge, e.n, err, err_bytes);
    if (l->launches) {
        l->stage = (struct ig_gpu_stage){&l->launches->plan, l->places, stage};
        return l;
    }
    ig_gpu_stage_lowered_free(l);
    return NULL;
}

void ig_gpu_stage_lowered_free(struct ig_gpu_stage_lowered *l)
{
    if (!l) return;
    ig_gpu_lowered_free(l->launches);
    ig_lowered_free(l->lowered);
    free(l->places);
    free(l);
}
