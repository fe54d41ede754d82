/* Reading, compiling and judging one backend test. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verify.h"
#include "graph/onnx.pb-c.h"
#include "kernels_cpu/eval.h"

static Onnx__ModelProto *read_model(const char *path, char *err, size_t n)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        snprintf(err, n, "%s: %s", path, strerror(errno));
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    long bytes = ftell(f);
    rewind(f);
    unsigned char *data = malloc((size_t)bytes + 1);
    Onnx__ModelProto *m = NULL;
    if (data && fread(data, 1, (size_t)bytes, f) == (size_t)bytes) m = onnx__model_proto__unpack(NULL, (size_t)bytes, data);
    if (!m || !m->graph) snprintf(err, n, "%s: not an ONNX model", path);
    fclose(f);
    free(data);
    return m && m->graph ? m : NULL;
}

static int is_initializer(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (g->initializer[i]->name && !strcmp(g->initializer[i]->name, name)) return 1;
    return 0;
}

static int read_tensor(struct ig_case_tensor *t, const char *dir, int set, const char *kind, int k, const char *name,
                       char *err, size_t n)
{
    char path[4400], unused[256];
    snprintf(path, sizeof path, "%s/test_data_set_%d/%s_%d.pb", dir, set, kind, k);
    if (access(path, R_OK)) return 0;
    snprintf(t->name, sizeof t->name, "%s", name);
    return ig_read_tensor_pb(path, &t->shape, &t->data, unused, sizeof unused, err, n) ? -1 : 1;
}

/* The ONNX "light" tests have no inputs stored: arange(n)/n. */
static int made_up_input(struct ig_case_tensor *t, const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *type = info->type ? info->type->tensor_type : NULL;
    if (!type || !type->shape || type->elem_type != 1) return 0;
    t->shape = (struct ig_shape){.type = IG_F32, .rank = (int32_t)type->shape->n_dim};
    if (t->shape.rank > IG_MAX_RANK) return 0;
    for (int i = 0; i < IG_MAX_RANK; i++)
        t->shape.dims[i] = i < t->shape.rank ? (int32_t)type->shape->dim[i]->dim_value : 1;
    int64_t count = ig_count(&t->shape);
    if (count < 1 || count > 1 << 26 || !(t->data = malloc((size_t)count * 4))) return 0;
    for (int64_t i = 0; i < count; i++) ((float *)t->data)[i] = (float)((double)i / (double)count);
    snprintf(t->name, sizeof t->name, "%s", info->name);
    return 1;
}

static int read_inputs(struct ig_case *c, const Onnx__GraphProto *g, const char *dir, int set, char *err, size_t n)
{
    int k = 0;
    for (size_t i = 0; i < g->n_input && c->n_in < IG_CASE_TENSORS; i++) {
        if (!g->input[i]->name || is_initializer(g, g->input[i]->name)) continue;
        struct ig_case_tensor *t = &c->in[c->n_in];
        int got = read_tensor(t, dir, set, "input", k++, g->input[i]->name, err, n);
        if (!got && c->n_in == 0) got = made_up_input(t, g->input[i]);
        if (got < 0) return -1;
        if (got) c->n_in++;
    }
    return 0;
}

int ig_case_read(struct ig_case *c, const char *dir, int set, char *err, size_t n)
{
    char path[4200];
    memset(c, 0, sizeof *c);
    snprintf(c->model, sizeof c->model, "%.4000s/model.onnx", dir);
    snprintf(path, sizeof path, "%.4000s/test_data_set_%d", dir, set);
    if (access(path, R_OK)) return 0;
    Onnx__ModelProto *m = read_model(c->model, err, n);
    if (!m) return -1;
    int status = read_inputs(c, m->graph, dir, set, err, n);
    for (size_t i = 0; !status && i < m->graph->n_output && c->n_out < IG_CASE_TENSORS; i++) {
        int got = read_tensor(&c->out[c->n_out], dir, set, "output", (int)i, m->graph->output[i]->name, err, n);
        if (got < 0) status = -1;
        else c->n_out += got;
    }
    onnx__model_proto__free_unpacked(m, NULL);
    return status ? -1 : 1;
}

void ig_case_free(struct ig_case *c)
{
    for (int i = 0; i < c->n_in; i++) free(c->in[i].data);
    for (int i = 0; i < c->n_out; i++) free(c->out[i].data);
}

/* Level 0: none; 1: integers of rank 0 and 1; 2: all but the first; 3: all. */
static int bind_at(const struct ig_case_tensor *t, int index, int level)
{
    int integer = t->shape.type == IG_I64 || t->shape.type == IG_I32;
    switch (level) {
    case 0: return 0;
    case 1: return integer && t->shape.rank <= 1;
    case 2: return index > 0;
    default: return 1;
    }
}

struct ig_graph *ig_case_compile(struct ig_case *c, char *err, size_t n)
{
    struct ig_bind binds[IG_CASE_TENSORS];
    static char why[IG_ERROR_BYTES];
    for (int level = 0; level < 4; level++) {
        struct ig_import_options o = {.binds = binds, .n_binds = c->n_in, .eval = ig_ref_eval};
        for (int i = 0; i < c->n_in; i++) {
            c->in[i].bound = bind_at(&c->in[i], i, level);
            binds[i] = (struct ig_bind){c->in[i].name, c->in[i].shape, c->in[i].bound ? c->in[i].data : NULL};
        }
        struct ig_graph *g = ig_import_file(c->model, &o, why, sizeof why);
        if (!level && !g) snprintf(err, n, "%s", why);
        if (!g) continue;
        ig_compile_graph(g, c->model);
        return g;
    }
    return NULL;
}

static double half(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    double v = exponent == 31 ? (mantissa ? NAN : INFINITY) : exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return h >> 15 ? -v : v;
}

static double element(int32_t type, const void *data, int64_t i)
{
    switch (type) {
    case IG_F32: return (double)((const float *)data)[i];
    case IG_I32: return ((const int32_t *)data)[i];
    case IG_I64: return (double)((const int64_t *)data)[i];
    case IG_I8: return ((const int8_t *)data)[i];
    case IG_F16: return half(((const uint16_t *)data)[i]);
    default: return ((const uint8_t *)data)[i];
    }
}

double ig_case_compare(const struct ig_case_tensor *want, int32_t got_type, const void *got, int network, double *worst)
{
    int64_t n = ig_count(&want->shape);
    int type = want->shape.type, real = type == IG_F32 || type == IG_F16;
    double largest = 0, ratio = 0;
    for (int64_t i = 0; i < n; i++) {
        double w = fabs(element(type, want->data, i));
        if (isfinite(w) && w > largest) largest = w;
    }
    for (int64_t i = 0; i < n; i++) {
        double w = element(type, want->data, i), g = element(got_type, got, i), d = fabs(w - g);
        if (w == g || (isnan(w) && isnan(g))) continue;
        double bound = !real ? 0 : network ? 1e-4 * largest + 1e-6 : 1e-5 * largest + 1e-3 * fabs(w);
        if (!isfinite(d)) d = INFINITY;
        if (got_type == IG_F16) bound += 1e-3 * fabs(w);
        if (d > *worst) *worst = d;
        double r = bound > 0 ? d / bound : INFINITY;
        if (r > ratio) ratio = r;
    }
    return ratio;
}
