/* Memory, names, nodes, attributes and initializers of the graph being built. */
#include "models/zoo/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

enum { FLOAT = 1, INT64 = 7, ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_STRING = 3, ATTR_TENSOR = 4, ATTR_INTS = 7 };

void *zoo_alloc(struct zoo *z, size_t bytes)
{
    return ig_graph_alloc(z->memory, bytes);
}

char *zoo_format(struct zoo *z, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = zoo_alloc(z, (size_t)n + 1);
    va_start(list, format);
    vsnprintf(text, (size_t)n + 1, format, list);
    va_end(list);
    return text;
}

/* Appends p to an array of pointers whose room is its length rounded up to a power of two, 16 or more. */
static void append(struct zoo *z, void *array, size_t *n, void *p)
{
    void **old, **new;
    memcpy(&old, array, sizeof old);
    new = old;
    if (!*n || (*n >= 16 && !(*n & (*n - 1)))) {
        new = zoo_alloc(z, (*n ? *n * 2 : 16) * sizeof *new);
        if (*n) memcpy(new, old, *n * sizeof *new);
        memcpy(array, &new, sizeof new);
    }
    new[(*n)++] = p;
}

/* "layer1.0.conv1" -> "/layer1/layer1.0/conv1": a member of a list is named after the list. */
static char *scope(struct zoo *z, const char *path)
{
    char *out = zoo_format(z, "%s", ""), *last = out;
    for (size_t n = 0; *path; path += n + (path[n] == '.')) {
        int member = *last && *path >= '0' && *path <= '9';
        n = strcspn(path, ".");
        last = member ? zoo_format(z, "%s.%.*s", last, (int)n, path) : zoo_format(z, "%.*s", (int)n, path);
        out = zoo_format(z, "%s/%s", out, last);
    }
    return out;
}

Onnx__NodeProto *zoo_node(struct zoo *z, const char *op, const char *path, const char *const *inputs,
                          size_t n_inputs, const char **out)
{
    Onnx__NodeProto *node = zoo_alloc(z, sizeof *node);
    onnx__node_proto__init(node);
    node->op_type = zoo_format(z, "%s", op);
    node->name = zoo_format(z, "%s/%s", scope(z, path), op);
    node->n_input = n_inputs;
    node->input = zoo_alloc(z, n_inputs * sizeof *node->input);
    for (size_t i = 0; i < n_inputs; i++) node->input[i] = zoo_format(z, "%s", inputs[i]);
    node->n_output = 1;
    node->output = zoo_alloc(z, sizeof *node->output);
    node->output[0] = zoo_format(z, "%s_output_0", node->name);
    *out = node->output[0];
    append(z, &z->graph.node, &z->graph.n_node, node);
    return node;
}

static Onnx__AttributeProto *attribute(struct zoo *z, Onnx__NodeProto *node, const char *name, int32_t type)
{
    Onnx__AttributeProto *a = zoo_alloc(z, sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = zoo_format(z, "%s", name);
    a->has_type = 1;
    a->type = type;
    append(z, &node->attribute, &node->n_attribute, a);
    return a;
}

void zoo_attr_int(struct zoo *z, Onnx__NodeProto *node, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = attribute(z, node, name, ATTR_INT);
    a->has_i = 1;
    a->i = value;
}

void zoo_attr_float(struct zoo *z, Onnx__NodeProto *node, const char *name, float value)
{
    Onnx__AttributeProto *a = attribute(z, node, name, ATTR_FLOAT);
    a->has_f = 1;
    a->f = value;
}

void zoo_attr_string(struct zoo *z, Onnx__NodeProto *node, const char *name, const char *value)
{
    Onnx__AttributeProto *a = attribute(z, node, name, ATTR_STRING);
    a->has_s = 1;
    a->s = (ProtobufCBinaryData){.len = strlen(value), .data = (uint8_t *)zoo_format(z, "%s", value)};
}

void zoo_attr_ints(struct zoo *z, Onnx__NodeProto *node, const char *name, const int64_t *values, size_t n)
{
    Onnx__AttributeProto *a = attribute(z, node, name, ATTR_INTS);
    a->n_ints = n;
    a->ints = zoo_alloc(z, n * sizeof *a->ints);
    memcpy(a->ints, values, n * sizeof *values);
}

static void tensor_header(struct zoo *z, Onnx__TensorProto *t, const char *name, int32_t type, size_t n_dims,
                          const int64_t *dims)
{
    onnx__tensor_proto__init(t);
    t->name = name ? zoo_format(z, "%s", name) : NULL;
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = n_dims;
    t->dims = zoo_alloc(z, n_dims * sizeof *t->dims);
    t->has_raw_data = 1;
    t->raw_data.len = type == INT64 ? sizeof(int64_t) : sizeof(float);
    for (size_t i = 0; i < n_dims; i++) t->raw_data.len *= (size_t)(t->dims[i] = dims[i]);
}

const char *zoo_random(struct zoo *z, const char *name, size_t n_dims, const int64_t *dims, double low,
                       double high)
{
    struct zoo_tensor *t = zoo_alloc(z, sizeof *t);
    tensor_header(z, &t->proto, name, FLOAT, n_dims, dims);
    t->low = low;
    t->high = high;
    append(z, &z->tensors, &z->n_tensors, t);
    return t->proto.name;
}

const char *zoo_weight(struct zoo *z, const char *name, size_t n_dims, const int64_t *dims, double low,
                       double high)
{
    int64_t n = 1;
    for (size_t i = 0; i < n_dims; i++) n *= dims[i];
    z->counts.parameters += n;
    z->counts.folded += n;
    return zoo_random(z, name, n_dims, dims, low, high);
}

const char *zoo_data(struct zoo *z, const char *name, int32_t type, const void *data, size_t n)
{
    struct zoo_tensor *t = zoo_alloc(z, sizeof *t);
    tensor_header(z, &t->proto, name, type, 1, &(int64_t){(int64_t)n});
    t->proto.raw_data.data = zoo_alloc(z, t->proto.raw_data.len);
    memcpy(t->proto.raw_data.data, data, t->proto.raw_data.len);
    append(z, &z->tensors, &z->n_tensors, t);
    return t->proto.name;
}

const char *zoo_scalar(struct zoo *z, const char *path, float value)
{
    const char *out;
    Onnx__NodeProto *node = zoo_node(z, "Constant", path, NULL, 0, &out);
    Onnx__AttributeProto *a = attribute(z, node, "value", ATTR_TENSOR);
    a->t = zoo_alloc(z, sizeof *a->t);
    tensor_header(z, a->t, NULL, FLOAT, 0, NULL);
    a->t->raw_data.data = zoo_alloc(z, sizeof value);
    memcpy(a->t->raw_data.data, &value, sizeof value);
    return out;
}

static Onnx__ValueInfoProto *value_info(struct zoo *z, struct zoo_value x, const char *name)
{
    int64_t dims[] = {1, x.c, x.h, x.w};
    Onnx__ValueInfoProto *v = zoo_alloc(z, sizeof *v);
    onnx__value_info_proto__init(v);
    v->name = zoo_format(z, "%s", name);
    v->type = zoo_alloc(z, sizeof *v->type);
    onnx__type_proto__init(v->type);
    v->type->tensor_type = zoo_alloc(z, sizeof *v->type->tensor_type);
    onnx__type_proto__tensor__init(v->type->tensor_type);
    v->type->tensor_type->has_elem_type = 1;
    v->type->tensor_type->elem_type = FLOAT;
    Onnx__TensorShapeProto *shape = zoo_alloc(z, sizeof *shape);
    onnx__tensor_shape_proto__init(shape);
    v->type->tensor_type->shape = shape;
    for (size_t i = 0, rank = x.h ? 4 : 2; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *d = zoo_alloc(z, sizeof *d);
        onnx__tensor_shape_proto__dimension__init(d);
        d->has_dim_value = 1;
        d->dim_value = dims[i];
        append(z, &shape->dim, &shape->n_dim, d);
    }
    return v;
}

struct zoo_value zoo_input(struct zoo *z, const struct ig_zoo_net *net)
{
    struct zoo_value x = {"input", net->c, net->h, net->w, 1, 0};
    append(z, &z->graph.input, &z->graph.n_input, value_info(z, x, x.name));
    return x;
}

void zoo_output(struct zoo *z, struct zoo_value x, const char *name)
{
    for (size_t i = z->graph.n_node; i-- > 0;)
        if (!strcmp(z->graph.node[i]->output[0], x.name)) {
            z->graph.node[i]->output[0] = zoo_format(z, "%s", name);
            break;
        }
    append(z, &z->graph.output, &z->graph.n_output, value_info(z, x, name));
}

void zoo_begin(struct zoo *z, const struct ig_zoo_net *net)
{
    *z = (struct zoo){.name = net->name, .memory = ig_graph_new(net->name), .norm_scale = 1};
    onnx__graph_proto__init(&z->graph);
    z->graph.name = zoo_format(z, "%s", net->name);
}

void zoo_end(struct zoo *z)
{
    ig_graph_free(z->memory);
}
