/* Kernels with a fault each, which the emulator must find, and their right twins. */
#include "kernels_gpu/cuda/cuda.cuh"
#include "tests/gpu/faults.h"

#define OUT (p.out + 128 * blockIdx.x)

/* Sum of 128 numbers by halves: BARRIER(n) stands where one is needed. */
#define SUM(name, BARRIER)                                                     \
    GPU_KERNEL(128, 1, name, fault_params)                                     \
    {                                                                          \
        SHARED(float, part, [128]);                                            \
        const int me = threadIdx.x;                                            \
        part[me] = p.in[me];                                                   \
        BARRIER(me);                                                           \
        for (int half = 64; half; half >>= 1) {                                \
            if (me < half) part[me] += part[me + half];                        \
            __syncthreads();                                                   \
        }                                                                      \
        if (!me) OUT[0] = part[0];                                           \
    }

#define ALL(me) __syncthreads()
#define NONE(me) (void)(me)
#define HALF_OF_THEM(me) do if ((me) < 64) __syncthreads(); while (0)

SUM(fault_none, ALL)
SUM(fault_no_barrier, NONE)
SUM(fault_half_a_barrier, HALF_OF_THEM)

/* The last thread leaves before the others meet. */
GPU_KERNEL(128, 1, fault_early_end, fault_params)
{
    SHARED(float, part, [128]);
    if (threadIdx.x == 127) return;
    part[threadIdx.x] = p.in[threadIdx.x];
    __syncthreads();
    OUT[threadIdx.x] = part[threadIdx.x];
}

/* One buffer, written again while others still read it. */
GPU_KERNEL(128, 1, fault_one_buffer, fault_params)
{
    SHARED(float, part, [128]);
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        part[threadIdx.x] = p.in[threadIdx.x];
        __syncthreads();
        sum += part[127 - threadIdx.x];
    }
    OUT[threadIdx.x] = sum;
}

/* More barriers than the emulator counts before it begins anew, and after them a race if p.at is 1. */
GPU_KERNEL(32, 1, fault_many_barriers, fault_params)
{
    SHARED(float, part, [32]);
    float last = 0;
    for (int i = 0; i < 1 << 19; i++) {
        part[threadIdx.x] = i;
        __syncthreads();
        last = part[31 - threadIdx.x];
        __syncthreads();
    }
    if (p.at) part[31 - threadIdx.x] = last;
    OUT[threadIdx.x] = part[threadIdx.x] + last;
}

/* Two groups of copies by 16 threads, waited for until p.at are under way, and read by all. */
#define COPIES(name, BARRIER)                                                                       \
    GPU_KERNEL(128, 1, name, fault_params)                                                          \
    {                                                                                               \
        SHARED(float, part, [128]);                                                                 \
        const int me = threadIdx.x;                                                                 \
        if (me < 16) COPY4(part + 4 * me, p.in + 4 * me, true);                                     \
        COPY_GROUP();                                                                               \
        if (me < 16) COPY4(part + 64 + 4 * me, p.in + 64 + 4 * me, me != 15);                       \
        COPY_GROUP();                                                                               \
        COPY_WAIT(p.at);                                                                            \
        BARRIER(me);                                                                                \
        OUT[me] = part[127 - me];                                                                 \
    }

COPIES(fault_copies, ALL)
COPIES(fault_copies_unmet, NONE)

/* A copy to what others still read. */
GPU_KERNEL(128, 1, fault_copy_early, fault_params)
{
    SHARED(float, part, [128]);
    part[threadIdx.x] = p.in[threadIdx.x];
    __syncthreads();
    const float sum = part[threadIdx.x ^ 64];
    if (threadIdx.x >= 96) COPY4(part + 4 * (threadIdx.x - 96), p.in, true);
    COPY_GROUP();
    __syncthreads();
    COPY_WAIT(0);
    OUT[threadIdx.x] = sum;
}

GPU_KERNEL(128, 1, fault_past_shared, fault_params)
{
    SHARED(float, part, [128]);
    part[threadIdx.x + 1] = p.in[threadIdx.x];
    __syncthreads();
    OUT[threadIdx.x] = part[threadIdx.x];
}

/* Reads and writes of device memory at p.at. */
GPU_KERNEL(128, 1, fault_read, fault_params)
{
    OUT[threadIdx.x] = p.in[(int)threadIdx.x + p.at];
}

GPU_KERNEL(128, 1, fault_write, fault_params)
{
    OUT[(int)threadIdx.x + p.at] = 1;
}

GPU_KERNEL(128, 1, fault_write_input, fault_params)
{
    *(float *)(p.in + threadIdx.x) = 1;
}

GPU_KERNEL(128, 1, fault_misaligned, fault_params)
{
    const float4 v = load4(p.in + p.at);
    OUT[threadIdx.x] = v.x;
}

GPU_KERNEL(128, 1, fault_shuffle, fault_params)
{
    if (threadIdx.x >= 100) return;
    OUT[threadIdx.x] = __shfl_xor_sync(0xffffffff, p.in[threadIdx.x], 1);
}

GPU_KERNEL(128, 1, fault_products, fault_params)
{
    float sum[2][1][4] = {};
    const float4 a[2] = {};
    const unsigned b[1][2] = {};
    const float4 first[1] = {a[0]};
    float alone[1][1][4] = {};
    if (threadIdx.x % 32 < 16) mma_bf16(sum, a, b);
    else mma_bf16(alone, first, b);
    OUT[threadIdx.x] = sum[0][0][0] + alone[0][0][0];
}

GPU_KERNEL(128, 1, fault_unset, fault_params)
{
    SHARED(float, part, [128]);
    if (threadIdx.x) part[threadIdx.x] = p.in[threadIdx.x];
    __syncthreads();
    OUT[threadIdx.x] = part[threadIdx.x];
}

/* Half of a warp at a barrier or shuffle, the others at another one. */
GPU_KERNEL(128, 1, fault_two_shuffles, fault_params)
{
    float v = p.in[threadIdx.x];
    if (threadIdx.x % 32 < 16) v = 2 * __shfl_xor_sync(0xffffffff, v, 1);
    else v = 3 + __shfl_xor_sync(0xffffffff, v * v, 2);
    OUT[threadIdx.x] = v;
}

GPU_KERNEL(128, 1, fault_two_barriers, fault_params)
{
    SHARED(float, part, [128]);
    part[threadIdx.x] = p.in[threadIdx.x];
    if (threadIdx.x % 32 < 16) {
        __syncthreads();
        OUT[threadIdx.x] = part[threadIdx.x ^ 1];
    } else {
        part[threadIdx.x] += 1;
        __syncthreads();
    }
}

/* In place: what the thread p.at further, of the block or of the next one, reads or writes. */
GPU_KERNEL(128, 1, fault_in_place, fault_params)
{
    const int me = (int)(blockIdx.x * 64 + threadIdx.x), other = (me + p.at) & 127;
    if (threadIdx.x < 64) p.out[me] = p.out[other] + 1;
}

/* A word by two threads. */
GPU_KERNEL(128, 1, fault_written_twice, fault_params)
{
    p.out[threadIdx.x / 2] = p.in[threadIdx.x];
}

/* So may atomics. */
GPU_KERNEL(128, 1, fault_atomics, fault_params)
{
    atomicMax((int *)p.out + threadIdx.x % 4, (int)threadIdx.x + p.at);
}
