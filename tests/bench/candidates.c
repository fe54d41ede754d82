/* What a profile times next: kernels, rivals again, other cuts, rivals again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/candidates.h"

enum { FAST, RIVAL, SLOW, KERNELS };

static struct ig_kernel kernels[KERNELS];

/* Three kernels of two cuts each, by rank, then estimate. */
static void make(struct ig_layer_candidates *l)
{
    l->n = 0, l->n_kernels = KERNELS;
    for (int32_t rank = 0; rank < 2; rank++)
        for (int32_t i = 0; i < KERNELS; i++)
            l->at[l->n++] = (struct ig_candidate){.kernel = &kernels[i], .rank = rank, .estimate = 10 + i, .layer = l};
}

/* A round that took so long; says which candidate it was. */
static int32_t look(struct ig_layer_candidates *l, double ns)
{
    struct ig_candidate *c = ig_candidates_next(l);
    assert_non_null(c);
    if (c->in_order <= 0 || ns < c->in_order) c->in_order = ns;
    c->looks++;
    return (int32_t)(c - l->at);
}

static void rivals_come_again(void **state)
{
    static struct ig_layer_candidates l;
    (void)state;
    make(&l);
    assert_int_equal(look(&l, 100), FAST);
    assert_int_equal(look(&l, 140), RIVAL);
    assert_int_equal(look(&l, 260), SLOW);
    assert_int_equal(look(&l, 100), FAST);
    assert_int_equal(look(&l, 90), RIVAL); /* other programs had taken time from it */
    assert_int_equal(look(&l, 91), RIVAL);
    assert_int_equal(look(&l, 101), FAST);
    assert_int_equal(look(&l, 95), KERNELS + RIVAL);
    assert_int_equal(look(&l, 120), KERNELS + FAST);
    assert_int_equal(look(&l, 96), KERNELS + RIVAL);
    assert_int_equal(look(&l, 121), KERNELS + FAST);
}

/* Where the others are far off there is nothing to find out. */
static void one_is_enough(void **state)
{
    static struct ig_layer_candidates l;
    (void)state;
    make(&l);
    assert_int_equal(look(&l, 100), FAST);
    assert_int_equal(look(&l, 300), RIVAL);
    assert_int_equal(look(&l, 400), SLOW);
    assert_int_equal(look(&l, 110), KERNELS + FAST);
    l.n = 0;
    assert_null(ig_candidates_next(&l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rivals_come_again), cmocka_unit_test(one_is_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
