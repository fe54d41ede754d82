/* The validator: no fault in a plan goes unnoticed, and each is called by its name or by one that comes
 * before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/mutate.h"
#include "tests/support/nets.h"

enum { NETS = 120, MUTATIONS = 200 };

static struct subject begin(uint64_t seed)
{
    struct subject s = {.r = {seed}};
    char text[512];
    s.g = seed % 8 == 0   ? net_dense(rng_int(&s.r, 1, 8), (int)(seed / 8 % 2))
          : seed % 4 == 1 ? net_chain(&s.r, rng_int(&s.r, 4, 14))
          : seed % 4 == 3 ? net_branches(&s.r, rng_int(&s.r, 1, 4))
                          : net_random(&s.r, rng_int(&s.r, 5, 50));
    ig_prepare_views(s.g);
    struct ig_plan_options o = {
        .target = "host", .isa = seed % 3 ? IG_ISA_AVX2 : IG_ISA_REF, .threads = 1 + (int)seed % 4,
        .bands = seed % 3 == 2 ? IG_BANDS_OFF : IG_BANDS_ALL};
    s.p = ig_plan_make(s.g, &o, text, sizeof text);
    if (!s.p) fail_msg("%s", text);
    int verdict = ig_validate(s.g, s.p, 0, text, sizeof text);
    if (verdict) fail_msg("seed %d: sound plan: %s: %s", (int)seed, ig_verdict_name(verdict), text);
    return s;
}

static void mutations_are_found(void **state)
{
    int applied[N_MUTATIONS] = {0};
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct subject s = begin(seed);
        for (int i = 0; i < MUTATIONS; i++) applied[i % N_MUTATIONS] += mutation_apply(&s, i % N_MUTATIONS, seed) != 0;
        ig_plan_free(s.p);
        ig_graph_free(s.g);
    }
    for (int i = 0; i < N_MUTATIONS; i++)
        if (applied[i] < 5) fail_msg("%s was possible only %d times", mutation_name(i), applied[i]);
}

/* Whatever the validator accepts must still compute the same bits. */
static void survivors_are_harmless(void **state)
{
    int survivors = 0, killed = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed += 3) {
        struct subject s = begin(seed); /* multiples of 3 are planned for the reference kernels */
        void *expected[64], *got[64];
        net_run_plan(s.g, s.p, seed, expected);
        for (int i = 0; i < MUTATIONS; i++) {
            subject_copy(&s);
            int verdict = mutation_damage(&s);
            killed += verdict != IG_PLAN_OK;
            survivors += verdict == IG_PLAN_OK;
            for (int32_t o = 0; o < s.g->n_outputs && verdict == IG_PLAN_OK; o++) {
                if (!o) net_run_plan(s.g, &s.q, seed, got);
                if (memcmp(expected[o], got[o], (size_t)ig_bytes(&s.g->values[s.g->outputs[o]].shape)))
                    fail_msg("seed %d: an accepted plan computes something else", (int)seed);
                test_free(got[o]);
            }
            subject_drop(&s);
        }
        for (int32_t o = 0; o < s.g->n_outputs; o++) test_free(expected[o]);
        ig_plan_free(s.p);
        ig_graph_free(s.g);
    }
    assert_true(killed > 10 * NETS && survivors > NETS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutations_are_found),
        cmocka_unit_test(survivors_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
