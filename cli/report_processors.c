/* What each layer takes on the processor that has it, and on others that were profiled (Figure 4 of TVM co-execution). */
#include <math.h>

#include "cli/chart.h"
#include "cli/page.h"
#include "cli/report.h"
#include "planner/stages.h"

static const double slot = 0.85; /* of a step's width that its bars take */

/* The least time of a node; 0: not in the profile. A GPU's kernels are timed alone only. */
static double least_ns(const struct ig_profile *p, int32_t node)
{
    double least = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const struct ig_timing *t = &p->timings[i];
        double ns = t->in_order_ns > 0 ? t->in_order_ns : t->alone_ns;
        if (t->node == node && (!(least > 0) || ns < least)) least = ns;
    }
    return least;
}

static double longest_ns(const struct ig_report *r)
{
    double longest = 1e3;
    for (int32_t i = 0; i < r->p->n_steps; i++) {
        longest = fmax(longest, r->p->steps[i].predicted_ns);
        for (int32_t k = 0; k < r->n_others; k++) longest = fmax(longest, least_ns(r->others[k], r->p->steps[i].node));
    }
    return longest;
}

/* "AMD EPYC, avx2, 2 threads" */
static void profile_name(FILE *f, const struct ig_profile *p)
{
    ig_xml_text(f, p->cpu);
    fputs(", ", f);
    ig_xml_text(f, p->isa);
    if (p->threads > 1) fprintf(f, ", %d threads", p->threads);
    if (p->beside) fprintf(f, ", beside %d", p->beside);
}

static void processor_name(FILE *f, const struct ig_report *r, int32_t step)
{
    const struct ig_plan *p = r->p;
    if (!p->n_stages) fprintf(f, "as planned, %d thread%s", p->threads, p->threads > 1 ? "s" : "");
    else if (ig_step_is_gpu(p, step)) fputs("by the CPU, not the GPU", f);
    else ig_xml_text(f, p->stages[p->steps[step].stage].processor);
}

/* Bar k of a step; its processor's name follows. */
static void open_bar(const struct ig_chart *c, const struct ig_report *r, int32_t step, int32_t k, int32_t colour, double ns)
{
    double width = slot / (r->n_others + 1), x = ig_chart_x(c, step + k * width), y = ig_chart_y(c, ns * 1e-3);
    fprintf(c->f, "<a href=\"#l%d\"><rect class=\"frame k%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"><title>", step,
            colour % IG_KINDS, x, y, fmax(ig_chart_x(c, step + (k + 1) * width) - x, 0.5), ig_chart_y(c, 0) - y);
    ig_xml_text(c->f, r->g->nodes[r->p->steps[step].node].name);
    fputs(", ", c->f);
}

static void close_bar(const struct ig_chart *c, double ns)
{
    fprintf(c->f, ": %.1f \xc2\xb5s</title></rect></a>\n", ns * 1e-3);
}

static int32_t colour_of(const struct ig_report *r, int32_t other)
{
    return (r->p->n_stages ? r->p->n_stages : 1) + other;
}

static void bars(const struct ig_chart *c, const struct ig_report *r)
{
    for (int32_t i = 0; i < r->p->n_steps; i++) {
        const struct ig_plan_step *s = &r->p->steps[i];
        if (s->predicted_ns > 0) {
            open_bar(c, r, i, 0, r->p->n_stages ? s->stage : 0, s->predicted_ns);
            processor_name(c->f, r, i);
            close_bar(c, s->predicted_ns);
        }
        for (int32_t k = 0; k < r->n_others; k++) {
            double ns = least_ns(r->others[k], s->node);
            if (!(ns > 0)) continue;
            open_bar(c, r, i, k + 1, colour_of(r, k), ns);
            profile_name(c->f, r->others[k]);
            close_bar(c, ns);
        }
    }
}

static void legend(FILE *f, const struct ig_report *r)
{
    const struct ig_plan *p = r->p;
    fputs("<ul class=\"legend\">\n", f);
    for (int32_t i = 0; i < p->n_stages; i++) {
        fprintf(f, "<li class=\"k%d\">", i % IG_KINDS);
        ig_xml_text(f, p->stages[i].processor);
        fprintf(f, "<span>%.3f ms</span></li>\n", ig_stage_ns(p, i) * 1e-6);
    }
    if (!p->n_stages) fprintf(f, "<li class=\"k0\">as planned<span>%.3f ms</span></li>\n", p->latency_ns * 1e-6);
    for (int32_t k = 0; k < r->n_others; k++) {
        double ns = 0;
        for (int32_t i = 0; i < p->n_steps; i++) ns += least_ns(r->others[k], p->steps[i].node);
        fprintf(f, "<li class=\"k%d\">", colour_of(r, k) % IG_KINDS);
        profile_name(f, r->others[k]);
        fprintf(f, "<span>%.3f ms</span></li>\n", ns * 1e-6);
    }
    fputs("</ul>\n", f);
}

void ig_report_processors(FILE *f, const struct ig_report *r)
{
    struct ig_chart c = {.f = f,
                         .width = 1040,
                         .height = 300,
                         .left = 58,
                         .right = 4,
                         .top = 34,
                         .bottom = 52,
                         .x1 = r->p->n_steps,
                         .y1 = longest_ns(r) * 1e-3 * 1.04};
    if (!(r->p->latency_ns > 0) || (!r->p->n_stages && !r->n_others)) return;
    ig_section_open(f, "layers-by-processor", "Layers by processor");
    ig_chart_open(&c, "wide", r->n_others ? "time of each layer on each processor" : "time of each layer on its processor");
    ig_chart_axes(&c, "step", "\xc2\xb5s");
    bars(&c, r);
    ig_chart_close(&c);
    legend(f, r);
    if (ig_gpu_stage_of(r->p) >= 0)
        fputs("<p class=\"note\">What the GPU takes for one of its layers is not in the plan: their bars are what the CPU takes where there is "
              "no GPU.</p>\n",
              f);
    ig_section_close(f);
}
