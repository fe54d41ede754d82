#include "planner/passes.h"

#include <stdlib.h>

#include "planner/alloc.h"

static int32_t root_of(const struct ig_graph *g, const struct ig_plan *p, int32_t v)
{
    return v < 0 || ig_is_const(g, p->buffers[v].view.root) ? -1 : p->buffers[v].view.root;
}

static void mark(const struct ig_graph *g, const struct ig_plan *p, int32_t v, int what, uint8_t *marks)
{
    int32_t root = root_of(g, p, v);
    if (root >= 0) marks[root] |= (uint8_t)what;
}

void ig_mark_passes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *s, uint8_t *marks)
{
    for (int32_t i = 0; i < g->n_inputs; i++) mark(g, p, g->inputs[i], IG_MADE_BEFORE, marks);
    for (int32_t i = 0; i < g->n_outputs; i++) mark(g, p, g->outputs[i], IG_READ_BEHIND, marks);
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        int before = s && i < s->first, behind = s && i > s->last;
        if (!p->steps[i].kernel) continue;
        for (int32_t k = 0; k < n->n_in; k++) mark(g, p, n->in[k], before ? 0 : behind ? IG_READ_BEHIND : IG_TOUCHED, marks);
        for (int32_t k = 0; k < n->n_out; k++)
            mark(g, p, n->out[k], before ? IG_MADE_BEFORE : behind ? 0 : IG_TOUCHED | IG_MADE, marks);
    }
}

/* --- what it costs --- */

/* How often an element of a window's input is read. */
static double of_window(const struct ig_window *w)
{
    double times = (double)(w->kh * w->kw) / (w->sh * w->sw);
    return times > 1 ? times : 1;
}

/* How often a step reads each element of its input k: a convolution once for every tap and every tile of 64 channels. */
static double reads(const struct ig_graph *g, const struct ig_node *n, int32_t k)
{
    const struct ig_shape *out = &g->values[n->out[0]].shape;
    double channels = out->rank ? out->dims[out->rank - 1] : 1, tiles;
    if (k) return 1;
    switch (n->op) {
    case IG_CONV:
    case IG_DECONV:
        tiles = channels / n->attrs.conv.groups / 64;
        return of_window(&n->attrs.conv.w) * (tiles > 1 ? tiles : 1);
    case IG_POOL: return of_window(&n->attrs.pool.w);
    case IG_FC: return channels;
    default: return 1;
    }
}

struct touches { /* of a storage: times each element is read or written */
    double gpu, cpu;
};

static void count(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *s, struct touches *t)
{
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        int gpu = !s || (i >= s->first && i <= s->last);
        for (int32_t k = 0; p->steps[i].kernel && k < n->n_in + n->n_out; k++) {
            int32_t root = root_of(g, p, k < n->n_in ? n->in[k] : n->out[k - n->n_in]);
            double times = k < n->n_in ? reads(g, n, k) : 1;
            if (root >= 0) *(gpu ? &t[root].gpu : &t[root].cpu) += times;
        }
    }
    for (int32_t i = 0; i < g->n_inputs; i++) t[g->inputs[i]].cpu++;
    for (int32_t i = 0; i < g->n_outputs; i++) t[root_of(g, p, g->outputs[i])].cpu++;
}

static int32_t cheapest(const struct ig_processor *gpu, double bytes, int ways, const struct touches *t)
{
    const struct ig_integrated *m = &gpu->integrated;
    double mapped = (t->gpu + (m->coherent ? 0 : t->cpu)) * bytes / (double)m->mapped_bytes_per_s * 1e9;
    double copied = ways * ((double)gpu->overhead_ns + bytes / (double)m->copy_bytes_per_s * 1e9);
    double managed = (double)m->attach_ns;
    if (copied <= mapped && copied <= managed) return IG_PASS_PINNED;
    return mapped <= managed ? IG_PASS_MAPPED : IG_PASS_MANAGED;
}

static const struct ig_processor *gpu_of(const struct ig_platform *b)
{
    for (int32_t i = 0; i < b->n_processors; i++)
        if (b->processors[i].integrated.given) return &b->processors[i];
    return NULL;
}

/* kinds[v] of what passes, if an alternative before has not said; -1: nothing does. */
static void choose(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *s,
                   const struct ig_processor *gpu, int32_t *kinds)
{
    uint8_t *marks = ig_must_alloc((size_t)g->n_values, 1);
    struct touches *t = ig_must_alloc((size_t)g->n_values, sizeof *t);
    ig_mark_passes(g, p, s, marks);
    count(g, p, s, t);
    for (int32_t v = 0; v < g->n_values; v++) {
        int ways = ig_passes_in(marks[v]) + ig_passes_out(marks[v]);
        if (!ways || kinds[v] >= 0) continue;
        kinds[v] = gpu ? cheapest(gpu, (double)ig_bytes(&g->values[v].shape), ways, &t[v]) : IG_PASS_PINNED;
    }
    free(marks);
    free(t);
}

void ig_plan_passes(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan *staged, const struct ig_platform *board)
{
    int32_t *kinds = ig_must_alloc((size_t)g->n_values, sizeof *kinds);
    int32_t stage = staged ? ig_gpu_stage_of(staged) : -1;
    for (int32_t v = 0; v < g->n_values; v++) kinds[v] = -1;
    for (int32_t a = 0; a <= (stage < 0 ? 0 : staged->n_others); a++)
        choose(g, p, stage < 0 ? NULL : &ig_alternative(staged, a)->stages[stage], gpu_of(board), kinds);
    free(p->passes);
    p->passes = ig_must_alloc((size_t)g->n_values, sizeof *p->passes);
    p->n_passes = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (kinds[v] >= 0) p->passes[p->n_passes++] = (struct ig_plan_pass){v, kinds[v]};
    free(kinds);
}

int32_t ig_pass_kind(const struct ig_plan *p, int32_t value)
{
    for (int32_t i = 0; i < p->n_passes; i++)
        if (p->passes[i].value == value) return p->passes[i].kind;
    return IG_PASS_PINNED;
}
