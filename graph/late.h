/*
 * Constants that are not there yet: large ones of a file, whose elements a reader of rows may fetch piece by piece. Their
 * `data` is an address without content, by which they are known in clones, too.
 */
#ifndef GRAPH_LATE_H
#define GRAPH_LATE_H

#include "graph/graph.h"

struct ig_late {
    const void *data;        /* NULL: it is there */
    int fd;                  /* of the file */
    int64_t offset, bytes;   /* in it */
    struct ig_shape from;    /* of the elements in the file, a row in dims[0]; rank 0: they are taken as they are */
    int32_t perm[IG_MAX_RANK]; /* of each row, as of IG_TRANSPOSE */
    struct ig_late *next;
};

/* The constant at `data` will be those bytes. 0, or -1 with errno. */
int ig_late_add(struct ig_graph *g, const void *data, int fd, int64_t offset, int64_t bytes);
/* NULL: what is at `data` is there. */
struct ig_late *ig_late_of(const struct ig_graph *g, const void *data);
/* Rows [first, end) of so many. 0, or -1 with errno. */
int ig_late_read(const struct ig_late *l, int64_t first, int64_t end, int64_t rows, void *to);
/* Fills in what is at `data`, where it is not there yet. Fatal where the file cannot be read. */
void ig_late_fetch(const struct ig_graph *g, const void *data);

#endif
