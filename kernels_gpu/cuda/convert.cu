/*
 * Conversions: between any two types (real to integer toward zero, integers wrapped, all but zero true), and to and from
 * quantised numbers, y = saturate(round half to even(x / scale) + zero).
 */
#include "kernels_gpu/cuda/element.cuh"

GPU_KERNEL(128, 8, cast_typed, ig_gpu_typed)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int from = walk(p.dims, p.a_at, p.n, i), to = walk(p.dims, p.out_at, p.n, i);
    if (!is_float(p.a_type)) put_int(p.out, p.out_type, to, get_int(p.a, p.a_type, from));
    else if (p.out_type == IG_BOOL) ((unsigned char *)p.out)[to] = get_float(p.a, p.a_type, from) != 0;
    else put_real(p.out, p.out_type, to, get_float(p.a, p.a_type, from));
}

/* Index of a parameter of n elements for element i of the data. */
static __device__ __forceinline__ int parameter_at(int n, int inner, int i)
{
    return n > 1 ? i / inner % n : 0;
}

GPU_KERNEL(128, 8, quantize_typed, ig_gpu_quantize)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const float scale = ((const float *)p.scale)[parameter_at(p.scale_n, p.inner, i)];
    const float x = is_float(p.in_type) ? get_float(p.in, p.in_type, i) : (float)get_int(p.in, p.in_type, i);
    const double zero = p.zero ? get_real(p.zero, p.zero_type, parameter_at(p.zero_n, p.inner, i)) : 0;
    const double low = p.out_type == IG_I8 ? -128 : 0, y = rintf(x / scale) + zero;
    put_int(p.out, p.out_type, i, (long long)(y > low ? y > low + 255 ? low + 255 : y : low));
}

GPU_KERNEL(128, 8, dequantize_typed, ig_gpu_quantize)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const double zero = p.zero ? get_real(p.zero, p.zero_type, parameter_at(p.zero_n, p.inner, i)) : 0;
    const double x = get_real(p.in, p.in_type, i) - zero;
    ((float *)p.out)[i] = (float)(x * ((const float *)p.scale)[parameter_at(p.scale_n, p.inner, i)]);
}

/* Half to even, saturated; NaN: 0. */
static __device__ __forceinline__ unsigned char to_byte(float x, float zero)
{
    const float y = rintf(x) + zero;
    return (unsigned char)(y > 255 ? 255 : y > 0 ? (int)y : 0);
}

/* Scale and zero of what is to be quantised, by one block: from the least and the largest, of which 0 is one. */
GPU_KERNEL(256, 2, quantize_range, ig_gpu_quantize)
{
    SHARED(float, least, [256]);
    SHARED(float, most, [256]);
    const float *x = (const float *)p.in;
    const int me = threadIdx.x;
    float low = 0, high = 0;
    for (int i = me; i < p.count; i += 256) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    least[me] = low;
    most[me] = high;
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (me < half) {
            least[me] = fminf(least[me], least[me + half]);
            most[me] = fmaxf(most[me], most[me + half]);
        }
        __syncthreads();
    }
    if (me) return;
    const float scale = most[0] > least[0] ? (most[0] - least[0]) / 255 : 1;
    const unsigned char zero = to_byte(-least[0] / scale, 0);
    p.found[0] = scale;
    p.found[1] = zero;
    if (p.scale_out) *(float *)p.scale_out = scale;
    if (p.zero_out) *(unsigned char *)p.zero_out = zero;
}

GPU_KERNEL(128, 8, quantize_found, ig_gpu_quantize)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < p.count) ((unsigned char *)p.out)[i] = to_byte(((const float *)p.in)[i] / p.found[0], p.found[1]);
}
