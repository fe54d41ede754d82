/* Storage of half precision: what becomes f16, that plans compute what graphs say, and what it saves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bed.h"
#include "gen/lower.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/registry.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"

enum { NETS = 60 };

static int32_t type_of(const struct ig_graph *g, int32_t v)
{
    return g->values[v].shape.type;
}

static struct ig_plan *plan_of(const struct ig_graph *g, int32_t isa, int32_t bands)
{
    struct ig_plan_options o = {
        .target = "host", .isa = isa, .threads = 1, .bands = bands, .max_error = IG_MAX_ERROR};
    char err[1024] = "";
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("%s: %s", g->name, err);
    return p;
}

static void halve(struct ig_graph *g)
{
    char err[1024] = "";
    ig_pass_half(g);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("%s", err);
}

/* Between layers all is f16, at the network's edge and around what has no kernels on halves nothing is. */
static void layers_change_and_edges_stay(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 8, 8, 4), a = net_conv(g, x, 8, 3, 1, -1);
    int32_t nearest = net_resize(g, net_relu(g, a), 2, IG_NEAREST), linear = net_resize(g, net_relu(g, nearest), 1, IG_LINEAR);
    int32_t b = net_resize(g, net_relu(g, linear), 1, IG_CUBIC), c = net_pool(g, b, 3, 2);
    int32_t d = net_relu(g, NET_CONCAT(g, 3, c, a));
    int32_t e = net_relu(g, NET_CONCAT(g, 3, x, net_pool(g, b, 3, 2)));
    (void)state;
    ig_add_output(g, d);
    ig_add_output(g, e);
    net_done(g);
    halve(g);
    assert_int_equal(type_of(g, g->inputs[0]), IG_F32);
    for (int32_t i = 0; i < g->n_outputs; i++) assert_int_equal(type_of(g, g->outputs[i]), IG_F32);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        if (n->op == IG_CONV) assert_int_equal(type_of(g, n->in[1]), IG_F16);
        if (n->op == IG_CONV) assert_int_equal(type_of(g, n->out[0]), IG_F16);
        if (n->op == IG_RESIZE) /* what only moves is halves', and what is between two pixels */
            for (int k = 0; k < 2; k++)
                assert_int_equal(type_of(g, k ? n->out[0] : n->in[0]), n->attrs.resize.mode == IG_CUBIC ? IG_F32 : IG_F16);
        if (n->op != IG_CONCAT) continue;
        int with_input = n->in[0] == g->inputs[0];
        for (int k = 0; k < 2; k++) assert_int_equal(type_of(g, n->in[k]), with_input ? IG_F32 : IG_F16);
        assert_int_equal(type_of(g, n->out[0]), with_input ? IG_F32 : IG_F16);
    }
    ig_graph_free(g);
}

static union ig_attrs volume_attrs(void)
{
    return (union ig_attrs){.conv = {.w = {2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 3, 6}, .groups = 1}};
}

/* A transposed convolution of volumes, which has no kernels on halves, behind one of images that has. */
static void transposed_change_where_flat(void **state)
{
    struct ig_graph *g = net_new();
    const int32_t three[] = {1, 3, 5, 7, 8};
    const struct ig_shape shapes[] = {{IG_F32, 5, {8, 4, 2, 2, 2, 1, 1, 1}}, {IG_F32, 5, {1, 6, 10, 14, 4, 1, 1, 1}}};
    int32_t x = net_deconv(g, net_relu(g, net_input(g, 1, 8, 4, 4)), 8, 3, 2); /* 15 x 7 */
    int32_t w = ig_add_const(g, "weights", &shapes[0], NULL), y = ig_add_value(g, "volume", &shapes[1]);
    (void)state;
    x = net_relu(g, net_reshape(g, net_relu(g, x), 5, three));
    struct ig_node *n = ig_add_node(g, NULL, IG_DECONV, 2, 1);
    n->in[0] = x, n->in[1] = w, n->out[0] = y;
    n->attrs = volume_attrs();
    ig_add_output(g, net_relu(g, y));
    net_done(g);
    halve(g);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *of = &g->nodes[i];
        if (of->op != IG_DECONV) continue;
        int32_t type = g->values[of->in[1]].shape.rank == 4 ? IG_F16 : IG_F32;
        for (int k = 0; k < of->n_in; k++) assert_int_equal(type_of(g, of->in[k]), type);
        assert_int_equal(type_of(g, of->out[0]), type);
    }
    ig_graph_free(g);
}

/* A convolution and a pool of volumes between operators that change. */
static void volumes_stay(void **state)
{
    struct ig_graph *g = net_new();
    const int32_t three[] = {1, 3, 5, 7, 8};
    const struct ig_shape shapes[] = {{IG_F32, 5, {4, 8, 2, 2, 2, 1, 1, 1}}, {IG_F32, 5, {1, 2, 2, 3, 4, 1, 1, 1}}, {IG_F32, 5, {1, 1, 2, 3, 4, 1, 1, 1}}};
    int32_t x = net_relu(g, net_reshape(g, net_relu(g, net_input(g, 15, 7, 8, 1)), 5, three)), there = 0;
    int32_t weights = ig_add_const(g, "weights", &shapes[0], NULL), y = ig_add_value(g, "volume", &shapes[1]), z = ig_add_value(g, "pooled", &shapes[2]);
    (void)state;
    struct ig_node *n = ig_add_node(g, NULL, IG_CONV, 2, 1);
    n->in[0] = x, n->in[1] = weights, n->out[0] = y;
    n->attrs.conv = (struct ig_conv){.w = {2, 2, 2, 1, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 3, 2}, .groups = 1};
    int32_t r = net_relu(g, y);
    n = ig_add_node(g, NULL, IG_POOL, 1, 1);
    n->in[0] = r, n->out[0] = z;
    n->attrs.pool = (struct ig_pool){.w = {2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 1}, .kind = IG_POOL_MAX};
    ig_add_output(g, net_relu(g, z));
    net_done(g);
    ig_pass_half(g);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *of = &g->nodes[i];
        if (of->op != IG_CONV && of->op != IG_POOL) continue;
        there++;
        for (int k = 0; k < of->n_in; k++) assert_int_equal(type_of(g, of->in[k]), IG_F32);
        assert_int_equal(type_of(g, of->out[0]), IG_F32);
    }
    assert_int_equal(there, 2);
    ig_graph_free(g);
}

/* Weights beyond what a half can be keep their layer as it was. */
static void large_weights_stay(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 4, 4, 4);
    (void)state;
    ig_add_output(g, net_relu(g, net_conv(g, x, 8, 1, 1, -1)));
    net_done(g);
    ((float *)(uintptr_t)g->values[g->nodes[0].in[1]].data)[3] = 65520;
    assert_int_equal(ig_pass_half(g), 0);
    assert_int_equal(type_of(g, g->nodes[0].in[1]), IG_F32);
    ig_graph_free(g);
}

static void plans_compute_what_graphs_say(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(NETS); seed++) {
        struct rng r = {seed + 7000};
        struct ig_graph *g = seed % 3 ? net_random(&r, rng_int(&r, 1, 40)) : net_chain(&r, rng_int(&r, 2, 12));
        void *expected[64], *got[64];
        halve(g);
        net_run(g, seed, expected);
        ig_prepare_views(g);
        struct ig_plan *p = plan_of(g, IG_ISA_REF, seed % 2 ? IG_BANDS_ALL : IG_BANDS_OFF);
        net_run_plan(g, p, seed, got);
        for (int32_t i = 0; i < g->n_outputs; i++) {
            if (memcmp(expected[i], got[i], (size_t)ig_bytes(&g->values[g->outputs[i]].shape)))
                fail_msg("seed %d: output %d differs", (int)seed, (int)i);
            test_free(expected[i]);
            test_free(got[i]);
        }
        ig_plan_free(p);
        ig_graph_free(g);
    }
}

/* The first output of the plan on seeded data; caller frees. */
static float *run(const struct ig_graph *g, const struct ig_plan *p)
{
    struct ig_bed bed;
    struct ig_lowered *l = ig_lower(g, p);
    const struct ig_model *m = &l->model;
    char err[200];
    if (ig_bed_make(&bed, l, 1, err, sizeof err)) fail_msg("%s", err);
    void **inputs = ig_io_buffers(m->inputs, m->n_inputs), **outputs = ig_io_buffers(m->outputs, m->n_outputs);
    struct rng r = {11};
    for (int64_t i = 0; i < ig_count(m->inputs[0].shape); i++) ((float *)inputs[0])[i] = (float)rng_real(&r, -1, 1);
    assert_int_equal(ig_ctx_run(&bed.ctx, (const void *const *)inputs, outputs), 0);
    size_t bytes = (size_t)ig_bytes(m->outputs[0].shape);
    float *y = memcpy(malloc(bytes), outputs[0], bytes);
    ig_io_buffers_free(inputs, m->inputs, m->n_inputs);
    ig_io_buffers_free(outputs, m->outputs, m->n_outputs);
    ig_bed_free(&bed);
    ig_lowered_free(l);
    return y;
}

/* Largest difference of n elements, of the largest element. */
static double difference(const float *a, const float *b, int64_t n)
{
    double most = 0, off = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i]));
        off = fmax(off, fabs((double)a[i] - b[i]));
    }
    return off / most;
}

/*
 * Half as many bytes, but for scratch: two thirds of the arena at most, with the same kernels' f32 plan. Every layer
 * rounds to 11 bits; fifty of them leave far less than a per cent.
 */
static void networks_take_half_the_memory(void **state)
{
    static const char *const names[] = {"mobilenet_v2", "efficientnet_b0"};
    int32_t isa = ig_isa_runs_here(IG_ISA_AVX2) ? IG_ISA_AVX2 : ig_isa_runs_here(IG_ISA_NEON) ? IG_ISA_NEON : -1;
    (void)state;
    if (isa < 0) skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ig_graph *g = zoo_net(names[i]), *h = zoo_net_unprepared(names[i]);
        halve(h);
        ig_prepare_views(h);
        struct ig_plan *p = plan_of(g, isa, IG_BANDS_OFF), *q = plan_of(h, isa, IG_BANDS_OFF);
        float *y = run(g, p), *z = run(h, q);
        double off = difference(y, z, ig_count(&g->values[g->outputs[0]].shape));
        print_message("%s: arena %lld to %lld, weights %lld to %lld bytes, outputs within %.2g\n",
                      names[i], (long long)p->arena_bytes, (long long)q->arena_bytes, (long long)p->weights_bytes,
                      (long long)q->weights_bytes, off);
        assert_true(3 * q->arena_bytes < 2 * p->arena_bytes);
        assert_true(100 * q->weights_bytes < 52 * p->weights_bytes);
        assert_true(off < 0.01);
        struct ig_plan *bands = plan_of(h, isa, IG_BANDS_ALL);
        float *in_bands = run(h, bands);
        assert_true(bands->n_bands > 0);
        assert_memory_equal(z, in_bands, (size_t)ig_bytes(&h->values[h->outputs[0]].shape));
        free(in_bands);
        ig_plan_free(bands);
        free(y);
        free(z);
        ig_plan_free(p);
        ig_plan_free(q);
        ig_graph_free(g);
        ig_graph_free(h);
    }
}

/* Bytes of weights of a plan on floats if its transposed convolutions had panels, as their kernels on halves have; other kernels need fewer. */
static int64_t with_panels(const struct ig_graph *g, const struct ig_plan *p)
{
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    int64_t bytes = p->weights_bytes;
    ig_compute_views(g, views);
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        struct ig_call call;
        int32_t batch;
        if (n->op != IG_DECONV || !p->steps[i].kernel->pack) continue;
        ig_node_call(g, views, n, &call, &batch);
        bytes += (int64_t)ig_pack_deconv16(&call, NULL) - (int64_t)p->steps[i].kernel->pack(&call, NULL);
    }
    free(views);
    return bytes;
}

/* By kernels on halves, in bands too; results are those of single precision. */
static void transposed_convolutions_compute(void **state)
{
    int32_t isa = ig_isa_fastest(), on_halves = 0;
    struct ig_graph *g = net_transposed(), *h = net_transposed();
    (void)state;
    halve(h);
    ig_prepare_views(g);
    ig_prepare_views(h);
    struct ig_plan *p = plan_of(g, isa, IG_BANDS_OFF), *q = plan_of(h, isa, IG_BANDS_OFF), *bands = plan_of(h, isa, IG_BANDS_ALL);
    for (int32_t i = 0; i < q->n_steps; i++) on_halves += q->steps[i].kernel && strstr(q->steps[i].kernel->name, "deconv_f16_") != NULL;
    if (isa != IG_ISA_REF) assert_int_equal(on_halves, 4);
    float *y = run(g, p), *z = run(h, q), *in_bands = run(h, bands);
    size_t bytes = (size_t)ig_bytes(&g->values[g->outputs[0]].shape);
    double off = difference(y, z, (int64_t)bytes / 4);
    int64_t floats = with_panels(g, p);
    print_message("transposed convolutions: weights %lld to %lld bytes, outputs within %.2g\n", (long long)floats, (long long)q->weights_bytes, off);
    assert_true(100 * q->weights_bytes < 52 * floats && off < 0.01);
    assert_memory_equal(z, in_bands, bytes);
    free(y), free(z), free(in_bands);
    ig_plan_free(p), ig_plan_free(q), ig_plan_free(bands);
    ig_graph_free(g), ig_graph_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_change_and_edges_stay),
        cmocka_unit_test(transposed_change_where_flat),
        cmocka_unit_test(volumes_stay),
        cmocka_unit_test(large_weights_stay),
        cmocka_unit_test(plans_compute_what_graphs_say),
        cmocka_unit_test(networks_take_half_the_memory),
        cmocka_unit_test(transposed_convolutions_compute),
    };
    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
