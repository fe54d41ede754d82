/* What runs of nodes cost on what computes them, in tables, and what a deployment of them costs. */
#include "planner/deploy/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

int ig_explore_check(const struct ig_explore *x, char *err, size_t err_bytes)
{
    int64_t sum = 0;
    int32_t devices = 0;
    for (int32_t k = 0; k < x->n_kinds && k < IG_EXPLORE_KINDS; k++) devices += x->kinds[k].count;
    if (x->n < 1 || x->n > IG_EXPLORE_NODES || x->n_kinds < 1 || x->n_kinds > IG_EXPLORE_KINDS || devices < 1 ||
        devices > IG_EXPLORE_DEVICES || x->n_ways < 1 || x->n_ways > IG_EXPLORE_WAYS) {
        snprintf(err, err_bytes, "%d nodes on %d devices of %d kinds, %d ways to compute; at most %d, %d, %d and %d", x->n,
                 devices, x->n_kinds, x->n_ways, IG_EXPLORE_NODES, IG_EXPLORE_DEVICES, IG_EXPLORE_KINDS, IG_EXPLORE_WAYS);
        return -1;
    }
    for (int32_t v = 0; v < x->n; v++) {
        int64_t least = IG_PIPE_NEVER, most = 0;
        for (int32_t e = x->first[v]; e < x->first[v + 1]; e++)
            if (x->preds[e] < 0 || x->preds[e] >= v) {
                snprintf(err, err_bytes, "node %d is not behind what it reads", v);
                return -1;
            }
        for (int32_t w = 0; w < x->n_ways; w++) {
            int64_t ns = x->ns[(int64_t)v * x->n_ways + w];
            if (ns >= 0 && ns < least) least = ns;
            if (ns > most && ns < IG_PIPE_NEVER) most = ns;
        }
        sum += most;
        if (least < IG_PIPE_NEVER && sum < IG_PIPE_NEVER / 4) continue;
        snprintf(err, err_bytes, "node %d runs on none of the devices", v);
        return -1;
    }
    return 0;
}

/* --- tables --- */

static size_t cell(const struct ig_ranges *r, int32_t i, int32_t k)
{
    return (size_t)i * (size_t)(r->x->n + 1) + (size_t)k;
}

/* last[v]: the last node that reads v; n: the caller does. */
static void find_last(const struct ig_explore *x, int32_t *last)
{
    for (int32_t v = 0; v < x->n; v++) {
        last[v] = x->is_output && x->is_output[v] ? x->n : v;
        for (int32_t e = x->first[v]; e < x->first[v + 1]; e++)
            if (last[x->preds[e]] < v) last[x->preds[e]] = v;
    }
}

/* Outputs of the network leave where they are made, so that they pass no cut. */
static void find_passing(struct ig_ranges *r, const int32_t *last)
{
    const struct ig_explore *x = r->x;
    int32_t reader = -1;
    for (int32_t v = 0; v < x->n; v++) {
        int32_t end = v;
        for (int32_t u = last[v] < x->n ? last[v] : x->n - 1; u > v && end == v; u--)
            for (int32_t e = x->first[u]; e < x->first[u + 1]; e++)
                if (x->preds[e] == v) end = u;
        for (int32_t i = v + 1; i <= end; i++) r->passing[i] += x->bytes[v];
        if (x->reads_input && x->reads_input[v]) reader = v;
    }
    for (int32_t i = 1; i <= reader; i++) r->passing[i] += x->input_bytes;
}

/* The most bytes of tensors that live and die inside the run. */
static int64_t most_live(const struct ig_explore *x, const int32_t *last, int32_t i, int32_t k)
{
    int64_t live = 0, most = 0;
    for (int32_t v = i; v < k; v++) {
        if (last[v] < k) live += x->bytes[v];
        if (live > most) most = live;
        for (int32_t e = x->first[v]; e < x->first[v + 1]; e++)
            if (x->preds[e] >= i && last[x->preds[e]] == v) live -= x->bytes[x->preds[e]];
        if (last[v] == v) live -= x->bytes[v];
    }
    return most;
}

static void find_held(struct ig_ranges *r, const int32_t *last, int32_t i, int32_t *seen)
{
    const struct ig_explore *x = r->x;
    int64_t in = 0, out = 0, copies = x->copies ? x->copies : 2;
    int32_t frame = 0;
    for (int32_t k = i + 1; k <= x->n; k++) {
        int32_t v = k - 1;
        for (int32_t e = x->first[v]; e < x->first[v + 1]; e++) {
            int32_t u = x->preds[e];
            if (u >= i && last[u] == v) out -= x->bytes[u];
            if (u >= i || seen[u] == i + 1) continue;
            seen[u] = i + 1;
            in += x->bytes[u];
        }
        if (x->reads_input && x->reads_input[v] && !frame) {
            frame = 1;
            in += x->input_bytes;
        }
        if (last[v] > v) out += x->bytes[v];
        r->held[cell(r, i, k)] = copies * (in + out) + most_live(x, last, i, k);
    }
}

static void find_scratch(struct ig_ranges *r, int32_t way)
{
    const struct ig_explore *x = r->x;
    size_t n = (size_t)(x->n + 1);
    for (int32_t i = 0; i < x->n && x->scratch; i++) {
        int64_t most = 0;
        for (int32_t k = i + 1; k <= x->n; k++) {
            int64_t bytes = x->scratch[(int64_t)(k - 1) * x->n_ways + way];
            if (bytes > most) most = bytes;
            r->scratch[(size_t)way * n * n + cell(r, i, k)] = most;
        }
    }
}

void ig_ranges_make(const struct ig_explore *x, struct ig_ranges *r)
{
    size_t n = (size_t)x->n + 1;
    int32_t *last = ig_must_alloc(n, sizeof *last), *seen = ig_must_alloc(n, sizeof *seen);
    *r = (struct ig_ranges){.x = x};
    r->ns = ig_must_alloc(n * (size_t)x->n_ways, sizeof *r->ns);
    r->weights = ig_must_alloc(n, sizeof *r->weights);
    r->passing = ig_must_alloc(n, sizeof *r->passing);
    r->held = ig_must_alloc(n * n, sizeof *r->held);
    r->scratch = ig_must_alloc(n * n * (size_t)x->n_ways, sizeof *r->scratch);
    for (int32_t v = 0; v < x->n; v++) {
        r->weights[v + 1] = r->weights[v] + (x->weights_bytes ? x->weights_bytes[v] : 0);
        for (int32_t w = 0; w < x->n_ways; w++) {
            int64_t *at = &r->ns[(size_t)w * n + (size_t)v];
            at[1] = at[0] + x->ns[(int64_t)v * x->n_ways + w];
        }
    }
    find_last(x, last);
    find_passing(r, last);
    for (int32_t i = 0; i < x->n; i++) find_held(r, last, i, seen);
    for (int32_t w = 0; w < x->n_ways; w++) find_scratch(r, w);
    free(last);
    free(seen);
}

void ig_ranges_free(struct ig_ranges *r)
{
    free(r->ns);
    free(r->weights);
    free(r->passing);
    free(r->held);
    free(r->scratch);
}

int64_t ig_range_ns(const struct ig_ranges *r, int32_t way, int32_t i, int32_t k)
{
    const int64_t *sum = r->ns + (size_t)way * (size_t)(r->x->n + 1);
    return sum[k] - sum[i];
}

int64_t ig_range_bytes(const struct ig_ranges *r, int32_t way, int32_t i, int32_t k)
{
    size_t n = (size_t)(r->x->n + 1), at = cell(r, i, k);
    return r->weights[k] - r->weights[i] + r->held[at] + r->scratch[(size_t)way * n * n + at];
}

static int64_t host_ns(const struct ig_ranges *r, const struct ig_pipe_link *of, int32_t way, int32_t cut)
{
    const struct ig_explore_way *w = &r->x->ways[way];
    return w->gpu || cut == 0 || cut == r->x->n ? 0 : ig_pipe_transfer(&of[w->kind], r->passing[cut]);
}

int64_t ig_range_receive_ns(const struct ig_ranges *r, int32_t way, int32_t i)
{
    return host_ns(r, r->x->receives, way, i);
}

int64_t ig_range_send_ns(const struct ig_ranges *r, int32_t way, int32_t k)
{
    return host_ns(r, r->x->sends, way, k);
}

int64_t ig_range_pj(const struct ig_ranges *r, int32_t way, int32_t i, int32_t k)
{
    return r->x->ways[way].mw * ig_range_ns(r, way, i, k);
}

/* --- deployments --- */

struct device {
    int32_t kind;
    int64_t pj, bytes, weights;
};

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* In front of stage s, from the stage before it. */
static void fill_cut(const struct ig_ranges *r, struct ig_explore_point *p, int32_t s)
{
    const struct ig_explore *x = r->x;
    const struct ig_explore_stage *a = &p->stages[s - 1], *b = &p->stages[s];
    int32_t from = x->ways[a->way].kind, to = x->ways[b->way].kind;
    int64_t bytes = r->passing[b->first];
    int64_t ns = ig_pipe_transfer(a->device == b->device ? &x->own[to] : &x->link[from][to], bytes);
    p->period_ns = most(p->period_ns, ns);
    p->latency_ns += ns;
    if (a->device == b->device) return;
    p->link_bytes = most(p->link_bytes, bytes);
    p->moved_bytes += bytes;
}

int64_t ig_explore_stage_ns(const struct ig_ranges *r, const struct ig_explore_point *p, int32_t s)
{
    const struct ig_explore_stage *at = &p->stages[s];
    int64_t ns = ig_range_ns(r, at->way, at->first, at->end);
    if (s && p->stages[s - 1].device != at->device) ns += ig_range_receive_ns(r, at->way, at->first);
    if (s + 1 < p->n_stages && p->stages[s + 1].device != at->device) ns += ig_range_send_ns(r, at->way, at->end);
    return ns;
}

void ig_explore_fill(const struct ig_ranges *r, struct ig_explore_point *p)
{
    const struct ig_explore *x = r->x;
    struct device of[IG_EXPLORE_STAGES] = {{0}};
    p->n_devices = p->cores = p->gpus = 0;
    p->period_ns = p->latency_ns = p->device_pj = p->total_pj = p->memory_bytes = p->weights_bytes = 0;
    p->link_bytes = p->moved_bytes = 0;
    memset(p->x, 0, sizeof p->x);
    for (int32_t s = 0; s < p->n_stages; s++) {
        const struct ig_explore_stage *at = &p->stages[s];
        int64_t ns = ig_explore_stage_ns(r, p, s);
        struct device *d = &of[at->device];
        d->kind = x->ways[at->way].kind;
        d->pj += x->ways[at->way].mw * ns;
        d->bytes += ig_range_bytes(r, at->way, at->first, at->end);
        d->weights += r->weights[at->end] - r->weights[at->first];
        p->period_ns = most(p->period_ns, ns);
        p->latency_ns += ns;
        if (s) fill_cut(r, p, s);
        p->n_devices = (int32_t)most(p->n_devices, at->device + 1);
        p->gpus += x->ways[at->way].gpu;
        p->cores += x->ways[at->way].gpu ? 0 : x->ways[at->way].cores;
    }
    for (int32_t i = 0; i < p->n_devices; i++) {
        int64_t pj = of[i].pj + x->kinds[of[i].kind].idle_mw * p->period_ns;
        p->x[IG_EXPLORE_ENERGY] = most(p->x[IG_EXPLORE_ENERGY], of[i].pj);
        p->device_pj = most(p->device_pj, pj);
        p->total_pj += pj;
        p->memory_bytes = most(p->memory_bytes, of[i].bytes);
        p->weights_bytes = most(p->weights_bytes, of[i].weights);
    }
    p->x[IG_EXPLORE_PERIOD] = p->period_ns;
    p->x[IG_EXPLORE_MEMORY] = p->memory_bytes;
}

int ig_explore_covers(const struct ig_explore_point *a, const struct ig_explore_point *b)
{
    for (int32_t k = 0; k < IG_EXPLORE_AXES; k++)
        if (a->x[k] > b->x[k]) return 0;
    return 1;
}

void ig_explore_front_free(struct ig_explore_front *f)
{
    free(f->at);
    *f = (struct ig_explore_front){.n = 0};
}
