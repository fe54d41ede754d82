/* What the CPU does around a network: a picture becomes the input, the output becomes an answer. From --input-spec. */
#ifndef PLANNER_HOST_OPS_H
#define PLANNER_HOST_OPS_H

#include "graph/graph.h"

#define IG_HOST_OPS_HZ 3.7e9 /* of the core that the estimates are of */

enum ig_spec_layout { IG_SPEC_ANY, IG_SPEC_NCHW, IG_SPEC_NHWC };

struct ig_host_ops {
    int32_t short_side;                 /* resize=256: the shorter side becomes that; 0 */
    int32_t width, height;              /* resize=320x240; 0 */
    int32_t crop_w, crop_h;             /* crop=224; 0: the input's size */
    int32_t frame_w, frame_h, frame_c;  /* frames=640x480x3 of a stream; 0 */
    int32_t bgr, softmax, top;          /* order, softmax, top; top 0: not said */
    float nms, score;                   /* nms=0.5: boxes that overlap a better one more go; 0: no boxes. score=0.25: least */
    int32_t boxes, center;              /* boxes=100: of a class; 0: not said. box=center: see runtime/nms.h */
    int32_t boxes_out, scores_out;      /* the outputs that they are in; ig_host_ops_fit_boxes sets them, and: */
    int32_t n_boxes, n_classes;
    int32_t layout;                     /* enum ig_spec_layout */
    int32_t has_scale;                  /* scale, mean or std was said */
    float scale, mean[4], std[4];       /* (v * scale - mean)/std */
    int32_t n_mean, n_std;              /* numbers that were said: 0, 1 for all channels, or one for each */
    int32_t c, h, w, channels_last, type; /* of the input; ig_host_ops_fit sets them */
    double pre_ns, post_ns;             /* estimated, a frame on one core; ig_host_ops_fit sets them */
    char text[400];                     /* the spec in one line, as it is understood */
};

/* From "resize=256,crop=224,mean=0.485,0.456,0.406" or a JSON object of the same keys. 0, or -1 with a line in err that
 * names the key and what it takes. */
int ig_host_ops_parse(const char *spec, struct ig_host_ops *o, char *err, size_t err_bytes);
/* For the first input and the first output of a network. 0, or -1 with a line in err. */
int ig_host_ops_fit(struct ig_host_ops *o, const struct ig_shape *input, const struct ig_shape *output, char *err,
                    size_t err_bytes);

/* And for all its outputs, behind that, where there are boxes: [1,N,4] and [1,C,N] among the first two. 0, or -1. */
int ig_host_ops_fit_boxes(struct ig_host_ops *o, const struct ig_shape *const *outputs, int32_t n, char *err,
                          size_t err_bytes);

#endif
