/*
 * A step waits for the one before. recurrent.cu has all steps of a row of the batch, or of four, in one direction on one multiprocessor;
 * recurrent_spread.cu has a launch for each step, of all multiprocessors. Either way R is read for every step from the nearest cache that holds
 * it, unless it is kept in registers. Figures of chips are NVIDIA's and those of bench/traffic/main.c; what a step and a launch wait is assumed.
 */
#include "planner/recurrent_gpu.h"

#include <string.h>

#include "graph/op.h"
#include "graph/tensor.h"

enum { FIRST = 128, SECOND = 32, SPREAD_WARPS = 4 }; /* bytes of the first- and the second-level cache that a multiprocessor has a cycle */
static const double step_cycles = 800 /* barriers, shuffles and activations of a step */, macs = 128 /* of a multiprocessor, a cycle */;

static const struct chip {
    int32_t sm, processors;
    double ghz, first, second /* bytes of caches */, gbytes /* of memory, a second */, launch_ns /* from one to the next of a graph */;
} chips[] = {
    {0, 2, 1.3, 24 << 10, 512 << 10, 45, 4000}, /* Jetson TX2 */
    {72, 8, 1.38, 96 << 10, 512 << 10, 100, 3000}, /* Jetson AGX Xavier */
    {75, 40, 1.5, 64 << 10, 4 << 20, 300, 2000}, /* T4 */
    {80, 108, 1.4, 128 << 10, 40 << 20, 1500, 1500}, /* A100 */
    {86, 16, 1.3, 128 << 10, 4 << 20, 150, 2500}, /* Jetson AGX Orin, and above */
    {90, 132, 1.98, 192 << 10, 50 << 20, 3000, 1500}, /* H100 */
};

static const struct chip *chip_of(int32_t sm)
{
    size_t i = sizeof chips / sizeof *chips - 1;
    while (chips[i].sm > sm) i--;
    return &chips[i];
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static int32_t ceiling(int32_t n, int32_t by)
{
    return (n + by - 1) / by;
}

/* Rows of the batch that a block, or one of its warps, has. */
static int32_t rows_of(const struct ig_kernel *k)
{
    return strstr(k->name, "8__cuda") ? 8 : strstr(k->name, "4__cuda") ? 4 : 1;
}

double ig_recurrent_gpu_ns(const struct ig_kernel *k, const struct ig_call *call, int32_t sm)
{
    const struct chip *c = chip_of(sm);
    const struct ig_recurrent *a = call->attrs;
    const int32_t *y = call->out[0].shape->dims, units = y[3], rows = rows_of(k), groups = y[1] * ceiling(y[2], rows);
    const int spread = !!strstr(k->name, "_spread"), kept = !!strstr(k->name, "_kept"), halves = a->kind == IG_GRU && !a->reset_after ? 2 : 1;
    const double weights = (double)ig_gates_of(a) * units * units /* of a direction */, bytes = sizeof(float) * weights;
    /* Blocks of a multiprocessor, and what each has of a step's weights, and bytes of h. */
    const double blocks = ceiling(spread ? groups * ceiling(units, SPREAD_WARPS) : groups, c->processors);
    const double share = spread ? 1.0 / ceiling(units, SPREAD_WARPS) : 1, states = spread ? sizeof(float) * rows * (double)units : 0;
    const double rate = !spread && bytes <= c->first ? FIRST : SECOND;
    const double busy = larger(weights * share * rows / macs, kept ? 0 : (bytes * share + states) / rate) * blocks / c->ghz;
    const double memory = !kept && y[1] * bytes > c->second ? bytes * (spread ? y[1] : blocks) / c->gbytes : 0;
    const double waits = halves * (step_cycles / c->ghz * (spread ? 1 : blocks) + (spread ? c->launch_ns : 0));
    return y[0] * (larger(busy, memory) + waits) + c->launch_ns;
}
