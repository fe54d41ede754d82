/*
 * What load, store and multiply-add ports allow a depthwise convolution, by the best register blocking of 16 vector
 * registers, per vector of outputs:
 *
 *   slide     weights and the sums of two output rows in registers, along x: (kh + s) * s loads for two, one store
 *   passes    two kernel rows at a time, sums kept in L1 between passes:     kh * s + passes loads, `passes` stores
 *   taps      a tap's weights shared by seven outputs, pixels as operands:   kh * kw * (1 + 1/7) loads, one store
 *
 * Ports as of Zen 4 (256 bits): two multiply-adds, two loads, one store a cycle. Eight channels are half a line, and
 * pixels lie whole lines apart: all loads of a slide or a pass want the same half of the banks of L1, of which one load
 * a cycle can be served. Of taps, the two halves of a line are read in turn.
 */
#include "bench/micro/micro.h"

enum { REGISTERS = 16, SHARED_BY = 7 };

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Cycles of a vector of outputs, as the ports are loaded. */
static double cycles(double fma, double loads, double loads_a_cycle, double stores)
{
    return larger(larger(fma / 2, loads / loads_a_cycle), stores);
}

double ig_depthwise_ports(const struct ig_window *w)
{
    double fma = w->kh * w->kw, best = cycles(fma, fma * (1 + 1.0 / SHARED_BY), 2, 1);
    int32_t slots = (w->kw + w->sw - 1) / w->sw, passes = (w->kh + 1) / 2;
    if (w->kh * w->kw + 2 * slots < REGISTERS) {
        double slide = cycles(fma, (w->kh + w->sh) * w->sw / 2.0, 1, 1);
        if (slide < best) best = slide;
    }
    if (2 * w->kw + slots < REGISTERS) {
        double pass = cycles(fma, w->kh * w->sw + passes, 1, passes);
        if (pass < best) best = pass;
    }
    return fma / 2 / best;
}
