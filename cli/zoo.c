#include <inttypes.h>

#include "cli/cli.h"
#include "models/zoo/zoo.h"

static const char help[] =
    "ingot zoo NAME [-o net.onnx]\n"
    "ingot zoo --list [--json]\n\n"
    "Writes a benchmark network as ONNX, its weights made from a fixed seed.\n"
    "  -o FILE   where to (default NAME.onnx; - is stdout)\n"
    "  --list    the networks: input, parameters, multiply-accumulates, whose definition\n"
    "  --json    the list as JSON, one network a line\n";

static char *shape(const struct ig_zoo_net *net, char text[48])
{
    if (net->rank == 2) snprintf(text, 48, "1x%" PRId32, net->c);
    else snprintf(text, 48, "1x%" PRId32 "x%" PRId32 "x%" PRId32, net->c, net->h, net->w);
    return text;
}

static void list_text(void)
{
    struct ig_zoo_counts n;
    char dims[48], parameters[32], macs[32];
    printf("%-16s  %-11s  %11s  %14s  %s\n", "network", "input", "parameters", "MACs", "source");
    for (int32_t i = 0; ig_zoo_net(i); i++) {
        const struct ig_zoo_net *net = ig_zoo_net(i);
        ig_zoo_count(net, &n);
        printf("%-16s  %-11s  %11s  %14s  %s\n", net->name, shape(net, dims),
               ig_commas(n.parameters, parameters), ig_commas(n.macs, macs), net->source);
    }
}

static void list_json(void)
{
    struct ig_zoo_counts n;
    char dims[48];
    for (int32_t i = 0; ig_zoo_net(i); i++) {
        const struct ig_zoo_net *net = ig_zoo_net(i);
        ig_zoo_count(net, &n);
        printf("%s{\"bytes\":%" PRId64 ",\"folded\":%" PRId64 ",\"input\":\"%s\",\"macs\":%" PRId64
               ",\"name\":\"%s\",\"parameters\":%" PRId64 ",\"source\":\"%s\"}",
               i ? ",\n" : "[\n", n.bytes, n.folded, shape(net, dims), n.macs, net->name, n.parameters,
               net->source);
    }
    puts("\n]");
}

static void write_net(const char *name, const char *out)
{
    char path[256], err[512];
    const struct ig_zoo_net *net = ig_zoo_find(name);
    if (!net) ig_fatal("no network '%s' in the zoo: see ingot zoo --list", name);
    snprintf(path, sizeof path, "%s.onnx", name);
    if (!out) out = path;
    FILE *f = ig_open_output(out);
    /* After a failure ig_close_output finds it in the stream, removes the temporary file and says so. */
    ig_zoo_write(net, f, err, sizeof err);
    ig_close_output();
}

int ig_verb_zoo(int argc, char **argv)
{
    enum { LIST = 2000, JSON };
    static const struct option longs[] = {
        {"help", 0, 0, 'h'}, {"output", 1, 0, 'o'}, {"list", 0, 0, LIST}, {"json", 0, 0, JSON}, {0, 0, 0, 0}};
    const char *out = NULL;
    int list = 0, json = 0;
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) {
        if (c == 'o') out = optarg;
        else if (c == LIST) list = 1;
        else if (c == JSON) json = 1;
        else if (c == 'h') return fputs(help, stdout) < 0;
        else ig_usage(help);
    }
    if (list ? optind != argc : optind != argc - 1) ig_usage(help);
    if (!list) write_net(argv[optind], out);
    else if (json) list_json();
    else list_text();
    return fflush(stdout) || ferror(stdout);
}
