/* How image operators become graph nodes: windows, padding, pools, resizing, normalisation. */
#include <math.h>

#include "kernels_cpu/ref/resize.h"
#include "tests/support/onnx_op.h"

static const struct ig_window *conv_window(const char *auto_pad, int64_t size, int64_t k, int64_t s,
                                           int64_t d, struct ig_graph **g)
{
    Onnx__NodeProto *n = begin(17, LIST(1, 2, size, size), "Conv", "x,w", "y");
    m_weights(&m, "w", LIST(4, 2, k, k));
    m_attr_s(&m, n, "auto_pad", auto_pad);
    m_attr_ints(&m, n, "strides", LIST(s, s));
    m_attr_ints(&m, n, "dilations", LIST(d, d));
    *g = must_import();
    return &(*g)->nodes[0].attrs.conv.w;
}

static void auto_pad(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        int64_t size, k, s, d, out;
        int32_t top, bottom;
    } cases[] = {
        {"SAME_UPPER", 5, 3, 2, 1, 3, 1, 1}, {"SAME_UPPER", 6, 3, 2, 1, 3, 0, 1},
        {"SAME_LOWER", 6, 3, 2, 1, 3, 1, 0}, {"SAME_UPPER", 7, 3, 1, 3, 7, 3, 3},
        {"SAME_UPPER", 5, 2, 1, 1, 5, 0, 1}, {"SAME_LOWER", 5, 2, 1, 1, 5, 1, 0},
        {"SAME_UPPER", 9, 1, 4, 1, 3, 0, 0}, {"VALID", 7, 3, 2, 1, 3, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g;
        const struct ig_window *w =
            conv_window(cases[i].mode, cases[i].size, cases[i].k, cases[i].s, cases[i].d, &g);
        assert_int_equal(w->top, cases[i].top);
        assert_int_equal(w->bottom, cases[i].bottom);
        check_output(g, 0, LIST(1, 4, cases[i].out, cases[i].out));
        ig_graph_free(g);
    }
}

static void conv_checks(void **state)
{
    (void)state;
    begin(17, LIST(1, 3, 8, 8), "Conv", "x,w", "y");
    m_weights(&m, "w", LIST(4, 2, 3, 3));
    must_refuse("weights for 2 input channels in 1 groups do not fit data of 3 channels");
    begin(17, LIST(1, 2, 2, 2), "Conv", "x,w", "y");
    m_weights(&m, "w", LIST(4, 2, 3, 3));
    must_refuse("the window (3) is larger than the padded image (2)");
    m_attr_ints(&m, begin(17, LIST(1, 2, 8, 8), "Conv", "x,w", "y"), "strides", LIST(0, 1));
    m_weights(&m, "w", LIST(4, 2, 3, 3));
    must_refuse("attribute 'strides' holds 0");
    m_attr_i(&m, begin(17, LIST(1, 2, 8, 8), "Conv", "x,w", "y"), "group", -1);
    m_weights(&m, "w", LIST(4, 2, 3, 3));
    must_refuse("attribute 'group' is -1");
    begin(17, LIST(1, 2, 9), "Conv", "x,w,b", "y");
    m_weights(&m, "w", LIST(4, 2, 3));
    m_weights(&m, "b", LIST(4));
    struct ig_graph *g = must_import();
    check_output(g, 0, LIST(1, 4, 7));
    assert_int_equal(g->nodes[0].attrs.conv.w.kw, 3);
    assert_int_equal(g->nodes[0].attrs.conv.w.kh, 1);
    ig_graph_free(g);
}

/* Weights that exporters pass through Identity are still constants. */
static void aliased_weights(void **state)
{
    (void)state;
    begin(17, LIST(1, 2, 8, 8), "Identity", "w", "alias");
    m_node(&m, "Conv", "x,alias", "y");
    m_weights(&m, "w", LIST(4, 2, 3, 3));
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_CONV));
    assert_true(ig_is_const(g, g->nodes[0].in[1]));
    ig_graph_free(g);
}

static void deconv(void **state)
{
    (void)state;
    Onnx__NodeProto *n = begin(11, LIST(1, 1, 3, 3), "ConvTranspose", "x,w", "y");
    m_weights(&m, "w", LIST(1, 2, 3, 3));
    m_attr_ints(&m, n, "strides", LIST(3, 2));
    m_attr_ints(&m, n, "output_shape", LIST(10, 8));
    struct ig_graph *g = must_import();
    check_output(g, 0, LIST(1, 2, 10, 8));
    assert_int_equal(g->nodes[0].attrs.conv.w.top, 0); /* the missing row is appended, not cropped */
    assert_int_equal(g->nodes[0].attrs.conv.w.bottom, -1);
    ig_graph_free(g);
    n = begin(11, LIST(1, 1, 3, 3), "ConvTranspose", "x,w", "y");
    m_weights(&m, "w", LIST(1, 2, 3, 3));
    m_attr_ints(&m, n, "strides", LIST(2, 2));
    m_attr_ints(&m, n, "pads", LIST(1, 1, 1, 1));
    m_attr_ints(&m, n, "output_padding", LIST(1, 0));
    g = must_import();
    check_output(g, 0, LIST(1, 2, 6, 5));
    ig_graph_free(g);
}

static struct ig_graph *pool(const char *op, int64_t size, int64_t k, int64_t s, int64_t pad, int64_t include)
{
    Onnx__NodeProto *n = begin(19, LIST(1, 1, size, size), op, "x", "y");
    m_attr_ints(&m, n, "kernel_shape", LIST(k, k));
    m_attr_ints(&m, n, "strides", LIST(s, s));
    m_attr_ints(&m, n, "pads", LIST(pad, pad, pad, pad));
    m_attr_i(&m, n, "ceil_mode", 1);
    if (include) m_attr_i(&m, n, "count_include_pad", 1);
    return must_import();
}

static void ceil_mode(void **state)
{
    (void)state;
    struct ig_graph *g = pool("AveragePool", 6, 3, 2, 0, 1); /* 2.5 windows: the third hangs over by one */
    check_output(g, 0, LIST(1, 1, 3, 3));
    assert_int_equal(g->nodes[0].attrs.pool.w.bottom, 1);
    assert_int_equal(g->nodes[0].attrs.pool.ceil_h, 1);
    assert_int_equal(g->nodes[0].attrs.pool.count_include_pad, 1);
    ig_graph_free(g);
    g = pool("MaxPool", 2, 1, 2, 0, 0); /* a second window would start outside: dropped */
    check_output(g, 0, LIST(1, 1, 1, 1));
    ig_graph_free(g);
    g = pool("AveragePool", 4, 3, 3, 1, 0); /* the third window would start in the end padding */
    check_output(g, 0, LIST(1, 1, 2, 2));
    assert_int_equal(g->nodes[0].attrs.pool.ceil_h, 0);
    ig_graph_free(g);
    g = pool("AveragePool", 2, 3, 2, 0, 1); /* half a window: the only one hangs over by one */
    check_output(g, 0, LIST(1, 1, 1, 1));
    assert_int_equal(g->nodes[0].attrs.pool.w.bottom, 1);
    assert_int_equal(g->nodes[0].attrs.pool.ceil_h, 1);
    ig_graph_free(g);
    Onnx__NodeProto *n = begin(19, LIST(1, 1, 1, 1), "MaxPool", "x", "y");
    m_attr_ints(&m, n, "kernel_shape", LIST(3, 3));
    m_attr_ints(&m, n, "strides", LIST(2, 2));
    m_attr_i(&m, n, "ceil_mode", 1);
    must_refuse("the window (3) is larger than the padded image (1)"); /* by a whole stride */
}

/* Coordinates that are whole, or halves, are so exactly: what is rounded down is not a pixel less. */
static void resize_coordinates(void **state)
{
    (void)state;
    struct ig_resize floor_of = {.mode = IG_NEAREST, .coord = IG_ASYMMETRIC, .nearest = IG_NEAREST_FLOOR};
    struct ig_resize half_of = {.mode = IG_NEAREST, .coord = IG_HALF_PIXEL, .nearest = IG_ROUND_PREFER_CEIL};
    for (int32_t in = 1; in <= 64; in++)
        for (int32_t out = 1; out <= 64; out++)
            for (int32_t o = 0; o < out; o++) {
                floor_of.scale[0] = half_of.scale[0] = (float)out / (float)in;
                assert_int_equal(ig_resize_axis_of(&floor_of, 0, in, out, o).first, o * in / out);
                assert_int_equal(ig_resize_axis_of(&half_of, 0, in, out, o).first, (2 * o + 1) * in / (2 * out));
            }
}

static void resizes(void **state)
{
    (void)state;
    static const float scales[4] = {1, 1, 2, 0.6f};
    begin(10, LIST(1, 1, 4, 5), "Resize", "x,s", "y");
    m_add_initializer(&m, m_tensor(&m, "s", M_FLOAT, LIST(4), scales, sizeof scales));
    struct ig_graph *g = must_import();
    check_output(g, 0, LIST(1, 1, 8, 3));
    assert_int_equal(g->nodes[0].attrs.resize.coord, IG_ASYMMETRIC);
    assert_int_equal(g->nodes[0].attrs.resize.nearest, IG_NEAREST_FLOOR);
    ig_graph_free(g);
    begin(11, LIST(1, 1, 4, 5), "Resize", "x,none,none,sizes", "y"); /* empty tensors stand for "not given" */
    m_add_initializer(&m, m_tensor(&m, "none", M_FLOAT, LIST(0), "", 0));
    m_ints(&m, "sizes", LIST(1, 1, 7, 10));
    g = must_import();
    check_output(g, 0, LIST(1, 1, 7, 10));
    assert_int_equal(g->nodes[0].attrs.resize.coord, IG_HALF_PIXEL);
    assert_true(g->nodes[0].attrs.resize.scale[2] == 1.75f && g->nodes[0].attrs.resize.scale[3] == 2);
    ig_graph_free(g);
    Onnx__NodeProto *n = begin(19, LIST(1, 1, 10, 20), "Resize", "x,,,sizes", "y");
    m_ints(&m, "sizes", LIST(5, 5));
    m_attr_ints(&m, n, "axes", LIST(-1, 2));
    m_attr_s(&m, n, "keep_aspect_ratio_policy", "not_larger");
    g = must_import();
    check_output(g, 0, LIST(1, 1, 3, 5)); /* 10 * 0.25 = 2.5, rounded up */
    ig_graph_free(g);
    begin(13, LIST(2, 3, 5), "Resize", "x,,,sizes", "y"); /* a line is an image of one row */
    m_ints(&m, "sizes", LIST(2, 3, 7));
    g = must_import();
    check_output(g, 0, LIST(2, 3, 7));
    assert_true(g->nodes[1].attrs.resize.scale[2] == 1 && g->nodes[1].attrs.resize.scale[3] == 1.4f);
    ig_graph_free(g);
    begin(13, LIST(2, 3, 5), "Resize", "x,,,sizes", "y"); /* not where channels are resized, too */
    m_ints(&m, "sizes", LIST(2, 6, 7));
    g = must_import();
    check_output(g, 0, LIST(2, 6, 7));
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
    static const float far[8] = {0, 0, 0, -2e9f, 1, 1, 1, 1};
    n = begin(11, LIST(1, 1, 4, 5), "Resize", "x,roi,none,sizes", "y");
    m_attr_s(&m, n, "coordinate_transformation_mode", "tf_crop_and_resize");
    m_add_initializer(&m, m_tensor(&m, "roi", M_FLOAT, LIST(8), far, sizeof far));
    m_add_initializer(&m, m_tensor(&m, "none", M_FLOAT, LIST(0), "", 0));
    m_ints(&m, "sizes", LIST(1, 1, 7, 10));
    must_refuse("roi holds -2e+09, not a number from -1000 to 1000");
    Onnx__AttributeProto *a = m_attr(&m, begin(7, LIST(1, 1, 2, 2), "Upsample", "x", "y"), "scales", 6);
    a->floats = m_alloc(&m, sizeof scales);
    a->n_floats = 4;
    memcpy(a->floats, (float[]){1, 1, 2, 3}, sizeof scales);
    g = must_import();
    check_output(g, 0, LIST(1, 1, 4, 6));
    assert_int_equal(g->nodes[0].attrs.resize.mode, IG_NEAREST);
    ig_graph_free(g);
}

/* Cubic samples at the border as torch.nn.functional.grid_sample (2.x) gives them. */
static void grid_samples(void **state)
{
    (void)state;
    static const float x[8] = {1, 2, 4, 8, 3, -1, 5, 0}, grid[10] = {-1.3f, 0.1f, -0.9f, -1.2f, 0.95f, 0.8f, 1.4f, 0, 0.2f, 1.9f};
    static const float want[2][5] = {{2.2239997f, 0.76920402f, -1.5291623f, 4.000001f, 4.784749f},
                                     {2.2941983f, 1.0197718f, 0.93495375f, 3.9640016f, 4.4341779f}};
    for (int corners = 0; corners < 2; corners++) {
        Onnx__NodeProto *n = begin(20, LIST(1), "GridSample", "image,grid", "y");
        m_add_initializer(&m, m_tensor(&m, "image", M_FLOAT, LIST(1, 1, 2, 4), x, sizeof x));
        m_add_initializer(&m, m_tensor(&m, "grid", M_FLOAT, LIST(1, 1, 5, 2), grid, sizeof grid));
        m_attr_s(&m, n, "mode", "cubic");
        m_attr_s(&m, n, "padding_mode", "border");
        m_attr_i(&m, n, "align_corners", corners);
        struct ig_graph *g = must_import();
        float got[5];
        assert_int_equal(ig_ref_eval(g, &g->nodes[0], (const void *const[]){x, grid}, (void *const[]){got}), 0);
        for (int i = 0; i < 5; i++) assert_float_equal(got[i], want[corners][i], 4e-6);
        ig_graph_free(g);
    }
}

static void max_roi_pools(void **state)
{
    (void)state;
    Onnx__NodeProto *n = begin(11, LIST(2, 3, 9, 9), "MaxRoiPool", "x,rois", "y");
    m_input(&m, "rois", M_FLOAT, LIST(7, 5));
    m_attr_ints(&m, n, "pooled_shape", LIST(4, 6));
    m_attr_f(&m, n, "spatial_scale", 0.5f);
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_SLICE, IG_SLICE, IG_RESHAPE, IG_CAST, IG_ROI_ALIGN));
    assert_int_equal(g->nodes[4].attrs.roi_align.mode, IG_ROI_POOL);
    assert_true(g->nodes[4].attrs.roi_align.spatial_scale == 0.5f);
    check_output(g, 0, LIST(7, 3, 4, 6));
    assert_true(ig_pass_layout(g) > 0);
    m_check_shape(g, g->nodes[g->n_nodes - 2].out[0], LIST(7, 4, 6, 3)); /* channels last, and a transpose behind it */
    ig_graph_free(g);
    n = begin(11, LIST(2, 3, 9, 9), "MaxRoiPool", "x,rois", "y");
    m_input(&m, "rois", M_FLOAT, LIST(7, 4));
    m_attr_ints(&m, n, "pooled_shape", LIST(4, 6));
    must_refuse("rois must be [n,5]");
}

/* What onnxruntime 1.32 gives. */
static void affine_grids(void **state)
{
    (void)state;
    static const float theta[] = {1, 0.5f, 0.25f, -0.5f, 2, 0};
    static const float want[2][12] = {{-2 / 3.f, -2 / 3.f, 0, -1, 2 / 3.f, -4 / 3.f, -1 / 6.f, 4 / 3.f, 0.5f, 1, 7 / 6.f, 2 / 3.f},
                                      {-1.25f, -1.5f, -0.25f, -2, 0.75f, -2.5f, -0.25f, 2.5f, 0.75f, 2, 1.75f, 1.5f}};
    for (int corners = 0; corners < 3; corners++) {
        m_attr_i(&m, begin(20, LIST(1), "AffineGrid", "theta,size", "y"), "align_corners", corners > 0);
        m_add_initializer(&m, m_tensor(&m, "theta", M_FLOAT, LIST(1, 2, 3), theta, sizeof theta));
        m_ints(&m, "size", LIST(1, 1, corners < 2 ? 2 : 1, 3));
        if (corners == 2) {
            must_refuse("align_corners of one element");
            break;
        }
        struct ig_graph *g = must_import();
        check_output(g, 0, LIST(1, 2, 3, 2));
        const float *got = g->values[g->nodes[0].in[0]].data;
        for (int i = 0; i < 12; i++) assert_float_equal(got[i], want[corners][i], 2e-7);
        ig_graph_free(g);
    }
}

static void batch_norm(void **state)
{
    (void)state;
    m_attr_f(&m, begin(9, LIST(1, 2, 3, 3), "BatchNormalization", "x,p,p,p,p", "y"), "epsilon", 0);
    m_weights(&m, "p", LIST(2)); /* 0.5, 1.5: one initializer in every role */
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_BINARY, IG_BINARY));
    const struct ig_value *mul = &g->values[g->nodes[0].in[1]], *add = &g->values[g->nodes[1].in[1]];
    assert_int_equal(mul->shape.rank, 3);
    for (int i = 0; i < 2; i++) {
        double p = i + 0.5, scale = p / sqrt(p);
        assert_true(((const float *)mul->data)[i] == (float)scale);
        assert_true(((const float *)add->data)[i] == (float)(p - p * scale));
    }
    ig_graph_free(g);
    m_attr_i(&m, begin(15, LIST(1, 2, 3, 3), "BatchNormalization", "x,p,p,p,p", "y"), "training_mode", 1);
    m_weights(&m, "p", LIST(2));
    must_refuse("training mode");
    m_attr_i(&m, begin(15, LIST(1, 2, 3, 3), "BatchNormalization", "x,p,p,p,p", "y,mean,var"), "training_mode", 1);
    m_weights(&m, "p", LIST(2));
    must_refuse("training mode");
    m_attr_i(&m, begin(7, LIST(1, 2, 3, 3), "BatchNormalization", "x,p,p,p,v", "y"), "spatial", 0);
    m_weights(&m, "p", LIST(2, 3, 3)); /* an element per activation, in each of the four */
    m_weights(&m, "v", LIST(2, 3, 3, 1, 8));
    must_refuse("parameter 3 has 144 elements");
}

/* As exporters write standardised weights: in training mode, by mean and variance of the weights themselves. */
static void batch_norm_of_weights(void **state)
{
    (void)state;
    m_attr_i(&m, begin(17, LIST(1, 2, 3), "BatchNormalization", "w,p,p,zero,p", "n"), "training_mode", 1);
    m_node(&m, "Add", "x,n", "y");
    m_weights(&m, "w", LIST(1, 2, 3)); /* 0.5 to 5.5 */
    m_weights(&m, "p", LIST(2));       /* 0.5, 1.5 */
    m_add_initializer(&m, m_tensor(&m, "zero", M_FLOAT, LIST(2), (const float[]){0, 0}, 8));
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_BINARY));
    const float *got = g->values[g->nodes[0].in[1]].data;
    for (int i = 0; i < 6; i++) { /* around a mean of 1.5, 4.5, variance 2/3 */
        double p = i / 3 + 0.5, want = (i % 3 - 1) / sqrt(2.0 / 3 + 1e-5) * p + p;
        assert_float_equal(got[i], want, 1e-6);
    }
    ig_graph_free(g);
}

static void group_norm_versions(void **state)
{
    (void)state;
    for (int64_t opset = 18; opset <= 21; opset += 3) {
        m_attr_i(&m, begin(opset, LIST(1, 4, 3, 3), "GroupNormalization", "x,p,p", "y"), "num_groups", 2);
        m_weights(&m, "p", LIST(opset < 21 ? 2 : 4)); /* per group, then per channel */
        struct ig_graph *g = must_import();
        check_ops(g, OPS(IG_NORM));
        const float *scale = g->values[g->nodes[0].in[1]].data;
        assert_int_equal(ig_count(&g->values[g->nodes[0].in[1]].shape), 4);
        assert_true(scale[1] == (opset < 21 ? 0.5f : 1.5f));
        ig_graph_free(g);
    }
}

/* The layout pass asks for shapes of channels-last tensors. */
static void channels_last(void **state)
{
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    struct ig_shape x = {IG_F32, 4, {1, 8, 10, 6, 1, 1, 1, 1}}, w = {IG_F32, 4, {4, 6, 3, 3, 1, 1, 1, 1}},
                    none = {0};
    g->channels_last = 1;
    int32_t in = ig_add_value(g, "x", &x), weights = ig_add_const(g, "w", &w, NULL),
            out = ig_add_value(g, "y", &none);
    struct ig_node *n = ig_add_node(g, "conv", IG_CONV, 2, 1);
    n->in[0] = in;
    n->in[1] = weights;
    n->out[0] = out;
    n->attrs.conv = (struct ig_conv){.w = {1, 3, 3, 1, 2, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1}, .groups = 1};
    assert_int_equal(ig_infer(g, n, err, sizeof err), 0);
    assert_memory_equal(g->values[out].shape.dims, ((int32_t[]){1, 4, 8, 4}), 16);
    g->values[in].shape.type = IG_I32;
    assert_int_equal(ig_infer(g, n, err, sizeof err), -2);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_pad),        cmocka_unit_test(conv_checks),
        cmocka_unit_test(aliased_weights), cmocka_unit_test(deconv),
        cmocka_unit_test(ceil_mode),       cmocka_unit_test(resizes),
        cmocka_unit_test(resize_coordinates),
        cmocka_unit_test(grid_samples),
        cmocka_unit_test(max_roi_pools),
        cmocka_unit_test(affine_grids),
        cmocka_unit_test(batch_norm),
        cmocka_unit_test(batch_norm_of_weights),
        cmocka_unit_test(group_norm_versions),
        cmocka_unit_test(channels_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
