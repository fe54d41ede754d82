/*
 * What a handler may ask of its ONNX node: inputs, attributes (through the calls it was inlined from),
 * constants.
 */
#include "graph/onnx/import.h"

#include <string.h>

enum { FLOAT = 1, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS }; /* AttributeProto.type */

int32_t im_in(struct im *m, const struct im_node *n, int i)
{
    if (i >= n->n_in || !*n->in[i]) return IM_ABSENT;
    struct im_name *e = im_find(m, &m->names, n->in[i], 0);
    if (e->value == IM_UNSET && e->init)
        e->value = im_tensor(m, e->init, e->name, im_format(m, "initializer '%.200s'", e->name));
    return e->value == IM_UNSET ? IM_ABSENT : e->value;
}

int32_t im_need(struct im *m, const struct im_node *n, int i)
{
    int32_t v = im_in(m, n, i);
    if (v >= 0) return v;
    if (v == IM_ABSENT) im_fail(m, "input %d is missing", i);
    im_refuse(m, "input %d has no elements; tensors of size zero are not supported", i);
}

int im_wants(struct im *m, const struct im_node *n, int i)
{
    if (i >= n->n_out || !*n->out[i]) return 0;
    return im_find(m, &m->names, n->out[i], 0)->read;
}

void im_set(struct im *m, const struct im_node *n, int i, int32_t handle)
{
    if (i >= n->n_out || !*n->out[i]) return;
    im_find(m, &m->names, n->out[i], 0)->value = handle;
    if (handle < m->first_value || im_find(m, &m->names, m->g->values[handle].name, 0)) return;
    m->g->values[handle].name = ig_graph_strdup(m->g, n->out[i]);
}

static const Onnx__AttributeProto *find_attr(Onnx__AttributeProto *const *list, size_t count,
                                             const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->name && !strcmp(list[i]->name, name)) return list[i];
    return NULL;
}

const Onnx__AttributeProto *im_attr(const struct im_node *n, const char *name)
{
    const Onnx__AttributeProto *a = find_attr(n->pb->attribute, n->pb->n_attribute, name);
    const struct im_scope *s = n->scope;
    for (; a && a->ref_attr_name && *a->ref_attr_name; s = s->up) {
        if (!s) return NULL;
        const char *outer = a->ref_attr_name;
        a = find_attr(s->call->attribute, s->call->n_attribute, outer);
        if (!a) return find_attr(s->function->attribute_proto, s->function->n_attribute_proto, outer);
    }
    return a;
}

/* The attribute if it is there, with a type among the two (a file of IR 1 has none: then the fields tell). */
static const Onnx__AttributeProto *typed_attr(struct im *m, const struct im_node *n, const char *name,
                                              int32_t type)
{
    const Onnx__AttributeProto *a = im_attr(n, name);
    if (a && a->has_type && a->type && a->type != type) im_fail(m, "attribute '%s' has the wrong type", name);
    return a;
}

int64_t im_int(struct im *m, const struct im_node *n, const char *name, int64_t absent)
{
    const Onnx__AttributeProto *a = typed_attr(m, n, name, INT);
    return a ? a->i : absent;
}

int32_t im_int32(struct im *m, const struct im_node *n, const char *name, int32_t absent, int32_t min,
                 int32_t max)
{
    int64_t v = im_int(m, n, name, absent);
    if (v >= min && v <= max) return (int32_t)v;
    im_fail(m, "attribute '%s' is %lld; it must be in %d..%d", name, (long long)v, min, max);
}

float im_float(struct im *m, const struct im_node *n, const char *name, float absent)
{
    const Onnx__AttributeProto *a = typed_attr(m, n, name, FLOAT);
    return a ? a->f : absent;
}

static const char *text_of(struct im *m, const ProtobufCBinaryData *s)
{
    return im_format(m, "%.*s", s->len < 256 ? (int)s->len : 256, s->data ? (const char *)s->data : "");
}

const char *im_string(struct im *m, const struct im_node *n, const char *name, const char *absent)
{
    const Onnx__AttributeProto *a = typed_attr(m, n, name, STRING);
    if (!a) return absent;
    return text_of(m, &a->s);
}

int im_choice(struct im *m, const struct im_node *n, const char *name, const char *absent,
              const char *const *list)
{
    const char *s = im_string(m, n, name, absent);
    for (int i = 0; list[i]; i++)
        if (!strcmp(list[i], s)) return i;
    im_refuse(m, "%s '%.40s' is not supported", name, s);
}

int im_ints(struct im *m, const struct im_node *n, const char *name, int64_t *dst, int max)
{
    const Onnx__AttributeProto *a = typed_attr(m, n, name, INTS);
    if (!a) return -1;
    if (a->n_ints > (size_t)max)
        im_fail(m, "attribute '%s' has %zu elements, more than %d", name, a->n_ints, max);
    if (a->n_ints) memcpy(dst, a->ints, a->n_ints * sizeof *dst);
    return (int)a->n_ints;
}

int im_floats(struct im *m, const struct im_node *n, const char *name, float *dst, int max)
{
    const Onnx__AttributeProto *a = typed_attr(m, n, name, FLOATS);
    if (!a) return -1;
    if (a->n_floats > (size_t)max)
        im_fail(m, "attribute '%s' has %zu elements, more than %d", name, a->n_floats, max);
    if (a->n_floats) memcpy(dst, a->floats, a->n_floats * sizeof *dst);
    return (int)a->n_floats;
}

int im_strings(struct im *m, const struct im_node *n, const char *name, const char **dst, int max)
{
    const Onnx__AttributeProto *a = typed_attr(m, n, name, STRINGS);
    if (!a) return -1;
    if (a->n_strings > (size_t)max)
        im_fail(m, "attribute '%s' has %zu elements, more than %d", name, a->n_strings, max);
    for (size_t i = 0; i < a->n_strings; i++) dst[i] = text_of(m, &a->strings[i]);
    return (int)a->n_strings;
}

struct ig_shape im_shape(const struct im *m, int32_t handle)
{
    return handle >= 0 ? m->g->values[handle].shape : m->empties[IM_EMPTY - handle];
}

int im_is_const(const struct im *m, int32_t handle)
{
    return handle <= IM_EMPTY || ig_is_const(m->g, handle);
}

/* Number of elements of a constant that is to be read as a list; -1 if it is absent. */
static int list_length(struct im *m, int32_t handle, const char *what, int max)
{
    if (handle == IM_ABSENT) return -1;
    if (handle <= IM_EMPTY) return 0;
    if (!ig_is_const(m->g, handle))
        im_refuse(
            m,
            "%s is computed from data and must be constant; bind the input that it comes from, or simplify "
            "the model (onnxsim)",
            what);
    struct ig_shape s = im_shape(m, handle);
    if (ig_count(&s) > max)
        im_fail(m, "%s has %lld elements, more than %d", what, (long long)ig_count(&s), max);
    return (int)ig_count(&s);
}

int im_const_ints(struct im *m, int32_t handle, const char *what, int64_t *dst, int max)
{
    int n = list_length(m, handle, what, max);
    const void *data = n > 0 ? m->g->values[handle].data : NULL;
    for (int i = 0; i < n; i++) {
        switch (im_shape(m, handle).type) {
        case IG_I64:
            dst[i] = ((const int64_t *)data)[i];
            break;
        case IG_I32:
            dst[i] = ((const int32_t *)data)[i];
            break;
        case IG_I8:
            dst[i] = ((const int8_t *)data)[i];
            break;
        case IG_U8:
        case IG_BOOL:
            dst[i] = ((const uint8_t *)data)[i];
            break;
        default:
            im_fail(m, "%s must hold integers", what);
        }
    }
    return n;
}

int im_const_floats(struct im *m, int32_t handle, const char *what, float *dst, int max)
{
    int n = list_length(m, handle, what, max);
    if (n > 0 && im_shape(m, handle).type != IG_F32) im_fail(m, "%s must hold floats", what);
    if (n > 0) memcpy(dst, m->g->values[handle].data, (size_t)n * sizeof *dst);
    return n;
}

int im_ints_from(struct im *m, const struct im_node *n, int i, const char *name, int64_t *dst, int max)
{
    int32_t v = im_in(m, n, i);
    return v == IM_ABSENT ? im_ints(m, n, name, dst, max) : im_const_ints(m, v, name, dst, max);
}

int32_t im_axis(struct im *m, int64_t axis, int32_t rank)
{
    int64_t a = axis < 0 ? axis + rank : axis;
    if (a < 0 || a >= rank) im_fail(m, "axis %lld is outside a tensor of rank %d", (long long)axis, rank);
    return (int32_t)a;
}

int32_t im_mask(struct im *m, const int64_t *axes, int n, int32_t rank)
{
    int32_t mask = 0;
    for (int i = 0; i < n; i++) {
        int32_t bit = 1 << im_axis(m, axes[i], rank);
        if (mask & bit) im_fail(m, "axis %lld is given twice", (long long)axes[i]);
        mask |= bit;
    }
    return mask;
}
