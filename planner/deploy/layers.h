/* Layers by name: a mapping may use AutoDiCE's names or those that a viewer shows. */
#ifndef PLANNER_DEPLOY_LAYERS_H
#define PLANNER_DEPLOY_LAYERS_H

#include "graph/layers.h"

/* The layer of that name: AutoDiCE's, with '.' as '_' too, the node's or its first output's; -1: none. */
int32_t ig_layer_find(const struct ig_layers *l, const char *name);
/* 1 if it is the name of a node that needs no place: a mapping may list it, to no effect. */
int ig_layer_is_spare(const struct ig_layers *l, const char *name);

#endif
