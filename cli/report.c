#include <stdlib.h>
#include <string.h>

#include "cli/arena.h"
#include "cli/cli.h"
#include "graph/version.h"

static const char help[] =
    "ingot report graph.json plan.json -o report.html\n\n"
    "One self-contained page: the network, every layer with its kernel and predicted time, and a map of the arena\n"
    "(steps from left to right, bytes from bottom to top).\n"
    "  -o FILE   where to (default report.html; - for stdout)\n";

static void head(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    char arena[32], bound[32], weights[32], scratch[32];
    double macs = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) macs += g->nodes[i].macs;
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", f);
    ig_xml_text(f, g->name);
    fputs("</title>\n<style>body{font:14px sans-serif;margin:2em;max-width:1040px}table{border-collapse:collapse}"
          "td,th{padding:2px 10px;text-align:left;border-bottom:1px solid #ddd}td.n{text-align:right}"
          "div.bar{background:#69c;height:9px}svg{border:1px solid #aaa}rect{stroke:#fff;stroke-width:.5}</style></head><body>\n<h1>", f);
    ig_xml_text(f, g->name);
    fprintf(f, "</h1>\n<p>%s, %s, %d threads. %.1f MMAC, %.3f ms a frame %s. Arena %s B (lower bound %s B), scratch of up to %s B a thread "
               "in it; weights %s B.</p>\n", p->target, p->isa, p->threads, macs * 1e-6, p->latency_ns * 1e-6,
            p->profile_sha256[0] ? "predicted from the profile" : "estimated", ig_commas(p->arena_bytes, arena),
            ig_commas(p->arena_lower_bound_bytes, bound), ig_commas(p->scratch_bytes, scratch),
            ig_commas(p->weights_bytes, weights));
}

/* How a step is cut: by itself, or as one of a band, and what it keeps of its output there. */
static void cut(FILE *f, const struct ig_graph *g, const struct ig_plan *p, int32_t step)
{
    static const char *const cuts[] = {"whole", "rows", "channels"};
    const struct ig_plan_step *s = &p->steps[step];
    const struct ig_band *band = ig_band_of(g, p, step);
    if (band && band->last != step)
        fprintf(f, "<td>band: ring of %d rows", p->buffers[g->nodes[s->node].out[0]].ring_rows);
    else if (band)
        fprintf(f, "<td>band: %d rows a phase &times; %d", band->rows, s->chunks);
    else if (s->kernel)
        fprintf(f, "<td>%s &times; %d", cuts[s->split], s->chunks);
    else
        fputs("<td>", f);
}

static void layers(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    double longest = 1;
    for (int32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].predicted_ns > longest) longest = p->steps[i].predicted_ns;
    fputs("<h2>Layers</h2>\n<table><tr><th>layer<th>kernel<th>cut<th>MMAC<th>&micro;s<th></tr>\n", f);
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        const struct ig_node *n = &g->nodes[s->node];
        fputs("<tr><td>", f);
        ig_xml_text(f, n->name);
        fprintf(f, "<td>%s", s->kernel ? s->kernel->name : "view");
        cut(f, g, p, i);
        fprintf(f, "<td class=\"n\">%.3f<td class=\"n\">%.1f<td><div class=\"bar\" style=\"width:%.0fpx\"></div></tr>\n", n->macs * 1e-6,
                s->predicted_ns * 1e-3, 200 * s->predicted_ns / longest);
    }
    fprintf(f, "</table>\n<p>Made by ingot %s from model %s.</p></body></html>\n", INGOT_VERSION, g->source_sha256);
}

int ig_verb_report(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"output", 1, 0, 'o'}, {0, 0, 0, 0}};
    struct ig_source_options none = {.n_binds = 0};
    const char *out = "report.html";
    char err[4096];
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) {
        if (c == 'o') out = optarg;
        else if (c == 'h') return fputs(help, stdout) < 0;
        else ig_usage(help);
    }
    if (optind != argc - 2) ig_usage(help);
    struct ig_graph *g = ig_load_graph(argv[optind], &none);
    struct ig_plan *p = ig_plan_read(argv[optind + 1], g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    FILE *f = ig_open_output(out);
    head(f, g, p);
    fputs("<h2>Arena</h2>\n", f);
    ig_arena_svg(f, g, p);
    layers(f, g, p);
    ig_close_output();
    ig_plan_free(p);
    ig_graph_free(g);
    return 0;
}
