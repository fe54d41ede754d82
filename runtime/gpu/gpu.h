/*
 * Launches of a plan on one GPU. Device memory is had once: one block for constants (packed weights, zeros), one for the
 * arena and scratch. The launches of a frame, with the copies of its inputs and outputs, are captured into a CUDA graph
 * when it is opened, so that a frame is one launch. Source of the recipe: CUDA driver API, stream capture.
 */
#ifndef RUNTIME_GPU_GPU_H
#define RUNTIME_GPU_GPU_H

#include "runtime/gpu/driver.h"

enum ig_gpu_region { IG_GPU_NULL = 0, IG_GPU_ARENA, IG_GPU_CONSTANTS }; /* top byte of a pointer in a table */

/* An address in a table: `offset` bytes into `region`. */
#define IG_GPU_ADDRESS(region, offset) ((uint64_t)(region) << 56 | (uint64_t)(offset))

struct ig_gpu_call {        /* one launch */
    uint32_t function;      /* index into functions */
    uint32_t grid[3], block;
    uint32_t pointers;      /* leading words of params that are IG_GPU_ADDRESS */
    uint32_t words;         /* of params, 8 bytes each */
    const uint64_t *params;
};

struct ig_gpu_copy {        /* an input or output of the frame */
    int64_t offset, bytes;  /* in the arena */
};

struct ig_gpu_plan {
    const void *fatbin;     /* the module */
    const char *const *functions;
    const struct ig_gpu_call *calls;
    const struct ig_gpu_copy *inputs, *outputs;
    int32_t n_functions, n_calls, n_inputs, n_outputs;
    int64_t arena_bytes, constants_bytes;
};

enum { IG_GPU_FUNCTIONS = 64, IG_GPU_EDGES = 16, IG_GPU_WORDS = 32 };

struct ig_gpu {             /* an open plan; all members are its own */
    struct ig_cuda cuda;
    const struct ig_gpu_plan *plan;
    int device;
    char name[64];          /* of the device */
    int32_t sm, processors, integrated;
    ig_cuda_context context;
    ig_cuda_module module;
    ig_cuda_function functions[IG_GPU_FUNCTIONS];
    ig_cuda_address arena, constants;
    ig_cuda_stream stream;
    ig_cuda_graph graph;
    ig_cuda_exec exec;
    void *staging;          /* page-locked: inputs, then outputs, each at a multiple of 64 */
};

/*
 * Opens device 0 and brings `constants` (plan->constants_bytes) there. 0, or -1 with one line in `why` that says what is
 * missing - driver, device, code for this chip, memory - and nothing is left open.
 */
int ig_gpu_open(struct ig_gpu *gpu, const struct ig_gpu_plan *plan, const void *constants, char *why, size_t bytes);
/* One frame: inputs[i], outputs[i] are host memory of the plan's sizes. 0, or -1 with `why`. */
int ig_gpu_run(struct ig_gpu *gpu, const void *const *inputs, void *const *outputs, char *why, size_t bytes);
/* Puts calls [first, first + n) of the plan on gpu->stream; the driver's error. */
int ig_gpu_enqueue(struct ig_gpu *gpu, int32_t first, int32_t n);
/* Fine after a failed open. */
void ig_gpu_close(struct ig_gpu *gpu);

#endif
