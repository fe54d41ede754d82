/* A network on a board that need not be at hand: every layer on every processor, then together. */
#ifndef PLANNER_FORECAST_H
#define PLANNER_FORECAST_H

#include "planner/aggregate.h"
#include "planner/analyse.h"
#include "planner/plan.h"

enum { IG_MAX_DIST = 32 };

struct ig_op_dist {             /* which types of processor take a kind of layer; none named: all do */
    int32_t n;
    struct { int32_t kind; char type[IG_WORD_BYTES]; } at[IG_MAX_DIST];
};

struct ig_forecast_options {
    const struct ig_platform *board;
    struct ig_op_dist dist;
    int best_tiles;             /* 1: the best tiling instead of the paper's rule */
    double deadline_s;          /* of the energy; 0: the latency, or the frame interval */
    double max_error;           /* calibrated kernels are no less exact than that (struct ig_plan_options) */
    const struct ig_kernel *const *kernels; /* by node: the one that is costed; NULL: the fastest of all */
};

struct ig_forecast_on {         /* a layer on a processor */
    struct ig_nest nest;        /* where the processor is mapped */
    struct ig_analysis a;       /* of one image; a.s is the calibrated time where the processor has costs */
    double s;                   /* all images; INFINITY: not there */
    int32_t fits;               /* 0: some buffer fits with no tile */
    const struct ig_kernel *kernel; /* of a calibrated time; NULL: by the model */
};

struct ig_forecast_layer {
    int32_t node, images;
    struct ig_layer layer;
    struct ig_forecast_on *on;  /* [n_processors] */
    int32_t pe;                 /* Algorithm 1 */
    double start_s;
};

struct ig_forecast {
    int32_t n;                  /* layers: the nodes that are no views */
    struct ig_forecast_layer *layers;
    double latency_s, mj;       /* sequential; mj: IG_UNKNOWN */
    double ops_s, roofline_s;   /* the same mapping by the two baselines */
    struct ig_pipeline pipeline; /* n_stages 0: there is none */
    double pipeline_mj;
};

/* "conv=accelerator,gemm=CPU" added to d. 0, or -1 with a line in err. */
int ig_op_dist_parse(struct ig_op_dist *d, const char *text, const struct ig_platform *b, char *err, size_t err_bytes);
/* NULL with a line in err: a layer that no processor takes. The board must outlive it. */
struct ig_forecast *ig_forecast_make(const struct ig_graph *g, const struct ig_forecast_options *o, char *err,
                                     size_t err_bytes);
void ig_forecast_free(struct ig_forecast *f);

#endif
