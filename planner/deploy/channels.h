/* Inside the rewriting: layers cut by channels. */
#ifndef PLANNER_DEPLOY_CHANNELS_H
#define PLANNER_DEPLOY_CHANNELS_H

#include "planner/deploy/pieces.h"
#include "planner/deploy/rewrite.h"

/* Channels of the output, or of the input, that an order divides; 0: the node has none that can be. */
int32_t ig_channels_of(const struct ig_graph *g, const struct ig_node *n, int32_t mode);
/*
 * Output channels: adds the parts of a convolution or fc and spreads its output over them. Parts read their
 * groups' input channels alone; one that begins or ends inside a group has a node for what it has of it.
 */
void ig_put_outputs(struct ig_rewrite *w, const struct ig_node *old, int32_t node, const struct ig_hsplit_order *o);
/*
 * Input channels: adds the parts, of which the first has bias and residual, and the sum with the activation
 * on `key`, which keeps the layer's name.
 */
void ig_put_inputs(struct ig_rewrite *w, const struct ig_node *old, const struct ig_hsplit_order *o, int32_t key);

#endif
