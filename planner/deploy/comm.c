/*
 * sender.json and receiver.json: which tensors pass between which ranks. Of a tensor that a layer makes on one key and
 * others read on other keys, one copy goes to each of those. A layer on several keys counts as of the first of them;
 * ig_hsplits_apply makes one layer of each part.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/package.h"
#include "planner/text.h"

struct tensor {
    const char *name;
    int32_t from;     /* rank */
    int32_t n_to;
    int32_t *to;      /* ranks, ascending, without `from` */
};

struct comm {
    struct tensor *tensors; /* in the order of layers */
    int32_t n;
    int32_t *first; /* [layers] tensor of a layer's first output */
    int32_t *rank;  /* [layers] */
};

static int32_t *ranks_of(const struct ig_layers *l, const struct ig_mapping *m)
{
    int32_t *rank = ig_must_alloc((size_t)l->n, sizeof *rank);
    for (int32_t k = m->n - 1; k >= 0; k--)
        for (int32_t i = 0; i < m->keys[k].n_layers; i++) rank[m->keys[k].layers[i]] = k;
    return rank;
}

static void add_reader(struct tensor *t, int32_t rank)
{
    int32_t at = t->n_to;
    if (rank == t->from) return;
    while (at && t->to[at - 1] > rank) at--;
    if (at && t->to[at - 1] == rank) return;
    int32_t *to = ig_must_alloc((size_t)t->n_to + 1, sizeof *to);
    if (at) memcpy(to, t->to, (size_t)at * sizeof *to);
    to[at] = rank;
    if (at < t->n_to) memcpy(to + at + 1, t->to + at, (size_t)(t->n_to - at) * sizeof *to);
    free(t->to);
    t->to = to;
    t->n_to++;
}

static void add_readers(struct comm *c, const struct ig_layers *l)
{
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->at[i].n_in; k++) {
            int32_t from = l->at[i].from[k], out = 0;
            if (from < 0) continue;
            while (out < l->at[from].n_out && strcmp(l->at[from].out[out], l->at[i].in[k])) out++;
            if (out < l->at[from].n_out) add_reader(&c->tensors[c->first[from] + out], c->rank[i]);
        }
}

static struct comm make(const struct ig_layers *l, const struct ig_mapping *m)
{
    struct comm c = {.first = ig_must_alloc((size_t)l->n, sizeof *c.first), .rank = ranks_of(l, m)};
    for (int32_t i = 0; i < l->n; i++) {
        c.first[i] = c.n;
        c.n += l->at[i].n_out;
    }
    c.tensors = ig_must_alloc((size_t)c.n, sizeof *c.tensors);
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->at[i].n_out; k++)
            c.tensors[c.first[i] + k] = (struct tensor){.name = l->at[i].sent[k], .from = c.rank[i]};
    add_readers(&c, l);
    return c;
}

static void drop(struct comm *c)
{
    for (int32_t i = 0; i < c->n; i++) free(c->tensors[i].to);
    free(c->tensors);
    free(c->first);
    free(c->rank);
}

static int gets(const struct tensor *t, int32_t rank)
{
    for (int32_t i = 0; i < t->n_to; i++)
        if (t->to[i] == rank) return 1;
    return 0;
}

static void put_ranks(FILE *f, const char *comma, const char *tensor, const int32_t *ranks, int32_t n)
{
    fputs(comma, f);
    ig_put_text(f, tensor);
    for (int32_t i = 0; i < n; i++) fprintf(f, "%s%d", i ? "," : ":[", ranks[i]);
    fputc(']', f);
}

static void put_sent(FILE *f, const struct comm *c, int32_t rank)
{
    const char *comma = "";
    for (int32_t i = 0; i < c->n; i++) {
        const struct tensor *t = &c->tensors[i];
        if (t->from != rank || !t->n_to) continue;
        put_ranks(f, comma, t->name, t->to, t->n_to);
        comma = ",";
    }
}

static void put_received(FILE *f, const struct comm *c, int32_t rank)
{
    const char *comma = "";
    for (int32_t i = 0; i < c->n; i++) {
        const struct tensor *t = &c->tensors[i];
        if (!gets(t, rank)) continue;
        put_ranks(f, comma, t->name, &t->from, 1);
        comma = ",";
    }
}

static void put_keys(FILE *f, const struct ig_layers *l, const struct ig_mapping *m,
                     void (*put)(FILE *, const struct comm *, int32_t))
{
    struct comm c = make(l, m);
    fputs("{\n", f);
    for (int32_t k = 0; k < m->n; k++) {
        ig_put_text(f, m->keys[k].name);
        fputs(":{", f);
        put(f, &c, k);
        fputs(k + 1 < m->n ? "},\n" : "}\n", f);
    }
    fputs("}\n", f);
    drop(&c);
}

void ig_write_sender(FILE *f, const struct ig_layers *l, const struct ig_mapping *m)
{
    put_keys(f, l, m, put_sent);
}

void ig_write_receiver(FILE *f, const struct ig_layers *l, const struct ig_mapping *m)
{
    put_keys(f, l, m, put_received);
}
