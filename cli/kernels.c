#include "cli/cli.h"
#include "kernels_cpu/registry.h"

static const char help[] = "ingot kernels\n\n"
                           "Lists every kernel variant: name, op, tile of rows x channels, and the bound on the error of those that\n"
                           "are less exact than a direct sum: max|y - exact| / max|exact| of unit-normal data.\n"
                           "  --json   one object a line\n";

static void put_json(const struct ig_kernel *k)
{
    printf("{\"col_tile\":%d,\"error\":%.6g,\"isa\":\"%s\",\"name\":\"%s\",\"op\":\"%s\",\"row_tile\":%d,"
           "\"runs_here\":%s}\n",
           k->col_tile, (double)k->error, ig_isa_name(k->isa), k->name, ig_op_info((enum ig_op)k->op)->name,
           k->row_tile, ig_isa_runs_here(k->isa) ? "true" : "false");
}

static void put_line(const struct ig_kernel *k)
{
    printf("%-36s %-18s %dx%d", k->name, ig_op_info((enum ig_op)k->op)->name, k->row_tile, k->col_tile);
    if (k->error > 0) printf("  error <= %.6g", (double)k->error);
    puts(ig_isa_runs_here(k->isa) ? "" : "  (not on this machine)");
}

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
        if (json) put_json(k);
        else put_line(k);
    }
    return fflush(stdout) || ferror(stdout);
}
