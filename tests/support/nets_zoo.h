/* The benchmark networks as graphs, for tests that look at all of them. */
#ifndef TESTS_SUPPORT_NETS_ZOO_H
#define TESTS_SUPPORT_NETS_ZOO_H

#include "graph/graph.h"

/* As `ingot graph` makes it; ends the test on a fault. */
struct ig_graph *zoo_net(const char *name);
/* The same before ig_prepare_views. */
struct ig_graph *zoo_net_unprepared(const char *name);
/*
 * As the papers count: batch norms folded, activations fused but Swish a sigmoid and a product; additions are
 * layers of their own.
 */
struct ig_graph *zoo_net_as_published(const char *name);

#endif
