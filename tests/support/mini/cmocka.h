/*
 * As much of cmocka's interface as the kernel tests use, for targets that cmocka is not built for. Put on the
 * include path instead of the real one in cross builds only; include from one file per program.
 */
#ifndef TESTS_SUPPORT_MINI_CMOCKA_H
#define TESTS_SUPPORT_MINI_CMOCKA_H

#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func, teardown_func;
    void *initial_state;
};

static jmp_buf cmocka_mini_failed;

#define cmocka_unit_test(f) {#f, f, NULL, NULL, NULL}
#define cmocka_run_group_tests(tests, setup, teardown) \
    _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

#define fail_msg(...) \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), \
     longjmp(cmocka_mini_failed, 1))
#define assert_true(x) ((x) ? (void)0 : fail_msg("%s is false", #x))
#define assert_false(x) assert_true(!(x))
#define assert_null(p) assert_true((p) == NULL)
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_string_equal(a, b) assert_true(!strcmp(a, b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define assert_float_equal(a, b, e) assert_true(fabs((double)(a) - (double)(b)) <= (double)(e))
#define assert_int_equal(a, b)                                                                               \
    ((intmax_t)(a) == (intmax_t)(b) ? (void)0                                                                \
                                    : fail_msg("%s is %jd, not %jd", #a, (intmax_t)(a), (intmax_t)(b)))

/* Runs one test; 1 if it failed. */
static inline int cmocka_mini_run(const struct CMUnitTest *t)
{
    void *state = t->initial_state;
    if (setjmp(cmocka_mini_failed)) return 1;
    if (t->setup_func && t->setup_func(&state)) return 1;
    t->test_func(&state);
    return t->teardown_func && t->teardown_func(&state);
}

static inline int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                                          CMFixtureFunction setup, CMFixtureFunction teardown)
{
    void *state = NULL;
    int failed = 0;
    if (setup && setup(&state)) return 1;
    for (size_t i = 0; i < n; i++) {
        int bad = cmocka_mini_run(&tests[i]);
        printf("%sok %zu - %s\n", bad ? "not " : "", i + 1, tests[i].name);
        failed += bad;
    }
    if (teardown) teardown(&state);
    printf("1..%zu\n# %s: %d failed\n", n, group, failed);
    return failed;
}

#endif
