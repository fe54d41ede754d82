#include "bench/testset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/onnx.pb-c.h"

enum { ONNX_FLOAT = 1 };

/* The model, only to learn the names, order and shapes of its inputs and outputs. */
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
    unsigned char *data = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
    Onnx__ModelProto *m = NULL;
    if (data && fread(data, 1, (size_t)bytes, f) == (size_t)bytes)
        m = onnx__model_proto__unpack(NULL, (size_t)bytes, data);
    fclose(f);
    free(data);
    if (m && m->graph) return m;
    if (m) onnx__model_proto__free_unpacked(m, NULL);
    snprintf(err, n, "%s: not an ONNX model", path);
    return NULL;
}

static int is_initializer(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (g->initializer[i]->name && !strcmp(g->initializer[i]->name, name)) return 1;
    return 0;
}

/* File <set>/<kind>_<k>.pb as the tensor `name`: 1, 0 if there is none, -1 on error. */
static int read_tensor(struct ig_test_tensor *t, const char *set, const char *kind, int k, const char *name,
                       char *err, size_t n)
{
    char path[4200], unused[256];
    snprintf(path, sizeof path, "%s/%s_%d.pb", set, kind, k);
    if (access(path, R_OK)) return 0;
    snprintf(t->name, sizeof t->name, "%s", name ? name : "");
    return ig_read_tensor_pb(path, &t->shape, &t->data, unused, sizeof unused, err, n) ? -1 : 1;
}

static int made_up_input(struct ig_test_tensor *t, const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *type = info->type ? info->type->tensor_type : NULL;
    if (!type || !type->shape || type->elem_type != ONNX_FLOAT || type->shape->n_dim > IG_MAX_RANK) return 0;
    struct ig_shape s = {.type = IG_F32, .rank = (int32_t)type->shape->n_dim};
    for (int i = 0; i < IG_MAX_RANK; i++) {
        int64_t dim = i < s.rank ? type->shape->dim[i]->dim_value : 1;
        if (dim < 1 || dim > 1 << 26) return 0;
        s.dims[i] = (int32_t)dim;
        if (ig_count(&s) > 1 << 26) return 0;
    }
    int64_t count = ig_count(&s);
    t->shape = s;
    if (!(t->data = malloc((size_t)count * sizeof(float)))) return 0;
    for (int64_t i = 0; i < count; i++) ((float *)t->data)[i] = (float)((double)i / (double)count);
    snprintf(t->name, sizeof t->name, "%s", info->name);
    return 1;
}

static int read_inputs(struct ig_testset *t, const Onnx__GraphProto *g, const char *set, char *err, size_t n)
{
    int k = 0;
    for (size_t i = 0; i < g->n_input && t->n_in < IG_TESTSET_TENSORS; i++) {
        if (!g->input[i]->name || is_initializer(g, g->input[i]->name)) continue;
        struct ig_test_tensor *to = &t->in[t->n_in];
        int got = read_tensor(to, set, "input", k++, g->input[i]->name, err, n);
        if (!got && t->n_in == 0) got = made_up_input(to, g->input[i]);
        if (got < 0) return -1;
        t->n_in += got;
    }
    return 0;
}

static int read_outputs(struct ig_testset *t, const Onnx__GraphProto *g, const char *set, char *err, size_t n)
{
    for (size_t i = 0; i < g->n_output && t->n_out < IG_TESTSET_TENSORS; i++) {
        int got = read_tensor(&t->out[t->n_out], set, "output", (int)i, g->output[i]->name, err, n);
        if (got < 0) return -1;
        t->n_out += got;
    }
    return 0;
}

int ig_testset_read(struct ig_testset *t, const char *dir, int n, char *err, size_t err_bytes)
{
    char set[4096];
    memset(t, 0, sizeof *t);
    if (snprintf(t->model, sizeof t->model, "%s/model.onnx", dir) >= (int)sizeof t->model ||
        snprintf(set, sizeof set, "%s/test_data_set_%d", dir, n) >= (int)sizeof set) {
        snprintf(err, err_bytes, "%.200s...: name too long", dir);
        return -1;
    }
    if (access(set, R_OK)) return 1;
    Onnx__ModelProto *m = read_model(t->model, err, err_bytes);
    int status =
        !m || read_inputs(t, m->graph, set, err, err_bytes) || read_outputs(t, m->graph, set, err, err_bytes);
    if (m) onnx__model_proto__free_unpacked(m, NULL);
    if (!status) return 0;
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
    const struct ig_shape *s = &t->in[i].shape;
    switch (level) {
    case 0: return 0;
    case 1: return s->rank <= 1 && (s->type == IG_I64 || s->type == IG_I32);
    case 2: return i > 0;
    default: return 1;
    }
}

int32_t ig_testset_bind(const struct ig_testset *t, int level, struct ig_bind *binds)
{
    int32_t n = 0;
    for (int32_t i = 0; i < t->n_in; i++) {
        int bound = is_bound(t, i, level);
        binds[i] = (struct ig_bind){t->in[i].name, t->in[i].shape, bound ? t->in[i].data : NULL};
        n += bound;
    }
    return n;
}

const struct ig_test_tensor *ig_testset_input(const struct ig_testset *t, const struct ig_graph *g, int32_t i)
{
    const struct ig_value *v = &g->values[g->inputs[i]];
    for (int32_t k = 0; k < t->n_in; k++) {
        const struct ig_shape *s = &t->in[k].shape;
        if (!strcmp(t->in[k].name, v->name) && s->type == v->shape.type && s->rank == v->shape.rank &&
            !memcmp(s->dims, v->shape.dims, (size_t)s->rank * sizeof *s->dims))
            return &t->in[k];
    }
    return NULL;
}
