/* The generated program end to end: files in and out, results as text and JSON, odd names and numbers, exit
 * statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "bench/interp.h"
#include "gen/emit.h"
#include "tests/support/golden.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"
#include "tests/support/tiny.h"

enum { TEXT = 65536 };

static char work[] = "program-XXXXXX";
static const float image[32] = {1, -2, 3, 0.5f, 2, 2, -1, 4};
static const char *const labels[] = {"cat \"tom\" \\", "dog \n\xff\xc3\xa9"};

static void write_bytes(const char *name, const void *data, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", work, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Runs a command line, %s standing for the work folder; its exit status, and its stdout. */
static int run(char out[TEXT], const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    FILE *f = popen(line, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, TEXT - 1, f);
    out[n] = 0;
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void emit(const struct ig_emit *e, const char *suffix, void (*part)(FILE *, const struct ig_emit *))
{
    char *text = NULL, name[64];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    part(f, e);
    fclose(f);
    snprintf(name, sizeof name, "%s%s", e->prefix, suffix);
    write_bytes(name, text, n);
    free(text);
}

/* Casts g into <work>/<prefix>, as p says. */
static void build(struct ig_graph *g, struct ig_plan *p, const char *prefix, int n_labels)
{
    char out[TEXT], blob[128];
    struct ig_lowered *l = ig_lower(g, p);
    void *weights = calloc(1, (size_t)l->model.weights_bytes + 64);
    ig_fill_weights(l, weights);
    struct ig_emit e = {.lowered = l,
                        .prefix = prefix,
                        .plan_sha256 = "feedface",
                        .labels = labels,
                        .n_labels = n_labels,
                        .std = {1, 1, 1, 1}};
    snprintf(blob, sizeof blob, "%s_weights.bin", prefix);
    write_bytes(blob, weights, (size_t)l->model.weights_bytes);
    emit(&e, "_plan.c", ig_emit_tables);
    emit(&e, "_main.c", ig_emit_program);
    snprintf(blob, sizeof blob, "%s/%s_weights.bin", work, prefix);
    char path[256];
    snprintf(path, sizeof path, "%s/%s_weights.S", work, prefix);
    FILE *f = fopen(path, "w");
    ig_emit_weights(f, &e, blob);
    fclose(f);
    assert_int_equal(
        run(out,
            "$(sed -n 's/^program_cc = //p' build.ninja) -std=c11 -D_GNU_SOURCE -I'%s' %s/%s_plan.c "
            "%s/%s_main.c %s/%s_weights.S $(sed -n 's/^program_runtime = //p' build.ninja) "
            "out/host/libingot_kernels.a -lm -static "
            "-lpthread -o %s/%s",
            source_dir(), work, prefix, work, prefix, work, prefix, work, prefix),
        0);
    free(weights);
    ig_lowered_free(l);
    ig_plan_free(p);
}

/* One constant, infinities and NaN among it, as f16: a network without inputs. */
static struct ig_graph *constant_net(void)
{
    const float data[5] = {1.5f, -INFINITY, NAN, 65504, INFINITY};
    struct ig_graph *g = ig_graph_new("still");
    struct ig_shape s = SHAPE(IG_F32, 5);
    char why[256];
    g->channels_last = 1;
    g->source_sha256 = ig_graph_strdup(g, "00");
    int32_t c = ig_add_const(g, "c", &s, data);
    ig_add_output(g, tiny_node(g, "h", IG_CAST, (union ig_attrs){.axis = {0, 0}}, SHAPE(IG_F16, 5), 1, &c));
    assert_int_equal(ig_graph_sort(g, why, sizeof why), 0);
    ig_prepare_views(g);
    return g;
}

/* A small MobileNetV2, of odd sizes, for the vector kernels where they run. */
static struct ig_graph *mobile_net(void)
{
    struct ig_graph *g = net_new();
    int32_t x = net_relu(g, net_conv(g, net_input(g, 1, 57, 41, 3), 16, 3, 2, -1));
    g->source_sha256 = ig_graph_strdup(g, "00");
    for (int32_t i = 0; i < 6; i++) {
        int32_t stride = 1 + (i % 3 == 0), c = i < 3 ? 16 : 24, wide = net_conv(g, x, 96, 1, 1, -1);
        int32_t y = net_depthwise(g, wide, i % 2 ? 5 : 3, stride);
        x = net_conv(g, y, c, 1, 1, stride == 1 ? x : -1);
    }
    ig_add_output(g, net_fc(g, net_flatten(g, net_global_pool(g, net_conv(g, x, 40, 1, 1, -1))), 10));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

static struct ig_plan *mobile_plan(const struct ig_graph *g, int32_t bands)
{
    char why[1024];
    int32_t isa = fastest_isa();
    struct ig_plan *p = ig_plan_make(
        g, &(struct ig_plan_options){.target = "host", .isa = isa, .threads = 2, .bands = bands}, why, sizeof why);
    if (!p || ig_validate(g, p, 0, why, sizeof why)) fail_msg("%s", why);
    return p;
}

/* Most bytes of tensors in any step; what is left of the arena then is scratch. */
static int64_t most_tensors(const struct ig_plan *p)
{
    int64_t most = 0;
    for (int32_t i = 0; i < p->n_steps; i++) {
        int64_t live = 0;
        for (int32_t v = 0; v < p->n_buffers; v++) {
            const struct ig_plan_buffer *b = &p->buffers[v];
            if (b->memory == IG_MEMORY_ARENA && b->alias_of < 0 && b->first <= i && i <= b->last) live += b->bytes;
        }
        if (live > most) most = live;
    }
    return most;
}

static int64_t layers_tensors, bands_tensors;

static void make_mobile_nets(void)
{
    struct ig_graph *g = mobile_net();
    float pixels[57 * 41 * 3];
    for (int i = 0; i < 57 * 41 * 3; i++) pixels[i] = (float)(i * 37 % 101) * 0x1p-7f;
    write_bytes("mobile.raw", pixels, sizeof pixels);
    struct ig_plan *layers = mobile_plan(g, IG_BANDS_OFF), *bands = mobile_plan(g, IG_BANDS_CHAINS);
    layers_tensors = most_tensors(layers);
    bands_tensors = most_tensors(bands);
    build(g, layers, "layers", 0);
    build(g, bands, "bands", 0);
    build(g, mobile_plan(g, IG_BANDS_ALL), "branches", 0);
    ig_graph_free(g);
}

static int make(void **state)
{
    struct ig_graph *g = tiny_net();
    (void)state;
    if (!mkdtemp(work)) return -1;
    build(g, plain_plan(g), "tiny", 2);
    ig_graph_free(g);
    g = constant_net();
    build(g, plain_plan(g), "still", 0);
    ig_graph_free(g);
    write_bytes("in.raw", image, sizeof image);
    make_mobile_nets();
    return 0;
}

static int unmake(void **state)
{
    char out[TEXT];
    (void)state;
    return run(out, "rm -rf %s", work);
}

static void check_npy(const char *name, const char *descr, const char *shape, const void *data, size_t bytes)
{
    char path[256], have[4096];
    snprintf(path, sizeof path, "%s/%s", work, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(have, 1, sizeof have - 1, f);
    fclose(f);
    have[n] = 0;
    assert_memory_equal(have, "\x93NUMPY\x01\x00", 8);
    size_t header = (unsigned char)have[8] + 256u * (unsigned char)have[9];
    assert_int_equal((10 + header) % 64, 0);
    assert_int_equal(n, 10 + header + bytes);
    assert_int_equal(have[9 + header], '\n');
    assert_non_null(strstr(have + 10, descr));
    assert_non_null(strstr(have + 10, shape));
    assert_memory_equal(have + 10 + header, data, bytes);
}

static void files(void **state)
{
    float scores[2];
    uint16_t half[2];
    int64_t best;
    char out[TEXT];
    struct stat st;
    struct ig_graph *g = tiny_net();
    (void)state;
    assert_int_equal(ig_interp(g, (const void *[]){image}, (void *[]){scores, half, &best}), 0);
    ig_graph_free(g);
    assert_int_equal(run(out, "cd %s && ./tiny in.raw -o a.npy -o b.npy -o c.npy", work), 0);
    assert_string_equal(out, "");
    check_npy("a.npy", "'<f4'", "(1, 2)", scores, sizeof scores);
    check_npy("b.npy", "'<f2'", "(1, 2)", half, sizeof half);
    check_npy("c.npy", "'<i8'", "'shape': ()", &best, sizeof best);
    assert_int_equal(run(out, "cd %s && ./tiny in.raw -o - >d.npy", work), 0);
    check_npy("d.npy", "'<f4'", "(1, 2)", scores, sizeof scores);
    assert_int_equal(
        run(out, "cd %s && ./tiny in.raw -o /dev/null && cat in.raw in.raw | ./tiny - --top 1", work), 0);
    assert_true(!stat("/dev/null", &st) && S_ISCHR(st.st_mode));
    char *second = strchr(out, '\n');
    assert_non_null(second); /* one line a frame; the label has a line break of its own */
    assert_true(strlen(out) % 2 == 0 && !strncmp(out, out + strlen(out) / 2, strlen(out) / 2));
}

static void json_results(void **state)
{
    char out[TEXT];
    (void)state;
    assert_int_equal(run(out, "%s/tiny %s/in.raw --json --top 2", work, work), 0);
    json_t *o = json_loads(out, 0, NULL), *top = json_object_get(o, "top");
    assert_int_equal(json_array_size(top), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *t = json_array_get(top, i);
        int64_t index = json_integer_value(json_object_get(t, "index"));
        assert_string_equal(json_string_value(json_object_get(t, "label")),
                            index ? "dog \n\xef\xbf\xbd\xc3\xa9" : labels[0]);
        assert_true(json_is_number(json_object_get(t, "value")));
    }
    json_decref(o);
    assert_int_equal(run(out, "%s/tiny --info --json", work), 0);
    o = json_loads(out, 0, NULL);
    json_t *in = json_array_get(json_object_get(o, "inputs"), 0), *outs = json_object_get(o, "outputs");
    assert_string_equal(json_string_value(json_object_get(in, "name")), TINY_NAME);
    assert_string_equal(json_string_value(json_object_get(json_array_get(outs, 1), "type")), "f16");
    assert_int_equal(json_array_size(json_object_get(json_array_get(outs, 2), "shape")), 0);
    json_decref(o);
    assert_int_equal(run(out, "%s/tiny --bench=0.01 --json --trace %s/t.json", work, work), 0);
    o = json_loads(out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(o, "layers")), 6);
    json_decref(o);
    char path[256];
    snprintf(path, sizeof path, "%s/t.json", work);
    o = json_load_file(path, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(o, "traceEvents")), 6);
    json_decref(o);
}

/* f16 is printed as the number it is, NaN last; JSON has no word for infinities. */
static void half_results(void **state)
{
    char out[TEXT];
    (void)state;
    assert_int_equal(run(out, "%s/still", work), 0);
    assert_string_equal(out, "#4 inf | #3 6.55e+04 | #0 1.5 | #1 -inf | #2 nan\n");
    assert_int_equal(run(out, "%s/still --json", work), 0);
    json_t *o = json_loads(out, 0, NULL), *top = json_object_get(o, "top");
    assert_true(json_is_null(json_object_get(json_array_get(top, 0), "value")));
    assert_float_equal(json_number_value(json_object_get(json_array_get(top, 1), "value")), 65504, 0);
    assert_true(json_is_null(json_object_get(json_array_get(top, 4), "value")));
    json_decref(o);
}

static void statuses(void **state)
{
    static const struct {
        const char *arguments;
        int status;
    } rows[] = {{"tiny --help", 0},
                {"tiny", 2},
                {"tiny --no-such", 2},
                {"tiny in.raw in.raw", 2},
                {"tiny in.raw --top x", 2},
                {"tiny in.raw -o a -o b -o c -o d", 2},
                {"tiny in.raw --threads 0", 2},
                {"tiny --bench=-1", 2},
                {"tiny no-such.npy", 1},
                {"tiny tiny", 1},
                {"tiny in.raw -o no/such/dir", 1},
                {"tiny in.raw -o .", 1},
                {"tiny - </dev/null", 0},
                {"head -c 100 in.raw | ./tiny -", 1},
                {"tiny in.raw >/dev/full", 1},
                {"still -", 2},
                {"still in.raw", 2},
                {"still --bench=0.01", 0},
                {"still --threads 3", 0}};
    char out[TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *start = strncmp(rows[i].arguments, "head", 4) ? "./" : "";
        int status = run(out, "cd %s && { %s%s; } 2>log", work, start, rows[i].arguments);
        if (status != rows[i].status)
            fail_msg("%s: status %d, not %d", rows[i].arguments, status, rows[i].status);
        assert_int_equal(run(out, "cat %s/log", work), 0);
        if (rows[i].status == 1 && strchr(out, '\n') != out + strlen(out) - 1) /* one line says why */
            fail_msg("%s says: %s", rows[i].arguments, out);
    }
}

static int64_t member(const char *text, const char *key)
{
    json_t *o = json_loads(text, 0, NULL);
    int64_t n = json_integer_value(json_object_get(o, key));
    json_decref(o);
    return n;
}

/* Bands are timed as one; 1 if the times of all are about a frame's. */
static int layers_add_up(void)
{
    char out[TEXT];
    assert_int_equal(run(out, "%s/bands --bench=0.05 --json --threads 2", work), 0);
    json_t *o = json_loads(out, 0, NULL), *layers = json_object_get(o, "layers");
    double sum = 0, frame = json_number_value(json_object_get(o, "median_ms"));
    int bands = 0, n = (int)json_array_size(layers);
    for (int i = 0; i < n; i++) {
        const json_t *l = json_array_get(layers, (size_t)i);
        sum += json_number_value(json_object_get(l, "ms"));
        bands += strstr(json_string_value(json_object_get(l, "name")), "..") != NULL;
    }
    json_decref(o);
    assert_true(bands >= 4 && n < 15);
    return sum > frame / 3 && sum < frame * 3;
}

/* The same bits on any number of threads, from fewer bytes of tensors, in fewer entries of the table, which add up. */
static void bands_run_as_layers_do(void **state)
{
    char out[TEXT], info[TEXT];
    (void)state;
    assert_int_equal(run(out, "cd %s && ./layers mobile.raw -o want.npy --threads 1", work), 0);
    for (int threads = 1; threads <= 4; threads++)
        for (int i = 0; i < 2; i++)
            assert_int_equal(run(out, "cd %s && ./%s mobile.raw -o got.npy --threads %d && cmp want.npy got.npy", work,
                                 i ? "branches" : "bands", threads), 0);
    assert_int_equal(run(info, "%s/bands --info --json", work), 0);
    assert_true(bands_tensors * 3 < layers_tensors);
    assert_true(bands_tensors + 2 * member(info, "scratch_bytes") >= member(info, "arena_bytes"));
    int alike = layers_add_up(); /* another program may take either time's processor, for a while */
    for (int i = 1; i < 20 && !alike; i++) {
        nanosleep(&(struct timespec){i / 10, i % 10 * 100000000}, NULL);
        alike = layers_add_up();
    }
    assert_true(alike);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(json_results),
        cmocka_unit_test(half_results),
        cmocka_unit_test(statuses),
        cmocka_unit_test(bands_run_as_layers_do),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
