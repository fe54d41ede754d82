/*
 * A copy of an ONNX file without what it weighs: tensors keep their names, nodes the branches of Ifs. What is left says
 * who reads whom, in some hundred kilobytes where the file has hundreds of megabytes, whose pages are not even touched.
 *
 *     ModelProto { graph, opset_import, functions }
 *       GraphProto { node, initializer, input, output, sparse_initializer }
 *         NodeProto { input, output, name, op_type, attribute, domain, overload }   TensorProto { name }   ValueInfoProto { name }
 *           AttributeProto { name, g }
 */
#include "graph/onnx/import.h"

#include <stdlib.h>
#include <string.h>

#define FIELD(number) ((uint64_t)1 << (number))

static const struct keep { /* messages of which not all is kept */
    const ProtobufCMessageDescriptor *type;
    uint64_t fields; /* FIELD of each that is */
} kept[] = {
    {&onnx__model_proto__descriptor, FIELD(7) | FIELD(8) | FIELD(25)},
    {&onnx__graph_proto__descriptor, FIELD(1) | FIELD(5) | FIELD(11) | FIELD(12) | FIELD(15)},
    {&onnx__node_proto__descriptor, FIELD(1) | FIELD(2) | FIELD(3) | FIELD(4) | FIELD(5) | FIELD(7) | FIELD(8)},
    {&onnx__attribute_proto__descriptor, FIELD(1) | FIELD(6)},
    {&onnx__function_proto__descriptor, FIELD(1) | FIELD(4) | FIELD(5) | FIELD(7) | FIELD(9) | FIELD(10) | FIELD(13)},
    {&onnx__tensor_proto__descriptor, FIELD(8)},
    {&onnx__sparse_tensor_proto__descriptor, 0},
    {&onnx__value_info_proto__descriptor, FIELD(1)},
};

struct slim { /* the copy, from malloc */
    uint8_t *bytes;
    size_t n, room;
    const uint8_t *whole; /* of a thin copy: where the file is; else NULL */
};

static int put(struct slim *s, const void *from, size_t n)
{
    if (n > s->room - s->n) {
        size_t room = 2 * s->room + n + 4096;
        uint8_t *bigger = realloc(s->bytes, room);
        if (!bigger) return -1;
        s->bytes = bigger;
        s->room = room;
    }
    memcpy(s->bytes + s->n, from, n);
    s->n += n;
    return 0;
}

/* im_check has seen that numbers and lengths end inside the message. */
static uint64_t varint(const uint8_t **p)
{
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
        uint8_t byte = *(*p)++;
        if (shift < 64) v |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return v;
    }
}

static int wanted(const ProtobufCMessageDescriptor *type, uint64_t number)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kept[i].type == type) return number < 64 && kept[i].fields >> number & 1;
    return 1;
}

static int copy_message(struct slim *s, const ProtobufCMessageDescriptor *type, const uint8_t *p, const uint8_t *end);

/* A message inside another: its length, in five bytes so that it can be filled in later, and what is kept of it. */
static int copy_inner(struct slim *s, const ProtobufCMessageDescriptor *type, const uint8_t *p, const uint8_t *end)
{
    size_t at = s->n;
    if (put(s, "\x80\x80\x80\x80", 5) || copy_message(s, type, p, end)) return -1;
    size_t bytes = s->n - at - 5;
    for (int i = 0; i < 5; i++)
        s->bytes[at + (size_t)i] = (uint8_t)((bytes >> 7 * i & 127) | (i < 4 ? 128 : 0));
    return 0;
}

/* Behind a field's value, which begins at *value: behind the length, where it has one. */
static const uint8_t *field_end(const uint8_t **value, unsigned wire)
{
    const uint8_t *p = *value;
    uint64_t n = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 0) varint(&p);
    if (wire == 2) n = varint(&p), *value = p;
    return p + n;
}

/* Large elements of a tensor: instead of them where they are. */
static int put_ticket(struct slim *s, uint64_t tag, const uint8_t *value, size_t n)
{
    struct im_ticket ticket = {IM_TICKET, (uint64_t)(value - s->whole), n};
    const uint8_t head[2] = {(uint8_t)tag, sizeof ticket};
    return put(s, head, sizeof head) || put(s, &ticket, sizeof ticket);
}

static int copy_message(struct slim *s, const ProtobufCMessageDescriptor *type, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        const uint8_t *from = p;
        uint64_t tag = varint(&p);
        const uint8_t *behind_tag = p, *value = p;
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
        p = field_end(&value, tag & 7);
        if (s->whole && field && type == &onnx__tensor_proto__descriptor && tag >> 3 == 9 && p - value >= IM_LEFT_OUT) {
            if (put_ticket(s, tag, value, (size_t)(p - value))) return -1;
            continue;
        }
        if (!s->whole && (!field || !wanted(type, tag >> 3))) continue;
        int inner = (tag & 7) == 2 && field && field->type == PROTOBUF_C_TYPE_MESSAGE;
        int failed = put(s, from, (size_t)((inner ? behind_tag : p) - from));
        if (inner && !failed) failed = copy_inner(s, field->descriptor, value, p);
        if (failed) return -1;
    }
    return 0;
}

static void *copy(struct slim s, const void *bytes, size_t n, size_t *slim_bytes)
{
    const uint8_t *p = bytes;
    if (s.bytes && copy_message(&s, &onnx__model_proto__descriptor, p, p + n)) {
        free(s.bytes);
        s.bytes = NULL;
    }
    *slim_bytes = s.n;
    return s.bytes;
}

void *im_slim(const void *bytes, size_t n, size_t *slim_bytes)
{
    return copy((struct slim){.bytes = malloc(1), .room = 1}, bytes, n, slim_bytes);
}

void *im_thin(const void *bytes, size_t n, size_t *thin_bytes)
{
    return copy((struct slim){.bytes = malloc(1), .room = 1, .whole = bytes}, bytes, n, thin_bytes);
}
