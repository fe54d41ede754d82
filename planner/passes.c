#include "planner/passes.h"

#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/pipe.h"
#include "planner/reads.h"

/* Storage of every value, by the plan's buffers or, where it has none yet, by the graph; -1: a constant. */
static int32_t *roots_of(const struct ig_graph *g, const struct ig_plan *p)
{
    int32_t *roots = ig_must_alloc((size_t)g->n_values, sizeof *roots);
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    if (!p->buffers) ig_compute_views(g, views);
    for (int32_t v = 0; v < g->n_values; v++) {
        int32_t root = p->buffers ? p->buffers[v].view.root : views[v].root;
        roots[v] = ig_is_const(g, root) ? -1 : root;
    }
    free(views);
    return roots;
}

static void mark(const int32_t *roots, int32_t v, int what, uint8_t *marks)
{
    if (v >= 0 && roots[v] >= 0) marks[roots[v]] |= (uint8_t)what;
}

static void mark_all(const struct ig_graph *g, const struct ig_plan *p, const int32_t *roots, const struct ig_plan_stage *s,
                     uint8_t *marks)
{
    for (int32_t i = 0; i < g->n_inputs; i++) mark(roots, g->inputs[i], IG_MADE_BEFORE, marks);
    for (int32_t i = 0; i < g->n_outputs; i++) mark(roots, g->outputs[i], IG_READ_BEHIND, marks);
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        int before = s && i < s->first, behind = s && i > s->last;
        if (!p->steps[i].kernel) continue;
        for (int32_t k = 0; k < n->n_in; k++) mark(roots, n->in[k], before ? 0 : behind ? IG_READ_BEHIND : IG_TOUCHED, marks);
        for (int32_t k = 0; k < n->n_out; k++)
            mark(roots, n->out[k], before ? IG_MADE_BEFORE : behind ? 0 : IG_TOUCHED | IG_MADE, marks);
    }
}

void ig_mark_passes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *s, uint8_t *marks)
{
    int32_t *roots = roots_of(g, p);
    mark_all(g, p, roots, s, marks);
    free(roots);
}

/* --- what it costs --- */

/* Of memory of its own: a node of a captured graph, and PCI Express 3 with 16 lanes, as is assumed. */
static const struct ig_pipe_link bus = {10000, 83333};

struct scene {
    const struct ig_graph *g;
    const struct ig_plan *p;
    const struct ig_processor *gpu; /* that shares the processor's memory; NULL: none does */
    struct ig_pipe_link in, out; /* of copies */
    int32_t *roots;
};

static const struct ig_processor *gpu_of(const struct ig_platform *b)
{
    for (int32_t i = 0; b && i < b->n_processors; i++)
        if (b->processors[i].integrated.given) return &b->processors[i];
    return NULL;
}

static struct scene scene_of(const struct ig_graph *g, const struct ig_plan *p, const struct ig_platform *board,
                             const struct ig_profile *times)
{
    struct scene s = {g, p, gpu_of(board), bus, bus, roots_of(g, p)};
    if (times && times->copies.known) {
        s.in = (struct ig_pipe_link){times->copies.in.ns, times->copies.in.fs_per_byte};
        s.out = (struct ig_pipe_link){times->copies.out.ns, times->copies.out.fs_per_byte};
    }
    if (s.gpu) s.in = s.out = (struct ig_pipe_link){s.gpu->overhead_ns, (int64_t)(1e15 / (double)s.gpu->integrated.copy_bytes_per_s)};
    return s;
}

/* Operand k of step i, inputs before outputs: its storage, -1 if it has none that is touched, and the bytes read or written. */
static int32_t touched_by(const struct scene *s, int32_t i, int32_t k, double *bytes)
{
    const struct ig_node *n = &s->g->nodes[s->p->steps[i].node];
    int32_t v = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
    if (!s->p->steps[i].kernel || v < 0 || s->roots[v] < 0) return -1;
    *bytes = (double)ig_bytes(&s->g->values[v].shape) * (k < n->n_in ? ig_gpu_reads(s->g, n, k, s->p->steps[i].kernel) : 1);
    return s->roots[v];
}

static int32_t operands(const struct scene *s, int32_t i)
{
    return s->g->nodes[s->p->steps[i].node].n_in + s->g->nodes[s->p->steps[i].node].n_out;
}

static double mapped_ns(const struct scene *s, double bytes)
{
    return bytes / (double)s->gpu->integrated.mapped_bytes_per_s * 1e9;
}

/* --- which is the least --- */

struct touches { /* of a storage: bytes read or written */
    double gpu, cpu;
};

static void count(const struct scene *s, const struct ig_plan_stage *stage, struct touches *t)
{
    const struct ig_graph *g = s->g;
    double bytes = 0;
    for (int32_t i = 0; i < s->p->n_steps; i++)
        for (int32_t k = 0; k < operands(s, i); k++) {
            int32_t root = touched_by(s, i, k, &bytes);
            if (root >= 0) *(!stage || (i >= stage->first && i <= stage->last) ? &t[root].gpu : &t[root].cpu) += bytes;
        }
    for (int32_t i = 0; i < g->n_inputs; i++) t[g->inputs[i]].cpu += (double)ig_bytes(&g->values[g->inputs[i]].shape);
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (s->roots[g->outputs[i]] >= 0) t[s->roots[g->outputs[i]]].cpu += (double)ig_bytes(&g->values[g->outputs[i]].shape);
}

static double copied_ns(const struct scene *s, int32_t v, uint8_t marks)
{
    int64_t bytes = ig_bytes(&s->g->values[v].shape);
    return (double)((ig_passes_in(marks) ? ig_pipe_transfer(&s->in, bytes) : 0) + (ig_passes_out(marks) ? ig_pipe_transfer(&s->out, bytes) : 0));
}

static int32_t cheapest(const struct scene *s, int32_t v, uint8_t marks, const struct touches *t)
{
    if (!s->gpu) return IG_PASS_PINNED;
    double mapped = mapped_ns(s, t->gpu + (s->gpu->integrated.coherent ? 0 : t->cpu));
    double copied = copied_ns(s, v, marks), managed = (double)s->gpu->integrated.attach_ns;
    if (copied <= mapped && copied <= managed) return IG_PASS_PINNED;
    return mapped <= managed ? IG_PASS_MAPPED : IG_PASS_MANAGED;
}

static int ways_of(uint8_t marks)
{
    return ig_passes_in(marks) + ig_passes_out(marks);
}

/* kinds[v] of what passes, if it is not told already. */
static void choose(const struct scene *s, const struct ig_plan_stage *stage, const uint8_t *marks, int32_t *kinds)
{
    struct touches *t = ig_must_alloc((size_t)s->g->n_values, sizeof *t);
    count(s, stage, t);
    for (int32_t v = 0; v < s->g->n_values; v++)
        if (kinds[v] < 0 && ways_of(marks[v])) kinds[v] = cheapest(s, v, marks[v], &t[v]);
    free(t);
}

static int32_t *no_kinds(const struct ig_graph *g)
{
    int32_t *kinds = ig_must_alloc((size_t)g->n_values, sizeof *kinds);
    for (int32_t v = 0; v < g->n_values; v++) kinds[v] = -1;
    return kinds;
}

static void set_passes(const struct ig_graph *g, struct ig_plan *p, const int32_t *kinds)
{
    free(p->passes);
    p->passes = ig_must_alloc((size_t)g->n_values, sizeof *p->passes);
    p->n_passes = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (kinds[v] >= 0) p->passes[p->n_passes++] = (struct ig_plan_pass){v, kinds[v]};
}

void ig_plan_passes(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan *staged, const struct ig_platform *board)
{
    struct scene s = scene_of(g, p, board, NULL);
    int32_t *kinds = no_kinds(g), gpu = staged ? ig_gpu_stage_of(staged) : -1;
    for (int32_t a = 0; a <= (gpu < 0 ? 0 : staged->n_others); a++) {
        const struct ig_plan_stage *stage = gpu < 0 ? NULL : &ig_alternative(staged, a)->stages[gpu];
        uint8_t *marks = ig_must_alloc((size_t)g->n_values, 1);
        mark_all(g, p, s.roots, stage, marks);
        choose(&s, stage, marks, kinds);
        free(marks);
    }
    set_passes(g, p, kinds);
    free(kinds);
    free(s.roots);
}

/* --- how long it takes --- */

/* Of the stages of a cut: the GPU's copies and changes of hands, and accesses past caches where they happen. */
static void add_times(const struct scene *s, const struct ig_plan_stage *stages, int32_t n, const uint8_t *marks,
                      const int32_t *kinds, double *ns)
{
    double bytes = 0;
    for (int32_t at = 0; at < n; at++) {
        int gpu = ig_stage_is_gpu(&stages[at]);
        for (int32_t v = 0; gpu && v < s->g->n_values; v++) {
            if (!ways_of(marks[v])) continue;
            if (kinds[v] == IG_PASS_PINNED) ns[at] += copied_ns(s, v, marks[v]);
            if (kinds[v] == IG_PASS_MANAGED) ns[at] += (double)s->gpu->integrated.attach_ns;
        }
        if (!s->gpu || (!gpu && s->gpu->integrated.coherent)) continue;
        for (int32_t i = stages[at].first; i <= stages[at].last; i++)
            for (int32_t k = 0; k < operands(s, i); k++) {
                int32_t root = touched_by(s, i, k, &bytes);
                if (root >= 0 && ways_of(marks[root]) && kinds[root] == IG_PASS_MAPPED) ns[at] += mapped_ns(s, bytes);
            }
    }
}

/* The kinds of what passes stay in kinds[], others become -1. */
static void time_cut(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *stages, int32_t n,
                     const struct ig_platform *board, const struct ig_profile *times, int32_t *kinds, double *ns)
{
    int32_t gpu = 0;
    while (gpu < n && !ig_stage_is_gpu(&stages[gpu])) gpu++;
    for (int32_t i = 0; i < n; i++) ns[i] = 0;
    if (gpu == n) return;
    struct scene s = scene_of(g, p, board, times);
    uint8_t *marks = ig_must_alloc((size_t)g->n_values, 1);
    mark_all(g, p, s.roots, &stages[gpu], marks);
    choose(&s, &stages[gpu], marks, kinds);
    add_times(&s, stages, n, marks, kinds, ns);
    for (int32_t v = 0; v < g->n_values; v++)
        if (!ways_of(marks[v])) kinds[v] = -1;
    free(marks);
    free(s.roots);
}

void ig_time_cut_passes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *stages, int32_t n_stages,
                        const struct ig_platform *board, const struct ig_profile *times, double *ns)
{
    int32_t *kinds = no_kinds(g);
    time_cut(g, p, stages, n_stages, board, times, kinds, ns);
    free(kinds);
}

/* What plans that were there first say. */
static void take_kinds(const struct ig_plan *first, int32_t *kinds)
{
    for (int32_t a = 0; first && a <= first->n_others; a++) {
        const struct ig_plan *p = ig_alternative(first, a);
        for (int32_t i = 0; i < p->n_passes; i++)
            if (kinds[p->passes[i].value] < 0) kinds[p->passes[i].value] = p->passes[i].kind;
    }
}

void ig_time_passes(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan *like, const struct ig_platform *board,
                    const struct ig_profile *times)
{
    double ns[IG_PLAN_STAGES];
    int32_t *kinds;
    for (int32_t i = 0; i < p->n_stages; i++) p->stages[i].pass_ns = 0;
    if (ig_gpu_stage_of(p) < 0) return;
    kinds = no_kinds(g);
    take_kinds(like, kinds);
    time_cut(g, p, p->stages, p->n_stages, board, times, kinds, ns);
    for (int32_t i = 0; i < p->n_stages; i++) p->stages[i].pass_ns = ns[i];
    set_passes(g, p, kinds);
    free(kinds);
}

int32_t ig_pass_kind(const struct ig_plan *p, int32_t value)
{
    for (int32_t i = 0; i < p->n_passes; i++)
        if (p->passes[i].value == value) return p->passes[i].kind;
    return IG_PASS_PINNED;
}
