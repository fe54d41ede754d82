/*
 * out/bench/traffic: what GPU kernels ask of a GPU's memory, counted by the emulator, and the time that this and their multiply-adds
 * take at least. No GPU is needed, and the same figures come out anywhere.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/micro/micro.h"
#include "bench/traffic/traffic.h"
#include "kernels_cpu/registry.h"
#include "kernels_gpu/emu/run.h"

static const char help[] =
    "traffic [GRAPH.json | streams | HxWxC>OC,KHxKW[sSTRIDE][gGROUPS]]...\n\n"
    "What the GPU's kernels ask of memory on every different layer of the graphs that `ingot graph` wrote, of\n"
    "typical layers that compute little (`streams`), or of a convolution such as '56x56x64>64,3x3s1'. For each\n"
    "launch: blocks x threads; wavefronts of shared memory, loads and stores, and in brackets how many times as\n"
    "many as without conflicts of banks; sectors of device memory, loads and stores, and how many times as many\n"
    "as without gaps; what an SM's multiply-adds or tensor cores, its accesses, and the second-level cache take at least.\n"
    "  --kernel TEXT  only kernels whose name contains TEXT\n"
    "  --layer TEXT   only layers whose line contains TEXT\n"
    "  --blocks N     of each launch run N blocks, spread over its grid (default 4)\n"
    "  --chip SM      as compiled for 62, 72 or 90 (default)\n";

struct options {
    const char *kernel, *layer;
    int blocks, chip;
};

/*
 * Per cycle: multiply-adds of an SM, those of halves by its tensor cores (docs/gpu.md), bytes of its first-level cache and shared memory, bytes of
 * the second-level cache for an SM.
 */
static const struct chip {
    int sm, n_sm;
    double ghz, macs, tensor, first, second;
} chips[] = {
    {62, 2, 1.30, 128, 0, 128, 32}, /* Jetson TX2 */
    {72, 8, 1.38, 64, 512, 128, 32}, /* Jetson AGX Xavier */
    {90, 132, 1.98, 128, 1408, 128, 21}, /* H100 SXM, at the clock that bench/results/gpu-2026-11-26.jsonl saw */
};

static const struct chip *chip_of(int sm)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].sm == sm) return &chips[i];
    return NULL;
}

static void print_flow(const char *name, const struct emu_traffic *t, enum emu_kind load, enum emu_kind store)
{
    const struct emu_flow *l = &t->flow[load], *s = &t->flow[store];
    printf("  %s %.0f (%.2f) %.0f (%.2f)", name, l->units, l->least > 0 ? l->units / l->least : 1, s->units,
           s->least > 0 ? s->units / s->least : 1);
}

/* Cycles of the busiest SM, which has a whole number of blocks. */
static double cycles(const struct emu_traffic *t, const struct chip *chip, double units, double rate)
{
    uint64_t n = (uint64_t)chip->n_sm;
    return units / (double)t->blocks * (double)((t->blocks + n - 1) / n) / rate;
}

/* `macs`: of one time, unless tensor cores have them. */
static double print_launch(const struct emu_traffic *t, const struct chip *chip, double macs)
{
    double wavefronts = t->flow[EMU_SHARED_LOAD].units + t->flow[EMU_SHARED_STORE].units;
    double sectors = t->flow[EMU_GLOBAL_LOAD].units + t->flow[EMU_GLOBAL_STORE].units;
    double compute = t->products > 0 ? cycles(t, chip, t->products, chip->tensor) : cycles(t, chip, macs, chip->macs);
    double first = cycles(t, chip, wavefronts * 128 + sectors * 32, chip->first);
    double second = cycles(t, chip, (t->block_sectors + t->flow[EMU_GLOBAL_STORE].units) * 32, chip->second), most = compute;
    if (first > most) most = first;
    if (second > most) most = second;
    printf("    %-34s %llu x %u", t->name, (unsigned long long)t->blocks, t->threads);
    if (t->times > 1) printf("  %g times", t->times);
    print_flow("shared", t, EMU_SHARED_LOAD, EMU_SHARED_STORE);
    print_flow("device", t, EMU_GLOBAL_LOAD, EMU_GLOBAL_STORE);
    printf("  cycles %.0f, %.0f, %.0f\n", compute, first, second);
    return most / chip->ghz * 1e-3 * t->times;
}

/* Multiply-adds are of the launches whose function reads the most; a bound that errs is one too low. */
static void print_kernel(const struct ig_kernel *k, const struct chip *chip, double macs)
{
    const struct emu_traffic *t;
    double us = 0, times = 0;
    unsigned most = 0;
    for (unsigned i = 0; (t = emu_counted(i)); i++)
        if (t->flow[EMU_SHARED_LOAD].units + t->flow[EMU_GLOBAL_LOAD].units >
            emu_counted(most)->flow[EMU_SHARED_LOAD].units + emu_counted(most)->flow[EMU_GLOBAL_LOAD].units)
            most = i;
    printf("  %s\n", k->name);
    for (unsigned i = 0; (t = emu_counted(i)); i++) times += strcmp(t->name, emu_counted(most)->name) ? 0 : t->times;
    for (unsigned i = 0; (t = emu_counted(i)); i++) us += print_launch(t, chip, strcmp(t->name, emu_counted(most)->name) ? 0 : macs / times);
    printf("    at least %.2f us\n", us);
}

static int one_layer(const struct ig_graph *g, const struct ig_view *views, int32_t i, int times, const struct options *o)
{
    const struct ig_node *n = &g->nodes[i];
    struct ig_call call;
    int32_t batch;
    char text[128];
    ig_node_call(g, views, n, &call, &batch);
    ig_micro_describe(n, &call, text, sizeof text);
    if (o->layer && !strstr(text, o->layer)) return 0;
    printf("%d x %s\n", times, text);
    for (int j = 0; j < ig_kernel_count(); j++) {
        const struct ig_kernel *k = ig_kernel_at(j);
        if (k->isa != IG_ISA_CUDA || !ig_kernel_fits(k, n->op, &call) || (o->kernel && !strstr(k->name, o->kernel))) continue;
        emu_set_chip(o->chip);
        emu_count((unsigned)o->blocks);
        if (ig_traffic_run(k, &call)) return fprintf(stderr, "traffic: %s\n", emu_fault()) < 0 ? 1 : 1;
        print_kernel(k, chip_of(o->chip), n->macs);
        fflush(stdout);
    }
    return 0;
}

static int graph(const char *name, const struct options *o)
{
    static char err[IG_ERROR_BYTES];
    struct ig_graph *g = ig_micro_graph(name, err, sizeof err);
    if (!g) return fprintf(stderr, "traffic: %s\n", err) < 0 ? 1 : 1;
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    if (!views) abort();
    int bad = 0;
    ig_compute_views(g, views);
    ig_count_macs(g);
    printf("%s\n", name);
    for (int32_t i = 0; i < g->n_nodes && !bad; i++) {
        int times = ig_node_is_view(g, views, i) ? 0 : ig_micro_count(g, views, i);
        if (times) bad = one_layer(g, views, i, times, o);
    }
    free(views);
    ig_graph_free(g);
    return bad;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"kernel", 1, 0, 'k'}, {"layer", 1, 0, 'l'},
                                          {"blocks", 1, 0, 'b'}, {"chip", 1, 0, 'c'}, {0, 0, 0, 0}};
    struct options o = {.blocks = 4, .chip = 90};
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'k': o.kernel = optarg; break;
        case 'l': o.layer = optarg; break;
        case 'b': o.blocks = atoi(optarg); break;
        case 'c': o.chip = atoi(optarg); break;
        default: fputs(help, stderr); return 2;
        }
    if (optind == argc || o.blocks < 1 || !chip_of(o.chip)) return fputs(help, stderr) < 0 ? 2 : 2;
    for (; optind < argc; optind++)
        if (graph(argv[optind], &o)) return 1;
    return 0;
}
