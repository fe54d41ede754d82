/* The command line of out/bench/gpu. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bed.h"
#include "bench/gpu/gpu.h"
#include "bench/gpu/limits.h"
#include "bench/gpu/wide.h"
#include "bench/profile.h"
#include "kernels_cpu/registry.h"

static const double MIDDLE_MACS = 2e8, LARGE_MACS = 1e9, LARGE_BYTES = 1 << 26;
static const double MOST_OFF = 1e-3, MOST_OFF_HALF = 1e-2; /* the last bits of deep networks differ, and so do roundings to halves */

static const char help[] =
    "gpu [--runs N] [--repeats N] [--layers] FATBIN GRAPH.json...\n"
    "gpu --wide[=NAME] [--scale N] [--runs N] [--repeats N] [--layers] FATBIN\n\n"
    "Networks that `ingot graph` wrote, on GPU 0: times every kernel on every layer, once it has computed what\n"
    "the CPU does, plans with the fastest, compares the outputs with the CPU's plan of the same network, and prints a JSON\n"
    "object a network: ms of a frame (one graph launch, without copies; the median), of the sum of its layers, and how far\n"
    "outputs are off; what the GPU can do at most - multiply-adds of all lanes at the highest clock, a copy within its memory,\n"
    "timed - and the least share of these that convolutions of 1 GMAC (200 MMAC) and layers that move 64 MiB reach.\n"
    "FATBIN: the kernels, as nvcc -fatbin makes them of kernels_gpu/module.cu.\n"
    "  --runs N    of each layer and kernel (default 5); frames: 20 N\n"
    "  --repeats N launches of a layer in a run (default 20)\n"
    "  --layers    a line for every kernel on every layer: time, rates, and their shares of what the GPU can do\n"
    "  --wide      no networks, but layers of one kernel each that memory bounds, or those whose names begin with NAME, on tensors\n"
    "              that no cache holds: a JSON object a layer, of its fastest kernel's share of a copy's rate, and one of the least\n"
    "  --scale N   tensors N times smaller in either direction, to test it\n";

static void *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long bytes = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    char *data = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (data) rewind(f);
    if (!data || fread(data, 1, (size_t)bytes, f) != (size_t)bytes) {
        fprintf(stderr, "gpu: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return data;
}

static int n_wrong; /* kernels on layers */

static void say_wrong(const char *layer, const char *kernel, const char *what)
{
    fprintf(stderr, "gpu: %s: %s is wrong: %s\n", layer, kernel, what);
    n_wrong++;
}

static void die(const char *what, const char *err)
{
    fprintf(stderr, "gpu: %s: %s\n", what, err);
    exit(1);
}

/* Outputs of the CPU's plan on the estimator. */
static void run_cpu(const struct ig_graph *g, void **in, void **out)
{
    char err[300];
    struct ig_plan_options o = {.target = "host", .isa = ig_isa_fastest(), .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    struct ig_bed bed;
    if (!p) die(g->name, err);
    struct ig_lowered *l = ig_lower(g, p);
    if (ig_bed_make(&bed, l, 1, err, sizeof err)) die(g->name, err);
    ig_ctx_run(&bed.ctx, (const void *const *)in, out);
    ig_bed_free(&bed);
    ig_lowered_free(l);
    ig_plan_free(p);
}

/* max|a - b| / max|b| over all outputs; NaN or infinite where they are no numbers. */
static double difference(const struct ig_graph *g, void **got, void **want)
{
    double off = 0, most = 0;
    for (int32_t i = 0; i < g->n_outputs; i++)
        for (int64_t k = 0; k < ig_count(&g->values[g->outputs[i]].shape); k++) {
            double a = ((float *)got[i])[k], b = ((float *)want[i])[k];
            off = isnan(a) ? INFINITY : fmax(off, fabs(a - b));
            most = fmax(most, fabs(b));
        }
    return off / most;
}

static double check(const struct ig_graph *g, struct ig_gpu_bed *b)
{
    const struct ig_model *m = &b->lowered->model;
    void **in = ig_io_buffers(m->inputs, m->n_inputs), **got = ig_io_buffers(m->outputs, m->n_outputs),
         **want = ig_io_buffers(m->outputs, m->n_outputs);
    char err[300];
    for (int32_t i = 0; i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, in[i]);
    if (ig_gpu_run(&b->gpu, (const void *const *)in, got, err, sizeof err)) die(g->name, err);
    run_cpu(g, in, want);
    double off = difference(g, got, want);
    ig_io_buffers_free(in, m->inputs, m->n_inputs);
    ig_io_buffers_free(got, m->outputs, m->n_outputs);
    ig_io_buffers_free(want, m->outputs, m->n_outputs);
    return off;
}

/* Of the fastest kernels of a network's layers. */
struct shares {
    double conv;   /* least of large convolutions' arithmetic over the GPU's; 0: there are none */
    double middle; /* the same of those that are five times smaller, too */
    double moving; /* the same of bytes over a copy's, of layers whose time is memory's and that no cache holds */
};

static void least(double *of, double share)
{
    if (share > 0 && (*of == 0 || share < *of)) *of = share;
}

/* Of a node's fastest kernel; 0: it has none. */
static double least_ns(const struct ig_profile *p, int32_t node)
{
    double ns = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (p->timings[i].node == node) least(&ns, p->timings[i].alone_ns);
    return ns;
}

static struct shares shares_of(const struct ig_graph *g, const struct ig_profile *p, const struct ig_gpu_limits *most)
{
    struct shares s = {0, 0, 0};
    for (int32_t i = 0; i < g->n_nodes && most->flops > 0; i++) {
        const struct ig_node *n = &g->nodes[i];
        double ns = least_ns(p, i), bytes = ig_gpu_moved(g, n), flops = 2 * n->macs;
        if (!(ns > 0)) continue;
        if (n->op == IG_CONV && n->macs >= LARGE_MACS) least(&s.conv, flops / ns / most->flops);
        if (n->op == IG_CONV && n->macs >= MIDDLE_MACS) least(&s.middle, flops / ns / most->flops);
        if (most->copy > 0 && bytes >= LARGE_BYTES && bytes / most->copy > flops / most->flops) least(&s.moving, bytes / ns / most->copy);
    }
    return s;
}

static void print_layers(const struct ig_graph *g, const struct ig_profile *p, const struct ig_gpu_limits *most)
{
    for (int32_t i = 0; i < p->n; i++) {
        const struct ig_node *n = &g->nodes[p->timings[i].node];
        double ns = p->timings[i].alone_ns, bytes = ig_gpu_moved(g, n);
        printf("# %-28s %-28s %9.2f us %9.1f GFLOP/s", n->name, p->timings[i].kernel->name, ns / 1e3, 2 * n->macs / ns);
        if (most->flops > 0) printf(" %5.1f %%", 100 * 2 * n->macs / ns / most->flops);
        printf(" %9.1f GB/s", bytes / ns);
        if (most->copy > 0) printf(" %5.1f %%", 100 * bytes / ns / most->copy);
        putchar('\n');
    }
}

static int stores_halves(const struct ig_graph *g)
{
    for (int32_t i = 0; i < g->n_values; i++)
        if (g->values[i].shape.type == IG_F16) return 1;
    return 0;
}

static void bench(const char *path, const void *const *modules, int repeats, int runs, int layers)
{
    static struct ig_gpu_limits most;
    char err[300];
    double sum = 0, macs = 0;
    struct ig_graph *g = ig_graph_read(path, err, sizeof err);
    if (!g) die(path, err);
    struct ig_profile *p = ig_gpu_profile(g, modules, repeats, runs, say_wrong, err, sizeof err);
    struct ig_gpu_bed b;
    if (p && n_wrong) die(g->name, "kernels are wrong: no figures");
    if (!p || ig_gpu_profile_weights(g, modules, repeats, 10 * runs, p, err, sizeof err) ||
        ig_gpu_bed_make(&b, g, p, IG_MAX_ERROR, NULL, modules, err, sizeof err)) die(path, err);
    if (!(most.copy > 0)) most = ig_gpu_limits(&b.gpu);
    if (layers) print_layers(g, p, &most);
    for (int32_t i = 0; i < b.lowered->model.n_steps; i++)
        sum += b.lowered->layers[i].predicted_ns, macs += b.lowered->layers[i].macs;
    int half = stores_halves(g);
    double off = check(g, &b), frame;
    snprintf(err, sizeof err, "outputs are off by %.3g of the largest: no figures of what is wrong", off);
    if (!(off <= (half ? MOST_OFF_HALF : MOST_OFF))) die(g->name, err);
    frame = ig_gpu_frame_ns(&b, 20 * runs);
    snprintf(err, sizeof err, "a frame fails: CUDA error %d", (int)-frame);
    if (frame <= 0) die(g->name, err);
    struct shares share = shares_of(g, p, &most);
    printf("{\"network\": \"%s\", \"precision\": \"%s\", \"gpu\": \"%s\", \"sm\": %d, \"frame_ms\": %.4f, \"layers_ms\": %.4f, \"launches\": %d, "
           "\"gflops\": %.0f, \"most_gflops\": %.0f, \"copy_gb_s\": %.1f, \"large_conv_share\": %.3f, \"middle_conv_share\": %.3f, \"memory_bound_share\": %.3f, "
           "\"difference\": %.3g}\n",
           g->name, half ? "half" : "single", b.gpu.name, b.gpu.sm, frame / 1e6, sum / 1e6, b.launches->plan.n_calls, 2 * macs / frame, most.flops, most.copy,
           share.conv, share.middle, share.moving, off);
    fflush(stdout);
    ig_gpu_bed_free(&b);
    ig_profile_free(p);
    ig_graph_free(g);
}

static void wide_layers(const void *const *modules, const struct ig_gpu_wide *how)
{
    char err[400];
    if (ig_gpu_wide(modules, how, err, sizeof err)) die("--wide", err);
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"runs", 1, 0, 'r'}, {"repeats", 1, 0, 'n'},
                                          {"layers", 0, 0, 'l'}, {"wide", 2, 0, 'w'},
                                          {"scale", 1, 0, 's'}, {0, 0, 0, 0}};
    struct ig_gpu_wide how = {NULL, 1, 0, 0, 0, say_wrong};
    int option, repeats = 20, runs = 5, layers = 0, wide = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (option == 'r') runs = atoi(optarg);
        else if (option == 'n') repeats = atoi(optarg);
        else if (option == 'l') layers = 1;
        else if (option == 'w') wide = 1, how.only = optarg;
        else if (option == 's') how.scale = atoi(optarg);
        else {
            fputs(help, option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 2;
        }
    }
    if (argc - optind < 2 - wide || (wide && argc - optind > 1) || runs < 1 || repeats < 1 || how.scale < 1 || how.scale > 64) {
        fputs(help, stderr);
        return 2;
    }
    void *fatbin = read_file(argv[optind]);
    const void *const modules[] = {fatbin, NULL};
    how.repeats = repeats, how.runs = runs, how.all = layers;
    if (wide) wide_layers(modules, &how);
    for (int i = optind + 1; i < argc; i++) bench(argv[i], modules, repeats, runs, layers);
    free(fatbin);
    return n_wrong > 0;
}
