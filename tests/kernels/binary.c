/* Random element-wise functions of two operands: every kind, every way to broadcast, activations behind. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"
#include "tests/support/windows.h"

/* Repeats some dims of operand k: none, all but the last, all, or any. Leading 1s may go. */
static void broadcast(struct rng *r, int32_t *dims, int *rank)
{
    int how = rng_int(r, 0, 3), first = 0;
    for (int i = 0; i < *rank; i++)
        if (how == 2 || (how == 1 && i < *rank - 1) || (how == 3 && rng_one_in(r, 2))) dims[i] = 1;
    if (!rng_one_in(r, 2)) return;
    while (first < *rank && dims[first] == 1) first++;
    *rank -= first;
    memmove(dims, dims + first, (size_t)*rank * sizeof *dims);
}

/* One of two leading dims; of the others any. */
static void one_leading(struct rng *r, int32_t *whole, int32_t *dims)
{
    for (int i = 0; i < 4; i++) dims[i] = whole[i] = i < 2 ? rng_int(r, 2, 4) : RNG_OF(r, 1, 3, 8, 17);
    dims[rng_int(r, 0, 1)] = 1;
    for (int i = 2; i < 4; i++)
        if (rng_one_in(r, 3)) dims[i] = 1;
}

static void kind(struct rng *r, enum check_pass pass, struct check_problem *p, int32_t *type,
                 int32_t *out_type)
{
    struct ig_binary_attr *a = &p->attrs.binary;
    a->kind = rng_int(r, IG_ADD, IG_LESS_EQUAL);
    if (rng_one_in(r, 2)) a->kind = RNG_OF(r, IG_ADD, IG_MUL, IG_SUB, IG_MAX, IG_PRELU);
    if (rng_one_in(r, 8)) a->kind = RNG_OF(r, IG_POW, IG_EQUAL, IG_LESS, IG_GREATER_EQUAL);
    if (rng_one_in(r, 10)) {
        *type = RNG_OF(r, IG_I32, IG_I64, IG_U8, IG_I8);
        if (rng_one_in(r, 2)) a->kind = rng_one_in(r, 3) ? IG_DIV : rng_int(r, IG_BIT_AND, IG_SHIFT_RIGHT);
    }
    if (rng_one_in(r, 20)) {
        *type = IG_BOOL;
        a->kind = rng_int(r, IG_AND, IG_XOR);
    }
    *out_type = a->kind >= IG_EQUAL && a->kind <= IG_LESS_EQUAL ? IG_BOOL : *type;
    if (*type == IG_F32 && *out_type == IG_F32 && rng_one_in(r, 2)) a->act = windows_act(r, pass);
}

/* Divisors are not zero, but of integers, and powers not complex. */
static void domain(struct check_problem *p, int32_t type)
{
    int32_t k = p->attrs.binary.kind;
    if (k == IG_DIV || k == IG_MOD || k == IG_FMOD) p->low[1] = 0.5, p->high[1] = 4;
    if (k == IG_DIV && (type == IG_I32 || type == IG_I64)) p->low[1] = -2;
    if (k == IG_POW) p->low[0] = 0.05, p->high[0] = 30, p->low[1] = -20, p->high[1] = 20;
    if (k >= IG_BIT_AND) p->low[0] = p->low[1] = 0, p->high[0] = p->high[1] = 7;
}

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], in[2][4], type = IG_F32, out_type;
    int rank = shapes_make(r, dims), ranks[2] = {rank, rank}, full = rng_int(r, 0, 1);
    kind(r, pass, p, &type, &out_type);
    domain(p, type);
    memcpy(in[!full], dims, sizeof dims);
    if (rng_one_in(r, 6)) one_leading(r, dims, in[!full]), rank = ranks[0] = ranks[1] = 4;
    else broadcast(r, in[!full], &ranks[!full]);
    memcpy(in[full], dims, sizeof dims);
    for (int k = 0; k < 2; k++) check_in(p, k, type, ranks[k], in[k]);
    check_out(p, 0, out_type, rank, dims);
    p->constant = rng_one_in(r, 3) ? 1u << !full : 0;
    int32_t b = p->attrs.binary.kind;
    p->exact = pass == CHECK_INTEGERS && (b < IG_DIV || b == IG_MAX || b == IG_MIN || b >= IG_PRELU);
    p->specials = rng_one_in(r, 3);
    p->broadcasts = 1;
    p->rel = 32;
    p->abs = 32;
    snprintf(p->text, sizeof p->text,
             "%s act %s, out rank %d of %d,%d,%d,%d, operand %d rank %d of %d,%d,%d,%d", ig_binary_name(b),
             ig_unary_name(p->attrs.binary.act.kind), rank, p->out[0].dims[0], p->out[0].dims[1],
             p->out[0].dims[2], p->out[0].dims[3], !full, ranks[!full], p->in[!full].dims[0],
             p->in[!full].dims[1], p->in[!full].dims[2], p->in[!full].dims[3]);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_BINARY, 80, 400, make, NULL};
    return check_main(&body, argc, argv);
}
