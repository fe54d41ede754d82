/*
 * graph.json, read. The file may have been edited by hand, or be hostile: every field is checked before it is
 * used, and the graph as a whole (order, shapes, attributes) afterwards. The constants are mapped, not
 * copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/json.h"
#include "graph/keys.h"

enum { ALIGN = 64, MAX_ENDS = 1 << 20 };

struct reader {
    const char *path;
    struct ig_graph *g;
    json_t *by_name;       /* value name -> index */
    json_t *node_names;    /* -> 0 */
    const char *constants; /* the mapped .bin */
    int64_t constants_bytes;
    char *err;
    size_t err_bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *r, const char *format, ...) {
    int n = snprintf(r->err, r->err_bytes, "%s: ", r->path);
    va_list args;
    va_start(args, format);
    if (n >= 0 && (size_t)n < r->err_bytes) vsnprintf(r->err + n, r->err_bytes - (size_t)n, format, args);
    va_end(args);
    for (char *c = r->err; r->err_bytes && *c; c++) /* a name in it may hold anything; an error is one line */
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    return -1;
}

/* --- fields --- */

static int get_int(struct reader *r, const json_t *object, const char *key, int64_t low, int64_t high,
                   int64_t *to) {
    const json_t *field = json_object_get(object, key);
    if (!json_is_integer(field)) return refuse(r, "'%s' must be an integer", key);
    *to = json_integer_value(field);
    if (*to < low || *to > high) return refuse(r, "'%s' is out of range: %lld", key, (long long)*to);
    return 0;
}

static const char *get_text(struct reader *r, const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    if (!text) refuse(r, "'%s' must be a string", key);
    return text;
}

static const json_t *get_array(struct reader *r, const json_t *object, const char *key) {
    const json_t *array = json_object_get(object, key);
    if (json_is_array(array)) return array;
    refuse(r, "'%s' must be an array", key);
    return NULL;
}

/* Every key of a record must be among the words of `known`. what: "value" or "node". */
static int only(struct reader *r, const char *what, const json_t *record, const char *known) {
    const char *key = ig_unknown_key(record, known), *name = json_string_value(json_object_get(record, "name"));
    return key ? refuse(r, "%s '%.200s': unknown field '%.100s'; there are: %s", what, name ? name : "", key, known) : 0;
}

static int is_hex(const char *text) {
    size_t n = strlen(text);
    return n == strspn(text, "0123456789abcdef") && (n == 0 || n == 64);
}

static int read_head(struct reader *r, const json_t *root) {
    static const char known[] = "channels_last constants_bytes format inputs name nodes onnx_nodes opset outputs source_sha256 "
                                "tool values version";
    int64_t version, channels_last, onnx_nodes;
    const char *format = json_string_value(json_object_get(root, "format")), *name, *hash, *key = ig_unknown_key(root, known);
    const char *maker = ig_maker_of(JSON_FORMAT);
    if (!format) return refuse(r, "it has no 'format': %s makes a graph", maker);
    if (strcmp(format, JSON_FORMAT)) return refuse(r, "format is '%s', not '" JSON_FORMAT "', which %s makes", format, maker);
    if (get_int(r, root, "version", 0, INT32_MAX, &version)) return -1;
    if (version != JSON_VERSION) return refuse(r, "version %d of '" JSON_FORMAT "', not %d: make it anew: %s", (int)version, JSON_VERSION, maker);
    if (key) return refuse(r, "unknown field '%.100s'; there are: %s", key, known);
    if (!(name = get_text(r, root, "name")) || !(hash = get_text(r, root, "source_sha256"))) return -1;
    if (!is_hex(hash)) return refuse(r, "'source_sha256' is no SHA-256");
    if (get_int(r, root, "channels_last", 0, 1, &channels_last)) return -1;
    if (get_int(r, root, "onnx_nodes", 0, INT32_MAX, &onnx_nodes)) return -1;
    if (get_int(r, root, "constants_bytes", 0, INT64_MAX, &r->constants_bytes)) return -1;
    r->g = ig_graph_new(name);
    r->g->source_sha256 = ig_graph_strdup(r->g, hash);
    r->g->channels_last = (int32_t)channels_last;
    r->g->onnx_nodes = (int32_t)onnx_nodes;
    return get_int(r, root, "opset", 0, INT32_MAX, &r->g->opset);
}

/* --- constants --- */

static void unmap(void *p, size_t bytes) {
    munmap(p, bytes);
}

static int map_file(struct reader *r, int file, const char *bin) {
    struct stat about;
    if (fstat(file, &about)) return refuse(r, "%s: %s", bin, strerror(errno));
    if (about.st_size != r->constants_bytes)
        return refuse(r, "%s has %lld bytes, not %lld: it belongs to another graph", bin,
                      (long long)about.st_size, (long long)r->constants_bytes);
    void *p = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (p == MAP_FAILED) return refuse(r, "%s: %s", bin, strerror(errno));
    ig_graph_own(r->g, p, (size_t)about.st_size, unmap);
    r->constants = p;
    return 0;
}

static int map_constants(struct reader *r) {
    if (!r->constants_bytes) return 0;
    char *bin = json_bin_path(r->path);
    if (!bin) return refuse(r, "out of memory");
    int file = open(bin, O_RDONLY | O_CLOEXEC);
    int bad = file < 0 ? refuse(r, "%s: %s", bin, strerror(errno)) : map_file(r, file, bin);
    if (file >= 0) close(file);
    free(bin);
    return bad;
}

/* --- values --- */

static int read_type(struct reader *r, const json_t *object, int32_t *type) {
    const char *name = get_text(r, object, "type");
    if (!name) return -1;
    for (*type = 0; *type < IG_TYPES; ++*type)
        if (!strcmp(name, ig_type_name(*type))) return 0;
    return refuse(r, "unknown type '%s'", name);
}

static int read_shape(struct reader *r, const json_t *object, struct ig_shape *s) {
    const json_t *dims = get_array(r, object, "shape");
    int64_t count = 1;
    if (!dims || read_type(r, object, &s->type)) return -1;
    if (json_array_size(dims) > IG_MAX_RANK)
        return refuse(r, "a shape has more than %d dimensions", IG_MAX_RANK);
    s->rank = (int32_t)json_array_size(dims);
    for (int i = 0; i < IG_MAX_RANK; i++) {
        const json_t *dim = json_array_get(dims, (size_t)i);
        json_int_t n = i < s->rank ? json_integer_value(dim) : 1;
        if (n < 1 || n > INT32_MAX || count * n > INT32_MAX)
            return refuse(r, "a shape is no shape, or too large");
        count *= n;
        s->dims[i] = (int32_t)n;
    }
    return 0;
}

static int read_data(struct reader *r, const json_t *object, struct ig_value *v) {
    int64_t offset, bytes, size = ig_bytes(&v->shape);
    if (!json_object_get(object, "offset") && !json_object_get(object, "bytes")) return 0;
    if (get_int(r, object, "offset", 0, r->constants_bytes, &offset)) return -1;
    if (get_int(r, object, "bytes", size, size, &bytes)) return -1;
    if (offset % ALIGN) return refuse(r, "value '%s': offset is no multiple of %d", v->name, ALIGN);
    if (bytes > r->constants_bytes - offset)
        return refuse(r, "value '%s' lies behind the end of the constants", v->name);
    v->data = r->constants + offset;
    return 0;
}

static int read_value(struct reader *r, const json_t *object) {
    struct ig_shape shape = {0};
    const char *name = get_text(r, object, "name");
    if (only(r, "value", object, "bytes name offset shape type")) return -1;
    if (!name || read_shape(r, object, &shape)) return -1;
    if (json_object_get(r->by_name, name)) return refuse(r, "two values are named '%s'", name);
    int32_t v = ig_add_value(r->g, name, &shape);
    json_object_set_new(r->by_name, name, json_integer(v));
    return read_data(r, object, &r->g->values[v]);
}

static int read_values(struct reader *r, const json_t *root) {
    const json_t *values = get_array(r, root, "values");
    if (!values) return -1;
    for (size_t i = 0; i < json_array_size(values); i++)
        if (read_value(r, json_array_get(values, i))) return -1;
    return 0;
}

/* The value that `name` stands for; -1 for null; -2 after refuse. */
static int32_t find_value(struct reader *r, const json_t *name) {
    if (json_is_null(name)) return -1;
    const json_t *index = json_is_string(name) ? json_object_get(r->by_name, json_string_value(name)) : NULL;
    if (index) return (int32_t)json_integer_value(index);
    refuse(r, "there is no value '%s'", json_is_string(name) ? json_string_value(name) : "(not a string)");
    return -2;
}

/* --- nodes --- */

static int read_float(const json_t *field, float *to) {
    const char *text = json_string_value(field);
    if (json_is_number(field)) {
        *to = (float)json_number_value(field);
        return isfinite(*to) ? 0 : -1;
    }
    if (!text) return -1;
    *to = !strcmp(text, "inf") ? INFINITY : !strcmp(text, "-inf") ? -INFINITY : NAN;
    return !isnan(*to) || !strcmp(text, "nan") ? 0 : -1;
}

static int read_word(const json_t *field, int is_float, void *to) {
    if (is_float) return read_float(field, to);
    json_int_t n = json_integer_value(field);
    if (!json_is_integer(field) || n < INT32_MIN || n > INT32_MAX) return -1;
    memcpy(to, &(int32_t){(int32_t)n}, 4);
    return 0;
}

static int read_member(const json_t *attrs, const struct ig_field *f, char *to) {
    const json_t *field = json_object_get(attrs, f->name);
    if (f->count == 1) return read_word(field, f->is_float, to + f->offset);
    if (!json_is_array(field) || json_array_size(field) != f->count) return -1;
    for (int i = 0; i < f->count; i++)
        if (read_word(json_array_get(field, (size_t)i), f->is_float, to + f->offset + 4 * i)) return -1;
    return 0;
}

static int read_attrs(struct reader *r, const json_t *object, struct ig_node *n) {
    const struct ig_op_info *info = ig_op_info((enum ig_op)n->op);
    const json_t *attrs = json_object_get(object, "attrs");
    if (!json_is_object(attrs)) return refuse(r, "node '%s': 'attrs' must be an object", n->name);
    for (int i = 0; i < info->n_fields; i++)
        if (read_member(attrs, &info->fields[i], (char *)&n->attrs))
            return refuse(r, "node '%s': attribute '%s' is missing or of the wrong kind", n->name,
                          info->fields[i].name);
    if (json_object_size(attrs) != (size_t)info->n_fields)
        return refuse(r, "node '%s' has attributes that %s does not know", n->name, info->name);
    return 0;
}

static int read_ends(struct reader *r, const json_t *names, int32_t *ends) {
    for (size_t i = 0; i < json_array_size(names); i++) {
        ends[i] = find_value(r, json_array_get(names, i));
        if (ends[i] < -1) return -1;
    }
    return 0;
}

static int read_node(struct reader *r, const json_t *object) {
    const char *name = get_text(r, object, "name"), *op_name = name ? get_text(r, object, "op") : NULL;
    const char *onnx = op_name ? get_text(r, object, "onnx") : NULL;
    const json_t *in = onnx ? get_array(r, object, "in") : NULL,
                 *out = in ? get_array(r, object, "out") : NULL;
    const json_t *macs = json_object_get(object, "macs");
    if (only(r, "node", object, "attrs in macs name onnx op out") || !out) return -1;
    enum ig_op op = ig_op_by_name(op_name);
    if (op == IG_OPS) return refuse(r, "node '%s': unknown op '%s'", name, op_name);
    if (!*name || json_object_get(r->node_names, name)) return refuse(r, "node '%s': the name is empty or taken", name);
    json_object_set_new(r->node_names, name, json_integer(0));
    if (json_array_size(in) > MAX_ENDS || json_array_size(out) > MAX_ENDS)
        return refuse(r, "node '%s' has too many inputs or outputs", name);
    if (!json_is_number(macs) || !(json_number_value(macs) >= 0))
        return refuse(r, "node '%s': 'macs' must be a number, 0 or more", name);
    struct ig_node *n =
        ig_add_node(r->g, name, op, (int32_t)json_array_size(in), (int32_t)json_array_size(out));
    n->onnx = ig_graph_strdup(r->g, onnx);
    n->macs = json_number_value(macs);
    if (read_attrs(r, object, n) || read_ends(r, in, n->in) || read_ends(r, out, n->out)) return -1;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0) r->g->values[n->out[k]].producer = r->g->n_nodes - 1;
    return 0;
}

static int read_nodes(struct reader *r, const json_t *root) {
    const json_t *nodes = get_array(r, root, "nodes");
    if (!nodes) return -1;
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (read_node(r, json_array_get(nodes, i))) return -1;
    return 0;
}

static int read_edge(struct reader *r, const json_t *root, const char *key,
                     void (*add)(struct ig_graph *, int32_t)) {
    const json_t *names = get_array(r, root, key);
    if (!names) return -1;
    for (size_t i = 0; i < json_array_size(names); i++) {
        int32_t v = find_value(r, json_array_get(names, i));
        if (v == -1) refuse(r, "'%s' has a null", key);
        if (v < 0) return -1;
        add(r->g, v);
    }
    return 0;
}

/* --- the whole --- */

static int is_half(const struct ig_graph *g, int32_t v) {
    return v >= 0 && g->values[v].shape.type == IG_F16;
}

static void retype(struct ig_graph *g, const int32_t *values, int32_t n, uint8_t *halves, int as_floats) {
    for (int k = 0; k < n; k++) {
        int32_t v = values[k];
        if (as_floats && is_half(g, v)) halves[v] = 1, g->values[v].shape.type = IG_F32;
        else if (!as_floats && v >= 0 && halves[v]) halves[v] = 0, g->values[v].shape.type = IG_F16;
    }
}

/* As storage, f16 gives the shapes that f32 would. halves[n_values]: zeros, before and after. */
static int infer_stored(struct ig_graph *g, struct ig_node *n, uint8_t *halves, char *why, size_t why_bytes) {
    if (!ig_stores_halves(g, n)) return ig_infer(g, n, why, why_bytes);
    retype(g, n->in, n->n_in, halves, 1);
    retype(g, n->out, n->n_out, halves, 1);
    int bad = ig_infer(g, n, why, why_bytes);
    retype(g, n->in, n->n_in, halves, 0);
    retype(g, n->out, n->n_out, halves, 0);
    return bad;
}

/* Each node's outputs must have the shapes that its inputs and attributes give. */
static int check_inference(struct reader *r) {
    struct ig_graph *g = r->g;
    char why[512];
    uint8_t *halves = ig_graph_alloc(g, (size_t)g->n_values + 1);
    for (int i = 0; i < g->n_nodes; i++) {
        struct ig_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_out; k++) {
            if (n->out[k] < 0) continue;
            const struct ig_shape stated = g->values[n->out[k]].shape;
            if (infer_stored(g, n, halves, why, sizeof why)) return refuse(r, "node '%s': %s", n->name, why);
            if (memcmp(&stated, &g->values[n->out[k]].shape, sizeof stated))
                return refuse(r, "value '%s' has another shape or type than its node gives",
                              g->values[n->out[k]].name);
        }
    }
    return 0;
}

static int check(struct reader *r) {
    char why[1024];
    if (ig_graph_check(r->g, why, sizeof why)) return refuse(r, "%s", why);
    return check_inference(r);
}

static int read_graph(struct reader *r, const json_t *root) {
    if (!json_is_object(root)) return refuse(r, "not an object");
    if (read_head(r, root) || map_constants(r) || read_values(r, root) || read_nodes(r, root)) return -1;
    if (read_edge(r, root, "inputs", ig_add_input) || read_edge(r, root, "outputs", ig_add_output)) return -1;
    return check(r);
}

struct ig_graph *ig_graph_read(const char *path, char *err, size_t err_bytes) {
    struct reader r = {
        .path = path, .by_name = json_object(), .node_names = json_object(), .err = err, .err_bytes = err_bytes};
    json_error_t where;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    int bad = root && r.by_name && r.node_names ? read_graph(&r, root)
              : root                    ? refuse(&r, "out of memory")
              : access(path, R_OK)      ? refuse(&r, "%s", strerror(errno))
              : where.line > 0          ? refuse(&r, "line %d: %s", where.line, where.text)
                                        : refuse(&r, "%s", where.text);
    json_decref(root);
    json_decref(r.by_name);
    json_decref(r.node_names);
    if (!bad) return r.g;
    ig_graph_free(r.g);
    return NULL;
}
