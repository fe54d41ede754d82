/* A kernel's launches on memory of their own. */
#include <stdlib.h>
#include <string.h>

#include "bench/traffic/traffic.h"
#include "kernels_cpu/problem.h"
#include "kernels_gpu/emu/run.h"

static void *fresh(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p) abort();
    return memset(p, 0, (bytes + 127) / 64 * 64);
}

static size_t span(const struct ig_operand *o)
{
    int64_t all = ig_bytes(o->shape), seen = ((o->h - 1) * o->row_stride + (o->w - 1) * o->pixel_stride + o->c) * ig_type_bytes(o->shape->type);
    return (size_t)(all > seen ? all : seen);
}

int ig_traffic_run(const struct ig_kernel *k, const struct ig_call *of)
{
    struct ig_call call = *of;
    void *weights = k->pack ? fresh(k->pack(of, NULL)) : NULL, *zeros = fresh(ig_zeros_bytes(of));
    if (weights) k->pack(of, weights);
    call.weights = weights;
    call.zeros = zeros;
    for (int32_t i = 0; i < of->n_in; i++)
        if (of->in[i].shape && !of->in[i].data) call.in[i].data = fresh(span(&of->in[i]));
    for (int32_t i = 0; i < of->n_out; i++)
        if (of->out[i].shape) call.out[i].data = fresh(span(&of->out[i]));
    int bad = emu_run(k->name, &call);
    for (int32_t i = 0; i < of->n_in; i++)
        if (of->in[i].shape && !of->in[i].data) free(call.in[i].data);
    for (int32_t i = 0; i < of->n_out; i++) free(call.out[i].data);
    free(weights);
    free(zeros);
    return bad;
}
