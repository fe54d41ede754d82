/* The benchmark networks on eight boards: the exact front against NSGA-II with the parameters of its paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "models/zoo/zoo.h"
#include "planner/deploy/explore_net.h"
#include "tests/support/nets_zoo.h"

enum { DEVICES = 8, SEEDS = 3 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Six cores and a GPU each, on gigabit Ethernet. */
static void make(const struct ig_graph *g, struct ig_explore_net *e)
{
    const struct ig_explore_board board = {.isa = IG_ISA_NEON, .count = DEVICES, .cores = 6, .gpu = 1, .cpu_slower = 1,
                                           .gpu_slower = 1, .idle_w = 3, .core_w = 1.2, .gpu_w = 9};
    char err[1024];
    if (ig_explore_net_make(g, &board, 1, NULL, 0, IG_MAX_ERROR, e, err, sizeof err)) fail_msg("%s", err);
    e->x.link[0][0] = (struct ig_pipe_link){100000, 8000000};
}

/* How many of NSGA-II's points an exact one is better than; all of them must be as good as one at most. */
static int32_t beaten(const struct ig_explore_front *exact, const struct ig_explore_front *nsga2)
{
    int32_t n = 0;
    for (int32_t i = 0; i < nsga2->n; i++) {
        int covered = 0, better = 0;
        for (int32_t k = 0; k < exact->n; k++) {
            int covers = ig_explore_covers(&exact->at[k], &nsga2->at[i]);
            covered |= covers;
            better |= covers && memcmp(exact->at[k].x, nsga2->at[i].x, sizeof exact->at[k].x);
        }
        assert_int_equal(covered, 1);
        n += better;
    }
    return n;
}

/* One stage a device, as in the paper's search; the exact one may use any number of cores. */
static void pareto_beats_nsga2(void **state)
{
    double all_exact = 0, all_nsga2 = 0;
    (void)state;
    printf("%-18s %5s %6s %7s %9s %6s %7s %7s %6s\n", "network", "nodes", "points", "solves", "cells", "nsga2", "evals",
           "beaten", "ratio");
    for (int32_t i = 0; ig_zoo_net(i); i++) {
        struct ig_graph *g = zoo_net(ig_zoo_net(i)->name);
        struct ig_explore_net e;
        struct ig_ranges r;
        struct ig_explore_front exact, nsga2;
        make(g, &e);
        e.x.apart = 1;
        ig_ranges_make(&e.x, &r);
        double begin = seconds();
        ig_explore_exact(&r, DEVICES, &exact);
        double middle = seconds();
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            double from = seconds();
            ig_explore_nsga2(&r, seed, IG_EXPLORE_GENERATIONS, &nsga2);
            double took = seconds() - from;
            int32_t n = beaten(&exact, &nsga2);
            all_nsga2 += took / SEEDS;
            if (seed == 1)
                printf("%-18s %5d %6d %7lld %9lld %6d %7lld %7d %6.1f\n", ig_zoo_net(i)->name, e.x.n, exact.n,
                       (long long)exact.solves, (long long)exact.cells, nsga2.n, (long long)nsga2.cells, n,
                       took / (middle - begin));
            ig_explore_front_free(&nsga2);
        }
        all_exact += middle - begin;
        ig_explore_front_free(&exact);
        ig_ranges_free(&r);
        ig_explore_net_free(&e);
        ig_graph_free(g);
    }
    printf("all: exact %.3f s, nsga2 %.3f s\n", all_exact, all_nsga2);
    assert_true(all_exact < all_nsga2);
}

static int is_reached(const struct ig_explore_front *f, const struct ig_explore_point *p)
{
    for (int32_t i = 0; i < f->n; i++) {
        const struct ig_explore_point *q = &f->at[i];
        if (q->n_devices <= p->n_devices && q->period_ns <= p->period_ns && q->device_pj <= p->device_pj &&
            q->memory_bytes <= p->memory_bytes)
            return 1;
    }
    return 0;
}

/* Everything a user gets for eight boards, GPU and cores of a board in two stages, in seconds; never worse than NSGA-II. */
static void fronts_in_seconds(void **state)
{
    (void)state;
    for (int32_t i = 0; ig_zoo_net(i); i++) {
        struct ig_graph *g = zoo_net(ig_zoo_net(i)->name);
        struct ig_explore_net e;
        struct ig_ranges r;
        struct ig_explore_front f, nsga2;
        make(g, &e);
        double begin = seconds();
        ig_ranges_make(&e.x, &r);
        ig_explore_all(&r, &f);
        double took = seconds() - begin;
        printf("%-18s %5d nodes %6d points %8.3f s\n", ig_zoo_net(i)->name, e.x.n, f.n, took);
        assert_true(f.n > 0 && took < 60);
        ig_explore_nsga2(&r, 1, IG_EXPLORE_GENERATIONS, &nsga2);
        for (int32_t k = 0; k < nsga2.n; k++) assert_int_equal(is_reached(&f, &nsga2.at[k]), 1);
        ig_explore_front_free(&nsga2);
        for (int32_t k = 0; k < f.n; k++) {
            struct ig_explore_point p = f.at[k];
            ig_explore_fill(&r, &p);
            assert_memory_equal(&p, &f.at[k], sizeof p);
            assert_in_range(p.n_devices, 1, DEVICES);
        }
        ig_explore_front_free(&f);
        ig_ranges_free(&r);
        ig_explore_net_free(&e);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pareto_beats_nsga2), cmocka_unit_test(fronts_in_seconds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
