/* Element-wise operators of one tensor, casts and identities. */
#include <float.h>

#include "graph/onnx/import.h"

static void set_unary(struct im *m, const struct im_node *n, float alpha, float beta)
{
    im_set(m, n, 0, im_unary(m, im_op_find(n)->kind, im_need(m, n, 0), alpha, beta));
}

void im_op_unary(struct im *m, const struct im_node *n)
{
    set_unary(m, n, 0, 0);
}

void im_op_alpha(struct im *m, const struct im_node *n)
{
    set_unary(m, n, im_float(m, n, "alpha", im_op_find(n)->kind == IG_LEAKY_RELU ? 0.01f : 1), 0);
}

void im_op_selu(struct im *m, const struct im_node *n)
{
    set_unary(m, n, im_float(m, n, "alpha", 1.67326319217681884765625f),
              im_float(m, n, "gamma", 1.05070102214813232421875f));
}

void im_op_hard_sigmoid(struct im *m, const struct im_node *n)
{
    set_unary(m, n, im_float(m, n, "alpha", 0.2f), im_float(m, n, "beta", 0.5f));
}

void im_op_gelu(struct im *m, const struct im_node *n)
{
    static const char *const kinds[] = {"none", "tanh", NULL};
    int tanh = im_choice(m, n, "approximate", "none", kinds);
    im_set(m, n, 0, im_unary(m, tanh ? IG_GELU_TANH : IG_GELU, im_need(m, n, 0), 0, 0));
}

void im_op_shrink(struct im *m, const struct im_node *n)
{
    set_unary(m, n, im_float(m, n, "lambd", 0.5f), im_float(m, n, "bias", 0));
}

void im_op_isinf(struct im *m, const struct im_node *n)
{
    set_unary(m, n, (float)(im_int(m, n, "detect_negative", 1) != 0),
              (float)(im_int(m, n, "detect_positive", 1) != 0));
}

/* Bound i of a float Clip that is constant; 0 where it is computed. */
static int clip_bound(struct im *m, const struct im_node *n, int i, float *bound)
{
    int32_t v = im_in(m, n, i);
    if (v == IM_ABSENT) return 1;
    if (!im_is_const(m, v) || im_shape(m, v).type != IG_F32) return 0;
    im_const_floats(m, v, "a bound", bound, 1);
    return 1;
}

void im_op_clip(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    float low = im_float(m, n, "min", -FLT_MAX), high = im_float(m, n, "max", FLT_MAX);
    int constant = clip_bound(m, n, 1, &low) & clip_bound(m, n, 2, &high);
    if (constant && im_shape(m, x).type == IG_F32) {
        x = im_unary(m, IG_CLIP, x, low, high);
    } else {
        if (im_in(m, n, 1) != IM_ABSENT) x = im_binary(m, IG_MAX, x, im_need(m, n, 1));
        if (im_in(m, n, 2) != IM_ABSENT) x = im_binary(m, IG_MIN, x, im_need(m, n, 2));
    }
    im_set(m, n, 0, x);
}

/* Identity and its kin: the output is the input, even one without elements. */
void im_op_identity(struct im *m, const struct im_node *n)
{
    int32_t x = im_in(m, n, 0);
    im_set(m, n, 0, x <= IM_EMPTY ? x : im_need(m, n, 0));
}

static void cast_to(struct im *m, const struct im_node *n, int32_t type)
{
    int32_t x = im_in(m, n, 0);
    if (x > IM_EMPTY) {
        im_set(m, n, 0, im_cast(m, im_need(m, n, 0), type));
        return;
    }
    struct ig_shape s = im_shape(m, x);
    s.type = type;
    im_set(m, n, 0, im_empty(m, &s));
}

/* 16-bit floats are computed as f32; other types that the graph lacks are only right for constants. */
void im_op_cast(struct im *m, const struct im_node *n)
{
    const char *name;
    int32_t to = im_int32(m, n, "to", 0, 0, INT32_MAX), type = im_type(to, &name);
    int half = to == 10 || to == 16, narrow = to == 21 || to == 22; /* uint4, int4 */
    if (type < 0 || narrow) im_refuse(m, "a cast to %s; convert the model to float32", name);
    if (!half && !im_is_const(m, im_in(m, n, 0))) type = im_runtime_type(m, to, "the result");
    cast_to(m, n, type);
}

void im_op_cast_like(struct im *m, const struct im_node *n)
{
    int32_t like = im_in(m, n, 1);
    if (like == IM_ABSENT) im_fail(m, "input 1 is missing");
    if (im_is_narrow(m, like)) im_refuse(m, "a cast to 4 bits; convert the model to float32");
    cast_to(m, n, im_shape(m, like).type);
}

/* Inference only: the data passes, the mask is all true. */
void im_op_dropout(struct im *m, const struct im_node *n)
{
    int64_t training = 0;
    float ratio = 0.5f;
    void *mask;
    int32_t x = im_need(m, n, 0);
    im_const_ints(m, im_in(m, n, 2), "training_mode", &training, 1);
    if (training && im_in(m, n, 1) != IM_ABSENT) im_const_floats(m, im_in(m, n, 1), "ratio", &ratio, 1);
    if (training && ratio != 0) im_refuse(m, "training mode; export the model for inference");
    im_set(m, n, 0, x);
    if (!im_wants(m, n, 1)) return;
    struct ig_shape s = im_shape(m, x);
    s.type = n->opset < 10 ? IG_F32 : IG_BOOL;
    int32_t v = im_const(m, &s, &mask);
    for (int64_t i = 0; i < ig_count(&s); i++) {
        if (s.type == IG_F32)
            ((float *)mask)[i] = 1;
        else
            ((uint8_t *)mask)[i] = 1;
    }
    im_set(m, n, 1, v);
}
