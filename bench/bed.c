#include "bench/bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels_cpu/registry.h"

enum { SPARE = 1 << 24 }; /* bytes: for a plan that takes the arena over and needs more; not touched otherwise */

/* Pages of its own, as in a program; zeroed. NULL if there is no memory. */
static void *map(int64_t bytes)
{
    void *p =
        mmap(NULL, bytes > 0 ? (size_t)bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void unmap(void *p, int64_t bytes)
{
    if (p) munmap(p, bytes > 0 ? (size_t)bytes : 1);
}

/* Asks the system, too, for what it only grants who asks. */
static int runs_here(const struct ig_lowered *l)
{
    int32_t i = 0;
    while (i < l->model.n_steps && (l->kernels[i]->isa == IG_ISA_CUDA || ig_isa_runs_here(l->kernels[i]->isa))) i++;
    return i == l->model.n_steps;
}

static int make(struct ig_bed *b, int32_t threads, char *err, size_t err_bytes)
{
    const struct ig_model *m = &b->lowered->model;
    if (!b->arena) {
        b->room = (int64_t)b->arena_bytes + SPARE;
        b->arena = map(b->room);
    }
    int status = IG_ERROR_NULL;
    if (b->arena && b->weights) {
        if (!b->borrowed) ig_fill_weights(b->lowered, b->weights);
        status = runs_here(b->lowered) ? ig_ctx_init(&b->ctx, m, b->weights, b->arena, b->arena_bytes) : IG_ERROR_PROCESSOR;
        if (!status && threads > 1) status = ig_ctx_start_threads(&b->ctx, &b->team, threads);
        if (status) snprintf(err, err_bytes, "%s", ig_status_text(status));
    } else {
        long long bytes = (long long)b->arena_bytes + (long long)m->weights_bytes;
        snprintf(err, err_bytes, "out of memory: %lld bytes to run in", bytes);
    }
    if (!status) return 0;
    ig_bed_free(b);
    return -1;
}

int ig_bed_make(struct ig_bed *b, struct ig_lowered *l, int32_t threads, char *err, size_t err_bytes)
{
    memset(b, 0, sizeof *b);
    b->lowered = l;
    b->arena_bytes = (size_t)ig_arena_total(&l->model, threads);
    b->weights = map(l->model.weights_bytes);
    return make(b, threads, err, err_bytes);
}

int ig_bed_share(struct ig_bed *b, struct ig_lowered *l, int32_t threads, const struct ig_bed *from,
                 char *err, size_t err_bytes)
{
    memset(b, 0, sizeof *b);
    b->lowered = l;
    b->weights = from->weights;
    b->borrowed = 1;
    b->arena_bytes = (size_t)ig_arena_total(&l->model, threads);
    if ((int64_t)b->arena_bytes <= from->room) b->arena = from->arena;
    return make(b, threads, err, err_bytes);
}

void ig_bed_free(struct ig_bed *b)
{
    ig_ctx_stop_threads(&b->ctx);
    if (!b->borrowed) unmap(b->weights, b->lowered->model.weights_bytes);
    if (b->room) unmap(b->arena, b->room);
}

int ig_bed_step(struct ig_bed *b, int32_t step, const void *const *inputs, void *const *outputs)
{
    struct ig_model one = b->lowered->model;
    one.steps += step;
    one.n_steps = one.steps->band ? one.steps->band : 1;
    b->ctx.model = &one;
    int status = ig_ctx_run(&b->ctx, inputs, outputs);
    b->ctx.model = &b->lowered->model;
    return status;
}

void **ig_io_buffers(const struct ig_io *io, int32_t n)
{
    void **buffers = calloc((size_t)n + 1, sizeof *buffers);
    for (int32_t i = 0; buffers && i < n; i++) {
        buffers[i] = map(ig_bytes(io[i].shape));
        if (buffers[i]) continue;
        ig_io_buffers_free(buffers, io, i);
        return NULL;
    }
    return buffers;
}

void ig_io_buffers_free(void **buffers, const struct ig_io *io, int32_t n)
{
    for (int32_t i = 0; buffers && i < n; i++) unmap(buffers[i], ig_bytes(io[i].shape));
    free(buffers);
}
