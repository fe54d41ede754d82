/* Random copies of every type. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], type = RNG_OF(r, IG_F32, IG_F32, IG_F32, IG_I32, IG_I64, IG_U8, IG_I8, IG_BOOL, IG_F16);
    int rank = shapes_make(r, dims);
    (void)pass;
    check_in(p, 0, type, rank, dims);
    check_out(p, 0, type, rank, dims);
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "type %d, rank %d, last %d", type, rank, dims[rank - 1]);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_COPY, 24, 200, make, NULL};
    return check_main(&body, argc, argv);
}
