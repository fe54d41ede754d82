/* Who makes which tensor; what the outputs need; producers before readers. */
#include "graph/onnx/import.h"

#include <string.h>

enum im_state { DEAD = 0, LIVE, OPEN, DONE };

static void add_inputs(struct im *m)
{
    const Onnx__GraphProto *graph = m->model->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name;
        if (!name || !*name) im_fail(m, "graph input %zu has no name", i);
        struct im_name *e = im_find(m, &m->names, name, 1);
        if (e->is_input) im_fail(m, "input '%s' is declared twice", name);
        e->is_input = 1;
    }
}

static void add_initializers(struct im *m)
{
    const Onnx__GraphProto *graph = m->model->graph;
    if (graph->n_sparse_initializer)
        im_fail(m, "it has sparse initializers, which are not supported; store the weights densely");
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const Onnx__TensorProto *t = graph->initializer[i];
        if (!t->name || !*t->name) im_fail(m, "initializer %zu has no name", i);
        struct im_name *e = im_find(m, &m->names, t->name, 1);
        if (e->init) im_fail(m, "initializer '%s' is there twice", t->name);
        e->init = t;
    }
}

static void add_producers(struct im *m)
{
    for (int i = 0; i < m->n_nodes; i++) {
        for (int k = 0; k < m->nodes[i].n_out; k++) {
            const char *name = m->nodes[i].out[k];
            if (!*name) continue;
            struct im_name *e = im_find(m, &m->names, name, 1);
            if (e->node >= 0 || e->init || e->is_input)
                im_fail(m, "tensor '%s' is made twice%s", name,
                        e->node >= 0 ? "" : ": by a node, and as input or initializer");
            e->node = i;
        }
    }
}

/* Marks tensor `name` as read and its producer as live; pushes a node met for the first time. */
static void need(struct im *m, const char *name, int32_t *todo, int32_t *n_todo)
{
    struct im_name *e = im_find(m, &m->names, name, 0);
    if (!e) im_fail(m, "tensor '%s' is read, but nothing makes it", name);
    e->read = 1;
    if (e->node < 0 || m->nodes[e->node].state != DEAD) return;
    m->nodes[e->node].state = LIVE;
    todo[(*n_todo)++] = e->node;
}

static void mark_live(struct im *m, int32_t *todo)
{
    const Onnx__GraphProto *graph = m->model->graph;
    int32_t n_todo = 0;
    for (size_t i = 0; i < graph->n_output && !m->options->outputs; i++) {
        if (!graph->output[i]->name || !*graph->output[i]->name)
            im_fail(m, "graph output %zu has no name", i);
        need(m, graph->output[i]->name, todo, &n_todo);
    }
    for (int i = 0; i < m->options->n_outputs && m->options->outputs; i++) {
        if (!im_find(m, &m->names, m->options->outputs[i], 0))
            im_fail(m, "there is no tensor '%s' to cut the graph at", m->options->outputs[i]);
        need(m, m->options->outputs[i], todo, &n_todo);
    }
    while (n_todo) {
        const struct im_node *n = &m->nodes[todo[--n_todo]];
        m->node = n;
        for (int k = 0; k < n->n_in; k++)
            if (*n->in[k]) need(m, n->in[k], todo, &n_todo);
        m->node = NULL;
    }
}

static void report_cycle(struct im *m, const int32_t *stack, int depth, int32_t node)
{
    const char *text = "the graph has a cycle:";
    int from = depth - 1, shown = 0;
    while (stack[from] != node)
        from--;
    for (int i = from; i < depth && shown < 8; i++, shown++) {
        const struct im_node *n = &m->nodes[stack[i]];
        text = im_format(m, "%s '%.60s'", text, *n->name ? n->name : n->out[0]);
    }
    im_fail(m, "%s%s", text, from + shown < depth ? " ..." : "");
}

/* Depth-first towards the producers, on an explicit stack: node, and the input to look at next. */
static void visit(struct im *m, int32_t root, int32_t *stack, int32_t *next)
{
    int32_t depth = 1;
    stack[0] = root;
    m->nodes[root].state = OPEN;
    while (depth) {
        struct im_node *n = &m->nodes[stack[depth - 1]];
        if (next[stack[depth - 1]] == n->n_in) {
            n->state = DONE;
            m->order[m->n_order++] = stack[--depth];
            continue;
        }
        const char *name = n->in[next[stack[depth - 1]]++];
        int32_t from = *name ? im_find(m, &m->names, name, 0)->node : -1;
        if (from < 0 || m->nodes[from].state == DONE) continue;
        if (m->nodes[from].state == OPEN) report_cycle(m, stack, depth, from);
        m->nodes[from].state = OPEN;
        stack[depth++] = from;
    }
}

void im_order(struct im *m)
{
    size_t n = (size_t)m->n_nodes;
    int32_t *stack = im_array(m, n + 1, sizeof *stack), *next = im_array(m, n + 1, sizeof *next);
    add_inputs(m);
    add_initializers(m);
    add_producers(m);
    mark_live(m, stack);
    m->order = im_array(m, n + 1, sizeof *m->order);
    for (int i = 0; i < m->n_nodes; i++)
        if (m->nodes[i].state == LIVE) visit(m, i, stack, next);
}
