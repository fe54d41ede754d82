/* Pictures of any size as a network's input: bilinear resize, centre crop, order of channels, (v * scale - mean)/std.
 */
#ifndef RUNTIME_PICTURE_H
#define RUNTIME_PICTURE_H

#include <stdint.h>

#include "graph/tensor.h"

struct ig_tap {       /* where a pixel lies between two of the source, along one axis */
    int32_t at, next; /* elements: the source's pixel, and the one behind it or itself at the edge */
    float part;       /* 0..1 of the way from one to the other */
};

struct ig_picture {
    int32_t c, h, w;              /* of the input; c: 1 or 3 */
    int32_t channels_last;        /* the input is [1,H,W,C]; else [1,C,H,W] */
    int32_t type;                 /* enum ig_type of the input: f32, f16, or u8, rounded to nearest */
    int32_t short_side;           /* pixels of the shorter side after resizing; 0: see below */
    int32_t width, height;        /* pixels after resizing, whatever the aspect; 0: not resized */
    int32_t bgr;                  /* the input's channel 0 is blue; pictures begin with red */
    float scale, mean[4], std[4]; /* but of u8, by channel of the input */
    struct ig_tap *columns;       /* [w]: overwritten by every call */
};

/*
 * dst: the input, dense, from w x h pixels of c bytes (1 grey, 3 red, green, blue), rows one after the other. Centres
 * of pixels are at halves, edges repeat, nothing is averaged when a picture shrinks; a grey picture counts as three
 * equal channels, a coloured one for a grey network as 0.299 R + 0.587 G + 0.114 B. 0; or -1: after resizing it is
 * smaller than the input.
 */
int ig_picture_fit(const struct ig_picture *p, const uint8_t *pixels, int32_t w, int32_t h, int32_t c, void *dst);
/* The shorter side becomes short_side, the other one keeps the aspect, rounded down; *w and *h: before and after. */
void ig_picture_resized(const struct ig_picture *p, int32_t *w, int32_t *h);

/* Each of `rows` rows of n values becomes exp(v - max)/sum, in place. */
void ig_softmax_rows(float *v, int64_t rows, int64_t n);

#endif
