/* Recurrent layers: recurrent.cu, recurrent_spread.cu. Operands are dense. */
#include <stddef.h>

#include "kernels_cpu/pack/pack.h"
#include "kernels_gpu/launch/loops.h"

enum { LANES = 8, THREADS = 512, FEW_THREADS = 256, ROWS = 4, MANY_ROWS = 8, POINTERS = 10, STATES = 3, WARPS = 4, WARP = 32, KEPT_UNITS = 64,
       KEPT_UNITS_OF_RNN = 128,
       STEP = 128 /* of room, in which all lanes take as many quads as a kernel has under way */,
       SKEW = 8 /* between rows' states, so that a unit's of four rows are in different banks */ };

static const char *const kept_functions[] = {"recurrent_kept_rnn", "recurrent_kept_gru", "recurrent_kept_lstm"};
static const char *const functions[] = {"recurrent_rnn", "recurrent_gru", "recurrent_lstm"};
static const char *const rows_functions[] = {"recurrent_rnn4", "recurrent_gru4", "recurrent_lstm4"};

static const char *const spread_functions[] = {"recurrent_spread_rnn", "recurrent_spread_gru", "recurrent_spread_lstm"};
static const char *const spread_rows_functions[] = {"recurrent_spread_rnn4", "recurrent_spread_gru4", "recurrent_spread_lstm4"};
static const char *const spread_many_functions[] = {"recurrent_spread_rnn8", "recurrent_spread_gru8", "recurrent_spread_lstm8"};

_Static_assert(offsetof(struct ig_gpu_recurrent, turn) == POINTERS * sizeof(void *), "turns are counted behind the pointers");

static const struct ig_recurrent *attrs_of(const struct ig_call *call)
{
    return (const struct ig_recurrent *)call->attrs;
}

static int32_t hidden_of(const struct ig_call *call)
{
    return call->out[0].shape->dims[3];
}

static int32_t room_of(const struct ig_call *call)
{
    return ig_gpu_ceil(hidden_of(call), STEP) * STEP;
}

int ig_gpu_supports_recurrent(const struct ig_call *call)
{
    return recurrent_f32_nd__supports(call) && ig_gpu_addresses_all(call) && room_of(call) <= IG_GPU_RECURRENT_WIDE_STATE;
}

int ig_gpu_supports_recurrent_kept(const struct ig_call *call)
{
    return ig_gpu_supports_recurrent(call) && hidden_of(call) <= (attrs_of(call)->kind == IG_RNN ? KEPT_UNITS_OF_RNN : KEPT_UNITS);
}

int ig_gpu_supports_recurrent_4(const struct ig_call *call)
{
    return ig_gpu_supports_recurrent(call) && call->out[0].shape->dims[2] > 1 && hidden_of(call) % 4 == 0 &&
           ROWS * (room_of(call) + SKEW) <= IG_GPU_RECURRENT_STATE_OF_4;
}

/* Launches: a step's, or of a GRU whose reset comes before its product two. */
static int64_t turns_of(const struct ig_call *call)
{
    const struct ig_recurrent *a = attrs_of(call);
    return (int64_t)call->out[0].shape->dims[0] * (a->kind == IG_GRU && !a->reset_after ? 2 : 1);
}

int ig_gpu_supports_recurrent_spread(const struct ig_call *call)
{
    return recurrent_f32_nd__supports(call) && ig_gpu_addresses_all(call) && call->out[0].shape->dims[2] <= IG_GPU_MOST_GRID &&
           turns_of(call) <= IG_GPU_TURNS;
}

int ig_gpu_supports_recurrent_spread4(const struct ig_call *call)
{
    return ig_gpu_supports_recurrent_spread(call) && call->out[0].shape->dims[2] > 1;
}

int ig_gpu_supports_recurrent_spread8(const struct ig_call *call)
{
    return ig_gpu_supports_recurrent_spread(call) && call->out[0].shape->dims[2] > ROWS;
}

size_t ig_gpu_scratch_recurrent(const struct ig_call *call)
{
    const int32_t *y = call->out[0].shape->dims;
    return STATES * sizeof(float) * (size_t)(y[1] * y[2]) * (size_t)y[3];
}

static struct ig_gpu_recurrent params_of(const struct ig_call *call)
{
    const struct ig_recurrent *a = attrs_of(call);
    const int32_t *y = call->out[0].shape->dims;
    return (struct ig_gpu_recurrent){.x = ig_gpu_in(call, 0), .r = ig_gpu_in(call, 1), .bias = ig_gpu_in(call, 2), .h0 = ig_gpu_in(call, 3),
                                     .c0 = ig_gpu_in(call, 4), .peepholes = ig_gpu_in(call, 5), .y = ig_gpu_out(call, 0),
                                     .last_h = ig_gpu_out(call, 1), .last_c = ig_gpu_out(call, 2), .steps = y[0], .directions = y[1], .batch = y[2],
                                     .hidden = y[3], .room = room_of(call),
                                     .quads = y[3] % 4 == 0 && (uintptr_t)ig_gpu_in(call, 1) % 16 == 0, .kind = a->kind,
                                     .reverse = a->reverse, .reset_after = a->reset_after, .input_forget = a->input_forget, .clip = a->clip,
                                     .f = ig_gpu_act_of(&a->f), .g = ig_gpu_act_of(&a->g), .u = ig_gpu_act_of(&a->u)};
}

/* A block for so many rows of the batch in a direction; eight lanes have as many units as share them out evenly, up to `most`. */
static int launch(struct ig_gpu_launch *to, const char *function, struct ig_gpu_recurrent *p, int32_t rows, int32_t threads, int32_t most)
{
    int32_t units = ig_gpu_ceil(p->hidden, threads / LANES);
    p->units = units < most ? units : most;
    ig_gpu_fill(to, function, ig_gpu_ceil(p->batch, rows), 1, (uint32_t)p->directions, (uint32_t)threads, POINTERS, p, sizeof *p);
    return 1;
}

int ig_gpu_recurrent_kept(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_recurrent p = params_of(call);
    (void)scratch;
    return launch(to, kept_functions[p.kind], &p, 1, FEW_THREADS, LANES);
}

int ig_gpu_recurrent_1(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_recurrent p = params_of(call);
    (void)scratch;
    if (!p.quads || p.room > IG_GPU_RECURRENT_STATE) return launch(to, "recurrent_any", &p, 1, FEW_THREADS, LANES);
    return launch(to, functions[p.kind], &p, 1, THREADS, LANES);
}

int ig_gpu_recurrent_4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_recurrent p = params_of(call);
    if (!p.quads) return ig_gpu_recurrent_1(call, scratch, to);
    p.room += SKEW;
    return launch(to, rows_functions[p.kind], &p, ROWS, FEW_THREADS, LANES / ROWS);
}

/* A warp for each unit of so many rows, in each direction. */
static int spread(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to, const char *const *names, int32_t rows)
{
    struct ig_gpu_recurrent p = params_of(call);
    p.states = scratch;
    p.quads = p.quads && (uintptr_t)p.h0 % 16 == 0;
    ig_gpu_fill(to, names[p.kind], ig_gpu_ceil(p.hidden, WARPS), ig_gpu_ceil(p.batch, rows), (uint32_t)p.directions, WARPS * WARP, POINTERS, &p,
                sizeof p);
    to->turns = (uint32_t)turns_of(call);
    return 1;
}

int ig_gpu_recurrent_spread(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    return spread(call, scratch, to, spread_functions, 1);
}

int ig_gpu_recurrent_spread4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    return spread(call, scratch, to, spread_rows_functions, ROWS);
}

int ig_gpu_recurrent_spread8(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    return spread(call, scratch, to, spread_many_functions, MANY_ROWS);
}
