#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/beside.h"
#include "bench/gpu/gpu.h"
#include "bench/profile.h"
#include "cli/cli.h"
#include "kernels_cpu/registry.h"
#include "planner/stages.h"
#include "runtime/run.h"

static void progress(int done, int all)
{
    ig_progress("profile: round", done, all);
}

static void write_profile(struct ig_profile *p, const struct ig_graph *g, const char *graph_path,
                          const char *out)
{
    char hex[65], err[4096];
    ig_hash_graph(g, graph_path, hex);
    free(p->graph_sha256);
    p->graph_sha256 = strdup(hex);
    if (ig_profile_write(p, g, out, err, sizeof err)) ig_fatal("%s", err);
}

/* Cores of the stages but the first, as far as this process may use them, as --beside takes them; NULL: none, or none
 * would be left to time on. */
static const char *cores_beside(const char *stages, char list[256])
{
    cpu_set_t own;
    uint64_t cores, missing = 0;
    char err[512];
    int left = 0;
    size_t at = 0;
    if (ig_stages_beside(stages, &cores, err, sizeof err)) ig_fatal("%s", err);
    if (sched_getaffinity(0, sizeof own, &own)) CPU_ZERO(&own);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        int wanted = i < 64 && cores >> i & 1;
        if (!CPU_ISSET(i, &own)) missing |= wanted ? (uint64_t)1 << i : 0;
        else if (!wanted) left++;
        else at += (size_t)snprintf(list + at, 256 - at, "%s%zu", at ? "," : "", i);
    }
    if (missing || !left)
        fprintf(stderr, "ingot: --stages %s: this process may not use all these cores: times are taken %s\n", stages,
                at && left ? "beside fewer" : "alone");
    return at && left ? list : NULL;
}

enum { GPU_REPEATS = 20, GPU_RUNS = 5, GPU_FRAMES = 10, GPU_SECONDS = 10 };

static int at_least_one(double n)
{
    return n < 1 ? 1 : (int)n;
}

/* Those of a file, or where none is named the program's own. NULL ends them. */
static const void *const *kernels_of(const char *path, const void *of_file[2])
{
    if (!path && !*ig_profile_modules)
        ig_fatal("--gpu: no GPU kernels are in this program, as it was built with --gpu=off or without a CUDA toolkit for the chip: "
                 "--gpu=FATBIN takes a file of them");
    if (!path) return ig_profile_modules;
    of_file[0] = ig_read_fatbin(path);
    of_file[1] = NULL;
    return of_file;
}

static void say_wrong(const char *layer, const char *kernel, const char *what)
{
    fprintf(stderr, "ingot: %s: %s is wrong on this GPU and left out: %s\n", layer, kernel, what);
}

/* Of the GPU's kernels, from which ingot plan --isa cuda takes the fastest. */
static void profile_gpu(const char *path, const struct ig_source_options *source, const void *const *kernels, double seconds,
                        const char *out, int quiet)
{
    char err[4096];
    double share = seconds < GPU_SECONDS ? seconds / GPU_SECONDS : 1;
    struct ig_graph *g = ig_load_graph(path, source);
    int repeats = at_least_one(share * GPU_REPEATS), runs = at_least_one(share * GPU_RUNS);
    struct ig_profile *p = ig_gpu_profile(g, kernels, repeats, runs, say_wrong, err, sizeof err);
    if (!p || ig_gpu_profile_weights(g, kernels, repeats, GPU_FRAMES * runs, p, err, sizeof err) ||
        ig_gpu_profile_whole(g, kernels, repeats, GPU_FRAMES * runs, p, err, sizeof err))
        ig_fatal("%s: %s", path, err);
    write_profile(p, g, path, out);
    if (!quiet) fprintf(stderr, "profile: %d kernel%s timed over %d layer%s on %s\n", p->n, ig_plural(p->n), g->n_nodes, ig_plural(g->n_nodes), p->cpu);
    ig_profile_free(p);
    ig_graph_free(g);
}

int ig_verb_profile(int argc, char **argv)
{
    const struct option longs[] = {
        {"help", 0, 0, 'h'}, {"threads", 1, 0, 't'}, {"seconds", 1, 0, 's'}, {"output", 1, 0, 'o'},
        {"isa", 1, 0, 'i'},  {"quiet", 0, 0, 'q'},   {"beside", 1, 0, 'b'},  {"stages", 1, 0, 'S'},
        {"fronts", 0, 0, 'f'}, {"gpu", ig_profile_modules ? optional_argument : required_argument, 0, 'g'}, IG_SOURCE_OPTIONS, {0, 0, 0, 0}};
    struct ig_source_options source = {.n_binds = 0};
    struct ig_profile_options o = {
        .isa = ig_host_isa(), .threads = ig_cores(), .seconds = 10, .progress = progress};
    const char *out = "profile.json", *cores = NULL, *fatbin = NULL;
    const void *of_file[2] = {NULL, NULL};
    int gpu = 0;
    char err[4096], list[256];
    for (int c; (c = getopt_long(argc, argv, "o:qh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(ig_profile_help, stdout) < 0;
        case 'o': out = optarg; break;
        case 'q': o.progress = NULL; break;
        case 'b': cores = optarg; break;
        case 'S': cores = cores_beside(optarg, list); break;
        case 't': o.threads = (int32_t)ig_whole_number(optarg, "--threads", 1, IG_MAX_THREADS); break;
        case 'f': o.fronts = 1; break;
        case 'g': gpu = 1, fatbin = optarg; break;
        case 's': o.seconds = ig_number(optarg, "--seconds", 0.1, 3600); break;
        case 'i': o.isa = ig_isa_option(optarg); break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(ig_profile_help);
        }
    if (optind != argc - 1) ig_usage(ig_profile_help);
    ig_check_output(out);
    if (gpu) {
        profile_gpu(argv[optind], &source, kernels_of(fatbin, of_file), o.seconds, out, !o.progress);
        free((void *)(uintptr_t)of_file[0]);
        return 0;
    }
    if (!ig_isa_runs_here(o.isa)) ig_fatal("%s kernels do not run on this machine", ig_isa_name(o.isa));
    struct ig_graph *g = ig_load_graph(argv[optind], &source);
    struct ig_beside *beside = cores ? ig_beside_start(g, o.isa, cores, err, sizeof err) : NULL;
    if (cores && !beside) ig_fatal("--beside: %s", err);
    struct ig_profile *p = ig_profile_take(g, &o, err, sizeof err);
    if (!p) ig_fatal("%s: %s", argv[optind], err);
    p->beside = ig_beside_count(beside);
    ig_beside_stop(beside);
    write_profile(p, g, argv[optind], out);
    if (o.progress)
        fprintf(stderr,
                "profile: %d kernel%s and cuts timed over %d layer%s, %d band%s, %d thread%s, peak %.0f GFLOP/s a core\n", p->n, ig_plural(p->n),
                g->n_nodes, ig_plural(g->n_nodes), p->n_bands, ig_plural(p->n_bands), o.threads, ig_plural(o.threads), p->peak_gflops);
    ig_profile_free(p);
    ig_graph_free(g);
    return 0;
}
