/* `ingot plan --estimate`: a network on a board that nobody has measured. */
#ifndef CLI_ESTIMATE_H
#define CLI_ESTIMATE_H

#include "graph/graph.h"
#include "planner/platform.h"

struct ig_estimate_options {
    const char *platform;    /* a name in platforms/, or a file; NULL: host */
    const char *explain;     /* a layer to print as a loop nest, or NULL */
    const char *dist;        /* "conv=accelerator,gemm=CPU", or NULL */
    const char *clocks;      /* "accelerator=850,CPU=1200": operating points by MHz, or NULL */
    int best_tiles, json;
    double deadline_ms;      /* 0: none */
    double max_error;        /* of a calibrated kernel */
};

/* A board by file or name: the source tree's, or host: what `ingot calibrate` made. Fatal on error. */
struct ig_platform *ig_load_board(const char *name);
void ig_estimate(const struct ig_graph *g, const struct ig_estimate_options *o);

#endif
