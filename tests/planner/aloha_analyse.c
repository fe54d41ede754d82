/* Equations 2-9 and 13 of the ALOHA paper: its numbers, ours, and what must hold for every layer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/analyse.h"
#include "tests/support/board.h"
#include "tests/support/rng.h"

enum { LAYERS = 4000, OF_FH = 1 << IG_OF | 1 << IG_FH };

struct result {
    struct ig_nest nest;
    struct ig_analysis a;
    int fits;
};

static struct ig_layer conv(int64_t ic, int64_t oc, int64_t out, int64_t k, int64_t stride)
{
    struct ig_layer l;
    ig_layer_conv(&l, &(struct ig_conv_size){ic, oc, out * stride, out * stride, out, out, k, stride, 1});
    return l;
}

static struct result refine(const struct ig_platform *b, const struct ig_layer *l)
{
    struct result r;
    r.fits = ig_nest_refine(&r.nest, l, b, &b->processors[0]);
    ig_analyse(&r.a, &r.nest);
    return r;
}

static struct result best(const struct ig_platform *b, const struct ig_layer *l)
{
    struct result r;
    r.fits = ig_nest_best(&r.nest, l, b, &b->processors[0], OF_FH);
    ig_analyse(&r.a, &r.nest);
    return r;
}

/* Equal in the digits that are printed, in ms (or mJ). */
static void assert_printed(double ms, const char *printed)
{
    char text[40];
    const char *point = strchr(printed, '.');
    snprintf(text, sizeof text, "%.*f", point ? (int)strlen(point + 1) : 0, ms);
    assert_string_equal(text, printed);
}

static void estimate_l1_neuraghe(void)
{
    struct ig_platform *b = board_read("neuraghe");
    struct ig_layer l = conv(128, 512, 28, 1, 1);
    struct result r = refine(b, &l);
    assert_int_equal(r.a.ops_th, 102760448);
    assert_int_equal(r.a.ops_re, 110073600);
    assert_int_equal(r.a.size[IG_X], 200704);
    assert_int_equal(r.a.size[IG_W], 131072);
    assert_int_equal(r.a.size[IG_Y], 802816);
    assert_int_equal(r.a.traffic[IG_X], 1270080); /* 90 loads */
    assert_int_equal(r.a.traffic[IG_Y], 815360);
    assert_int_equal(r.a.traffic[IG_W], 280800);
    assert_printed(r.a.channel_s[0] * 1e3, "1.764000");
    assert_printed(r.a.channel_s[1] * 1e3, "1.132444");
    assert_printed(r.a.channel_s[2] * 1e3, "0.195000");
    assert_printed(r.a.compute_s * 1e3, "0.849333");
    assert_printed((double)r.a.ops_re / 1270080, "86.667"); /* Int of channel 0 */
    assert_printed((double)r.a.ops_re / 815360, "135");
    assert_printed((double)r.a.ops_re / 280800, "392");
    assert_printed((double)r.a.ops_re / r.a.channel_s[0] * 1e-9, "62.4"); /* AP_ALOHA, GOPS */
    assert_int_equal(r.a.bound, 0);
    assert_printed(r.a.s * 1e3, "1.864000");
    assert_printed(r.a.ops_s * 1e3, "0.792905");
    assert_printed(r.a.ops_re_s * 1e3, "0.849333");
    assert_printed((double)r.a.ops_th / 1134592, "90.570");
    assert_printed(ig_roofline_s(&r.a, &b->processors[0], .72e9) * 1e3, "1.575822");
    assert_printed(r.a.roofline_s * 1e3, "0.792905"); /* of all three channels: 2.88 GB/s */
    assert_printed(r.a.mj, "8.433023");
    b->channels[2].bytes_per_s = b->channels[2].printed; /* 2.88 GB/s is a slip for 1.44; it changes nothing here */
    assert_printed(refine(b, &l).a.s * 1e3, "1.864000");
    free(b);
}

/* Rows alone, and the best of rows and output features, under both readings of channel 2 and of the extra weight. */
static void estimate_l1_tiles(void)
{
    struct ig_platform *b = board_read("neuraghe");
    struct ig_layer l = conv(128, 512, 28, 1, 1);
    struct result r = refine(b, &l);
    ig_nest_tile(&r.nest, IG_OF, r.nest.t0[IG_OF]);
    ig_nest_tile(&r.nest, IG_FH, 5);
    assert_int_equal(r.nest.tiles[IG_FH], 6);
    assert_int_equal(r.nest.last[IG_FH], 3);
    ig_analyse(&r.a, &r.nest);
    assert_int_equal(r.a.traffic[IG_X], 211680);
    assert_int_equal(r.a.traffic[IG_W], 1684800);
    assert_printed(r.a.s * 1e3, "1.270000");
    for (int reading = 0; reading < 4; reading++) {
        b->channels[2].bytes_per_s = reading & 1 ? 2880000000 : 1440000000;
        b->processors[0].place[IG_W].extra = reading >> 1;
        ig_analyse(&r.a, &r.nest);
        if (reading != 2) assert_printed(r.a.s * 1e3, "1.232444");
        assert_printed(best(b, &l).a.s * 1e3, "1.232444");
    }
    b->channels[2].bytes_per_s = 1440000000;
    r = best(b, &l);
    assert_int_equal(r.nest.tiles[IG_OF], 3);
    assert_int_equal(r.nest.t[IG_OF], 18);
    assert_int_equal(r.nest.tiles[IG_FH], 2);
    assert_int_equal(r.nest.t[IG_FH], 14);
    assert_int_equal(r.a.traffic[IG_X], 635040);
    assert_int_equal(r.a.traffic[IG_W], 561600);
    free(b);
}

static void estimate_l1_tx2(void)
{
    struct ig_platform *b = board_read("tx2");
    struct ig_layer l = conv(128, 512, 28, 1, 1);
    struct result r = refine(b, &l);
    assert_int_equal(r.a.ops_re, 117440512); /* 784 pixels on 128 lanes: 896 */
    assert_printed(r.a.compute_s * 1e6, "176.4431");
    assert_int_equal(r.a.channel_bytes[1], 401408);
    assert_printed(r.a.channel_s[1] * 1e6, "20.0704");
    assert_int_equal(r.a.channel_bytes[0], 1867776);
    assert_printed(r.a.channel_s[0] * 1e6, "93.3888");
    assert_printed(r.a.s * 1e6, "186.4431");
    assert_int_equal(r.nest.not_limitable, 1 << IG_X);
    free(b);
}

static void estimate_l1(void **state)
{
    (void)state;
    estimate_l1_neuraghe();
    estimate_l1_tiles();
    estimate_l1_tx2();
}

/* Peaks that the paper prints, and where they do not follow from its clocks. */
static void peaks(void)
{
    struct ig_platform *n = board_read("neuraghe"), *t = board_read("tx2");
    const struct ig_processor *engine = &n->processors[0], *gpu = &t->processors[0];
    assert_int_equal(engine->ops_per_s, 9 * 10 * 4 * 2 * engine->hz);
    assert_int_equal(n->channels[0].bytes_per_s, 8 * 90000000);
    assert_int_equal(n->channels[2].bytes_per_s, 8 * engine->hz);          /* printed: 2.88 GB/s, a slip */
    assert_int_equal(gpu->ops_per_s, 256 * 2 * gpu->hz);                   /* printed: 666.6e9, of 1.302 GHz */
    assert_int_equal(t->processors[1].ops_per_s, 8 * t->processors[1].hz); /* printed: 2.35 GHz, a slip for 2.035 */
    assert_int_equal(n->processors[1].ops_per_s, 8 * n->processors[1].hz);
    free(n);
    free(t);
}

/* Table 6's grid: OPS lost to rounding, mean .199 (the paper's .25 is of an unlisted subset), most .867. */
static void rounding(void)
{
    static const int ic[] = {3, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024},
                     oc[] = {16, 32, 48, 64, 128, 192, 256, 384, 512, 1024},
                     size[] = {2, 4, 8, 14, 16, 28, 32, 56, 64, 112, 128, 224, 256, 512}, k[] = {1, 3, 5, 7, 11};
    struct ig_platform *b = board_read("neuraghe");
    double sum = 0, most = 0;
    int n = 0;
    for (int i = 0; i < 13 * 10 * 14 * 5; i++, n++) {
        struct ig_layer l = conv(ic[i % 13], oc[i / 13 % 10], size[i / 130 % 14], k[i / 1820], 1);
        struct ig_nest nest;
        ig_nest_start(&nest, &l, b, &b->processors[0]);
        double lost = 1 - (double)ig_layer_ops(&l) / (double)ig_nest_ops(&nest);
        sum += lost;
        if (lost > most) most = lost;
    }
    assert_int_equal(n, 9100);
    assert_printed(sum / n, "0.199");
    assert_printed(most, "0.867");
    free(b);
}

static void estimate_goldens(void **state)
{
    static const struct golden {
        int64_t ic, oc, out, k, stride, ops, tiles[2], steps[2], last[2], x, y, w; /* tiles: of OF, of FH */
        const char *ms;
        int bound;
        const char *best;
    } table[] = {
        {64, 64, 56, 3, 1, 284497920, {4, 1}, {2, 56}, {1, 56}, 1937664, 439040, 100800, "2.791200", 0, "2.295200"},
        {3, 64, 112, 7, 2, 774466560, {1, 19}, {7, 6}, {7, 4}, 1314918, 1756160, 1197000, "6.075822", -1, "6.075822"},
        {512, 1024, 7, 1, 1, 59179680, {1, 1}, {103, 7}, {103, 7}, 57456, 115360, 2113560, "1.567750", 2, "1.567750"},
        {64, 128, 56, 3, 2, 528353280, {2, 4}, {7, 14}, {6, 14}, 3775104, 815360, 748800, "5.343200", 0, "4.176800"},
        {128,
         128,
         112,
         1,
         1,
         440294400,
         {7, 4},
         {2, 28},
         {1, 28},
         23708160,
         3261440,
         280800,
         "33.028000",
         0,
         "4.804000"}};
    struct ig_platform *b = board_read("neuraghe");
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct golden *g = &table[i];
        struct ig_layer l = conv(g->ic, g->oc, g->out, g->k, g->stride);
        struct result r = refine(b, &l);
        assert_true(r.fits);
        assert_int_equal(r.a.ops_re, g->ops);
        for (int k = 0; k < 2; k++) {
            int d = k ? IG_FH : IG_OF;
            assert_int_equal(r.nest.tiles[d], g->tiles[k]);
            assert_int_equal(r.nest.t[d], g->steps[k]);
            assert_int_equal(r.nest.last[d], g->last[k]);
        }
        assert_int_equal(r.a.traffic[IG_X], g->x);
        assert_int_equal(r.a.traffic[IG_Y], g->y);
        assert_int_equal(r.a.traffic[IG_W], g->w);
        assert_printed(r.a.s * 1e3, g->ms);
        assert_int_equal(r.a.bound, g->bound);
        assert_printed(best(b, &l).a.s * 1e3, g->best);
    }
    free(b);
    peaks();
    rounding();
}

/* --- what must hold for every layer --- */

static struct ig_layer random_layer(struct rng *r)
{
    struct ig_layer l;
    int64_t k = RNG_OF(r, 1, 3, 5, 7), stride = rng_int(r, 1, 2), out = rng_int(r, 1, 64);
    int64_t ic = rng_int(r, 1, 300), oc = rng_int(r, 1, 300), groups = rng_one_in(r, 4) ? RNG_OF(r, 2, 4, 8) : 1;
    if (rng_one_in(r, 6)) groups = ic = oc;
    if (groups > 1 && groups != ic) ic = (ic / groups + 1) * groups, oc = (oc / groups + 1) * groups;
    ig_layer_conv(&l, &(struct ig_conv_size){ic, oc, out * stride, out * stride, out, out, k, stride, groups});
    return l;
}

static void assert_steps(const struct ig_platform *b, const struct ig_layer *l)
{
    const struct ig_processor *pe = &b->processors[0];
    struct ig_nest start;
    struct result r = refine(b, l);
    ig_nest_start(&start, l, b, pe);
    assert_int_equal(ig_nest_ops(&start), r.a.ops_re); /* tiles keep the operations */
    assert_true(r.a.ops_re >= r.a.ops_th);
    for (int d = 0; d < IG_LOOPS; d++) {
        const struct ig_nest *n = &r.nest;
        assert_true(n->t0[d] * n->p[d] >= l->n[d] && n->t0[d] * n->p[d] < l->n[d] + n->p[d]);
        assert_int_equal((n->tiles[d] - 1) * n->t[d] + n->last[d], n->t0[d]);
        assert_true(1 <= n->last[d] && n->last[d] <= n->t[d]);
    }
    for (int role = 0; role < IG_ROLES && r.fits; role++)
        assert_true((r.nest.not_limitable >> role & 1) ||
                    ig_nest_bytes(&r.nest, role) <= b->stores[pe->place[role].memory].bytes);
    assert_true(r.a.traffic[IG_Y] >= r.a.size[IG_Y] && r.a.traffic[IG_W] >= r.a.size[IG_W]);
    assert_true(r.a.s >= r.a.ops_s + (double)pe->overhead_ns * 1e-9);
}

/* More bandwidth, more peak: never slower. All of it k times as fast: 1/k. */
static void assert_rates(const struct ig_platform *b, const struct ig_layer *l, struct rng *r)
{
    struct ig_platform faster = *b;
    double s = refine(b, l).a.s, ov = (double)b->processors[0].overhead_ns * 1e-9;
    faster.channels[rng_int(r, 0, b->n_channels - 1)].bytes_per_s *= 2;
    assert_true(refine(&faster, l).a.s <= s);
    faster.processors[0].ops_per_s *= 2;
    assert_true(refine(&faster, l).a.s <= s);
    faster = *b;
    faster.processors[0].ops_per_s *= 4;
    for (int32_t c = 0; c < b->n_channels; c++) faster.channels[c].bytes_per_s *= 4;
    double scaled = 4 * (refine(&faster, l).a.s - ov) + ov;
    assert_true(scaled > s * (1 - 1e-12) && scaled < s * (1 + 1e-12));
}

static void assert_memories(const struct ig_platform *b, const struct ig_layer *l)
{
    const struct ig_processor *pe = &b->processors[0];
    struct result rule = refine(b, l), found = best(b, l);
    if (rule.fits && found.fits) assert_true(found.a.s <= rule.a.s);
    for (int role = 0; role < IG_ROLES; role++) {
        struct ig_platform larger = *b;
        larger.stores[pe->place[role].memory].bytes *= 2;
        struct result now = refine(&larger, l), then = best(&larger, l);
        if (role != IG_X && rule.fits) assert_true(now.fits && now.a.s <= rule.a.s);
        if (found.fits) assert_true(then.fits && then.a.s <= found.a.s);
    }
}

static void properties_of_random_layers(void **state)
{
    static const char *const boards[] = {"neuraghe", "tx2"};
    const char *given = getenv("INGOT_SEED");
    struct rng r = {given ? strtoull(given, NULL, 10) : 20210901};
    (void)state;
    printf("# INGOT_SEED=%llu\n", (unsigned long long)r.state);
    for (int k = 0; k < 2; k++) {
        struct ig_platform *b = board_read(boards[k]);
        for (int i = 0; i < LAYERS; i++) {
            struct ig_layer l = random_layer(&r);
            assert_steps(b, &l);
            assert_rates(b, &l, &r);
            if (i % 40 == 0) assert_memories(b, &l);
        }
        free(b);
    }
}

/* Under the paper's rule a larger memory 0 can cost time: taller FH tiles, more OF tiles, more reloads. */
static void larger_memory_may_cost(void **state)
{
    struct ig_platform *b = board_read("neuraghe");
    struct ig_layer l = conv(64, 64, 112, 3, 1);
    (void)state;
    assert_printed(refine(b, &l).a.s * 1e3, "11.044");
    double before = best(b, &l).a.s;
    b->stores[0].bytes *= 2;
    assert_printed(refine(b, &l).a.s * 1e3, "18.6136");
    assert_true(best(b, &l).a.s <= before);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimate_l1), cmocka_unit_test(estimate_goldens),
                                       cmocka_unit_test(properties_of_random_layers),
                                       cmocka_unit_test(larger_memory_may_cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
