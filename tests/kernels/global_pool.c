/* Random global poolings of 1-D to 3-D images. */
#include <stdio.h>

#include "tests/support/check.h"

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_global_pool *a = &p->attrs.global_pool;
    int rank = RNG_OF(r, 3, 4, 4, 4, 4, 5);
    int32_t c = RNG_OF(r, 1, 3, 7, 8, 9, 16, 24, 31, 33, 64, 264, 300), in[5] = {1}, out[5] = {1, 1, 1, 1, 1};
    double pixels = 1;
    for (int i = 1; i < rank - 1; i++) pixels *= in[i] = rng_int(r, 1, rank < 5 && rng_one_in(r, 4) ? 50 : 9);
    in[rank - 1] = out[rank - 1] = c;
    a->kind = RNG_OF(r, IG_POOL_MAX, IG_POOL_AVERAGE, IG_POOL_AVERAGE, IG_POOL_LP);
    a->p = rng_int(r, 1, 3);
    check_in(p, 0, IG_F32, rank, in);
    check_out(p, 0, IG_F32, rank, out);
    p->exact = a->kind == IG_POOL_MAX && pass == CHECK_INTEGERS;
    p->terms = a->kind == IG_POOL_AVERAGE ? pixels : 0;
    p->rel = a->kind == IG_POOL_LP ? 64 : 0;
    p->magnitude = p->attrs;
    snprintf(p->text, sizeof p->text, "%g pixels of %d, kind %d", pixels, c, a->kind);
}

static void rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    (void)y0, (void)y1;
    *a = 0;
    *b = 1;
    for (int i = 1; i < p->in[in].rank - 2; i++) *b *= p->in[in].dims[i];
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_GLOBAL_POOL, 24, 200, make, rows};
    return check_main(&body, argc, argv);
}
