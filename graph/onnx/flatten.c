/*
 * The model's nodes as one list: calls of model-local functions replaced by their bodies, bodies of both branches of Ifs
 * beside these, tensor names made unique.
 */
#include "graph/onnx/import.h"

#include <string.h>

enum { MAX_FORMALS = 256, MAX_CALLS = 32, MAX_PREFIX = 4096 };

struct frame {                    /* the body being walked: the graph's, a function's, or a branch's */
    const struct im_scope *scope; /* NULL: the graph's */
    const Onnx__FunctionProto *function;
    const struct im_node *call;
    const struct frame *around; /* of a branch: whose names it has, too; else NULL */
    struct im_names *own;       /* of a branch: names of what it makes */
    const char *prefix;         /* of tensors' names inside */
    const char *label;          /* of nodes' names */
    int depth;
};

static const char *plain(const char *s)
{
    return s ? s : "";
}

static const char *plain_domain(const char *s)
{
    return !s || !strcmp(s, "ai.onnx") ? "" : s;
}

static int64_t find_opset(Onnx__OperatorSetIdProto *const *list, size_t n, const char *domain)
{
    int64_t version = 0;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(plain_domain(list[i]->domain), domain) && list[i]->version > version)
            version = list[i]->version;
    return version;
}

static int64_t opset_of(const struct im *m, const struct frame *f, const char *domain)
{
    const Onnx__ModelProto *model = m->model;
    int64_t version = 0;
    if (f->function) version = find_opset(f->function->opset_import, f->function->n_opset_import, domain);
    if (!version) version = find_opset(model->opset_import, model->n_opset_import, domain);
    if (!version && model->n_opset_import == 0 && !*domain) version = 1; /* IR 1 has no opset_import */
    return version;
}

/* The name that `name` of the body has outside. */
static const char *outer_name(struct im *m, const struct frame *f, const char *name)
{
    if (!*name) return name;
    if (f->around) return im_find(m, f->own, name, 0) ? im_format(m, "%s%s", f->prefix, name) : outer_name(m, f->around, name);
    if (!f->function) return name;
    for (size_t i = 0; i < f->function->n_input; i++)
        if (!strcmp(f->function->input[i], name)) return (int)i < f->call->n_in ? f->call->in[i] : "";
    for (size_t i = 0; i < f->function->n_output; i++)
        if (!strcmp(f->function->output[i], name) && (int)i < f->call->n_out && *f->call->out[i])
            return f->call->out[i];
    return im_format(m, "%s%s", f->prefix, name);
}

static const char **outer_names(struct im *m, const struct frame *f, char **names, size_t n)
{
    const char **list = im_array(m, n, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = outer_name(m, f, plain(names[i]));
    return list;
}

static struct im_node make_node(struct im *m, const struct frame *f, const Onnx__NodeProto *pb)
{
    struct im_node n = {
        .op = plain(pb->op_type), .domain = plain_domain(pb->domain), .pb = pb, .scope = f->scope};
    n.name = plain(pb->name);
    if (f->function) n.name = im_format(m, "%s%s", f->label, n.name);
    n.opset = opset_of(m, f, n.domain);
    if (pb->n_input > INT16_MAX || pb->n_output > INT16_MAX)
        im_fail(m, "node '%s' has too many inputs", n.name);
    n.n_in = (int32_t)pb->n_input;
    n.n_out = (int32_t)pb->n_output;
    n.in = outer_names(m, f, pb->input, pb->n_input);
    n.out = outer_names(m, f, pb->output, pb->n_output);
    return n;
}

static const char *function_key(struct im *m, const char *domain, const char *name, const char *overload)
{
    return im_format(m, "%s\n%s\n%s", plain_domain(domain), plain(name), plain(overload));
}

static const Onnx__FunctionProto *find_function(struct im *m, const Onnx__NodeProto *pb)
{
    if (!m->model->n_functions) return NULL;
    const char *key = function_key(m, pb->domain, pb->op_type, pb->overload);
    const struct im_name *found = im_find(m, &m->functions, key, 0);
    return found ? m->model->functions[found->value] : NULL;
}

static void append(struct im *m, const struct im_node *n)
{
    if (m->n_nodes >= IM_NODES) im_fail(m, "it has more than %d nodes", IM_NODES);
    if (m->n_nodes == m->room_nodes) {
        int32_t room = m->room_nodes ? 2 * m->room_nodes : 256;
        struct im_node *bigger = im_array(m, (size_t)room, sizeof *bigger);
        if (m->n_nodes) memcpy(bigger, m->nodes, (size_t)m->n_nodes * sizeof *bigger);
        m->nodes = bigger;
        m->room_nodes = room;
    }
    m->nodes[m->n_nodes++] = *n;
}

static void walk(struct im *m, const struct frame *f, Onnx__NodeProto *const *list, size_t count);

static void inline_call(struct im *m, const struct frame *f, const struct im_node *call,
                        const Onnx__FunctionProto *fn)
{
    if (f->depth >= MAX_CALLS)
        im_fail(m, "functions are nested more than %d deep at '%s'", MAX_CALLS, call->op);
    if (++m->n_calls > IM_NODES) im_fail(m, "it calls functions more than %d times", IM_NODES); /* which may be empty */
    if (fn->n_input > MAX_FORMALS || fn->n_output > MAX_FORMALS)
        im_fail(m, "function '%s' has more than %d inputs or outputs", call->op, MAX_FORMALS);
    struct im_scope *scope = im_alloc(m, sizeof *scope);
    *scope = (struct im_scope){f->scope, call->pb, fn};
    const char *base = *call->name ? call->name : call->n_out && *call->out[0] ? call->out[0] : call->op;
    struct frame inner = {.scope = scope, .function = fn, .call = call, .prefix = im_format(m, "%s/", base), .depth = f->depth + 1};
    if (strlen(inner.prefix) > MAX_PREFIX)
        im_fail(m, "names grow too long in nested functions at '%.80s'", call->op);
    if (!*call->name) inner.prefix = im_format(m, "%s_%d/", base, m->n_nodes);
    inner.label = inner.prefix;
    walk(m, &inner, fn->node, fn->n_node);
}

static void own_name(struct im *m, struct frame *f, const char *name)
{
    if (!*plain(name)) return;
    if (++m->n_names > IM_NAMES) im_fail(m, "the branches of its Ifs make more than %d tensors", IM_NAMES);
    im_find(m, f->own, name, 1);
}

static void find_own_names(struct im *m, struct frame *f, const Onnx__GraphProto *body)
{
    for (size_t i = 0; i < body->n_initializer; i++)
        own_name(m, f, body->initializer[i]->name);
    for (size_t i = 0; i < body->n_node; i++)
        for (size_t k = 0; k < body->node[i]->n_output; k++)
            own_name(m, f, body->node[i]->output[k]);
}

/* What the branch has for the outputs of its If. */
static const char **inline_branch(struct im *m, const struct frame *f, const struct im_node *n, const Onnx__GraphProto *body, const char *which)
{
    const char *base = *n->name ? n->name : n->n_out ? n->out[0] : "If";
    struct frame inner = *f;
    if (body->n_input) im_fail(m, "the %s branch of '%.200s' has inputs", which, base);
    if ((int64_t)body->n_output != n->n_out)
        im_fail(m, "the %s branch of '%.200s' has %zu outputs, not the node's %d", which, base, body->n_output, n->n_out);
    if (f->depth >= MAX_CALLS) im_fail(m, "branches and functions are nested more than %d deep at '%.200s'", MAX_CALLS, base);
    if (++m->n_calls > IM_NODES) im_fail(m, "it has more than %d branches and calls of functions", IM_NODES);
    inner.around = f;
    inner.own = im_alloc(m, sizeof *inner.own);
    inner.prefix = im_format(m, "%s/%s%d/", base, which, m->n_calls);
    inner.depth++;
    if (strlen(inner.prefix) > MAX_PREFIX) im_fail(m, "names grow too long in nested branches at '%.80s'", base);
    find_own_names(m, &inner, body);
    im_add_initializers(m, body, inner.prefix);
    walk(m, &inner, body->node, body->n_node);
    const char **out = im_array(m, body->n_output, sizeof *out);
    for (size_t i = 0; i < body->n_output; i++)
        out[i] = outer_name(m, &inner, plain(body->output[i]->name));
    return out;
}

static const Onnx__GraphProto *find_branch(const Onnx__NodeProto *pb, const char *name)
{
    for (size_t i = 0; i < pb->n_attribute; i++)
        if (!strcmp(plain(pb->attribute[i]->name), name)) return pb->attribute[i]->g;
    return NULL;
}

/* An If that lacks a branch stays as it is: what becomes of it is op_if.c's to say. */
static void inline_branches(struct im *m, const struct frame *f, struct im_node *n)
{
    const Onnx__GraphProto *then = find_branch(n->pb, "then_branch"), *other = find_branch(n->pb, "else_branch");
    if (!then || !other) return;
    struct im_fork *fork = im_alloc(m, sizeof *fork);
    fork->out[0] = inline_branch(m, f, n, then, "then");
    fork->out[1] = inline_branch(m, f, n, other, "else");
    n->fork = fork;
}

static void walk(struct im *m, const struct frame *f, Onnx__NodeProto *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct im_node n = make_node(m, f, list[i]);
        const Onnx__FunctionProto *function = find_function(m, list[i]);
        if (function) {
            inline_call(m, f, &n, function);
            continue;
        }
        if (!*n.domain && !strcmp(n.op, "If")) inline_branches(m, f, &n);
        append(m, &n);
    }
}

static void index_functions(struct im *m)
{
    for (size_t i = 0; i < m->model->n_functions; i++) {
        const Onnx__FunctionProto *f = m->model->functions[i];
        struct im_name *slot = im_find(m, &m->functions, function_key(m, f->domain, f->name, f->overload), 1);
        if (slot->value != IM_UNSET) im_fail(m, "function '%s' is defined twice", plain(f->name));
        slot->value = (int32_t)i;
    }
}

void im_flatten(struct im *m)
{
    struct frame top = {.prefix = "", .label = ""};
    index_functions(m);
    m->g->opset = opset_of(m, &top, "");
    m->g->onnx_nodes = (int32_t)(m->model->graph->n_node < INT32_MAX ? m->model->graph->n_node : INT32_MAX);
    walk(m, &top, m->model->graph->node, m->model->graph->n_node);
    for (int i = 0; i < m->n_nodes; i++) {
        const struct im_node *n = &m->nodes[i];
        if (im_is_microsoft(n->domain) && n->opset > IM_MICROSOFT)
            im_fail(m, "opset %lld of com.microsoft is newer than %d, the newest that is understood", (long long)n->opset, IM_MICROSOFT);
        if (*n->domain) continue;
        if (n->opset > IM_OPSET)
            im_fail(m,
                    "opset %lld is newer than %d, the newest that is understood; convert it with "
                    "onnx.version_converter",
                    (long long)n->opset, IM_OPSET);
        if (n->opset < 1)
            im_fail(m, "node '%s' uses ONNX's own operators, but the model imports no opset", n->name);
    }
}
