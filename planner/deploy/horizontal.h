/*
 * horizontal.json: layers that are split over several keys - by output channels (lop), input channels (lip), output
 * rows (height) or columns (width). AutoDiCE, both readings of its points; the ambiguous is refused.
 */
#ifndef PLANNER_DEPLOY_HORIZONTAL_H
#define PLANNER_DEPLOY_HORIZONTAL_H

#include "planner/deploy/mapping.h"

enum ig_split_mode { IG_SPLIT_OUT = 0, IG_SPLIT_IN, IG_SPLIT_HEIGHT, IG_SPLIT_WIDTH };

struct ig_hsplit {
    char *layer;     /* as the file names it */
    int32_t index;   /* of the layer */
    int32_t mode;    /* enum ig_split_mode */
    int32_t n;       /* parts */
    int64_t *points; /* [n] as the file has them; sizes once ig_hsplit_sizes has run */
    char **keys;     /* [n] names */
};

struct ig_hsplits {
    struct ig_hsplit *at;
    int32_t n;
};

struct ig_hsplits *ig_hsplits_read(const char *path, const struct ig_layers *l, char *err, size_t err_bytes);
void ig_hsplits_free(struct ig_hsplits *h);
/*
 * Points of a split over `extent` rows or channels, read as sizes (they add up to it, or the last is a sentinel beyond
 * it) or as cumulative ends (they increase and the last is it or a sentinel); both readings must agree. sizes[n]; 0, or
 * -1 with a line in err.
 */
int ig_hsplit_sizes(const struct ig_hsplit *s, int64_t extent, int64_t *sizes, char *err, size_t err_bytes);

#endif
