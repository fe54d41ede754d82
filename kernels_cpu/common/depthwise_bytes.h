/* What common/depthwise_bytes.inc and the sums of an ISA share. */
#ifndef KERNELS_CPU_COMMON_DEPTHWISE_BYTES_H
#define KERNELS_CPU_COMMON_DEPTHWISE_BYTES_H

#include "kernels_cpu/common/conv_bytes.h"

enum { DEPTHWISE_PIXELS = 16 }; /* at a time, at most */

struct taps {               /* of an output pixel; of the next one each lies `step` bytes further */
    const uint8_t **at;
    int64_t *step;          /* 0 in the padding */
    int32_t pairs;
};

#endif
