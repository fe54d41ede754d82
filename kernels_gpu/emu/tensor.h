/* A product of a warp by tensor cores: what a lane has of it. */
#ifndef KERNELS_GPU_EMU_TENSOR_H
#define KERNELS_GPU_EMU_TENSOR_H

#include <stdint.h>

#include "kernels_gpu/emu/emu.h"

struct emu_fragment {
    uint32_t a[4], b[2];  /* two bfloat16 each */
    float sum[4];
    int is_done;
};

/* Of all lanes: sum += a b, and is_done. */
void emu_multiply(struct emu_fragment *lanes[EMU_WARP]);

#endif
