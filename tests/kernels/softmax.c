/* Random softmaxes: exponential, logarithmic and hard, mostly along the last axis. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4];
    int rank = shapes_make(r, dims);
    if (rank < 3 && rng_one_in(r, 4)) dims[rank - 1] = 1000;
    if (rank == 4 && rng_one_in(r, 8)) dims[0] = 1, dims[1] = 5, dims[rank - 1] = RNG_OF(r, 129, 256, 1000, 1024, 1025);
    struct ig_axis *a = &p->attrs.axis;
    a->axis = rng_one_in(r, 4) ? rng_int(r, 0, rank - 1) : rank - 1;
    a->mode = RNG_OF(r, IG_SOFTMAX_EXP, IG_SOFTMAX_EXP, IG_SOFTMAX_LOG, IG_SOFTMAX_HARD);
    p->high[0] = RNG_OF(r, 1, 10, 100);
    p->low[0] = -p->high[0];
    check_in(p, 0, IG_F32, rank, dims);
    check_out(p, 0, IG_F32, rank, dims);
    p->exact = pass == CHECK_INTEGERS && a->mode == IG_SOFTMAX_HARD;
    p->rel = 64;
    p->abs = a->mode == IG_SOFTMAX_LOG ? 32 : 8;
    snprintf(p->text, sizeof p->text, "mode %d, rank %d, axis %d of %d", a->mode, rank, a->axis,
             dims[a->axis]);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_SOFTMAX, 32, 200, make, NULL};
    return check_main(&body, argc, argv);
}
