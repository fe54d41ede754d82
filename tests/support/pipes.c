#include "tests/support/pipes.h"

#include <stdlib.h>
#include <string.h>

void pipe_box_start(struct pipe_box *b, int32_t n, int32_t m, int32_t k)
{
    *b = (struct pipe_box){.ns = calloc((size_t)n * (size_t)k + 1, sizeof *b->ns),
                           .bytes = calloc((size_t)n + 1, sizeof *b->bytes),
                           .first = calloc((size_t)n + 2, sizeof *b->first),
                           .preds = calloc((size_t)m + 1, sizeof *b->preds),
                           .reads_input = calloc((size_t)n + 1, 1),
                           .is_output = calloc((size_t)n + 1, 1)};
    b->p = (struct ig_pipe){.n_processors = k, .ns = b->ns, .bytes = b->bytes, .first = b->first, .preds = b->preds};
}

void pipe_box_free(struct pipe_box *b)
{
    void *owned[] = {b->ns, b->bytes, b->first, b->preds, b->reads_input, b->is_output};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

int32_t pipe_box_node(struct pipe_box *b, const int64_t *ns, int64_t bytes, int chained)
{
    int32_t v = b->p.n++, k = b->p.n_processors;
    for (int32_t i = 0; i < k; i++) b->ns[v * k + i] = ns[i] < 0 ? IG_PIPE_NEVER : ns[i];
    b->bytes[v] = bytes;
    b->first[v + 1] = b->first[v];
    if (chained && v) pipe_box_edge(b, v - 1);
    return v;
}

void pipe_box_edge(struct pipe_box *b, int32_t u)
{
    b->preds[b->first[b->p.n]++] = u;
}

static void random_node(struct pipe_box *b, struct rng *r, int32_t v)
{
    int64_t ns[IG_PIPE_PROCESSORS];
    int32_t k = b->p.n_processors, only = rng_one_in(r, 5) ? rng_int(r, 0, k - 1) : -1, most = RNG_OF(r, 4, 20, 100000);
    for (int32_t i = 0; i < k; i++) ns[i] = only < 0 || only == i ? rng_int(r, 1, most) : -1;
    pipe_box_node(b, ns, rng_int(r, 1, 20), 0);
    for (int32_t u = 0; u < v; u++)
        if (u == v - 1 ? !rng_one_in(r, 4) : rng_one_in(r, 4)) pipe_box_edge(b, u);
    b->reads_input[v] = b->first[v] == b->first[v + 1];
}

void pipe_box_random(struct pipe_box *b, struct rng *r, int32_t n, int32_t k)
{
    pipe_box_start(b, n, n * n, k);
    for (int32_t v = 0; v < n; v++) random_node(b, r, v);
    for (int32_t i = 0; i < k; i++) {
        b->p.in[i] = (struct ig_pipe_link){rng_int(r, 0, 3), rng_int(r, 0, 1) * 1000000};
        b->p.out[i] = (struct ig_pipe_link){rng_int(r, 0, 2), rng_int(r, 0, 1) * 500000};
        b->p.active_mw[i] = rng_int(r, 2, 9);
        b->p.idle_mw[i] = rng_int(r, 0, 2);
    }
    b->is_output[n - 1] = 1;
    b->p.input_bytes = rng_int(r, 0, 10);
    if (rng_one_in(r, 2)) {
        b->p.reads_input = b->reads_input;
        b->p.is_output = b->is_output;
    }
}

void pipe_box_chain(struct pipe_box *b, int64_t unit)
{
    static const int64_t gpu[] = {4, 3, 3, 2, 2}, cpu[] = {9, 7, 5, 3, 2}, bytes[] = {2, 2, 1, 1, 1};
    pipe_box_start(b, 5, 4, 2);
    for (int i = 0; i < 5; i++) pipe_box_node(b, (const int64_t[]){gpu[i] * unit, cpu[i] * unit}, bytes[i] * unit, 1);
    for (int i = 0; i < 2; i++) {
        b->p.in[i] = (struct ig_pipe_link){0, 1000000};
        b->p.active_mw[i] = i ? 2 : 6;
        b->p.idle_mw[i] = 1;
    }
}

void pipe_box_dag(struct pipe_box *b)
{
    static const int64_t ns[7][2] = {{-1, 3}, {4, 15}, {3, 6}, {5, 6}, {4, 7}, {2, 4}, {-1, 2}};
    static const int32_t edges[7][3] = {{-1}, {0, -1}, {1, -1}, {1, -1}, {2, 3, -1}, {1, 4, -1}, {5, -1}};
    pipe_box_start(b, 7, 10, 2);
    for (int v = 0; v < 7; v++) {
        pipe_box_node(b, ns[v], 1, 0);
        for (int i = 0; edges[v][i] >= 0; i++) pipe_box_edge(b, edges[v][i]);
    }
    for (int i = 0; i < 2; i++) b->p.in[i].x0_ns = 1;
}

int64_t pipe_loads(const struct ig_pipe *p, const int32_t *on, int64_t *load)
{
    int64_t most = 0;
    memset(load, 0, IG_PIPE_PROCESSORS * sizeof *load);
    for (int32_t k = 0; k < p->n_processors; k++) {
        int frame = 0;
        for (int32_t v = 0; v < p->n; v++) {
            if (on[v] != k) continue;
            load[k] += p->ns[v * p->n_processors + k];
            frame |= p->reads_input && p->reads_input[v];
        }
        if (frame) load[k] += ig_pipe_transfer(&p->in[k], p->input_bytes);
        for (int32_t u = 0; u < p->n; u++) {
            int here = 0, away = p->is_output && p->is_output[u];
            for (int32_t v = 0; v < p->n; v++)
                for (int32_t i = p->first[v]; i < p->first[v + 1]; i++) {
                    here |= p->preds[i] == u && on[v] == k;
                    away |= p->preds[i] == u && on[v] != on[u];
                }
            if (on[u] != k && here) load[k] += ig_pipe_transfer(&p->in[k], p->bytes[u]);
            if (on[u] == k && away) load[k] += ig_pipe_transfer(&p->out[k], p->bytes[u]);
        }
        if (load[k] > most) most = load[k];
    }
    return most < IG_PIPE_NEVER ? most : IG_PIPE_NEVER;
}

int pipe_stages_hold(const struct ig_pipe *p, const struct ig_pipe_plan *plan)
{
    for (int32_t v = 0; v < p->n; v++) {
        if (plan->stage[v] < 0 || plan->stage[v] >= plan->n_stages) return 0;
        if (plan->processor[plan->stage[v]] != plan->on[v]) return 0;
        for (int32_t i = p->first[v]; i < p->first[v + 1]; i++)
            if (plan->stage[p->preds[i]] > plan->stage[v]) return 0;
    }
    return 1;
}
