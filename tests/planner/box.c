/* The validator's geometry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "planner/box.h"
#include "tests/support/nets.h"

/* Boxes against a map of bytes. */
static void mark(const struct ig_box *b, uint8_t *map, int d, int64_t at)
{
    if (d < 0) {
        for (int64_t i = 0; i < b->element; i++) map[at + i] = 1;
        return;
    }
    for (int64_t i = 0; i < b->count[d]; i++) mark(b, map, d - 1, at + i * b->stride[d]);
}

static struct ig_box random_part(struct rng *r, const struct ig_graph *g, const struct ig_plan_buffer *whole)
{
    const struct ig_shape *s = &g->values[0].shape;
    int64_t start[IG_MAX_RANK];
    int32_t count[IG_MAX_RANK];
    for (int d = 0; d < s->rank; d++) {
        start[d] = rng_int(r, 0, s->dims[d] - 1);
        count[d] = rng_int(r, 1, s->dims[d] - (int32_t)start[d]);
    }
    return ig_box_part(g, whole, start, count, NULL);
}

static void boxes_meet_where_they_do(void **state)
{
    struct rng r = {11};
    int meets = 0;
    (void)state;
    for (int i = 0; i < 4000; i++) {
        struct ig_graph *g = net_new();
        net_input(g, 1, rng_int(&r, 1, 4), rng_int(&r, 1, 4), rng_int(&r, 1, 5));
        const int32_t *dims = g->values[0].shape.dims;
        struct ig_plan_buffer b = {.memory = IG_MEMORY_ARENA, .view = {0, 0, dims[2] * dims[3], dims[3]}};
        struct ig_box x = random_part(&r, g, &b), y = random_part(&r, g, &b);
        uint8_t mx[512] = {0}, my[512] = {0};
        int meet = 0;
        mark(&x, mx, x.n - 1, x.base);
        mark(&y, my, y.n - 1, y.base);
        for (int k = 0; k < 512; k++) meet |= mx[k] & my[k];
        assert_int_equal(ig_box_meet(&x, &y), meet);
        meets += meet;
        ig_graph_free(g);
    }
    assert_true(meets > 400 && meets < 3600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_meet_where_they_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
