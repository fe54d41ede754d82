/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include "graph/onnx/import.h"

/* The axis that the scales run along; 0 where it does not matter. */
static int32_t scale_axis(struct im *m, const struct im_node *n, int32_t x, int32_t scale)
{
    struct ig_shape sx = im_shape(m, x), ss = im_shape(m, scale);
    return ig_count(&ss) == 1 ? 0 : im_axis(m, im_int(m, n, "axis", 1), sx.rank);
}

/* A parameter per block of `block_size` elements along the axis, repeated to the shape of x. */
static int32_t spread_blocks(struct im *m, const struct im_node *n, int32_t v, int32_t x)
{
    struct ig_shape s = im_shape(m, v), sx = im_shape(m, x);
    int64_t split[IG_MAX_RANK + 1], wide[IG_MAX_RANK + 1], joined[IG_MAX_RANK], whole[IG_MAX_RANK];
    int32_t block = im_int32(m, n, "block_size", 0, 1, INT32_MAX), start[IG_MAX_RANK] = {0},
            step[IG_MAX_RANK];
    int32_t axis = im_axis(m, im_int(m, n, "axis", 1), sx.rank), rank = 0;
    if (s.rank != sx.rank) im_fail(m, "scales of rank %d for blocks of data of rank %d", s.rank, sx.rank);
    if (s.rank == IG_MAX_RANK) im_refuse(m, "blocks of data of rank %d", s.rank);
    for (int i = 0; i < s.rank; i++) {
        split[rank] = joined[i] = s.dims[i];
        wide[rank++] = s.dims[i];
        whole[i] = sx.dims[i];
        step[i] = 1;
        if (i != axis) continue;
        split[rank] = 1;
        wide[rank++] = block;
        joined[i] *= block;
        if (joined[i] < sx.dims[i] || joined[i] - sx.dims[i] >= block)
            im_fail(m, "%d blocks of %d do not cover %d elements", s.dims[i], block, sx.dims[i]);
    }
    struct ig_shape to = im_make_shape(m, s.type, rank, wide);
    v = im_reshape(m, im_expand(m, im_reshape(m, v, rank, split), &to), s.rank, joined);
    return im_slice(m, v, start, step, whole);
}

/* saturate(round(x / scale) + zero), of element-wise ops */
static int32_t quantize_blocks(struct im *m, const struct im_node *n, const int32_t in[3], int32_t type)
{
    if (type != IG_U8 && type != IG_I8) im_refuse(m, "only uint8 and int8 can be quantised to");
    int32_t y = im_unary(m, IG_ROUND, im_binary(m, IG_DIV, in[0], spread_blocks(m, n, in[1], in[0])), 0, 0);
    if (in[2] != IM_ABSENT)
        y = im_binary(m, IG_ADD, y, spread_blocks(m, n, im_cast(m, in[2], IG_F32), in[0]));
    return im_cast(m, im_unary(m, IG_CLIP, y, type == IG_U8 ? 0 : -128, type == IG_U8 ? 255 : 127), type);
}

static int32_t dequantize_blocks(struct im *m, const struct im_node *n, const int32_t in[3])
{
    int32_t x = im_cast(m, in[0], IG_F32);
    if (in[2] != IM_ABSENT) x = im_binary(m, IG_SUB, x, spread_blocks(m, n, im_cast(m, in[2], IG_F32), x));
    return im_binary(m, IG_MUL, x, spread_blocks(m, n, in[1], x));
}

/* The zero point says how many bits there are. */
static void refuse_widths(struct im *m, int32_t zero)
{
    if (zero == IM_ABSENT) return;
    if (im_is_narrow(m, zero)) im_refuse(m, "it quantises to 4 bits; only uint8 and int8 can be quantised to");
    if (im_shape(m, zero).type == IG_I32) im_refuse(m, "it quantises to 16 bits; only uint8 and int8 can be quantised to");
}

void im_op_quantize(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_cast(m, im_need(m, n, 0), IG_F32), im_need(m, n, 1), im_in(m, n, 2)}, y;
    int32_t to = im_int32(m, n, "output_dtype", 0, 0, 100);
    struct im_emit e = {.op = IG_QUANTIZE, .n_in = in[2] == IM_ABSENT ? 2 : 3, .in = in};
    if (in[2] != IM_ABSENT) in[2] = im_need(m, n, 2);
    refuse_widths(m, in[2]);
    e.given[0].type = to ? im_runtime_type(m, to, "the result") : IG_U8;
    if (im_int(m, n, "block_size", 0)) {
        im_set(m, n, 0,
               quantize_blocks(m, n, in, in[2] == IM_ABSENT ? e.given[0].type : im_shape(m, in[2]).type));
        return;
    }
    e.attrs.axis.axis = scale_axis(m, n, in[0], in[1]);
    im_emit(m, &e, &y);
    im_set(m, n, 0, y);
}

void im_op_dequantize(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_in(m, n, 2)};
    if (in[2] != IM_ABSENT) in[2] = im_need(m, n, 2);
    if (im_int(m, n, "block_size", 0)) {
        im_set(m, n, 0, dequantize_blocks(m, n, in));
        return;
    }
    union ig_attrs a = {.axis = {scale_axis(m, n, in[0], in[1]), 0}};
    im_set(m, n, 0, im_emit1(m, IG_DEQUANTIZE, in[2] == IM_ABSENT ? 2 : 3, in, &a));
}

void im_op_dynamic_quantize(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), out[3];
    struct im_emit e = {.op = IG_DYNAMIC_QUANTIZE, .n_in = 1, .in = &x, .n_out = 3};
    im_emit(m, &e, out);
    for (int i = 0; i < 3; i++)
        im_set(m, n, i, out[i]);
}
