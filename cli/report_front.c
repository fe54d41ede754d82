/* The front between memory and time, and where on it the plan is. */
#include <stdlib.h>
#include <string.h>

#include "cli/chart.h"
#include "cli/cli.h"
#include "cli/page.h"
#include "cli/report.h"
#include "planner/text.h"

static const int64_t MOST_BYTES = (int64_t)1 << 42;

static struct ig_front_point point_of(struct ig_reader *r, const json_t *o)
{
    return (struct ig_front_point){.bytes = (double)ig_get_int(r, o, "bytes", 0, MOST_BYTES),
                                   .ms = ig_get_double(r, o, "latency_ms", 0)};
}

static void read_points(struct ig_reader *r, const json_t *root, struct ig_front *front)
{
    const json_t *array = ig_get_array(r, root, "points");
    size_t n = json_array_size(array);
    front->at = calloc(n + 1, sizeof *front->at);
    if (!front->at) ig_fatal("out of memory");
    r->where = "points";
    for (r->at = 0; !r->failed && r->at < n; r->at++) {
        const json_t *o = json_array_get(array, r->at);
        struct ig_front_point *to = &front->at[front->n++];
        *to = point_of(r, o);
        to->bands = (int32_t)json_array_size(ig_get_array(r, o, "bands"));
        snprintf(to->kernels, sizeof to->kernels, "%s", ig_get_text(r, o, "kernels"));
    }
    r->where = "";
}

void ig_front_read(struct ig_front *front, const char *path, const struct ig_plan *p)
{
    char err[4096];
    struct ig_reader r;
    json_t *root = ig_reader_open(&r, path, "ingot-pareto", err, sizeof err);
    if (!root) ig_fatal("%s", err);
    *front = (struct ig_front){0};
    const char *model = ig_get_text(&r, root, "model");
    if (!r.failed && strcmp(model, p->model))
        ig_reader_fail(&r, "front of '%.200s', not of '%.200s'", model, p->model);
    int64_t threads = ig_get_int(&r, root, "threads", 1, 4096);
    if (!r.failed && threads != p->threads)
        ig_reader_fail(&r, "front for %lld threads, the plan is for %d", (long long)threads, p->threads);
    const json_t *chosen = json_object_get(root, "chosen");
    if (!json_is_null(chosen)) front->chosen = point_of(&r, chosen);
    read_points(&r, root, front);
    json_decref(root);
    if (r.failed) ig_fatal("%s", err);
}

/* --- the picture --- */

static void set_range(struct ig_chart *c, const struct ig_report *r)
{
    const struct ig_front *t = r->front;
    c->x0 = c->x1 = (double)(r->p->arena_bytes + r->p->weights_bytes);
    c->y0 = c->y1 = r->p->latency_ns * 1e-6;
    for (int32_t i = 0; i < t->n; i++) {
        if (t->at[i].bytes < c->x0) c->x0 = t->at[i].bytes;
        if (t->at[i].bytes > c->x1) c->x1 = t->at[i].bytes;
        if (t->at[i].ms < c->y0) c->y0 = t->at[i].ms;
        if (t->at[i].ms > c->y1) c->y1 = t->at[i].ms;
    }
    double x = (c->x1 - c->x0) * 0.06 + c->x1 * 0.005 + 1, y = (c->y1 - c->y0) * 0.08 + c->y1 * 0.005 + 1e-6;
    c->x0 = c->x0 > x ? c->x0 - x : 0;
    c->x1 += x;
    c->y0 = c->y0 > y ? c->y0 - y : 0;
    c->y1 += y;
}

static void draw_points(const struct ig_chart *c, const struct ig_front *t)
{
    fputs("<path class=\"front\" fill=\"none\" stroke=\"currentColor\" d=\"", c->f);
    for (int32_t i = 0; i < t->n; i++)
        fprintf(c->f, i ? "H%.1fV%.1f" : "M%.1f %.1f", ig_chart_x(c, t->at[i].bytes),
                ig_chart_y(c, t->at[i].ms));
    fputs("\"/>\n", c->f);
    for (int32_t i = 0; i < t->n; i++) {
        char bytes[32];
        fprintf(c->f,
                "<circle class=\"dot k0\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s B, %.4g ms, %d band%s, ",
                ig_chart_x(c, t->at[i].bytes), ig_chart_y(c, t->at[i].ms),
                ig_commas((int64_t)t->at[i].bytes, bytes), t->at[i].ms, t->at[i].bands, ig_plural(t->at[i].bands));
        ig_xml_text(c->f, t->at[i].kernels);
        fputs(" kernels</title></circle>\n", c->f);
    }
}

/* Its name is below it, where no plan can be, unless the axis is there. */
static void draw_chosen(const struct ig_chart *c, double bytes, double ms)
{
    double x = ig_chart_x(c, bytes), y = ig_chart_y(c, ms);
    char text[32];
    fprintf(c->f, "<circle class=\"chosen\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"><title>", x, y);
    fprintf(c->f, "this plan: %s B, %.4g ms</title></circle>\n", ig_commas((int64_t)bytes, text), ms);
    fprintf(c->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">this plan</text>\n", x,
            y + 26 < c->height - c->bottom ? y + 24 : y - 14, x > c->width / 2 ? "end" : "start");
}

static void caption(FILE *f, const struct ig_report *r)
{
    const struct ig_front *t = r->front;
    const struct ig_front_point *least = &t->at[0], *fastest = &t->at[t->n - 1];
    char a[32], b[32];
    fprintf(f,
            "<p class=\"note\">Arena and weights against the predicted time: %d good plan%s, from %s B at\n"
            "%.4g ms to %s B at %.4g ms.",
            t->n, t->n == 1 ? "" : "s", ig_commas((int64_t)least->bytes, a), least->ms,
            ig_commas((int64_t)fastest->bytes, b), fastest->ms);
    if (t->chosen.bytes > 0 && (int64_t)t->chosen.bytes != r->p->arena_bytes + r->p->weights_bytes)
        fprintf(f, " The front was made beside another plan, of %s B.",
                ig_commas((int64_t)t->chosen.bytes, a));
    fputs("</p>\n", f);
}

void ig_report_front(FILE *f, const struct ig_report *r)
{
    struct ig_chart c = {
        .f = f, .width = 560, .height = 380, .left = 64, .right = 4, .top = 34, .bottom = 52};
    if (!r->front || !r->front->n) return;
    ig_section_open(f, "front", "Memory against time");
    set_range(&c, r);
    ig_chart_open(&c, "chart", "memory against predicted time");
    ig_chart_axes(&c, "arena and weights, B", "ms a frame");
    draw_points(&c, r->front);
    draw_chosen(&c, (double)(r->p->arena_bytes + r->p->weights_bytes), r->p->latency_ns * 1e-6);
    ig_chart_close(&c);
    caption(f, r);
    ig_section_close(f);
}
