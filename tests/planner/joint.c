/* Plans of several networks under one budget against all combinations there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/joint.h"
#include "tests/support/rng.h"

enum { NETS = 4, POINTS = 5, PROBLEMS = 2000 };

struct problem {
    int32_t n;
    struct ig_tradeoff fronts[NETS];
    struct ig_tradeoff_point points[NETS][POINTS];
};

/* Fronts as they are: bytes rise, times fall; arena and weights do as they like. */
static void random_problem(struct rng *r, struct problem *p)
{
    p->n = rng_int(r, 1, NETS);
    for (int32_t i = 0; i < p->n; i++) {
        int64_t bytes = 0, ns = 1000;
        p->fronts[i] = (struct ig_tradeoff){rng_int(r, 1, POINTS), p->points[i]};
        for (int32_t k = 0; k < p->fronts[i].n; k++) {
            bytes += rng_int(r, 1, 900);
            ns -= rng_int(r, 1, 150);
            p->points[i][k] = (struct ig_tradeoff_point){.bytes = bytes, .arena_bytes = rng_int(r, 0, (int32_t)bytes),
                                                         .ns = ns};
        }
    }
}

/* Of all combinations: the least bytes, and within the budget the least time. */
static void all(const struct problem *p, int way, int64_t budget, int64_t *least, int64_t *ns)
{
    int32_t point[NETS] = {0}, i;
    *least = *ns = INT64_MAX;
    do {
        struct ig_joint sum = ig_joint_sum(p->fronts, point, p->n, way);
        int64_t bytes = sum.arena_bytes + sum.weights_bytes;
        if (bytes < *least) *least = bytes;
        if (bytes <= budget && sum.ns < *ns) *ns = sum.ns;
        for (i = 0; i < p->n && ++point[i] == p->fronts[i].n; i++) point[i] = 0;
    } while (i < p->n);
}

static void joint_is_exact(void **state)
{
    const char *given = getenv("INGOT_SEED");
    struct rng r = {given ? strtoull(given, NULL, 10) : 5};
    int infeasible = 0, slower = 0;
    (void)state;
    print_message("INGOT_SEED=%llu\n", (unsigned long long)r.state);
    for (int i = 0; i < PROBLEMS; i++) {
        struct problem p;
        int way = i % 2;
        int32_t point[NETS];
        int64_t least, ns, budget = rng_int(&r, 1, 6000);
        random_problem(&r, &p);
        all(&p, way, budget, &least, &ns);
        assert_int_equal(ig_joint_choose(p.fronts, p.n, way, IG_OBJECTIVE_MEMORY, 0, point), 0);
        struct ig_joint sum = ig_joint_sum(p.fronts, point, p.n, way), small = sum;
        assert_int_equal(sum.arena_bytes + sum.weights_bytes, least);
        int status = ig_joint_choose(p.fronts, p.n, way, IG_OBJECTIVE_LATENCY, budget, point);
        sum = ig_joint_sum(p.fronts, point, p.n, way);
        assert_int_equal(status, least > budget ? -1 : 0);
        if (status) assert_int_equal(sum.arena_bytes + sum.weights_bytes, least); /* the nearest there is */
        else assert_int_equal(sum.ns, ns);
        infeasible += status != 0;
        slower += !status && sum.ns < small.ns;
    }
    assert_true(infeasible > PROBLEMS / 20 && slower > PROBLEMS / 20);
}

/* 5,000 and 3,000 bytes of arena: 5,000 in turn, 5,056 + 3,008 at once: multiples of 64. */
static void joint_by_hand(void **state)
{
    struct ig_tradeoff_point a = {.bytes = 15000, .arena_bytes = 5000, .ns = 7};
    struct ig_tradeoff_point b = {.bytes = 4000, .arena_bytes = 3000, .ns = 2};
    const struct ig_tradeoff fronts[2] = {{1, &a}, {1, &b}};
    const int32_t point[2] = {0, 0};
    (void)state;
    struct ig_joint turn = ig_joint_sum(fronts, point, 2, IG_JOINT_IN_TURN);
    struct ig_joint once = ig_joint_sum(fronts, point, 2, IG_JOINT_AT_ONCE);
    assert_int_equal(turn.arena_bytes, 5000);
    assert_int_equal(turn.weights_bytes, 11000);
    assert_int_equal(turn.ns, 9);
    assert_int_equal(once.arena_bytes, 5056 + 3008);
    assert_int_equal(once.weights_bytes, 11000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joint_is_exact), cmocka_unit_test(joint_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
