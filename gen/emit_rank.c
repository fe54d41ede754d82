/*
 * <network>_<key>_main.c: the tables of runtime/mpi/rank.h. Parts of a rank run one at a time, so that their arenas lie over
 * each other.
 */
#include "gen/emit_rank.h"

#include "graph/version.h"

static const struct ig_rank_plan *own(const struct ig_emit_rank *e)
{
    return &e->ranks->at[e->rank];
}

static int is_gpu(const struct ig_emit_rank *e)
{
    return e->mapping->keys[e->rank].kind == IG_KEY_GPU;
}

static void emit_opening(FILE *f, const struct ig_emit_rank *e)
{
    fprintf(f, "/* Do not edit: made by ingot deploy %s.\n * network ", INGOT_VERSION);
    ig_emit_comment(f, e->network);
    fputs(" sha256 ", f);
    ig_emit_comment(f, e->graph->source_sha256);
    fprintf(f, "\n * rank %d of %d: ", e->rank, e->ranks->n);
    ig_emit_comment(f, e->mapping->keys[e->rank].name);
    fprintf(f, "\n * plan sha256 %s */\n\n#include \"runtime/mpi/rank.h\"\n%s\n", e->plan_sha256,
            e->whole->host_ops ? "#include \"runtime/host/spec.h\"\n" : "");
    if (is_gpu(e)) fputs("#include \"runtime/mpi/gpu.h\"\n\n", f);
}

/* Numbers of a table that may be empty, "name_3" or "name". */
static void emit_list(FILE *f, const char *type, const char *name, int32_t of, const int32_t *at, int32_t n)
{
    char suffix[16] = "";
    if (of >= 0) snprintf(suffix, sizeof suffix, "_%d", of);
    fprintf(f, "static const %s %s%s[%d] = {", type, name, suffix, n ? n : 1);
    for (int32_t i = 0; i < n; i++) fprintf(f, "%s%d", i ? ", " : "", at[i]);
    fprintf(f, "%s};\n", n ? "" : "0");
}

/* What a program's tables end with. */
static void emit_origin(FILE *f, const struct ig_emit_rank *e, const char *plan_sha256)
{
    fprintf(f, "    .plan_sha256 = \"%s\",\n    .source_sha256 = ", plan_sha256);
    ig_emit_string(f, e->graph->source_sha256);
    fputs(",\n    .target = ", f);
    ig_emit_string(f, e->target);
    fprintf(f, ", .tool = \"ingot %s\"};\n\n", INGOT_VERSION);
}

static void emit_part(FILE *f, const struct ig_emit_rank *e, int32_t i)
{
    const struct ig_emit *part = &e->parts[i];
    const struct ig_part_stores *stores = &own(e)->io[i];
    char layers[32];
    snprintf(layers, sizeof layers, "layers_%d", i);
    fprintf(f, "extern const struct ig_model %s_model;\n", part->prefix);
    fprintf(f, "/* Weak: large weights are not linked but appended to the program's file. */\n");
    fprintf(f, "extern const unsigned char %s_weights[] __attribute__((weak));\n\n", part->prefix);
    ig_emit_layers(f, layers, part->lowered);
    fprintf(f, "static const struct ig_program program_%d = {\n    .model = &%s_model, .layers = %s,\n", i, part->prefix,
            layers);
    fprintf(f, "    .weights = %s_weights, .std = {1, 1, 1, 1}, ", part->prefix);
    ig_emit_isa(f, part->lowered);
    fputs(",\n", f);
    emit_origin(f, e, part->plan_sha256);
    emit_list(f, "int32_t", "in", i, stores->in, stores->n_in);
    emit_list(f, "int32_t", "out", i, stores->out, stores->n_out);
    fputc('\n', f);
}

static void emit_parts(FILE *f, const struct ig_emit_rank *e)
{
    int32_t n = own(e)->n_parts;
    for (int32_t i = 0; i < n; i++) emit_part(f, e, i);
    fprintf(f, "static const struct ig_rank_part parts[%d] = {\n", n ? n : 1);
    for (int32_t i = 0; i < n; i++) fprintf(f, "    {&program_%d, 0, in_%d, out_%d},\n", i, i, i);
    fprintf(f, "%s};\n\n", n ? "" : "    {0, 0, 0, 0},\n");
}

/* Of a GPU key, beside the CPU's. */
static void emit_gpu(FILE *f, const struct ig_emit_rank *e)
{
    int32_t n = own(e)->n_parts;
    for (int32_t i = 0; i < n; i++) {
        const char *p = e->parts[i].prefix;
        fprintf(f, "extern const struct ig_gpu_plan %s_gpu_plan;\n", p);
        fprintf(f, "extern const unsigned char %s_gpu_weights[] __attribute__((weak));\n", p);
    }
    fprintf(f, "\nstatic const struct ig_rank_launches launches[%d] = {\n", n);
    for (int32_t i = 0; i < n; i++)
        fprintf(f, "    {&%s_gpu_plan, %s_gpu_weights, 0x%016llxu},\n", e->parts[i].prefix, e->parts[i].prefix,
                (unsigned long long)e->parts[i].gpu->lowered->model.weights_hash);
    fputs("};\nstatic const struct ig_rank_gpu gpu = {.parts = launches, ", f);
    ig_emit_gpu_chips(f, e->parts[0].gpu);
    fputs(", .open = ig_rank_gpu_open, .reach = ig_rank_gpu_reach};\n\n", f);
}

static void emit_ios(FILE *f, const struct ig_graph *g, const char *name, const int32_t *values, int32_t n)
{
    fprintf(f, "static const struct ig_shape shapes_of_%s[%d] = {\n", name, n ? n : 1);
    for (int32_t i = 0; i < n; i++) {
        const struct ig_shape *s = &g->values[values[i]].shape;
        fprintf(f, "    {%d, %d, {", s->type, s->rank);
        for (int k = 0; k < IG_MAX_RANK; k++) fprintf(f, "%s%d", k ? ", " : "", s->dims[k]);
        fputs("}},\n", f);
    }
    fprintf(f, "%s};\nstatic const struct ig_io %s[%d] = {\n", n ? "" : "    {0, 0, {1}},\n", name, n ? n : 1);
    for (int32_t i = 0; i < n; i++) {
        fputs("    {", f);
        ig_emit_string(f, g->values[values[i]].name);
        fprintf(f, ", &shapes_of_%s[%d]},\n", name, i);
    }
    fprintf(f, "%s};\n", n ? "" : "    {0, 0},\n");
}

static void emit_floats(FILE *f, const char *name, const float v[4])
{
    fprintf(f, ".%s = {", name);
    for (int i = 0; i < 4; i++) fputs(i ? ", " : "", f), ig_emit_float(f, v[i]);
    fputs("}", f);
}

/* The network as its user sees it. */
static void emit_whole(FILE *f, const struct ig_emit_rank *e)
{
    const struct ig_graph *g = e->graph;
    const struct ig_emit *w = e->whole;
    emit_ios(f, g, "inputs", g->inputs, g->n_inputs);
    emit_ios(f, g, "outputs", g->outputs, g->n_outputs);
    fputs("static const struct ig_model whole_model = {.name = ", f);
    ig_emit_string(f, e->network);
    fprintf(f, ", .inputs = inputs, .outputs = outputs, .n_inputs = %d, .n_outputs = %d, .threads = %d};\n", g->n_inputs,
            g->n_outputs, ig_emit_rank_threads(e));
    ig_emit_labels(f, w);
    if (w->host_ops) ig_emit_spec(f, w);
    fputs("static const struct ig_program whole = {\n    .model = &whole_model, ", f);
    fprintf(f, ".labels = %s, .n_labels = %d,%s\n    ", w->n_labels ? "labels" : "0", w->n_labels,
            w->host_ops ? " .spec = &spec," : "");
    emit_floats(f, "mean", w->mean);
    fputs(", ", f);
    emit_floats(f, "std", w->std);
    fputs(",\n", f);
    emit_origin(f, e, e->plan_sha256);
}

static void emit_buffers(FILE *f, const struct ig_emit_rank *e)
{
    const struct ig_rank_plan *r = own(e);
    fprintf(f, "static const struct ig_rank_buffer buffers[%d] = {\n", r->n_stores ? r->n_stores : 1);
    for (int32_t i = 0; i < r->n_stores; i++) {
        const struct ig_store *s = &r->stores[i];
        fputs("    {", f);
        ig_emit_string(f, e->graph->values[s->value].name);
        fprintf(f, ", %lld, %d, %d},\n", (long long)s->bytes, s->copies, s->writer);
    }
    fprintf(f, "%s};\n", r->n_stores ? "" : "    {0, 0, 0, 0},\n");
}

static void emit_routes(FILE *f, const char *name, const struct ig_route *at, int32_t n)
{
    fprintf(f, "static const struct ig_rank_edge %s[%d] = {\n", name, n ? n : 1);
    for (int32_t i = 0; i < n; i++)
        fprintf(f, "    {%d, %d, %d, %d},\n", at[i].store, at[i].peer, at[i].number, at[i].copies);
    fprintf(f, "%s};\n", n ? "" : "    {0, 0, 0, 0},\n");
}

static void emit_keys(FILE *f, const struct ig_emit_rank *e)
{
    const struct ig_key *key = &e->mapping->keys[e->rank];
    fprintf(f, "static const char *const keys[%d] = {\n", e->ranks->n);
    for (int32_t i = 0; i < e->ranks->n; i++) {
        fputs("    ", f);
        ig_emit_string(f, e->mapping->keys[i].name);
        fputs(",\n", f);
    }
    fprintf(f, "};\nstatic const int16_t cores[%d] = {", key->n_cores ? key->n_cores : 1);
    for (int32_t i = 0; i < key->n_cores; i++) fprintf(f, "%s%d", i ? ", " : "", key->cores[i]);
    fprintf(f, "%s};\n", key->n_cores ? "" : "0");
}

static void emit_hash(FILE *f, const char *hex)
{
    fputs("    .plan_hash = {", f);
    for (int i = 0; i < 32; i++) fprintf(f, "%s0x%.2s", i ? ", " : "", hex + 2 * i);
    fputs("}};\n\n", f);
}

int32_t ig_emit_rank_threads(const struct ig_emit_rank *e)
{
    int32_t n = e->mapping->keys[e->rank].n_cores;
    return n ? n : 1;
}

void ig_emit_rank_main(FILE *f, const struct ig_emit_rank *e)
{
    const struct ig_rank_plan *r = own(e);
    emit_opening(f, e);
    emit_parts(f, e);
    if (is_gpu(e)) emit_gpu(f, e);
    emit_whole(f, e);
    emit_buffers(f, e);
    emit_routes(f, "sends", r->sends, r->n_sends);
    emit_routes(f, "receives", r->receives, r->n_receives);
    emit_list(f, "int32_t", "filled", -1, r->inputs, e->graph->n_inputs);
    emit_list(f, "int32_t", "given", -1, r->outputs, e->graph->n_outputs);
    emit_keys(f, e);
    fputs("\nstatic const struct ig_rank rank = {\n    .network = ", f);
    ig_emit_string(f, e->network);
    fputs(", .whole = &whole, .keys = keys, .cores = cores,\n    .parts = parts, .buffers = buffers, .sends = sends,", f);
    fputs(" .receives = receives, .inputs = filled, .outputs = given,\n", f);
    if (is_gpu(e)) fputs("    .gpu = &gpu,\n", f);
    fprintf(f, "    .rank = %d, .n_ranks = %d, .n_cores = %d, .threads = %d, .n_parts = %d, .n_buffers = %d,\n", e->rank,
            e->ranks->n, e->mapping->keys[e->rank].n_cores, ig_emit_rank_threads(e), r->n_parts, r->n_stores);
    fprintf(f, "    .n_sends = %d, .n_receives = %d, .arena_bytes = %lld, .period_ns = %.0f, .rank_ns = %.0f,\n",
            r->n_sends, r->n_receives, (long long)e->arena_bytes, e->period_ns, e->rank_ns);
    emit_hash(f, e->plan_sha256);
    fputs("int main(int argc, char **argv)\n{\n    return ig_rank_main(argc, argv, &rank);\n}\n", f);
}
