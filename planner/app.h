/*
 * An application of one or several networks as Minakova & Stefanov describe it ("Memory-Throughput Trade-off for
 * CNN-Based Applications at the Edge", 2022, section 2): layers, edges, partitions that run one after the other
 * or at the same time, and the sizes of what lies on the edges (Eqs. 1-6). Sizes count elements.
 */
#ifndef PLANNER_APP_H
#define PLANNER_APP_H

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

enum ig_app_kind {           /* how a layer reads and writes by parts (Table 2) */
    IG_APP_WINDOW = 0,       /* reads `taps` rows for each row */
    IG_APP_ACTIVATION,       /* reads one row for each row */
    IG_APP_WHOLE             /* needs whole tensors */
};

struct ig_app_layer {
    int32_t kind, taps;      /* enum ig_app_kind; rows of the window */
    int32_t height;          /* rows of the output */
    int32_t parts;           /* gene: 1 runs by parts, 0 whole */
    int32_t cnn, partition;
    int32_t first, last;     /* steps of its partition's schedule, inclusive */
    int64_t parameters;      /* elements */
};

struct ig_app_edge {         /* a tensor between two layers; read twice, it is two edges */
    int32_t from, to;        /* layers */
    int32_t partition;       /* whose buffer it is; of the two slots of a pipelined edge: writer's, reader's */
    int64_t channels, rows, width;
};

struct ig_app {
    int32_t n_layers, n_edges, n_partitions;
    struct ig_app_layer *layers;
    struct ig_app_edge *edges; /* partition by partition, within one by producer, consumer */
    int32_t *steps;          /* [n_partitions] length of each schedule */
    uint8_t *concurrent;     /* [n_partitions * n_partitions] 1: the two are in a common J */
};

/* Elements that the edge's buffer holds: all, or the part of Eq. 5 where both ends run by parts. */
int64_t ig_app_edge_elements(const struct ig_app *a, int32_t edge);
/* Phi of Eq. 6: how many phases a layer runs in. */
int32_t ig_app_phases(const struct ig_app *a, int32_t layer);
/* Eqs. 1 and 2: bytes of all parameters and of buffers that hold `buffer_elements`. */
int64_t ig_app_bytes(const struct ig_app *a, int64_t buffer_elements, int32_t parameter_bytes,
                     int32_t data_bytes);
/* Naive allocation (Table 1): the elements of all edges. */
int64_t ig_app_naive(const struct ig_app *a);

struct ig_app_buffers {      /* what Algorithm 1 makes */
    int32_t n;
    int32_t *buffer;         /* [n_edges] */
    int64_t *size;           /* [n] elements, Eq. 4 */
    int64_t total;           /* Eq. 3 with one byte an element */
};
/* Algorithm 1, buffers reuse, as printed: greedy, and unsound where partitions of one network run in turn. */
void ig_app_reuse(const struct ig_app *a, struct ig_app_buffers *b);
void ig_app_buffers_free(struct ig_app_buffers *b);

/*
 * One network as one partition, one step a layer; an input is a layer of its own. What only renames data (reshapes,
 * the input's change of layout) is no layer. Memory of ig_app_free.
 */
struct ig_app *ig_app_of_graph(const struct ig_graph *g);
void ig_app_free(struct ig_app *a);

/*
 * Our own allocation: byte offset of every edge in one arena, aligned; returns the arena's bytes. Networks and
 * partitions that run in turn share one timeline; those that run at the same time are stacked, and a slot between
 * them is theirs for the whole frame. *bound: the greatest sum of bytes that must be held at once.
 */
int64_t ig_app_place(const struct ig_app *a, int32_t data_bytes, int64_t *offset, int64_t *bound);

enum ig_app_verdict { IG_APP_OK = 0, IG_APP_OVERLAP_LIVE, IG_APP_CONCURRENT_OVERLAP };
const char *ig_app_verdict_name(int verdict);
/* Checks offsets, from whichever algorithm, on one timeline of the whole application; why: one line. */
int ig_app_check(const struct ig_app *a, int32_t data_bytes, const int64_t *offset, char *why,
                 size_t why_bytes);

#endif
