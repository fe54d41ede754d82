/* Random data movement of every type: reshapes, slices, padding, repetition, concatenation, choice, triangles, one-hot. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

enum { MOST = 6 };

static int32_t any_type(struct rng *r)
{
    return RNG_OF(r, IG_F32, IG_F32, IG_F32, IG_I32, IG_I64, IG_U8, IG_I8, IG_BOOL, IG_F16);
}

static void text(struct check_problem *p, const char *what)
{
    int n = snprintf(p->text, sizeof p->text, "%s, type %d:", what, p->in[0].type);
    for (int i = 0; i < p->in[0].rank; i++) n += snprintf(p->text + n, sizeof p->text - (size_t)n, " %d", p->in[0].dims[i]);
    n += snprintf(p->text + n, sizeof p->text - (size_t)n, " to");
    for (int i = 0; i < p->out[0].rank; i++) n += snprintf(p->text + n, sizeof p->text - (size_t)n, " %d", p->out[0].dims[i]);
    p->exact = 1;
}

static void reshape(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[MOST], type = any_type(r), flat;
    int rank = shapes_any(r, dims, MOST);
    (void)pass;
    check_in(p, 0, type, rank, dims);
    flat = (int32_t)ig_count(&p->in[0]);
    check_out(p, 0, type, 1, &flat);
    text(p, "reshape");
}

static void slice(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_slice *a = &p->attrs.slice;
    int32_t in[MOST], out[MOST], type = any_type(r);
    int rank = shapes_any(r, in, MOST);
    (void)pass;
    for (int i = 0; i < rank; i++) {
        int32_t step = rng_one_in(r, 2) ? 1 : rng_int(r, 1, 3);
        out[i] = rng_one_in(r, 2) ? (in[i] + step - 1) / step : rng_int(r, 1, (in[i] + step - 1) / step);
        int32_t span = (out[i] - 1) * step, start = rng_int(r, 0, in[i] - 1 - span);
        int back = rng_one_in(r, 4);
        a->start[i] = back ? start + span : start;
        a->step[i] = back ? -step : step;
    }
    check_in(p, 0, type, rank, in);
    check_out(p, 0, type, rank, out);
    text(p, "slice");
}

static void pad(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_pad *a = &p->attrs.pad;
    int32_t in[MOST], out[MOST], type = any_type(r);
    int rank = shapes_any(r, in, MOST);
    (void)pass;
    a->mode = rng_int(r, IG_PAD_CONSTANT, IG_PAD_WRAP);
    a->value = (float)rng_int(r, type == IG_U8 || type == IG_BOOL ? 0 : -3, type == IG_BOOL ? 1 : 9);
    for (int i = 0; i < rank; i++) {
        a->begin[i] = rng_int(r, -1, 3);
        a->end[i] = rng_int(r, -1, 3);
        if (in[i] < 3) a->begin[i] = a->begin[i] < 0 ? 0 : a->begin[i], a->end[i] = a->end[i] < 0 ? 0 : a->end[i];
        out[i] = in[i] + a->begin[i] + a->end[i];
    }
    check_in(p, 0, type, rank, in);
    check_out(p, 0, type, rank, out);
    text(p, "pad");
}

static void expand(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t in[MOST], out[MOST], type = any_type(r);
    int rank = shapes_any(r, out, MOST), skip = rng_int(r, 0, rank - 1);
    (void)pass;
    for (int i = 0; i < rank; i++) in[i] = rng_one_in(r, 2) ? 1 : out[i];
    check_in(p, 0, type, rank - skip, in + skip);
    check_out(p, 0, type, rank, out);
    text(p, "expand");
}

static void tile(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t in[4], out[4], type = any_type(r);
    int rank = shapes_any(r, in, 4);
    (void)pass;
    for (int i = 0; i < rank; i++) out[i] = in[i] * rng_int(r, 1, 3);
    check_in(p, 0, type, rank, in);
    check_out(p, 0, type, rank, out);
    text(p, "tile");
}

static void concat(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[MOST], type = any_type(r), all = 0;
    int rank = rng_one_in(r, 20) ? shapes_many(r, dims) : shapes_any(r, dims, MOST);
    int axis = rng_int(r, 0, rank - 1), n = rng_one_in(r, 8) ? IG_MAX_IN : rng_int(r, 1, 5);
    (void)pass;
    p->attrs.axis.axis = axis;
    for (int k = 0; k < n; k++) {
        dims[axis] = RNG_OF(r, 1, 2, 4, 5, 8, 61);
        all += dims[axis];
        check_in(p, k, type, rank, dims);
    }
    dims[axis] = all;
    check_out(p, 0, type, rank, dims);
    text(p, "concat");
}

static void triu(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[MOST] = {3}, type = any_type(r);
    int rank = 1 + shapes_any(r, dims + 1, 3);
    (void)pass;
    p->attrs.triu = (struct ig_triu){rng_int(r, -3, 3), rng_int(r, 0, 1)};
    check_in(p, 0, type, rank, dims);
    check_out(p, 0, type, rank, dims);
    text(p, "triangle");
}

static void one_hot(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t in[3], out[4], two = 2, depth = rng_int(r, 1, 9), type = RNG_OF(r, IG_F32, IG_I64, IG_U8, IG_F16);
    int rank = shapes_any(r, in, 3), axis = rng_int(r, 0, rank);
    (void)pass;
    memcpy(out, in, sizeof in);
    memmove(out + axis + 1, in + axis, (size_t)(rank - axis) * sizeof *in);
    out[axis] = depth;
    p->attrs.axis.axis = axis;
    check_in(p, 0, RNG_OF(r, IG_I64, IG_I32, IG_F32), rank, in);
    check_in(p, 1, type, 1, &two);
    check_out(p, 0, type, rank + 1, out);
    p->low[0] = -depth - 2, p->high[0] = depth + 2;
    text(p, "one-hot");
}

static void where(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t out[MOST], type = any_type(r);
    int rank = rng_one_in(r, 20) ? shapes_many(r, out) : shapes_any(r, out, MOST), whole = rng_one_in(r, 3);
    (void)pass;
    for (int k = 0; k < 3; k++) {
        int32_t in[MOST];
        int skip = whole ? 0 : rng_int(r, 0, rank - 1);
        for (int i = 0; i < rank; i++) in[i] = !whole && rng_one_in(r, 3) ? 1 : out[i];
        check_in(p, k, k ? type : IG_BOOL, rank - skip, in + skip);
    }
    check_out(p, 0, type, rank, out);
    p->broadcasts = 1;
    text(p, "where");
}

int main(int argc, char **argv)
{
    static const struct check_body bodies[] = {
        {IG_RESHAPE, 20, 60, reshape, NULL}, {IG_SLICE, 60, 200, slice, NULL},     {IG_PAD, 60, 200, pad, NULL},
        {IG_EXPAND, 40, 100, expand, NULL},  {IG_TILE, 40, 100, tile, NULL},       {IG_CONCAT, 40, 100, concat, NULL},
        {IG_TRIU, 24, 100, triu, NULL},      {IG_ONE_HOT, 24, 100, one_hot, NULL}, {IG_WHERE, 40, 100, where, NULL}};
    return check_main_of(bodies, (int)(sizeof bodies / sizeof *bodies), argc, argv);
}
