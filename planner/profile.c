/* profile.json: the times that kernels took on the target, by node and kernel name. */
#include <stdlib.h>
#include <string.h>

#include "graph/version.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/names.h"
#include "planner/plan.h"
#include "planner/text.h"

#define FORMAT "ingot-profile"

static void put_timing(FILE *f, const struct ig_graph *g, const struct ig_timing *t)
{
    fputs("{\"alone_ns\":", f);
    ig_put_double(f, t->alone_ns);
    fprintf(f, ",\"chunk\":%d", t->chunk);
    if (t->kernel->error > 0) {
        fputs(",\"error\":", f);
        ig_put_double(f, t->error);
    }
    fputs(",\"in_order_ns\":", f);
    ig_put_double(f, t->in_order_ns);
    fprintf(f, ",\"kernel\":\"%s\",\"node\":", t->kernel->name);
    ig_put_text(f, g->nodes[t->node].name);
    fprintf(f, ",\"split\":\"%s\",\"threads\":%d}", ig_split_names[t->split], t->threads);
}

static void put_band(FILE *f, const struct ig_graph *g, const struct ig_band_timing *t)
{
    fputs("{\"apart_ns\":", f);
    ig_put_double(f, t->apart_ns);
    fprintf(f, ",\"chunk\":%d,\"first\":", t->chunk);
    ig_put_text(f, g->nodes[t->first].name);
    fputs(",\"in_order_ns\":", f);
    ig_put_double(f, t->in_order_ns);
    for (int32_t i = 0; i < t->n; i++) fprintf(f, "%s\"%s\"", i ? "," : ",\"kernels\":[", t->kernels[i]->name);
    fputs("],\"last\":", f);
    ig_put_text(f, g->nodes[t->last].name);
    fprintf(f, ",\"rows\":%d,\"threads\":%d}", t->rows, t->threads);
}

static void put_copies(FILE *f, const struct ig_gpu_copies *c)
{
    fprintf(f, "\"copies\":{\"in_fs_per_byte\":%lld,\"in_ns\":%lld,\"off\":", (long long)c->in.fs_per_byte, (long long)c->in.ns);
    ig_put_double(f, c->off);
    fprintf(f, ",\"out_fs_per_byte\":%lld,\"out_ns\":%lld},\n", (long long)c->out.fs_per_byte, (long long)c->out.ns);
}

int ig_profile_write(const struct ig_profile *p, const struct ig_graph *g, const char *path, char *err,
                     size_t err_bytes)
{
    struct ig_draft d;
    if (ig_draft_open(&d, path, err, err_bytes)) return -1;
    fputs("{\n\"bands\":[", d.f);
    for (int32_t i = 0; i < p->n_bands; i++) {
        fputs(i ? ",\n" : "\n", d.f);
        put_band(d.f, g, &p->bands[i]);
    }
    fputs(p->n_bands ? "\n],\n" : "],\n", d.f);
    if (p->beside) fprintf(d.f, "\"beside\":%d,\n", p->beside);
    if (p->copies.known) put_copies(d.f, &p->copies);
    fputs("\"cpu\":", d.f);
    ig_put_text(d.f, p->cpu);
    fputs(",\n\"format\":\"" FORMAT "\",\n\"graph_sha256\":", d.f);
    ig_put_text(d.f, p->graph_sha256);
    fputs(",\n\"isa\":", d.f);
    ig_put_text(d.f, p->isa);
    fputs(",\n\"peak_gflops\":", d.f);
    ig_put_double(d.f, p->peak_gflops);
    fprintf(d.f, ",\n\"threads\":%d,\n\"timings\":[", p->threads);
    for (int32_t i = 0; i < p->n; i++) {
        fputs(i ? ",\n" : "\n", d.f);
        put_timing(d.f, g, &p->timings[i]);
    }
    fputs("\n],\n\"tool\":\"ingot " INGOT_VERSION "\",\n\"version\":1", d.f);
    if (p->whole_over_sum > 0) {
        fputs(",\n\"whole_over_sum\":", d.f);
        ig_put_double(d.f, p->whole_over_sum);
    }
    fputs("\n}\n", d.f);
    return ig_draft_close(&d, 1, err, err_bytes);
}

/* Records come in the graph's order, so the search starts where the last one was found. */
static int32_t find_node(struct ig_reader *r, const struct ig_graph *g, const json_t *o, const char *key,
                         int32_t from)
{
    const char *name = ig_get_text(r, o, key);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t node = (from + i) % g->n_nodes;
        if (!strcmp(g->nodes[node].name, name)) return node;
    }
    ig_reader_fail(r, "the graph has no node '%s': is it another network's profile?", name);
    return 0;
}

static const struct ig_kernel *find_kernel(struct ig_reader *r, const char *name)
{
    const struct ig_kernel *k = ig_kernel_by_name(name);
    if (!k) ig_reader_fail(r, "no kernel is called '%s'", name);
    return k;
}

static void read_timing(struct ig_reader *r, const struct ig_graph *g, const json_t *o, int32_t from,
                        struct ig_timing *t)
{
    ig_reader_only(r, o, "alone_ns chunk error in_order_ns kernel node split threads");
    t->node = find_node(r, g, o, "node", from);
    t->kernel = find_kernel(r, ig_get_text(r, o, "kernel"));
    t->split = ig_get_name(r, o, "split", ig_split_names, IG_SPLIT_NAMES);
    t->chunk = (int32_t)ig_get_int(r, o, "chunk", 0, INT32_MAX);
    t->threads = (int32_t)ig_get_int(r, o, "threads", 1, 4096);
    t->alone_ns = ig_get_double(r, o, "alone_ns", 0);
    t->in_order_ns = ig_get_double(r, o, "in_order_ns", 0);
    if (t->kernel && t->kernel->error > 0)
        t->error = json_object_get(o, "error") ? ig_get_double(r, o, "error", 0) : t->kernel->error;
}

static void read_timings(struct ig_reader *r, const struct ig_graph *g, const json_t *root,
                         struct ig_profile *p)
{
    const json_t *array = ig_get_array(r, root, "timings");
    size_t n = json_array_size(array);
    p->timings = ig_must_alloc(n, sizeof *p->timings);
    r->where = "timings";
    for (r->at = 0; !r->failed && r->at < n; r->at++) {
        read_timing(r, g, json_array_get(array, r->at), p->n ? p->timings[p->n - 1].node : 0,
                    &p->timings[p->n]);
        p->n++;
    }
    r->where = "";
}

static void read_band(struct ig_reader *r, const struct ig_graph *g, const json_t *o, struct ig_band_timing *t)
{
    ig_reader_only(r, o, "apart_ns chunk first in_order_ns kernels last rows threads");
    const json_t *kernels = ig_get_array(r, o, "kernels");
    size_t n = json_array_size(kernels);
    if (n < 2 || n > IG_MAX_BAND) ig_reader_fail(r, "%zu kernels, not 2 to %d", n, IG_MAX_BAND);
    for (size_t i = 0; !r->failed && i < n; i++) {
        const char *name = json_string_value(json_array_get(kernels, i));
        t->kernels[t->n++] = find_kernel(r, name ? name : "");
    }
    t->first = find_node(r, g, o, "first", 0);
    t->last = find_node(r, g, o, "last", t->first);
    t->rows = (int32_t)ig_get_int(r, o, "rows", 1, INT32_MAX);
    t->chunk = (int32_t)ig_get_int(r, o, "chunk", 0, INT32_MAX);
    t->threads = (int32_t)ig_get_int(r, o, "threads", 1, 4096);
    t->in_order_ns = ig_get_double(r, o, "in_order_ns", 0);
    t->apart_ns = ig_get_double(r, o, "apart_ns", 0);
}

static void read_bands(struct ig_reader *r, const struct ig_graph *g, const json_t *root, struct ig_profile *p)
{
    const json_t *array = ig_get_array(r, root, "bands");
    size_t n = json_array_size(array);
    p->bands = ig_must_alloc(n, sizeof *p->bands);
    r->where = "bands";
    for (r->at = 0; !r->failed && r->at < n; r->at++)
        read_band(r, g, json_array_get(array, r->at), &p->bands[p->n_bands++]);
    r->where = "";
}

static void read_copies(struct ig_reader *r, const json_t *root, struct ig_gpu_copies *c)
{
    static const int64_t most_ns = 1000000000, most_fs = 1000000000; /* a second, and as long for a MB */
    const json_t *o = json_object_get(root, "copies");
    if (!o) return;
    ig_reader_only(r, o, "in_fs_per_byte in_ns off out_fs_per_byte out_ns");
    c->in = (struct ig_copy_cost){ig_get_int(r, o, "in_ns", 0, most_ns), ig_get_int(r, o, "in_fs_per_byte", 0, most_fs)};
    c->out = (struct ig_copy_cost){ig_get_int(r, o, "out_ns", 0, most_ns), ig_get_int(r, o, "out_fs_per_byte", 0, most_fs)};
    c->off = ig_get_double(r, o, "off", 0);
    c->known = !r->failed;
}

struct ig_profile *ig_profile_read(const char *path, const struct ig_graph *g, char *err, size_t err_bytes)
{
    struct ig_reader r;
    json_t *root = ig_reader_open(&r, path, FORMAT, err, err_bytes);
    if (!root) return NULL;
    struct ig_profile *p = ig_must_alloc(1, sizeof *p);
    ig_reader_only(&r, root, "bands beside copies cpu format graph_sha256 isa peak_gflops threads timings tool version whole_over_sum");
    p->sha256 = ig_copy_text(r.sha256);
    p->graph_sha256 = ig_copy_text(ig_get_hash(&r, root, "graph_sha256"));
    p->cpu = ig_copy_text(ig_get_text(&r, root, "cpu"));
    p->isa = ig_copy_text(ig_get_text(&r, root, "isa"));
    p->threads = (int32_t)ig_get_int(&r, root, "threads", 1, 4096);
    p->beside = json_object_get(root, "beside") ? (int32_t)ig_get_int(&r, root, "beside", 0, 4096) : 0;
    p->peak_gflops = ig_get_double(&r, root, "peak_gflops", 0);
    p->whole_over_sum = json_object_get(root, "whole_over_sum") ? ig_get_double(&r, root, "whole_over_sum", 0) : 0;
    read_copies(&r, root, &p->copies);
    read_timings(&r, g, root, p);
    read_bands(&r, g, root, p);
    json_decref(root);
    if (!r.failed) return p;
    ig_profile_free(p);
    return NULL;
}

void ig_profile_free(struct ig_profile *p)
{
    if (!p) return;
    void *owned[] = {p->sha256, p->graph_sha256, p->cpu, p->isa, p->timings, p->bands, p};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
