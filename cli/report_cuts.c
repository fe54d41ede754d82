/* Where a plan of two stages could be cut as well. */
#include <math.h>

#include "cli/chart.h"
#include "cli/cli.h"
#include "cli/page.h"
#include "cli/report.h"
#include "planner/stages.h"

/* Times of both stages if the first ended with step n - 1. */
struct cut {
    double first_ms, second_ms;
};

static struct cut cut_at(const struct ig_plan *p, int32_t n)
{
    struct cut c = {0, 0};
    for (int32_t i = 0; i < p->n_steps; i++) *(i < n ? &c.first_ms : &c.second_ms) += p->steps[i].predicted_ns * 1e-6;
    return c;
}

static double slower(struct cut c)
{
    return fmax(c.first_ms, c.second_ms);
}

/* Not within a band, nor before what moves no data: that costs nothing where it is. */
static int may_cut(const struct ig_plan *p, int32_t n)
{
    for (int32_t i = 0; i < p->n_bands; i++)
        if (p->bands[i].first < n && n <= p->bands[i].last) return 0;
    return n > 0 && n < p->n_steps && p->steps[n].kernel != NULL;
}

static void put_cut(const struct ig_chart *c, const struct ig_report *r, int32_t n)
{
    struct cut at = cut_at(r->p, n);
    fprintf(c->f, "<title>after %d, ", n);
    ig_xml_text(c->f, r->g->nodes[r->p->steps[n - 1].node].name);
    fprintf(c->f, ": %.3f and %.3f ms, %.4g frames/s</title>", at.first_ms, at.second_ms, 1e3 / slower(at));
}

static void line(const struct ig_chart *c, const struct ig_report *r, int which, const char *class_name)
{
    fprintf(c->f, "<path class=\"%s\" fill=\"none\" d=\"", class_name);
    for (int32_t n = 0, any = 0; n <= r->p->n_steps; n++) {
        struct cut at = cut_at(r->p, n);
        double y = which == 0 ? at.first_ms : which == 1 ? at.second_ms : 1e3 / slower(at);
        if (n > 0 && n < r->p->n_steps && !may_cut(r->p, n)) continue;
        fprintf(c->f, "%s%.1f %.1f", any++ ? "L" : "M", ig_chart_x(c, n), ig_chart_y(c, y));
    }
    fputs("\"/>\n", c->f);
}

static void dots(const struct ig_chart *c, const struct ig_report *r, int which, int colour)
{
    for (int32_t n = 1; n < r->p->n_steps; n++) {
        struct cut at = cut_at(r->p, n);
        double y = which == 0 ? at.first_ms : which == 1 ? at.second_ms : 1e3 / slower(at);
        if (!may_cut(r->p, n)) continue;
        fprintf(c->f, "<a href=\"#l%d\"><circle class=\"dot k%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\">", n - 1, colour,
                ig_chart_x(c, n), ig_chart_y(c, y));
        put_cut(c, r, n);
        fputs("</circle></a>\n", c->f);
    }
}

static void chosen(const struct ig_chart *c, const struct ig_report *r, double y, const char *what)
{
    int32_t n = r->p->stages[1].first;
    fprintf(c->f, "<circle class=\"chosen\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\">", ig_chart_x(c, n), ig_chart_y(c, y));
    put_cut(c, r, n);
    fprintf(c->f, "</circle>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", ig_chart_x(c, n),
            ig_chart_y(c, y) - 14, what);
}

static struct ig_chart chart(FILE *f, const struct ig_report *r, double highest)
{
    return (struct ig_chart){.f = f,
                             .width = 560,
                             .height = 380,
                             .left = 58,
                             .right = 4,
                             .top = 34,
                             .bottom = 52,
                             .x1 = r->p->n_steps,
                             .y1 = highest};
}

/* Whose line it is, at the end of it where it is highest. */
static void line_name(const struct ig_chart *c, const struct ig_report *r, int32_t stage, double x, const char *anchor)
{
    fprintf(c->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, c->top - 4, anchor);
    ig_xml_text(c->f, r->p->stages[stage].processor);
    fputs("</text>\n", c->f);
}

static void stage_times(FILE *f, const struct ig_report *r)
{
    struct cut now = cut_at(r->p, r->p->stages[1].first);
    struct ig_chart c = chart(f, r, r->p->latency_ns * 1.04e-6);
    ig_section_open(f, "cuts", "Stages against where they are cut");
    ig_chart_open(&c, "chart", "time of both stages over all cuts");
    ig_chart_axes(&c, "steps of the first stage", "ms a frame");
    for (int which = 0; which < 2; which++) {
        line(&c, r, which, which ? "second" : "front");
        dots(&c, r, which, which);
    }
    line_name(&c, r, 1, c.left + 6, "start");
    line_name(&c, r, 0, c.width - c.right, "end");
    chosen(&c, r, slower(now), "this plan");
    ig_chart_close(&c);
    fputs("<p class=\"note\">The slower of both sets the pace: the best cut is where they cross. Predicted, with the "
          "kernels of this plan; a dot is a place to cut at.</p>\n",
          f);
    ig_section_close(f);
}

static void measured_rate(const struct ig_chart *c, const struct ig_report *r)
{
    double x = ig_chart_x(c, r->p->stages[1].first), y;
    if (!r->run || !(r->run->fps > 0)) return;
    y = ig_chart_y(c, r->run->fps);
    fprintf(c->f,
            "<path class=\"roof\" stroke=\"currentColor\" d=\"M%.1f %.1fl12 12m0 -12l-12 12\"><title>measured: %.4g "
            "frames/s</title></path>\n",
            x - 6, y - 6, r->run->fps);
}

static void rates(FILE *f, const struct ig_report *r)
{
    double most = 1e3 / slower(cut_at(r->p, r->p->stages[1].first)), single = 1e9 / r->p->latency_ns, y;
    for (int32_t n = 1; n < r->p->n_steps; n++) most = fmax(most, 1e3 / slower(cut_at(r->p, n)));
    if (r->run) most = fmax(most, r->run->fps);
    struct ig_chart c = chart(f, r, most * 1.12);
    ig_section_open(f, "rates", "Frames against where it is cut");
    ig_chart_open(&c, "chart", "frames a second over all cuts");
    ig_chart_axes(&c, "steps of the first stage", "frames/s");
    y = ig_chart_y(&c, single);
    fprintf(f,
            "<path class=\"cache\" stroke=\"currentColor\" d=\"M%.1f %.1fH%.1f\"><title>one after the other: %.4g "
            "frames/s</title></path>\n",
            c.left, y, c.width - c.right, single);
    line(&c, r, 2, "front");
    dots(&c, r, 2, 0);
    chosen(&c, r, 1e3 / slower(cut_at(r->p, r->p->stages[1].first)), "this plan");
    measured_rate(&c, r);
    ig_chart_close(&c);
    fputs("<p class=\"note\">Dashed: all layers one after the other on one processor.", f);
    if (r->run && r->run->fps > 0) fputs(" Cross: what was measured.", f);
    fputs("</p>\n", f);
    ig_section_close(f);
}

void ig_report_cuts(FILE *f, const struct ig_report *r)
{
    const struct ig_plan *p = r->p;
    if (!(p->latency_ns > 0)) return;
    if (p->n_stages == 2 && p->stages[0].threads == p->stages[1].threads && ig_gpu_stage_of(p) < 0) {
        fputs("<div class=\"pair\">\n", f);
        stage_times(f, r);
        rates(f, r);
        fputs("</div>\n", f);
    }
}
