/* What common/depthwise_fours.inc and the sums of an ISA share. */
#ifndef KERNELS_CPU_COMMON_DEPTHWISE_FOURS_H
#define KERNELS_CPU_COMMON_DEPTHWISE_FOURS_H

#include "kernels_cpu/common/conv_bytes.h"

enum { FOURS_OUTPUTS = 32 /* at a time, at most */ };

struct fours {                  /* the words of an output */
    int32_t n, row;             /* how many; of a kernel row */
    int32_t flip;               /* what bytes are flipped by */
    const uint8_t **at;         /* [4 n] pixels */
    int64_t *step;              /* [n] bytes from a word's pixel to its next one, 0 in the padding */
};

#endif
