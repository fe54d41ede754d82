/* Alternatives of a plan: which cuts are chosen, that they are the same network, and how they share an arena. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "planner/alternatives.h"
#include "planner/stages.h"
#include "tests/support/nets.h"

enum { WANTED = 6 };

static const struct ig_plan_options options = {.target = "host", .isa = IG_ISA_AVX2, .threads = 1, .max_error = 1};

static struct ig_graph *net_of(struct rng *r, uint64_t seed)
{
    struct ig_graph *g = seed % 3 == 0 ? net_branches(r, 4) : seed % 3 == 1 ? net_random(r, 30) : net_chain(r, 12);
    ig_prepare_views(g);
    return g;
}

/* Of n stages, the first cut anywhere. */
static struct ig_plan *staged(const struct ig_graph *g, const struct ig_plan_options *o, int32_t n)
{
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    int32_t *of = test_calloc((size_t)g->n_nodes, sizeof *of);
    char err[512];
    if (n > g->n_nodes) n = g->n_nodes;
    for (int32_t i = 0; i < g->n_nodes; i++) of[i] = i * n / g->n_nodes;
    for (int32_t i = 0; i < n; i++) {
        stages[i] = (struct ig_plan_stage){.cores = 1u << i, .threads = 1};
        snprintf(stages[i].processor, sizeof stages[i].processor, "cpu:%d", i);
    }
    struct ig_plan *p = ig_plan_stages(g, o, of, stages, n, err, sizeof err);
    if (!p) fail_msg("%s", err);
    test_free(of);
    return p;
}

static struct ig_plan *with_alternatives(const struct ig_graph *g, const struct ig_plan_options *o, int32_t n)
{
    struct ig_plan *p = staged(g, o, n);
    char err[512];
    if (ig_add_alternatives(g, o, p, WANTED, err, sizeof err)) fail_msg("%s", err);
    if (ig_validate_all(g, p, o->memory_budget, err, sizeof err)) fail_msg("%s", err);
    assert_true(p->n_others < WANTED);
    return p;
}

/* --- how they share an arena --- */

struct extent { /* bytes, and whose: a stage's, or a copy of a slot's */
    int64_t begin, end;
    int32_t owner;
};

static int32_t extents_of(const struct ig_plan *p, const struct ig_united *u, const struct ig_share_of *part,
                          struct extent *e)
{
    int32_t n = 0;
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        int32_t stage = p->steps[b->first < p->n_steps ? b->first : 0].stage;
        int64_t at = b->offset + part->shift[stage];
        if (b->memory == IG_MEMORY_ARENA && b->alias_of < 0) e[n++] = (struct extent){at, at + b->bytes, stage};
    }
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        int64_t at = s->scratch_offset + part->shift[s->stage];
        if (s->scratch_bytes)
            e[n++] = (struct extent){at, at + s->scratch_bytes * ig_scratch_threads(p, s), s->stage};
    }
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &u->slots[part->slot[i]];
        for (int32_t k = 0; k < s->copies; k++) {
            int64_t at = part->offset[i] + k * s->bytes;
            e[n++] = (struct extent){at, at + p->slots[i].bytes, IG_PLAN_STAGES + part->slot[i] * 64 + k};
        }
    }
    return n;
}

/* A slot serves its reader and its writer in every alternative, with copies for the distance. */
static void check_slots(const struct ig_plan *p, const struct ig_united *u, const struct ig_share_of *part)
{
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *own = &p->slots[i], *s = &u->slots[part->slot[i]];
        assert_true(s->from <= own->from && s->to >= own->to && s->copies >= own->copies);
        assert_true(s->copies >= ig_slot_copies(p, s->from, s->to));
        for (int32_t j = 0; j < i; j++) /* in the same copy, but apart */
            assert_true(part->offset[j] + p->slots[j].bytes <= part->offset[i] ||
                        part->offset[i] + own->bytes <= part->offset[j]);
    }
}

static void shares_an_arena(const struct ig_plan *p)
{
    struct ig_united u;
    ig_unite(p, &u);
    size_t most = (size_t)(u.n * (p->n_buffers + p->n_steps + IG_PLAN_SLOTS * 32));
    struct extent *e = test_calloc(most, sizeof *e);
    int32_t n = 0;
    for (int32_t i = 0; i < u.n; i++) {
        n += extents_of(ig_alternative(p, i), &u, &u.parts[i], e + n);
        check_slots(ig_alternative(p, i), &u, &u.parts[i]);
    }
    for (int32_t i = 0; i < n; i++) {
        assert_true(e[i].begin >= 0 && e[i].end <= u.arena_bytes);
        for (int32_t j = 0; j < i; j++)
            assert_true(e[i].owner == e[j].owner || e[i].end <= e[j].begin || e[j].end <= e[i].begin);
    }
    assert_true(u.arena_bytes >= p->arena_bytes || !p->n_others);
    test_free(e);
    ig_united_free(&u);
}

static void valid_and_apart(void **state)
{
    int32_t several = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_of(&r, seed);
        struct ig_plan *p = with_alternatives(g, &options, rng_int(&r, 2, 4));
        several += p->n_others >= 2;
        if (p->n_others) shares_an_arena(p);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(several > 40);
}

/* --- which --- */

static double under_load(const struct ig_plan *p, double first, double second)
{
    double a = ig_stage_ns(p, 0) * first, b = ig_stage_ns(p, 1) * second;
    return a > b ? a : b;
}

static double best_under_load(const struct ig_plan *p, double first, double second)
{
    double best = under_load(p, first, second);
    for (int32_t i = 1; i <= p->n_others; i++) {
        double t = under_load(ig_alternative(p, i), first, second);
        if (t < best) best = t;
    }
    return best;
}

/* A chain of equal layers: where one of two processors is twice as slow the best cut gives it a third. */
static void for_loads(void **state)
{
    struct ig_graph *g = net_new();
    struct ig_plan_options o = options;
    int32_t x = net_input(g, 1, 32, 32, 32);
    (void)state;
    for (int i = 0; i < 24; i++) x = net_conv(g, x, 32, 3, 1, -1);
    ig_add_output(g, x);
    net_done(g);
    ig_prepare_views(g);
    o.bands = IG_BANDS_OFF;
    struct ig_plan *p = with_alternatives(g, &o, 2);
    assert_int_equal(p->n_others, WANTED - 1);
    double whole = p->latency_ns;
    for (double load = 1; load <= 3; load += .5)
        for (int side = 0; side < 2; side++) {
            double t = best_under_load(p, side ? load : 1, side ? 1 : load), ideal = whole * load / (1 + load);
            if (t > 1.15 * ideal) fail_msg("load %g: %g, ideal %g", load, t, ideal);
        }
    ig_plan_free(p);
    ig_graph_free(g);
}

static void within_a_budget(void **state)
{
    struct rng r = {5};
    struct ig_graph *g = net_of(&r, 3);
    struct ig_plan_options o = options;
    (void)state;
    o.bands = IG_BANDS_OFF;
    struct ig_plan *free_plan = with_alternatives(g, &o, 2), *alone = staged(g, &o, 2);
    int64_t alone_bytes = alone->arena_bytes + alone->weights_bytes;
    assert_true(free_plan->n_others > 0);
    o.memory_budget = ig_united_bytes(free_plan) + free_plan->weights_bytes;
    struct ig_plan *p = with_alternatives(g, &o, 2);
    assert_int_equal(p->n_others, free_plan->n_others);
    ig_plan_free(p);
    o.memory_budget = alone_bytes > o.memory_budget - 1 ? alone_bytes : o.memory_budget - 1;
    p = with_alternatives(g, &o, 2);
    assert_true(p->n_others <= free_plan->n_others);
    ig_plan_free(p);
    ig_plan_free(alone);
    ig_plan_free(free_plan);
    ig_graph_free(g);
}

/* --- files, and wrong ones --- */

static size_t text_of(const struct ig_plan *p, const struct ig_graph *g, const char *path, char *text, size_t bytes)
{
    char err[512];
    assert_int_equal(ig_plan_write(p, g, path, err, sizeof err), 0);
    FILE *f = fopen(path, "rb");
    size_t n = fread(text, 1, bytes, f);
    fclose(f);
    return n;
}

static void survive_a_file(void **state)
{
    static char text[2][1 << 20];
    char path[] = "/tmp/ingot-alternatives-XXXXXX", err[512];
    struct rng r = {2};
    struct ig_graph *g = net_of(&r, 2);
    struct ig_plan *p = with_alternatives(g, &options, 3), *again;
    (void)state;
    close(mkstemp(path));
    size_t n = text_of(p, g, path, text[0], sizeof text[0]);
    if (!(again = ig_plan_read(path, g, err, sizeof err))) fail_msg("%s", err);
    assert_int_equal(again->n_others, p->n_others);
    if (ig_validate_all(g, again, 0, err, sizeof err)) fail_msg("%s", err);
    assert_int_equal(text_of(again, g, path, text[1], sizeof text[1]), n);
    assert_memory_equal(text[0], text[1], n);
    remove(path);
    ig_plan_free(p);
    ig_plan_free(again);
    ig_graph_free(g);
}

static void verdicts(void **state)
{
    struct rng r = {2};
    struct ig_graph *g = net_of(&r, 2);
    char why[512];
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct ig_plan *p = with_alternatives(g, &options, 2), *other = p->others[0];
        static const int want[] = {IG_BAD_COUNT, IG_BAD_COUNT, IG_BAD_HEIGHT, IG_OVER_BUDGET};
        assert_true(p->n_others > 0);
        if (how == 0) other->stages[1].cores = 1;
        if (how == 1) strcpy(other->stages[0].processor, "cpu:5");
        if (how == 2) other->arena_bytes += IG_ALIGN;
        int64_t budget = how == 3 ? ig_united_bytes(p) + p->weights_bytes - 1 : 0;
        int verdict = ig_validate_all(g, p, budget, why, sizeof why);
        if (verdict != want[how]) fail_msg("case %d: %s: %s", how, ig_verdict_name(verdict), why);
        ig_plan_free(p);
    }
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(valid_and_apart), cmocka_unit_test(for_loads),
                                       cmocka_unit_test(within_a_budget), cmocka_unit_test(survive_a_file),
                                       cmocka_unit_test(verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
