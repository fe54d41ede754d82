/* Tensor data of all kinds, data outside the file, hostile bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "graph/sha256.h"
#include "tests/support/onnx_import.h"

/* A tensor that is the graph's output, through COPY; returns its constant's data. */
static const void *constant_of(struct m_model *m, Onnx__TensorProto *t, struct ig_graph **g, int32_t type)
{
    m_init(m, 17);
    m_add_initializer(m, t);
    m_output(m, "t");
    *g = import(m);
    assert_int_equal((*g)->nodes[0].op, IG_COPY);
    const struct ig_value *v = &(*g)->values[(*g)->nodes[0].in[0]];
    assert_int_equal(v->shape.type, type);
    return v->data;
}

static Onnx__TensorProto *loose(struct m_model *m, int type, int64_t n, const void *raw, size_t bytes)
{
    memset(m, 0, sizeof *m);
    return m_tensor(m, "t", type, 1, &n, raw, bytes);
}

static void check_floats(struct m_model *keep, Onnx__TensorProto *t, const float *want, int n)
{
    struct m_model m;
    struct ig_graph *g;
    const float *data = constant_of(&m, t, &g, IG_F32);
    for (int i = 0; i < n; i++)
        assert_true(data[i] == want[i]);
    ig_graph_free(g);
    m_free(&m);
    m_free(keep);
}

/* Two elements a byte, an odd number of them; raw, and in the field of 32 bits. */
static void numbers_of_4_bits(void **state)
{
    static const uint8_t raw[3] = {0x70, 0x8f, 0x03};
    static const int8_t want[2][5] = {{0, 7, 15, 8, 3}, {0, 7, -1, -8, 3}};
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct m_model m, keep;
        struct ig_graph *g;
        int32_t words[3] = {0x70, 0x8f, 0x03};
        Onnx__TensorProto *t = loose(&keep, how & 1 ? 22 : 21, 5, raw, sizeof raw);
        if (how & 2) t->has_raw_data = 0, t->raw_data.len = 0, t->n_int32_data = 3, t->int32_data = words;
        assert_memory_equal(constant_of(&m, t, &g, how & 1 ? IG_I8 : IG_U8), want[how & 1], 5);
        ig_graph_free(g);
        if (how & 2) t->n_int32_data = 0, t->int32_data = NULL;
        m_free(&m);
        m_free(&keep);
    }
}

static void float_data(void **state)
{
    (void)state;
    static const float want[3] = {1.5f, -2.0f, 0.25f};
    static const double wide[3] = {1.5, -2.0, 0.25};
    static const uint16_t half[3] = {0x3e00, 0xc000, 0x3400}, brain[3] = {0x3fc0, 0xc000, 0x3e80};
    struct m_model m;
    check_floats(&m, loose(&m, M_FLOAT, 3, want, sizeof want), want, 3);
    check_floats(&m, loose(&m, M_DOUBLE, 3, wide, sizeof wide), want, 3);
    check_floats(&m, loose(&m, M_FLOAT16, 3, half, sizeof half), want, 3);
    check_floats(&m, loose(&m, M_BFLOAT16, 3, brain, sizeof brain), want, 3);
    Onnx__TensorProto *typed = loose(&m, M_FLOAT, 3, NULL, 0);
    typed->float_data = (float *)want;
    typed->n_float_data = 3;
    check_floats(&m, typed, want, 3);
    typed = loose(&m, M_FLOAT16, 3, NULL, 0);
    typed->int32_data = (int32_t[]){half[0], half[1], half[2]};
    typed->n_int32_data = 3;
    check_floats(&m, typed, want, 3);
}

static void integer_data(void **state)
{
    (void)state;
    struct m_model m, model;
    struct ig_graph *g;
    Onnx__TensorProto *t = loose(&m, M_INT8, 2, NULL, 0);
    t->int32_data = (int32_t[]){-3, 127};
    t->n_int32_data = 2;
    const int8_t *bytes = constant_of(&model, t, &g, IG_I8);
    assert_int_equal(bytes[0], -3);
    assert_int_equal(bytes[1], 127);
    ig_graph_free(g);
    m_free(&model);
    m_free(&m);
    t = loose(&m, M_INT64, 2, NULL, 0);
    t->int64_data = (int64_t[]){INT64_MIN, 7};
    t->n_int64_data = 2;
    const int64_t *wide = constant_of(&model, t, &g, IG_I64);
    assert_true(wide[0] == INT64_MIN && wide[1] == 7);
    ig_graph_free(g);
    m_free(&model);
    m_free(&m);
    t = loose(&m, M_BOOL, 3, "\0\2\1", 3);
    assert_memory_equal(constant_of(&model, t, &g, IG_BOOL), "\0\1\1", 3);
    ig_graph_free(g);
    m_free(&model);
    m_free(&m);
}

static void wrong_tensors(void **state)
{
    (void)state;
    static const struct {
        int type;
        int64_t dim;
        size_t bytes;
        const char *part;
    } cases[] = {
        {M_FLOAT, 4, 15, "has 15 bytes of data, its shape needs 16"},
        {M_FLOAT, -1, 4, "has a dimension of -1"},
        {M_FLOAT, (int64_t)1 << 40, 4, "has a dimension of 1099511627776"},
        {M_FLOAT, 0, 0, "has no elements"},
        {8, 1, 4, "has type string"},
        {14, 1, 8, "has type complex64"},
        {99, 1, 4, "has type unknown"},
        {M_DOUBLE, 2000, 16000, "has type double; convert the model to float32"},
    };
    static char zeros[16000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct m_model m;
        m_init(&m, 17);
        m_add_initializer(&m, m_tensor(&m, "t", cases[i].type, 1, &cases[i].dim, zeros, cases[i].bytes));
        m_output(&m, "t");
        refuse(&m, cases[i].part);
    }
}

static void external_entry(struct m_model *m, Onnx__TensorProto *t, const char *key, const char *value)
{
    Onnx__StringStringEntryProto *e = m_alloc(m, sizeof *e);
    onnx__string_string_entry_proto__init(e);
    e->key = m_text(m, key);
    e->value = m_text(m, value);
    t->external_data = m_append(m, t->external_data, &t->n_external_data, e);
}

static void add_external(struct m_model *m, const char *name, const char *location, const char *offset)
{
    Onnx__TensorProto *t = m_tensor(m, name, M_FLOAT, LIST(2), NULL, 0);
    t->has_data_location = 1;
    t->data_location = 1;
    external_entry(m, t, "location", location);
    external_entry(m, t, "offset", offset);
    external_entry(m, t, "length", "8");
    m_add_initializer(m, t);
    m_output(m, name);
}

static void external_model(struct m_model *m, const char *location, const char *offset)
{
    m_init(m, 17);
    add_external(m, "t", location, offset);
}

/* The graph knows the one file that its tensors are from, and its hash is of both. */
static void from_two_files(const struct m_model *m, const struct ig_graph *g, const char *data, const float *floats, size_t bytes)
{
    struct ig_sha256 hash;
    char hex[IG_SHA256_TEXT];
    assert_int_equal(g->n_data_files, 1);
    assert_string_equal(g->data_files[0].path, data);
    ig_sha256_begin(&hash);
    ig_sha256_add(&hash, m->bytes, m->n_bytes);
    ig_sha256_add(&hash, floats, bytes);
    ig_sha256_end(&hash, hex);
    assert_string_equal(g->source_sha256, hex);
}

static void external_data(void **state)
{
    (void)state;
    char folder[] = "/tmp/ingot-import-XXXXXX", path[64], data[64];
    static const float floats[3] = {1, 2, 3};
    static const struct ig_import_options options = {.eval = ig_ref_eval};
    struct m_model m;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/net.onnx", folder);
    snprintf(data, sizeof data, "%s/net.bin", folder);
    FILE *f = fopen(data, "wb");
    assert_int_equal(fwrite(floats, sizeof floats, 1, f), 1);
    fclose(f);
    external_model(&m, "net.bin", "4");
    add_external(&m, "again", "./net.bin", "0");
    m_pack(&m);
    struct ig_graph *g = ig_import_bytes(path, m.bytes, m.n_bytes, &options, err, sizeof err);
    assert_non_null(g);
    assert_memory_equal(g->values[g->nodes[0].in[0]].data, floats + 1, 8);
    from_two_files(&m, g, data, floats, sizeof floats);
    ig_graph_free(g);
    m_free(&m);
    external_model(&m, "net.bin", "8");
    m_pack(&m);
    assert_null(ig_import_bytes(path, m.bytes, m.n_bytes, &options, err, sizeof err));
    assert_non_null(strstr(err, "is too short"));
    m_free(&m);
    unlink(data);
    rmdir(folder);
}

static void external_paths(void **state)
{
    (void)state;
    static const char *const bad[] = {"/etc/passwd", "../net.bin", "a/../../b", "..", ""};
    struct m_model m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        external_model(&m, bad[i], "0");
        refuse(&m, "must be a relative path below the model's folder");
    }
    external_model(&m, "..absent", "0");
    refuse(&m, "No such file");
    external_model(&m, "x", "-1");
    refuse(&m, "is not a number");
}

static void budgets(void **state)
{
    (void)state;
    struct m_model m;
    m_init(&m, 17);
    m_ints(&m, "shape", LIST(1 << 15, 1 << 15));
    m_node(&m, "ConstantOfShape", "shape", "y");
    m_output(&m, "y");
    refuse_with(&m, (struct ig_import_options){.max_bytes = 1 << 30}, "its constants are too large");
}

static void truncated(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    m_weights(&m, "w", LIST(2, 1, 1));
    m_node(&m, "Mul", "y,w", "z");
    m_output(&m, "z");
    m_pack(&m);
    for (size_t n = 0; n < m.n_bytes; n++) {
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, m.bytes, n);
        struct ig_graph *g = ig_import_bytes("net.onnx", exact, n, NULL, err, sizeof err);
        if (!g) assert_int_equal(strncmp(err, "net.onnx: ", 10), 0);
        ig_graph_free(g);
        free(exact);
    }
    assert_null(ig_import_bytes("net.onnx", m.bytes, m.n_bytes / 2, NULL, err, sizeof err));
    assert_string_equal(err, "net.onnx: not a valid ONNX file: it is truncated");
    m_free(&m);
}

/* Puts tag and length in front of what stands from `at` to the end. */
static size_t wrap(uint8_t *bytes, size_t at, size_t end, int field)
{
    uint8_t head[8], n = 0;
    size_t length = end - at;
    head[n++] = (uint8_t)(field << 3 | 2);
    for (; length > 127; length >>= 7)
        head[n++] = (uint8_t)(length | 128);
    head[n++] = (uint8_t)length;
    memcpy(bytes + at - n, head, n);
    return at - n;
}

/* graph.node.attribute.g.node.attribute.g ...: deeper than any stack. */
static void nested(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 20];
    size_t at = sizeof bytes;
    for (int i = 0; i < 60000; i++) {
        at = wrap(bytes, at, sizeof bytes, 5);
        at = wrap(bytes, at, sizeof bytes, 1);
        at = wrap(bytes, at, sizeof bytes, i < 59999 ? 6 : 7);
    }
    assert_null(ig_import_bytes("net.onnx", bytes + at, sizeof bytes - at, NULL, err, sizeof err));
    assert_string_equal(err, "net.onnx: not a valid ONNX file: its messages are nested too deeply");
}

static void test_data(void **state)
{
    (void)state;
    char path[] = "/tmp/ingot-tensor-XXXXXX", name[16];
    static const float floats[2] = {3, 4};
    struct m_model m;
    struct ig_shape s;
    void *data;
    uint8_t packed[256];
    Onnx__TensorProto *t = loose(&m, M_FLOAT, 2, floats, sizeof floats);
    size_t n = onnx__tensor_proto__pack(t, packed);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, packed, n), n);
    close(fd);
    assert_int_equal(ig_read_tensor_pb(path, &s, &data, name, sizeof name, err, sizeof err), 0);
    assert_int_equal(s.rank, 1);
    assert_string_equal(name, "t");
    assert_memory_equal(data, floats, sizeof floats);
    free(data);
    assert_int_equal(truncate(path, (off_t)n - 1), 0);
    assert_int_equal(ig_read_tensor_pb(path, &s, &data, name, sizeof name, err, sizeof err), -1);
    unlink(path);
    m_free(&m);
    assert_int_equal(ig_read_tensor_pb(path, &s, &data, name, sizeof name, err, sizeof err), -1);
    assert_non_null(strstr(err, "No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_4_bits),
        cmocka_unit_test(float_data),    cmocka_unit_test(integer_data),   cmocka_unit_test(wrong_tensors),
        cmocka_unit_test(external_data), cmocka_unit_test(external_paths), cmocka_unit_test(budgets),
        cmocka_unit_test(truncated),     cmocka_unit_test(nested),         cmocka_unit_test(test_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
