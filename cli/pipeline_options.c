/* The command line of ingot pipeline. */
#include <stdio.h>
#include <string.h>

#include "cli/pipeline_options.h"

static const char help[] =
    "ingot pipeline graph.json --profile profile.json --processors=cpu:0,cpu:1\n"
    "ingot pipeline net.onnx --processors=cpu:0,cpu:1 --explain\n\n"
    "Cuts a network into stages that work on consecutive frames at the same time, each on a processor of its own, so "
    "that\n"
    "frames come out as often as possible; compares with one processor, one team of all cores, and published "
    "algorithms.\n"
    "  --processors A,B,...  sets of cores: cpu:0, or cpu:0-3 for a team of four (default cpu:0,cpu:1); gpu\n"
    "  --profile FILE        times of teams of that profile's threads, or of the GPU (ingot profile --gpu); may be given for\n"
    "                        several; else the estimate\n"
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
    "  --least-gain PERCENT  so many more frames must stages promise by cuts and best, else one processor is taken (default 0;\n"
    "                        with gpu and no --algorithm 10, by about which such promises are off)\n"
    "  --pin NODE=P          that node on that processor only; may be given for several\n"
    "  --input-spec SPEC     as of ingot gen: pre-processing and post-processing are nodes too, of CPUs only\n"
    "  --link US,GBPS        what handing a tensor over costs its reader: microseconds, and GB/s (default 2,0; 0: no "
    "bytes);\n"
    "                        measured: timed here, between the first cores of every two sets, in both directions\n"
    "  --gpu-link US,GBPS    what a copy to the GPU or from it takes, of frames and results, too (default: what the GPU's\n"
    "                        profile says, or 10,12)\n"
    "  --contention C,S      how much longer what computes, and what streams, takes while all others work, which they are\n"
    "                        taken to do all the time, e.g. 1.02,1.3\n"
    "  --bands MODE          as of ingot plan (default off)\n"
    "  --isa NAME            host (default), ref, avx2, avxvnni, avx512, vnni, amx, neon, fp16, dotprod\n"
    "  --max-error X         as of ingot plan\n"
    "  --explain             why the plan is what it is, in words\n"
    "  --gantt               the first frames on their way through the stages\n"
    "  --pareto              also every plan of up to three stages, cut in this order, that no other beats in period,\n"
    "                        memory and, where powers are known, energy\n"
    "  --json                everything as one object\n"
    "  -o FILE               where to (default -, stdout)\n" IG_SOURCE_HELP;

enum { MOST_CORES = 64 };
static const double most_pair = 1e6; /* us, GB/s, times slower */
static const double gpu_gain = 10; /* percent: of plans with a GPU, what was promised against what was measured (docs/gpu-figures.md) */

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
        ig_fatal("--processors: '%s' is no set of cores below %d, nor gpu; cpu:0 or cpu:0-3", name, MOST_CORES);
    for (int32_t i = first; i <= last; i++) cores |= UINT64_C(1) << i;
    if (*taken & cores) ig_fatal("--processors: a core of '%s' is in another set, too", name);
    *taken |= cores;
    *core = first;
    return last - first + 1;
}

static void processors_option(struct ig_pipeline_options *w, char *text)
{
    uint64_t taken = 0;
    w->n_processors = 0;
    w->gpu = -1;
    for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
        if (w->n_processors == IG_PIPE_PROCESSORS) ig_fatal("--processors: more than %d", IG_PIPE_PROCESSORS);
        if (!strcmp(name, "gpu")) {
            if (w->gpu >= 0) ig_fatal("--processors: the GPU is one");
            w->gpu = w->n_processors;
            w->threads[w->gpu] = 1;
        } else
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
    if (!strcmp(text, "best")) return IG_PIPELINE_BEST;
    ig_fatal(
        "--algorithm=%s: cuts, stages, shared, map, single, team, best, algorithm1, algorithm1-printed, neuropipe or "
        "neuropipe-printed",
        text);
}

static void wish_option(struct ig_pipeline_options *w, int option, const char *text)
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

static const struct option longs[] = {
    {"help", 0, 0, 'h'}, {"output", 1, 0, 'o'}, {"processors", 1, 0, 'P'}, {"profile", 1, 0, 'p'}, {"algorithm", 1, 0, 'A'},
    {"pin", 1, 0, 'n'}, {"platform", 1, 0, 'F'}, {"modes", 0, 0, 'M'}, {"power-save", 0, 0, 's'}, {"boost", 0, 0, 'b'},
    {"objective", 1, 0, 'O'}, {"min-fps", 1, 0, 'f'}, {"max-latency-ms", 1, 0, 'L'}, {"memory-budget", 1, 0, 'm'},
    {"max-mj", 1, 0, 'J'}, {"pareto", 0, 0, 'R'}, {"input-spec", 1, 0, 'S'}, {"link", 1, 0, 'l'}, {"contention", 1, 0, 'c'}, {"gpu-link", 1, 0, 'g'},
    {"bands", 1, 0, 'B'}, {"isa", 1, 0, 'i'}, {"max-error", 1, 0, 'E'}, {"explain", 0, 0, 'x'}, {"gantt", 0, 0, 'G'},
    {"json", 0, 0, 'j'}, {"least-gain", 1, 0, 'a'}, IG_SOURCE_OPTIONS, {0, 0, 0, 0}};

static void take(struct ig_pipeline_options *w, int c)
{
    switch (c) {
    case 'o': w->out = optarg; break;
    case 'P': processors_option(w, optarg); break;
    case 'p': add_word(w->profiles, &w->n_profiles, IG_PIPELINE_FILES, "--profile", optarg); break;
    case 'A': w->algorithm = way_option(optarg); break;
    case 'F': w->platform = optarg; break;
    case 'S': w->spec = optarg; break;
    case 'R': w->pareto = 1; break;
    case 'M': w->modes = IG_MODES_ALL; break;
    case 's': w->modes |= IG_MODE_BASELINE | IG_MODE_SAVE; break;
    case 'b': w->modes |= IG_MODE_BASELINE | IG_MODE_BOOST; break;
    case 'O':
    case 'f':
    case 'L':
    case 'm':
    case 'J': wish_option(w, c, optarg); break;
    case 'n': add_word(w->pins, &w->n_pins, IG_PIPELINE_PINS, "--pin", optarg); break;
    case 'l':
        w->measured = !strcmp(optarg, "measured");
        if (!w->measured) pair_option("--link", optarg, &w->link_us, &w->link_gbytes);
        break;
    case 'g': pair_option("--gpu-link", optarg, &w->copy_us, &w->copy_gbytes); break;
    case 'c': pair_option("--contention", optarg, &w->compute, &w->stream); break;
    case 'B': w->plan.bands = bands_option(optarg); break;
    case 'i': w->plan.isa = ig_isa_option(optarg); break;
    case 'E': w->plan.max_error = ig_number(optarg, "--max-error", 0, 1); break;
    case 'x': w->explain = 1; break;
    case 'G': w->gantt = 1; break;
    case 'j': w->json = 1; break;
    case 'a': w->least_gain = ig_number(optarg, "--least-gain", 0, 1e3); break;
    default:
        if (!ig_source_option(&w->source, c, optarg)) ig_usage(help);
    }
}

int ig_pipeline_options(int argc, char **argv, struct ig_pipeline_options *w, int *status)
{
    static char two[] = "cpu:0,cpu:1";
    *w = (struct ig_pipeline_options){
        .plan = {.target = "host", .isa = ig_host_isa(), .max_error = IG_MAX_ERROR, .seed = 1, .bands = IG_BANDS_OFF},
        .wish = {.objective = IG_OBJECTIVE_THROUGHPUT}, .algorithm = -1, .out = "-", .link_us = 2, .copy_us = -1, .least_gain = -1, .compute = 1, .stream = 1};
    processors_option(w, two);
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) {
        if (c == 'h') {
            *status = fputs(help, stdout) < 0;
            return 0;
        }
        take(w, c);
    }
    if (optind != argc - 1) ig_usage(help);
    if (w->measured && w->platform) ig_fatal("--link=measured is of this machine's cores, not of --platform");
    if (w->measured && w->gpu >= 0) ig_fatal("--link=measured is of cores: with gpu give --link and --gpu-link");
    if (w->modes && w->json) ig_fatal("--modes, --power-save and --boost are said in words: not with --json");
    if (w->wished && w->algorithm >= 0) ig_fatal("--algorithm says what to take, and so do --objective and limits: one of them");
    if (w->least_gain < 0) w->least_gain = w->gpu >= 0 && w->algorithm < 0 ? gpu_gain : 0;
    if (w->algorithm < 0) w->algorithm = IG_WAY_CUTS;
    w->path = argv[optind];
    return 1;
}
