/* Who makes which tensor; what the outputs need; producers before readers, one node at a time. */
#include "graph/onnx/import.h"

#include <string.h>

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

void im_add_initializers(struct im *m, const Onnx__GraphProto *graph, const char *prefix)
{
    if (graph->n_sparse_initializer)
        im_fail(m, "it has sparse initializers, which are not supported; store the weights densely");
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const Onnx__TensorProto *t = graph->initializer[i];
        if (!t->name || !*t->name) im_fail(m, "initializer %zu has no name", i);
        struct im_name *e = im_find(m, &m->names, *prefix ? im_format(m, "%s%s", prefix, t->name) : t->name, 1);
        if (e->init) im_fail(m, "initializer '%s' is there twice", e->name);
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

struct todo {
    int32_t *nodes, n;
    enum im_state mark; /* of nodes that are met: IM_LIVE or IM_MAYBE */
};

/* Marks tensor `name` as read and its producer; pushes a node met for the first time. */
static void need(struct im *m, const char *name, struct todo *t)
{
    struct im_name *e = im_find(m, &m->names, name, 0);
    if (!e) im_fail(m, "tensor '%s' is read, but nothing makes it", name);
    e->read = 1;
    if (e->node < 0 || m->nodes[e->node].state != IM_DEAD) return;
    m->nodes[e->node].state = t->mark;
    t->nodes[t->n++] = e->node;
}

static void need_branches(struct im *m, const struct im_node *n, struct todo *t)
{
    m->node = n;
    for (int i = 0; n->fork && i < 2 * n->n_out; i++)
        need(m, n->fork->out[i & 1][i / 2], t);
    m->node = NULL;
}

static void need_inputs(struct im *m, struct todo *t)
{
    while (t->n) {
        const struct im_node *n = &m->nodes[t->nodes[--t->n]];
        m->node = n;
        for (int k = 0; k < n->n_in; k++)
            if (*n->in[k]) need(m, n->in[k], t);
        if (t->mark == IM_MAYBE) need_branches(m, n, t);
        m->node = NULL;
    }
}

static void mark_live(struct im *m, struct todo *t)
{
    const Onnx__GraphProto *graph = m->model->graph;
    for (size_t i = 0; i < graph->n_output && !m->options->outputs; i++) {
        if (!graph->output[i]->name || !*graph->output[i]->name)
            im_fail(m, "graph output %zu has no name", i);
        need(m, graph->output[i]->name, t);
    }
    for (int i = 0; i < m->options->n_outputs && m->options->outputs; i++) {
        if (!im_find(m, &m->names, m->options->outputs[i], 0))
            im_fail(m, "there is no tensor '%s' to cut the graph at", m->options->outputs[i]);
        need(m, m->options->outputs[i], t);
    }
    need_inputs(m, t);
}

/* What is read if one or the other branch is taken. */
static void mark_branches(struct im *m, struct todo *t)
{
    t->mark = IM_MAYBE;
    for (int i = 0; i < m->n_nodes; i++) {
        if (m->nodes[i].state != IM_LIVE) continue;
        need_branches(m, &m->nodes[i], t);
        need_inputs(m, t);
    }
}

static void report_cycle(struct im *m, int32_t node)
{
    const char *text = "the graph has a cycle:";
    int from = m->depth - 1, shown = 0;
    while (m->stack[from] != node)
        from--;
    for (int i = from; i < m->depth && shown < 8; i++, shown++) {
        const struct im_node *n = &m->nodes[m->stack[i]];
        text = im_format(m, "%s '%.60s'", text, *n->name ? n->name : n->out[0]);
    }
    im_fail(m, "%s%s", text, from + shown < m->depth ? " ..." : "");
}

static void open_node(struct im *m, int32_t node)
{
    m->nodes[node].state = IM_OPEN;
    m->stack[m->depth++] = node;
}

/* The node's inputs are there: another reason to wait is that an If has just learnt what else it needs. */
static int waits(struct im *m, struct im_node *n)
{
    if (!n->fork || !n->fork->taken || n->in == n->fork->taken) return 0;
    n->n_in = n->n_out;
    n->in = n->fork->taken;
    for (int i = 0; i < n->n_in; i++)
        if (!im_wants(m, n, i)) n->in[i] = "";
    n->next = 0;
    n->state = IM_OPEN;
    return 1;
}

/* Looks at one more input of the node on the top of the stack. */
static void look(struct im *m, struct im_node *n)
{
    const char *name = n->in[n->next++];
    int32_t from = *name ? im_find(m, &m->names, name, 0)->node : -1;
    if (from < 0 || m->nodes[from].state == IM_DONE) return;
    if (m->nodes[from].state == IM_OPEN || m->nodes[from].state == IM_READY) report_cycle(m, from);
    open_node(m, from);
}

/* Depth-first towards the producers, on an explicit stack. */
const struct im_node *im_next(struct im *m)
{
    for (;;) {
        while (!m->depth && m->root < m->n_nodes && m->nodes[m->root].state != IM_LIVE)
            m->root++;
        if (!m->depth && m->root == m->n_nodes) return NULL;
        if (!m->depth) open_node(m, m->root);
        struct im_node *n = &m->nodes[m->stack[m->depth - 1]];
        if (n->next < n->n_in) {
            look(m, n);
        } else if (n->state == IM_OPEN) {
            n->state = IM_READY;
            return n;
        } else if (!waits(m, n)) {
            n->state = IM_DONE;
            m->depth--;
        }
    }
}

void im_order(struct im *m)
{
    size_t n = (size_t)m->n_nodes;
    struct todo todo = {im_array(m, n + 1, sizeof *todo.nodes), 0, IM_LIVE};
    add_inputs(m);
    im_add_initializers(m, m->model->graph, "");
    add_producers(m);
    mark_live(m, &todo);
    mark_branches(m, &todo);
    m->stack = todo.nodes;
}
