/* struct ig_platform -> platforms/NAME.json: keys sorted, one record a line. */
#include <string.h>

#include "graph/version.h"
#include "planner/platform.h"
#include "planner/text.h"

static void put_key(FILE *f, const char *key, int *first)
{
    fprintf(f, "%s\"%s\":", *first ? "" : ",", key);
    *first = 0;
}

static void put_int(FILE *f, const char *key, int64_t x, int *first)
{
    put_key(f, key, first);
    fprintf(f, "%lld", (long long)x);
}

static void put_known(FILE *f, const char *key, int64_t x, int *first)
{
    if (x != IG_UNKNOWN) put_int(f, key, x, first);
}

static void put_number(FILE *f, const char *key, double x, int *first)
{
    if (x < 0) return;
    put_key(f, key, first);
    ig_put_double(f, x);
}

static void put_words(FILE *f, const char *key, const char *s, int *first)
{
    if (!s[0]) return;
    put_key(f, key, first);
    ig_put_text(f, s);
}

static void put_store(FILE *f, const struct ig_platform *b, int32_t i)
{
    const struct ig_store *s = &b->stores[i];
    int first = 1;
    put_int(f, "bytes", s->bytes, &first);
    put_int(f, "id", s->id, &first);
    put_words(f, "note", s->note, &first);
}

static void put_channel(FILE *f, const struct ig_platform *b, int32_t i)
{
    const struct ig_channel *c = &b->channels[i];
    int first = 1;
    put_int(f, "bytes_per_s", c->bytes_per_s, &first);
    put_int(f, "id", c->id, &first);
    put_words(f, "note", c->note, &first);
    put_known(f, "printed", c->printed, &first);
}

static void put_place(FILE *f, const struct ig_platform *b, const struct ig_processor *p, int role, int *outer)
{
    const struct ig_placement *t = &p->place[role];
    int first = 1;
    if (!p->mapped) return;
    put_key(f, ig_role_names[role], outer);
    fputc('{', f);
    put_int(f, "channel", b->channels[t->channel].id, &first);
    if (role == IG_W) put_int(f, "extra", t->extra, &first);
    put_int(f, "level", t->level, &first);
    put_words(f, "limit", ig_loop_names[t->limit], &first);
    put_int(f, "memory", b->stores[t->memory].id, &first);
    fputc('}', f);
}

static void put_cost(FILE *f, const struct ig_cost *c)
{
    int first = 1;
    fputc('{', f);
    put_number(f, "error", c->error, &first);
    put_words(f, "family", c->family, &first);
    put_int(f, "layers", c->layers, &first);
    put_key(f, "ns", &first);
    fputc('{', f);
    first = 1;
    for (int k = 0; ig_feature_names[k]; k++)
        if (c->ns[k] > 0) put_number(f, ig_feature_names[k], c->ns[k], &first);
    fputs("}}", f);
}

static void put_costs(FILE *f, const struct ig_processor *p, int *outer)
{
    if (!p->n_costs) return;
    put_key(f, "costs", outer);
    fputc('[', f);
    for (int32_t i = 0; i < p->n_costs; i++) {
        fputs(i ? ",\n  " : "\n  ", f);
        put_cost(f, &p->costs[i]);
    }
    fputc(']', f);
}

static void put_points(FILE *f, const struct ig_processor *p, int *outer)
{
    if (!p->n_points) return;
    put_key(f, "operating_points", outer);
    for (int32_t i = 0; i < p->n_points; i++) {
        int first = 1;
        fputs(i ? ",{" : "[{", f);
        put_number(f, "active_w", p->points[i].active_w, &first);
        put_int(f, "hz", p->points[i].hz, &first);
        put_number(f, "idle_w", p->points[i].idle_w, &first);
        fputc('}', f);
    }
    fputc(']', f);
}

static void put_order(FILE *f, const struct ig_processor *p, int *outer)
{
    if (!p->mapped) return;
    put_key(f, "order", outer);
    for (int l = 0; l < IG_LOOPS; l++) fprintf(f, "%s\"%s\"", l ? "," : "[", ig_loop_names[p->order[l]]);
    fputc(']', f);
}

static void put_grid(FILE *f, const struct ig_processor *p, int *outer)
{
    if (!p->n_grid) return;
    put_key(f, "parallelism", outer);
    for (int32_t i = 0; i < p->n_grid; i++) {
        const struct ig_grid *g = &p->grid[i];
        fprintf(f, "%s{\"lanes\":%d,\"loops\":[\"%s\"", i ? "," : "[", g->lanes, ig_loop_names[g->loops[0]]);
        if (g->n_loops == 2) fprintf(f, ",\"%s\"", ig_loop_names[g->loops[1]]);
        fputs("]}", f);
    }
    fputc(']', f);
}

static void put_caches(FILE *f, const struct ig_platform *b, const struct ig_processor *p, int *outer)
{
    if (!p->n_caches) return;
    put_key(f, "caches", outer);
    for (int32_t i = 0; i < p->n_caches; i++) fprintf(f, "%s%d", i ? "," : "[", b->stores[p->caches[i]].id);
    fputc(']', f);
}

static void put_team(FILE *f, const char *key, const int64_t *x, int32_t n, int *outer)
{
    if (!n) return;
    put_key(f, key, outer);
    for (int32_t i = 0; i < n; i++) fprintf(f, "%s%lld", i ? "," : "[", (long long)x[i]);
    fputc(']', f);
}

static void put_rates(FILE *f, const struct ig_processor *p, int *outer)
{
    if (!p->n_rates) return;
    put_key(f, "rates", outer);
    for (int32_t i = 0; i < p->n_rates; i++) {
        int first = 1;
        fputs(i ? ",{" : "[{", f);
        put_words(f, "isa", p->rates[i].isa, &first);
        put_team(f, "ops_per_s", p->rates[i].ops_per_s, p->rates[i].n, &first);
        fputc('}', f);
    }
    fputc(']', f);
}

static void put_integrated(FILE *f, const struct ig_integrated *m, int *outer)
{
    if (!m->given) return;
    put_key(f, "integrated", outer);
    fprintf(f, "{\"attach_ns\":%lld,\"coherent\":%s,\"copy_bytes_per_s\":%lld,\"mapped_bytes_per_s\":%lld}",
            (long long)m->attach_ns, m->coherent ? "true" : "false", (long long)m->copy_bytes_per_s,
            (long long)m->mapped_bytes_per_s);
}

static void put_processor(FILE *f, const struct ig_platform *b, int32_t i)
{
    static const int roles[IG_ROLES] = {IG_W, IG_X, IG_Y}; /* sorted by name */
    const struct ig_processor *p = &b->processors[i];
    int first = 1;
    for (int k = 0; k < IG_ROLES; k++) put_place(f, b, p, roles[k], &first);
    put_number(f, "active_w", p->active_w, &first);
    put_caches(f, b, p, &first);
    put_costs(f, p, &first);
    if (p->count != 1) put_int(f, "count", p->count, &first);
    put_number(f, "dram_pj_per_bit", p->dram_pj_per_bit, &first);
    put_int(f, "hz", p->hz, &first);
    put_int(f, "id", p->id, &first);
    put_number(f, "idle_w", p->idle_w, &first);
    put_integrated(f, &p->integrated, &first);
    put_words(f, "note", p->note, &first);
    put_points(f, p, &first);
    put_int(f, "ops_per_s", p->ops_per_s, &first);
    put_order(f, p, &first);
    put_int(f, "overhead_ns", p->overhead_ns, &first);
    put_grid(f, p, &first);
    put_known(f, "printed", p->printed, &first);
    put_known(f, "printed_hz", p->printed_hz, &first);
    put_rates(f, p, &first);
    put_words(f, "subtype", p->subtype, &first);
    put_team(f, "team_overhead_ns", p->team_overhead_ns, p->n_teams, &first);
    put_words(f, "type", p->type, &first);
}

typedef void put_fn(FILE *f, const struct ig_platform *b, int32_t i);

static void put_list(FILE *f, const char *key, const struct ig_platform *b, int32_t n, put_fn *put)
{
    fprintf(f, "\"%s\":[", key);
    for (int32_t i = 0; i < n; i++) {
        fputs(i ? ",\n{" : "\n{", f);
        put(f, b, i);
        fputc('}', f);
    }
    fputs("\n],\n", f);
}

int ig_platform_write(const struct ig_platform *p, const char *path, char *err, size_t err_bytes)
{
    struct ig_draft d;
    if (ig_draft_open(&d, path, err, err_bytes)) return -1;
    fputs("{\n", d.f);
    put_list(d.f, "channels", p, p->n_channels, put_channel);
    fprintf(d.f, "\"element_bytes\":%d,\n\"format\":\"ingot-platform\",\n", p->element_bytes);
    put_list(d.f, "memories", p, p->n_stores, put_store);
    fputs("\"name\":", d.f);
    ig_put_text(d.f, p->name);
    if (p->note[0]) {
        fputs(",\n\"note\":", d.f);
        ig_put_text(d.f, p->note);
    }
    fputs(",\n", d.f);
    put_list(d.f, "processors", p, p->n_processors, put_processor);
    fputs("\"tool\":\"ingot " INGOT_VERSION "\",\n\"version\":1\n}\n", d.f);
    return ig_draft_close(&d, 1, err, err_bytes);
}
