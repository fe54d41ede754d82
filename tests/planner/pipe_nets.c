/* Networks as pipelining problems: where they can be cut, what reads what, and that better methods give better plans.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/pipe_baselines.h"
#include "planner/pipe_graph.h"
#include "planner/pipe_ideals.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"

static struct ig_plan *plan_of(const struct ig_graph *g, int32_t bands)
{
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1, .bands = bands, .max_error = 0};
    char err[4096];
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    return p;
}

/*
 * Fused nodes, concatenations are views. GoogLeNet and Inception v3 are as published; ResNet's additions are part of a
 * convolution here, so that its blocks have fewer places, and DenseNet's normalisations stand alone, so that it has
 * more.
 */
static void ideals_count(void **state)
{
    static const struct {
        const char *net;
        int32_t ideals;
    } table[] = {{"vgg16", 0},         {"mobilenet_v1", 0}, {"squeezenet1.1", 40}, {"resnet50", 58},
                 {"densenet121", 252}, {"googlenet", 488},  {"inception_v3", 1198}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ig_graph *g = zoo_net(table[i].net);
        struct ig_plan *plan = plan_of(g, IG_BANDS_OFF);
        struct ig_pipe_net net;
        struct ig_ideals x;
        ig_pipe_net_make(g, (const struct ig_plan *[]){plan}, 1, &net);
        assert_int_equal(ig_ideals_make(&net.p, IG_PIPE_MOST_IDEALS, &x), 0);
        assert_int_equal(x.n, table[i].ideals ? table[i].ideals : net.p.n + 1);
        ig_ideals_free(&x);
        net.p.in_order = 1;
        assert_int_equal(ig_ideals_make(&net.p, IG_PIPE_MOST_IDEALS, &x), 0);
        assert_int_equal(x.n, net.p.n + 1);
        ig_ideals_free(&x);
        assert_int_equal(ig_ideals_make(&net.p, net.p.n, &x), -1);
        ig_pipe_net_free(&net);
        ig_plan_free(plan);
        ig_graph_free(g);
    }
}

/* 1 if what segment `to` computes is found to depend on segment `from`, by the graph's values alone. */
static void mark(const struct ig_graph *g, int32_t v, uint8_t *needed)
{
    if (v < 0 || needed[v]) return;
    needed[v] = 1;
    if (g->values[v].producer < 0) return;
    const struct ig_node *n = &g->nodes[g->values[v].producer];
    for (int32_t i = 0; i < n->n_in; i++) mark(g, n->in[i], needed);
}

static int writes_needed(const struct ig_graph *g, const struct ig_plan *p, const struct ig_pipe_net *net, int32_t s,
                         const uint8_t *needed)
{
    for (int32_t i = net->first_step[s]; i <= net->last_step[s]; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        for (int32_t k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0 && needed[n->out[k]] && net->segment[i] == s) return 1;
    }
    return 0;
}

/* Segments that a segment depends on by edges are those that it depends on by values. */
static void edges_are_reads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = seed % 2 ? net_chain(&r, 10) : net_random(&r, 14);
        ig_prepare_views(g);
        struct ig_plan *p = plan_of(g, seed % 4 < 2 ? IG_BANDS_OFF : IG_BANDS_CHAINS);
        struct ig_pipe_net net;
        char err[200];
        ig_pipe_net_make(g, (const struct ig_plan *[]){p, p}, 2, &net);
        if (ig_pipe_check(&net.p, err, sizeof err)) fail_msg("%s", err);
        uint8_t *needed = test_malloc((size_t)g->n_values), *reach = test_malloc((size_t)net.p.n);
        int64_t sum = 0;
        for (int32_t s = 0; s < net.p.n; s++) {
            memset(needed, 0, (size_t)g->n_values);
            memset(reach, 0, (size_t)net.p.n);
            sum += net.ns[2 * s];
            for (int32_t i = net.first_step[s]; i <= net.last_step[s]; i++)
                for (int32_t k = 0; k < g->nodes[p->steps[i].node].n_in && net.segment[i] == s; k++)
                    mark(g, g->nodes[p->steps[i].node].in[k], needed);
            reach[s] = 1;
            for (int32_t t = s; t >= 0; t--)
                for (int32_t i = net.first[t]; i < net.first[t + 1] && reach[t]; i++) reach[net.preds[i]] = 1;
            for (int32_t t = 0; t < s; t++) assert_int_equal(reach[t], writes_needed(g, p, &net, t, needed));
        }
        assert_true(llabs(sum - (int64_t)p->latency_ns) <= p->n_steps + 1);
        test_free(needed);
        test_free(reach);
        ig_pipe_net_free(&net);
        ig_plan_free(p);
        ig_graph_free(g);
    }
}

/* A strong processor that streams badly beside a weak one: the scattered ratios that defeat a single cut. */
static void quality_order_on_nets(void **state)
{
    static const char *const nets[] = {"mobilenet_v2", "googlenet", "resnet50", "squeezenet1.1"};
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct ig_graph *g = zoo_net(nets[i]);
        struct ig_plan *plan = plan_of(g, IG_BANDS_OFF);
        struct ig_pipe_net net;
        struct ig_pipe_plan best, now;
        int64_t t[5];
        ig_pipe_net_make(g, (const struct ig_plan *[]){plan, plan}, 2, &net);
        for (int32_t v = 0; v < net.p.n; v++) {
            net.ns[2 * v] = (int64_t)(net.operations[v] / 400 + (double)net.bytes[v] / 5) + 15000;
            net.ns[2 * v + 1] = (int64_t)(net.operations[v] / 40 + (double)net.bytes[v] / 10) + 1000;
        }
        for (int k = 0; k < 2; k++) net.p.in[k] = (struct ig_pipe_link){20000, 100000};
        ig_pipe_plan_start(&net.p, &best);
        ig_pipe_plan_start(&net.p, &now);
        ig_pipe_single(&net.p, &now);
        t[4] = now.period_ns;
        t[3] = ig_algorithm1(&net.p).ns;
        ig_pipe_stages(&net.p, &now);
        t[2] = now.period_ns;
        ig_pipe_shared(&net.p, &now);
        t[1] = now.period_ns;
        ig_pipe_map(&net.p, 1024, &best);
        t[0] = best.period_ns;
        for (int k = 0; k < 4; k++) assert_true(t[k] <= t[k + 1]);
        assert_true(ig_pipe_bound(&net.p) <= t[0]);
        print_message("%s: one %lld, Algorithm 1 %lld, A %lld, B %lld, C %lld us, bound %lld\n", nets[i],
                      (long long)t[4] / 1000, (long long)t[3] / 1000, (long long)t[2] / 1000, (long long)t[1] / 1000,
                      (long long)t[0] / 1000, (long long)ig_pipe_bound(&net.p) / 1000);
        ig_pipe_plan_free(&best);
        ig_pipe_plan_free(&now);
        ig_pipe_net_free(&net);
        ig_plan_free(plan);
        ig_graph_free(g);
    }
}

/* Every step of the plan has a stage, none an earlier one than the step before. */
static void steps_have_stages(void **state)
{
    struct ig_graph *g = zoo_net("googlenet");
    struct ig_plan *plan = plan_of(g, IG_BANDS_OFF);
    struct ig_pipe_net net;
    struct ig_pipe_plan cuts;
    (void)state;
    ig_pipe_net_make(g, (const struct ig_plan *[]){plan, plan, plan}, 3, &net);
    net.p.in_order = 1;
    ig_pipe_plan_start(&net.p, &cuts);
    ig_pipe_stages(&net.p, &cuts);
    assert_int_equal(cuts.n_stages, 3);
    int32_t *stage = test_malloc((size_t)plan->n_steps * sizeof *stage);
    ig_pipe_step_stages(&net, &cuts, stage);
    for (int32_t i = 0; i < plan->n_steps; i++) {
        assert_true(stage[i] >= (i ? stage[i - 1] : 0) && stage[i] < 3);
        if (net.segment[i] >= 0) assert_int_equal(stage[i], cuts.stage[net.segment[i]]);
    }
    test_free(stage);
    ig_pipe_plan_free(&cuts);
    ig_pipe_net_free(&net);
    ig_plan_free(plan);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ideals_count), cmocka_unit_test(edges_are_reads),
                                       cmocka_unit_test(quality_order_on_nets), cmocka_unit_test(steps_have_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
