/* The stages of a plan: what each takes, and frames on their way through them, as predicted and as they went. */
#include <math.h>

#include "cli/chart.h"
#include "cli/cli.h"
#include "cli/page.h"
#include "cli/report.h"
#include "planner/pipe_slots.h"
#include "planner/stages.h"

enum { LANE = 40, GROUP_GAP = 46, SHADES = 4 }; /* of the picture; colours that frames take in turns */

/* --- in words --- */

static void sentence(FILE *f, const struct ig_report *r)
{
    const struct ig_plan *p = r->p;
    double single = p->latency_ns, period = p->period_ns > 0 ? p->period_ns : 1;
    fprintf(f,
            "<p>%d stages work on consecutive frames at the same time: one comes out every <b>%.4g ms</b>, "
            "%.4g frames a second, %.2f times as many as their layers one after the other would give.",
            p->n_stages, period * 1e-6, 1e9 / period, single / period);
    fprintf(f, " A frame takes %.4g ms from end to end if it comes alone, and %.4g if others always wait.",
            single * 1e-6, p->full_ns * 1e-6);
    if (r->run && r->run->fps > 0)
        fprintf(f,
                " Measured: <b>%.4g frames a second</b>, %+.1f&nbsp;%% of what was predicted; latency %.4g ms alone, "
                "%.4g with frames waiting.",
                r->run->fps, 100 * (r->run->fps * period * 1e-9 - 1), r->run->alone_ms, r->run->latency_ms);
    fputs("</p>\n", f);
}

/* --- table --- */

static void stage_row(FILE *f, const struct ig_report *r, int32_t i)
{
    const struct ig_plan_stage *s = &r->p->stages[i];
    double ns = ig_stage_ns(r->p, i), ran = r->run ? r->run->stage_ms[i] : 0;
    fprintf(f, "<tr><td class=\"n\" data-v=\"%d\">%d</td><td class=\"name k%d\">", i, i, i % IG_KINDS);
    ig_xml_text(f, s->processor);
    fputs("</td>", f);
    ig_number_cell(f, s->threads, 0);
    ig_number_cell(f, s->last - s->first + 1, 0);
    fputs("<td>", f);
    fprintf(f, "<a href=\"#l%d\"><bdi>", s->last);
    ig_xml_text(f, r->g->nodes[r->p->steps[s->last].node].name);
    fputs("</bdi></a></td>", f);
    ig_number_cell(f, s->slots, 0);
    ig_number_cell(f, ns * 1e-6, 3);
    ig_number_cell(f, r->p->period_ns > 0 ? 100 * ns / r->p->period_ns : 0, 0);
    ig_number_cell(f, ran, 3);
    ig_number_cell(f, r->run ? 0.1 * ran * r->run->fps : 0, 0);
    fputs("</tr>\n", f);
}

static void stage_table(FILE *f, const struct ig_report *r)
{
    static const struct ig_column columns[] = {{"stage", 1},        {"on", 0},     {"threads", 1},       {"steps", 1},
                                               {"up to", 0},        {"slots", 1},  {"predicted, ms", 1}, {"busy, %", 1},
                                               {"measured, ms", 1}, {"busy, %", 1}};
    ig_table_open(f, "stages", columns, sizeof columns / sizeof *columns);
    for (int32_t i = 0; i < r->p->n_stages; i++) stage_row(f, r, i);
    ig_table_close(f);
}

/* --- frames over time --- */

/* Where frames are when, ms from the first one's start. */
struct lanes {
    int32_t frames, n;
    double begin[IG_RUN_FRAMES][IG_PLAN_STAGES], end[IG_RUN_FRAMES][IG_PLAN_STAGES];
};

static void predict(const struct ig_plan *p, struct lanes *l)
{
    int64_t ns[IG_PLAN_STAGES], start[IG_RUN_FRAMES * IG_PLAN_STAGES];
    int32_t on[IG_PLAN_STAGES], slots[IG_PLAN_STAGES];
    for (int32_t i = 0; i < p->n_stages; i++) {
        ns[i] = (int64_t)llround(ig_stage_ns(p, i));
        on[i] = p->steps[p->stages[i].first].processor;
        slots[i] = p->stages[i].slots;
    }
    struct ig_slots line = {.n = p->n_stages, .ns = ns, .on = on, .slots = slots};
    ig_slots_run(&line, IG_RUN_FRAMES, 0, start);
    l->frames = IG_RUN_FRAMES;
    l->n = p->n_stages;
    for (int32_t k = 0; k < l->frames; k++)
        for (int32_t i = 0; i < l->n; i++) {
            l->begin[k][i] = (double)start[k * l->n + i] * 1e-6;
            l->end[k][i] = l->begin[k][i] + (double)ns[i] * 1e-6;
        }
}

static void observe(const struct ig_report_run *run, int32_t n_stages, struct lanes *l)
{
    l->frames = run->frames;
    l->n = n_stages;
    for (int32_t k = 0; k < l->frames; k++)
        for (int32_t i = 0; i < l->n; i++) {
            l->begin[k][i] = run->begin_us[k][i] * 1e-3;
            l->end[k][i] = run->end_us[k][i] * 1e-3;
        }
}

static double last_end(const struct lanes *l)
{
    double t = 0;
    for (int32_t k = 0; k < l->frames; k++)
        for (int32_t i = 0; i < l->n; i++) t = fmax(t, l->end[k][i]);
    return t;
}

static void frame(const struct ig_chart *c, double x0, double x1, double y, int32_t k, const char *what)
{
    fprintf(c->f,
            "<rect class=\"frame k%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"><title>%s, frame "
            "%d: ",
            k % SHADES, ig_chart_x(c, x0), y, fmax(ig_chart_x(c, x1) - ig_chart_x(c, x0), 0.5), LANE - 8, what, k);
    fprintf(c->f, "%.3f to %.3f ms, %.3f ms</title></rect>\n", x0, x1, x1 - x0);
    if (ig_chart_x(c, x1) - ig_chart_x(c, x0) > 24)
        fprintf(c->f, "<text class=\"in\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n",
                (ig_chart_x(c, x0) + ig_chart_x(c, x1)) / 2, y + (LANE - 8) / 2.0 + 4, k);
}

static void draw_lanes(const struct ig_chart *c, const struct ig_report *r, const struct lanes *l, double top,
                       const char *what)
{
    fprintf(c->f, "<text x=\"0\" y=\"%.1f\">%s</text>\n", top - 6, what);
    for (int32_t i = 0; i < l->n; i++) {
        double y = top + i * LANE + 4;
        fprintf(c->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", c->left - 8, y + (LANE - 8) / 2.0 + 4);
        ig_xml_text(c->f, r->p->stages[i].processor);
        fputs("</text>\n", c->f);
        for (int32_t k = 0; k < l->frames; k++)
            if (l->end[k][i] > l->begin[k][i]) frame(c, l->begin[k][i], l->end[k][i], y, k, what);
    }
}

static void gantt(FILE *f, const struct ig_report *r)
{
    struct lanes said = {0}, ran = {0};
    int32_t lanes = r->p->n_stages, two = r->run && r->run->frames > 0;
    struct ig_chart c = {.f = f, .width = 1040, .left = 84, .right = 4, .top = 34, .bottom = 60, .y1 = 1};
    predict(r->p, &said);
    if (two) observe(r->run, lanes, &ran);
    c.x1 = fmax(fmax(last_end(&said), last_end(&ran)), 1e-6);
    c.height = c.top + c.bottom + lanes * LANE + (two ? lanes * LANE + GROUP_GAP : 0);
    ig_chart_open(&c, "wide", "frames in their stages over time");
    ig_chart_x_axis(&c, "ms");
    draw_lanes(&c, r, &said, c.top, "predicted");
    if (two) draw_lanes(&c, r, &ran, c.top + lanes * LANE + GROUP_GAP, "measured");
    ig_chart_close(&c);
    fprintf(f, "<p class=\"note\">The first %d frames; a row is a stage%s.</p>\n", IG_RUN_FRAMES,
            two ? "" : ", as predicted: --trace of the program shows beside it how they went");
}

void ig_report_stages(FILE *f, const struct ig_report *r)
{
    if (!r->p->n_stages) return;
    ig_section_open(f, "pipeline", "Pipeline");
    sentence(f, r);
    gantt(f, r);
    stage_table(f, r);
    fputs("<p class=\"note\">Slots: copies of what a stage gives the next one. Busy: of the time between two "
          "results.</p>\n",
          f);
    ig_section_close(f);
    ig_report_cuts(f, r);
}
