/* Random local response normalisations. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    static const float powers[] = {0.75f, 0.5f, 1, 0.6f};
    struct ig_lrn *a = &p->attrs.lrn;
    int32_t dims[4] = {1, rng_int(r, 1, 9), rng_int(r, 1, 9), RNG_OF(r, 1, 3, 7, 8, 9, 16, 33, 64)};
    (void)pass;
    *a = (struct ig_lrn){rng_int(r, 1, 7), (float)rng_real(r, 1e-4, 0.5), powers[rng_int(r, 0, 3)], (float)rng_int(r, 1, 2)};
    check_in(p, 0, IG_F32, 4, dims);
    check_out(p, 0, IG_F32, 4, dims);
    p->rel = 64;
    snprintf(p->text, sizeof p->text, "%dx%dx%d size %d alpha %g beta %g", dims[1], dims[2], dims[3], a->size,
             (double)a->alpha, (double)a->beta);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_LRN, 24, 100, make, NULL};
    return check_main(&body, argc, argv);
}
