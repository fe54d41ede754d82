/*
 * Minimal line buffers. Between two layers: after the firing that completes a window the rows from the window's
 * first to the producer's last are live, and where the window ends within a firing runs over all residues of
 * g = gcd(wanted * stride, made). Between branches: one clock. A reader's row y at tick y*T_v + start_v finds
 * the rows up to floor((y*T_v + start_v - start_u) / T_u) of its producer made and wants those from y*stride -
 * pad on; with T_v = stride * T_u the difference does not depend on y.
 */
#include "planner/rows.h"

#include <stdlib.h>

#include "planner/alloc.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Rows from the first tap to the last. */
static int64_t extent(struct ig_row_window w)
{
    return (int64_t)(w.taps - 1) * w.dilation + 1;
}

int32_t ig_ring_closed(struct ig_row_window w, int32_t made, int32_t wanted, int32_t height)
{
    int64_t step = (int64_t)wanted * w.stride, rows = extent(w) + step - w.stride, g = gcd(step, made);
    int64_t over = w.pad - rows - floor_div(w.pad - rows, g) * g;
    int64_t ring = rows + made - g + over;
    if (ring < made) ring = made;
    return (int32_t)(ring < height ? ring : height);
}

int32_t ig_ring_exact(struct ig_row_window w, int32_t made, int32_t wanted, int32_t height, int32_t out)
{
    int64_t ring = made < height ? made : height;
    for (int64_t y = 0; y < out; y += wanted) {
        int64_t last = y + wanted < out ? y + wanted - 1 : out - 1;
        int64_t from = clamp(y * w.stride - w.pad, 0, height);
        int64_t to = clamp(last * w.stride - w.pad + extent(w), 0, height);
        int64_t there = (to + made - 1) / made * made;
        if (there > height) there = height;
        if (there - from > ring) ring = there - from;
    }
    return (int32_t)ring;
}

int64_t ig_overlap_distance(struct ig_row_window w, int32_t height, int32_t out, int64_t in_row, int64_t out_row)
{
    int64_t most = 0;
    for (int64_t y = 0; y < out; y++) {
        int64_t need = (y + 1) * out_row - clamp(y * w.stride - w.pad, 0, height) * in_row;
        if (need > most) most = need;
    }
    return most;
}

/* Ticks that the reader must start after the writer: its first window is complete then. */
static int64_t lag(const struct ig_row_edge *e, const struct ig_ticks *t)
{
    return (extent(e->window) - 1 - e->window.pad) * t->period[e->from];
}

/* start[to] - start[from] in rows of `from`, and what the reader still wants behind: rows to keep for it. */
static int64_t rows_kept(const struct ig_row_edge *e, const struct ig_ticks *t)
{
    int64_t ahead = t->start[e->to] - t->start[e->from] + (e->up - 1) * t->period[e->to];
    return floor_div(ahead, t->period[e->from]) + e->window.pad + 1;
}

void ig_ticks_measure(const struct ig_row_net *net, struct ig_ticks *t)
{
    for (int32_t v = 0; v < net->n; v++) t->ring[v] = 0;
    for (int32_t i = 0; i < net->n_edges; i++) {
        const struct ig_row_edge *e = &net->edges[i];
        int64_t rows = clamp(rows_kept(e, t), 1, net->height[e->from]);
        if (rows > t->ring[e->from]) t->ring[e->from] = (int32_t)rows;
    }
    t->bytes = 0;
    for (int32_t v = 0; v < net->n; v++) t->bytes += t->ring[v] * net->row_bytes[v];
}

static void scale_periods(struct ig_ticks *t, int32_t n, int64_t factor)
{
    for (int32_t v = 0; v < n; v++) t->period[v] *= factor;
}

/* Makes one end's period follow from the other's, all scaled so that it is whole; 1 if something changed, -1 if the two contradict. */
static int settle_edge(const struct ig_row_net *net, struct ig_ticks *t, const struct ig_row_edge *e)
{
    int64_t stride = e->window.stride, up = e->up;
    int64_t *from = &t->period[e->from], *to = &t->period[e->to];
    if (*from && *to) return *from * stride == *to * up ? 0 : -1;
    if (!*from && !*to) return 0;
    const int64_t *known = *from ? from : to;
    int64_t *unknown = *from ? to : from, times = *from ? stride : up, by = *from ? up : stride;
    scale_periods(t, net->n, by / gcd(by, *known * times));
    *unknown = *known * times / by;
    return 1;
}

/* Periods of all nodes, the smallest that are whole; every connected part has its own scale. */
static int find_periods(const struct ig_row_net *net, struct ig_ticks *t)
{
    for (int32_t v = 0; v < net->n; v++) {
        if (t->period[v]) continue;
        t->period[v] = 1;
        for (int changed = 1; changed;) {
            changed = 0;
            for (int32_t i = 0; i < net->n_edges; i++) {
                int result = settle_edge(net, t, &net->edges[i]);
                if (result < 0) return -1;
                changed |= result;
            }
        }
    }
    int64_t all = 0;
    for (int32_t v = 0; v < net->n; v++) all = gcd(t->period[v], all);
    for (int32_t v = 0; v < net->n; v++) t->period[v] /= all;
    return 0;
}

/* The longest path to each node; edges in any order, nodes in topological order. */
static void start_early(const struct ig_row_net *net, struct ig_ticks *t)
{
    for (int32_t v = 0; v < net->n; v++) {
        int64_t start = INT64_MIN;
        for (int32_t i = 0; i < net->n_edges; i++) {
            const struct ig_row_edge *e = &net->edges[i];
            if (e->to != v) continue;
            int64_t ready = t->start[e->from] + lag(e, t);
            if (ready > start) start = ready;
        }
        t->start[v] = start == INT64_MIN ? 0 : start;
    }
}

/* Every node that is read as late as its readers allow; the others stay where they are. */
static void start_late(const struct ig_row_net *net, struct ig_ticks *t)
{
    for (int32_t u = net->n - 1; u >= 0; u--) {
        int64_t start = INT64_MAX;
        for (int32_t i = 0; i < net->n_edges; i++) {
            const struct ig_row_edge *e = &net->edges[i];
            if (e->from != u) continue;
            int64_t latest = t->start[e->to] - lag(e, t);
            if (latest < start) start = latest;
        }
        if (start != INT64_MAX) t->start[u] = start;
    }
}

void ig_ticks_late(const struct ig_row_net *net, struct ig_ticks *t)
{
    start_late(net, t);
    ig_ticks_measure(net, t);
}

int ig_ticks_make(const struct ig_row_net *net, struct ig_ticks *t)
{
    size_t n = (size_t)net->n;
    t->period = ig_must_alloc(n, sizeof *t->period);
    t->start = ig_must_alloc(n, sizeof *t->start);
    t->ring = ig_must_alloc(n, sizeof *t->ring);
    t->bytes = 0;
    if (find_periods(net, t)) return -1;
    start_early(net, t);
    ig_ticks_measure(net, t);
    int64_t early = t->bytes;
    ig_ticks_late(net, t);
    if (t->bytes < early) return 0;
    start_early(net, t);
    ig_ticks_measure(net, t);
    return 0;
}

void ig_ticks_free(struct ig_ticks *t)
{
    free(t->period);
    free(t->start);
    free(t->ring);
}

struct firing { int64_t tick; int32_t node; };

static int earlier(const void *pa, const void *pb)
{
    const struct firing *a = pa, *b = pb;
    if (a->tick != b->tick) return a->tick < b->tick ? -1 : 1;
    return a->node - b->node;
}

int32_t *ig_ticks_order(const struct ig_row_net *net, const struct ig_ticks *t, int32_t *n)
{
    size_t total = 0, at = 0;
    for (int32_t v = 0; v < net->n; v++) total += (size_t)net->height[v];
    struct firing *f = ig_must_alloc(total, sizeof *f);
    int32_t *order = ig_must_alloc(total, sizeof *order);
    for (int32_t v = 0; v < net->n; v++)
        for (int32_t y = 0; y < net->height[v]; y++)
            f[at++] = (struct firing){y * t->period[v] + t->start[v], v};
    qsort(f, total, sizeof *f, earlier);
    for (size_t i = 0; i < total; i++) order[i] = f[i].node;
    free(f);
    *n = (int32_t)total;
    return order;
}
