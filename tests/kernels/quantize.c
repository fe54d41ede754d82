/* Random quantisations, there and back and dynamic; convolutions, sums, products and affine functions of quantised operands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/shapes.h"
#include "tests/support/windows.h"

static int32_t byte_type(struct rng *r)
{
    return RNG_OF(r, IG_U8, IG_I8);
}

/* Input k is of numbers from low to high; of integers 0 alone too, which check.h has another meaning for. */
static void between(struct check_problem *p, int k, double low, double high)
{
    p->low[k] = low - 0.25, p->high[k] = high + 0.25;
}

/* Input k, where it is of bytes, has all that there are. */
static void any_byte(struct check_problem *p, int k)
{
    int32_t least = p->in[k].type == IG_I8 ? -128 : 0;
    if (p->in[k].type == IG_I8 || p->in[k].type == IG_U8) between(p, k, least, least + 255);
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
    p->low[1] = 1, p->high[1] = 4; /* of integers many a quotient lies between two */
    if (pass == CHECK_INTEGERS && rng_one_in(r, 2)) { /* ... which a factor's rounding would miss: 91 * (1.0f / 14) > 6.5 */
        between(p, 1, 14, 14);
        p->low[0] = -2000, p->high[0] = 2000;
    }
    if (rng_one_in(r, 2)) any_byte(p, 2);
    p->specials = rng_one_in(r, 3);
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
    any_byte(p, 0), any_byte(p, 2);
    p->specials = rng_one_in(r, 3);
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
    p->specials = RNG_OF(r, 0, 0, 1, CHECK_NO_NUMBERS);
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "%d..%d, rank %d of %d,..", (int)p->low[0], (int)p->high[0], rank, dims[0]);
}

/* Many groups of few channels, whose kernels take several at a time, or part of one. */
static void many_groups(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc)
{
    const int32_t c = RNG_OF(r, 1, 2, 3, 4, 4, 8, 8, 16, 24, 40);
    a->groups = rng_int(r, 2, c > 8 ? 3 : c > 4 ? 6 : 18);
    *ic = a->groups * c, *oc = a->groups * (c < 3 ? 2 * c : c == 3 ? 4 : rng_one_in(r, 4) ? RNG_OF(r, 4, 8, 16, 24) : c);
}

/* Channels and groups by the kind of layer. */
static void layer(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc)
{
    int32_t kind = rng_int(r, 0, 6);
    a->groups = kind == 0 ? RNG_OF(r, 2, 3, 8) : 1;
    *ic = a->groups * RNG_OF(r, 1, 2, 3, 4, 8, 16, 20), *oc = a->groups * RNG_OF(r, 1, 2, 5, 8, 16);
    if (kind == 1) a->groups = *ic = *oc = RNG_OF(r, 1, 3, 4, 8, 16, 32, 70, 130);
    if (kind == 2) a->groups = *ic = RNG_OF(r, 2, 4, 10), *oc = *ic * rng_int(r, 1, 3);
    if (kind == 3) many_groups(r, a, ic, oc);
    if (kind >= 5) *ic = RNG_OF(r, 3, 16, 32, 64, 70, 130), *oc = RNG_OF(r, 16, 32, 70, 130);
}

/* One pixel, of as many channels as a fully connected layer has. */
static void one_pixel(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    a->groups = 1;
    a->w = (struct ig_window){1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    *ic = RNG_OF(r, 64, 100, 333, 512, 1040), *oc = RNG_OF(r, 3, 10, 70, 130);
    for (int i = 0; i < 3; i++) in[i] = out[i] = 1;
    if (rng_one_in(r, 2)) return;
    in[1] = a->w.kh = RNG_OF(r, 2, 3, 7), in[2] = a->w.kw = RNG_OF(r, 1, 2, 7); /* of an image that the window covers */
    *ic = RNG_OF(r, 4, 16, 20, 37, 64);
}

/* A window of one pixel. */
static void pointwise(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out)
{
    int32_t stride = rng_one_in(r, 4) ? 2 : 1;
    *w = (struct ig_window){1, 1, 1, 1, stride, stride, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    in[0] = out[0] = 1;
    for (int i = 1; i < 3; i++) {
        in[i] = rng_int(r, 1, 15);
        out[i] = (in[i] - 1) / stride + 1;
    }
}

/* A window of 3x3, of the same stride and about the same padding on every side. */
static void three_by_three(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out)
{
    int32_t stride = rng_int(r, 1, 2), before = rng_int(r, 0, 1), after = rng_int(r, 0, 1);
    *w = (struct ig_window){1, 3, 3, 1, stride, stride, 1, 1, 1, 0, before, before, 0, after, after, 1, 1};
    in[0] = out[0] = 1;
    for (int i = 1; i < 3; i++) {
        in[i] = rng_int(r, 3, 15);
        out[i] = (in[i] + before + after - 3) / stride + 1;
    }
}

/* 3x3 of stride 1, as Winograd's kernels take: of so many channels that sums are made of several, of so many tiles that there are several blocks. */
static void by_tiles(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    const int32_t many = rng_one_in(r, 3), top = rng_int(r, 0, 2), left = rng_int(r, 0, 2), bottom = rng_int(r, 0, 2), right = rng_int(r, 0, 2);
    a->w = (struct ig_window){1, 3, 3, 1, 1, 1, 1, 1, 1, 0, top, left, 0, bottom, right, 1, 1};
    a->groups = 1;
    *ic = many ? RNG_OF(r, 129, 200, 256, 300) : RNG_OF(r, 1, 3, 8, 15, 16, 17, 24, 40, 64, 127, 128), *oc = many ? rng_int(r, 1, 4) : rng_int(r, 1, 40);
    in[0] = out[0] = 1;
    in[1] = rng_int(r, 3, 22), in[2] = rng_int(r, 3, 22);
    out[1] = in[1] + top + bottom - 2, out[2] = in[2] + left + right - 2;
}

/* Depthwise, 3x3 or 5x5, of rows that are cut; of 8 channels, too, of which several pixels fit a vector. */
static void long_rows(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    const int32_t k = RNG_OF(r, 3, 3, 3, 5), stride = RNG_OF(r, 1, 1, 2), pad = k / 2;
    a->w = (struct ig_window){1, k, k, 1, stride, stride, 1, 1, 1, 0, pad, pad, 0, pad, pad, 1, 1};
    a->groups = *ic = *oc = RNG_OF(r, 8, 8, 8, 16, 70);
    in[0] = out[0] = 1;
    in[1] = rng_int(r, 1, 9), in[2] = rng_int(r, 1, 70);
    for (int i = 1; i < 3; i++) out[i] = (in[i] - 1) / stride + 1;
}

/* A window whose rows are far from each other, of whole words: many are padding. */
static void far_rows(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    const int32_t apart = rng_int(r, 2, 9);
    a->w = (struct ig_window){1, 3, 3, 1, 1, 1, 1, apart, apart, 0, apart, apart, 0, apart, apart, 1, 1};
    a->groups = 1;
    *ic = RNG_OF(r, 16, 32, 64), *oc = RNG_OF(r, 5, 16, 32, 70);
    in[0] = out[0] = 1;
    for (int i = 1; i < 3; i++) in[i] = out[i] = rng_int(r, 2, 14);
}

/* Fewer channels where the reference would take long. */
static void limit(const struct ig_conv *a, int32_t pixels, int32_t *ic, int32_t *oc)
{
    const double most = 4e6;
    int32_t taps = a->w.kd * a->w.kh * a->w.kw;
    if (a->groups > 1) return;
    while ((double)pixels * taps * *ic * *oc > most) {
        if (*ic > *oc) *ic = (*ic + 1) / 2;
        else *oc = (*oc + 1) / 2;
    }
}

/* Few input channels and rows of many pixels, as first layers have: vectors go along these. */
static void first(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    const int32_t kh = RNG_OF(r, 1, 2, 3, 3, 5, 7), kw = RNG_OF(r, 2, 3, 3, 4, 5, 7), sh = rng_int(r, 1, 3), sw = RNG_OF(r, 1, 1, 2, 2, 2, 3, 4, 8);
    const int32_t top = rng_int(r, 0, kh - 1), left = rng_int(r, 0, kw - 1), bottom = rng_int(r, 0, kh - 1), right = rng_int(r, 0, kw - 1);
    a->w = (struct ig_window){1, kh, kw, 1, sh, sw, 1, 1, 1, 0, top, left, 0, bottom, right, 1, 1};
    a->groups = 1;
    *ic = rng_int(r, 1, 4), *oc = RNG_OF(r, 1, 4, 8, 8, 10, 16, 16, 24, 32, 40);
    in[0] = out[0] = 1;
    in[1] = rng_int(r, kh, 24), in[2] = rng_int(r, 14, 40) * sw + kw;
    out[1] = (in[1] + top + bottom - kh) / sh + 1, out[2] = (in[2] + left + right - kw) / sw + 1;
}

/* Image, weights (input `weights`) and output of a convolution; channels of the output. */
static int32_t convolution(struct rng *r, struct check_problem *p, int weights, int32_t to)
{
    struct ig_conv *a = &p->attrs.conv;
    int32_t rank = RNG_OF(r, 1, 2, 2, 2, 2, 3), in[3], out[3], ic, oc;
    layer(r, a, &ic, &oc);
    windows_make(r, &a->w, rank, in, out);
    if (rank == 2 && a->groups == 1 && rng_one_in(r, 3)) pointwise(r, &a->w, in, out);
    if (rank == 2 && a->groups > 1 && a->groups < ic && rng_one_in(r, 2)) three_by_three(r, &a->w, in, out);
    if (rank == 2 && rng_one_in(r, 10)) one_pixel(r, a, &ic, &oc, in, out);
    if (rank == 2 && rng_one_in(r, 12)) long_rows(r, a, &ic, &oc, in, out);
    if (rank == 2 && rng_one_in(r, 6)) first(r, a, &ic, &oc, in, out);
    if (rank == 2 && rng_one_in(r, 6)) far_rows(r, a, &ic, &oc, in, out);
    if (rank == 2 && rng_one_in(r, 5)) by_tiles(r, a, &ic, &oc, in, out);
    limit(a, out[0] * out[1] * out[2], &ic, &oc);
    int32_t dims[5] = {oc, ic / a->groups}, k[3] = {a->w.kd, a->w.kh, a->w.kw};
    memcpy(dims + 2, k + 3 - rank, (size_t)rank * sizeof *k);
    windows_image(p, 0, rank, in, ic, 0);
    windows_image(p, 0, rank, out, oc, 1);
    p->in[0].type = byte_type(r);
    p->out[0].type = to;
    check_in(p, weights, byte_type(r), rank + 2, dims);
    windows_text(p, &a->w, in, ic, oc);
    size_t n = strlen(p->text);
    snprintf(p->text + n, sizeof p->text - n, " groups %d", a->groups);
    p->dense = ~1u;
    return oc;
}

/* Operands of a convolution, the least of their types or the next: all products are the largest. Returns a size that sums have. */
static double least_bytes(struct rng *r, struct check_problem *p, int w, int zw)
{
    int32_t x_least = p->in[0].type == IG_I8 ? -128 : 0, middle = p->in[w].type == IG_I8 ? 0 : 128;
    double terms = (double)ig_count(&p->in[w]) / p->in[w].dims[0];
    between(p, 0, x_least, x_least + rng_int(r, 0, 1));
    between(p, zw, middle, middle);
    between(p, w, middle - 128 + rng_int(r, 0, 1), middle - 127);
    return terms * 16000;
}

/*
 * Operands of a byte's whole range: inputs x and its zero point (zx), w and its zero point (zw), of which most differ by what
 * i8 holds. Returns a size that sums have.
 */
static double wide_bytes(struct rng *r, struct check_problem *p, int zx, int w, int zw)
{
    int32_t x_least = p->in[0].type == IG_I8 ? -128 : 0, middle = p->in[w].type == IG_I8 ? 0 : 128;
    double terms = (double)ig_count(&p->in[w]) / p->in[w].dims[0];
    int fits = !rng_one_in(r, 5), spread = p->in[w].type == IG_I8 && rng_one_in(r, 2) ? 0 : 6;
    between(p, zx, x_least, x_least + 255);
    if (rng_one_in(r, 6)) return least_bytes(r, p, w, zw);
    between(p, 0, x_least, x_least + 255);
    between(p, zw, middle - (fits ? spread : 128), middle + (fits ? spread : 127));
    between(p, w, middle - (fits ? 128 - spread : 128), middle + (fits ? 127 - spread : 127));
    if (rng_one_in(r, 2)) p->bell = 1u << w;
    if (p->bell && rng_one_in(r, 3)) between(p, 0, x_least + 254, x_least + 255); /* where sums of few products are the largest */
    return sqrt(terms) * 6000;
}

/* Which inputs are known when a plan is made: mostly all but the image. */
static uint32_t constants(struct rng *r, const struct check_problem *p)
{
    uint32_t all = p->has_in & ~1u;
    return rng_one_in(r, 5) ? 0 : rng_one_in(r, 12) ? all & (uint32_t)rng_next(r) : all;
}

static void conv_integer(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t one = 1, oc = convolution(r, p, 1, IG_I32);
    if (!rng_one_in(r, 3)) check_in(p, 2, p->in[0].type, 0, &one);
    if (!rng_one_in(r, 3)) check_in(p, 3, p->in[1].type, 1, rng_one_in(r, 2) ? &one : &oc);
    double size = rng_one_in(r, 3) ? 100 : wide_bytes(r, p, 2, 1, 3);
    const int floats = rng_one_in(r, 2);
    if (floats) windows_scales(r, pass, p, oc, size, &p->attrs.conv.act);
    p->constant = constants(r, p);
    if (floats && !rng_one_in(r, 4)) p->constant &= ~0x14u; /* the input's parameters are found when the network runs */
}

static void extremes(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], pairs[2] = {rng_int(r, 1, 70), 2};
    int rank = rng_one_in(r, 4) ? shapes_many(r, dims) : shapes_any(r, dims, 4);
    (void)pass;
    check_in(p, 0, IG_F32, rank, dims);
    check_out(p, 0, IG_F32, 2, pairs);
    p->dense = 1;
    p->low[0] = rng_int(r, -90, 1), p->high[0] = rng_int(r, 1, 90);
    p->specials = RNG_OF(r, 0, 0, 1, CHECK_NO_NUMBERS);
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "%d parts of rank %d, %d,..", pairs[0], rank, dims[0]);
}

static void qlinear_conv(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t one = 1, to = rng_one_in(r, 4) ? IG_F32 : byte_type(r), oc = convolution(r, p, 3, to), n = rng_one_in(r, 2) ? oc : 1;
    double size = 4;
    (void)pass;
    check_in(p, 1, IG_F32, 0, &one);
    check_in(p, 2, p->in[0].type, 0, &one);
    check_in(p, 4, IG_F32, 1, &n);
    check_in(p, 5, p->in[3].type, 1, &n);
    check_in(p, 6, IG_F32, 0, &one);
    check_in(p, 7, to, 0, &one);
    if (!rng_one_in(r, 3)) check_in(p, 8, IG_I32, 1, &oc);
    if (!rng_one_in(r, 3)) size = wide_bytes(r, p, 2, 3, 5), between(p, 8, -size, size);
    p->low[1] = p->low[4] = 1, p->high[1] = p->high[4] = 2, p->low[6] = 1 + size / 60, p->high[6] = 4 + size / 12;
    p->specials = to != IG_F32 && rng_one_in(r, 4);
    int32_t lo = rng_int(r, to == IG_I8 ? -128 : 0, 60);
    if (to != IG_F32 && rng_one_in(r, 3)) p->attrs.conv.act = (struct ig_act){IG_CLIP, (float)lo, (float)(lo + rng_int(r, 0, 60))};
    p->constant = constants(r, p);
}

/* Data of a shape, its scale and its zero: inputs k, k + 1, k + 2. */
static void qlinear_operand(struct rng *r, struct check_problem *p, int k, int rank, const int32_t *dims)
{
    int32_t one = 1, type = byte_type(r);
    check_in(p, k, type, rank, dims);
    check_in(p, k + 1, IG_F32, rng_one_in(r, 2), &one);
    check_in(p, k + 2, type, rng_one_in(r, 2), &one);
    p->low[k] = type == IG_I8 ? -128 : 0, p->high[k] = p->low[k] + 255;
    p->low[k + 2] = p->low[k], p->high[k + 2] = p->high[k];
    p->low[k + 1] = 1, p->high[k + 1] = 2;
}

static void qlinear_binary(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_binary_attr *a = &p->attrs.binary;
    int32_t dims[4], pixel[4], one = 1, to = byte_type(r), least = to == IG_I8 ? -128 : 0;
    int rank = rng_one_in(r, 20) ? shapes_many(r, dims) : shapes_any(r, dims, 4);
    const int scales = rank >= 3 && rng_one_in(r, 3); /* one pixel of each image */
    if (scales && rng_one_in(r, 2)) dims[rank - 1] = RNG_OF(r, 16, 24, 40, 64), dims[rank - 2] = rng_int(r, 1, 7);
    a->kind = RNG_OF(r, IG_ADD, IG_MUL);
    qlinear_operand(r, p, 0, rank, dims);
    if (scales) {
        for (int i = 1; i < rank - 1; i++) pixel[i] = 1;
        pixel[0] = dims[0], pixel[rank - 1] = dims[rank - 1];
        qlinear_operand(r, p, 3, rank, pixel);
    } else {
        qlinear_operand(r, p, 3, rank, dims);
    }
    check_in(p, 6, IG_F32, rng_one_in(r, 2), &one);
    check_in(p, 7, to, rng_one_in(r, 2), &one);
    check_out(p, 0, to, rank, dims);
    p->low[6] = a->kind == IG_ADD ? 1 : 40, p->high[6] = a->kind == IG_ADD ? 4 : 400;
    p->low[7] = least, p->high[7] = least + 255;
    if (pass == CHECK_REALS && rng_one_in(r, 8)) p->low[6] = 1e-30, p->high[6] = 1e-25; /* quotients near infinity */
    if (pass == CHECK_REALS && rng_one_in(r, 3)) { /* what is rounded lies in the middle between integers, or as near as can be */
        float scale = (float)rng_int(r, 1000, 2000) / 977;
        p->low[1] = p->high[1] = p->low[4] = p->high[4] = scale;
        p->low[6] = p->high[6] = a->kind == IG_ADD ? 2 * scale : 2 * scale * scale;
    }
    int32_t lo = rng_int(r, least, 60);
    if (rng_one_in(r, 3)) a->act = (struct ig_act){IG_CLIP, (float)lo, (float)(lo + rng_int(r, 0, 60))};
    p->dense = ~9u;
    snprintf(p->text, sizeof p->text, "%s of types %d and %d to %d, rank %d of %d,..", ig_binary_name(a->kind), p->in[0].type,
             p->in[3].type, to, rank, dims[0]);
}

/* Of input 3 that is a pixel of each image its own. */
static void binary_rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    int is_pixel = in == 3 && ig_count(&p->in[3]) != ig_count(&p->in[0]), rows = is_pixel && p->in[0].rank == 4 ? p->in[0].dims[1] : 1;
    *a = y0 / rows, *b = (y1 - 1) / rows + 1;
}

static void qlinear_affine(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], one = 1, from = byte_type(r), to = byte_type(r), least = to == IG_I8 ? -128 : 0;
    int rank = rng_one_in(r, 20) ? shapes_many(r, dims) : shapes_any(r, dims, 4);
    check_in(p, 0, from, rank, dims);
    check_in(p, 1, IG_F32, 1, &dims[rank - 1]);
    check_in(p, 2, IG_F32, 1, &dims[rank - 1]);
    check_in(p, 3, to, rng_one_in(r, 2), &one);
    check_out(p, 0, to, rank, dims);
    any_byte(p, 0);
    between(p, 3, least, least + 255);
    p->low[1] = -2, p->high[1] = 2, p->low[2] = -200, p->high[2] = 200;
    if (pass == CHECK_REALS && rng_one_in(r, 4)) between(p, 1, 0.5, 0.5); /* in the middle between integers */
    if (pass == CHECK_REALS && rng_one_in(r, 8)) p->low[1] = 1e25, p->high[1] = 1e30;
    p->specials = rng_one_in(r, 4);
    p->constant = rng_one_in(r, 4) ? 0 : 0xe;
    int32_t lo = rng_int(r, least, 60);
    if (rng_one_in(r, 3)) p->attrs.unary.act = (struct ig_act){IG_CLIP, (float)lo, (float)(lo + rng_int(r, 0, 60))};
    p->dense = ~1u;
    snprintf(p->text, sizeof p->text, "type %d to %d, rank %d of %d,..,%d", from, to, rank, dims[0], dims[rank - 1]);
}

static void lookup(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t dims[4], entries = 256, from = byte_type(r), to = byte_type(r);
    int rank = rng_one_in(r, 20) ? shapes_many(r, dims) : shapes_any(r, dims, 4);
    (void)pass;
    check_in(p, 0, from, rank, dims);
    check_in(p, 1, to, 1, &entries);
    check_out(p, 0, to, rank, dims);
    p->low[0] = from == IG_I8 ? -128 : 0, p->high[0] = p->low[0] + 255;
    p->low[1] = to == IG_I8 ? -128 : 0, p->high[1] = p->low[1] + 255;
    p->dense = ~1u;
    snprintf(p->text, sizeof p->text, "type %d to %d, rank %d of %d,..", from, to, rank, dims[0]);
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
                                               {IG_EXTREMES, 40, 100, extremes, NULL},
                                               {IG_CONV_INTEGER, 24, 400, conv_integer, rows},
                                               {IG_QLINEAR_CONV, 60, 600, qlinear_conv, rows},
                                               {IG_QLINEAR_BINARY, 60, 150, qlinear_binary, binary_rows},
                                               {IG_QLINEAR_AFFINE, 60, 150, qlinear_affine, NULL},
                                               {IG_LOOKUP, 60, 150, lookup, NULL}};
    return check_main_of(bodies, (int)(sizeof bodies / sizeof *bodies), argc, argv);
}
