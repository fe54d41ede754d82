/*
 * Bytes -> messages. protobuf-c neither limits nesting nor survives a hostile merge of repeated singular
 * messages cheaply, so the bytes are walked once before: every length checked, depth bounded, no singular
 * message twice.
 */
#include "graph/onnx/import.h"

#include <string.h>

struct walk {
    const uint8_t *p, *end;
    const char *wrong; /* what is wrong, NULL so far */
};

static uint64_t varint(struct walk *w)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (w->p == w->end) break;
        uint8_t byte = *w->p++;
        if (shift < 64) v |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return v;
    }
    w->wrong = w->p == w->end ? "it is truncated" : "a number is malformed";
    return 0;
}

static void skip(struct walk *w, uint64_t n)
{
    if (n > (uint64_t)(w->end - w->p))
        w->wrong = "it is truncated";
    else
        w->p += n;
}

static void walk_message(struct walk *w, const ProtobufCMessageDescriptor *type, int depth);

/* A field of wire type 2: a message is walked, anything else skipped. */
static void walk_bytes(struct walk *w, const ProtobufCFieldDescriptor *field, int depth)
{
    uint64_t n = varint(w);
    const uint8_t *from = w->p, *end = w->end;
    if (!w->wrong) skip(w, n);
    if (w->wrong || !field || field->type != PROTOBUF_C_TYPE_MESSAGE) return;
    w->end = w->p;
    w->p = from;
    walk_message(w, field->descriptor, depth + 1);
    w->end = end;
}

/* A singular message may be met once; `seen` has a bit per field of the type (none has more than 64). */
static int once(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field, uint64_t *seen)
{
    if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE || field->label == PROTOBUF_C_LABEL_REPEATED)
        return 1;
    uint64_t bit = (uint64_t)1 << (field - type->fields);
    int first = !(*seen & bit);
    *seen |= bit;
    return first;
}

static void walk_message(struct walk *w, const ProtobufCMessageDescriptor *type, int depth)
{
    uint64_t seen = 0;
    if (depth > IM_DEPTH) w->wrong = "its messages are nested too deeply";
    while (!w->wrong && w->p < w->end) {
        uint64_t tag = varint(w);
        if (w->wrong) return;
        if (tag >> 3 == 0 || tag >> 32) {
            w->wrong = "a field number is malformed";
            return;
        }
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
        if (!once(type, field, &seen)) w->wrong = "a field that may be there once is there twice";
        switch (tag & 7) {
        case 0:
            varint(w);
            break;
        case 1:
            skip(w, 8);
            break;
        case 2:
            if (!w->wrong) walk_bytes(w, field, depth);
            break;
        case 5:
            skip(w, 4);
            break;
        default:
            w->wrong = "a field has an unknown wire type";
        }
    }
}

/* -1; of what should be a model, and is of a kind that is known, that. */
static int malformed(const ProtobufCMessageDescriptor *type, const void *bytes, size_t n, const char *wrong, char *err, size_t err_bytes)
{
    const char *kind = type == &onnx__model_proto__descriptor ? im_kind(bytes, n) : NULL;
    snprintf(err, err_bytes, "not a valid ONNX file: %s", kind ? kind : wrong);
    return -1;
}

int im_check(const ProtobufCMessageDescriptor *type, const void *bytes, size_t n, char *err, size_t err_bytes)
{
    struct walk w = {bytes, (const uint8_t *)bytes + n, NULL};
    if (n > INT32_MAX) {
        snprintf(err, err_bytes, "it has %zu bytes: protobuf allows 2 GiB; keep the weights in external data",
                 n);
        return -1;
    }
    if (n) walk_message(&w, type, 0);
    return w.wrong ? malformed(type, bytes, n, w.wrong, err, err_bytes) : 0;
}

void *im_unpack(const ProtobufCMessageDescriptor *type, ProtobufCAllocator *a, const void *bytes, size_t n,
                char *err, size_t err_bytes)
{
    if (im_check(type, bytes, n, err, err_bytes)) return NULL;
    void *message = protobuf_c_message_unpack(type, a, n, bytes);
    if (!message) malformed(type, bytes, n, "a field has the wrong type", err, err_bytes);
    return message;
}
