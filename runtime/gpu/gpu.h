/*
 * Launches of a plan on one GPU. Device memory is had once: one block for constants (packed weights, zeros), one for the
 * arena and scratch. The launches of a frame, with the copies of its inputs and outputs, are captured into a CUDA graph
 * when it is opened, so that a frame is one launch. Source of the recipe: CUDA driver API, stream capture.
 *
 * The host's side of inputs and outputs is one page-locked block, the staging, and what the plan wants managed in
 * allocations of its own. How each passes the plan says (enum ig_gpu_kind); where the GPU cannot, it is copied.
 */
#ifndef RUNTIME_GPU_GPU_H
#define RUNTIME_GPU_GPU_H

#include "runtime/gpu/driver.h"

enum ig_gpu_region { IG_GPU_NULL = 0, IG_GPU_ARENA, IG_GPU_CONSTANTS, IG_GPU_STAGING }; /* top byte of a pointer in a
                                                                                              table */

/* An address in a table: `offset` bytes into `region`. */
#define IG_GPU_ADDRESS(region, offset) ((uint64_t)(region) << 56 | (uint64_t)(offset))

struct ig_gpu_call {        /* a launch */
    uint32_t function;      /* index into functions */
    uint32_t grid[3], block;
    uint32_t pointers;      /* leading words of params that are IG_GPU_ADDRESS */
    uint32_t words;         /* of params, 8 bytes each */
    uint32_t turns;         /* how many times it is done; if more than once, the int32 behind the pointers counts them from 0 */
    const uint64_t *params;
};

/* How an input or output passes between processor and GPU; the numbers are the plan's (planner/plan.h). */
enum ig_gpu_kind {
    IG_GPU_PINNED = 0,      /* copied from page-locked memory to the GPU's own, or back */
    IG_GPU_MAPPED,          /* launches use page-locked memory in place; the GPU does not cache it */
    IG_GPU_MANAGED          /* launches use memory in place that processor and GPU have by turns, each through its caches */
};

struct ig_gpu_copy {        /* an input or output of the frame */
    int64_t offset, bytes;  /* in the arena; in the staging if it is not pinned. One that is both has one offset */
    int32_t kind;           /* enum ig_gpu_kind */
};

struct ig_gpu_end {         /* where an input or output is */
    void *host;             /* for the processor */
    ig_cuda_address device; /* for launches */
};

/* Bytes that an input or output takes in the staging: inputs, then outputs, each at a multiple of 64. */
static inline int64_t ig_gpu_slot(const struct ig_gpu_copy *copy)
{
    return (copy->bytes + 63) / 64 * 64;
}

struct ig_gpu_plan {
    const void *fatbin;     /* the module, as cuModuleLoadData takes it */
    const char *const *functions;
    const struct ig_gpu_call *calls;
    const struct ig_gpu_copy *inputs, *outputs;
    int32_t n_functions, n_calls, n_inputs, n_outputs;
    int64_t arena_bytes, constants_bytes;
    const void *const *others; /* n_others more modules with the same functions, for chips that the first one lacks, and
                                  drivers that cannot read it */
    int32_t n_others;
};

enum { IG_GPU_FUNCTIONS = 64, IG_GPU_EDGES = 64, IG_GPU_WORDS = 32 };

struct ig_gpu {             /* an open plan; all members are its own */
    struct ig_cuda cuda;
    const struct ig_gpu_plan *plan;
    int device;
    char name[64];          /* of the device */
    int32_t sm, processors, integrated;
    int32_t maps, manages, registers; /* 1: it can; page-locked memory in place, managed memory, locking what there is */
    int32_t concurrent;     /* 1: the processor may touch managed memory while a kernel runs */
    int32_t ptx;            /* the chip, such as 62 of sm_62, whose PTX the driver has translated; 0: it took machine code */
    ig_cuda_context context;
    ig_cuda_module module;
    ig_cuda_function functions[IG_GPU_FUNCTIONS];
    ig_cuda_address arena, constants;
    ig_cuda_address twin;   /* of the staging, in the GPU's memory: for what is not pinned but has to be copied here */
    int32_t kinds[2 * IG_GPU_EDGES];         /* of inputs, then outputs, as this GPU can */
    struct ig_gpu_end ends[2 * IG_GPU_EDGES];
    ig_cuda_stream stream;
    ig_cuda_graph graph;
    ig_cuda_exec exec;
    void *staging;          /* page-locked */
    int beside;             /* 1: another one has opened what the two share */
    void (*at_close)(void *arg); /* set by who has more of the driver's open: ig_gpu_close calls it first */
    void *at_close_arg;
};

/*
 * Opens device 0 and brings `constants` (plan->constants_bytes) there. 0, or -1 with one line in `why` that says what is
 * missing - driver, device, code for this chip, memory - and nothing is left open.
 */
int ig_gpu_open(struct ig_gpu *gpu, const struct ig_gpu_plan *plan, const void *constants, char *why, size_t bytes);
/*
 * Opens another plan beside `first`, an open one with the same module, constants and size of arena, of which only one runs at
 * a time: it has a graph and a staging of its own. Closed before `first`. As ig_gpu_open.
 */
int ig_gpu_open_beside(struct ig_gpu *gpu, const struct ig_gpu *first, const struct ig_gpu_plan *plan, char *why,
                       size_t bytes);
/* A frame of zeros: what is left to go wrong does so here, and first launches take longer. 0, or -1 with `why`. */
int ig_gpu_try(struct ig_gpu *gpu, char *why, size_t bytes);
/*
 * One frame, one graph launch: inputs[i], outputs[i] are host memory of the plan's sizes. 0, or -1 with `why`. Nothing is
 * copied on the host where they are the staging's own places.
 */
int ig_gpu_run(struct ig_gpu *gpu, const void *const *inputs, void *const *outputs, char *why, size_t bytes);
/* Those places: inputs, then outputs. */
void *ig_gpu_place(const struct ig_gpu *gpu, int32_t i);
/*
 * The same frame without the graph, layer after layer: calls [first[i], first[i + 1]) for i < n, of which each is waited
 * for; ns[i] by `clock_ns`. The copies are in no layer's time.
 */
int ig_gpu_run_apart(struct ig_gpu *gpu, const void *const *inputs, void *const *outputs, const int32_t *first, int32_t n,
                     int64_t *ns, int64_t (*clock_ns)(void), char *why, size_t bytes);
/* Where the launches find an IG_GPU_ADDRESS. */
ig_cuda_address ig_gpu_address(const struct ig_gpu *gpu, uint64_t place);
/* Puts calls [first, first + n) of the plan on gpu->stream; the driver's error. */
int ig_gpu_enqueue(struct ig_gpu *gpu, int32_t first, int32_t n);
/*
 * The frame as a graph, with inputs and outputs at ends[] instead of the staging; *graph and *exec are then the caller's.
 * 0, or -1 with `why`.
 */
int ig_gpu_capture(struct ig_gpu *gpu, const struct ig_gpu_end *ends, ig_cuda_graph *graph, ig_cuda_exec *exec, char *why,
                   size_t bytes);
/* Launches a graph of these ends and waits for it; managed memory is the GPU's so long. 0, or -1 with `why`. */
int ig_gpu_frame(struct ig_gpu *gpu, ig_cuda_exec exec, const struct ig_gpu_end *ends, char *why, size_t bytes);
/* Fine after a failed open. */
void ig_gpu_close(struct ig_gpu *gpu);

#endif
