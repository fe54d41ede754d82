/* ingot pipeline: which stages a network should be cut into for several processors, by every algorithm there is. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/estimate.h"
#include "cli/pipeline.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/pipe_baselines.h"
#include "planner/pipe_contention.h"
#include "planner/pipe_ideals.h"
#include "runtime/run.h"

static const char help[] =
    "ingot pipeline graph.json --profile profile.json --processors=cpu:0,cpu:1\n"
    "ingot pipeline net.onnx --processors=cpu:0,cpu:1 --explain\n\n"
    "Cuts a network into stages that work on consecutive frames at the same time, each on a processor of its own, so "
    "that\n"
    "frames come out as often as possible; compares with one processor, one team of all cores, and published "
    "algorithms.\n"
    "  --processors A,B,...  sets of cores: cpu:0, or cpu:0-3 for a team of four (default cpu:0,cpu:1)\n"
    "  --profile FILE        times of teams of that profile's threads; may be given for several; else the estimate\n"
    "  --algorithm X         what is written and explained: cuts (default; stages are runs of the plan's steps, which "
    "is\n"
    "                        what programs run), stages (any order), shared (three stages, two on one processor), map "
    "(any\n"
    "                        node anywhere), single, team, best (of cuts and team), or a baseline: algorithm1,\n"
    "                        algorithm1-printed (Velasco-Montero 2023), neuropipe, neuropipe-printed (Kim 2020)\n"
    "  --objective X         instead the best of all cuts into up to three stages: throughput, latency, energy (with\n"
    "                        --platform; of frames at --min-fps where that is given), or memory; within\n"
    "  --min-fps X, --max-latency-ms X, --memory-budget B, --max-mj X   which may also be given alone\n"
    "  --platform NAME       the processors of a board (tx2, xavier, a file) instead, with times by its estimate\n"
    "  --modes               with --platform: clocks and cut for least energy (power-save) and most frames (boost)\n"
    "  --power-save, --boost   only that one of the modes, beside the baseline\n"
    "  --pin NODE=P          that node on that processor only; may be given for several\n"
    "  --input-spec SPEC     as of ingot gen: pre-processing and post-processing are nodes too, of CPUs only\n"
    "  --link US,GBPS        what handing a tensor over costs its reader: microseconds, and GB/s (default 2,0; 0: no "
    "bytes);\n"
    "                        measured: timed here, between the first cores of every two sets, in both directions\n"
    "  --contention C,S      how much longer what computes, and what streams, takes while others work, e.g. 1.02,1.3\n"
    "  --bands MODE          as of ingot plan (default off)\n"
    "  --isa NAME            host (default), ref, avx2, neon\n"
    "  --max-error X         as of ingot plan\n"
    "  --explain             why the plan is what it is, in words\n"
    "  --gantt               the first frames on their way through the stages\n"
    "  --pareto              also every plan of up to three stages, cut in this order, that no other beats in period,\n"
    "                        memory and, where powers are known, energy\n"
    "  --json                everything as one object\n"
    "  -o FILE               where to (default -, stdout)\n" IG_SOURCE_HELP;

enum { MOST_FILES = 8, MOST_PINS = 64, MOST_CORES = 64 };
static const double most_pair = 1e6; /* us, GB/s, times slower */

struct wishes {
    struct ig_plan_options plan;
    const char *profiles[MOST_FILES], *pins[MOST_PINS];
    int32_t n_profiles, n_pins, n_processors, threads[IG_PIPE_PROCESSORS], algorithm;
    const char *names[IG_PIPE_PROCESSORS];
    int32_t cores[IG_PIPE_PROCESSORS]; /* the first of each set */
    int measured;                      /* links */
    double link_us, link_gbytes, compute, stream;
    int explain, gantt, json, modes, pareto; /* modes: enum ig_mode */
    struct ig_pipe_wish wish;
    int wished; /* an objective or a limit was given */
    const char *platform, *spec;
    struct ig_platform *board; /* NULL: sets of cores of a machine that is profiled */
};

enum { BEST = IG_WAYS };

/* --- options --- */

/* How many; *core: the first; *taken: those of the sets before, a bit each. */
static int32_t cores_of(const char *name, uint64_t *taken, int32_t *core)
{
    int first, last, end = 0;
    uint64_t cores = 0;
    if (sscanf(name, "cpu:%2d-%2d%n", &first, &last, &end) != 2 || name[end]) {
        if (sscanf(name, "cpu:%2d%n", &first, &end) != 1 || name[end]) end = 0;
        last = first;
    }
    if (!end || first < 0 || last < first || last >= MOST_CORES)
        ig_fatal("--processors: '%s' is no set of cores below %d; cpu:0 or cpu:0-3", name, MOST_CORES);
    for (int32_t i = first; i <= last; i++) cores |= UINT64_C(1) << i;
    if (*taken & cores) ig_fatal("--processors: a core of '%s' is in another set, too", name);
    *taken |= cores;
    *core = first;
    return last - first + 1;
}

static void processors_option(struct wishes *w, char *text)
{
    uint64_t taken = 0;
    w->n_processors = 0;
    for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
        if (w->n_processors == IG_PIPE_PROCESSORS) ig_fatal("--processors: more than %d", IG_PIPE_PROCESSORS);
        w->threads[w->n_processors] = cores_of(name, &taken, &w->cores[w->n_processors]);
        w->names[w->n_processors++] = name;
    }
    if (!w->n_processors) ig_fatal("--processors: none given");
}

static void pair_option(const char *option, const char *text, double *a, double *b)
{
    int end = 0;
    if (sscanf(text, "%lf,%lf%n", a, b, &end) != 2 || text[end] || !(*a >= 0 && *a <= most_pair) || !(*b >= 0 && *b <= most_pair))
        ig_fatal("%s=%s: two numbers up to %g, as in 2,10", option, text, most_pair);
}

static int32_t way_option(const char *text)
{
    for (int32_t i = 0; i < IG_WAY_OBJECTIVE; i++)
        if (!strcmp(text, ig_way_names[i])) return i;
    if (!strcmp(text, "best")) return BEST;
    ig_fatal(
        "--algorithm=%s: cuts, stages, shared, map, single, team, best, algorithm1, algorithm1-printed, neuropipe or "
        "neuropipe-printed",
        text);
}

static void wish_option(struct wishes *w, int option, const char *text)
{
    struct ig_pipe_wish *to = &w->wish;
    w->wished = 1;
    if (option == 'O') to->objective = ig_objective_option(text);
    if (option == 'f') to->period_ns = (int64_t)(1e9 / ig_number(text, "--min-fps", 1e-3, 1e9));
    if (option == 'L') to->latency_ns = (int64_t)(1e6 * ig_number(text, "--max-latency-ms", 1e-6, 1e6));
    if (option == 'm') to->memory_bytes = ig_size_option(text, "--memory-budget");
    if (option == 'J') to->energy_pj = (int64_t)(1e9 * ig_number(text, "--max-mj", 1e-9, 1e6));
}

static int32_t bands_option(const char *text)
{
    static const char *const names[] = {"auto", "off", "chains", "all"};
    for (int32_t i = 0; i < 4; i++)
        if (!strcmp(text, names[i])) return i;
    ig_fatal("--bands=%s: auto, off, chains or all", text);
}

static void add_word(const char **list, int32_t *n, int32_t most, const char *option, const char *text)
{
    if (*n == most) ig_fatal("%s: given more than %d times", option, most);
    list[(*n)++] = text;
}

/* --- times --- */

struct times {
    struct ig_profile *profiles[MOST_FILES];
    struct ig_plan *plans[IG_PIPE_PROCESSORS + 1];
    int estimated;
};

static const struct ig_profile *profile_for(const struct wishes *w, const struct times *t, int32_t threads)
{
    for (int32_t i = 0; i < w->n_profiles; i++)
        if (t->profiles[i]->threads == threads) return t->profiles[i];
    return NULL;
}

static void read_profiles(const struct wishes *w, const struct ig_graph *g, const char *path, struct times *t)
{
    char err[4096], hex[65];
    ig_hash_graph(g, path, hex);
    for (int32_t i = 0; i < w->n_profiles; i++) {
        t->profiles[i] = ig_profile_read(w->profiles[i], g, err, sizeof err);
        if (!t->profiles[i]) ig_fatal("%s", err);
        if (strcmp(t->profiles[i]->graph_sha256, hex))
            ig_fatal("%s: taken of another graph; take a new profile", w->profiles[i]);
        if (strcmp(t->profiles[i]->isa, ig_isa_name(w->plan.isa)))
            ig_fatal("%s: taken with %s kernels, the plan is for %s", w->profiles[i], t->profiles[i]->isa,
                     ig_isa_name(w->plan.isa));
    }
}

static struct ig_plan *plan_for(const struct wishes *w, const struct ig_graph *g, struct times *t, int32_t threads)
{
    struct ig_plan_options o = w->plan;
    char err[4096];
    o.threads = threads;
    o.profile = profile_for(w, t, threads);
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) ig_fatal("%s: %s", g->name, err);
    return p;
}

/* One plan for each number of threads; processors of as many cores share it. */
static void make_plans(struct wishes *w, const struct ig_graph *g, struct times *t, const struct ig_plan **of)
{
    for (int32_t k = 1; k < w->n_processors; k++)
        if (w->threads[k] != w->threads[0]) w->plan.bands = IG_BANDS_OFF;
    for (int32_t k = 0; k < w->n_processors; k++) {
        t->estimated |= !profile_for(w, t, w->threads[k]);
        for (int32_t i = 0; i < k && !t->plans[k]; i++)
            if (w->threads[i] == w->threads[k]) of[k] = of[i];
        if (!of[k]) of[k] = t->plans[k] = plan_for(w, g, t, w->threads[k]);
    }
}

/* --- the problem --- */

static int32_t processor_named(const struct wishes *w, const char *name)
{
    for (int32_t k = 0; k < w->n_processors; k++)
        if (!strcmp(w->names[k], name)) return k;
    ig_fatal("--pin: '%s' is none of the processors", name);
}

static void pin(const struct wishes *w, const struct ig_graph *g, const struct ig_plan *plan, struct ig_pipe_net *net,
                const char *text)
{
    const char *sign = strrchr(text, '=');
    if (!sign) ig_fatal("--pin=%s: NODE=PROCESSOR", text);
    int32_t k = processor_named(w, sign + 1), ends[] = {0, net->p.n - 1};
    for (int32_t i = 0; i < 2 * net->host; i++) {
        if (strncmp(net->names[ends[i]], text, (size_t)(sign - text)) || net->names[ends[i]][sign - text]) continue;
        for (int32_t j = 0; j < w->n_processors; j++)
            if (j != k) net->ns[(int64_t)ends[i] * w->n_processors + j] = IG_PIPE_NEVER;
        return;
    }
    for (int32_t i = 0; i < plan->n_steps; i++) {
        const char *name = g->nodes[plan->steps[i].node].name;
        if (strlen(name) != (size_t)(sign - text) || strncmp(name, text, (size_t)(sign - text))) continue;
        if (net->segment[i] < 0) ig_fatal("--pin: %s moves no data, it runs nowhere", name);
        for (int32_t j = 0; j < w->n_processors; j++)
            if (j != k) net->ns[(int64_t)net->segment[i] * w->n_processors + j] = IG_PIPE_NEVER;
        return;
    }
    ig_fatal("--pin: there is no node '%.*s'", (int)(sign - text), text);
}

static void add_host_ops(const struct wishes *w, const struct ig_graph *g, struct ig_pipe_net *net)
{
    struct ig_host_ops o;
    ig_input_spec(w->spec, g, &o);
    ig_pipe_net_host(net, o.pre_ns, o.post_ns);
}

static void make_problem(const struct wishes *w, const struct ig_graph *g, const struct ig_plan *const *plans,
                         struct ig_pipe_net *net)
{
    char err[4096];
    ig_pipe_net_make(g, plans, w->board ? 1 : w->n_processors, net);
    if (w->spec) add_host_ops(w, g, net);
    if (w->board) ig_pipeline_board(g, w->board, plans[0], net);
    for (int32_t k = 0; k < w->n_processors && ig_pipeline_powers(w->board); k++) {
        net->p.active_mw[k] = (int64_t)(w->board->processors[k].active_w * 1e3);
        net->p.idle_mw[k] = (int64_t)(w->board->processors[k].idle_w * 1e3);
    }
    net->p.processors = w->names;
    for (int32_t k = 0; k < w->n_processors; k++)
        net->p.in[k] = (struct ig_pipe_link){(int64_t)(w->link_us * 1e3),
                                             w->link_gbytes > 0 ? (int64_t)(1e6 / w->link_gbytes) : 0};
    if (w->measured) ig_pipeline_measure(w->names, w->cores, w->n_processors, net->p.in);
    net->p.reads_input = NULL; /* frames and results lie in memory whoever reads them first */
    net->p.is_output = NULL;
    for (int32_t i = 0; i < w->n_pins; i++) pin(w, g, plans[0], net, w->pins[i]);
    if (ig_pipe_check(&net->p, err, sizeof err)) ig_fatal("%s: %s", g->name, err);
}

/* All times as they are while every other processor works: what the report then plans with. */
static void contend(const struct wishes *w, struct ig_pipe_net *net)
{
    struct ig_contention c = {.streams = NULL};
    int32_t busy[IG_PIPE_PROCESSORS], *streams = ig_must_alloc((size_t)net->p.n, sizeof *streams);
    double gflops, gbytes;
    size_t cells = (size_t)net->p.n * (size_t)w->n_processors;
    int64_t *ns = ig_must_alloc(cells, sizeof *ns);
    ig_estimate_rates(w->plan.isa, 1, &gflops, &gbytes);
    ig_pipe_streams(net, gbytes, streams);
    c.streams = streams;
    for (int32_t k = 0; k < w->n_processors; k++) {
        busy[k] = 1000;
        for (int32_t q = 0; q < w->n_processors; q++) {
            c.kappa[k][q][0] = (int32_t)(1000 * w->compute);
            c.kappa[k][q][1] = (int32_t)(1000 * w->stream);
        }
    }
    ig_contended_ns(&net->p, &c, busy, ns);
    memcpy(net->ns, ns, cells * sizeof *ns);
    free(ns);
    free(streams);
}

/* --- the algorithms --- */

static void run_all(const struct wishes *w, struct ig_pipeline_report *r)
{
    const struct ig_pipe *p = &r->net->p;
    struct ig_pipe in_order = *p;
    struct ig_ideals x;
    in_order.in_order = 1;
    struct ig_pipe_cut cut = ig_algorithm1_printed(p);
    if (cut.ns < IG_PIPE_NEVER) cut.index++;
    ig_pipe_cut_plan(p, &cut, &r->of[IG_WAY_ALGORITHM1_PRINTED]);
    cut = ig_algorithm1(p);
    ig_pipe_cut_plan(p, &cut, &r->of[IG_WAY_ALGORITHM1]);
    for (int32_t printed = 0; printed < 2 && w->n_processors == 2; printed++)
        ig_neuropipe_plan(p, 0, 1, r->net->operations, printed, &r->of[IG_WAY_NEUROPIPE - printed]);
    ig_pipe_stages(&in_order, &r->of[IG_WAY_CUTS]);
    ig_pipe_stages(p, &r->of[IG_WAY_STAGES]);
    ig_pipe_shared(p, &r->of[IG_WAY_SHARED]);
    ig_pipe_map(p, IG_PIPE_LABELS, &r->of[IG_WAY_MAP]);
    for (int32_t way = IG_WAY_CUTS; way < IG_WAY_OBJECTIVE; way++) /* which works alone, without contention */
        if (ig_pipe_compare(&r->of[IG_WAY_SINGLE], &r->of[way]) < 0)
            ig_pipe_plan_copy(&r->of[way], &r->of[IG_WAY_SINGLE]);
    r->ideals = ig_ideals_make(p, IG_PIPE_MOST_IDEALS, &x) ? -1 : x.n;
    if (r->ideals >= 0) ig_ideals_free(&x);
}

static void choose(const struct wishes *w, struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *cuts = &r->of[IG_WAY_CUTS];
    r->chosen = w->wished ? IG_WAY_OBJECTIVE : w->algorithm;
    if (r->chosen == BEST)
        r->chosen = r->team_ns && (!cuts->n_stages || r->team_ns < cuts->period_ns) ? IG_WAY_TEAM : IG_WAY_CUTS;
    if (r->chosen == IG_WAY_TEAM && r->team_ns) return;
    if (r->chosen == IG_WAY_TEAM || !r->of[r->chosen].n_stages)
        ig_fatal("%s: %s finds no plan for these processors and pins", r->g->name, ig_way_names[r->chosen]);
}

static void report(const struct wishes *w, const struct ig_pipeline_report *r, const struct ig_plan *plan, const char *out)
{
    FILE *f = ig_open_output(out);
    if (w->json)
        ig_pipeline_json(f, r);
    else
        ig_pipeline_table(f, r);
    if (!w->json) ig_pipeline_stages(f, r);
    if (w->wished && !w->json) ig_pipeline_wish(f, r);
    if (w->gantt && !w->json) ig_pipeline_gantt(f, r);
    if (w->pareto && !w->json) ig_pipeline_front(f, r);
    if (w->explain && !w->json) ig_pipeline_explain(f, r);
    if (w->modes) ig_pipeline_modes(f, r->g, w->board, plan, r->net, w->modes);
    ig_close_output();
}

/* The board's kinds of processors are the processors then, one of each. */
static void take_board(struct wishes *w)
{
    if (!w->platform) {
        if (w->modes) ig_fatal("--modes, --power-save, --boost: only with --platform, whose file has operating points and powers");
        return;
    }
    w->board = ig_load_board(w->platform);
    w->n_processors = w->board->n_processors;
    for (int32_t k = 0; k < w->n_processors; k++) {
        w->names[k] = w->board->processors[k].type;
        w->threads[k] = 1;
    }
}

static void run(struct wishes *w, const char *path, const struct ig_source_options *source, const char *out)
{
    struct ig_graph *g = ig_load_graph(path, source);
    struct times t = {.estimated = 0};
    const struct ig_plan *of[IG_PIPE_PROCESSORS] = {NULL};
    struct ig_pipe_net net;
    struct ig_pipeline_report r = {.g = g, .net = &net};
    take_board(w);
    read_profiles(w, g, path, &t);
    make_plans(w, g, &t, of);
    r.times = t.estimated ? "are estimated (no profile of that many threads)" : "come from the profile";
    if (w->board) r.times = "are the board's, estimated";
    for (int32_t k = 0; k < w->n_processors; k++) r.team_threads += w->threads[k];
    if (!w->board && r.team_threads <= IG_MAX_THREADS && !w->n_pins &&
        (t.estimated || profile_for(w, &t, r.team_threads))) {
        t.plans[IG_PIPE_PROCESSORS] = plan_for(w, g, &t, r.team_threads);
        r.team_ns = (int64_t)t.plans[IG_PIPE_PROCESSORS]->latency_ns;
    }
    make_problem(w, g, of, &net);
    if (r.team_ns && net.host) r.team_ns += (int64_t)(net.host_ns[0] + net.host_ns[1]);
    for (int32_t i = 0; i < IG_WAYS; i++) ig_pipe_plan_start(&net.p, &r.of[i]);
    ig_pipe_plan_start(&net.p, &r.any);
    ig_pipe_single(&net.p, &r.of[IG_WAY_SINGLE]);
    r.bound_ns = ig_pipe_bound(&net.p);
    if (w->compute > 1 || w->stream > 1) contend(w, &net);
    run_all(w, &r);
    if (w->wished) {
        r.wish = &w->wish;
        ig_pipeline_choose(&r, w->board);
        ig_pipeline_refuse(&r);
    }
    choose(w, &r);
    report(w, &r, of[0], out);
    free(w->board);
    for (int32_t i = 0; i < IG_WAYS; i++) ig_pipe_plan_free(&r.of[i]);
    ig_pipe_plan_free(&r.any);
    for (int32_t i = 0; i <= IG_PIPE_PROCESSORS; i++) ig_plan_free(t.plans[i]);
    for (int32_t i = 0; i < w->n_profiles; i++) ig_profile_free(t.profiles[i]);
    ig_pipe_net_free(&net);
    ig_graph_free(g);
}

int ig_verb_pipeline(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},
                                          {"output", 1, 0, 'o'},
                                          {"processors", 1, 0, 'P'},
                                          {"profile", 1, 0, 'p'},
                                          {"algorithm", 1, 0, 'A'},
                                          {"pin", 1, 0, 'n'},
                                          {"platform", 1, 0, 'F'},
                                          {"modes", 0, 0, 'M'},
                                          {"power-save", 0, 0, 's'},
                                          {"boost", 0, 0, 'b'},
                                          {"objective", 1, 0, 'O'},
                                          {"min-fps", 1, 0, 'f'},
                                          {"max-latency-ms", 1, 0, 'L'},
                                          {"memory-budget", 1, 0, 'm'},
                                          {"max-mj", 1, 0, 'J'},
                                          {"pareto", 0, 0, 'R'},
                                          {"input-spec", 1, 0, 'S'},
                                          {"link", 1, 0, 'l'},
                                          {"contention", 1, 0, 'c'},
                                          {"bands", 1, 0, 'B'},
                                          {"isa", 1, 0, 'i'},
                                          {"max-error", 1, 0, 'E'},
                                          {"explain", 0, 0, 'x'},
                                          {"gantt", 0, 0, 'G'},
                                          {"json", 0, 0, 'j'},
                                          IG_SOURCE_OPTIONS,
                                          {0, 0, 0, 0}};
    static char two[] = "cpu:0,cpu:1";
    struct ig_source_options source = {.n_binds = 0};
    struct wishes w = {
        .plan = {.target = "host", .isa = ig_host_isa(), .max_error = IG_MAX_ERROR, .seed = 1, .bands = IG_BANDS_OFF},
        .wish = {.objective = IG_OBJECTIVE_THROUGHPUT},
        .link_us = 2,
        .compute = 1,
        .stream = 1};
    const char *out = "-", *algorithm = NULL;
    processors_option(&w, two);
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) switch (c) {
        case 'h':
            return fputs(help, stdout) < 0;
        case 'o':
            out = optarg;
            break;
        case 'P':
            processors_option(&w, optarg);
            break;
        case 'p':
            add_word(w.profiles, &w.n_profiles, MOST_FILES, "--profile", optarg);
            break;
        case 'A':
            algorithm = optarg;
            break;
        case 'F':
            w.platform = optarg;
            break;
        case 'S':
            w.spec = optarg;
            break;
        case 'R':
            w.pareto = 1;
            break;
        case 'M':
            w.modes = IG_MODES_ALL;
            break;
        case 's':
            w.modes |= IG_MODE_BASELINE | IG_MODE_SAVE;
            break;
        case 'b':
            w.modes |= IG_MODE_BASELINE | IG_MODE_BOOST;
            break;
        case 'O':
        case 'f':
        case 'L':
        case 'm':
        case 'J':
            wish_option(&w, c, optarg);
            break;
        case 'n':
            add_word(w.pins, &w.n_pins, MOST_PINS, "--pin", optarg);
            break;
        case 'l':
            w.measured = !strcmp(optarg, "measured");
            if (!w.measured) pair_option("--link", optarg, &w.link_us, &w.link_gbytes);
            break;
        case 'c':
            pair_option("--contention", optarg, &w.compute, &w.stream);
            break;
        case 'B':
            w.plan.bands = bands_option(optarg);
            break;
        case 'i':
            w.plan.isa = ig_isa_option(optarg);
            break;
        case 'E':
            w.plan.max_error = ig_number(optarg, "--max-error", 0, 1);
            break;
        case 'x':
            w.explain = 1;
            break;
        case 'G':
            w.gantt = 1;
            break;
        case 'j':
            w.json = 1;
            break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(help);
        }
    if (optind != argc - 1) ig_usage(help);
    if (w.measured && w.platform) ig_fatal("--link=measured is of this machine's cores, not of --platform");
    if (w.modes && w.json) ig_fatal("--modes, --power-save and --boost are said in words: not with --json");
    if (w.wished && algorithm) ig_fatal("--algorithm says what to take, and so do --objective and limits: one of them");
    w.algorithm = algorithm ? way_option(algorithm) : IG_WAY_CUTS;
    run(&w, argv[optind], &source, out);
    return 0;
}
