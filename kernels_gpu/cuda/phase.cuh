/* The phases of a transposed convolution, each of which is a convolution of stride 1: launch/deconv.c. */
#ifndef KERNELS_GPU_CUDA_PHASE_CUH
#define KERNELS_GPU_CUDA_PHASE_CUH

#include "kernels_gpu/cuda/cuda.cuh"

struct phase { /* along one axis: outputs `rest`, rest + s, ... */
    int outputs;
    int first, taps; /* its taps are `first`, first + step, ...; none: 0 */
    int before;      /* padding of the convolution that it is */
};

static __device__ __forceinline__ phase phase_of(const ig_gpu_axis &a, int rest, int out, int k, int s, int d, int before)
{
    const int shifted = (rest + a.shift) % s, whole = shifted / a.common;
    phase p = {(out - rest + s - 1) / s, whole * a.inverse % a.step, 0, 0};
    if (whole * a.common != shifted || p.first >= k) return p;
    p.taps = (k - p.first + a.step - 1) / a.step;
    p.before = (p.taps - 1) * a.dilation - (rest + before - p.first * d) / s;
    return p;
}

/* Taps of the phases whose first is an earlier one. */
static __device__ __forceinline__ int taps_before(const ig_gpu_axis &a, int k, int first)
{
    return first * (k / a.step) + min(first, k % a.step);
}

/* n elements further, of halves or of floats; T: const float or float. */
template <typename T> static __device__ __forceinline__ T *moved_by(T *p, int n, bool halves)
{
    return (T *)((uintptr_t)p + (size_t)(long long)n * (halves ? sizeof(binary16) : sizeof(float)));
}

/*
 * The convolution that phase i is, of s * s from left to right. W: what weights are stored as; outputs and residuals may be halves where
 * weights are.
 */
template <typename W> static __device__ __forceinline__ ig_gpu_conv conv_of_phase(const ig_gpu_deconv &d, int i)
{
    const bool halves = sizeof(W) < sizeof(float);
    ig_gpu_conv p = d.all;
    const int y = i / p.sw, x = i - y * p.sw;
    const phase rows = phase_of(d.rows, y, p.out_h, p.kh, p.sh, p.dh, p.top);
    const phase columns = phase_of(d.columns, x, p.out_w, p.kw, p.sw, p.dw, p.left);
    const int taps = taps_before(d.rows, p.kh, rows.first) * p.kw + rows.taps * taps_before(d.columns, p.kw, columns.first);
    p.weights = moved_by(p.weights, taps * p.weight_tap, halves);
    p.out = moved_by(p.out, y * p.out_row + x * p.out_pixel, halves && (p.halves & IG_GPU_OUT_HALVES));
    p.out_h = rows.outputs, p.out_w = columns.outputs;
    p.out_row *= p.sh, p.out_pixel *= p.sw;
    if (p.residual)
        p.residual = moved_by(p.residual, y * p.residual_row + x * p.residual_pixel, halves && (p.halves & IG_GPU_RESIDUAL_HALVES));
    p.residual_row *= p.sh, p.residual_pixel *= p.sw;
    p.sh = p.sw = 1;
    p.kh = columns.taps ? rows.taps : 0, p.kw = rows.taps && columns.taps ? columns.taps : 1;
    p.dh = d.rows.dilation, p.dw = d.columns.dilation;
    p.top = rows.before, p.left = columns.before;
    return p;
}

#endif
