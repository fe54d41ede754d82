#include <string.h>
#include <sys/stat.h>

#include "cli/deploy.h"
#include "gen/launch.h"
#include "graph/draft.h"
#include "graph/sha256.h"
#include "graph/version.h"
#include "planner/alloc.h"
#include "planner/text.h"

static FILE *open_in(const char *dir, const char *name, const char *suffix)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s%s", dir, name, suffix) >= (int)sizeof path) ig_fatal("%s: name too long", dir);
    return ig_open_output(path);
}

static void put_link(FILE *f, const struct ig_deployment *d, const struct ig_route *r, int32_t from)
{
    const struct ig_store *s = &d->ranks->at[from].stores[r->store];
    fprintf(f, "{\"bytes\":%lld,\"copies\":%d,\"from\":%d,\"number\":%d,\"tensor\":", (long long)r->bytes, r->copies, from,
            r->number);
    ig_put_text(f, d->g->values[s->value].name);
    fprintf(f, ",\"to\":%d}", r->peer);
}

/* By number: routes are sorted by who sends. */
static void put_links(FILE *f, const struct ig_deployment *d)
{
    fputs("\"links\":[", f);
    for (int32_t i = 0, n = 0; i < d->ranks->n; i++)
        for (int32_t k = 0; k < d->ranks->at[i].n_sends; k++, n++) {
            fputs(n ? ",\n" : "\n", f);
            put_link(f, d, &d->ranks->at[i].sends[k], i);
        }
    fputs(d->ranks->n_routes ? "\n]" : "]", f);
}

/* Names of tensors. */
static void put_values(FILE *f, const struct ig_deployment *d, const char *key, const int32_t *values, int32_t n)
{
    fprintf(f, ",\"%s\":[", key);
    for (int32_t i = 0; i < n; i++) {
        if (i) fputc(',', f);
        ig_put_text(f, d->g->values[values[i]].name);
    }
    fputc(']', f);
}

/* What each rank keeps copies of. */
static void put_tensors(FILE *f, const struct ig_deployment *d)
{
    fputs("\"tensors\":[", f);
    for (int32_t i = 0, n = 0; i < d->ranks->n; i++)
        for (int32_t k = 0; k < d->ranks->at[i].n_stores; k++, n++) {
            const struct ig_store *s = &d->ranks->at[i].stores[k];
            int output = 0;
            for (int32_t o = 0; o < d->g->n_outputs; o++) output |= d->ranks->at[i].outputs[o] == k;
            fprintf(f, "%s{\"bytes\":%lld,\"copies\":%d,\"output\":%s,\"rank\":%d,\"tensor\":", n ? ",\n" : "\n",
                    (long long)s->bytes, s->copies, output ? "true" : "false", i);
            ig_put_text(f, d->g->values[s->value].name);
            fputc('}', f);
        }
    fputs("\n]", f);
}

static void put_part(FILE *f, const struct ig_deployment *d, int32_t i)
{
    const struct ig_deployed_part *p = &d->at[i];
    const struct ig_part *part = &d->parts->at[i];
    fprintf(f, "{\"arena_bytes\":%lld", (long long)p->lowered->model.arena_bytes);
    if (p->beside_ns > 0) {
        fputs(",\"beside_ms\":", f);
        ig_put_double(f, p->beside_ns * 1e-6);
        fputs(",\"demand\":", f);
        ig_put_double(f, p->demand);
    }
    if (p->gpu)
        fprintf(f, ",\"gpu\":{\"arena_bytes\":%lld,\"launches\":%d,\"plan_sha256\":\"%s\",\"weights_bytes\":%lld}",
                (long long)p->gpu->launches->plan.arena_bytes, p->gpu->launches->plan.n_calls, p->gpu->plan_sha256,
                (long long)p->gpu->launches->plan.constants_bytes);
    put_values(f, d, "in", part->in, part->n_in);
    fputs(",\"nodes\":[", f);
    for (int32_t k = 0; k < part->n_nodes; k++) {
        if (k) fputc(',', f);
        ig_put_text(f, d->g->nodes[part->nodes[k]].name);
    }
    fputc(']', f);
    put_values(f, d, "out", part->out, part->n_out);
    fprintf(f, ",\"plan_sha256\":\"%s\",\"prefix\":\"%s\",\"rank\":%d,\"threads\":%d,\"time_ms\":", p->plan_sha256, p->prefix,
            part->key, p->plan->threads);
    ig_put_double(f, p->ns * 1e-6);
    fprintf(f, ",\"weights_bytes\":%lld,\"weights_hash\":\"%016llx\"}", (long long)p->weights_bytes,
            (unsigned long long)p->lowered->model.weights_hash);
}

static void put_rank(FILE *f, const struct ig_deployment *d, int32_t i)
{
    const struct ig_deployed_rank *r = &d->rank[i];
    const struct ig_key *key = &d->mapping->keys[i];
    int32_t device = d->site ? ig_site_find(d->site, key->device) : -1;
    fprintf(f, "{\"arena_bytes\":%lld,\"buffers_bytes\":%lld,\"cores\":[", (long long)r->arena_bytes,
            (long long)ig_store_bytes(&d->ranks->at[i]));
    for (int32_t k = 0; k < key->n_cores; k++) fprintf(f, "%s%d", k ? "," : "", key->cores[k]);
    fputs("],\"device\":", f);
    ig_put_text(f, key->device);
    fputs(",\"file\":", f);
    ig_put_text(f, r->binary);
    fputs(",\"host\":", f);
    ig_put_text(f, device < 0 ? key->device : d->site->devices[device].host);
    fputs(",\"key\":", f);
    ig_put_text(f, key->name);
    fprintf(f, ",\"rank\":%d,\"target\":\"%s\",\"threads\":%d,\"time_ms\":", i, r->target, ig_key_threads(key));
    ig_put_double(f, r->ns * 1e-6);
    fprintf(f, ",\"weights_bytes\":%lld}", (long long)r->weights_bytes);
}

/* Its first rank and that of its results must be of one spec. */
static void put_spec(FILE *f, const struct ig_deployment *d)
{
    const struct ig_host_ops *o = d->words.host_ops;
    if (!o) return;
    fputs("\"input_spec\":{\"post_ms\":", f);
    ig_put_double(f, o->post_ns * 1e-6);
    fputs(",\"pre_ms\":", f);
    ig_put_double(f, o->pre_ns * 1e-6);
    fputs(",\"text\":", f);
    ig_put_text(f, o->text);
    fputs("},\n", f);
}

void ig_deploy_manifest(FILE *f, const struct ig_deployment *d, const char *plan_sha256)
{
    fputs("{\n\"format\":\"ingot-deploy\",\n", f);
    put_spec(f, d);
    put_links(f, d);
    fputs(",\n\"network\":", f);
    ig_put_text(f, d->g->name);
    fprintf(f, ",\n\"output_rank\":%d,\n\"parts\":[", d->ranks->output_rank);
    for (int32_t i = 0; i < d->parts->n; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_part(f, d, i);
    }
    fputs("\n],\n\"period_ms\":", f);
    ig_put_double(f, d->period_ns * 1e-6);
    fprintf(f, ",\n\"plan_sha256\":\"%s\",\n\"ranks\":[", plan_sha256);
    for (int32_t i = 0; i < d->ranks->n; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_rank(f, d, i);
    }
    fprintf(f, "\n],\n\"source_sha256\":\"%s\",\n", d->g->source_sha256);
    put_tensors(f, d);
    fprintf(f, ",\n\"tool\":\"ingot %s\",\n\"version\":1\n}\n", INGOT_VERSION);
}

static void hash(struct ig_deployment *d)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f) ig_fatal("out of memory");
    ig_deploy_manifest(f, d, "");
    fclose(f);
    ig_sha256(text, bytes, d->plan_sha256);
    free(text);
}

static void write_main(const struct ig_deployment *d, int32_t rank)
{
    const struct ig_rank_plan *r = &d->ranks->at[rank];
    struct ig_emit *parts = ig_must_alloc((size_t)r->n_parts, sizeof *parts);
    for (int32_t i = 0; i < r->n_parts; i++) {
        const struct ig_deployed_part *p = &d->at[r->parts[i]];
        parts[i] = (struct ig_emit){.lowered = p->lowered, .prefix = p->prefix, .plan_sha256 = p->plan_sha256,
                                    .gpu = p->gpu ? &p->gpu->emit : NULL};
    }
    struct ig_emit_rank e = {.network = d->g->name, .graph = d->g, .mapping = d->mapping, .ranks = d->ranks, .rank = rank,
                             .parts = parts, .whole = &d->words, .target = d->rank[rank].target,
                             .arena_bytes = d->rank[rank].arena_bytes, .period_ns = d->period_ns,
                             .rank_ns = d->rank[rank].ns, .plan_sha256 = d->plan_sha256};
    ig_emit_rank_main(open_in(d->sources, d->rank[rank].stem, "_main.c"), &e);
    ig_close_output();
    free(parts);
}

/* What the build makes of it, a program a line: its name, its target, its main file, its parts; "gpu:62,72=part" of a GPU's. */
static void write_list(const struct ig_deployment *d)
{
    FILE *f = open_in(d->sources, "ranks", ".txt");
    for (int32_t i = 0; i < d->ranks->n; i++) {
        fprintf(f, "%s %s %s", d->rank[i].binary, d->rank[i].target, d->rank[i].stem);
        for (int32_t k = 0; k < d->ranks->at[i].n_parts; k++) {
            const struct ig_deployed_part *p = &d->at[d->ranks->at[i].parts[k]];
            if (p->gpu) ig_deploy_list_images(f, p);
            else fprintf(f, " %s", p->prefix);
        }
        fputc('\n', f);
    }
    ig_close_output();
}

/* By the mapping, in the network's order; where layers are split it does not tell, and the messages do. */
static void write_messages(const struct ig_deployment *d)
{
    int32_t n = 0;
    struct ig_sent *sent = d->splits ? ig_must_alloc((size_t)d->ranks->n_routes, sizeof *sent)
                                     : ig_sent_make(d->layers, d->mapping, &n);
    for (int32_t i = 0; d->splits && i < d->ranks->n; i++)
        for (int32_t k = 0; k < d->ranks->at[i].n_sends; k++) {
            const struct ig_route *r = &d->ranks->at[i].sends[k];
            sent[n++] = (struct ig_sent){d->g->values[d->ranks->at[i].stores[r->store].value].name, i, r->peer};
        }
    ig_write_sent(open_in(d->package, "sender", ".json"), d->mapping, sent, n);
    ig_close_output();
    ig_write_received(open_in(d->package, "receiver", ".json"), d->mapping, sent, n);
    ig_close_output();
    free(sent);
}

void ig_deploy_write_package(struct ig_deployment *d)
{
    ig_make_folder(d->package);
    hash(d);
    for (int32_t i = 0; i < d->ranks->n; i++) write_main(d, i);
    write_list(d);
    write_messages(d);
    ig_write_rankfile(open_in(d->package, "rankfile", ""), d->mapping, d->site);
    ig_close_output();
    ig_write_hostfile(open_in(d->package, "hostfile", ""), d->mapping, d->site);
    ig_close_output();
    ig_write_appfile(open_in(d->package, "appfile", ""), d->mapping);
    ig_close_output();
    FILE *f = open_in(d->package, "run", ".sh");
    ig_emit_launch(f);
    fchmod(fileno(f), 0755);
    ig_close_output();
    ig_deploy_manifest(open_in(d->package, "deploy", ".json"), d, d->plan_sha256);
    ig_close_output();
    ig_folders_keep();
}

void ig_deploy_summary(FILE *f, const struct ig_deployment *d)
{
    char bytes[32], weights[32], arena[32], buffers[32];
    int64_t all = 0;
    for (int32_t i = 0; i < d->ranks->n; i++) all += d->rank[i].weights_bytes;
    fprintf(f, "%s: %d key%s, %d part%s; %d message%s of %s B a frame; weights %s B%s\n", d->g->name, d->ranks->n, ig_plural(d->ranks->n),
            d->parts->n, ig_plural(d->parts->n), d->ranks->n_routes, ig_plural(d->ranks->n_routes), ig_commas(d->bytes_passed, bytes), ig_commas(all, weights),
            d->splits ? "" : ", each with one key");
    fprintf(f, "%.3f ms a frame, %.1f frames/s predicted\n", d->period_ns * 1e-6, d->period_ns > 0 ? 1e9 / d->period_ns : 0);
    if (d->words.host_ops)
        fprintf(f, "  pictures become inputs on %s, %.3f ms; results answers on %s, %.3f ms\n", d->mapping->keys[0].name,
                d->words.host_ops->pre_ns * 1e-6, d->mapping->keys[d->ranks->output_rank].name,
                d->words.host_ops->post_ns * 1e-6);
    for (int32_t i = 0; i < d->ranks->n; i++)
        fprintf(f, "  %s: %d part%s, %s%d thread%s, %.3f ms; arena %s B, passing tensors %s B, weights %s B\n",
                d->mapping->keys[i].name, d->ranks->at[i].n_parts, d->ranks->at[i].n_parts == 1 ? "" : "s",
                ig_deploy_is_gpu(d, i) ? "the GPU by " : "", ig_key_threads(&d->mapping->keys[i]), ig_key_threads(&d->mapping->keys[i]) == 1 ? "" : "s",
                d->rank[i].ns * 1e-6, ig_commas(d->rank[i].arena_bytes, arena),
                ig_commas(ig_store_bytes(&d->ranks->at[i]), buffers), ig_commas(d->rank[i].weights_bytes, weights));
}
