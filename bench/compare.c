#include "bench/compare.h"

#include <math.h>
#include <stdio.h>

const struct ig_tolerance ig_node_tolerance = {1e-5, 1e-3, 0};
const struct ig_tolerance ig_network_tolerance = {1e-4, 0, 1e-6};
const struct ig_tolerance ig_half_tolerance = {2e-2, 0, 1e-3};

static int is_real(int32_t type)
{
    return type == IG_F32 || type == IG_F16;
}

static int comparable(const struct ig_shape *a, const struct ig_shape *b)
{
    if (a->type != b->type && !(is_real(a->type) && is_real(b->type))) return 0;
    if (a->rank != b->rank) return 0;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return 0;
    return 1;
}

static const char *describe(const struct ig_shape *s, char text[128])
{
    int at = snprintf(text, 128, "%s[", ig_type_name(s->type));
    for (int i = 0; i < s->rank; i++)
        at += snprintf(text + at, 128 - (size_t)at, i ? ",%d" : "%d", (int)s->dims[i]);
    snprintf(text + at, 128 - (size_t)at, "]");
    return text;
}

static double largest(const struct ig_shape *s, const void *data)
{
    double max = 0;
    for (int64_t k = 0; k < ig_count(s); k++) {
        double r = fabs(ig_as_double(s->type, data, k));
        if (r > max && r < INFINITY) max = r;
    }
    return max;
}

/* How far an element may be from r; `half`: one of the two was rounded to f16. */
static double allowed(const struct ig_tolerance *t, double max, double r, int half)
{
    if (isinf(r)) return 0;
    double rounding = half ? fabs(r) * 0x1p-11 + 0x1p-25 : 0;
    return t->of_max * max + t->of_each * fabs(r) + t->absolute + rounding;
}

int ig_compare(const struct ig_shape *s, const void *got, const struct ig_shape *r, const void *ref,
               const struct ig_tolerance *tolerance, double *error, char *err, size_t err_bytes)
{
    char a[128], b[128];
    int status = 0, half = s->type == IG_F16 || r->type == IG_F16;
    if (!comparable(s, r)) {
        snprintf(err, err_bytes, "%s, expected %s", describe(s, a), describe(r, b));
        return -1;
    }
    double max = is_real(r->type) ? largest(r, ref) : 0;
    for (int64_t k = 0; k < ig_count(s); k++) {
        double x = ig_as_double(s->type, got, k), y = ig_as_double(r->type, ref, k), d = fabs(x - y);
        if (x == y || (isnan(x) && isnan(y))) continue;
        if (!isfinite(d)) d = INFINITY;
        if (d > *error) *error = d;
        if (status || (is_real(s->type) && d <= allowed(tolerance, max, y, half))) continue;
        snprintf(err, err_bytes, "element %lld: %.9g, expected %.9g", (long long)k, x, y);
        status = -1;
    }
    return status;
}
