/* ingot trial: one core, a team and stages, each as a whole, in turns on this machine; the plan of the fastest. */
#include "cli/trial.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench/profile.h"
#include "cli/cli.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/stages.h"
#include "runtime/run.h"

static const char help[] =
    "ingot trial graph.json --stages=cpu:0,cpu:1 --profile one.json --profile team.json -o plan.json\n\n"
    "Runs a network on this machine as one set of cores, as a team of all, and as pipelines of stages on consecutive\n"
    "frames - cut where the profile says, where what that took says, and beside it -, in turns, and writes the plan of\n"
    "the one with the most frames a second, whose predictions are what it took. ./configure --stages=auto does this.\n"
    "  -o FILE         the plan (default plan.json; - is stdout)\n"
    "  --stages LIST   sets of as many cores each, as of ingot plan, without cuts (default: every core this process may\n"
    "                  use, up to eight)\n"
    "  --profile FILE  times of as many threads as a set has cores, best taken with the other cores at work (ingot profile\n"
    "                  --stages); and of all cores' threads, for a team: without it there is none. Else the estimate\n"
    "  --team-graph FILE --team-profile FILE  the same network without layers in parts (ingot graph --split), which only stages\n"
    "                  need, and its times of all cores' threads: the team's\n"
    "  --graph FILE    with them: where the one of the two goes whose plan is written\n"
    "  --seconds S     for all runs (default 6); a few rounds of each are made in any case\n"
    "  --target NAME   written in the plan (default host)\n"
    "  --isa NAME, --max-error X   as of ingot plan\n"
    "  --input-spec SPEC  is only checked here: work around the network is on threads of its own\n"
    "  --json          all figures as one object on stdout\n"
    "  --table FILE    the same as a table (default: on stderr)\n"
    "  -q              no table\n" IG_SOURCE_HELP;

enum { FIRST = 3, ROUNDS = 5, SLOW_ROUNDS = 3, PARTS = 40, MOST_FILES = 8 }; /* a round is a part of all time */
static const double slow_ns = 1e8; /* a frame of which fewer rounds must do */
static const double near = 1.1; /* plans that are slower by more at first are not tried again */

struct wishes {
    struct ig_plan_options plan;
    const char *profiles[MOST_FILES], *team_graph, *team_profile, *graph, *stages, *spec, *out, *table;
    int32_t n_profiles;
    double seconds;
    int json, quiet;
};

/* --- profiles and sets of cores --- */

static struct ig_profile *read_profile(const struct wishes *w, const char *path, const struct ig_graph *g, const char *graph)
{
    char err[4096], hex[65];
    struct ig_profile *p = ig_profile_read(path, g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    ig_hash_graph(g, graph, hex);
    if (strcmp(p->graph_sha256, hex)) ig_fatal("%s: taken of another graph; take a new profile", path);
    if (strcmp(p->isa, ig_isa_name(w->plan.isa)))
        ig_fatal("%s: taken with %s kernels, the plan is for %s", path, p->isa, ig_isa_name(w->plan.isa));
    return p;
}

static struct ig_profile *profile_of(const struct wishes *w, const struct ig_graph *g, const char *graph, int32_t threads)
{
    struct ig_profile *found = NULL;
    for (int32_t i = 0; i < w->n_profiles; i++) {
        struct ig_profile *p = read_profile(w, w->profiles[i], g, graph);
        if (p->threads == threads && !found) found = p;
        else ig_profile_free(p);
    }
    return found;
}

/* As a rule no layer is long enough to be in parts, and both are the same. */
static struct ig_graph *graph_of_team(const struct wishes *w, struct ig_graph *g, const char *graph, const struct ig_source_options *source)
{
    char own[65], hex[65];
    if (!w->team_graph) return g;
    ig_hash_graph(g, graph, own);
    ig_hash_file(w->team_graph, hex);
    return strcmp(own, hex) ? ig_load_graph(w->team_graph, source) : g;
}

static struct ig_profile *team_profile(const struct wishes *w, const struct ig_graph *g, int32_t threads)
{
    struct ig_profile *p = read_profile(w, w->team_profile, g, w->team_graph);
    if (p->threads != threads) ig_fatal("%s: taken with %d thread%s, the team has %d", w->team_profile, p->threads, ig_plural(p->threads), threads);
    return p;
}

/* "cpu:0,cpu:1" of the cores of this process, `most` at the most. */
static const char *own_cores(char text[IG_TRIAL_TEXT], int32_t most)
{
    cpu_set_t own;
    int32_t n = 0;
    size_t at = 0;
    text[0] = 0;
    if (sched_getaffinity(0, sizeof own, &own)) CPU_ZERO(&own);
    for (int i = 0; i < 64 && n < IG_PLAN_STAGES && n < most; i++)
        if (CPU_ISSET(i, &own)) at += (size_t)snprintf(text + at, IG_TRIAL_TEXT - at, "%scpu:%d", n++ ? "," : "", i);
    return text;
}

static void take_sets(struct ig_trials *t, const char *text)
{
    char err[512];
    int32_t *of = ig_must_alloc((size_t)t->g->n_nodes, sizeof *of);
    uint64_t seen = 0;
    if (strchr(text, '@')) ig_fatal("--stages=%s: sets of cores only, where to cut is what is tried", text);
    t->n_sets = ig_parse_stages(t->g, t->whole, text, t->sets, of, err, sizeof err);
    if (t->n_sets < 0) ig_fatal("%s", err);
    for (int32_t i = 0; i < t->n_sets; i++) {
        if (ig_stage_is_gpu(&t->sets[i])) ig_fatal("--stages=%s: a trial is of CPUs", text);
        if (t->sets[i].threads != t->options.threads) ig_fatal("--stages=%s: sets of as many cores each", text);
        if (t->sets[i].cores & seen) ig_fatal("--stages=%s: a core is in one set only", text);
        seen |= t->sets[i].cores;
    }
    free(of);
}

/* As many as the first set has. */
static int32_t threads_of(const char *text)
{
    uint64_t beside;
    char err[512], first[IG_PROCESSOR_NAME];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, ","), text);
    if (ig_stages_beside(text, &beside, err, sizeof err)) ig_fatal("%s", err);
    int32_t n = 0;
    for (const char *at = strchr(first, ':'); at; at = strchr(at, '+')) {
        int a = 0, b = 0, ends = sscanf(at + 1, "%d-%d", &a, &b);
        n += ends == 2 ? b - a + 1 : 1;
        at++;
    }
    if (!n) ig_fatal("--stages=%s: a trial is of CPUs", text);
    return n;
}

/* --- trials --- */

struct ig_trial_entry *ig_try(struct ig_trials *t, const char *what, const struct ig_graph *g, struct ig_plan *plan)
{
    struct ig_trial_entry *e = &t->entries[t->n++];
    char err[4096];
    *e = (struct ig_trial_entry){.g = g, .what = what, .plan = plan, .foretold_alone_ns = plan->latency_ns};
    e->foretold_ns = plan->n_stages ? plan->period_ns : plan->latency_ns;
    e->foretold_full_ns = plan->n_stages ? plan->full_ns : plan->latency_ns;
    if (ig_validate(g, plan, 0, err, sizeof err))
        ig_fatal("internal error: the validator refuses the plan: %s", err);
    e->trial = ig_trial_start(g, plan, t->n > 1 ? t->entries[0].trial : NULL, err, sizeof err);
    if (!e->trial) ig_fatal("%s: %s", g->name, err);
    for (int32_t i = 0; i < (e->foretold_ns > slow_ns ? 1 : FIRST); i++) ig_trial_round(e->trial, t->seconds / PARTS);
    e->found = ig_trial_found(e->trial);
    return e;
}

static int32_t fastest(const struct ig_trials *t)
{
    int32_t best = 0;
    for (int32_t i = 1; i < t->n; i++)
        if (t->entries[i].found.period_ns < t->entries[best].found.period_ns) best = i;
    return best;
}

void ig_try_again(struct ig_trials *t, int32_t rounds)
{
    int32_t again[IG_TRIALS], n = 0;
    double limit = near * t->entries[fastest(t)].found.period_ns;
    for (int32_t i = 0; i < t->n; i++)
        if (!t->entries[i].cut.n || t->entries[i].found.period_ns <= limit) again[n++] = i;
    for (int32_t r = 0; r < rounds; r++)
        for (int32_t k = 0; k < n; k++) ig_trial_round(t->entries[again[k]].trial, t->seconds / PARTS);
    for (int32_t k = 0; k < n; k++) t->entries[again[k]].found = ig_trial_found(t->entries[again[k]].trial);
}

/* The plan's predictions become what was found; all but its slowest stage wait, so that the period is that one's. */
static void foresee(struct ig_plan *p, const struct ig_found *f)
{
    double factor[IG_PLAN_STAGES] = {f->period_ns / p->latency_ns}, slowest = 0;
    for (int32_t s = 0; s < p->n_stages; s++) slowest = fmax(slowest, f->stage_ns[s]);
    for (int32_t s = 0; s < p->n_stages; s++)
        factor[s] = f->stage_ns[s] / slowest * f->period_ns / fmax(ig_stage_ns(p, s), 1);
    p->latency_ns = 0;
    for (int32_t i = 0; i < p->n_steps; i++) {
        p->steps[i].predicted_ns *= factor[p->steps[i].stage];
        p->latency_ns += p->steps[i].predicted_ns;
    }
    for (int32_t i = 0; i < p->n_bands; i++) {
        p->bands[i].predicted_ns *= factor[p->steps[p->bands[i].last].stage];
        p->bands[i].apart_ns *= factor[p->steps[p->bands[i].last].stage];
    }
    ig_time_stages(p);
}

/* --- the verb --- */

/* A few rounds, then more until the time is up: the more, the less what disturbs some of them decides. */
static void try_until(struct ig_trials *t, int64_t end_ns)
{
    int32_t rounds = t->entries[fastest(t)].found.period_ns > slow_ns ? SLOW_ROUNDS : ROUNDS;
    int64_t begin = ig_bench_ns();
    ig_try_again(t, rounds);
    int64_t round_ns = (ig_bench_ns() - begin) / rounds;
    while (ig_bench_ns() + round_ns < end_ns) ig_try_again(t, 1);
}

static struct ig_plan *plan_for(const struct ig_trials *t, const struct ig_graph *g, int32_t threads, const struct ig_profile *profile)
{
    struct ig_plan_options o = t->options;
    char err[4096];
    o.threads = threads;
    o.profile = profile;
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) ig_fatal("%s: %s", g->name, err);
    return p;
}

static void make_net(struct ig_trials *t)
{
    const struct ig_plan *plans[IG_PLAN_STAGES];
    for (int32_t k = 0; k < t->n_sets; k++) plans[k] = t->whole;
    ig_pipe_net_make(t->g, plans, t->n_sets, &t->net);
}

static void warn_of_cores(const struct ig_trials *t)
{
    cpu_set_t own;
    if (sched_getaffinity(0, sizeof own, &own)) return;
    for (int32_t i = 0; i < t->n_sets; i++)
        for (int c = 0; c < 64; c++)
            if ((t->sets[i].cores >> c & 1) && !CPU_ISSET(c, &own))
                fprintf(stderr, "ingot: trial: core %d of %s is not this process's: figures will be low\n", c,
                        t->sets[i].processor);
}

static void write_chosen(const struct wishes *w, struct ig_trials *t, const char *graph)
{
    const struct ig_graph *g = t->entries[t->chosen].g;
    struct ig_plan *p = t->entries[t->chosen].plan;
    char err[4096], hex[65];
    foresee(p, &t->entries[t->chosen].found);
    ig_hash_graph(g, g == t->g ? graph : w->team_graph, hex);
    free(p->graph_sha256);
    p->graph_sha256 = strdup(hex);
    if (w->graph && ig_graph_write(g, w->graph, err, sizeof err)) ig_fatal("%s", err);
    if (ig_plan_write(p, g, w->out, err, sizeof err)) ig_fatal("%s", err);
}

static void put_table(const struct wishes *w, const struct ig_trials *t)
{
    if (w->quiet) return;
    FILE *f = w->table ? ig_open_output(w->table) : stderr;
    ig_trials_text(f, t);
    if (w->table) ig_close_output();
}

static void run(struct wishes *w, const char *path, const struct ig_source_options *source)
{
    char cores[IG_TRIAL_TEXT];
    struct ig_graph *g = ig_load_graph(path, source), *of_team = graph_of_team(w, g, path, source);
    struct ig_trials t = {.g = g, .options = w->plan, .seconds = w->seconds};
    struct ig_host_ops ops;
    if (w->spec) ig_input_spec(w->spec, g, &ops);
    if (!w->stages) w->stages = own_cores(cores, g->n_nodes);
    t.options.threads = threads_of(w->stages);
    struct ig_profile *one = profile_of(w, g, path, t.options.threads);
    t.options.profile = one;
    t.whole = plan_for(&t, g, t.options.threads, one);
    take_sets(&t, w->stages);
    warn_of_cores(&t);
    int32_t all = t.options.threads * t.n_sets;
    struct ig_profile *team = NULL;
    if (t.n_sets > 1 && all <= IG_MAX_THREADS) team = w->team_graph ? team_profile(w, of_team, all) : profile_of(w, g, path, all);
    int64_t end_ns = ig_bench_ns() + (int64_t)(t.seconds * 1e9);
    ig_try(&t, "single", g, plan_for(&t, g, t.options.threads, one));
    if (team) ig_try(&t, "team", of_team, plan_for(&t, of_team, all, team));
    make_net(&t);
    if (t.n_sets > 1) ig_try_cuts(&t);
    try_until(&t, end_ns);
    t.chosen = fastest(&t);
    if (w->json) ig_trials_json(stdout, &t);
    put_table(w, &t);
    for (int32_t i = t.n - 1; i >= 0; i--) ig_trial_end(t.entries[i].trial);
    write_chosen(w, &t, path);
    for (int32_t i = 0; i < t.n; i++) {
        if (t.entries[i].cut.n) ig_pipe_plan_free(&t.entries[i].cut);
        ig_plan_free(t.entries[i].plan);
    }
    ig_pipe_net_free(&t.net);
    ig_plan_free(t.whole);
    ig_profile_free(one);
    ig_profile_free(team);
    if (of_team != g) ig_graph_free(of_team);
    ig_graph_free(g);
}

int ig_verb_trial(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},      {"output", 1, 0, 'o'},    {"stages", 1, 0, 'S'},
                                          {"profile", 1, 0, 'p'},   {"seconds", 1, 0, 's'},   {"target", 1, 0, 'T'},
                                          {"max-error", 1, 0, 'E'}, {"isa", 1, 0, 'i'},       {"input-spec", 1, 0, 'I'},
                                          {"json", 0, 0, 'j'},      {"quiet", 0, 0, 'q'},     {"table", 1, 0, 't'},
                                          {"team-graph", 1, 0, 'G'}, {"team-profile", 1, 0, 'P'}, {"graph", 1, 0, 'g'},
                                          IG_SOURCE_OPTIONS,        {0, 0, 0, 0}};
    struct ig_source_options source = {.n_binds = 0};
    struct wishes w = {.plan = {.target = "host", .isa = ig_host_isa(), .max_error = IG_MAX_ERROR, .seed = 1},
                       .out = "plan.json",
                       .seconds = 6};
    for (int c; (c = getopt_long(argc, argv, "o:qh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'o': w.out = optarg; break;
        case 'S': w.stages = optarg; break;
        case 'p':
            if (w.n_profiles == MOST_FILES) ig_fatal("--profile: given more than %d times", MOST_FILES);
            w.profiles[w.n_profiles++] = optarg;
            break;
        case 's': w.seconds = ig_number(optarg, "--seconds", 0.01, 3600); break;
        case 'T': w.plan.target = optarg; break;
        case 'E': w.plan.max_error = ig_number(optarg, "--max-error", 0, 1); break;
        case 'i': w.plan.isa = ig_isa_option(optarg); break;
        case 'I': w.spec = optarg; break;
        case 'j': w.json = 1; break;
        case 'q': w.quiet = 1; break;
        case 't': w.table = optarg; break;
        case 'G': w.team_graph = optarg; break;
        case 'P': w.team_profile = optarg; break;
        case 'g': w.graph = optarg; break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(help);
        }
    if (optind != argc - 1) ig_usage(help);
    if (!w.team_graph != !w.team_profile) ig_fatal("--team-graph and --team-profile are given both or neither");
    if (w.graph && !w.team_graph) ig_fatal("--graph is for --team-graph");
    if (!ig_isa_runs_here(w.plan.isa)) ig_fatal("%s kernels do not run on this machine", ig_isa_name(w.plan.isa));
    ig_check_output(w.out);
    if (w.table) ig_check_output(w.table);
    if (w.graph) ig_check_output(w.graph);
    run(&w, argv[optind], &source);
    return 0;
}
