/* Contexts: every status, and what a caller may do wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/team.h"
#include "tests/support/mill.h"

enum { BYTES = (MILL_STEPS + 8) * MILL_WIDTH * MILL_IMAGES * 4 };

static struct mill mill;
static _Alignas(64) char arena[BYTES], weights[64];
static uint32_t in[MILL_WIDTH * MILL_IMAGES], out[MILL_WIDTH * MILL_IMAGES];
static const void *const ins[] = {in};
static void *const outs[] = {out};

static int make(void **state)
{
    (void)state;
    mill_make(&mill);
    return ig_arena_total(&mill.model, 2) > BYTES;
}

static void init(void **state)
{
    struct ig_ctx c;
    size_t need = (size_t)ig_arena_total(&mill.model, 1);
    (void)state;
    assert_int_equal(need, mill.model.arena_bytes);
    assert_int_equal(ig_ctx_init(NULL, &mill.model, weights, arena, BYTES), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_init(&c, &mill.model, weights, NULL, BYTES), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_init(&c, &mill.model, NULL, arena, BYTES), IG_ERROR_WEIGHTS);
    assert_int_equal(ig_ctx_init(&c, &mill.model, weights, arena + 4, BYTES - 4), IG_ERROR_ARENA_ALIGN);
    assert_int_equal(ig_ctx_init(&c, &mill.model, weights, arena + 32, BYTES - 32), IG_ERROR_ARENA_ALIGN);
    assert_int_equal(ig_ctx_init(&c, &mill.model, weights, arena, need - 1), IG_ERROR_ARENA_SMALL);
    assert_int_equal(ig_ctx_run(&c, ins, outs), IG_ERROR_STATE); /* after a failed init */
    assert_int_equal(ig_ctx_init(&c, &mill.model, weights, arena, need), IG_OK);
    assert_int_equal(ig_ctx_run(&c, ins, outs), IG_OK);
}

static void run(void **state)
{
    struct ig_ctx zeroed, c;
    (void)state;
    memset(&zeroed, 0, sizeof zeroed);
    assert_int_equal(ig_ctx_run(NULL, ins, outs), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_run(&zeroed, ins, outs), IG_ERROR_STATE);
    assert_int_equal(ig_ctx_init(&c, &mill.model, weights, arena, BYTES), IG_OK);
    assert_int_equal(ig_ctx_run(&c, NULL, outs), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_run(&c, ins, NULL), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_run(&c, (const void *[]){NULL}, outs), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_run(&c, ins, (void *[]){NULL}), IG_ERROR_NULL);
}

static void threads(void **state)
{
    static struct ig_team team;
    struct ig_ctx c, zeroed;
    (void)state;
    memset(&zeroed, 0, sizeof zeroed);
    ig_ctx_stop_threads(NULL);
    ig_ctx_stop_threads(&zeroed);
    assert_int_equal(ig_ctx_start_threads(NULL, &team, 2), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_start_threads(&zeroed, &team, 2), IG_ERROR_STATE);
    assert_int_equal(ig_ctx_init(&c, &mill.model, weights, arena, (size_t)ig_arena_total(&mill.model, 2)),
                     IG_OK);
    assert_int_equal(ig_ctx_start_threads(&c, NULL, 2), IG_ERROR_NULL);
    assert_int_equal(ig_ctx_start_threads(&c, &team, 0), IG_ERROR_THREADS);
    assert_int_equal(ig_ctx_start_threads(&c, &team, IG_MAX_THREADS + 1), IG_ERROR_THREADS);
    assert_int_equal(ig_ctx_start_threads(&c, &team, 3), IG_ERROR_ARENA_SMALL);
    assert_int_equal(ig_ctx_start_threads(&c, &team, 2), IG_OK);
    assert_int_equal(ig_ctx_start_threads(&c, &team, 3), IG_ERROR_ARENA_SMALL);
    assert_int_equal(ig_ctx_run(&c, ins, outs), IG_OK); /* the team of two is still there */
    ig_ctx_stop_threads(&c);
}

/* The frame of a model without steps, inputs and outputs does nothing, alone or in a team. */
static void nothing_to_do(void **state)
{
    static struct ig_team team;
    const struct ig_model empty = {.name = "empty"};
    struct ig_ctx c;
    (void)state;
    assert_int_equal(ig_ctx_init(&c, &empty, weights, NULL, 0), IG_OK);
    assert_int_equal(ig_ctx_run(&c, ins, outs), IG_OK);
    assert_int_equal(ig_ctx_start_threads(&c, &team, 2), IG_OK);
    for (int i = 0; i < 100; i++) assert_int_equal(ig_ctx_run(&c, ins, outs), IG_OK);
    ig_ctx_stop_threads(&c);
}

static void texts(void **state)
{
    const char *unknown = ig_status_text(-1);
    (void)state;
    assert_string_equal(ig_status_text(IG_OK), "ok");
    for (int i = IG_OK; i <= IG_ERROR_PROCESSOR; i++) {
        assert_string_not_equal(ig_status_text(i), unknown);
        for (int k = IG_OK; k < i; k++) assert_string_not_equal(ig_status_text(i), ig_status_text(k));
    }
    assert_string_equal(ig_status_text(IG_ERROR_PROCESSOR + 1), unknown);
}

/* The hash of the weights sees every byte and the length. */
static void blob_hash(void **state)
{
    char blob[256] = {0};
    uint64_t whole = ig_blob_hash(blob, sizeof blob);
    (void)state;
    assert_true(ig_blob_hash(blob, sizeof blob - 8) != whole);
    for (size_t i = 0; i < sizeof blob; i++)
        for (int bit = 0; bit < 8; bit++) {
            blob[i] ^= (char)(1 << bit);
            assert_true(ig_blob_hash(blob, sizeof blob) != whole);
            blob[i] ^= (char)(1 << bit);
        }
    assert_true(ig_blob_hash(blob, sizeof blob) == whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init),          cmocka_unit_test(run),   cmocka_unit_test(threads),
        cmocka_unit_test(nothing_to_do), cmocka_unit_test(texts), cmocka_unit_test(blob_hash),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
