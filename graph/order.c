/* Order and liveness: topological sort, and the removal of what nobody reads. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

static void set_producers(struct ig_graph *g) {
    for (int i = 0; i < g->n_values; i++)
        g->values[i].producer = -1;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_out; k++)
            if (g->nodes[i].out[k] >= 0) g->values[g->nodes[i].out[k]].producer = i;
}

struct visit {      /* a depth-first walk towards the producers, on an explicit stack */
    int32_t *stack; /* nodes being visited, from a root to the current one */
    int32_t *next;  /* [node]: the input to look at next; -1: not met yet */
    int32_t *order; /* nodes whose producers all come before them */
    int32_t depth, done;
};

enum { UNSEEN = -1, DONE = INT32_MAX };

static int report_cycle(const struct ig_graph *g, const struct visit *v, int32_t node, char *err,
                        size_t err_bytes) {
    int from = 0;
    size_t at = (size_t)snprintf(err, err_bytes, "the graph has a cycle:");
    while (v->stack[from] != node)
        from++;
    for (int i = v->depth - 1; i >= from && at < err_bytes; i--)
        at += (size_t)snprintf(err + at, err_bytes - at, " %s ->", g->nodes[v->stack[i]].name);
    if (at < err_bytes) snprintf(err + at, err_bytes - at, " %s", g->nodes[v->stack[v->depth - 1]].name);
    return -1;
}

/* Advances the node on top of the stack by one input; -1 at a cycle. */
static int step(const struct ig_graph *g, struct visit *v, char *err, size_t err_bytes) {
    int32_t top = v->stack[v->depth - 1];
    const struct ig_node *n = &g->nodes[top];
    if (v->next[top] == n->n_in) {
        v->next[top] = DONE;
        v->order[v->done++] = top;
        v->depth--;
        return 0;
    }
    int32_t value = n->in[v->next[top]++];
    int32_t from = value < 0 ? -1 : g->values[value].producer;
    if (from < 0 || v->next[from] == DONE) return 0;
    if (v->next[from] != UNSEEN) return report_cycle(g, v, from, err, err_bytes);
    v->next[from] = 0;
    v->stack[v->depth++] = from;
    return 0;
}

static int walk(const struct ig_graph *g, struct visit *v, char *err, size_t err_bytes) {
    for (int i = 0; i < g->n_nodes; i++)
        v->next[i] = UNSEEN;
    for (int i = 0; i < g->n_nodes; i++) {
        if (v->next[i] == DONE) continue;
        v->next[i] = 0;
        v->stack[v->depth++] = i;
        while (v->depth)
            if (step(g, v, err, err_bytes)) return -1;
    }
    return 0;
}

int ig_graph_sort(struct ig_graph *g, char *err, size_t err_bytes) {
    size_t n = (size_t)g->n_nodes;
    set_producers(g);
    if (!n) return 0;
    int32_t *room = ig_graph_alloc(g, 3 * n * sizeof *room);
    struct visit v = {.stack = room, .next = room + n, .order = room + 2 * n};
    if (walk(g, &v, err, err_bytes)) return -1;
    struct ig_node *sorted = malloc(n * sizeof *sorted);
    if (!sorted) {
        snprintf(err, err_bytes, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = g->nodes[v.order[i]];
    memcpy(g->nodes, sorted, n * sizeof *sorted);
    free(sorted);
    set_producers(g);
    return 0;
}

static void keep(int32_t node, char *alive, int32_t *todo, int32_t *n_todo) {
    if (node < 0 || alive[node]) return;
    alive[node] = 1;
    todo[(*n_todo)++] = node;
}

static void sweep_nodes(struct ig_graph *g) {
    char *alive = ig_graph_alloc(g, (size_t)g->n_nodes);
    int32_t *todo = ig_graph_alloc(g, (size_t)g->n_nodes * sizeof *todo);
    int32_t n_todo = 0, kept = 0;
    for (int i = 0; i < g->n_outputs; i++)
        keep(g->values[g->outputs[i]].producer, alive, todo, &n_todo);
    while (n_todo) {
        const struct ig_node *n = &g->nodes[todo[--n_todo]];
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0) keep(g->values[n->in[k]].producer, alive, todo, &n_todo);
    }
    for (int i = 0; i < g->n_nodes; i++)
        if (alive[i]) g->nodes[kept++] = g->nodes[i];
    g->n_nodes = kept;
}

static void renumber(int32_t *list, int32_t n, const int32_t *index) {
    for (int i = 0; i < n; i++)
        if (list[i] >= 0) list[i] = index[list[i]];
}

static void mark(const int32_t *list, int32_t n, int32_t *used) {
    for (int i = 0; i < n; i++)
        if (list[i] >= 0) used[list[i]] = 1;
}

/* Outputs after the first that nobody reads become -1: the kernel need not compute them. */
static void drop_unread_outputs(struct ig_graph *g) {
    int32_t *read = ig_graph_alloc(g, (size_t)g->n_values * sizeof *read);
    for (int i = 0; i < g->n_nodes; i++)
        mark(g->nodes[i].in, g->nodes[i].n_in, read);
    mark(g->outputs, g->n_outputs, read);
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 1; k < g->nodes[i].n_out; k++)
            if (g->nodes[i].out[k] >= 0 && !read[g->nodes[i].out[k]]) g->nodes[i].out[k] = -1;
}

static void sweep_values(struct ig_graph *g) {
    int32_t *index = ig_graph_alloc(g, (size_t)g->n_values * sizeof *index);
    int32_t kept = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        mark(g->nodes[i].in, g->nodes[i].n_in, index);
        mark(g->nodes[i].out, g->nodes[i].n_out, index);
    }
    mark(g->inputs, g->n_inputs, index);
    mark(g->outputs, g->n_outputs, index);
    for (int i = 0; i < g->n_values; i++) {
        if (!index[i]) continue;
        g->values[kept] = g->values[i];
        index[i] = kept++;
    }
    g->n_values = kept;
    for (int i = 0; i < g->n_nodes; i++) {
        renumber(g->nodes[i].in, g->nodes[i].n_in, index);
        renumber(g->nodes[i].out, g->nodes[i].n_out, index);
    }
    renumber(g->inputs, g->n_inputs, index);
    renumber(g->outputs, g->n_outputs, index);
}

void ig_graph_sweep(struct ig_graph *g) {
    set_producers(g);
    sweep_nodes(g);
    drop_unread_outputs(g);
    sweep_values(g);
    set_producers(g);
}
