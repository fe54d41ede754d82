/* Boxes as a network's answer: non-maximum suppression of two of its outputs. Only in programs whose input spec says so. */
#ifndef RUNTIME_HOST_BOXES_H
#define RUNTIME_HOST_BOXES_H

#include "runtime/host/program.h"
#include "runtime/nms.h"

struct ig_boxes {           /* filled by the generated main file */
    struct ig_nms nms;
    int32_t boxes, scores;  /* numbers of the outputs: [1, n, 4] and [1, classes, n], f32 */
    int32_t *left;          /* [nms.n] to work in, of the thread that prints */
    /* Functions of the same names below. */
    int (*find)(const struct ig_session *s, struct ig_pick picks[IG_MAX_TOP], int most);
    void (*print)(const struct ig_session *s, const struct ig_options *o, double ms);
};

/* The best of the frame's boxes: how many. */
int ig_boxes_find(const struct ig_session *s, struct ig_pick picks[IG_MAX_TOP], int most);
/* A line, or an object in a line, in place of the best classes. */
void ig_boxes_print(const struct ig_session *s, const struct ig_options *o, double ms);

#endif
