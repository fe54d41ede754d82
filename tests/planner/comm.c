/* Who sends what to whom, and on which cores: the files of the public tool, byte for byte. */
#include "tests/support/deploy.h"

#include <jansson.h>

#include "tests/support/rng.h"

typedef void write_fn(FILE *f, const struct ig_layers *l, const struct ig_mapping *m);

static char *written(write_fn *write, const struct ig_layers *l, const struct ig_mapping *m)
{
    struct d_text t;
    FILE *f = d_open(&t);
    write(f, l, m);
    return d_close(&t, f);
}

static void assert_written(write_fn *write, const struct ig_layers *l, const struct ig_mapping *m, const char *want)
{
    for (int twice = 0; twice < 2; twice++) {
        char *text = written(write, l, m);
        assert_string_equal(text, want);
        free(text);
    }
}

static void assert_comm(const char *nodes, const char *output, const char *mapping, const char *sender, const char *receiver)
{
    struct ig_layers *l = d_layers(nodes, output);
    struct ig_mapping *m = d_mapping(l, mapping);
    assert_written(ig_write_sender, l, m, sender);
    assert_written(ig_write_receiver, l, m, receiver);
    ig_mapping_free(m);
    ig_layers_free(l);
}

static void comm_golden(void **state)
{
    (void)state;
    /* a chain */
    assert_comm("Conv x,w>c1; Relu c1>r1; Conv r1,w>c2; Softmax c2>y", "y",
                "{\"a_arm0\": [\"c1\", \"r1\"], \"b_arm0\": [\"c2\", \"y\"]}",
                "{\"a_arm0\": {\"r1\": [1]}, \"b_arm0\": {}}", "{\"a_arm0\": {}, \"b_arm0\": {\"r1\": [0]}}");
    /* a residual whose key gets its tensor back: layers of a key need not stand together. The tool's own example. */
    assert_comm("Conv x,w>c1; Relu c1>c1_r; Conv c1_r,w>c2; Add c1_r,c2>sum1; Conv c1_r,w>c3; Softmax c3>prob;"
                "Concat sum1,prob>y", "y",
                "{\"nodeA_arm123\": [\"c1\",\"c1_r\",\"sum1\",\"y\"], \"nodeA_gpu\": [\"c2\"], \"nodeB_cpu0\": [\"c3\",\"prob\"]}",
                "{\"nodeA_arm123\": {\"c1_r\": [1, 2]}, \"nodeA_gpu\": {\"c2\": [0]}, \"nodeB_cpu0\": {\"prob\": [0]}}",
                "{\"nodeA_arm123\": {\"c2\": [1], \"prob\": [2]}, \"nodeA_gpu\": {\"c1_r\": [0]}, \"nodeB_cpu0\": {\"c1_r\": [0]}}");
    /* fan-out: one message to each rank, however many of its layers read it, in the order of ranks */
    assert_comm("Relu x>f; Relu f>a; Relu f>b; Relu f>c; Relu f>d; Concat a,b,c,d>y", "y",
                "{\"p_cpu3\": [\"c\", \"d\"], \"q_cpu2\": [\"f\", \"y\"], \"r_cpu1\": [\"a\"], \"s_cpu0\": [\"b\"]}",
                "{\"p_cpu3\": {\"c\": [1], \"d\": [1]}, \"q_cpu2\": {\"f\": [0, 2, 3]}, \"r_cpu1\": {\"a\": [1]}, \"s_cpu0\": {\"b\": [1]}}",
                "{\"p_cpu3\": {\"f\": [1]}, \"q_cpu2\": {\"c\": [0], \"d\": [0], \"a\": [2], \"b\": [3]}, \"r_cpu1\": {\"f\": [1]}, \"s_cpu0\": {\"f\": [1]}}");
    /* the second output of a layer passes, the first stays; tensors named with '/' and DUMMY, which the tool loses */
    assert_comm("Split x>/s/a,/s/b; Relu /s/a>MY_DUMMY_1; Add MY_DUMMY_1,/s/b>y", "y",
                "{\"a_x86\": [\"_s_a\", \"MY_DUMMY_1\"], \"b_x86\": [\"y\"]}",
                "{\"a_x86\": {\"_s_b\": [1], \"MY_DUMMY_1\": [1]}, \"b_x86\": {}}",
                "{\"a_x86\": {}, \"b_x86\": {\"_s_b\": [0], \"MY_DUMMY_1\": [0]}}");
    /* tensors by the lowest rank that they go to, or come from */
    assert_comm("Relu x>f; Relu x>g; Relu f>a; Relu g>b; Relu f>c; Concat a,b,c>y", "y",
                "{\"p_cpu0\": [\"f\", \"g\"], \"q_cpu0\": [\"b\", \"c\"], \"r_cpu0\": [\"a\", \"y\"]}",
                "{\"p_cpu0\": {\"f\": [1, 2], \"g\": [1]}, \"q_cpu0\": {\"b\": [2], \"c\": [2]}, \"r_cpu0\": {}}",
                "{\"p_cpu0\": {}, \"q_cpu0\": {\"f\": [0], \"g\": [0]}, \"r_cpu0\": {\"f\": [0], \"b\": [1], \"c\": [1]}}");
    assert_comm("Relu x>f; Relu x>g; Relu f>a; Relu g>b; Concat a,b>y", "y",
                "{\"p_cpu0\": [\"f\", \"g\"], \"q_cpu0\": [\"b\"], \"r_cpu0\": [\"a\", \"y\"]}",
                "{\"p_cpu0\": {\"g\": [1], \"f\": [2]}, \"q_cpu0\": {\"b\": [2]}, \"r_cpu0\": {}}",
                "{\"p_cpu0\": {}, \"q_cpu0\": {\"g\": [0]}, \"r_cpu0\": {\"f\": [0], \"b\": [1]}}");
    /* shapes and constants do not pass */
    assert_comm("Relu x>r; Shape r>n; Identity w>w2; Reshape r,n>t; Conv t,w2>y", "y",
                "{\"a_cpu\": [\"r\", \"n\", \"w2\"], \"b_cpu\": [\"t\", \"y\"]}", "{\"a_cpu\": {\"r\": [1]}, \"b_cpu\": {}}",
                "{\"a_cpu\": {}, \"b_cpu\": {\"r\": [0]}}");
    /* all on one key: nothing passes */
    assert_comm("Relu x>y", "y", "{\"a_cpu\": [\"y\"]}", "{\"a_cpu\": {}}", "{\"a_cpu\": {}}");
}

/* --- duality, on random networks --- */

enum { NODES = 24, KEYS = 5 };

/* Each node reads one or two of what came before. */
static void random_network(struct rng *r, char *text)
{
    int at = sprintf(text, "Relu x>t0");
    for (int i = 1; i < NODES; i++)
        at += sprintf(text + at, ";Add t%d,t%d>t%d", rng_int(r, 0, i - 1), i - 1, i);
}

static void random_mapping(struct rng *r, char *text)
{
    int at = 1, key_of[NODES];
    for (int i = 0; i < NODES; i++) key_of[i] = i < KEYS ? i : rng_int(r, 0, KEYS - 1); /* none is empty */
    text[0] = '{';
    for (int k = 0; k < KEYS; k++) {
        at += sprintf(text + at, "%s\"d%d_cpu0\":[\"t%d\"", k ? "," : "", k, k);
        for (int i = KEYS; i < NODES; i++)
            if (key_of[i] == k) at += sprintf(text + at, ",\"t%d\"", i);
        at += sprintf(text + at, "]");
    }
    strcpy(text + at, "}");
}

/* Is `rank` in a's list of that tensor of that key? */
static int lists(const json_t *a, const char *key, const char *tensor, int rank)
{
    const json_t *ranks = json_object_get(json_object_get(a, key), tensor);
    for (size_t i = 0; i < json_array_size(ranks); i++)
        if (json_integer_value(json_array_get(ranks, i)) == rank) return 1;
    return 0;
}

/* Whatever a key of `a` lists with a rank, that rank's key in b lists with the first key's rank. */
static int assert_dual(const struct ig_mapping *m, json_t *a, const json_t *b)
{
    const char *key, *tensor;
    json_t *tensors, *ranks;
    int n = 0;
    json_object_foreach(a, key, tensors)
        json_object_foreach(tensors, tensor, ranks)
            for (size_t i = 0; i < json_array_size(ranks); i++, n++) {
                int rank = (int)json_integer_value(json_array_get(ranks, i));
                assert_int_not_equal(rank, ig_mapping_find(m, key));
                assert_true(lists(b, m->keys[rank].name, tensor, ig_mapping_find(m, key)));
            }
    return n;
}

static void comm_dual(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct rng r = {seed + 1};
        char nodes[2048], mapping[2048], last[8];
        random_network(&r, nodes);
        random_mapping(&r, mapping);
        sprintf(last, "t%d", NODES - 1);
        struct ig_layers *l = d_layers(nodes, last);
        struct ig_mapping *m = d_mapping(l, mapping);
        char *sender = written(ig_write_sender, l, m), *receiver = written(ig_write_receiver, l, m);
        json_t *s = json_loads(sender, 0, NULL), *t = json_loads(receiver, 0, NULL);
        assert_non_null(s);
        assert_non_null(t);
        assert_int_equal(assert_dual(m, s, t), assert_dual(m, t, s));
        json_decref(s);
        json_decref(t);
        free(sender);
        free(receiver);
        ig_mapping_free(m);
        ig_layers_free(l);
    }
}

/* --- rankfile, hostfile, appfile --- */

static void assert_package(const char *mapping, const char *site, const char *ranks, const char *hosts, const char *apps)
{
    struct ig_layers *l = d_layers("Relu x>a; Relu a>b; Relu b>y", "y");
    struct ig_mapping *m = d_mapping(l, mapping);
    struct ig_site *s = site ? d_site(site) : NULL;
    for (int placed = 0; placed < 2; placed++) {
        struct d_text t[3];
        char err[1024];
        for (int i = 0; i < 3; i++) {
            FILE *f = d_open(&t[i]);
            if (i == 0) ig_write_rankfile(f, m, s);
            if (i == 1) ig_write_hostfile(f, m, s);
            if (i == 2) ig_write_appfile(f, m);
            d_close(&t[i], f);
        }
        assert_string_equal(t[0].text, ranks);
        assert_string_equal(t[1].text, hosts);
        assert_string_equal(t[2].text, apps);
        for (int i = 0; i < 3; i++) free(t[i].text);
        if (ig_mapping_place(m, s, "mapping.json", err, sizeof err)) fail_msg("%s", err);
        for (int32_t i = 0; i < m->n; i++)
            if (m->keys[i].kind == IG_KEY_GPU) assert_int_equal(m->keys[i].n_cores, 1);
    }
    ig_site_free(s);
    ig_mapping_free(m);
    ig_layers_free(l);
}

#define EXAMPLE "{\"nodeA_arm123\": [\"a\"], \"nodeA_gpu\": [\"b\"], \"nodeB_cpu0\": [\"y\"]}"
#define APPS "-np 1 ./nodeA_arm123\n-np 1 ./nodeA_gpu\n-np 1 ./nodeB_cpu0\n"

static void rankfile_golden(void **state)
{
    (void)state;
    assert_package(EXAMPLE, "nodeA, arm, slots=0-5, gpu=NVIDIAVolta (CUDA)\nnodeB, x86, slots=0-3\n",
                   "rank 0=nodeA    slots=1,2,3\nrank 1=nodeA    slots=5\nrank 2=nodeB    slots=0\n", "nodeA\nnodeB\n", APPS);
    /* a board of four cores has no core 5: the last that no other key has, or the last */
    assert_package(EXAMPLE, "nodeA, arm, slots=0-3, gpu=NVIDIA (CUDA)\nnodeB, arm",
                   "rank 0=nodeA    slots=1,2,3\nrank 1=nodeA    slots=0\nrank 2=nodeB    slots=0\n", "nodeA\nnodeB\n", APPS);
    assert_package("{\"a_cpu[0-3]\": [\"a\", \"b\"], \"a_gpu0\": [\"y\"]}", "a, arm, slots=0-3, gpu=NVIDIA (CUDA)",
                   "rank 0=a    slots=0,1,2,3\nrank 1=a    slots=3\n", "a\n", "-np 1 ./a_cpu_0-3_\n-np 1 ./a_gpu0\n");
    /* nothing is known of the device but what its keys say */
    assert_package(EXAMPLE, NULL, "rank 0=nodeA    slots=1,2,3\nrank 1=nodeA    slots=0\nrank 2=nodeB    slots=0\n",
                   "nodeA\nnodeB\n", APPS);
    assert_package("{\"a_arm012345\": [\"a\", \"b\"], \"a_gpu\": [\"y\"]}", NULL,
                   "rank 0=a    slots=0,1,2,3,4,5\nrank 1=a    slots=5\n", "a\n", "-np 1 ./a_arm012345\n-np 1 ./a_gpu\n");
    /* one thread on any core; devices that share a host, which is named once */
    assert_package("{\"a_x86\": [\"a\"], \"b_cpu\": [\"b\"], \"c_cpu1\": [\"y\"]}",
                   "{\"format\":\"ingot-site\",\"version\":1,\"devices\":[{\"name\":\"a\",\"host\":\"10.0.0.2\",\"cores\":3},"
                   "{\"name\":\"b\",\"host\":\"10.0.0.2\"},{\"name\":\"c\"}]}",
                   "rank 0=10.0.0.2    slots=0,1,2\nrank 1=10.0.0.2    slots=0\nrank 2=c    slots=1\n", "10.0.0.2\nc\n",
                   "-np 1 ./a_x86\n-np 1 ./b_cpu\n-np 1 ./c_cpu1\n");
}

/* Keys that the site has no place for: all of them are named. */
static void core_out_of_range(void **state)
{
    struct ig_layers *l = d_layers("Relu x>a; Relu a>b; Relu b>c; Relu c>y", "y");
    struct ig_mapping *m = d_mapping(l, "{\"a_arm4\": [\"a\"], \"a_gpu\": [\"b\"], \"b_x86\": [\"c\"], \"c_cpu0\": [\"y\"]}");
    struct ig_site *s = d_site("a, arm, slots=0-3\nb, arm, slots=0-3\n");
    char err[1024];
    (void)state;
    assert_int_equal(ig_mapping_place(m, s, "mapping.json", err, sizeof err), -1);
    assert_string_equal(err, "mapping.json: 4 mistakes:\n  key 'a_arm4': core 4 is beyond the 4 that device 'a' has\n"
                             "  key 'a_gpu': device 'a' has no GPU\n  key 'b_x86': device 'b' is no x86 but a target 'aarch64'\n"
                             "  key 'c_cpu0': the platform has no device 'c'");
    assert_int_equal(m->keys[1].n_cores, 0);
    ig_site_free(s);
    ig_mapping_free(m);
    ig_layers_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comm_golden), cmocka_unit_test(comm_dual),
                                       cmocka_unit_test(rankfile_golden), cmocka_unit_test(core_out_of_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
