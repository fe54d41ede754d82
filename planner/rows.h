/*
 * Data by parts: how many rows of each tensor must be kept when layers run by rows, and in which order the
 * layers then fire. Pure arithmetic on heights and windows; nothing here knows a kernel.
 */
#ifndef PLANNER_ROWS_H
#define PLANNER_ROWS_H

#include <stdint.h>

struct ig_row_window {       /* what one reader sees: output row y reads rows y*stride - pad + i*dilation, i < taps */
    int32_t taps, dilation, stride;
    int32_t pad;             /* rows above the image */
};

/*
 * Rows of a ring between a producer that writes `made` rows at a time and a reader that wants `wanted` output
 * rows at a time, the producer firing only when it must. The closed form holds for every image that is high
 * enough for all phases to occur, and is never too small; at most `height`.
 */
int32_t ig_ring_closed(struct ig_row_window w, int32_t made, int32_t wanted, int32_t height);
/* The same for an image of `height` rows that becomes `out` rows: exact, by going through the phases. */
int32_t ig_ring_exact(struct ig_row_window w, int32_t made, int32_t wanted, int32_t height, int32_t out);

/*
 * Row overlap: the output of `out` rows may begin so many elements below its input of `height` rows, which dies meanwhile,
 * where rows are made one after the other from the first: row y then ends where the rows that y and later ones read begin,
 * or before. in_row, out_row: elements of a row. The two together take
 * max(distance + height * in_row, out * out_row).
 */
int64_t ig_overlap_distance(struct ig_row_window w, int32_t height, int32_t out, int64_t in_row, int64_t out_row);

struct ig_row_edge {         /* node `to` reads the rows of node `from`; from < to */
    int32_t from, to;
    struct ig_row_window window;
    int32_t up;              /* nearest upsampling: output rows per input row, window then {1, 1, 1, 0}; else 1 */
};

struct ig_row_net {          /* a part of a network that runs by rows, one row of a node at a time */
    int32_t n, n_edges;
    const int32_t *height;   /* [n] rows that each node makes */
    const int64_t *row_bytes; /* [n] of one row; 0: where the rows go is not this net's business */
    const struct ig_row_edge *edges;
};

struct ig_ticks {            /* node v makes row y at tick y*period[v] + start[v] */
    int64_t *period, *start; /* [n] */
    int32_t *ring;           /* [n] rows to keep; 0 where nobody reads */
    int64_t bytes;           /* sum of row_bytes * ring */
};

/*
 * One clock for all branches: as early as possible or as late as possible, whichever needs fewer bytes (ties:
 * early). 0, or -1 where paths between two nodes differ in stride, so that no clock exists. ig_ticks_free
 * after either.
 */
int ig_ticks_make(const struct ig_row_net *net, struct ig_ticks *t);
void ig_ticks_free(struct ig_ticks *t);
/* The same as late as possible, whatever that needs: what asking for rows from the last node back comes to. */
void ig_ticks_late(const struct ig_row_net *net, struct ig_ticks *t);
/* Rows of each ring, and the bytes, for starts that the caller chose. */
void ig_ticks_measure(const struct ig_row_net *net, struct ig_ticks *t);
/* All firings by tick, within a tick by node: sum of heights nodes, to be freed. */
int32_t *ig_ticks_order(const struct ig_row_net *net, const struct ig_ticks *t, int32_t *n);

#endif
