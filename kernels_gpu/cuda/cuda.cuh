/* What every kernel shares: how it is declared, four channels at a time, activations. */
#ifndef KERNELS_GPU_CUDA_CUDA_CUH
#define KERNELS_GPU_CUDA_CUDA_CUH

#include "graph/op.h"
#include "kernels_gpu/params.h"

/* Halves: stored, not computed with. */
struct binary16 {
    uint16_t bits;
};

struct alignas(8) halves4 {
    binary16 x[4];
};

#ifdef __CUDACC__
#define SHARED(type, name, ...) __shared__ __align__(32) type name __VA_ARGS__ /* vectors are read from it, and fragments */
#define GPU_ENTRY(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
/*
 * A program carries the kernels of its plan alone: it defines GPU_CHOSEN, and CHOSEN_<name> as 1 for each of them. Another
 * becomes a template that nobody instantiates.
 */
#ifdef GPU_CHOSEN
#define GPU_IF_1 0,
#define GPU_SECOND(first, second, ...) second
#define GPU_PICK(...) GPU_SECOND(__VA_ARGS__)
#define GPU_IF(chosen, threads, blocks) GPU_PICK(GPU_IF_##chosen GPU_ENTRY(threads, blocks), template <int> static __device__ void, 0)
#define GPU_LINKAGE(chosen, threads, blocks) GPU_IF(chosen, threads, blocks)
#define GPU_KERNEL(threads, blocks, name, type) GPU_LINKAGE(CHOSEN_##name, threads, blocks) name(const type p)
#else
#define GPU_KERNEL(threads, blocks, name, type) GPU_ENTRY(threads, blocks) name(const type p)
#endif
#define IS_ALIGNED(p, bytes) (void)0 /* the device sees to it */
#define UNROLL _Pragma("unroll") /* the loop that follows, whole */
#define UNROLL_STEPS UNROLL /* the same of what adds to sums in every round */
#define VALUE_LINKAGE __forceinline__ /* of functions of values in registers */
/* An address in shared memory as PTX's instructions on it take it; toolkits before 11 have no function for that. */
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 11
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    unsigned at;
    asm("{.reg .u64 to; cvta.to.shared.u64 to, %1; cvt.u32.u64 %0, to;}" : "=r"(at) : "l"(p));
    return at;
}
#else
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
#endif
/*
 * One or four floats from device to shared memory, or zeros, without a register between: chips since sm_80 copy while the thread goes on.
 * It waits until at most `left` groups of its copies are under way, and for those of other threads by a barrier.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define COPY_GROUP() asm volatile("cp.async.commit_group;")
#define COPY_WAIT(left) asm volatile("cp.async.wait_group %0;" : : "n"(left) : "memory")
#define HAS_COPIES 1
static __device__ __forceinline__ void copy4(float *to, const float *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0) : "memory");
}
static __device__ __forceinline__ void copy1(float *to, const float *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(shared_address(to)), "l"(from), "r"(there ? 4 : 0) : "memory");
}
#else
#define COPY_GROUP() (void)0
#define COPY_WAIT(left) (void)0
#define HAS_COPIES 0
static __device__ __forceinline__ void copy4(float *to, const float *from, bool there)
{
    *(float4 *)to = there ? *(const float4 *)from : make_float4(0, 0, 0, 0);
}
static __device__ __forceinline__ void copy1(float *to, const float *from, bool there)
{
    *to = there ? *from : 0;
}
#endif
#define COPY1(to, from, there) copy1(to, from, there)
#define COPY4(to, from, there) copy4(to, from, there)
#define COPY_STAGES (HAS_COPIES ? 3 : 2) /* of shared memory, one of which is computed with: what comes through registers needs one more */
/*
 * A warp's M x N products of 16 x 16 by 16 x 8 bfloat16, two a word, added to sums of 16 x 8: mma.m16n8k16 of the PTX manual, which says
 * what of each a lane has.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HAS_MMA_BF16 1
template <int M, int N>
static __device__ __forceinline__ void mma_bf16(float (&sum)[M][N][4], const float4 (&a)[M], const unsigned (&b)[N][2])
{
    UNROLL
    for (int i = 0; i < M * N; i++) {
        float(&s)[4] = sum[i / N][i % N];
        const float4 x = a[i / N];
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
            : "r"(__float_as_uint(x.x)), "r"(__float_as_uint(x.y)), "r"(__float_as_uint(x.z)), "r"(__float_as_uint(x.w)),
              "r"(b[i % N][0]), "r"(b[i % N][1]));
    }
}
#else
#define HAS_MMA_BF16 0
template <int M, int N> static __device__ __forceinline__ void mma_bf16(float (&)[M][N][4], const float4 (&)[M], const unsigned (&)[N][2])
{
}
#endif
/*
 * The same on IEEE 754 binary16, 16 x 16 by 16 x 16 at a time: wmma of the PTX manual, which leaves open what a lane has of a fragment.
 * Fragments are read from shared memory, and sums written there, `line` elements from row to row.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define HAS_WMMA 1
#define WMMA_LOAD(which, to, from, line)                                                                                        \
    asm volatile("wmma.load." which ".sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"         \
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]), "=r"(to[4]), "=r"(to[5]), "=r"(to[6]), "=r"(to[7])        \
                 : "r"(shared_address(from)), "r"(line)                                                                           \
                 : "memory")
static __device__ __forceinline__ void wmma_load_a(unsigned (&to)[8], const binary16 *from, int line)
{
    WMMA_LOAD("a", to, from, line);
}
static __device__ __forceinline__ void wmma_load_b(unsigned (&to)[8], const binary16 *from, int line)
{
    WMMA_LOAD("b", to, from, line);
}
static __device__ __forceinline__ void wmma(float (&sum)[8], const unsigned (&a)[8], const unsigned (&b)[8])
{
    asm("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, "
        "{%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
}
static __device__ __forceinline__ void wmma_store(float *to, const float (&sum)[8], int line)
{
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
                 : : "r"(shared_address(to)), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]),
                     "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7]), "r"(line)
                 : "memory");
}
#else
#define HAS_WMMA 0
static __device__ __forceinline__ void wmma_load_a(unsigned (&)[8], const binary16 *, int)
{
}
static __device__ __forceinline__ void wmma_load_b(unsigned (&)[8], const binary16 *, int)
{
}
static __device__ __forceinline__ void wmma(float (&)[8], const unsigned (&)[8], const unsigned (&)[8])
{
}
static __device__ __forceinline__ void wmma_store(float *, const float (&)[8], int)
{
}
#endif
/*
 * The same on signed bytes, exactly, in integers of 32 bits: rows of a, and columns of b, are 16 bytes side by side, `line` bytes from
 * one to the next. A word of a fragment is four bytes of it.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 720
#define HAS_WMMA_BYTES 1
#define WMMA_LOAD_BYTES(which, to, from, line)                                                                            \
    asm volatile("wmma.load." which ".m16n16k16.shared.s8 {%0, %1}, [%2], %3;"                                            \
                 : "=r"(to[0]), "=r"(to[1]) : "r"(shared_address(from)), "r"(line) : "memory")
static __device__ __forceinline__ void wmma_load_bytes_a(unsigned (&to)[2], const float *from, int line)
{
    WMMA_LOAD_BYTES("a.sync.aligned.row", to, from, line);
}
static __device__ __forceinline__ void wmma_load_bytes_b(unsigned (&to)[2], const float *from, int line)
{
    WMMA_LOAD_BYTES("b.sync.aligned.col", to, from, line);
}
static __device__ __forceinline__ void wmma_bytes(int (&sum)[8], const unsigned (&a)[2], const unsigned (&b)[2])
{
    asm("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "
        "{%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]), "+r"(sum[4]), "+r"(sum[5]), "+r"(sum[6]), "+r"(sum[7])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
}
/* As words, `line` of them from row to row. */
static __device__ __forceinline__ void wmma_store_bytes(float *to, const int (&sum)[8], int line)
{
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
                 : : "r"(shared_address(to)), "r"(sum[0]), "r"(sum[1]), "r"(sum[2]), "r"(sum[3]),
                     "r"(sum[4]), "r"(sum[5]), "r"(sum[6]), "r"(sum[7]), "r"(line)
                 : "memory");
}
#else
#define HAS_WMMA_BYTES 0
static __device__ __forceinline__ void wmma_load_bytes_a(unsigned (&)[2], const float *, int)
{
}
static __device__ __forceinline__ void wmma_load_bytes_b(unsigned (&)[2], const float *, int)
{
}
static __device__ __forceinline__ void wmma_bytes(int (&)[8], const unsigned (&)[2], const unsigned (&)[2])
{
}
static __device__ __forceinline__ void wmma_store_bytes(float *, const int (&)[8], int)
{
}
#endif
/* IEEE 754 binary16 by its bits; the other way to nearest, ties to even, and what is too large becomes infinite. */
static __device__ __forceinline__ float half_float(uint16_t bits)
{
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
    return v;
}
static __device__ __forceinline__ uint16_t float_half(float v)
{
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
    return bits;
}
/* Chips since sm_61 have dot4 below as an instruction; sm_62, a TX2's, has not: it takes bytes out of words and multiplies them by 16 bits. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610 && __CUDA_ARCH__ != 620
#define HAS_DOT4 1
#else
#define HAS_DOT4 0
#endif
#define LOAD4(p) (*(const float4 *)(p))
#define STORE4(p, v) (*(float4 *)(p) = (v))
#endif

/* sum plus the products of four signed bytes each, modulo 2^32. */
static __device__ __forceinline__ int dot4(unsigned a, unsigned b, int sum)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610
    return __dp4a((int)a, (int)b, sum);
#else
    unsigned v = (unsigned)sum;
    UNROLL
    for (int i = 0; i < 32; i += 8) v += (unsigned)((int)(int8_t)(a >> i) * (int8_t)(b >> i));
    return (int)v;
#endif
}

/* An integer that is kept in a register: the compiler does not compute it anew from what it is made of. */
#define KEPT(i) asm volatile("" : "+r"(i))

static __device__ __forceinline__ float clamp(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* 1/(1 + e^-x) */
static __device__ __forceinline__ float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* ln(1 + e^x) */
static __device__ __forceinline__ float softplus(float x)
{
    return x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x));
}

static __device__ __forceinline__ float gelu(float x)
{
    return 0.5f * x * (1 + erff(x * 0.7071067812f /* 1/sqrt(2) */));
}

static __device__ __forceinline__ float gelu_tanh(float x)
{
    return 0.5f * x * (1 + tanhf(0.7978845608f /* sqrt(2/pi) */ * fmaf(0.044715f * x * x, x, x)));
}

/*
 * Activations that the kernels know, a bit for each kind; a program's those of its plan. A module that knows them all has
 * those that take many instructions as a function, which is called (LONG_CALLED): inlined for each of a thread's outputs
 * they would be most of the module, and of the time to compile it.
 */
#ifdef GPU_ACTIVATIONS
enum { LONG_CALLED = 0 };
#define LONG_LINKAGE __forceinline__
#else
enum { LONG_CALLED = 1 };
#define GPU_ACTIVATIONS ~0u
#define LONG_LINKAGE __noinline__
#endif
enum { LONG_ACTIVATIONS = 1 << IG_SIGMOID | 1 << IG_TANH | 1 << IG_SWISH | 1 << IG_ELU | 1 << IG_MISH | 1 << IG_SOFTPLUS |
       1 << IG_GELU | 1 << IG_GELU_TANH };

/* f of a value, or of each of four. */
template <typename F> static __device__ __forceinline__ float each(float v, F f)
{
    return f(v);
}

template <typename F> static __device__ __forceinline__ float4 each(float4 v, F f)
{
    return make_float4(f(v.x), f(v.y), f(v.z), f(v.w));
}

#define ACTIVATION(kind, y) case kind: if (GPU_ACTIVATIONS >> kind & 1) return each(v, [=](float x) { return y; }); else break

template <typename V> static __device__ __forceinline__ V activate_long(int kind, float alpha, V v)
{
    switch (kind) {
    ACTIVATION(IG_SIGMOID, sigmoid(x));
    ACTIVATION(IG_TANH, tanhf(x));
    ACTIVATION(IG_SWISH, x * sigmoid(alpha * x));
    ACTIVATION(IG_ELU, x < 0 ? alpha * expm1f(x) : x);
    ACTIVATION(IG_MISH, x * tanhf(softplus(x)));
    ACTIVATION(IG_SOFTPLUS, softplus(x));
    ACTIVATION(IG_GELU, gelu(x));
    ACTIVATION(IG_GELU_TANH, gelu_tanh(x));
    default: break;
    }
    return v;
}

template <typename V> static __device__ LONG_LINKAGE V call_long(int kind, float alpha, V v)
{
    return activate_long(kind, alpha, v);
}

static __device__ __forceinline__ bool is_long(const ig_gpu_act &act)
{
    return (GPU_ACTIVATIONS & LONG_ACTIVATIONS) && (LONG_ACTIVATIONS >> act.kind & 1);
}

/* The others. NaN stays NaN. */
template <typename V> static __device__ __forceinline__ V activate_short(const ig_gpu_act &act, V v)
{
    const float alpha = act.alpha, beta = act.beta;
    switch (act.kind) {
    ACTIVATION(IG_RELU, x < 0 ? 0 : x);
    ACTIVATION(IG_CLIP, clamp(x, alpha, beta));
    ACTIVATION(IG_LEAKY_RELU, x < 0 ? alpha * x : x);
    ACTIVATION(IG_HARD_SIGMOID, clamp(alpha * x + beta, 0, 1));
    ACTIVATION(IG_HARD_SWISH, x * clamp(x * (1.0f / 6) + 0.5f, 0, 1));
    default: break;
    }
    return v;
}

/* The activations that may follow another op, of a value or of four; graph/op.h. */
template <typename V> static __device__ VALUE_LINKAGE V activate(const ig_gpu_act &act, V v)
{
    return is_long(act) ? call_long(act.kind, act.alpha, v) : activate_short(act, v);
}

static __device__ __forceinline__ float4 load4(const float *p)
{
    return LOAD4(p);
}

static __device__ __forceinline__ float2 load2(const float *p)
{
    IS_ALIGNED(p, 8);
    return *(const float2 *)p;
}

static __device__ __forceinline__ void store4(float *p, float4 v)
{
    STORE4(p, v);
}

/* Element j of v; j is known when the loop around it is unrolled. */
static __device__ __forceinline__ float &at(float4 &v, int j)
{
    return j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w;
}

static __device__ __forceinline__ float widened(binary16 h)
{
    return half_float(h.bits);
}

static __device__ __forceinline__ binary16 narrowed(float v)
{
    const binary16 h = {float_half(v)};
    return h;
}

static __device__ __forceinline__ float4 widened(float4 v)
{
    return v;
}

static __device__ __forceinline__ float4 widened(halves4 v)
{
    return make_float4(widened(v.x[0]), widened(v.x[1]), widened(v.x[2]), widened(v.x[3]));
}

static __device__ __forceinline__ float widened(float v)
{
    return v;
}

static __device__ __forceinline__ float4 sum_of(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* What four elements are stored as. */
template <typename E> struct stored4 {
    typedef float4 type;
    static __device__ __forceinline__ float4 zero()
    {
        return make_float4(0, 0, 0, 0);
    }
};

template <> struct stored4<binary16> {
    typedef halves4 type;
    static __device__ __forceinline__ halves4 zero()
    {
        const halves4 v = {{{0}, {0}, {0}, {0}}};
        return v;
    }
};

/* n <= 4 consecutive elements, as they are stored, the rest zero. */
template <bool VECTOR> static __device__ __forceinline__ halves4 load_stored(const binary16 *p, int n)
{
    if (VECTOR) {
        IS_ALIGNED(p, 8);
        return *(const halves4 *)p;
    }
    const binary16 none = {0};
    const halves4 v = {{p[0], n > 1 ? p[1] : none, n > 2 ? p[2] : none, n > 3 ? p[3] : none}};
    return v;
}

/* n <= 4 consecutive floats, the rest zero. */
template <bool VECTOR> static __device__ __forceinline__ float4 load_upto4(const float *p, int n)
{
    if (VECTOR) return load4(p);
    return make_float4(p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0);
}

template <bool VECTOR> static __device__ __forceinline__ float4 load_stored(const float *p, int n)
{
    return load_upto4<VECTOR>(p, n);
}

template <bool VECTOR> static __device__ __forceinline__ float4 load_upto4(const binary16 *p, int n)
{
    return widened(load_stored<VECTOR>(p, n));
}

static __device__ __forceinline__ float4 load4(const binary16 *p)
{
    return load_upto4<true>(p, 4);
}

template <bool VECTOR> static __device__ __forceinline__ void store_stored(binary16 *p, const halves4 &h, int n)
{
    if (VECTOR) {
        IS_ALIGNED(p, 8);
        *(halves4 *)p = h;
        return;
    }
    p[0] = h.x[0];
    if (n > 1) p[1] = h.x[1];
    if (n > 2) p[2] = h.x[2];
    if (n > 3) p[3] = h.x[3];
}

template <bool VECTOR> static __device__ __forceinline__ void store_upto4(binary16 *p, float4 v, int n)
{
    const halves4 h = {{narrowed(v.x), narrowed(v.y), narrowed(v.z), narrowed(v.w)}};
    store_stored<VECTOR>(p, h, n);
}

static __device__ __forceinline__ void store4(binary16 *p, float4 v)
{
    store_upto4<true>(p, v, 4);
}

template <bool VECTOR> static __device__ __forceinline__ void store_upto4(float *p, float4 v, int n)
{
    if (VECTOR) {
        store4(p, v);
        return;
    }
    p[0] = v.x;
    if (n > 1) p[1] = v.y;
    if (n > 2) p[2] = v.z;
    if (n > 3) p[3] = v.w;
}

/* The same from element i of a tensor of halves or of floats, as the call says. */
static __device__ __forceinline__ float4 load_either(const float *base, int i, bool is_half, bool vector, int n)
{
    if (is_half) {
        const binary16 *p = (const binary16 *)base + i;
        return vector ? load4(p) : load_upto4<false>(p, n);
    }
    return vector ? load4(base + i) : load_upto4<false>(base + i, n);
}

static __device__ __forceinline__ void store_either(float *base, int i, bool is_half, bool vector, float4 v, int n)
{
    if (is_half) {
        binary16 *p = (binary16 *)base + i;
        if (vector) store4(p, v);
        else store_upto4<false>(p, v, n);
    } else if (vector) {
        store4(base + i, v);
    } else {
        store_upto4<false>(base + i, v, n);
    }
}

static __device__ __forceinline__ float load_either1(const float *base, int i, bool is_half)
{
    return is_half ? widened(((const binary16 *)base)[i]) : base[i];
}

static __device__ __forceinline__ void store_either1(float *base, int i, bool is_half, float v)
{
    if (is_half) ((binary16 *)base)[i] = narrowed(v);
    else base[i] = v;
}

#endif
