/* Concat, Split, Slice, Pad, CenterCropPad. */
#include "graph/onnx/import.h"

void im_op_concat(struct im *m, const struct im_node *n)
{
    int32_t *in = im_array(m, (size_t)n->n_in + 1, sizeof *in), count = 0;
    for (int i = 0; i < n->n_in; i++) {
        int32_t v = im_in(m, n, i);
        if (v > IM_EMPTY) in[count++] = im_need(m, n, i); /* parts without elements add nothing */
    }
    if (!n->n_in) im_fail(m, "it has no inputs");
    if (count <= 1) {
        im_set(m, n, 0, count ? in[0] : im_in(m, n, 0));
        return;
    }
    if (n->opset >= 4 && !im_attr(n, "axis")) im_fail(m, "attribute 'axis' is missing");
    union ig_attrs a = {.axis = {im_axis(m, im_int(m, n, "axis", 1), im_shape(m, in[0]).rank), 0}};
    im_set(m, n, 0, im_emit1(m, IG_CONCAT, count, in, &a));
}

/* Sizes of the parts: given, or as even as the opset has it. */
static void split_sizes(struct im *m, const struct im_node *n, int64_t dim, int64_t *sizes)
{
    int32_t parts = im_int32(m, n, "num_outputs", n->n_out, 1, INT16_MAX);
    int count = im_ints_from(m, n, 1, "split", sizes, n->n_out);
    int64_t sum = 0;
    if (count >= 0 && count != n->n_out) im_fail(m, "%d sizes for %d outputs", count, n->n_out);
    if (parts != n->n_out) im_fail(m, "num_outputs is %d, there are %d", parts, n->n_out);
    int64_t each = (dim + parts - 1) / parts;
    for (int i = 0; i < n->n_out && count < 0; i++)
        sizes[i] = dim - i * each < each ? dim - i * each : each;
    if (count < 0 && n->opset < 18 && dim % parts)
        im_misfit(m, "%lld does not split into %d", (long long)dim, parts);
    for (int i = 0; i < n->n_out; i++) {
        if (sizes[i] < 0 || sizes[i] > dim)
            im_misfit(m, "a part of %lld of %lld", (long long)sizes[i], (long long)dim);
        sum += sizes[i];
    }
    if (sum != dim) im_misfit(m, "the parts make %lld, not %lld", (long long)sum, (long long)dim);
}

void im_op_split(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), start[IG_MAX_RANK] = {0}, step[IG_MAX_RANK];
    struct ig_shape s = im_shape(m, x);
    int32_t axis = im_axis(m, im_int(m, n, "axis", 0), s.rank);
    int64_t *sizes = im_array(m, (size_t)n->n_out + 1, sizeof *sizes), extent[IG_MAX_RANK];
    if (n->n_out < 1) im_fail(m, "it has no outputs");
    split_sizes(m, n, s.dims[axis], sizes);
    for (int i = 0; i < s.rank; i++) {
        extent[i] = s.dims[i];
        step[i] = 1;
    }
    for (int i = 0; i < n->n_out; i++) {
        extent[axis] = sizes[i];
        if (im_wants(m, n, i)) im_set(m, n, i, im_slice(m, x, start, step, extent));
        start[axis] += (int32_t)sizes[i];
    }
}

/* numpy's slice of a dim: first index, step within int32, and how many. */
static int64_t slice_dim(int64_t dim, int64_t from, int64_t to, int64_t step, int32_t *start, int32_t *by)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
    if (from < 0) from = from < -dim ? -1 : from + dim;
    if (to < 0) to = to < -dim ? -1 : to + dim;
    if (from < 0) from = step > 0 ? 0 : -1;
    from = from > high ? high : from;
    to = to < low ? low : to > high ? high : to;
    if (step > dim) step = dim;
    if (step < -dim) step = -dim;
    *start = (int32_t)from;
    *by = (int32_t)step;
    int64_t span = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
    return span > 0 ? (span + stride - 1) / stride : 0;
}

struct slices {
    int64_t from[IG_MAX_RANK], to[IG_MAX_RANK], axes[IG_MAX_RANK], steps[IG_MAX_RANK];
    int n;
};

static struct slices read_slices(struct im *m, const struct im_node *n)
{
    struct slices l;
    l.n = im_ints_from(m, n, 1, "starts", l.from, IG_MAX_RANK);
    int n_to = im_ints_from(m, n, 2, "ends", l.to, IG_MAX_RANK);
    int n_axes = im_ints_from(m, n, 3, "axes", l.axes, IG_MAX_RANK);
    int n_steps = im_ints_from(m, n, 4, "steps", l.steps, IG_MAX_RANK);
    if (l.n < 0 || n_to != l.n || (n_axes >= 0 && n_axes != l.n) || (n_steps >= 0 && n_steps != l.n))
        im_fail(m, "starts, ends, axes and steps differ in length");
    for (int i = 0; i < l.n; i++) {
        if (n_axes < 0) l.axes[i] = i;
        if (n_steps < 0) l.steps[i] = 1;
        if (!l.steps[i]) im_fail(m, "a step is 0");
    }
    return l;
}

void im_op_slice(struct im *m, const struct im_node *n)
{
    int32_t x = im_in(m, n, 0), start[IG_MAX_RANK] = {0}, step[IG_MAX_RANK];
    if (x <= IM_EMPTY) {
        im_set(m, n, 0, x);
        return;
    }
    x = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, x);
    struct slices l = read_slices(m, n);
    int64_t extent[IG_MAX_RANK];
    int empty = 0;
    im_mask(m, l.axes, l.n, s.rank);
    for (int i = 0; i < s.rank; i++) {
        extent[i] = s.dims[i];
        step[i] = 1;
    }
    for (int i = 0; i < l.n; i++) {
        int32_t d = im_axis(m, l.axes[i], s.rank);
        extent[d] = slice_dim(s.dims[d], l.from[i], l.to[i], l.steps[i], &start[d], &step[d]);
        s.dims[d] = (int32_t)extent[d];
        empty |= !extent[d];
    }
    im_set(m, n, 0, empty && im_is_const(m, x) ? im_empty(m, &s) : im_slice(m, x, start, step, extent));
}

static float pad_value(struct im *m, const struct im_node *n, int32_t type)
{
    float real = im_float(m, n, "value", 0);
    int64_t whole = 0;
    int32_t v = im_in(m, n, 2);
    if (v == IM_ABSENT || v <= IM_EMPTY) return real;
    if (type == IG_F32) {
        im_const_floats(m, v, "the constant value", &real, 1);
        return real;
    }
    im_const_ints(m, v, "the constant value", &whole, 1);
    if (whole > 1 << 24 || whole < -(1 << 24)) im_refuse(m, "integers above 2^24 cannot be padded with");
    return (float)whole;
}

static void read_pads(struct im *m, const struct im_node *n, int32_t rank, struct ig_pad *pad)
{
    int64_t list[2 * IG_MAX_RANK], axes[IG_MAX_RANK];
    int count = im_ints_from(m, n, 1, im_attr(n, "paddings") ? "paddings" : "pads", list, 2 * IG_MAX_RANK);
    int n_axes = im_const_ints(m, im_in(m, n, 3), "the axes", axes, IG_MAX_RANK);
    for (int i = 0; i < rank && n_axes < 0; i++)
        axes[i] = i;
    if (n_axes < 0) n_axes = rank;
    im_mask(m, axes, n_axes, rank);
    if (count != 2 * n_axes) im_fail(m, "%d pads for %d dimensions", count, n_axes);
    for (int i = 0; i < 2 * n_axes; i++) {
        if (list[i] < -INT32_MAX || list[i] > INT32_MAX) im_fail(m, "a padding of %lld", (long long)list[i]);
        int32_t d = im_axis(m, axes[i % n_axes], rank);
        (i < n_axes ? pad->begin : pad->end)[d] = (int32_t)list[i];
    }
}

static int pads_nothing(const struct ig_pad *p)
{
    for (int i = 0; i < IG_MAX_RANK; i++)
        if (p->begin[i] || p->end[i]) return 0;
    return 1;
}

void im_op_pad(struct im *m, const struct im_node *n)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
    int32_t x = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, x);
    union ig_attrs a = {.pad = {.mode = im_choice(m, n, "mode", "constant", modes)}};
    read_pads(m, n, s.rank, &a.pad);
    if (a.pad.mode == IG_PAD_CONSTANT) a.pad.value = pad_value(m, n, s.type);
    im_set(m, n, 0, pads_nothing(&a.pad) ? x : im_emit1(m, IG_PAD, 1, &x, &a));
}

/* Centred: dims too large are cut (the odd one at the end), then dims too small are padded with zeros. */
void im_op_center_crop_pad(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), start[IG_MAX_RANK] = {0}, step[IG_MAX_RANK];
    struct ig_shape s = im_shape(m, x);
    union ig_attrs a = {.pad = {.mode = IG_PAD_CONSTANT}};
    int64_t want[IG_MAX_RANK], axes[IG_MAX_RANK], extent[IG_MAX_RANK];
    int count = im_const_ints(m, im_need(m, n, 1), "the shape", want, IG_MAX_RANK);
    int n_axes = im_ints(m, n, "axes", axes, IG_MAX_RANK);
    for (int i = 0; i < s.rank; i++) {
        extent[i] = s.dims[i];
        step[i] = 1;
        if (n_axes < 0) axes[i] = i;
    }
    if (count != (n_axes < 0 ? s.rank : n_axes)) im_fail(m, "the shape has %d elements", count);
    im_mask(m, axes, count, s.rank);
    for (int i = 0; i < count; i++) {
        int32_t d = im_axis(m, axes[i], s.rank);
        if (want[i] < 1 || want[i] > INT32_MAX) im_fail(m, "the shape holds %lld", (long long)want[i]);
        int32_t more = (int32_t)want[i] - s.dims[d];
        if (more > 0) {
            a.pad.begin[d] = more / 2;
            a.pad.end[d] = more - more / 2;
        } else {
            start[d] = -more / 2;
            extent[d] = want[i];
        }
    }
    x = im_slice(m, x, start, step, extent);
    im_set(m, n, 0, pads_nothing(&a.pad) ? x : im_emit1(m, IG_PAD, 1, &x, &a));
}
