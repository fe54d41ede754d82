/* Kernels whose accesses can be counted by hand. */
#include "kernels_gpu/cuda/cuda.cuh"
#include "tests/gpu/traffic.h"

enum { WORDS = 32 * 33 };

/* A block's own words. */
#define OUT (p.out + OF_BLOCK * ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x))

static __device__ __forceinline__ int place(const traffic_params &p)
{
    return (int)threadIdx.x / p.share * p.apart;
}

/* Reads words of shared memory that a warp has written side by side. */
GPU_KERNEL(32, 1, traffic_words, traffic_params)
{
    SHARED(float, room, [WORDS]);
    for (int i = threadIdx.x; i < WORDS; i += 32) room[i] = p.in[0];
    __syncthreads();
    OUT[threadIdx.x] = room[place(p)];
}

GPU_KERNEL(32, 1, traffic_quads, traffic_params)
{
    SHARED(float, room, [WORDS]);
    for (int i = threadIdx.x; i < WORDS; i += 32) room[i] = p.in[0];
    __syncthreads();
    const float4 v = load4(room + place(p));
    OUT[threadIdx.x] = v.x + v.y + v.z + v.w;
}

/* Writes words of shared memory. */
GPU_KERNEL(32, 1, traffic_writes, traffic_params)
{
    SHARED(float, room, [WORDS]);
    room[place(p)] = 1;
    __syncthreads();
    OUT[threadIdx.x] = room[place(p)];
}

/* Reads device memory, some lanes twice the same. */
GPU_KERNEL(32, 1, traffic_device, traffic_params)
{
    float sum = 0;
    for (int i = 0; i < 2; i++) {
        if ((int)threadIdx.x < p.lanes) sum += p.in[place(p)];
        __syncthreads();
    }
    OUT[threadIdx.x] = sum;
}

GPU_KERNEL(32, 1, traffic_device_quads, traffic_params)
{
    const float4 v = load4(p.in + place(p));
    OUT[threadIdx.x] = v.x + v.y + v.z + v.w;
}

/* Four halves at once. */
GPU_KERNEL(32, 1, traffic_halves, traffic_params)
{
    const float4 v = load4((const binary16 *)p.in + place(p));
    store4((binary16 *)OUT + threadIdx.x * 4, v);
}
