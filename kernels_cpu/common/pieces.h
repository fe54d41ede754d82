/*
 * How a convolution by products of pieces is cut (kernels_cpu/amx/conv.c): for the kernel, and for its scratch at build time.
 */
#ifndef KERNELS_CPU_COMMON_PIECES_H
#define KERNELS_CPU_COMMON_PIECES_H

#include <stddef.h>

#include "kernels_cpu/kernel.h"

enum {
    IG_PIECES = 3,                 /* of a float */
    IG_PIECES_K = 32,              /* k of a step: those of one row of a tile */
    IG_PIECES_ROWS = 16,           /* pixels of a tile, at most */
    IG_PIECES_WIDE = 32,           /* channels of two tiles side by side */
    IG_PIECES_STEP = IG_PIECES * 1024,              /* bytes of a step of a tile */
    IG_PIECES_STEPS = 32,          /* most steps whose pieces are there at a time */
    IG_PIECES_BYTES = 768 << 10,   /* of pixels, so that they stay in the second-level cache */
    IG_PIECES_TILES = 64,          /* of pixels, at most */
    IG_PIECES_PLACE = 24           /* bytes that a pixel's place takes */
};

struct ig_pieces {
    int32_t of_tap;                /* steps of a tap */
    int32_t steps;                 /* of the whole sum */
    int32_t most;                  /* steps at a time */
    int32_t tiles;                 /* of pixels at a time: even */
    int32_t oc;                    /* channels of a group, a whole number of tiles side by side */
};

static inline struct ig_pieces ig_pieces_of(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct ig_pieces p = {.of_tap = (call->in[0].c / conv->groups + IG_PIECES_K - 1) / IG_PIECES_K};
    p.steps = p.of_tap * conv->w.kh * conv->w.kw;
    int32_t parts = (p.steps + IG_PIECES_STEPS - 1) / IG_PIECES_STEPS;
    p.most = (p.steps + parts - 1) / parts;
    p.tiles = IG_PIECES_BYTES / (IG_PIECES_STEP * p.most) & ~1;
    if (p.tiles > IG_PIECES_TILES) p.tiles = IG_PIECES_TILES;
    int64_t needed = ((int64_t)call->out[0].h * call->out[0].w + 2 * IG_PIECES_ROWS - 1) / (2 * IG_PIECES_ROWS) * 2;
    if (p.tiles > needed) p.tiles = (int32_t)needed;
    p.oc = (call->out[0].c / conv->groups + IG_PIECES_WIDE - 1) / IG_PIECES_WIDE * IG_PIECES_WIDE;
    return p;
}

/* Bytes of pixels' pieces, of weights' pieces, and of the sums that wait for the rest of their products. */
static inline size_t ig_pieces_pixels(const struct ig_pieces *p)
{
    return (size_t)p->tiles * (size_t)p->most * IG_PIECES_STEP;
}

static inline size_t ig_pieces_weights(const struct ig_pieces *p)
{
    return 2 * 2 * (size_t)p->most * IG_PIECES_STEP;
}

static inline size_t ig_pieces_sums(const struct ig_pieces *p)
{
    size_t waiting = p->most < p->steps ? (size_t)p->tiles * IG_PIECES_ROWS * (size_t)p->oc : 0;
    return (waiting + 2 * IG_PIECES_ROWS * IG_PIECES_WIDE) * sizeof(float);
}

/* All that it takes, with the pixels' places. */
static inline size_t ig_pieces_scratch(const struct ig_pieces *p)
{
    size_t places = (size_t)p->tiles * IG_PIECES_ROWS * IG_PIECES_PLACE;
    return ig_pieces_pixels(p) + ig_pieces_weights(p) + ig_pieces_sums(p) + places;
}

#endif
