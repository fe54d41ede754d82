/* What the verbs of `ingot` share: errors, options, loading a network. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <stdio.h>

#include "graph/graph.h"
#include "planner/host_ops.h"
#include "planner/plan.h"

typedef int ig_verb_fn(int argc, char **argv); /* exit status: 0, 1, 2 (usage) */

ig_verb_fn ig_verb_graph, ig_verb_inspect, ig_verb_simulate, ig_verb_profile, ig_verb_plan, ig_verb_gen, ig_verb_verify,
    ig_verb_zoo, ig_verb_append, ig_verb_kernels, ig_verb_report, ig_verb_calibrate, ig_verb_share, ig_verb_pipeline, ig_verb_power,
    ig_verb_bundle, ig_verb_measure, ig_verb_deploy, ig_verb_trial;

/* Prints "ingot: <line>" on stderr and exits with 1. */
_Noreturn void ig_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints what the verb's help begins with, up to an empty line, on stderr and exits with 2. */
_Noreturn void ig_usage(const char *help);

/* A number within [low, high], or a usage error naming the option. */
double ig_number(const char *text, const char *option, double low, double high);
/* The same without a fraction, up to 2^53. */
int64_t ig_whole_number(const char *text, const char *option, int64_t low, int64_t high);
/* "8MB", "512KiB", "1000": bytes. */
int64_t ig_size_option(const char *text, const char *option);
/* What makes a word of n things: "s", or nothing of one. */
const char *ig_plural(int64_t n);
/* "1,234,567" */
const char *ig_commas(int64_t n, char text[32]);

/*
 * Says on stderr how far something long is: nothing in the first second; on a terminal one line that is
 * written over, in a log a line every ten seconds. The last call has done == all.
 */
void ig_progress(const char *what, int done, int all);

enum { IG_MOST_NAMES = 64 }; /* of --input-shape and of --outputs */

/* Of --precision=int8: what ranges are measured on; cli/quantise.h. */
struct ig_quantise_options {
    const char *samples; /* a folder of inputs, as the program takes them; NULL: not said, and only ingot graph asks */
    float mean[4], std[4]; /* of pictures */
    int32_t n_mean, n_std; /* numbers that were said; 0: none */
    const char *spec;    /* of pictures of any size, as of --input-spec; NULL: none */
    char **files;        /* of that folder, n_files */
    int32_t n_files;
    void (*run)(struct ig_graph *g, const char *path, const struct ig_quantise_options *o); /* ig_quantise_graph, which boards lack */
};

/* Options that say which network: --input-shape, --outputs, --precision, --detach; and --depfile. */
struct ig_source_options {
    struct ig_bind binds[IG_MOST_NAMES];
    int32_t n_binds;
    const char *outputs[IG_MOST_NAMES];
    int32_t n_outputs;
    int half; /* weights and tensors between layers are stored as f16 */
    int int8; /* they are bytes */
    struct ig_quantise_options quantise;
    int unsettled; /* what takes time is there later: as of struct ig_import_options */
    int detach; /* first pieces of dense blocks' concatenations are copied into them */
    const char *depfile; /* where the files that the network is read from are to be told, or NULL */
};
enum { IG_OPTION_SHAPE = 1000, IG_OPTION_OUTPUTS, IG_OPTION_PRECISION, IG_OPTION_DETACH, IG_OPTION_DEPFILE };
#define IG_SOURCE_OPTIONS                                   \
    {"input-shape", required_argument, 0, IG_OPTION_SHAPE}, \
    {"precision", required_argument, 0, IG_OPTION_PRECISION}, \
    {"detach", no_argument, 0, IG_OPTION_DETACH},           \
    {"depfile", required_argument, 0, IG_OPTION_DEPFILE},   \
    {                                                       \
        "outputs", required_argument, 0, IG_OPTION_OUTPUTS  \
    }
#define IG_SOURCE_HELP                                                          \
    "\nWhere it reads an .onnx file:\n"                                         \
    "  --input-shape NAME=DIMS   an input's shape, open or another in the file, e.g. data=1x3x224x224\n" \
    "  --outputs A,B             cut the network at these tensors; of a name \\, is a comma, \\\\ a backslash\n" \
    "  --precision single|half|int8\n" \
    "                            half: weights and tensors between layers take 16 bits, arithmetic stays 32;\n" \
    "                            int8: they take 8, and arithmetic is of integers; ingot graph makes such a graph.json\n" \
    "  --detach                  for least memory: copy the first piece of a dense block's concatenation into it\n" \
    "  --depfile FILE            write there, as make and ninja read it, which files the network was read from\n"
/* Takes one of the above; 1 if it was one. `argument` is kept and changed. */
int ig_source_option(struct ig_source_options *o, int option, char *argument);
/* The same options as ./configure takes them, each behind a blank. */
void ig_put_source(FILE *f, const struct ig_source_options *o);
/* What the profiler says of itself: `usage` are its own lines, `gpu` those on --gpu, `source` options of what else than a graph.json it reads. */
#define IG_PROFILE_HELP(usage, gpu, source) \
    usage "\n" \
    "Times every legal kernel variant of every layer on this machine, alone and in order; then\n" \
    "chains of layers run by rows (bands), against the same layers one after the other.\n" \
    "  -o FILE        where to (default profile.json; - is stdout)\n" \
    "  --threads N    threads to time with (default: all cores)\n" \
    "  --beside LIST  cores, as in 1,2, on which the same network runs meanwhile: times as they are in a\n" \
    "                 pipeline, whose stages share caches and memory\n" \
    "  --stages LIST  the stages of a pipeline, as of ingot plan: so on the cores of all but its first, as far as this\n" \
    "                 process may use them\n" \
    "  --fronts       times the bands of the plans between least memory and least time, too: for plans under a\n" \
    "                 memory budget\n" \
    "  --seconds S    budget of the whole run (default 10); exceeded only to time each variant once\n" \
    "  --isa NAME     host (default), ref, avx2, avxvnni, avx512, vnni, amx, neon, fp16, dotprod\n" \
    gpu \
    "  -q             no progress, no summary\n" source
extern const char ig_profile_help[];
/* The GPU kernels that the profiler carries, as modules, NULL behind them; NULL: --gpu must name a file. */
extern const void *const *const ig_profile_modules;
/*
 * A network ready to plan: an .onnx file (imported, passes run, views prepared) or a graph.json. "-" is an
 * .onnx file on stdin. Fatal on error.
 */
struct ig_graph *ig_load_graph(const char *path, const struct ig_source_options *o);
/* The same, only imported; an .onnx file or "-". */
struct ig_graph *ig_import_graph(const char *path, const struct ig_source_options *o);
/* The passes and view preparation on an imported graph, of half precision or with pieces detached if that is wanted.
 * Fatal on error. */
void ig_compile_graph(struct ig_graph *g, const char *path, int half, int detach);
/* Its two halves: the passes; views and order, the last changes. */
void ig_fold_graph(struct ig_graph *g, const char *path, int half);
void ig_finish_graph(struct ig_graph *g, const char *path, int detach);
/*
 * cli/split.c: the network of an ONNX file with layers in parts, as of "fc6=4,conv1=2" or "auto", so that a pipeline can
 * be cut inside them. Fatal on error.
 */
struct ig_graph *ig_load_split(const char *path, const struct ig_source_options *o, const char *layers);
/* 1 if tensors or weights of g are stored as f16. */
int ig_is_half(const struct ig_graph *g);
/* 1 if the file has weights of 16 bits, which g stores in 32. */
int ig_is_widened(const struct ig_graph *g);
/* --input-spec=FILE or TEXT for that network. Fatal where it is wrong, or does not fit the network. */
void ig_input_spec(const char *argument, const struct ig_graph *g, struct ig_host_ops *o);
/* Hex digest of a file's bytes; fatal if it cannot be read. */
void ig_hash_file(const char *path, char hex[65]);
/* Hex digest of the file that g was loaded from; of an ONNX file with those that its external data is in. */
void ig_hash_graph(const struct ig_graph *g, const char *path, char hex[65]);
/* Was the profile taken of g, which is that of the file `path`: of this file, or of the graph.json that it becomes? */
int ig_is_profiled(const struct ig_profile *p, const struct ig_graph *g, const char *path);
/*
 * A file of the source tree or of the build, named as from the directory of the build: as it is where it is there, else from
 * that directory, which this program's own file, out/ingot, tells. to[4096] may hold the answer.
 */
const char *ig_built(const char *path, char *to);
/*
 * Opens `path` ("-": stdout) for writing through a draft (graph/draft.h), which ig_close_output ends. One at a time.
 * Fatal on error.
 */
FILE *ig_open_output(const char *path);
void ig_close_output(void);
/* A folder for outputs, made unless it is there; until ig_folders_keep (graph/draft.h) it goes again if the program ends. Fatal on error. */
void ig_make_folder(const char *path);
/* Before work that takes long: fatal if a file could not be written there. */
void ig_check_output(const char *path);
/* The ISA of that name, or of this machine for "host"; usage error otherwise. */
int ig_isa_option(const char *text);
/* The objective of that name (enum ig_objective); fatal otherwise. */
int32_t ig_objective_option(const char *text);
/* words.c: --labels FILE; "A,B,C" of --mean or --std, and how many there are; whether they fit the network. Fatal on error. */
struct ig_emit;
struct ig_lowered;
void ig_labels_option(struct ig_emit *e, const char *path);
int32_t ig_channels_option(const char *text, const char *option, float v[4]);
void ig_words_fit(const struct ig_emit *e, const struct ig_graph *g);
/* gen.c: weights packed straight into a file. Fatal on error. */
void ig_write_weights(struct ig_lowered *l, const char *path);
/* The best ISA that runs here. */
int ig_host_isa(void);
/* --gpu FATBIN: the file's bytes, for free(). Fatal on error. */
void *ig_read_fatbin(const char *path);
/* Threads to take where none are asked for: the cores of this machine that this process may use. */
int32_t ig_cores(void);

/* cli/passes.c: how inputs and outputs of a plan for the GPU pass, all of which is its, on that board. Fatal on error. */
void ig_passes_of_board(const struct ig_graph *g, struct ig_plan *p, const char *board);

#endif
