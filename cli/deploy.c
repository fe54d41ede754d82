#include <stdlib.h>
#include <string.h>

#include "cli/deploy.h"
#include "cli/images.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/deploy/assign.h"
#include "runtime/mpi/rank.h"
#include "runtime/run.h"

static const char help[] =
    "ingot deploy net.onnx --mapping mapping.json -o DIR\n"
    "ingot deploy net.onnx --mapping mapping.json --platform platform.txt --profile profile.json -o DIR\n\n"
    "Spreads a network over several machines: one program a key of the mapping, which MPI starts and which passes\n"
    "tensors to the others. Writes sender.json, receiver.json, rankfile, hostfile, appfile and deploy.json to DIR, tables\n"
    "and weights of every program to DIR.d. ./configure --model=net.onnx --mapping=mapping.json does all of it.\n"
    "  -o DIR               where to; made if it is not there\n"
    "  --mapping FILE       keys and their layers (docs/formats.md)\n"
    "  --platform FILE      the site: devices, hosts, targets, links; AutoDiCE's platform.txt or JSON\n"
    "  --horizontal FILE    layers that several keys share, by rows, columns or channels (docs/formats.md)\n"
    "  --border-first       rows of them that other keys wait for are computed and sent before the rest, where that pays\n"
    "  --exact              cut them only so that the results are those of one machine, bit by bit\n"
    "  --profile FILE       times taken of the whole network; without it the plans rest on the estimator. A second one,\n"
    "                       with other cores at work meanwhile (ingot profile --beside), says how far keys that share\n"
    "                       a memory slow each other down. One of ingot profile --gpu beside them is of keys of kind GPU\n"
    "  --threads N          of the plan of the whole network, whose kernels all keys take (default: the largest key's)\n"
    "  --isa NAME           host (default), ref, avx2, avxvnni, avx512, vnni, amx, neon, fp16 or dotprod: of keys whose device has no other target\n"
    "  --max-error X        as of ingot plan\n"
    "  --labels FILE        class names of the first output, one a line\n"
    "  --mean A[,B,C] --std A[,B,C]  a picture's channel becomes (pixel - mean)/std\n"
    "  --image SMS[=FILE]   chips that keys of kind GPU get code for, 62,72: the build makes it, or it is in FILE; may be repeated;\n"
    "                       ptxSM[=FILE]: PTX for drivers that cannot read it, and chips from SM on\n"
    "  --input-spec SPEC    as of ingot gen: the first rank makes inputs of pictures, that of the results answers\n"
    "  -q                   only what is wrong\n"
    "  --json               deploy.json on stdout\n" IG_SOURCE_HELP;

enum { PART_TENSORS = 256 }; /* that runtime/mpi/worker.c passes to a part, and takes */

struct arguments {
    const char *mapping, *site, *horizontal, *dir, *spec;
    int json, scaled; /* --mean or --std was given */
};

static void note(void *to, const char *line)
{
    const struct ig_deployment *d = to;
    if (!d->quiet) fprintf(stderr, "ingot: %s\n", line);
}

/* All that is only read, and what is wrong with it. */
static void read_all(struct ig_deployment *d, const struct arguments *a)
{
    static char err[IG_ERROR_BYTES];
    if (!(d->layers = ig_layers_read(d->onnx, err, sizeof err))) ig_fatal("%s", err);
    if (a->site && !(d->site = ig_site_read(a->site, err, sizeof err))) ig_fatal("%s", err);
    if (a->horizontal && !(d->splits = ig_hsplits_read(a->horizontal, d->layers, err, sizeof err))) ig_fatal("%s", err);
    const char **split = ig_hsplits_layers(d->splits);
    d->mapping = ig_mapping_read(a->mapping, d->layers, split, d->splits ? d->splits->n : 0, err, sizeof err);
    if (!d->mapping) ig_fatal("%s", err);
    free(split);
    if (d->splits && ig_hsplits_match(d->splits, d->layers, d->mapping, a->horizontal, err, sizeof err)) ig_fatal("%s", err);
    if (ig_mapping_place(d->mapping, d->site, a->mapping, err, sizeof err)) ig_fatal("%s", err);
    for (int32_t i = 0; i < d->mapping->n; i++)
        if (ig_deploy_is_gpu(d, i) && !d->n_images)
            ig_fatal("%s: key '%s' is a GPU's: --image says for which chips (./configure finds what makes code for them)",
                     a->mapping, d->mapping->keys[i].name);
}

static struct ig_profile *read_profile(const struct ig_deployment *d, const struct ig_graph *g, const char *path)
{
    char err[4096];
    struct ig_profile *p = ig_profile_read(path, g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    if (!ig_is_profiled(p, g, d->onnx)) ig_fatal("%s: taken of another graph; take a new profile", path);
    return p;
}

static int has_gpu(const struct ig_deployment *d)
{
    for (int32_t i = 0; i < d->mapping->n; i++)
        if (ig_deploy_is_gpu(d, i)) return 1;
    return 0;
}

/* Each to where it belongs: of a GPU, else the first or the second of cores, cpu[2], with their paths. */
static void sort_profiles(struct ig_deployment *d, const struct ig_graph *g, struct ig_profile **cpu, const char **paths)
{
    for (int32_t i = 0, n = 0; i < d->n_profiles; i++) {
        struct ig_profile *p = read_profile(d, g, d->profiles[i]);
        int of_gpu = !strcmp(p->isa, ig_isa_name(IG_ISA_CUDA));
        if (of_gpu && !has_gpu(d)) ig_fatal("%s: of a GPU, and no key of the mapping is one", d->profiles[i]);
        if (of_gpu ? d->on_gpu != NULL : n == 2)
            ig_fatal("--profile=%s: at most two of cores, alone and with others at work, and one of a GPU", d->profiles[i]);
        if (of_gpu) d->on_gpu = p;
        else paths[n] = d->profiles[i], cpu[n++] = p;
    }
}

void ig_deploy_read_profiles(struct ig_deployment *d, const struct ig_graph *g)
{
    struct ig_profile *cpu[2] = {NULL, NULL};
    const char *paths[2];
    sort_profiles(d, g, cpu, paths);
    struct ig_profile *one = cpu[0], *two = cpu[1];
    if (two && (!one->beside == !two->beside || one->threads != two->threads))
        ig_fatal("%s and %s: two profiles are one of cores alone and one of as many with others at work (ingot profile "
                 "--beside)", paths[0], paths[1]);
    if (one && !d->options.threads) d->options.threads = one->threads;
    d->options.profile = two && two->beside ? two : one;
    d->alone = two && two->beside ? one : two;
}

int32_t ig_deploy_threads(const struct ig_deployment *d)
{
    const struct ig_mapping *m = d->mapping;
    int32_t most = 1;
    for (int32_t i = 0; i < m->n; i++)
        if (ig_key_threads(&m->keys[i]) > most) most = ig_key_threads(&m->keys[i]);
    return most > IG_MAX_THREADS ? IG_MAX_THREADS : most;
}

/* What the tables of a rank cannot hold. */
static void check_limits(const struct ig_deployment *d)
{
    for (int32_t i = 0; i < d->ranks->n; i++) {
        const struct ig_rank_plan *r = &d->ranks->at[i];
        if (r->n_parts > IG_RANK_PARTS || r->n_stores > IG_RANK_BUFFERS)
            ig_fatal("%s falls into %d parts with %d tensors between them, at most %d and %d are possible: give it layers "
                     "that follow each other", d->mapping->keys[i].name, r->n_parts, r->n_stores, IG_RANK_PARTS,
                     IG_RANK_BUFFERS);
        if (ig_key_threads(&d->mapping->keys[i]) > IG_MAX_THREADS)
            ig_fatal("%s has more than %d cores", d->mapping->keys[i].name, IG_MAX_THREADS);
    }
    for (int32_t i = 0; i < d->parts->n; i++) {
        const struct ig_part *part = &d->parts->at[i];
        const char *first = d->g->nodes[part->nodes[0]].name;
        if (!part->n_in) ig_fatal("'%s' reads constants alone: give it to the key that reads it", first);
        if (part->n_in > PART_TENSORS || part->n_out > PART_TENSORS)
            ig_fatal("the part of %s from '%s' on has %d inputs and %d outputs, at most %d are possible",
                     d->mapping->keys[part->key].name, first, part->n_in, part->n_out, PART_TENSORS);
    }
    if (d->ranks->n_routes > 32768 / IG_MOST_COPIES)
        ig_fatal("%d messages a frame, at most %d are possible", d->ranks->n_routes, 32768 / IG_MOST_COPIES);
}

static struct ig_plan *plan_whole(struct ig_deployment *d)
{
    char err[4096];
    struct ig_plan_options o = d->options;
    o.bands = IG_BANDS_OFF;
    struct ig_plan *p = ig_plan_make(d->g, &o, err, sizeof err);
    if (!p) ig_fatal("%s: %s", d->onnx, err);
    return p;
}

/* A key may be left without work: all its layers became part of other keys', or it is too slow for a share of any. */
static void leave_out_idle(struct ig_deployment *d)
{
    char line[512];
    for (int32_t key = d->mapping->n - 1; key >= 0; key--) {
        int32_t n = 0;
        for (int32_t i = 0; i < d->g->n_nodes; i++) n += d->key_of[i] == key;
        if (n) continue;
        snprintf(line, sizeof line, "no layer is left to %s: it gets no rank", d->mapping->keys[key].name);
        note(d, line);
        ig_mapping_leave_out(d->mapping, key);
        for (int32_t i = 0; i < d->g->n_nodes; i++) d->key_of[i] -= d->key_of[i] > key;
    }
}

static void deploy(struct ig_deployment *d, struct ig_source_options *source, const struct arguments *a)
{
    read_all(d, a);
    source->unsettled = !a->horizontal; /* whose layers are cut, and their weights */
    d->g = d->splits ? ig_deploy_load_unprepared(d->onnx, source) : ig_load_graph(d->onnx, source);
    if (a->spec) {
        ig_input_spec(a->spec, d->g, &d->host_ops);
        d->words.host_ops = &d->host_ops;
    }
    ig_words_fit(&d->words, d->g);
    if (d->n_profiles) ig_graph_settle(d->g); /* they are of a graph with that hash */
    if (!d->splits) ig_deploy_read_profiles(d, d->g);
    if (!d->options.threads && !d->splits) d->options.threads = ig_deploy_threads(d);
    d->key_of = ig_must_alloc((size_t)d->g->n_nodes, sizeof *d->key_of);
    ig_assign_keys(d->g, d->layers, d->mapping, d->key_of, note, d);
    struct ig_plan *like = d->splits ? ig_deploy_split(d, a->horizontal) : plan_whole(d);
    leave_out_idle(d);
    d->parts = ig_parts_make(d->g, d->key_of);
    for (int32_t i = 0; i < d->parts->n; i++) d->parts->at[i].key %= IG_LATE;
    d->ranks = ig_ranks_make(d->g, d->parts, d->mapping->n);
    check_limits(d);
    ig_deploy_plan(d, like);
    ig_plan_free(like);
    ig_deploy_write_parts(d);
    ig_deploy_write_package(d);
}

static void release(struct ig_deployment *d)
{
    for (int32_t i = 0; i < d->parts->n; i++) {
        ig_lowered_free(d->at[i].lowered);
        ig_plan_free(d->at[i].plan);
        ig_deploy_free_gpu(d->at[i].gpu);
        ig_graph_free(d->at[i].graph);
    }
    free(d->at);
    free(d->rank);
    free(d->key_of);
    ig_parts_free(d->parts);
    ig_ranks_free(d->ranks);
    ig_mapping_free(d->mapping);
    if (d->site) ig_site_free(d->site);
    if (d->splits) ig_hsplits_free(d->splits);
    ig_layers_free(d->layers);
    ig_profile_free((struct ig_profile *)(uintptr_t)d->options.profile);
    ig_profile_free(d->alone);
    ig_profile_free(d->on_gpu);
    ig_graph_free(d->g);
}

/* DIR and DIR.d, without a slash at the end. */
static void name_directories(struct ig_deployment *d, const char *dir)
{
    static char package[4000], sources[4096];
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    if (!n || n >= sizeof package) ig_fatal("-o takes the name of a directory");
    snprintf(package, sizeof package, "%.*s", (int)n, dir);
    snprintf(sources, sizeof sources, "%s.d", package);
    d->package = package;
    d->sources = sources;
}

static void add_profile(struct ig_deployment *d, const char *path)
{
    if (d->n_profiles == IG_DEPLOY_PROFILES)
        ig_fatal("--profile: three at most, of cores alone, with others at work, and of a GPU");
    d->profiles[d->n_profiles++] = path;
}

int ig_verb_deploy(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},     {"mapping", 1, 0, 'm'},   {"platform", 1, 0, 'P'},
                                          {"horizontal", 1, 0, 'H'}, {"exact", 0, 0, 'x'}, {"border-first", 0, 0, 'B'}, {"profile", 1, 0, 'p'},  {"threads", 1, 0, 't'},   {"isa", 1, 0, 'i'},
                                          {"max-error", 1, 0, 'E'}, {"labels", 1, 0, 'l'},   {"mean", 1, 0, 'M'},
                                          {"input-spec", 1, 0, 'S'}, {"image", 1, 0, 'I'},
                                          {"std", 1, 0, 's'},      {"output", 1, 0, 'o'},    {"quiet", 0, 0, 'q'},
                                          {"json", 0, 0, 'j'},     IG_SOURCE_OPTIONS,        {0, 0, 0, 0}};
    struct ig_source_options source = {.n_binds = 0};
    struct ig_deployment d = {.words = {.std = {1, 1, 1, 1}},
                              .options = {.target = "host", .isa = ig_host_isa(), .max_error = IG_MAX_ERROR}};
    struct arguments a = {.dir = NULL};
    for (int c; (c = getopt_long(argc, argv, "o:qh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'm': a.mapping = optarg; break;
        case 'P': a.site = optarg; break;
        case 'H': a.horizontal = optarg; break;
        case 'x': d.exact = 1; break;
        case 'B': d.border = IG_BORDER_FIRST; break;
        case 'p': add_profile(&d, optarg); break;
        case 't': d.options.threads = (int32_t)ig_whole_number(optarg, "--threads", 1, IG_MAX_THREADS); break;
        case 'i': d.options.isa = ig_isa_option(optarg); break;
        case 'E': d.options.max_error = ig_number(optarg, "--max-error", 0, 1); break;
        case 'l': ig_labels_option(&d.words, optarg); break;
        case 'M': a.scaled = 1, d.words.n_mean = ig_channels_option(optarg, "--mean", d.words.mean); break;
        case 's': a.scaled = 1, d.words.n_std = ig_channels_option(optarg, "--std", d.words.std); break;
        case 'S': a.spec = optarg; break;
        case 'I': ig_image_option(d.images, &d.n_images, optarg, 1); break;
        case 'o': a.dir = optarg; break;
        case 'q': d.quiet = 1; break;
        case 'j': a.json = 1; break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(help);
        }
    if (optind != argc - 1 || !a.mapping || !a.dir) ig_usage(help);
    d.onnx = argv[optind];
    if (d.options.isa == IG_ISA_CUDA) ig_fatal("--isa cuda: a mapping says which ranks compute on a GPU");
    if (d.exact && !a.horizontal) ig_fatal("--exact is about --horizontal");
    if (d.border && !a.horizontal) ig_fatal("--border-first is about --horizontal");
    if (a.spec && a.scaled) ig_fatal("--mean and --std stand in the input spec, where there is one: mean=..., std=...");
    name_directories(&d, a.dir);
    deploy(&d, &source, &a);
    if (a.json) ig_deploy_manifest(stdout, &d, d.plan_sha256);
    else if (!d.quiet) ig_deploy_summary(stdout, &d);
    release(&d);
    return 0;
}
