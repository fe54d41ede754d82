/* Parts -> ranks. */
#include "planner/deploy/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct message {      /* all of a deployment, sorted, before each gets its number */
    const char *name;
    int32_t value, from, to, copies;
};

struct build {
    const struct ig_graph *g;
    const struct ig_parts *p;
    struct ig_ranks *r;
    int32_t *level;   /* of each part */
    int32_t *place;   /* of each part in its rank's list */
    struct message *messages;
    int32_t n_messages;
};

void ig_part_levels(const struct ig_parts *p, int32_t *level)
{
    for (int32_t i = 0; i < p->n; i++) level[i] = 0;
    for (int32_t i = 0; i < p->n; i++) /* passing tensors by who makes them, which comes before who reads them */
        for (int32_t k = 0; k < p->n_passing; k++) {
            const struct ig_passing *what = &p->passing[k];
            if (what->from != i) continue;
            for (int32_t to = 0; to < what->n_to; to++)
                if (what->to[to] >= 0 && level[what->to[to]] <= level[i]) level[what->to[to]] = level[i] + 1;
        }
}

int32_t ig_passing_copies(const struct ig_parts *p, const int32_t *level, const struct ig_passing *what)
{
    int32_t from = what->from < 0 ? -1 : level[what->from], to = from + 1, last = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (level[i] >= last) last = level[i] + 1;
    for (int32_t i = 0; i < what->n_to; i++) {
        int32_t at = what->to[i] < 0 ? last : level[what->to[i]];
        if (at > to) to = at;
    }
    int32_t copies = to - from + 1;
    return copies < IG_LEAST_COPIES ? IG_LEAST_COPIES : copies > IG_MOST_COPIES ? IG_MOST_COPIES : copies;
}

/* Rank 0 reads the network's inputs, output_rank gives its outputs away. */
static int32_t rank_of(const struct build *b, int32_t part, int32_t otherwise)
{
    return part < 0 ? otherwise : b->p->at[part].key;
}

static void *more(void *list, int32_t n, size_t bytes)
{
    void *p = realloc(list, (size_t)(n + 1) * bytes);
    if (!p) abort();
    return p;
}

/* The store of v at that rank, a new one at the end if there is none. */
static int32_t store_of(struct build *b, int32_t rank, int32_t v, int32_t copies, int32_t writer)
{
    struct ig_rank_plan *at = &b->r->at[rank];
    for (int32_t i = 0; i < at->n_stores; i++)
        if (at->stores[i].value == v) return i;
    at->stores = more(at->stores, at->n_stores, sizeof *at->stores);
    at->stores[at->n_stores] = (struct ig_store){v, copies, writer, ig_bytes(&b->g->values[v].shape)};
    return at->n_stores++;
}

static void add_message(struct build *b, const struct message *m)
{
    for (int32_t i = 0; i < b->n_messages; i++)
        if (b->messages[i].value == m->value && b->messages[i].to == m->to) return;
    b->messages = more(b->messages, b->n_messages, sizeof *b->messages);
    b->messages[b->n_messages++] = *m;
}

/* A tensor with its stores, and a message for each rank that needs it and does not make it. */
static void pass(struct build *b, const struct ig_passing *what)
{
    int32_t from = rank_of(b, what->from, 0), copies = ig_passing_copies(b->p, b->level, what);
    store_of(b, from, what->value, copies, what->from < 0 ? -1 : b->place[what->from]);
    for (int32_t i = 0; i < what->n_to; i++) {
        int32_t to = rank_of(b, what->to[i], b->r->output_rank);
        if (to == from) continue;
        store_of(b, to, what->value, copies, -1);
        add_message(b, &(struct message){b->g->values[what->value].name, what->value, from, to, copies});
    }
}

static int by_number(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return names ? names : (x->to > y->to) - (x->to < y->to);
}

static void number_messages(struct build *b)
{
    if (b->n_messages) qsort(b->messages, (size_t)b->n_messages, sizeof *b->messages, by_number);
    for (int32_t i = 0; i < b->n_messages; i++) {
        const struct message *m = &b->messages[i];
        struct ig_rank_plan *from = &b->r->at[m->from], *to = &b->r->at[m->to];
        int64_t bytes = ig_bytes(&b->g->values[m->value].shape);
        from->sends = more(from->sends, from->n_sends, sizeof *from->sends);
        to->receives = more(to->receives, to->n_receives, sizeof *to->receives);
        from->sends[from->n_sends++] =
            (struct ig_route){store_of(b, m->from, m->value, 0, 0), m->to, i, m->copies, bytes};
        to->receives[to->n_receives++] =
            (struct ig_route){store_of(b, m->to, m->value, 0, 0), m->from, i, m->copies, bytes};
    }
    b->r->n_routes = b->n_messages;
}

static int32_t *stores_of(struct build *b, int32_t rank, const int32_t *values, int32_t n)
{
    int32_t *list = ig_must_alloc((size_t)n, sizeof *list);
    for (int32_t i = 0; i < n; i++) list[i] = store_of(b, rank, values[i], 0, 0);
    return list;
}

static void give_parts(struct build *b)
{
    for (int32_t i = 0; i < b->p->n; i++) {
        struct ig_rank_plan *at = &b->r->at[b->p->at[i].key];
        at->parts = more(at->parts, at->n_parts, sizeof *at->parts);
        b->place[i] = at->n_parts;
        at->parts[at->n_parts++] = i;
    }
}

static void give_stores(struct build *b, int32_t rank)
{
    struct ig_rank_plan *at = &b->r->at[rank];
    at->io = ig_must_alloc((size_t)at->n_parts, sizeof *at->io);
    for (int32_t i = 0; i < at->n_parts; i++) {
        const struct ig_part *part = &b->p->at[at->parts[i]];
        at->io[i] = (struct ig_part_stores){stores_of(b, rank, part->in, part->n_in),
                                            stores_of(b, rank, part->out, part->n_out), part->n_in, part->n_out};
    }
    at->inputs = ig_must_alloc((size_t)b->g->n_inputs, sizeof *at->inputs);
    at->outputs = ig_must_alloc((size_t)b->g->n_outputs, sizeof *at->outputs);
    for (int32_t i = 0; i < b->g->n_inputs; i++)
        at->inputs[i] = rank ? -1 : store_of(b, rank, b->g->inputs[i], 0, 0);
    for (int32_t i = 0; i < b->g->n_outputs; i++)
        at->outputs[i] = rank == b->r->output_rank ? store_of(b, rank, b->g->outputs[i], 0, 0) : -1;
}

/* The part that makes output 0 of the network. */
static int32_t last_part(const struct ig_graph *g, const struct ig_parts *p)
{
    for (int32_t i = 0; i < p->n_passing; i++)
        if (g->n_outputs && p->passing[i].value == g->outputs[0]) return p->passing[i].from;
    return -1;
}

struct ig_ranks *ig_ranks_make(const struct ig_graph *g, const struct ig_parts *p, int32_t n_keys)
{
    struct build b = {.g = g, .p = p, .r = ig_must_alloc(1, sizeof *b.r)};
    b.level = ig_must_alloc((size_t)p->n, sizeof *b.level);
    b.place = ig_must_alloc((size_t)p->n, sizeof *b.place);
    b.r->at = ig_must_alloc((size_t)n_keys, sizeof *b.r->at);
    b.r->n = n_keys;
    b.r->output_rank = rank_of(&b, last_part(g, p), 0);
    ig_part_levels(p, b.level);
    give_parts(&b);
    for (int32_t i = 0; i < p->n_passing; i++) pass(&b, &p->passing[i]);
    number_messages(&b);
    for (int32_t i = 0; i < n_keys; i++) give_stores(&b, i);
    free(b.level);
    free(b.place);
    free(b.messages);
    return b.r;
}

void ig_ranks_free(struct ig_ranks *r)
{
    if (!r) return;
    for (int32_t i = 0; i < r->n; i++) {
        struct ig_rank_plan *at = &r->at[i];
        for (int32_t k = 0; k < at->n_parts; k++) {
            free(at->io[k].in);
            free(at->io[k].out);
        }
        void *owned[] = {at->parts, at->io, at->stores, at->sends, at->receives, at->inputs, at->outputs};
        for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
    }
    free(r->at);
    free(r);
}

int64_t ig_store_bytes(const struct ig_rank_plan *r)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < r->n_stores; i++) bytes += r->stores[i].copies * r->stores[i].bytes;
    return bytes;
}
