/* The roofline (Williams, Waterman, Patterson, 2009): what a layer could reach, by its operations a byte. */
#include <math.h>

#include "cli/chart.h"
#include "cli/page.h"
#include "cli/report.h"

static int is_dot(const struct ig_report_layer *l)
{
    return l->flops > 0 && l->bytes > 0 && l->ns > 0;
}

static void stretch(double v, double *low, double *high)
{
    if (v < *low) *low = v;
    if (v > *high) *high = v;
}

/* All dots, the ridge, and some room around them. */
static void set_range(struct ig_chart *c, const struct ig_report *r)
{
    double ridge = r->roof.gflops / r->roof.gbytes;
    c->x0 = c->x1 = ridge;
    c->y0 = c->y1 = r->roof.gflops;
    for (int32_t i = 0; i < r->p->n_steps; i++) {
        const struct ig_report_layer *l = &r->layers[i];
        if (!is_dot(l)) continue;
        stretch(l->flops / l->bytes, &c->x0, &c->x1);
        stretch(l->flops / l->ns, &c->y0, &c->y1);
    }
    stretch(c->y1 / 20, &c->y0, &c->y1);
    c->x0 *= 0.6;
    c->x1 *= 1.8;
    c->y0 *= 0.6;
    c->y1 *= 1.6;
}

/* What so many bytes a second allow, up to the peak: a line of slope 1, named along it. */
static void bandwidth_line(const struct ig_chart *c, const struct ig_roof *roof, double gbytes,
                           const char *class_name, const char *name)
{
    double from = fmax(c->x0, c->y0 / gbytes), to = fmin(c->x1, roof->gflops / gbytes);
    if (from >= to) return;
    double x = ig_chart_x(c, from), y = ig_chart_y(c, from * gbytes);
    double dx = ig_chart_x(c, to) - x, dy = ig_chart_y(c, to * gbytes) - y;
    fprintf(c->f, "<path class=\"%s\" stroke=\"currentColor\" d=\"M%.1f %.1fl%.1f %.1f\"/>\n", class_name, x,
            y, dx, dy);
    if (dx < 90) return;
    fprintf(c->f, "<text transform=\"translate(%.1f %.1f)rotate(%.1f)\" x=\"10\" y=\"-6\">", x, y,
            atan2(dy, dx) * 180 / acos(-1));
    ig_xml_text(c->f, name);
    fprintf(c->f, " %.3g GB/s</text>\n", gbytes);
}

static void roof_lines(const struct ig_chart *c, const struct ig_roof *roof)
{
    double from = fmax(c->x0, roof->gflops / roof->gbytes), y = ig_chart_y(c, roof->gflops);
    for (int32_t i = 0; i < roof->n_caches; i++) {
        bandwidth_line(c, roof, roof->caches[i].gbytes, "cache", roof->caches[i].name);
        from = fmin(from, fmax(c->x0, roof->gflops / roof->caches[i].gbytes));
    }
    bandwidth_line(c, roof, roof->gbytes, "roof", "memory");
    fprintf(c->f, "<path class=\"roof\" stroke=\"currentColor\" d=\"M%.1f %.1fH%.1f\"/>\n",
            ig_chart_x(c, from), y, c->width - c->right);
    fprintf(c->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">peak %.4g GFLOP/s</text>\n",
            c->width - c->right, y - 7, roof->gflops);
}

static void dot(const struct ig_chart *c, const struct ig_report *r, int32_t step)
{
    const struct ig_report_layer *l = &r->layers[step];
    double intensity = l->flops / l->bytes, rate = l->flops / l->ns;
    fprintf(c->f, "<a href=\"#l%d\"><circle class=\"dot k%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>",
            step, l->kind, ig_chart_x(c, intensity), ig_chart_y(c, rate));
    ig_xml_text(c->f, r->g->nodes[r->p->steps[step].node].name);
    fprintf(c->f, ": %.4g FLOP/B, %.4g GFLOP/s, %.0f %% of the roof, %.1f \xc2\xb5s</title></circle></a>\n",
            intensity, rate, 100 * l->roof_ns / l->ns, l->ns * 1e-3);
}

static void source(FILE *f, const struct ig_report *r, const char *what, const char *from)
{
    fputs(what, f);
    if (r->board && from == r->board->name) fputs("as of the board ", f);
    ig_xml_text(f, from);
    fputs(".", f);
}

static void caption(FILE *f, const struct ig_report *r)
{
    fputs("<p class=\"note\">A dot is a layer; hover for its name, click for its row. FLOP: two a\n"
          "multiply-add of the plain sum, so a Winograd layer, which needs fewer, may be above the peak. Bytes:\n"
          "input, output and weights once, without what a band keeps in rings; what is still in a cache\n"
          "comes faster than memory.",
          f);
    if (r->roof.n_caches) fputs(" Dashed: the bandwidths of the caches.", f);
    source(f, r, " Peak ", r->roof.gflops_from);
    source(f, r, " Bandwidth ", r->roof.gbytes_from);
    fputs("</p>\n", f);
}

void ig_report_roofline(FILE *f, const struct ig_report *r)
{
    struct ig_chart c = {.f = f,
                         .width = 560,
                         .height = 380,
                         .left = 58,
                         .right = 4,
                         .top = 34,
                         .bottom = 52,
                         .log_x = 1,
                         .log_y = 1};
    ig_section_open(f, "roofline", "Roofline");
    set_range(&c, r);
    ig_chart_open(&c, "chart", "operations a byte against operations a second");
    ig_chart_axes(&c, "FLOP a byte", "GFLOP/s");
    roof_lines(&c, &r->roof);
    for (int32_t i = 0; i < r->p->n_steps; i++)
        if (is_dot(&r->layers[i])) dot(&c, r, i);
    ig_chart_close(&c);
    caption(f, r);
    ig_section_close(f);
}
