/*
 * The benchmark networks on eight boards: the exact front against NSGA-II with the parameters of its paper, and what work
 * it takes against what it took when tests/golden/planner/explore_work.txt was written.
 */
#include <math.h>
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
#include "tests/support/golden.h"
#include "tests/support/nets_zoo.h"

enum { DEVICES = 8, LINES = 64, WORK = 3, TURNS = 10 };

struct work { /* of one search: programmes, runs of nodes looked at, choices priced */
    char name[32];
    int32_t stages; /* 0: all fronts */
    long long counts[WORK];
};

/* Returns how many there are. */
static int32_t read_work(struct work *all)
{
    char path[1024];
    int32_t n = 0;
    snprintf(path, sizeof path, "%s/tests/golden/planner/explore_work.txt", source_dir());
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    for (struct work *w = all; n < LINES && fscanf(f, "%31s %d", w->name, &w->stages) == 2; w++, n++)
        for (int32_t k = 0; k < WORK; k++) assert_int_equal(fscanf(f, "%lld", &w->counts[k]), 1);
    fclose(f);
    return n;
}

/* No more than twice the work that is on record; with INGOT_UPDATE_GOLDEN=1 that is written anew. */
static void check_work(const struct work *all, int32_t n)
{
    struct work known[LINES];
    int32_t n_known = read_work(known), failed = 0;
    char text[LINES * 96] = "";
    for (int32_t i = 0; i < n; i++) {
        const struct work *w = &all[i], *of = NULL;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %d %lld %lld %lld\n", w->name, w->stages,
                 w->counts[0], w->counts[1], w->counts[2]);
        for (int32_t k = 0; k < n_known; k++)
            if (!strcmp(known[k].name, w->name) && known[k].stages == w->stages) of = &known[k];
        for (int32_t k = 0; k < WORK && !getenv("INGOT_UPDATE_GOLDEN"); k++) {
            if (of && w->counts[k] <= 2 * of->counts[k]) continue;
            printf("# %s, %d stages: count %d is %lld, was %lld\n", w->name, w->stages, k, w->counts[k],
                   of ? of->counts[k] : 0);
            failed = 1;
        }
    }
    if (getenv("INGOT_UPDATE_GOLDEN")) assert_int_equal(golden_check("planner/explore_work.txt", text), 0);
    assert_int_equal(failed, 0);
}

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

struct sums { /* of all networks: seconds, and work */
    double exact, nsga2;
    struct work work[LINES];
    int32_t n;
};

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

static void record_work(struct sums *s, const char *name, int32_t stages, const struct ig_explore_front *f)
{
    assert_in_range(s->n, 0, LINES - 1);
    struct work *w = &s->work[s->n++];
    *w = (struct work){"", stages, {f->solves, f->cells, f->priced}};
    snprintf(w->name, sizeof w->name, "%s", name);
}

struct took { /* seconds, the least of all turns */
    double exact, nsga2;
};

static void take_turn(const struct ig_ranges *r, struct ig_explore_front *exact, struct ig_explore_front *nsga2, struct took *t)
{
    double begin = seconds();
    ig_explore_exact(r, DEVICES, exact);
    double middle = seconds();
    ig_explore_nsga2(r, 1, IG_EXPLORE_GENERATIONS, nsga2);
    t->nsga2 = fmin(t->nsga2, seconds() - middle);
    t->exact = fmin(t->exact, middle - begin);
}

/*
 * With one stage a device, as in the paper's search, or two; the exact one may use any number of cores. It takes less time; where
 * other programs take the caches from it, in one of some turns.
 */
static void compare(struct ig_explore_net *e, const char *name, int32_t stages, struct sums *s)
{
    struct ig_ranges r;
    struct ig_explore_front exact, nsga2;
    e->x.apart = stages == 1;
    ig_ranges_make(&e->x, &r);
    struct took t = {HUGE_VAL, HUGE_VAL};
    take_turn(&r, &exact, &nsga2, &t);
    for (int turn = 1; turn < TURNS && t.exact >= t.nsga2; turn++) {
        ig_explore_front_free(&exact);
        ig_explore_front_free(&nsga2);
        take_turn(&r, &exact, &nsga2, &t);
    }
    printf("%-18s %5d %6d %6d %7lld %8lld %8lld %8.2f %6d %7lld %8.2f %7d %6.1f\n", name, e->x.n, stages, exact.n,
           (long long)exact.solves, (long long)exact.cells, (long long)exact.priced, 1e3 * t.exact, nsga2.n,
           (long long)nsga2.cells, 1e3 * t.nsga2, beaten(&exact, &nsga2), t.nsga2 / t.exact);
    assert_true(t.exact < t.nsga2); /* of each network */
    s->exact += t.exact;
    s->nsga2 += t.nsga2;
    record_work(s, name, stages, &exact);
    ig_explore_front_free(&exact);
    ig_explore_front_free(&nsga2);
    ig_ranges_free(&r);
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

/* All that a user gets: cores and GPU of a board in two stages, fronts for 1 to 8 boards. As good, and the work is on record. */
static void compare_all(struct ig_explore_net *e, const char *name, struct sums *s)
{
    struct ig_ranges r;
    struct ig_explore_front f, nsga2;
    e->x.apart = 0;
    double begin = seconds();
    ig_ranges_make(&e->x, &r);
    ig_explore_all(&r, &f);
    double took = seconds() - begin;
    printf("%-18s all fronts: %d points, %.3f s\n", name, f.n, took);
    assert_true(f.n > 0);
    record_work(s, name, 0, &f);
    ig_explore_nsga2(&r, 1, IG_EXPLORE_GENERATIONS, &nsga2);
    for (int32_t k = 0; k < nsga2.n; k++) assert_int_equal(is_reached(&f, &nsga2.at[k]), 1);
    for (int32_t k = 0; k < f.n; k++) {
        struct ig_explore_point p = f.at[k];
        ig_explore_fill(&r, &p);
        assert_memory_equal(&p, &f.at[k], sizeof p);
        assert_in_range(p.n_devices, 1, DEVICES);
    }
    ig_explore_front_free(&nsga2);
    ig_explore_front_free(&f);
    ig_ranges_free(&r);
}

static void pareto_beats_nsga2(void **state)
{
    struct sums s = {.n = 0};
    (void)state;
    printf("%-18s %5s %6s %6s %7s %8s %8s %8s %6s %7s %8s %7s %6s\n", "network", "nodes", "stages", "points", "solves",
           "cells", "priced", "ms", "nsga2", "evals", "ms", "beaten", "ratio");
    for (int32_t i = 0; ig_zoo_net(i); i++) {
        const char *name = ig_zoo_net(i)->name;
        struct ig_graph *g = zoo_net(name);
        struct ig_explore_net e;
        make(g, &e);
        for (int32_t stages = 1; stages <= 2; stages++) compare(&e, name, stages, &s);
        compare_all(&e, name, &s);
        ig_explore_net_free(&e);
        ig_graph_free(g);
    }
    printf("all: exact %.3f s, nsga2 %.3f s\n", s.exact, s.nsga2);
    assert_true(s.exact < s.nsga2);
    check_work(s.work, s.n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pareto_beats_nsga2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
