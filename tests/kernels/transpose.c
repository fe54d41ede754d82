/* Random permutations, those of image layouts most often. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

static void permutation(struct rng *r, int rank, int32_t *perm)
{
    static const int32_t to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};
    if (rank == 4 && !rng_one_in(r, 3)) {
        memcpy(perm, rng_one_in(r, 2) ? to_last : to_first, sizeof to_last);
        return;
    }
    for (int i = 0; i < rank; i++) {
        int j = rng_int(r, 0, i);
        perm[i] = perm[j];
        perm[j] = i;
    }
}

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t in[4], out[4], type = RNG_OF(r, IG_F32, IG_F32, IG_F32, IG_I32, IG_I64, IG_U8);
    int rank = shapes_make(r, in);
    int32_t *perm = p->attrs.transpose.perm;
    (void)pass;
    permutation(r, rank, perm);
    for (int i = 0; i < rank; i++) out[i] = in[perm[i]];
    check_in(p, 0, type, rank, in);
    check_out(p, 0, type, rank, out);
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "type %d, rank %d, perm %d,%d,%d,%d", type, rank, perm[0], perm[1],
             perm[2], perm[3]);
}

static void rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    (void)y0, (void)y1;
    *a = 0;
    *b = (int32_t)ig_count(&p->in[in]);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_TRANSPOSE, 40, 200, make, rows};
    return check_main(&body, argc, argv);
}
