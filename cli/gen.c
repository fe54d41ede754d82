#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/estimate.h"
#include "cli/images.h"
#include "gen/emit.h"
#include "gen/stream.h"
#include "graph/draft.h"
#include "kernels_cpu/registry.h"
#include "planner/energy.h"

static const char help[] =
    "ingot gen graph.json plan.json -o DIR\n"
    "ingot gen graph.json plan.json --prefix digits --labels names.txt --mean 127.5 --std 127.5 -o DIR\n"
    "ingot gen graph.json plan.json --gpu gpu_plan.json --image 62,72=DIR/net.fatbin -o DIR\n"
    "ingot gen --check graph.json --input-spec resize=256,crop=224\n\n"
    "Writes <prefix>_plan.c, _api.c, _main.c, _weights.S, _weights.bin and <prefix>.h. Decides nothing.\n"
    "  -o DIR               where to; made if it is not there (default .)\n"
    "  --prefix NAME        C prefix (default: the network's name)\n"
    "  --labels FILE        class names of the first output, one a line\n"
    "  --mean A[,B,C] --std A[,B,C]  a picture's channel becomes (pixel - mean)/std\n"
    "  --member             one of several networks of a program (ingot bundle): _main.c has no main\n"
    "  --input-spec SPEC    how pictures become the first input, and its output an answer: a file, or text such as\n"
    "                       resize=256,crop=224,scale=1/255,mean=0.485,0.456,0.406,std=0.229,0.224,0.225,softmax=yes\n"
    "                       (docs/formats.md)\n"
    "  --energy             --bench measures what a frame costs, where there are sensors (12 KB of code)\n"
    "  --platform NAME      with --energy: a board whose powers say what the plan is predicted to cost\n"
    "  --gpu PLAN           a plan of the ISA cuda for a GPU beside: also _gpu.c, _gpu.cu, _gpu_image.S, _gpu_weights.S\n"
    "                       and _gpu_weights.bin\n"
    "  --image SMS=FILE     where nvcc will put the fatbin that it makes of _gpu.cu for these chips; may be repeated;\n"
    "                       ptxSM=FILE: PTX for drivers that cannot read it, and chips from SM on\n"
    "  --check              only says whether the other options fit the network: no plan is read, nothing is written\n"
    "  --input FILE         with --check: raw input that a bare-metal image of the network is to run\n";

/* The prefix begins every public name, which must not meet the runtime's own. */
static void check_prefix(const char *prefix)
{
    size_t n = strspn(prefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    if (!n || n > 200 || prefix[n] || (prefix[0] >= '0' && prefix[0] <= '9') || !strcmp(prefix, "ig"))
        ig_fatal("--prefix takes a C identifier other than ig, not '%s'", prefix);
}

static int write_bytes(void *to, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        ssize_t done = write(*(int *)to, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

/* Piece by piece past stdio, which would copy them; several threads may, each another file. */
void ig_write_weights(struct ig_lowered *l, const char *path)
{
    static pthread_mutex_t drafts = PTHREAD_MUTEX_INITIALIZER;
    struct ig_draft d;
    char err[4200];
    pthread_mutex_lock(&drafts);
    if (ig_draft_open(&d, path, err, sizeof err)) ig_fatal("%s", err);
    pthread_mutex_unlock(&drafts);
    int fd = fileno(d.f);
    if (ig_stream_weights(l, write_bytes, &fd))
        ig_fatal("%s: cannot write %lld bytes of weights: %s", path, (long long)l->model.weights_bytes, strerror(errno));
    pthread_mutex_lock(&drafts);
    if (ig_draft_close(&d, 1, err, sizeof err)) ig_fatal("%s", err);
    pthread_mutex_unlock(&drafts);
}

/* <dir>/<prefix><suffix> */
static const char *file_of(const struct ig_emit *e, const char *dir, const char *suffix, char path[4096])
{
    if (snprintf(path, 4096, "%s/%s%s", dir, e->prefix, suffix) >= 4096) ig_fatal("%s: name too long", dir);
    return path;
}

static void emit_file(const struct ig_emit *e, const char *dir, const char *suffix,
                      void (*emit)(FILE *, const struct ig_emit *))
{
    char path[4096];
    FILE *f = ig_open_output(file_of(e, dir, suffix, path));
    emit(f, e);
    ig_close_output();
}

/* The GPU's plan and tables; they live as long as the program. Of a plan with stages its stage. */
static struct ig_lowered *read_gpu(struct ig_emit_gpu *gpu, const struct ig_graph *g, const struct ig_lowered *cpu, const char *path,
                                   char hex[65])
{
    char err[4096];
    struct ig_plan *p = ig_plan_read(path, g, err, sizeof err);
    struct ig_gpu_stage_lowered *stage = NULL;
    if (!p) ig_fatal("%s", err);
    if (ig_validate(g, p, 0, err, sizeof err)) ig_fatal("%s: not a valid plan: %s", path, err);
    if (p->n_stages) ig_fatal("%s: a plan for the GPU has no stages of its own", path);
    if (!gpu->n_images) ig_fatal("--gpu needs --image");
    ig_hash_file(path, hex);
    if (cpu->cuts.n) stage = ig_lower_gpu_stages(cpu, p, err, sizeof err);
    else if (cpu->pipe.n_stages) stage = ig_lower_gpu_stage(g, cpu->plan, p, err, sizeof err);
    if (cpu->pipe.n_stages && !stage) ig_fatal("%s: %s", path, err);
    struct ig_lowered *l = stage ? stage->lowered : ig_lower(g, p);
    gpu->stage = stage;
    gpu->lowered = l;
    gpu->plan_sha256 = hex;
    gpu->launches = stage ? stage->launches : ig_lower_gpu(l, err, sizeof err);
    if (!gpu->launches) ig_fatal("%s: %s", path, err);
    if (stage) l = stage->weights;
    gpu->weights = l;
    return l;
}

static void write_gpu(const struct ig_emit *e, struct ig_lowered *l, const char *dir)
{
    char blob[4096], path[4096];
    ig_write_weights(l, file_of(e, dir, "_gpu_weights.bin", blob));
    FILE *f = ig_open_output(file_of(e, dir, "_gpu_weights.S", path));
    ig_emit_gpu_weights(f, e, blob);
    ig_close_output();
    emit_file(e, dir, "_gpu.c", ig_emit_gpu_tables);
    emit_file(e, dir, "_gpu.cu", ig_emit_gpu_kernels);
    emit_file(e, dir, "_gpu_image.S", ig_emit_gpu_images);
}

/* What a frame of p should cost with the powers of that board; name NULL, or powers that it does not have: not known. */
static struct ig_emit_energy predict(const struct ig_plan *p, const char *name)
{
    static struct ig_platform *b; /* its name is the program's */
    struct ig_emit_energy e = {.predicted_mj = -1};
    if (!name) return e;
    b = ig_load_board(name);
    e.predicted_mj = ig_plan_mj(b, p);
    e.platform = b->name;
    if (e.predicted_mj < 0)
        fprintf(stderr, "ingot: platform '%s' lacks powers of the plan's processors: no energy is predicted\n", b->name);
    return e;
}

/* The weights first: their hash stands in the tables. */
static void write_all(const struct ig_emit *e, struct ig_lowered *l, const char *dir)
{
    char blob[4096], path[4096];
    ig_write_weights(l, file_of(e, dir, "_weights.bin", blob));
    FILE *f = ig_open_output(file_of(e, dir, "_weights.S", path));
    ig_emit_weights(f, e, blob);
    ig_close_output();
    emit_file(e, dir, "_plan.c", ig_emit_tables);
    emit_file(e, dir, "_api.c", ig_emit_api);
    emit_file(e, dir, "_main.c", ig_emit_program);
    emit_file(e, dir, ".h", ig_emit_header);
}

struct words { /* what the options say of the network, whatever its plan is */
    const char *spec, *platform, *input;
    int scaled, measures; /* --mean or --std; --energy */
};

enum { BARE_OUTPUTS = 8 }; /* runtime/baremetal/main.c */

static void fit_input(const struct ig_graph *g, const char *path)
{
    struct stat st;
    if (stat(path, &st)) ig_fatal("%s: %s", path, strerror(errno));
    if (g->n_inputs != 1 || g->n_outputs > BARE_OUTPUTS)
        ig_fatal("%s: a bare-metal image has one input and at most %d outputs, the network %d and %d", path, BARE_OUTPUTS, g->n_inputs, g->n_outputs);
    const struct ig_value *in = &g->values[g->inputs[0]];
    if (!S_ISREG(st.st_mode) || st.st_size != ig_bytes(&in->shape))
        ig_fatal("%s: %lld bytes, but %s takes %lld: give its raw elements", path, (long long)st.st_size, in->name, (long long)ig_bytes(&in->shape));
}

static void fit(struct ig_emit *e, const struct ig_graph *g, const struct words *w, struct ig_host_ops *o)
{
    if (w->spec && w->scaled) ig_fatal("--mean and --std stand in the input spec, where there is one: mean=..., std=...");
    if (w->spec) {
        ig_input_spec(w->spec, g, o);
        e->host_ops = o;
    }
    ig_words_fit(e, g);
    if (w->input) fit_input(g, w->input);
    if (w->platform && !w->measures) ig_fatal("--platform is for --energy");
    if (w->platform) free(ig_load_board(w->platform));
    if (!e->prefix) e->prefix = g->name;
    check_prefix(e->prefix);
}

int ig_verb_gen(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"prefix", 1, 0, 'p'}, {"labels", 1, 0, 'l'},
                                          {"mean", 1, 0, 'm'}, {"std", 1, 0, 's'},    {"output", 1, 0, 'o'},
                                          {"gpu", 1, 0, 'g'},  {"image", 1, 0, 'i'},
                                          {"member", 0, 0, 'M'},    {"input-spec", 1, 0, 'S'},
                                          {"energy", 0, 0, 'e'},    {"platform", 1, 0, 'P'}, {"check", 0, 0, 'C'},
                                          {"input", 1, 0, 'I'},
                                          {0, 0, 0, 0}};
    struct ig_emit e = {.std = {1, 1, 1, 1}};
    struct ig_emit_gpu gpu = {.n_images = 0};
    const char *dir = ".", *gpu_plan = NULL;
    struct words w = {NULL, NULL, NULL, 0, 0};
    struct ig_host_ops host_ops;
    struct ig_emit_energy energy;
    int only_check = 0;
    char err[4096], hex[65], gpu_hex[65];
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'o': dir = optarg; break;
        case 'p': e.prefix = optarg; break;
        case 'l': ig_labels_option(&e, optarg); break;
        case 'm': w.scaled = 1, e.n_mean = ig_channels_option(optarg, "--mean", e.mean); break;
        case 's': w.scaled = 1, e.n_std = ig_channels_option(optarg, "--std", e.std); break;
        case 'S': w.spec = optarg; break;
        case 'g': gpu_plan = optarg; break;
        case 'i': ig_image_option(gpu.images, &gpu.n_images, optarg, 0); break;
        case 'M': e.member = 1; break;
        case 'e': w.measures = 1; break;
        case 'P': w.platform = optarg; break;
        case 'C': only_check = 1; break;
        case 'I': w.input = optarg; break;
        default: ig_usage(help);
        }
    if (optind != argc - 2 + only_check) ig_usage(help);
    if (w.input && !only_check) ig_fatal("--input is for --check: configure puts it into the image");
    struct ig_source_options none = {.n_binds = 0};
    struct ig_graph *g = ig_load_graph(argv[optind], &none);
    fit(&e, g, &w, &host_ops);
    if (only_check) {
        ig_graph_free(g);
        return 0;
    }
    struct ig_plan *p = ig_plan_read(argv[optind + 1], g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    if (ig_validate_all(g, p, p->memory_budget, err, sizeof err))
        ig_fatal("%s: not a valid plan: %s", argv[optind + 1], err);
    if (!strcmp(p->isa, ig_isa_name(IG_ISA_CUDA)))
        ig_fatal("%s: a plan for a GPU alone: give it with --gpu, beside the plan for the CPU", argv[optind + 1]);
    if (!gpu_plan && ig_gpu_stage_of(p) >= 0) ig_fatal("%s: a stage is the GPU's: give --gpu", argv[optind + 1]);
    ig_hash_file(argv[optind + 1], hex);
    struct ig_lowered *l = ig_lower(g, p);
    if (w.measures) {
        energy = predict(p, w.platform);
        e.energy = &energy;
    }
    if (e.member && (gpu_plan || l->pipe.n_stages)) ig_fatal("--member: neither a GPU nor stages yet");
    e.lowered = l;
    e.plan_sha256 = hex;
    struct ig_lowered *of_gpu = gpu_plan ? read_gpu(&gpu, g, l, gpu_plan, gpu_hex) : NULL;
    ig_make_folder(dir);
    if (of_gpu) e.gpu = &gpu;
    if (of_gpu) write_gpu(&e, of_gpu, dir);
    write_all(&e, l, dir);
    ig_folders_keep();
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
    return 0;
}
