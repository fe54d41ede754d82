/* Pre- and post-processing as nodes of a pipeline, before and behind all others, where no step runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/pipe_graph.h"

/* A copy of n elements with a zero before and behind. */
static void *widen(void *from, int32_t n, size_t size)
{
    char *to = ig_must_alloc((size_t)n + 2, size);
    memcpy(to + size, from, (size_t)n * size);
    free(from);
    return to;
}

/* The first node is read by all that read the frame; the last one reads all that make outputs. */
static void widen_edges(struct ig_pipe_net *net, int32_t n)
{
    int32_t *first = ig_must_alloc((size_t)n + 3, sizeof *first), at = 0,
            *preds = ig_must_alloc((size_t)net->first[n] + 2 * (size_t)n + 1, sizeof *preds);
    for (int32_t v = 0; v < n; v++) {
        first[v + 1] = at;
        if (net->reads_input[v]) preds[at++] = 0;
        for (int32_t i = net->first[v]; i < net->first[v + 1]; i++) preds[at++] = net->preds[i] + 1;
    }
    first[n + 1] = at;
    for (int32_t v = 0; v < n; v++)
        if (net->is_output[v]) preds[at++] = v + 1;
    first[n + 2] = at;
    free(net->first);
    free(net->preds);
    net->first = first;
    net->preds = preds;
}

void ig_pipe_net_host(struct ig_pipe_net *net, double pre_ns, double post_ns)
{
    int32_t n = net->p.n, k = net->p.n_processors;
    widen_edges(net, n);
    net->ns = widen(net->ns, n, (size_t)k * sizeof *net->ns);
    net->bytes = widen(net->bytes, n, sizeof *net->bytes);
    net->weights_bytes = widen(net->weights_bytes, n, sizeof *net->weights_bytes);
    net->operations = widen(net->operations, n, sizeof *net->operations);
    net->first_step = widen(net->first_step, n, sizeof *net->first_step);
    net->last_step = widen(net->last_step, n, sizeof *net->last_step);
    net->reads_input = widen(net->reads_input, n, 1);
    net->is_output = widen(net->is_output, n, 1);
    net->names = widen((void *)net->names, n, sizeof *net->names);
    for (int32_t i = 0; i < net->n_steps; i++) net->segment[i] += net->segment[i] >= 0;
    memset(net->reads_input, 0, (size_t)n + 1);
    memset(net->is_output, 0, (size_t)n + 1);
    net->reads_input[0] = net->is_output[n + 1] = 1;
    net->names[0] = "pre-processing";
    net->names[n + 1] = "post-processing";
    net->last_step[0] = -1;
    net->first_step[n + 1] = net->n_steps;
    net->last_step[n + 1] = net->n_steps - 1;
    net->bytes[0] = net->p.input_bytes;
    net->host = 1;
    net->host_ns[0] = pre_ns;
    net->host_ns[1] = post_ns;
    struct ig_pipe *p = &net->p;
    p->n = n + 2;
    p->ns = net->ns;
    p->bytes = net->bytes;
    p->weights_bytes = net->weights_bytes;
    p->first = net->first;
    p->preds = net->preds;
    p->reads_input = net->reads_input;
    p->is_output = net->is_output;
    p->names = net->names;
    for (int32_t i = 0; i < k; i++) ig_pipe_net_host_time(net, net->ns, k, i, 1);
}

void ig_pipe_net_host_time(const struct ig_pipe_net *net, int64_t *ns, int32_t n_processors, int32_t k, double slower)
{
    int64_t *last = ns + (int64_t)(net->p.n - 1) * n_processors;
    if (!net->host) return;
    ns[k] = slower > 0 ? llround(net->host_ns[0] * slower) : IG_PIPE_NEVER;
    last[k] = slower > 0 ? llround(net->host_ns[1] * slower) : IG_PIPE_NEVER;
}
