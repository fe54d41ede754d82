/* Random recurrent layers: of all three kinds, in one or two directions, either way, with and without states, biases and peepholes. */
#include <math.h>
#include <stdio.h>

#include "graph/tensor.h"
#include "tests/support/check.h"

static struct ig_act gate(struct rng *r)
{
    if (!rng_one_in(r, 4)) return (struct ig_act){IG_SIGMOID, 0, 0};
    return rng_one_in(r, 2) ? (struct ig_act){IG_HARD_SIGMOID, 0.2f, 0.5f} : (struct ig_act){IG_SIGMOID, 0, 0};
}

static struct ig_act wide(struct rng *r)
{
    if (!rng_one_in(r, 3)) return (struct ig_act){IG_TANH, 0, 0};
    return (struct ig_act){RNG_OF(r, IG_RELU, IG_SIGMOID, IG_LEAKY_RELU, IG_ELU, IG_SOFTPLUS), 0.25f, 0};
}

static void optional(struct rng *r, struct check_problem *p, int k, int rank, const int32_t *dims)
{
    if (!rng_one_in(r, 3)) check_in(p, k, IG_F32, rank, dims);
}

/* Sums of integers: few units where gates are multiplied, one step of those. */
static void make_exact(struct rng *r, struct ig_recurrent *a, int32_t *y)
{
    const struct ig_act relu = {IG_RELU, 0, 0};
    a->f = a->g = a->u = relu;
    if (a->kind == IG_RNN) y[0] = rng_int(r, 1, 3);
    else y[0] = 1, y[3] = rng_int(r, 1, 18);
}

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_recurrent *a = &p->attrs.recurrent;
    const int32_t hidden = rng_one_in(r, 2) ? rng_int(r, 1, 20) : RNG_OF(r, 31, 32, 33, 48, 64, 70, 129, 132, 260), directions = rng_int(r, 1, 2);
    int32_t y[4] = {rng_int(r, 1, 7), directions, rng_one_in(r, 4) ? rng_int(r, 8, 10) : rng_int(r, 1, 7), hidden};
    *a = (struct ig_recurrent){.kind = rng_int(r, IG_RNN, IG_LSTM), .clip = rng_one_in(r, 3) ? 3 : 0};
    a->reverse = rng_int(r, 0, (1 << directions) - 1);
    if (a->kind == IG_GRU) a->reset_after = rng_int(r, 0, 1);
    if (a->kind == IG_LSTM) a->input_forget = rng_one_in(r, 3);
    a->f = a->kind == IG_RNN ? wide(r) : gate(r);
    a->g = a->u = wide(r);
    p->exact = pass == CHECK_INTEGERS;
    if (p->exact) make_exact(r, a, y);
    const int32_t n = y[3], rows = ig_gates_of(a) * n, gates[] = {y[0], y[2], y[1] * rows}, weights[] = {y[1], rows, n};
    check_in(p, 0, IG_F32, 3, gates);
    check_in(p, 1, IG_F32, 3, weights);
    if (a->kind == IG_GRU && a->reset_after) optional(r, p, 2, 2, (int32_t[]){y[1], n});
    optional(r, p, 3, 3, y + 1);
    if (a->kind == IG_LSTM) optional(r, p, 4, 3, y + 1);
    if (a->kind == IG_LSTM && !p->exact) optional(r, p, 5, 2, (int32_t[]){y[1], 3 * n});
    check_out(p, 0, IG_F32, 4, y);
    if (rng_one_in(r, 2)) check_out(p, 1, IG_F32, 3, y + 1);
    if (a->kind == IG_LSTM && rng_one_in(r, 2)) check_out(p, 2, IG_F32, 3, y + 1);
    p->steps_first = p->any_nan = 1;
    p->constant = 6;
    p->dense = 56;
    p->high[1] = p->exact ? 1 : 2 / sqrt(n);
    p->low[1] = -p->high[1];
    p->rel = 64;
    p->abs = 16 * y[0] * sqrt(n);
    p->specials = pass == CHECK_REALS && rng_one_in(r, 4);
    snprintf(p->text, sizeof p->text, "kind %d of %dx%dx%dx%d, activations %d %d %d, clip %g, %d%d%d, given %x, wanted %x", a->kind, y[0], y[1], y[2],
             n, a->f.kind, a->g.kind, a->u.kind, (double)a->clip, a->reverse, a->reset_after, a->input_forget, p->has_in, p->has_out);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_RECURRENT, 80, 160, make, NULL};
    return check_main(&body, argc, argv);
}
