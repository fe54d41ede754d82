/*
 * The graph's edges: inputs get shapes (from the file, --input-shape, a default batch of 1), outputs their
 * names.
 */
#include "graph/onnx/import.h"

#include <string.h>

static const struct ig_bind *find_bind(const struct im *m, const char *name)
{
    for (int i = 0; i < m->options->n_binds; i++)
        if (!strcmp(m->options->binds[i].name, name)) return &m->options->binds[i];
    return NULL;
}

static const char *input_list(struct im *m)
{
    const Onnx__GraphProto *graph = m->model->graph;
    const char *text = "";
    int shown = 0;
    for (size_t i = 0; i < graph->n_input && shown < 8; i++) {
        if (im_find(m, &m->names, graph->input[i]->name, 0)->init) continue;
        text = im_format(m, "%s%s%.60s", text, shown++ ? ", " : "", graph->input[i]->name);
    }
    return text;
}

static void check_binds(struct im *m)
{
    for (int i = 0; i < m->options->n_binds; i++) {
        const char *name = m->options->binds[i].name;
        const struct im_name *e = im_find(m, &m->names, name, 0);
        if (!e || !e->is_input)
            im_fail(m, "there is no input '%s'; the inputs are: %s", name, input_list(m));
    }
}

static const Onnx__TypeProto__Tensor *tensor_type(const Onnx__ValueInfoProto *info)
{
    return info->type ? info->type->tensor_type : NULL;
}

/* Declared size of a dimension, or 0: symbolic or unknown (some writers say -1 or 0 for that). */
static int64_t declared(const Onnx__TensorShapeProto__Dimension *d)
{
    return d->has_dim_value && d->dim_value > 0 ? d->dim_value : 0;
}

/* The name that makes dimensions equal, or NULL: some writers give every open one the same that is none. */
static const char *symbol(const Onnx__TensorShapeProto__Dimension *d)
{
    static const char *const none[] = {"", "?", "-1", "None"};
    for (size_t i = 0; d->dim_param && i < sizeof none / sizeof *none; i++)
        if (!strcmp(d->dim_param, none[i])) return NULL;
    return d->dim_param;
}

/* Size of a dimension as declared, or of its symbol; 0: nobody has said. */
static int64_t known(struct im *m, const Onnx__TensorShapeProto__Dimension *d)
{
    if (declared(d) || !symbol(d)) return declared(d);
    const struct im_name *e = im_find(m, &m->symbols, symbol(d), 0);
    return e && e->value != IM_UNSET ? e->value : 0;
}

static void learn_symbol(struct im *m, const char *name, int32_t size)
{
    struct im_name *e = im_find(m, &m->symbols, name, 1);
    if (e->value != IM_UNSET && e->value != size)
        im_fail(m, "dimension '%s' is bound to both %d and %d", name, e->value, size);
    e->value = size;
}

/* A bound shape goes before the file's, if it has as many dimensions; data's must be the file's. Symbols learn their sizes. */
static void check_bind(struct im *m, const Onnx__ValueInfoProto *info, const struct ig_bind *b)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    if (!t || !t->shape) return;
    if ((int)t->shape->n_dim != b->shape.rank)
        im_fail(m, "input '%s' has rank %zu, what is given rank %d", info->name, t->shape->n_dim, b->shape.rank);
    for (int i = 0; i < b->shape.rank; i++) {
        const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[i];
        if (b->data && declared(d) && declared(d) != b->shape.dims[i])
            im_fail(m, "input '%s': dimension %d is %lld in the file and cannot be bound to data of %d", info->name, i,
                    (long long)declared(d), b->shape.dims[i]);
        if (symbol(d)) learn_symbol(m, symbol(d), b->shape.dims[i]);
    }
}

/* A batch that nobody binds is 1: the first dimension, where it is symbolic and its symbol not known. */
static void default_batch(struct im *m, const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    if (!t || !t->shape || !t->shape->n_dim || declared(t->shape->dim[0]) || !symbol(t->shape->dim[0]))
        return;
    struct im_name *e = im_find(m, &m->symbols, symbol(t->shape->dim[0]), 1);
    if (e->value == IM_UNSET) e->value = 1;
}

/* An image of up to four channels behind its pixels, as TensorFlow's are. */
static int has_channels_last(const Onnx__TensorShapeProto *s)
{
    enum { CHANNELS = 4 };
    return s && s->n_dim == 4 && !declared(s->dim[1]) && declared(s->dim[3]) && declared(s->dim[3]) <= CHANNELS;
}

/* The remedy: the input's shape with a guess where it is open. */
static const char *example(struct im *m, const Onnx__ValueInfoProto *info)
{
    static const int first[4] = {1, 3, 224, 224}, last[4] = {1, 224, 224, 3};
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    const Onnx__TensorShapeProto *s = t ? t->shape : NULL;
    const int *guess = has_channels_last(s) ? last : first;
    const char *text = im_format(m, "--input-shape %s=", info->name);
    size_t n = s ? s->n_dim : 4;
    for (size_t i = 0; i < n && i < IG_MAX_RANK; i++) {
        int64_t d = s ? known(m, s->dim[i]) : 0;
        text = im_format(m, "%s%s%lld", text, i ? "x" : "", (long long)(d ? d : guess[i < 4 ? i : 3]));
    }
    return text;
}

static int64_t resolve_dim(struct im *m, const Onnx__ValueInfoProto *info, int i)
{
    const Onnx__TensorShapeProto__Dimension *d = tensor_type(info)->shape->dim[i];
    if (known(m, d)) return known(m, d);
    int zero = d->has_dim_value && d->dim_value == 0;
    if (i == 0 && !zero) return 1;
    im_fail(m, "input '%s': dimension %d (%s) is not known; give it with %s", info->name, i,
            symbol(d) ? symbol(d)
            : zero    ? "0"
                      : "unnamed",
            example(m, info));
}

static struct ig_shape input_shape(struct im *m, const Onnx__ValueInfoProto *info, const struct ig_bind *b)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    int64_t dims[IG_MAX_RANK];
    if (!t) im_fail(m, "input '%s' is not a tensor", info->name);
    int32_t type = im_runtime_type(m, t->elem_type, im_format(m, "input '%s'", info->name));
    if (!b && !t->shape) im_fail(m, "input '%s' has no shape; give it with %s", info->name, example(m, info));
    size_t rank = b ? (size_t)b->shape.rank : t->shape->n_dim;
    if (rank > IG_MAX_RANK)
        im_fail(m, "input '%s' has %zu dimensions; at most %d are supported", info->name, rank, IG_MAX_RANK);
    int64_t count = 1;
    int is_too_large = 0;
    const char *text = "";
    for (size_t i = 0; i < rank; i++) {
        dims[i] = b ? b->shape.dims[i] : resolve_dim(m, info, (int)i);
        text = im_format(m, "%s%s%lld", text, i ? "x" : "", (long long)dims[i]);
        is_too_large |= count && dims[i] > INT32_MAX / count;
        if (!is_too_large) count *= dims[i];
    }
    if (is_too_large) im_fail(m, "input '%s': %s are more than %d elements", info->name, text, INT32_MAX);
    return im_make_shape(m, type, (int32_t)rank, dims);
}

/* An input that becomes a constant. */
static int32_t bound_constant(struct im *m, const Onnx__ValueInfoProto *info, const struct ig_bind *b)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    struct ig_shape shape = b->shape;
    const char *name;
    int32_t want = t && t->has_elem_type ? im_type(t->elem_type, &name) : shape.type;
    int half = shape.type == IG_F16;
    if (half) shape.type = IG_F32;
    if (want != shape.type) im_fail(m, "input '%s' is bound to data of another type", info->name);
    for (int i = 0; i < shape.rank; i++)
        if (!shape.dims[i]) return im_empty(m, &shape);
    if (!half) return ig_add_const(m->g, info->name, &shape, b->data);
    int32_t v = ig_add_const(m->g, info->name, &shape, NULL);
    float *to = (float *)m->g->values[v].data;
    for (int64_t i = 0; i < ig_count(&shape); i++)
        to[i] = ig_half_to_float(((const uint16_t *)b->data)[i]);
    return v;
}

/* Is bound to a shape that the file does not say: to more than a batch that is open there, or to another one. */
static int is_own_choice(const Onnx__ValueInfoProto *info, const struct ig_bind *b)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    for (size_t i = 0; t && t->shape && i < t->shape->n_dim; i++) {
        const int64_t size = declared(t->shape->dim[i]);
        if (size != b->shape.dims[i] && (size || i)) return 1;
    }
    return 0;
}

const char *im_doubt(struct im *m)
{
    const Onnx__GraphProto *graph = m->model->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        const struct ig_bind *b = find_bind(m, graph->input[i]->name);
        if (!b || b->data || !is_own_choice(graph->input[i], b)) continue;
        const char *text = im_format(m, "; does the network take %s=", b->name);
        for (int d = 0; d < b->shape.rank; d++) text = im_format(m, "%s%s%d", text, d ? "x" : "", b->shape.dims[d]);
        return im_format(m, "%s?", text);
    }
    return "";
}

static int32_t make_input(struct im *m, const Onnx__ValueInfoProto *info)
{
    const struct ig_bind *b = find_bind(m, info->name);
    if (b && b->data) return bound_constant(m, info, b);
    struct ig_shape shape = input_shape(m, info, b);
    int32_t v = ig_add_value(m->g, info->name, &shape);
    ig_add_input(m->g, v);
    return shape.type == IG_F16 ? im_cast(m, v, IG_F32) : v;
}

/*
 * An input that nothing reads stays an input if it can: its absence of a shape or an odd type is nobody's
 * business.
 */
static int32_t try_input(struct im *m, const Onnx__ValueInfoProto *info)
{
    jmp_buf here, *outer = m->stop;
    m->stop = &here;
    int32_t v = setjmp(here) ? IM_ABSENT : make_input(m, info);
    m->stop = outer;
    return v;
}

void im_bind_inputs(struct im *m)
{
    const Onnx__GraphProto *graph = m->model->graph;
    check_binds(m);
    for (size_t i = 0; i < graph->n_input; i++) {
        const struct ig_bind *b = find_bind(m, graph->input[i]->name);
        if (b) check_bind(m, graph->input[i], b);
    }
    for (size_t i = 0; i < graph->n_input; i++)
        default_batch(m, graph->input[i]);
    for (size_t i = 0; i < graph->n_input; i++) {
        const Onnx__ValueInfoProto *info = graph->input[i];
        const struct im_name *e = im_find(m, &m->names, info->name, 0);
        const struct ig_bind *b = find_bind(m, info->name);
        if (e->init && !(b && b->data)) {
            if (b) im_fail(m, "input '%s' has an initializer and so a shape; it cannot be bound", info->name);
            continue;
        }
        if (!e->read && m->options->outputs) continue;
        int32_t v = e->read ? make_input(m, info) : try_input(m, info);
        im_find(m, &m->names, info->name, 0)->value = v;
    }
}

/*
 * Gives v the output's name; another tensor of that name steps back, but for an input or an output listed
 * before.
 */
static void claim_name(struct im *m, int32_t v, const char *name)
{
    struct ig_graph *g = m->g;
    for (int i = 0; i < g->n_values; i++) {
        if (i == v || strcmp(g->values[i].name, name)) continue;
        if (ig_is_input(g, i) || ig_is_output(g, i)) return;
        g->values[i].name = g->values[v].name;
    }
    g->values[v].name = ig_graph_strdup(g, name);
}

/* The value that leaves the graph as `name`: its own, not an input's, a constant's or another output's. */
static int32_t own_value(struct im *m, const char *name, int32_t v)
{
    const struct ig_graph *g = m->g;
    if (ig_is_const(g, v) || ig_is_input(g, v) || ig_is_output(g, v)) v = im_emit1(m, IG_COPY, 1, &v, NULL);
    claim_name(m, v, name);
    return v;
}

/* An output declared f16 is delivered as it was computed, in f32: rounding it would only lose digits. */
static void make_output(struct im *m, const char *name, const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *t = info ? tensor_type(info) : NULL;
    int32_t v = im_find(m, &m->names, name, 0)->value;
    if (t && t->has_elem_type && t->elem_type) im_runtime_type(m, t->elem_type, im_format(m, "output '%s'", name));
    if (v == IM_UNSET) {
        const Onnx__TensorProto *init = im_find(m, &m->names, name, 0)->init;
        v = init ? im_tensor(m, init, name, im_format(m, "initializer '%s'", name)) : IM_ABSENT;
    }
    if (v == IM_POISON) return;
    if (v < 0) im_fail(m, "output '%s' has no elements; tensors of size zero are not supported", name);
    ig_add_output(m->g, own_value(m, name, v));
}

void im_make_outputs(struct im *m)
{
    const Onnx__GraphProto *graph = m->model->graph;
    if (m->options->outputs) {
        for (int i = 0; i < m->options->n_outputs; i++)
            make_output(m, m->options->outputs[i], NULL);
        return;
    }
    for (size_t i = 0; i < graph->n_output; i++)
        make_output(m, graph->output[i]->name, graph->output[i]);
}
