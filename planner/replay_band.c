/*
 * A band run in the shadow: every member's rows carry their numbers, by slot of the ring or, where they stay whole, by
 * row. Who reads a row must find that number in what every piece of the operand was written by. Rows that stay are made
 * once in all pieces together, the others once in each piece.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"
#include "planner/box.h"
#include "planner/validate_bands.h"

struct tap {
    int32_t first, count, step;
}; /* rows first, first + step, ... */

/* The rows of operand k that output row y is made of. */
static struct tap taps_of(const struct ig_node *n, const struct ig_call *call, int32_t k, int32_t y)
{
    const struct ig_window *w = n->op == IG_POOL ? &n->attrs.pool.w : &n->attrs.conv.w;
    int32_t in = call->in[k].h, out = call->out[0].h;
    if (n->op == IG_RESIZE) return (struct tap){(int32_t)((int64_t)y * in / out) - 1, 3, 1};
    if (k == 0 && n->op == IG_DECONV) {
        int32_t low = y + w->top - (w->kh - 1) * w->dh, first = low <= 0 ? 0 : (low + w->sh - 1) / w->sh;
        return (struct tap){first, (y + w->top) / w->sh - first + 1, 1};
    }
    if (k == 0 &&
        (n->op == IG_CONV || n->op == IG_POOL || n->op == IG_CONV_INTEGER || n->op == IG_QLINEAR_CONV))
        return (struct tap){y * w->sh - w->top, w->kh, w->dh};
    return (struct tap){y, 1, 1};
}

struct operand {            /* of a member */
    uint32_t made_of;       /* members that wrote what it reads */
    uint32_t waits_for;     /* members before it that write into the same storage */
    int is_over;            /* it lies outside, where the last member writes */
    int is_measured;        /* it is all of what the distance is asked for */
    int in_place;           /* it lies in a ring where this member writes, which its kernel may */
    struct ig_reach reach;
};

struct shadow_band {
    const struct ig_graph *g;
    const struct ig_plan *p;
    const struct ig_call *calls;
    struct ig_walked w;
    struct operand operands[IG_MAX_BAND][IG_MAX_IN];
    int32_t *tags[IG_MAX_BAND]; /* by slot: the row there; -1: none */
    uint32_t overlaps[IG_MAX_BAND]; /* other members that write into the same channels of the same storage */
    uint32_t kept;              /* members whose rows stay */
    uint32_t several;           /* those, and members whose rows two operands are waited for to have */
    uint8_t *made[IG_MAX_BAND]; /* by row: it was, in this piece; of members whose rows stay: in any */
    int32_t done[IG_MAX_BAND];
    int by_tiles;               /* phases are the last member's tile */
    int32_t measured;           /* owner of which the distance is asked for; -1 */
    int64_t distance;           /* so far */
    struct ig_row_fault fault;
};

static void note(struct shadow_band *s, int verdict, int32_t member, int32_t value, int32_t row)
{
    if (verdict && (!s->fault.verdict || verdict < s->fault.verdict))
        s->fault = (struct ig_row_fault){verdict, s->w.step[member], value, row};
}

static const struct ig_node *node_of(const struct shadow_band *s, int32_t i)
{
    return &s->g->nodes[s->p->steps[s->w.step[i]].node];
}

static const struct ig_call *call_of(const struct shadow_band *s, int32_t i)
{
    return &s->calls[s->w.step[i]];
}

static int32_t rows_of(const struct shadow_band *s, int32_t i)
{
    return call_of(s, i)->out[0].h;
}

static int32_t tile_of(const struct shadow_band *s, int32_t i)
{
    return s->p->steps[s->w.step[i]].kernel->row_tile;
}

/* Slots that the rows of member i go round in. */
static int32_t slots_of(const struct shadow_band *s, int32_t i)
{
    int32_t ring = s->p->buffers[s->w.value[i]].ring_rows;
    return ring > 0 ? ring : rows_of(s, i);
}

/* --- who reads what --- */

/* Values that steps which run nothing tie together have one number. */
static int32_t *tie_values(const struct ig_graph *g, const struct ig_plan *p)
{
    int32_t *tie = ig_must_alloc((size_t)g->n_values, sizeof *tie);
    for (int32_t v = 0; v < g->n_values; v++) tie[v] = v;
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        for (int32_t k = 0; !p->steps[i].kernel && k < n->n_in; k++) {
            if (n->in[k] < 0) continue;
            int32_t from = tie[n->in[k]], to = tie[n->out[0]];
            for (int32_t v = 0; v < g->n_values && from != to; v++)
                if (tie[v] == from) tie[v] = to;
        }
    }
    return tie;
}

static int32_t member_of(const struct shadow_band *s, int32_t value)
{
    for (int32_t i = 0; i < s->w.n; i++)
        if (s->w.value[i] == value) return i;
    return -1;
}

/* Does it lie where the last member writes? */
static int is_under(const struct shadow_band *s, int32_t value)
{
    const struct ig_plan_buffer *in = &s->p->buffers[value], *out = &s->p->buffers[s->w.value[s->w.n - 1]];
    struct ig_box from = ig_box_of(s->g, in), to = ig_box_of(s->g, out);
    return in->memory == IG_MEMORY_ARENA && out->memory == IG_MEMORY_ARENA && ig_box_meet(&from, &to);
}

static int32_t owner_of(const struct shadow_band *s, int32_t value)
{
    int32_t owner = s->p->buffers[value].alias_of;
    return owner < 0 ? value : owner;
}

static void find_operand(struct shadow_band *s, int32_t i, int32_t k, const int32_t *tie, int32_t *pieces)
{
    struct operand *o = &s->operands[i][k];
    int32_t v = node_of(s, i)->in[k];
    *o = (struct operand){0};
    if (v < 0) return;
    int32_t n = ig_pieces_of(s->g, s->p, v, pieces, 0);
    for (int32_t j = 0; j < n; j++) {
        int32_t m = member_of(s, pieces[j]);
        if (m >= 0) o->made_of |= 1u << m;
        else if (i < s->w.n - 1 || owner_of(s, v) != owner_of(s, s->w.value[i])) o->is_over |= is_under(s, v);
    }
    o->is_measured = s->measured >= 0 && owner_of(s, v) == s->measured;
    for (int32_t m = 0; m < i; m++)
        if (tie[s->w.value[m]] == tie[v]) o->waits_for |= 1u << m;
}

/* Is operand k one whole tensor, each row of which the member may write over when it has read it? */
static int is_in_place(const struct shadow_band *s, int32_t i, int32_t k)
{
    static const int32_t flags[] = {IG_IN_PLACE_0, IG_IN_PLACE_1, 0, IG_IN_PLACE_3};
    const struct ig_plan_buffer *x = &s->p->buffers[node_of(s, i)->in[k]], *y = &s->p->buffers[s->w.value[i]];
    const struct ig_operand *in = &call_of(s, i)->in[k], *out = &call_of(s, i)->out[0];
    struct tap t = taps_of(node_of(s, i), call_of(s, i), k, 0);
    return k < 4 && (s->p->steps[s->w.step[i]].kernel->flags & flags[k]) && x->memory == IG_MEMORY_RING &&
           y->memory == IG_MEMORY_RING && x->offset == y->offset && x->ring_rows == y->ring_rows && in->h == out->h &&
           in->w == out->w && in->c == out->c && in->row_stride == out->row_stride &&
           in->pixel_stride == out->pixel_stride && t.first == 0 && t.count == 1;
}

static int same_channels(const struct shadow_band *s, int32_t a, int32_t b)
{
    const struct ig_plan_buffer *x = &s->p->buffers[s->w.value[a]], *y = &s->p->buffers[s->w.value[b]];
    int32_t owner_x = x->alias_of < 0 ? x->value : x->alias_of, owner_y = y->alias_of < 0 ? y->value : y->alias_of;
    int64_t bytes = ig_type_bytes(s->g->values[x->value].shape.type);
    return owner_x == owner_y && x->offset < y->offset + call_of(s, b)->out[0].c * bytes &&
           y->offset < x->offset + call_of(s, a)->out[0].c * bytes;
}

static void find_operands(struct shadow_band *s)
{
    int32_t *tie = tie_values(s->g, s->p);
    int32_t *pieces = ig_must_alloc((size_t)s->g->n_values, sizeof *pieces);
    for (int32_t i = 0; i < s->w.n; i++) {
        if (s->p->buffers[s->w.value[i]].memory != IG_MEMORY_RING) s->kept |= 1u << i;
        for (int32_t k = 0; k < node_of(s, i)->n_in; k++) {
            find_operand(s, i, k, tie, pieces);
            s->operands[i][k].in_place = s->operands[i][k].made_of && is_in_place(s, i, k);
        }
        for (int32_t m = 0; m < s->w.n; m++)
            if (m != i && same_channels(s, i, m)) s->overlaps[i] |= 1u << m;
    }
    free(tie);
    free(pieces);
}

/* Has the value the rows and pixels of the storage that it is in, several rows of them? Then it is some channels of that. */
static int has_all_pixels(const struct shadow_band *s, int32_t value)
{
    int32_t images, h, w, c, all_h, all_w;
    ig_collapse(IG_RESHAPE, &s->g->values[value].shape, &images, &h, &w, &c);
    ig_collapse(IG_RESHAPE, &s->g->values[owner_of(s, value)].shape, &images, &all_h, &all_w, &c);
    return h > 1 && h == all_h && w == all_w;
}

/* Are the rows of operand k of member i those that it waits for? Finds its reach. */
static int can_follow(struct shadow_band *s, int32_t i, int32_t k)
{
    const struct ig_operand *in = &call_of(s, i)->in[k];
    struct operand *o = &s->operands[i][k];
    if (!o->waits_for && !o->is_over && !o->is_measured) return 1;
    for (int32_t m = 0; m < i; m++)
        if ((o->waits_for >> m & 1) && rows_of(s, m) != in->h) return 0;
    if (o->waits_for && !(s->p->steps[s->w.step[i]].kernel->flags & IG_STRIDED)) return 0;
    if (o->waits_for && !has_all_pixels(s, node_of(s, i)->in[k])) return 0;
    return ig_reach_of((enum ig_op)node_of(s, i)->op, call_of(s, i), k, &o->reach);
}

static int can_run(struct shadow_band *s)
{
    for (int32_t i = 0; i < s->w.n; i++) {
        const struct ig_plan_step *step = &s->p->steps[s->w.step[i]];
        int32_t images, h, w, c;
        if (!(step->kernel->flags & (IG_STRIDED | IG_RING_OUT)) || step->kernel->row_tile < 1) return 0;
        ig_collapse((enum ig_op)node_of(s, i)->op, call_of(s, i)->out[0].shape, &images, &h, &w, &c);
        if (images != 1) return 0;
        for (int32_t k = 0; k < node_of(s, i)->n_in; k++)
            if (!can_follow(s, i, k)) return 0;
    }
    return 1;
}

int ig_band_can_run(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                    const struct ig_call *calls)
{
    struct shadow_band s = {.g = g, .p = p, .calls = calls, .w = ig_walk_band(g, p, b), .measured = -1};
    find_operands(&s);
    return can_run(&s);
}

/* --- rows --- */

/* Bytes from the start of the last member's output to the end of the rows that it has written. */
static int64_t written(const struct shadow_band *s)
{
    const struct ig_plan_buffer *out = &s->p->buffers[s->w.value[s->w.n - 1]];
    return s->done[s->w.n - 1] * out->view.row_stride * ig_type_bytes(s->g->values[out->value].shape.type);
}

/* Has the last member written over that row, which lies outside? */
static int is_lost(const struct shadow_band *s, int32_t i, int32_t k, int32_t row)
{
    const struct ig_operand *in = &call_of(s, i)->in[k];
    const struct ig_plan_buffer *x = &s->p->buffers[node_of(s, i)->in[k]], *y = &s->p->buffers[s->w.value[s->w.n - 1]];
    int64_t bytes = ig_type_bytes(in->shape->type), from = x->offset + row * in->row_stride * bytes;
    return from < y->offset + written(s) && y->offset < from + ((in->w - 1) * in->pixel_stride + in->c) * bytes;
}

/* The operand's rows from `first` on must lie behind what is written. */
static void measure(struct shadow_band *s, int32_t i, int32_t k, int32_t first)
{
    const struct ig_operand *in = &call_of(s, i)->in[k];
    int64_t distance = written(s) - (first < 0 ? 0 : first) * in->row_stride * ig_type_bytes(in->shape->type);
    if (s->operands[i][k].is_measured && first < in->h && distance > s->distance) s->distance = distance;
}

/* Are all rows that row y of member i is made of where it looks for them? A verdict. */
static int find_rows(struct shadow_band *s, int32_t i, int32_t k, int32_t y)
{
    const struct operand *o = &s->operands[i][k];
    struct tap t = taps_of(node_of(s, i), call_of(s, i), k, y);
    int verdict = IG_PLAN_OK;
    measure(s, i, k, t.first);
    if (o->made_of & ~o->waits_for) return IG_READ_UNWRITTEN; /* nobody is asked for them */
    for (int32_t j = 0; j < t.count; j++) {
        int32_t row = t.first + j * t.step;
        if (row < 0 || row >= call_of(s, i)->in[k].h) continue;
        if (o->is_over && is_lost(s, i, k, row)) verdict = IG_READ_OVERWRITTEN; /* by the last one */
        for (int32_t m = 0; m < s->w.n; m++) {
            if (!(o->made_of >> m & 1) || s->tags[m][row % slots_of(s, m)] == row) continue;
            if (!s->made[m][row]) return IG_READ_UNWRITTEN;
            verdict = IG_READ_OVERWRITTEN;
        }
    }
    return verdict;
}

static const struct ig_plan_buffer *ring_of(const struct shadow_band *s, int32_t i)
{
    const struct ig_plan_buffer *b = &s->p->buffers[s->w.value[i]];
    return b->alias_of < 0 ? b : &s->p->buffers[b->alias_of];
}

/* What member m has in another ring, but where row `slot` of member i's ring is, is lost. */
static void lose_slots(struct shadow_band *s, int32_t i, int32_t slot, int32_t m)
{
    const struct ig_plan_buffer *a = ring_of(s, i), *b = ring_of(s, m);
    if (a == b || a->memory != IG_MEMORY_RING || b->memory != IG_MEMORY_RING) return;
    int64_t row = a->bytes / a->ring_rows, other = b->bytes / b->ring_rows, from = a->offset + slot * row;
    for (int32_t k = 0; k < b->ring_rows; k++)
        if (b->offset + k * other < from + row && from < b->offset + (k + 1) * other) s->tags[m][k] = -1;
}

static void write_row(struct shadow_band *s, int32_t i, int32_t y)
{
    int32_t slot = y % slots_of(s, i);
    for (int32_t m = 0; m < s->w.n; m++) {
        lose_slots(s, i, slot, m);
        if ((s->overlaps[i] >> m & 1) && slot < slots_of(s, m)) s->tags[m][slot] = -1;
    }
    s->tags[i][slot] = y;
    if (s->made[i][y]) note(s, IG_PHASE_TWICE, i, s->w.value[i], y);
    s->made[i][y] = 1;
}

static void compute(struct shadow_band *s, int32_t i, int32_t a, int32_t b);

/* Member m up to row `to`, from what is needed at the least. */
static void catch_up(struct shadow_band *s, int32_t m, int32_t from, int32_t to)
{
    int32_t tile = tile_of(s, m), h = rows_of(s, m);
    from -= from % tile;
    to += (tile - to % tile) % tile;
    if ((s->several >> m & 1) || from < s->done[m]) from = s->done[m];
    if (to > h) to = h;
    if (from < to) compute(s, m, from, to);
}

/* Everybody in `members` has rows [a, b): row after row, all of them, in the lowest phases. */
static void await(struct shadow_band *s, uint32_t members, int32_t a, int32_t b)
{
    for (int32_t to = s->by_tiles ? a + 1 : b; a < b && to <= b; to++)
        for (int32_t m = 0; m < s->w.n; m++)
            if (members >> m & 1) catch_up(s, m, a, to);
}

/* Does member i find what its rows [a, b) are made of? Before it writes them, and after, but for what it writes over. */
static void look(struct shadow_band *s, int32_t i, int32_t a, int32_t b, int after)
{
    for (int32_t y = a; y < b; y++)
        for (int32_t k = 0; k < node_of(s, i)->n_in; k++) {
            const struct operand *o = &s->operands[i][k];
            if (after && o->in_place) continue;
            if (o->made_of || o->is_over || o->is_measured) note(s, find_rows(s, i, k, y), i, node_of(s, i)->in[k], y);
        }
}

static void compute_tile(struct shadow_band *s, int32_t i, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < node_of(s, i)->n_in; k++) {
        const struct operand *o = &s->operands[i][k];
        if (!o->waits_for) continue;
        struct ig_rows need = ig_reach_rows(&o->reach, a, b, call_of(s, i)->in[k].h);
        await(s, o->waits_for, need.a, need.b);
    }
    look(s, i, a, b, 0);
    if (b - a > slots_of(s, i)) note(s, IG_READ_OVERWRITTEN, i, s->w.value[i], a); /* by its own rows */
    for (int32_t y = a; y < b; y++) write_row(s, i, y);
    s->done[i] = b;
    look(s, i, a, b, 1); /* it may write before it has read everything */
}

static void compute(struct shadow_band *s, int32_t i, int32_t a, int32_t b)
{
    int32_t own = tile_of(s, i);
    for (; s->by_tiles && b - a > own; a += own) compute_tile(s, i, a, a + own);
    compute_tile(s, i, a, b);
}

/* How many operands wait for member m; `row`: lowers it to the first row that any of them wants. */
static int32_t readers_of(const struct shadow_band *s, int32_t m, int32_t *row)
{
    int32_t n = 0;
    for (int32_t i = m + 1; i < s->w.n; i++)
        for (int32_t k = 0; k < node_of(s, i)->n_in; k++) {
            const struct operand *o = &s->operands[i][k];
            if (!(o->waits_for >> m & 1)) continue;
            int32_t a = ig_reach_rows(&o->reach, s->done[i], s->done[i] + 1, rows_of(s, m)).a;
            if (a < *row) *row = a / tile_of(s, m) * tile_of(s, m);
            n++;
        }
    return n;
}

static void run_piece(struct shadow_band *s, int32_t from, int32_t to, int32_t rows)
{
    int32_t last = s->w.n - 1;
    s->several = s->kept;
    for (int32_t i = last; i >= 0; i--) {
        s->done[i] = i == last ? from : s->kept >> i & 1 ? 0 : rows_of(s, i);
        if (readers_of(s, i, &s->done[i]) > 1) s->several |= 1u << i;
        for (int32_t k = 0; k < slots_of(s, i); k++) s->tags[i][k] = -1;
        if (!(s->kept >> i & 1)) memset(s->made[i], 0, (size_t)rows_of(s, i));
    }
    for (int32_t y = from, end; y < to; y = end) {
        end = to - y < rows ? to : y + rows;
        compute(s, last, y, end);
        for (int32_t m = 0; m < last; m++)
            if (s->kept >> m & 1) {
                int64_t all = (int64_t)rows_of(s, m) * end;
                await(s, 1u << m, s->done[m], (int32_t)((all + rows_of(s, last) - 1) / rows_of(s, last)));
            }
    }
}

/* Rows that should stay and are nowhere. */
static void find_gaps(struct shadow_band *s)
{
    for (int32_t i = 0; i < s->w.n; i++)
        for (int32_t y = 0; (s->kept >> i & 1) && y < rows_of(s, i); y++)
            if (!s->made[i][y]) note(s, IG_PHASE_GAP, i, s->w.value[i], y);
}

static struct ig_row_fault run(struct shadow_band *s, const struct ig_band *b)
{
    const struct ig_plan_step *last = &s->p->steps[b->last];
    int32_t h = s->calls[b->last].out[0].h, chunk = last->split ? last->chunk : h;
    s->w = ig_walk_band(s->g, s->p, b);
    find_operands(s);
    if (!can_run(s)) s->distance = -1;
    if (s->distance < 0) return s->fault;
    s->by_tiles = b->rows == last->kernel->row_tile;
    for (int32_t i = 0; i < s->w.n; i++) {
        s->tags[i] = ig_must_alloc((size_t)slots_of(s, i), sizeof *s->tags[i]);
        s->made[i] = ig_must_alloc((size_t)rows_of(s, i), sizeof *s->made[i]);
    }
    for (int32_t i = 0; i < last->chunks && (last->split || i < 2); i++) { /* a second whole one says enough */
        int32_t from = last->split ? i * chunk : 0;
        run_piece(s, from, h - from < chunk ? h : from + chunk, b->rows);
    }
    find_gaps(s);
    for (int32_t i = 0; i < s->w.n; i++) {
        free(s->tags[i]);
        free(s->made[i]);
    }
    return s->fault;
}

struct ig_row_fault ig_replay_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                                   const struct ig_call *calls)
{
    struct shadow_band s = {.g = g, .p = p, .calls = calls, .measured = -1};
    return run(&s, b);
}

int64_t ig_replay_distance(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                           const struct ig_call *calls, int32_t in)
{
    struct shadow_band s = {.g = g, .p = p, .calls = calls, .measured = in, .distance = IG_ALIGN};
    if (p->steps[b->last].split || run(&s, b).verdict || s.distance < 0) return -1;
    return (s.distance + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}
