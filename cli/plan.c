#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/energy.h"
#include "cli/estimate.h"
#include "cli/explore.h"
#include "kernels_cpu/registry.h"
#include "planner/costs.h"
#include "planner/alternatives.h"
#include "planner/passes.h"
#include "planner/stages.h"
#include "planner/tradeoff.h"
#include "runtime/run.h"

static const char help[] =
    "ingot plan graph.json --profile profile.json -o plan.json\n"
    "ingot plan net.onnx -v\n"
    "ingot plan --summary graph.json plan.json\n"
    "ingot plan --estimate --platform tx2 net.onnx\n"
    "ingot plan --deploy net.onnx --platform site.json --pareto    several devices: ingot plan --deploy --help\n"
    "ingot plan --processors=cpu:0,cpu:1 --explain net.onnx        where to cut into stages, by every algorithm: ingot pipeline --help\n\n"
    "Chooses a kernel and a cut for every layer and lays all activations out in one arena; the plan\n"
    "is checked by an independent validator before it is written.\n"
    "  -o FILE             where to (default plan.json; - is stdout)\n"
    "  -v                  print the new plan in a few lines, on stderr\n"
    "  --summary           print a plan in a few lines\n"
    "\nThe target, and which times the plan rests on:\n"
    "  --target NAME       name written in the plan (default host)\n"
    "  --isa NAME          host (default), ref, avx2, avxvnni, avx512, vnni, amx, neon, fp16, dotprod; cuda: for ingot gen --gpu, one thread, no bands\n"
    "  --threads N         threads to plan for (default: all cores)\n"
    "  --profile FILE      times taken on the target; without it the plan rests on the estimator\n"
    "  --costs NAME        the calibrated board that the estimator goes by: host ('ninja out/platforms/host.json'), a file,\n"
    "                      zen4 or xeon (default: xeon for AVX-512 and AMX kernels, zen4)\n"
    "  --max-error X       use no kernel less exact than that on its layer (default 5e-5): max|y - direct|\n"
    "                      over max|direct|, measured in the profile, else stated (ingot kernels); of layers\n"
    "                      that read halves 64 times X; 0: direct sums only\n"
    "\nWhat it is to be:\n"
    "  --objective X       latency (default), throughput, energy or memory, within the other constraints:\n"
    "                      throughput is latency where one processor runs frame after frame; energy tries 1 to\n"
    "                      --threads threads with the powers that --platform (default host) gives for its CPU;\n"
    "                      memory is the fewest bytes\n"
    "  --memory-budget B   most bytes of arena and weights, e.g. 8MB; the fastest plan within it\n"
    "  --max-latency-ms X, --min-fps X   refuse a plan that is predicted slower\n"
    "  --bands MODE        layers fused by rows: auto (default; where it is faster), off, chains or all that can\n"
    "  --algorithm X       how bands are searched for under a budget: exact (default), or nsga2 to compare with\n"
    "  --seed N            of nsga2 (default 1)\n"
    "  --pareto FILE       also all good plans between least memory and least time, as JSON, even where none\n"
    "                      keeps the constraints\n"
    "  --input-spec SPEC   as of ingot gen: what is printed has the work of the CPU around the network, too, and stages that\n"
    "                      are cut by themselves leave time for it\n"
    "\nStages, a GPU:\n"
    "  --stages LIST       a pipeline of consecutive frames: cpu:0@conv9,cpu:1 runs the steps up to conv9 (a name or\n"
    "                      a number) on core 0, the others on core 1; cpu:0,cpu:1 cuts so that the slowest stage is\n"
    "                      the least; cpu:0-3/2@40: cores 0 to 3, two slots to the next stage;\n"
    "                      gpu@conv9,cpu:0: the GPU runs the steps up to conv9\n"
    "  --alternatives N    with --stages: up to N cuts for loads of the processors by other programs, of which the\n"
    "                      running program takes the best for each frame\n"
    "  --stages-of PLAN    with --isa cuda: only the GPU's stage of that plan needs its kernels\n"
    "  --gpu-profile FILE  of a stage on the GPU: what ingot profile --gpu has timed there (default: the estimate)\n"
    "  --buffers BOARD     with --isa cuda, or a stage on the GPU: how tensors pass to the GPU and from it, and how long\n"
    "                      that takes, by what that board says of its memory (default: all are copied)\n"
    "  --sm N              with --isa cuda: the least of the GPU's chips, such as 72 of sm_72; without a profile tensor cores are\n"
    "                      taken for halves from 70 on, for bytes from 72 on\n"
    "\nInstead of a plan, an estimate:\n"
    "  --estimate          instead of a plan: time, throughput and energy by the board's description alone\n"
    "  --platform NAME     the board: tx2, xavier, neuraghe, zen4, xeon, a file, or host (default; measured); without\n"
    "                      --objective energy it means --estimate\n"
    "  --clock A=MHZ,...   types of processors at that operating point, e.g. accelerator=850\n"
    "  --explain-layer L   that layer's loop nest, tiled for the board, and what bounds it\n"
    "  --op-dist A=T,...   kinds of layers on types of processors, e.g. conv=accelerator,gemm=CPU\n"
    "  --best-tiles        the best tiling of each layer instead of the paper's rule\n"
    "  --deadline-ms X     idle energy is counted up to there\n"
    "  --json              the estimate as one object\n" IG_SOURCE_HELP;

static void print_bands(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    double apart = 0, together = 0;
    for (int32_t i = 0; i < p->n_bands; i++) {
        const struct ig_band *b = &p->bands[i];
        char tensor_text[32], ring_text[32];
        int64_t tensors, rings;
        int32_t members[IG_MAX_BAND];
        ig_band_bytes(g, p, b, &tensors, &rings);
        fprintf(f, "  %s..%s: %d layers by %d row%s, %.3f ms for %.3f, rings of %s B a thread for %s B\n",
                g->nodes[p->steps[b->first].node].name, g->nodes[p->steps[b->last].node].name,
                ig_band_members(p, b, members), b->rows, b->rows == 1 ? "" : "s", b->predicted_ns * 1e-6,
                b->apart_ns * 1e-6, ig_commas(rings, ring_text), ig_commas(tensors, tensor_text));
        apart += b->apart_ns;
        together += b->predicted_ns;
    }
    if (p->n_bands)
        fprintf(f, "%d band%s of layers run%s by rows: %.3f ms for %.3f\n", p->n_bands, ig_plural(p->n_bands), p->n_bands == 1 ? "s" : "", together * 1e-6, apart * 1e-6);
}

static void print_stages(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    int64_t slots = 0;
    char text[32];
    for (int32_t i = 0; i < p->n_slots; i++) slots += p->slots[i].copies * p->slots[i].bytes;
    if (p->n_stages)
        fprintf(f, "%d stage%s: %.3f ms a frame, %.1f frames/s, latency %.3f ms full; slots %s B\n", p->n_stages, ig_plural(p->n_stages),
                p->period_ns * 1e-6, 1e9 / p->period_ns, p->full_ns * 1e-6, ig_commas(slots, text));
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        fprintf(f, "  %s: %.3f ms, ", s->processor, ig_stage_ns(p, i) * 1e-6);
        if (s->pass_ns > 0) fprintf(f, "%.3f of them to pass tensors, ", s->pass_ns * 1e-6);
        fprintf(f, "%d thread%s, %d slot%s, steps %d..%d to %s\n", s->threads, ig_plural(s->threads), s->slots, ig_plural(s->slots),
                s->first, s->last, g->nodes[p->steps[s->last].node].name);
    }
}

/* The other cuts that the program may take, and what all of them need. */
static void print_alternatives(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    char text[32];
    for (int32_t a = 0; a < p->n_others; a++) {
        const struct ig_plan *other = p->others[a];
        fprintf(f, "  alternative %d:", a + 1);
        for (int32_t i = 0; i < other->n_stages; i++)
            fprintf(f, "%s %.3f ms to %s", i ? "," : "", ig_stage_ns(other, i) * 1e-6,
                    g->nodes[other->steps[other->stages[i].last].node].name);
        fprintf(f, "; %.1f frames/s\n", 1e9 / other->period_ns);
    }
    if (p->n_others)
        fprintf(f, "%d alternatives in one arena of %s B\n", 1 + p->n_others, ig_commas(ig_united_bytes(p), text));
}

static void count_host_ops(struct ig_plan_options *o, const struct ig_graph *g, const char *spec)
{
    struct ig_host_ops ops;
    ig_input_spec(spec, g, &ops);
    o->host_ns[0] = ops.pre_ns;
    o->host_ns[1] = ops.post_ns;
}

/* f NULL: the spec is only checked. */
static void print_host_ops(FILE *f, const struct ig_graph *g, const char *spec)
{
    struct ig_host_ops o;
    ig_input_spec(spec, g, &o);
    if (f)
        fprintf(f, "host: pre-processing %.3f ms, post-processing %.3f ms a frame on one core, estimated; %s\n", o.pre_ns * 1e-6,
                o.post_ns * 1e-6, o.text);
}

static void summary(FILE *f, const struct ig_graph *g, const struct ig_plan *p, int32_t objective)
{
    char arena[32], bound[32], weights[32], scratch[32];
    int kernels = 0, views = 0;
    for (int32_t i = 0; i < p->n_steps; i++) {
        int32_t k = 0;
        while (k < i && p->steps[k].kernel != p->steps[i].kernel) k++;
        if (!p->steps[i].kernel) views++;
        else kernels += k == i;
    }
    double macs = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) macs += g->nodes[i].macs;
    fprintf(f, "model %s: %d layer%s (%d node%s before folding), %.1f MMAC\n", g->name, p->n_steps - views,
            ig_plural(p->n_steps - views), g->onnx_nodes, ig_plural(g->onnx_nodes), macs * 1e-6);
    fprintf(f, "plan: %s, %s, %d thread%s, %.3f ms a frame %s; %d kernel%s, %d layer%s\n", p->target,
            p->isa, p->threads, ig_plural(p->threads), p->latency_ns * 1e-6,
            p->profile_sha256[0] ? "predicted from the profile" : "estimated (no profile of the target)",
            kernels, ig_plural(kernels), views, views == 1 ? " is a view" : "s are views");
    fprintf(f, "arena %s B (lower bound %s B), scratch of up to %s B a thread in it; weights %s B\n",
            ig_commas(p->arena_bytes, arena), ig_commas(p->arena_lower_bound_bytes, bound),
            ig_commas(p->scratch_bytes, scratch), ig_commas(p->weights_bytes, weights));
    print_bands(f, g, p);
    if (objective == IG_OBJECTIVE_THROUGHPUT && !p->n_stages)
        fprintf(f, "%.1f frames/s: one processor runs frame after frame, so that this is the plan of least latency\n",
                1e9 / p->latency_ns);
    print_stages(f, g, p);
    print_alternatives(f, g, p);
}

/* Is it a step of the GPU's stage, in one of the alternatives at least? */
static int is_gpus(const struct ig_plan *staged, int32_t step)
{
    int any = 0;
    for (int32_t i = 0; i <= staged->n_others; i++) any |= ig_step_is_gpu(ig_alternative(staged, i), step);
    return any;
}

/* A GPU's plan is the GPU's alone; of a plan with stages, its stage of them. */
static void refuse_layers_of_the_cpu(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan *staged,
                                     const char *graph_path)
{
    int n = 0;
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        if (!s->kernel || s->kernel->isa == IG_ISA_CUDA || (staged && !is_gpus(staged, i))) continue;
        if (!n++) fprintf(stderr, "ingot: %s: layers without a GPU kernel; build without --gpu:\n", graph_path);
        fprintf(stderr, "  %s  %s\n", g->nodes[s->node].name, ig_op_info((enum ig_op)g->nodes[s->node].op)->name);
    }
    if (n) exit(1);
}

static void check_profile(const struct ig_profile *p, const char *path, const char *graph_sha256,
                          const struct ig_plan_options *o)
{
    if (strcmp(p->graph_sha256, graph_sha256))
        ig_fatal("%s: taken of another graph (sha256 %.12s..., this one is %.12s...); take a new profile", path,
                 p->graph_sha256, graph_sha256);
    if (p->threads != o->threads)
        ig_fatal("%s: taken with %d thread%s, the plan is for %d; give --threads=%d or take a new profile", path,
                 p->threads, ig_plural(p->threads), o->threads, p->threads);
    if (strcmp(p->isa, ig_isa_name(o->isa)))
        ig_fatal("%s: taken with %s kernels, the plan is for %s; give --isa=%s or take a new profile", path, p->isa,
                 ig_isa_name(o->isa), p->isa);
}

static int32_t bands_option(const char *text)
{
    static const char *const names[] = {[IG_BANDS_AUTO] = "auto", [IG_BANDS_OFF] = "off",
                                        [IG_BANDS_CHAINS] = "chains", [IG_BANDS_ALL] = "all"};
    for (int32_t i = IG_BANDS_AUTO; i <= IG_BANDS_ALL; i++)
        if (!strcmp(text, names[i])) return i;
    ig_fatal("--bands=%s: auto, off, chains or all", text);
}

static int32_t word_option(const char *option, const char *text, const char *first, const char *second)
{
    if (!strcmp(text, first)) return 0;
    if (!strcmp(text, second)) return 1;
    ig_fatal("%s=%s: %s or %s", option, text, first, second);
}

/* Cuts that are not said are balanced by the times of a plan without stages within `budget`, which limits of time are not for. */
static struct ig_plan *cut_by(const struct ig_graph *g, const struct ig_plan_options *o, int64_t budget, const char *text,
                              int32_t alternatives, char *err, size_t err_bytes)
{
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    struct ig_plan_options apart = *o;
    apart.max_latency_ms = apart.min_fps = 0;
    apart.memory_budget = budget;
    struct ig_plan *whole = ig_plan_make(g, &apart, err, err_bytes), *p = NULL;
    int32_t *stage_of = malloc(((size_t)g->n_nodes + 1) * sizeof *stage_of);
    if (!stage_of) ig_fatal("out of memory");
    if (whole && whole->n_steps) {
        whole->steps[0].predicted_ns += o->host_ns[0];
        whole->steps[whole->n_steps - 1].predicted_ns += o->host_ns[1];
    }
    int32_t n = whole ? ig_parse_stages(g, whole, text, stages, stage_of, err, err_bytes) : -1;
    for (int32_t i = 0; i < n; i++)
        if (o->profile && budget == o->memory_budget && !ig_stage_is_gpu(&stages[i]) && stages[i].threads != o->profile->threads)
            fprintf(stderr, "ingot: %s has %d thread%s, the profile is of %d: its times are estimates\n",
                    stages[i].processor, stages[i].threads, ig_plural(stages[i].threads), o->profile->threads);
    if (n > 0 && ig_time_gpu_stage(g, o, stage_of, stages, n, err, err_bytes)) n = -1;
    if (n > 0) p = ig_plan_stages(g, o, stage_of, stages, n, err, err_bytes);
    if (p && ig_add_alternatives(g, o, p, alternatives, err, err_bytes)) {
        ig_plan_free(p);
        p = NULL;
    }
    ig_plan_free(whole);
    free(stage_of);
    return p;
}

/*
 * Of stages whose cuts the budget decides, too, the least that a message names would move with it: where there is no plan so,
 * the cuts are those of the fastest plan without stages.
 */
static struct ig_plan *make_staged(const struct ig_graph *g, const struct ig_plan_options *o, const char *text,
                                   int32_t alternatives, char *err, size_t err_bytes)
{
    struct ig_plan *p = cut_by(g, o, o->memory_budget, text, alternatives, err, err_bytes);
    return p || o->memory_budget <= 0 ? p : cut_by(g, o, 0, text, alternatives, err, err_bytes);
}

/* p: NULL if none keeps the constraints. stages: NULL, or the option: the front is of plans with the same. */
static void write_pareto(const struct ig_graph *g, const struct ig_plan_options *o, const struct ig_plan *p,
                         const char *stages, const char *path)
{
    struct ig_tradeoff t;
    struct ig_plan_options of = *o;
    char err[4096];
    of.memory_budget = 0;
    of.max_latency_ms = of.min_fps = 0;
    struct ig_plan *any = p || !stages ? NULL : make_staged(g, &of, stages, 1, err, sizeof err);
    const struct ig_plan *like = p ? p : any;
    if (stages && !like) return; /* no stages: the caller has been told why */
    if (like) of.threads = like->threads;
    if (like) of.stages = like->stages;
    if (like) of.n_stages = like->n_stages;
    if (ig_tradeoff_make(g, &of, &t, err, sizeof err) ||
        ig_tradeoff_write(&t, g, p, of.threads, path, err, sizeof err))
        ig_fatal("%s", err);
    ig_tradeoff_free(&t);
    ig_plan_free(any);
}

/* 1 if a stage of such a list is the GPU's. */
static int names_gpu(const char *stages)
{
    for (const char *at = stages; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, "gpu", 3)) return 1;
    return 0;
}

/* NULL: none is given. */
static struct ig_profile *read_profile(const char *path, const struct ig_graph *g, const char *graph_sha256,
                                       const struct ig_plan_options *o)
{
    char err[4096];
    struct ig_profile *p = path ? ig_profile_read(path, g, err, sizeof err) : NULL;
    if (path && !p) ig_fatal("%s", err);
    if (p) check_profile(p, path, graph_sha256, o);
    return p;
}

static struct ig_plan *make(const struct ig_graph *g, const char *graph_path, const char *const *profiles,
                            struct ig_plan_options *o, struct ig_powers *powers, const char *stages,
                            int32_t alternatives, const char *stages_of, const struct ig_platform *buffers,
                            const char *pareto)
{
    char err[4096], why[4096];
    struct ig_plan *staged = stages_of ? ig_plan_read(stages_of, g, err, sizeof err) : NULL;
    if (stages_of && !staged) ig_fatal("%s", err);
    char hex[65];
    ig_hash_graph(g, graph_path, hex);
    struct ig_plan_options gpus = {.isa = IG_ISA_CUDA, .threads = 1};
    struct ig_profile *profile = read_profile(profiles[0], g, hex, o), *gpu_profile = read_profile(profiles[1], g, hex, &gpus);
    o->profile = profile;
    o->gpu_profile = gpu_profile;
    struct ig_plan *p = stages   ? make_staged(g, o, stages, alternatives, err, sizeof err)
                        : powers ? ig_energy_plan(g, o, powers, err, sizeof err)
                                 : ig_plan_make(g, o, err, sizeof err);
    if (!p && pareto) write_pareto(g, o, p, stages, pareto);
    if (!p) ig_fatal("%s: %s", graph_path, err);
    if (o->isa == IG_ISA_CUDA) refuse_layers_of_the_cpu(g, p, staged, graph_path);
    if (buffers && o->isa == IG_ISA_CUDA) ig_plan_passes(g, p, staged, buffers);
    ig_plan_free(staged);
    for (int32_t i = 0; i <= p->n_others; i++) {
        struct ig_plan *each = i ? p->others[i - 1] : p;
        free(each->graph_sha256);
        each->graph_sha256 = strdup(hex);
    }
    if (ig_validate_all(g, p, o->memory_budget, why, sizeof why))
        ig_fatal("internal error: the validator refuses the plan: %s", why);
    if (pareto) write_pareto(g, o, p, stages, pareto);
    ig_profile_free(profile);
    ig_profile_free(gpu_profile);
    return p;
}

/* A plan of a file, which may say anything. */
static struct ig_plan *read_plan(const struct ig_graph *g, const char *path)
{
    char err[4096];
    struct ig_plan *p = ig_plan_read(path, g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    if (ig_validate_all(g, p, 0, err, sizeof err)) ig_fatal("%s: not a valid plan: %s", path, err);
    return p;
}

int ig_verb_plan(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--deploy")) return ig_explore_main(argc, argv);
        if (!strncmp(argv[i], "--processors", strlen("--processors"))) return ig_verb_pipeline(argc, argv);
    }
    static const struct option longs[] = {{"help", 0, 0, 'h'},
                                          {"output", 1, 0, 'o'},
                                          {"profile", 1, 0, 'p'},
                                          {"gpu-profile", 1, 0, 'U'},
                                          {"target", 1, 0, 'T'},
                                          {"isa", 1, 0, 'i'},
                                          {"threads", 1, 0, 't'},
                                          {"bands", 1, 0, 'B'},
                                          {"stages", 1, 0, 'G'},
                                          {"alternatives", 1, 0, 'a'},
                                          {"stages-of", 1, 0, 'g'},
                                          {"buffers", 1, 0, 'M'},
                                          {"sm", 1, 0, 'K'},
                                          {"memory-budget", 1, 0, 'm'},
                                          {"max-latency-ms", 1, 0, 'l'},
                                          {"min-fps", 1, 0, 'f'},
                                          {"max-error", 1, 0, 'E'},
                                          {"objective", 1, 0, 'O'},
                                          {"algorithm", 1, 0, 'A'},
                                          {"seed", 1, 0, 'S'},
                                          {"pareto", 1, 0, 'F'},
                                          {"input-spec", 1, 0, 'I'},
                                          {"summary", 0, 0, 's'},
                                          {"verbose", 0, 0, 'v'},
                                          {"estimate", 0, 0, 'e'},
                                          {"platform", 1, 0, 'P'},
                                          {"costs", 1, 0, 'C'},
                                          {"explain-layer", 1, 0, 'x'},
                                          {"op-dist", 1, 0, 'd'},
                                          {"clock", 1, 0, 'c'},
                                          {"best-tiles", 0, 0, 'b'},
                                          {"deadline-ms", 1, 0, 'D'},
                                          {"json", 0, 0, 'j'},
                                          IG_SOURCE_OPTIONS,
                                          {0, 0, 0, 0}};
    struct ig_source_options source = {.n_binds = 0};
    struct ig_plan_options o = {.target = "host", .isa = ig_host_isa(), .threads = ig_cores(),
                                .max_error = IG_MAX_ERROR, .seed = 1};
    const char *out = "plan.json", *profiles[] = {NULL, NULL}, *pareto = NULL, *stages = NULL, *stages_of = NULL, *spec = NULL;
    char err[4096];
    struct ig_estimate_options estimate = {.platform = NULL};
    struct ig_platform *buffers = NULL;
    int summarise = 0, verbose = 0, estimated = 0, alternatives = 1;
    for (int c; (c = getopt_long(argc, argv, "o:vh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'o': out = optarg; break;
        case 'p': profiles[0] = optarg; break;
        case 'U': profiles[1] = optarg; break;
        case 'T': o.target = optarg; break;
        case 'i': o.isa = ig_isa_option(optarg); break;
        case 't': o.threads = (int32_t)ig_whole_number(optarg, "--threads", 1, IG_MAX_THREADS); break;
        case 'B': o.bands = bands_option(optarg); break;
        case 'G': stages = optarg; break;
        case 'a': alternatives = (int32_t)ig_whole_number(optarg, "--alternatives", 1, IG_PLAN_ALTERNATIVES); break;
        case 'g': stages_of = optarg; break;
        case 'M': buffers = ig_load_board(optarg); break;
        case 'K': o.sm = (int32_t)ig_whole_number(optarg, "--sm", 30, 999); break;
        case 'm': o.memory_budget = ig_size_option(optarg, "--memory-budget"); break;
        case 'l': o.max_latency_ms = ig_number(optarg, "--max-latency-ms", 1e-9, 1e9); break;
        case 'f': o.min_fps = ig_number(optarg, "--min-fps", 1e-9, 1e9); break;
        case 'E': o.max_error = ig_number(optarg, "--max-error", 0, 1); break;
        case 'O': o.objective = ig_objective_option(optarg); break;
        case 'A': o.algorithm = word_option("--algorithm", optarg, "exact", "nsga2"); break;
        case 'S': o.seed = (uint64_t)ig_whole_number(optarg, "--seed", 0, 9007199254740992); break;
        case 'F': pareto = optarg; break;
        case 'I': spec = optarg; break;
        case 's': summarise = 1; break;
        case 'v': verbose = 1; break;
        case 'e': estimated = 1; break;
        case 'P': estimate.platform = optarg; break;
        case 'C':
            if (!ig_costs_use(ig_load_board(optarg))) ig_fatal("--costs %s: no kernel has costs there", optarg);
            break;
        case 'x': estimate.explain = optarg; break;
        case 'd': estimate.dist = optarg; break;
        case 'c': estimate.clocks = optarg; break;
        case 'b': estimate.best_tiles = 1; break;
        case 'D': estimate.deadline_ms = ig_number(optarg, "--deadline-ms", 1e-9, 1e9); break;
        case 'j': estimate.json = 1; break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(help);
        }
    if (optind != argc - 1 - summarise) ig_usage(help);
    if (alternatives > 1 && !stages) ig_fatal("--alternatives needs --stages");
    if (o.algorithm == IG_ALGORITHM_NSGA2 && stages) ig_fatal("--algorithm nsga2 is for plans without --stages");
    if (buffers && o.isa != IG_ISA_CUDA && !(stages && names_gpu(stages)))
        ig_fatal("--buffers needs --isa cuda, or --stages of which one is the GPU's");
    if (o.sm && o.isa != IG_ISA_CUDA && !(stages && names_gpu(stages))) ig_fatal("--sm needs --isa cuda, or --stages of which one is the GPU's");
    if (profiles[1] && !(stages && names_gpu(stages))) ig_fatal("--gpu-profile needs --stages of which one is the GPU's");
    o.board = buffers;
    struct ig_graph *g = ig_load_graph(argv[optind], &source);
    int weighs = o.objective == IG_OBJECTIVE_ENERGY && !estimated && !estimate.explain;
    if (o.isa == IG_ISA_CUDA) {
        o.threads = 1;
        o.bands = IG_BANDS_OFF;
    }
    if (estimated || estimate.explain || (estimate.platform && !weighs)) {
        estimate.max_error = o.max_error;
        ig_estimate(g, &estimate);
        ig_graph_free(g);
        return 0;
    }
    if (spec) count_host_ops(&o, g, spec);
    struct ig_powers powers, *weighed = weighs ? &powers : NULL;
    if (weighs) ig_load_powers(&powers, estimate.platform, &o, estimate.deadline_ms);
    struct ig_plan *p = summarise ? read_plan(g, argv[optind + 1])
                                  : make(g, argv[optind], profiles, &o, weighed, stages, alternatives, stages_of,
                                         buffers, pareto);
    if (weighs && !summarise) ig_set_energy(p, &powers);
    if (!summarise && ig_plan_write(p, g, out, err, sizeof err)) ig_fatal("%s", err);
    FILE *words = summarise ? stdout : stderr;
    if (summarise || verbose) summary(words, g, p, o.objective);
    if (spec) print_host_ops(summarise || verbose ? words : NULL, g, spec);
    if (weighs) {
        ig_put_energy(words, p, &powers);
        free(powers.board);
    }
    free(buffers);
    ig_plan_free(p);
    ig_graph_free(g);
    return 0;
}
