/*
 * horizontal.json: layers that are split over several keys - by output channels (lop), input channels (lip), output
 * rows (height) or columns (width). AutoDiCE, both readings of its points; the ambiguous is refused.
 */
#ifndef PLANNER_DEPLOY_HORIZONTAL_H
#define PLANNER_DEPLOY_HORIZONTAL_H

#include "planner/deploy/mapping.h"

enum ig_split_mode { IG_SPLIT_OUT = 0, IG_SPLIT_IN, IG_SPLIT_HEIGHT, IG_SPLIT_WIDTH };
enum ig_points { IG_POINTS_EITHER = 0, IG_POINTS_SIZES, IG_POINTS_ENDS,
                 IG_POINTS_AUTO /* none: shared out by speed */ }; /* what the file says that points are */

/* What the file calls a mode; NULL: it is none. */
const char *ig_hsplit_mode(int32_t mode);

struct ig_hsplit {
    char *layer;     /* as the file names it */
    int32_t index;   /* of the layer */
    int32_t mode;    /* enum ig_split_mode */
    int32_t reading; /* enum ig_points; EITHER is AutoDiCE's bare list */
    int32_t n;       /* parts */
    int64_t *points; /* [n] as the file has them; NULL: AUTO */
    char **keys;     /* [n] names */
};

struct ig_hsplits {
    struct ig_hsplit *at;
    int32_t n;
};

struct ig_hsplits *ig_hsplits_read(const char *path, const struct ig_layers *l, char *err, size_t err_bytes);
void ig_hsplits_free(struct ig_hsplits *h);
/* The split of that layer; NULL: it is whole. */
const struct ig_hsplit *ig_hsplits_find(const struct ig_hsplits *h, int32_t layer);
/* Names of the layers that are split, h->n of them, for ig_mapping_read; free() takes the array. h may be NULL. */
const char **ig_hsplits_layers(const struct ig_hsplits *h);
/*
 * The mapping must list a split layer on all keys of its parts and on no other. 0, or -1 with all that is wrong in err;
 * `path` is what messages call the file.
 */
int ig_hsplits_match(const struct ig_hsplits *h, const struct ig_layers *l, const struct ig_mapping *m,
                     const char *path, char *err, size_t err_bytes);
/*
 * Points of a split over `extent` rows or channels, read as sizes (they add up to it, or the last is a sentinel beyond
 * it: the rest) or as cumulative ends (they increase and the last is it or a sentinel); where both readings are possible
 * they must agree, or the file must say which. AUTO has none. sizes[n], each at least 1; 0, or -1 with a line in err.
 */
int ig_hsplit_sizes(const struct ig_hsplit *s, int64_t extent, int64_t *sizes, char *err, size_t err_bytes);

#endif
