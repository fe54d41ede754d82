#include "gen/lower_gpu_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Where the CPU's stages have value v, in the memory of all alternatives if there are some; -1: in no slot. */
static int place_of(const struct ig_graph *g, const struct ig_plan *staged, const struct ig_share_of *part, int32_t v,
                    struct ig_gpu_place *to)
{
    const struct ig_plan_buffer *b = &staged->buffers[v];
    to->offset = b->offset;
    switch (b->memory) {
    case IG_MEMORY_INPUT: to->slot = b->index; return 0;
    case IG_MEMORY_OUTPUT: to->slot = g->n_inputs + b->index; return 0;
    case IG_MEMORY_SLOT:
        to->slot = part ? part->slot[b->index] : b->index;
        to->offset += part ? part->offset[b->index] : staged->slots[b->index].offset;
        return 0;
    default: return -1;
    }
}

static int find_places(const struct ig_graph *g, const struct ig_plan *staged, const struct ig_share_of *part,
                       const struct edges *e, struct ig_gpu_place *places, char *err, size_t err_bytes)
{
    int32_t n = 0;
    for (int32_t k = 0; k < 2 * e->n; k++) {
        int32_t i = k % e->n;
        if (k < e->n ? !e->edge[i].in : !e->edge[i].out) continue;
        if (!place_of(g, staged, part, e->value[i], &places[n++])) continue;
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

/* With steps and buffers of its own. */
static void copy_plan(struct ig_plan *to, const struct ig_plan *from)
{
    *to = *from;
    to->steps = must_alloc((size_t)from->n_steps, sizeof *to->steps);
    to->buffers = must_alloc((size_t)from->n_buffers, sizeof *to->buffers);
    memcpy(to->steps, from->steps, (size_t)from->n_steps * sizeof *to->steps);
    memcpy(to->buffers, from->buffers, (size_t)from->n_buffers * sizeof *to->buffers);
}

static void free_copy(struct ig_plan *p)
{
    free(p->steps);
    free(p->buffers);
}

/* Of one alternative, which has its weights where those of `whole` are, or by itself where that is NULL. */
static struct ig_gpu_stage_lowered *lower_one(const struct ig_graph *g, const struct ig_plan *staged,
                                              const struct ig_share_of *part, const struct ig_plan *gpu,
                                              const struct ig_plan *whole, char *err, size_t err_bytes)
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
    copy_plan(&l->own, gpu);
    take_apart(g, &l->own, s, &e);
    l->lowered = whole ? ig_lower_sharing(g, &l->own, whole) : ig_lower(g, &l->own);
    l->weights = l->lowered;
    if (!find_places(g, staged, part, &e, l->places, err, err_bytes))
        l->launches = ig_lower_gpu_part(l->lowered, e.edge, e.n, err, err_bytes);
    if (l->launches) {
        l->stage = (struct ig_gpu_stage){&l->launches->plan, l->places, stage};
        return l;
    }
    ig_gpu_stage_lowered_free(l);
    return NULL;
}

struct ig_gpu_stage_lowered *ig_lower_gpu_stage(const struct ig_graph *g, const struct ig_plan *staged,
                                                const struct ig_plan *gpu, char *err, size_t err_bytes)
{
    return lower_one(g, staged, NULL, gpu, NULL, err, err_bytes);
}

/* --- alternatives --- */

/* Steps that are the GPU's in one of them run. */
static void take_any(const struct ig_plan *staged, struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_steps; i++) {
        int any = 0;
        for (int32_t a = 0; a <= staged->n_others; a++)
            any |= ig_alternative(staged, a)->steps[i].stage == ig_gpu_stage_of(staged);
        if (!any) p->steps[i].kernel = NULL;
    }
}

/* One block of the GPU's memory serves them all. */
static void share_arena(struct ig_gpu_stage_lowered *first)
{
    int64_t most = first->launches->plan.arena_bytes;
    for (int32_t i = 0; i < first->n_others; i++)
        if (first->others[i]->launches->plan.arena_bytes > most) most = first->others[i]->launches->plan.arena_bytes;
    first->launches->plan.arena_bytes = most;
    for (int32_t i = 0; i < first->n_others; i++) first->others[i]->launches->plan.arena_bytes = most;
}

struct ig_gpu_stage_lowered *ig_lower_gpu_stages(const struct ig_lowered *cpu, const struct ig_plan *gpu, char *err,
                                                 size_t err_bytes)
{
    const struct ig_graph *g = cpu->graph;
    const struct ig_plan *staged = cpu->plan;
    struct ig_plan whole;
    copy_plan(&whole, gpu);
    take_any(staged, &whole);
    struct ig_gpu_stage_lowered *first = lower_one(g, staged, &cpu->united.parts[0], gpu, &whole, err, err_bytes);
    if (!first) {
        free_copy(&whole);
        return NULL;
    }
    first->whole = whole;
    first->others = must_alloc((size_t)staged->n_others, sizeof(struct ig_gpu_stage_lowered *));
    for (int32_t i = 0; i < staged->n_others; i++, first->n_others++)
        if (!(first->others[i] = lower_one(g, staged->others[i], &cpu->united.parts[1 + i], gpu, &whole, err,
                                           err_bytes))) {
            ig_gpu_stage_lowered_free(first);
            return NULL;
        }
    first->weights = ig_lower(g, &first->whole);
    share_arena(first);
    return first;
}

void ig_gpu_stage_lowered_free(struct ig_gpu_stage_lowered *l)
{
    if (!l) return;
    for (int32_t i = 0; i < l->n_others; i++) ig_gpu_stage_lowered_free(l->others[i]);
    free(l->others);
    if (l->weights != l->lowered) ig_lowered_free(l->weights);
    ig_gpu_lowered_free(l->launches);
    ig_lowered_free(l->lowered);
    free(l->places);
    free_copy(&l->own);
    free_copy(&l->whole);
    free(l);
}
