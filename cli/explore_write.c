/* Deployments as a table, as data, as a picture, and as the mapping that builds one. */
#include <stdlib.h>
#include <string.h>

#include "cli/chart.h"
#include "cli/cli.h"
#include "cli/explore.h"
#include "graph/version.h"
#include "planner/alloc.h"
#include "planner/deploy/assign.h"
#include "planner/text.h"

static double fps(const struct ig_explore_point *p)
{
    return 1e9 / (double)p->period_ns;
}

static double mib(int64_t bytes)
{
    return (double)bytes / 1048576;
}

/* --- keys --- */

static int32_t members(const struct ig_explore_point *p, int32_t s)
{
    return p->group[s].devices > 1 ? p->group[s].devices : 1;
}

static double stage_ms(const struct ig_exploration *x, const struct ig_explore_point *p, int32_t s)
{
    return (double)(p->group[s].devices > 1 ? p->group[s].ns : ig_explore_stage_ns(x->r, p, s)) * 1e-6;
}

static int64_t stage_bytes(const struct ig_exploration *x, const struct ig_explore_point *p, int32_t s)
{
    const struct ig_explore_stage *at = &p->stages[s];
    return p->group[s].devices > 1 ? p->group[s].bytes : ig_range_bytes(x->r, at->way, at->first, at->end);
}

/* The device of the site that stands for number `device` of the point: of its kind, the first that is free. */
static int32_t device_of(const struct ig_exploration *x, const struct ig_explore_point *p, int32_t stage, int32_t member)
{
    int32_t kind = x->e->x.ways[p->stages[stage].way].kind, before = member;
    for (int32_t s = 0; s < stage; s++)
        if (x->e->x.ways[p->stages[s].way].kind == kind && p->stages[s].device != p->stages[stage].device &&
            (!s || p->stages[s].device != p->stages[s - 1].device))
            before += members(p, s);
    for (int32_t i = 0; i < x->site->n_devices; i++)
        if (x->kind_of[i] == kind && !before--) return i;
    return 0;
}

void ig_explore_key(const struct ig_exploration *x, const struct ig_explore_point *p, int32_t stage, int32_t member,
                    char key[128])
{
    const struct ig_explore_way *w = &x->e->x.ways[p->stages[stage].way];
    const struct ig_device *d = &x->site->devices[device_of(x, p, stage, member)];
    const char *arch = strcmp(d->target, "host") ? "arm" : "cpu";
    size_t n = (size_t)snprintf(key, 100, "%s_%s", d->name, w->gpu ? "gpu" : arch);
    for (int32_t c = 0; c < w->cores && !w->gpu && w->cores <= 10; c++) n += (size_t)snprintf(key + n, 128 - n, "%d", c);
    if (!w->gpu && w->cores > 10) snprintf(key + n, 128 - n, "[0-%d]", w->cores - 1);
}

/* --- words --- */

static void put_row(FILE *f, const struct ig_exploration *x, int32_t i)
{
    const struct ig_explore_point *p = &x->front.at[i];
    char use[32];
    snprintf(use, sizeof use, "%d/%d/%d", p->n_devices, p->cores, p->gpus);
    fprintf(f, "%c%4d  %-9s", i == x->chosen ? '*' : ' ', i + 1, use);
    if (x->powers)
        fprintf(f, "%10.4f%10.4f", (double)p->device_pj * 1e-12, (double)p->total_pj * 1e-12);
    else
        fprintf(f, "%10s%10s", "-", "-");
    fprintf(f, "%11.3f%11.3f%12.3f%12.1f\n", fps(p), mib(p->memory_bytes), (double)p->latency_ns * 1e-6,
            (double)p->link_bytes * 1e-3);
}

/* Of the points on as many devices: the fastest, the most frugal, the leanest; and the chosen one. */
static int is_shown(const struct ig_exploration *x, int32_t i)
{
    const struct ig_explore_point *p = &x->front.at[i];
    int best[3] = {1, 1, 1};
    for (int32_t k = 0; k < x->front.n; k++) {
        const struct ig_explore_point *q = &x->front.at[k];
        const int64_t of_p[] = {p->period_ns, p->device_pj, p->memory_bytes};
        const int64_t of_q[] = {q->period_ns, q->device_pj, q->memory_bytes};
        for (int a = 0; a < 3 && q->n_devices == p->n_devices; a++)
            best[a] &= of_p[a] < of_q[a] || (of_p[a] == of_q[a] && i <= k);
    }
    return best[0] | best[1] | best[2] | (i == x->chosen);
}

void ig_explore_table(FILE *f, const struct ig_exploration *x, int all)
{
    int32_t shown = 0;
    fprintf(f, "%s: %d node%s on %d device%s, %d deployment%s that no other beats\n", x->g->name, x->e->x.n, ig_plural(x->e->x.n),
            x->site->n_devices, ig_plural(x->site->n_devices), x->front.n, ig_plural(x->front.n));
    fprintf(f, "point  dev/core/gpu  J/device     J all   frames/s MiB/device  latency ms  kB/link\n");
    for (int32_t i = 0; i < x->front.n; i++) {
        if (!all && !is_shown(x, i)) continue;
        put_row(f, x, i);
        shown++;
    }
    if (shown < x->front.n) fprintf(f, "%d more between these: --all\n", x->front.n - shown);
    if (x->e->estimated)
        fprintf(f, "times of %d of %d numbers of cores and GPUs are estimates%s\n", x->e->estimated, x->e->x.n_ways,
                x->e->scaled ? ", in proportion to the profile" : "");
    if (!x->powers) fprintf(f, "powers are not known: --powers, or a board's file that has them\n");
}

void ig_explore_put_stages(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p)
{
    fprintf(f, "%.3f frames/s, latency %.3f ms, %.3f MiB on the fullest of %d device%s\n", fps(p),
            (double)p->latency_ns * 1e-6, mib(p->memory_bytes), p->n_devices, ig_plural(p->n_devices));
    for (int32_t s = 0; s < p->n_stages; s++) {
        const struct ig_explore_stage *at = &p->stages[s];
        char key[128];
        ig_explore_key(x, p, s, 0, key);
        fprintf(f, "  %s", key);
        if (members(p, s) > 1) fprintf(f, " and %d more, %d by rows", members(p, s) - 1, p->group[s].n_split);
        fprintf(f, ": %.3f ms, %.3f MiB, %s to %s", stage_ms(x, p, s),
                mib(stage_bytes(x, p, s)), x->e->net.p.names[at->first],
                x->e->net.p.names[at->end - 1]);
        if (s + 1 < p->n_stages) fprintf(f, "; %.1f kB on", (double)x->r->passing[at->end] * 1e-3);
        fputs("\n", f);
    }
}

/* --- data --- */

static void put_stage(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p, int32_t s)
{
    const struct ig_explore_stage *at = &p->stages[s];
    char key[128];
    ig_explore_key(x, p, s, 0, key);
    fprintf(f, "{");
    if (members(p, s) > 1) fprintf(f, "\"devices\":%d,", members(p, s));
    fprintf(f, "\"first\":");
    ig_put_text(f, x->e->net.p.names[at->first]);
    fprintf(f, ",\"key\":");
    ig_put_text(f, key);
    fprintf(f, ",\"last\":");
    ig_put_text(f, x->e->net.p.names[at->end - 1]);
    fprintf(f, ",\"memory_bytes\":%lld,\"ms\":", (long long)stage_bytes(x, p, s));
    ig_put_double(f, stage_ms(x, p, s));
    fputs("}", f);
}

static void put_point(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p)
{
    fprintf(f, "{\"cores\":%d,\"device_j\":", p->cores);
    ig_put_double(f, (double)p->device_pj * 1e-12);
    fprintf(f, ",\"device_memory_bytes\":%lld,\"devices\":%d,\"fps\":", (long long)p->memory_bytes, p->n_devices);
    ig_put_double(f, fps(p));
    fprintf(f, ",\"gpus\":%d,\"latency_ms\":", p->gpus);
    ig_put_double(f, (double)p->latency_ns * 1e-6);
    fprintf(f, ",\"link_bytes\":%lld,\"moved_bytes\":%lld,\"stages\":[", (long long)p->link_bytes,
            (long long)p->moved_bytes);
    for (int32_t s = 0; s < p->n_stages; s++) {
        if (s) fputs(",", f);
        put_stage(f, x, p, s);
    }
    fprintf(f, "],\"total_j\":");
    ig_put_double(f, (double)p->total_pj * 1e-12);
    fputs("}", f);
}

void ig_explore_json(FILE *f, const struct ig_exploration *x)
{
    fprintf(f, "{\n\"chosen\":%d,\n\"format\":\"ingot-deployments\",\n\"model\":", x->chosen + 1);
    ig_put_text(f, x->g->name);
    fprintf(f, ",\n\"points\":[");
    for (int32_t i = 0; i < x->front.n; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_point(f, x, &x->front.at[i]);
    }
    fprintf(f, "\n],\n\"powers\":%s,\n\"times\":\"%s\",\n\"tool\":\"ingot %s\",\n\"version\":1\n}\n",
            x->powers ? "true" : "false",
            !x->e->estimated ? "profile" : x->e->scaled ? "profile and estimates" : "estimates", INGOT_VERSION);
}

/* A dot says on how many devices it is. */
void ig_explore_svg(FILE *f, const struct ig_exploration *x)
{
    struct ig_chart c = {.f = f, .width = 640, .height = 420, .left = 64, .right = 12, .top = 34, .bottom = 52};
    c.x0 = c.y0 = 1e30;
    for (int32_t i = 0; i < x->front.n; i++) {
        double m = mib(x->front.at[i].memory_bytes), y = fps(&x->front.at[i]);
        if (m < c.x0) c.x0 = m;
        if (m > c.x1) c.x1 = m;
        if (y < c.y0) c.y0 = y;
        if (y > c.y1) c.y1 = y;
    }
    double dx = (c.x1 - c.x0) * 0.06 + c.x1 * 0.01, dy = (c.y1 - c.y0) * 0.06 + c.y1 * 0.01;
    c.x0 = c.x0 > dx ? c.x0 - dx : 0;
    c.y0 = c.y0 > dy ? c.y0 - dy : 0;
    c.x1 += dx;
    c.y1 += dy;
    ig_chart_open(&c, "chart", "frames a second against memory of the fullest device");
    ig_chart_axes(&c, "MiB of the fullest device", "frames/s");
    for (int32_t i = 0; i < x->front.n; i++) {
        const struct ig_explore_point *p = &x->front.at[i];
        double px = ig_chart_x(&c, mib(p->memory_bytes)), py = ig_chart_y(&c, fps(p));
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" fill=\"currentColor\" fill-opacity=\"%s\"><title>point %d: %d devices, "
                   "%d cores, %d GPUs, %.4g frames/s, %.4g MiB, %.4g J a device, latency %.4g ms</title></circle>",
                px, py, i == x->chosen ? ".5" : ".15", i + 1, p->n_devices, p->cores, p->gpus, fps(p), mib(p->memory_bytes),
                (double)p->device_pj * 1e-12, (double)p->latency_ns * 1e-6);
        fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"10\" fill=\"currentColor\">%d</text>\n", px,
                py + 3.5, p->n_devices);
    }
    ig_chart_close(&c);
}
