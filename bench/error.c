#include "bench/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "planner/plan.h"

static const double two_pi = 6.283185307179586;

static double uniform(uint64_t *seed) /* in (0, 1) */
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 32) + 0.5) / 4294967296.0;
}

/* n numbers of o's type, floats or halves. */
static void fill_normal(const struct ig_operand *o, void *data, int64_t n)
{
    uint64_t seed = 1;
    for (int64_t i = 0; i < n; i++) {
        double size = sqrt(-2 * log(uniform(&seed)));
        float v = (float)(size * cos(two_pi * uniform(&seed)));
        if (o->shape->type == IG_F16) ((uint16_t *)data)[i] = ig_float_to_half(v);
        else ((float *)data)[i] = v;
    }
}

static int64_t make_dense(struct ig_operand *o)
{
    o->ring_rows = o->h;
    o->pixel_stride = o->c;
    o->row_stride = (int64_t)o->w * o->c;
    return o->h * o->row_stride;
}

static const struct ig_kernel *fastest_direct(const struct ig_kernel *than, const struct ig_call *call)
{
    const struct ig_kernel *best = NULL;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (!k->run || k->error > 0 || !ig_isa_has(than->isa, k->isa)) continue;
        if (!ig_kernel_fits(k, than->op, call)) continue;
        if (!best || ig_estimate_ns(k, call, 1, NULL) < ig_estimate_ns(best, call, 1, NULL)) best = k;
    }
    return best;
}

static void *room(size_t bytes)
{
    size_t whole = (bytes + 127) / 64 * 64;
    void *p = aligned_alloc(64, whole);
    if (p) memset(p, 0, whole);
    return p;
}

/* The whole output of `plan` for input x. 0, or -1 without memory. */
static int run(const struct ig_kernel *k, const struct ig_call *plan, const void *x, void *y)
{
    struct ig_call call = *plan;
    void *weights = room(k->pack ? k->pack(plan, NULL) : 0), *zeros = room(ig_zeros_bytes(plan));
    void *scratch = room(k->scratch ? k->scratch(plan) : 0);
    int ok = weights && zeros && scratch;
    if (ok) {
        if (k->pack) k->pack(plan, weights);
        call.weights = weights;
        call.zeros = zeros;
        call.in[0].data = (void *)(uintptr_t)x;
        call.out[0].data = y;
        k->run(&call, ig_full_range(&call), scratch);
    }
    free(weights);
    free(zeros);
    free(scratch);
    return ok ? 0 : -1;
}

static double difference(const struct ig_operand *o, const void *y, const void *want, int64_t n)
{
    double most = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = ig_as_double(o->shape->type, want, i);
        most = fmax(most, fabs(ig_as_double(o->shape->type, y, i) - v));
        size = fmax(size, fabs(v));
    }
    return size > 0 ? most / size : most;
}

/* Of convolutions and of fully connected layers. */
static union ig_attrs without_act(int32_t op, const void *attrs)
{
    union ig_attrs plain = {0};
    if (op == IG_FC) plain.fc = *(const struct ig_fc *)attrs;
    else plain.conv = *(const struct ig_conv *)attrs;
    *(op == IG_FC ? &plain.fc.act : &plain.conv.act) = (struct ig_act){.kind = IG_NONE};
    return plain;
}

double ig_kernel_error(const struct ig_kernel *k, const struct ig_call *layer)
{
    union ig_attrs plain = without_act(k->op, layer->attrs);
    struct ig_call call = *layer;
    call.attrs = &plain;
    call.n_in = 2;
    int64_t in = make_dense(&call.in[0]), out = make_dense(&call.out[0]);
    const struct ig_kernel *direct = fastest_direct(k, &call);
    void *x = room((size_t)in * sizeof(float)), *y = room((size_t)out * sizeof(float)), *want = room((size_t)out * sizeof(float));
    double error = k->error;
    if (x && y && want && direct) {
        fill_normal(&call.in[0], x, in);
        if (!run(k, &call, x, y) && !run(direct, &call, x, want)) error = difference(&call.out[0], y, want, out);
    }
    free(x);
    free(y);
    free(want);
    return error;
}
