/*
 * Recurrent layers as recurrent.cu has them, a launch for each step, which waits for the one before; p.turn counts them. So a step is the whole
 * GPU's, of all directions. A GRU whose reset comes before its product has two launches a step. A warp has a unit, of one row of the batch, of
 * four or of eight: each lane takes every 32nd quad of the unit's row of R, for every gate, and of h, all from the second-level cache and 9 to
 * 24 under way at once. Lanes then exchange halves of their sums until each has one of them whole, and one lane a row finishes the unit.
 *
 * States are in scratch, [D,B,H] each: h of this step and the next, by turns, and c; or a GRU's h, r h and z. There is nothing in shared memory
 * and no barrier. All functions here give the same bits, not those of recurrent.cu.
 */
#include "kernels_gpu/cuda/recurrent.cuh"

enum { SPREAD_WARPS = 4, SPREAD_LANES = 32, SPREAD_STEP = 4 * SPREAD_LANES /* of a sum, that a warp takes at once */ };

/* What a thread is: a lane of the warp that has unit j of rows from `first` on. One lane a row finishes it: of row `row`. */
struct spread_place {
    int lane, j, first, row;
    bool finishes;
};

/* Sums that a warp has of so many gates: of three as of four. */
template <int N, int ROWS> struct spread_sums {
    enum { GATES = N == 3 ? 4 : N, COUNT = GATES * ROWS, LANES = SPREAD_LANES / COUNT /* that end with the same sum */ };
    float v[COUNT];
};

template <int N, int ROWS> static __device__ __forceinline__ spread_place spread_place_of(const ig_gpu_recurrent &p)
{
    typedef spread_sums<N, ROWS> sums;
    spread_place me;
    me.lane = threadIdx.x % SPREAD_LANES;
    me.j = blockIdx.x * SPREAD_WARPS + threadIdx.x / SPREAD_LANES;
    me.first = blockIdx.y * ROWS;
    me.row = me.first + me.lane / (sums::LANES * sums::GATES);
    me.finishes = me.lane % (sums::LANES * sums::GATES) == 0 && me.row < p.batch;
    return me;
}

/* First unit of a row of the batch, of states. */
static __device__ __forceinline__ int spread_state(const ig_gpu_recurrent &p, int row)
{
    return (recurrent_behind(p.batch) + row) * p.hidden;
}

/* Up to four from element k on of n. */
template <bool VECTOR> static __device__ __forceinline__ float4 spread_quad(const float *from, int k, int n)
{
    if (k >= n) return make_float4(0, 0, 0, 0);
    return load_upto4<VECTOR>(from + k, n - k);
}

/* A lane's part of the products of gates FIRST to FIRST + N - 1 with h, [B,H], or zeros (NULL). Rows beyond the batch are its last. */
template <bool VECTOR, int FIRST, int N, int ROWS>
static __device__ __forceinline__ void spread_part(const ig_gpu_recurrent &p, const spread_place &me, const float *h, spread_sums<N, ROWS> &sum)
{
    enum { AHEAD = ROWS > 4 ? 1 : ROWS > 1 ? 2 : N < 3 ? 8 : 4, GATES = spread_sums<N, ROWS>::GATES };
    const float *rows[ROWS], *r = p.r + recurrent_row(p, FIRST, me.j) * p.hidden;
    const int gate = p.hidden * p.hidden, there = h ? p.hidden : 0;
    UNROLL
    for (int i = 0; i < ROWS; i++) rows[i] = (h ? h : p.r) + spread_state(p, min(me.first + i, p.batch - 1));
#pragma unroll 1
    for (int k = 4 * me.lane; k < p.hidden; k += SPREAD_STEP * AHEAD) {
        float4 w[AHEAD][N], of_h[AHEAD][ROWS];
        UNROLL
        for (int i = 0; i < AHEAD * N; i++) w[i / N][i % N] = spread_quad<VECTOR>(r + i % N * gate, k + SPREAD_STEP * (i / N), p.hidden);
        UNROLL
        for (int i = 0; i < AHEAD * ROWS; i++)
            of_h[i / ROWS][i % ROWS] = spread_quad<VECTOR>(rows[i % ROWS], k + SPREAD_STEP * (i / ROWS), there);
        UNROLL
        for (int i = 0; i < AHEAD * ROWS * N; i++) {
            float &s = sum.v[i / N % ROWS * GATES + i % N];
            s = recurrent_dot(w[i / (ROWS * N)][i % N], of_h[i / (ROWS * N)][i / N % ROWS], s);
        }
    }
}

/* Whole sums: lane l's is number l / LANES. */
template <int N, int ROWS> static __device__ __forceinline__ float spread_add(spread_sums<N, ROWS> &sum, int lane)
{
    enum { COUNT = spread_sums<N, ROWS>::COUNT, EXCHANGES = 5 };
    UNROLL
    for (int e = 1; e <= EXCHANGES; e++) {
        const int half = COUNT >> e, mask = SPREAD_LANES >> e;
        const bool upper = lane & mask;
        UNROLL
        for (int i = 0; i < COUNT / 2; i++) {
            if (i >= half) continue;
            const float kept = upper ? sum.v[i + half] : sum.v[i], given = upper ? sum.v[i] : sum.v[i + half];
            sum.v[i] = kept + __shfl_xor_sync(0xffffffff, given, mask);
        }
        if (!half) sum.v[0] += __shfl_xor_sync(0xffffffff, sum.v[0], mask);
    }
    return sum.v[0];
}

/* Of those gates, R h for the lane that finishes a row. */
template <int FIRST, int N, int ROWS>
static __device__ __forceinline__ void spread_product(const ig_gpu_recurrent &p, const spread_place &me, const float *h, recurrent_unit &of)
{
    typedef spread_sums<N, ROWS> sums;
    sums sum;
    UNROLL
    for (int i = 0; i < sums::COUNT; i++) sum.v[i] = 0;
    if (p.quads) spread_part<true, FIRST, N, ROWS>(p, me, h, sum);
    else spread_part<false, FIRST, N, ROWS>(p, me, h, sum);
    const float v = spread_add(sum, me.lane);
    of.s[FIRST] = v;
    UNROLL
    for (int g = 1; g < N; g++) of.s[FIRST + g] = __shfl_xor_sync(0xffffffff, v, g * sums::LANES);
}

/* Those gates of G as they are given from outside. */
template <int G, int FIRST, int N>
static __device__ __forceinline__ void spread_given(const ig_gpu_recurrent &p, const spread_place &me, int step, recurrent_unit &of)
{
    const float *from = recurrent_x<G>(p, step, me.row, me.j);
    UNROLL
    for (int g = FIRST; g < FIRST + N; g++) of.x[g] = me.finishes ? from[g * p.hidden] : 0;
}

/* What a state was at the beginning of a step. */
static __device__ __forceinline__ float spread_before(const spread_place &me, int step, const float *state, const float *first, int at)
{
    if (!me.finishes) return 0;
    return step ? state[at] : first ? first[at] : 0;
}

static __device__ __forceinline__ void spread_end(const ig_gpu_recurrent &p, const spread_place &me, int step, int at, float h)
{
    p.y[recurrent_y(p, step, me.row) + me.j] = h;
    if (step == p.steps - 1 && p.last_h) p.last_h[at] = h;
}

/* A step whose gates all wait for h alone. */
template <int G, int ROWS> static __device__ __forceinline__ void spread_whole(const ig_gpu_recurrent &p)
{
    const spread_place me = spread_place_of<G, ROWS>(p);
    const int all = p.directions * p.batch * p.hidden, at = spread_state(p, me.row) + me.j, step = p.turn;
    float *const now = p.states + step % 2 * all, *const next = p.states + (step + 1) % 2 * all, *const c = p.states + 2 * all;
    recurrent_unit of;
    if (me.j >= p.hidden) return;
    spread_given<G, 0, G>(p, me, step, of);
    float before = G == 4 ? spread_before(me, step, c, p.c0, at) : G == 3 ? spread_before(me, step, now, p.h0, at) : 0;
    spread_product<0, G, ROWS>(p, me, step ? now : p.h0, of);
    if (!me.finishes) return;
    const float h = G == 1   ? recurrent_act(p, p.f, of.x[0] + of.s[0])
                    : G == 3 ? recurrent_after_h(p, of, before, me.j)
                             : recurrent_lstm_h(p, of, before, me.j);
    next[at] = h;
    if (G == 4) c[at] = before;
    if (G == 4 && step == p.steps - 1 && p.last_c) p.last_c[at] = before;
    spread_end(p, me, step, at, h);
}

/* The first half of a step of a GRU whose reset comes before its product: z, and r h. */
template <int ROWS> static __device__ __forceinline__ void spread_reset(const ig_gpu_recurrent &p)
{
    const spread_place me = spread_place_of<2, ROWS>(p);
    const int all = p.directions * p.batch * p.hidden, at = spread_state(p, me.row) + me.j, step = p.turn / 2;
    recurrent_unit of;
    if (me.j >= p.hidden) return;
    spread_given<3, 0, 2>(p, me, step, of);
    const float before = spread_before(me, step, p.states, p.h0, at);
    spread_product<0, 2, ROWS>(p, me, step ? p.states : p.h0, of);
    if (!me.finishes) return;
    p.states[all + at] = recurrent_act(p, p.f, of.x[1] + of.s[1]) * before;
    p.states[2 * all + at] = recurrent_act(p, p.f, of.x[0] + of.s[0]);
}

/* The second. */
template <int ROWS> static __device__ __forceinline__ void spread_after_reset(const ig_gpu_recurrent &p)
{
    const spread_place me = spread_place_of<1, ROWS>(p);
    const int all = p.directions * p.batch * p.hidden, at = spread_state(p, me.row) + me.j, step = p.turn / 2;
    recurrent_unit of;
    if (me.j >= p.hidden) return;
    spread_given<3, 2, 1>(p, me, step, of);
    const float before = spread_before(me, step, p.states, p.h0, at), z = me.finishes ? p.states[2 * all + at] : 0;
    spread_product<2, 1, ROWS>(p, me, p.states + all, of);
    if (!me.finishes) return;
    const float h = recurrent_gru_h(z, recurrent_act(p, p.g, of.x[2] + of.s[2]), before);
    p.states[at] = h;
    spread_end(p, me, step, at, h);
}

template <int ROWS> static __device__ __forceinline__ void spread_gru(const ig_gpu_recurrent &p)
{
    if (p.reset_after) spread_whole<3, ROWS>(p);
    else if (p.turn % 2) spread_after_reset<ROWS>(p);
    else spread_reset<ROWS>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_rnn, ig_gpu_recurrent)
{
    spread_whole<1, 1>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_gru, ig_gpu_recurrent)
{
    spread_gru<1>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_lstm, ig_gpu_recurrent)
{
    spread_whole<4, 1>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_rnn4, ig_gpu_recurrent)
{
    spread_whole<1, 4>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_gru4, ig_gpu_recurrent)
{
    spread_gru<4>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_lstm4, ig_gpu_recurrent)
{
    spread_whole<4, 4>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_rnn8, ig_gpu_recurrent)
{
    spread_whole<1, 8>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_gru8, ig_gpu_recurrent)
{
    spread_gru<8>(p);
}

GPU_KERNEL(128, 4, recurrent_spread_lstm8, ig_gpu_recurrent)
{
    spread_whole<4, 8>(p);
}
