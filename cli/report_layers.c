/* Where the time goes: a strip of all layers, their table, the bands, and measured beside estimated times. */
#include <math.h>

#include "cli/cli.h"
#include "cli/page.h"
#include "cli/report.h"
#include "planner/names.h"

static const struct ig_node *node_of(const struct ig_report *r, int32_t step)
{
    return &r->g->nodes[r->p->steps[step].node];
}

static double share(const struct ig_report *r, double ns)
{
    return r->p->latency_ns > 0 ? 100 * ns / r->p->latency_ns : 0;
}

static void name_cell(FILE *f, const struct ig_report *r, int32_t step)
{
    fprintf(f, "<td class=\"name k%d\" title=\"", r->layers[step].kind);
    ig_xml_text(f, node_of(r, step)->name);
    fputs("\"><span><bdi>", f);
    ig_xml_text(f, node_of(r, step)->name);
    fputs("</bdi></span></td>", f);
}

/* --- the strip --- */

void ig_report_strip(FILE *f, const struct ig_report *r)
{
    double of_kind[IG_KINDS] = {0};
    ig_section_open(f, "time", "Where the time goes");
    fputs("<div class=\"strip\">\n", f);
    for (int32_t i = 0; i < r->p->n_steps; i++) {
        const struct ig_report_layer *l = &r->layers[i];
        if (!(l->ns > 0)) continue;
        of_kind[l->kind] += l->ns;
        fprintf(f, "<a class=\"k%d\" style=\"flex:%.4f\" href=\"#l%d\" title=\"", l->kind, share(r, l->ns),
                i);
        ig_xml_text(f, node_of(r, i)->name);
        fprintf(f, ": %.1f \xc2\xb5s, %.1f %%\"></a>\n", l->ns * 1e-3, share(r, l->ns));
    }
    fputs("</div>\n<ul class=\"legend\">\n", f);
    for (int k = 0; k < IG_KINDS; k++)
        if (of_kind[k] > 0)
            fprintf(f, "<li class=\"k%d\">%s<span>%.1f %%</span></li>\n", k, ig_kind_names[k],
                    share(r, of_kind[k]));
    fputs("</ul>\n", f);
    ig_section_close(f);
}

/* --- the layers --- */

static void kernel_cell(FILE *f, const struct ig_plan_step *s)
{
    fprintf(f, "<td><code>%s</code></td>", s->kernel ? s->kernel->name : "view");
}

/* How a step is cut for the threads; a band as a whole at its last step. */
static void cut_cell(FILE *f, const struct ig_report *r, int32_t step)
{
    const struct ig_plan_step *s = &r->p->steps[step];
    fputs("<td>", f);
    if (!s->kernel) fputs("", f);
    else if (!s->split) fputs("whole", f);
    else fprintf(f, "%d %s &times; %d", s->chunk, ig_split_names[s->split], s->chunks);
    fputs("</td>", f);
}

static void band_cell(FILE *f, const struct ig_report *r, int32_t step)
{
    const struct ig_band *b = ig_band_of(r->p, step);
    fputs("<td>", f);
    if (b) fprintf(f, "%d: ", (int)(b - r->p->bands) + 1);
    if (b && b->last == step) fprintf(f, "%d row%s a phase", b->rows, b->rows == 1 ? "" : "s");
    else if (b && r->p->buffers[node_of(r, step)->out[0]].ring_rows)
        fprintf(f, "ring of %d rows", r->p->buffers[node_of(r, step)->out[0]].ring_rows);
    fputs("</td>", f);
}

static void layer_row(FILE *f, const struct ig_report *r, int32_t step, double longest)
{
    const struct ig_report_layer *l = &r->layers[step];
    const struct ig_plan_step *s = &r->p->steps[step];
    fprintf(f, "<tr id=\"l%d\"%s><td class=\"n\" data-v=\"%d\">%d</td>", step,
            s->kernel ? "" : " class=\"view\"", step, step + 1);
    name_cell(f, r, step);
    ig_number_cell(f, l->ns * 1e-3, 1);
    fprintf(f, "<td class=\"n k%d\" data-v=\"%.6g\">", l->kind, l->ns);
    if (s->kernel)
        fprintf(f, "<span class=\"bar\"><i style=\"width:%.1f%%\"></i></span>%.1f %%", 100 * l->ns / longest,
                share(r, l->ns));
    fputs("</td>", f);
    ig_number_cell(f, l->ns > 0 ? 100 * l->roof_ns / l->ns : 0, 0);
    ig_number_cell(f, l->flops * 0.5e-6, 3);
    ig_number_cell(f, l->ns > 0 ? l->flops / l->ns : 0, 1);
    kernel_cell(f, s);
    cut_cell(f, r, step);
    band_cell(f, r, step);
    fputs("</tr>\n", f);
}

void ig_report_layers(FILE *f, const struct ig_report *r)
{
    static const struct ig_column columns[] = {
        {"#", 1},    {"layer", 0},   {"time, \xc2\xb5s", 1}, {"share", 1}, {"roof, %", 1},
        {"MMAC", 1}, {"GFLOP/s", 1}, {"kernel", 0},          {"cut", 0},   {"band", 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    double longest = 1;
    for (int32_t i = 0; i < r->p->n_steps; i++) longest = fmax(longest, r->layers[i].ns);
    ig_section_open(f, "layers-of-the-plan", "Layers");
    fprintf(f,
            "<p class=\"note\">In the order they run; a heading sorts. Time: %s. Roof: the least time by\n"
            "the roofline, of the time; above 100 where data is still in a cache or Winograd saves work.\n"
            "A view moves nothing. %d nodes before folding.</p>\n",
            r->p->profile_sha256[0] ? "predicted from the profile" : "estimated", r->g->onnx_nodes);
    int32_t gpu = ig_gpu_stage_of(r->p);
    if (gpu >= 0)
        fprintf(f,
                "<p class=\"note\">Layers %d to %d are the GPU's stage: kernels and times here, as in the roofline, are those of the CPU, which "
                "serves where there is no GPU.</p>\n",
                r->p->stages[gpu].first + 1, r->p->stages[gpu].last + 1);
    ig_table_open(f, "layers", columns, COLUMNS);
    for (int32_t i = 0; i < r->p->n_steps; i++) layer_row(f, r, i, longest);
    ig_table_close(f);
    ig_section_close(f);
}

/* --- bands --- */

static void band_row(FILE *f, const struct ig_report *r, int32_t i)
{
    const struct ig_band *b = &r->p->bands[i];
    int32_t members[IG_MAX_BAND], n = ig_band_members(r->p, b, members);
    int64_t tensors, rings;
    ig_band_bytes(r->g, r->p, b, &tensors, &rings);
    fprintf(f, "<tr><td class=\"n\" data-v=\"%d\">%d</td>", i, i + 1);
    name_cell(f, r, b->first);
    name_cell(f, r, b->last);
    ig_number_cell(f, n, 0);
    ig_number_cell(f, b->rows, 0);
    ig_number_cell(f, b->predicted_ns * 1e-3, 1);
    ig_number_cell(f, b->apart_ns * 1e-3, 1);
    ig_number_cell(f, (double)rings, 0);
    ig_number_cell(f, (double)tensors, 0);
    fputs("</tr>\n", f);
}

void ig_report_bands(FILE *f, const struct ig_report *r)
{
    static const struct ig_column columns[] = {{"#", 1},
                                               {"from", 0},
                                               {"to", 0},
                                               {"layers", 1},
                                               {"rows a phase", 1},
                                               {"by rows, \xc2\xb5s", 1},
                                               {"one by one, \xc2\xb5s", 1},
                                               {"rings, B a thread", 1},
                                               {"instead of, B", 1}};
    if (!r->p->n_bands) return;
    ig_section_open(f, "bands-of-the-plan", "Bands");
    fputs("<p class=\"note\">Chains of layers that run a few rows at a time: the tensors between them are\n"
          "rings of rows that stay in the cache, and need no room in the arena.</p>\n",
          f);
    ig_table_open(f, "bands", columns, sizeof columns / sizeof *columns);
    for (int32_t i = 0; i < r->p->n_bands; i++) band_row(f, r, i);
    ig_table_close(f);
    ig_section_close(f);
}

/* --- measured --- */

static void measured_note(FILE *f, const struct ig_report *r)
{
    double in_order = 0, alone = 0, estimated = 0, off = 0;
    int n = 0, calibrated = 0;
    for (int32_t i = 0; i < r->p->n_steps; i++) {
        const struct ig_report_layer *l = &r->layers[i];
        if (!(l->in_order_ns > 0)) continue;
        in_order += l->in_order_ns;
        alone += l->alone_ns;
        estimated += l->estimated_ns;
        off += fabs(l->estimated_ns / l->in_order_ns - 1);
        calibrated += l->calibrated;
        n++;
    }
    fputs("<p class=\"note\">Measured on ", f);
    ig_xml_text(f, r->profile->cpu);
    fprintf(f,
            ", %d thread%s, medians: in order, inside the whole network, and alone, the layer repeated.\n"
            "In all %.3f ms in order, %.3f alone, %.3f estimated; an estimate is %.0f&nbsp;%% off (mean\n"
            "of the layers). ",
            r->profile->threads, r->profile->threads == 1 ? "" : "s", in_order * 1e-6, alone * 1e-6,
            estimated * 1e-6, n ? 100 * off / n : 0);
    if (calibrated)
        fprintf(f, "%d of %d estimates are by what kernels cost on the calibrated board", calibrated, n);
    if (calibrated) fputs(calibrated < n ? ", the others by the planner's stand-in." : ".", f);
    else fputs("Estimates are those that a plan without a profile rests on.", f);
    if (r->p->n_bands) fputs(" Layers of a band were measured one by one here.", f);
    fputs("</p>\n", f);
}

static void measured_row(FILE *f, const struct ig_report *r, int32_t step)
{
    const struct ig_report_layer *l = &r->layers[step];
    if (!(l->in_order_ns > 0)) return;
    fprintf(f, "<tr><td class=\"n\" data-v=\"%d\">%d</td>", step, step + 1);
    name_cell(f, r, step);
    kernel_cell(f, &r->p->steps[step]);
    ig_number_cell(f, l->ns * 1e-3, 1);
    ig_number_cell(f, l->in_order_ns * 1e-3, 1);
    ig_number_cell(f, l->alone_ns * 1e-3, 1);
    ig_number_cell(f, l->estimated_ns * 1e-3, 1);
    double off = round(100 * (l->estimated_ns / l->in_order_ns - 1)) + 0.0; /* no -0 */
    fprintf(f, "<td class=\"n\" data-v=\"%.6g\">%+.0f %%</td></tr>\n", off, off);
}

void ig_report_measured(FILE *f, const struct ig_report *r)
{
    static const struct ig_column columns[] = {{"#", 1},
                                               {"layer", 0},
                                               {"kernel", 0},
                                               {"planned, \xc2\xb5s", 1},
                                               {"in order, \xc2\xb5s", 1},
                                               {"alone, \xc2\xb5s", 1},
                                               {"estimated, \xc2\xb5s", 1},
                                               {"estimated / in order", 1}};
    if (!r->profile) return;
    ig_section_open(f, "measured-and-estimated", "Measured and estimated");
    measured_note(f, r);
    ig_table_open(f, "measured", columns, sizeof columns / sizeof *columns);
    for (int32_t i = 0; i < r->p->n_steps; i++) measured_row(f, r, i);
    ig_table_close(f);
    ig_section_close(f);
}
