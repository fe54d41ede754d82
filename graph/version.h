/* The version that every file and program of this project carries. */
#ifndef GRAPH_VERSION_H
#define GRAPH_VERSION_H

#define INGOT_VERSION "0.1.0"

#endif
