/* The zoo's networks against what was published about them, its files against what the builder counted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "graph/sha256.h"
#include "models/zoo/build.h"

#define TORCHVISION "https://pytorch.org/vision/stable/models.html: num_params, GFLOPS (multiply-adds)"

/*
 * Counted: weights and biases of convolutions and fully connected layers, scales and biases of batch norms;
 * not running means and variances. Multiply-accumulates: of convolutions, transposed convolutions, fully
 * connected layers.
 */
static const struct published {
    const char *name;
    int64_t parameters, folded, macs; /* exact; folded: a batch norm's scale multiplied into a neighbour */
    double millions, gigas;           /* as printed by the source; 0: not printed there */
    double millions_unit, gigas_unit; /* last digit printed */
    const char *source;
} table[] = {
    {"mlp", 12115010, 12115010, 12107500, 12.11, 0, .02, 0,
     "Ciresan et al. 2010, Table 1: 12.11 million weights, biases included (12.115 cut)"},
    {"squeezenet1.1", 1235496, 1235496, 349151936, 1.235496, .349, 1e-6, .001, TORCHVISION},
    {"mobilenet_v1", 4231976, 4221032, 568740352, 4.2, .569, .1, .001,
     "Howard et al. 2017, Table 6; Keras prints 4,231,976 trainable parameters"},
    {"mobilenet_v1_025", 470072, 467336, 41030272, .5, .041, .1, .001,
     "Howard et al. 2017, Table 6; Keras prints 470,072 trainable parameters"},
    {"mobilenet_v2", 3504872, 3487816, 300774272, 3.504872, .301, 1e-6, .001, TORCHVISION},
    {"efficientnet_b0", 5288548, 5267540, 385814752, 5.288548, .386, 1e-6, .001, TORCHVISION},
    {"alexnet", 61100840, 61100840, 714188480, 61.10084, .714, 1e-6, .001, TORCHVISION},
    {"googlenet", 6624904, 6617624, 1498376192, 6.624904, 1.498, 1e-6, .001, TORCHVISION},
    {"inception_v2", 11189249, 11179361, 1934858240, 0, 0, 0, 0,
     "TF-Slim inception_v2_test.py and Szegedy et al. 2015, Table 3: see inception_v2_published"},
    {"inception_v3", 23834568, 23817352, 5713216096, 0, 5.713, 0, .001, TORCHVISION},
    {"resnet18", 11689512, 11684712, 1814073344, 11.689512, 1.814, 1e-6, .001, TORCHVISION},
    {"resnet50", 25557032, 25530472, 4089184256, 25.557032, 4.089, 1e-6, .001, TORCHVISION},
    {"resnet101", 44549160, 44496488, 7801405440, 44.54916, 7.801, 1e-6, .001, TORCHVISION},
    {"resnext50", 25028904, 24994792, 4230479872, 25.028904, 4.23, 1e-6, .001, TORCHVISION},
    {"densenet121", 7978856, 7937032, 2834161664, 7.978856, 2.834, 1e-6, .001, TORCHVISION},
    {"convnext_tiny", 28589128, 28589128, 4455531264, 28.589128, 4.456, 1e-6, .001, TORCHVISION},
    {"vgg16", 138357544, 138357544, 15470264320, 138.357544, 15.47, 1e-6, .001, TORCHVISION},
    {"vgg19", 143667240, 143667240, 19632062464, 143.66724, 19.632, 1e-6, .001, TORCHVISION},
    {"yolov3", 61949149, 61922845, 32932037632, 0, 65.86 / 2, 0, .005,
     "https://pjreddie.com/darknet/yolo: YOLOv3-416 65.86 Bn FLOPS, a multiply-add counted as two"},
    {"fcn", 134489759, 134489759, 62860657728, 134, 0, 1, 0,
     "Long, Shelhamer, Darrell 2015, Table 1: FCN-VGG16, 134M"},
};
enum { NETS = sizeof table / sizeof *table };

static void counts_are_published(void **state)
{
    (void)state;
    struct ig_zoo_counts n;
    assert_null(ig_zoo_net(NETS));
    for (int i = 0; i < NETS; i++) {
        const struct published *p = &table[i];
        assert_ptr_equal(ig_zoo_find(p->name), ig_zoo_net(i));
        ig_zoo_count(ig_zoo_net(i), &n);
        assert_int_equal(n.parameters, p->parameters);
        assert_int_equal(n.folded, p->folded);
        assert_int_equal(n.macs, p->macs);
        if (p->millions > 0)
            assert_true(fabs((double)n.parameters / 1e6 - p->millions) <= p->millions_unit * .501);
        if (p->gigas > 0) assert_true(fabs((double)n.macs / 1e9 - p->gigas) <= p->gigas_unit * .501);
    }
}

static void unknown_name(void **state)
{
    (void)state;
    assert_null(ig_zoo_find("resnet"));
    assert_null(ig_zoo_find(""));
    assert_null(ig_zoo_net(-1));
}

/*
 * TF-Slim's test of the body counts all of its variables: 10,173,112, moving means and variances included,
 * scales not. The paper's 2.0 billion multiply-adds are of a dense first layer, 7x7 from 3 to 64 channels,
 * 112x112 outputs.
 */
static void inception_v2_published(void **state)
{
    (void)state;
    struct ig_zoo_counts n;
    ig_zoo_count(ig_zoo_find("inception_v2"), &n);
    int64_t norms = n.parameters - n.folded, classifier = 1024 * 1001 + 1001, outputs = 112 * 112;
    assert_int_equal(n.folded - classifier + 2 * norms, 10173112);
    double dense = (double)(n.macs + outputs * (7 * 7 * 3 * 64 - 7 * 7 * 3 * 8 - 24 * 64)) / 1e9;
    assert_true(fabs(dense - 2.0) < .05);
}

/* torchvision's 27,161,264 count the auxiliary head: two convolutions with batch norm and a classifier. */
static void inception_v3_published(void **state)
{
    (void)state;
    struct ig_zoo_counts n;
    ig_zoo_count(ig_zoo_find("inception_v3"), &n);
    int64_t head = 768 * 128 + 2 * 128 + 128 * 768 * 25 + 2 * 768 + 768 * 1000 + 1000;
    assert_int_equal(n.parameters + head, 27161264);
}

/* FCN-8s at 224: the padded body layer by layer, the heads on its maps, three transposed convolutions. */
static void fcn_by_hand(void **state)
{
    (void)state;
    static const int64_t size[5] = {422, 211, 106, 53, 27}, width[5] = {64, 128, 256, 512, 512};
    static const int depth[5] = {2, 2, 3, 3, 3};
    int64_t macs = 0, c = 3;
    for (int s = 0; s < 5; s++)
        for (int i = 0; i < depth[s]; i++, c = width[s]) macs += size[s] * size[s] * c * width[s] * 9;
    macs += INT64_C(8) * 8 * 4096 * (512 * 49 + 4096 + 21);
    macs += 27 * 27 * 512 * 21 + 53 * 53 * 256 * 21;
    macs += 21 * 21 * (8 * 8 * 16 + 18 * 18 * 16 + 38 * 38 * 256);
    struct ig_zoo_counts n;
    ig_zoo_count(ig_zoo_find("fcn"), &n);
    assert_int_equal(n.macs, macs);
}

static void build(struct zoo *z, const char *name)
{
    const struct ig_zoo_net *net = ig_zoo_find(name);
    zoo_begin(z, net);
    net->build(z, zoo_input(z, net));
}

static void output_is(const char *name, size_t i, int64_t c, int64_t h, int64_t w)
{
    int64_t want[] = {1, c, h, w};
    struct zoo z;
    build(&z, name);
    assert_true(i < z.graph.n_output);
    const Onnx__TensorShapeProto *shape = z.graph.output[i]->type->tensor_type->shape;
    assert_int_equal(shape->n_dim, h ? 4 : 2);
    for (size_t d = 0; d < shape->n_dim; d++) assert_int_equal(shape->dim[d]->dim_value, want[d]);
    zoo_end(&z);
}

static void output_shapes(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++)
        if (strcmp(table[i].name, "mlp") && strcmp(table[i].name, "yolov3") && strcmp(table[i].name, "fcn"))
            output_is(table[i].name, 0, strcmp(table[i].name, "inception_v2") ? 1000 : 1001, 0, 0);
    output_is("mlp", 0, 10, 0, 0);
    output_is("fcn", 0, 21, 224, 224);
    output_is("yolov3", 0, 255, 13, 13);
    output_is("yolov3", 1, 255, 26, 26);
    output_is("yolov3", 2, 255, 52, 52);
}

struct file {
    char *bytes;
    size_t n;
};

static struct file write_net(const char *name)
{
    struct file f = {NULL, 0};
    char err[256] = "";
    FILE *stream = open_memstream(&f.bytes, &f.n);
    assert_int_equal(ig_zoo_write(ig_zoo_find(name), stream, err, sizeof err), 0);
    fclose(stream);
    return f;
}

static int defines(const Onnx__GraphProto *g, size_t before, const char *name)
{
    for (size_t i = 0; i < before; i++)
        if (!strcmp(g->node[i]->output[0], name)) return 1;
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!strcmp(g->initializer[i]->name, name)) return 1;
    return !*name || !strcmp(g->input[0]->name, name);
}

/* Nodes have names of their own and read only what is defined before them. */
static void nodes_are_consistent(const Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_node; i++) {
        for (size_t j = 0; j < i; j++) assert_string_not_equal(g->node[i]->name, g->node[j]->name);
        assert_false(defines(g, i, g->node[i]->output[0]));
        for (size_t j = 0; j < g->node[i]->n_input; j++) assert_true(defines(g, i, g->node[i]->input[j]));
    }
    for (size_t i = 0; i < g->n_output; i++) assert_true(defines(g, g->n_node, g->output[i]->name));
}

/* The file has the length foretold; its tensors, less statistics, are the parameters. */
static void file_is_consistent(const char *name)
{
    struct ig_zoo_counts n;
    struct file f = write_net(name);
    ig_zoo_count(ig_zoo_find(name), &n);
    assert_int_equal(f.n, n.bytes);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, f.n, (const uint8_t *)f.bytes);
    assert_non_null(m);
    assert_int_equal(m->ir_version, 8);
    assert_int_equal(m->opset_import[0]->version, 13);
    int64_t parameters = 0;
    for (size_t i = 0; i < m->graph->n_initializer; i++) {
        const Onnx__TensorProto *t = m->graph->initializer[i];
        if (!strstr(t->name, ".running_")) parameters += (int64_t)t->raw_data.len / 4;
        for (size_t j = 0; j < i; j++) assert_string_not_equal(t->name, m->graph->initializer[j]->name);
    }
    assert_int_equal(parameters, n.parameters);
    nodes_are_consistent(m->graph);
    onnx__model_proto__free_unpacked(m, NULL);
    free(f.bytes);
}

static void files(void **state)
{
    (void)state;
    file_is_consistent("squeezenet1.1");
    file_is_consistent("mobilenet_v1_025");
    file_is_consistent("mobilenet_v2");
    file_is_consistent("densenet121");
}

/* What an importer, which knows nothing of the builder, finds in the file. */
static void importer_agrees(void **state)
{
    (void)state;
    enum { LARGEST = 50000000 }; /* bytes: keeps this quick */
    for (int i = 0; i < NETS; i++) {
        struct ig_zoo_counts n;
        char err[1024] = "";
        ig_zoo_count(ig_zoo_net(i), &n);
        if (n.bytes > LARGEST) continue;
        struct file f = write_net(table[i].name);
        struct ig_graph *g =
            ig_import_bytes(table[i].name, f.bytes, f.n, &(struct ig_import_options){0}, err, sizeof err);
        if (!g) fail_msg("%s", err);
        double macs = 0;
        ig_count_macs(g);
        for (int j = 0; j < g->n_nodes; j++) macs += g->nodes[j].macs;
        assert_true(macs == (double)table[i].macs);
        ig_graph_free(g);
        free(f.bytes);
    }
}

/* The weights depend on neither machine nor compiler. */
static void same_bytes_everywhere(void **state)
{
    (void)state;
    char hex[IG_SHA256_TEXT];
    struct file f = write_net("mobilenet_v1_025");
    ig_sha256(f.bytes, f.n, hex);
    assert_string_equal(hex, "54231eedb1452b50f316564619e1beb4d04199ab24c7c40de3639a536bc3cd94");
    free(f.bytes);
}

static const struct zoo_tensor *tensor(const struct zoo *z, const char *name)
{
    for (size_t i = 0; i < z->n_tensors; i++)
        if (!strcmp(z->tensors[i]->proto.name, name)) return z->tensors[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

static void weights(void **state)
{
    (void)state;
    enum { N = 64 * 64 * 9 };
    static float all[N], part[101];
    struct zoo z;
    double sum = 0, squares = 0;
    build(&z, "resnet18");
    const struct zoo_tensor *t = tensor(&z, "layer1.0.conv2.weight");
    assert_int_equal(t->proto.raw_data.len, sizeof all);
    zoo_fill(&z, t, 0, N, all);
    zoo_fill(&z, t, 500, 101, part);
    assert_memory_equal(part, all + 500, sizeof part);
    for (int i = 0; i < N; i++) {
        assert_true((double)all[i] >= t->low * 1.0001 && (double)all[i] <= t->high * 1.0001);
        sum += (double)all[i];
        squares += (double)all[i] * (double)all[i];
    }
    assert_true(fabs(sum / N) < 3 * t->high / sqrt(3.0 * N));
    assert_true(fabs(squares / N - t->high * t->high / 3) < .02 * t->high * t->high);
    zoo_fill(&z, tensor(&z, "layer1.1.conv2.weight"), 500, 101, part);
    for (int i = 0; i < 101; i++) assert_true(part[i] != all[500 + i]);
    zoo_end(&z);
}

static void full_disk(void **state)
{
    (void)state;
    char err[256] = "";
    FILE *f = fopen("/dev/full", "wb");
    if (!f) skip();
    assert_int_equal(ig_zoo_write(ig_zoo_find("mobilenet_v1_025"), f, err, sizeof err), -1);
    assert_non_null(strstr(err, "mobilenet_v1_025: cannot write: "));
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_published),
        cmocka_unit_test(unknown_name),
        cmocka_unit_test(inception_v2_published),
        cmocka_unit_test(inception_v3_published),
        cmocka_unit_test(fcn_by_hand),
        cmocka_unit_test(output_shapes),
        cmocka_unit_test(files),
        cmocka_unit_test(importer_agrees),
        cmocka_unit_test(same_bytes_everywhere),
        cmocka_unit_test(weights),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
