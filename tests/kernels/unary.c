/* Random element-wise functions: every kind on f32 within its domain, the integer kinds on integers. */
#include <stdio.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"

struct domain {
    int32_t kind;
    float alpha, beta;
    double low, high;
};

/* Exact on small integers. */
static const struct domain exact[] = {{IG_NONE, 0, 0, -9, 9},
                                      {IG_RELU, 0, 0, -9, 9},
                                      {IG_CLIP, -2, 6, -9, 9},
                                      {IG_LEAKY_RELU, 0.25f, 0, -9, 9},
                                      {IG_ABS, 0, 0, -9, 9},
                                      {IG_NEG, 0, 0, -9, 9},
                                      {IG_CEIL, 0, 0, -9, 9},
                                      {IG_FLOOR, 0, 0, -9, 9},
                                      {IG_ROUND, 0, 0, -9, 9},
                                      {IG_SIGN, 0, 0, -9, 9},
                                      {IG_AFFINE, 2, -1, -9, 9},
                                      {IG_SHRINK, 2, 1, -9, 9},
                                      {IG_THRESHOLDED_RELU, 2, 0, -9, 9},
                                      {IG_GELU, 0, 0, -9, 9}, /* which are not exact, and some kernels' only ones */
                                      {IG_SIN, 0, 0, -9, 9},
                                      {IG_COS, 0, 0, -9, 9}};

static const struct domain integral[] = {
    {IG_NONE, 0, 0, -9, 9}, {IG_RELU, 0, 0, -9, 9}, {IG_CLIP, -2, 6, -9, 9}, {IG_ABS, 0, 0, -9, 9},
    {IG_NEG, 0, 0, -9, 9},  {IG_SIGN, 0, 0, -9, 9}, {IG_BITWISE_NOT, 0, 0, -9, 9}};

static const struct domain real[] = {
    {IG_NONE, 0, 0, -9, 9},        {IG_RELU, 0, 0, -9, 9},       {IG_CLIP, -2, 6, -9, 9},
    {IG_LEAKY_RELU, 0.1f, 0, -9, 9}, {IG_SIGMOID, 0, 0, -9, 9},  {IG_SIGMOID, 0, 0, -120, 120},
    {IG_TANH, 0, 0, -3, 3},        {IG_TANH, 0, 0, -60, 60},     {IG_HARD_SIGMOID, 0.2f, 0.5f, -9, 9},
    {IG_HARD_SWISH, 0, 0, -9, 9},  {IG_SWISH, 1, 0, -60, 60},    {IG_SWISH, 1.7f, 0, -6, 6},
    {IG_ELU, 1, 0, -60, 9},        {IG_MISH, 0, 0, -60, 60},     {IG_SOFTPLUS, 0, 0, -60, 60},
    {IG_SELU, 1.67f, 1.05f, -60, 9}, {IG_CELU, 2, 0, -60, 9},    {IG_CELU, -2, 0, -9, 9},
    {IG_GELU, 0, 0, -6, 6},        {IG_GELU, 0, 0, -60, 60},     {IG_GELU, 0, 0, -1e30, 1e30},
    {IG_GELU_TANH, 0, 0, -6, 6},   {IG_GELU_TANH, 0, 0, -60, 60}, {IG_GELU_TANH, 0, 0, -1e30, 1e30},
    {IG_SOFTSIGN, 0, 0, -9, 9},    {IG_THRESHOLDED_RELU, 1, 0, -9, 9},
    {IG_SHRINK, 1, 0.5f, -9, 9},   {IG_AFFINE, 1.3f, 0.7f, -9, 9}, {IG_ABS, 0, 0, -9, 9},
    {IG_NEG, 0, 0, -9, 9},         {IG_CEIL, 0, 0, -9, 9},       {IG_FLOOR, 0, 0, -9, 9},
    {IG_ROUND, 0, 0, -9, 9},       {IG_SIGN, 0, 0, -9, 9},       {IG_RECIPROCAL, 0, 0, 0.1, 9},
    {IG_SQRT, 0, 0, 0, 9},         {IG_EXP, 0, 0, -80, 80},      {IG_LOG, 0, 0, 1e-4, 1000},
    {IG_ERF, 0, 0, -4, 4},         {IG_ERF, 0, 0, -60, 60},      {IG_ATAN, 0, 0, -1e6, 1e6},
    {IG_SIN, 0, 0, -9, 9},         {IG_COS, 0, 0, -9, 9},       {IG_SIN, 0, 0, -1e7, 1e7},     {IG_COS, 0, 0, -1e7, 1e7},
    {IG_SIN, 0, 0, -6e4, 6e4},     {IG_COS, 0, 0, -6e4, 6e4},
    {IG_TAN, 0, 0, -1.4, 1.4},     {IG_ASIN, 0, 0, -1, 1},       {IG_ACOS, 0, 0, -1, 1},
    {IG_ATAN, 0, 0, -9, 9},        {IG_SINH, 0, 0, -9, 9},       {IG_COSH, 0, 0, -9, 9},
    {IG_ASINH, 0, 0, -9, 9},       {IG_ACOSH, 0, 0, 1, 9},       {IG_ATANH, 0, 0, -0.9, 0.9},
    {IG_ISINF, 1, 1, -9, 9},       {IG_ISNAN, 0, 0, -9, 9}};

#define ONE_OF(r, table) (table)[rng_int(r, 0, (int32_t)(sizeof(table) / sizeof *(table)) - 1)]

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], in_type = IG_F32, out_type = IG_F32;
    int rank = shapes_make(r, dims);
    struct domain d = pass == CHECK_REALS ? ONE_OF(r, real) : ONE_OF(r, exact);
    if (rng_one_in(r, 8)) {
        d = ONE_OF(r, integral);
        in_type = out_type = RNG_OF(r, IG_I32, IG_I64, IG_I8);
    }
    if (rng_one_in(r, 16)) {
        d = (struct domain){IG_NOT, 0, 0, 0, 1};
        in_type = out_type = IG_BOOL;
    }
    if (d.kind == IG_ISINF || d.kind == IG_ISNAN) out_type = IG_BOOL;
    p->attrs.unary.act = (struct ig_act){d.kind, d.alpha, d.beta};
    p->low[0] = d.low;
    p->high[0] = d.high;
    check_in(p, 0, in_type, rank, dims);
    check_out(p, 0, out_type, rank, dims);
    p->specials = rng_one_in(r, 3);
    p->exact = pass == CHECK_INTEGERS && d.kind != IG_GELU && d.kind != IG_SIN && d.kind != IG_COS;
    p->rel = p->abs = 16;
    snprintf(p->text, sizeof p->text, "%s, rank %d, last %d", ig_unary_name(d.kind), rank, dims[rank - 1]);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_UNARY, 80, 400, make, NULL};
    return check_main(&body, argc, argv);
}
