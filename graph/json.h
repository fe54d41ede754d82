/* What the writer and the reader of graph.json share. */
#ifndef GRAPH_JSON_H
#define GRAPH_JSON_H

#include "graph/graph.h"

#define JSON_FORMAT "ingot-graph"
enum { JSON_VERSION = 2 };

/* The constants' file beside `path`: .json replaced by .bin. malloc'ed; NULL without memory. */
char *json_bin_path(const char *path);

#endif
