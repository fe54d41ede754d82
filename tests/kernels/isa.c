/* Whose kernels a processor has: its own, the reference's, those of the ISAs that it is made on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"

static void has(void **state)
{
    static const char has_of[IG_ISAS][IG_ISAS + 1] = { /* a letter for each ISA's kernels, in the order of enum ig_isa */
        [IG_ISA_REF] = "r.........", [IG_ISA_AVX2] = "r2........", [IG_ISA_AVXVNNI] = "r2x.......", [IG_ISA_AVX512] = "r2.5......",
        [IG_ISA_VNNI] = "r2.5v.....", [IG_ISA_AMX] = "r2.5va....", [IG_ISA_NEON] = "r.....n...", [IG_ISA_FP16] = "r.....nh..",
        [IG_ISA_DOTPROD] = "r.....nhd.", [IG_ISA_CUDA] = "r........c"};
    (void)state;
    for (int isa = 0; isa < IG_ISAS; isa++)
        for (int of = 0; of < IG_ISAS; of++)
            if (ig_isa_has(isa, of) != (has_of[isa][of] != '.'))
                fail_msg("%s has %s's kernels: %d", ig_isa_name(isa), ig_isa_name(of), ig_isa_has(isa, of));
    assert_false(ig_isa_has(-1, IG_ISA_AVX2));
}

/* What runs here has all that it is made on; the fastest runs, and is made on no faster one. */
static void runs(void **state)
{
    const int fastest = ig_isa_fastest();
    (void)state;
    assert_true(ig_isa_runs_here(fastest));
    for (int isa = 0; isa < IG_ISAS; isa++) {
        if (!ig_isa_runs_here(isa)) continue;
        assert_true(isa == fastest || !ig_isa_has(isa, fastest));
        for (int of = 0; of < IG_ISAS; of++) assert_true(!ig_isa_has(isa, of) || ig_isa_runs_here(of));
    }
}

static void names(void **state)
{
    (void)state;
    for (int isa = 0; isa < IG_ISAS; isa++) assert_int_equal(ig_isa_by_name(ig_isa_name(isa)), isa);
    assert_int_equal(ig_isa_by_name("sse"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(has), cmocka_unit_test(runs), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
