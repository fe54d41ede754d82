/*
 * Does every row of a tensor get written, once, and before it is read? The pieces of a step are gone through as the
 * executor does it, and so are a band's phases (replay_band.c).
 */
#include <stdlib.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"
#include "planner/validate.h"
#include "planner/validate_bands.h"

/* Rows or channels that the step's pieces share out. */
static int64_t extent_of(const struct ig_check *c, int32_t step)
{
    struct ig_range full = ig_full_range(&c->calls[step]);
    return c->p->steps[step].split == 2 ? full.c1 : full.y1;
}

/* Only what runs on its own is cut; a piece is some of the kernel's tiles, and there is something in each. */
static int check_cut(struct ig_check *c, int32_t step)
{
    const struct ig_plan_step *s = &c->p->steps[step];
    const struct ig_band *band = c->band[step] < 0 ? NULL : &c->p->bands[c->band[step]];
    if (s->split < 0 || s->split > (band ? 1 : 2)) return ig_say(c, IG_BAD_CUT, "step %d: split %d", step, s->split);
    if ((!s->kernel || (band && band->last != step)) && (s->split || s->chunks != 1))
        return ig_say(c, IG_BAD_CUT, "step %d: %d chunks of what does not run by itself", step, s->chunks);
    if (!s->split) return IG_PLAN_OK;
    int32_t tile = s->split == 1 ? s->kernel->row_tile : s->kernel->col_tile;
    if (!tile || s->chunk <= 0 || s->chunk % tile)
        return ig_say(c, IG_BAD_CUT, "step %d: chunk %d, tile %d", step, s->chunk, tile);
    if ((s->chunks - INT64_C(1)) * s->chunk >= extent_of(c, step))
        return ig_say(c, IG_BAD_CUT, "step %d: the last of %d chunks of %d is empty", step, s->chunks, s->chunk);
    return IG_PLAN_OK;
}

static int check_cuts(struct ig_check *c)
{
    int bad = 0;
    for (int32_t i = 0; i < c->p->n_steps && !bad; i++) bad = check_cut(c, i);
    for (int32_t i = 0; i < c->p->n_bands && !bad; i++) {
        const struct ig_band *b = &c->p->bands[i];
        int32_t tile = c->p->steps[b->last].kernel->row_tile;
        if (b->rows <= 0 || b->rows % tile)
            bad = ig_say(c, IG_BAD_CUT, "band %d: phases of %d rows, tile %d", i, b->rows, tile);
    }
    return bad;
}

/* The pieces of a step, one after the other: how often is each row, or channel, made? */
static struct ig_row_fault count_pieces(const struct ig_check *c, int32_t step)
{
    const struct ig_plan_step *s = &c->p->steps[step];
    int64_t extent = extent_of(c, step);
    struct ig_row_fault fault = {IG_PLAN_OK, step, ig_checked_node(c, step)->out[0], -1};
    uint8_t *made = ig_must_alloc((size_t)extent, 1);
    int most = 0;
    for (int32_t i = 0; i < s->chunks && most < 2; i++) {
        int64_t from = s->split ? (int64_t)i * s->chunk : 0, to = s->split ? from + s->chunk : extent;
        for (int64_t y = from; y < to && y < extent; y++)
            if (++made[y] > most) most = made[y];
    }
    for (int64_t y = 0; y < extent && fault.verdict != IG_PHASE_GAP; y++) {
        if (made[y] == 1 || (made[y] && fault.verdict)) continue;
        fault.verdict = made[y] ? IG_PHASE_TWICE : IG_PHASE_GAP;
        fault.row = (int32_t)y;
    }
    free(made);
    return fault;
}

static int say_fault(struct ig_check *c, const struct ig_row_fault *f)
{
    const char *name = ig_value_name(c, f->value);
    const char *what = c->p->steps[f->step].split == 2 ? "channel" : "row";
    if (f->verdict == IG_PHASE_GAP)
        return ig_say(c, IG_PHASE_GAP, "step %d never makes %s %d of '%s'", f->step, what, f->row, name);
    if (f->verdict == IG_PHASE_TWICE)
        return ig_say(c, IG_PHASE_TWICE, "step %d makes %s %d of '%s' twice", f->step, what, f->row, name);
    if (f->verdict == IG_READ_UNWRITTEN)
        return ig_say(c, IG_READ_UNWRITTEN, "step %d needs rows of '%s' for its row %d before they are written",
                      f->step, name, f->row);
    return ig_say(c, IG_READ_OVERWRITTEN, "step %d needs rows of '%s' for its row %d that a ring of %d has lost",
                  f->step, name, f->row, c->p->buffers[f->value].ring_rows);
}

int ig_check_rows(struct ig_check *c)
{
    struct ig_row_fault first = {.verdict = IG_PLAN_OK};
    int bad = check_cuts(c);
    if (bad) return bad;
    for (int32_t i = 0; i < c->p->n_steps + c->p->n_bands; i++) {
        int is_step = i < c->p->n_steps;
        if (is_step && !c->p->steps[i].kernel) continue;
        struct ig_row_fault f = is_step ? count_pieces(c, i)
                                        : ig_replay_band(c->g, c->p, &c->p->bands[i - c->p->n_steps], c->calls);
        if (f.verdict && (!first.verdict || f.verdict < first.verdict)) first = f;
    }
    return first.verdict ? say_fault(c, &first) : IG_PLAN_OK;
}
