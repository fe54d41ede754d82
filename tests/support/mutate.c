/* Mutations: each breaks a plan so that the verdict is known. */
#include "tests/support/mutate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "tests/support/mutate_rows.h"
#include "tests/support/nets.h"

void subject_copy(struct subject *s)
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

void subject_drop(struct subject *s)
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

struct ig_plan_step *any_kernel_step(struct subject *s)
{
    for (int tries = 0; tries < 200; tries++) {
        struct ig_plan_step *step = &s->q.steps[rng_int(&s->r, 0, s->q.n_steps - 1)];
        if (step->kernel) return step;
    }
    return NULL;
}


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
        const struct ig_band *band = ig_band_of(&s->q, i);
        return band && band == ig_band_of(&s->q, i + 1) ? IG_READ_UNWRITTEN : IG_BAD_ORDER;
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
    case 0:
        if (!step->split) return 0;
        step->chunks++;
        break;
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
        if (s->q.n_bands && (a->first == b->last || b->first == a->last)) continue; /* rows may keep them apart */
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

/* Does the step that writes b read a, and may not write over it? */
static int is_fed_by(const struct subject *s, const struct ig_plan_buffer *b, const struct ig_plan_buffer *a)
{
    int32_t producer = s->g->values[b->value].producer;
    const struct ig_kernel *kernel = producer < 0 ? NULL : s->q.steps[producer].kernel;
    if (!kernel || (kernel->flags & (IG_IN_PLACE_0 | IG_IN_PLACE_1 | IG_IN_PLACE_3))) return 0;
    for (int32_t k = 0; producer >= 0 && k < s->g->nodes[producer].n_in; k++)
        if (s->g->nodes[producer].in[k] == a->value) return 1;
    return 0;
}

/* Two rings of a band share bytes, while one is made of the other. */
static int shared_rings(struct subject *s)
{
    for (int tries = 0; tries < 50; tries++) {
        struct ig_plan_buffer *a = any_ring(s), *b = any_ring(s);
        if (!a || !b || a->alias_of >= 0 || b->alias_of >= 0 || !is_fed_by(s, b, a)) continue;
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
    int alone;
    switch (rng_int(&s->r, 0, 3)) {
    case 0: alone = b->first == b->last; b->first = b->last; return alone ? 0 : IG_BAD_ORDER; /* a step may be alone */
    case 1: alone = b->first == b->last; b->last = b->first; return alone ? 0 : IG_BAD_ORDER;
    case 2: s->q.bands[s->q.n_bands - 1] = s->q.bands[0]; return s->q.n_bands > 1 ? IG_BAD_BAND : 0;
    default: b->rows = 0; return IG_BAD_CUT;
    }
}

/* A step with scratch, or NULL. */
static struct ig_plan_step *any_scratch(struct subject *s)
{
    for (int tries = 0; tries < 200; tries++) {
        struct ig_plan_step *step = &s->q.steps[rng_int(&s->r, 0, s->q.n_steps - 1)];
        if (step->scratch_bytes) return step;
    }
    return NULL;
}

static int moved_scratch(struct subject *s)
{
    struct ig_plan_step *step = any_scratch(s);
    if (!step) return 0;
    switch (rng_int(&s->r, 0, 2)) {
    case 0: step->scratch_offset += 4; return IG_MISALIGNED;
    case 1: step->scratch_offset = -(int64_t)IG_ALIGN; return IG_OUT_OF_ARENA;
    default: step->scratch_offset += (s->q.arena_bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN; return IG_OUT_OF_ARENA;
    }
}

static int other_scratch(struct subject *s)
{
    struct ig_plan_step *step = any_scratch(s);
    if (!step) return 0;
    step->scratch_bytes += rng_one_in(&s->r, 2) ? IG_ALIGN : -IG_ALIGN;
    return IG_BAD_HEIGHT;
}

/* A step's scratch goes where a tensor is that lives then. */
static int scratch_on_tensor(struct subject *s)
{
    struct ig_plan_step *step = any_scratch(s);
    for (int tries = 0; step && tries < 100; tries++) {
        const struct ig_plan_buffer *b = any_owner(s);
        int32_t now = (int32_t)(step - s->q.steps);
        if (!b || b->first > now || b->last < now) continue;
        int64_t end = b->offset + step->scratch_bytes * ig_scratch_threads(&s->q, step);
        step->scratch_offset = b->offset;
        if (end > s->q.arena_bytes) s->q.arena_bytes = end;
        return IG_OVERLAP_LIVE;
    }
    return 0;
}

/* A result over its operand, or NULL. */
static struct ig_plan_buffer *any_in_place(struct subject *s)
{
    for (int tries = 0; tries < 200; tries++) {
        struct ig_plan_buffer *b = any_buffer(s);
        if (b->memory == IG_MEMORY_ARENA && b->alias_of >= 0 && b->view.root == b->value) return b;
    }
    return NULL;
}

static int moved_in_place(struct subject *s)
{
    struct ig_plan_buffer *b = any_in_place(s);
    if (!b) return 0;
    b->offset += rng_one_in(&s->r, 2) ? IG_ALIGN : -IG_ALIGN;
    return IG_BAD_ALIAS;
}

/* It claims storage of its own, but is where its operand still is. */
static int owned_in_place(struct subject *s)
{
    struct ig_plan_buffer *b = any_in_place(s);
    if (!b) return 0;
    b->alias_of = -1;
    return IG_OVERLAP_LIVE;
}

/* The first ring of a band moves to where the kernels have their scratch. */
static int ring_on_scratch(struct subject *s)
{
    struct ig_plan_buffer *first = any_ring(s);
    for (int32_t v = 0; first && v < s->q.n_buffers; v++) {
        struct ig_plan_buffer *b = &s->q.buffers[v];
        if (b->ring_rows && b->first == first->first && b->offset < first->offset) first = b;
    }
    if (!first || !first->offset) return 0;
    first->offset = 0;
    return IG_OVERLAP_LIVE;
}

static int narrow_ring(struct subject *s)
{
    struct ig_plan_buffer *b = any_ring(s);
    if (!b) return 0;
    b->view.row_stride--;
    return IG_BAD_SIZE;
}

typedef int mutation_fn(struct subject *s);

enum { EXACT = 1 }; /* that verdict and no other */

static const struct { const char *name; mutation_fn *run; int exact; } mutations[] = {
    {"drop_record", drop_record, 0}, {"repeat_record", repeat_record, 0}, {"other_kernel", other_kernel, 0},
    {"no_kernel", no_kernel, 0}, {"other_size", other_size, 0}, {"unaligned", unaligned, 0},
    {"out_of_arena", out_of_arena, 0}, {"before_arena", before_arena, 0}, {"other_memory", other_memory, 0},
    {"swapped_steps", swapped_steps, 0}, {"other_life", other_life, 0}, {"moved_view", moved_view, 0},
    {"overwritten_skip", overwritten_skip, 0}, {"other_owner", other_owner, 0}, {"other_cut", other_cut, 0},
    {"shared_bytes", shared_bytes, 0}, {"other_height", other_height, 0}, {"other_bound", other_bound, 0},
    {"tight_budget", tight_budget, 0}, {"short_ring", short_ring, 0},
    {"ring_past_scratch", ring_past_scratch, 0}, {"ring_in_arena", ring_in_arena, 0},
    {"shared_rings", shared_rings, 0}, {"other_band", other_band, 0}, {"moved_scratch", moved_scratch, 0},
    {"other_scratch", other_scratch, 0}, {"scratch_on_tensor", scratch_on_tensor, 0},
    {"moved_in_place", moved_in_place, 0}, {"owned_in_place", owned_in_place, 0},
    {"ring_on_scratch", ring_on_scratch, 0}, {"narrow_ring", narrow_ring, 0}, {"lost_piece", lost_piece, EXACT},
    {"short_pieces", short_pieces, EXACT}, {"whole_pieces", whole_pieces, EXACT},
    {"cut_keeping_band", cut_keeping_band, EXACT}, {"swapped_members", swapped_members, EXACT},
};
_Static_assert(sizeof mutations / sizeof *mutations == N_MUTATIONS, "as many as the header says");

const char *mutation_name(int which)
{
    return mutations[which].name;
}

int mutation_apply(struct subject *s, int which, uint64_t seed)
{
    char why[512];
    subject_copy(s);
    int expected = mutations[which].run(s);
    if (expected) {
        int verdict = ig_validate(s->g, &s->q, s->budget, why, sizeof why);
        if (mutations[which].exact ? verdict != expected : verdict == IG_PLAN_OK || verdict > expected)
            fail_msg("%s, seed %d: %s gives %s, not %s (%s)", s->g->name, (int)seed, mutations[which].name,
                     ig_verdict_name(verdict), ig_verdict_name(expected), why);
        if (!why[0]) fail_msg("%s: no reason given", mutations[which].name);
    }
    subject_drop(s);
    return expected;
}

int mutation_damage(struct subject *s)
{
    struct ig_plan_buffer *b = any_buffer(s);
    struct ig_plan_step *step = any_kernel_step(s);
    int32_t small = rng_int(&s->r, -2, 2);
    struct ig_band *band = s->q.n_bands ? &s->q.bands[rng_int(&s->r, 0, s->q.n_bands - 1)] : NULL;
    switch (rng_int(&s->r, band ? -4 : 0, 9)) {
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
    case 8: step->scratch_offset += 64 * (int64_t)small; break;
    case 9: step->scratch_bytes += 64 * (int64_t)small; break;
    case 6: step->chunk = rng_int(&s->r, 0, 4), step->chunks = rng_int(&s->r, 1, 4); break;
    default: step->split = rng_int(&s->r, 0, 2), step->chunk = 1, step->chunks = rng_int(&s->r, 1, 12);
    }
    char why[512];
    return ig_validate(s->g, &s->q, 0, why, sizeof why);
}

