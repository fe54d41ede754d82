/* A sabotaged layer is found, whichever it is; a sound network has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/diverge.h"
#include "kernels_cpu/registry.h"
#include "tests/support/tiny.h"

static const float image[32] = {1, -2, 3, 0.5f, 2, 2, -1, 4};
static const void *const inputs[] = {image};
static ig_kernel_fn *sound; /* what the broken kernel stands in for */

/* One element of the output is wrong, and only in its last range. */
static void broken(const struct ig_call *call, struct ig_range range, void *scratch)
{
    sound(call, range, scratch);
    *(unsigned char *)call->out[0].data ^= 0x40;
}

static void every_layer(void **state)
{
    struct ig_graph *g = tiny_net();
    struct ig_plan *p = plain_plan(g);
    struct ig_lowered *l = plain_tables(g, p);
    char text[512], want[128];
    (void)state;
    assert_int_equal(ig_first_divergence(l, inputs, &ig_node_tolerance, text, sizeof text), 0);
    for (int32_t i = 0; i < l->model.n_steps; i++) {
        const struct ig_tolerance none = {0, 0, 0};
        sound = l->steps[i].run;
        l->steps[i].run = broken;
        assert_int_equal(ig_first_divergence(l, inputs, &none, text, sizeof text), 1);
        l->steps[i].run = sound;
        snprintf(want, sizeof want, "layer '%s' (%s), element 0: ", l->layers[i].name, l->layers[i].kernel);
        assert_int_equal(strncmp(text, want, strlen(want)), 0);
    }
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void foreign_kernels(void **state)
{
    struct ig_graph *g = tiny_net();
    struct ig_plan *p = plain_plan(g);
    struct ig_lowered *l = plain_tables(g, p);
    struct ig_kernel foreign = *l->kernels[1];
    char text[512];
    (void)state;
    foreign.isa = ig_isa_runs_here(IG_ISA_NEON) ? IG_ISA_AVX2 : IG_ISA_NEON;
    l->kernels[1] = &foreign;
    assert_int_equal(ig_first_divergence(l, inputs, &ig_node_tolerance, text, sizeof text), -1);
    assert_string_equal(text, "its kernels do not run on this machine");
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
}

static int compare(int32_t got_type, const void *got, int32_t ref_type, const void *ref)
{
    struct ig_shape a = SHAPE(0, 1), b = a;
    double error = 0;
    char err[256];
    a.type = got_type;
    b.type = ref_type;
    return ig_compare(&a, got, &b, ref, &ig_node_tolerance, &error, err, sizeof err);
}

/*
 * Types are part of the result; only f16 and f32 may be held against each other, f16 with its own rounding.
 */
static void types(void **state)
{
    const uint16_t half = 0x3c01; /* 1 + 2^-10 */
    const float one = 1, close = 1.0014f, far = 1.01f;
    const int32_t i32 = 1, other = 2;
    const int64_t i64 = 1;
    (void)state;
    assert_int_equal(compare(IG_F16, &half, IG_F32, &close), 0);
    assert_int_equal(compare(IG_F16, &half, IG_F32, &far), -1);
    assert_int_equal(compare(IG_F32, &one, IG_F16, &half), 0);
    assert_int_equal(compare(IG_F32, &one, IG_I32, &i32), -1);
    assert_int_equal(compare(IG_I32, &i32, IG_I64, &i64), -1);
    assert_int_equal(compare(IG_I32, &i32, IG_I32, &i32), 0);
    assert_int_equal(compare(IG_I32, &i32, IG_I32, &other), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer),
        cmocka_unit_test(foreign_kernels),
        cmocka_unit_test(types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
