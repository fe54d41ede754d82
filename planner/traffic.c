#include "planner/traffic.h"

#include <math.h>

/*
 * A cache holds what is much smaller than it, and nothing of what is passed over in turns and much larger: between
 * these shares of its size the part that stays falls with the logarithm.
 */
static const struct {
    double from, to;
} fade[IG_MAX_CACHES] = {{0.5, 1.5}, {0.5, 1.2}, {0.35, 1.0}};

/* The part of `bytes` passed over in turns that cache `level` does not hold. */
static double beyond(const struct ig_caches *c, int level, double bytes)
{
    double from = fade[level].from * (double)c->bytes[level], to = fade[level].to * (double)c->bytes[level];
    if (bytes <= from) return 0;
    return bytes >= to ? 1 : log(bytes / from) / log(to / from);
}

struct ig_split ig_split_of(const struct ig_caches *c, double reach)
{
    double l1 = beyond(c, 0, reach), l2 = beyond(c, 1, reach), l3 = beyond(c, 2, reach);
    if (!c->bytes[2]) l3 = l2; /* no third level: what leaves the second comes from memory */
    if (l2 < l3) l2 = l3;
    if (l1 < l2) l1 = l2;
    return (struct ig_split){l1 - l2, l2 - l3, l3};
}

void ig_book(double *f, int first, const struct ig_caches *c, double bytes, double reach)
{
    struct ig_split s = ig_split_of(c, reach);
    f[first] += bytes * s.l2;
    f[first + 1] += bytes * s.l3;
    f[first + 2] += bytes * s.dram;
}

/*
 * Pixels of up to 256 bytes follow each other closely enough to be one stream; from 1 KiB on they are none, but where
 * each has a page of its own the prefetcher takes them for as many streams.
 */
static double apart(double pixel_bytes)
{
    double part = log2(pixel_bytes / 256) / 2, page = log2(4096 / pixel_bytes);
    return fmax(0, fmin(fmin(part, page), 1));
}

double ig_operand_bytes(const struct ig_operand *o)
{
    return o->shape ? (double)o->h * o->w * o->c * ig_type_bytes(o->shape->type) : 0;
}

void ig_book_operands(double *f, const struct ig_caches *c, const struct ig_call *call, double weights, int runs)
{
    double x = ig_operand_bytes(&call->in[0]), y = ig_operand_bytes(&call->out[0]), residual = 0;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    if (call->n_in > 3) residual = ig_operand_bytes(&call->in[3]);
    double reach = x + y + residual + weights;
    struct ig_split s = ig_split_of(c, reach);
    ig_book(f, IG_F_A_L2, c, x, reach);
    ig_book(f, IG_F_Y_L2, c, y + residual, reach);
    double y_runs = (double)out->h * out->w * apart((double)out->c * (double)sizeof(float)) * (residual > 0 ? 2 : 1);
    f[IG_F_Y_RUNS_L3] += s.l3 * y_runs;
    f[IG_F_Y_RUNS_DRAM] += s.dram * y_runs;
    if (!runs) return;
    double x_runs = (double)in->h * in->w * apart((double)in->c * (double)sizeof(float));
    f[IG_F_X_RUNS_L3] += s.l3 * x_runs;
    f[IG_F_X_RUNS_DRAM] += s.dram * x_runs;
}

void ig_book_streams(double *f, const struct ig_caches *c, const struct ig_call *call)
{
    enum { TWICE = 2 }; /* a line written is read before */
    double y = ig_operand_bytes(&call->out[0]), x = 0;
    for (int32_t i = 0; i < call->n_in; i++)
        if (i != 1 || call->n_in == 2) x += ig_operand_bytes(&call->in[i]);
    ig_book(f, IG_F_A_L2, c, x, x + y);
    ig_book(f, IG_F_A_L2, c, TWICE * y, fmax(x + y, c->away.output));
}

void ig_overlap(double *f)
{
    enum { LEVELS = 3 };
    static const double per_cycle[LEVELS] = {32, 20, 7}; /* bytes that come from L2, L3, memory */
    for (int i = 0; i < LEVELS; i++) {
        double bytes = f[IG_F_A_L2 + i] + f[IG_F_B_L2 + i] + f[IG_F_Y_L2 + i];
        if (bytes <= 0) continue;
        double shown = 0.5 + 0.5 / (1 + f[IG_F_WORK] * per_cycle[i] / bytes);
        f[IG_F_A_L2 + i] *= shown;
        f[IG_F_B_L2 + i] *= shown;
        f[IG_F_Y_L2 + i] *= shown;
        if (!i) continue;
        f[IG_F_X_RUNS_L3 + i - 1] *= shown;
        f[IG_F_Y_RUNS_L3 + i - 1] *= shown;
    }
}
