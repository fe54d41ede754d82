#include "planner/deploy/explore_net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"

struct maker {
    const struct ig_graph *g;
    const struct ig_profile *const *profiles;
    int32_t n_profiles;
    double max_error;
    struct ig_explore_net *e;
    char *err;
    size_t err_bytes;
};

static struct ig_plan *plan_for(const struct maker *m, int32_t isa, int32_t threads, const struct ig_profile *profile)
{
    struct ig_plan_options o = {.target = "host", .isa = isa, .threads = threads, .profile = profile,
                                .bands = IG_BANDS_OFF, .max_error = m->max_error};
    return ig_plan_make(m->g, &o, m->err, m->err_bytes);
}

/* Of that ISA and threads; else, with `near`, the one of the nearest number of threads. */
static const struct ig_profile *profile_for(const struct maker *m, int32_t isa, int32_t threads, int near)
{
    const struct ig_profile *best = NULL;
    for (int32_t i = 0; i < m->n_profiles; i++) {
        const struct ig_profile *p = m->profiles[i];
        if (strcmp(p->isa, ig_isa_name(isa)) || (!near && p->threads != threads)) continue;
        if (!best || abs(p->threads - threads) < abs(best->threads - threads)) best = p;
    }
    return best;
}

/* Adds up a plan's steps by segments; a layer that the GPU has no kernel for cannot run there. */
static void add_times(const struct maker *m, const struct ig_plan *p, int32_t isa, double *ns, int64_t *scratch)
{
    const struct ig_pipe_net *net = &m->e->net;
    int32_t *segment = ig_must_alloc((size_t)m->g->n_nodes, sizeof *segment);
    for (int32_t i = 0; i < net->n_steps; i++) segment[m->e->plan->steps[i].node] = net->segment[i];
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        int32_t at = segment[s->node];
        if (at < 0 || !s->kernel) continue;
        int64_t bytes = s->scratch_bytes * ig_scratch_threads(p, s);
        ns[at] += isa == IG_ISA_CUDA && s->kernel->isa != IG_ISA_CUDA ? INFINITY : s->predicted_ns;
        if (scratch && bytes > scratch[at]) scratch[at] = bytes;
    }
    free(segment);
}

/* What a profile of other threads says of how far estimates are off, segment by segment. */
static int scale(const struct maker *m, int32_t isa, const struct ig_profile *near, double *ns)
{
    size_t n = (size_t)m->e->net.p.n;
    double *sums = ig_must_alloc(2 * n, sizeof *sums), *measured = sums + n;
    struct ig_plan *guess = plan_for(m, isa, near->threads, NULL), *told = plan_for(m, isa, near->threads, near);
    if (guess && told) {
        add_times(m, guess, isa, sums, NULL);
        add_times(m, told, isa, measured, NULL);
        for (size_t v = 0; v < n; v++)
            if (sums[v] > 0 && isfinite(sums[v])) ns[v] *= measured[v] / sums[v];
    }
    int failed = !guess || !told;
    ig_plan_free(guess);
    ig_plan_free(told);
    free(sums);
    m->e->scaled++;
    return failed ? -1 : 0;
}

static int fill_way(const struct maker *m, int32_t way, const struct ig_explore_board *b)
{
    struct ig_explore_net *e = m->e;
    int32_t isa = e->x.ways[way].gpu ? IG_ISA_CUDA : b->isa, threads = e->x.ways[way].cores, n = e->x.n;
    const struct ig_profile *profile = profile_for(m, isa, threads, 0), *near = profile_for(m, isa, threads, 1);
    double *ns = ig_must_alloc((size_t)n, sizeof *ns), slower = e->x.ways[way].gpu ? b->gpu_slower : b->cpu_slower;
    int64_t *scratch = ig_must_alloc((size_t)n, sizeof *scratch);
    struct ig_plan *p = plan_for(m, isa, threads, profile);
    int failed = !p;
    if (p) {
        add_times(m, p, isa, ns, scratch);
        e->estimated += !profile;
        if (!profile && near) failed = scale(m, isa, near, ns);
    }
    for (int32_t v = 0; v < n && !failed; v++) {
        double t = near ? ns[v] : ns[v] * slower;
        e->ns[(int64_t)v * e->x.n_ways + way] = isfinite(t) ? llround(t) : IG_PIPE_NEVER;
        e->scratch[(int64_t)v * e->x.n_ways + way] = scratch[v];
    }
    ig_plan_free(p);
    free(ns);
    free(scratch);
    return failed ? -1 : 0;
}

/* Bytes of the blob that the plan's kernels read, by segments. */
static void add_weights(const struct maker *m, const struct ig_plan *p)
{
    const struct ig_graph *g = m->g;
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    for (int32_t v = 0; v < g->n_values; v++) views[v] = p->buffers[v].view;
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        const struct ig_node *n = &g->nodes[s->node];
        int64_t *to = m->e->net.segment[i] < 0 ? NULL : &m->e->weights[m->e->net.segment[i]];
        struct ig_call call;
        int32_t batch;
        if (!to || !s->kernel) continue;
        ig_node_call(g, views, n, &call, &batch);
        if (s->kernel->pack) *to += (int64_t)s->kernel->pack(&call, NULL);
        for (int32_t k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0 && ig_is_const(g, n->in[k]) && !ig_packs_input(s->kernel, k))
                *to += ig_bytes(&g->values[n->in[k]].shape);
    }
    free(views);
}

static int32_t list_ways(const struct ig_explore_board *boards, int32_t n_boards, struct ig_explore *x)
{
    x->n_ways = 0;
    x->n_kinds = n_boards;
    for (int32_t k = 0; k < n_boards; k++) {
        const struct ig_explore_board *b = &boards[k];
        int32_t cores = b->cores;
        x->kinds[k] = (struct ig_explore_kind){b->count, cores, llround(b->idle_w * 1e3), b->memory_bytes};
        if (x->n_ways + cores + b->gpu > IG_EXPLORE_WAYS) return -1;
        for (int32_t c = 1; c <= cores; c++)
            x->ways[x->n_ways++] = (struct ig_explore_way){k, c, 0, llround(b->core_w * c * 1e3)};
        if (b->gpu) x->ways[x->n_ways++] = (struct ig_explore_way){k, 1, 1, llround(b->gpu_w * 1e3)};
    }
    return 0;
}

int ig_explore_net_make(const struct ig_graph *g, const struct ig_explore_board *boards, int32_t n_boards,
                        const struct ig_profile *const *profiles, int32_t n_profiles, double max_error,
                        struct ig_explore_net *e, char *err, size_t err_bytes)
{
    struct maker m = {g, profiles, n_profiles, max_error, e, err, err_bytes};
    *e = (struct ig_explore_net){.estimated = 0};
    if (n_boards > IG_EXPLORE_KINDS || list_ways(boards, n_boards, &e->x)) {
        snprintf(err, err_bytes, "%d kinds of devices with too many cores: at most %d kinds, %d cores and GPUs of all kinds",
                 n_boards, IG_EXPLORE_KINDS, IG_EXPLORE_WAYS);
        return -1;
    }
    e->plan = plan_for(&m, boards[0].isa, boards[0].cores, profile_for(&m, boards[0].isa, boards[0].cores, 0));
    if (!e->plan) return -1;
    ig_pipe_net_make(g, (const struct ig_plan *[]){e->plan}, 1, &e->net);
    size_t n = (size_t)e->net.p.n, ways = (size_t)e->x.n_ways;
    e->ns = ig_must_alloc(n * ways, sizeof *e->ns);
    e->scratch = ig_must_alloc(n * ways, sizeof *e->scratch);
    e->weights = ig_must_alloc(n, sizeof *e->weights);
    struct ig_explore *x = &e->x;
    const struct ig_pipe *p = &e->net.p;
    x->n = p->n;
    x->first = p->first;
    x->preds = p->preds;
    x->bytes = p->bytes;
    x->weights_bytes = e->weights;
    x->reads_input = p->reads_input;
    x->is_output = p->is_output;
    x->input_bytes = p->input_bytes;
    x->ns = e->ns;
    x->scratch = e->scratch;
    add_weights(&m, e->plan);
    for (int32_t w = 0; w < x->n_ways; w++)
        if (fill_way(&m, w, &boards[x->ways[w].kind])) return -1;
    return ig_explore_check(x, err, err_bytes);
}

void ig_explore_net_layers(const struct ig_graph *g, const int32_t *home, int32_t n_layers, struct ig_explore_net *e)
{
    int32_t n = e->x.n, last = 0, *segment = ig_must_alloc((size_t)g->n_nodes, sizeof *segment);
    uint8_t *has = ig_must_alloc((size_t)n, 1);
    for (int32_t i = 0; i < e->net.n_steps; i++) segment[e->plan->steps[i].node] = e->net.segment[i];
    for (int32_t i = 0; i < n_layers; i++)
        if (home[i] >= 0 && segment[home[i]] >= 0) has[segment[home[i]]] = 1;
    for (int32_t v = 0; v < n; v++)
        if (has[v]) last = v;
    e->may_cut = ig_must_alloc((size_t)n + 1, 1);
    for (int32_t v = 1; v < n; v++) e->may_cut[v] = has[v - 1] && v <= last;
    e->x.may_cut = e->may_cut;
    free(segment);
    free(has);
}

void ig_explore_net_free(struct ig_explore_net *e)
{
    free(e->may_cut);
    if (e->plan) ig_pipe_net_free(&e->net);
    ig_plan_free(e->plan);
    free(e->ns);
    free(e->scratch);
    free(e->weights);
}

static int32_t first_reader(const struct ig_graph *g, const int32_t *stage_of, int32_t node)
{
    const struct ig_node *n = &g->nodes[node];
    int32_t stage = -1;
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            for (int32_t o = 0; o < n->n_out; o++)
                if (n->out[o] >= 0 && g->nodes[i].in[k] == n->out[o] && stage_of[i] >= 0 &&
                    (stage < 0 || stage_of[i] < stage))
                    stage = stage_of[i];
    return stage;
}

void ig_explore_stages(const struct ig_graph *g, const struct ig_explore_net *e, const struct ig_explore_point *p,
                       int32_t *stage_of)
{
    for (int32_t v = 0; v < g->n_nodes; v++) stage_of[v] = -1;
    for (int32_t i = 0, s = 0; i < e->net.n_steps; i++) {
        if (e->net.segment[i] < 0) continue;
        while (e->net.segment[i] >= p->stages[s].end) s++;
        stage_of[e->plan->steps[i].node] = s;
    }
    for (int32_t v = g->n_nodes - 1; v >= 0; v--)
        if (stage_of[v] < 0) stage_of[v] = first_reader(g, stage_of, v);
    for (int32_t v = 0; v < g->n_nodes; v++)
        for (int32_t k = 0; k < g->nodes[v].n_in && stage_of[v] < 0; k++) {
            int32_t in = g->nodes[v].in[k], from = in < 0 ? -1 : g->values[in].producer;
            if (from >= 0) stage_of[v] = stage_of[from];
        }
}
