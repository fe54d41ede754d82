/* Sliding windows as ONNX writes them, made explicit: used by convolutions and pools. */
#ifndef GRAPH_ONNX_WINDOW_H
#define GRAPH_ONNX_WINDOW_H

#include "graph/onnx/import.h"

enum { IM_NOTSET = 0, IM_SAME_UPPER, IM_SAME_LOWER, IM_VALID }; /* auto_pad */
enum { IM_MAX_WINDOW = 1 << 24 };

struct im_window {
    int rank; /* spatial dims, 1..3 */
    int auto_pad;
    int ceil; /* ceil_mode: the last window may hang over the padded image, so that the first need not fit */
    int64_t in[3], out[3]; /* image extents; out is 0 until it is known */
    int64_t k[3], s[3], d[3];
    int64_t begin[3], end[3];
};

/*
 * Attributes of n for data of shape x; kernel_shape from `weights` [.., .., k...] where the attribute is
 * absent.
 */
struct im_window im_window_read(struct im *m, const struct im_node *n, const struct ig_shape *x,
                                const struct ig_shape *weights);
/* Positions that one window covers along dim i. */
int64_t im_window_reach(const struct im_window *w, int i);
/* Padding of auto_pad and the output extents of a convolution or pool (rounded down: of ceil_mode maybe none). */
void im_window_resolve(struct im *m, struct im_window *w);
/* As the graph has it. */
struct ig_window im_window_make(const struct im_window *w);

#endif
