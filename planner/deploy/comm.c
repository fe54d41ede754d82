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

/* Tensor i of the list with the ranks at its other end; returns the next tensor's place. */
static int32_t put_tensor(FILE *f, const struct ig_sent *sent, int32_t n, int32_t i, int received, const char *comma)
{
    const char *tensor = sent[i].tensor;
    int32_t next = i + 1;
    while (!received && next < n && sent[next].from == sent[i].from && !strcmp(sent[next].tensor, tensor)) next++;
    fputs(comma, f);
    ig_put_text(f, tensor);
    for (int32_t k = i; k < next; k++) fprintf(f, "%s%d", k > i ? "," : ":[", received ? sent[k].from : sent[k].to);
    fputc(']', f);
    return next;
}

static void put_keys(FILE *f, const struct ig_mapping *m, const struct ig_sent *sent, int32_t n, int received)
{
    fputs("{\n", f);
    for (int32_t rank = 0; rank < m->n; rank++) {
        const char *comma = "";
        ig_put_text(f, m->keys[rank].name);
        fputs(":{", f);
        for (int32_t i = 0, next; i < n; i = next) {
            next = i + 1;
            if ((received ? sent[i].to : sent[i].from) != rank) continue;
            next = put_tensor(f, sent, n, i, received, comma);
            comma = ",";
        }
        fputs(rank + 1 < m->n ? "},\n" : "}\n", f);
    }
    fputs("}\n", f);
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
