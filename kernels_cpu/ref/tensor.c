/* Predicates that many tensor kernels share. */
#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref_tensor.h"

int ig_ref_moves(const struct ig_call *call)
{
    return ig_type_bytes(call->in[0].shape->type) > 0 && call->in[0].shape->type == call->out[0].shape->type;
}

int ig_ref_is_f32(const struct ig_call *call)
{
    return call->in[0].shape->type == IG_F32 && call->out[0].shape->type == IG_F32;
}

int ig_ref_is_float(const struct ig_call *call)
{
    return ig_is_float(call->in[0].shape->type) && ig_is_float(call->out[0].shape->type);
}

int ig_ref_is_number(const struct ig_call *call)
{
    return ig_ref_moves(call) && call->in[0].shape->type != IG_F16;
}

int ig_ref_moves_all(const struct ig_call *call)
{
    for (int i = 0; i < call->n_in; i++)
        if (!call->in[i].shape || call->in[i].shape->type != call->out[0].shape->type) return 0;
    return ig_ref_moves(call);
}
