#include "planner/deploy/explore_bounds.h"

#include <stdlib.h>

#include "planner/alloc.h"

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void add_sums(struct ig_bounds *b)
{
    const struct ig_explore *x = b->r->x;
    int64_t n = x->n + 1;
    for (int32_t v = 0; v < x->n; v++) {
        int64_t cores[IG_EXPLORE_KINDS], gpu[IG_EXPLORE_KINDS], pj = INT64_MAX;
        for (int32_t k = 0; k < x->n_kinds; k++) cores[k] = gpu[k] = IG_PIPE_NEVER;
        for (int32_t w = 0; w < x->n_ways; w++) {
            const struct ig_explore_way *way = &x->ways[w];
            int64_t ns = ig_range_ns(b->r, w, v, v + 1), *to = way->gpu ? &gpu[way->kind] : &cores[way->kind];
            if (ns >= IG_PIPE_NEVER) continue;
            *to = less(*to, ns);
            pj = less(pj, ns * way->mw);
        }
        b->pj[v + 1] = b->pj[v] + pj;
        for (int32_t k = 0; k < x->n_kinds; k++) {
            b->cores[k * n + v + 1] = b->cores[k * n + v] + cores[k];
            b->gpu[k * n + v + 1] = b->gpu[k * n + v] + gpu[k];
        }
    }
}

/* One stage of nodes i .. k - 1: bytes beside weights. */
static int64_t held_by(const struct ig_ranges *r, int32_t i, int32_t k)
{
    size_t n = (size_t)r->x->n + 1, at = (size_t)i * n + (size_t)k;
    int64_t scratch = INT64_MAX;
    for (int32_t w = 0; w < r->x->n_ways; w++) scratch = less(scratch, r->scratch[(size_t)w * n * n + at]);
    return r->held[at] + scratch;
}

/* from[j], to[j]: of nodes up to j, and from j on; the least of both together. */
static int64_t least_of_two(const int64_t *from, const int64_t *to, int32_t i, int32_t k)
{
    int64_t best = INT64_MAX;
    for (int32_t j = i + 1; j < k; j++) best = less(best, from[j] + to[j]);
    return best;
}

/* A longer run may need less, as fewer tensors are in buffers: so the least of all that the run is part of. */
static void add_bytes(struct ig_bounds *b)
{
    int32_t n = b->r->x->n;
    int64_t row = n + 1, *held = ig_must_alloc((size_t)(row * row), sizeof *held);
    int64_t *turned = ig_must_alloc((size_t)(row * row), sizeof *turned); /* [k][i] */
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k <= n; k++) turned[k * row + i] = held[i * row + k] = held_by(b->r, i, k);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = n; k > i; k--) {
            int64_t least = held[i * row + k], *to = &b->bytes[i * row + k];
            if (b->halves > 1) least = less(least, least_of_two(held + i * row, turned + k * row, i, k));
            *to = least + b->r->weights[k] - b->r->weights[i];
            if (k < n) *to = less(*to, to[1]);
            if (i > 0) *to = less(*to, to[-row]);
        }
    free(held);
    free(turned);
}

void ig_bounds_make(const struct ig_ranges *r, int32_t halves, struct ig_bounds *b)
{
    const struct ig_explore *x = r->x;
    size_t n = (size_t)x->n + 1;
    *b = (struct ig_bounds){.r = r, .halves = halves};
    b->cores = ig_must_alloc(n * (size_t)x->n_kinds, sizeof *b->cores);
    b->gpu = ig_must_alloc(n * (size_t)x->n_kinds, sizeof *b->gpu);
    b->pj = ig_must_alloc(n, sizeof *b->pj);
    b->bytes = ig_must_alloc(n * n, sizeof *b->bytes);
    add_sums(b);
    add_bytes(b);
}

void ig_bounds_free(struct ig_bounds *b)
{
    free(b->cores);
    free(b->gpu);
    free(b->pj);
    free(b->bytes);
}

/* Nodes up to some one by a, the rest by b: where both take the same, as near as can be. */
static int64_t halve(const int64_t *a, const int64_t *b, int32_t i, int32_t k)
{
    int32_t low = i, high = k; /* the first that takes a as long as b at least is in [low, high] */
    while (low < high) {
        int32_t j = (low + high) / 2;
        if (a[j] - a[i] >= b[k] - b[j]) high = j;
        else low = j + 1;
    }
    int64_t behind = a[low] - a[i];
    return low == i ? behind : less(behind, b[k] - b[low - 1]);
}

static int64_t ns_of(const struct ig_bounds *b, int32_t i, int32_t k)
{
    int64_t best = INT64_MAX, n = b->r->x->n + 1;
    for (int32_t kind = 0; kind < b->r->x->n_kinds; kind++) {
        const int64_t *cores = b->cores + kind * n, *gpu = b->gpu + kind * n;
        if (b->halves > 1) best = less(best, less(halve(cores, gpu, i, k), halve(gpu, cores, i, k)));
        else best = less(best, less(cores[k] - cores[i], gpu[k] - gpu[i]));
    }
    return best;
}

void ig_bounds_of(const struct ig_bounds *b, int32_t i, int32_t k, int64_t x[IG_EXPLORE_AXES])
{
    x[IG_EXPLORE_PERIOD] = ns_of(b, i, k);
    x[IG_EXPLORE_ENERGY] = b->pj[k] - b->pj[i];
    x[IG_EXPLORE_MEMORY] = b->bytes[(int64_t)i * (b->r->x->n + 1) + k];
}

int ig_ways_share(const struct ig_explore *x, int32_t a, int32_t b)
{
    const struct ig_explore_way *u = &x->ways[a], *v = &x->ways[b];
    return u->kind == v->kind && u->gpu != v->gpu && u->cores + v->cores <= x->kinds[u->kind].cores;
}

/* The two halves of a run on ways a and b, or all of it on a. */
static int64_t least_on(const struct ig_ranges *r, int32_t i, int32_t k, int32_t a, int32_t b, enum ig_explore_axis axis,
                        int64_t ns, int64_t pj)
{
    const struct ig_explore *x = r->x;
    const int64_t *by_a = r->ns + (int64_t)a * (x->n + 1), *by_b = r->ns + (int64_t)b * (x->n + 1);
    int64_t best = INT64_MAX;
    for (int32_t j = a == b ? k : i + 1; j < k + (a == b); j++) {
        int64_t first = by_a[j] - by_a[i], second = by_b[k] - by_b[j], most = first > second ? first : second;
        if (most > ns || most >= IG_PIPE_NEVER) continue;
        int64_t energy = x->ways[a].mw * first + x->ways[b].mw * second;
        if (energy <= pj) best = less(best, axis == IG_EXPLORE_PERIOD ? most : energy);
    }
    return best;
}

int64_t ig_bounds_least(const struct ig_bounds *b, int32_t i, int32_t k, enum ig_explore_axis axis, int64_t ns, int64_t pj)
{
    const struct ig_explore *x = b->r->x;
    int64_t best = INT64_MAX;
    for (int32_t v = 0; v < x->n_ways; v++)
        for (int32_t w = 0; w < x->n_ways; w++)
            if (v == w || (b->halves > 1 && k - i > 1 && ig_ways_share(x, v, w)))
                best = less(best, least_on(b->r, i, k, v, w, axis, ns, pj));
    return best;
}
