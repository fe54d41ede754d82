/* Memory of the benchmark networks: published and recomputed figures, our arenas against other people's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "planner/app.h"
#include "planner/baseline.h"
#include "planner/plan.h"
#include "tests/support/zoo_net.h"

static int64_t reuse_total(const struct ig_app *a)
{
    struct ig_app_buffers b;
    ig_app_reuse(a, &b);
    int64_t total = b.total;
    ig_app_buffers_free(&b);
    return total;
}

/* Algorithm 1 per edge: MobileNetV2 is printed as 20.32 MB with parameters, EfficientNet-B0 as 39.14. */
static void mem_alg1_edges(void **state)
{
    struct ig_graph *g = zoo_net_as_published("mobilenet_v2");
    struct ig_app *a = ig_app_of_graph(g);
    (void)state;
    assert_int_equal(reuse_total(a), 1756160);
    ig_app_free(a);
    ig_graph_free(g);
    g = zoo_net_as_published("efficientnet_b0");
    a = ig_app_of_graph(g);
    assert_int_equal(reuse_total(a), 4515840);
    assert_int_equal(ig_app_bytes(a, 4515840, 4, 4), 39133520); /* 39.134 MB */
    ig_app_free(a);
    ig_graph_free(g);
}

/* All layers by parts: 541,568 elements and 3,504,872 parameters (batch norms unfolded) are the printed 16.2 MB. */
static void mem_eq5_mobilenet(void **state)
{
    struct ig_graph *g = zoo_net_as_published("mobilenet_v2");
    struct ig_app *a = ig_app_of_graph(g);
    (void)state;
    for (int32_t i = 0; i < a->n_layers; i++) a->layers[i].parts = 1;
    assert_int_equal(ig_app_naive(a), 541568);
    assert_int_equal((541568 + 3504872) * 4 / 10000, 1618);
    ig_app_free(a);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mem_alg1_edges),
        cmocka_unit_test(mem_eq5_mobilenet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
