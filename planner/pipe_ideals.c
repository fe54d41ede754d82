/*
 * All ideals, size after size: each is one of the size before and a node that was ready. What is found twice is found
 * in the sorted list of a size, not by hashing, so that ideals have one order.
 */
#include "planner/pipe_ideals.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct ready {
    int32_t n, *nodes;
}; /* nodes that could come next, in order */

struct grown {          /* an ideal of the next size */
    int32_t from, node; /* of this size, and what was added */
    const uint64_t *bits;
    int32_t words;
};

static void successors(const struct ig_pipe *p, struct ig_ideals *x)
{
    x->succ_first = ig_must_alloc((size_t)p->n + 2, sizeof *x->succ_first);
    x->succ = ig_must_alloc((size_t)p->first[p->n], sizeof *x->succ);
    for (int32_t i = 0; i < p->first[p->n]; i++) x->succ_first[p->preds[i] + 2]++;
    for (int32_t v = 0; v < p->n; v++) x->succ_first[v + 2] += x->succ_first[v + 1];
    for (int32_t v = 0; v < p->n; v++)
        for (int32_t i = p->first[v]; i < p->first[v + 1]; i++) x->succ[x->succ_first[p->preds[i] + 1]++] = v;
}

static int by_bits(const void *a, const void *b)
{
    const struct grown *x = a, *y = b;
    for (int32_t i = 0; i < x->words; i++)
        if (x->bits[i] != y->bits[i]) return x->bits[i] < y->bits[i] ? -1 : 1;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : 0;
}

static int read_outside(const struct ig_ideals *x, int32_t ideal, int32_t v)
{
    if (x->p->is_output && x->p->is_output[v]) return 1;
    for (int32_t i = x->succ_first[v]; i < x->succ_first[v + 1]; i++)
        if (!ig_ideal_has(x, ideal, x->succ[i])) return 1;
    return 0;
}

static void *more(void *array, int32_t n, int32_t *room, int32_t add, size_t bytes)
{
    if (n + add <= *room) return array;
    int32_t wider = 2 * *room + add + 64;
    void *grown = ig_must_alloc((size_t)wider, bytes);
    if (n) memcpy(grown, array, (size_t)n * bytes);
    free(array);
    *room = wider;
    return grown;
}

struct maker {
    struct ig_ideals *x;
    struct ready *ready; /* [n of x] */
    int32_t room, front_room, most;
};

/* Ideal `from` and node v as a new ideal at the end; -1 if that is one too many. */
static int add_ideal(struct maker *m, int32_t from, int32_t v, const uint64_t *bits)
{
    struct ig_ideals *x = m->x;
    const struct ig_pipe *p = x->p;
    int32_t i = x->n, k = p->n_processors, room = m->room, w = x->words;
    if (i >= m->most) return -1;
    if (i + 2 > m->room) {
        int32_t r1 = room, r2 = room, r3 = room, r4 = room;
        x->bits = more(x->bits, i, &r1, 2, (size_t)w * sizeof *x->bits);
        x->ns = more(x->ns, i, &r2, 2, (size_t)k * sizeof *x->ns);
        x->readers = more(x->readers, i, &r3, 2, sizeof *x->readers);
        m->ready = more(m->ready, i, &r4, 2, sizeof *m->ready);
        int32_t *first = ig_must_alloc((size_t)r1 + 1, sizeof *first);
        if (i) memcpy(first, x->front_first, ((size_t)i + 1) * sizeof *first);
        free(x->front_first);
        x->front_first = first;
        m->room = r1;
    }
    x->n++;
    memcpy(x->bits + (int64_t)i * w, bits, (size_t)w * sizeof *bits);
    for (int32_t j = 0; j < k && from >= 0; j++)
        x->ns[(int64_t)i * k + j] = x->ns[(int64_t)from * k + j] + p->ns[(int64_t)v * k + j];
    x->readers[i] = from < 0 ? 0 : x->readers[from] + (p->reads_input ? p->reads_input[v] : 0);
    return 0;
}

static void add_front(struct maker *m, int32_t from, int32_t v)
{
    struct ig_ideals *x = m->x;
    int32_t i = x->n - 1, n = x->front_first[i],
            before = from < 0 ? 0 : x->front_first[from + 1] - x->front_first[from];
    x->front = more(x->front, n, &m->front_room, before + 1, sizeof *x->front);
    for (int32_t k = 0; k < before; k++) {
        int32_t u = x->front[x->front_first[from] + k];
        if (read_outside(x, i, u)) x->front[n++] = u;
    }
    if (from >= 0 && read_outside(x, i, v)) x->front[n++] = v;
    x->front_first[i + 1] = n;
}

static int all_inside(const struct ig_ideals *x, int32_t ideal, int32_t v)
{
    for (int32_t i = x->p->first[v]; i < x->p->first[v + 1]; i++)
        if (!ig_ideal_has(x, ideal, x->p->preds[i])) return 0;
    return 1;
}

static void add_ready(struct maker *m, int32_t from, int32_t v)
{
    struct ig_ideals *x = m->x;
    int32_t i = x->n - 1, n = 0, p_n = x->p->n;
    int32_t most = from < 0 ? p_n : m->ready[from].n + x->succ_first[v + 1] - x->succ_first[v] + 1;
    int32_t *list = ig_must_alloc((size_t)most, sizeof *list);
    if (x->p->in_order) {
        if (v + 1 < p_n) list[n++] = v + 1;
    } else if (from < 0) {
        for (int32_t u = 0; u < p_n; u++)
            if (x->p->first[u] == x->p->first[u + 1]) list[n++] = u;
    } else {
        for (int32_t k = 0; k < m->ready[from].n; k++)
            if (m->ready[from].nodes[k] != v) list[n++] = m->ready[from].nodes[k];
        for (int32_t k = x->succ_first[v]; k < x->succ_first[v + 1]; k++)
            if (all_inside(x, i, x->succ[k])) list[n++] = x->succ[k];
    }
    m->ready[i] = (struct ready){n, list};
}

static int add(struct maker *m, int32_t from, int32_t v, const uint64_t *bits)
{
    if (add_ideal(m, from, v, bits)) return -1;
    add_front(m, from, v);
    add_ready(m, from, v);
    return 0;
}

/* All ideals that are one node larger than those from `first` on. */
static int grow(struct maker *m, int32_t first)
{
    struct ig_ideals *x = m->x;
    int32_t n = 0, last = x->n, w = x->words, rc = 0;
    for (int32_t i = first; i < last; i++) n += m->ready[i].n;
    struct grown *list = ig_must_alloc((size_t)n, sizeof *list);
    uint64_t *bits = ig_must_alloc((size_t)n * (size_t)w, sizeof *bits);
    n = 0;
    for (int32_t i = first; i < last; i++)
        for (int32_t k = 0; k < m->ready[i].n; k++, n++) {
            int32_t v = m->ready[i].nodes[k];
            uint64_t *b = bits + (int64_t)n * w;
            memcpy(b, x->bits + (int64_t)i * w, (size_t)w * sizeof *b);
            b[v / 64] |= UINT64_C(1) << v % 64;
            list[n] = (struct grown){i, v, b, w};
        }
    qsort(list, (size_t)n, sizeof *list, by_bits);
    for (int32_t i = 0; i < n && !rc; i++)
        if (!i || memcmp(list[i].bits, list[i - 1].bits, (size_t)w * sizeof *bits))
            rc = add(m, list[i].from, list[i].node, list[i].bits);
    for (int32_t i = first; i < last; i++) {
        free(m->ready[i].nodes);
        m->ready[i].nodes = NULL;
    }
    free(list);
    free(bits);
    return rc;
}

int ig_ideals_make(const struct ig_pipe *p, int32_t most, struct ig_ideals *x)
{
    struct maker m = {.x = x, .most = most};
    *x = (struct ig_ideals){.p = p, .words = (p->n + 63) / 64};
    uint64_t *none = ig_must_alloc((size_t)x->words, sizeof *none);
    successors(p, x);
    int rc = add(&m, -1, -1, none);
    for (int32_t first = 0, size = 0; size < p->n && !rc; size++) {
        int32_t last = x->n;
        rc = grow(&m, first);
        first = last;
    }
    for (int32_t i = 0; i < x->n; i++) free(m.ready[i].nodes);
    free(m.ready);
    free(none);
    if (rc) ig_ideals_free(x);
    return rc;
}

void ig_ideals_free(struct ig_ideals *x)
{
    void *owned[] = {x->bits, x->ns, x->readers, x->front_first, x->front, x->succ_first, x->succ};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    *x = (struct ig_ideals){.n = 0};
}

int ig_ideal_within(const struct ig_ideals *x, int32_t a, int32_t b)
{
    const uint64_t *in = x->bits + (int64_t)a * x->words, *of = x->bits + (int64_t)b * x->words;
    for (int32_t i = 0; i < x->words; i++)
        if (in[i] & ~of[i]) return 0;
    return 1;
}

static int read_between(const struct ig_ideals *x, int32_t a, int32_t b, int32_t v)
{
    for (int32_t i = x->succ_first[v]; i < x->succ_first[v + 1]; i++)
        if (ig_ideal_has(x, b, x->succ[i]) && !ig_ideal_has(x, a, x->succ[i])) return 1;
    return 0;
}

int64_t ig_ideal_stage(const struct ig_ideals *x, int32_t a, int32_t b, int32_t k, int64_t *moved)
{
    const struct ig_pipe *p = x->p;
    int64_t ns = x->ns[(int64_t)b * p->n_processors + k] - x->ns[(int64_t)a * p->n_processors + k];
    *moved = 0;
    if (ns >= IG_PIPE_NEVER) return IG_PIPE_NEVER;
    if (x->readers[b] > x->readers[a]) ns += ig_pipe_transfer(&p->in[k], p->input_bytes);
    for (int32_t i = x->front_first[a]; i < x->front_first[a + 1]; i++) {
        int32_t v = x->front[i];
        if (!read_between(x, a, b, v)) continue;
        ns += ig_pipe_transfer(&p->in[k], p->bytes[v]);
        *moved += p->bytes[v];
    }
    for (int32_t i = x->front_first[b]; i < x->front_first[b + 1]; i++)
        if (!ig_ideal_has(x, a, x->front[i])) ns += ig_pipe_transfer(&p->out[k], p->bytes[x->front[i]]);
    return ns;
}

void ig_ideal_put(const struct ig_ideals *x, int32_t a, int32_t b, int32_t k, int32_t s, struct ig_pipe_plan *plan)
{
    for (int32_t v = 0; v < x->p->n; v++)
        if (ig_ideal_has(x, b, v) && !ig_ideal_has(x, a, v)) {
            plan->on[v] = k;
            plan->stage[v] = s;
        }
    plan->processor[s] = k;
}
