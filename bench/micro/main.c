/* The command line of out/bench/micro. */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/micro/micro.h"
#include "bench/profile.h"

static const char help[] =
    "micro [GRAPH.json | streams | HxWxC>OC,KHxKW[sSTRIDE][gGROUPS]]...\n\n"
    "Kernels against the machine's limits, one thread: the rate of fused multiply-adds and of streams, every\n"
    "matrix micro-kernel on panels in L1, the start of a layer by a team, and every kernel on every different\n"
    "layer of the graphs that `ingot graph` wrote, on typical layers that stream more than they compute\n"
    "(`streams`), or on a convolution such as '56x56x64>64,3x3s1'. Least time of many; pin it to a quiet core.\n"
    "  --kernel TEXT  only kernels whose name contains TEXT\n"
    "  --layer TEXT   only layers whose line contains TEXT\n"
    "  --cold         weights come from memory; else all is warm\n"
    "  --seconds S    for each kernel and layer (default 0.02)\n";

/* On as many cores as this process may use; nothing if it is one. */
static void teams(void)
{
    cpu_set_t set;
    int most = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    for (int threads = 2; threads <= most && threads <= 8; threads++)
        printf("a team of %d takes a layer of no work in %.2f us\n", threads, ig_micro_team(threads) / 1e3);
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"kernel", 1, 0, 'k'}, {"layer", 1, 0, 'l'},
                                          {"cold", 0, 0, 'c'}, {"seconds", 1, 0, 's'}, {0, 0, 0, 0}};
    static char err[IG_ERROR_BYTES];
    struct ig_micro_options o = {.seconds = 0.02};
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'k': o.kernel = optarg; break;
        case 'l': o.layer = optarg; break;
        case 'c': o.cold = 1; break;
        case 's': o.seconds = atof(optarg); break;
        default: fputs(help, stderr); return 2;
        }
    double peak = ig_fma_peak();
    printf("FMA peak %.1f GFLOP/s; reads: L2 %.0f, memory %.0f GB/s; copy: L2 %.0f, memory %.0f GB/s\n", peak,
           262144 / ig_stream_ns(262144, 0), ig_memory_gbytes(), 131072 / ig_stream_ns(131072, 131072),
           6.7e7 / ig_stream_ns(67000000, 67000000));
    if (optind == argc) {
        ig_micro_gemm(peak);
        teams();
    }
    for (; optind < argc; optind++) {
        struct ig_graph *g = ig_micro_graph(argv[optind], err, sizeof err);
        if (!g) return fprintf(stderr, "micro: %s\n", err) < 0 ? 2 : 1;
        printf("%s\n", argv[optind]);
        if (ig_micro_layers(g, peak, &o)) return 1;
        ig_graph_free(g);
    }
    return 0;
}
