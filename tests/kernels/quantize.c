/* Random quantisations, there and back and dynamic, and convolutions of quantised operands. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"
#include "tests/support/windows.h"

static int32_t byte_type(struct rng *r)
{
    return RNG_OF(r, IG_U8, IG_I8);
}

static void parameters(struct rng *r, struct check_problem *p, const int32_t *dims, int rank, int32_t zero_type)
{
    int32_t axis = rng_int(r, 0, rank - 1), n = rng_one_in(r, 2) ? dims[axis] : 1;
    p->attrs.axis.axis = rng_one_in(r, 4) ? axis - rank : axis;
    check_in(p, 1, IG_F32, n > 1 || rng_one_in(r, 2), &n);
    if (!rng_one_in(r, 4)) check_in(p, 2, zero_type, n > 1 || rng_one_in(r, 2), &n);
    p->low[1] = 0.1, p->high[1] = 1.5;
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "axis %d of rank %d, %d parameters, type %d to %d", p->attrs.axis.axis, rank, n,
             p->in[0].type, p->out[0].type);
}

static void quantize(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], to = byte_type(r);
    int rank = rng_one_in(r, 20) ? shapes_many(r, dims) : shapes_any(r, dims, 4);
    check_in(p, 0, RNG_OF(r, IG_F32, IG_F32, IG_I32), rank, dims);
    check_out(p, 0, to, rank, dims);
    p->low[0] = -200, p->high[0] = 200;
    parameters(r, p, dims, rank, to);
    p->low[1] = 1;
    if (pass == CHECK_REALS && rng_one_in(r, 8)) p->low[1] = 1e-30, p->high[1] = 1e-25; /* quotients near infinity */
}

static void dequantize(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], from = RNG_OF(r, IG_U8, IG_I8, IG_I32);
    int rank = rng_one_in(r, 20) ? shapes_many(r, dims) : shapes_any(r, dims, 4);
    (void)pass;
    check_in(p, 0, from, rank, dims);
    check_out(p, 0, IG_F32, rank, dims);
    parameters(r, p, dims, rank, from);
    p->low[1] = 1, p->high[1] = 3;
}

static void dynamic_quantize(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], one = 1;
    int rank = rng_one_in(r, 20) ? shapes_many(r, dims) : shapes_any(r, dims, 4);
    (void)pass;
    check_in(p, 0, IG_F32, rank, dims);
    check_out(p, 0, IG_U8, rank, dims);
    check_out(p, 1, IG_F32, 0, &one);
    check_out(p, 2, IG_U8, 0, &one);
    p->low[0] = rng_int(r, -90, 1), p->high[0] = rng_int(r, 1, 90);
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "%d..%d, rank %d of %d,..", (int)p->low[0], (int)p->high[0], rank, dims[0]);
}

/* Image, weights (input `weights`) and output of a convolution; channels of the output. */
static int32_t convolution(struct rng *r, struct check_problem *p, int weights, int32_t to)
{
    struct ig_conv *a = &p->attrs.conv;
    int32_t rank = RNG_OF(r, 1, 2, 2, 2, 3), in[3], out[3];
    a->groups = rng_one_in(r, 3) ? 2 : 1;
    int32_t ic = a->groups * RNG_OF(r, 1, 2, 3, 8), oc = a->groups * RNG_OF(r, 1, 2, 5, 8);
    windows_make(r, &a->w, rank, in, out);
    int32_t dims[5] = {oc, ic / a->groups}, k[3] = {a->w.kd, a->w.kh, a->w.kw};
    memcpy(dims + 2, k + 3 - rank, (size_t)rank * sizeof *k);
    windows_image(p, 0, rank, in, ic, 0);
    windows_image(p, 0, rank, out, oc, 1);
    p->in[0].type = byte_type(r);
    p->out[0].type = to;
    check_in(p, weights, byte_type(r), rank + 2, dims);
    windows_text(p, &a->w, in, ic, oc);
    p->dense = ~1u;
    return oc;
}

static void conv_integer(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t one = 1, oc = convolution(r, p, 1, IG_I32);
    (void)pass;
    if (!rng_one_in(r, 3)) check_in(p, 2, p->in[0].type, 0, &one);
    if (!rng_one_in(r, 3)) check_in(p, 3, p->in[1].type, 1, rng_one_in(r, 2) ? &one : &oc);
}

static void qlinear_conv(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t one = 1, to = byte_type(r), oc = convolution(r, p, 3, to), n = rng_one_in(r, 2) ? oc : 1;
    (void)pass;
    check_in(p, 1, IG_F32, 0, &one);
    check_in(p, 2, p->in[0].type, 0, &one);
    check_in(p, 4, IG_F32, 1, &n);
    check_in(p, 5, p->in[3].type, 1, &n);
    check_in(p, 6, IG_F32, 0, &one);
    check_in(p, 7, to, 0, &one);
    if (!rng_one_in(r, 3)) check_in(p, 8, IG_I32, 1, &oc);
    p->low[1] = p->low[4] = 1, p->high[1] = p->high[4] = 2, p->low[6] = 2, p->high[6] = 9;
    int32_t lo = rng_int(r, to == IG_I8 ? -128 : 0, 60);
    if (rng_one_in(r, 3)) p->attrs.conv.act = (struct ig_act){IG_CLIP, (float)lo, (float)(lo + rng_int(r, 0, 60))};
}

static void rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    (void)in;
    windows_rows(p, &p->attrs.conv.w, y0, y1, a, b);
}

int main(int argc, char **argv)
{
    static const struct check_body bodies[] = {{IG_QUANTIZE, 40, 100, quantize, NULL},
                                               {IG_DEQUANTIZE, 40, 100, dequantize, NULL},
                                               {IG_DYNAMIC_QUANTIZE, 20, 60, dynamic_quantize, NULL},
                                               {IG_CONV_INTEGER, 24, 100, conv_integer, rows},
                                               {IG_QLINEAR_CONV, 24, 100, qlinear_conv, rows}};
    return check_main_of(bodies, (int)(sizeof bodies / sizeof *bodies), argc, argv);
}
