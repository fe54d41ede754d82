/*
 * Inside the GEMM driver: a range of output pixels and channels, cut into blocks of pixel groups, whose tables of
 * addresses are filled and then walked by the micro-kernels. conv_gemm.c, first_gemm.c and deconv_gemm.c differ in how
 * they find a pixel's taps, no more.
 */
#ifndef KERNELS_CPU_COMMON_GEMM_BLOCK_H
#define KERNELS_CPU_COMMON_GEMM_BLOCK_H

#include "kernels_cpu/common/conv_gemm.h"

enum { IG_GEMM_MAX_BLOCK = 64 };    /* most groups whose addresses are in the table at a time */

/*
 * Groups whose pixels lie evenly and have no tap in the padding differ in an offset only: they share the tables of one
 * such group, and nothing is filled in for them.
 */
struct ig_gemm_group {
    const float **a;                /* [tap][mr] */
    float **c;                      /* [mr] */
    const float **r;                /* the same; NULL without a residual */
    int64_t a_offset, c_offset, r_offset; /* bytes */
    int32_t count;                  /* pixels */
    int32_t run;                    /* groups from here on that one call of a micro-kernel can take: >= 1 */
    int32_t tap, taps;              /* all but these, from `tap` on, are in the padding: not computed with; taps >= 1 */
};

struct ig_gemm_tables {             /* in scratch */
    struct ig_gemm_group group[IG_GEMM_MAX_BLOCK];
    const float **a;                /* [group][tap][mr] */
    float **c;                      /* [group][mr] */
    const float **r;                /* the same */
    const float **even_a;           /* [tap][mr] of the groups that share: taps at the input's element 0 and on */
    float **even_c;                 /* [mr] from the output's element 0 on */
    const float **even_r;
    const float **rows;             /* [taps] room for the input rows of one output row */
    float *tile;                    /* [mr][nr], where a panel does not fit the output */
    float *tile_row[IG_GEMM_MAX_MR];
};

enum ig_gemm_order {
    IG_GEMM_PANELS_INSIDE,          /* block > group > panel: a group's pixels stay in L1, the weights in a cache */
    IG_GEMM_GROUPS_INSIDE           /* block > panel > group: a panel is read once a block, fetched ahead */
};

struct ig_gemm_job;
struct ig_gemm_walk;

/*
 * Where the taps of the next n pixels, which may cross rows, are those of t.even_a moved on: 1, and by how many bytes.
 */
typedef int ig_gemm_even_fn(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at, int32_t n,
                            int64_t *offset);

struct ig_gemm_job {
    const struct ig_call *call;
    const struct ig_gemm_set *set;
    struct ig_range range;
    const float *weights;           /* packed panels */
    struct ig_act act;              /* what the micro-kernel cannot do; kind IG_NONE if it can */
    struct ig_act clamp;            /* what it can, by flags, where they are not 0: set->act gives the same bits */
    int32_t ic, oc;                 /* of one convolution group */
    int64_t taps, k, panel;         /* floats of a panel */
    int32_t panels;                 /* of one convolution group */
    int32_t block;                  /* groups of a block */
    int32_t order;                  /* enum ig_gemm_order */
    struct ig_gemm_args args;       /* what all tiles share */
    float *packed;                  /* room for packed pixels, or NULL: see gemm_packed.h */
    int64_t padding;                /* taps of the block's groups that are not computed with */
    ig_gemm_even_fn *even;          /* NULL: no groups share t.even_a, which its owner fills after ig_gemm_size */
    int even_in;                    /* set by its owner: all pixels share t.even_a, also those of successive rows */
    int even_out, even_r;           /* pixels of successive rows lie evenly, too */
    struct ig_gemm_tables t;
};

/* Output pixels in order: `width` of them, x_step apart, in each of the rows y, y + y_step, ... */
struct ig_gemm_walk {
    int32_t y, y_step, rows;
    int32_t x, x_step, width;       /* x: column of the first pixel of a row */
    int32_t i;                      /* pixels of row y that are done */
};

/*
 * Fills in the taps of the next n pixels, all of row at->y: slot[tap*mr + m] is the address of pixel at->i + m's.
 * job->t.rows is the function's own: set where at->i is 0, kept until the row ends.
 */
typedef void ig_gemm_place_fn(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at,
                              const float **slot, int32_t n);

/* Bytes of the tables, with the largest blocks and panels; with panels of nr channels and at most `block` groups. */
size_t ig_gemm_table_bytes(int64_t taps, int32_t mr);
size_t ig_gemm_block_bytes(int64_t taps, int32_t mr, int32_t nr, int32_t block);
/* Most pixels of a block. */
int32_t ig_gemm_block_pixels(int64_t taps, int32_t mr);
/* A job with everything but sizes. */
void ig_gemm_start(struct ig_gemm_job *job, const struct ig_call *call, const struct ig_gemm_set *set,
                   struct ig_range range, const struct ig_act *act);
/* The sizes, the order and block that suit them, the tables at `scratch`; weights: the first panel. */
void ig_gemm_size(struct ig_gemm_job *job, int32_t ic, int32_t oc, int64_t taps, int64_t k, const float *weights,
                  void *scratch);
/* All pixels of the walk by the channels of the range. */
void ig_gemm_run(struct ig_gemm_job *job, struct ig_gemm_walk walk, ig_gemm_place_fn *place, void *state);
/* c = act(tile + r) for n channels: the operations of the micro-kernels, in their order. r may be NULL. */
void ig_gemm_finish(const struct ig_gemm_job *job, const float *tile, float *c, const float *r, int32_t n);

static inline int ig_gemm_has_residual(const struct ig_call *call)
{
    return call->n_in > 3 && call->in[3].data;
}

#endif
