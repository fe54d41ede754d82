#include "bench/testset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct ig_tolerance ig_node_tolerance = {1e-5, 1e-3, 0};

/* Files <kind>_0.pb, <kind>_1.pb, ... of one data set. */
static int read_all(struct ig_test_tensor *t, int32_t *n, const char *set, const char *kind, char *err,
                    size_t err_bytes)
{
    for (*n = 0; *n < IG_TESTSET_TENSORS; ++*n) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s_%d.pb", set, kind, (int)*n);
        if (access(path, F_OK)) return 0;
        struct ig_test_tensor *to = &t[*n];
        if (ig_read_tensor_pb(path, &to->shape, &to->data, to->name, sizeof to->name, err, err_bytes))
            return -1;
    }
    return 0;
}

int ig_testset_read(struct ig_testset *t, const char *dir, int n, char *err, size_t err_bytes)
{
    char set[3072];
    memset(t, 0, sizeof *t);
    snprintf(set, sizeof set, "%s/test_data_set_%d", dir, n);
    if (access(set, F_OK)) return 1;
    if (!read_all(t->in, &t->n_in, set, "input", err, err_bytes) &&
        !read_all(t->out, &t->n_out, set, "output", err, err_bytes))
        return 0;
    ig_testset_free(t);
    return -1;
}

void ig_testset_free(struct ig_testset *t)
{
    for (int32_t i = 0; i < t->n_in; i++) free(t->in[i].data);
    for (int32_t i = 0; i < t->n_out; i++) free(t->out[i].data);
    t->n_in = t->n_out = 0;
}

static int is_bound(const struct ig_testset *t, int32_t i, int level)
{
    int32_t type = t->in[i].shape.type;
    if (!t->in[i].name[0] || level == 0) return 0;
    if (level == 1) return i > 0 && t->in[i].shape.rank <= 1 && (type == IG_I64 || type == IG_I32);
    return level > 2 || i > 0;
}

int32_t ig_testset_bind(const struct ig_testset *t, int level, struct ig_bind *binds)
{
    int32_t n = 0;
    for (int32_t i = 0; i < t->n_in; i++)
        if (is_bound(t, i, level))
            binds[n++] = (struct ig_bind){t->in[i].name, t->in[i].shape, t->in[i].data};
    return n;
}

static int same_dims(const struct ig_shape *a, const struct ig_shape *b)
{
    if (a->rank != b->rank) return 0;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return 0;
    return 1;
}

const struct ig_test_tensor *ig_testset_input(const struct ig_testset *t, const struct ig_graph *g, int32_t i)
{
    const struct ig_value *v = &g->values[g->inputs[i]];
    const struct ig_test_tensor *found = g->n_inputs == t->n_in ? &t->in[i] : NULL;
    for (int32_t k = 0; k < t->n_in; k++)
        if (!strcmp(t->in[k].name, v->name)) found = &t->in[k];
    if (!found || found->shape.type != v->shape.type || !same_dims(&found->shape, &v->shape)) return NULL;
    return found;
}

static float half_to_float(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    float v = exponent == 31
                  ? (mantissa ? NAN : INFINITY)
                  : ldexpf((float)(exponent ? mantissa + 1024 : mantissa), (exponent ? exponent : 1) - 25);
    return h >> 15 ? -v : v;
}

static double element(const void *data, int32_t type, int64_t i)
{
    switch (type) {
    case IG_F32: return ((const float *)data)[i];
    case IG_I32: return ((const int32_t *)data)[i];
    case IG_I64: return (double)((const int64_t *)data)[i];
    case IG_I8: return ((const int8_t *)data)[i];
    case IG_F16: return half_to_float(((const uint16_t *)data)[i]);
    default: return ((const uint8_t *)data)[i];
    }
}

static const char *describe(const struct ig_shape *s, char text[128])
{
    static const char *const types[IG_TYPES] = {"f32", "i32", "i64", "u8", "i8", "bool", "f16"};
    int at = snprintf(text, 128, "%s[", types[s->type]);
    for (int i = 0; i < s->rank; i++)
        at += snprintf(text + at, 128 - (size_t)at, i ? ",%d" : "%d", (int)s->dims[i]);
    snprintf(text + at, 128 - (size_t)at, "]");
    return text;
}

static double largest(const struct ig_test_tensor *t)
{
    double max = 0;
    for (int64_t k = 0; k < ig_count(&t->shape); k++) {
        double r = fabs(element(t->data, t->shape.type, k));
        if (r > max && r < INFINITY) max = r;
    }
    return max;
}

/* Old test sets store some results in a wider type than the operator's: then the numbers must be equal. */
static double allowed(const struct ig_tolerance *t, double max, double r, int same_type)
{
    return same_type && !isinf(r) ? t->of_max * max + t->of_each * fabs(r) + t->absolute : 0;
}

int ig_testset_compare(const struct ig_testset *t, int32_t i, const struct ig_shape *shape, const void *got,
                       const struct ig_tolerance *tolerance, double *error, char *err, size_t err_bytes)
{
    char a[128], b[128];
    const struct ig_test_tensor *ref = &t->out[i];
    double max = largest(ref), worst = 0;
    *error = INFINITY;
    if (!same_dims(shape, &ref->shape)) {
        snprintf(err, err_bytes, "output %d is %s, expected %s", (int)i, describe(shape, a),
                 describe(&ref->shape, b));
        return -1;
    }
    for (int64_t k = 0; k < ig_count(shape); k++) {
        double x = element(got, shape->type, k), r = element(ref->data, ref->shape.type, k), d = fabs(x - r);
        if (x == r || (x != x && r != r)) continue;
        if (!(d <= allowed(tolerance, max, r, shape->type == ref->shape.type))) {
            snprintf(err, err_bytes, "output %d, element %lld: %.9g, expected %.9g", (int)i, (long long)k, x,
                     r);
            return -1;
        }
        if (d > worst) worst = d;
    }
    *error = max > 0 ? worst / max : worst;
    return 0;
}
