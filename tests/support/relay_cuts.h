/* A relay (relay.h) that is cut at several places, whose alternatives lie in each other's memory where they may. */
#ifndef TESTS_SUPPORT_RELAY_CUTS_H
#define TESTS_SUPPORT_RELAY_CUTS_H

#include "runtime/cuts.h"
#include "tests/support/relay.h"

enum { RELAY_CUTS = 6 };

struct relay_cuts {
    struct relay cut[RELAY_CUTS]; /* the first one's pipe is the pipeline's */
    struct ig_stage stages[RELAY_CUTS * IG_MAX_STAGES];
    struct ig_slot slots[2 + IG_MAX_STAGES * IG_MAX_STAGES];
    struct ig_cuts cuts;
};

/* The block of that pair of stages in c's slots. */
static inline int32_t relay_block(struct relay_cuts *c, int32_t *n_slots, int32_t from, int32_t to)
{
    int32_t i = 2;
    while (i < *n_slots && (c->slots[i].from != from || c->slots[i].to != to)) i++;
    if (i == *n_slots) c->slots[(*n_slots)++] = (struct ig_slot){.from = (int16_t)from, .to = (int16_t)to};
    return i;
}

/* Places tensor k of alternative m: `used` counts bytes by slot, `own` by stage. Slots' offsets are added later. */
static inline struct ig_place relay_share(struct relay_cuts *c, struct relay *m, int32_t n_stages, int32_t k,
                                          int32_t *n_slots, int64_t *used, int64_t *own)
{
    struct ig_place p = m->in[k < RELAY_STEPS ? k : 0][0];
    int32_t from, to;
    relay_span(m, n_stages, k, &from, &to);
    p.offset = p.index = 0;
    p.space = k == 0 ? IG_SPACE_INPUT : k == RELAY_STEPS ? IG_SPACE_OUTPUT : IG_SPACE_ARENA;
    if (k == 0 && to > c->slots[0].to) c->slots[0].to = (int16_t)to;
    if (k == RELAY_STEPS && from < c->slots[1].from) c->slots[1].from = (int16_t)from;
    if (p.space != IG_SPACE_ARENA) return p;
    if (from == to) {
        p.index = (int16_t)from; /* for now */
        p.offset = own[from];
        own[from] += RELAY_BYTES;
        return p;
    }
    p.space = IG_SPACE_SLOT;
    p.index = (int16_t)relay_block(c, n_slots, from, to);
    p.offset = used[p.index];
    used[p.index] += RELAY_BYTES;
    if (used[p.index] > c->slots[p.index].bytes) c->slots[p.index].bytes = used[p.index];
    return p;
}

/* `n` alternatives of n_stages stages each, with the same steps. */
static inline void relay_cuts_make(struct relay_cuts *c, struct rng *r, int32_t n, int32_t n_stages, int32_t copies,
                                   int32_t threads)
{
    static struct ig_place tensor[RELAY_CUTS][RELAY_STEPS + 1];
    int64_t own[IG_MAX_STAGES] = {0}, base[IG_MAX_STAGES], end = 0;
    int32_t n_slots = 2;
    memset(c, 0, sizeof *c);
    c->slots[0] = (struct ig_slot){0, RELAY_BYTES, -1, 0, 0};
    c->slots[1] = (struct ig_slot){0, RELAY_BYTES, (int16_t)n_stages, (int16_t)n_stages, 0};
    for (int32_t a = 0; a < n; a++) {
        struct relay *m = &c->cut[a];
        int64_t used[2 + IG_MAX_STAGES * IG_MAX_STAGES] = {0}, mine[IG_MAX_STAGES] = {0};
        relay_make(m, r, n_stages, copies, threads);
        memcpy(m->skip, c->cut[0].skip, sizeof m->skip);
        for (int32_t k = 0; k <= RELAY_STEPS; k++)
            tensor[a][k] = relay_share(c, m, n_stages, k, &n_slots, used, mine);
        for (int32_t i = 0; i < n_stages; i++)
            if (mine[i] > own[i]) own[i] = mine[i];
    }
    for (int32_t i = 0; i < n_stages; end += own[i++]) base[i] = end;
    for (int32_t i = 0; i < n_slots; i++) {
        struct ig_slot *s = &c->slots[i];
        s->copies = s->to - s->from + copies - 1;
        s->offset = end;
        end += s->bytes * s->copies;
    }
    for (int32_t a = 0; a < n; a++) {
        struct relay *m = &c->cut[a];
        for (int32_t k = 0; k <= RELAY_STEPS; k++) {
            struct ig_place *p = &tensor[a][k];
            if (p->space == IG_SPACE_SLOT) p->offset += c->slots[p->index].offset;
            if (p->space == IG_SPACE_ARENA) p->offset += base[p->index], p->index = 0;
        }
        for (int32_t k = 0; k < RELAY_STEPS; k++) {
            m->in[k][0] = tensor[a][k];
            m->in[k][1] = tensor[a][m->skip[k]];
            m->out[k] = tensor[a][k + 1];
        }
        m->model.arena_bytes = end;
        for (int32_t i = 0; i < n_stages; i++) {
            m->stages[i].model.arena_bytes = end;
            m->stages[i].predicted_ns = 1e3 * (double)m->stages[i].model.n_steps;
            c->stages[a * n_stages + i] = m->stages[i];
        }
    }
    c->cut[0].pipe.slots = c->slots;
    c->cut[0].pipe.n_slots = n_slots;
    c->cuts = (struct ig_cuts){&c->cut[0].pipe, c->stages, n};
}

#endif
