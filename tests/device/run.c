/*
 * Each operand has a block of the GPU's memory with a margin on either side, all of it NaN but its elements. An output's are what the
 * host has there, so that one that is not written comes back as it was. When the launches are done every byte of every block that is
 * no element of an output must be as it was.
 */
#include "tests/device/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "kernels_gpu/kernel.h"
#include "runtime/gpu/driver.h"

enum { MARGIN = 256, PATTERN = 0xff, BLOCKS = IG_MAX_IN + IG_MAX_OUT + 3 };

static struct {
    struct ig_cuda cuda;
    ig_cuda_context context;
    ig_cuda_module module;
    ig_cuda_stream stream;
    char name[64];
} gpu;

struct block {
    const char *what;
    const struct ig_operand *host; /* NULL: plain bytes */
    struct ig_operand device;
    ig_cuda_address at;
    unsigned char *bytes, *back;   /* as it was sent; as it came back */
    size_t n;
    int writes, loose;             /* its elements are an output's; nobody looks at what is left in it */
};

struct blocks {
    struct block at[BLOCKS];
    int n;
};

static int is_bad(const char *what, int error)
{
    const char *name = NULL;
    if (!error) return 0;
    gpu.cuda.error_name(error, &name);
    fprintf(stderr, "%s: %s (CUDA error %d)\n", what, name ? name : "unknown", error);
    return 1;
}

/* --- blocks --- */

static size_t element(const struct ig_operand *o)
{
    return (size_t)ig_type_bytes(o->shape->type);
}

static void *pixel_of(const struct ig_operand *o, void *data, int32_t y, int32_t x)
{
    struct ig_operand here = *o;
    here.data = data;
    return (char *)ig_row(&here, y, (int32_t)element(o)) + (size_t)(x * o->pixel_stride) * element(o);
}

static size_t extent(const struct ig_operand *o)
{
    int64_t last = (o->h - 1) * o->row_stride + (o->w - 1) * o->pixel_stride + o->c;
    return (size_t)last * element(o);
}

/* Room for n bytes, `shift` bytes behind a multiple of 256. */
static struct block *add(struct blocks *all, const char *what, size_t n, size_t shift)
{
    struct block *b = &all->at[all->n++];
    *b = (struct block){.what = what, .n = MARGIN + shift + n + MARGIN};
    b->bytes = malloc(b->n);
    b->back = malloc(b->n);
    if (!b->bytes || !b->back) abort();
    memset(b->bytes, PATTERN, b->n);
    if (is_bad("memory of the GPU", gpu.cuda.memory(&b->at, b->n))) b->at = 0;
    return b;
}

static void *device_data(const struct block *b, size_t shift)
{
    return (void *)(uintptr_t)(b->at + MARGIN + shift);
}

static struct ig_operand add_operand(struct blocks *all, const char *what, const struct ig_operand *host, size_t shift,
                                     int writes)
{
    struct block *b = add(all, what, extent(host), shift);
    b->host = host;
    b->writes = writes;
    b->device = *host;
    b->device.data = device_data(b, shift);
    for (int32_t y = 0; y < host->h; y++)
        for (int32_t x = 0; x < host->w; x++)
            memcpy(pixel_of(host, b->bytes + MARGIN + shift, y, x), pixel_of(host, host->data, y, x),
                   (size_t)host->c * element(host));
    return b->device;
}

static void *add_bytes(struct blocks *all, const char *what, const void *from, size_t n)
{
    struct block *b = add(all, what, n, 0);
    if (from) memcpy(b->bytes + MARGIN, from, n);
    b->loose = !from;
    return device_data(b, 0);
}

static void free_all(struct blocks *all)
{
    for (int i = 0; i < all->n; i++) {
        if (all->at[i].at) gpu.cuda.memory_free(all->at[i].at);
        free(all->at[i].bytes);
        free(all->at[i].back);
    }
}

static int send_all(struct blocks *all)
{
    for (int i = 0; i < all->n; i++) {
        struct block *b = &all->at[i];
        if (!b->at || is_bad(b->what, gpu.cuda.to_device(b->at, b->bytes, b->n, gpu.stream))) return -1;
    }
    return 0;
}

static int fetch_all(struct blocks *all)
{
    for (int i = 0; i < all->n; i++) {
        struct block *b = &all->at[i];
        if (is_bad(b->what, gpu.cuda.to_host(b->back, b->at, b->n, gpu.stream))) return -1;
    }
    return is_bad("copying back", gpu.cuda.stream_wait(gpu.stream)) ? -1 : 0;
}

/* What came back of an output's elements is what it should be; then nothing else may differ. */
static int is_clean(const char *kernel, struct block *b)
{
    size_t shift = b->host ? (size_t)((uintptr_t)b->device.data - (uintptr_t)b->at) - MARGIN : 0, i = 0;
    for (int32_t y = 0; b->writes && y < b->host->h; y++)
        for (int32_t x = 0; x < b->host->w; x++) {
            size_t bytes = (size_t)b->host->c * element(b->host);
            void *got = pixel_of(b->host, b->back + MARGIN + shift, y, x);
            memcpy(pixel_of(b->host, b->bytes + MARGIN + shift, y, x), got, bytes);
            memcpy(pixel_of(b->host, b->host->data, y, x), got, bytes);
        }
    if (b->loose) memcpy(b->bytes + MARGIN, b->back + MARGIN, b->n - 2 * (size_t)MARGIN); /* its margins count */
    while (i < b->n && b->bytes[i] == b->back[i]) i++;
    if (i == b->n) return 1;
    fprintf(stderr, "%s wrote where it must not: %s, byte %lld of %zu\n", kernel, b->what,
            (long long)i - MARGIN - (long long)shift, b->n - 2 * (size_t)MARGIN - shift);
    return 0;
}

/* --- a call --- */

/* Every other time operands begin at an odd multiple of an element's size. */
static void add_operands(struct blocks *all, const struct ig_call *call, struct ig_call *device, unsigned odd)
{
    int in_place = -1;
    for (int i = 0; i < call->n_in; i++) {
        const struct ig_operand *o = &call->in[i];
        if (!o->shape || !o->data) continue;
        if (o->data == call->out[0].data) in_place = i;
        else device->in[i] = add_operand(all, "an input", o, odd * element(o), 0);
    }
    for (int i = 0; i < call->n_out; i++) {
        const struct ig_operand *o = &call->out[i];
        if (!o->shape) continue;
        device->out[i] = add_operand(all, "an output", o, odd * element(o), 1);
    }
    if (in_place >= 0) device->in[in_place].data = device->out[0].data;
}

static int launch(const struct ig_gpu_launch *l, uint32_t turn)
{
    ig_cuda_function function;
    size_t bytes = l->bytes;
    unsigned char params[IG_GPU_PARAMS];
    memcpy(params, l->params, sizeof params);
    if (turn) memcpy(params + l->pointers * sizeof(uint64_t), &turn, sizeof turn);
    void *extra[] = {(void *)(uintptr_t)IG_CUDA_PARAMS_POINTER, params, (void *)(uintptr_t)IG_CUDA_PARAMS_SIZE, &bytes, NULL};
    int error = gpu.cuda.module_function(&function, gpu.module, l->function);
    if (!error) error = gpu.cuda.launch(function, l->grid[0], l->grid[1], l->grid[2], l->block, 1, 1, 0, gpu.stream, NULL, extra);
    return is_bad(l->function, error) ? -1 : 0;
}

static int launch_all(const struct ig_gpu_launch *l, int n)
{
    for (int i = 0; i < n; i++)
        for (uint32_t turn = 0; turn < l[i].turns; turn++)
            if (launch(&l[i], turn)) return -1;
    return is_bad("running the kernel", gpu.cuda.stream_wait(gpu.stream)) ? -1 : 0;
}

static int run(const char *name, const struct ig_call *call)
{
    static unsigned runs;
    const struct ig_kernel *k = ig_kernel_by_name(name);
    struct ig_gpu_launch launches[IG_GPU_LAUNCHES];
    struct blocks all = {.n = 0};
    struct ig_call device = *call;
    if (is_bad("the GPU", gpu.cuda.context_set(gpu.context))) return -1; /* of this thread */
    add_operands(&all, call, &device, runs++ % 2);
    device.weights = k->pack ? add_bytes(&all, "the weights", call->weights, k->pack(call, NULL)) : NULL;
    device.zeros = call->zeros ? add_bytes(&all, "the zeros", call->zeros, ig_zeros_bytes(call)) : NULL;
    void *scratch = k->scratch ? add_bytes(&all, "the scratch", NULL, k->scratch(call)) : NULL;
    int bad = send_all(&all) || launch_all(launches, ig_gpu_launcher(name)(&device, scratch, launches)) ||
              fetch_all(&all);
    for (int i = 0; i < all.n && !bad; i++) bad = !is_clean(name, &all.at[i]);
    free_all(&all);
    return bad;
}

/* A fault is the kernel's, as a signal is on a CPU. */
static void run_or_stop(const char *name, const struct ig_call *call)
{
    if (run(name, call)) raise(SIGTRAP);
}

#include "kernels_gpu/emu/runs.inc"

/* --- the GPU --- */

const char *device_name(void)
{
    return gpu.name;
}

int device_open(const void *fatbin, char *why, size_t bytes)
{
    int n = 0, device = 0;
    if (ig_cuda_find(&gpu.cuda, why, bytes)) return -1;
    struct ig_cuda *c = &gpu.cuda;
    int error = c->init(0);
    if (!error) error = c->device_count(&n);
    if (!error && !n) error = IG_CUDA_NO_DEVICE;
    if (!error) error = c->device(&device, 0);
    if (!error) error = c->device_name(gpu.name, sizeof gpu.name, device);
    if (!error) error = c->context_retain(&gpu.context, device);
    if (!error) error = c->context_set(gpu.context);
    if (!error) error = c->module_load(&gpu.module, fatbin);
    if (!error) error = c->stream(&gpu.stream, IG_CUDA_NON_BLOCKING);
    if (!error) return 0;
    const char *name = NULL;
    c->error_name(error, &name);
    snprintf(why, bytes, "opening the GPU: %s (CUDA error %d)", name ? name : "unknown", error);
    return -1;
}
