/* The functions that bare metal has instead of a C library's, beside the C library's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define memcmp bare_memcmp
#define exp bare_exp
#define log bare_log
#define expf bare_expf
#define logf bare_logf
#define pow bare_pow
#define powf bare_powf
#define tanh bare_tanh
#define tanhf bare_tanhf
#define log1p bare_log1p
#define floor bare_floor
#define floorf bare_floorf
#define ceil bare_ceil
#define ceilf bare_ceilf
#define rint bare_rint
#define fabs bare_fabs
#define sqrt bare_sqrt
#define fmin bare_fmin
#define fmax bare_fmax
#define fmod bare_fmod
#define erf bare_erf
#define sin bare_sin
#define cos bare_cos
#define tan bare_tan
#define atan bare_atan
#define asin bare_asin
#define acos bare_acos
#define sinh bare_sinh
#define cosh bare_cosh
#define asinh bare_asinh
#define acosh bare_acosh
#define atanh bare_atanh
#include "runtime/baremetal/libc.c"
#undef exp
#undef log
#undef pow
#undef tanh
#undef fmin
#undef fmax
#undef fmod
#undef erf
#undef sin
#undef cos
#undef tan
#undef atan
#undef asin
#undef acos
#undef sinh
#undef cosh
#undef asinh
#undef acosh
#undef atanh
#undef fabs

static void same(double got, double want)
{
    if (isnan(want)) {
        assert_true(isnan(got));
        return;
    }
    if (got == want) return;
    if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-14)) fail_msg("%.17g, not %.17g", got, want);
}

struct function {
    double (*bare)(double), (*libm)(double);
    double low, high; /* of what it is tried with */
};

static const struct function functions[] = {
    {bare_exp, exp, -750, 709},  {bare_log, log, 0, 1e6},     {bare_tanh, tanh, -9, 9},    {bare_erf, erf, -7, 7},
    {bare_sin, sin, -1e5, 1e5},  {bare_cos, cos, -1e5, 1e5},  {bare_tan, tan, -9, 9},      {bare_atan, atan, -30, 30},
    {bare_asin, asin, -1, 1},    {bare_acos, acos, -1, 1},    {bare_sinh, sinh, -9, 9},    {bare_cosh, cosh, -9, 9},
    {bare_asinh, asinh, -99, 99}, {bare_acosh, acosh, 1, 99}, {bare_atanh, atanh, -1, 1}};

static void of_one(void **state)
{
    static const double special[] = {0, -0.0, 1, -1, 1e-5, 2e-7, 2, 1e-30, INFINITY, -INFINITY, NAN};
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        const struct function *it = &functions[f];
        for (int i = 0; i <= 2000; i++) {
            double x = it->low + (it->high - it->low) * i / 2000;
            same(it->bare(x), it->libm(x));
        }
        for (size_t i = 0; i < sizeof special / sizeof *special; i++) same(it->bare(special[i]), it->libm(special[i]));
    }
}

static void of_two(void **state)
{
    static const double x[] = {0, 5.5, -5.5, 1e30, 3, -1e-3, INFINITY, NAN}, y[] = {1, -2, 0.7, 3e-5, 4, NAN, INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        for (size_t k = 0; k < sizeof y / sizeof *y; k++) {
            same(bare_fmin(x[i], y[k]), fmin(x[i], y[k]));
            same(bare_fmax(x[i], y[k]), fmax(x[i], y[k]));
            same(bare_fmod(x[i], y[k]), fmod(x[i], y[k]));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_one), cmocka_unit_test(of_two)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
