/*
 * Keys of a graph's nodes. A mapping names the layers of the ONNX file; passes have merged some of them into others and
 * made nodes of their own. A merged layer goes where the node is that computes it now.
 */
#ifndef PLANNER_DEPLOY_ASSIGN_H
#define PLANNER_DEPLOY_ASSIGN_H

#include "graph/graph.h"
#include "planner/deploy/mapping.h"

/* A line about a layer that runs on another key than the mapping says, without a newline. */
typedef void ig_note_fn(void *to, const char *line);

/*
 * home[l->n]: the node that computes each layer: that of its name, else the one that makes its first output that is
 * still there, else the nearest layer's along the network, towards the outputs first; -1: none does.
 */
void ig_find_homes(const struct ig_graph *g, const struct ig_layers *l, int32_t *home);
/*
 * key_of[n_nodes] of a prepared graph: a node's is that of the layer of its name, else of the first layer that it
 * computes, else that of the layer whose tensor it makes; what a pass made goes to its first reader's key, or its
 * producer's. A layer on several keys counts for its first. `note` (NULL: nobody) hears of every layer that moved.
 */
void ig_assign_keys(const struct ig_graph *g, const struct ig_layers *l, const struct ig_mapping *m, int32_t *key_of,
                    ig_note_fn *note, void *to);

#endif
