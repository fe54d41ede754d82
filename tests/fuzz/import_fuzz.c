/*
 * libFuzzer target: arbitrary bytes as an ONNX file. Whatever the importer takes must be a well-formed
 * graph, and stay one through the passes.
 * Constants are held to 1 MiB, so that a small file cannot ask for much memory or time.
 */
#include <stdint.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "kernels_cpu/eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char err[IG_ERROR_BYTES];
    const struct ig_import_options options = {.eval = ig_ref_eval, .max_bytes = 1 << 20};
    struct ig_graph *g = ig_import_bytes("fuzz.onnx", data, size, &options, err, sizeof err);
    if (g && ig_graph_check(g, err, sizeof err)) abort();
    if (g && (ig_run_passes(g, ig_ref_eval, err, sizeof err) || ig_graph_check(g, err, sizeof err))) abort();
    ig_graph_free(g);
    return 0;
}
