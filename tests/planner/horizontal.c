/* horizontal.json: both readings of its points, the ambiguous refused, and what does not fit the mapping. */
#include "planner/deploy/horizontal.h"
#include "tests/support/deploy.h"

#define CHAIN "Conv x,w>c1; Relu c1>r1; Gemm r1,w>fc6; Gemm fc6,w>y"

/* The sizes that points mean, as "100 200 100", or the words they are refused with. */
static void assert_sizes(const char *points, int64_t extent, const char *want)
{
    struct ig_layers *l = d_layers(CHAIN, "y");
    char text[512], err[1024];
    int at = snprintf(text, sizeof text, "{\"fc6\": [\"lop\", %s, [", points);
    for (const char *c = strchr(points, '['), *first = c; *c && *c != ']'; c++)
        if (*c == ',' || c == first) at += sprintf(text + at, "%s\"k%d_cpu0\"", c == first ? "" : ",", (int)(c - first));
    strcpy(text + at, "]]}");
    const char *path = d_file(text);
    struct ig_hsplits *h = ig_hsplits_read(path, l, err, sizeof err);
    if (!h) fail_msg("%s", err);
    int64_t sizes[8], sum = 0;
    text[0] = 0;
    if (ig_hsplit_sizes(&h->at[0], extent, sizes, err, sizeof err)) {
        if (!strstr(err, want)) fail_msg("'%s' is not in '%s'", want, err);
    } else {
        for (int32_t i = 0; i < h->at[0].n; i++) {
            sprintf(text + strlen(text), "%s%lld", i ? " " : "", (long long)sizes[i]);
            sum += sizes[i];
        }
        assert_string_equal(text, want);
        assert_int_equal(sum, extent);
    }
    unlink(path);
    ig_hsplits_free(h);
    ig_layers_free(l);
}

static void hsplit_points(void **state)
{
    (void)state;
    /* sizes: they add up */
    assert_sizes("[2048, 2048]", 4096, "2048 2048");
    assert_sizes("[1, 2, 3]", 6, "1 2 3");
    assert_sizes("[3, 2, 1]", 6, "3 2 1");
    /* ends: they increase to the extent */
    assert_sizes("[128, 256]", 256, "128 128");
    assert_sizes("[1, 3, 6]", 6, "1 2 3");
    /* a sentinel: of two parts both readings agree */
    assert_sizes("[2048, 65535]", 4096, "2048 2048");
    assert_sizes("[1000, 65535]", 4096, "1000 3096");
    /* of three, they agree where only one of them is possible */
    assert_sizes("[200, 100, 65535]", 400, "200 100 100");
    assert_sizes("[100, 300, 65535]", 400, "100 200 100");
    assert_sizes("[100, 200, 65535]", 400, "may mean the sizes 100 200 100 or 100 100 200: write {\"sizes\": [..]} or {\"ends\": [..]}");
    assert_sizes("{\"sizes\": [100, 200, 65535]}", 400, "100 200 100");
    assert_sizes("{\"ends\": [100, 200, 65535]}", 400, "100 100 200");
    assert_sizes("{\"sizes\": [100, 300]}", 400, "100 300");
    assert_sizes("{\"ends\": [100, 400]}", 400, "100 300");
    /* neither */
    assert_sizes("[100, 200]", 256, "layer 'fc6': points 100 200 of 256 output channels are neither sizes");
    assert_sizes("[300, 65535]", 256, "are neither sizes");
    assert_sizes("[256, 65535]", 256, "are neither sizes");
    assert_sizes("[300, 200]", 400, "are neither sizes");
    assert_sizes("[2147483647, 2147483647]", 1, "are neither sizes");
    assert_sizes("{\"sizes\": [100, 400]}", 400, "are no sizes: they do not add up to it");
    assert_sizes("{\"ends\": [100, 300]}", 400, "are no ends: they must increase up to it");
    assert_sizes("{\"ends\": [200, 100]}", 100, "are no ends");
}

static void assert_refused(const char *text, const char *want)
{
    struct ig_layers *l = d_layers(CHAIN, "y");
    char err[2048];
    const char *path = d_file(text);
    struct ig_hsplits *h = ig_hsplits_read(path, l, err, sizeof err);
    if (h) fail_msg("taken: %s", text);
    assert_int_equal(strncmp(err, path, strlen(path)), 0);
    assert_string_equal(err + strlen(path) + 2, want);
    unlink(path);
    ig_layers_free(l);
}

static void wrong_splits(void **state)
{
    (void)state;
    assert_refused("[]", "it must be an object of layers, each with mode, points and keys");
    assert_refused("{\"fc7\": [\"lop\", [1, 2], [\"a\", \"b\"]], \"c1\": [\"lap\", [1, 2], [\"a\", \"b\"]]}",
                   "2 mistakes:\n  layer 'fc7': the network has no such layer\n  layer 'c1': its mode is none of lop, lip, height and width");
    assert_refused("{\"c1\": [\"lop\", [1, 2]]}", "layer 'c1': it must be a list of mode, points and keys");
    assert_refused("{\"c1\": \"lop\"}", "layer 'c1': it must be a list of mode, points and keys");
    assert_refused("{\"c1\": [7, [1, 2], [\"a\", \"b\"]]}", "layer 'c1': it must be a list of mode, points and keys");
    assert_refused("{\"c1\": [\"lop\", [1], [\"a\"]]}", "layer 'c1': it must have two parts at least, and 1024 at most");
    assert_refused("{\"c1\": [\"lop\", [1, 0], [\"a\", \"b\"]]}", "layer 'c1': its points must be whole numbers from 1 to 2147483647");
    assert_refused("{\"c1\": [\"lop\", [1, 2.5], [\"a\", \"b\"]]}", "layer 'c1': its points must be whole numbers from 1 to 2147483647");
    assert_refused("{\"c1\": [\"lop\", {\"size\": [1, 2]}, [\"a\", \"b\"]]}",
                   "layer 'c1': its points must be a list of numbers, {\"sizes\": [..]}, {\"ends\": [..]} or \"auto\"");
    assert_refused("{\"c1\": [\"lop\", {\"ends\": [1, 2], \"sizes\": [1, 1]}, [\"a\", \"b\"]]}",
                   "layer 'c1': its points must be a list of numbers, {\"sizes\": [..]}, {\"ends\": [..]} or \"auto\"");
    assert_refused("{\"c1\": [\"lop\", \"car\", [\"a\", \"b\"]]}",
                   "layer 'c1': its points must be a list of numbers, {\"sizes\": [..]}, {\"ends\": [..]} or \"auto\"");
    assert_refused("{\"c1\": [\"lop\", \"auto\", [\"a\"]]}", "layer 'c1': it must have two parts at least, and 1024 at most");
    assert_refused("{\"c1\": [\"lop\", [1, 2], [\"a\"]]}", "layer 'c1': it must have as many keys as points");
    assert_refused("{\"c1\": [\"lop\", [1, 2], [\"a\", 2]]}", "layer 'c1': its keys must be names");
    assert_refused("{\"c1\": [\"lop\", [1, 2], [\"a\", \"a\"]]}", "layer 'c1': two of its parts are on one key");
}

#define SPLIT "{\"fc6\": [\"lop\",[2048,65535],[\"nodeA_cpu0\",\"nodeB_cpu0\"]], \"c1\": [\"height\",[4,4],[\"nodeA_cpu0\",\"nodeC_cpu0\"]]}"

static void hsplit_mapping(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "y");
    char err[2048];
    const char *path = d_file(SPLIT);
    struct ig_hsplits *h = ig_hsplits_read(path, l, err, sizeof err);
    (void)state;
    unlink(path);
    if (!h) fail_msg("%s", err);
    assert_int_equal(h->n, 2);
    assert_ptr_equal(ig_hsplits_find(h, 2), &h->at[0]);
    assert_null(ig_hsplits_find(h, 1));
    assert_int_equal(h->at[1].mode, IG_SPLIT_HEIGHT);
    const char **split = ig_hsplits_layers(h);
    path = d_file("{\"nodeA_cpu0\": [\"c1\", \"r1\", \"fc6\"], \"nodeB_cpu0\": [\"fc6\", \"y\"], \"nodeC_cpu0\": [\"c1\"]}");
    struct ig_mapping *m = ig_mapping_read(path, l, split, h->n, err, sizeof err);
    if (!m) fail_msg("%s", err);
    assert_int_equal(ig_hsplits_match(h, l, m, "h.json", err, sizeof err), 0);
    ig_mapping_free(m);
    unlink(path);
    path = d_file("{\"nodeA_cpu0\": [\"r1\", \"fc6\"], \"nodeB_cpu0\": [\"c1\", \"y\"], \"nodeD_cpu0\": [\"fc6\"]}");
    m = ig_mapping_read(path, l, split, h->n, err, sizeof err);
    if (!m) fail_msg("%s", err);
    assert_int_equal(ig_hsplits_match(h, l, m, "h.json", err, sizeof err), -1);
    assert_string_equal(err, "h.json: 5 mistakes:\n"
                             "  layer 'fc6' has a part on key 'nodeB_cpu0', which does not list it in the mapping\n"
                             "  layer 'fc6' is on key 'nodeD_cpu0' in the mapping, but no part of it is\n"
                             "  layer 'c1' has a part on key 'nodeA_cpu0', which does not list it in the mapping\n"
                             "  layer 'c1' has a part on key 'nodeC_cpu0', which the mapping has not\n"
                             "  layer 'c1' is on key 'nodeB_cpu0' in the mapping, but no part of it is");
    ig_mapping_free(m);
    unlink(path);
    free(split);
    ig_hsplits_free(h);
    ig_layers_free(l);
}

/* Mappings and a split as they stand in the public tool's folder, of an AlexNet with norms behind its convolutions. */
#define ALEX_1 "\"conv1_1\", \"conv1_2\", \"norm1_1\", \"pool1_1\", \"conv2_1\", \"conv2_2\", \"norm2_1\", \"pool2_1\", \"conv3_1\", \"OC2_DUMMY_0\""
#define ALEX_2 "\"fc6_2\", \"fc6_3\", \"fc7_1\", \"fc8_1\", \"prob_1\""

static struct ig_mapping *read_mapping(const struct ig_layers *l, const char *text, const struct ig_hsplits *h, char *err)
{
    const char **split = ig_hsplits_layers(h);
    const char *path = d_file(text);
    struct ig_mapping *m = ig_mapping_read(path, l, split, h ? h->n : 0, err, 2048);
    unlink(path);
    free(split);
    return m;
}

static void public_examples(void **state)
{
    struct ig_layers *l = d_layers("Conv x,w>conv1_1; Relu conv1_1>conv1_2; LRN conv1_2>norm1_1; MaxPool norm1_1>pool1_1;"
                                   "Conv pool1_1,w>conv2_1; Relu conv2_1>conv2_2; LRN conv2_2>norm2_1; MaxPool norm2_1>pool2_1;"
                                   "Conv pool2_1,w>conv3_1; Reshape conv3_1,w>OC2_DUMMY_0; Gemm OC2_DUMMY_0,w>fc6_1; Relu fc6_1>fc6_2;"
                                   "Dropout fc6_2>fc6_3; Gemm fc6_3,w>fc7_1; Gemm fc7_1,w>fc8_1; Softmax fc8_1>prob_1", "prob_1");
    char err[2048];
    (void)state;
    struct ig_mapping *m = read_mapping(l, "{\"lenovo_cpu0\": [" ALEX_1 ", \"fc6_1\"], \"lenovo_cpu1\": [" ALEX_2 "]}\n", NULL, err);
    if (!m) fail_msg("%s", err);
    assert_int_equal(m->keys[0].n_layers, 11);
    ig_mapping_free(m);
    /* without what splits them, layers on two keys are refused; so are keys that are devices alone */
    const char *twice = "{\"lenovo_cpu0\": [" ALEX_1 ", \"fc6_1\", " ALEX_2 "], \"lenovo_cpu1\": [\"conv2_1\", \"fc6_1\"]}";
    assert_null(read_mapping(l, twice, NULL, err));
    assert_non_null(strstr(err, ": 2 mistakes:\n  layer 'conv2_1' is on 2 keys, and horizontal.json does not split it: lenovo_cpu0 lenovo_cpu1\n"
                                "  layer 'fc6_1' is on 2 keys,"));
    assert_null(read_mapping(l, "{\"nx01\": [" ALEX_1 ", \"fc6_1\"], \"nx02\": [" ALEX_2 "]}", NULL, err));
    assert_non_null(strstr(err, ": 2 mistakes:\n  key 'nx01': no '_' between a device and what it computes with, as in nodeA_cpu0\n  key 'nx02': no"));
    const char *path = d_file("{\"conv2_1\": [\"lop\",[48,65535],[\"lenovo_cpu0\", \"lenovo_cpu1\"]],\n"
                              "\"fc6_1\": [\"lop\",[2000,65535],[\"lenovo_cpu0\", \"lenovo_cpu1\"]]}\n");
    struct ig_hsplits *h = ig_hsplits_read(path, l, err, sizeof err);
    unlink(path);
    m = read_mapping(l, twice, h, err);
    if (!m) fail_msg("%s", err);
    assert_int_equal(ig_hsplits_match(h, l, m, "horizontal.json", err, sizeof err), 0);
    int64_t sizes[2];
    assert_int_equal(ig_hsplit_sizes(&h->at[0], 256, sizes, err, sizeof err), 0);
    assert_true(sizes[0] == 48 && sizes[1] == 208);
    assert_int_equal(ig_hsplit_sizes(&h->at[1], 4096, sizes, err, sizeof err), 0);
    assert_true(sizes[0] == 2000 && sizes[1] == 2096);
    ig_hsplits_free(h);
    ig_mapping_free(m);
    ig_layers_free(l);
}

static void no_points(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "y");
    char err[1024];
    const char *path = d_file("{\"fc6\": [\"lop\", \"auto\", [\"nodeA_cpu0\", \"nodeB_cpu0\", \"nodeC_cpu0\"]]}");
    (void)state;
    struct ig_hsplits *h = ig_hsplits_read(path, l, err, sizeof err);
    if (!h) fail_msg("%s", err);
    assert_int_equal(h->at[0].reading, IG_POINTS_AUTO);
    assert_int_equal(h->at[0].n, 3);
    assert_null(h->at[0].points);
    assert_string_equal(h->at[0].keys[2], "nodeC_cpu0");
    unlink(path);
    ig_hsplits_free(h);
    ig_layers_free(l);
}

static void damaged_splits(void **state)
{
    struct ig_layers *l = d_layers(CHAIN, "y");
    char err[4096], damaged[sizeof SPLIT];
    (void)state;
    for (size_t n = 0; n + 1 < sizeof SPLIT; n++) {
        memcpy(damaged, SPLIT, n);
        damaged[n] = 0;
        const char *path = d_file(damaged);
        assert_null(ig_hsplits_read(path, l, err, sizeof err));
        assert_null(strchr(err, '\n'));
        unlink(path);
    }
    for (size_t i = 0; i + 1 < sizeof SPLIT; i++) {
        strcpy(damaged, SPLIT);
        damaged[i] = i % 2 ? '{' : '0';
        const char *path = d_file(damaged);
        ig_hsplits_free(ig_hsplits_read(path, l, err, sizeof err));
        unlink(path);
    }
    ig_layers_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hsplit_points), cmocka_unit_test(wrong_splits),
                                       cmocka_unit_test(hsplit_mapping), cmocka_unit_test(public_examples),
                                       cmocka_unit_test(no_points), cmocka_unit_test(damaged_splits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
