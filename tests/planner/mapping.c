/* mapping.json: keys in all forms, what is refused and all of it at once, written again. */
#include "tests/support/deploy.h"

#define CHAIN "Conv x,w>c1; Relu c1>c1_r; Conv c1_r,w>c2; Add c1_r,c2>sum1; Conv sum1,w>c3; Softmax c3>prob"

/* key -> "device resource kind core,core" */
static void assert_key(const char *name, const char *want)
{
    char err[512], text[512];
    struct ig_key k;
    if (ig_key_parse(name, &k, err, sizeof err)) fail_msg("%s", err);
    int at = snprintf(text, sizeof text, "%s %s %s", k.device, k.resource, k.kind == IG_KEY_GPU ? "gpu" : "cpu");
    for (int32_t i = 0; i < k.n_cores; i++) at += sprintf(text + at, "%c%d", i ? ',' : ' ', k.cores[i]);
    assert_string_equal(text, want);
    assert_string_equal(k.name, name);
    assert_int_equal(ig_key_threads(&k), k.n_cores ? k.n_cores : 1);
    ig_key_free(&k);
}

static void assert_no_key(const char *name)
{
    char err[512] = "", quoted[256];
    struct ig_key k;
    if (!ig_key_parse(name, &k, err, sizeof err)) fail_msg("'%s' is taken", name);
    snprintf(quoted, sizeof quoted, "key '%.200s': ", name);
    assert_int_equal(strncmp(err, quoted, strlen(quoted)), 0);
    assert_null(k.name);
}

static void map_keys(void **state)
{
    static const char *const bad[] = {
        "", "_", "nodeA", "_cpu0", "nodeA_", "nodeA_cpu00", "nodeA_arm121", "nodeA_cpux", "nodeA_cpu[]", "nodeA_cpu[0",
        "nodeA_cpu[0]1", "nodeA_cpu[3-1]", "nodeA_cpu[1024]", "nodeA_cpu[0-3,2]", "nodeA_cpu[-1]", "nodeA_cpu[ 1]", "nodeA_cpu[0,]",
        "nodeA_cpu[99999999999999999999]", "nodeA_cpu0,1", "nodeA_npu", "nodeA_gpux", "nodeA_GPU", "nodeA_c", "my pc_cpu0", "a/b_cpu0",
        "-a_cpu0", "..\\_cpu0", "nodeA_cpu0\n", "nodeA_arm_123"};
    char longest[260];
    (void)state;
    assert_key("nodeA_arm123", "nodeA arm123 cpu 1,2,3");
    assert_key("nodeA_cpu123", "nodeA cpu123 cpu 1,2,3");
    assert_key("nodeA_arm0", "nodeA arm0 cpu 0");
    assert_key("nodeA_cpu310", "nodeA cpu310 cpu 0,1,3");
    assert_key("nodeA_cpu[0-3,10]", "nodeA cpu[0-3,10] cpu 0,1,2,3,10");
    assert_key("nodeA_arm[12]", "nodeA arm[12] cpu 12");
    assert_key("nodeA_cpu[10,0-3,8-9]", "nodeA cpu[10,0-3,8-9] cpu 0,1,2,3,8,9,10");
    assert_key("nodeA_cpu", "nodeA cpu cpu");
    assert_key("nodeA_arm", "nodeA arm cpu");
    assert_key("nodeA_x86", "nodeA x86 cpu");
    assert_key("nodeA_x86[0-1]", "nodeA x86[0-1] cpu 0,1");
    assert_key("nodeA_gpu", "nodeA gpu gpu");
    assert_key("nodeA_gpu0", "nodeA gpu0 gpu");
    assert_key("my_pc_cpu1", "my_pc cpu1 cpu 1"); /* the public tool: host "my", the previous key's cores */
    assert_key("a.b-c_arm012345", "a.b-c arm012345 cpu 0,1,2,3,4,5");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_no_key(bad[i]);
    memset(longest, 'a', sizeof longest - 1);
    strcpy(longest + 250, "_cpu0");
    assert_no_key(longest);
}

static void assert_refused(const struct ig_layers *l, const char *text, const char *want)
{
    char err[8192];
    const char *path = d_file(text);
    struct ig_mapping *m = ig_mapping_read(path, l, NULL, 0, err, sizeof err);
    unlink(path);
    if (m) fail_msg("taken: %s", text);
    assert_int_equal(strncmp(err, path, strlen(path)), 0);
    assert_string_equal(err + strlen(path) + 2, want);
}

/* The example of the paper's tool: rank order, cores, layers that do not stand together. */
static void map_example(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "prob");
    struct ig_mapping *m = d_mapping(l, "{\"nodeA_arm123\": [\"c1\",\"c1_r\",\"sum1\"], \"nodeA_gpu\": [\"c2\"], "
                                        "\"nodeB_cpu0\": [\"prob\",\"c3\"]}");
    (void)state;
    assert_int_equal(m->n, 3);
    assert_string_equal(m->keys[0].name, "nodeA_arm123");
    assert_string_equal(m->keys[1].resource, "gpu");
    assert_string_equal(m->keys[2].device, "nodeB");
    assert_int_equal(m->keys[0].n_layers, 3);
    assert_int_equal(m->keys[0].layers[2], 3);
    assert_int_equal(m->keys[2].layers[0], 4);
    assert_int_equal(m->keys[2].layers[1], 5);
    assert_true(ig_key_has(&m->keys[1], 2));
    assert_false(ig_key_has(&m->keys[1], 3));
    assert_int_equal(ig_mapping_find(m, "nodeB_cpu0"), 2);
    assert_int_equal(ig_mapping_find(m, "nodeB_cpu"), -1);
    struct d_text t;
    FILE *f = d_open(&t);
    ig_mapping_write(f, l, m);
    char *first = d_close(&t, f);
    assert_string_equal(first, "{\n\"nodeA_arm123\": [\"c1\", \"c1_r\", \"sum1\"],\n\"nodeA_gpu\": [\"c2\"],\n"
                               "\"nodeB_cpu0\": [\"c3\", \"prob\"]\n}\n");
    struct ig_mapping *again = d_mapping(l, first);
    f = d_open(&t);
    ig_mapping_write(f, l, again);
    assert_string_equal(d_close(&t, f), first);
    free(first);
    free(t.text);
    ig_mapping_free(again);
    ig_mapping_free(m);
    ig_layers_free(l);
}

static void map_missing(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "prob");
    (void)state;
    assert_refused(l, "{\"a_cpu0\": [\"c1\", \"c1_r\", \"c2\", \"sum1\", \"c3\"]}", "layer 'prob' is on no key");
    assert_refused(l, "{\"a_cpu0\": [\"c1\", \"c1_r\"], \"b_cpu0\": [\"c3\"]}",
                   "3 mistakes:\n  layer 'c2' is on no key\n  layer 'sum1' is on no key\n  layer 'prob' is on no key");
    assert_refused(l, "{}", "it has no keys");
    ig_layers_free(l);
}

static void map_unknown(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "prob");
    (void)state;
    assert_refused(l, "{\"a_cpu0\": [\"c1\", \"c1_r\", \"c2\", \"sum1\", \"C3\", \"c3\", \"prob\", \"fc\\n6\"], \"b_tpu0\": [\"c3\"],"
                      "\"b_cpu1\": []}",
                   "5 mistakes:\n  key 'a_cpu0': the network has no layer 'C3'\n"
                   "  key 'a_cpu0': the network has no layer 'fc.6'\n"
                   "  key 'b_tpu0': behind the last '_' is none of arm or cpu with a digit for each core (arm123), "
                   "cpu[0-3,10], x86 and gpu; no core twice, none beyond 1023\n"
                   "  key 'b_cpu1' has no layers that compute\n"
                   "  layer 'c3' is on 2 keys, and horizontal.json does not split it: a_cpu0");
    assert_refused(l, "{\"a_cpu0\": \"c1\", \"b_cpu0\": [\"c1\", \"c1_r\", \"c2\", \"sum1\", \"c3\", \"prob\", 7]}",
                   "2 mistakes:\n  key 'a_cpu0': what it runs must be a list of layers\n"
                   "  key 'b_cpu0': element 6 of its list is no name of a layer");
    assert_refused(l, "[]", "it must be an object of keys, each with a list of layers");
    assert_refused(l, "{\"a_cpu0\": [\"c1\"], \"a_cpu0\": []}", "line 1: duplicate object key near '\"a_cpu0\"'");
    ig_layers_free(l);
}

static void map_twice(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "prob");
    static const char *const split[] = {"c2"};
    char err[1024];
    const char *text = "{\"a_cpu0\": [\"c1\", \"c1_r\", \"c2\", \"c2\", \"sum1\"], \"b_cpu0\": [\"c2\", \"sum1\", \"c3\", \"prob\"]}";
    (void)state;
    assert_refused(l, text, "2 mistakes:\n"
                            "  layer 'c2' is on 2 keys, and horizontal.json does not split it: a_cpu0 b_cpu0\n"
                            "  layer 'sum1' is on 2 keys, and horizontal.json does not split it: a_cpu0 b_cpu0");
    const char *path = d_file(text);
    assert_null(ig_mapping_read(path, l, split, 1, err, sizeof err));
    assert_non_null(strstr(err, ": layer 'sum1' is on 2 keys"));
    assert_null(strchr(err, '\n'));
    unlink(path);
    ig_layers_free(l);
}

/* More mistakes than the message has room for: they are counted. */
static void many_mistakes(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "prob");
    char err[256];
    const char *path = d_file("{\"a_cpu0\": [\"1\", \"2\", \"3\", \"4\", \"5\", \"6\"]}");
    (void)state;
    assert_null(ig_mapping_read(path, l, NULL, 0, err, sizeof err));
    assert_non_null(strstr(err, ": 12 mistakes:\n  key 'a_cpu0': the network has no layer '1'\n"));
    assert_non_null(strstr(err, "\n  and "));
    assert_string_equal(err + strlen(err) - 5, " more");
    unlink(path);
    ig_layers_free(l);
}

/* Every prefix of a mapping gives one answer; so does each of it with a byte changed. */
static void damaged_mappings(void **state)
{
    static const char text[] = "{\"a_cpu0\": [\"c1\", \"c1_r\", \"c2\", \"sum1\"],\n\"b_gpu\": [\"c3\", \"prob\"]}";
    struct ig_layers *l = d_layers(CHAIN, "prob");
    char err[4096], damaged[sizeof text];
    (void)state;
    for (size_t n = 0; n + 1 < sizeof text; n++) {
        memcpy(damaged, text, n);
        damaged[n] = 0;
        const char *path = d_file(damaged);
        assert_null(ig_mapping_read(path, l, NULL, 0, err, sizeof err));
        assert_null(strchr(err, '\n'));
        assert_int_equal(strncmp(err, path, strlen(path)), 0);
        unlink(path);
    }
    for (size_t i = 0; i + 1 < sizeof text; i++)
        for (int c = 0; c < 3; c++) {
            strcpy(damaged, text);
            damaged[i] = "\x80]x"[c];
            const char *path = d_file(damaged);
            ig_mapping_free(ig_mapping_read(path, l, NULL, 0, err, sizeof err));
            unlink(path);
        }
    ig_layers_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(map_keys),      cmocka_unit_test(map_example),
                                       cmocka_unit_test(map_missing),   cmocka_unit_test(map_unknown),
                                       cmocka_unit_test(map_twice),     cmocka_unit_test(many_mistakes),
                                       cmocka_unit_test(damaged_mappings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
