#include <stdlib.h>

#include "cli/quantise.h"

static const char help[] =
    "ingot graph net.onnx -o graph.json\n\n"
    "Imports a network, folds and fuses it, and writes it as graph.json with its constants in graph.bin.\n"
    "  -o FILE                   where to (default graph.json)\n"
    "  --split LAYER=N,...       layers in N parts, by rows or output channels, so that stages may be cut inside them;\n"
    "                            auto: those that are estimated to take more than a sixth of a frame\n"
    "  --samples FOLDER          of --precision int8: inputs as the program takes them, a hundred or so, which tell what is typical\n"
    "  --mean A[,B,C] --std A[,B,C], --input-spec SPEC  how samples that are pictures become the input, as of ingot gen\n" IG_SOURCE_HELP;

int ig_verb_graph(int argc, char **argv)
{
    static const struct option longs[] = {
        {"help", 0, 0, 'h'}, {"output", 1, 0, 'o'}, {"split", 1, 0, 'S'}, {"samples", 1, 0, 'a'}, {"mean", 1, 0, 'm'},
        {"std", 1, 0, 's'}, {"input-spec", 1, 0, 'i'}, IG_SOURCE_OPTIONS, {0, 0, 0, 0}};
    struct ig_source_options source = {.quantise = {.std = {1, 1, 1, 1}}};
    const char *out = "graph.json", *split = NULL;
    char err[4096];
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) {
        if (c == 'o') out = optarg;
        else if (c == 'S') split = optarg;
        else if (c == 'a') source.quantise.samples = optarg;
        else if (c == 'm') source.quantise.n_mean = ig_channels_option(optarg, "--mean", source.quantise.mean);
        else if (c == 's') source.quantise.n_std = ig_channels_option(optarg, "--std", source.quantise.std);
        else if (c == 'i') source.quantise.spec = optarg;
        else if (c == 'h') return fputs(help, stdout) < 0;
        else if (!ig_source_option(&source, c, optarg)) ig_usage(help);
    }
    if (optind != argc - 1) ig_usage(help);
    if (source.int8 && !source.quantise.samples) ig_fatal("--precision=int8 needs --samples=FOLDER: inputs that are typical");
    if (!source.int8 && (source.quantise.samples || source.quantise.spec || source.quantise.n_mean + source.quantise.n_std))
        ig_fatal("--samples, --mean, --std and --input-spec are for --precision=int8");
    if (source.quantise.spec && source.quantise.n_mean + source.quantise.n_std)
        ig_fatal("--mean and --std stand in the input spec, where there is one: mean=..., std=...");
    if (source.int8) ig_take_samples(&source.quantise);
    struct ig_graph *g = split ? ig_load_split(argv[optind], &source, split) : ig_load_graph(argv[optind], &source);
    if (ig_is_widened(g) && !source.int8)
        fprintf(stderr, "ingot: %s: its weights have 16 bits and are stored in 32: --precision=half keeps them in 16\n", argv[optind]);
    if (ig_graph_write(g, out, err, sizeof err)) ig_fatal("%s", err);
    ig_graph_free(g);
    return 0;
}
