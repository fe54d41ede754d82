/* plan.json: keys sorted, one record a line, the same plan always the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "graph/version.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/names.h"
#include "planner/stages.h"
#include "planner/stages_json.h"
#include "planner/text.h"

#define FORMAT "ingot-plan"

static void put_buffer(FILE *f, const struct ig_graph *g, const struct ig_plan_buffer *b)
{
    fputs("{\"alias_of\":", f);
    if (b->alias_of < 0)
        fputs("null", f);
    else
        ig_put_text(f, g->values[b->alias_of].name);
    fprintf(f, ",\"bytes\":%lld,\"first\":%d,\"index\":%d,\"last\":%d,\"memory\":\"%s\",\"name\":",
            (long long)b->bytes, b->first, b->index, b->last, ig_memory_names[b->memory]);
    ig_put_text(f, g->values[b->value].name);
    fprintf(f, ",\"offset\":%lld,\"pixel_stride\":%lld,\"ring_rows\":%d,\"row_stride\":%lld}", (long long)b->offset,
            (long long)b->view.pixel_stride, b->ring_rows, (long long)b->view.row_stride);
}

static void put_bands(FILE *f, const struct ig_plan *p, const struct ig_graph *g)
{
    fputs("\"bands\":[", f);
    for (int32_t i = 0; i < p->n_bands; i++) {
        const struct ig_band *b = &p->bands[i];
        fprintf(f, "%s{\"apart_ns\":", i ? ",\n" : "\n");
        ig_put_double(f, b->apart_ns);
        fputs(",\"first\":", f);
        ig_put_text(f, g->nodes[p->steps[b->first].node].name);
        fputs(",\"last\":", f);
        ig_put_text(f, g->nodes[p->steps[b->last].node].name);
        fputs(",\"predicted_ns\":", f);
        ig_put_double(f, b->predicted_ns);
        fprintf(f, ",\"rows\":%d}", b->rows);
    }
    fputs(p->n_bands ? "\n]" : "]", f);
}

static void put_step(FILE *f, const struct ig_graph *g, const struct ig_plan_step *s)
{
    const struct ig_node *n = &g->nodes[s->node];
    fprintf(f, "{\"chunk\":%d,\"chunks\":%d,\"kernel\":", s->chunk, s->chunks);
    if (s->kernel)
        ig_put_text(f, s->kernel->name);
    else
        fputs("null", f);
    fputs(",\"node\":", f);
    ig_put_text(f, n->name);
    fprintf(f, ",\"op\":\"%s\",\"predicted_ns\":", ig_op_info((enum ig_op)n->op)->name);
    ig_put_double(f, s->predicted_ns);
    fprintf(f, ",\"processor\":%d,\"scratch_bytes\":%lld,\"scratch_offset\":%lld,\"split\":\"%s\",\"stage\":%d}",
            s->processor, (long long)s->scratch_bytes, (long long)s->scratch_offset, ig_split_names[s->split],
            s->stage);
}

static void put_field(FILE *f, const char *key, const char *text)
{
    fprintf(f, ",\n\"%s\":", key);
    ig_put_text(f, text);
}

static void put_totals(FILE *f, const struct ig_plan *p)
{
    fprintf(f, ",\n\"totals\":{\"arena_bytes\":%lld,\"arena_lower_bound_bytes\":%lld",
            (long long)p->arena_bytes, (long long)p->arena_lower_bound_bytes);
    if (p->energy_mj > 0) {
        fputs(",\"energy_mj\":", f);
        ig_put_double(f, p->energy_mj);
    }
    fputs(",\"latency_ms\":", f);
    ig_put_double(f, p->latency_ns / 1e6);
    if (p->memory_budget) fprintf(f, ",\"memory_budget_bytes\":%lld", (long long)p->memory_budget);
    if (p->n_stages) {
        fputs(",\"period_ms\":", f);
        ig_put_double(f, p->period_ns / 1e6);
    }
    fprintf(f, ",\"scratch_bytes\":%lld,\"weights_bytes\":%lld}", (long long)p->scratch_bytes,
            (long long)p->weights_bytes);
}

static void put_passes(FILE *f, const struct ig_plan *p, const struct ig_graph *g)
{
    if (p->n_passes) fputs(",\n\"passes\":[", f);
    for (int32_t i = 0; i < p->n_passes; i++) {
        fprintf(f, "%s{\"kind\":\"%s\",\"name\":", i ? ",\n" : "\n", ig_pass_names[p->passes[i].kind]);
        ig_put_text(f, g->values[p->passes[i].value].name);
        fputc('}', f);
    }
    if (p->n_passes) fputs("\n]", f);
}

static void put_plan(FILE *f, const struct ig_plan *p, const struct ig_graph *g)
{
    fputs("{\n", f);
    if (p->n_others) fputs("\"alternatives\":[", f);
    for (int32_t i = 0; i < p->n_others; i++) {
        if (i) fputs(",\n", f);
        put_plan(f, p->others[i], g);
    }
    if (p->n_others) fputs("],\n", f);
    put_bands(f, p, g);
    fputs(",\n\"buffers\":[", f);
    for (int32_t i = 0; i < p->n_buffers; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_buffer(f, g, &p->buffers[i]);
    }
    fputs("\n],\n\"format\":\"" FORMAT "\"", f);
    put_field(f, "graph_sha256", p->graph_sha256);
    put_field(f, "isa", p->isa);
    put_field(f, "model", p->model);
    put_passes(f, p, g);
    put_field(f, "profile_sha256", p->profile_sha256);
    ig_put_stages(f, p, g);
    fputs(",\n\"steps\":[", f);
    for (int32_t i = 0; i < p->n_steps; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_step(f, g, &p->steps[i]);
    }
    fputs("\n]", f);
    put_field(f, "target", p->target);
    fprintf(f, ",\n\"threads\":%d", p->threads);
    put_field(f, "tool", "ingot " INGOT_VERSION);
    put_totals(f, p);
    fputs(",\n\"version\":1\n}\n", f);
}

int ig_plan_write(const struct ig_plan *p, const struct ig_graph *g, const char *path, char *err,
                  size_t err_bytes)
{
    struct ig_draft d;
    if (ig_draft_open(&d, path, err, err_bytes)) return -1;
    put_plan(d.f, p, g);
    return ig_draft_close(&d, 1, err, err_bytes);
}

/* --- in --- */

/* Far above any network, far enough below 2^63 that sums and products of them stay there. */
static const int64_t MAX_BYTES = (int64_t)1 << 42, MAX_STRIDE = (int64_t)1 << 30;

static int32_t find_value(struct ig_reader *r, const struct ig_graph *g, const json_t *o, const char *key)
{
    const char *name = ig_get_text(r, o, key);
    if (r->at < (size_t)g->n_values && !strcmp(g->values[r->at].name, name)) return (int32_t)r->at;
    for (int32_t v = 0; v < g->n_values; v++)
        if (!strcmp(g->values[v].name, name)) return v;
    ig_reader_fail(r, "the graph has no value '%s'", name);
    return 0;
}

static int32_t find_node(struct ig_reader *r, const struct ig_graph *g, const json_t *o, const char *key)
{
    const char *name = ig_get_text(r, o, key);
    if (r->at < (size_t)g->n_nodes && !strcmp(g->nodes[r->at].name, name)) return (int32_t)r->at;
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (!strcmp(g->nodes[i].name, name)) return i;
    ig_reader_fail(r, "the graph has no node '%s'", name);
    return 0;
}

static void read_buffer(struct ig_reader *r, const struct ig_graph *g, const json_t *o,
                        struct ig_plan_buffer *buffers)
{
    ig_reader_only(r, o, "alias_of bytes first index last memory name offset pixel_stride ring_rows row_stride");
    int32_t v = find_value(r, g, o, "name");
    struct ig_plan_buffer *b = &buffers[v];
    if (b->bytes) ig_reader_fail(r, "'%s' is there twice", g->values[v].name);
    b->value = v;
    b->bytes = ig_get_int(r, o, "bytes", 1, MAX_BYTES);
    b->first = (int32_t)ig_get_int(r, o, "first", 0, INT32_MAX);
    b->last = (int32_t)ig_get_int(r, o, "last", 0, INT32_MAX);
    b->index = (int32_t)ig_get_int(r, o, "index", 0, INT32_MAX);
    b->offset = ig_get_int(r, o, "offset", 0, MAX_BYTES);
    b->ring_rows = (int32_t)ig_get_int(r, o, "ring_rows", 0, INT32_MAX);
    b->memory = ig_get_name(r, o, "memory", ig_memory_names, IG_MEMORY_NAMES);
    b->view.pixel_stride = ig_get_int(r, o, "pixel_stride", 1, MAX_STRIDE);
    b->view.row_stride = ig_get_int(r, o, "row_stride", 1, MAX_STRIDE);
    b->alias_of = json_is_null(json_object_get(o, "alias_of")) ? -1 : find_value(r, g, o, "alias_of");
}

static void read_step(struct ig_reader *r, const struct ig_graph *g, const json_t *o, struct ig_plan_step *s)
{
    ig_reader_only(r, o,
                   "chunk chunks kernel node op predicted_ns processor scratch_bytes scratch_offset split stage");
    int32_t node = find_node(r, g, o, "node");
    const char *op = ig_get_text(r, o, "op"), *kernel = "";
    if (!r->failed && strcmp(op, ig_op_info((enum ig_op)g->nodes[node].op)->name))
        ig_reader_fail(r, "op is '%s', not the node's", op);
    s->node = node;
    if (!json_is_null(json_object_get(o, "kernel"))) {
        kernel = ig_get_text(r, o, "kernel");
        s->kernel = ig_kernel_by_name(kernel);
        if (!s->kernel) ig_reader_fail(r, "no kernel is called '%s'", kernel);
    }
    s->processor = (int32_t)ig_get_int(r, o, "processor", 0, INT32_MAX);
    s->stage = (int32_t)ig_get_int(r, o, "stage", 0, INT32_MAX);
    s->split = ig_get_name(r, o, "split", ig_split_names, IG_SPLIT_NAMES);
    s->chunk = (int32_t)ig_get_int(r, o, "chunk", 0, INT32_MAX);
    s->chunks = (int32_t)ig_get_int(r, o, "chunks", 1, INT32_MAX);
    s->predicted_ns = ig_get_double(r, o, "predicted_ns", 0);
    s->scratch_bytes = ig_get_int(r, o, "scratch_bytes", 0, MAX_BYTES);
    s->scratch_offset = ig_get_int(r, o, "scratch_offset", 0, MAX_BYTES);
}

/* Roots and offsets of views are the graph's to say; strides are what the file says. */
static void read_buffers(struct ig_reader *r, const struct ig_graph *g, const json_t *root, struct ig_plan *p)
{
    const json_t *array = ig_get_array(r, root, "buffers");
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    if (!r->failed && json_array_size(array) != (size_t)g->n_values)
        ig_reader_fail(r, "%zu buffers, the graph has %d values", json_array_size(array), g->n_values);
    p->n_buffers = g->n_values;
    p->buffers = ig_must_alloc((size_t)g->n_values, sizeof *p->buffers);
    r->where = "buffers";
    for (r->at = 0; !r->failed && r->at < (size_t)g->n_values; r->at++)
        read_buffer(r, g, json_array_get(array, r->at), p->buffers);
    r->where = "";
    ig_compute_views(g, views);
    for (int32_t v = 0; v < g->n_values; v++) {
        p->buffers[v].view.root = views[v].root;
        p->buffers[v].view.offset = views[v].offset;
    }
    free(views);
}

static void read_steps(struct ig_reader *r, const struct ig_graph *g, const json_t *root, struct ig_plan *p)
{
    const json_t *array = ig_get_array(r, root, "steps");
    if (!r->failed && json_array_size(array) != (size_t)g->n_nodes)
        ig_reader_fail(r, "%zu steps, the graph has %d nodes", json_array_size(array), g->n_nodes);
    p->n_steps = g->n_nodes;
    p->steps = ig_must_alloc((size_t)g->n_nodes, sizeof *p->steps);
    r->where = "steps";
    for (r->at = 0; !r->failed && r->at < (size_t)g->n_nodes; r->at++) {
        read_step(r, g, json_array_get(array, r->at), &p->steps[r->at]);
        p->latency_ns += p->steps[r->at].predicted_ns;
    }
    r->where = "";
}

/* The step that runs a node. */
static int32_t step_of(const struct ig_plan *p, int32_t node)
{
    for (int32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].node == node) return i;
    return 0;
}

static void read_bands(struct ig_reader *r, const struct ig_graph *g, const json_t *root, struct ig_plan *p)
{
    const json_t *array = ig_get_array(r, root, "bands");
    size_t n = json_array_size(array);
    p->bands = ig_must_alloc(n, sizeof *p->bands);
    r->where = "bands";
    for (r->at = 0; !r->failed && r->at < n; r->at++) {
        const json_t *o = json_array_get(array, r->at);
        struct ig_band *b = &p->bands[p->n_bands++];
        ig_reader_only(r, o, "apart_ns first last predicted_ns rows");
        b->first = step_of(p, find_node(r, g, o, "first"));
        b->last = step_of(p, find_node(r, g, o, "last"));
        b->rows = (int32_t)ig_get_int(r, o, "rows", 1, INT32_MAX);
        b->predicted_ns = ig_get_double(r, o, "predicted_ns", 0);
        b->apart_ns = ig_get_double(r, o, "apart_ns", 0);
    }
    r->where = "";
}

static void read_passes(struct ig_reader *r, const struct ig_graph *g, const json_t *root, struct ig_plan *p)
{
    if (r->failed || !json_object_get(root, "passes")) return;
    const json_t *array = ig_get_array(r, root, "passes");
    size_t n = json_array_size(array);
    p->passes = ig_must_alloc(n, sizeof *p->passes);
    r->where = "passes";
    for (r->at = 0; !r->failed && r->at < n; r->at++) {
        const json_t *o = json_array_get(array, r->at);
        struct ig_plan_pass *pass = &p->passes[p->n_passes++];
        ig_reader_only(r, o, "kind name");
        pass->value = find_value(r, g, o, "name");
        pass->kind = ig_get_name(r, o, "kind", ig_pass_names, IG_PASS_NAMES);
    }
    r->where = "";
}

static void read_head(struct ig_reader *r, const json_t *root, struct ig_plan *p)
{
    ig_reader_only(r, root,
                   "alternatives bands buffers format graph_sha256 isa model passes profile_sha256 slots stages steps target "
                   "threads tool totals version");
    const json_t *totals = json_object_get(root, "totals");
    p->model = ig_copy_text(ig_get_text(r, root, "model"));
    p->graph_sha256 = ig_copy_text(ig_get_hash(r, root, "graph_sha256"));
    p->profile_sha256 = ig_copy_text(ig_get_hash(r, root, "profile_sha256"));
    p->target = ig_copy_text(ig_get_text(r, root, "target"));
    p->isa = ig_copy_text(ig_get_text(r, root, "isa"));
    if (ig_isa_by_name(p->isa) < 0) ig_reader_fail(r, "there are no kernels for '%s'", p->isa);
    p->threads = (int32_t)ig_get_int(r, root, "threads", 1, 4096);
    r->part = "totals: ";
    ig_reader_only(r, totals,
                   "arena_bytes arena_lower_bound_bytes energy_mj latency_ms memory_budget_bytes period_ms scratch_bytes "
                   "weights_bytes");
    p->arena_bytes = ig_get_int(r, totals, "arena_bytes", 0, MAX_BYTES);
    p->arena_lower_bound_bytes = ig_get_int(r, totals, "arena_lower_bound_bytes", 0, MAX_BYTES);
    p->scratch_bytes = ig_get_int(r, totals, "scratch_bytes", 0, MAX_BYTES);
    p->weights_bytes = ig_get_int(r, totals, "weights_bytes", 0, MAX_BYTES);
    if (json_object_get(totals, "memory_budget_bytes"))
        p->memory_budget = ig_get_int(r, totals, "memory_budget_bytes", 1, INT64_MAX);
    if (json_object_get(totals, "energy_mj")) p->energy_mj = ig_get_double(r, totals, "energy_mj", 0);
    ig_get_double(r, totals, "latency_ms", 0);
    r->part = NULL;
}

static struct ig_plan *read_plan(struct ig_reader *r, const json_t *root, const struct ig_graph *g)
{
    struct ig_plan *p = ig_must_alloc(1, sizeof *p);
    read_head(r, root, p);
    read_steps(r, g, root, p);
    read_bands(r, g, root, p);
    ig_read_stages(r, root, g, p);
    read_passes(r, g, root, p);
    read_buffers(r, g, root, p);
    if (!r->failed && ig_stages_are_sound(p)) ig_time_stages(p);
    return p;
}

/* Alternatives have none of their own. */
static void read_others(struct ig_reader *r, const json_t *root, const struct ig_graph *g, struct ig_plan *p)
{
    if (r->failed || !json_object_get(root, "alternatives")) return;
    const json_t *array = ig_get_array(r, root, "alternatives");
    size_t n = json_array_size(array);
    if (!r->failed && n >= IG_PLAN_ALTERNATIVES)
        ig_reader_fail(r, "%zu alternatives, at most %d can be", n, IG_PLAN_ALTERNATIVES - 1);
    if (r->failed) return;
    p->others = ig_must_alloc(n, sizeof *p->others);
    for (size_t i = 0; !r->failed && i < n; i++) p->others[p->n_others++] = read_plan(r, json_array_get(array, i), g);
}

struct ig_plan *ig_plan_read(const char *path, const struct ig_graph *g, char *err, size_t err_bytes)
{
    struct ig_reader r;
    json_t *root = ig_reader_open(&r, path, FORMAT, err, err_bytes);
    if (!root) return NULL;
    struct ig_plan *p = read_plan(&r, root, g);
    read_others(&r, root, g, p);
    json_decref(root);
    if (!r.failed) return p;
    ig_plan_free(p);
    return NULL;
}
