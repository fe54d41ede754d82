#include "planner/pipe_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct sources {
    int32_t n, *values;
}; /* what a value is read from: values that steps with a kernel, or callers, write */

struct builder {
    const struct ig_graph *g;
    const struct ig_plan *plan;
    struct ig_pipe_net *net;
    struct sources *of; /* [n_values] */
    int32_t *step_of;   /* [n_nodes] */
    uint8_t *crosses;   /* [n_values] read outside the segment that makes it */
    int32_t room;       /* of preds */
};

static void add_source(struct sources *s, int32_t v)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->values[i] == v) return;
    int32_t *more = ig_must_alloc((size_t)s->n + 1, sizeof *more);
    if (s->n) memcpy(more, s->values, (size_t)s->n * sizeof *more);
    free(s->values);
    s->values = more;
    s->values[s->n++] = v;
}

static int is_runtime(const struct ig_graph *g, int32_t v)
{
    return v >= 0 && !ig_is_const(g, v);
}

/* In order of execution: what a step without a kernel passes on is what it reads. */
static void find_sources(struct builder *b)
{
    for (int32_t v = 0; v < b->g->n_values; v++)
        if (is_runtime(b->g, v) && b->g->values[v].producer < 0) add_source(&b->of[v], v);
    for (int32_t i = 0; i < b->plan->n_steps; i++) {
        const struct ig_node *n = &b->g->nodes[b->plan->steps[i].node];
        b->step_of[b->plan->steps[i].node] = i;
        for (int32_t k = 0; k < n->n_out; k++) {
            if (n->out[k] < 0) continue;
            if (b->plan->steps[i].kernel) add_source(&b->of[n->out[k]], n->out[k]);
            for (int32_t j = 0; j < n->n_in && !b->plan->steps[i].kernel; j++)
                if (is_runtime(b->g, n->in[j]))
                    for (int32_t s = 0; s < b->of[n->in[j]].n; s++)
                        add_source(&b->of[n->out[k]], b->of[n->in[j]].values[s]);
        }
    }
}

static void find_segments(struct builder *b)
{
    struct ig_pipe_net *net = b->net;
    int32_t n = 0;
    for (int32_t i = 0; i < b->plan->n_steps; i++) {
        const struct ig_band *band = ig_band_of(b->plan, i);
        net->segment[i] = -1;
        if (!b->plan->steps[i].kernel) continue;
        if (!band || !n || net->first_step[n - 1] < band->first) {
            net->first_step[n] = i;
            net->names[n++] = b->g->nodes[b->plan->steps[i].node].name;
        }
        net->last_step[n - 1] = i;
        net->segment[i] = n - 1;
        net->operations[n - 1] += b->g->nodes[b->plan->steps[i].node].macs;
    }
    net->p.n = n;
}

static void add_pred(struct builder *b, int32_t segment, int32_t from)
{
    struct ig_pipe_net *net = b->net;
    int32_t n = net->first[segment + 1], at = n;
    for (int32_t i = net->first[segment]; i < n; i++)
        if (net->preds[i] == from) return;
    if (n == b->room) {
        b->room = 2 * b->room + 64;
        int32_t *more = ig_must_alloc((size_t)b->room, sizeof *more);
        if (n) memcpy(more, net->preds, (size_t)n * sizeof *more);
        free(net->preds);
        net->preds = more;
    }
    for (; at > net->first[segment] && net->preds[at - 1] > from; at--) net->preds[at] = net->preds[at - 1];
    net->preds[at] = from;
    net->first[segment + 1]++;
}

/* A step of the segment reads v: from other segments, from the frame, or it is a constant. */
static void read_value(struct builder *b, int32_t segment, int32_t v)
{
    if (v >= 0 && ig_is_const(b->g, v)) b->net->weights_bytes[segment] += ig_bytes(&b->g->values[v].shape);
    if (!is_runtime(b->g, v)) return;
    for (int32_t i = 0; i < b->of[v].n; i++) {
        int32_t source = b->of[v].values[i], producer = b->g->values[source].producer;
        int32_t from = producer < 0 ? -1 : b->net->segment[b->step_of[producer]];
        if (from < 0) b->net->reads_input[segment] = 1;
        if (from < 0 || from == segment) continue;
        b->crosses[source] = 1;
        add_pred(b, segment, from);
    }
}

static void find_edges(struct builder *b)
{
    struct ig_pipe_net *net = b->net;
    for (int32_t i = 0, at = 0; i < b->plan->n_steps; i++) {
        const struct ig_node *n = &b->g->nodes[b->plan->steps[i].node];
        if (net->segment[i] < 0) continue;
        if (net->segment[i] != at) {
            at++;
            net->first[at + 1] = net->first[at];
        }
        for (int32_t k = 0; k < n->n_in; k++) read_value(b, at, n->in[k]);
    }
    for (int32_t k = 0; k < b->g->n_outputs; k++)
        for (int32_t i = 0; i < b->of[b->g->outputs[k]].n; i++) {
            int32_t source = b->of[b->g->outputs[k]].values[i], producer = b->g->values[source].producer;
            if (producer < 0) continue;
            b->crosses[source] = 1;
            net->is_output[net->segment[b->step_of[producer]]] = 1;
        }
}

static void count_bytes(struct builder *b)
{
    for (int32_t v = 0; v < b->g->n_values; v++)
        if (b->crosses[v])
            b->net->bytes[b->net->segment[b->step_of[b->g->values[v].producer]]] += ig_bytes(&b->g->values[v].shape);
    for (int32_t i = 0; i < b->g->n_inputs; i++)
        b->net->p.input_bytes += ig_bytes(&b->g->values[b->g->inputs[i]].shape);
}

static void fill_times(struct builder *b, const struct ig_plan *plan, int32_t k)
{
    struct ig_pipe_net *net = b->net;
    for (int32_t i = 0; i < plan->n_steps; i++) {
        int32_t segment = net->segment[b->step_of[plan->steps[i].node]];
        if (segment >= 0) net->ns[(int64_t)segment * net->p.n_processors + k] += llround(plan->steps[i].predicted_ns);
    }
}

void ig_pipe_net_only(const struct ig_plan *plan, int32_t isa, const struct ig_pipe_net *net, int32_t k)
{
    for (int32_t i = 0; i < plan->n_steps; i++)
        if (net->segment[i] >= 0 && plan->steps[i].kernel && plan->steps[i].kernel->isa != isa)
            net->ns[(int64_t)net->segment[i] * net->p.n_processors + k] = IG_PIPE_NEVER;
}

static void allocate(struct ig_pipe_net *net, int32_t steps, int32_t n_processors)
{
    size_t n = (size_t)steps;
    *net = (struct ig_pipe_net){.n_steps = steps, .p.n_processors = n_processors};
    net->first_step = ig_must_alloc(n, sizeof *net->first_step);
    net->last_step = ig_must_alloc(n, sizeof *net->last_step);
    net->segment = ig_must_alloc(n, sizeof *net->segment);
    net->operations = ig_must_alloc(n, sizeof *net->operations);
    net->ns = ig_must_alloc(n * (size_t)n_processors, sizeof *net->ns);
    net->bytes = ig_must_alloc(n, sizeof *net->bytes);
    net->weights_bytes = ig_must_alloc(n, sizeof *net->weights_bytes);
    net->first = ig_must_alloc(n + 2, sizeof *net->first);
    net->reads_input = ig_must_alloc(n, 1);
    net->is_output = ig_must_alloc(n, 1);
    net->names = ig_must_alloc(n, sizeof *net->names);
}

void ig_pipe_net_make(const struct ig_graph *g, const struct ig_plan *const *plans, int32_t n_processors,
                      struct ig_pipe_net *net)
{
    struct builder b = {.g = g, .plan = plans[0], .net = net};
    allocate(net, plans[0]->n_steps, n_processors);
    b.of = ig_must_alloc((size_t)g->n_values, sizeof *b.of);
    b.step_of = ig_must_alloc((size_t)g->n_nodes, sizeof *b.step_of);
    b.crosses = ig_must_alloc((size_t)g->n_values, 1);
    find_sources(&b);
    find_segments(&b);
    find_edges(&b);
    count_bytes(&b);
    for (int32_t k = 0; k < n_processors; k++) fill_times(&b, plans[k], k);
    struct ig_pipe *p = &net->p;
    p->ns = net->ns;
    p->bytes = net->bytes;
    p->weights_bytes = net->weights_bytes;
    p->first = net->first;
    p->preds = net->preds ? net->preds : net->first;
    p->reads_input = net->reads_input;
    p->is_output = net->is_output;
    p->names = net->names;
    for (int32_t v = 0; v < g->n_values; v++) free(b.of[v].values);
    free(b.of);
    free(b.step_of);
    free(b.crosses);
}

void ig_pipe_net_free(struct ig_pipe_net *net)
{
    void *owned[] = {net->first_step, net->last_step,   net->segment,       net->operations,
                     net->ns,         net->bytes,       net->weights_bytes, net->first,
                     net->preds,      net->reads_input, net->is_output,     (void *)net->names};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

void ig_pipe_step_stages(const struct ig_pipe_net *net, const struct ig_pipe_plan *plan, int32_t *stage)
{
    int32_t now = 0;
    for (int32_t i = 0; i < net->n_steps; i++) {
        if (net->segment[i] >= 0) now = plan->stage[net->segment[i]];
        stage[i] = now;
    }
}

void ig_pipe_streams(const struct ig_pipe_net *net, double gbytes, int32_t *of)
{
    for (int32_t s = 0; s < net->p.n; s++) {
        double bytes = (double)(net->bytes[s] + net->weights_bytes[s]),
               ns = (double)net->ns[(int64_t)s * net->p.n_processors];
        for (int32_t i = net->first[s]; i < net->first[s + 1]; i++) bytes += (double)net->bytes[net->preds[i]];
        of[s] = ns > 0 ? (int32_t)(1000 * fmin(bytes / gbytes / ns, 1)) : 0;
    }
}
