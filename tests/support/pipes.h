/* Pipelining problems for tests: by hand, at random, from networks; and what a map of them costs, counted naively. */
#ifndef TESTS_SUPPORT_PIPES_H
#define TESTS_SUPPORT_PIPES_H

#include "planner/pipe.h"
#include "tests/support/rng.h"

struct pipe_box { /* a problem with room for its arrays */
    struct ig_pipe p;
    int64_t *ns, *bytes;
    int32_t *first, *preds;
    uint8_t *reads_input, *is_output;
};

/* Empty, for up to n nodes and m edges on k processors, links without cost. */
void pipe_box_start(struct pipe_box *b, int32_t n, int32_t m, int32_t k);
void pipe_box_free(struct pipe_box *b);
/* Adds a node with one time a processor, -1: not allowed; it reads the last one's tensor if `chained`. */
int32_t pipe_box_node(struct pipe_box *b, const int64_t *ns, int64_t bytes, int chained);
/* The last node reads u's tensor, too. Predecessors in ascending order. */
void pipe_box_edge(struct pipe_box *b, int32_t u);
/* A network of up to n nodes on up to k processors with transfers, some nodes pinned, branches. */
void pipe_box_random(struct pipe_box *b, struct rng *r, int32_t n, int32_t k);

/* The golden chain: GPU {4,3,3,2,2}, CPU {9,7,5,3,2}, cut tensors {2,2,1,1}; times and bytes times `unit`. */
void pipe_box_chain(struct pipe_box *b, int64_t unit);
/* The golden DAG with host operations at both ends. */
void pipe_box_dag(struct pipe_box *b);

/* Loads of a map, tensor by tensor; the largest. IG_PIPE_NEVER where a node may not run. */
int64_t pipe_loads(const struct ig_pipe *p, const int32_t *on, int64_t *load);
/* 1 if stages are ordered: no node reads from a later stage, each stage has one processor. */
int pipe_stages_hold(const struct ig_pipe *p, const struct ig_pipe_plan *plan);

#endif
