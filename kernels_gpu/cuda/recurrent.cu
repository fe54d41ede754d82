/*
 * Recurrent layers (struct ig_recurrent of graph/op.h), s = x + R h and functions of it for every step: a block has a row of the batch, or
 * four, in one direction for all steps, as nothing else keeps blocks in step within a launch; recurrent_spread.cu has a launch for each step.
 * Eight lanes have a unit: its row of R for every gate, of which each takes every eighth quad, for a quad of h that all gates share; then they
 * add up by halves, and one of them finishes the unit. They have several units one after the other, and as many of them then finish at once.
 * States are in shared memory, h twice, so that one barrier parts a step from the next; a GRU whose reset comes before its product has a
 * second one for r h.
 *
 * recurrent_kept_*: R is in registers, up to 16 quads a thread, and x comes a step ahead. Others read R anew for each step, from whatever
 * cache holds it: recurrent_*4 for four rows at once, recurrent_any by single floats and of the most units. All give the same bits.
 */
#include "kernels_gpu/cuda/recurrent.cuh"

enum { RECURRENT_LANES = 8, RECURRENT_STEP = 4 * RECURRENT_LANES /* of a sum, that a unit's lanes take at once */, RECURRENT_STATES = 3 };

/* The states of a block's rows, [ROWS][room] each. */
struct recurrent_states {
    float *h, *next, *c; /* h, of this step and the next, or a GRU's r h; c, or a GRU's z */
};

/* Sums of unit u of a group's, of which the lane that finishes row r of it takes those. */
template <int FIRST, int N, int ROWS>
static __device__ __forceinline__ void recurrent_share(float (&sum)[ROWS][N], int u, int lane, recurrent_unit &of)
{
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        UNROLL
        for (int g = 0; g < N; g++) {
            float v = sum[r][g];
            UNROLL
            for (int mask = RECURRENT_LANES / 2; mask; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
            if (lane == u * ROWS + r) of.s[FIRST + g] = v;
        }
    }
}

/* R where it lies. */
template <bool VECTOR> struct recurrent_streamed {
    enum { IS_ONE_ROUND = 0 };

    /* Of units from j on, gates FIRST to FIRST + N - 1. */
    template <int FIRST, int N, int ROWS>
    __device__ __forceinline__ void sums(const ig_gpu_recurrent &p, int j, const float *h, int lane, recurrent_unit &of) const
    {
#pragma unroll 1
        for (int u = 0; u < p.units; u++) {
            float sum[ROWS][N];
            UNROLL
            for (int i = 0; i < ROWS * N; i++) sum[i / N][i % N] = 0;
            if (j + u < p.hidden) add<FIRST, N, ROWS>(p, j + u, h, lane, sum);
            recurrent_share<FIRST, N, ROWS>(sum, u, lane, of);
        }
    }

    template <int FIRST, int N, int ROWS>
    __device__ __forceinline__ void add(const ig_gpu_recurrent &p, int j, const float *h, int lane, float (&sum)[ROWS][N]) const
    {
        enum { AHEAD = N < 3 ? 4 : 2 };
#pragma unroll 1
        for (int k = 4 * lane; k < p.hidden; k += RECURRENT_STEP * AHEAD) {
            float4 w[AHEAD][N];
            UNROLL
            for (int i = 0; i < AHEAD * N; i++) w[i / N][i % N] = quad(p, FIRST + i % N, j, k + RECURRENT_STEP * (i / N));
            UNROLL
            for (int i = 0; i < AHEAD * ROWS; i++) {
                const float4 of_h = load4(h + i % ROWS * p.room + k + RECURRENT_STEP * (i / ROWS));
                UNROLL
                for (int g = 0; g < N; g++) sum[i % ROWS][g] = recurrent_dot(w[i / ROWS][g], of_h, sum[i % ROWS][g]);
            }
        }
    }

    __device__ __forceinline__ float4 quad(const ig_gpu_recurrent &p, int gate, int j, int k) const
    {
        if (k >= p.hidden) return make_float4(0, 0, 0, 0);
        return load_upto4<VECTOR>(p.r + (recurrent_row(p, gate, j) * p.hidden + k), p.hidden - k);
    }
};

/* R in registers: of G gates, for up to N units of a group, and N times 32 in all. */
template <int G, int N> struct recurrent_kept {
    enum { IS_ONE_ROUND = 1 };
    float4 r[N][G][N];

    __device__ __forceinline__ recurrent_kept(const ig_gpu_recurrent &p)
    {
        if (p.quads) load<true>(p);
        else load<false>(p);
    }

    template <bool VECTOR> __device__ __forceinline__ void load(const ig_gpu_recurrent &p)
    {
        const int lane = threadIdx.x % RECURRENT_LANES, j = threadIdx.x / RECURRENT_LANES * p.units;
        const recurrent_streamed<VECTOR> from;
        UNROLL
        for (int i = 0; i < N * G * N; i++) {
            const int u = i / (G * N), g = i / N % G, q = i % N;
            const bool there = u < p.units && j + u < p.hidden;
            r[u][g][q] = there ? from.quad(p, g, j + u, 4 * lane + RECURRENT_STEP * q) : make_float4(0, 0, 0, 0);
        }
    }

    template <int FIRST, int M, int ROWS>
    __device__ __forceinline__ void sums(const ig_gpu_recurrent &, int, const float *h, int lane, recurrent_unit &of) const
    {
        float sum[N][1][M];
        UNROLL
        for (int i = 0; i < N * M; i++) sum[i / M][0][i % M] = 0;
        UNROLL
        for (int q = 0; q < N; q++) {
            const float4 of_h = load4(h + 4 * lane + RECURRENT_STEP * q);
            UNROLL
            for (int i = 0; i < N * M; i++) sum[i / M][0][i % M] = recurrent_dot(r[i / M][FIRST + i % M][q], of_h, sum[i / M][0][i % M]);
        }
        UNROLL
        for (int u = 0; u < N; u++) recurrent_share<FIRST, M, 1>(sum[u], u, lane, of);
    }
};

/* What a thread is: a lane of the group that has units from `j` on, and finishes `unit` of row `row`, if any. */
struct recurrent_place {
    int lane, j, unit, row, first; /* first: row of the block */
    bool finishes;
};

template <int ROWS> static __device__ __forceinline__ recurrent_place recurrent_place_of(const ig_gpu_recurrent &p)
{
    recurrent_place me;
    me.lane = threadIdx.x % RECURRENT_LANES;
    me.j = threadIdx.x / RECURRENT_LANES * p.units;
    me.unit = me.lane / ROWS, me.row = me.lane % ROWS;
    me.first = blockIdx.x * ROWS;
    me.finishes = me.unit < p.units && me.first + me.row < p.batch;
    return me;
}

/* Gates FIRST to FIRST + N - 1 of G, as they are given from outside. */
template <int G, int FIRST, int N>
static __device__ __forceinline__ void recurrent_given(const ig_gpu_recurrent &p, const recurrent_place &me, int step, int j, float (&x)[4])
{
    if (!me.finishes || j >= p.hidden || step >= p.steps) return;
    const float *from = recurrent_x<G>(p, step, me.first + me.row, j);
    UNROLL
    for (int g = FIRST; g < FIRST + N; g++) x[g] = from[g * p.hidden];
}

/* All units, a round of the block's at a time: of gates FIRST to FIRST + N - 1. `next`: where there is one round, what is given for a step ahead. */
template <int G, int FIRST, int N, int ROWS, int THREADS, typename W, typename F>
static __device__ __forceinline__ void recurrent_rounds(const ig_gpu_recurrent &p, const W &weights, const recurrent_place &me, int step,
                                                        const float *h, float (&next)[4], F finish)
{
    const int round = THREADS / RECURRENT_LANES * p.units;
#pragma unroll 1
    for (int from = 0; from < p.hidden; from += round) {
        const int j = from + me.j + me.unit;
        recurrent_unit of;
        UNROLL
        for (int g = FIRST; g < FIRST + N; g++) of.x[g] = W::IS_ONE_ROUND ? next[g] : 0;
        if (W::IS_ONE_ROUND) recurrent_given<G, FIRST, N>(p, me, step + 1, j, next);
        else recurrent_given<G, FIRST, N>(p, me, step, j, of.x);
        weights.template sums<FIRST, N, ROWS>(p, from + me.j, h, me.lane, of);
        if (me.finishes && j < p.hidden) finish(of, j);
    }
}

/* Zeros, and what states begin with. */
template <int ROWS, int THREADS>
static __device__ __forceinline__ void recurrent_begin(const ig_gpu_recurrent &p, const recurrent_states &s)
{
    const int first = blockIdx.x * ROWS, all = ROWS * p.room;
    for (int i = threadIdx.x; i < all; i += THREADS) {
        const int row = i / p.room, j = i - row * p.room, at = recurrent_behind(p.batch * p.hidden) + (first + row) * p.hidden + j;
        const bool there = first + row < p.batch && j < p.hidden;
        s.h[i] = there && p.h0 ? p.h0[at] : 0;
        s.c[i] = there && p.c0 ? p.c0[at] : 0;
        s.next[i] = 0;
    }
    __syncthreads();
}

template <int ROWS, int THREADS>
static __device__ __forceinline__ void recurrent_end(const ig_gpu_recurrent &p, const float *from, float *to)
{
    const int first = blockIdx.x * ROWS, all = min(ROWS, p.batch - first) * p.hidden, at = recurrent_behind(p.batch * p.hidden) + first * p.hidden;
    if (!to) return;
    for (int i = threadIdx.x; i < all; i += THREADS) to[at + i] = from[i / p.hidden * p.room + i % p.hidden];
}

/* A GRU's step whose reset comes before the product: a unit's h is read by others before it changes. */
template <int ROWS, int THREADS, typename W>
static __device__ __forceinline__ void recurrent_before(const ig_gpu_recurrent &p, const W &weights, const recurrent_place &me, int step,
                                                        const recurrent_states &s, float (&next)[4])
{
    const int at = me.row * p.room, y = recurrent_y(p, step, me.first + me.row);
    recurrent_rounds<3, 0, 2, ROWS, THREADS>(p, weights, me, step, s.h, next, [&](const recurrent_unit &of, int j) {
        s.c[at + j] = recurrent_act(p, p.f, of.x[0] + of.s[0]);
        s.next[at + j] = recurrent_act(p, p.f, of.x[1] + of.s[1]) * s.h[at + j];
    });
    __syncthreads();
    recurrent_rounds<3, 2, 1, ROWS, THREADS>(p, weights, me, step, s.next, next, [&](const recurrent_unit &of, int j) {
        const float h = recurrent_gru_h(s.c[at + j], recurrent_act(p, p.g, of.x[2] + of.s[2]), s.h[at + j]);
        s.h[at + j] = h;
        p.y[y + j] = h;
    });
    __syncthreads();
}

template <int G, int ROWS, int THREADS, typename W>
static __device__ __forceinline__ void recurrent_step(const ig_gpu_recurrent &p, const W &weights, const recurrent_place &me, int step,
                                                      recurrent_states &s, float (&next)[4])
{
    const int at = me.row * p.room, y = recurrent_y(p, step, me.first + me.row);
    recurrent_rounds<G, 0, G, ROWS, THREADS>(p, weights, me, step, s.h, next, [&](const recurrent_unit &of, int j) {
        const float h = G == 1   ? recurrent_act(p, p.f, of.x[0] + of.s[0])
                        : G == 3 ? recurrent_after_h(p, of, s.h[at + j], j)
                                 : recurrent_lstm_h(p, of, s.c[at + j], j);
        s.next[at + j] = h;
        p.y[y + j] = h;
    });
    __syncthreads();
    float *h = s.h;
    s.h = s.next;
    s.next = h;
}

/* G gates; `states`: 3 ROWS room floats of the block. */
template <int G, int ROWS, int THREADS, typename W>
static __device__ __forceinline__ void recurrent(const ig_gpu_recurrent &p, float *states, const W &weights)
{
    const recurrent_place me = recurrent_place_of<ROWS>(p);
    const int all = ROWS * p.room;
    recurrent_states s = {states, states + all, states + 2 * all};
    float next[4] = {0, 0, 0, 0};
    if (W::IS_ONE_ROUND) recurrent_given<G, 0, G>(p, me, 0, me.j + me.unit, next);
    recurrent_begin<ROWS, THREADS>(p, s);
#pragma unroll 1
    for (int step = 0; step < p.steps; step++) {
        if (G == 3 && !p.reset_after) recurrent_before<ROWS, THREADS>(p, weights, me, step, s, next);
        else recurrent_step<G, ROWS, THREADS>(p, weights, me, step, s, next);
    }
    recurrent_end<ROWS, THREADS>(p, s.h, p.last_h);
    recurrent_end<ROWS, THREADS>(p, s.c, p.last_c);
}

GPU_KERNEL(256, 2, recurrent_kept_rnn, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * 128]);
    recurrent<1, 1, 256>(p, states, recurrent_kept<1, 4>(p));
}

GPU_KERNEL(256, 2, recurrent_kept_gru, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * 128]);
    recurrent<3, 1, 256>(p, states, recurrent_kept<3, 2>(p));
}

GPU_KERNEL(256, 2, recurrent_kept_lstm, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * 128]);
    recurrent<4, 1, 256>(p, states, recurrent_kept<4, 2>(p));
}

GPU_KERNEL(512, 2, recurrent_rnn, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * IG_GPU_RECURRENT_STATE]);
    recurrent<1, 1, 512>(p, states, recurrent_streamed<true>());
}

GPU_KERNEL(512, 2, recurrent_gru, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * IG_GPU_RECURRENT_STATE]);
    recurrent<3, 1, 512>(p, states, recurrent_streamed<true>());
}

GPU_KERNEL(512, 2, recurrent_lstm, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * IG_GPU_RECURRENT_STATE]);
    recurrent<4, 1, 512>(p, states, recurrent_streamed<true>());
}

GPU_KERNEL(256, 2, recurrent_any, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * IG_GPU_RECURRENT_WIDE_STATE]);
    if (p.kind == IG_LSTM) recurrent<4, 1, 256>(p, states, recurrent_streamed<false>());
    else if (p.kind == IG_GRU) recurrent<3, 1, 256>(p, states, recurrent_streamed<false>());
    else recurrent<1, 1, 256>(p, states, recurrent_streamed<false>());
}

GPU_KERNEL(256, 2, recurrent_rnn4, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * IG_GPU_RECURRENT_STATE_OF_4]);
    recurrent<1, 4, 256>(p, states, recurrent_streamed<true>());
}

GPU_KERNEL(256, 2, recurrent_gru4, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * IG_GPU_RECURRENT_STATE_OF_4]);
    recurrent<3, 4, 256>(p, states, recurrent_streamed<true>());
}

GPU_KERNEL(256, 2, recurrent_lstm4, ig_gpu_recurrent)
{
    SHARED(float, states, [RECURRENT_STATES * IG_GPU_RECURRENT_STATE_OF_4]);
    recurrent<4, 4, 256>(p, states, recurrent_streamed<true>());
}
