/* Random products of run-time matrices: ranks, broadcasts, transposes; of floats, integers and quantised operands. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/rng.h"
#include "tests/support/windows.h"

struct sides {           /* shapes of a, b and the output */
    int32_t a[5], b[5], y[5];
    int a_rank, b_rank, y_rank;
    int32_t k;
};

/* Leading dims that broadcast, then [m, k] and [k, n], transposed or not. */
static struct sides make_sides(struct rng *r, int trans_a, int trans_b)
{
    struct sides s = {.k = RNG_OF(r, 1, 3, 8, 15, 16, 17, 40, 100)};
    int lead = RNG_OF(r, 0, 0, 1, 2, 3);
    int32_t m = RNG_OF(r, 1, 2, 7, 16, 63, 65), n = RNG_OF(r, 1, 3, 8, 16, 64, 70);
    for (int i = 0; i < lead; i++) {
        s.y[i] = rng_int(r, 1, 3);
        s.a[i] = rng_one_in(r, 3) ? 1 : s.y[i];
        s.b[i] = s.a[i] == s.y[i] && rng_one_in(r, 3) ? 1 : s.y[i];
    }
    s.a[lead] = trans_a ? s.k : m, s.a[lead + 1] = trans_a ? m : s.k;
    s.b[lead] = trans_b ? n : s.k, s.b[lead + 1] = trans_b ? s.k : n;
    s.y[lead] = m, s.y[lead + 1] = n;
    s.a_rank = s.b_rank = s.y_rank = lead + 2;
    return s;
}

static void put_sides(struct check_problem *p, const struct sides *s, int b, int32_t a_type, int32_t b_type, int32_t y_type)
{
    check_in(p, 0, a_type, s->a_rank, s->a);
    check_in(p, b, b_type, s->b_rank, s->b);
    check_out(p, 0, y_type, s->y_rank, s->y);
    snprintf(p->text, sizeof p->text, "types %d %d to %d, [%d,%d] by [%d,%d], rank %d", a_type, b_type, y_type,
             s->a[s->a_rank - 2], s->a[s->a_rank - 1], s->b[s->b_rank - 2], s->b[s->b_rank - 1], s->y_rank);
}

static void matmul(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_matmul *a = &p->attrs.matmul;
    int32_t type = RNG_OF(r, IG_F32, IG_F32, IG_F32, IG_I32, IG_I64);
    *a = (struct ig_matmul){rng_int(r, 0, 1), rng_int(r, 0, 1), type == IG_F32 && rng_one_in(r, 2) ? 0.5f : 1};
    struct sides s = make_sides(r, a->trans_a, a->trans_b);
    put_sides(p, &s, 1, type, type, type);
    p->exact = pass == CHECK_INTEGERS;
    p->terms = s.k;
    p->magnitude = p->attrs;
}

/* One zero point, or one for each of n rows or columns; or none. */
static void zero(struct rng *r, struct check_problem *p, int k, int32_t type, int32_t n, int may_lack)
{
    int32_t count = rng_one_in(r, 2) ? n : 1;
    if (may_lack && rng_one_in(r, 4)) return;
    check_in(p, k, type, 1, &count);
}

static void scale(struct rng *r, struct check_problem *p, int k, int32_t n)
{
    int32_t count = rng_one_in(r, 2) ? n : 1;
    check_in(p, k, IG_F32, 1, &count);
    p->low[k] = 0.25, p->high[k] = 2;
}

static int32_t byte_type(struct rng *r)
{
    return RNG_OF(r, IG_U8, IG_I8);
}

/* b has no leading dims. */
static void one_matrix(struct sides *s)
{
    const int lead = s->b_rank - 2;
    for (int i = 0; i < lead; i++) s->a[i] = s->y[i];
    s->b[0] = s->b[lead], s->b[1] = s->b[lead + 1];
    s->b_rank = 2;
}

static void all_bytes(struct check_problem *p, int k)
{
    const double least = p->in[k].type == IG_I8 ? -128 : 0;
    p->low[k] = least - 0.25, p->high[k] = least + 255.25;
}

static void matmul_integer(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t ta = byte_type(r), tb = byte_type(r);
    struct sides s = make_sides(r, 0, 0);
    const int is_plain = rng_one_in(r, 2); /* one matrix of weights, mostly constant, of any bytes */
    if (is_plain) one_matrix(&s);
    put_sides(p, &s, 1, ta, tb, IG_I32);
    zero(r, p, 2, ta, is_plain && !rng_one_in(r, 6) ? 1 : s.y[s.y_rank - 2], 1);
    zero(r, p, 3, tb, s.y[s.y_rank - 1], 1);
    for (int k = 0; is_plain && k < 4; k++) all_bytes(p, k);
    if (is_plain && rng_one_in(r, 2)) p->bell = 1u << 1;
    if (rng_one_in(r, 2)) windows_scales(r, pass, p, s.y[s.y_rank - 1], is_plain ? 100000 : 100, &p->attrs.fc.act);
    if (is_plain) p->constant = p->has_in & (rng_one_in(r, 6) ? (uint32_t)rng_next(r) & ~1u : rng_one_in(r, 2) ? 0x6a : 0x7e);
}

static void qlinear_matmul(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t ta = byte_type(r), tb = byte_type(r), ty = byte_type(r), one = 1;
    struct sides s = make_sides(r, 0, 0);
    int32_t m = s.y[s.y_rank - 2], n = s.y[s.y_rank - 1];
    (void)pass;
    put_sides(p, &s, 3, ta, tb, ty);
    scale(r, p, 1, m), scale(r, p, 4, n), scale(r, p, 6, 1);
    p->low[1] = p->high[1] = 1, p->low[6] = 2, p->high[6] = 8;
    zero(r, p, 2, ta, m, 0), zero(r, p, 5, tb, n, 0);
    check_in(p, 7, ty, 1, &one);
}

int main(int argc, char **argv)
{
    static const struct check_body bodies[] = {{IG_MATMUL, 40, 200, matmul, NULL},
                                               {IG_MATMUL_INTEGER, 24, 300, matmul_integer, NULL},
                                               {IG_QLINEAR_MATMUL, 24, 100, qlinear_matmul, NULL}};
    return check_main_of(bodies, (int)(sizeof bodies / sizeof *bodies), argc, argv);
}
