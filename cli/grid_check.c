#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/grid.h"
#include "cli/cli.h"
#include "cli/grid.h"
#include "kernels_cpu/registry.h"
#include "planner/analyse.h"
#include "planner/features.h"
#include "planner/platform.h"

enum method { OPS, ROOFLINE, ALOHA, FITTED, METHODS };
static const char *const method_names[METHODS] = {"operations", "roofline", "plain ALOHA", "calibrated"};

enum { BINS = 12, MOST = 65536, MOST_KERNELS = 8 };
static const double edges[BINS + 1] = {0, 2.5, 5, 7.5, 10, 15, 20, 30, 40, 50, 75, 100, INFINITY}; /* per cent */

struct row {
    const struct ig_kernel *kernel;
    struct ig_grid_layer layer;
    double ns, error[METHODS]; /* signed, (estimate - measured)/measured */
    double estimate;           /* the calibrated one, ns */
};

static int read_row(const char *line, struct row *r)
{
    char name[128];
    struct ig_grid_layer *l = &r->layer;
    if (sscanf(line, "%127s %d %d %d %d %d %d %lf", name, &l->ic, &l->oc, &l->size, &l->k, &l->stride, &l->groups,
               &r->ns) != 8)
        return -1;
    r->kernel = ig_kernel_by_name(name);
    return r->kernel && r->ns > 0 && l->ic > 0 && l->oc > 0 && l->size > 0 && l->k > 0 && l->stride > 0 && l->groups > 0
               ? 0
               : -1;
}

/* The bandwidth that the roofline is given: that of the images' channel. */
static void estimate(struct row *r, const struct ig_platform *b)
{
    struct ig_single_problem p;
    union ig_attrs attrs;
    struct ig_call call;
    struct ig_layer layer;
    struct ig_nest nest;
    struct ig_analysis a;
    const struct ig_processor *pe = &b->processors[0];
    ig_grid_problem(&p, &attrs, r->kernel, 0, &r->layer);
    if (!ig_single_call(&p, &call)) ig_fatal("%s does not take its layer", r->kernel->name);
    ig_layer_of_call(&layer, r->kernel->op, &call);
    ig_nest_refine(&nest, &layer, b, pe);
    ig_analyse(&a, &nest);
    struct ig_caches caches = ig_caches_of(b, pe, NULL);
    r->estimate = ig_cost_ns(pe, &caches, r->kernel, &call, NULL);
    double roofline = ig_roofline_s(&a, pe, (double)b->channels[pe->place[IG_X].channel].bytes_per_s);
    const double s[METHODS] = {a.ops_s, roofline, a.s, r->estimate * 1e-9};
    for (int m = 0; m < METHODS; m++) r->error[m] = s[m] * 1e9 / r->ns - 1;
}

/* A later pass over a layer: the least time counts. */
static int seen_before(struct row *rows, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (rows[i].kernel != rows[n].kernel || memcmp(&rows[i].layer, &rows[n].layer, sizeof rows[n].layer)) continue;
        if (rows[n].ns >= rows[i].ns) return 1;
        for (int m = 0; m < METHODS; m++) rows[i].error[m] = (rows[i].error[m] + 1) * rows[i].ns / rows[n].ns - 1;
        rows[i].ns = rows[n].ns;
        return 1;
    }
    return 0;
}

static int32_t read_times(const char *path, struct row *rows, const struct ig_platform *b)
{
    char line[512];
    int32_t n = 0;
    FILE *f = fopen(path, "r");
    if (!f) ig_fatal("%s: %s", path, strerror(errno));
    if (!fgets(line, sizeof line, f) || strncmp(line, "ingot-times 1 ", 14)) ig_fatal("%s: no file of times", path);
    for (int32_t at = 2; n < MOST && fgets(line, sizeof line, f); at++) {
        if (read_row(line, &rows[n])) ig_fatal("%s: line %d is no measured layer", path, at);
        if (seen_before(rows, n)) continue;
        estimate(&rows[n], b);
        if (rows[n].estimate < 0) ig_fatal("%s: %s has no costs; calibrate first", b->name, rows[n].kernel->name);
        n++;
    }
    fclose(f);
    return n;
}

/* --- statistics --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct summary {
    int32_t n;
    double mean, median, p90, most, bias;
    int32_t bins[BINS];
};

static struct summary summarise(const struct row *rows, int32_t n, int m, const struct ig_kernel *kernel)
{
    static double size[MOST], sign[MOST];
    struct summary s = {.n = 0};
    for (int32_t i = 0; i < n; i++) {
        if (kernel && rows[i].kernel != kernel) continue;
        size[s.n] = fabs(rows[i].error[m]);
        sign[s.n++] = rows[i].error[m];
        int bin = 0;
        while (bin < BINS - 1 && size[s.n - 1] * 100 >= edges[bin + 1]) bin++;
        s.bins[bin]++;
        s.mean += size[s.n - 1];
    }
    if (!s.n) return s;
    qsort(size, (size_t)s.n, sizeof *size, by_value);
    qsort(sign, (size_t)s.n, sizeof *sign, by_value);
    s.mean /= s.n;
    s.median = size[s.n / 2];
    s.p90 = size[(int64_t)s.n * 9 / 10];
    s.most = size[s.n - 1];
    s.bias = sign[s.n / 2];
    return s;
}

static void print_summary(const char *what, const struct summary *s)
{
    printf("%-28s %6d %8.1f %8.1f %8.1f %8.1f %+8.1f\n", what, s->n, s->mean * 100, s->median * 100, s->p90 * 100,
           s->most * 100, s->bias * 100);
}

static void print_bins(const struct summary *s)
{
    printf("\n%% of layers by error   ");
    for (int m = 0; m < METHODS; m++) printf(" %12s", method_names[m]);
    for (int b = 0; b < BINS; b++) {
        char range[40];
        if (b < BINS - 1)
            snprintf(range, sizeof range, "%g to %g %%", edges[b], edges[b + 1]);
        else
            snprintf(range, sizeof range, "from %g %%", edges[b]);
        printf("\n%-22s", range);
        for (int m = 0; m < METHODS; m++) printf(" %12.1f", 100. * s[m].bins[b] / (s[m].n ? s[m].n : 1));
    }
    printf("\n");
}

/* --- choice among kernels --- */

/* Kernels measured on one layer, in the file's order. */
struct rivals {
    const struct row *at[MOST_KERNELS];
    int32_t n;
};

static int same_layer(const struct row *a, const struct row *b)
{
    return !memcmp(&a->layer, &b->layer, sizeof a->layer);
}

/* Those of row i's layer; none if an earlier row has them. */
static struct rivals rivals_of(const struct row *rows, int32_t n, int32_t i)
{
    struct rivals r = {.n = 0};
    for (int32_t j = 0; j < i; j++)
        if (same_layer(&rows[j], &rows[i])) return r;
    for (int32_t j = i; j < n && r.n < MOST_KERNELS; j++)
        if (same_layer(&rows[j], &rows[i])) r.at[r.n++] = &rows[j];
    return r;
}

/* Pairs of kernels in the order that was measured, less those in the other (Kendall's tau); pairs are added up. */
static int32_t in_order(const struct rivals *r, int32_t *pairs)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < r->n; i++)
        for (int32_t j = 0; j < i; j++, ++*pairs)
            sum += (r->at[i]->ns < r->at[j]->ns) == (r->at[i]->estimate < r->at[j]->estimate) ? 1 : -1;
    return sum;
}

/* Of the layers measured with several kernels: time of the one that the estimate prefers, over the best. */
static void print_choice(const struct row *rows, int32_t n)
{
    double sum = 0;
    int32_t layers = 0, right = 0, pairs = 0, ordered = 0;
    for (int32_t i = 0; i < n; i++) {
        struct rivals r = rivals_of(rows, n, i);
        const struct row *chosen = r.at[0], *best = r.at[0];
        if (r.n < 2) continue;
        for (int32_t k = 1; k < r.n; k++) {
            if (r.at[k]->estimate < chosen->estimate) chosen = r.at[k];
            if (r.at[k]->ns < best->ns) best = r.at[k];
        }
        layers++;
        right += chosen == best;
        sum += chosen->ns / best->ns - 1;
        ordered += in_order(&r, &pairs);
    }
    if (layers)
        printf(
            "\nchoice of kernel: %d layers, the fastest chosen for %d, the chosen %.2f %% slower than the fastest on "
            "average; rank correlation of the kernels of a layer %.3f (tau, %d pairs)\n",
            layers, right, 100 * sum / layers, (double)ordered / pairs, pairs);
}

/* --- rank correlation of the layers, each method's estimates against the measured --- */

static const double *rank_by; /* what by_rank compares */

static int by_rank(const void *a, const void *b)
{
    double x = rank_by[*(const int32_t *)a], y = rank_by[*(const int32_t *)b];
    return x < y ? -1 : x > y;
}

static void ranks_of(const double *x, int32_t n, double *rank)
{
    static int32_t order[MOST];
    for (int32_t i = 0; i < n; i++) order[i] = i;
    rank_by = x;
    qsort(order, (size_t)n, sizeof *order, by_rank);
    for (int32_t i = 0; i < n; i++) rank[order[i]] = i;
}

/* Spearman's. */
static double correlation(const struct row *rows, int32_t n, int m)
{
    static double measured[MOST], estimated[MOST], a[MOST], b[MOST];
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        measured[i] = rows[i].ns;
        estimated[i] = (rows[i].error[m] + 1) * rows[i].ns;
    }
    ranks_of(measured, n, a);
    ranks_of(estimated, n, b);
    for (int32_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return n > 1 ? 1 - 6 * sum / ((double)n * ((double)n * n - 1)) : 1;
}

/* --- the picture: share of layers by error, a line a method --- */

static void put_svg(const char *path, const struct row *rows, int32_t n, const struct summary *s)
{
    enum { WIDTH = 720, HEIGHT = 360, LEFT = 50, TOP = 20, PLOT_W = 500, PLOT_H = 290, MOST_PERCENT = 100, STEP = 2 };
    static const char *const colours[METHODS] = {"#b0b0b0", "#d08a30", "#3a78b8", "#2a9d52"};
    FILE *f = ig_open_output(path);
    fprintf(
        f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    for (int i = 0; i <= 10; i++) {
        int x = LEFT + PLOT_W * i / 10, y = TOP + PLOT_H * i / 10;
        fprintf(f, "<path d=\"M%d %dV%dM%d %dH%d\" stroke=\"#e4e4e4\"/>\n", x, TOP, TOP + PLOT_H, LEFT, y,
                LEFT + PLOT_W);
        fprintf(f,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text><text x=\"%d\" y=\"%d\" "
                "text-anchor=\"end\">%d</text>\n",
                x, TOP + PLOT_H + 16, 10 * i, LEFT - 6, y + 4, 100 - 10 * i);
    }
    for (int m = 0; m < METHODS; m++) {
        fputs("<path fill=\"none\" stroke-width=\"2\" stroke=\"", f);
        fprintf(f, "%s\" d=\"M%d %d", colours[m], LEFT, TOP + PLOT_H);
        for (int percent = STEP; percent <= MOST_PERCENT; percent += STEP) {
            int32_t within = 0;
            for (int32_t i = 0; i < n; i++) within += fabs(rows[i].error[m]) * 100 <= percent;
            fprintf(f, "L%d %.1f", LEFT + PLOT_W * percent / MOST_PERCENT, TOP + PLOT_H - (double)PLOT_H * within / n);
        }
        fprintf(f, "\"/>\n<text x=\"%d\" y=\"%d\" fill=\"%s\">%s: mean %.1f %%</text>\n", LEFT + PLOT_W + 10,
                TOP + 20 + 18 * m, colours[m], method_names[m], s[m].mean * 100);
    }
    fprintf(f,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">error of the estimated time at most, %%  (%d layers; up: "
            "%% of layers)</text>\n</svg>\n",
            LEFT + PLOT_W / 2, HEIGHT - 10, n);
    ig_close_output();
}

void ig_grid_check(const char *times, const char *platform, const char *svg)
{
    char err[4096];
    struct ig_platform *b = ig_platform_read(platform, err, sizeof err);
    if (!b) ig_fatal("%s", err);
    if (!b->processors[0].mapped) ig_fatal("%s: the first processor has no mapping", platform);
    struct row *rows = calloc(MOST, sizeof *rows);
    if (!rows) ig_fatal("out of memory");
    int32_t n = read_times(times, rows, b);
    if (!n) ig_fatal("%s: no layers", times);
    struct summary all[METHODS];
    printf("%-28s %6s %8s %8s %8s %8s %8s\n", "error, %", "layers", "mean", "median", "p90", "most", "signed");
    for (int m = 0; m < METHODS; m++) {
        all[m] = summarise(rows, n, m, NULL);
        print_summary(method_names[m], &all[m]);
    }
    for (int i = 0; i < ig_kernel_count(); i++) {
        struct summary s = summarise(rows, n, FITTED, ig_kernel_at(i));
        if (s.n) print_summary(ig_kernel_at(i)->name, &s);
    }
    print_bins(all);
    printf("\nrank correlation of the layers (Spearman):");
    for (int m = 0; m < METHODS; m++)
        printf(" %s %.4f%s", method_names[m], correlation(rows, n, m), m + 1 < METHODS ? "," : "\n");
    print_choice(rows, n);
    if (svg) put_svg(svg, rows, n, all);
    free(rows);
    free(b);
}
