/* The validator: no fault in a plan goes unnoticed, and each is called by its name or by one that comes
 * before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "tests/support/nets.h"

enum { NETS = 40, MUTATIONS = 200 };

struct subject {
    struct ig_graph *g;
    struct ig_plan *p;       /* the sound plan */
    struct ig_plan q;        /* the one to break; arrays of its own */
    struct rng r;
    int64_t budget;
};

static void copy_plan(struct subject *s)
{
    s->q = *s->p;
    s->q.steps = test_calloc((size_t)s->p->n_steps, sizeof *s->q.steps);
    s->q.buffers = test_calloc((size_t)s->p->n_buffers, sizeof *s->q.buffers);
    s->q.bands = test_calloc((size_t)s->p->n_bands + 1, sizeof *s->q.bands);
    if (s->p->n_bands) memcpy(s->q.bands, s->p->bands, (size_t)s->p->n_bands * sizeof *s->q.bands);
    memcpy(s->q.steps, s->p->steps, (size_t)s->p->n_steps * sizeof *s->q.steps);
    memcpy(s->q.buffers, s->p->buffers, (size_t)s->p->n_buffers * sizeof *s->q.buffers);
    s->budget = 0;
}

static void drop_copy(struct subject *s)
{
    test_free(s->q.steps);
    test_free(s->q.buffers);
    test_free(s->q.bands);
}

static struct ig_plan_buffer *any_buffer(struct subject *s)
{
    return &s->q.buffers[rng_int(&s->r, 0, s->q.n_buffers - 1)];
}

/* A buffer that owns storage in the arena, or NULL. */
static struct ig_plan_buffer *any_owner(struct subject *s)
{
    for (int tries = 0; tries < 200; tries++) {
        struct ig_plan_buffer *b = any_buffer(s);
        if (b->memory == IG_MEMORY_ARENA && b->alias_of < 0) return b;
    }
    return NULL;
}

/* A ring, or NULL. */
static struct ig_plan_buffer *any_ring(struct subject *s)
{
    for (int tries = 0; s->q.n_bands && tries < 200; tries++) {
        struct ig_plan_buffer *b = any_buffer(s);
        if (b->ring_rows) return b;
    }
    return NULL;
}

static struct ig_plan_step *any_kernel_step(struct subject *s)
{
    for (int tries = 0; tries < 200; tries++) {
        struct ig_plan_step *step = &s->q.steps[rng_int(&s->r, 0, s->q.n_steps - 1)];
        if (step->kernel) return step;
    }
    return NULL;
}

/* --- mutations: each breaks the plan so that the verdict is known; 0: not possible in this plan --- */

static int drop_record(struct subject *s)
{
    if (rng_one_in(&s->r, 2)) s->q.n_buffers--;
    else s->q.n_steps--;
    return IG_BAD_COUNT;
}

static int repeat_record(struct subject *s)
{
    if (s->q.n_steps < 2) return 0;
    s->q.steps[1].node = s->q.steps[0].node;
    return IG_BAD_COUNT;
}

static int other_kernel(struct subject *s)
{
    struct ig_plan_step *step = any_kernel_step(s);
    const struct ig_kernel *k = ig_kernel_at(rng_int(&s->r, 0, ig_kernel_count() - 1));
    if (!step || k->op == step->kernel->op) return 0;
    step->kernel = k;
    return IG_BAD_KERNEL;
}

static int no_kernel(struct subject *s)
{
    struct ig_plan_step *step = any_kernel_step(s);
    if (!step) return 0;
    step->kernel = NULL;
    return IG_BAD_ALIAS; /* what looks like a view moves data */
}

static int other_size(struct subject *s)
{
    struct ig_plan_buffer *b = any_buffer(s);
    b->bytes += rng_one_in(&s->r, 2) ? 4 : -4;
    return IG_BAD_SIZE;
}

static int unaligned(struct subject *s)
{
    struct ig_plan_buffer *b = any_owner(s);
    if (!b) return 0;
    b->offset += 4;
    return IG_MISALIGNED;
}

static int out_of_arena(struct subject *s)
{
    struct ig_plan_buffer *b = any_owner(s);
    if (!b) return 0;
    b->offset += (s->q.arena_bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
    return IG_OUT_OF_ARENA;
}

static int before_arena(struct subject *s)
{
    struct ig_plan_buffer *b = any_owner(s);
    if (!b) return 0;
    b->offset = -(int64_t)IG_ALIGN;
    return IG_OUT_OF_ARENA;
}

static int other_memory(struct subject *s)
{
    struct ig_plan_buffer *b = &s->q.buffers[s->g->outputs[0]];
    b->memory = IG_MEMORY_ARENA;
    return IG_OUT_OF_ARENA;
}

static int swapped_steps(struct subject *s)
{
    for (int32_t i = 0; i + 1 < s->q.n_steps; i++) {
        const struct ig_node *a = &s->g->nodes[s->q.steps[i].node], *b = &s->g->nodes[s->q.steps[i + 1].node];
        if (!s->q.steps[i].kernel || !s->q.steps[i + 1].kernel || b->in[0] != a->out[0]) continue;
        struct ig_plan_step t = s->q.steps[i];
        s->q.steps[i] = s->q.steps[i + 1];
        s->q.steps[i + 1] = t;
        return IG_BAD_ORDER;
    }
    return 0;
}

static int other_life(struct subject *s)
{
    struct ig_plan_buffer *b = any_buffer(s);
    *(rng_one_in(&s->r, 2) ? &b->first : &b->last) += rng_one_in(&s->r, 2) ? 1 : -1;
    return IG_BAD_ORDER;
}

/* A piece, slice or shape of another value, moved by a pixel's worth within it. */
static int moved_view(struct subject *s)
{
    for (int tries = 0; tries < 200; tries++) {
        struct ig_plan_buffer *b = any_buffer(s);
        int32_t producer = s->g->values[b->value].producer;
        if (b->view.root == b->value || b->memory == IG_MEMORY_NONE || producer < 0) continue;
        b->offset += b->offset ? -4 : 4;
        return IG_BAD_ALIAS;
    }
    return 0;
}

static int32_t last_read(const struct subject *s, int32_t v)
{
    int32_t last = -1;
    for (int32_t i = 0; i < s->g->n_nodes; i++)
        for (int32_t k = 0; k < s->g->nodes[i].n_in; k++)
            if (s->g->nodes[i].in[k] == v) last = i;
    return last;
}

/* An element-wise result is put over an operand that is still needed. */
static int overwritten_skip(struct subject *s)
{
    for (int32_t i = 0; i < s->q.n_steps; i++) {
        const struct ig_node *n = &s->g->nodes[i];
        if (!s->q.steps[i].kernel || !(s->q.steps[i].kernel->flags & IG_IN_PLACE_0)) continue;
        struct ig_plan_buffer *x = &s->q.buffers[n->in[0]], *y = &s->q.buffers[n->out[0]];
        if (x->memory != IG_MEMORY_ARENA || y->memory != IG_MEMORY_ARENA || x->alias_of >= 0 ||
            y->alias_of >= 0)
            continue;
        if (x->bytes != y->bytes || x->view.root != x->value || last_read(s, n->in[0]) <= i) continue;
        int32_t shared = 0;
        for (int32_t v = 0; v < s->q.n_buffers; v++) shared += s->q.buffers[v].alias_of == y->value;
        if (shared) continue;
        y->alias_of = x->value;
        y->offset = x->offset;
        if (y->last > x->last) x->last = y->last;
        y->first = i;
        return IG_BAD_ALIAS;
    }
    return 0;
}

static int other_owner(struct subject *s)
{
    struct ig_plan_buffer *b = any_buffer(s);
    const struct ig_plan_buffer *to = any_owner(s);
    if (!to || b->alias_of < 0 || to->value == b->alias_of || to->value == b->value) return 0;
    b->alias_of = to->value;
    return IG_BAD_ALIAS;
}

static int other_cut(struct subject *s)
{
    struct ig_plan_step *step = any_kernel_step(s);
    if (!step) return 0;
    switch (rng_int(&s->r, 0, 2)) {
    case 0: step->chunks++; break;
    case 1: step->split = 3; break;
    default:
        step->split = 1;
        step->chunk = 0;
    }
    return IG_BAD_CUT;
}

/* Somebody moves to where a neighbour in time lives. */
static int shared_bytes(struct subject *s)
{
    for (int tries = 0; tries < 100; tries++) {
        struct ig_plan_buffer *a = any_owner(s), *b = any_owner(s);
        if (!a || !b || a == b || a->first > b->last || b->first > a->last) continue;
        int64_t move = b->offset - a->offset;
        for (int32_t v = 0; v < s->q.n_buffers; v++)
            if (v == a->value || s->q.buffers[v].alias_of == a->value) s->q.buffers[v].offset += move;
        if (a->offset + a->bytes > s->q.arena_bytes) s->q.arena_bytes = a->offset + a->bytes;
        return IG_OVERLAP_LIVE;
    }
    return 0;
}

static int other_height(struct subject *s)
{
    switch (rng_int(&s->r, 0, 2)) {
    case 0: s->q.arena_bytes += IG_ALIGN; break;
    case 1: s->q.scratch_bytes += IG_ALIGN; break;
    default: s->q.weights_bytes += IG_ALIGN;
    }
    return IG_BAD_HEIGHT;
}

static int other_bound(struct subject *s)
{
    s->q.arena_lower_bound_bytes += rng_one_in(&s->r, 2) ? 1 : -1;
    return IG_BAD_BOUND;
}

static int tight_budget(struct subject *s)
{
    s->budget = s->q.arena_bytes + s->q.weights_bytes - 1;
    return IG_OVER_BUDGET;
}

/* Half the rows. Resizes ask for more than they read. */
static int short_ring(struct subject *s)
{
    struct ig_plan_buffer *b = any_ring(s);
    if (!b || b->ring_rows < 2 || net_count(s->g, IG_RESIZE)) return 0;
    b->bytes = b->bytes / b->ring_rows * (b->ring_rows / 2);
    b->ring_rows /= 2;
    return IG_READ_OVERWRITTEN;
}

static int ring_past_scratch(struct subject *s)
{
    struct ig_plan_buffer *b = any_ring(s);
    if (!b) return 0;
    b->offset = s->q.scratch_bytes;
    return IG_OUT_OF_ARENA;
}

static int ring_in_arena(struct subject *s)
{
    struct ig_plan_buffer *b = any_ring(s);
    if (!b) return 0;
    if (rng_one_in(&s->r, 2)) b->memory = IG_MEMORY_ARENA;
    else b->ring_rows = 0;
    return IG_BAD_BAND;
}

/* Two rings of a band share bytes. */
static int shared_rings(struct subject *s)
{
    for (int tries = 0; tries < 50; tries++) {
        struct ig_plan_buffer *a = any_ring(s), *b = any_ring(s);
        if (!a || !b || a == b || a->first != b->first) continue;
        a->offset = b->offset;
        if (a->offset + a->bytes > s->q.scratch_bytes) continue;
        return IG_OVERLAP_LIVE;
    }
    return 0;
}

static int other_band(struct subject *s)
{
    if (!s->q.n_bands) return 0;
    struct ig_band *b = &s->q.bands[rng_int(&s->r, 0, s->q.n_bands - 1)];
    switch (rng_int(&s->r, 0, 3)) {
    case 0: b->first = b->last; return IG_BAD_BAND;
    case 1: b->last = b->first; return IG_BAD_BAND;
    case 2: s->q.bands[s->q.n_bands - 1] = s->q.bands[0]; return s->q.n_bands > 1 ? IG_BAD_BAND : 0;
    default: b->rows = 0; return IG_BAD_CUT;
    }
}

typedef int mutation_fn(struct subject *s);

static const struct { const char *name; mutation_fn *run; } mutations[] = {
    {"drop_record", drop_record},     {"repeat_record", repeat_record}, {"other_kernel", other_kernel},
    {"no_kernel", no_kernel},         {"other_size", other_size},       {"unaligned", unaligned},
    {"out_of_arena", out_of_arena},   {"before_arena", before_arena},   {"other_memory", other_memory},
    {"swapped_steps", swapped_steps}, {"other_life", other_life},       {"moved_view", moved_view},
    {"overwritten_skip", overwritten_skip}, {"other_owner", other_owner}, {"other_cut", other_cut},
    {"shared_bytes", shared_bytes},   {"other_height", other_height},   {"other_bound", other_bound},
    {"tight_budget", tight_budget},   {"short_ring", short_ring},       {"ring_past_scratch", ring_past_scratch},
    {"ring_in_arena", ring_in_arena}, {"shared_rings", shared_rings},   {"other_band", other_band},
};
enum { N_MUTATIONS = sizeof mutations / sizeof *mutations };

static int apply(struct subject *s, int which, uint64_t seed)
{
    char why[512];
    copy_plan(s);
    int expected = mutations[which].run(s);
    if (expected) {
        int verdict = ig_validate(s->g, &s->q, s->budget, why, sizeof why);
        if (verdict == IG_PLAN_OK || verdict > expected)
            fail_msg("seed %d: %s gives %s, not %s (%s)", (int)seed, mutations[which].name,
                     ig_verdict_name(verdict), ig_verdict_name(expected), why);
        if (!why[0]) fail_msg("%s: no reason given", mutations[which].name);
    }
    drop_copy(s);
    return expected;
}

static struct subject begin(uint64_t seed)
{
    struct subject s = {.r = {seed}};
    char text[512];
    s.g = seed % 8 == 0   ? net_dense(rng_int(&s.r, 1, 8), (int)(seed / 8 % 2))
          : seed % 4 == 1 ? net_chain(&s.r, rng_int(&s.r, 4, 14))
                          : net_random(&s.r, rng_int(&s.r, 5, 50));
    ig_prepare_views(s.g);
    struct ig_plan_options o = {
        .target = "host", .isa = seed % 3 ? IG_ISA_AVX2 : IG_ISA_REF, .threads = 1 + (int)seed % 4,
        .bands = seed % 3 == 2 ? IG_BANDS_OFF : IG_BANDS_ALL};
    s.p = ig_plan_make(s.g, &o, text, sizeof text);
    if (!s.p) fail_msg("%s", text);
    int verdict = ig_validate(s.g, s.p, 0, text, sizeof text);
    if (verdict) fail_msg("seed %d: sound plan: %s: %s", (int)seed, ig_verdict_name(verdict), text);
    return s;
}

static void mutations_are_found(void **state)
{
    int applied[N_MUTATIONS] = {0};
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct subject s = begin(seed);
        for (int i = 0; i < MUTATIONS; i++) applied[i % N_MUTATIONS] += apply(&s, i % N_MUTATIONS, seed) != 0;
        ig_plan_free(s.p);
        ig_graph_free(s.g);
    }
    for (int i = 0; i < N_MUTATIONS; i++)
        if (applied[i] < 5) fail_msg("%s was possible only %d times", mutations[i].name, applied[i]);
}

/*
 * Blind damage: a random field of a random buffer or step changes. Whatever the validator accepts must still
 * compute the same bits.
 */
static int damage(struct subject *s)
{
    struct ig_plan_buffer *b = any_buffer(s);
    struct ig_plan_step *step = any_kernel_step(s);
    int32_t small = rng_int(&s->r, -2, 2);
    struct ig_band *band = s->q.n_bands ? &s->q.bands[rng_int(&s->r, 0, s->q.n_bands - 1)] : NULL;
    switch (rng_int(&s->r, band ? -4 : 0, 7)) {
    case -4: band->rows += small; break;
    case -3: *(small > 0 ? &band->first : &band->last) += small; break;
    case -2:
        if (!(b = any_ring(s))) break;
        b->ring_rows += small;
        b->bytes = b->ring_rows * b->view.row_stride * 4;
        break;
    case -1:
        if ((b = any_ring(s))) b->offset += 64 * (int64_t)small;
        break;
    case 0: b->offset += 64 * (int64_t)small; break;
    case 1: b->view.row_stride += small; break;
    case 2: b->view.pixel_stride += small; break;
    case 3: b->alias_of = rng_int(&s->r, -1, s->q.n_buffers - 1); break;
    case 4: b->offset = any_buffer(s)->offset; break;
    case 5: b->memory = rng_int(&s->r, 0, 4); break;
    case 6: step->chunk = rng_int(&s->r, 0, 4), step->chunks = rng_int(&s->r, 1, 4); break;
    default: step->split = rng_int(&s->r, 0, 2), step->chunk = 1, step->chunks = rng_int(&s->r, 1, 12);
    }
    char why[512];
    return ig_validate(s->g, &s->q, 0, why, sizeof why);
}

static void survivors_are_harmless(void **state)
{
    int survivors = 0, killed = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed += 3) {
        struct subject s = begin(seed); /* multiples of 3 are planned for the reference kernels */
        void *expected[64], *got[64];
        net_run_plan(s.g, s.p, seed, expected);
        for (int i = 0; i < MUTATIONS; i++) {
            copy_plan(&s);
            int verdict = damage(&s);
            killed += verdict != IG_PLAN_OK;
            survivors += verdict == IG_PLAN_OK;
            for (int32_t o = 0; o < s.g->n_outputs && verdict == IG_PLAN_OK; o++) {
                if (!o) net_run_plan(s.g, &s.q, seed, got);
                if (memcmp(expected[o], got[o], (size_t)ig_bytes(&s.g->values[s.g->outputs[o]].shape)))
                    fail_msg("seed %d: an accepted plan computes something else", (int)seed);
                test_free(got[o]);
            }
            drop_copy(&s);
        }
        for (int32_t o = 0; o < s.g->n_outputs; o++) test_free(expected[o]);
        ig_plan_free(s.p);
        ig_graph_free(s.g);
    }
    assert_true(killed > 10 * NETS && survivors > NETS);
}

static void verdicts_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < IG_VERDICTS; i++) assert_true(strlen(ig_verdict_name(i)) > 1);
    assert_string_equal(ig_verdict_name(IG_OVERLAP_LIVE), "OVERLAP_LIVE");
    assert_string_equal(ig_verdict_name(-1), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutations_are_found),
        cmocka_unit_test(survivors_are_harmless),
        cmocka_unit_test(verdicts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
