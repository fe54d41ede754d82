/* Line buffers and their schedules against rings whose every row says which row it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/loops.h"
#include "planner/rows.h"
#include "tests/support/rng.h"

enum { CASES = 20000, MOST_NODES = 10, MOST_EDGES = 20, MOST_ROWS = 400 };

/* --- one producer, one reader --- */

struct pair {
    struct ig_row_window w;
    int32_t made, wanted, height, out;
};

static int32_t extent(const struct pair *p)
{
    return (p->w.taps - 1) * p->w.dilation + 1;
}

static struct pair random_pair(struct rng *r, int32_t most_height)
{
    struct pair p = {{rng_int(r, 1, 7), rng_one_in(r, 4) ? rng_int(r, 2, 3) : 1, rng_int(r, 1, 4), 0},
                     rng_int(r, 1, 6), rng_int(r, 1, 6), rng_int(r, 1, most_height), 0};
    p.w.pad = rng_int(r, 0, extent(&p) - 1);
    int32_t bottom = rng_int(r, 0, extent(&p) - 1);
    if (p.height + p.w.pad + bottom < extent(&p)) p.height = extent(&p);
    p.out = (p.height + p.w.pad + bottom - extent(&p)) / p.w.stride + 1;
    return p;
}

/* One firing of the producer into a ring; 0 if the ring cannot even hold what one firing makes. */
static int fire(const struct pair *p, int32_t ring, int32_t *tags, int32_t *made)
{
    int32_t end = *made + p->made < p->height ? *made + p->made : p->height;
    if (end - *made > ring) return 0;
    for (; *made < end; ++*made) tags[*made % ring] = *made;
    return 1;
}

/* Does every tap find its row? The producer fires only when a window is not complete. */
static int ring_suffices(const struct pair *p, int32_t ring)
{
    int32_t tags[MOST_ROWS], made = 0;
    if (ring < 1) return 0;
    for (int32_t y = 0; y < p->out; y += p->wanted) {
        int32_t last = y + p->wanted < p->out ? y + p->wanted - 1 : p->out - 1;
        int32_t to = last * p->w.stride - p->w.pad + extent(p);
        while (made < to && made < p->height)
            if (!fire(p, ring, tags, &made)) return 0;
        for (int32_t o = y; o <= last; o++)
            for (int32_t i = 0; i < p->w.taps; i++) {
                int32_t row = o * p->w.stride - p->w.pad + i * p->w.dilation;
                if (row >= 0 && row < p->height && tags[row % ring] != row) return 0;
            }
    }
    return made > 0 || p->made <= ring || p->height <= ring;
}

static void ring_closed_form(void **state)
{
    struct rng r = {1};
    int tight = 0, high = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct pair p = random_pair(&r, i % 2 ? 40 : 300);
        int32_t closed = ig_ring_closed(p.w, p.made, p.wanted, p.height);
        int32_t exact = ig_ring_exact(p.w, p.made, p.wanted, p.height, p.out);
        assert_true(exact <= closed && closed <= p.height);
        if (!ring_suffices(&p, exact)) fail_msg("case %d: %d rows are not enough", i, exact);
        if (!ring_suffices(&p, closed)) fail_msg("case %d: %d rows are not enough", i, closed);
        if (p.w.dilation == 1 && ring_suffices(&p, exact - 1)) fail_msg("case %d: %d rows do", i, exact - 1);
        high += p.height >= 200;
        tight += p.height >= 200 && exact == closed;
    }
    assert_true(high > CASES / 8);
    assert_int_equal(tight, high); /* in a high image every phase occurs */
}

/* r = 1: K; q*s = 1: K + r - 1; r = q*s: K + ((p - K) mod r). */
static void ring_special_cases(void **state)
{
    (void)state;
    for (int32_t k = 1; k < 8; k++)
        for (int32_t p = 0; p < k; p++)
            for (int32_t r = 1; r < 6; r++) {
                struct ig_row_window w = {k, 1, 1, p};
                assert_int_equal(ig_ring_closed(w, 1, 1, 1000), k);
                assert_int_equal(ig_ring_closed(w, r, 1, 1000), k + r - 1);
                w.stride = r;
                int32_t ring = k + (p + 10 * r - k) % r;
                assert_int_equal(ig_ring_closed(w, r, 1, 1000), ring > r ? ring : r);
                assert_int_equal(ig_ring_closed(w, 1, 1, 2), k < 2 ? k : 2);
            }
    assert_int_equal(ig_ring_closed((struct ig_row_window){5, 1, 1, 0}, 1, 1, 32), 5);
    assert_int_equal(ig_ring_closed((struct ig_row_window){3, 2, 1, 2}, 1, 1, 32), 5); /* holes are kept too */
}

/* --- an output over its dying input --- */

enum { MOST_CELLS = 4096 };

/* Cells that say what they hold: input rows from `distance` on, output rows from 0; is every tap there when it is read? */
static int overlap_is_safe(const struct pair *p, int32_t in_row, int32_t out_row, int32_t distance)
{
    static int32_t cells[MOST_CELLS];
    for (int32_t i = 0; i < p->height * in_row; i++) cells[distance + i] = i / in_row;
    for (int32_t y = 0; y < p->out; y++) {
        for (int32_t i = 0; i < out_row; i++) cells[y * out_row + i] = -1; /* the row may be written before it is read for */
        for (int32_t k = 0; k < p->w.taps; k++) {
            int32_t row = y * p->w.stride - p->w.pad + k * p->w.dilation;
            for (int32_t i = 0; row >= 0 && row < p->height && i < in_row; i++)
                if (cells[distance + row * in_row + i] != row) return 0;
        }
    }
    return 1;
}

static void overlap_rows(void **state)
{
    struct rng r = {4};
    int below = 0, tight = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct pair p = random_pair(&r, 30);
        int32_t in_row = rng_int(&r, 1, 12), out_row = rng_int(&r, 1, 12);
        p.w.dilation = 1; /* with holes a row may be kept that nobody reads */
        p.w.pad %= p.w.taps;
        p.out = (p.height + p.w.pad - p.w.taps) / p.w.stride + 1;
        if (p.height + p.w.pad < p.w.taps) continue;
        int64_t distance = ig_overlap_distance(p.w, p.height, p.out, in_row, out_row);
        assert_true(distance >= out_row && distance + p.height * in_row <= MOST_CELLS);
        if (!overlap_is_safe(&p, in_row, out_row, (int32_t)distance)) fail_msg("case %d: %d is too near", i, (int)distance);
        if (overlap_is_safe(&p, in_row, out_row, (int32_t)distance - 1)) fail_msg("case %d: %d would do", i, (int)distance - 1);
        below += distance + p.height * in_row < p.height * in_row + p.out * out_row;
        tight++;
    }
    assert_true(tight > CASES / 2 && below > tight / 2);
    /* MobileNetV2's largest step, 112 x 112 x 96 to 56 x 56 x 96: 1,209,600 elements instead of 1,505,280. */
    const struct ig_row_window w = {3, 1, 2, 1};
    assert_int_equal(ig_overlap_distance(w, 112, 56, 112 * 96, 56 * 96) + 112 * 112 * 96, 1209600);
}

/* --- networks on one clock --- */

struct random_net {
    struct ig_row_net net;
    struct ig_row_edge edges[MOST_EDGES];
    int32_t height[MOST_NODES];
    int64_t row_bytes[MOST_NODES];
};

static struct ig_row_window random_window(struct rng *r, int32_t stride)
{
    struct ig_row_window w = {rng_int(r, 1, 5), rng_one_in(r, 5) ? 2 : 1, stride, 0};
    w.pad = rng_int(r, 0, (w.taps - 1) * w.dilation);
    return w;
}

static int32_t rows_after(const struct random_net *n, const struct ig_row_edge *e)
{
    int32_t most = n->height[e->from] * e->up;
    return e->up > 1 ? most : (most + e->window.stride - 1) / e->window.stride;
}

/* Levels hold the rate: all paths between two nodes then agree in stride. */
static void random_dag(struct rng *r, struct random_net *n, int rates, int32_t height)
{
    int32_t level[MOST_NODES] = {0};
    n->net = (struct ig_row_net){rng_int(r, 2, MOST_NODES), 0, n->height, n->row_bytes, n->edges};
    n->height[0] = height;
    n->row_bytes[0] = rng_int(r, 1, 100);
    for (int32_t v = 1; v < n->net.n; v++) {
        int32_t from = rng_int(r, v > 3 ? v - 3 : 0, v - 1), more = rng_int(r, 0, 2);
        int32_t down = rates && rng_one_in(r, 3), up = rates && !down && level[from] && rng_one_in(r, 4);
        level[v] = level[from] + down - up;
        struct ig_row_edge e = {from, v, up ? (struct ig_row_window){1, 1, 1, 0} : random_window(r, 1 + down),
                                1 + up};
        n->edges[n->net.n_edges++] = e;
        n->height[v] = rows_after(n, &e);
        n->row_bytes[v] = rng_int(r, 1, 100);
        for (int32_t u = 0; u < v && more; u++)
            if (u != from && level[u] == level[v] && n->net.n_edges + n->net.n - v < MOST_EDGES && rng_one_in(r, 2)) {
                n->edges[n->net.n_edges++] = (struct ig_row_edge){u, v, random_window(r, 1), 1};
                if (n->height[u] < n->height[v]) n->height[v] = n->height[u];
                more--;
            }
    }
}

struct tags { int32_t made, row[MOST_ROWS]; };

/* May node v make its next row? Every row it reads must be in its ring. */
static int reads_are_there(const struct random_net *n, const int32_t *ring, const struct tags *t, int32_t v)
{
    int32_t y = t[v].made;
    for (int32_t i = 0; i < n->net.n_edges; i++) {
        const struct ig_row_edge *e = &n->edges[i];
        if (e->to != v) continue;
        for (int32_t k = 0; k < e->window.taps; k++) {
            int32_t row = y * e->window.stride - e->window.pad + k * e->window.dilation;
            if (e->up > 1) row = y / e->up;
            if (row < 0 || row >= n->height[e->from]) continue;
            if (t[e->from].row[row % ring[e->from]] != row) return 0;
        }
    }
    return 1;
}

static int order_runs(const struct random_net *n, const int32_t *ring, const int32_t *order, int32_t length)
{
    static struct tags t[MOST_NODES];
    memset(t, -1, sizeof t);
    for (int32_t v = 0; v < n->net.n; v++) t[v].made = 0;
    for (int32_t i = 0; i < length; i++) {
        int32_t v = order[i];
        if (!reads_are_there(n, ring, t, v)) return 0;
        if (ring[v]) t[v].row[t[v].made % ring[v]] = t[v].made;
        t[v].made++;
    }
    for (int32_t v = 0; v < n->net.n; v++)
        if (t[v].made != n->height[v]) return 0;
    return 1;
}

/* With one row less in any ring some reader must miss a row; how many rings could do with less. */
static int32_t loose_rings(const struct random_net *n, const struct ig_ticks *t, const int32_t *order,
                           int32_t length)
{
    int32_t loose = 0;
    for (int32_t v = 0; v < n->net.n; v++) {
        if (t->ring[v] < 2) continue;
        t->ring[v]--;
        loose += order_runs(n, t->ring, order, length);
        t->ring[v]++;
    }
    return loose;
}

static void ring_ticks(void **state)
{
    struct rng r = {2};
    int32_t loose = 0;
    (void)state;
    for (int i = 0; i < 12000; i++) {
        struct random_net n;
        struct ig_ticks t;
        int rates = i % 2, high = i % 16 < 2;
        random_dag(&r, &n, rates, high ? rng_int(&r, 250, 320) : rng_int(&r, 1, 40));
        assert_int_equal(ig_ticks_make(&n.net, &t), 0);
        int32_t length, *order = ig_ticks_order(&n.net, &t, &length);
        if (!order_runs(&n, t.ring, order, length)) fail_msg("case %d: a row is missing", i);
        if (high) loose += loose_rings(&n, &t, order, length);
        free(order);
        ig_ticks_free(&t);
    }
    assert_int_equal(loose, 0); /* in high images no ring is a row too large */
}

/* A residual skip over a 1x1, 3x3, 1x1 block holds two rows: 1 + sum of K - 1 - p. */
static void skips_hold_the_lag(void **state)
{
    const int32_t height[5] = {56, 56, 56, 56, 56};
    const int64_t row_bytes[5] = {24, 144, 144, 24, 0};
    const struct ig_row_edge edges[] = {{0, 1, {1, 1, 1, 0}, 1}, {1, 2, {3, 1, 1, 1}, 1},
                                        {2, 3, {1, 1, 1, 0}, 1}, {3, 4, {1, 1, 1, 0}, 1},
                                        {0, 4, {1, 1, 1, 0}, 1}};
    const struct ig_row_net net = {5, 5, height, row_bytes, edges};
    struct ig_ticks t;
    (void)state;
    assert_int_equal(ig_ticks_make(&net, &t), 0);
    assert_int_equal(t.ring[0], 2);
    assert_int_equal(t.ring[1], 3);
    assert_int_equal(t.ring[2], 1);
    assert_int_equal(t.ring[4], 0);
    assert_int_equal(t.bytes, 2 * 24 + 3 * 144 + 144 + 24);
    ig_ticks_free(&t);
}

static void strides_must_agree(void **state)
{
    const int32_t height[3] = {8, 4, 8};
    const int64_t row_bytes[3] = {1, 1, 1};
    const struct ig_row_edge edges[] = {
        {0, 1, {1, 1, 2, 0}, 1}, {0, 2, {1, 1, 1, 0}, 1}, {1, 2, {1, 1, 1, 0}, 1}};
    const struct ig_row_net net = {3, 3, height, row_bytes, edges};
    struct ig_ticks t;
    (void)state;
    assert_int_equal(ig_ticks_make(&net, &t), -1);
    ig_ticks_free(&t);
}

/* --- schedules as loops --- */

static void assert_text(const struct ig_loops *l, const char *const *names, const char *expected)
{
    char text[256];
    assert_int_equal(ig_loops_text(l, names, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
}

static void assert_expands(const struct ig_loops *l, const int32_t *list, int32_t n)
{
    int32_t length, *again = ig_loops_expand(l, &length);
    assert_int_equal(length, n);
    assert_memory_equal(again, list, (size_t)n * sizeof *list);
    free(again);
}

/* Seed 002, section 2.5: l1 -> l2, a 5x5 convolution of 32 rows, `pad` of its 4 rows of padding above. */
static int32_t *two_layers(int32_t pad, int32_t ring, int32_t *n)
{
    const int32_t height[2] = {32, 32};
    const int64_t row_bytes[2] = {3 * 32, 0};
    const struct ig_row_edge edge = {0, 1, {5, 1, 1, pad}, 1};
    const struct ig_row_net net = {2, 1, height, row_bytes, &edge};
    struct ig_ticks t;
    assert_int_equal(ig_ticks_make(&net, &t), 0);
    assert_int_equal(t.ring[0], ring);
    assert_int_equal(t.bytes, ring * 96);
    int32_t *order = ig_ticks_order(&net, &t, n);
    ig_ticks_free(&t);
    return order;
}

static int32_t write_list(int32_t *list, int32_t n, const char *digits, int32_t times)
{
    while (times--)
        for (int32_t i = 0; digits[i]; i++) list[n++] = digits[i] - '1';
    return n;
}

static void phases_of_the_paper(void)
{
    static const char *const names[] = {"l1", "l2"};
    int32_t paper[64], length = 0, n, *order;
    struct ig_loops l;
    order = two_layers(2, 5, &n); /* two rows of padding above, two below: five rows all the same */
    ig_loops_make(&l, order, n);
    assert_text(&l, names, "[l1]x3 ([l2][l1])x29 [l2]x3");
    assert_expands(&l, order, n);
    ig_loops_free(&l);
    free(order);
    /* The paper's [l1]x5 [l2] ([l1][l2])x27 [l2]x4 is right where all padding is below. */
    length = write_list(paper, length, "1", 5);
    length = write_list(paper, length, "2", 1);
    length = write_list(paper, length, "12", 27);
    length = write_list(paper, length, "2", 4);
    order = two_layers(0, 5, &n);
    assert_int_equal(n, length);
    assert_memory_equal(order, paper, sizeof paper);
    free(order);
}

/* With two rows of padding above, the paper's order needs seven rows. */
static void phases_need_seven_rows(void)
{
    const struct ig_row_edge edge = {0, 1, {5, 1, 1, 2}, 1};
    struct random_net n = {.net = {2, 1, n.height, n.row_bytes, n.edges}, .edges = {edge}, .height = {32, 32}};
    int32_t paper[64], length = 0, ring[2] = {7, 0};
    length = write_list(paper, length, "1", 5);
    length = write_list(paper, length, "2", 1);
    length = write_list(paper, length, "12", 27);
    length = write_list(paper, length, "2", 4);
    assert_true(order_runs(&n, ring, paper, length));
    ring[0] = 6;
    assert_false(order_runs(&n, ring, paper, length));
}

/* APP': layers 3 to 5 by rows, each of them reading one row. */
static void phases_of_app(void)
{
    static const char *const names[] = {"l3", "l4", "l5"};
    const int32_t height[3] = {32, 32, 32};
    const int64_t row_bytes[3] = {8 * 32, 16 * 32, 0};
    const struct ig_row_edge edges[] = {{0, 1, {1, 1, 1, 0}, 1}, {1, 2, {1, 1, 1, 0}, 1}};
    const struct ig_row_net net = {3, 2, height, row_bytes, edges};
    struct ig_ticks t;
    struct ig_loops l;
    assert_int_equal(ig_ticks_make(&net, &t), 0);
    assert_int_equal(t.bytes, 256 + 512);
    int32_t n, *order = ig_ticks_order(&net, &t, &n);
    ig_loops_make(&l, order, n);
    assert_text(&l, names, "([l3][l4][l5])x32");
    ig_loops_free(&l);
    ig_ticks_free(&t);
    free(order);
}

static void phases_expand(void **state)
{
    struct rng r = {3};
    (void)state;
    phases_of_the_paper();
    phases_need_seven_rows();
    phases_of_app();
    for (int i = 0; i < 500; i++) {
        struct random_net n;
        struct ig_ticks t;
        struct ig_loops l;
        random_dag(&r, &n, 1, rng_int(&r, 1, 300));
        assert_int_equal(ig_ticks_make(&n.net, &t), 0);
        int32_t length, *order = ig_ticks_order(&n.net, &t, &length), rows[MOST_NODES] = {0};
        ig_loops_make(&l, order, length);
        assert_expands(&l, order, length);
        for (int32_t k = 0; k < length; k++) rows[order[k]]++;
        assert_memory_equal(rows, n.height, (size_t)n.net.n * sizeof *rows); /* each row once */
        assert_true(length < 600 || l.n_body < length / 2);
        ig_loops_free(&l);
        ig_ticks_free(&t);
        free(order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_closed_form),   cmocka_unit_test(ring_special_cases),
        cmocka_unit_test(ring_ticks),         cmocka_unit_test(skips_hold_the_lag),
        cmocka_unit_test(strides_must_agree), cmocka_unit_test(phases_expand),
        cmocka_unit_test(overlap_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
