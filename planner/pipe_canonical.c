/* One order for all ways to number the same nodes: of those that are ready, the smallest id first. */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/pipe.h"

struct owned { /* a problem with its arrays in one block */
    struct ig_pipe p;
    int64_t *ns, *bytes, *weights;
    int32_t *first, *preds;
    uint8_t *reads_input, *is_output;
    const char **names;
};

static int sort_nodes(const struct ig_pipe *p, const int32_t *id, int32_t *from, int32_t *at)
{
    for (int32_t v = 0; v < p->n; v++) at[v] = -1;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t next = -1;
        for (int32_t v = 0; v < p->n; v++) {
            int ready = at[v] < 0 && (next < 0 || id[v] < id[next]);
            for (int32_t k = p->first[v]; k < p->first[v + 1] && ready; k++) ready = at[p->preds[k]] >= 0;
            if (ready) next = v;
        }
        if (next < 0) return -1;
        from[i] = next;
        at[next] = i;
    }
    return 0;
}

static void copy_node(const struct ig_pipe *p, struct owned *o, const int32_t *at, int32_t v, int32_t i)
{
    int32_t n = o->first[i];
    for (int32_t k = 0; k < p->n_processors; k++)
        o->ns[(int64_t)i * p->n_processors + k] = p->ns[(int64_t)v * p->n_processors + k];
    o->bytes[i] = p->bytes[v];
    if (p->weights_bytes) o->weights[i] = p->weights_bytes[v];
    if (p->reads_input) o->reads_input[i] = p->reads_input[v];
    if (p->is_output) o->is_output[i] = p->is_output[v];
    if (p->names) o->names[i] = p->names[v];
    for (int32_t k = p->first[v]; k < p->first[v + 1]; k++) { /* sorted as they come: lists are short */
        int32_t u = at[p->preds[k]], j = n++;
        for (; j > o->first[i] && o->preds[j - 1] > u; j--) o->preds[j] = o->preds[j - 1];
        o->preds[j] = u;
    }
    o->first[i + 1] = n;
}

struct ig_pipe *ig_pipe_canonical(const struct ig_pipe *p, const int32_t *id, int32_t *from)
{
    size_t n = (size_t)p->n;
    int32_t *at = ig_must_alloc(n, sizeof *at);
    struct owned *o = NULL;
    if (!sort_nodes(p, id, from, at)) {
        o = ig_must_alloc(1, sizeof *o);
        o->p = *p;
        o->p.ns = o->ns = ig_must_alloc(n * (size_t)p->n_processors, sizeof *o->ns);
        o->p.bytes = o->bytes = ig_must_alloc(n, sizeof *o->bytes);
        o->p.first = o->first = ig_must_alloc(n + 1, sizeof *o->first);
        o->p.preds = o->preds = ig_must_alloc((size_t)p->first[p->n], sizeof *o->preds);
        o->p.weights_bytes = o->weights = p->weights_bytes ? ig_must_alloc(n, sizeof *o->weights) : NULL;
        o->p.reads_input = o->reads_input = p->reads_input ? ig_must_alloc(n, 1) : NULL;
        o->p.is_output = o->is_output = p->is_output ? ig_must_alloc(n, 1) : NULL;
        o->names = p->names ? ig_must_alloc(n, sizeof *o->names) : NULL;
        o->p.names = o->names;
        for (int32_t i = 0; i < p->n; i++) copy_node(p, o, at, from[i], i);
    }
    free(at);
    return o ? &o->p : NULL;
}

void ig_pipe_free(struct ig_pipe *p)
{
    struct owned *o = (struct owned *)p; /* the problem is the block's first member */
    if (!o) return;
    void *arrays[] = {o->ns,          o->bytes,     o->weights,       o->first, o->preds,
                      o->reads_input, o->is_output, (void *)o->names, o};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}
