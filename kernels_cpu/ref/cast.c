/*
 * Conversion between any two types. Real to integer truncates toward zero (NaN gives 0), integers wrap to the
 * width of their new type, and everything that is not zero is true.
 */
#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

int cast_any_1x1__supports(const struct ig_call *call)
{
    return ig_type_bytes(call->in[0].shape->type) > 0 && ig_type_bytes(call->out[0].shape->type) > 0;
}

static int64_t truncated(float v)
{
    if (v != v) return 0;
    if (v >= 0x1p63f) return INT64_MAX;
    return v < -0x1p63f ? INT64_MIN : (int64_t)v;
}

static void put_real(void *dst, int32_t type, int64_t i, float v)
{
    if (type == IG_F32) ((float *)dst)[i] = v;
    else if (type == IG_F16) ((uint16_t *)dst)[i] = ig_float_to_half(v);
    else if (type == IG_BOOL) ((uint8_t *)dst)[i] = v != 0;
    else ig_put_int(dst, type, i, truncated(v));
}

static void element(void *dst, int32_t to, int64_t i, const void *src, int32_t from, int64_t j)
{
    if (from == IG_F32) put_real(dst, to, i, ((const float *)src)[j]);
    else if (from == IG_F16) put_real(dst, to, i, ig_half_to_float(((const uint16_t *)src)[j]));
    else if (to == IG_F16) put_real(dst, to, i, (float)ig_get_int(src, from, j));
    else ig_put_int(dst, to, i, ig_get_int(src, from, j));
}

void cast_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t from = in->shape->type, to = out->shape->type;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++)
                element(ig_row(out, y, ig_type_bytes(to)), to, x * out->pixel_stride + c,
                        ig_row(in, y, ig_type_bytes(from)), from, x * in->pixel_stride + c);
}
