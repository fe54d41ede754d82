/* One backend test: compiled, run, compared; and where it is wrong, the layer to blame. */
#include <stdlib.h>
#include <string.h>

#include "bench/diverge.h"
#include "cli/verify.h"
#include "kernels_cpu/eval.h"

enum { NETWORK_NODES = 20 }; /* a model of more nodes is judged as a network, not as an operator */

/*
 * Binds shape-like inputs as constants only where the model cannot be compiled otherwise. NULL with the
 * refusal of the model without any in err.
 */
static struct ig_graph *compile(const struct ig_testset *t, int half, char *err, size_t n)
{
    struct ig_bind binds[IG_TESTSET_TENSORS];
    static char why[IG_ERROR_BYTES];
    for (int level = 0; level < IG_TESTSET_LEVELS; level++) {
        ig_testset_bind(t, level, binds);
        struct ig_import_options o = {.binds = binds, .n_binds = t->n_in, .eval = ig_ref_eval};
        struct ig_graph *g = ig_import_file(t->model, &o, why, sizeof why);
        if (!level && !g) snprintf(err, n, "%s", why);
        if (!g) continue;
        ig_compile_graph(g, t->model, half, 0);
        return g;
    }
    return NULL;
}

/* The first output that is not as expected: -1, with what is wrong in err; else 0. *error: the largest of
 * all. */
static int compare(const struct ig_testset *t, const struct ig_graph *g, const struct ig_tolerance *tolerance,
                   void *const *outputs, double *error, char *err, size_t n)
{
    char what[256];
    int status = 0;
    if (!t->n_out) {
        snprintf(err, n, "no expected output");
        return -1;
    }
    for (int32_t i = 0; i < t->n_out && i < g->n_outputs; i++) {
        const struct ig_test_tensor *want = &t->out[i];
        if (!ig_compare(&g->values[g->outputs[i]].shape, outputs[i], &want->shape, want->data, tolerance,
                        error, what, sizeof what) ||
            status)
            continue;
        snprintf(err, n, "output %d, %s", (int)i, what);
        status = -1;
    }
    return status;
}

static const struct ig_tolerance *tolerance_of(const struct ig_graph *g, const struct ig_verify_options *o)
{
    static struct ig_tolerance given;
    if (o->tolerance > 0) return given = (struct ig_tolerance){.of_max = o->tolerance}, &given;
    if (o->half) return &ig_half_tolerance;
    return o->draw || g->onnx_nodes > NETWORK_NODES ? &ig_network_tolerance : &ig_node_tolerance;
}

/* Runs the lowered case and judges its outputs. */
static void run(const struct ig_testset *t, struct ig_lowered *l, const struct ig_verify_options *o,
                const void *const *inputs, void *const *outputs, char *line)
{
    const struct ig_graph *g = l->graph;
    const struct ig_tolerance *tolerance = tolerance_of(g, o);
    char err[400], layer[400];
    double error = 0;
    if (ig_verify_run(l, o, inputs, outputs, err, sizeof err)) {
        snprintf(line, IG_VERDICT_BYTES, "FAIL %s", err);
        return;
    }
    if (!compare(t, g, tolerance, outputs, &error, err, sizeof err)) {
        snprintf(line, IG_VERDICT_BYTES, "PASS %.3g", error);
        return;
    }
    if (o->fatbin) { /* whose layers run nowhere else */
        snprintf(line, IG_VERDICT_BYTES, "FAIL %.3g %s", error, err);
        return;
    }
    int found = ig_first_divergence(l, inputs, tolerance, layer, sizeof layer);
    snprintf(line, IG_VERDICT_BYTES, "FAIL %.3g %s; first diverging layer: %s%s", error, err,
             found ? "" : "none", found < 0 ? "unknown, " : "");
    size_t at = strlen(line);
    if (found) snprintf(line + at, IG_VERDICT_BYTES - at, "%s", layer);
}

/* The case's data for every input of the graph: 0, or -1 naming one that has none. */
static int find_inputs(const struct ig_testset *t, const struct ig_graph *g, const void **inputs, char *line)
{
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const struct ig_test_tensor *data = i < IG_TESTSET_TENSORS ? ig_testset_input(t, g, i) : NULL;
        if (!data) {
            snprintf(line, IG_VERDICT_BYTES, "FAIL no data for input '%.200s'", g->values[g->inputs[i]].name);
            return -1;
        }
        inputs[i] = data->data;
    }
    return 0;
}

static void plan_and_run(const struct ig_testset *t, const struct ig_graph *g,
                         const struct ig_verify_options *o, char *line)
{
    const void *inputs[IG_TESTSET_TENSORS] = {NULL};
    char err[900];
    if (find_inputs(t, g, inputs, line)) return;
    struct ig_plan_options po = {.target = o->target, .isa = o->isa, .threads = o->threads,
                                 .max_error = IG_MAX_ERROR, .bands = o->fatbin ? IG_BANDS_OFF : IG_BANDS_AUTO};
    struct ig_profile drawn = {.timings = NULL};
    if (o->draw) ig_verify_draw(g, o, t->model, &drawn, &po);
    struct ig_plan *p = ig_plan_make(g, &po, err, sizeof err);
    free(drawn.timings);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) {
        snprintf(line, IG_VERDICT_BYTES, "FAIL %s", err);
        ig_plan_free(p);
        return;
    }
    struct ig_lowered *l = ig_lower(g, p);
    void **outputs = calloc((size_t)g->n_outputs + 1, sizeof *outputs);
    if (!outputs) ig_fatal("out of memory");
    for (int32_t i = 0; i < g->n_outputs; i++) {
        outputs[i] = calloc(1, (size_t)ig_bytes(&g->values[g->outputs[i]].shape) + 1);
        if (!outputs[i]) ig_fatal("out of memory");
    }
    run(t, l, o, inputs, outputs, line);
    for (int32_t i = 0; i < g->n_outputs; i++) free(outputs[i]);
    free(outputs);
    ig_lowered_free(l);
    ig_plan_free(p);
}

static void judge(const struct ig_testset *t, const struct ig_verify_options *o, char *line)
{
    static char err[IG_ERROR_BYTES];
    struct ig_graph *g = compile(t, o->half, err, sizeof err);
    if (g) plan_and_run(t, g, o, line);
    else snprintf(line, IG_VERDICT_BYTES, "REFUSED %.900s", err);
    for (char *p = line; *p; p++)
        if (*p == '\n') *p = ' ';
    ig_graph_free(g);
}

void ig_verify_case(const char *dir, const struct ig_verify_options *o, char *line)
{
    static struct ig_testset t;
    char err[900];
    snprintf(line, IG_VERDICT_BYTES, "REFUSED no test_data_set_0");
    for (int set = 0;; set++) {
        int got = ig_testset_read(&t, dir, set, err, sizeof err);
        if (got < 0) snprintf(line, IG_VERDICT_BYTES, "REFUSED %s", err);
        if (got) return;
        judge(&t, o, line);
        ig_testset_free(&t);
        if (strncmp(line, "PASS", 4)) return;
    }
}
