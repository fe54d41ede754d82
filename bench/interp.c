#include "bench/interp.h"

#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/eval.h"

struct machine {
    const struct ig_graph *g;
    void **made;       /* by value: the buffer that a node wrote, or NULL */
    const void **data; /* by value: that, or the caller's input, or the constant */
    int32_t *readers;  /* by value: node inputs still to come, and one for each graph output */
};

static void count_readers(struct machine *m)
{
    for (int32_t i = 0; i < m->g->n_nodes; i++)
        for (int32_t k = 0; k < m->g->nodes[i].n_in; k++)
            if (m->g->nodes[i].in[k] >= 0) m->readers[m->g->nodes[i].in[k]]++;
    for (int32_t i = 0; i < m->g->n_outputs; i++) m->readers[m->g->outputs[i]]++;
}

static int start(struct machine *m, const struct ig_graph *g, const void *const *inputs)
{
    size_t n = (size_t)g->n_values + 1;
    *m = (struct machine){g, calloc(n, sizeof *m->made), calloc(n, sizeof *m->data),
                          calloc(n, sizeof *m->readers)};
    if (!m->made || !m->data || !m->readers) return -1;
    for (int32_t v = 0; v < g->n_values; v++) m->data[v] = g->values[v].data;
    for (int32_t i = 0; i < g->n_inputs; i++) m->data[g->inputs[i]] = inputs[i];
    count_readers(m);
    return 0;
}

static void end(struct machine *m)
{
    for (int32_t v = 0; m->made && v < m->g->n_values; v++) free(m->made[v]);
    free(m->made);
    free(m->data);
    free(m->readers);
}

static void drop(struct machine *m, int32_t v)
{
    free(m->made[v]);
    m->made[v] = NULL;
}

/* Evaluates node `index` into buffers of its own. 0, 1 (no kernel) or -1 (no memory). */
static int step(struct machine *m, int32_t index, ig_watch_fn *watch, void *context)
{
    const struct ig_node *n = &m->g->nodes[index];
    const void **in = calloc((size_t)n->n_in + 1, sizeof *in);
    void **out = calloc((size_t)n->n_out + 1, sizeof *out);
    int status = in && out ? 0 : -1;
    for (int32_t k = 0; !status && k < n->n_in; k++) in[k] = n->in[k] < 0 ? NULL : m->data[n->in[k]];
    for (int32_t k = 0; !status && k < n->n_out; k++) {
        if (n->out[k] < 0) continue;
        out[k] = m->made[n->out[k]] =
            aligned_alloc(64, ((size_t)ig_bytes(&m->g->values[n->out[k]].shape) + 64) / 64 * 64);
        m->data[n->out[k]] = out[k];
        if (!out[k]) status = -1;
    }
    if (!status && ig_ref_eval(m->g, n, in, out)) status = 1;
    for (int32_t k = 0; !status && k < n->n_out; k++) {
        if (n->out[k] < 0) continue;
        if (watch) watch(context, n->out[k], out[k]);
        if (!m->readers[n->out[k]]) drop(m, n->out[k]);
    }
    for (int32_t k = 0; !status && k < n->n_in; k++)
        if (n->in[k] >= 0 && --m->readers[n->in[k]] == 0) drop(m, n->in[k]);
    free(in);
    free(out);
    return status;
}

int ig_interp_watched(const struct ig_graph *g, const void *const *inputs, void *const *outputs,
                      ig_watch_fn *watch, void *context)
{
    struct machine m;
    int status = start(&m, g, inputs);
    for (int32_t i = 0; !status && i < g->n_nodes; i++) {
        status = step(&m, i, watch, context);
        if (status > 0) status = 1 + i;
    }
    for (int32_t i = 0; !status && i < g->n_outputs; i++)
        memcpy(outputs[i], m.data[g->outputs[i]], (size_t)ig_bytes(&g->values[g->outputs[i]].shape));
    end(&m);
    return status;
}

int ig_interp(const struct ig_graph *g, const void *const *inputs, void *const *outputs)
{
    return ig_interp_watched(g, inputs, outputs, NULL, NULL);
}
