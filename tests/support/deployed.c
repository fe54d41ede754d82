#include "tests/support/deployed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bed.h"
#include "planner/deploy/part_plan.h"

static void deal_cuts(struct rng *r, int32_t n, int32_t n_keys, int32_t *key_of)
{
    for (int32_t i = 0, key = 0, left = n; i < n; i++, left--) {
        key_of[i] = key;
        if (key + 1 < n_keys && (left <= n_keys - key || rng_int(r, 0, n / n_keys) == 0)) key++;
    }
}

void deal_keys(const struct ig_graph *g, struct rng *r, int32_t n_keys, enum deal how, int32_t *key_of)
{
    int32_t n = g->n_nodes, key = 0;
    if (how == DEAL_CUTS) {
        deal_cuts(r, n, n_keys, key_of);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        if (how == DEAL_NODES || rng_int(r, 0, 5) == 0) key = rng_int(r, 0, n_keys - 1);
        key_of[i] = key;
    }
    for (int32_t k = 0; k < n_keys && n >= n_keys; k++) key_of[n * k / n_keys] = k;
}

static void run_part(const struct ig_graph *g, const struct ig_plan *like, const struct ig_part *part,
                     const struct ig_plan_options *o, char **data)
{
    char err[1024] = "", why[1024];
    struct ig_graph *of = ig_part_graph(g, part, "part");
    struct ig_bed bed;
    const void **in = test_calloc((size_t)part->n_in, sizeof *in);
    void **out = test_calloc((size_t)part->n_out, sizeof *out);
    ig_part_prepare(of);
    if (ig_graph_check(of, err, sizeof err)) fail_msg("%s", err);
    struct ig_plan *p = ig_part_plan(g, like, of, o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    if (ig_validate(of, p, 0, why, sizeof why)) fail_msg("%s", why);
    struct ig_lowered *l = ig_lower(of, p);
    assert_int_equal(l->model.n_inputs, part->n_in);
    assert_int_equal(l->model.n_outputs, part->n_out);
    if (ig_bed_make(&bed, l, o->threads, err, sizeof err)) fail_msg("%s", err);
    for (int32_t i = 0; i < part->n_in; i++) {
        assert_string_equal(l->model.inputs[i].name, g->values[part->in[i]].name);
        in[i] = data[part->in[i]];
    }
    for (int32_t i = 0; i < part->n_out; i++) {
        assert_string_equal(l->model.outputs[i].name, g->values[part->out[i]].name);
        out[i] = data[part->out[i]];
    }
    assert_int_equal(ig_ctx_run(&bed.ctx, in, out), IG_OK);
    test_free(in);
    test_free(out);
    ig_bed_free(&bed);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(of);
}

static void fill_input(const struct ig_shape *s, uint64_t seed, float *x)
{
    struct rng r = {seed};
    for (int64_t k = 0; k < ig_count(s); k++) x[k] = (float)rng_real(&r, -1, 1);
}

void parts_run(const struct ig_graph *g, const struct ig_plan *like, const struct ig_parts *p,
               const struct ig_plan_options *o, uint64_t seed, void **out)
{
    char **data = test_calloc((size_t)g->n_values, sizeof *data);
    for (int32_t i = 0; i < p->n_passing; i++) {
        const struct ig_shape *s = &g->values[p->passing[i].value].shape;
        data[p->passing[i].value] = test_malloc((size_t)ig_bytes(s));
        memset(data[p->passing[i].value], 0xf5, (size_t)ig_bytes(s));
    }
    for (int32_t i = 0; i < g->n_inputs; i++)
        fill_input(&g->values[g->inputs[i]].shape, seed, (float *)(void *)data[g->inputs[i]]);
    for (int32_t i = 0; i < p->n; i++) run_part(g, like, &p->at[i], o, data);
    for (int32_t i = 0; i < g->n_outputs; i++) {
        size_t bytes = (size_t)ig_bytes(&g->values[g->outputs[i]].shape);
        out[i] = memcpy(test_malloc(bytes), data[g->outputs[i]], bytes);
    }
    for (int32_t v = 0; v < g->n_values; v++)
        if (data[v]) test_free(data[v]);
    test_free(data);
}
