/*
 * The validator on the plans of the benchmark networks, by rows and in place, in as little memory as there is: of 1,000
 * mutations of each none passes, and each is called by its name or by one that comes before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/zoo/zoo.h"
#include "planner/plan.h"
#include "tests/support/mutate.h"
#include "tests/support/nets_zoo.h"

enum { MUTATIONS = 1000 };

static struct subject begin(int32_t net, uint64_t seed)
{
    struct subject s = {.g = zoo_net(ig_zoo_net(net)->name), .r = {seed}};
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_AVX2, .threads = 1 + net % 2, .max_error = IG_MAX_ERROR,
                                .lean = net % 3,
                                .bands = net / 2 % 2 ? IG_BANDS_ALL : IG_BANDS_CHAINS};
    char why[1024];
    s.p = ig_plan_make(s.g, &o, why, sizeof why);
    if (!s.p) fail_msg("%s: %s", s.g->name, why);
    int verdict = ig_validate(s.g, s.p, 0, why, sizeof why);
    if (verdict) fail_msg("%s: sound plan: %s: %s", s.g->name, ig_verdict_name(verdict), why);
    return s;
}

static void mutations_of_the_zoo_are_found(void **state)
{
    int applied[N_MUTATIONS] = {0}, all = 0;
    (void)state;
    for (int32_t net = 0; ig_zoo_net(net); net++) {
        struct subject s = begin(net, (uint64_t)net);
        for (int done = 0, i = 0; done < MUTATIONS; i++) {
            int hit = mutation_apply(&s, i % N_MUTATIONS, (uint64_t)net) != 0;
            applied[i % N_MUTATIONS] += hit;
            done += hit;
            all += hit;
        }
        ig_plan_free(s.p);
        ig_graph_free(s.g);
    }
    int never = 0;
    for (int i = 0; i < N_MUTATIONS; i++) {
        never += !applied[i];
        if (!applied[i]) print_message("%s was never possible\n", mutation_name(i));
    }
    assert_true(never <= 1); /* no element-wise layer of theirs has an operand that is still needed */
    print_message("%d mutations\n", all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mutations_of_the_zoo_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
