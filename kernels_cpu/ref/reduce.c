/* Reductions over the axes in a mask: sums in double, or exactly in 64-bit integers for integer tensors. */
#include <math.h>

#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

static double first(int32_t kind)
{
    switch (kind) {
    case IG_REDUCE_PROD: return 1;
    case IG_REDUCE_MAX: return -HUGE_VAL;
    case IG_REDUCE_MIN: return HUGE_VAL;
    default: return 0;
    }
}

static double join(int32_t kind, double acc, double x)
{
    switch (kind) {
    case IG_REDUCE_MAX: return x > acc || x != x ? x : acc;
    case IG_REDUCE_MIN: return x < acc || x != x ? x : acc;
    case IG_REDUCE_PROD: return acc * x;
    case IG_REDUCE_L1: return acc + fabs(x);
    case IG_REDUCE_L2:
    case IG_REDUCE_SUM_SQUARE: return acc + x * x;
    default: return acc + x;
    }
}

static double last(int32_t kind, double acc, double n)
{
    switch (kind) {
    case IG_REDUCE_MEAN: return acc / n;
    case IG_REDUCE_L2: return sqrt(acc);
    case IG_REDUCE_LOG_SUM: return log(acc);
    default: return acc;
    }
}

/* ln sum e^x = max + ln sum e^(x - max) */
static double log_sum_exp(const struct ig_operand *in, const struct ig_walk *w, int64_t base)
{
    double max = -HUGE_VAL, sum = 0;
    for (int64_t i = 0; i < w->count; i++)
        max = join(IG_REDUCE_MAX, max, ig_get_real(in->data, in->shape->type, base + ig_walk_at(w, i)));
    if (max == -HUGE_VAL || max == HUGE_VAL) return max;
    for (int64_t i = 0; i < w->count; i++)
        sum += exp(ig_get_real(in->data, in->shape->type, base + ig_walk_at(w, i)) - max);
    return max + log(sum);
}

static double reduce_real(const struct ig_operand *in, const struct ig_walk *w, int64_t base, int32_t kind)
{
    if (kind == IG_REDUCE_LOG_SUM_EXP) return log_sum_exp(in, w, base);
    double acc = first(kind);
    for (int64_t i = 0; i < w->count; i++)
        acc = join(kind, acc, ig_get_real(in->data, in->shape->type, base + ig_walk_at(w, i)));
    return last(kind, acc, (double)w->count);
}

/* Wraps around like the machine's integers; the mean truncates. */
static int64_t reduce_int(const struct ig_operand *in, const struct ig_walk *w, int64_t base, int32_t kind)
{
    int64_t acc = ig_get_int(in->data, in->shape->type, base);
    if (kind == IG_REDUCE_L1 && acc < 0) acc = -acc;
    if (kind == IG_REDUCE_SUM_SQUARE) acc = (int64_t)((uint64_t)acc * (uint64_t)acc);
    for (int64_t i = 1; i < w->count; i++) {
        int64_t x = ig_get_int(in->data, in->shape->type, base + ig_walk_at(w, i));
        if (kind == IG_REDUCE_MAX) acc = x > acc ? x : acc;
        else if (kind == IG_REDUCE_MIN) acc = x < acc ? x : acc;
        else if (kind == IG_REDUCE_PROD) acc = (int64_t)((uint64_t)acc * (uint64_t)x);
        else if (kind == IG_REDUCE_SUM_SQUARE) acc = (int64_t)((uint64_t)acc + (uint64_t)x * (uint64_t)x);
        else if (kind == IG_REDUCE_L1 && x < 0) acc = (int64_t)((uint64_t)acc - (uint64_t)x);
        else acc = (int64_t)((uint64_t)acc + (uint64_t)x);
    }
    return kind == IG_REDUCE_MEAN ? acc / w->count : acc;
}

static int is_exact(int32_t type, int32_t kind)
{
    return type != IG_F32 && kind != IG_REDUCE_L2 && kind != IG_REDUCE_LOG_SUM &&
           kind != IG_REDUCE_LOG_SUM_EXP;
}

void reduce_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_reduce *a = call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t type = out->shape->type;
    struct ig_walk kept = ig_walk_axes(in->shape, a->mask, 0);
    struct ig_walk gone = ig_walk_axes(in->shape, a->mask, 1);
    (void)range, (void)scratch;
    for (int64_t i = 0; i < kept.count; i++) {
        int64_t base = ig_walk_at(&kept, i);
        if (is_exact(type, a->kind))
            ig_put_int(out->data, type, i, reduce_int(in, &gone, base, a->kind));
        else ig_put_real(out->data, type, i, reduce_real(in, &gone, base, a->kind));
    }
}
