/* Rows by hand: one that nobody makes, one made twice, one read before it is there: each is called by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/nets.h"
#include "tests/support/plans.h"

/* The verdict by its name, and words of the line that says why. */
static void assert_says(const struct ig_graph *g, const struct ig_plan *p, const char *verdict, const char *words)
{
    char why[512];
    assert_string_equal(ig_verdict_name(ig_validate(g, p, 0, why, sizeof why)), verdict);
    if (!strstr(why, words)) fail_msg("'%s' is not in '%s'", words, why);
}

/* Three 3x3 layers of 24 rows and 16 channels. */
static struct ig_graph *three_layers(void)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 24, 8, 4), 16, 3, 1, -1);
    ig_add_output(g, net_conv(g, net_conv(g, x, 16, 3, 1, -1), 16, 3, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

/* All of g in one band, of phases of two rows. */
static struct ig_plan *banded(const struct ig_graph *g, int32_t threads, int32_t chunk)
{
    struct ig_band_timing band = {
        .last = g->n_nodes - 1, .rows = 2, .threads = threads, .chunk = chunk, .n = g->n_nodes};
    struct ig_plan_options o = {
        .isa = IG_ISA_REF, .threads = threads, .bands = IG_BANDS_GIVEN, .given = &band, .n_given = 1};
    struct ig_plan *p = plan_make(g, o);
    assert_int_equal(p->n_bands, 1);
    return p;
}

static void set_cut(struct ig_plan *p, int32_t step, int32_t split, int32_t chunk, int32_t chunks)
{
    p->steps[step].split = split;
    p->steps[step].chunk = chunk;
    p->steps[step].chunks = chunks;
}

/* A layer's pieces. */
static void pieces(void **state)
{
    struct ig_graph *g = three_layers();
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 2, .bands = IG_BANDS_OFF});
    static const struct { int32_t split, chunk, chunks; const char *verdict, *words; } rows[] = {
        {1, 8, 3, "OK", ""},
        {1, 9, 3, "OK", ""},
        {2, 8, 2, "OK", ""},
        {0, 0, 1, "OK", ""},
        {1, 8, 2, "PHASE_GAP", "step 1 never makes row 16 of '"},
        {1, 7, 3, "PHASE_GAP", "never makes row 21"},
        {1, 8, 0, "PHASE_GAP", "never makes row 0"},
        {0, 0, 0, "PHASE_GAP", "never makes row 0"},
        {2, 8, 1, "PHASE_GAP", "never makes channel 8"},
        {2, 5, 3, "PHASE_GAP", "never makes channel 15"},
        {0, 0, 2, "PHASE_TWICE", "step 1 makes row 0 of '"},
        {0, 0, INT32_MAX, "PHASE_TWICE", "makes row 0"},
        {1, 8, 4, "BAD_CUT", "the last of 4 chunks of 8 is empty"},
        {1, 8, INT32_MAX, "BAD_CUT", "is empty"},
        {1, INT32_MAX, 2, "BAD_CUT", "is empty"},
        {1, 0, 1, "BAD_CUT", "chunk 0"},
        {3, 8, 3, "BAD_CUT", "split 3"},
        {1, 8, -1, "PHASE_GAP", "never makes row 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_cut(p, 1, rows[i].split, rows[i].chunk, rows[i].chunks);
        assert_says(g, p, rows[i].verdict, rows[i].words);
    }
    ig_plan_free(p);
    ig_graph_free(g);
}

/* The pieces of a band, and its phases. */
static void pieces_of_a_band(void **state)
{
    struct ig_graph *g = three_layers();
    struct ig_plan *p = banded(g, 2, 6);
    (void)state;
    assert_int_equal(p->steps[2].chunks, 4);
    set_cut(p, 2, 1, 6, 3);
    assert_says(g, p, "PHASE_GAP", "step 2 never makes row 18 of '");
    set_cut(p, 2, 0, 0, 2);
    assert_says(g, p, "PHASE_TWICE", "step 2 makes row 0 of '");
    set_cut(p, 2, 2, 8, 2);
    assert_says(g, p, "BAD_CUT", "split 2");
    set_cut(p, 2, 1, 6, 4);
    set_cut(p, 1, 1, 6, 4);
    assert_says(g, p, "BAD_CUT", "step 1: 4 chunks of what does not run by itself");
    set_cut(p, 1, 0, 0, 1);
    assert_says(g, p, "OK", "");
    p->bands[0].rows = 0;
    assert_says(g, p, "BAD_CUT", "band 0: phases of 0 rows");
    ig_plan_free(p);
    ig_graph_free(g);
}

/* As a file may say: all of a piece at once. */
static void phases_higher_than_pieces(void **state)
{
    struct ig_graph *g = three_layers();
    struct ig_band_timing band = {.last = 2, .rows = INT32_MAX, .threads = 2, .chunk = 6, .n = 3};
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 2, .bands = IG_BANDS_GIVEN,
                                                              .given = &band, .n_given = 1});
    struct ig_plan *low = banded(g, 2, 6);
    void *want[1], *got[1];
    (void)state;
    assert_int_equal(p->n_bands, 1);
    assert_int_equal(p->bands[0].rows, INT32_MAX);
    assert_int_equal(p->steps[2].chunks, 4);
    net_run_tables(g, low, 2, 1, want);
    net_run_tables(g, p, 2, 1, got);
    outputs_same(g, want, got, 1);
    ig_plan_free(low);
    ig_plan_free(p);
    ig_graph_free(g);
}

/* A tensor that stays whole beside the last one's: each piece of the band would write all of its rows. */
static void kept_rows_are_made_once(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 24, 8, 4), 16, 3, 1, -1), y = net_conv(g, x, 16, 3, 1, -1);
    ig_add_output(g, y);
    ig_add_output(g, net_conv(g, y, 16, 3, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p = banded(g, 1, 0);
    (void)state;
    assert_true(p->buffers[x].ring_rows > 0 && p->buffers[y].memory == IG_MEMORY_OUTPUT);
    set_cut(p, 2, 1, 12, 2);
    assert_says(g, p, "PHASE_TWICE", "step 1 makes row 0 of '");
    set_cut(p, 2, 1, 12, 1);
    assert_says(g, p, "PHASE_GAP", "step 2 never makes row 12 of '");
    ig_plan_free(p);
    ig_graph_free(g);
}

/* A member before the one that it reads: the plan's order is right, the rows are not. */
static void rows_are_written_before_they_are_read(void **state)
{
    struct ig_graph *g = three_layers();
    struct ig_plan *p = banded(g, 1, 0);
    struct ig_plan_step first = p->steps[0], last = p->steps[2];
    (void)state;
    p->steps[0] = p->steps[1];
    p->steps[1] = first;
    assert_says(g, p, "READ_UNWRITTEN", "step 0 needs rows of '");
    p->steps[1] = p->steps[0];
    p->steps[0] = first;
    assert_says(g, p, "OK", "");
    p->steps[2] = p->steps[1];
    p->steps[1] = last;
    assert_says(g, p, "BAD_BAND", "what the last step of band 0 writes is a ring");
    ig_plan_free(p);
    p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF});
    first = p->steps[0];
    p->steps[0] = p->steps[1];
    p->steps[1] = first;
    assert_says(g, p, "BAD_ORDER", "step 0 reads '"); /* whole tensors: steps, not rows, are out of order */
    ig_plan_free(p);
    ig_graph_free(g);
}

/*
 * Rows of a few columns are no rows of a ring, nor of what stays whole in a band: whoever makes them would not know who
 * waits for which. The plan is right but for the band.
 */
static void columns_of_a_member_are_no_rows(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 16, 16, 3), 8, 3, 1, -1), y = net_slice(g, x, 2, 0, 8, 1);
    struct ig_band band = {.first = 0, .last = 2, .rows = 1};
    (void)state;
    ig_add_output(g, net_conv(g, y, 8, 1, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF});
    assert_int_equal(p->n_steps, 3);
    assert_null(p->steps[1].kernel);
    assert_int_equal(p->steps[0].scratch_bytes, 0);
    free(p->bands);
    p->bands = malloc(sizeof band);
    assert_non_null(p->bands);
    *p->bands = band;
    p->n_bands = 1;
    p->buffers[x].first = p->buffers[y].first = 2;
    for (int32_t v = 0; v < g->n_values; v++)
        if (p->buffers[v].last < 2) p->buffers[v].last = 2;
    assert_says(g, p, "BAD_BAND", "band 0 has steps that cannot go by rows");
    ig_plan_free(p);
    ig_graph_free(g);
}

/* A ring that is too short loses rows; with its bytes it is the reader that misses them. */
static void rings_lose_rows(void **state)
{
    struct ig_graph *g = three_layers();
    struct ig_plan *p = banded(g, 1, 0);
    struct ig_plan_buffer *ring = &p->buffers[g->nodes[1].out[0]];
    (void)state;
    assert_int_equal(ring->ring_rows, 4);
    ring->bytes = ring->bytes / 4 * 3;
    ring->ring_rows = 3;
    assert_says(g, p, "READ_OVERWRITTEN", "that a ring of 3 has lost");
    set_cut(p, 2, 1, 6, 3); /* what comes first is said first */
    assert_says(g, p, "PHASE_GAP", "step 2 never makes row 18");
    ig_plan_free(p);
    ig_graph_free(g);
}

static void verdicts_have_names(void **state)
{
    static const char *const names[IG_VERDICTS] = {
        [IG_PLAN_OK] = "OK", [IG_BAD_COUNT] = "BAD_COUNT", [IG_BAD_ORDER] = "BAD_ORDER", [IG_BAD_ALIAS] = "BAD_ALIAS",
        [IG_BAD_CUT] = "BAD_CUT", [IG_PHASE_GAP] = "PHASE_GAP", [IG_PHASE_TWICE] = "PHASE_TWICE",
        [IG_READ_UNWRITTEN] = "READ_UNWRITTEN", [IG_READ_OVERWRITTEN] = "READ_OVERWRITTEN",
        [IG_OVERLAP_LIVE] = "OVERLAP_LIVE", [IG_OVER_BUDGET] = "OVER_BUDGET"};
    (void)state;
    for (int i = 0; i < IG_VERDICTS; i++) {
        assert_true(strlen(ig_verdict_name(i)) > 1);
        if (names[i]) assert_string_equal(ig_verdict_name(i), names[i]);
        for (int k = 0; k < i; k++) assert_string_not_equal(ig_verdict_name(i), ig_verdict_name(k));
    }
    assert_string_equal(ig_verdict_name(-1), "?");
    assert_string_equal(ig_verdict_name(IG_VERDICTS), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces),
        cmocka_unit_test(pieces_of_a_band),
        cmocka_unit_test(phases_higher_than_pieces),
        cmocka_unit_test(kept_rows_are_made_once),
        cmocka_unit_test(rows_are_written_before_they_are_read),
        cmocka_unit_test(columns_of_a_member_are_no_rows),
        cmocka_unit_test(rings_lose_rows),
        cmocka_unit_test(verdicts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
