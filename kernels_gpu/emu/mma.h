/* Products of a warp by tensor cores: what a lane has of them. */
#ifndef KERNELS_GPU_EMU_MMA_H
#define KERNELS_GPU_EMU_MMA_H

#include <stdint.h>

#include "kernels_gpu/emu/emu.h"

enum { EMU_MOST_MMA = 2, EMU_WMMA_SUMS = 8 };

struct emu_fragment {
    uint32_t a[EMU_MOST_MMA][4], b[EMU_MOST_MMA][2]; /* two bfloat16 each; of a wmma a[0] and a[1] are its operands, eight sums follow */
    float sum[EMU_MOST_MMA * EMU_MOST_MMA][4];
    const void *site; /* the instruction: where its call returns to */
    int is_done;
};

/* Of all lanes: sum += a b, for rows x columns of them, and is_done. */
void emu_multiply(int rows, int columns, struct emu_fragment *lanes[EMU_WARP]);
/* The same of a wmma on binary16. */
void emu_multiply_halves(struct emu_fragment *lanes[EMU_WARP]);
/* And on signed bytes, whose sums are integers. */
void emu_multiply_bytes(struct emu_fragment *lanes[EMU_WARP]);

#endif
