#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arena.h"
#include "cli/cli.h"
#include "cli/estimate.h"
#include "cli/page.h"
#include "graph/version.h"

static const char help[] =
    "ingot report graph.json plan.json -o report.html\n"
    "ingot report graph.json plan.json --profile profile.json --pareto front.json\n\n"
    "One page of HTML that stands alone: the plan in a sentence, where the time goes, every layer against\n"
    "the roofline, the arena over time, measured beside estimated, and memory against time.\n"
    "  -o FILE           where to (default report.html; - for stdout)\n"
    "  --profile FILE    what was measured: peak, and every layer alone and in order; given again, up to four in all,\n"
    "                    those of other processors, a GPU's too: a bar for each in \"Layers by processor\"\n"
    "  --pareto FILE     the front that ingot plan --pareto wrote\n"
    "  --bench FILE      of a plan with stages: what its program says with --bench --json\n"
    "  --trace FILE      of a plan with stages: what its program writes with --trace\n"
    "  --platform NAME   the board whose bandwidths and estimates are shown: tx2, xavier, a file, or host\n"
    "                    (default: the plan's target; host where out/platforms/host.json is there)\n";

/* --- the plan in a sentence --- */

struct counts {
    int layers, views, kernels, in_bands;
    int32_t slowest;
};

static struct counts count(const struct ig_report *r)
{
    struct counts c = {.slowest = -1};
    for (int32_t i = 0; i < r->p->n_steps; i++) {
        const struct ig_plan_step *s = &r->p->steps[i];
        int32_t k = 0;
        if (!s->kernel) {
            c.views++;
            continue;
        }
        while (r->p->steps[k].kernel != s->kernel) k++;
        c.layers++;
        c.kernels += k == i;
        c.in_bands += ig_band_of(r->p, i) != NULL;
        if (c.slowest < 0 || s->predicted_ns > r->p->steps[c.slowest].predicted_ns) c.slowest = i;
    }
    return c;
}

static void sentence(FILE *f, const struct ig_report *r, const struct counts *c)
{
    const struct ig_plan *p = r->p;
    fprintf(f, "<p class=\"lead\">On %d thread%s of ", p->threads, ig_plural(p->threads));
    ig_xml_text(f, r->profile ? r->profile->cpu : p->target);
    fprintf(f, " with %s kernels a frame takes <b>%.4g ms</b>, %s: %d layer%s", p->isa, p->latency_ns * 1e-6,
            p->profile_sha256[0] ? "predicted from measured times"
                                 : "estimated without a profile of the target",
            c->layers, ig_plural(c->layers));
    if (p->n_bands)
        fprintf(f, ", %d of them in %d band%s that run%s by rows,", c->in_bands, p->n_bands,
                ig_plural(p->n_bands), p->n_bands == 1 ? "s" : "");
    fprintf(f, " on %d kernel%s, with all activations in one arena %s the fewest bytes that the steps allow.",
            c->kernels, ig_plural(c->kernels), p->arena_bytes == p->arena_lower_bound_bytes ? "of" : "near");
    if (c->slowest >= 0 && p->latency_ns > 0) {
        fprintf(f, " The longest layer, <a href=\"#l%d\"><bdi>", c->slowest);
        ig_xml_text(f, r->g->nodes[p->steps[c->slowest].node].name);
        fprintf(f, "</bdi></a>, has %.0f %% of the time.",
                100 * p->steps[c->slowest].predicted_ns / p->latency_ns);
    }
    fputs("</p>\n", f);
}

/* --- key figures --- */

static void figure(FILE *f, const char *what, const char *value, const char *unit)
{
    fprintf(f, "<div><dt>%s</dt><dd>%s<span>%s</span></dd><dd>", what, value, unit);
}

static void end_figure(FILE *f)
{
    fputs("</dd></div>\n", f);
}

/* Of all processors. */
static int32_t stage_threads(const struct ig_plan *p)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_stages; i++)
        if (p->steps[p->stages[i].first].processor == i) n += p->stages[i].threads;
    return n;
}

static void speed_figures(FILE *f, const struct ig_report *r)
{
    char text[80];
    const struct ig_plan *p = r->p;
    double ns = p->latency_ns > 0 ? p->latency_ns : 1, cores = 1;
    if (p->period_ns > 0) {
        ns = p->period_ns;
        cores = (double)stage_threads(p) / p->threads;
    }
    double rate = r->flops / ns;
    figure(f, p->n_stages ? "a frame every" : "time a frame", ig_decimal(ns * 1e-6, ns < 1e8 ? 3 : 1, text), "ms");
    fprintf(f, "%s frames/s", ig_decimal(1e9 / ns, ns < 1e7 ? 0 : 1, text));
    end_figure(f);
    figure(f, "speed", ig_decimal(rate, 1, text), "GFLOP/s");
    fprintf(f, "%.0f %% of the peak", 100 * rate / (r->roof.gflops * cores));
    end_figure(f);
    figure(f, "work", ig_decimal(r->flops * 0.5e-6, 1, text), "MMAC");
    fprintf(f, "%.3g ms by the roofline", r->roof_ns * 1e-6);
    end_figure(f);
}

static void memory_figures(FILE *f, const struct ig_report *r)
{
    char text[32];
    const struct ig_plan *p = r->p;
    figure(f, "arena", ig_commas(p->arena_bytes, text), "B");
    fprintf(f, "lower bound %s B", ig_commas(p->arena_lower_bound_bytes, text));
    end_figure(f);
    figure(f, "scratch of a thread", ig_commas(p->scratch_bytes, text), "B");
    fprintf(f, "at most, of the arena");
    end_figure(f);
    figure(f, "weights", ig_commas(p->weights_bytes, text), "B");
    if (p->memory_budget > 0) fprintf(f, "with the arena within %s B", ig_commas(p->memory_budget, text));
    else fputs("as the kernels read them", f);
    end_figure(f);
}

static void key_figures(FILE *f, const struct ig_report *r)
{
    fputs("<dl>\n", f);
    speed_figures(f, r);
    memory_figures(f, r);
    fputs("</dl>\n", f);
}

/* --- the page --- */

static void arena(FILE *f, const struct ig_report *r)
{
    ig_section_open(f, "arena", "Arena");
    fputs("<p class=\"note\">Steps from left to right, bytes from bottom to top. A block is a tensor from\n"
          "the step that writes it to the last that reads it; hatched: scratch, rings included; the line is\n"
          "what is held in each step.</p>\n",
          f);
    ig_arena_svg(f, r->g, r->p);
    ig_section_close(f);
}

static void footer(FILE *f, const struct ig_report *r)
{
    fputs("<footer><p>ingot " INGOT_VERSION ". Model ", f);
    ig_xml_text(f, r->g->source_sha256);
    fprintf(f, ", graph %s, profile %s (SHA-256).", r->p->graph_sha256,
            r->p->profile_sha256[0] ? r->p->profile_sha256 : "none");
    if (r->profile && strcmp(r->profile->sha256, r->p->profile_sha256))
        fprintf(f, " The measured times here are of another profile, %s.", r->profile->sha256);
    fputs("</p></footer>\n", f);
}

static void page(FILE *f, const struct ig_report *r)
{
    struct counts c = count(r);
    ig_page_open(f, r->g->name);
    fputs("<h1>", f);
    ig_xml_text(f, r->g->name);
    fputs("</h1>\n", f);
    sentence(f, r, &c);
    key_figures(f, r);
    ig_report_strip(f, r);
    ig_report_stages(f, r);
    ig_report_processors(f, r);
    fputs("<div class=\"pair\">\n", f);
    ig_report_roofline(f, r);
    ig_report_front(f, r);
    fputs("</div>\n", f);
    arena(f, r);
    ig_report_layers(f, r);
    ig_report_bands(f, r);
    ig_report_measured(f, r);
    footer(f, r);
    ig_page_close(f);
}

/* --- what it is made from --- */

static struct ig_profile *load_profile(const char *path, const struct ig_graph *g, const struct ig_plan *p)
{
    char err[4096];
    struct ig_profile *profile = ig_profile_read(path, g, err, sizeof err);
    if (!profile) ig_fatal("%s", err);
    if (strcmp(profile->graph_sha256, p->graph_sha256))
        ig_fatal("%s: taken of another graph (sha256 %.12s..., the plan's is %.12s...)", path,
                 profile->graph_sha256, p->graph_sha256);
    return profile;
}

/* The first one that was taken as the plan runs is what was measured of it; the others stand beside it. */
static void load_profiles(struct ig_report *r, const char *const *paths, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        struct ig_profile *profile = load_profile(paths[i], r->g, r->p);
        int fits = profile->threads == r->p->threads && !strcmp(profile->isa, r->p->isa);
        if (fits && !r->profile) r->profile = profile;
        else if (r->n_others < IG_MAX_OTHERS) r->others[r->n_others++] = profile;
        else ig_fatal("%s: none of %d profiles was taken with %s kernels on %d thread%s as the plan runs", paths[i], n, r->p->isa,
                      r->p->threads, ig_plural(r->p->threads));
    }
    if (n == 1 && !r->profile)
        ig_fatal("%s: taken with %s kernels on %d thread%s, the plan is for %s on %d", paths[0], r->others[0]->isa,
                 r->others[0]->threads, ig_plural(r->others[0]->threads), r->p->isa, r->p->threads);
}

/* The board that was asked for, or the plan's target where there is a description of it. */
static struct ig_platform *load_board(const char *name, const struct ig_plan *p)
{
    static const char *const boards[] = {"tx2", "xavier"};
    for (int i = 0; i < 2 && !name; i++)
        if (!strcmp(p->target, boards[i])) name = boards[i];
    if (!name && !strcmp(p->target, "host") && !access("out/platforms/host.json", R_OK)) name = "host";
    return name ? ig_load_board(name) : NULL;
}

int ig_verb_report(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},     {"output", 1, 0, 'o'},
                                          {"profile", 1, 0, 'p'},  {"pareto", 1, 0, 'F'},
                                          {"platform", 1, 0, 'P'}, {"bench", 1, 0, 'b'},
                                          {"trace", 1, 0, 't'},    {0, 0, 0, 0}};
    struct ig_source_options none = {.n_binds = 0};
    const char *out = "report.html", *profiles[IG_MAX_OTHERS + 1], *pareto = NULL, *platform = NULL, *bench = NULL,
               *trace = NULL;
    int32_t n_profiles = 0;
    char err[4096];
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'o': out = optarg; break;
        case 'p':
            if (n_profiles > IG_MAX_OTHERS) ig_fatal("--profile: given more than %d times", IG_MAX_OTHERS + 1);
            profiles[n_profiles++] = optarg;
            break;
        case 'F': pareto = optarg; break;
        case 'P': platform = optarg; break;
        case 'b': bench = optarg; break;
        case 't': trace = optarg; break;
        default: ig_usage(help);
        }
    if (optind != argc - 2) ig_usage(help);
    struct ig_graph *g = ig_load_graph(argv[optind], &none);
    struct ig_plan *p = ig_plan_read(argv[optind + 1], g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    if (ig_validate(g, p, p->memory_budget, err, sizeof err))
        ig_fatal("%s: not a valid plan: %s", argv[optind + 1], err);
    struct ig_platform *board = load_board(platform, p);
    struct ig_front front = {0};
    if (pareto) ig_front_read(&front, pareto, p);
    struct ig_report_run run = {0};
    if (bench) ig_run_read_bench(&run, bench, p);
    if (trace) ig_run_read_trace(&run, trace, p);
    struct ig_report r = {.g = g,
                          .p = p,
                          .board = board,
                          .front = pareto ? &front : NULL,
                          .run = bench || trace ? &run : NULL};
    load_profiles(&r, profiles, n_profiles);
    ig_report_measure(&r);
    page(ig_open_output(out), &r);
    ig_close_output();
    free(r.layers);
    free(front.at);
    free(board);
    ig_profile_free(r.profile);
    for (int32_t i = 0; i < r.n_others; i++) ig_profile_free(r.others[i]);
    ig_plan_free(p);
    ig_graph_free(g);
    return 0;
}
