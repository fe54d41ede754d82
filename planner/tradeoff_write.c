/* pareto.json: the front as data, keys sorted, a record a line. */
#include <string.h>

#include "graph/version.h"
#include "planner/text.h"
#include "planner/tradeoff.h"

static void put_point(FILE *f, const struct ig_graph *g, const struct ig_tradeoff_point *p)
{
    static const char *const kernels[IG_LEAN_WAYS] = {"fastest", "small", "smallest"};
    fprintf(f, "{\"arena_bytes\":%lld,\"bands\":[", (long long)p->arena_bytes);
    for (int32_t i = 0; i < p->n_given; i++) {
        const struct ig_band_timing *b = &p->given[i];
        fprintf(f, "%s{\"chunk\":%d,\"first\":", i ? "," : "", b->chunk);
        ig_put_text(f, g->nodes[b->first].name);
        fputs(",\"last\":", f);
        ig_put_text(f, g->nodes[b->last].name);
        fprintf(f, ",\"rows\":%d}", b->rows);
    }
    fprintf(f, "],\"bytes\":%lld,\"kernels\":\"%s\",\"latency_ms\":", (long long)p->bytes, kernels[p->lean]);
    ig_put_double(f, (double)p->ns / 1e6);
    fprintf(f, ",\"weights_bytes\":%lld}", (long long)(p->bytes - p->arena_bytes));
}

static void put_chosen(FILE *f, const struct ig_plan *p)
{
    if (!p) {
        fputs("null", f);
        return;
    }
    fprintf(f, "{\"arena_bytes\":%lld,\"bytes\":%lld,\"latency_ms\":", (long long)p->arena_bytes,
            (long long)(p->arena_bytes + p->weights_bytes));
    ig_put_double(f, p->latency_ns / 1e6);
    fputs("}", f);
}

int ig_tradeoff_write(const struct ig_tradeoff *t, const struct ig_graph *g, const struct ig_plan *chosen,
                      int32_t threads, const char *path, char *err, size_t err_bytes)
{
    struct ig_draft d;
    if (ig_draft_open(&d, path, err, err_bytes)) return -1;
    fputs("{\n\"chosen\":", d.f);
    put_chosen(d.f, chosen);
    fputs(",\n\"format\":\"ingot-pareto\",\n\"model\":", d.f);
    ig_put_text(d.f, g->name);
    fputs(",\n\"points\":[", d.f);
    for (int32_t i = 0; i < t->n; i++) {
        fputs(i ? ",\n" : "\n", d.f);
        put_point(d.f, g, &t->at[i]);
    }
    fprintf(d.f, "\n],\n\"threads\":%d,\n\"tool\":\"ingot %s\",\n\"version\":1\n}\n", threads, INGOT_VERSION);
    return ig_draft_close(&d, 1, err, err_bytes);
}
