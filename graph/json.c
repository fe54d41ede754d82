/*
 * graph.json, written. Canonical: keys sorted, one value or node a line, the shortest digits that read back
 * as the same number, so that equal graphs are equal files and diff shows what changed. The constants lie in
 * a file beside it, each at a multiple of 64 bytes. Both are written under another name and renamed when they
 * are complete.
 */
#include "graph/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/draft.h"
#include "graph/sha256.h"
#include "graph/version.h"

enum { ALIGN = 64 };

char *json_bin_path(const char *path) {
    size_t n = strlen(path);
    char *bin = malloc(n + 5);
    if (!bin) return NULL;
    if (n >= 5 && !strcmp(path + n - 5, ".json")) n -= 5;
    memcpy(bin, path, n);
    strcpy(bin + n, ".bin");
    return bin;
}

/* --- the constants --- */

/* Where constant v goes: behind all before it, or where an earlier value has the very same data. */
static int64_t place(const struct ig_graph *g, int32_t v, const int64_t *offsets, int64_t end) {
    for (int i = 0; i < v; i++)
        if (g->values[i].data == g->values[v].data &&
            ig_bytes(&g->values[i].shape) == ig_bytes(&g->values[v].shape))
            return offsets[i];
    return end;
}

static int64_t place_all(const struct ig_graph *g, int64_t *offsets) {
    int64_t end = 0;
    for (int v = 0; v < g->n_values; v++) {
        if (!g->values[v].data) continue;
        offsets[v] = place(g, v, offsets, end);
        if (offsets[v] == end) end += (ig_bytes(&g->values[v].shape) + ALIGN - 1) / ALIGN * ALIGN;
    }
    return end;
}

static void put_constants(FILE *f, const struct ig_graph *g, const int64_t *offsets) {
    static const char zeros[ALIGN];
    int64_t end = 0;
    int lost = 0;
    for (int v = 0; !lost && v < g->n_values; v++) {
        if (!g->values[v].data || offsets[v] < end) continue;
        size_t bytes = (size_t)ig_bytes(&g->values[v].shape), gap = -bytes & (ALIGN - 1);
        lost = fwrite(g->values[v].data, 1, bytes, f) != bytes || fwrite(zeros, 1, gap, f) != gap;
        end = offsets[v] + (int64_t)(bytes + gap);
    }
}

/* --- the text --- */

/* Bytes of the UTF-8 sequence at s; 0 if it is none. */
static int utf8_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    int n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
            : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
            : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0))) return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))) return 0;
    return n;
}

/* A JSON string; bytes that are not UTF-8 are taken for Latin-1. */
static void put_string(FILE *f, const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', f);
    while (*s) {
        int n = utf8_length(s);
        if (!n || *s < 0x20 || *s == 0x7f) {
            fprintf(f, "\\u%04x", *s++);
            continue;
        }
        if (*s == '"' || *s == '\\') fputc('\\', f);
        fwrite(s, 1, (size_t)n, f);
        s += n;
    }
    fputc('"', f);
}

static void put_float(FILE *f, float x) {
    char text[32];
    if (isnan(x)) {
        fputs("\"nan\"", f);
    } else if (isinf(x)) {
        fputs(x > 0 ? "\"inf\"" : "\"-inf\"", f);
    } else if (x == 0) {
        fputs(signbit(x) ? "-0.0" : "0", f);
    } else {
        int digits = 1;
        do
            snprintf(text, sizeof text, "%.*g", digits, (double)x);
        while (strtof(text, NULL) != x && digits++ < 9);
        fputs(text, f);
    }
}

static void put_member(FILE *f, const char *base, const struct ig_field *field) {
    fprintf(f, "\"%s\":%s", field->name, field->count > 1 ? "[" : "");
    for (int i = 0; i < field->count; i++) {
        int32_t word;
        float number;
        memcpy(&word, base + field->offset + 4 * i, 4);
        memcpy(&number, &word, 4);
        if (i) fputc(',', f);
        if (field->is_float)
            put_float(f, number);
        else
            fprintf(f, "%" PRId32, word);
    }
    if (field->count > 1) fputc(']', f);
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct ig_field *const *)a)->name, (*(const struct ig_field *const *)b)->name);
}

static void put_attrs(FILE *f, const struct ig_node *n) {
    const struct ig_op_info *info = ig_op_info((enum ig_op)n->op);
    const struct ig_field *sorted[64];
    int count = info->n_fields < 64 ? info->n_fields : 64;
    for (int i = 0; i < count; i++)
        sorted[i] = &info->fields[i];
    if (count) qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    fputc('{', f);
    for (int i = 0; i < count; i++) {
        if (i) fputc(',', f);
        put_member(f, (const char *)&n->attrs, sorted[i]);
    }
    fputc('}', f);
}

/* Names of values; null for one that is absent. */
static void put_names(FILE *f, const struct ig_graph *g, const int32_t *list, int32_t n) {
    fputc('[', f);
    for (int i = 0; i < n; i++) {
        if (i) fputc(',', f);
        if (list[i] < 0)
            fputs("null", f);
        else
            put_string(f, g->values[list[i]].name);
    }
    fputc(']', f);
}

static void put_value(FILE *f, const struct ig_value *v, int64_t offset) {
    fputc('{', f);
    if (v->data) fprintf(f, "\"bytes\":%" PRId64 ",", ig_bytes(&v->shape));
    fputs("\"name\":", f);
    put_string(f, v->name);
    if (v->data) fprintf(f, ",\"offset\":%" PRId64, offset);
    fputs(",\"shape\":[", f);
    for (int i = 0; i < v->shape.rank; i++)
        fprintf(f, "%s%" PRId32, i ? "," : "", v->shape.dims[i]);
    fprintf(f, "],\"type\":\"%s\"}", ig_type_name(v->shape.type));
}

static void put_node(FILE *f, const struct ig_graph *g, const struct ig_node *n) {
    fputs("{\"attrs\":", f);
    put_attrs(f, n);
    fputs(",\"in\":", f);
    put_names(f, g, n->in, n->n_in);
    fprintf(f, ",\"macs\":%.0f,\"name\":", n->macs);
    put_string(f, n->name);
    fputs(",\"onnx\":", f);
    put_string(f, n->onnx);
    fprintf(f, ",\"op\":\"%s\",\"out\":", ig_op_info((enum ig_op)n->op)->name);
    put_names(f, g, n->out, n->n_out);
    fputc('}', f);
}

static void put_graph(FILE *f, const struct ig_graph *g, const int64_t *offsets, int64_t constants) {
    fprintf(f,
            "{\n\"channels_last\":%d,\n\"constants_bytes\":%" PRId64 ",\n\"format\":\"" JSON_FORMAT
            "\",\n\"inputs\":",
            g->channels_last, constants);
    put_names(f, g, g->inputs, g->n_inputs);
    fputs(",\n\"name\":", f);
    put_string(f, g->name);
    fputs(",\n\"nodes\":[", f);
    for (int i = 0; i < g->n_nodes; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_node(f, g, &g->nodes[i]);
    }
    fprintf(f, "\n],\n\"onnx_nodes\":%" PRId32 ",\n\"opset\":%" PRId64 ",\n\"outputs\":", g->onnx_nodes,
            g->opset);
    put_names(f, g, g->outputs, g->n_outputs);
    fputs(",\n\"source_sha256\":", f);
    put_string(f, g->source_sha256);
    fputs(",\n\"tool\":\"ingot " INGOT_VERSION "\",\n\"values\":[", f);
    for (int i = 0; i < g->n_values; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_value(f, &g->values[i], offsets[i]);
    }
    fprintf(f, "\n],\n\"version\":%d\n}\n", JSON_VERSION);
}

/* Both files are written before either is renamed. */
static int write_both(const struct ig_graph *g, const char *path, const char *bin, int64_t *offsets, char *err,
                      size_t err_bytes) {
    struct ig_draft text, data;
    if (ig_draft_open(&data, bin, err, err_bytes)) return -1;
    if (ig_draft_open(&text, path, err, err_bytes)) {
        ig_draft_close(&data, 0, NULL, 0);
        return -1;
    }
    int64_t constants = place_all(g, offsets);
    put_constants(data.f, g, offsets);
    put_graph(text.f, g, offsets, constants);
    int text_lost = fflush(text.f) || ferror(text.f), reason = errno, data_lost = fflush(data.f) || ferror(data.f);
    int bad = ig_draft_close(&data, data_lost || !text_lost, err, err_bytes); /* a lost one is closed to say why */
    errno = reason;
    return ig_draft_close(&text, (text_lost && !data_lost) || !bad, err, err_bytes) || bad ? -1 : 0;
}

int ig_graph_write(const struct ig_graph *g, const char *path, char *err, size_t err_bytes) {
    char *bin = json_bin_path(path);
    int64_t *offsets = calloc((size_t)g->n_values + 1, sizeof *offsets);
    int bad = !bin || !offsets;
    if (bad) snprintf(err, err_bytes, "out of memory");
    else bad = write_both(g, path, bin, offsets, err, err_bytes);
    free(offsets);
    free(bin);
    return bad ? -1 : 0;
}

void ig_graph_hash(const struct ig_graph *g, char hex[65]) {
    char *text = NULL;
    size_t bytes = 0;
    int64_t *offsets = calloc((size_t)g->n_values + 1, sizeof *offsets);
    FILE *f = open_memstream(&text, &bytes);
    if (!f || !offsets) abort();
    put_graph(f, g, offsets, place_all(g, offsets));
    fclose(f);
    ig_sha256(text, bytes, hex);
    free(text);
    free(offsets);
}
