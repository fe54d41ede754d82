/* Filters and parameters of quantised numbers, for packed weights of all kinds: bytes.h. */
#include "kernels_cpu/pack/bytes.h"

#include <string.h>

#include "kernels_cpu/pack/pack.h"

/* Weights are a product's matrix [k, oc]. */
static int is_product(const struct ig_call *call)
{
    return ig_bytes_are_sums(call) && call->in[IG_Q_WEIGHTS].shape->rank == 2;
}

struct ig_filter ig_filter_of(const struct ig_call *call, int32_t oc, int32_t merged)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_operand *w = &call->in[IG_Q_WEIGHTS];
    struct ig_filter f = {.type = w->shape->type, .zero = (int32_t)ig_parameter(call, IG_Q_W_ZERO, oc),
                          .apart = is_product(call) ? call->out[0].c : 1, .ic = call->in[0].c / conv->groups, .taps = conv->w.kh * conv->w.kw};
    f.k = (int64_t)f.ic * f.taps;
    f.w = (const char *)w->data + oc * (is_product(call) ? 1 : f.k);
    f.first = oc / (call->out[0].c / conv->groups) % merged * f.ic;
    f.all = f.ic * merged;
    return f;
}

int32_t ig_flip_of(const struct ig_call *call, int32_t flips)
{
    return (call->in[0].shape->type == IG_I8) == (flips == IG_BYTES_TO_UNSIGNED) ? 128 : 0;
}

int32_t ig_flipped_zero(const struct ig_call *call, int32_t flips)
{
    int32_t shift = ig_flip_of(call, flips) ? (flips == IG_BYTES_TO_UNSIGNED ? 128 : -128) : 0;
    return (int32_t)ig_parameter(call, IG_Q_X_ZERO, 0) + shift;
}

static int parameters_are_known(const struct ig_call *call)
{
    for (int k = IG_Q_X_SCALE; k <= IG_Q_Y_ZERO; k++)
        if (!ig_has(call, k) || !call->in[k].data) return 0;
    return !ig_has(call, IG_Q_BIAS) || call->in[IG_Q_BIAS].data;
}

int ig_is_flat_qlinear(const struct ig_call *call)
{
    return qlinear_conv_any_1x1__supports(call) && parameters_are_known(call) && ig_is_flat(&((const struct ig_conv *)call->attrs)->w);
}

int ig_is_by_channel(const struct ig_call *call)
{
    int32_t groups = ((const struct ig_conv *)call->attrs)->groups;
    return groups > 1 && groups == call->in[0].c && groups == call->out[0].c;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Of a filter's weights, less their zero point. */
static int64_t magnitudes(const struct ig_filter *f)
{
    int64_t sum = 0;
    if (f->type == IG_I8)
        for (int64_t i = 0; i < f->k; i++) sum += magnitude(((const int8_t *)f->w)[i] - f->zero);
    else
        for (int64_t i = 0; i < f->k; i++) sum += magnitude(((const uint8_t *)f->w)[i] - f->zero);
    return sum;
}

/* The largest that a weight, less the zero point, may be. */
static int64_t largest(const struct ig_filter *f)
{
    const int64_t low = f->type == IG_I8 ? -128 : 0, below = f->zero - low, above = low + 255 - f->zero;
    return below > above ? below : above;
}

int ig_sums_fit(const struct ig_call *call)
{
    const int64_t inputs = 2 * 255; /* as large as one is, and once more in the correction by its zero point */
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const struct ig_filter f = ig_filter_of(call, oc, 1);
        const int64_t bias = magnitude((int64_t)ig_parameter(call, IG_Q_BIAS, oc));
        if (bias + f.k * inputs * largest(&f) >= INT32_MAX && bias + magnitudes(&f) * inputs >= INT32_MAX) return 0;
    }
    return 1;
}

int ig_fits_bytes(const struct ig_filter *f, int64_t *least)
{
    *least = 0;
    for (int64_t i = 0; i < f->k; i++) {
        int32_t v = ig_raw_weight(f, i) - f->zero;
        if (v < -128 || v > 127) return 0;
        *least += v == -128;
    }
    return 1;
}

int ig_pairs_fit(const struct ig_filter *f, int32_t apart)
{
    for (int64_t k = 0; k + apart < (int64_t)f->all * f->taps; k++)
        if (k % (2 * apart) < apart && ig_weight_at(f, k) == -128 && ig_weight_at(f, k + apart) == -128) return 0;
    return 1;
}

int ig_weights_fit(const struct ig_call *call, int32_t merged, int32_t apart)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        struct ig_filter f = ig_filter_of(call, oc, merged);
        int64_t least;
        if (!apart && f.zero == (f.type == IG_I8 ? 0 : 128)) continue;
        if (!ig_fits_bytes(&f, &least) || (apart && least > 1 && !ig_pairs_fit(&f, apart))) return 0;
    }
    return 1;
}

struct ig_call ig_as_qlinear(const struct ig_call *call)
{
    struct ig_call q = *call;
    memset(q.in, 0, sizeof q.in);
    q.n_in = IG_Q_BIAS + 1;
    q.in[0] = call->in[0];
    q.in[IG_Q_WEIGHTS] = call->in[1];
    if (ig_has(call, 2) && call->in[2].data) q.in[IG_Q_X_ZERO] = call->in[2];
    if (ig_has(call, 3)) q.in[IG_Q_W_ZERO] = call->in[3];
    return q;
}

int ig_scales_are_known(const struct ig_call *call)
{
    return (!ig_has(call, IG_W_SCALE) || call->in[IG_W_SCALE].data) && (!ig_has(call, IG_SUM_BIAS) || call->in[IG_SUM_BIAS].data);
}

int ig_is_flat_integer(const struct ig_call *call)
{
    return conv_integer_any_1x1__supports(call) && call->in[1].data && (!ig_has(call, 3) || call->in[3].data) && ig_scales_are_known(call) &&
           ig_is_flat(&((const struct ig_conv *)call->attrs)->w);
}

float ig_scale_of(const struct ig_call *call, int32_t oc)
{
    return ig_scale(call, IG_Q_X_SCALE, 0) * ig_scale(call, IG_Q_W_SCALE, oc) / ig_scale(call, IG_Q_Y_SCALE, 0);
}

/* Sums are less than 2^31; a scale that is no number is none that fits. */
static int products_fit(const struct ig_call *call)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++)
        if (!(fabsf(ig_scale_of(call, oc)) < 0.5f)) return 0;
    return 1;
}

struct ig_bytes_head ig_head_of(const struct ig_call *call, int32_t flip)
{
    struct ig_bytes_head h = {.x_zero = (int32_t)ig_parameter(call, IG_Q_X_ZERO, 0), .is_signed = call->in[0].shape->type == IG_I8,
                              .flip = flip, .y_zero = (int32_t)ig_parameter(call, IG_Q_Y_ZERO, 0),
                              .is_signed_out = call->out[0].shape->type == IG_I8, .narrows = products_fit(call)};
    ig_quantized_bounds(&((const struct ig_conv *)call->attrs)->act, call->out[0].shape->type, &h.low, &h.high);
    h.plain = h.low == 0 && h.high == 255;
    h.shift = flip ? (h.is_signed ? 128 : -128) : 0;
    return h;
}

int32_t ig_bias_of(const struct ig_call *call, int32_t oc, int32_t zero)
{
    struct ig_filter f = ig_filter_of(call, oc, 1);
    int64_t sum = 0;
    for (int64_t i = 0; zero && i < f.k; i++) sum += ig_raw_weight(&f, i) - f.zero;
    return (int32_t)((int64_t)ig_parameter(call, IG_Q_BIAS, oc) - zero * sum);
}

void ig_put_ends(const struct ig_call *call, int32_t oc, int32_t zero, int is_left_out, int32_t *first, int32_t *second)
{
    const float scale = ig_scale_of(call, oc);
    if (ig_bytes_are_sums(call)) {
        *second = is_left_out ? ig_bias_of(call, oc, -1) : 0;
        return;
    }
    *first = ig_bias_of(call, oc, zero);
    memcpy(second, &scale, sizeof scale);
}

void ig_put_word(int32_t *row, int32_t c, int32_t nr, int halves, uint32_t word)
{
    uint16_t *half = (uint16_t *)row;
    if (halves) half[c] = (uint16_t)word, half[nr + c] = (uint16_t)(word >> 16);
    else row[c] = (int32_t)word;
}

void ig_put_float_head(const struct ig_call *call, struct ig_bytes_head *head)
{
    head->has_bias = ig_has(call, IG_SUM_BIAS);
    if (call->in[IG_X_SCALE].data) head->x_scale = ig_scale(call, IG_X_SCALE, 0);
}

void ig_put_floats(const struct ig_call *call, int32_t oc, int32_t nr, int32_t *to)
{
    const float scale = ig_has(call, IG_W_SCALE) ? ig_scale(call, IG_W_SCALE, oc) : 1;
    const float bias = ig_has(call, IG_SUM_BIAS) ? ig_scale(call, IG_SUM_BIAS, oc) : 0;
    memcpy(to, &scale, sizeof scale);
    memcpy(to + nr, &bias, sizeof bias);
}
