/* Random resizes of channels-last images and volumes, and of tensors of any rank; nearest of bytes, too. */
#include <math.h>
#include <stdio.h>

#include "tests/support/check.h"

static void scale_dim(struct rng *r, struct ig_resize *a, int d, const int32_t *in, int32_t *out, int common)
{
    static const float scales[] = {0.5f, 2, 2, 3, 4, 1.5f, 0.75f, 0.4f, 2.6f};
    a->scale[d] = common ? (float)rng_int(r, 1, 4) : scales[rng_int(r, 0, 8)];
    out[d] = (int32_t)floorf(a->scale[d] * (float)in[d]);
    if (out[d] < 1) out[d] = 1, a->scale[d] = 1 / (float)in[d];
    a->roi_begin[d] = 0.1f;
    a->roi_end[d] = rng_one_in(r, 2) ? 0.8f : 1.2f;
}

/* Any combination of attributes; or one that networks have. */
static void attributes(struct rng *r, struct ig_resize *a, int common)
{
    a->mode = RNG_OF(r, IG_NEAREST, IG_LINEAR, IG_LINEAR, IG_CUBIC);
    a->coord = rng_int(r, IG_HALF_PIXEL, IG_TF_HALF_PIXEL_FOR_NN);
    a->nearest = rng_int(r, IG_ROUND_PREFER_FLOOR, IG_NEAREST_CEIL);
    a->exclude_outside = rng_one_in(r, 4);
    a->antialias = a->mode != IG_NEAREST && rng_one_in(r, 4);
    a->cubic_a = -0.75f;
    a->extrapolation = 10;
    if (!common) return;
    a->exclude_outside = a->antialias = 0;
    a->mode = RNG_OF(r, IG_NEAREST, IG_LINEAR);
    a->coord = RNG_OF(r, IG_HALF_PIXEL, IG_ASYMMETRIC);
    a->nearest = a->coord == IG_ASYMMETRIC ? IG_NEAREST_FLOOR : IG_ROUND_PREFER_FLOOR;
}

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_resize *a = &p->attrs.resize;
    int image = !rng_one_in(r, 4), volume = image && rng_one_in(r, 4), common = image && rng_one_in(r, 2);
    int rank = volume ? 5 : image ? 4 : rng_int(r, 1, 5);
    int32_t in[5], out[5], type = IG_F32;
    (void)pass;
    attributes(r, a, common);
    if (a->mode == IG_NEAREST && rng_one_in(r, 4)) type = RNG_OF(r, IG_U8, IG_I8);
    for (int d = 0; d < rank; d++) {
        in[d] = out[d] = rng_int(r, 1, 9);
        a->scale[d] = 1;
    }
    if (image) in[0] = out[0] = 1, in[rank - 1] = out[rank - 1] = RNG_OF(r, 1, 3, 8, 17, 32, 72);
    for (int d = image; d < rank; d++)
        if (!image || d < rank - 1) scale_dim(r, a, d, in, out, common);
    check_in(p, 0, type, rank, in);
    check_out(p, 0, type, rank, out);
    p->exact = a->mode == IG_NEAREST;
    p->abs = 1024;
    snprintf(p->text, sizeof p->text, "rank %d, mode %d, coord %d, nearest %d, antialias %d, outside %d",
             rank, a->mode, a->coord, a->nearest, a->antialias, a->exclude_outside);
}

/*
 * Generous: taps reach two input pixels, or two output pixels if anti-aliased, and coordinates differ by a
 * pixel.
 */
static void rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    const struct ig_resize *attr = &p->attrs.resize;
    double scale = attr->scale[1], reach = 4 + (attr->antialias ? 2 / scale : 0);
    (void)in;
    *a = (int32_t)floor(y0 / scale - reach);
    *b = (int32_t)ceil(y1 / scale + reach);
    if (attr->coord == IG_TF_CROP_AND_RESIZE || p->in[0].rank != 4) *a = 0, *b = INT32_MAX; /* others' rows are not of one dim */
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_RESIZE, 60, 300, make, rows};
    return check_main(&body, argc, argv);
}
