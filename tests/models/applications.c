/*
 * Minakova & Stefanov's Table 12 by parts: which plan a budget gets (1), two networks as pipelines of two stages (3, 4),
 * three networks in turn in one arena (5, 6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/zoo/zoo.h"
#include "planner/joint.h"
#include "tests/support/nets_zoo.h"
#include "tests/support/stages.h"

struct cutting { /* a network by parts, to be cut */
    struct ig_graph *g;
    struct ig_plan_options o; /* of plans of one thread with rings without gaps */
    struct ig_plan *whole;    /* layer by layer */
    struct ig_segments all;
};

static struct ig_plan *make(const struct ig_graph *g, const struct ig_plan_options *o)
{
    char err[1024] = "";
    struct ig_plan *p = ig_plan_once(g, o, err, sizeof err);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("%s: %s", g->name, err);
    return p;
}

static void begin_cutting(struct cutting *c, const char *name)
{
    *c = (struct cutting){.g = zoo_net(name), .o = {.target = "host", .isa = IG_ISA_REF, .threads = 1,
                                                    .bands = IG_BANDS_OFF, .lean = IG_LEAN_LEAST}};
    struct ig_view *views = test_calloc((size_t)c->g->n_values, sizeof *views);
    ig_compute_views(c->g, views);
    c->whole = make(c->g, &c->o);
    ig_segments_make(c->g, views, &c->o, c->whole, &c->all);
    test_free(views);
}

static void end_cutting(struct cutting *c)
{
    ig_segments_free(&c->all);
    ig_plan_free(c->whole);
    ig_graph_free(c->g);
}

/* The least of these segments, where stages cut in front of step `at` each hold their most, as it packs. */
static int64_t least_of(const struct cutting *c, struct ig_segments *s, int32_t at)
{
    struct ig_segment_front front;
    struct ig_plan_options o = c->o;
    s->n_stages = 2;
    s->stage_last[0] = at - 1;
    s->stage_last[1] = s->n_steps - 1;
    ig_segments_exact(s, &front);
    const struct ig_segment_point *least = &front.at[0];
    struct ig_band_timing *given = test_calloc((size_t)least->n_bands + 1, sizeof *given);
    for (int32_t i = 0; i < least->n_bands; i++) given[i] = s->bands[least->bands[i]];
    o.bands = IG_BANDS_GIVEN;
    o.given = given;
    o.n_given = least->n_bands;
    struct ig_plan *p = make(c->g, &o);
    assert_int_equal(p->n_bands, least->n_bands);
    int64_t bytes = stage_bytes_at(c->g, p, at);
    ig_plan_free(p);
    test_free(given);
    ig_segment_front_free(&front);
    return bytes;
}

struct span { /* bytes of arena and weights */
    int64_t least, most;
};

static void widen(struct span *s, int64_t bytes)
{
    if (bytes < s->least) s->least = bytes;
    if (bytes > s->most) s->most = bytes;
}

/* The plan of least memory of the whole network. */
static struct ig_plan *least_plan(const struct ig_graph *g)
{
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1, .objective = IG_OBJECTIVE_MEMORY};
    char err[1024] = "";
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("%s: %s", g->name, err);
    return p;
}

/*
 * All cuts at 28 x 28 or deeper, each stage by parts as is least for it; and of these the cuts that are in no band of the
 * whole network's least plan.
 */
static void by_parts(const char *name, struct span *all, struct span *between)
{
    struct cutting c;
    struct ig_zoo_counts n;
    begin_cutting(&c, name);
    struct ig_plan *banded = least_plan(c.g);
    ig_zoo_count(ig_zoo_find(name), &n);
    *all = *between = (struct span){INT64_MAX, 0};
    for (int32_t at = 1; at < c.whole->n_steps; at++) {
        int64_t bytes = INT64_MAX;
        if (!stage_may_cut(c.g, c.whole, at, 28)) continue;
        for (enum ig_segments_way way = 0; way < IG_SEGMENTS_WAYS; way++) {
            struct ig_segments v;
            ig_segments_restrict(&c.all, way, &v);
            int64_t now = least_of(&c, &v, at);
            if (now < bytes) bytes = now;
            free(v.at);
        }
        widen(all, bytes + 4 * n.folded);
        if (stage_may_cut(c.g, banded, at, 28)) widen(between, bytes + 4 * n.folded);
    }
    print_message("%s: %ld to %ld bytes in two stages, between bands %ld to %ld\n", name, (long)all->least,
                  (long)all->most, (long)between->least, (long)between->most);
    ig_plan_free(banded);
    end_cutting(&c);
}

/* The stages' packing is the plan's where nothing is cut. */
static void one_stage_is_the_plan(void **state)
{
    struct ig_graph *g = zoo_net("mobilenet_v2");
    struct ig_plan *p = least_plan(g);
    (void)state;
    struct ig_pack_item *items = test_calloc((size_t)(p->n_buffers + p->n_steps), sizeof *items);
    struct ig_pack_pair *pairs = test_calloc((size_t)p->n_bands + 1, sizeof *pairs);
    int32_t n = stage_items(p, items), n_pairs = stage_pairs(g, p, pairs);
    assert_int_equal(ig_pack_overlapping(items, n, pairs, n_pairs).height, p->arena_bytes);
    assert_int_equal(p->arena_bytes, 4 * 125664);
    test_free(items);
    test_free(pairs);
    ig_plan_free(p);
    ig_graph_free(g);
}

/*
 * The paper prints 15.92 MB for application 3, above its own constraint of 15, and 31.34 MB for application 4, as the least
 * that it reaches.
 */
static void mem_parts_pipelines(void **state)
{
    struct span all, between;
    (void)state;
    by_parts("mobilenet_v2", &all, &between); /* 3: 14.57 to 15.35 MB */
    assert_true(all.least <= 14460000 && all.most <= 15400000 && between.most <= 14880000);
    by_parts("efficientnet_b0", &all, &between); /* 4: 23.58 to 24.49 */
    assert_true(all.least <= 23250000 && all.most <= 24490000);
}

/* --- fronts with this PC's kinds of kernels, all scratch included --- */

static void make_front(const char *name, struct ig_graph **g, struct ig_plan_options *o, struct ig_tradeoff *t)
{
    char err[1024] = "";
    *g = zoo_net(name);
    ig_detach_pieces(*g);
    *o = (struct ig_plan_options){.target = "host", .isa = IG_ISA_AVX2, .threads = 1, .max_error = IG_MAX_ERROR};
    if (ig_tradeoff_make(*g, o, t, err, sizeof err)) fail_msg("%s: %s", name, err);
}

/*
 * Application 1 at 25 and 15 MB. Algorithm 2 as printed takes the least memory of what keeps the constraints; its own Table
 * 12 has 14.98 MB at 15, where 14.90 would do with less throughput: so it is the most throughput, as here.
 */
static void mem_most_throughput(void **state)
{
    static const int64_t budgets[] = {25000000, 15000000, 14600000, 14490000};
    struct ig_graph *g;
    struct ig_plan_options o;
    struct ig_tradeoff t;
    double before = 0;
    (void)state;
    make_front("mobilenet_v2", &g, &o, &t);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        char err[1024] = "";
        o.memory_budget = budgets[i];
        struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
        if (!p || ig_validate(g, p, budgets[i], err, sizeof err)) fail_msg("%s", err);
        for (int32_t k = 0; k < t.n; k++)
            if (t.at[k].bytes <= budgets[i]) assert_true(p->latency_ns <= (double)t.at[k].ns * 1.000001);
        assert_true(p->latency_ns >= before); /* less memory is never faster */
        before = p->latency_ns;
        ig_plan_free(p);
    }
    ig_tradeoff_free(&t);
    ig_graph_free(g);
}

/* The least of three networks in turn, in 10 kB. */
static int64_t in_turn(const char *const names[3])
{
    struct ig_graph *g[3];
    struct ig_plan_options o;
    struct ig_tradeoff t[3];
    int32_t point[3];
    for (int i = 0; i < 3; i++) make_front(names[i], &g[i], &o, &t[i]);
    assert_int_equal(ig_joint_choose(t, 3, IG_JOINT_IN_TURN, IG_OBJECTIVE_MEMORY, 0, point), 0);
    struct ig_joint sum = ig_joint_sum(t, point, 3, IG_JOINT_IN_TURN);
    print_message("%s, %s, %s: arena %ld, weights %ld\n", names[0], names[1], names[2], (long)sum.arena_bytes,
                  (long)sum.weights_bytes);
    for (int i = 0; i < 3; i++) {
        ig_tradeoff_free(&t[i]);
        ig_graph_free(g[i]);
    }
    return (sum.arena_bytes + sum.weights_bytes + 5000) / 10000;
}

/* Below the paper's 162 and 155 MB, and below the 151.16 and 153.21 of tensors and parameters alone, each in a ring of its own. */
static void mem_parts_in_turn(void **state)
{
    static const char *const fifth[3] = {"inception_v2", "mobilenet_v1_025", "resnet50"},
                             *const sixth[3] = {"densenet121", "mobilenet_v1", "resnet50"};
    (void)state;
    assert_true(in_turn(fifth) <= 15058);
    assert_true(in_turn(sixth) <= 15291);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_stage_is_the_plan), cmocka_unit_test(mem_parts_pipelines),
                                       cmocka_unit_test(mem_most_throughput), cmocka_unit_test(mem_parts_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
