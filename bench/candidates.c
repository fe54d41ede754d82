#include "bench/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "bench/error.h"
#include "kernels_cpu/registry.h"

enum { MAX_CUTS = 8 };

static const double MEASURED_OFF = 1.5, ESTIMATED_OFF = 2; /* times the best: other cuts are not worth a look, */
static const double RIVAL_OFF = 2.5;                       /* and it is not worth a second one */

static int by_rank(const void *a, const void *b)
{
    const struct ig_candidate *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->estimate != y->estimate) return x->estimate < y->estimate ? -1 : 1;
    return strcmp(x->kernel->name, y->kernel->name);
}

static void add_kernel(struct ig_layer_candidates *l, const struct ig_kernel *k, const struct ig_call *call,
                       int32_t threads, const struct ig_away *away)
{
    struct ig_cut cuts[MAX_CUTS];
    double estimate = ig_estimate_ns(k, call, threads, away), error = k->error > 0 ? ig_kernel_error(k, call) : 0;
    int n = ig_legal_cuts(k, call, threads, away, cuts, MAX_CUTS);
    for (int c = 0; c < n && l->n < IG_MAX_CANDIDATES; c++)
        l->at[l->n++] = (struct ig_candidate){k, cuts[c], c, estimate, error, 0, 0, 0, l};
    l->n_kernels++;
}

void ig_candidates_find(const struct ig_graph *g, const struct ig_view *views, int32_t node, int32_t isa,
                        int32_t threads, const struct ig_away *away, struct ig_layer_candidates *l)
{
    struct ig_call call;
    int32_t images;
    l->n = l->n_kernels = 0;
    if (ig_node_is_view(g, views, node)) return;
    ig_node_call(g, views, &g->nodes[node], &call, &images);
    for (int pass = isa == IG_ISA_REF; pass < 2 && !l->n; pass++)
        for (int i = 0; i < ig_kernel_count() && !(pass && l->n); i++) {
            const struct ig_kernel *k = ig_kernel_at(i);
            if (!ig_isa_has(isa, k->isa) || (k->isa == IG_ISA_REF) != pass || !k->run ||
                !ig_kernel_fits(k, g->nodes[node].op, &call))
                continue;
            add_kernel(l, k, &call, threads, away);
        }
    qsort(l->at, (size_t)l->n, sizeof *l->at, by_rank);
}

static double fastest(const struct ig_layer_candidates *l, const struct ig_kernel *k)
{
    double ns = 0;
    for (int32_t i = 0; i < l->n; i++)
        if (l->at[i].kernel == k && l->at[i].in_order > 0 && (ns <= 0 || l->at[i].in_order < ns))
            ns = l->at[i].in_order;
    return ns;
}

static int32_t best_timed(const struct ig_layer_candidates *l)
{
    int32_t best = -1;
    for (int32_t i = 0; i < l->n; i++)
        if (l->at[i].in_order > 0 && (best < 0 || l->at[i].in_order < l->at[best].in_order)) best = i;
    return best;
}

/* By what was measured of the kernel, else by the estimates. */
int ig_candidate_hopeless(const struct ig_candidate *c)
{
    int32_t best = best_timed(c->layer);
    double ns = fastest(c->layer, c->kernel);
    if (best < 0) return 0;
    return ns > 0 ? ns > MEASURED_OFF * c->layer->at[best].in_order
                  : c->estimate > ESTIMATED_OFF * c->layer->at[best].estimate;
}

static int is_rival(const struct ig_candidate *c)
{
    int32_t best = best_timed(c->layer);
    return best >= 0 && c->in_order > 0 && c->in_order <= RIVAL_OFF * c->layer->at[best].in_order;
}

/* The one looked at least often, of several the fastest; few: only kernels' favourites that are to be looked at again. NULL: there is none. */
static struct ig_candidate *rival(struct ig_layer_candidates *l, int few)
{
    struct ig_candidate *next = NULL;
    int32_t n = 0;
    for (int32_t i = 0; i < l->n; i++) {
        struct ig_candidate *c = &l->at[i];
        if (!is_rival(c)) continue;
        n++;
        if (few && (c->rank || c->looks >= IG_LOOKS)) continue;
        if (!next || c->looks < next->looks || (c->looks == next->looks && c->in_order < next->in_order)) next = c;
    }
    return few && n < 2 ? NULL : next;
}

struct ig_candidate *ig_candidates_next(struct ig_layer_candidates *l)
{
    for (int32_t i = 0; i < l->n; i++)
        if (!l->at[i].rank && l->at[i].in_order <= 0) return &l->at[i];
    struct ig_candidate *next = rival(l, 1);
    if (next) return next;
    for (int32_t i = 0; i < l->n; i++) {
        struct ig_candidate *c = &l->at[i];
        if (c->in_order > 0 || ig_candidate_hopeless(c)) continue;
        if (!next || fastest(l, c->kernel) < fastest(l, next->kernel)) next = c;
    }
    return next ? next : rival(l, 0);
}

struct ig_candidate *ig_candidates_of_step(struct ig_layer_candidates *l, const struct ig_plan_step *s)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->at[i].kernel == s->kernel && l->at[i].cut.split == s->split && l->at[i].cut.chunk == s->chunk)
            return &l->at[i];
    return NULL;
}
