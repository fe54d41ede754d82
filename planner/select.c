/* One node at a time: the fastest kernel and cut, by the profile where it knows the node, else by the
 * estimate. */
#include "planner/select.h"

#include <stdio.h>

#include "kernels_cpu/registry.h"

/* That a faster kernel may have more in a small plan: of all, or of scratch alone. */
static const int64_t spare_bytes[IG_LEAN_WAYS] = {0, 4096, 4096, 48 << 10, 384 << 10, INT64_MAX >> 8, INT64_MAX >> 8,
                                                 INT64_MAX >> 8};
/* Rows that kernels compute together at most: each more is one more of a band's rings. */
static const int32_t most_tile[IG_LEAN_WAYS] = {[IG_LEAN_FLAT] = 1, [IG_LEAN_LOW] = 2};

/* May the node have that kernel? */
static int may_take(const struct ig_plan_options *o, int32_t node, const struct ig_kernel *k)
{
    const struct ig_kernel *like = o->like ? o->like->steps[node].kernel : NULL;
    return !like || like == k;
}

static int is_candidate(const struct ig_kernel *k, int32_t isa, int32_t op, const struct ig_call *call)
{
    return ig_isa_has(isa, k->isa) && ig_kernel_fits(k, op, call);
}

/* Weights as a kernel packs or reads them. */
static int64_t weight_bytes(const struct ig_kernel *k, const struct ig_call *call)
{
    int64_t bytes = 0;
    if (k->pack) return (int64_t)k->pack(call, NULL);
    for (int32_t i = 1; i < call->n_in && i < 3; i++)
        if (call->in[i].shape && call->in[i].data) bytes += ig_bytes(call->in[i].shape);
    return bytes;
}

/*
 * The scratch of all threads, where it may matter: not where the weights outweigh the tensors, as deep in a network, as
 * the arena is not full there, unless the scratch does so too, as weights that are widened do.
 */
static int64_t scratch_bytes(const struct ig_kernel *k, const struct ig_call *call, int32_t threads)
{
    int64_t tensors = ig_bytes(call->in[0].shape) + ig_bytes(call->out[0].shape);
    int64_t scratch = k->scratch ? (int64_t)k->scratch(call) * threads : 0;
    return weight_bytes(k, call) > tensors && scratch <= tensors ? 0 : scratch;
}

struct footprint {
    int64_t weights, both; /* bytes: of the weights, and with the scratch */
};

static struct footprint footprint_of(const struct ig_kernel *k, const struct ig_call *call, int32_t threads)
{
    int64_t weights = weight_bytes(k, call);
    return (struct footprint){weights, weights + scratch_bytes(k, call, threads)};
}

static int is_less(struct footprint a, struct footprint b, int32_t lean)
{
    return (lean == 1 || a.weights == b.weights) ? a.both < b.both : a.weights < b.weights;
}

/* Kernels of the reference are small, but only a choice where there are no others. */
static int is_last_choice(const struct ig_plan_options *o, const struct ig_kernel *k)
{
    return k->isa == IG_ISA_REF && o->isa != IG_ISA_REF;
}

/* The least that a kernel may add; of the lean ways the second goes by weights, then by scratch. */
static struct footprint least_footprint(const struct ig_plan_options *o, int32_t op, const struct ig_call *call)
{
    struct footprint least = {INT64_MAX, INT64_MAX};
    for (int i = 0; o->lean && i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (is_last_choice(o, k) || k->error > ig_error_allowed(o->max_error, call) || !is_candidate(k, o->isa, op, call)) continue;
        struct footprint f = footprint_of(k, call, o->threads);
        if (is_less(f, least, o->lean)) least = f;
    }
    return least;
}

/* Near the least, or the least but for some scratch. */
static int is_small_enough(const struct ig_plan_options *o, const struct ig_kernel *k, const struct ig_call *call,
                           struct footprint least)
{
    if (least.both == INT64_MAX) return 1;
    struct footprint f = footprint_of(k, call, o->threads);
    if (is_last_choice(o, k) || (most_tile[o->lean] && k->row_tile > most_tile[o->lean])) return 0;
    if (o->lean == 1) return f.both <= least.both + least.both / 20 + spare_bytes[1];
    return f.weights <= least.weights && f.both <= least.both + spare_bytes[o->lean] * o->threads;
}

/*
 * What a step costs for choosing its kernel: its time, and a share of what loading its weights takes, some 150 us a megabyte: those
 * of Winograd, up to nine times as large, have to be worth it within four frames; on a GPU, whose frames are some hundred times as
 * short, within six hundred.
 */
static double price(const struct ig_kernel *k, const struct ig_call *call, double ns)
{
    const double of_a_byte = k->isa == IG_ISA_CUDA ? 0.00025 : 0.04;
    return ns + (k->pack ? (double)k->pack(call, NULL) * of_a_byte : 0);
}

/* A GPU's plan has the reference's kernel, which is the CPU's, only where no other is. */
static int is_last_resort(const struct ig_kernel *has, const struct ig_kernel *k)
{
    return has->isa == IG_ISA_REF && k->isa == IG_ISA_CUDA;
}

/* Where memory is what an estimate goes by, kernels of all ISAs take as long: the one that computes the most at a time is no slower. */
static int wins_a_tie(const struct ig_kernel *k, const struct ig_kernel *of, double cost, double least)
{
    return cost == least && k->isa > of->isa;
}

/* Takes k, if it is cheaper than the step's kernel so far, whose price is *least. */
static void take(struct ig_plan_step *step, const struct ig_kernel *k, const struct ig_call *call, struct ig_cut cut,
                 double ns, double *least)
{
    double cost = price(k, call, ns);
    if (step->kernel && cost >= *least && !wins_a_tie(k, step->kernel, cost, *least) && !is_last_resort(step->kernel, k)) return;
    *least = cost;
    step->kernel = k;
    step->split = cut.split;
    step->chunk = cut.chunk;
    step->chunks = cut.chunks;
    step->predicted_ns = ns;
}

/* The cut of a timing, or chunks 0 where it is none for this call. */
static struct ig_cut cut_of(const struct ig_timing *t, const struct ig_call *call)
{
    if (t->split == 0) return (struct ig_cut){0, 0, 1};
    int32_t extent = ig_cut_extent(call, t->split);
    int32_t tile = t->split == 1 ? t->kernel->row_tile : t->kernel->col_tile;
    if (!tile || t->chunk <= 0 || t->chunk % tile) return (struct ig_cut){0, 0, 0};
    return (struct ig_cut){t->split, t->chunk, (int32_t)(((int64_t)extent + t->chunk - 1) / t->chunk)};
}

static void select_measured(const struct ig_profile *profile, const struct ig_plan_options *o, int32_t node,
                            int32_t op, const struct ig_call *call, struct ig_plan_step *step)
{
    struct footprint least_bytes = least_footprint(o, op, call);
    double least = 0;
    for (int32_t i = 0; i < profile->n; i++) {
        const struct ig_timing *t = &profile->timings[i];
        if (t->node != node || t->threads != o->threads || !is_candidate(t->kernel, o->isa, op, call) ||
            !may_take(o, node, t->kernel))
            continue;
        if (t->error > ig_error_allowed(o->max_error, call) || !is_small_enough(o, t->kernel, call, least_bytes)) continue;
        struct ig_cut cut = cut_of(t, call);
        double ns = t->in_order_ns > 0 ? t->in_order_ns : t->alone_ns;
        if (cut.chunks) take(step, t->kernel, call, cut, ns, &least);
    }
}

static void select_estimated(const struct ig_plan_options *o, int32_t node, int32_t op, const struct ig_call *call,
                             int32_t batch, const struct ig_away *away, struct ig_plan_step *step)
{
    struct footprint least_bytes = least_footprint(o, op, call);
    double least = 0;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        struct ig_cut cut;
        if (!is_candidate(k, o->isa, op, call) || k->error > ig_error_allowed(o->max_error, call) || !may_take(o, node, k)) continue;
        if (!is_small_enough(o, k, call, least_bytes)) continue;
        ig_legal_cuts(k, call, o->threads, away, &cut, 1);
        take(step, k, call, cut, ig_estimate_chip_ns(k, call, o->sm, ig_cut_ns(k, call, cut, o->threads, away)) * batch, &least);
    }
}

static void select_kernel(const struct ig_plan_options *o, int32_t node, int32_t op, const struct ig_call *call, int32_t batch,
                          const struct ig_away *away, struct ig_plan_step *step)
{
    if (o->profile) select_measured(o->profile, o, node, op, call, step);
    if (!step->kernel) select_estimated(o, node, op, call, batch, away, step);
}

int ig_select_step(const struct ig_graph *g, const struct ig_view *views, int32_t node, const struct ig_away *away,
                   const struct ig_plan_options *options, struct ig_plan_step *step, char *err,
                   size_t err_bytes)
{
    const struct ig_node *n = &g->nodes[node];
    struct ig_call call;
    int32_t batch;
    *step = (struct ig_plan_step){.node = node, .chunks = 1};
    if (ig_node_is_view(g, views, node)) return 0;
    ig_node_call(g, views, n, &call, &batch);
    select_kernel(options, node, n->op, &call, batch, away, step);
    if (!step->kernel && most_tile[options->lean]) { /* those of the least weights all compute more rows together */
        struct ig_plan_options any = *options;
        any.lean = IG_LEAN_LEAST;
        select_kernel(&any, node, n->op, &call, batch, away, step);
    }
    if (step->kernel) return 0;
    snprintf(err, err_bytes, "node '%s' (%s): no kernel of %s or ref computes it with these types and shapes",
             n->name, ig_op_info((enum ig_op)n->op)->name, ig_isa_name(options->isa));
    return -1;
}
