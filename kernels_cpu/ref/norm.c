/*
 * Normalisations: for every group of elements a shift and a factor from the group's statistics (in double),
 * then y = (x - shift) * factor * scale + bias, scale and bias broadcast to x. The kinds differ in the group
 * and in the statistics.
 */
#include <math.h>

#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

static void moments(const float *x, const struct ig_walk *w, int64_t base, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < w->count; i++) sum += x[base + ig_walk_at(w, i)];
    *mean = sum / (double)w->count;
    for (int64_t i = 0; i < w->count; i++) {
        double d = x[base + ig_walk_at(w, i)] - *mean;
        squares += d * d;
    }
    *variance = squares / (double)w->count;
}

static double p_norm(const float *x, const struct ig_walk *w, int64_t base, int32_t p)
{
    double sum = 0;
    for (int64_t i = 0; i < w->count; i++) {
        double v = fabs((double)x[base + ig_walk_at(w, i)]);
        sum += p == 1 ? v : p == 2 ? v * v : pow(v, p);
    }
    return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1.0 / p);
}

/* Shift and factor of the group of elements that `w` visits from `base`. */
static void statistics(const struct ig_norm *a, const float *x, const struct ig_walk *w, int64_t base,
                       double *shift, double *factor)
{
    double variance, norm;
    *shift = 0;
    switch (a->kind) {
    case IG_NORM_RMS:
        norm = p_norm(x, w, base, 2);
        *factor = 1 / sqrt(norm * norm / (double)w->count + a->epsilon);
        break;
    case IG_NORM_LP:
        norm = p_norm(x, w, base, a->p);
        *factor = norm > 0 ? 1 / norm : 0;
        break;
    case IG_NORM_MVN:
        moments(x, w, base, shift, &variance);
        *factor = 1 / (sqrt(variance) + a->epsilon);
        break;
    default:
        moments(x, w, base, shift, &variance);
        *factor = 1 / sqrt(variance + a->epsilon);
    }
}

/* The tensor as the groups see it: for group norm the channels become [groups, C/groups]. */
static struct ig_shape view(const struct ig_norm *a, const struct ig_shape *s)
{
    struct ig_shape v = {s->type, 3, {1, 1, 1, 1, 1, 1, 1, 1}};
    if (a->kind == IG_NORM_INSTANCE || a->kind == IG_NORM_GROUP) {
        int32_t c = s->dims[s->rank - 1], groups = a->kind == IG_NORM_GROUP ? a->groups : c;
        v.rank = 4;
        v.dims[0] = s->dims[0];
        v.dims[1] = (int32_t)ig_span(s, 1, s->rank - 1);
        v.dims[2] = groups;
        v.dims[3] = c / groups;
        return v;
    }
    return *s;
}

/* Bit d: the dimension d of the view belongs to a group. */
static int group_mask(const struct ig_norm *a, const struct ig_shape *v)
{
    switch (a->kind) {
    case IG_NORM_INSTANCE:
    case IG_NORM_GROUP: return 1 << 1 | 1 << 3;
    case IG_NORM_LP: return 1 << a->axis;
    case IG_NORM_MVN: return a->mask;
    default: return (1 << v->rank) - (1 << a->axis);
    }
}

static void apply(const struct ig_call *call, const struct ig_walk *w, int64_t base, double shift,
                  double factor)
{
    const struct ig_operand *scale = &call->in[1], *bias = &call->in[2];
    const float *x = call->in[0].data, *s = call->n_in > 1 ? scale->data : NULL,
                *b = call->n_in > 2 ? bias->data : NULL;
    float *y = call->out[0].data;
    struct ig_walk ws = {.count = 1}, wb = {.count = 1};
    if (s) ws = ig_walk_broadcast(scale->shape, call->in[0].shape);
    if (b) wb = ig_walk_broadcast(bias->shape, call->in[0].shape);
    for (int64_t i = 0; i < w->count; i++) {
        int64_t at = base + ig_walk_at(w, i);
        double v = (x[at] - shift) * factor;
        if (s) v *= s[ig_walk_at(&ws, at)];
        if (b) v += b[ig_walk_at(&wb, at)];
        y[at] = (float)v;
    }
}

int norm_f32_nd__supports(const struct ig_call *call)
{
    const struct ig_norm *a = call->attrs;
    int rank = call->in[0].shape->rank;
    for (int i = 1; i < call->n_in; i++)
        if (call->in[i].shape && call->in[i].shape->type != IG_F32) return 0;
    return ig_ref_is_f32(call) && (rank >= 2 || (a->kind != IG_NORM_INSTANCE && a->kind != IG_NORM_GROUP));
}

void norm_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_norm *a = call->attrs;
    const struct ig_shape v = view(a, call->in[0].shape);
    int mask = group_mask(a, &v);
    struct ig_walk groups = ig_walk_axes(&v, mask, 0), members = ig_walk_axes(&v, mask, 1);
    float *shifts = call->n_out > 1 ? call->out[1].data : NULL,
          *factors = call->n_out > 2 ? call->out[2].data : NULL;
    (void)range, (void)scratch;
    for (int64_t i = 0; i < groups.count; i++) {
        int64_t base = ig_walk_at(&groups, i);
        double shift, factor;
        statistics(a, call->in[0].data, &members, base, &shift, &factor);
        apply(call, &members, base, shift, factor);
        if (shifts) shifts[i] = (float)shift;
        if (factors) factors[i] = (float)factor;
    }
}
