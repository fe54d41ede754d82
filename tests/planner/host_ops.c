/* Input specs: what they say, and what is wrong with others; pre- and post-processing as nodes of a pipeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "planner/host_ops.h"
#include "planner/pipe_graph.h"
#include "tests/support/nets_zoo.h"

static const struct ig_shape picture = {IG_F32, 4, {1, 3, 224, 224}}, bytes = {IG_U8, 4, {1, 96, 128, 1}}, halves = {IG_F16, 4, {1, 3, 4, 4}},
                             scores = {IG_F32, 2, {1, 1000}}, word = {IG_I64, 0, {1}};

static void understood(void **state)
{
    static const struct {
        const char *spec, *text;
        const struct ig_shape *input;
    } rows[] = {
        {"", "crop=224x224,order=rgb,scale=1,mean=0,0,0,std=1,1,1,layout=nchw", &picture},
        {"resize=256, crop=224,order=bgr,scale=1/255,mean=0.485,0.456,0.406,std=0.25,frames=640x480x3 "
         "uint8,softmax=yes,top=3",
         "resize=256,crop=224x224,order=bgr,scale=0.003921569,mean=0.485,0.456,0.406,std=0.25,0.25,0.25,layout=nchw,"
         "frames=640x480x3,softmax=yes,top=3",
         &picture},
        {"resize=300x260\ncrop=224x224\nlayout=nchw\n",
         "resize=300x260,crop=224x224,order=rgb,scale=1,mean=0,0,0,std=1,1,1,layout=nchw", &picture},
        {"{\"resize\":256,\"scale\":\"1/255\",\"mean\":[0.5,0.25,0.125],\"softmax\":true}",
         "resize=256,crop=224x224,order=rgb,scale=0.003921569,mean=0.5,0.25,0.125,std=1,1,1,layout=nchw,softmax=yes",
         &picture},
        {"resize=128x96", "resize=128x96,crop=128x96,layout=nhwc", &bytes},
        {"scale=1/255", "crop=4x4,order=rgb,scale=0.003921569,mean=0,0,0,std=1,1,1,layout=nchw", &halves},
    };
    struct ig_host_ops o;
    char err[400];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (ig_host_ops_parse(rows[i].spec, &o, err, sizeof err) ||
            ig_host_ops_fit(&o, rows[i].input, &scores, err, sizeof err))
            fail_msg("%s: %s", rows[i].spec, err);
        assert_string_equal(o.text, rows[i].text);
        assert_true(o.pre_ns > 0 && o.post_ns > 0);
        /* what it prints is understood as the same */
        assert_int_equal(ig_host_ops_parse(rows[i].text, &o, err, sizeof err), 0);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *spec, *says;
        const struct ig_shape *input, *output;
    } rows[] = {
        {"size=3", "keys are resize", &picture, &scores},
        {"resize", "no key=value", &picture, &scores},
        {"resize=0", "resize=0: takes the shorter side", &picture, &scores},
        {"resize=99999", "resize=99999: takes the shorter side", &picture, &scores},
        {"crop=12by4", "crop=12by4: takes", &picture, &scores},
        {"mean=1,2,x", "mean=1,2,x: takes one number", &picture, &scores},
        {"std=1,0", "std=1,0: takes one positive number", &picture, &scores},
        {"mean=1,2", "mean= has 2 numbers, but the input 3 channels: give one, or one for each", &picture, &scores},
        {"std=1,2,3,4", "std= has 4 numbers, but the input 3 channels", &picture, &scores},
        {"scale=1/0", "scale=1/0: takes a positive", &picture, &scores},
        {"order=gbr", "takes rgb or bgr", &picture, &scores},
        {"order=rgb,resize=3,order=bgr", "order=bgr: is there already", &picture, &scores},
        {"layout=chwn", "takes nchw or nhwc", &picture, &scores},
        {"layout=nhwc", "layout=", &picture, &scores},
        {"frames=640x480", "takes width x height x 1 or 3", &picture, &scores},
        {"frames=100x100x3", "smaller than the network's 224x224", &picture, &scores},
        {"softmax=1", "takes yes or no", &picture, &scores},
        {"top=0", "takes a number from 1", &picture, &scores},
        {"resize=256 crop=224", "a comma is missing", &picture, &scores},
        {"crop=200", "crop=224x224", &picture, &scores},
        {"resize=200", "take a larger resize", &picture, &scores},
        {"scale=1/255", "the input is uint8", &bytes, &scores},
        {"softmax=yes", "first output of floats", &picture, &word},
        {"resize=256", "is no picture", &scores, &scores},
        {"{\"resize\":}", "line 1", &picture, &scores},
        {"{\"resize\":{}}", "takes text, a number or a list", &picture, &scores},
        {"{\"mean\":[1,\"a\"]}", "takes text, a number or a list", &picture, &scores},
    };
    struct ig_host_ops o;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char err[400] = "";
        if (!ig_host_ops_parse(rows[i].spec, &o, err, sizeof err) &&
            !ig_host_ops_fit(&o, rows[i].input, rows[i].output, err, sizeof err))
            fail_msg("%s: understood", rows[i].spec);
        if (!strstr(err, rows[i].says) || strchr(err, '\n')) fail_msg("%s: %s", rows[i].spec, err);
    }
}

/* Nodes before and behind all others: a GPU cannot run them, and a stage on the CPU before and after it is best. */
static void nodes(void **state)
{
    struct ig_graph *g = zoo_net("squeezenet1.1");
    struct ig_plan_options options = {.target = "host", .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_pipe_plan shared;
    struct ig_pipe_net net;
    char err[400];
    (void)state;
    struct ig_plan *plan = ig_plan_make(g, &options, err, sizeof err);
    assert_non_null(plan);
    ig_pipe_net_make(g, (const struct ig_plan *[]){plan, plan}, 2, &net);
    int32_t n = net.p.n;
    for (int32_t v = 0; v < n; v++) net.ns[2 * v] = 10000, net.ns[2 * v + 1] = 100000;
    ig_pipe_net_host(&net, 30000, 5000);
    ig_pipe_net_host_time(&net, net.ns, 2, 0, 0);
    ig_pipe_net_host_time(&net, net.ns, 2, 1, 2);
    assert_int_equal(ig_pipe_check(&net.p, err, sizeof err), 0);
    assert_int_equal(net.p.n, n + 2);
    assert_true(net.ns[0] == IG_PIPE_NEVER && net.ns[1] == 60000 && net.ns[2 * n + 3] == 10000);
    assert_string_equal(net.p.names[0], "pre-processing");
    assert_true(net.p.first[1] == 0 && net.p.first[2] == 1 && net.p.preds[0] == 0); /* the first layer reads it */
    assert_int_equal(net.p.preds[net.p.first[n + 1]], n);
    assert_true(net.segment[net.first_step[1]] == 1 && net.last_step[0] < net.first_step[0]);
    net.p.reads_input = net.p.is_output = NULL;
    ig_pipe_plan_start(&net.p, &shared);
    ig_pipe_shared(&net.p, &shared);
    assert_int_equal(shared.n_stages, 3);
    assert_true(shared.on[0] == 1 && shared.on[n + 1] == 1 && shared.on[n / 2] == 0);
    ig_pipe_plan_free(&shared);
    ig_pipe_net_free(&net);
    ig_plan_free(plan);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(understood), cmocka_unit_test(refused),
                                       cmocka_unit_test(nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
