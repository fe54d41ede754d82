/*
 * In place of runtime/mpi: a rank's generated file with its parts becomes a program that runs one of them on files, so
 * that a deployment's parts can be run in turn wherever an emulator runs them. Usage: program PART input.npy... -o output.npy
 */
#include <stdlib.h>

#include "runtime/mpi/rank.h"

int ig_rank_main(int argc, char **argv, const struct ig_rank *rank)
{
    int part = argc > 1 ? atoi(argv[1]) : -1;
    if (part < 0 || part >= rank->n_parts) ig_die("no such part");
    struct ig_program program = *rank->parts[part].program;
    program.start = ig_start; /* which a rank's parts do without */
    argv[1] = argv[0];
    return ig_main(argc - 1, argv + 1, &program);
}
