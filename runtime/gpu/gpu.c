#include "runtime/gpu/gpu.h"

#include <stdio.h>
#include <string.h>

struct words { /* where a failure is told */
    char *why;
    size_t bytes;
};

static int fail(const struct ig_gpu *g, const struct words *w, const char *what, int error)
{
    const char *name = NULL;
    g->cuda.error_name(error, &name);
    snprintf(w->why, w->bytes, "%s failed: %s (CUDA error %d)", what, name ? name : "unknown", error);
    return -1;
}

static int64_t round64(int64_t n)
{
    return (n + 63) / 64 * 64;
}

static int64_t staging_bytes(const struct ig_gpu_plan *p)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < p->n_inputs; i++) bytes += round64(p->inputs[i].bytes);
    for (int32_t i = 0; i < p->n_outputs; i++) bytes += round64(p->outputs[i].bytes);
    return bytes;
}

/* --- opening, step by step --- */

static int open_device(struct ig_gpu *g, const struct words *w)
{
    int n = 0, major = 0, minor = 0, error = g->cuda.init(0);
    if (!error) error = g->cuda.device_count(&n);
    if (error == IG_CUDA_NO_DEVICE || (!error && !n)) {
        snprintf(w->why, w->bytes, "no GPU: the CUDA driver finds no device");
        return -1;
    }
    if (error) return fail(g, w, "starting the CUDA driver", error);
    error = g->cuda.device(&g->device, 0);
    if (!error) error = g->cuda.device_name(g->name, sizeof g->name, g->device);
    if (!error) error = g->cuda.device_attribute(&major, IG_CUDA_ATTRIBUTE_MAJOR, g->device);
    if (!error) error = g->cuda.device_attribute(&minor, IG_CUDA_ATTRIBUTE_MINOR, g->device);
    if (!error) error = g->cuda.device_attribute(&g->processors, IG_CUDA_ATTRIBUTE_PROCESSORS, g->device);
    if (!error) error = g->cuda.device_attribute(&g->integrated, IG_CUDA_ATTRIBUTE_INTEGRATED, g->device);
    g->sm = major * 10 + minor;
    if (!error) error = g->cuda.context_retain(&g->context, g->device);
    if (!error) error = g->cuda.context_set(g->context);
    return error ? fail(g, w, "opening the GPU", error) : 0;
}

static int open_module(struct ig_gpu *g, const struct words *w)
{
    const struct ig_gpu_plan *p = g->plan;
    int error = g->cuda.module_load(&g->module, p->fatbin);
    if (error == IG_CUDA_NO_IMAGE) {
        snprintf(w->why, w->bytes, "%s is an sm_%d, for which this program has no code", g->name, g->sm);
        return -1;
    }
    if (error) return fail(g, w, "loading the kernels", error);
    for (int32_t i = 0; i < p->n_functions; i++)
        if ((error = g->cuda.module_function(&g->functions[i], g->module, p->functions[i])))
            return fail(g, w, p->functions[i], error);
    return 0;
}

static int no_memory(const struct ig_gpu *g, const struct words *w, int64_t bytes, int error)
{
    if (error != IG_CUDA_NO_MEMORY) return fail(g, w, "reserving memory of the GPU", error);
    snprintf(w->why, w->bytes, "%s has no %lld bytes of memory left", g->name, (long long)bytes);
    return -1;
}

static int open_memory(struct ig_gpu *g, const void *constants, const struct words *w)
{
    const struct ig_gpu_plan *p = g->plan;
    int error = g->cuda.memory(&g->constants, (size_t)p->constants_bytes);
    if (error) return no_memory(g, w, p->constants_bytes, error);
    error = g->cuda.memory(&g->arena, (size_t)p->arena_bytes);
    if (error) return no_memory(g, w, p->arena_bytes, error);
    error = g->cuda.host_memory(&g->staging, (size_t)staging_bytes(p), 0);
    if (error) return fail(g, w, "reserving page-locked memory", error);
    error = g->cuda.stream(&g->stream, IG_CUDA_NON_BLOCKING);
    if (!error) error = g->cuda.to_device(g->constants, constants, (size_t)p->constants_bytes, g->stream);
    if (!error) error = g->cuda.stream_wait(g->stream);
    return error ? fail(g, w, "bringing the weights to the GPU", error) : 0;
}

/* --- the frame --- */

static uint64_t address_of(const struct ig_gpu *g, uint64_t place)
{
    uint64_t offset = place & (((uint64_t)1 << 56) - 1);
    switch (place >> 56) {
    case IG_GPU_ARENA: return g->arena + offset;
    case IG_GPU_CONSTANTS: return g->constants + offset;
    default: return 0;
    }
}

static int launch(struct ig_gpu *g, const struct ig_gpu_call *c)
{
    uint64_t params[IG_GPU_WORDS];
    size_t bytes = c->words * sizeof *params;
    void *extra[] = {(void *)(uintptr_t)IG_CUDA_PARAMS_POINTER, params, (void *)(uintptr_t)IG_CUDA_PARAMS_SIZE, &bytes, NULL};
    memcpy(params, c->params, bytes);
    for (uint32_t i = 0; i < c->pointers; i++) params[i] = address_of(g, params[i]);
    return g->cuda.launch(g->functions[c->function], c->grid[0], c->grid[1], c->grid[2], c->block, 1, 1, 0, g->stream, NULL,
                          extra);
}

int ig_gpu_enqueue(struct ig_gpu *gpu, int32_t first, int32_t n)
{
    int error = 0;
    for (int32_t i = first; i < first + n && !error; i++) error = launch(gpu, &gpu->plan->calls[i]);
    return error;
}

/* Copies in, launches and copies out, onto the stream. */
static int enqueue(struct ig_gpu *g)
{
    const struct ig_gpu_plan *p = g->plan;
    char *staging = (char *)g->staging;
    int error = 0;
    for (int32_t i = 0; i < p->n_inputs && !error; staging += round64(p->inputs[i++].bytes))
        error = g->cuda.to_device(g->arena + (uint64_t)p->inputs[i].offset, staging, (size_t)p->inputs[i].bytes, g->stream);
    if (!error) error = ig_gpu_enqueue(g, 0, p->n_calls);
    for (int32_t i = 0; i < p->n_outputs && !error; staging += round64(p->outputs[i++].bytes))
        error = g->cuda.to_host(staging, g->arena + (uint64_t)p->outputs[i].offset, (size_t)p->outputs[i].bytes, g->stream);
    return error;
}

static int capture(struct ig_gpu *g, const struct words *w)
{
    int error = g->cuda.capture_begin(g->stream, IG_CUDA_CAPTURE_THREAD);
    if (error) return fail(g, w, "capturing the launches", error);
    int inner = enqueue(g);
    error = g->cuda.capture_end(g->stream, &g->graph);
    if (inner || error) return fail(g, w, "capturing the launches", inner ? inner : error);
    error = ig_cuda_make_exec(&g->cuda, &g->exec, g->graph);
    return error ? fail(g, w, "making a graph of the launches", error) : 0;
}

int ig_gpu_open(struct ig_gpu *gpu, const struct ig_gpu_plan *plan, const void *constants, char *why, size_t bytes)
{
    struct words w = {why, bytes};
    memset(gpu, 0, sizeof *gpu);
    gpu->plan = plan;
    if (ig_cuda_find(&gpu->cuda, why, bytes)) return -1;
    if (!open_device(gpu, &w) && !open_module(gpu, &w) && !open_memory(gpu, constants, &w) && !capture(gpu, &w)) return 0;
    ig_gpu_close(gpu);
    return -1;
}

int ig_gpu_run(struct ig_gpu *gpu, const void *const *inputs, void *const *outputs, char *why, size_t bytes)
{
    const struct ig_gpu_plan *p = gpu->plan;
    const struct words w = {why, bytes};
    char *staging = (char *)gpu->staging;
    for (int32_t i = 0; i < p->n_inputs; staging += round64(p->inputs[i++].bytes))
        memcpy(staging, inputs[i], (size_t)p->inputs[i].bytes);
    int error = gpu->cuda.exec_launch(gpu->exec, gpu->stream);
    if (!error) error = gpu->cuda.stream_wait(gpu->stream);
    if (error) return fail(gpu, &w, "running a frame on the GPU", error);
    for (int32_t i = 0; i < p->n_outputs; staging += round64(p->outputs[i++].bytes))
        memcpy(outputs[i], staging, (size_t)p->outputs[i].bytes);
    return 0;
}

void ig_gpu_close(struct ig_gpu *gpu)
{
    struct ig_cuda *c = &gpu->cuda;
    if (gpu->exec) c->exec_free(gpu->exec);
    if (gpu->graph) c->graph_free(gpu->graph);
    if (gpu->stream) c->stream_free(gpu->stream);
    if (gpu->staging) c->host_memory_free(gpu->staging);
    if (gpu->arena) c->memory_free(gpu->arena);
    if (gpu->constants) c->memory_free(gpu->constants);
    if (gpu->module) c->module_unload(gpu->module);
    if (gpu->context) c->context_release(gpu->device);
    memset(gpu, 0, sizeof *gpu);
}
