/*
 * ingot-profile: the profiler alone, one file to copy to a board. It takes graph.json, which the PC made, and
 * writes the profile.json from which the PC plans: no ONNX, no other library than the board's C library.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "graph/version.h"

/* What cli/common.c calls for a file that is no graph.json. */
struct ig_graph *ig_import_file(const char *path, const struct ig_import_options *options, char *err,
                                size_t err_bytes)
{
    (void)options;
    snprintf(err, err_bytes,
             "%s: only graph.json is read on a board; ingot graph net.onnx -o graph.json makes it", path);
    return NULL;
}

struct ig_graph *ig_import_bytes(const char *path, const void *bytes, size_t n,
                                 const struct ig_import_options *options, char *err, size_t err_bytes)
{
    (void)bytes, (void)n;
    return ig_import_file(path, options, err, err_bytes);
}

const char ig_profile_help[] = IG_PROFILE_HELP(
    "ingot-profile graph.json -o profile.json\n"
    "ingot-profile --gpu graph.json -o gpu_profile.json\n",
    "  --gpu[=FATBIN] instead times copies and every GPU kernel on every layer on GPU 0, by the kernels that this program carries, or by\n"
    "                 those in FATBIN, as nvcc -fatbin makes them of kernels_gpu/module.cu; of --seconds less than 10 it makes\n"
    "                 fewer runs. Each is first compared with the CPU; what is wrong is named and left out\n", "");
extern const void *const ig_board_kernels[]; /* kernels.sh */
const void *const *const ig_profile_modules = ig_board_kernels;

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        puts("ingot-profile " INGOT_VERSION);
        return 0;
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is met as a full disk is, by write() */
    return ig_verb_profile(argc, argv);
}
