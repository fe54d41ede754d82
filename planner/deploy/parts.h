/*
 * Parts: the pieces that a graph falls into when its nodes are given to keys. A part is a run of one key's nodes that
 * can go without waiting for another key in between; parts form an acyclic graph, so that every rank may run whichever
 * of its parts has its inputs, and frames overlap.
 */
#ifndef PLANNER_DEPLOY_PARTS_H
#define PLANNER_DEPLOY_PARTS_H

#include "graph/graph.h"

struct ig_part {
    int32_t key;
    int32_t n_nodes, n_in, n_out;
    int32_t *nodes;  /* of the whole graph, ascending */
    int32_t *in;     /* values of the whole graph that it reads and does not make; constants left out */
    int32_t *out;    /* values that it makes and that others read, or the network's outputs */
};

struct ig_passing {  /* a value that goes to another part, or in or out of the network */
    int32_t value;
    int32_t from;    /* part; -1: an input of the network */
    int32_t n_to;
    int32_t *to;     /* parts; -1 among them: an output of the network */
};

struct ig_parts {
    struct ig_part *at;      /* topologically sorted */
    struct ig_passing *passing;
    int32_t n, n_passing;
};

/* key_of[n_nodes] >= 0. Never fails; nodes keep their order inside a part. */
struct ig_parts *ig_parts_make(const struct ig_graph *g, const int32_t *key_of);
void ig_parts_free(struct ig_parts *p);
/*
 * The graph of one part: its nodes, values and constants (shared with g: free it before g) under their names; inputs and
 * outputs in the order of part->in and part->out.
 */
struct ig_graph *ig_part_graph(const struct ig_graph *g, const struct ig_part *part, const char *name);

#endif
