/* Random gathers and scatters of every type, with indices that are negative, outside, or the same. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

enum { MOST = 4 };

static int32_t any_type(struct rng *r)
{
    return RNG_OF(r, IG_F32, IG_F32, IG_I32, IG_I64, IG_U8, IG_I8, IG_F16);
}

static void text(struct check_problem *p, const char *what)
{
    const struct ig_shape *x = &p->in[0], *i = &p->in[1];
    snprintf(p->text, sizeof p->text, "%s, type %d, rank %d of %d,%d,.. axis %d mode %d, indices rank %d of %d,%d,..", what,
             x->type, x->rank, x->dims[0], x->dims[1], p->attrs.axis.axis, p->attrs.axis.mode, i->rank, i->dims[0], i->dims[1]);
    p->exact = 1;
}

/* Indices a little beyond an axis of n elements, on both sides. */
static void indices(struct rng *r, struct check_problem *p, int rank, const int32_t *dims, int32_t n)
{
    check_in(p, 1, RNG_OF(r, IG_I64, IG_I32), rank, dims);
    p->low[1] = -n - 1;
    p->high[1] = n;
}

static void gather(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t in[MOST], which[2], out[MOST + 2], type = any_type(r);
    int rank = shapes_any(r, in, MOST), n = shapes_any(r, which, 2), axis = rng_int(r, 0, rank - 1);
    (void)pass;
    memcpy(out, in, (size_t)axis * sizeof *in);
    memcpy(out + axis, which, (size_t)n * sizeof *which);
    memcpy(out + axis + n, in + axis + 1, (size_t)(rank - axis - 1) * sizeof *in);
    p->attrs.axis.axis = axis;
    check_in(p, 0, type, rank, in);
    indices(r, p, n, which, in[axis]);
    check_out(p, 0, type, rank + n - 1, out);
    text(p, "gather");
}

/* Indices of a part of every dim. */
static void elements(struct rng *r, struct check_problem *p, int32_t type, int32_t *which)
{
    int32_t in[MOST];
    int rank = shapes_any(r, in, MOST), axis = rng_int(r, 0, rank - 1);
    for (int i = 0; i < rank; i++) which[i] = i == axis ? rng_int(r, 1, 9) : rng_int(r, 1, in[i]);
    p->attrs.axis.axis = axis;
    check_in(p, 0, type, rank, in);
    indices(r, p, rank, which, in[axis]);
}

static void gather_elements(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t which[MOST], type = any_type(r);
    (void)pass;
    elements(r, p, type, which);
    check_out(p, 0, type, p->in[0].rank, which);
    text(p, "gather elements");
}

static int32_t mode(struct rng *r, int32_t type)
{
    return type == IG_F16 ? IG_SCATTER_NONE : rng_int(r, IG_SCATTER_NONE, IG_SCATTER_MIN);
}

static void scatter_elements(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t which[MOST], type = any_type(r);
    (void)pass;
    elements(r, p, type, which);
    check_in(p, 2, type, p->in[0].rank, which);
    check_out(p, 0, type, p->in[0].rank, p->in[0].dims);
    p->attrs.axis.mode = mode(r, type);
    text(p, "scatter elements");
}

/* Tuples [B.., T, k] into the dims behind the first B; the shape of a gather's result. Its rank. */
static int tuples(struct rng *r, struct check_problem *p, int32_t type, int batch_dims, int32_t *out)
{
    int32_t in[MOST], which[MOST + 1], least = 99;
    int rank = shapes_any(r, in, MOST), batch = rng_int(r, 0, batch_dims < rank ? batch_dims : rank - 1);
    int k = rng_int(r, 1, rank - batch), n = batch;
    memcpy(which, in, (size_t)batch * sizeof *in);
    which[n++] = rng_int(r, 1, 7);
    memcpy(out, which, (size_t)n * sizeof *out);
    memcpy(out + n, in + batch + k, (size_t)(rank - batch - k) * sizeof *in);
    which[n] = k;
    for (int i = 0; i < k; i++) least = in[batch + i] < least ? in[batch + i] : least;
    p->attrs.axis.axis = batch;
    check_in(p, 0, type, rank, in);
    indices(r, p, n + 1, which, least);
    return n + rank - batch - k;
}

static void gather_nd(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t out[2 * MOST], type = any_type(r);
    int rank = tuples(r, p, type, 2, out);
    (void)pass;
    check_out(p, 0, type, rank, out);
    text(p, "gather tuples");
}

static void scatter_nd(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t updates[2 * MOST], type = any_type(r);
    int rank = tuples(r, p, type, 0, updates);
    (void)pass;
    check_in(p, 2, type, rank, updates);
    check_out(p, 0, type, p->in[0].rank, p->in[0].dims);
    p->attrs.axis.mode = mode(r, type);
    text(p, "scatter tuples");
}

int main(int argc, char **argv)
{
    static const struct check_body bodies[] = {{IG_GATHER, 40, 100, gather, NULL},
                                               {IG_GATHER_ELEMENTS, 40, 100, gather_elements, NULL},
                                               {IG_GATHER_ND, 40, 100, gather_nd, NULL},
                                               {IG_SCATTER_ELEMENTS, 40, 100, scatter_elements, NULL},
                                               {IG_SCATTER_ND, 40, 100, scatter_nd, NULL}};
    return check_main_of(bodies, (int)(sizeof bodies / sizeof *bodies), argc, argv);
}
