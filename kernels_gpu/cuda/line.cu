/*
 * Along one axis of a tensor: softmax and running sums, a thread per line, neighbours in a warp neighbouring lines; and
 * the first elements in order (largest, smallest, arg max, arg min), a thread per line or, of few lines, a block.
 */
#include "kernels_gpu/cuda/element.cuh"

static __device__ __forceinline__ int first_of_line(int line, int n, int inner)
{
    return line / inner * n * inner + line % inner;
}

GPU_KERNEL(128, 8, softmax_line, ig_gpu_line)
{
    const int line = blockIdx.x * 128 + threadIdx.x;
    if (line >= p.lines) return;
    const int first = first_of_line(line, p.n, p.inner);
    float most = get_float(p.in, p.in_type, first), sum = 0;
    int best = 0;
    for (int i = 1; i < p.n; i++) {
        const float x = get_float(p.in, p.in_type, first + i * p.inner);
        if (x > most) most = x, best = i;
    }
    if (p.mode != IG_SOFTMAX_HARD)
        for (int i = 0; i < p.n; i++) sum += expf(get_float(p.in, p.in_type, first + i * p.inner) - most);
    const float rest = p.mode == IG_SOFTMAX_LOG ? logf(sum) : 1 / sum;
    for (int i = 0; i < p.n; i++) {
        const int at = first + i * p.inner;
        const float d = get_float(p.in, p.in_type, at) - most;
        put_float(p.out, p.out_type, at,
                  p.mode == IG_SOFTMAX_HARD ? i == best : p.mode == IG_SOFTMAX_LOG ? d - rest : expf(d) * rest);
    }
}

GPU_KERNEL(128, 8, cumsum_line, ig_gpu_line)
{
    const int line = blockIdx.x * 128 + threadIdx.x;
    if (line >= p.lines) return;
    const int first = first_of_line(line, p.n, p.inner);
    double sum = 0;
    unsigned long long total = 0;
    for (int i = 0; i < p.n; i++) {
        const int at = first + (p.reverse ? p.n - 1 - i : i) * p.inner;
        if (p.in_type == IG_F32) {
            const double next = sum + ((const float *)p.in)[at];
            ((float *)p.out)[at] = (float)(p.exclusive ? sum : next);
            sum = next;
        } else {
            const unsigned long long next = total + (unsigned long long)get_int(p.in, p.in_type, at);
            put_int(p.out, p.out_type, at, (long long)(p.exclusive ? total : next));
            total = next;
        }
    }
}

/* Whether element i of the line comes before element j; -1 comes last. */
static __device__ __forceinline__ bool before(const ig_gpu_select &p, int first, int i, int j)
{
    if (i < 0 || j < 0) return i >= 0;
    int order = order_of(p.in, p.type, first + i * p.inner, first + j * p.inner);
    if (p.smallest) order = -order;
    return order > 0 || (order == 0 && (p.last ? i > j : i < j));
}

/* The first in order of elements me, me + step, ... that come after `last`; -1: of all, or none. */
static __device__ __forceinline__ int next_of(const ig_gpu_select &p, int first, int last, int me, int step)
{
    int best = -1;
    for (int i = me; i < p.n; i += step)
        if ((last < 0 || before(p, first, last, i)) && before(p, first, i, best)) best = i;
    return best;
}

static __device__ __forceinline__ void put_selected(const ig_gpu_select &p, int line, int first, int rank, int which)
{
    const int to = (line / p.inner * p.k + rank) * p.inner + line % p.inner;
    if (p.values) move(p.values, to, p.in, first + which * p.inner, p.bytes);
    if (p.indices) p.indices[to] = which;
}

GPU_KERNEL(128, 8, select_line, ig_gpu_select)
{
    const int line = blockIdx.x * 128 + threadIdx.x;
    if (line >= p.lines) return;
    const int first = first_of_line(line, p.n, p.inner);
    for (int rank = 0, last = -1; rank < p.k; rank++) {
        last = next_of(p, first, last, 0, 1);
        put_selected(p, line, first, rank, last);
    }
}

GPU_KERNEL(128, 8, select_block, ig_gpu_select)
{
    SHARED(int, best, [128]);
    const int me = threadIdx.x, line = blockIdx.x, first = first_of_line(line, p.n, p.inner);
    for (int rank = 0, last = -1; rank < p.k; rank++) {
        best[me] = next_of(p, first, last, me, 128);
        __syncthreads();
        for (int half = 64; half; half >>= 1) {
            if (me < half && before(p, first, best[me + half], best[me])) best[me] = best[me + half];
            __syncthreads();
        }
        last = best[0];
        if (!me) put_selected(p, line, first, rank, last);
        __syncthreads();
    }
}
