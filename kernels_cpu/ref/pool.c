/*
 * Pooling: maximum (with the index of the first maximum), average, (sum |x|^p)^(1/p). Padding never takes
 * part, but in an average that counts it: then the window within the explicit padding divides.
 * An average of n bytes, each step rounded to a float: v = ((sum x - x_zero) (x_scale / y_scale)) / n, then
 * y = saturate(round half to even(v) + y_zero).
 */
#include <math.h>

#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/quantized.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/window.h"

struct pooled {
    double sum, max;
    int64_t at;      /* index of the maximum in one channel */
    int32_t n;       /* elements taken */
    int32_t counted; /* elements and explicit padding */
};

static int is_average_of_bytes(const struct ig_call *call)
{
    const struct ig_pool *a = call->attrs;
    const int64_t most = INT32_MAX / 255; /* taps whose sum fits */
    for (int k = 1; k < 5; k++)
        if (call->n_in != 5 || !call->in[k].shape || ig_count(call->in[k].shape) != 1) return 0;
    return a->kind == IG_POOL_AVERAGE && ig_is_byte(&call->in[0]) && ig_is_byte(&call->out[0]) && ig_is_byte(&call->in[4]) &&
           call->in[2].shape->type == call->in[0].shape->type && (int64_t)a->w.kd * a->w.kh * a->w.kw < most;
}

int pool_any_1x1__supports(const struct ig_call *call)
{
    const struct ig_pool *a = call->attrs;
    if (call->n_in > 1) return is_average_of_bytes(call);
    return ig_ref_is_float(call) || (ig_ref_is_number(call) && a->kind == IG_POOL_MAX);
}

static void take(struct pooled *r, const struct ig_pool *a, double v, int64_t at)
{
    if (!r->n || v > r->max) r->max = v, r->at = at;
    r->sum += a->kind == IG_POOL_LP ? pow(fabs(v), a->p) : v;
    r->n++;
}

static struct pooled pool(const struct ig_call *call, int32_t y, int32_t x, int32_t c)
{
    const struct ig_pool *a = call->attrs;
    const struct ig_window *w = &a->w;
    const struct ig_operand *in = &call->in[0];
    int32_t type = in->shape->type, in_d = w->in_d, in_h = in->h / in_d, in_w = in->w;
    int32_t out_h = call->out[0].h / w->out_d;
    struct pooled r = {0};
    for (int32_t k = 0; k < ig_taps(w); k++) {
        int32_t iz = ig_tap(y / out_h, w->sd, w->front, k / (w->kh * w->kw), w->dd);
        int32_t iy = ig_tap(y % out_h, w->sh, w->top, k / w->kw % w->kh, w->dh);
        int32_t ix = ig_tap(x, w->sw, w->left, k % w->kw, w->dw);
        if (iz < in_d + w->back - a->ceil_d && iy < in_h + w->bottom - a->ceil_h &&
            ix < in_w + w->right - a->ceil_w)
            r.counted++;
        if (!ig_inside(iz, in_d) || !ig_inside(iy, in_h) || !ig_inside(ix, in_w)) continue;
        int64_t at = a->column_major ? iz + (int64_t)in_d * (iy + (int64_t)in_h * ix)
                                     : ix + (int64_t)in_w * (iy + (int64_t)in_h * iz);
        take(&r, a,
             ig_get_real(ig_row(in, iz * in_h + iy, ig_type_bytes(type)), type, ix * in->pixel_stride + c),
             at);
    }
    return r;
}

static double lowest(int32_t type)
{
    if (ig_is_float(type)) return -INFINITY;
    return type == IG_U8 || type == IG_BOOL ? 0 : -(double)(UINT64_C(1) << (8 * ig_type_bytes(type) - 1));
}

static double value(const struct ig_pool *a, const struct pooled *r, int32_t type)
{
    if (a->kind == IG_POOL_MAX) return r->n ? r->max : lowest(type);
    if (a->kind == IG_POOL_LP) return pow(r->sum, 1.0 / a->p);
    int32_t n = a->count_include_pad ? r->counted : r->n;
    return n ? r->sum / n : 0;
}

static int64_t average_of_bytes(const struct ig_call *call, const struct pooled *r)
{
    const struct ig_pool *a = call->attrs;
    int32_t n = a->count_include_pad ? r->counted : r->n;
    float scale = ig_scale(call, 1, 0) / ig_scale(call, 3, 0), v = (float)(r->sum - r->n * ig_parameter(call, 2, 0)) * scale;
    return ig_saturated(rint(n ? v / (float)n : 0) + ig_parameter(call, 4, 0), call->out[0].shape->type);
}

void pool_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_pool *a = call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0], *index = &call->out[1];
    int32_t type = out->shape->type;
    int64_t plane = (int64_t)in->h * in->w;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++) {
                struct pooled r = pool(call, y, x, c);
                void *row = ig_row(out, y, ig_type_bytes(type));
                if (call->n_in > 1) ig_put_int(row, type, x * out->pixel_stride + c, average_of_bytes(call, &r));
                else ig_put_real(row, type, x * out->pixel_stride + c, value(a, &r, type));
                if (call->n_out > 1 && index->shape)
                    ((int64_t *)ig_row(index, y, 8))[x * index->pixel_stride + c] =
                        ((int64_t)call->image * in->c + c) * plane + r.at;
            }
}
