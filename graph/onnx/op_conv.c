/* Conv, ConvTranspose, ConvInteger, QLinearConv, DeformConv. */
#include "graph/onnx/window.h"

static int32_t groups(struct im *m, const struct im_node *n)
{
    return im_int32(m, n, "group", 1, 1, INT32_MAX);
}

/* Windows and groups of a convolution whose weights are input `w_input`. */
static union ig_attrs conv_attrs(struct im *m, const struct im_node *n, int w_input)
{
    struct ig_shape x = im_shape(m, im_need(m, n, 0)), weights = im_shape(m, im_need(m, n, w_input));
    struct im_window w = im_window_read(m, n, &x, &weights);
    im_window_resolve(m, &w);
    return (union ig_attrs){.conv = {.w = im_window_make(&w), .groups = groups(m, n)}};
}

static void inputs(struct im *m, const struct im_node *n, int32_t *in, int count, int needed)
{
    for (int i = 0; i < count; i++)
        in[i] = i < needed || im_in(m, n, i) != IM_ABSENT ? im_need(m, n, i) : IM_ABSENT;
}

void im_op_conv(struct im *m, const struct im_node *n)
{
    union ig_attrs a = conv_attrs(m, n, 1);
    int32_t in[3];
    inputs(m, n, in, 3, 2);
    im_set(m, n, 0, im_emit1(m, IG_CONV, in[2] == IM_ABSENT ? 2 : 3, in, &a));
}

void im_op_conv_integer(struct im *m, const struct im_node *n)
{
    union ig_attrs a = conv_attrs(m, n, 1);
    int32_t in[4];
    inputs(m, n, in, 4, 2);
    im_set(m, n, 0, im_emit1(m, IG_CONV_INTEGER, 4, in, &a));
}

void im_op_qlinear_conv(struct im *m, const struct im_node *n)
{
    union ig_attrs a = conv_attrs(m, n, 3);
    int32_t in[9];
    inputs(m, n, in, 9, 8);
    if (im_shape(m, in[7]).type == IG_F32) im_fail(m, "input 7 of type f32 is not supported"); /* in a graph it says that outputs are floats */
    im_set(m, n, 0, im_emit1(m, IG_QLINEAR_CONV, in[8] == IM_ABSENT ? 8 : 9, in, &a));
}

static int64_t floor_half(int64_t v)
{
    return v >= 0 ? v / 2 : -((1 - v) / 2);
}

/*
 * Padding of a transposed convolution: from output_shape or auto_pad the total, then its split;
 * output_padding is negative padding at the end (the output grows there).
 */
static void deconv_padding(struct im *m, const struct im_node *n, struct im_window *w)
{
    int64_t grow[3] = {0, 0, 0}, shape[8];
    int n_grow = im_ints(m, n, "output_padding", grow, 3), n_shape = im_ints(m, n, "output_shape", shape, 8);
    int same = w->auto_pad == IM_SAME_UPPER || w->auto_pad == IM_SAME_LOWER;
    if (n_grow >= 0 && n_grow != w->rank)
        im_fail(m, "output_padding has %d elements, not %d", n_grow, w->rank);
    if (n_shape >= 0 && n_shape != w->rank && n_shape != w->rank + 2)
        im_fail(m, "output_shape has %d elements, not %d", n_shape, w->rank);
    for (int i = 0; i < w->rank; i++) {
        int64_t natural = w->s[i] * (w->in[i] - 1) + im_window_reach(w, i);
        if (grow[i] < 0 || grow[i] > IM_MAX_WINDOW)
            im_fail(m, "output_padding %lld is outside its range", (long long)grow[i]);
        if (n_shape >= 0 || same) {
            int64_t out = n_shape >= 0 ? shape[n_shape - w->rank + i] : w->in[i] * w->s[i];
            if (out < 1 || out > INT32_MAX) im_fail(m, "output_shape holds %lld", (long long)out);
            int64_t total = natural + grow[i] - out, half = floor_half(total);
            w->begin[i] = w->auto_pad == IM_SAME_UPPER ? half : total - half;
            w->end[i] = total - w->begin[i];
        }
        w->end[i] -= grow[i];
        w->out[i] = natural - w->begin[i] - w->end[i];
        if (w->begin[i] < -IM_MAX_WINDOW || w->begin[i] > IM_MAX_WINDOW || w->end[i] < -IM_MAX_WINDOW ||
            w->end[i] > IM_MAX_WINDOW || w->out[i] < 1 || w->out[i] > INT32_MAX)
            im_misfit(m, "padding (%lld, %lld) does not fit the image", (long long)w->begin[i],
                    (long long)w->end[i]);
    }
}

void im_op_conv_transpose(struct im *m, const struct im_node *n)
{
    struct ig_shape x = im_shape(m, im_need(m, n, 0)), weights = im_shape(m, im_need(m, n, 1));
    struct im_window w = im_window_read(m, n, &x, &weights);
    int32_t in[3];
    deconv_padding(m, n, &w);
    union ig_attrs a = {.conv = {.w = im_window_make(&w), .groups = groups(m, n)}};
    inputs(m, n, in, 3, 2);
    im_set(m, n, 0, im_emit1(m, IG_DECONV, in[2] == IM_ABSENT ? 2 : 3, in, &a));
}

void im_op_deform_conv(struct im *m, const struct im_node *n)
{
    struct ig_shape x = im_shape(m, im_need(m, n, 0)), weights = im_shape(m, im_need(m, n, 1));
    struct im_window w = im_window_read(m, n, &x, &weights);
    int32_t in[5];
    im_window_resolve(m, &w);
    union ig_attrs a = {.deform = {.w = im_window_make(&w), .groups = groups(m, n)}};
    a.deform.offset_groups = im_int32(m, n, "offset_group", 1, 1, INT32_MAX);
    inputs(m, n, in, 5, 3);
    im_set(m, n, 0, im_emit1(m, IG_DEFORM_CONV, 5, in, &a));
}
