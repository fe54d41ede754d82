#include "cli/cli.h"
#include "kernels_cpu/registry.h"

static const char help[] = "ingot kernels\n\n"
                           "Lists every kernel variant: name, op, tile of rows x channels.\n"
                           "  --json   one object a line\n";

int ig_verb_kernels(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"json", 0, 0, 'j'}, {0, 0, 0, 0}};
    int json = 0;
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        if (c == 'h') return fputs(help, stdout) < 0;
        if (c != 'j') ig_usage(help);
        json = 1;
    }
    if (optind != argc) ig_usage(help);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        const char *op = ig_op_info((enum ig_op)k->op)->name;
        int runs = ig_isa_runs_here(k->isa);
        if (json)
            printf("{\"col_tile\":%d,\"isa\":\"%s\",\"name\":\"%s\",\"op\":\"%s\",\"row_tile\":%d,\"runs_"
                   "here\":%s}\n",
                   k->col_tile, ig_isa_name(k->isa), k->name, op, k->row_tile, runs ? "true" : "false");
        else
            printf("%-36s %-18s %dx%d%s\n", k->name, op, k->row_tile, k->col_tile,
                   runs ? "" : "  (not on this machine)");
    }
    return fflush(stdout) || ferror(stdout);
}
