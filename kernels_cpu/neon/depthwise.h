/* The sliding depthwise kernels of depthwise3x3.S. */
#ifndef KERNELS_CPU_NEON_DEPTHWISE_H
#define KERNELS_CPU_NEON_DEPTHWISE_H

#include <stdint.h>

enum ig_slide_flags {
    IG_SLIDE_HI = 2,    /* min with hi, after the max with lo */
    IG_SLIDE_FIRST = 4, /* the first output's first column is outside the image: `in` is at the second */
    IG_SLIDE_LAST = 8   /* the last output's last column is */
};

enum { IG_SLIDE_ROWS = 4, IG_SLIDE_IN = 9 };

/* 3x3, quads of channels, n outputs of 1 to 4 rows. Assembly knows the offsets: do not reorder. */
struct ig_slide {
    const float *in[IG_SLIDE_IN];   /*   0: input rows from the top, 3 + (rows - 1) * stride of them */
    int64_t step[IG_SLIDE_IN];      /*  72: bytes to the next column, 0 for a row of zeros */
    int64_t back[IG_SLIDE_IN];      /* 144: bytes from behind the last column to the next quad's first */
    float *out[IG_SLIDE_ROWS];      /* 216 */
    int64_t out_step;               /* 248: bytes to the next pixel */
    int64_t out_back;               /* 256: bytes from behind the last output to the next quad's first */
    const float *w;                 /* 264: per quad bias[4], then w[9][4], taps row by row */
    int64_t quads;                  /* 272: >= 1 */
    int64_t loops;                  /* 280: stride 1: (n - 2) / 3, stride 2: (n - 1) / 2 */
    int64_t rest;                   /* 288: the remainder; -1 for n = 1 at stride 1 */
    int32_t flags;                  /* 296: enum ig_slide_flags */
    float lo, hi;                   /* 300, 304 */
};

typedef void ig_slide_fn(const struct ig_slide *slide);
ig_slide_fn ig_slide_1s1_neon, ig_slide_2s1_neon, ig_slide_3s1_neon, ig_slide_4s1_neon, ig_slide_1s2_neon,
    ig_slide_2s2_neon, ig_slide_3s2_neon, ig_slide_4s2_neon;

#endif
