/* Which element-wise calls the vector kernels compute. */
#include "kernels_cpu/common/integers.h"
#include "kernels_cpu/common/norm.h"
#include "kernels_cpu/common/topk.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

int ig_supports_unary(const struct ig_call *call)
{
    const struct ig_act *act = &((const struct ig_unary_attr *)call->attrs)->act;
    int32_t kind = act->kind;
    if (!ig_f32_to_f32(call) || !ig_same_extent(&call->in[0], &call->out[0])) return 0;
    switch (kind) {
    case IG_CELU: return act->alpha > 0; /* else x/alpha has no bound where x is negative */
    case IG_SELU:
    case IG_SOFTSIGN:
    case IG_THRESHOLDED_RELU:
    case IG_SHRINK:
    case IG_AFFINE:
    case IG_ABS:
    case IG_NEG:
    case IG_CEIL:
    case IG_FLOOR:
    case IG_ROUND:
    case IG_SIGN:
    case IG_RECIPROCAL:
    case IG_SQRT:
    case IG_EXP:
    case IG_LOG:
    case IG_ERF:
    case IG_ATAN: return 1;
    default: return kind >= IG_NONE && kind < IG_FUSABLE;
    }
}

int ig_supports_unary_fusable(const struct ig_call *call)
{
    return ig_act_fits(&((const struct ig_unary_attr *)call->attrs)->act) && ig_supports_unary(call);
}

int ig_supports_unary_other(const struct ig_call *call)
{
    return !ig_act_fits(&((const struct ig_unary_attr *)call->attrs)->act) && ig_supports_unary(call);
}

int ig_supports_gelu(const struct ig_call *call)
{
    return ((const struct ig_unary_attr *)call->attrs)->act.kind == IG_GELU && ig_supports_unary(call);
}

int ig_supports_waves(const struct ig_call *call)
{
    const int32_t kind = ((const struct ig_unary_attr *)call->attrs)->act.kind;
    return (kind == IG_SIN || kind == IG_COS) && ig_f32_to_f32(call) && ig_same_extent(&call->in[0], &call->out[0]);
}

/* Every extent is the output's, or one element for all. */
static int broadcasts_to(const struct ig_operand *o, const struct ig_operand *out)
{
    return (o->h == out->h || o->h == 1) && (o->w == out->w || o->w == 1) && (o->c == out->c || o->c == 1);
}

static int is_arithmetic(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    return ig_f32_to_f32(call) && ig_has(call, 1) && ig_is_f32(&call->in[1]) && ig_act_fits(&attr->act) &&
           (attr->kind <= IG_MIN || attr->kind == IG_PRELU);
}

int ig_supports_binary(const struct ig_call *call)
{
    return is_arithmetic(call) && broadcasts_to(&call->in[0], &call->out[0]) && broadcasts_to(&call->in[1], &call->out[0]);
}

int ig_supports_power(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    return attr->kind == IG_POW && ig_f32_to_f32(call) && ig_has(call, 1) && ig_is_f32(&call->in[1]) && ig_act_fits(&attr->act) &&
           broadcasts_to(&call->in[0], &call->out[0]) && broadcasts_to(&call->in[1], &call->out[0]);
}

int ig_supports_binary_nd(const struct ig_call *call)
{
    return is_arithmetic(call) && !ig_supports_binary(call);
}

int ig_supports_compare(const struct ig_call *call)
{
    const int32_t kind = ((const struct ig_binary_attr *)call->attrs)->kind;
    return kind >= IG_EQUAL && kind <= IG_LESS_EQUAL && call->in[0].shape->type == call->in[1].shape->type && binary_any_nd__supports(call) &&
           call->out[0].shape->type == IG_BOOL;
}

int ig_supports_integers(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    return ig_integer_fits(attr->kind, call->out[0].shape->type) && call->in[0].shape->type == call->in[1].shape->type &&
           binary_any_nd__supports(call);
}

int ig_supports_softmax(const struct ig_call *call)
{
    const struct ig_axis *axis = (const struct ig_axis *)call->attrs;
    return ig_f32_to_f32(call) && axis->axis == call->in[0].shape->rank - 1 &&
           (axis->mode == IG_SOFTMAX_EXP || axis->mode == IG_SOFTMAX_LOG);
}

int ig_supports_softmax_across(const struct ig_call *call)
{
    const struct ig_axis *axis = (const struct ig_axis *)call->attrs;
    return ig_f32_to_f32(call) && axis->axis < call->in[0].shape->rank - 1 && (axis->mode == IG_SOFTMAX_EXP || axis->mode == IG_SOFTMAX_LOG);
}

int ig_supports_arg(const struct ig_call *call)
{
    return ig_is_f32(&call->in[0]) && arg_any_nd__supports(call);
}

int ig_supports_copy(const struct ig_call *call)
{
    return call->in[0].shape->type == call->out[0].shape->type && ig_same_extent(&call->in[0], &call->out[0]);
}

int ig_supports_transpose_bytes(const struct ig_call *call)
{
    return ig_type_bytes(call->in[0].shape->type) == 1 && call->in[0].shape->type == call->out[0].shape->type;
}

int ig_supports_transpose(const struct ig_call *call)
{
    return ig_type_bytes(call->in[0].shape->type) == 4 && call->in[0].shape->type == call->out[0].shape->type;
}

int ig_supports_transpose_runs(const struct ig_call *call)
{
    return ig_ref_moves(call) && !ig_supports_transpose(call) && !ig_supports_transpose_bytes(call);
}

int ig_supports_lrn(const struct ig_call *call)
{
    return ig_f32_to_f32(call);
}

size_t ig_scratch_lrn(const struct ig_call *call)
{
    enum { VECTOR = 8 };
    return ((size_t)call->in[0].c + (size_t)((const struct ig_lrn *)call->attrs)->size + 2 * VECTOR) * sizeof(float);
}

int ig_supports_cast(const struct ig_call *call)
{
    const int32_t type = call->in[0].shape->type;
    return ig_is_f32(&call->out[0]) && (type == IG_U8 || type == IG_I8 || type == IG_BOOL || type == IG_I32);
}

int ig_supports_cast_any(const struct ig_call *call)
{
    return call->in[0].shape->type != IG_F16 && call->out[0].shape->type != IG_F16 && !ig_supports_cast(call) && cast_any_1x1__supports(call);
}

/* Absent, or a float for each channel. */
static int is_by_channel(const struct ig_call *call, int k)
{
    if (!ig_has(call, k)) return 1;
    const struct ig_shape *s = call->in[k].shape;
    return s->type == IG_F32 && s->rank > 0 && s->dims[s->rank - 1] == call->out[0].c && ig_count(s) == call->out[0].c;
}

static int is_norm(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && !(call->n_out > 1 && call->out[1].shape) && !(call->n_out > 2 && call->out[2].shape) &&
           is_by_channel(call, 1) && is_by_channel(call, 2);
}

int ig_supports_norm_pixel(const struct ig_call *call)
{
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    return is_norm(call) && (a->kind == IG_NORM_LAYER || a->kind == IG_NORM_RMS) && a->axis == call->in[0].shape->rank - 1;
}

/* Absent, or a float for each of the last n elements. */
static int is_by_element(const struct ig_call *call, int k, int64_t n)
{
    if (!ig_has(call, k)) return 1;
    const struct ig_shape *s = call->in[0].shape, *p = call->in[k].shape;
    if (p->type != IG_F32 || ig_count(p) != n) return 0;
    for (int32_t d = 1; n > 1; n /= p->dims[p->rank - d++])
        if (d > p->rank || p->dims[p->rank - d] != s->dims[s->rank - d]) return 0;
    return 1;
}

/* Elements of a group; 0: they do not lie side by side, or the kernel is another. */
static int64_t run_of(const struct ig_call *call)
{
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    if (!ig_f32_to_f32(call) || (call->n_out > 1 && call->out[1].shape) || (call->n_out > 2 && call->out[2].shape)) return 0;
    if (a->kind == IG_NORM_INSTANCE || a->kind == IG_NORM_GROUP || (a->kind == IG_NORM_LP && a->p != 2) || ig_supports_norm_pixel(call)) return 0;
    const int64_t n = ig_norm_run(a, call->in[0].shape);
    return n > 0 && is_by_element(call, 1, n) && is_by_element(call, 2, n) ? n : 0;
}

static int is_within_rows(const struct ig_call *call, int64_t run)
{
    return (int64_t)call->out[0].w * call->out[0].c % run == 0;
}

int ig_supports_norm_rows(const struct ig_call *call)
{
    const int64_t run = run_of(call);
    return run > 0 && is_within_rows(call, run);
}

int ig_supports_norm_runs(const struct ig_call *call)
{
    const int64_t run = run_of(call);
    return run > 0 && !is_within_rows(call, run);
}

int ig_supports_norm_instance(const struct ig_call *call)
{
    return is_norm(call) && ((const struct ig_norm *)call->attrs)->kind == IG_NORM_INSTANCE && call->in[0].shape->rank >= 3;
}

/* Channels of a group; 0: it is another normalisation. */
static int32_t group_of(const struct ig_call *call)
{
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    return is_norm(call) && a->kind == IG_NORM_GROUP && call->in[0].shape->rank >= 3 ? call->in[0].c / a->groups : 0;
}

int ig_supports_norm_groups16(const struct ig_call *call)
{
    const int32_t n = group_of(call);
    return n > 0 && 16 % n == 0;
}

int ig_supports_norm_groups64(const struct ig_call *call)
{
    const int32_t n = group_of(call);
    return n > 16 && 64 % n == 0;
}

int ig_supports_norm_group(const struct ig_call *call)
{
    const int32_t n = group_of(call);
    return n > 0 && 64 % n != 0;
}

size_t ig_scratch_norm(const struct ig_call *call)
{
    enum { VECTOR = 8 };
    return ((size_t)call->in[0].c + VECTOR) * (sizeof(double) + 2 * sizeof(float));
}

int ig_supports_scatter(const struct ig_call *call)
{
    const int none = ((const struct ig_axis *)call->attrs)->mode == IG_SCATTER_NONE;
    return scatter_any_nd__supports(call) && (none || call->out[0].shape->type == IG_F32);
}

int ig_supports_reduce(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && ((const struct ig_reduce *)call->attrs)->kind != IG_REDUCE_PROD;
}

static int is_last(const struct ig_call *call)
{
    return ((const struct ig_topk *)call->attrs)->axis >= call->in[0].shape->rank - 1;
}

int ig_supports_topk(const struct ig_call *call)
{
    return ig_is_f32(&call->in[0]) && is_last(call) && topk_any_nd__supports(call);
}

int ig_supports_topk_across(const struct ig_call *call)
{
    return ig_is_f32(&call->in[0]) && !is_last(call) && topk_any_nd__supports(call);
}

size_t ig_scratch_topk(const struct ig_call *call)
{
    return (size_t)ig_topk_count(call) * sizeof(struct ig_topk_item);
}

int ig_supports_cumsum(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && ((const struct ig_cumsum *)call->attrs)->axis >= call->in[0].shape->rank - 1;
}

int ig_supports_cumsum_across(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && ((const struct ig_cumsum *)call->attrs)->axis < call->in[0].shape->rank - 1;
}

int ig_supports_pad(const struct ig_call *call)
{
    return call->in[0].shape->rank > 0 && pad_any_nd__supports(call);
}
