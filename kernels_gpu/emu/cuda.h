/*
 * CUDA's language for a host compiler: included before a .cu file that is compiled as C++, so that the very kernels
 * that a GPU runs run here, thread by thread (emu/block.c), under the eyes of emu/check.c, whom -fsanitize=thread's
 * hooks tell of every access.
 */
#ifndef KERNELS_GPU_EMU_CUDA_H
#define KERNELS_GPU_EMU_CUDA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "graph/tensor.h"
#include "kernels_gpu/emu/emu.h"

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define VALUE_LINKAGE __attribute__((noinline, unused)) /* inlined at each output they would be most of the time to compile kernels */
#define __restrict__ __restrict
#define GPU_ACTIVATIONS ~0u /* as a program's kernels: long ones are not called */

struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };

struct alignas(8) int2 { int x, y; };

static inline int2 make_int2(int x, int y)
{
    int2 v = {x, y};
    return v;
}

static inline float4 make_float4(float x, float y, float z, float w)
{
    float4 v = {x, y, z, w};
    return v;
}

static inline float2 make_float2(float x, float y)
{
    float2 v = {x, y};
    return v;
}

#define threadIdx emu_now.thread
#define blockIdx emu_now.block
#define blockDim emu_now.block_dim
#define gridDim emu_now.grid_dim

#define __syncthreads() emu_barrier(__LINE__)

template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}

#define __shfl_xor_sync(lanes, v, mask) emu_shuffle_xor(lanes, v, mask, __LINE__)
static inline float emu_shuffle_xor(unsigned lanes, float v, int mask, int line)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = emu_shuffle(lanes, bits, (int)(emu_now.thread.x & 31) ^ mask, line);
    memcpy(&v, &bits, sizeof bits);
    return v;
}

static inline int emu_shuffle_xor(unsigned lanes, int v, int mask, int line)
{
    return (int)emu_shuffle(lanes, (uint32_t)v, (int)(emu_now.thread.x & 31) ^ mask, line);
}

static inline unsigned __float_as_uint(float v)
{
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned which)
{
    const unsigned long long all = (unsigned long long)high << 32 | low;
    unsigned v = 0;
    for (int i = 0; i < 4; i++) v |= (unsigned)(all >> (which >> 4 * i & 7) * 8 & 255) << 8 * i;
    return v;
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}

static inline float __uint_as_float(unsigned bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline int atomicMax(int *p, int v)
{
    return emu_atomic_max(p, v);
}

static inline int min(int a, int b)
{
    return a < b ? a : b;
}

static inline int max(int a, int b)
{
    return a > b ? a : b;
}

/* Shared memory between bytes that nobody may touch; full of NaN until a thread writes it. */
#define SHARED(type, name, ...)                                                                     \
    static struct {                                                                                 \
        alignas(32) unsigned char front[EMU_GUARD];                                                 \
        alignas(32) type data __VA_ARGS__;                                                          \
        alignas(16) unsigned char back[EMU_GUARD];                                                  \
    } name##_shared;                                                                                \
    type(&name) __VA_ARGS__ = name##_shared.data;                                                   \
    emu_shared(#name, &name##_shared, sizeof name##_shared, &name##_shared.data, sizeof name##_shared.data)

/* Unrolled, sums stay in registers here, too, and their accesses need no check. */
#define UNROLL _Pragma("GCC unroll 128")
#define UNROLL_STEPS /* a loop, which takes as long to run and a fraction to compile */

/* The host's compiler may take a struct apart, so that its address is lost; a vector of its own stays one access. */
#define IS_ALIGNED(p, bytes) emu_vector(p, bytes)

typedef float emu_vector4 __attribute__((vector_size(16), may_alias));

static inline float4 emu_load4(const float *p)
{
    const emu_vector4 v = *(const emu_vector4 *)p;
    return make_float4(v[0], v[1], v[2], v[3]);
}

static inline void emu_store4(float *p, float4 v)
{
    *(emu_vector4 *)p = (emu_vector4){v.x, v.y, v.z, v.w};
}

#define HAS_COPIES (emu_chip() >= 80)
static __forceinline__ void emu_copy4(float *to, const float *from, bool there)
{
    if (HAS_COPIES) emu_copy(to, there ? from : NULL, 16);
    else emu_store4(to, there ? emu_load4(from) : make_float4(0, 0, 0, 0));
}

static __forceinline__ void emu_copy1(float *to, const float *from, bool there)
{
    if (HAS_COPIES) emu_copy(to, there ? from : NULL, 4);
    else *to = there ? *from : 0;
}

#define COPY1(to, from, there) emu_copy1(to, from, there)
#define COPY4(to, from, there) emu_copy4(to, from, there)
#define COPY_GROUP() emu_copy_group()
#define COPY_WAIT(left) emu_copy_wait(left)
#define COPY_STAGES 3
#define HAS_MMA_BF16 (emu_chip() >= 80)
#define HAS_WMMA (emu_chip() >= 70)
#define HAS_WMMA_BYTES (emu_chip() >= 72)
#define HAS_DOT4 (emu_chip() != 62)

template <int M, int N>
static __forceinline__ void mma_bf16(float (&sum)[M][N][4], const float4 (&a)[M], const unsigned (&b)[N][2])
{
    float words[M][4];
    for (int i = 0; i < M; i++) words[i][0] = a[i].x, words[i][1] = a[i].y, words[i][2] = a[i].z, words[i][3] = a[i].w;
    emu_mma_bf16(M, N, sum[0][0], words[0], b[0]);
}

/* A fragment of 16 x 16: a lane has half a row, eight lanes eight rows, as ldmatrix takes them. */
static __forceinline__ int emu_place(int line)
{
    return (int)(emu_now.thread.x & 15) * line + (int)(emu_now.thread.x >> 4 & 1) * 8;
}

static __forceinline__ void emu_wmma_load(unsigned (&to)[8], const void *from, int line)
{
    emu_aligned(from, 32);
    const float4 v = emu_load4((const float *)(const void *)((const uint16_t *)from + emu_place(line)));
    memcpy(to, &v, sizeof v);
}

#define wmma_load_a emu_wmma_load
#define wmma_load_b emu_wmma_load

static __forceinline__ void wmma(float (&sum)[8], const unsigned (&a)[8], const unsigned (&b)[8])
{
    emu_wmma(sum, a, b);
}

static __forceinline__ void wmma_store(float *to, const float (&sum)[8], int line)
{
    emu_aligned(to, 32);
    emu_store4(to + emu_place(line), make_float4(sum[0], sum[1], sum[2], sum[3]));
    emu_store4(to + emu_place(line) + 4, make_float4(sum[4], sum[5], sum[6], sum[7]));
}

/* The same of bytes: four of row lane / 4, and of the eighth below. */
static __forceinline__ void emu_wmma_load_bytes(unsigned (&to)[2], const float *from, int line)
{
    const char *row = (const char *)from + (emu_now.thread.x & 31) / 4 * line;
    emu_aligned(from, 16);
    emu_aligned(row, 16);
    for (int i = 0; i < 2; i++) to[i] = *(const unsigned *)(const void *)(row + 8 * i * line + (emu_now.thread.x & 3) * 4);
}

#define wmma_load_bytes_a emu_wmma_load_bytes
#define wmma_load_bytes_b emu_wmma_load_bytes

static __forceinline__ void wmma_bytes(int (&sum)[8], const unsigned (&a)[2], const unsigned (&b)[2])
{
    emu_wmma_bytes(sum, a, b);
}

static __forceinline__ void wmma_store_bytes(float *to, const int (&sum)[8], int line)
{
    float words[8];
    memcpy(words, sum, sizeof words);
    wmma_store(to, words, line);
}

static VALUE_LINKAGE float half_float(uint16_t bits)
{
    return ig_half_to_float(bits);
}

static VALUE_LINKAGE uint16_t float_half(float v)
{
    return ig_float_to_half(v);
}

#define LOAD4(p) emu_load4(p)
#define STORE4(p, v) emu_store4(p, v)

/* The kernel, and what calls it with parameters by address. */
#define GPU_KERNEL(threads, blocks, name, type)                                                     \
    extern "C" void name(const type p);                                                             \
    extern "C" __attribute__((no_sanitize("thread"))) void name##__emu(const void *params)          \
    {                                                                                               \
        if (emu_now.block_dim.x != (threads)) emu_fail("%u threads, compiled for %d", emu_now.block_dim.x, threads); \
        name(*(const type *)params);                                                                \
    }                                                                                               \
    extern "C" void name(const type p)

#endif
