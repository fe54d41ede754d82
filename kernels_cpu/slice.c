#include "kernels_cpu/slice.h"

#include "kernels_cpu/pack/pack.h"

/* Layouts of panels that follow each other, each with all that belongs to its channels. */
static const struct {
    ig_pack_fn *pack;
    int32_t channels;
} panels[] = {{ig_pack_conv8, 8}, {ig_pack_conv16, 16}, {ig_pack_conv24, 24}, {ig_pack_fc16, 16}};

int32_t ig_slice_step(const struct ig_kernel *k, const struct ig_call *call)
{
    if (call->n_in < 2 || !call->in[1].data || call->in[1].shape->dims[0] != call->out[0].c) return 0;
    if (k->op == IG_CONV && ((const struct ig_conv *)call->attrs)->groups != 1) return 0;
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        if (panels[i].pack == k->pack) return panels[i].channels;
    return 0;
}

void ig_slice_call(const struct ig_call *whole, int32_t c0, int32_t c1, struct ig_pack_slice *s)
{
    int64_t filter = ig_bytes(whole->in[1].shape) / whole->out[0].c;
    s->call = *whole;
    s->weights = *whole->in[1].shape;
    s->out = *whole->out[0].shape;
    s->weights.dims[0] = c1 - c0;
    s->out.dims[s->out.rank - 1] = c1 - c0;
    s->call.in[1].shape = &s->weights;
    s->call.in[1].data = (char *)whole->in[1].data + c0 * filter;
    s->call.out[0].shape = &s->out;
    s->call.out[0].c = c1 - c0;
    if (whole->n_in < 3 || !whole->in[2].data) return;
    s->bias = *whole->in[2].shape;
    s->bias.dims[s->bias.rank - 1] = c1 - c0;
    s->call.in[2].shape = &s->bias;
    s->call.in[2].data = (char *)whole->in[2].data + c0 * (int64_t)sizeof(float);
}
