/* ingot inspect --layers: the names that a mapping uses. */
#include "cli/layers.h"

#include <string.h>

#include "cli/cli.h"
#include "graph/layers.h"
#include "runtime/host/text.h"

static void put_names(FILE *f, const char *key, char *const *names, int32_t n)
{
    fprintf(f, "\"%s\":[", key);
    for (int32_t i = 0; i < n; i++) {
        if (i) fputc(',', f);
        ig_json_string(f, names[i]);
    }
    fputc(']', f);
}

static void put_layers(FILE *f, const char *key, const struct ig_layer_entry *list, int32_t n)
{
    fprintf(f, "\"%s\":[", key);
    for (int32_t i = 0; i < n; i++) {
        const struct ig_layer_entry *e = &list[i];
        fputs(i ? ",\n{" : "\n{", f);
        put_names(f, "in", e->in, e->n_in);
        fputs(",\"name\":", f);
        ig_json_string(f, e->autodice);
        fputs(",\"node\":", f);
        ig_json_string(f, e->name);
        fputs(",\"op\":", f);
        ig_json_string(f, e->op);
        fputc(',', f);
        put_names(f, "out", e->out, e->n_out);
        fputc('}', f);
    }
    fputs(n ? "\n]" : "]", f);
}

static void print_json(FILE *f, const struct ig_layers *l)
{
    fputs("{\n", f);
    put_names(f, "inputs", l->inputs, l->n_inputs);
    fputs(",\n", f);
    put_layers(f, "layers", l->at, l->n);
    fputs(",\n", f);
    put_names(f, "outputs", l->outputs, l->n_outputs);
    fputs(",\n", f);
    put_layers(f, "spare", l->spare, l->n_spare);
    fputs("\n}\n", f);
}

/* A name a line, whole, and nothing else: to be piped. */
static void print_names(FILE *f, const struct ig_layers *l)
{
    for (int32_t i = 0; i < l->n; i++) {
        for (const char *c = l->at[i].autodice; *c; c++) fputc((unsigned char)*c < 32 || *c == 127 ? '.' : *c, f);
        fputc('\n', f);
    }
}

static void print_table(FILE *f, const char *path, const struct ig_layers *l)
{
    char name[256], op[64], node[256];
    fprintf(f, "%s: %d layer%s to map, %d that need%s no place\n", path, l->n, ig_plural(l->n), l->n_spare, l->n_spare == 1 ? "s" : "");
    fprintf(f, "  %-40s %-20s %s\n", "layer", "op", "node");
    for (int32_t i = 0; i < l->n; i++)
        fprintf(f, "  %-40s %-20s %s\n", ig_name_text(l->at[i].autodice, name, sizeof name),
                ig_name_text(l->at[i].op, op, sizeof op), ig_name_text(l->at[i].name, node, sizeof node));
}

void ig_inspect_layers(const char *path, const char *out, int json, int quiet)
{
    char err[4096];
    struct ig_layers *l = ig_layers_read(path, err, sizeof err);
    if (!l) ig_fatal("%s", err);
    FILE *f = ig_open_output(out);
    if (json) print_json(f, l);
    else if (quiet) print_names(f, l);
    else print_table(f, path, l);
    ig_close_output();
    ig_layers_free(l);
}
