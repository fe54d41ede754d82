#include "planner/analyse.h"

#include <string.h>

static const double ns = 1e-9, pj_in_mj = 1e-9;
enum { BITS = 8, MW = 1000 };

static int64_t sum(const int64_t *x)
{
    return x[IG_X] + x[IG_Y] + x[IG_W];
}

double ig_roofline_s(const struct ig_analysis *a, const struct ig_processor *pe, double bytes_per_s)
{
    double compute = (double)a->ops_th / (double)pe->ops_per_s, move = (double)sum(a->size) / bytes_per_s;
    return compute > move ? compute : move;
}

/* Equation 13: idle time is the network's, not the layer's. */
static double energy(const struct ig_analysis *a, const struct ig_processor *pe)
{
    if (pe->active_w < 0) return IG_UNKNOWN;
    double bit = pe->dram_pj_per_bit < 0 ? 0 : pe->dram_pj_per_bit;
    return a->s * pe->active_w * MW + (double)(sum(a->traffic) * BITS) * bit * pj_in_mj;
}

static void common(struct ig_analysis *a, const struct ig_layer *l, const struct ig_platform *b,
                   const struct ig_processor *pe)
{
    memset(a, 0, sizeof *a);
    a->ops_th = a->ops_re = ig_layer_ops(l);
    for (int role = 0; role < IG_ROLES; role++) a->size[role] = a->traffic[role] = l->elements[role] * b->element_bytes;
    a->ops_s = (double)a->ops_th / (double)pe->ops_per_s;
    a->bound = IG_BOUND_COMPUTE;
}

void ig_analyse_rates(struct ig_analysis *a, const struct ig_layer *l, const struct ig_platform *b,
                      const struct ig_processor *pe)
{
    common(a, l, b, pe);
    a->compute_s = a->ops_re_s = a->roofline_s = a->ops_s;
    a->s = a->compute_s + (double)pe->overhead_ns * ns;
    a->mj = energy(a, pe);
}

/* The bandwidth of all channels that carry a tensor. */
static double all_channels(const struct ig_nest *nest)
{
    double sum_of = 0;
    for (int32_t c = 0; c < nest->board->n_channels; c++) {
        int used = 0;
        for (int role = 0; role < IG_ROLES; role++) used |= nest->pe->place[role].channel == c;
        if (used) sum_of += (double)nest->board->channels[c].bytes_per_s;
    }
    return sum_of;
}

void ig_analyse(struct ig_analysis *a, const struct ig_nest *nest)
{
    const struct ig_platform *b = nest->board;
    const struct ig_processor *pe = nest->pe;
    common(a, nest->layer, b, pe);
    a->ops_re = ig_nest_ops(nest);
    a->compute_s = a->ops_re_s = (double)a->ops_re / (double)pe->ops_per_s;
    for (int role = 0; role < IG_ROLES; role++) {
        a->traffic[role] = ig_nest_traffic(nest, role);
        a->channel_bytes[pe->place[role].channel] += a->traffic[role];
    }
    double longest = a->compute_s;
    for (int32_t c = 0; c < b->n_channels; c++) {
        a->channel_s[c] = (double)a->channel_bytes[c] / (double)b->channels[c].bytes_per_s;
        if (a->channel_s[c] <= longest) continue;
        longest = a->channel_s[c];
        a->bound = c;
    }
    a->s = longest + (double)pe->overhead_ns * ns;
    a->roofline_s = ig_roofline_s(a, pe, all_channels(nest));
    a->mj = energy(a, pe);
}
