#include "runtime/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Input i, or behind those an output. */
static const struct ig_gpu_copy *edge(const struct ig_gpu_plan *p, int32_t i)
{
    return i < p->n_inputs ? &p->inputs[i] : &p->outputs[i - p->n_inputs];
}

static int64_t staging_bytes(const struct ig_gpu_plan *p)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < p->n_inputs + p->n_outputs; i++) bytes += ig_gpu_slot(edge(p, i));
    return bytes;
}

static int32_t n_edges(const struct ig_gpu_plan *p)
{
    return p->n_inputs + p->n_outputs;
}

/* --- opening, step by step --- */

/* What a driver does not know the GPU does not have. */
static int32_t has(const struct ig_gpu *g, int attribute)
{
    int value = 0;
    return !g->cuda.device_attribute(&value, attribute, g->device) && value > 0;
}

static int open_device(struct ig_gpu *g, const struct words *w)
{
    int n = 0, major = 0, minor = 0, error = g->cuda.init(0);
    if (!error) error = g->cuda.device_count(&n);
    if (error == IG_CUDA_NO_DEVICE || (!error && !n)) {
        snprintf(w->why, w->bytes, "the CUDA driver finds no device");
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
    g->maps = has(g, IG_CUDA_ATTRIBUTE_MAPS);
    g->manages = has(g, IG_CUDA_ATTRIBUTE_MANAGES);
    g->registers = has(g, IG_CUDA_ATTRIBUTE_REGISTERS);
    g->concurrent = has(g, IG_CUDA_ATTRIBUTE_CONCURRENT);
    if (!error) error = g->cuda.context_retain(&g->context, g->device);
    if (!error) error = g->cuda.context_set(g->context);
    return error ? fail(g, w, "opening the GPU", error) : 0;
}

static int find_functions(struct ig_gpu *g, const struct words *w)
{
    for (int32_t i = 0; i < g->plan->n_functions; i++) {
        int error = g->cuda.module_function(&g->functions[i], g->module, g->plan->functions[i]);
        if (error) return fail(g, w, g->plan->functions[i], error);
    }
    return 0;
}

/* May another module do? An old driver takes no machine code of a newer toolkit, whatever it says of it, but may take PTX. */
static int is_refused(int error)
{
    return error && error != IG_CUDA_NO_MEMORY;
}

/* The chip that a module is PTX for; 0: it is none. */
static int32_t ptx_chip(const char *module)
{
    const char *target = strncmp(module, ".version ", 9) ? NULL : strstr(module, ".target sm_");
    return target ? (int32_t)strtol(target + strlen(".target sm_"), NULL, 10) : 0;
}

static int open_module(struct ig_gpu *g, const struct words *w)
{
    const struct ig_gpu_plan *p = g->plan;
    int error = g->cuda.module_load(&g->module, p->fatbin), worst = error;
    for (int32_t i = 0; is_refused(error) && i < p->n_others; i++) {
        error = g->cuda.module_load(&g->module, p->others[i]);
        g->ptx = error ? 0 : ptx_chip(p->others[i]);
        if (worst == IG_CUDA_NO_IMAGE) worst = error;
    }
    if (is_refused(error)) error = worst;
    if (error == IG_CUDA_NO_IMAGE) {
        snprintf(w->why, w->bytes, "%s is an sm_%d, for which this program has no code", g->name, g->sm);
        return -1;
    }
    return error ? fail(g, w, "loading the kernels", error) : find_functions(g, w);
}

static int no_memory(const struct ig_gpu *g, const struct words *w, int64_t bytes, int error)
{
    if (error != IG_CUDA_NO_MEMORY) return fail(g, w, "reserving memory of the GPU", error);
    snprintf(w->why, w->bytes, "%s has no %lld bytes of memory left", g->name, (long long)bytes);
    return -1;
}

/* In place only where the GPU shares the processor's memory: on another, every access would cross the bus. */
static int32_t kind_here(const struct ig_gpu *g, int32_t kind)
{
    int can = kind == IG_GPU_MAPPED ? g->maps : kind == IG_GPU_MANAGED ? g->manages : 0;
    return g->integrated && can ? kind : IG_GPU_PINNED;
}

/* The input that output i has its place with, as launches read and write it; -1: none. */
static int32_t input_of(const struct ig_gpu_plan *p, int32_t i)
{
    const struct ig_gpu_copy *out = edge(p, i);
    for (int32_t k = 0; i >= p->n_inputs && out->kind && k < p->n_inputs; k++)
        if (p->inputs[k].kind && p->inputs[k].offset == out->offset) return k;
    return -1;
}

/* Memory of its own for a managed end; where there is none it is copied. */
static void open_managed(struct ig_gpu *g, int32_t i)
{
    size_t bytes = (size_t)edge(g->plan, i)->bytes;
    if (g->cuda.managed(&g->ends[i].device, bytes, IG_CUDA_ATTACH_HOST)) {
        g->kinds[i] = IG_GPU_PINNED;
        return;
    }
    g->ends[i].host = (void *)(uintptr_t)g->ends[i].device;
    memset(g->ends[i].host, 0, bytes);
}

/* Each end by its kind; `mapped`: the staging as the GPU sees it. Returns whether any needs the twin. */
static int open_ends(struct ig_gpu *g, ig_cuda_address mapped)
{
    int twin = 0;
    char *at = g->staging;
    for (int32_t i = 0; i < n_edges(g->plan); i++) {
        const struct ig_gpu_copy *c = edge(g->plan, i);
        int32_t same = input_of(g->plan, i);
        g->ends[i] = (struct ig_gpu_end){at, g->arena + (uint64_t)c->offset};
        at += ig_gpu_slot(c);
        if (same >= 0 && g->kinds[same]) g->ends[i] = g->ends[same];
        else if (g->kinds[i] == IG_GPU_MANAGED) open_managed(g, i);
        else if (g->kinds[i] == IG_GPU_MAPPED) g->ends[i].device = mapped + (uint64_t)c->offset;
        if (same >= 0) g->kinds[i] = g->kinds[same];
        twin |= c->kind && !g->kinds[i];
    }
    return twin;
}

static int open_staging(struct ig_gpu *g, const struct words *w)
{
    const struct ig_gpu_plan *p = g->plan;
    size_t bytes = (size_t)staging_bytes(p);
    ig_cuda_address mapped = 0;
    int any = 0;
    for (int32_t i = 0; i < n_edges(p); i++) any |= (g->kinds[i] = kind_here(g, edge(p, i)->kind)) == IG_GPU_MAPPED;
    int error = g->cuda.host_memory(&g->staging, bytes, any ? IG_CUDA_HOST_MAPPED | IG_CUDA_HOST_PORTABLE : 0);
    if (error) return fail(g, w, "reserving page-locked memory", error);
    memset(g->staging, 0, bytes);
    int lost = any && g->cuda.host_address(&mapped, g->staging, 0);
    for (int32_t i = 0; lost && i < n_edges(p); i++)
        if (g->kinds[i] == IG_GPU_MAPPED) g->kinds[i] = IG_GPU_PINNED;
    if (!open_ends(g, mapped)) return 0;
    error = g->cuda.memory(&g->twin, bytes);
    for (int32_t i = 0; !error && i < n_edges(p); i++)
        if (edge(p, i)->kind && !g->kinds[i]) g->ends[i].device = g->twin + (uint64_t)edge(p, i)->offset;
    return error ? no_memory(g, w, (int64_t)bytes, error) : 0;
}

static int open_memory(struct ig_gpu *g, const void *constants, const struct words *w)
{
    const struct ig_gpu_plan *p = g->plan;
    int error = g->cuda.memory(&g->constants, (size_t)p->constants_bytes);
    if (error) return no_memory(g, w, p->constants_bytes, error);
    error = g->cuda.memory(&g->arena, (size_t)p->arena_bytes);
    if (error) return no_memory(g, w, p->arena_bytes, error);
    if (open_staging(g, w)) return -1;
    error = g->cuda.stream(&g->stream, IG_CUDA_NON_BLOCKING);
    if (!error) error = g->cuda.to_device(g->constants, constants, (size_t)p->constants_bytes, g->stream);
    if (!error) error = g->cuda.stream_wait(g->stream);
    return error ? fail(g, w, "bringing the weights to the GPU", error) : 0;
}

/* --- the frame --- */

/* `offset` bytes into the staging is some end's. */
static uint64_t staged(const struct ig_gpu *g, const struct ig_gpu_end *ends, int64_t offset)
{
    for (int32_t i = 0; i < n_edges(g->plan); i++) {
        const struct ig_gpu_copy *c = edge(g->plan, i);
        if (c->kind && offset >= c->offset && offset < c->offset + ig_gpu_slot(c))
            return ends[i].device + (uint64_t)(offset - c->offset);
    }
    return 0;
}

static uint64_t address_of(const struct ig_gpu *g, const struct ig_gpu_end *ends, uint64_t place)
{
    uint64_t offset = place & (((uint64_t)1 << 56) - 1);
    switch (place >> 56) {
    case IG_GPU_ARENA: return g->arena + offset;
    case IG_GPU_CONSTANTS: return g->constants + offset;
    case IG_GPU_STAGING: return staged(g, ends, (int64_t)offset);
    default: return 0;
    }
}

static int launch(struct ig_gpu *g, const struct ig_gpu_end *ends, const struct ig_gpu_call *c, uint32_t turn)
{
    uint64_t params[IG_GPU_WORDS];
    size_t bytes = c->words * sizeof *params;
    void *extra[] = {(void *)(uintptr_t)IG_CUDA_PARAMS_POINTER, params, (void *)(uintptr_t)IG_CUDA_PARAMS_SIZE, &bytes, NULL};
    memcpy(params, c->params, bytes);
    for (uint32_t i = 0; i < c->pointers; i++) params[i] = address_of(g, ends, params[i]);
    if (turn) memcpy(params + c->pointers, &turn, sizeof turn);
    return g->cuda.launch(g->functions[c->function], c->grid[0], c->grid[1], c->grid[2], c->block, 1, 1, 0, g->stream, NULL,
                          extra);
}

static int enqueue_calls(struct ig_gpu *g, const struct ig_gpu_end *ends, int32_t first, int32_t n)
{
    int error = 0;
    for (int32_t i = first; i < first + n; i++)
        for (uint32_t turn = 0; turn < g->plan->calls[i].turns && !error; turn++) error = launch(g, ends, &g->plan->calls[i], turn);
    return error;
}

ig_cuda_address ig_gpu_address(const struct ig_gpu *gpu, uint64_t place)
{
    return address_of(gpu, gpu->ends, place);
}

int ig_gpu_enqueue(struct ig_gpu *gpu, int32_t first, int32_t n)
{
    return enqueue_calls(gpu, gpu->ends, first, n);
}

/* Copies of inputs to the device, or of outputs from there, but of those that launches use in place. */
static int enqueue_copies(struct ig_gpu *g, const struct ig_gpu_end *ends, int32_t first, int32_t n)
{
    int error = 0;
    for (int32_t i = first; i < first + n && !error; i++) {
        size_t bytes = (size_t)edge(g->plan, i)->bytes;
        if (g->kinds[i]) continue;
        if (i < g->plan->n_inputs) error = g->cuda.to_device(ends[i].device, ends[i].host, bytes, g->stream);
        else error = g->cuda.to_host(ends[i].host, ends[i].device, bytes, g->stream);
    }
    return error;
}

/* Copies in, launches and copies out, onto the stream. */
static int enqueue(struct ig_gpu *g, const struct ig_gpu_end *ends)
{
    const struct ig_gpu_plan *p = g->plan;
    int error = enqueue_copies(g, ends, 0, p->n_inputs);
    if (!error) error = enqueue_calls(g, ends, 0, p->n_calls);
    if (!error) error = enqueue_copies(g, ends, p->n_inputs, p->n_outputs);
    return error;
}

int ig_gpu_capture(struct ig_gpu *gpu, const struct ig_gpu_end *ends, ig_cuda_graph *graph, ig_cuda_exec *exec, char *why,
                   size_t bytes)
{
    const struct words w = {why, bytes};
    int error = gpu->cuda.capture_begin(gpu->stream, IG_CUDA_CAPTURE_THREAD);
    if (error) return fail(gpu, &w, "capturing the launches", error);
    int inner = enqueue(gpu, ends);
    error = gpu->cuda.capture_end(gpu->stream, graph);
    if (inner || error) return fail(gpu, &w, "capturing the launches", inner ? inner : error);
    error = ig_cuda_make_exec(&gpu->cuda, exec, *graph);
    return error ? fail(gpu, &w, "making a graph of the launches", error) : 0;
}

/*
 * Managed memory is one stream's, or the processor's. A GPU without concurrent access lets the processor touch what is a
 * stream's only while that stream rests; what is the processor's it may touch at any time, as other frames' slots are
 * while this one's are here. The change is also when caches are written back.
 */
static int attach(struct ig_gpu *g, const struct ig_gpu_end *ends, unsigned to)
{
    int error = 0;
    for (int32_t i = 0; i < n_edges(g->plan) && !error; i++)
        if (g->kinds[i] == IG_GPU_MANAGED && !g->concurrent && input_of(g->plan, i) < 0)
            error = g->cuda.attach(g->stream, ends[i].device, 0, to);
    return error;
}

int ig_gpu_frame(struct ig_gpu *gpu, ig_cuda_exec exec, const struct ig_gpu_end *ends, char *why, size_t bytes)
{
    const struct words w = {why, bytes};
    int error = gpu->cuda.context_set(gpu->context);
    if (!error) error = attach(gpu, ends, IG_CUDA_ATTACH_SINGLE);
    if (!error) error = gpu->cuda.exec_launch(exec, gpu->stream);
    if (!error) error = attach(gpu, ends, IG_CUDA_ATTACH_HOST);
    if (!error) error = gpu->cuda.stream_wait(gpu->stream);
    return error ? fail(gpu, &w, "running a frame on the GPU", error) : 0;
}

int ig_gpu_open(struct ig_gpu *gpu, const struct ig_gpu_plan *plan, const void *constants, char *why, size_t bytes)
{
    struct words w = {why, bytes};
    memset(gpu, 0, sizeof *gpu);
    gpu->plan = plan;
    if (ig_cuda_find(&gpu->cuda, why, bytes)) return -1;
    if (!open_device(gpu, &w) && !open_module(gpu, &w) && !open_memory(gpu, constants, &w) &&
        !ig_gpu_capture(gpu, gpu->ends, &gpu->graph, &gpu->exec, why, bytes))
        return 0;
    ig_gpu_close(gpu);
    return -1;
}

int ig_gpu_open_beside(struct ig_gpu *gpu, const struct ig_gpu *first, const struct ig_gpu_plan *plan, char *why,
                       size_t bytes)
{
    struct words w = {why, bytes};
    *gpu = *first;
    gpu->plan = plan;
    gpu->beside = 1;
    gpu->staging = NULL;
    gpu->twin = 0;
    memset(gpu->kinds, 0, sizeof gpu->kinds);
    memset(gpu->ends, 0, sizeof gpu->ends);
    gpu->graph = NULL;
    gpu->exec = NULL;
    gpu->at_close = NULL;
    if (!find_functions(gpu, &w) && !open_staging(gpu, &w) &&
        !ig_gpu_capture(gpu, gpu->ends, &gpu->graph, &gpu->exec, why, bytes))
        return 0;
    ig_gpu_close(gpu);
    return -1;
}

void *ig_gpu_place(const struct ig_gpu *gpu, int32_t i)
{
    return gpu->ends[i].host;
}

static void give_inputs(const struct ig_gpu *g, const void *const *inputs)
{
    for (int32_t i = 0; i < g->plan->n_inputs; i++)
        if (g->ends[i].host != inputs[i]) memcpy(g->ends[i].host, inputs[i], (size_t)g->plan->inputs[i].bytes);
}

static void take_outputs(const struct ig_gpu *g, void *const *outputs)
{
    const struct ig_gpu_end *from = g->ends + g->plan->n_inputs;
    for (int32_t i = 0; i < g->plan->n_outputs; i++)
        if (from[i].host != outputs[i]) memcpy(outputs[i], from[i].host, (size_t)g->plan->outputs[i].bytes);
}

int ig_gpu_try(struct ig_gpu *gpu, char *why, size_t bytes)
{
    return ig_gpu_frame(gpu, gpu->exec, gpu->ends, why, bytes);
}

int ig_gpu_run(struct ig_gpu *gpu, const void *const *inputs, void *const *outputs, char *why, size_t bytes)
{
    give_inputs(gpu, inputs);
    if (ig_gpu_try(gpu, why, bytes)) return -1;
    take_outputs(gpu, outputs);
    return 0;
}

int ig_gpu_run_apart(struct ig_gpu *gpu, const void *const *inputs, void *const *outputs, const int32_t *first, int32_t n,
                     int64_t *ns, int64_t (*clock_ns)(void), char *why, size_t bytes)
{
    const struct words w = {why, bytes};
    int error = gpu->cuda.context_set(gpu->context);
    give_inputs(gpu, inputs);
    if (!error) error = attach(gpu, gpu->ends, IG_CUDA_ATTACH_SINGLE);
    if (!error) error = enqueue_copies(gpu, gpu->ends, 0, gpu->plan->n_inputs);
    if (!error) error = gpu->cuda.stream_wait(gpu->stream);
    for (int32_t i = 0; i < n && !error; i++) {
        int64_t before = clock_ns();
        error = ig_gpu_enqueue(gpu, first[i], first[i + 1] - first[i]);
        if (!error) error = gpu->cuda.stream_wait(gpu->stream);
        ns[i] = clock_ns() - before;
    }
    if (!error) error = enqueue_copies(gpu, gpu->ends, gpu->plan->n_inputs, gpu->plan->n_outputs);
    if (!error) error = attach(gpu, gpu->ends, IG_CUDA_ATTACH_HOST);
    if (!error) error = gpu->cuda.stream_wait(gpu->stream);
    if (error) return fail(gpu, &w, "running layers on the GPU", error);
    take_outputs(gpu, outputs);
    return 0;
}

/* What others may have been opened beside. */
static void close_common(struct ig_gpu *gpu)
{
    struct ig_cuda *c = &gpu->cuda;
    if (gpu->stream) c->stream_free(gpu->stream);
    if (gpu->arena) c->memory_free(gpu->arena);
    if (gpu->constants) c->memory_free(gpu->constants);
    if (gpu->module) c->module_unload(gpu->module);
    if (gpu->context) c->context_release(gpu->device);
}

void ig_gpu_close(struct ig_gpu *gpu)
{
    struct ig_cuda *c = &gpu->cuda;
    if (gpu->context) c->context_set(gpu->context);
    if (gpu->at_close) gpu->at_close(gpu->at_close_arg);
    if (gpu->exec) c->exec_free(gpu->exec);
    if (gpu->graph) c->graph_free(gpu->graph);
    for (int32_t i = 0; gpu->plan && i < n_edges(gpu->plan); i++)
        if (gpu->kinds[i] == IG_GPU_MANAGED && input_of(gpu->plan, i) < 0 && gpu->ends[i].host)
            c->memory_free(gpu->ends[i].device);
    if (gpu->staging) c->host_memory_free(gpu->staging);
    if (gpu->twin) c->memory_free(gpu->twin);
    if (!gpu->beside) close_common(gpu);
    memset(gpu, 0, sizeof *gpu);
}
