/* Non-maximum suppression, as ONNX's NonMaxSuppression does it, of the boxes of one picture. Allocates nothing. */
#ifndef RUNTIME_NMS_H
#define RUNTIME_NMS_H

#include <stdint.h>

struct ig_nms {
    int32_t n, classes; /* boxes, and classes that each has a score of */
    int32_t center;     /* a box is its centre's two coordinates, then its two sides; else two opposite corners */
    int32_t most;       /* boxes that are kept of a class */
    float iou, score;   /* a box goes if it overlaps a better one of its class by more; only above that score */
};

struct ig_pick {
    int32_t box, of; /* numbers of the box and of its class */
    float score;
};

/*
 * The `room` best of all boxes that are kept, best first, of equals the lower class, then the lower box first: returns how
 * many. boxes[n][4], scores[classes][n]; left[n]: to work in; picks[room].
 */
int32_t ig_nms(const struct ig_nms *m, const float *boxes, const float *scores, int32_t *left, struct ig_pick *picks,
               int32_t room);

#endif
