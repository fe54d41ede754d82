/*
 * Which steps can be a band. Storage is what counts: a tensor with all views of it - the pieces of a concatenation -
 * becomes a ring if no step outside touches it. Who reads a part of it waits for all members before it that write into
 * the same storage.
 */
#include "planner/band.h"

#include <stdlib.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"
#include "planner/views.h"

enum { LINE = 64 }; /* bytes of a cache line */

int32_t ig_band_members(const struct ig_plan *p, const struct ig_band *b, int32_t *members)
{
    int32_t n = 0;
    for (int32_t i = b->first; i <= b->last; i++) {
        if (!p->steps[i].kernel) continue;
        if (n == IG_MAX_BAND) return 0;
        members[n++] = i;
    }
    return n;
}

const struct ig_band *ig_band_of(const struct ig_plan *p, int32_t step)
{
    for (int32_t i = 0; i < p->n_bands; i++)
        if (p->bands[i].first <= step && step <= p->bands[i].last) return &p->bands[i];
    return NULL;
}

void ig_step_times(const struct ig_plan *p, int32_t *times)
{
    for (int32_t i = 0; i < p->n_steps; i++) times[i] = i;
    for (int32_t i = 0; i < p->n_bands; i++)
        for (int32_t s = p->bands[i].first; s <= p->bands[i].last; s++) times[s] = p->bands[i].last;
}

void ig_band_bytes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b, int64_t *tensors,
                   int64_t *rings)
{
    *tensors = *rings = 0;
    for (int32_t v = 0; v < g->n_values; v++) {
        int32_t step = g->values[v].producer;
        if (p->buffers[v].ring_rows < 1 || step < b->first || step > b->last) continue;
        if (p->steps[step].kernel) *tensors += ig_bytes(&g->values[v].shape);
        if (p->buffers[v].alias_of < 0) *rings += p->buffers[v].bytes;
    }
}

struct ig_view ig_ring_view(const struct ig_graph *g, const struct ig_plan *p, int32_t v)
{
    const struct ig_shape *s = &g->values[v].shape;
    struct ig_form f = ig_form_of(s);
    int64_t line = LINE / ig_type_bytes(s->type), lines = (f.c + line - 1) / line;
    int64_t pixel = lines < 4 || p->dense_rings ? f.c : (lines | 1) * line;
    if (p->buffers && p->buffers[v].ring_rows > 0) return p->buffers[v].view; /* that of a file may be either */
    return (struct ig_view){v, 0, f.w * pixel, pixel};
}

/* --- storage --- */

/* Is v made of channels of its root's pixels, or all of it? */
static int is_slice(const struct ig_graph *g, const struct ig_view *views, int32_t v)
{
    const struct ig_view *at = &views[v], *root = &views[at->root];
    struct ig_form own = ig_form_of(&g->values[v].shape), all = ig_form_of(&g->values[at->root].shape);
    return own.rows == all.rows && own.w == all.w && all.rows > 1 && at->row_stride == root->row_stride &&
           (own.w == 1 || at->pixel_stride == root->pixel_stride) && at->offset >= 0 && at->offset + own.c <= all.c &&
           ig_type_bytes(g->values[v].shape.type) == ig_type_bytes(g->values[at->root].shape.type);
}

static void touch(struct ig_usage *u, int32_t step)
{
    if (step < u->first) u->first = step;
    if (step > u->last) u->last = step;
}

void ig_find_usage(const struct ig_graph *g, const struct ig_view *views, struct ig_usage *usage)
{
    for (int32_t v = 0; v < g->n_values; v++) usage[v] = (struct ig_usage){INT32_MAX, -1, 1, 0};
    for (int32_t v = 0; v < g->n_values; v++) {
        struct ig_usage *u = &usage[views[v].root];
        u->values++;
        if (g->values[v].producer >= 0) touch(u, g->values[v].producer);
        if (ig_is_const(g, v) || !is_slice(g, views, v)) u->may_ring = 0;
    }
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] >= 0) touch(&usage[views[g->nodes[i].in[k]].root], i);
    for (int32_t i = 0; i < g->n_inputs; i++) usage[views[g->inputs[i]].root].may_ring = 0;
    for (int32_t i = 0; i < g->n_outputs; i++) usage[views[g->outputs[i]].root].may_ring = 0;
}

int ig_is_ring(const struct ig_usage *usage, int32_t root, int32_t first, int32_t last)
{
    const struct ig_usage *u = &usage[root];
    return u->may_ring && first <= u->first && u->last <= last;
}

/* --- parts --- */

struct maker {
    const struct ig_graph *g;
    const struct ig_view *views;
    const struct ig_usage *usage;
    const struct ig_plan *p;
    struct ig_part *part;
    int32_t first, last;
    int32_t written[IG_MAX_BAND]; /* roots that the members write */
    struct ig_call call;
};

/*
 * Can the step be cut by rows that lie in rings, and has it one output and one image? What takes rings on one side only
 * can but open a band.
 */
static int is_divisible(struct maker *m, const struct ig_plan_step *s)
{
    const struct ig_node *n = &m->g->nodes[s->node];
    int32_t images;
    if (!(s->kernel->flags & (IG_STRIDED | IG_RING_OUT)) || s->kernel->row_tile < 1 || n->out[0] < 0) return 0;
    for (int32_t k = 1; k < n->n_out; k++)
        if (n->out[k] >= 0) return 0;
    ig_node_call(m->g, m->views, n, &m->call, &images);
    return images == 1;
}

/* The ring of that root, a new one if need be; -1: it stays whole. */
static int32_t ring_of(struct maker *m, int32_t root)
{
    struct ig_part *part = m->part;
    if (!ig_is_ring(m->usage, root, m->first, m->last)) return -1;
    for (int32_t i = 0; i < part->n_rings; i++)
        if (part->root[i] == root) return i;
    struct ig_view ring = ig_ring_view(m->g, m->p, root);
    part->root[part->n_rings] = root;
    part->row_bytes[part->n_rings] = ring.row_stride * ig_type_bytes(m->g->values[root].shape.type);
    return part->n_rings++;
}

static void set_ring(const struct maker *m, int32_t ring, struct ig_operand *o)
{
    if (ring < 0) return;
    struct ig_view view = ig_ring_view(m->g, m->p, m->part->root[ring]);
    o->row_stride = view.row_stride;
    o->pixel_stride = view.pixel_stride;
}

/* May the member write its rows over those of operand k, if nobody else needs them? k: its feed at `at`. */
static int is_over(const struct maker *m, int32_t i, const struct ig_kernel *kernel, const struct ig_node *n, int32_t k,
                   int32_t at)
{
    static const int32_t flags[] = {IG_IN_PLACE_0, IG_IN_PLACE_1, 0, IG_IN_PLACE_3};
    int32_t root = m->views[n->in[k]].root, out = m->views[n->out[0]].root;
    const struct ig_reach *r = &m->part->flow.feeds[i][at].reach;
    const struct ig_operand *x = &m->call.in[k], *y = &m->call.out[0];
    return k < 4 && (kernel->flags & flags[k]) && r->mul == 1 && r->div == 1 && !r->lo && !r->hi &&
           m->part->source[i][at] >= 0 && ig_is_ring(m->usage, out, m->first, m->last) && m->usage[root].values == 1 &&
           m->usage[out].values == 1 && root != out && x->h == y->h && x->w == y->w && x->c == y->c &&
           m->g->values[root].shape.type == m->g->values[out].shape.type;
}

/* Operand k of member i: nothing to do where no member has written it; 0 if its rows cannot be followed. */
static int add_feed(struct maker *m, int32_t i, const struct ig_kernel *kernel, const struct ig_node *n, int32_t k)
{
    struct ig_part *part = m->part;
    struct ig_feed feed = {.from = 0};
    struct ig_operand *in = &m->call.in[k];
    int32_t root = n->in[k] < 0 ? -1 : m->views[n->in[k]].root, same = 1;
    for (int32_t w = 0; root >= 0 && w < i; w++) {
        if (m->written[w] != root) continue;
        feed.from |= 1u << w;
        same &= part->rows[w] == in->h;
    }
    if (!feed.from) return 1;
    struct ig_form form = ig_form_of(&m->g->values[n->in[k]].shape);
    if (!same || !(kernel->flags & IG_STRIDED) || part->flow.n_feeds[i] == IG_MAX_FEEDS) return 0;
    if (in->h != form.rows || in->w != form.w || in->c != form.c || !is_slice(m->g, m->views, n->in[k])) return 0;
    if (!ig_reach_of((enum ig_op)n->op, &m->call, k, &feed.reach)) return 0;
    int32_t at = part->flow.n_feeds[i]++;
    part->flow.feeds[i][at] = feed;
    part->source[i][at] = ring_of(m, root);
    set_ring(m, part->source[i][at], in);
    if (part->over[i] < 0 && is_over(m, i, kernel, n, k, at)) part->over[i] = at;
    return 1;
}

static int add_member(struct maker *m, int32_t step)
{
    struct ig_part *part = m->part;
    const struct ig_plan_step *s = &m->p->steps[step];
    const struct ig_node *n = &m->g->nodes[s->node];
    if (part->flow.n == IG_MAX_BAND || !is_divisible(m, s)) return 0;
    int32_t i = part->flow.n++;
    part->flow.step[i] = step;
    part->over[i] = -1;
    for (int32_t k = 0; k < n->n_in; k++)
        if (!add_feed(m, i, s->kernel, n, k)) return 0;
    m->written[i] = m->views[n->out[0]].root;
    struct ig_form form = ig_form_of(&m->g->values[n->out[0]].shape);
    const struct ig_operand *out = &m->call.out[0];
    if (out->h != form.rows || out->w != form.w || out->c != form.c) return 0;
    part->ring[i] = ring_of(m, m->written[i]);
    set_ring(m, part->ring[i], &m->call.out[0]);
    if (part->ring[i] < 0) part->flow.kept |= 1u << i;
    else part->writers[part->ring[i]] |= 1u << i;
    if (!ig_kernel_fits(s->kernel, n->op, &m->call)) return 0;
    part->rows[i] = out->h;
    part->row_tile[i] = s->kernel->row_tile;
    int64_t bytes = s->kernel->scratch ? (int64_t)s->kernel->scratch(&m->call) : 0;
    if (bytes > part->scratch_bytes) part->scratch_bytes = (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
    return 1;
}

/* Is every ring read, what each member writes into it, and is any member fed by another, if there is one? */
static int is_whole(const struct maker *m)
{
    const struct ig_flow *f = &m->part->flow;
    uint32_t read = f->kept, fed = 0;
    for (int32_t i = 0; i < f->n; i++)
        for (int32_t k = 0; k < f->n_feeds[i]; k++) {
            read |= f->feeds[i][k].from;
            fed |= 1u << i;
        }
    return read == (uint32_t)((UINT64_C(1) << f->n) - 1) && (f->n == 1 || fed) && (f->kept >> (f->n - 1) & 1);
}

int ig_part_make(const struct ig_graph *g, const struct ig_view *views, const struct ig_usage *usage,
                 const struct ig_plan *p, int32_t first, int32_t last, struct ig_part *part)
{
    struct maker m = {.g = g, .views = views, .usage = usage, .p = p, .part = part, .first = first, .last = last};
    *part = (struct ig_part){.n_rings = 0};
    if (first < 0 || last >= p->n_steps || first > last || !p->steps[first].kernel || !p->steps[last].kernel) return 0;
    for (int32_t i = first; i <= last; i++)
        if (p->steps[i].kernel && !add_member(&m, i)) return 0;
    return is_whole(&m);
}

int ig_part_of(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p, const struct ig_band *b,
               struct ig_part *part)
{
    struct ig_usage *usage = ig_must_alloc((size_t)g->n_values, sizeof *usage);
    ig_find_usage(g, views, usage);
    int made = ig_part_make(g, views, usage, p, b->first, b->last, part);
    free(usage);
    return made;
}

int ig_band_flow(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b, struct ig_flow *flow)
{
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    struct ig_part part;
    ig_compute_views(g, views);
    int made = ig_part_of(g, views, p, b, &part);
    *flow = part.flow;
    free(views);
    return made;
}

int ig_part_is_chain(const struct ig_part *part)
{
    const struct ig_flow *f = &part->flow;
    for (int32_t i = 0; i < f->n; i++) {
        if (f->n_feeds[i] != (i > 0) || (part->ring[i] < 0) != (i == f->n - 1)) return 0;
        if (i && f->feeds[i][0].from != 1u << (i - 1)) return 0;
        if (i < f->n - 1 && part->ring[i] != i) return 0;
    }
    return 1;
}

int ig_part_is_divisible(const struct ig_part *part)
{
    return part->flow.kept == 1u << (part->flow.n - 1);
}

int32_t ig_part_rows(const struct ig_part *part)
{
    return part->rows[part->flow.n - 1];
}

int32_t ig_part_tile(const struct ig_part *part)
{
    return part->row_tile[part->flow.n - 1];
}

int ig_part_suits(const struct ig_part *part, const struct ig_plan *p, const struct ig_band_timing *t)
{
    int32_t tile = ig_part_tile(part);
    if (t->threads != p->threads || part->flow.n != t->n) return 0;
    for (int32_t i = 0; i < t->n; i++)
        if (t->kernels[i] && p->steps[part->flow.step[i]].kernel != t->kernels[i]) return 0;
    if (t->chunk && !ig_part_is_divisible(part)) return 0;
    return t->rows > 0 && t->rows % tile == 0 && t->chunk >= 0 && t->chunk % tile == 0;
}
