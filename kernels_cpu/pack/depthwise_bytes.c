/* Scratch of depthwise convolutions of quantised numbers by pairs of rows, common/depthwise_pairs.h. */
#include "kernels_cpu/common/depthwise_pairs.h"
#include "kernels_cpu/pack/pack.h"

size_t ig_scratch_bytes_depthwise_pairs(const struct ig_call *call)
{
    return (size_t)ig_pairs_cut_of(call).bytes;
}
