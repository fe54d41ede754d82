/* A network's plan as a pipelining problem, and stages as what the steps of that plan are to be. */
#ifndef PLANNER_PIPE_GRAPH_H
#define PLANNER_PIPE_GRAPH_H

#include "planner/pipe.h"
#include "planner/plan.h"

struct ig_pipe_net { /* nodes are the plan's segments: a step that runs something, or a band */
    struct ig_pipe p;
    int32_t n_steps;
    int32_t *first_step, *last_step; /* [n] of each segment */
    int32_t *segment;   /* [n_steps]; -1: the step runs nothing, what is read through it counts as its sources' */
    double *operations; /* [n] multiply-adds */
    int64_t *ns, *bytes, *weights_bytes;
    int32_t *first, *preds;
    uint8_t *reads_input, *is_output;
    const char **names; /* of each segment's first node */
    int32_t host;       /* 1: the first and the last node are pre- and post-processing, which no step runs */
    double host_ns[2];  /* of those, on a core of which ig_pipe_net_host says */
};

/*
 * Segments of plans[0]; times of processor k of plans[k], which may be the same plan: of other threads then, and
 * without bands. Links and powers are the caller's to fill in.
 */
void ig_pipe_net_make(const struct ig_graph *g, const struct ig_plan *const *plans, int32_t n_processors,
                      struct ig_pipe_net *net);
/*
 * Puts pre- and post-processing before and behind all segments; their ranges of steps are empty. Times on a core of a Zen 4
 * (planner/host_ops.h) count for all processors, until ig_pipe_net_host_time sets processor k's in ns[n][n_processors]:
 * so many times as slow, or 0: it cannot run them. Does nothing where the net has none.
 */
void ig_pipe_net_host(struct ig_pipe_net *net, double pre_ns, double post_ns);
void ig_pipe_net_host_time(const struct ig_pipe_net *net, int64_t *ns, int32_t n_processors, int32_t k, double slower);
void ig_pipe_net_free(struct ig_pipe_net *net);
/* ns[n][n_processors] of processor k, whose plan has kernels of `isa` or of the CPU: segments with one of the CPU cannot run there. */
void ig_pipe_net_only(const struct ig_plan *plan, int32_t isa, const struct ig_pipe_net *net, int32_t k);
/* stage[n_steps], ascending, of a plan whose stages are runs of segments; a step that runs nothing goes with the one
 * before. */
void ig_pipe_step_stages(const struct ig_pipe_net *net, const struct ig_pipe_plan *plan, int32_t *stage);
/* of[n], 0..1000: how far each segment's time is that of moving its tensors and weights at so many GB/s. */
void ig_pipe_streams(const struct ig_pipe_net *net, double gbytes, int32_t *of);

#endif
