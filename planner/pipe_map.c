/*
 * Recurrence C: nodes one after the other, each on any processor. A label is a choice for all nodes so far: the loads,
 * and which processors hold the tensors that are still to be read. Of two labels that leave the same tensors in the
 * same places, one that is nowhere less loaded is dropped; so is one that no rest can make better than the best plan.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/pipe.h"

enum { BOUNDS = 20 }; /* sets of multipliers that labels are tried against */

struct label {
    int64_t load[IG_PIPE_PROCESSORS], cost; /* cost: what is minimised within a limit */
    int64_t promise;                        /* no plan that goes on from here is better */
    int32_t parent, on;                     /* label of the step before, and what this step chose */
    uint16_t *held; /* [n_live + 1] of each live tensor: maker << 8 | processors that hold it; then of the frame */
    int32_t n_held;
};

struct step {
    int32_t n, *parent;
    uint8_t *on;
}; /* what survives of a step: to trace a plan back */

struct search {
    const struct ig_pipe *p;
    int32_t most, proven;
    int64_t limit, best;   /* of loads; of what is minimised: better than that is wanted */
    const int64_t *weight; /* NULL: the largest load is minimised */
    int32_t n_bounds, multiplier[BOUNDS][IG_PIPE_PROCESSORS];
    int64_t *rest[BOUNDS], *rest_cost; /* [n + 1] of nodes from i on, at least */
    int32_t *last_reader;              /* [n] */
    int32_t n_live, *live;             /* nodes whose tensors somebody is still to read, in order */
    struct label *labels, *next;
    uint16_t *pool, *next_pool;
    struct step *steps;
};

static int64_t transfer_in(const struct ig_pipe *p, int32_t k, int32_t v)
{
    return ig_pipe_transfer(&p->in[k], p->bytes[v]);
}

/* --- bounds --- */

static void add_bound(struct search *s, const int32_t *multiplier)
{
    const struct ig_pipe *p = s->p;
    int64_t *rest = ig_must_alloc((size_t)p->n + 1, sizeof *rest);
    for (int32_t v = p->n - 1; v >= 0; v--) {
        int64_t least = INT64_MAX;
        for (int32_t k = 0; k < p->n_processors; k++) {
            int64_t t = p->ns[(int64_t)v * p->n_processors + k];
            if (t < IG_PIPE_NEVER && t * multiplier[k] < least) least = t * multiplier[k];
        }
        rest[v] = rest[v + 1] + least;
    }
    memcpy(s->multiplier[s->n_bounds], multiplier, sizeof *s->multiplier);
    s->rest[s->n_bounds++] = rest;
}

static void add_bounds(struct search *s)
{
    int32_t n = s->p->n_processors, m[IG_PIPE_PROCESSORS] = {0};
    ig_pipe_multipliers(s->p, m);
    add_bound(s, m);
    for (int32_t i = 1; n == 2 && i < 16; i++)
        add_bound(s, (const int32_t[IG_PIPE_PROCESSORS]){i * IG_PIPE_UNIT / 16, IG_PIPE_UNIT - i * IG_PIPE_UNIT / 16});
    memset(m, 0, sizeof m);
    for (int32_t k = 0; n > 2 && k < n; k++) {
        m[k] = IG_PIPE_UNIT;
        add_bound(s, m);
        m[k] = 0;
    }
    if (!s->weight) return;
    s->rest_cost = ig_must_alloc((size_t)s->p->n + 1, sizeof *s->rest_cost);
    for (int32_t v = s->p->n - 1; v >= 0; v--) {
        int64_t least = INT64_MAX;
        for (int32_t k = 0; k < n; k++) {
            int64_t t = s->p->ns[(int64_t)v * n + k];
            if (t < IG_PIPE_NEVER && t * s->weight[k] < least) least = t * s->weight[k];
        }
        s->rest_cost[v] = s->rest_cost[v + 1] + least;
    }
}

/* Fills l->promise; 0 if nothing that is wanted can come of it. Nodes from i on are left. */
static int promising(const struct search *s, struct label *l, int32_t i)
{
    int64_t least = 0;
    for (int32_t k = 0; k < s->p->n_processors; k++)
        if (l->load[k] > least) least = l->load[k];
    for (int32_t b = 0; b < s->n_bounds; b++) {
        int64_t sum = s->rest[b][i];
        for (int32_t k = 0; k < s->p->n_processors; k++) sum += l->load[k] * s->multiplier[b][k];
        sum = (sum + IG_PIPE_UNIT - 1) / IG_PIPE_UNIT;
        if (sum > least) least = sum;
    }
    l->promise = least;
    if (!s->weight) return least < s->best;
    l->promise = l->cost + s->rest_cost[i];
    return least <= s->limit && l->promise < s->best;
}

/* --- one step --- */

static int32_t slot_of(const struct search *s, int32_t v)
{
    int32_t i = 0;
    while (s->live[i] != v) i++;
    return i;
}

static void charge(const struct search *s, struct label *l, int32_t k, int64_t ns)
{
    l->load[k] += ns;
    if (s->weight) l->cost += s->weight[k] * ns;
}

/* Node v on processor k after label `before`; held is a copy that the caller made. */
static void put(const struct search *s, struct label *l, int32_t v, int32_t k)
{
    const struct ig_pipe *p = s->p;
    uint16_t *frame = &l->held[s->n_live];
    charge(s, l, k, p->ns[(int64_t)v * p->n_processors + k]);
    if (p->reads_input && p->reads_input[v] && !(*frame >> k & 1)) {
        *frame |= (uint16_t)(1 << k);
        charge(s, l, k, ig_pipe_transfer(&p->in[k], p->input_bytes));
    }
    for (int32_t i = p->first[v]; i < p->first[v + 1]; i++) {
        int32_t u = p->preds[i];
        uint16_t *held = &l->held[slot_of(s, u)];
        int32_t maker = *held >> 8;
        if (*held >> k & 1) continue;
        if ((*held & 255) == 1 << maker && !(p->is_output && p->is_output[u]))
            charge(s, l, maker, ig_pipe_transfer(&p->out[maker], p->bytes[u]));
        *held |= (uint16_t)(1 << k);
        charge(s, l, k, transfer_in(p, k, u));
    }
    if (p->is_output && p->is_output[v]) charge(s, l, k, ig_pipe_transfer(&p->out[k], p->bytes[v]));
}

/* Tensors that are dead behind node v leave the list, v's own comes to it. keep[]: old places, in order. */
static int32_t next_live(const struct search *s, int32_t v, int32_t *keep, int *grows)
{
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_live; i++)
        if (s->last_reader[s->live[i]] > v) keep[n++] = i;
    *grows = s->last_reader[v] > v;
    return n;
}

static int by_state(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    int d = memcmp(x->held, y->held, (size_t)x->n_held * sizeof *x->held);
    if (d) return d;
    for (int k = 0; k < IG_PIPE_PROCESSORS; k++)
        if (x->load[k] != y->load[k]) return x->load[k] < y->load[k] ? -1 : 1;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    return x->on - y->on;
}

static int by_promise(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    if (x->promise != y->promise) return x->promise < y->promise ? -1 : 1;
    return by_state(a, b);
}

static int no_worse(const struct search *s, const struct label *a, const struct label *b)
{
    for (int32_t k = 0; k < s->p->n_processors; k++)
        if (a->load[k] > b->load[k]) return 0;
    return a->cost <= b->cost;
}

/* Drops what another label of the same state is no worse than, as far back as is worth looking. */
static int32_t prune(const struct search *s, struct label *l, int32_t n)
{
    enum { BACK = 64 };
    int32_t kept = 0, group = 0;
    qsort(l, (size_t)n, sizeof *l, by_state);
    for (int32_t i = 0; i < n; i++) {
        int dropped = 0;
        if (kept && memcmp(l[kept - 1].held, l[i].held, (size_t)l[i].n_held * sizeof *l->held)) group = kept;
        for (int32_t j = kept - 1; j >= group && j >= kept - BACK && !dropped; j--) dropped = no_worse(s, &l[j], &l[i]);
        if (!dropped) l[kept++] = l[i];
    }
    return kept;
}

static int32_t expand(struct search *s, int32_t v, int32_t n)
{
    const struct ig_pipe *p = s->p;
    int32_t *keep = ig_must_alloc((size_t)s->n_live + 1, sizeof *keep), made = 0;
    int grows;
    int32_t n_keep = next_live(s, v, keep, &grows), wide = n_keep + grows + 1;
    uint16_t *held = ig_must_alloc((size_t)s->n_live + 1, sizeof *held);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < p->n_processors; k++) {
            if (p->ns[(int64_t)v * p->n_processors + k] >= IG_PIPE_NEVER) continue;
            struct label l = s->labels[i];
            memcpy(held, l.held, ((size_t)s->n_live + 1) * sizeof *held);
            l.held = held;
            put(s, &l, v, k);
            if (!promising(s, &l, v + 1)) continue;
            l.parent = i;
            l.on = k;
            l.held = s->next_pool + (int64_t)made * wide;
            for (int32_t j = 0; j < n_keep; j++) l.held[j] = held[keep[j]];
            if (grows) l.held[n_keep] = (uint16_t)(k << 8 | 1 << k);
            l.held[wide - 1] = held[s->n_live];
            l.n_held = wide;
            s->next[made++] = l;
        }
    for (int32_t j = 0; j < n_keep; j++) s->live[j] = s->live[keep[j]];
    if (grows) s->live[n_keep] = v;
    s->n_live = n_keep + grows;
    free(held);
    free(keep);
    return made;
}

/* The labels of the next step, no more than there is room for; steps[v] remembers where they came from. */
static int32_t advance(struct search *s, int32_t v, int32_t n)
{
    int32_t made = prune(s, s->next, expand(s, v, n));
    if (made > s->most) {
        s->proven = 0;
        qsort(s->next, (size_t)made, sizeof *s->next, by_promise);
        made = s->most;
    }
    struct label *labels = s->next;
    uint16_t *pool = s->next_pool;
    s->next = s->labels;
    s->next_pool = s->pool;
    s->labels = labels;
    s->pool = pool;
    s->steps[v] = (struct step){made, ig_must_alloc((size_t)made, sizeof(int32_t)), ig_must_alloc((size_t)made, 1)};
    for (int32_t i = 0; i < made; i++) {
        s->steps[v].parent[i] = labels[i].parent;
        s->steps[v].on[i] = (uint8_t)labels[i].on;
    }
    return made;
}

static void trace(const struct search *s, int32_t label, struct ig_pipe_plan *plan)
{
    for (int32_t v = s->p->n - 1; v >= 0; v--) {
        plan->on[v] = s->steps[v].on[label];
        label = s->steps[v].parent[label];
    }
    ig_pipe_group(s->p, plan);
}

static int32_t widest_front(const struct search *s)
{
    int32_t live = 0, most = 0;
    for (int32_t v = 0; v < s->p->n; v++) {
        live += s->last_reader[v] > v;
        if (live > most) most = live;
        for (int32_t i = s->p->first[v]; i < s->p->first[v + 1]; i++) live -= s->last_reader[s->p->preds[i]] == v;
    }
    return most;
}

static void run(struct search *s, struct ig_pipe_plan *plan)
{
    const struct ig_pipe *p = s->p;
    size_t room = (size_t)s->most * (size_t)p->n_processors + 1, wide = (size_t)widest_front(s) + 2;
    s->labels = ig_must_alloc(room, sizeof *s->labels);
    s->next = ig_must_alloc(room, sizeof *s->next);
    s->pool = ig_must_alloc(room * wide, sizeof *s->pool);
    s->next_pool = ig_must_alloc(room * wide, sizeof *s->next_pool);
    s->live = ig_must_alloc(wide, sizeof *s->live);
    s->steps = ig_must_alloc((size_t)p->n, sizeof *s->steps);
    s->labels[0] = (struct label){.held = s->pool, .n_held = 1};
    int32_t n = 1, best = 0;
    for (int32_t v = 0; v < p->n && n; v++) n = advance(s, v, n);
    for (int32_t i = 1; i < n; i++)
        if (s->labels[i].promise < s->labels[best].promise) best = i;
    if (n) trace(s, best, plan);
    if (plan->n_stages) plan->proven = s->proven;
    for (int32_t v = 0; v < p->n; v++) {
        free(s->steps[v].parent);
        free(s->steps[v].on);
    }
    void *owned[] = {s->labels, s->next, s->pool, s->next_pool, s->live, s->steps};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

static void search(struct search *s, struct ig_pipe_plan *plan)
{
    const struct ig_pipe *p = s->p;
    s->last_reader = ig_must_alloc((size_t)p->n, sizeof *s->last_reader);
    for (int32_t v = 0; v < p->n; v++)
        for (int32_t i = p->first[v]; i < p->first[v + 1]; i++) s->last_reader[p->preds[i]] = v;
    add_bounds(s);
    run(s, plan);
    for (int32_t b = 0; b < s->n_bounds; b++) free(s->rest[b]);
    free(s->rest_cost);
    free(s->last_reader);
}

void ig_pipe_map(const struct ig_pipe *p, int32_t labels, struct ig_pipe_plan *plan)
{
    struct search s = {.p = p, .most = labels, .proven = 1, .limit = IG_PIPE_NEVER};
    ig_pipe_shared(p, plan);
    s.best = plan->n_stages ? plan->period_ns : IG_PIPE_NEVER;
    if (plan->n_stages && plan->period_ns <= ig_pipe_bound(p)) return;
    if (!p->in_order) search(&s, plan);
}

void ig_pipe_map_within(const struct ig_pipe *p, int32_t labels, int64_t limit_ns, const int64_t *weight,
                        struct ig_pipe_plan *plan)
{
    struct search s = {.p = p, .most = labels, .proven = 1, .limit = limit_ns, .best = INT64_MAX, .weight = weight};
    plan->n_stages = 0;
    search(&s, plan);
}
