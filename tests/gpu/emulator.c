/* The emulator finds what it is there to find: planted faults; in real kernels, too (emulator_kernels.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_gpu/emu/run.h"
#include "tests/gpu/faults.h"

emu_kernel_fn fault_none__emu, fault_no_barrier__emu, fault_half_a_barrier__emu, fault_early_end__emu, fault_one_buffer__emu,
    fault_past_shared__emu, fault_read__emu, fault_write__emu, fault_write_input__emu, fault_misaligned__emu,
    fault_shuffle__emu, fault_products__emu, fault_unset__emu, fault_copies__emu, fault_copies_unmet__emu, fault_copy_early__emu,
    fault_many_barriers__emu, fault_two_shuffles__emu, fault_two_barriers__emu, fault_in_place__emu, fault_written_twice__emu, fault_atomics__emu;

enum { N = 128 };

struct bed {
    float *in, *out; /* device memory: of N, and N for each of two blocks */
};

static struct bed bed_make(void)
{
    struct bed b = {emu_alloc(N * sizeof(float)), emu_alloc(2 * N * sizeof(float))};
    assert_non_null(b.in);
    assert_non_null(b.out);
    for (int i = 0; i < N; i++) b.in[i] = (float)i;
    emu_allow(b.in, N * sizeof(float), EMU_READ);
    emu_allow(b.out, 2 * N * sizeof(float), EMU_WRITE);
    return b;
}

static void bed_free(struct bed *b)
{
    emu_free(b->in);
    emu_free(b->out);
}

static int run(struct bed *b, const char *name, emu_kernel_fn *kernel, int at)
{
    struct fault_params p = {b->in, b->out, at};
    struct emu_dim grid = {2, 1, 1};
    return emu_launch(name, kernel, grid, N, &p);
}

static void right_kernels_run(void **state)
{
    struct bed b = bed_make();
    (void)state;
    assert_int_equal(run(&b, "none", fault_none__emu, 0), 0);
    assert_true(b.out[0] == 127 * 64);
    assert_int_equal(run(&b, "read", fault_read__emu, 0), 0);
    assert_true(b.out[127] == 127);
    assert_int_equal(run(&b, "misaligned", fault_misaligned__emu, 4), 0);
    assert_true(b.out[127] == 4);
    bed_free(&b);
}

/* One fault, and what the line about it must say. */
static void expect(const char *name, emu_kernel_fn *kernel, int at, const char *words)
{
    struct bed b = bed_make();
    assert_int_equal(run(&b, name, kernel, at), -1);
    if (!strstr(emu_fault(), words) || strncmp(emu_fault(), name, strlen(name)))
        fail_msg("'%s' does not say '%s' of %s", emu_fault(), words, name);
    bed_free(&b);
}

static void planted_races(void **state)
{
    (void)state;
    expect("no_barrier", fault_no_barrier__emu, 0, "race on shared part");
    expect("one_buffer", fault_one_buffer__emu, 0, "race on shared part");
}

/* The count of barriers begins anew after 2^20: what was long ago is no race, and a race still is one. */
static void many_barriers(void **state)
{
    struct bed b = bed_make();
    struct fault_params p = {b.in, b.out, 0};
    const struct emu_dim one = {1, 1, 1};
    (void)state;
    assert_int_equal(emu_launch("many", fault_many_barriers__emu, one, 32, &p), 0);
    assert_true(b.out[31] == 2 * ((1 << 19) - 1));
    p.at = 1;
    assert_int_equal(emu_launch("many", fault_many_barriers__emu, one, 32, &p), -1);
    assert_non_null(strstr(emu_fault(), "race on shared part"));
    bed_free(&b);
}

/* A copy is there once it has been waited for, and not before; what others read is not copied over. */
static void planted_copies(void **state)
{
    struct bed b = bed_make();
    (void)state;
    assert_int_equal(run(&b, "copies", fault_copies__emu, 0), 0);
    for (int i = 0; i < N; i++) assert_true(b.out[i] == (i < 4 ? 0 : b.in[127 - i]));
    assert_int_equal(run(&b, "one of two groups", fault_copies__emu, 1), 0);
    assert_true(isnan(b.out[0]) && isnan(b.out[63]) && b.out[64] == b.in[63]);
    bed_free(&b);
    expect("copies_unmet", fault_copies_unmet__emu, 0, "race on shared part");
    expect("copy_early", fault_copy_early__emu, 0, "race on shared part, byte 0: writes what was read by");
}

static void planted_barriers(void **state)
{
    (void)state;
    expect("early_end", fault_early_end__emu, 0, "of 128 threads 127 wait at a barrier, 0 at a shuffle or product of a warp and 1 have ended");
    expect("half_a_barrier", fault_half_a_barrier__emu, 0, "of 128 threads 64 wait at a barrier");
    expect("shuffle", fault_shuffle__emu, 0, "at a shuffle");
    expect("products", fault_products__emu, 0, "lanes of a warp are at different products");
    expect("two_shuffles", fault_two_shuffles__emu, 0, "lanes of a warp are at different shuffles");
    expect("two_barriers", fault_two_barriers__emu, 0, "lanes of a warp are at different barriers");
}

/* In place a thread may have its own word; that of another, of its block or of another block, before it or behind, is a race. */
static void races_of_a_grid(void **state)
{
    static const struct {
        int at;
        const char *words;
    } cases[] = {{1, "writes what was read by block (0,0,0), thread 0"}, {-1, "reads what was written by block (0,0,0), thread 0"},
                 {64, "reads what was written by block (0,0,0), thread 0"}, {65, "reads what was written by block (0,0,0), thread 0"}};
    struct bed b = bed_make();
    (void)state;
    emu_allow(b.out, N * sizeof(float), EMU_READ | EMU_WRITE);
    for (int i = 0; i < N; i++) b.out[i] = (float)i;
    for (int times = 0; times < 2; times++) assert_int_equal(run(&b, "own", fault_in_place__emu, 0), 0);
    for (int i = 0; i < N; i++) assert_true(b.out[i] == (float)(i + 2));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(&b, "other", fault_in_place__emu, cases[i].at), -1);
        if (!strstr(emu_fault(), "race on device memory") || !strstr(emu_fault(), cases[i].words)) fail_msg("'%s', %s", emu_fault(), cases[i].words);
    }
    memset(b.out, 0, 4 * sizeof *b.out);
    assert_int_equal(run(&b, "atomics", fault_atomics__emu, 5), 0);
    assert_int_equal(((int *)b.out)[2], 126 + 5);
    bed_free(&b);
    expect("atomics of an output", fault_atomics__emu, 0, "may not be read and written");
    expect("written_twice", fault_written_twice__emu, 0, "writes what was written by block (0,0,0), thread 0");
}

static void planted_accesses(void **state)
{
    (void)state;
    expect("past_shared", fault_past_shared__emu, 0, "writes shared part at byte 512 of 512");
    expect("read past the end", fault_read__emu, 1, "reads 4 bytes of device memory");
    expect("read before", fault_read__emu, -1, "which belong to nothing");
    expect("write past the end", fault_write__emu, 1, "writes 4 bytes of device memory");
    expect("write_input", fault_write_input__emu, 0, "read only");
    expect("misaligned", fault_misaligned__emu, 1, "16 bytes at");
    expect("wild", fault_read__emu, -(1 << 30), "reads 4 bytes");
}

/* What a GPU refuses: threads that a kernel was not compiled for, grids beyond its reach. */
static void planted_launches(void **state)
{
    struct bed b = bed_make();
    struct fault_params p = {b.in, b.out, 0};
    const struct emu_dim one = {1, 1, 1}, tall = {1, 65536, 1}, deep = {1, 1, 65536};
    (void)state;
    assert_int_equal(emu_launch("few", fault_none__emu, one, N / 2, &p), -1);
    assert_non_null(strstr(emu_fault(), "64 threads, compiled for 128"));
    assert_int_equal(emu_launch("tall", fault_none__emu, tall, N, &p), -1);
    assert_string_equal(emu_fault(), "tall: a grid of 1 x 65536 x 1 blocks of 128 threads");
    assert_int_equal(emu_launch("deep", fault_none__emu, deep, N, &p), -1);
    bed_free(&b);
}

/* Shared memory that nobody wrote is not a number. */
static void unset_is_nan(void **state)
{
    struct bed b = bed_make();
    (void)state;
    assert_int_equal(run(&b, "unset", fault_unset__emu, 0), 0);
    assert_true(isnan(b.out[0]) && b.out[1] == 1 && isnan(b.out[N]) && b.out[N + 1] == 1);
    bed_free(&b);
}

/* Blocks do not overlap, and what was freed is had again. */
static void memory_is_given_back(void **state)
{
    char *a = emu_alloc(1000), *b = emu_alloc(1000), *c;
    (void)state;
    assert_true(b >= a + 1000 || a >= b + 1000);
    assert_true(emu_is_device(a, 1000) && emu_is_device(b + 999, 1) && !emu_is_device(&a, 1));
    emu_free(a);
    assert_false(emu_is_device(a, 1));
    c = emu_alloc(900);
    assert_ptr_equal(a, c);
    assert_null(emu_alloc((size_t)1 << 40));
    emu_free(b);
    emu_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_run), cmocka_unit_test(planted_races), cmocka_unit_test(many_barriers),
        cmocka_unit_test(planted_copies), cmocka_unit_test(planted_barriers), cmocka_unit_test(planted_accesses), cmocka_unit_test(races_of_a_grid),
        cmocka_unit_test(planted_launches), cmocka_unit_test(unset_is_nan), cmocka_unit_test(memory_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
