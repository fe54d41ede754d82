/* Non-negative least squares: the optimality conditions, and constants found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/nnls.h"
#include "tests/support/rng.h"

enum { SYSTEMS = 2000, ROWS = 40, COLUMNS = 16 };

struct fit {
    double a[ROWS * COLUMNS], b[ROWS], c[COLUMNS];
    int32_t rows, n;
};

static void fill(struct fit *f, struct rng *r, int32_t rows, int32_t n)
{
    f->rows = rows;
    f->n = n;
    for (int32_t i = 0; i < rows * n; i++) f->a[i] = rng_real(r, 0, 1) * pow(10, i % n - n / 2);
    for (int32_t i = 0; i < rows; i++) f->b[i] = rng_real(r, 0.2, 1);
}

/* Gradient of |A c - b|^2 / 2 along column j, in columns of length 1. */
static double gradient(const struct fit *f, int32_t j)
{
    double g = 0, length = 0;
    for (int32_t i = 0; i < f->rows; i++) {
        double e = -f->b[i];
        for (int32_t k = 0; k < f->n; k++) e += f->a[i * f->n + k] * f->c[k];
        g += f->a[i * f->n + j] * e;
        length += f->a[i * f->n + j] * f->a[i * f->n + j];
    }
    return length > 0 ? g / sqrt(length) : 0;
}

static void assert_optimal(struct fit *f)
{
    double worst = ig_nnls(f->a, f->b, f->rows, f->n, f->c);
    assert_true(worst < 1e-9);
    for (int32_t j = 0; j < f->n; j++) {
        assert_true(f->c[j] >= 0);
        assert_true(gradient(f, j) > -1e-8 && (f->c[j] == 0 || gradient(f, j) < 1e-8));
    }
}

/* Columns that are zero, and columns that are twice another. */
static void spoil(struct fit *f, struct rng *r)
{
    int32_t from = rng_int(r, 0, f->n - 1), to = rng_int(r, 0, f->n - 1), kind = rng_int(r, 0, 3);
    for (int32_t i = 0; i < f->rows && kind; i++) f->a[i * f->n + to] = kind == 1 ? 0 : 2 * f->a[i * f->n + from];
}

static void planted(struct rng *r)
{
    struct fit f;
    double c[COLUMNS];
    fill(&f, r, ROWS, rng_int(r, 1, COLUMNS));
    for (int32_t j = 0; j < f.n; j++) c[j] = rng_one_in(r, 3) ? 0 : rng_real(r, 0.1, 1) * pow(10, f.n / 2 - j);
    for (int32_t i = 0; i < f.rows; i++) {
        f.b[i] = 0;
        for (int32_t j = 0; j < f.n; j++) f.b[i] += f.a[i * f.n + j] * c[j];
    }
    ig_nnls(f.a, f.b, f.rows, f.n, f.c);
    for (int32_t j = 0; j < f.n; j++) assert_true(fabs(f.c[j] - c[j]) < 1e-6 * pow(10, f.n / 2 - j));
}

static void nnls_kkt(void **state)
{
    const char *given = getenv("INGOT_SEED");
    struct rng r = {given ? strtoull(given, NULL, 10) : 3};
    (void)state;
    printf("# INGOT_SEED=%llu\n", (unsigned long long)r.state);
    for (int i = 0; i < SYSTEMS; i++) {
        struct fit f;
        fill(&f, &r, rng_int(&r, 1, ROWS), rng_int(&r, 1, COLUMNS));
        spoil(&f, &r);
        assert_optimal(&f);
        planted(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nnls_kkt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
