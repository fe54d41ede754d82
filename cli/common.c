#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "graph/draft.h"
#include "graph/sha256.h"
#include "kernels_cpu/eval.h"
#include "kernels_cpu/registry.h"
#include "planner/order.h"
#include "runtime/run.h"

void ig_fatal(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("ingot: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    ig_drafts_remove();
    exit(1);
}

void ig_usage(const char *help)
{
    const char *rest = strstr(help, "\n\n");
    int synopsis = rest ? (int)(rest - help) : (int)strlen(help);
    fprintf(stderr, "ingot: usage (--help says more):\n%.*s\n", synopsis, help);
    exit(2);
}

static int parsed(const char *text, double low, double high, double *v)
{
    char *end;
    errno = 0;
    *v = strtod(text, &end);
    return !errno && end != text && !*end && *v >= low && *v <= high;
}

double ig_number(const char *text, const char *option, double low, double high)
{
    double v;
    if (parsed(text, low, high, &v)) return v;
    fprintf(stderr, "ingot: %s takes a number from %g to %g, not '%s'\n", option, low, high, text);
    exit(2);
}

int64_t ig_whole_number(const char *text, const char *option, int64_t low, int64_t high)
{
    double v;
    if (parsed(text, (double)low, (double)high, &v) && v == (double)(int64_t)v) return (int64_t)v;
    fprintf(stderr, "ingot: %s takes a whole number from %lld to %lld, not '%s'\n", option, (long long)low,
            (long long)high, text);
    exit(2);
}

int64_t ig_size_option(const char *text, const char *option)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1},     {"B", 1},      {"KB", 1e3},      {"MB", 1e6},
                 {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824.}};
    char *end;
    double v = strtod(text, &end);
    for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name) && v * units[i].factor >= 1 && v * units[i].factor < 1e15)
            return (int64_t)(v * units[i].factor);
    fprintf(stderr, "ingot: %s takes a size such as 512KiB or 8MB, not '%s'\n", option, text);
    exit(2);
}

const char *ig_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

const char *ig_commas(int64_t n, char text[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0 && digits[i - 1] != '-') text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

static void parse_shape(struct ig_source_options *o, char *argument)
{
    struct ig_bind *b = &o->binds[o->n_binds];
    char *equals = strrchr(argument, '=');
    if (o->n_binds == IG_MOST_NAMES) ig_fatal("--input-shape: given more than %d times", IG_MOST_NAMES);
    if (!equals) ig_fatal("--input-shape takes NAME=1x3x224x224, not '%s'", argument);
    *equals = 0;
    for (int32_t i = 0; i < o->n_binds; i++)
        if (!strcmp(o->binds[i].name, argument)) ig_fatal("--input-shape: '%s' is given twice", argument);
    b->name = argument;
    b->data = NULL;
    memset(&b->shape, 0, sizeof b->shape);
    char *p = equals;
    do {
        const char *digits = p + 1;
        long d = strtol(digits, &p, 10);
        if (*digits < '1' || *digits > '9' || d > 1 << 30 || b->shape.rank == IG_MAX_RANK || (*p && *p != 'x'))
            ig_fatal("--input-shape %s: '%s' is no shape such as 1x3x224x224, of up to %d sizes from 1 to %d", argument, equals + 1,
                     IG_MAX_RANK, 1 << 30);
        b->shape.dims[b->shape.rank++] = (int32_t)d;
    } while (*p);
    o->n_binds++;
}

/* The first name of "a,b,c", in its place, and what is behind its comma or NULL. "\," is a comma of a name, "\\" a backslash. */
static char *next_name(char *list, char **rest)
{
    char *to = list, *at = list;
    for (; *at && *at != ','; at++) {
        if (*at == '\\' && (at[1] == ',' || at[1] == '\\')) at++;
        *to++ = *at;
    }
    *rest = *at ? at + 1 : NULL;
    *to = 0;
    return list;
}

static void take_outputs(struct ig_source_options *o, char *list)
{
    if (!*list) ig_fatal("--outputs names no tensor");
    while (list) {
        const char *name = next_name(list, &list);
        if (!*name) continue;
        if (o->n_outputs == IG_MOST_NAMES) ig_fatal("--outputs: more than %d tensors", IG_MOST_NAMES);
        o->outputs[o->n_outputs++] = name;
    }
}

/* A name within single quotes of a shell; marked: a comma and a backslash have one before them. */
static void put_name(FILE *f, const char *name, int marked)
{
    for (; *name; name++) {
        if (marked && (*name == ',' || *name == '\\')) fputc('\\', f);
        fputs(*name == '\'' ? "'\\''" : (const char[]){*name, 0}, f);
    }
}

void ig_put_source(FILE *f, const struct ig_source_options *o)
{
    for (int32_t i = 0; i < o->n_binds; i++) {
        const struct ig_shape *s = &o->binds[i].shape;
        fputs(" --input-shape='", f);
        put_name(f, o->binds[i].name, 0);
        for (int32_t k = 0; k < s->rank; k++) fprintf(f, "%c%d", k ? 'x' : '=', s->dims[k]);
        fputc('\'', f);
    }
    for (int32_t i = 0; i < o->n_outputs; i++) {
        fputs(i ? "," : " --outputs='", f);
        put_name(f, o->outputs[i], 1);
    }
    if (o->n_outputs) fputc('\'', f);
    if (o->half) fputs(" --precision=half", f);
}

int ig_source_option(struct ig_source_options *o, int option, char *argument)
{
    if (option == IG_OPTION_SHAPE) {
        parse_shape(o, argument);
        return 1;
    }
    if (option == IG_OPTION_PRECISION) {
        o->half = !strcmp(argument, "half");
        o->int8 = !strcmp(argument, "int8");
        if (!o->half && !o->int8 && strcmp(argument, "single")) ig_fatal("--precision=%s: single, half or int8", argument);
        return 1;
    }
    if (option == IG_OPTION_DETACH) return o->detach = 1;
    if (option == IG_OPTION_DEPFILE) {
        o->depfile = argument;
        return 1;
    }
    if (option != IG_OPTION_OUTPUTS) return 0;
    take_outputs(o, argument);
    return 1;
}

void ig_fold_graph(struct ig_graph *g, const char *path, int half)
{
    char err[4096];
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) ig_fatal("%s: %s", path, err);
    if (half) ig_pass_half(g);
}

void ig_finish_graph(struct ig_graph *g, const char *path, int detach)
{
    char err[4096];
    ig_prepare_views(g);
    if (detach) ig_detach_pieces(g);
    ig_order_nodes(g, &(struct ig_order_gain){0});
    ig_count_macs(g);
    if (ig_graph_check(g, err, sizeof err)) ig_fatal("%s: internal error: %s", path, err);
}

void ig_compile_graph(struct ig_graph *g, const char *path, int half, int detach)
{
    ig_fold_graph(g, path, half);
    ig_finish_graph(g, path, detach);
}

static struct ig_graph *import_stdin(const struct ig_import_options *options, char *err, size_t err_bytes)
{
    char *data = NULL, buffer[65536];
    size_t bytes = 0;
    FILE *f = open_memstream(&data, &bytes);
    if (!f) ig_fatal("out of memory");
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, stdin)) > 0;) fwrite(buffer, 1, n, f);
    if (ferror(stdin)) ig_fatal("stdin: %s", strerror(errno));
    if (fclose(f)) ig_fatal("out of memory");
    if (!bytes) ig_fatal("stdin: it is empty");
    struct ig_graph *g = ig_import_bytes("stdin.onnx", data, bytes, options, err, err_bytes);
    free(data);
    return g;
}

int ig_is_half(const struct ig_graph *g)
{
    for (int32_t v = 0; v < g->n_values; v++)
        if (g->values[v].shape.type == IG_F16 && !ig_is_input(g, v) && !ig_is_output(g, v)) return 1;
    return 0;
}

static int is_json(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".json");
}

static int is_quantised(const struct ig_graph *g)
{
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == IG_QLINEAR_CONV) return 1;
    return 0;
}

int ig_is_widened(const struct ig_graph *g)
{
    enum { FEW_HALVES = 256 }; /* constants, not weights */
    return g->onnx_halves > FEW_HALVES && !ig_is_half(g) && !is_quantised(g);
}

struct ig_graph *ig_load_graph(const char *path, const struct ig_source_options *o)
{
    static char err[IG_ERROR_BYTES];
    struct ig_graph *g;
    if (is_json(path)) {
        g = ig_graph_read(path, err, sizeof err);
        if (!g) ig_fatal("%s", err);
        if (o->n_binds || o->n_outputs || o->detach)
            ig_fatal("%s: imported already: --input-shape, --outputs and --detach are of ingot graph, which reads the ONNX file",
                     path);
        if (o->half && !ig_is_half(g)) ig_fatal("%s: of single precision: ingot graph --precision=half makes the other", path);
        if (o->int8 && !is_quantised(g)) ig_fatal("%s: of floats: ingot graph --precision=int8 makes the other", path);
        return g;
    }
    g = ig_import_graph(path, o);
    g->own_constants = 1;
    ig_compile_graph(g, path, o->half, o->detach);
    g->own_constants = 0;
    return g;
}

static void put_path(FILE *f, const char *path)
{
    for (fputs(" ", f); *path; path++) {
        if (*path == '$') fputc('$', f);
        if (*path == ' ' || *path == '#' || *path == '\\') fputc('\\', f);
        fputc(*path, f);
    }
}

/* What a build tool must know of the files that a network was read from, in make's words. */
static void write_depfile(const struct ig_source_options *o, const char *path, const struct ig_graph *g)
{
    FILE *f = ig_open_output(o->depfile);
    fprintf(f, "network:");
    if (strcmp(path, "-")) put_path(f, path);
    for (int32_t i = 0; i < g->n_data_files; i++) put_path(f, g->data_files[i].path);
    if (o->quantise.n_files) put_path(f, o->quantise.samples); /* which changes where a file comes or goes */
    for (int32_t i = 0; i < o->quantise.n_files; i++) put_path(f, o->quantise.files[i]);
    fputc('\n', f);
    ig_close_output();
}

struct ig_graph *ig_import_graph(const char *path, const struct ig_source_options *o)
{
    static char err[IG_ERROR_BYTES];
    struct ig_graph *g;
    if (o->int8 && !o->quantise.run) ig_fatal("%s: --precision=int8 is what ingot graph makes, with --samples=FOLDER; give its graph.json", path);
    const struct ig_import_options options = {.binds = o->binds,
                                              .n_binds = o->n_binds,
                                              .outputs = o->n_outputs ? o->outputs : NULL,
                                              .n_outputs = o->n_outputs,
                                              .eval = ig_ref_eval,
                                              .unsettled = o->unsettled && !o->half && !o->int8};
    if (strcmp(path, "-")) g = ig_import_file(path, &options, err, sizeof err);
    else g = import_stdin(&options, err, sizeof err);
    if (!g) ig_fatal("%s", err);
    if (o->depfile) write_depfile(o, path, g);
    if (o->int8) o->quantise.run(g, path, &o->quantise);
    return g;
}

void ig_hash_graph(const struct ig_graph *g, const char *path, char hex[65])
{
    if (is_json(path)) ig_hash_file(path, hex);
    else snprintf(hex, 65, "%s", g->source_sha256);
}

int ig_is_profiled(const struct ig_profile *p, const struct ig_graph *g, const char *path)
{
    char hex[65];
    ig_hash_graph(g, path, hex);
    if (!strcmp(p->graph_sha256, hex)) return 1;
    ig_graph_hash(g, hex);
    return !strcmp(p->graph_sha256, hex);
}

void ig_hash_file(const char *path, char hex[65])
{
    if (ig_sha256_file(path, hex)) ig_fatal("%s: %s", path, strerror(errno));
}

const char *ig_built(const char *path, char *to)
{
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (path[0] == '/' || !access(path, R_OK) || n < 0) return path;
    own[n] = 0;
    for (int up = 0; up < 2 && strrchr(own, '/'); up++) *strrchr(own, '/') = 0; /* /ingot, /out */
    int length = snprintf(to, 4096, "%s/%s", own, path);
    return length < 4096 && !access(to, R_OK) ? to : path;
}

static struct ig_draft output; /* a verb writes one file at a time */

FILE *ig_open_output(const char *path)
{
    char err[4200];
    if (ig_draft_open(&output, path, err, sizeof err)) ig_fatal("%s", err);
    return output.f;
}

void ig_make_folder(const char *path)
{
    if (ig_folder_make(path)) ig_fatal("%s: %s", path, strerror(errno));
}

void ig_check_output(const char *path)
{
    struct ig_draft d;
    struct stat st;
    char err[4200];
    int taken = !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode); /* a pipe: who reads it would see its end */
    if (taken || !strcmp(path, "-")) return;
    if (ig_draft_open(&d, path, err, sizeof err)) ig_fatal("%s", err);
    ig_draft_close(&d, 0, err, sizeof err);
}

void ig_close_output(void)
{
    char err[4200];
    if (ig_draft_close(&output, 1, err, sizeof err)) ig_fatal("%s", err);
}

int32_t ig_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > IG_MAX_THREADS ? IG_MAX_THREADS : n;
}

void *ig_read_fatbin(const char *path)
{
    FILE *f = fopen(path, "rb");
    long bytes = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    char *data = bytes > 0 ? calloc((size_t)bytes + 1, 1) : NULL;
    if (data) rewind(f);
    if (!data || fread(data, 1, (size_t)bytes, f) != (size_t)bytes) ig_fatal("%s: cannot read it", path);
    fclose(f);
    return data;
}

int ig_host_isa(void)
{
    return ig_isa_fastest();
}

int32_t ig_objective_option(const char *text)
{
    static const char *const names[] = {[IG_OBJECTIVE_LATENCY] = "latency", [IG_OBJECTIVE_MEMORY] = "memory",
                                        [IG_OBJECTIVE_THROUGHPUT] = "throughput", [IG_OBJECTIVE_ENERGY] = "energy"};
    for (int32_t i = 0; i < (int32_t)(sizeof names / sizeof *names); i++)
        if (!strcmp(text, names[i])) return i;
    ig_fatal("--objective=%s: latency, throughput, energy or memory", text);
}

int ig_isa_option(const char *text)
{
    if (!strcmp(text, "host")) return ig_host_isa();
    int isa = ig_isa_by_name(text);
    if (isa >= 0) return isa;
    fprintf(stderr, "ingot: --isa takes host, ref, avx2, avxvnni, avx512, vnni, amx, neon, fp16, dotprod or cuda, not '%s'\n", text);
    exit(2);
}
