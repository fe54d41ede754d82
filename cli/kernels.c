#include "cli/cli.h"
#include "kernels_cpu/registry.h"

static const char help[] = "ingot kernels\n\nLists every kernel variant: name, op, tile of rows x channels.\n";

int ig_verb_kernels(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    if (getopt_long(argc, argv, "h", longs, NULL) == 'h') return fputs(help, stdout) < 0;
    if (argc > 1) ig_usage(help);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        printf("%-36s %-18s %dx%d%s\n", k->name, ig_op_info((enum ig_op)k->op)->name, k->row_tile, k->col_tile,
               ig_isa_runs_here(k->isa) ? "" : "  (not on this machine)");
    }
    return 0;
}
