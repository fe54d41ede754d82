/*
 * A grid, block by block; a block's threads as fibers on one host thread, each running until it meets a barrier, a
 * shuffle or its end. Threads of a warp do not run in lockstep here: what is right only so is found wrong.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels_gpu/emu/emu.h"
#include "kernels_gpu/emu/mma.h"

enum { STACK_BYTES = 64 << 10, TEXT = 400 };

/* What emu_switch keeps on a stack, and what is left above it so that a function begins with its usual alignment. */
#if defined(__x86_64__)
enum { SAVED_WORDS = 7, RETURN_WORD = 6, UNUSED_WORDS = 1 };
#elif defined(__aarch64__)
enum { SAVED_WORDS = 20, RETURN_WORD = 11, UNUSED_WORDS = 2 };
#endif

enum state { RUNNABLE, AT_BARRIER, AT_SHUFFLE, AT_MMA, DONE };

struct emu_context {
    void *stack;            /* pointer, where its saved registers lie */
};

void emu_switch(struct emu_context *from, const struct emu_context *to);

struct thread {
    struct emu_context context;
    enum state state;
    int line;               /* of the source: of the barrier or shuffle that it waits at */
    uint32_t brought[2];    /* to shuffles, by turns */
    unsigned shuffles;      /* done */
    struct emu_fragment fragment; /* of a product by tensor cores */
    int barriers;           /* come to */
};

struct emu_now emu_now;

static struct thread threads[EMU_MAX_THREADS];
static struct emu_context scheduler;
static unsigned running, count;
static unsigned char *stacks;
static const char *kernel_name;
static emu_kernel_fn *kernel;
static const void *kernel_params;
static int failed, omitted = -1, chip = 90;
static char fault[TEXT];

const char *emu_fault(void)
{
    return fault;
}

static void leave(enum state state)
{
    threads[running].state = state;
    emu_switch(&threads[running].context, &scheduler);
}

void emu_fail(const char *format, ...)
{
    va_list args;
    const struct emu_now *n = &emu_now;
    int at = snprintf(fault, sizeof fault, "%s, block (%u,%u,%u), thread %u: ", kernel_name, n->block.x, n->block.y,
                      n->block.z, n->thread.x);
    va_start(args, format);
    vsnprintf(fault + at, sizeof fault - (size_t)at, format, args);
    va_end(args);
    failed = 1;
    leave(DONE);
    abort();
}

void emu_omit_barrier(int n)
{
    omitted = n;
}

void emu_barrier(int line)
{
    threads[running].line = line;
    if (threads[running].barriers++ != omitted) leave(AT_BARRIER);
}

uint32_t emu_shuffle(uint32_t lanes, uint32_t value, int from, int line)
{
    struct thread *t = &threads[running], *warp = t - running % EMU_WARP;
    if (lanes != 0xffffffff) emu_fail("a shuffle of part of a warp");
    unsigned turn = t->shuffles++ & 1;
    t->brought[turn] = value;
    t->line = line;
    leave(AT_SHUFFLE);
    return warp[from].brought[turn];
}

int emu_chip(void)
{
    return chip;
}

void emu_set_chip(int sm)
{
    chip = sm;
}

/*
 * Waits for the lanes of this warp, which bring theirs to the same product. 1: it is this one that computes it, of all, which takes as long as so
 * many multiply-adds of halves.
 */
static int meet(struct emu_fragment *mine, const void *site, int macs, struct emu_fragment *lanes[EMU_WARP])
{
    struct thread *warp = &threads[running - running % EMU_WARP];
    if (count % EMU_WARP) emu_fail("tensor cores by part of a warp");
    mine->is_done = 0;
    mine->site = site;
    leave(AT_MMA);
    for (int i = 0; i < EMU_WARP && !mine->is_done; i++) {
        lanes[i] = &warp[i].fragment;
        if (lanes[i]->site != site) emu_fail("lanes of a warp are at different products");
    }
    if (!mine->is_done && emu_is_counting) emu_traffic_products(macs);
    return !mine->is_done;
}

void emu_mma_bf16(int rows, int columns, float *sum, const float *a, const unsigned *b)
{
    struct emu_fragment *lanes[EMU_WARP], *mine = &threads[running].fragment;
    memcpy(mine->a, a, (size_t)rows * sizeof mine->a[0]);
    memcpy(mine->b, b, (size_t)columns * sizeof mine->b[0]);
    memcpy(mine->sum, sum, (size_t)(rows * columns) * sizeof mine->sum[0]);
    if (meet(mine, __builtin_return_address(0), rows * columns * 16 * 8 * 16, lanes)) emu_multiply(rows, columns, lanes);
    memcpy(sum, mine->sum, (size_t)(rows * columns) * sizeof mine->sum[0]);
}

void emu_wmma(float *sum, const unsigned *a, const unsigned *b)
{
    struct emu_fragment *lanes[EMU_WARP], *mine = &threads[running].fragment;
    memcpy(mine->a[0], a, sizeof mine->a[0]);
    memcpy(mine->a[1], b, sizeof mine->a[1]);
    memcpy(mine->sum, sum, EMU_WMMA_SUMS * sizeof *sum);
    if (meet(mine, __builtin_return_address(0), 16 * 16 * 16, lanes)) emu_multiply_halves(lanes);
    memcpy(sum, mine->sum, EMU_WMMA_SUMS * sizeof *sum);
}

void emu_wmma_bytes(int *sum, const unsigned *a, const unsigned *b)
{
    struct emu_fragment *lanes[EMU_WARP], *mine = &threads[running].fragment;
    memcpy(mine->a[0], a, 2 * sizeof *a);
    memcpy(mine->a[1], b, 2 * sizeof *b);
    memcpy(mine->sum, sum, EMU_WMMA_SUMS * sizeof *sum);
    if (meet(mine, __builtin_return_address(0), 16 * 16 * 16 / 2, lanes)) emu_multiply_bytes(lanes);
    memcpy(sum, mine->sum, EMU_WMMA_SUMS * sizeof *sum);
}

static void thread_main(void)
{
    kernel(kernel_params);
    leave(DONE);
    abort();
}

/* A stack on which emu_switch finds registers of no meaning and returns to thread_main. */
static void prepare(unsigned i)
{
    unsigned char *low = stacks + (size_t)i * STACK_BYTES;
    uint64_t *saved = (uint64_t *)(void *)(low + STACK_BYTES) - UNUSED_WORDS - SAVED_WORDS;
    void (*entry)(void) = thread_main;
    memset(saved, 0, SAVED_WORDS * sizeof *saved);
    memcpy(&saved[RETURN_WORD], &entry, sizeof entry);
    threads[i] = (struct thread){.context = {saved}};
}

static void run_thread(unsigned i)
{
    unsigned char *low = stacks + (size_t)i * STACK_BYTES;
    running = i;
    emu_now.thread.x = i;
    emu_check_thread(low, low + STACK_BYTES);
    emu_switch(&scheduler, &threads[i].context);
}

static unsigned in_state(unsigned from, unsigned to, enum state state)
{
    unsigned n = 0;
    for (unsigned i = from; i < to; i++) n += threads[i].state == state;
    return n;
}

static void wake(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) threads[i].state = RUNNABLE;
}

/* Lanes that wait for each other wait at one line, or it is a fault. */
static void same_line(unsigned from, unsigned to, const char *what)
{
    for (unsigned i = from + 1; i < to; i++) {
        if (threads[i].line == threads[from].line) continue;
        snprintf(fault, sizeof fault, "%s, block (%u,%u,%u), thread %u: lanes of a warp are at different %s, in lines %d and %d", kernel_name,
                 emu_now.block.x, emu_now.block.y, emu_now.block.z, i, what, threads[from].line, threads[i].line);
        failed = 1;
        return;
    }
}

/* Warps whose lanes all brought what they have go on. 1 if there was one. */
static int exchange_in_warps(void)
{
    int any = 0;
    for (unsigned i = 0; i < count; i += EMU_WARP) {
        unsigned to = i + EMU_WARP < count ? i + EMU_WARP : count;
        int shuffles = in_state(i, to, AT_SHUFFLE) == to - i;
        if (!shuffles && in_state(i, to, AT_MMA) < to - i) continue;
        if (shuffles) same_line(i, to, "shuffles");
        wake(i, to);
        any = 1;
    }
    return any;
}

static void stuck(void)
{
    snprintf(fault, sizeof fault,
             "%s, block (%u,%u,%u): of %u threads %u wait at a barrier, %u at a shuffle or product of a warp and %u have ended", kernel_name,
             emu_now.block.x, emu_now.block.y, emu_now.block.z, count, in_state(0, count, AT_BARRIER),
             in_state(0, count, AT_SHUFFLE) + in_state(0, count, AT_MMA), in_state(0, count, DONE));
    failed = 1;
}

static void run_block(void)
{
    emu_check_block();
    for (unsigned i = 0; i < count; i++) prepare(i);
    while (!failed && in_state(0, count, DONE) < count) {
        for (unsigned i = 0; i < count && !failed; i++)
            if (threads[i].state == RUNNABLE) run_thread(i);
        if (failed || exchange_in_warps() || in_state(0, count, DONE) == count) continue;
        if (in_state(0, count, AT_BARRIER) < count) {
            stuck();
        } else {
            for (unsigned i = 0; i < count; i += EMU_WARP) same_line(i, i + EMU_WARP < count ? i + EMU_WARP : count, "barriers");
            emu_check_phase();
            wake(0, count);
        }
    }
    if (emu_is_counting) emu_traffic_phase();
}

static void run_at(const struct emu_dim *grid, uint64_t i)
{
    emu_now.block = (struct emu_dim){(unsigned)(i % grid->x), (unsigned)(i / grid->x % grid->y), (unsigned)(i / grid->x / grid->y)};
    run_block();
}

/* Blocks in their order; of those that are counted a few, spread over the grid. */
static void run_grid(const struct emu_dim *grid)
{
    uint64_t blocks = (uint64_t)grid->x * grid->y * grid->z, runs = emu_is_counting && emu_sampled() < blocks ? emu_sampled() : blocks;
    if (emu_is_counting) emu_traffic_launch(kernel_name, blocks, count);
    for (uint64_t i = 0; i < runs && !failed; i++) run_at(grid, runs == blocks ? i : (2 * i + 1) * blocks / (2 * runs));
    if (emu_is_counting) emu_traffic_end(runs);
}

int emu_launch(const char *name, emu_kernel_fn *fn, struct emu_dim grid, unsigned n, const void *params)
{
    if (!stacks) {
        stacks = mmap(NULL, (size_t)EMU_MAX_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED) abort();
    }
    kernel_name = name, kernel = fn, kernel_params = params, count = n;
    failed = 0;
    fault[0] = 0;
    emu_now = (struct emu_now){.block_dim = {n, 1, 1}, .grid_dim = grid};
    if (!n || n > EMU_MAX_THREADS || !grid.x || !grid.y || !grid.z || grid.y > EMU_MAX_GRID || grid.z > EMU_MAX_GRID) {
        snprintf(fault, sizeof fault, "%s: a grid of %u x %u x %u blocks of %u threads", name, grid.x, grid.y, grid.z, n);
        return -1;
    }
    emu_check_launch((uint64_t)grid.x * grid.y * grid.z);
    run_grid(&grid);
    return failed ? -1 : 0;
}
