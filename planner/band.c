/*
 * Which steps can be a band, and how many rows of every tensor between them must be kept. That is found by
 * going through the phases as the executor will: rows are asked for from the last step back to the first,
 * what is not there is computed, and a ring holds at any time from the lowest row that is still read to the
 * highest that is there.
 */
#include "planner/band.h"

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"
#include "planner/views.h"

enum { LINE = 64 }; /* bytes of a cache line */

int32_t ig_band_operand(const struct ig_node *n, int32_t value)
{
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] == value) return k;
    return -1;
}

/* The next step after `step` that reads its output; -1: none up to `last`. */
static int32_t reader(const struct ig_graph *g, const struct ig_plan *p, int32_t step, int32_t last)
{
    int32_t v = g->nodes[p->steps[step].node].out[0];
    for (int32_t i = step + 1; v >= 0 && i <= last; i++)
        if (ig_band_operand(&g->nodes[p->steps[i].node], v) >= 0) return i;
    return -1;
}

int32_t ig_band_members(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                        int32_t *members)
{
    int32_t n = 0;
    for (int32_t at = b->first; at >= 0 && n < IG_MAX_BAND; at = reader(g, p, at, b->last)) {
        members[n++] = at;
        if (at == b->last) return n;
    }
    return 0;
}

const struct ig_band *ig_band_of(const struct ig_graph *g, const struct ig_plan *p, int32_t step)
{
    int32_t members[IG_MAX_BAND];
    for (int32_t i = 0; i < p->n_bands; i++) {
        if (step < p->bands[i].first || step > p->bands[i].last) continue;
        for (int32_t n = ig_band_members(g, p, &p->bands[i], members); n > 0; n--)
            if (members[n - 1] == step) return &p->bands[i];
    }
    return NULL;
}

void ig_step_times(const struct ig_graph *g, const struct ig_plan *p, int32_t *times)
{
    int32_t members[IG_MAX_BAND];
    for (int32_t i = 0; i < p->n_steps; i++) times[i] = i;
    for (int32_t i = 0; i < p->n_bands; i++)
        for (int32_t n = ig_band_members(g, p, &p->bands[i], members); n > 0; n--)
            times[members[n - 1]] = p->bands[i].last;
}

struct ig_view ig_ring_view(const struct ig_graph *g, const struct ig_plan *p, int32_t v)
{
    const struct ig_shape *s = &g->values[v].shape;
    struct ig_form f = ig_form_of(s);
    int64_t line = LINE / ig_type_bytes(s->type), lines = (f.c + line - 1) / line;
    int64_t pixel = lines < 4 || p->dense_rings ? f.c : (lines | 1) * line;
    return (struct ig_view){v, 0, f.w * pixel, pixel};
}

/* Has v one reader and storage of its own, of which nothing else is a view? */
static int is_private(const struct ig_graph *g, const struct ig_view *views, int32_t v)
{
    if (v < 0 || views[v].root != v || ig_use_count(g, v) != 1 || ig_is_output(g, v)) return 0;
    for (int32_t u = 0; u < g->n_values; u++)
        if (u != v && views[u].root == v) return 0;
    return 1;
}

/*
 * Can the step be cut by rows that lie in rings, and has it one output and one image? What takes rings on one side only
 * has no reach, so that it can but open a band.
 */
static int is_divisible(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_step *s,
                        struct ig_call *call)
{
    const struct ig_node *n = &g->nodes[s->node];
    int32_t images;
    if (!s->kernel || !(s->kernel->flags & (IG_STRIDED | IG_RING_OUT))) return 0;
    if (s->kernel->row_tile < 1 || n->out[0] < 0) return 0;
    for (int32_t k = 1; k < n->n_out; k++)
        if (n->out[k] >= 0) return 0;
    ig_node_call(g, views, n, call, &images);
    return images == 1;
}

int32_t ig_chain_next(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                      int32_t step)
{
    struct ig_call from, to;
    struct ig_reach reach;
    if (!is_divisible(g, views, &p->steps[step], &from)) return -1;
    int32_t v = g->nodes[p->steps[step].node].out[0];
    if (!is_private(g, views, v)) return -1;
    int32_t next = reader(g, p, step, p->n_steps - 1);
    if (next < 0 || !is_divisible(g, views, &p->steps[next], &to)) return -1;
    const struct ig_node *n = &g->nodes[p->steps[next].node];
    int32_t k = ig_band_operand(n, v);
    const struct ig_operand *out = &from.out[0], *in = &to.in[k];
    if (out->h != in->h || out->w != in->w || out->c != in->c || out->h < 2) return -1;
    return ig_reach_of((enum ig_op)n->op, &to, k, &reach) ? next : -1;
}

static void set_ring(const struct ig_graph *g, const struct ig_plan *p, int32_t v, struct ig_operand *o)
{
    struct ig_view ring = ig_ring_view(g, p, v);
    o->row_stride = ring.row_stride;
    o->pixel_stride = ring.pixel_stride;
}

/* Member i of the chain: 0 if its kernel does not take rings. before: what the member before it writes; -1:
 * none. */
static int add_member(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                      struct ig_chain *chain, int32_t before, int is_last)
{
    int32_t i = chain->n++, k = -1;
    const struct ig_plan_step *s = &p->steps[chain->step[i]];
    const struct ig_node *n = &g->nodes[s->node];
    struct ig_call call;
    if (!is_divisible(g, views, s, &call)) return 0;
    if (before >= 0) {
        k = ig_band_operand(n, before);
        if (!ig_reach_of((enum ig_op)n->op, &call, k, &chain->reach[i])) return 0;
        set_ring(g, p, before, &call.in[k]);
    }
    if (!is_last) set_ring(g, p, n->out[0], &call.out[0]);
    if (!ig_kernel_fits(s->kernel, n->op, &call)) return 0;
    chain->rows[i] = call.out[0].h;
    chain->row_tile[i] = s->kernel->row_tile;
    chain->row_bytes[i] = call.out[0].row_stride * ig_type_bytes(call.out[0].shape->type);
    int64_t bytes = s->kernel->scratch ? (int64_t)s->kernel->scratch(&call) : 0;
    if (bytes > chain->scratch_bytes) chain->scratch_bytes = (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
    return 1;
}

int ig_chain_make(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                  int32_t first, int32_t last, struct ig_chain *chain)
{
    int32_t before = -1, at = first;
    *chain = (struct ig_chain){0};
    while (at >= 0 && at <= last && chain->n < IG_MAX_BAND) {
        chain->step[chain->n] = at;
        if (!add_member(g, views, p, chain, before, at == last)) return 0;
        if (at == last) return chain->n > 1;
        before = g->nodes[p->steps[at].node].out[0];
        at = ig_chain_next(g, views, p, at);
    }
    return 0;
}

struct walk { /* through the phases of one chunk */
    const struct ig_chain *c;
    int by_tiles;              /* a phase is one tile of the last member: all go tile by tile */
    int32_t done[IG_MAX_BAND]; /* where the rows end that are there */
    int32_t *rings;            /* [n] grows to what is live */
    int64_t *computed;         /* [n] rows */
    struct ig_firing *firings; /* where they are noted down; or NULL */
    int32_t n_firings;
};

static void produce(struct walk *w, int32_t i, int32_t a, int32_t b)
{
    for (int32_t y = a, end; y < b; y = end) {
        end = w->by_tiles && b - y > w->c->row_tile[i] ? y + w->c->row_tile[i] : b;
        w->computed[i] += end - y;
        if (i > 0) {
            int32_t tile = w->c->row_tile[i - 1], h = w->c->rows[i - 1], *done = &w->done[i - 1];
            struct ig_rows need = ig_reach_rows(&w->c->reach[i], y, end, h);
            int32_t from = need.a - need.a % tile, to = need.b + (tile - need.b % tile) % tile;
            if (from < *done) from = *done;
            if (to > h) to = h;
            if (need.a < need.b && from < to) produce(w, i - 1, from, to);
            if (need.a < need.b && *done - need.a > w->rings[i - 1]) w->rings[i - 1] = *done - need.a;
        }
        if (w->firings) w->firings[w->n_firings++] = (struct ig_firing){i, end - y};
        w->done[i] = end;
    }
}

static int by_tiles(const struct ig_chain *c, int32_t rows)
{
    return rows == c->row_tile[c->n - 1];
}

static void walk_chain(const struct ig_chain *c, int32_t rows, int32_t chunk, int32_t *rings,
                       int64_t *computed)
{
    int32_t h = c->rows[c->n - 1];
    for (int32_t from = 0; from < h; from += chunk) {
        struct walk w = {.c = c, .by_tiles = by_tiles(c, rows), .rings = rings, .computed = computed};
        int32_t to = h - from < chunk ? h : from + chunk;
        for (int32_t y = from; y < to; y += rows) produce(&w, c->n - 1, y, to - y < rows ? to : y + rows);
    }
}

int ig_chain_trails(const struct ig_chain *chain, const struct ig_reach *reach, int32_t rows)
{
    int32_t rings[IG_MAX_BAND] = {0}, h = chain->rows[chain->n - 1], first_h = chain->rows[0];
    int64_t computed[IG_MAX_BAND] = {0};
    struct walk w = {.c = chain, .by_tiles = by_tiles(chain, rows), .rings = rings, .computed = computed};
    for (int32_t y = 0; y < h; y += rows) {
        int32_t end = h - y < rows ? h : y + rows;
        produce(&w, chain->n - 1, y, end);
        if (w.done[0] < first_h && ig_floor_div((int64_t)w.done[0] * reach->mul + reach->lo, reach->div) < end)
            return 0;
    }
    return 1;
}

void ig_chain_rings(const struct ig_chain *chain, int32_t rows, int32_t chunk, int32_t *rings)
{
    int64_t computed[IG_MAX_BAND] = {0};
    for (int32_t i = 0; i < chain->n; i++) rings[i] = 1;
    walk_chain(chain, rows, chunk, rings, computed);
}

struct ig_firing *ig_chain_firings(const struct ig_chain *chain, int32_t rows, int32_t chunk, int32_t *n)
{
    int32_t rings[IG_MAX_BAND] = {0}, h = chain->rows[chain->n - 1];
    int64_t computed[IG_MAX_BAND], most = 0;
    struct walk w = {.c = chain, .by_tiles = by_tiles(chain, rows), .rings = rings, .computed = computed};
    ig_chain_work(chain, rows, chunk, computed);
    for (int32_t i = 0; i < chain->n; i++) most += computed[i];
    w.firings = ig_must_alloc((size_t)most, sizeof *w.firings);
    for (int32_t from = 0; from < h; from += chunk) {
        int32_t to = h - from < chunk ? h : from + chunk;
        for (int32_t i = 0; i < chain->n; i++) w.done[i] = 0;
        for (int32_t y = from; y < to; y += rows) produce(&w, chain->n - 1, y, to - y < rows ? to : y + rows);
    }
    *n = w.n_firings;
    return w.firings;
}

void ig_chain_work(const struct ig_chain *chain, int32_t rows, int32_t chunk, int64_t *computed)
{
    int32_t rings[IG_MAX_BAND] = {0};
    for (int32_t i = 0; i < chain->n; i++) computed[i] = 0;
    walk_chain(chain, rows, chunk, rings, computed);
}
