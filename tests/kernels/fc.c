/* Random fully connected layers, from one row on, with all epilogues. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/windows.h"

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_fc *a = &p->attrs.fc;
    int32_t m = rng_one_in(r, 2) ? 1 : rng_int(r, 2, 15);
    int32_t k = rng_one_in(r, 4) ? rng_int(r, 200, 600) : rng_int(r, 1, 70);
    int32_t n = RNG_OF(r, 1, 2, 7, 8, 9, 10, 16, 17, 24, 31, 48, 64, 65, 100, 130);
    if (m == 1 && rng_one_in(r, 10)) k = RNG_OF(r, 700, 1001), n = RNG_OF(r, 290, 400); /* weights that no cache near the core holds */
    if (rng_one_in(r, 10)) k = 4700, n = RNG_OF(r, 8, 16, 40);
    const int32_t x[2] = {m, k}, w[2] = {n, k}, y[2] = {m, n};
    a->act = windows_act(r, pass);
    check_in(p, 0, IG_F32, 2, x);
    check_in(p, 1, IG_F32, 2, w);
    check_out(p, 0, IG_F32, 2, y);
    if (!rng_one_in(r, 4)) check_in(p, 2, IG_F32, 1, &n);
    if (rng_one_in(r, 4)) check_in(p, 3, IG_F32, 2, y);
    p->constant = rng_one_in(r, 12) ? 0 : 6;
    p->dense = 6;
    p->exact = pass == CHECK_INTEGERS;
    p->terms = k + 2;
    p->abs = windows_act_is_linear(&a->act) ? 0 : 16;
    p->magnitude = p->attrs;
    p->magnitude.fc.act.kind = IG_NONE;
    snprintf(p->text, sizeof p->text, "%dx%d to %d act %s%s", m, k, n, ig_unary_name(a->act.kind),
             p->has_in >> 3 & 1 ? " residual" : "");
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_FC, 32, 200, make, NULL};
    return check_main(&body, argc, argv);
}
