/*
 * The worked example of Minakova & Stefanov as networks that are really planned (planner/app.c has it as edges): CNN1 with
 * its concatenation, CNN2 as a pipeline with a slot on either side of the cut. Elements of 4 bytes throughout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/share.h"
#include "tests/support/nets.h"

enum { SLOT = 8 * 28 * 28, NAIVE = 59658, PAPER_BY_PARTS = 19968 };

static const struct ig_window unpadded = {1, 5, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};

/* l1, l2 5x5, l3 and l4, which puts l2's output and l3's side by side; l5. */
static struct ig_graph *cnn1(void)
{
    struct ig_graph *g = net_new();
    int32_t l1 = net_relu(g, net_input(g, 1, 32, 32, 3)), l2 = net_conv(g, l1, 8, 5, 1, -1);
    int32_t l3 = net_conv(g, l2, 8, 1, 1, -1), l4 = NET_CONCAT(g, 3, l2, l3);
    ig_add_output(g, net_relu(g, l4));
    return g;
}

/* l1 and l2, an unpadded 5x5; its output is the slot. */
static struct ig_graph *cnn2_head(void)
{
    struct ig_graph *g = net_new();
    ig_add_output(g, net_conv_window(g, net_relu(g, net_input(g, 1, 32, 32, 3)), 8, &unpadded, 1, -1));
    return g;
}

/* l3 and l4 on the slot. */
static struct ig_graph *cnn2_tail(void)
{
    struct ig_graph *g = net_new();
    ig_add_output(g, net_softmax(g, net_fc(g, net_flatten(g, net_input(g, 1, 28, 28, 8)), 10)));
    return g;
}

/* Elements in the arena; g is freed. */
static int64_t arena(struct ig_graph *g, int by_parts)
{
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1};
    char err[1024] = "";
    net_done(g);
    ig_prepare_views(g);
    if (by_parts) o.objective = IG_OBJECTIVE_MEMORY;
    else o.bands = IG_BANDS_OFF;
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("%s", err);
    assert_int_equal(p->arena_bytes, p->arena_lower_bound_bytes);
    int64_t elements = p->arena_bytes / 4;
    ig_plan_free(p);
    ig_graph_free(g);
    return elements;
}

/* The stages of CNN2 run at the same time, each with its slot. */
static int64_t pipeline(int by_parts)
{
    const int64_t bytes[2] = {4 * (arena(cnn2_head(), by_parts) + SLOT), 4 * (SLOT + arena(cnn2_tail(), by_parts))};
    int64_t base[2];
    return ig_share_stack(bytes, 2, base) / 4;
}

/* Layer by layer, l2 and l3 written where l4 would put them: below what the paper reaches by parts. */
static void mem_app_in_place(void **state)
{
    const int64_t nets[2] = {arena(cnn1(), 0), pipeline(0)};
    (void)state;
    assert_int_equal(nets[0], 3072 + 16384);
    assert_int_equal(nets[1], 3072 + 2 * SLOT + 10);
    assert_int_equal(ig_share_alternate(nets, 2), 19456);
    assert_true(19456 < PAPER_BY_PARTS && PAPER_BY_PARTS < NAIVE);
}

/* By parts l1 is five rows. CNN2 is then its two slots and little else; CNN1 keeps the tensor that two layers read. */
static void mem_app_by_parts(void **state)
{
    (void)state;
    assert_int_equal(pipeline(1), 5 * 96 + 2 * SLOT + 10);
    assert_int_equal(pipeline(1), 13034);
    assert_true(arena(cnn1(), 1) <= 5 * 96 + 16384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mem_app_in_place), cmocka_unit_test(mem_app_by_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
