/* The emulator's own side: what kernels compiled for the host call, and what a driver or a test calls. */
#ifndef KERNELS_GPU_EMU_EMU_H
#define KERNELS_GPU_EMU_EMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EMU_GUARD = 64, EMU_WARP = 32, EMU_MAX_THREADS = 1024, EMU_MAX_GRID = 65535 /* of y and z */ };

struct emu_dim {
    unsigned x, y, z;
};

struct emu_now {        /* of the thread that runs */
    struct emu_dim thread, block, block_dim, grid_dim;
};

extern struct emu_now emu_now;

/* --- called by kernels --- */
/* Lanes of a warp meet at one line of the source: a call itself the host's compiler may have made several of. */
void emu_barrier(int line);
/* The value that lane `from` of this warp brings to the same call; `lanes` must name all of the warp. */
uint32_t emu_shuffle(uint32_t lanes, uint32_t value, int from, int line);
/*
 * mma.m16n8k16 of the PTX manual on bfloat16, for rows x columns of sums, up to two each: what a lane has of 16 x 8 sums [row][column],
 * of 16 x 16 [row] and of 16 x 8 numbers [column], two of these a word. Sums are cut off after every four products: chips add up 8
 * or 16 at once.
 */
void emu_mma_bf16(int rows, int columns, float *sum, const float *a, const unsigned *b);
/*
 * wmma of 16 x 16 sums by binary16 numbers, of which a lane has half a row each: eight sums, and four words of two numbers. Cut off as
 * above.
 */
void emu_wmma(float *sum, const unsigned *a, const unsigned *b);
/* The same by signed bytes, two words of four numbers. Sums are exact modulo 2^32. */
void emu_wmma_bytes(int *sum, const unsigned *a, const unsigned *b);
int emu_chip(void); /* 90: what the chip has is sm_90's; tensor cores came with 70, on bytes with 72, on bfloat16 and copies with 80 */
void emu_set_chip(int sm); /* from now on */
/* Of device memory, by one of several threads that do so at once; what was there. */
int emu_atomic_max(int *p, int value);
/* An access of `bytes` at p is about to come. */
void emu_aligned(const void *p, size_t bytes);
/* The same, and it is one access, of 16 bytes at most, that the host's compiler may take apart. */
void emu_vector(const void *p, size_t bytes);
/* Shared memory [data, data + bytes) within its guards, from the thread's first statements; every thread says it. */
void emu_shared(const char *name, void *guarded, size_t guarded_bytes, void *data, size_t bytes);

/* 4 or 16 bytes of shared memory from device memory, or zeros (NULL), by the time that its thread has waited for its group. */
void emu_copy(float *to, const float *from, unsigned bytes);
/* Ends a group; waits until at most `left` groups of this thread are under way. */
void emu_copy_group(void);
void emu_copy_wait(unsigned left);

/* --- device memory: what kernels may do with a byte --- */
enum emu_access { EMU_GAP = 0, EMU_READ = 1, EMU_WRITE = 2 }; /* both may be set */

/* Whole blocks of gap, 256-byte aligned, full of NaN; NULL: no room. */
void *emu_alloc(size_t bytes);
void emu_free(void *block);
/* 1 if [address, address + bytes) is in allocated blocks. */
int emu_is_device(const void *address, size_t bytes);
/* Memory of the host that kernels may read and write from now on, up to `emu_unregister`. 0, or -1: some of it is already. */
int emu_register(void *address, size_t bytes);
int emu_unregister(void *address);
/* 1 if it is in such memory. */
int emu_is_registered(const void *address, size_t bytes);
/* What kernels may do with bytes of a block. */
void emu_allow(void *address, size_t bytes, unsigned access);

/*
 * From now on reads of device memory [address, address + bytes) are counted as a GPU without caches makes them: lanes of a
 * warp whose n-th reads of it are of one address read it once. NULL: none are.
 */
void emu_watch(const void *address, size_t bytes);
/* Bytes that were read since. */
unsigned long long emu_watched(void);

enum emu_kind { EMU_SHARED_LOAD, EMU_SHARED_STORE, EMU_GLOBAL_LOAD, EMU_GLOBAL_STORE };
struct emu_flow {
    double requests;        /* of warps */
    double units, least;    /* wavefronts of shared memory or sectors of device memory: made, and without conflicts or gaps */
};
struct emu_traffic {        /* of a launch */
    const char *name;
    uint64_t blocks;
    unsigned threads;       /* of a block */
    double times;           /* that it stands for; the counts are of one */
    struct emu_flow flow[4]; /* by enum emu_kind */
    double products;        /* of tensor cores: multiply-adds of halves, two of bytes as one */
    double block_sectors;   /* that are loaded, each once a block: what a first-level cache that holds all leaves */
};
/*
 * From now on a launch runs `blocks` blocks at most, spread over its grid, and what these do to memory is counted and taken for all
 * blocks; what it computes is not whole. 0: as usual.
 */
void emu_count(unsigned blocks);
/* Launches that are counted from now on stand for so many each. */
void emu_count_as(double times);
/* Of the i-th launch since, up to 8; NULL: there was none. */
const struct emu_traffic *emu_counted(unsigned i);

/* --- launches --- */
typedef void emu_kernel_fn(const void *params);

/* The function of that name, compiled for the host; NULL: there is none. */
emu_kernel_fn *emu_function(const char *name);

/*
 * Runs a grid to its end. 0; or -1 at the first fault (a race on shared memory, an access outside of what is allowed,
 * misaligned or before initialisation, a barrier that not all threads reach), with one line in emu_fault().
 */
int emu_launch(const char *name, emu_kernel_fn *kernel, struct emu_dim grid, unsigned threads, const void *params);
const char *emu_fault(void);
/* From now on the n-th barrier that each thread comes to (from 0) is not there; -1: all are. To test the emulator. */
void emu_omit_barrier(int n);

/* --- within the emulator --- */
/* Ends the launch; does not return. `format` as in printf. */
void emu_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* A new phase of the block: all threads have met. */
void emu_check_phase(void);
/* A new launch of so many blocks. */
void emu_check_launch(uint64_t blocks);
/* A new block: shared memory is not there yet. */
void emu_check_block(void);
/* The same for what is watched; and a read by the running thread, of bytes that it may read. */
void emu_watch_block(void);
void emu_watch_read(const void *p, size_t bytes);
extern int emu_is_watching; /* 1: something is, and reads are to be told */
/* An access of the running thread, of 16 bytes at most, as if the kernel had made it. */
void emu_check_read(const void *p, size_t bytes);
void emu_check_write(const void *p, size_t bytes, const void *site); /* site: in the kernel's code */
/* The same for what is counted: a launch, a block of it, all threads meet; the blocks that ran; what is one
 * access, and an access. */
void emu_traffic_launch(const char *name, uint64_t blocks, unsigned threads);
void emu_traffic_block(void);
void emu_traffic_phase(void);
void emu_traffic_end(uint64_t ran);
void emu_traffic_products(int n);
void emu_traffic_vector(const void *p, size_t bytes);
void emu_traffic_access(const void *site, const void *p, size_t bytes, int kind);
extern int emu_is_counting;
unsigned emu_sampled(void); /* what emu_count was given */
/* No copy is under way. */
void emu_copy_block(void);
/* The thread of emu_now goes on, on this stack, which it may use as it likes. */
void emu_check_thread(const void *low, const void *high);

#ifdef __cplusplus
}
#endif

#endif
