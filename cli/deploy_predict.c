/* What a deployment's ranks take, each beside those that share its memory, and so what passes between two results. */
#include <math.h>
#include <string.h>

#include "cli/deploy.h"

enum { ROUNDS = 50 };

/* What a rank does with pictures and results, on one of its cores beside its parts. */
static double spec_ns(const struct ig_deployment *d, int32_t rank)
{
    const struct ig_host_ops *o = d->words.host_ops;
    return o ? (rank ? 0 : o->pre_ns) + (rank == d->ranks->output_rank ? o->post_ns : 0) : 0;
}

static int32_t device_of(const struct ig_deployment *d, int32_t rank)
{
    return d->site ? ig_site_find(d->site, d->mapping->keys[rank].device) : -1;
}

/* What messages to and from other devices take of the core that a rank computes on. */
static double host_ns(const struct ig_deployment *d, int32_t rank)
{
    const struct ig_rank_plan *r = &d->ranks->at[rank];
    int32_t own = device_of(d, rank);
    double ns = 0;
    for (int32_t k = 0; k < r->n_sends; k++)
        if (device_of(d, r->sends[k].peer) != own)
            ns += ig_link_host_ns(d->site, own, device_of(d, r->sends[k].peer), r->sends[k].bytes, IG_LINK_SENDS);
    for (int32_t k = 0; k < r->n_receives; k++)
        if (device_of(d, r->receives[k].peer) != own)
            ns += ig_link_host_ns(d->site, device_of(d, r->receives[k].peer), own, r->receives[k].bytes, IG_LINK_RECEIVES);
    return ns;
}

/* The busiest link between two devices in one direction. */
static void predict_links(struct ig_deployment *d)
{
    for (int32_t i = 0; i < d->ranks->n; i++) {
        const struct ig_rank_plan *r = &d->ranks->at[i];
        for (int32_t to = 0; to < d->ranks->n; to++) {
            const char *a = d->mapping->keys[i].device, *b = d->mapping->keys[to].device;
            int32_t from_device = d->site ? ig_site_find(d->site, a) : -1, to_device = d->site ? ig_site_find(d->site, b) : -1;
            double ns = 0;
            for (int32_t k = 0; k < r->n_sends; k++) {
                if (r->sends[k].peer != to) continue;
                d->bytes_passed += r->sends[k].bytes;
                if (strcmp(a, b)) ns += ig_link_ns(d->site, from_device, to_device, r->sends[k].bytes);
            }
            if (ns > d->period_ns) d->period_ns = ns;
        }
    }
}

/* --- memory that ranks share --- */

/* What a part wants of the memory: all that its layers read and write, once. */
static double bytes_of(const struct ig_graph *g)
{
    double bytes = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        for (int32_t k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0) bytes += (double)ig_bytes(&g->values[n->in[k]].shape);
        for (int32_t k = 0; k < n->n_out; k++) bytes += (double)ig_bytes(&g->values[n->out[k]].shape);
    }
    return bytes;
}

static void measure_demands(struct ig_deployment *d)
{
    double ns = 0, bytes = 0;
    for (int32_t i = 0; i < d->parts->n; i++) {
        ns += d->at[i].ns;
        bytes += bytes_of(d->at[i].graph);
    }
    for (int32_t i = 0; i < d->parts->n; i++)
        if (d->at[i].ns > 0) d->at[i].demand = bytes_of(d->at[i].graph) / d->at[i].ns / (bytes / ns);
}

static int same_memory(const struct ig_deployment *d, int32_t a, int32_t b)
{
    if (!strcmp(d->mapping->keys[a].device, d->mapping->keys[b].device)) return 1;
    return d->site && ig_site_same_machine(d->site, device_of(d, a), device_of(d, b));
}

/* Time of a rank while others want so much of its memory. */
static double beside_ns(const struct ig_deployment *d, int32_t rank, double demand)
{
    double ns = 0;
    for (int32_t i = 0; i < d->parts->n; i++) {
        const struct ig_deployed_part *p = &d->at[i];
        if (d->parts->at[i].key == rank) ns += p->ns + (p->beside_ns > p->ns ? (p->beside_ns - p->ns) * demand : 0);
    }
    return ns;
}

/* What the others of its machine want on average, if a result comes every period_ns. */
static double demand_beside(const struct ig_deployment *d, int32_t rank)
{
    double demand = 0;
    for (int32_t i = 0; i < d->parts->n; i++) {
        int32_t other = d->parts->at[i].key;
        if (other == rank || !same_memory(d, rank, other)) continue;
        demand += d->at[i].demand * fmin(d->at[i].ns / d->period_ns, 1);
    }
    return demand;
}

/* The busiest rank; a slower one makes the others wait, who then slow it down less: until nothing moves any more. */
static void predict_ranks(struct ig_deployment *d)
{
    double links = d->period_ns, before = -INFINITY;
    for (int32_t round = 0; round < ROUNDS && fabs(d->period_ns - before) > 1; round++) {
        before = d->period_ns;
        double period = links;
        for (int32_t i = 0; i < d->ranks->n; i++) {
            d->rank[i].ns = beside_ns(d, i, round ? demand_beside(d, i) : 0);
            period = fmax(period, d->rank[i].ns + spec_ns(d, i) + host_ns(d, i));
        }
        d->period_ns = period;
    }
}

void ig_deploy_predict(struct ig_deployment *d)
{
    if (d->alone) measure_demands(d);
    predict_links(d);
    predict_ranks(d);
}
