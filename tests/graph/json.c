/* graph.json: canonical bytes, a round trip that loses nothing, and one clear line for every broken file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/draft.h"
#include "graph/version.h"
#include "tests/support/builder.h"

static char folder[64];

/* A path in this run's folder; good until the next call but one. */
static const char *in_folder(const char *name) {
    static char paths[2][128];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

static char *read_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    *n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static void write_file(const char *path, const char *text, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

/* x -> conv + relu -> pool -> y; channels-last. */
static struct ig_graph *sample(void) {
    static const float weights[2] = {0.1f, -3}, bias[1] = {1e-20f};
    struct ig_shape shape = build_shape(IG_F32, DIMS(1, 2, 1, 1)), one = build_shape(IG_F32, DIMS(1));
    struct ig_graph *g = ig_graph_new("sample");
    g->channels_last = 1;
    g->opset = 17;
    g->onnx_nodes = 5;
    int32_t x = build_input(g, "x", DIMS(1, 4, 4, 2));
    int32_t in[4] = {x, ig_add_const(g, "w", &shape, weights), ig_add_const(g, "b", &one, bias), -1};
    int32_t y = build_node(g, IG_CONV,
                           ATTRS(.conv = {.w = build_window(1, 1, 0),
                                          .groups = 1,
                                          .act = {.kind = IG_CLIP, .alpha = -0.0f, .beta = INFINITY}}),
                           4, in, NULL);
    build_output(g, build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 0)}), y), "y \"out\"");
    ig_count_macs(g);
    return g;
}

static const char golden[] =
    "{\n"
    "\"channels_last\":1,\n"
    "\"constants_bytes\":128,\n"
    "\"format\":\"ingot-graph\",\n"
    "\"inputs\":[\"x\"],\n"
    "\"name\":\"sample\",\n"
    "\"nodes\":[\n"
    "{\"attrs\":{\"act.alpha\":-0.0,\"act.beta\":\"inf\",\"act.kind\":2,\"groups\":1,\"w.back\":0,\"w."
    "bottom\":0,"
    "\"w.dd\":1,\"w.dh\":1,\"w.dw\":1,\"w.front\":0,\"w.in_d\":1,\"w.kd\":1,\"w.kh\":1,\"w.kw\":1,\"w.left\":"
    "0,"
    "\"w.out_d\":1,\"w.right\":0,\"w.sd\":1,\"w.sh\":1,\"w.sw\":1,\"w.top\":0},\"in\":[\"x\",\"w\",\"b\","
    "null],"
    "\"macs\":32,\"name\":\"conv_0\",\"onnx\":\"pass\",\"op\":\"conv\",\"out\":[\"v\"]},\n"
    "{\"attrs\":{\"ceil_d\":0,\"ceil_h\":0,\"ceil_w\":0,\"column_major\":0,\"count_include_pad\":0,\"kind\":"
    "0,\"p\":0,"
    "\"w.back\":0,\"w.bottom\":0,\"w.dd\":1,\"w.dh\":1,\"w.dw\":1,\"w.front\":0,\"w.in_d\":1,\"w.kd\":1,\"w."
    "kh\":3,"
    "\"w.kw\":3,\"w.left\":0,\"w.out_d\":1,\"w.right\":0,\"w.sd\":1,\"w.sh\":1,\"w.sw\":1,\"w.top\":0},"
    "\"in\":[\"v\"],\"macs\":0,\"name\":\"pool_1\",\"onnx\":\"pass\",\"op\":\"pool\",\"out\":[\"y "
    "\\\"out\\\"\"]}\n"
    "],\n"
    "\"onnx_nodes\":5,\n"
    "\"opset\":17,\n"
    "\"outputs\":[\"y \\\"out\\\"\"],\n"
    "\"source_sha256\":\"\",\n"
    "\"tool\":\"ingot " INGOT_VERSION "\",\n"
    "\"values\":[\n"
    "{\"name\":\"x\",\"shape\":[1,4,4,2],\"type\":\"f32\"},\n"
    "{\"bytes\":8,\"name\":\"w\",\"offset\":0,\"shape\":[1,2,1,1],\"type\":\"f32\"},\n"
    "{\"bytes\":4,\"name\":\"b\",\"offset\":64,\"shape\":[1],\"type\":\"f32\"},\n"
    "{\"name\":\"v\",\"shape\":[1,4,4,1],\"type\":\"f32\"},\n"
    "{\"name\":\"y \\\"out\\\"\",\"shape\":[1,2,2,1],\"type\":\"f32\"}\n"
    "],\n"
    "\"version\":2\n"
    "}\n";

static void text_is_canonical(void **state) {
    (void)state;
    char err[512];
    size_t n;
    struct ig_graph *g = sample();
    assert_int_equal(ig_graph_write(g, in_folder("sample.json"), err, sizeof err), 0);
    char *text = read_file(in_folder("sample.json"), &n);
    assert_string_equal(text, golden);
    free(text);
    text = read_file(in_folder("sample.bin"), &n);
    assert_int_equal(n, 128);
    assert_memory_equal(text, g->values[1].data, 8);
    assert_memory_equal(text + 64, g->values[2].data, 4);
    free(text);
    ig_graph_free(g);
}

static void reading_loses_nothing(void **state) {
    (void)state;
    char err[512];
    size_t n, m;
    struct ig_graph *g = sample();
    g->values[3].name =
        ig_graph_strdup(g, "\xc3\xa9\xe2\x82\xac \\ \n\x01"); /* UTF-8, controls, a backslash */
    assert_int_equal(ig_graph_write(g, in_folder("a.json"), err, sizeof err), 0);
    struct ig_graph *back = ig_graph_read(in_folder("a.json"), err, sizeof err);
    if (!back) fail_msg("%s", err);
    assert_string_equal(back->values[3].name, g->values[3].name);
    assert_int_equal((uintptr_t)back->values[1].data % 64, 0);
    assert_memory_equal(back->values[1].data, g->values[1].data, 8);
    assert_memory_equal(&back->nodes[0].attrs, &g->nodes[0].attrs, sizeof g->nodes[0].attrs);
    assert_int_equal(ig_graph_write(back, in_folder("b.json"), err, sizeof err), 0);
    char *a = read_file(in_folder("a.json"), &n), *b = read_file(in_folder("b.json"), &m);
    assert_string_equal(a, b);
    free(a);
    free(b);
    ig_graph_free(back);
    ig_graph_free(g);
}

/* Deformable convolutions stay in ONNX's layout, whatever the graph's is. */
static void deformable_convolutions_come_back(void **state) {
    (void)state;
    char err[IG_ERROR_BYTES] = "";
    struct ig_shape shape = build_shape(IG_F32, DIMS(3, 2, 3, 3));
    static const float weights[54] = {1};
    struct ig_graph *g = ig_graph_new("sample");
    g->channels_last = 1;
    int32_t x = build_input(g, "x", DIMS(1, 2, 9, 6)), offset = build_input(g, "offset", DIMS(1, 18, 9, 6));
    int32_t in[3] = {x, ig_add_const(g, "w", &shape, weights), offset};
    build_output(g, build_node(g, IG_DEFORM_CONV, ATTRS(.deform = {.w = build_window(3, 1, 1), .groups = 1, .offset_groups = 1}), 3, in, NULL), "y");
    assert_int_equal(ig_graph_write(g, in_folder("a.json"), err, sizeof err), 0);
    struct ig_graph *read = ig_graph_read(in_folder("a.json"), err, sizeof err);
    assert_string_equal(err, "");
    assert_non_null(read);
    assert_int_equal(read->values[read->outputs[0]].shape.dims[1], 3);
    ig_graph_free(read);
    ig_graph_free(g);
}

static void all_floats_come_back(void **state) {
    (void)state;
    static const float some[] = {0.1f, 1 / 3.f, 1e38f,         1.4e-45f, 16777217,
                                 -1,   1e10f,   3.4028235e38f, INFINITY, -INFINITY};
    char err[512];
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct ig_graph *g = sample();
        g->nodes[0].attrs.conv.act.beta = some[i];
        assert_int_equal(ig_graph_write(g, in_folder("a.json"), err, sizeof err), 0);
        struct ig_graph *back = ig_graph_read(in_folder("a.json"), err, sizeof err);
        if (!back) fail_msg("%s", err);
        assert_memory_equal(&back->nodes[0].attrs.conv.act.beta, &some[i], 4);
        assert_true(signbit(back->nodes[0].attrs.conv.act.alpha)); /* -0 */
        ig_graph_free(back);
        ig_graph_free(g);
    }
}

static void shared_constants_are_written_once(void **state) {
    (void)state;
    char err[512];
    size_t n;
    struct ig_graph *g = sample();
    struct ig_shape flat = build_shape(IG_F32, DIMS(2));
    int32_t v = ig_add_value(g, "w again", &flat);
    g->values[v].data = g->values[1].data;
    assert_int_equal(ig_graph_write(g, in_folder("a.json"), err, sizeof err), 0);
    free(read_file(in_folder("a.bin"), &n));
    assert_int_equal(n, 128);
    struct ig_graph *back = ig_graph_read(in_folder("a.json"), err, sizeof err);
    assert_ptr_equal(back->values[v].data, back->values[1].data);
    ig_graph_free(back);
    ig_graph_free(g);
}

/* Reads the golden text with `old` replaced by `new`; it must be refused with a line that has `says`. */
static void refused(const char *old, const char *new, const char *says) {
    char err[1024] = "", text[sizeof golden + 512];
    const char *at = strstr(golden, old);
    assert_non_null(at);
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - golden), golden, new, at + strlen(old));
    write_file(in_folder("sample.json"), text, (size_t)n);
    struct ig_graph *g = ig_graph_read(in_folder("sample.json"), err, sizeof err);
    if (g) fail_msg("%s -> %s was accepted", old, new);
    if (!strstr(err, says)) fail_msg("%s -> %s says: %s", old, new, err);
    assert_null(strchr(err, '\n'));
}

static void broken_files_are_refused(void **state) {
    (void)state;
    static const char bin[128];
    write_file(in_folder("sample.bin"), bin, sizeof bin);
    refused("{\n\"channels", "\"channels", "line 1");
    refused("\"version\":2\n}", "\"version\":2\n", "line");
    refused("\"version\":2", "\"version\":1", "version 1 of 'ingot-graph', not 2: make it anew: ingot graph net.onnx -o ");
    refused("\"version\":2", "\"version\":3", "version 3 of 'ingot-graph', not 2: make it anew: ingot graph net.onnx -o ");
    refused("ingot-graph", "other", "format is 'other', not 'ingot-graph', which ingot graph net.onnx -o graph.json makes");
    refused("\"format\"", "\"form\"", "it has no 'format': ingot graph net.onnx -o graph.json makes");
    refused("\"opset\":17", "\"opset\":\"17\"", "'opset' must be an integer");
    refused("\"channels_last\":1", "\"channels_last\":2", "'channels_last' is out of range");
    refused("\"source_sha256\":\"\"", "\"source_sha256\":\"12\"", "no SHA-256");
    refused("\"constants_bytes\":128", "\"constants_bytes\":64", "has 128 bytes, not 64");
    refused("\"name\":\"sample\",", "", "'name' must be a string");
    refused("\"op\":\"pool\"", "\"op\":\"poll\"", "unknown op 'poll'");
    refused("\"op\":\"pool\"", "\"op\":\"relu\"", "unknown op");
    refused("\"name\":\"pool_1\"", "\"name\":\"conv_0\"", "empty or taken");
    refused("\"w.kh\":3", "\"w.kh\":2.5", "attribute 'w.kh'");
    refused("\"w.kh\":3", "\"w.kh\":0", "below 1");
    refused("\"w.kh\":3", "\"w.kh\":2", "another shape or type");
    refused("\"w.kh\":3", "\"w.kh\":99999999999", "attribute 'w.kh'");
    refused("\"w.kh\":3", "\"kh\":3", "attribute 'w.kh'");
    refused("\"act.beta\":\"inf\"", "\"act.beta\":\"in\"", "attribute 'act.beta'");
    refused("\"act.beta\":\"inf\"", "\"act.beta\":1e99", "attribute 'act.beta'");
    refused("\"act.kind\":2", "\"act.kind\":200", "activation kind");
    refused("\"groups\":1", "\"groups\":1,\"more\":1", "does not know");
    refused("\"groups\":1", "\"groups\":3", "groups");
    refused("\"in\":[\"v\"]", "\"in\":[\"u\"]", "no value 'u'");
    refused("\"in\":[\"v\"]", "\"in\":[7]", "no value");
    refused("\"in\":[\"v\"]", "\"in\":[null]", "input 0 is missing");
    refused("\"in\":[\"v\"]", "\"in\":[\"y \\\"out\\\"\"]", "no earlier node");
    refused("\"in\":[\"v\"]", "\"in\":[\"v\",\"v\"]", "neither one input nor five");
    refused("\"in\":[\"v\"]", "\"in\":[\"v\",null,null,null,null]", "scales of what is no average");
    refused("\"kind\":0,\"p\":0,\"w.back\":0,\"w.bottom\":0,\"w.dd\":1,\"w.dh\":1,\"w.dw\":1,\"w.front\":0,\"w.in_d\":1,\"w.kd\":1,\"w.kh\":3,"
            "\"w.kw\":3,\"w.left\":0,\"w.out_d\":1,\"w.right\":0,\"w.sd\":1,\"w.sh\":1,\"w.sw\":1,\"w.top\":0},\"in\":[\"v\"]",
            "\"kind\":1,\"p\":0,\"w.back\":0,\"w.bottom\":0,\"w.dd\":1,\"w.dh\":1,\"w.dw\":1,\"w.front\":0,\"w.in_d\":1,\"w.kd\":1,\"w.kh\":3,"
            "\"w.kw\":3,\"w.left\":0,\"w.out_d\":1,\"w.right\":0,\"w.sd\":1,\"w.sh\":1,\"w.sw\":1,\"w.top\":0},\"in\":[\"v\",null,null,null,null]",
            "not one number");
    refused("\"in\":[\"v\"]", "\"in\":\"v\"", "'in' must be an array");
    refused("\"out\":[\"v\"]", "\"out\":[\"x\"]", "");
    refused("\"macs\":32", "\"macs\":-1", "'macs'");
    refused("\"inputs\":[\"x\"]", "\"inputs\":[]", "no earlier node");
    refused("\"inputs\":[\"x\"]", "\"inputs\":[null]", "null");
    refused("\"outputs\":[\"y", "\"outputs\":[\"z", "no value");
    refused("\"offset\":64", "\"offset\":63", "no multiple of 64");
    refused("\"offset\":64", "\"offset\":128", "behind the end");
    refused("\"offset\":64", "\"offset\":-64", "out of range");
    refused("\"bytes\":8", "\"bytes\":16", "'bytes' is out of range");
    refused("\"bytes\":8,", "", "'bytes' must be an integer");
    refused("[1,4,4,2]", "[1,4,4,2,1,1,1,1,1]", "more than 8 dimensions");
    refused("[1,4,4,2]", "[1,4,-4,2]", "no shape");
    refused("[1,4,4,2]", "[1,4,\"4\",2]", "no shape");
    refused("[1,4,4,2]", "[1,65536,65536,2]", "too large");
    refused("[1,4,4,2]", "[1,4,4,3]", "");
    refused("[1,4,4,1],\"type\":\"f32\"", "[1,4,4,1],\"type\":\"i32\"", "another shape or type");
    refused("\"type\":\"f32\"}\n],", "\"type\":\"f33\"}\n],", "unknown type 'f33'");
    refused("{\"name\":\"v\"", "{\"name\":\"x\"", "two values are named 'x'");
    refused("\"w\",\"b\",null", "\"w\",\"x\",null", "");
    refused("\"opset\":17", "\"opset\":17,\"opsets\":17", "sample.json: unknown field 'opsets'; there are: channels_last");
    refused("\"macs\":32", "\"macs\":32,\"mac\":1", "node 'conv_0': unknown field 'mac'; there are: attrs in macs");
    refused("\"offset\":64", "\"offset\":64,\"\":64", "value 'b': unknown field ''");
    refused("{\"name\":\"v\"", "{\"tensor\":1,\"name\":\"v\"", "value 'v': unknown field 'tensor'");
}

static void missing_files_are_refused(void **state) {
    (void)state;
    char err[512];
    assert_null(ig_graph_read(in_folder("none.json"), err, sizeof err));
    assert_non_null(strstr(err, "none.json: No such file")); /* and the path once */
    write_file(in_folder("alone.json"), golden, sizeof golden - 1);
    assert_null(ig_graph_read(in_folder("alone.json"), err, sizeof err));
    assert_non_null(strstr(err, "alone.bin: No such file"));
    struct ig_graph *g = sample();
    assert_int_equal(ig_graph_write(g, in_folder("no/such/folder.json"), err, sizeof err), -1);
    assert_non_null(strstr(err, "No such file"));
    ig_graph_free(g);
}

/* A full disk, played by a limit on the size of files: the old file stays and no draft is left. */
static void a_full_disk_leaves_the_old_file(void **state) {
    (void)state;
    char err[512];
    size_t n;
    struct rlimit was, small;
    struct ig_graph *g = sample();
    write_file(in_folder("full.json"), "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    for (rlim_t limit = 100; limit <= 500; limit += 400) { /* the constants do not fit; then the text */
        small = (struct rlimit){limit, was.rlim_max};
        void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        int bad = ig_graph_write(g, in_folder("full.json"), err, sizeof err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
        signal(SIGXFSZ, before);
        assert_int_equal(bad, -1);
        assert_non_null(strstr(err, limit == 100 ? "full.bin: cannot write" : "full.json: cannot write"));
    }
    char *text = read_file(in_folder("full.json"), &n), draft[64];
    assert_string_equal(text, "old");
    snprintf(draft, sizeof draft, "full.json.%ld.tmp", (long)getpid());
    assert_int_equal(access(in_folder(draft), F_OK), -1);
    assert_int_equal(access(in_folder("full.bin"), F_OK), -1); /* of a text that is not there */
    free(text);
    ig_graph_free(g);
}

static void put_draft(struct ig_draft *d, const char *path) {
    char err[256];
    assert_int_equal(ig_draft_open(d, path, err, sizeof err), 0);
    fputs("text", d->f);
}

/* One that was there before keeps what was whole; one that was made keeps nothing before it is whole, and all from then on. */
static void a_folder_is_whole_or_not_there(void **state) {
    (void)state;
    struct ig_draft whole, open;
    char made[128];
    snprintf(made, sizeof made, "%s", in_folder("made"));
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        assert_int_equal(ig_folder_make(folder), 0);
        assert_int_equal(ig_folder_make(made), 0);
        put_draft(&whole, in_folder("made/whole"));
        assert_int_equal(ig_draft_close(&whole, 1, NULL, 0), 0);
        put_draft(&open, in_folder("beside"));
        assert_int_equal(ig_draft_close(&open, 1, NULL, 0), 0);
        put_draft(&open, in_folder("made/open"));
        if (is_whole) {
            assert_int_equal(ig_draft_close(&open, 1, NULL, 0), 0);
            ig_folders_keep();
        }
        ig_drafts_remove();
        assert_int_equal(access(made, F_OK), is_whole - 1);
        assert_int_equal(access(in_folder("beside"), F_OK), 0);
        if (!is_whole) ig_draft_close(&open, 0, NULL, 0);
        if (!is_whole) ig_folders_keep();
    }
    assert_int_equal(unlink(in_folder("made/whole")), 0);
    assert_int_equal(unlink(in_folder("made/open")), 0);
    assert_int_equal(rmdir(made), 0);
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "json_test_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"sample.json", "sample.bin", "a.json",    "a.bin",   "b.json",
                                        "b.bin",       "alone.json", "full.json", "full.bin", "beside"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(names[i]));
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_canonical),
        cmocka_unit_test(reading_loses_nothing),
        cmocka_unit_test(deformable_convolutions_come_back),
        cmocka_unit_test(all_floats_come_back),
        cmocka_unit_test(shared_constants_are_written_once),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(missing_files_are_refused),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(a_folder_is_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
