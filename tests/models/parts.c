/*
 * Benchmark networks of which random layers are split over two to four keys, by rows and by output channels:
 * the bytes of the whole network's outputs. The large ones with INGOT_LONG=1, which ninja test-long sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"
#include "tests/support/parts.h"
#include "tests/support/plans.h"

enum { TRIES = 10, WANTED = 4 };

/* 1, or 0 where a kernel of the whole does not compute a part. */
static int try_split(const struct ig_graph *g, const struct split_whole *whole, uint64_t seed)
{
    struct rng r = {seed};
    struct split_orders o = split_some(&r, g, seed % 4 == 3 ? IG_SPLIT_WIDTH : IG_SPLIT_HEIGHT, rng_int(&r, 1, 2));
    void *expected[8], *got[8];
    char err[1024] = "";
    if (seed % 2) split_more(&r, g, 3, &o);
    int bad = split_run(g, &o, rng_int(&r, 0, 2), whole, split_isa(), 1, got, NULL, err, sizeof err);
    if (bad) {
        print_message("%-16s %s\n", g->name, err);
    } else {
        net_run_tables(whole->prepared, whole->plan, 1, 1, expected);
        outputs_same(g, expected, got, seed);
        print_message("%-16s %d of %d layers split\n", g->name, o.n, g->n_nodes);
    }
    split_orders_free(&o);
    return !bad;
}

static void split_net(const char *name)
{
    struct ig_graph *g = zoo_net_unprepared(name);
    struct split_whole whole = split_whole_make(g, split_isa(), IG_MAX_ERROR, NULL);
    int done = 0;
    for (uint64_t seed = 0; seed < TRIES && done < WANTED; seed++) done += try_split(g, &whole, seed);
    assert_int_equal(done, WANTED);
    split_whole_free(&whole);
    ig_graph_free(g);
}

static void split_bit_identical(void **state)
{
    static const char *const nets[] = {"squeezenet1.1", "mobilenet_v2", "resnet18", NULL};
    static const char *const large[] = {"alexnet", "vgg16", "densenet121", "inception_v3", "fcn", "yolov3", NULL};
    (void)state;
    for (int32_t i = 0; nets[i]; i++) split_net(nets[i]);
    for (int32_t i = 0; large[i] && getenv("INGOT_LONG"); i++) split_net(large[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(split_bit_identical)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
