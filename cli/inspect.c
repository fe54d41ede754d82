#include <stdlib.h>
#include <string.h>

#include "cli/arena.h"
#include "cli/cli.h"
#include "cli/layers.h"
#include "cli/pipes.h"
#include "runtime/host/text.h"

static const char help[] =
    "ingot inspect net.onnx\n"
    "ingot inspect --layers net.onnx\n"
    "ingot inspect --memory --svg arena.svg graph.json plan.json\n"
    "ingot inspect --stages graph.json plan.json\n\n"
    "Prints the layers of a network, its work and memory; or everything in it that cannot be\n"
    "compiled, and exits with 1.\n"
    "  --json                    one object on stdout\n"
    "  -o FILE                   write there instead of to stdout\n"
    "  --layers                  layers of an .onnx file by the names that a mapping uses; with -q nothing but these\n"
    "  --memory                  of a plan: where every tensor lies, and how long\n"
    "  --stages                  of a plan with stages: who runs what, and what passes between them\n"
    "  --svg FILE                the arena over time, as a picture\n"
    "  -q                        the first lines only, no layers\n" IG_SOURCE_HELP;

struct totals {
    double macs;
    int64_t parameters, parameter_bytes, largest;
};

/* Floats, and what is quantised; not indices. */
static int is_parameter(int32_t type)
{
    return type == IG_F32 || type == IG_F16 || type == IG_U8 || type == IG_I8;
}

static struct totals total(const struct ig_graph *g)
{
    struct totals t = {0};
    for (int32_t i = 0; i < g->n_nodes; i++) t.macs += g->nodes[i].macs;
    for (int32_t v = 0; v < g->n_values; v++) {
        const struct ig_value *x = &g->values[v];
        if (x->data) {
            if (is_parameter(x->shape.type)) t.parameters += ig_count(&x->shape);
            t.parameter_bytes += ig_bytes(&x->shape);
        } else if (ig_bytes(&x->shape) > t.largest) t.largest = ig_bytes(&x->shape);
    }
    return t;
}

/* "conv+relu": the op, its kind, what was fused. */
static void describe(const struct ig_node *n, char *text, size_t size)
{
    int is_conv = n->op == IG_CONV || n->op == IG_DECONV || n->op == IG_QLINEAR_CONV;
    int is_binary = n->op == IG_BINARY || n->op == IG_QLINEAR_BINARY;
    const struct ig_act *act = is_conv ? &n->attrs.conv.act
                               : n->op == IG_FC   ? &n->attrs.fc.act
                               : is_binary        ? &n->attrs.binary.act
                                                  : NULL;
    const char *name = ig_op_info((enum ig_op)n->op)->name;
    if (n->op == IG_UNARY) name = ig_unary_name(n->attrs.unary.act.kind);
    if (n->op == IG_BINARY) name = ig_binary_name(n->attrs.binary.kind);
    int at = snprintf(text, size, "%s", name);
    if (n->op == IG_QLINEAR_BINARY) at += snprintf(text + at, size - (size_t)at, " %s", ig_binary_name(n->attrs.binary.kind));
    if (n->op == IG_CONV || n->op == IG_QLINEAR_CONV) {
        const struct ig_window *w = &n->attrs.conv.w;
        at += snprintf(text + at, size - (size_t)at, " %dx%d", w->kh, w->kw);
        if (w->sh > 1 || w->sw > 1) at += snprintf(text + at, size - (size_t)at, "/%d", w->sh);
        if (n->attrs.conv.groups > 1)
            at += snprintf(text + at, size - (size_t)at, " g%d", n->attrs.conv.groups);
    }
    if ((n->op == IG_CONV || n->op == IG_FC) && n->n_in > 3 && n->in[3] >= 0 && (size_t)at < size)
        at += snprintf(text + at, size - (size_t)at, "+add");
    if (act && act->kind && (size_t)at < size)
        snprintf(text + at, size - (size_t)at, "+%s", ig_unary_name(act->kind));
}

static void print_layers(FILE *f, const struct ig_graph *g)
{
    char what[64], shape[96], name[41];
    fprintf(f, "  %-40s %-30s %-24s %10s\n", "layer", "op", "output (channels last)", "MMAC");
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        describe(n, what, sizeof what);
        fprintf(f, "  %-40s %-30s %-24s", ig_name_text(n->name, name, sizeof name), what,
                ig_shape_text(&g->values[n->out[0]].shape, shape, sizeof shape));
        if (n->macs > 0) fprintf(f, " %10.3f", n->macs * 1e-6);
        fputc('\n', f);
    }
}

static void print_io(FILE *f, const char *what, const struct ig_value *v)
{
    char name[256], shape[96];
    fprintf(f, "%s %s %s\n", what, ig_name_text(v->name, name, sizeof name),
            ig_shape_text(&v->shape, shape, sizeof shape));
}

static void print_text(FILE *f, const char *path, const struct ig_graph *g, int quiet)
{
    struct totals t = total(g);
    char parameters[32], bytes[32], largest[32];
    fprintf(f, "%s: opset %lld, %d node%s after folding (%d before)\n", path, (long long)g->opset, g->n_nodes,
            ig_plural(g->n_nodes), g->onnx_nodes);
    for (int32_t i = 0; i < g->n_inputs; i++) print_io(f, "input", &g->values[g->inputs[i]]);
    for (int32_t i = 0; i < g->n_outputs; i++) print_io(f, "output", &g->values[g->outputs[i]]);
    fprintf(f, "%.3f MMAC, %s parameters (%s B), largest tensor %s B\n", t.macs * 1e-6,
            ig_commas(t.parameters, parameters), ig_commas(t.parameter_bytes, bytes),
            ig_commas(t.largest, largest));
    if (ig_is_widened(g)) fputs("the file's weights have 16 bits; these have 32: --precision half keeps them in 16\n", f);
    if (!quiet) print_layers(f, g);
}

static void json_tensors(FILE *f, const char *key, const struct ig_graph *g, const int32_t *values, int32_t n)
{
    fprintf(f, "\"%s\":[", key);
    for (int32_t i = 0; i < n; i++) {
        if (i) fputc(',', f);
        ig_json_tensor(f, g->values[values[i]].name, &g->values[values[i]].shape);
    }
    fputs("]", f);
}

static void print_json(FILE *f, const struct ig_graph *g)
{
    struct totals t = total(g);
    char what[64];
    fputs("{", f);
    json_tensors(f, "inputs", g, g->inputs, g->n_inputs);
    fputs(",\n\"layers\":[\n", f);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        describe(n, what, sizeof what);
        fprintf(f, "{\"macs\":%.0f,\"name\":", n->macs);
        ig_json_string(f, n->name);
        fputs(",\"onnx\":", f);
        ig_json_string(f, n->onnx);
        fprintf(f, ",\"op\":\"%s\",", what);
        json_tensors(f, "outputs", g, n->out, n->n_out && n->out[0] >= 0 ? 1 : 0);
        fprintf(f, "}%s\n", i + 1 < g->n_nodes ? "," : "");
    }
    fprintf(
        f, "],\n\"largest_tensor_bytes\":%lld,\"macs\":%.0f,\"nodes\":%d,\"onnx_nodes\":%d,\"opset\":%lld,\n",
        (long long)t.largest, t.macs, g->n_nodes, g->onnx_nodes, (long long)g->opset);
    json_tensors(f, "outputs", g, g->outputs, g->n_outputs);
    fprintf(f, ",\n\"parameter_bytes\":%lld,\"parameters\":%lld,\"sha256\":\"%s\"}\n",
            (long long)t.parameter_bytes, (long long)t.parameters, g->source_sha256);
}

enum { MEMORY = 1, STAGES };

static void inspect_plan(const char *graph_path, const char *plan_path, const struct ig_source_options *source,
                         const char *out, const char *svg, int what, int json)
{
    char err[4096];
    struct ig_graph *g = ig_load_graph(graph_path, source);
    struct ig_plan *p = ig_plan_read(plan_path, g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    if (ig_validate_all(g, p, 0, err, sizeof err)) ig_fatal("%s: %s", plan_path, err);
    if (what == STAGES && !p->n_stages) ig_fatal("%s: a plan without stages", plan_path);
    FILE *f = ig_open_output(out);
    if (what == STAGES) ig_pipes_put(f, g, p, json);
    else if (json) ig_arena_json(f, g, p);
    else ig_arena_table(f, g, p);
    ig_close_output();
    if (svg) {
        ig_arena_svg(ig_open_output(svg), g, p);
        ig_close_output();
    }
    ig_plan_free(p);
    ig_graph_free(g);
}

int ig_verb_inspect(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},  {"json", 0, 0, 'j'}, {"output", 1, 0, 'o'},
                                          {"quiet", 0, 0, 'q'}, {"memory", 0, 0, 'm'}, {"layers", 0, 0, 'l'},
                                          {"stages", 0, 0, 'S'},
                                          {"svg", 1, 0, 's'},   IG_SOURCE_OPTIONS,   {0, 0, 0, 0}};
    struct ig_source_options source = {.n_binds = 0};
    const char *out = "-", *svg = NULL;
    int json = 0, quiet = 0, layers = 0, what = 0;
    for (int c; (c = getopt_long(argc, argv, "o:qh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'j': json = 1; break;
        case 'q': quiet = 1; break;
        case 'o': out = optarg; break;
        case 'l': layers = 1; break;
        case 'm': what = MEMORY; break;
        case 'S': what = STAGES; break;
        case 's': svg = optarg; break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(help);
        }
    if (optind != argc - 1 - (what > 0) || (svg && what != MEMORY) || (layers && what)) ig_usage(help);
    if (layers) {
        ig_inspect_layers(argv[optind], out, json, quiet);
        return 0;
    }
    if (what) {
        inspect_plan(argv[optind], argv[optind + 1], &source, out, svg, what, json);
        return 0;
    }
    struct ig_graph *g = ig_load_graph(argv[optind], &source);
    FILE *f = ig_open_output(out);
    if (json) print_json(f, g);
    else print_text(f, argv[optind], g, quiet);
    ig_close_output();
    ig_graph_free(g);
    return 0;
}
