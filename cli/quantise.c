/* --precision=int8: the ranges of a network's tensors over samples of its input, by which graph/passes/quantise.c makes bytes of them. */
#include "cli/quantise.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bed.h"
#include "gen/emit.h"
#include "gen/lower.h"
#include "kernels_cpu/eval.h"
#include "runtime/host/spec.h"

enum { BINS = 2048, STEPS = 64 /* ranges that are tried, in each direction */, PASSES = 3 /* over the samples */ };

struct tensor {
    float low, high;       /* its range, with 0 */
    double *bins;          /* elements by size, without those that are 0, which bytes hold exactly */
};

struct trial {             /* the float network at work, its tensors outputs of it */
    struct ig_graph *g;
    struct ig_plan *plan;
    struct ig_lowered *lowered;
    struct ig_bed bed;
    struct ig_program program;
    struct ig_spec spec;   /* of o->spec */
    struct ig_session session;
    void **inputs, **outputs;
    int32_t *output;       /* of each tensor; -1: it is the input */
};

/* --- samples --- */

static int is_sample(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static char *path_in(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);
    if (!path) ig_fatal("out of memory");
    snprintf(path, n, "%s/%s", folder, name);
    return path;
}

void ig_take_samples(struct ig_quantise_options *o)
{
    const char *folder = o->samples;
    struct dirent **names;
    int found = scandir(folder, &names, is_sample, alphasort);
    if (found < 0) ig_fatal("--samples=%s: %s", folder, strerror(errno));
    o->files = calloc((size_t)found + 1, sizeof *o->files);
    if (!o->files) ig_fatal("out of memory");
    for (int i = 0; i < found; i++) {
        struct stat s;
        char *path = path_in(folder, names[i]->d_name);
        if (!stat(path, &s) && S_ISREG(s.st_mode)) o->files[o->n_files++] = path;
        else free(path);
        free(names[i]);
    }
    free(names);
    if (!o->n_files) ig_fatal("--samples=%s: no files there; inputs as the program takes them are wanted: .npy, .pgm, .ppm, raw", folder);
    o->run = ig_quantise_graph;
}

/* --- the network at work --- */

static int32_t as_output(struct ig_graph *g, int32_t v)
{
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == v) return i;
    ig_add_output(g, v);
    return g->n_outputs - 1;
}

/* What a program has of an input spec, as far as it reads pictures. */
static void take_spec(struct trial *t, const char *spec, const struct ig_graph *g)
{
    struct ig_host_ops o = {0};
    ig_input_spec(spec, g, &o);
    t->spec = (struct ig_spec){.text = "", .picture = {.c = o.c, .h = o.h, .w = o.w, .channels_last = o.channels_last, .type = o.type,
                               .short_side = o.short_side, .width = o.width, .height = o.height, .bgr = o.bgr, .scale = o.scale},
                               .frame_w = o.frame_w, .frame_h = o.frame_h, .frame_c = o.frame_c, .fit = ig_picture_fit, .load = ig_spec_load};
    memcpy(t->spec.picture.mean, o.mean, sizeof o.mean);
    memcpy(t->spec.picture.std, o.std, sizeof o.std);
    t->spec.picture.columns = calloc((size_t)o.w, sizeof *t->spec.picture.columns);
    if (!t->spec.picture.columns) ig_fatal("out of memory");
    t->program.spec = &t->spec;
}

static void start(struct trial *t, const struct ig_graph *g, const char *path, const struct ig_quantised_tensor *tensors, int32_t n,
                  const struct ig_quantise_options *o)
{
    const int32_t threads = ig_cores();
    const struct ig_plan_options options = {.target = "host", .isa = ig_host_isa(), .threads = threads, .bands = IG_BANDS_OFF};
    char err[900];
    t->g = ig_graph_clone(g);
    t->output = calloc((size_t)n + 1, sizeof *t->output);
    if (!t->output) ig_fatal("out of memory");
    for (int32_t i = 0; i < n; i++) t->output[i] = ig_is_input(g, tensors[i].value) ? -1 : as_output(t->g, tensors[i].value);
    ig_compile_graph(t->g, path, 0, 0);
    t->plan = ig_plan_make(t->g, &options, err, sizeof err);
    if (!t->plan) ig_fatal("%s: %s", path, err);
    t->lowered = ig_lower(t->g, t->plan);
    const struct ig_model *m = &t->lowered->model;
    if (ig_bed_make(&t->bed, t->lowered, threads, err, sizeof err)) ig_fatal("%s: %s", path, err);
    t->inputs = ig_io_buffers(m->inputs, 1);
    t->outputs = ig_io_buffers(m->outputs, m->n_outputs);
    if (!t->inputs || !t->outputs) ig_fatal("out of memory");
    t->program = (struct ig_program){.model = m};
    ig_name_program("ingot", "ingot");
    memcpy(t->program.mean, o->mean, sizeof o->mean);
    memcpy(t->program.std, o->std, sizeof o->std);
    if (o->spec) take_spec(t, o->spec, g);
    t->session = (struct ig_session){.program = &t->program, .inputs = {t->inputs[0]}};
}

static void stop(struct trial *t)
{
    ig_bed_free(&t->bed);
    ig_io_buffers_free(t->outputs, t->lowered->model.outputs, t->lowered->model.n_outputs);
    ig_io_buffers_free(t->inputs, t->lowered->model.inputs, 1);
    free(t->spec.picture.columns);
    free(t->output);
    ig_lowered_free(t->lowered);
    ig_plan_free(t->plan);
    ig_graph_free(t->g);
}

static void run(struct trial *t, const char *file)
{
    ig_load_input(&t->session, 0, file);
    int status = ig_ctx_run(&t->bed.ctx, (const void *const *)t->session.inputs, t->outputs);
    if (status) ig_fatal("%s: %s", file, ig_status_text(status));
}

/* --- ranges --- */

static const float *elements(const struct trial *t, const struct ig_graph *g, const struct ig_quantised_tensor *q, int32_t i, int64_t *n)
{
    *n = ig_count(&g->values[q->value].shape);
    return t->output[i] < 0 ? t->session.inputs[0] : t->outputs[t->output[i]];
}

static void widen(struct tensor *r, const float *x, int64_t n, const struct ig_graph *g, int32_t v, const char *file)
{
    const int32_t node = g->values[v].producer;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            ig_fatal("%s: node '%s': its output is infinite or no number there: another sample, or a network that --outputs cuts before it",
                     file, node < 0 ? "input" : g->nodes[node].name);
        r->low = fminf(r->low, x[i]);
        r->high = fmaxf(r->high, x[i]);
    }
}

static void count(struct tensor *r, const float *x, int64_t n)
{
    const float width = (r->high - r->low) / BINS;
    for (int64_t i = 0; i < n && width > 0; i++) {
        if (!(x[i] < 0) && !(x[i] > 0)) continue;
        int32_t at = (int32_t)((x[i] - r->low) / width);
        r->bins[at < BINS ? at : BINS - 1]++;
    }
}

/*
 * What is lost where low..high are the bytes' ends: squares of the errors of rounding and, with more weight, of clipping, which are all in
 * one direction: they do not average out in the next layer's sums.
 */
static const double clipping = 16;

static double loss(const struct tensor *r, float low, float high)
{
    const double step = (high - low) / 255, width = (r->high - r->low) / BINS;
    double sum = 0;
    for (int32_t i = 0; i < BINS; i++) {
        double x = r->low + (i + 0.5) * width, beyond = x < low ? low - x : x > high ? x - high : 0;
        sum += r->bins[i] * (clipping * beyond * beyond + step * step / 12);
    }
    return sum;
}

/* The ends of least loss, the upper one first. */
static void choose(const struct tensor *r, float *low, float *high)
{
    *low = r->low, *high = r->high;
    double least = loss(r, *low, *high);
    for (int k = 0; k < 2; k++) {
        const float all = k ? r->low : r->high;
        for (int32_t i = 1; i < STEPS; i++) {
            const float end = all * (float)(STEPS - i) / STEPS;
            const double l = k ? loss(r, end, *high) : loss(r, *low, end);
            if (l >= least) continue;
            least = l;
            *(k ? low : high) = end;
        }
    }
}

static void measure(struct ig_graph *g, struct trial *t, struct ig_quantised_tensor *q, int32_t n, char *const *files, int32_t n_files)
{
    struct tensor *all = calloc((size_t)n, sizeof *all);
    if (!all) ig_fatal("out of memory");
    for (int pass = 0; pass < 2; pass++)
        for (int32_t f = 0; f < n_files; f++) {
            run(t, files[f]);
            for (int32_t i = 0; i < n; i++) {
                int64_t count_of;
                const float *x = elements(t, g, &q[i], i, &count_of);
                struct tensor *r = &all[i];
                if (!r->bins && !(r->bins = calloc(BINS, sizeof *r->bins))) ig_fatal("out of memory");
                if (pass) count(r, x, count_of);
                else widen(r, x, count_of, g, q[i].value, files[f]);
            }
            ig_progress("quantise: sample", pass * n_files + f + 1, PASSES * n_files);
        }
    for (int32_t i = 0; i < n; i++) choose(&all[i], &q[i].low, &q[i].high);
    for (int32_t i = 0; i < n; i++) free(all[i].bins);
    free(all);
}

/* --- what it costs --- */

struct difference {
    double off, all;       /* squares of what results differ by, of the float network's */
    int32_t compared;      /* outputs of floats, of all samples */
    int32_t same;          /* samples whose first output has its largest element where it was */
};

static int64_t largest(const float *x, int64_t n)
{
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[at]) at = i;
    return at;
}

/* The first `outputs` of both, whose inputs were the same. */
static void compare(const struct trial *a, const struct trial *b, int32_t outputs, struct difference *d)
{
    for (int32_t k = 0; k < outputs; k++) {
        const struct ig_shape *shape = a->lowered->model.outputs[k].shape;
        const float *x = a->outputs[k], *y = b->outputs[k];
        if (shape->type != IG_F32) continue;
        d->compared++;
        for (int64_t i = 0; i < ig_count(shape); i++) {
            d->off += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
            d->all += (double)x[i] * x[i];
        }
        if (!k) d->same += largest(x, ig_count(shape)) == largest(y, ig_count(shape));
    }
}

static void report(struct trial *floats, struct trial *bytes, int32_t outputs, const char *path, char *const *files, int32_t n_files)
{
    struct difference d = {0};
    for (int32_t f = 0; f < n_files; f++) {
        run(floats, files[f]);
        run(bytes, files[f]);
        compare(floats, bytes, outputs, &d);
        ig_progress("quantise: sample", (PASSES - 1) * n_files + f + 1, PASSES * n_files);
    }
    fprintf(stderr, "ingot: %s in 8 bits by %d sample%s", path, n_files, n_files > 1 ? "s" : "");
    if (d.compared) fprintf(stderr, ": results are off by %.2g %% (root mean square)", d.all > 0 ? 100 * sqrt(d.off / d.all) : 0);
    if (floats->lowered->model.outputs[0].shape->type == IG_F32 && ig_count(floats->lowered->model.outputs[0].shape) > 1)
        fprintf(stderr, "; the largest one stays the same in %d", d.same);
    fputc('\n', stderr);
}

/* --- all --- */

static void check(const struct ig_graph *g, const char *path)
{
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == IG_QUANTIZE || g->nodes[i].op == IG_DEQUANTIZE)
            ig_fatal("%s: node '%s': is quantised already: leave --precision=int8 out", path, g->nodes[i].name);
    if (g->n_inputs != 1 || g->values[g->inputs[0]].shape.type != IG_F32)
        ig_fatal("%s: --precision=int8 takes networks of one input, of floats; quantise it with onnxruntime's quantize_static", path);
}

void ig_quantise_graph(struct ig_graph *g, const char *path, const struct ig_quantise_options *o)
{
    struct ig_quantised_tensor *tensors;
    struct trial floats = {.g = NULL}, bytes = {.g = NULL};
    int32_t outputs = g->n_outputs;
    check(g, path);
    ig_words_fit(&(struct ig_emit){.n_mean = o->n_mean, .n_std = o->n_std}, g);
    int32_t n = ig_quantise_find(g, ig_ref_eval, &tensors);
    if (!n) ig_fatal("%s: no convolution and no product with constant weights: nothing is gained by --precision=int8", path);
    start(&floats, g, path, tensors, n, o);
    measure(g, &floats, tensors, n, o->files, o->n_files);
    ig_quantise_put(g, tensors, n);
    start(&bytes, g, path, NULL, 0, o);
    report(&floats, &bytes, outputs, path, o->files, o->n_files);
    stop(&bytes);
    stop(&floats);
}
