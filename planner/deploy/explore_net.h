/* A network on the devices of a site as a problem of exploration: times by profiles where there are some, else estimated. */
#ifndef PLANNER_DEPLOY_EXPLORE_NET_H
#define PLANNER_DEPLOY_EXPLORE_NET_H

#include "planner/deploy/explore.h"
#include "planner/pipe_graph.h"

struct ig_explore_board {        /* what a device of a kind is */
    int32_t isa;                 /* enum ig_isa of its cores */
    int32_t count, cores, gpu;   /* devices; cores of each; 1: each has a GPU, too */
    double cpu_slower, gpu_slower; /* than the estimates: factors of them; 1 where they were made for it */
    double idle_w, core_w, gpu_w; /* of the device; what a core, and the GPU, take more; 0: not known */
    int64_t memory_bytes;        /* 0: no limit */
};

struct ig_explore_net {
    struct ig_explore x;         /* links are the caller's to fill in */
    struct ig_pipe_net net;      /* its nodes are the exploration's */
    struct ig_plan *plan;        /* whose segments those are */
    int64_t *ns, *scratch, *weights;
    uint8_t *may_cut;
    int32_t estimated;           /* ways whose times are estimates */
    int32_t scaled;              /* ways whose times are estimates, times a profile of other threads over its estimate */
};

/* 0, or -1 with a line in err. Profiles are of this graph; each serves the ways of its ISA and threads. */
int ig_explore_net_make(const struct ig_graph *g, const struct ig_explore_board *boards, int32_t n_boards,
                        const struct ig_profile *const *profiles, int32_t n_profiles, double max_error,
                        struct ig_explore_net *e, char *err, size_t err_bytes);
/* A stage needs a layer of the file: nodes that passes made stay with a neighbour. home[n_layers]: node of each layer. */
void ig_explore_net_layers(const struct ig_graph *g, const int32_t *home, int32_t n_layers, struct ig_explore_net *e);
void ig_explore_net_free(struct ig_explore_net *e);
/* stage_of[n_nodes of the graph]: a node that runs nothing goes with its first reader, or with its producer. */
void ig_explore_stages(const struct ig_graph *g, const struct ig_explore_net *e, const struct ig_explore_point *p,
                       int32_t *stage_of);

#endif
