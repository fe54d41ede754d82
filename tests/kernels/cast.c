/* Random conversions between all types. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], from = rng_one_in(r, 3) ? IG_F32 : rng_int(r, 0, IG_TYPES - 1), to = rng_one_in(r, 3) ? IG_F32 : rng_int(r, 0, IG_TYPES - 1);
    int rank = shapes_make(r, dims);
    (void)pass;
    check_in(p, 0, from, rank, dims);
    check_out(p, 0, to, rank, dims);
    if (from == IG_F32 && to != IG_U8 && to != IG_BOOL) p->low[0] = -100, p->high[0] = 100;
    p->specials = rng_one_in(r, 3);
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "type %d to %d, rank %d, last %d", from, to, rank, dims[rank - 1]);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_CAST, 200, 500, make, NULL};
    return check_main(&body, argc, argv);
}
