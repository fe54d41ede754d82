/* Random reductions, normalisations, orders and running sums along axes. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

enum { MOST = 5 };

static int32_t number_type(struct rng *r)
{
    return RNG_OF(r, IG_F32, IG_F32, IG_F32, IG_I32, IG_I64, IG_U8, IG_I8);
}

static void text(struct check_problem *p, const char *what, int32_t kind, int32_t axis)
{
    const struct ig_shape *x = &p->in[0];
    snprintf(p->text, sizeof p->text, "%s %d, axis or mask %d, type %d, rank %d of %d,%d,%d,%d,%d", what, kind, axis, x->type,
             x->rank, x->dims[0], x->dims[1], x->dims[2], x->dims[3], x->dims[4]);
}

static void reduce(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_reduce *a = &p->attrs.reduce;
    int32_t in[MOST], out[MOST], type = number_type(r);
    int rank = shapes_any(r, in, MOST);
    if (rng_one_in(r, 4)) in[rng_int(r, 0, rank - 1)] = 300;
    int32_t mask = rng_int(r, 0, (1 << rank) - 1);
    if (rng_one_in(r, 6)) rank = 3, mask = RNG_OF(r, 2, 3), in[0] = rng_int(r, 1, 2), in[1] = RNG_OF(r, 65, 130, 300), in[2] = RNG_OF(r, 32, 33, 70);
    else if (rng_one_in(r, 6)) rank = 4, mask = RNG_OF(r, 5, 10), in[0] = 3, in[1] = 2, in[2] = RNG_OF(r, 4, 9), in[3] = RNG_OF(r, 32, 35, 40);
    else if (rng_one_in(r, 12)) rank = 2, mask = 2, in[0] = rng_int(r, 1, 3), in[1] = RNG_OF(r, 20000, 20001); /* in pieces */
    *a = (struct ig_reduce){rng_int(r, IG_REDUCE_SUM, IG_REDUCE_LOG_SUM_EXP), mask};
    if (rng_one_in(r, 4)) a->kind = RNG_OF(r, IG_REDUCE_MEAN, IG_REDUCE_LOG_SUM_EXP);
    for (int i = 0; i < rank; i++) out[i] = a->mask >> i & 1 ? 1 : in[i];
    check_in(p, 0, type, rank, in);
    check_out(p, 0, type, rank, out);
    double terms = (double)ig_count(&p->in[0]) / (double)ig_count(&p->out[0]);
    int sums = a->kind == IG_REDUCE_SUM || a->kind == IG_REDUCE_MEAN || a->kind == IG_REDUCE_L1 || a->kind == IG_REDUCE_SUM_SQUARE;
    if (a->kind == IG_REDUCE_PROD) p->low[0] = 0.9, p->high[0] = pass == CHECK_REALS && type == IG_F32 ? 1.1 : 1;
    if (a->kind == IG_REDUCE_LOG_SUM) p->low[0] = 1, p->high[0] = 3;
    p->exact = pass == CHECK_INTEGERS && a->kind < IG_REDUCE_L2 && a->kind != IG_REDUCE_MEAN;
    p->terms = sums ? terms : 0;
    p->rel = 8 + 2 * terms;
    p->abs = 16;
    p->specials = rng_one_in(r, 3);
    p->magnitude = p->attrs;
    text(p, "reduce", a->kind, a->mask);
}

static void parameter(struct rng *r, struct check_problem *p, int k, int rank, const int32_t *dims)
{
    if (rng_one_in(r, 4)) return;
    check_in(p, k, IG_F32, rank, dims);
}

static void norm(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_norm *a = &p->attrs.norm;
    int32_t in[4], stat[4];
    int rank = shapes_any(r, in, 4);
    *a = (struct ig_norm){.kind = rng_int(r, IG_NORM_LAYER, IG_NORM_MVN), .p = rng_int(r, 1, 3), .epsilon = 1e-3f, .groups = 1};
    int images = a->kind == IG_NORM_INSTANCE || a->kind == IG_NORM_GROUP;
    if (images && rank < 3) in[rank] = 3, in[rank + 1] = 4, rank += 2;
    if (a->kind == IG_NORM_INSTANCE && rng_one_in(r, 3)) rank = 4, in[0] = 1, in[1] = rng_int(r, 16, 40), in[2] = 19, in[3] = RNG_OF(r, 5, 32, 40);
    if (a->kind == IG_NORM_GROUP && rng_one_in(r, 2)) a->groups = in[rank - 1] % 2 ? in[rank - 1] : 2;
    if (a->kind == IG_NORM_GROUP && rng_one_in(r, 2)) /* channels that threads share, by 16 or 64; not at all */
        in[rank - 1] = RNG_OF(r, 32, 64, 96, 128, 192), a->groups = RNG_OF(r, 2, 3, 4, 8, 16, 32), a->groups = in[rank - 1] % a->groups ? 32 : a->groups;
    int many = !images && rng_one_in(r, 8);
    if (many) rank = 2, in[0] = 520, in[1] = RNG_OF(r, 250, 257, 300);
    a->axis = many ? 1 : rng_int(r, 0, rank - 1);
    a->mask = rng_int(r, 1, (1 << rank) - 1);
    if (!images && rng_one_in(r, 8)) rank = 3, in[0] = 2, in[1] = 9, in[2] = RNG_OF(r, 911, 1003), a->axis = 1, a->mask = 6;
    check_in(p, 0, IG_F32, rank, in);
    check_out(p, 0, IG_F32, rank, in);
    if (images) {
        check_in(p, 1, IG_F32, 1, &in[rank - 1]);
        check_in(p, 2, IG_F32, 1, &in[rank - 1]);
    } else if (a->kind <= IG_NORM_RMS) {
        parameter(r, p, 1, rank - a->axis, in + a->axis);
        if (p->n_in == 2) parameter(r, p, 2, rank - a->axis, in + a->axis);
        for (int i = 0; i < rank; i++) stat[i] = i < a->axis ? in[i] : 1;
        if (rng_one_in(r, 3)) check_out(p, 1, IG_F32, rank, stat);
        if (p->n_out == 2) check_out(p, 2, IG_F32, rank, stat);
    }
    p->rel = 64;
    p->abs = 2048; /* what is left of a mean is divided by a small deviation */
    p->specials = rng_one_in(r, 3);
    if (pass == CHECK_REALS && (images || a->kind == IG_NORM_LAYER) && rng_one_in(r, 4)) /* equal elements become 0, however large */
        p->low[0] = p->high[0] = 1000.1, p->specials = 0;
    text(p, "norm", a->kind, a->kind == IG_NORM_MVN ? a->mask : a->axis);
}

static int line(struct rng *r, struct check_problem *p, int32_t type, int32_t *dims)
{
    int rank = shapes_any(r, dims, 4), axis = rng_int(r, 0, rank - 1);
    if (rng_one_in(r, 3)) dims[axis] = 1000 / (rank * rank);
    check_in(p, 0, type, rank, dims);
    p->exact = 1;
    p->specials = rng_one_in(r, 3);
    return axis;
}

static void arg(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], type = number_type(r);
    int axis = line(r, p, type, dims);
    (void)pass;
    p->attrs.arg = (struct ig_arg){axis, rng_int(r, 0, 1), rng_int(r, 0, 1)};
    dims[axis] = 1;
    check_out(p, 0, IG_I64, p->in[0].rank, dims);
    text(p, "arg", p->attrs.arg.min, axis);
}

static void topk(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], type = number_type(r);
    int axis = line(r, p, type, dims);
    (void)pass;
    p->attrs.topk = (struct ig_topk){axis, rng_int(r, 0, 1)};
    if (p->in[0].rank > axis + 1 && rng_one_in(r, 3)) p->in[0].dims[p->in[0].rank - 1] = dims[p->in[0].rank - 1] = RNG_OF(r, 33, 40);
    const int most = rng_one_in(r, 3) ? 60 : 7;
    dims[axis] = rng_int(r, 1, dims[axis] < most ? dims[axis] : most);
    check_out(p, 0, type, p->in[0].rank, dims);
    if (!rng_one_in(r, 4)) check_out(p, 1, IG_I64, p->in[0].rank, dims);
    else p->n_out = 2;
    text(p, "topk", p->attrs.topk.largest, axis);
}

static void cumsum(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], type = number_type(r);
    int axis = line(r, p, type, dims);
    if (p->in[0].rank > axis + 1 && rng_one_in(r, 3)) p->in[0].dims[p->in[0].rank - 1] = dims[p->in[0].rank - 1] = RNG_OF(r, 33, 70);
    p->attrs.cumsum = (struct ig_cumsum){axis, rng_int(r, 0, 1), rng_int(r, 0, 1)};
    check_out(p, 0, type, p->in[0].rank, dims);
    p->exact = pass == CHECK_INTEGERS;
    p->terms = dims[axis];
    p->magnitude = p->attrs;
    text(p, "cumsum", p->attrs.cumsum.exclusive, axis);
}

int main(int argc, char **argv)
{
    static const struct check_body bodies[] = {{IG_REDUCE, 120, 300, reduce, NULL},
                                               {IG_NORM, 60, 200, norm, NULL},
                                               {IG_ARG, 40, 100, arg, NULL},
                                               {IG_TOPK, 40, 100, topk, NULL},
                                               {IG_CUMSUM, 40, 100, cumsum, NULL}};
    return check_main_of(bodies, (int)(sizeof bodies / sizeof *bodies), argc, argv);
}
