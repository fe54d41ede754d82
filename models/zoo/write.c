/*
 * The model as bytes. protobuf-c packs everything but the initializers' contents, which are made and written
 * in blocks: the lengths in front of each message are known beforehand.
 *
 *   ModelProto  = version fields | tag, length, GraphProto
 *   GraphProto  = nodes, inputs, outputs | (tag, length, TensorProto) for each initializer
 *   TensorProto = dims, type, name | tag, length, contents
 */
#include "models/zoo/build.h"

#include "graph/version.h"

enum {
    BLOCK = 1 << 14, /* elements; even, for zoo_fill */
    TAG_GRAPH = 7 << 3 | 2,
    TAG_INITIALIZER = 5 << 3 | 2,
    TAG_RAW_DATA = 9 << 3 | 2, /* field << 3 | wire type */
    IR_VERSION = 8,
    OPSET = 13
};

struct sink {
    ProtobufCBuffer base;
    FILE *file;
};

static void append(ProtobufCBuffer *buffer, size_t n, const uint8_t *data)
{
    fwrite(data, 1, n, ((struct sink *)(void *)buffer)->file);
}

static size_t varint(uint64_t v, uint8_t out[10])
{
    size_t n = 0;
    for (; v > 127; v >>= 7) out[n++] = (uint8_t)(v | 128);
    out[n++] = (uint8_t)v;
    return n;
}

/* Bytes of a field's tag (one byte) and length. */
static int64_t prefix(int64_t length)
{
    uint8_t bytes[10];
    return 1 + (int64_t)varint((uint64_t)length, bytes);
}

static void put_prefix(struct sink *s, int tag, int64_t length)
{
    uint8_t bytes[11] = {(uint8_t)tag};
    append(&s->base, 1 + varint((uint64_t)length, bytes + 1), bytes);
}

static int64_t message_bytes(const void *message)
{
    return (int64_t)protobuf_c_message_get_packed_size(message);
}

static int64_t graph_bytes(const struct zoo *z)
{
    int64_t n = message_bytes(&z->graph);
    for (size_t i = 0; i < z->n_tensors; i++) {
        int64_t tensor = message_bytes(&z->tensors[i]->proto);
        n += prefix(tensor) + tensor;
    }
    return n;
}

static void put_tensor(const struct zoo *z, const struct zoo_tensor *t, struct sink *s)
{
    float block[BLOCK];
    Onnx__TensorProto head = t->proto;
    size_t n = head.raw_data.len / sizeof *block;
    put_prefix(s, TAG_INITIALIZER, message_bytes(&head));
    head.has_raw_data = head.raw_data.data != NULL;
    protobuf_c_message_pack_to_buffer(&head.base, &s->base);
    if (head.has_raw_data) return;
    put_prefix(s, TAG_RAW_DATA, (int64_t)head.raw_data.len);
    for (size_t i = 0; i < n && !ferror(s->file); i += BLOCK) {
        size_t part = n - i < BLOCK ? n - i : BLOCK;
        zoo_fill(z, t, i, part, block);
        append(&s->base, part * sizeof *block, (const uint8_t *)block);
    }
}

/* The model without its graph: only the version fields. */
static Onnx__ModelProto model(Onnx__OperatorSetIdProto *opset, Onnx__OperatorSetIdProto **opsets)
{
    Onnx__ModelProto m = ONNX__MODEL_PROTO__INIT;
    onnx__operator_set_id_proto__init(opset);
    opset->domain = "";
    opset->has_version = 1;
    opset->version = OPSET;
    m.has_ir_version = 1;
    m.ir_version = IR_VERSION;
    m.producer_name = "ingot zoo";
    m.producer_version = INGOT_VERSION;
    m.n_opset_import = 1;
    m.opset_import = opsets;
    return m;
}

int64_t zoo_bytes(const struct zoo *z)
{
    Onnx__OperatorSetIdProto opset, *opsets[1] = {&opset};
    Onnx__ModelProto m = model(&opset, opsets);
    int64_t graph = graph_bytes(z);
    return message_bytes(&m) + prefix(graph) + graph;
}

int zoo_write(const struct zoo *z, FILE *f)
{
    struct sink s = {{append}, f};
    Onnx__OperatorSetIdProto opset, *opsets[1] = {&opset};
    Onnx__ModelProto m = model(&opset, opsets);
    protobuf_c_message_pack_to_buffer(&m.base, &s.base);
    put_prefix(&s, TAG_GRAPH, graph_bytes(z));
    protobuf_c_message_pack_to_buffer(&z->graph.base, &s.base);
    for (size_t i = 0; i < z->n_tensors; i++) put_tensor(z, z->tensors[i], &s);
    return fflush(f) || ferror(f) ? -1 : 0;
}
