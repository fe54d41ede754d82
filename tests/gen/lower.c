/* Plan to tables: where every operand is, how often kernels are called, what the weight blob holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/diverge.h"
#include "bench/interp.h"
#include "tests/support/nets.h"
#include "tests/support/tiny.h"

struct made { /* a network on its way to tables */
    struct ig_graph *g;
    struct ig_plan *p;
    struct ig_lowered *l;
};

static struct made make(struct ig_graph *g)
{
    struct made m = {g, plain_plan(g), NULL};
    m.l = plain_tables(g, m.p);
    return m;
}

static void unmake(struct made *m)
{
    ig_lowered_free(m->l);
    ig_plan_free(m->p);
    ig_graph_free(m->g);
}

/* The step of the node that makes the named value. */
static const struct ig_step *step_of(const struct made *m, const char *value)
{
    for (int32_t i = 0; i < m->l->model.n_steps; i++)
        if (!strcmp(m->g->values[m->l->nodes[i]->out[0]].name, value)) return &m->l->steps[i];
    fail_msg("no step makes '%s'", value);
    return NULL;
}

static void spaces(void **state)
{
    struct made m = make(tiny_net());
    const struct ig_step *conv = step_of(&m, "conv \"*/"), *fc = step_of(&m, "scores\\"),
                         *half = step_of(&m, "half");
    (void)state;
    assert_int_equal(m.l->model.n_steps, 6); /* the two reshapes are views */
    assert_int_equal(conv->in[0].space, IG_SPACE_INPUT);
    assert_int_equal(conv->in[1].space, IG_SPACE_WEIGHTS);
    assert_int_equal(conv->out[0].space, IG_SPACE_ARENA);
    assert_int_equal(fc->out[0].space, IG_SPACE_OUTPUT);
    assert_int_equal(fc->out[0].index, 0);
    assert_int_equal(half->in[0].space, IG_SPACE_OUTPUT); /* an output is read where it is */
    assert_int_equal(half->out[0].index, 1);
    assert_int_equal(conv->rows, 4);
    assert_int_equal(conv->cols, 3);
    assert_int_equal(conv->images, 1);
    assert_ptr_equal(conv->attrs, &m.l->nodes[0]->attrs);
    assert_null(half->attrs); /* a cast has none */
    assert_string_equal(m.l->model.inputs[0].name, TINY_NAME);
    assert_string_equal(m.l->model.outputs[2].name, "best");
    assert_int_equal(m.l->model.outputs[2].shape->rank, 0);
    unmake(&m);
}

/* Constants lie where the tables say, aligned, after a region of zeros; the hash is that of the blob. */
static void weights(void **state)
{
    struct made m = make(tiny_net());
    const struct ig_model *model = &m.l->model;
    char *blob = aligned_alloc(64, (size_t)model->weights_bytes);
    (void)state;
    memset(blob, 0, (size_t)model->weights_bytes);
    ig_fill_weights(m.l, blob);
    assert_int_equal(model->weights_bytes % 64, 0);
    assert_true(ig_blob_hash(blob, (size_t)model->weights_bytes) == model->weights_hash);
    for (int i = 0; i < 64; i++) assert_int_equal(blob[model->zeros + i], 0);
    int found = 0;
    for (int32_t i = 0; i < model->n_steps; i++)
        for (int32_t k = 0; k < m.l->steps[i].n_in; k++) {
            const struct ig_place *p = &m.l->steps[i].in[k];
            if (p->space != IG_SPACE_WEIGHTS) continue;
            const struct ig_value *v = &m.g->values[m.l->nodes[i]->in[k]];
            assert_int_equal(p->offset % 64, 0);
            assert_memory_equal(blob + p->offset, v->data, (size_t)ig_bytes(&v->shape));
            found++;
        }
    assert_int_equal(found, 3);
    free(blob);
    unmake(&m);
}

/* A concat writes no copy: its producers have the strides and offsets of their slices. */
static void slices(void **state)
{
    struct ig_graph *g = net_new();
    (void)state;
    int32_t x = net_input(g, 1, 4, 4, 8);
    int32_t a = net_conv(g, x, 3, 1, 1, -1), b = net_conv(g, x, 5, 1, 1, -1);
    ig_add_output(g, net_global_pool(g, NET_CONCAT(g, 3, a, b)));
    net_done(g);
    ig_prepare_views(g);
    struct made m = make(g);
    const struct ig_step *sa = step_of(&m, m.g->values[a].name), *sb = step_of(&m, m.g->values[b].name);
    assert_int_equal(m.l->model.n_steps, 3);
    assert_int_equal(sa->out[0].pixel_stride, 8);
    assert_int_equal(sb->out[0].pixel_stride, 8);
    assert_int_equal(sb->out[0].row_stride, 32);
    assert_int_equal(sb->out[0].offset - sa->out[0].offset, 3 * 4);
    unmake(&m);
}

/* A batch is one call per image: activations move on, weights stay. */
static void batches(void **state)
{
    struct ig_graph *g = net_new();
    (void)state;
    int32_t x = net_input(g, 3, 4, 5, 2);
    ig_add_output(g, net_conv(g, x, 6, 3, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    struct made m = make(g);
    const struct ig_step *s = &m.l->steps[0];
    assert_int_equal(s->images, 3);
    assert_int_equal(s->rows, 4);
    assert_int_equal(s->in[0].image, 4 * 5 * 2);
    assert_int_equal(s->in[1].image, 0);
    assert_int_equal(s->out[0].image, 4 * 5 * 6);
    unmake(&m);
}

static void same_as_interpreter(struct ig_graph *g)
{
    struct made m = make(g);
    const struct ig_model *model = &m.l->model;
    char text[512];
    float **in = calloc((size_t)model->n_inputs + 1, sizeof *in);
    const struct ig_tolerance none = {0, 0, 0};
    for (int32_t i = 0; i < model->n_inputs; i++) {
        int64_t n = ig_count(model->inputs[i].shape);
        in[i] = calloc((size_t)n + 1, sizeof **in);
        for (int64_t k = 0; k < n; k++) in[i][k] = (float)(k * 7 % 5 - 2);
    }
    int found = ig_first_divergence(m.l, (const void *const *)in, &none, text, sizeof text);
    if (found) fail_msg("%s", text);
    for (int32_t i = 0; i < model->n_inputs; i++) free(in[i]);
    free(in);
    unmake(&m);
}

/* Step by step the tables make the very values of the interpreter, views, batches and all. */
static void values(void **state)
{
    struct rng r = {3};
    (void)state;
    same_as_interpreter(tiny_net());
    for (int i = 0; i < 30; i++) {
        struct ig_graph *g = net_random(&r, 4 + i);
        ig_prepare_views(g);
        same_as_interpreter(g);
    }
}

static void copies_only(void **state)
{
    struct ig_graph *g = net_new();
    (void)state;
    int32_t x = net_input(g, 1, 2, 2, 2);
    ig_add_output(g, x); /* the input itself: a step that copies it */
    net_done(g);
    ig_prepare_views(g);
    struct made m = make(g);
    assert_int_equal(m.l->model.n_steps, 1);
    assert_int_equal(m.l->steps[0].in[0].space, IG_SPACE_INPUT);
    assert_int_equal(m.l->steps[0].out[0].space, IG_SPACE_OUTPUT);
    assert_int_equal(m.l->model.arena_bytes, 0);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces),  cmocka_unit_test(weights), cmocka_unit_test(slices),
        cmocka_unit_test(batches), cmocka_unit_test(values),  cmocka_unit_test(copies_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
