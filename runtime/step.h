/*
 * The baked form of a plan: static const tables that a generated file fills and runtime/run.c executes. A
 * step names its kernel directly, so the linker keeps the kernels that the plan uses and drops the others.
 */
#ifndef RUNTIME_STEP_H
#define RUNTIME_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "graph/op.h"
#include "graph/tensor.h"
#include "kernels_cpu/reach.h"

enum ig_space {                    /* the memory an operand lives in */
                IG_SPACE_NONE = 0, /* absent, or packed into the step's weights */
                IG_SPACE_ARENA,
                IG_SPACE_WEIGHTS,
                IG_SPACE_INPUT, /* the caller's input `index` */
                IG_SPACE_OUTPUT,
                IG_SPACE_SCRATCH, /* the thread's own: a ring between two members of a band */
                IG_SPACE_SLOT    /* the arena, but for the frame's copy of slot `index`; offset of the first copy */
};


struct ig_place { /* one operand of a step. Programs have some four a step: what need not be long is not */
    const struct ig_shape *shape;
    int64_t offset;                   /* bytes from the start of the space */
    int32_t h, w, c, ring_rows;       /* struct ig_operand */
    int32_t row_stride, pixel_stride; /* elements */
    int32_t image;                    /* elements from one image of a batch to the next */
    int16_t space;                    /* enum ig_space */
    int16_t index;                    /* input, output or slot number */
};

/*
 * A band is a run of steps that hand each other a few rows at a time, through rings: for every chunk of the last
 * member's rows, phase by phase, each member computes the rows that are needed after it and that are not there yet.
 * Where a phase is one tile of the last member's rows, every member goes tile by tile.
 */
struct ig_step {
    ig_kernel_fn *run;
    const void *attrs; /* the op's attribute struct, or NULL */
    const struct ig_place *in, *out;
    const struct ig_feed *feeds; /* of a member: what it reads of what members before it write */
    int64_t weights;       /* bytes into the weights; -1: none */
    int64_t scratch, scratch_bytes; /* thread 0's scratch: bytes into the arena; the next thread's lies so many bytes
                                       behind. Of a band's first member, for all */
    int32_t images;        /* of the batch, one kernel call each */
    int32_t rows, cols;    /* the output's extent */
    int32_t chunk, chunks; /* size of a chunk (rows or channels) and their number; a band's: its last member's */
    int32_t phase;         /* of a band's first member: rows of the last member's output a phase */
    int32_t row_tile;      /* of a member: rows that a range may start at */
    uint32_t kept;         /* of a band's first member: members whose output is needed afterwards, a bit each; where
                              there are others than the last, the band is one chunk */
    int16_t n_in, n_out;
    int8_t n_feeds;
    int8_t split;          /* 0: whole, 1: chunks of rows, 2: chunks of channels */
    int8_t band;           /* members of the band that this step opens; 0: it opens none */
};

struct ig_io {                    /* one input or output of the network, as the caller sees it */
    const char *name;             /* as in the ONNX file */
    const struct ig_shape *shape; /* dense, row-major, the ONNX file's own order (NCHW) */
};

struct ig_model {
    const char *name; /* C identifier */
    const struct ig_step *steps;
    const struct ig_io *inputs, *outputs;
    int32_t n_steps, n_inputs, n_outputs;
    int32_t threads;       /* the number that the plan was made for; any number works */
    int64_t arena_bytes;   /* activations and the scratch of that many threads */
    int64_t scratch_bytes; /* of every thread more than those, behind; a multiple of 64 */
    int64_t weights_bytes;
    int64_t zeros;         /* bytes into the weights: the zero region */
    uint64_t weights_hash; /* ig_blob_hash of the weights */
};

struct ig_layer {        /* words and figures about a step; only the hosted program links them */
    const char *name;    /* node name */
    const char *kernel;  /* variant */
    double macs;         /* multiply-accumulates */
    double predicted_ns; /* by the plan */
};

/* Hash of `n` bytes (n a multiple of 8): four 64-bit lanes of multiply-and-rotate, as fast as memory. */
static inline uint64_t ig_blob_hash(const void *blob, size_t n)
{
    const uint64_t k = 0x9e3779b97f4a7c15u;
    const unsigned char *p = (const unsigned char *)blob;
    uint64_t lane[4] = {k, k << 1, k << 2, k << 3};
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t v;
        __builtin_memcpy(&v, p + i, 8);
        uint64_t *l = &lane[(i >> 3) & 3];
        *l = (*l ^ v) * k;
        *l ^= *l >> 29;
    }
    uint64_t h = n;
    for (int i = 0; i < 4; i++) h = ((h ^ lane[i]) * k) ^ (h >> 31);
    return h;
}

#endif
