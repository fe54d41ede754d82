/* Times of GPU kernels, on the emulated driver: they are made to sum up to a whole frame, whatever is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/gpu/gpu.h"
#include "tests/support/emulated.h"
#include "tests/support/nets.h"

enum { REPEATS = 2, RUNS = 3, FRAMES = 5 };

static void test_whole_frame(void **state)
{
    (void)state;
    const void *modules[] = {"emulated", NULL};
    struct ig_graph *g = net_two_convs(16);
    char err[512] = "";
    struct ig_profile *p = ig_gpu_profile(g, modules, REPEATS, RUNS, err, sizeof err);
    if (!p) fail_msg("%s", err);
    assert_true(p->n > 4);
    assert_true(p->whole_over_sum == 0);
    double before[64];
    assert_in_range(p->n, 1, 64);
    for (int32_t i = 0; i < p->n; i++) {
        before[i] = p->timings[i].alone_ns;
        p->timings[i].alone_ns *= 1e-8;
    }
    if (ig_gpu_profile_whole(g, modules, REPEATS, FRAMES, p, err, sizeof err)) fail_msg("%s", err);
    assert_in_range((uintmax_t)p->whole_over_sum, 10000, 1000000000000); /* 10^8, but for what disturbs either */
    for (int32_t i = 0; i < p->n; i++)
        assert_float_equal(p->timings[i].alone_ns / before[i], p->whole_over_sum * 1e-8, 1e-3 * p->whole_over_sum * 1e-8);
    ig_profile_free(p);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_frame)};
    return cmocka_run_group_tests(tests, emulate, NULL);
}
