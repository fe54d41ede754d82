/*
 * sender.json and receiver.json: which tensors pass between which ranks. Of a tensor that a layer makes on one key and
 * others read on other keys, one copy goes to each of those. A layer that is split counts as of the first of its keys:
 * what its parts pass is known once the graph is rewritten, and ig_write_sent has it then.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/package.h"
#include "planner/text.h"

static int32_t *ranks_of(const struct ig_layers *l, const struct ig_mapping *m)
{
    int32_t *rank = ig_must_alloc((size_t)l->n, sizeof *rank);
    for (int32_t k = m->n - 1; k >= 0; k--)
        for (int32_t i = 0; i < m->keys[k].n_layers; i++) rank[m->keys[k].layers[i]] = k;
    return rank;
}

static int32_t output_of(const struct ig_layer_entry *e, const char *tensor)
{
    int32_t k = 0;
    while (k < e->n_out && strcmp(e->out[k], tensor)) k++;
    return k;
}

struct reader { /* a layer's input that another layer makes */
    int32_t from, output; /* layer, which of its outputs */
    int32_t to;           /* rank */
};

/* By tensor, in the order of layers, then by rank. */
static int in_order(const void *a, const void *b)
{
    const struct reader *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->output != y->output) return x->output < y->output ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static struct reader *readers_of(const struct ig_layers *l, const int32_t *rank, int32_t *n)
{
    size_t inputs = 0;
    for (int32_t i = 0; i < l->n; i++) inputs += (size_t)l->at[i].n_in;
    struct reader *all = ig_must_alloc(inputs, sizeof *all);
    *n = 0;
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->at[i].n_in; k++) {
            int32_t from = l->at[i].from[k];
            if (from < 0 || rank[from] == rank[i]) continue;
            all[(*n)++] = (struct reader){from, output_of(&l->at[from], l->at[i].in[k]), rank[i]};
        }
    qsort(all, (size_t)*n, sizeof *all, in_order);
    return all;
}

struct ig_sent *ig_sent_make(const struct ig_layers *l, const struct ig_mapping *m, int32_t *n)
{
    int32_t readers, *rank = ranks_of(l, m);
    struct reader *all = readers_of(l, rank, &readers);
    struct ig_sent *sent = ig_must_alloc((size_t)readers, sizeof *sent);
    *n = 0;
    for (int32_t i = 0; i < readers; i++)
        if (!i || in_order(&all[i], &all[i - 1]))
            sent[(*n)++] = (struct ig_sent){l->at[all[i].from].sent[all[i].output], rank[all[i].from], all[i].to};
    free(all);
    free(rank);
    return sent;
}

struct line {     /* a tensor of a key */
    int32_t rank; /* the key's */
    int32_t peer; /* of several, the lowest */
    int32_t at;   /* in the list */
};

/* AutoDiCE's order: by the other end, then as in the list. */
static int by_peer(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->peer != y->peer) return x->peer < y->peer ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int goes_on(const struct ig_sent *sent, int32_t i)
{
    return sent[i].from == sent[i - 1].from && !strcmp(sent[i].tensor, sent[i - 1].tensor);
}

static struct line *lines_of(const struct ig_sent *sent, int32_t n, int received, int32_t *n_lines)
{
    struct line *lines = ig_must_alloc((size_t)n, sizeof *lines);
    *n_lines = 0;
    for (int32_t i = 0; i < n; i++) {
        if (received)
            lines[(*n_lines)++] = (struct line){sent[i].to, sent[i].from, i};
        else if (!i || !goes_on(sent, i))
            lines[(*n_lines)++] = (struct line){sent[i].from, sent[i].to, i};
    }
    qsort(lines, (size_t)*n_lines, sizeof *lines, by_peer);
    return lines;
}

static void put_tensor(FILE *f, const struct ig_sent *sent, int32_t n, const struct line *line, int received)
{
    ig_put_text(f, sent[line->at].tensor);
    fprintf(f, ": [%d", line->peer);
    for (int32_t i = line->at + 1; !received && i < n && goes_on(sent, i); i++) fprintf(f, ", %d", sent[i].to);
    fputc(']', f);
}

/* One line without an end, spaces behind ',' and ':': what Python's json.dumps gives, and so the public tool. */
static void put_keys(FILE *f, const struct ig_mapping *m, const struct ig_sent *sent, int32_t n, int received)
{
    int32_t n_lines, at = 0;
    struct line *lines = lines_of(sent, n, received, &n_lines);
    for (int32_t rank = 0; rank < m->n; rank++) {
        fputs(rank ? ", " : "{", f);
        ig_put_text(f, m->keys[rank].name);
        fputs(": {", f);
        for (int32_t first = at; at < n_lines && lines[at].rank == rank; at++) {
            if (at > first) fputs(", ", f);
            put_tensor(f, sent, n, &lines[at], received);
        }
        fputc('}', f);
    }
    fputc('}', f);
    free(lines);
}

void ig_write_sent(FILE *f, const struct ig_mapping *m, const struct ig_sent *sent, int32_t n)
{
    put_keys(f, m, sent, n, 0);
}

void ig_write_received(FILE *f, const struct ig_mapping *m, const struct ig_sent *sent, int32_t n)
{
    put_keys(f, m, sent, n, 1);
}

static void write_layers(FILE *f, const struct ig_layers *l, const struct ig_mapping *m, int received)
{
    int32_t n;
    struct ig_sent *sent = ig_sent_make(l, m, &n);
    put_keys(f, m, sent, n, received);
    free(sent);
}

void ig_write_sender(FILE *f, const struct ig_layers *l, const struct ig_mapping *m)
{
    write_layers(f, l, m, 0);
}

void ig_write_receiver(FILE *f, const struct ig_layers *l, const struct ig_mapping *m)
{
    write_layers(f, l, m, 1);
}
