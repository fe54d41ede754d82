/*
 * The face of libcuda.so.1: the emulator as the driver that a program finds, so that the program's own glue, its graph
 * capture and its failures can be tested where there is no GPU. Work is done when it is enqueued, or recorded while its
 * stream is captured. EMU_CUDA_FAILS in the environment: "device" (there is none), "image" (no code for this chip; a
 * fatbin says so by "of another chip"), "old" (a driver that takes no fatbin, and PTX up to 6.5),
 * "memory" (cuMemAlloc fails), "launch" (a launch does), "graph" (those of a graph do nothing), "result" (nothing is copied
 * back), "stray" (the first byte of what is copied back is another one). EMU_CUDA_SKIPS names a kernel whose launches do
 * nothing, EMU_CUDA_SLOWS one whose launches take a second more by the clock of events. EMU_CUDA_DISCRETE: the GPU has
 * memory of its own. EMU_CUDA_CHIP: 87 is an sm_87, in place of an sm_62.
 * EMU_CUDA_COUNTS names a file for the number of graph launches and of launches outside of graphs, when the process ends;
 * EMU_CUDA_COPIES one for the number of copies to or from memory of the host that was locked in place, and of all;
 * emu_cuda_counts tells more. EMU_CUDA_LACKS has words of what the GPU cannot: "map" and "register" memory of the host,
 * "manage". The processor cannot touch managed memory while a kernel runs, as on Tegra: kernels may only use what is
 * attached to their stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels_gpu/emu/emu.h"
#include "runtime/gpu/driver.h"

enum {
    OK = IG_CUDA_OK, INVALID_VALUE = 1, NO_MEMORY = IG_CUDA_NO_MEMORY, NOT_INITIALIZED = 3, NO_DEVICE = IG_CUDA_NO_DEVICE,
    INVALID_CONTEXT = 201, NO_IMAGE = IG_CUDA_NO_IMAGE, INVALID_IMAGE = IG_CUDA_INVALID_IMAGE, NEWER_PTX = IG_CUDA_NEWER_PTX, NOT_FOUND = 500, LAUNCH_FAILED = 719, CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALID = 901, ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, NOT_SUPPORTED = 801, PARAMS = 256,
    FUNCTIONS = 256, MANAGED = 256
};

struct work { /* one piece of it on a stream */
    enum { LAUNCH, TO_DEVICE, TO_HOST } kind;
    const char *name;
    emu_kernel_fn *function;
    struct emu_dim grid;
    unsigned threads;
    _Alignas(16) unsigned char params[PARAMS];
    void *to;
    const void *from;
    size_t bytes;
};

struct ig_cuda_graph { struct work *work; size_t n, room; };
struct ig_cuda_exec { struct work *work; size_t n; };
struct ig_cuda_stream { struct ig_cuda_graph *capture; int error; };
struct ig_cuda_function { const char *name; emu_kernel_fn *run; };
struct ig_cuda_context { int retained; };
struct ig_cuda_event { double ms; /* 0: not reached */ };
struct ig_cuda_module { int loaded; };

static int initialised;
static struct ig_cuda_context primary;
static _Thread_local ig_cuda_context current;
static struct ig_cuda_function functions[FUNCTIONS]; /* as many as are asked for */
static size_t n_functions;
static int graph_launches, single_launches, copies, locked_copies, attachments;
static double slow_ms; /* what EMU_CUDA_SLOWS has taken so far */

static int fails(const char *what)
{
    const char *wanted = getenv("EMU_CUDA_FAILS");
    return wanted && !strcmp(wanted, what);
}

static int lacks(const char *what)
{
    const char *words = getenv("EMU_CUDA_LACKS");
    return words && strstr(words, what);
}

static void write_pair(const char *path, int a, int b)
{
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    fprintf(f, "%d %d\n", a, b);
    fclose(f);
}

static __attribute__((destructor)) void write_counts(void)
{
    write_pair(getenv("EMU_CUDA_COUNTS"), graph_launches, single_launches);
    write_pair(getenv("EMU_CUDA_COPIES"), locked_copies, copies);
}

#define API __attribute__((visibility("default"))) int

API cuInit(unsigned flags);
API cuDeviceGetCount(int *n);
API cuDeviceGet(int *device, int i);
API cuDeviceGetName(char *name, int bytes, int device);
API cuDeviceGetPCIBusId(char *text, int bytes, int device);
API cuDeviceGetAttribute(int *value, int attribute, int device);
API cuDevicePrimaryCtxRetain(ig_cuda_context *context, int device);
API cuDevicePrimaryCtxRelease(int device);
API cuCtxSetCurrent(ig_cuda_context context);
API cuModuleLoadData(ig_cuda_module *module, const void *image);
API cuModuleUnload(ig_cuda_module module);
API cuModuleGetFunction(ig_cuda_function *function, ig_cuda_module module, const char *name);
API cuMemAlloc_v2(ig_cuda_address *address, size_t bytes);
API cuMemFree_v2(ig_cuda_address address);
API cuMemHostAlloc(void **address, size_t bytes, unsigned flags);
API cuMemFreeHost(void *address);
API cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags);
API cuMemHostUnregister(void *address);
API cuMemAllocManaged(ig_cuda_address *address, size_t bytes, unsigned flags);
API cuStreamAttachMemAsync(ig_cuda_stream stream, ig_cuda_address address, size_t bytes, unsigned flags);
API cuMemHostGetDevicePointer_v2(ig_cuda_address *address, void *host, unsigned flags);
API cuMemcpyHtoDAsync_v2(ig_cuda_address to, const void *from, size_t bytes, ig_cuda_stream stream);
API cuMemcpyDtoHAsync_v2(void *to, ig_cuda_address from, size_t bytes, ig_cuda_stream stream);
API cuMemcpyDtoDAsync_v2(ig_cuda_address to, ig_cuda_address from, size_t bytes, ig_cuda_stream stream);
API cuStreamCreate(ig_cuda_stream *stream, unsigned flags);
API cuStreamDestroy_v2(ig_cuda_stream stream);
API cuStreamSynchronize(ig_cuda_stream stream);
API cuLaunchKernel(ig_cuda_function f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   ig_cuda_stream stream, void **params, void **extra);
API cuStreamBeginCapture_v2(ig_cuda_stream stream, int mode);
API cuStreamEndCapture(ig_cuda_stream stream, ig_cuda_graph *graph);
API cuGraphDestroy(ig_cuda_graph graph);
API cuGraphInstantiateWithFlags(ig_cuda_exec *exec, ig_cuda_graph graph, unsigned long long flags);
API cuGraphLaunch(ig_cuda_exec exec, ig_cuda_stream stream);
API cuGraphExecDestroy(ig_cuda_exec exec);
API cuEventCreate(ig_cuda_event *event, unsigned flags);
API cuEventDestroy_v2(ig_cuda_event event);
API cuEventRecord(ig_cuda_event event, ig_cuda_stream stream);
API cuEventSynchronize(ig_cuda_event event);
API cuEventElapsedTime(float *ms, ig_cuda_event from, ig_cuda_event to);
API cuGetErrorName(int error, const char **name);
/* Copies and changes of managed memory so far; returns how many managed allocations are left. */
API emu_cuda_counts(int *copied, int *attached);

/* --- device, context, module --- */

int cuInit(unsigned flags)
{
    if (fails("device")) return NO_DEVICE;
    initialised = 1;
    return flags ? INVALID_VALUE : OK;
}

int cuDeviceGetCount(int *n)
{
    *n = 1;
    return initialised ? OK : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int i)
{
    *device = 0;
    return !initialised ? NOT_INITIALIZED : i ? INVALID_VALUE : OK;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
    snprintf(name, (size_t)bytes, "Emulated GPU");
    return device ? INVALID_VALUE : OK;
}

int cuDeviceGetPCIBusId(char *text, int bytes, int device)
{
    snprintf(text, (size_t)bytes, "0000:3b:00.0");
    return device ? INVALID_VALUE : OK;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    const char *chip = getenv("EMU_CUDA_CHIP");
    int sm = chip ? atoi(chip) : 62;
    switch (attribute) {
    case IG_CUDA_ATTRIBUTE_PROCESSORS: *value = 2; break;
    case IG_CUDA_ATTRIBUTE_INTEGRATED: *value = !getenv("EMU_CUDA_DISCRETE"); break;
    case IG_CUDA_ATTRIBUTE_MAPS: *value = !lacks("map"); break;
    case IG_CUDA_ATTRIBUTE_MANAGES: *value = !lacks("manage"); break;
    case IG_CUDA_ATTRIBUTE_REGISTERS: *value = !lacks("register"); break;
    case IG_CUDA_ATTRIBUTE_CONCURRENT: *value = 0; break;
    case 13: *value = 1300000; break; /* kHz */
    case IG_CUDA_ATTRIBUTE_MAJOR: *value = sm / 10; break;
    case IG_CUDA_ATTRIBUTE_MINOR: *value = sm % 10; break;
    default: return INVALID_VALUE;
    }
    return device ? INVALID_VALUE : OK;
}

int cuDevicePrimaryCtxRetain(ig_cuda_context *context, int device)
{
    if (!initialised || device) return NOT_INITIALIZED;
    primary.retained++;
    *context = &primary;
    return OK;
}

int cuDevicePrimaryCtxRelease(int device)
{
    if (device || !primary.retained) return INVALID_CONTEXT;
    if (!--primary.retained) current = NULL;
    return OK;
}

int cuCtxSetCurrent(ig_cuda_context context)
{
    current = context;
    return OK;
}

/* What a driver of CUDA 10.2 may say of what newer toolkits make, and of PTX. */
static int old_driver(const char *image)
{
    int32_t major, minor;
    if (sscanf(image, ".version %d.%d", &major, &minor) != 2) return INVALID_IMAGE;
    return major * 10 + minor > 65 ? NEWER_PTX : OK;
}

int cuModuleLoadData(ig_cuda_module *module, const void *image)
{
    if (!current) return INVALID_CONTEXT;
    if (!image) return INVALID_VALUE;
    if (fails("image") || !strcmp(image, "of another chip")) return NO_IMAGE;
    int error = fails("old") ? old_driver(image) : OK;
    if (error) return error;
    *module = calloc(1, sizeof **module);
    return *module ? OK : NO_MEMORY;
}

int cuModuleUnload(ig_cuda_module module)
{
    free(module);
    return OK;
}

int cuModuleGetFunction(ig_cuda_function *function, ig_cuda_module module, const char *name)
{
    emu_kernel_fn *run = emu_function(name);
    if (!module) return INVALID_VALUE;
    size_t i = 0;
    while (i < n_functions && functions[i].run != run) i++;
    if (!run || i == sizeof functions / sizeof *functions) return NOT_FOUND;
    if (i == n_functions) functions[n_functions++] = (struct ig_cuda_function){strdup(name), run};
    *function = &functions[i];
    return OK;
}

/* --- memory --- */

int cuMemAlloc_v2(ig_cuda_address *address, size_t bytes)
{
    void *block = !current || !bytes || fails("memory") ? NULL : emu_alloc(bytes);
    if (!block) return current ? bytes ? NO_MEMORY : INVALID_VALUE : INVALID_CONTEXT;
    emu_allow(block, bytes, EMU_READ | EMU_WRITE);
    *address = (uintptr_t)block;
    return OK;
}

/* Managed memory: whole blocks, each the host's or a stream's. */
static struct managed {
    void *block;
    size_t bytes;
} managed[MANAGED];

static struct managed *managed_of(ig_cuda_address address)
{
    for (size_t i = 0; address && i < MANAGED; i++)
        if (managed[i].block == (void *)(uintptr_t)address) return &managed[i];
    return NULL;
}

int cuMemAllocManaged(ig_cuda_address *address, size_t bytes, unsigned flags)
{
    size_t i = 0;
    if (!current || !bytes || flags != IG_CUDA_ATTACH_HOST) return current ? INVALID_VALUE : INVALID_CONTEXT;
    if (lacks("manage")) return NOT_SUPPORTED;
    while (i < MANAGED && managed[i].block) i++;
    void *block = i == MANAGED ? NULL : emu_alloc(bytes); /* kernels may not touch it yet */
    if (!block) return NO_MEMORY;
    managed[i] = (struct managed){block, bytes};
    *address = (uintptr_t)block;
    return OK;
}

int cuStreamAttachMemAsync(ig_cuda_stream stream, ig_cuda_address address, size_t bytes, unsigned flags)
{
    struct managed *m = managed_of(address);
    if (!current) return INVALID_CONTEXT;
    if (!m || (bytes && bytes != m->bytes)) return INVALID_VALUE;
    if (flags != IG_CUDA_ATTACH_HOST && flags != IG_CUDA_ATTACH_SINGLE) return INVALID_VALUE;
    if (stream->capture) return CAPTURE_UNSUPPORTED;
    emu_allow(m->block, m->bytes, flags == IG_CUDA_ATTACH_SINGLE ? EMU_READ | EMU_WRITE : EMU_GAP);
    attachments++;
    return OK;
}

int emu_cuda_counts(int *copied, int *attached)
{
    int left = 0;
    *copied = copies;
    *attached = attachments;
    for (size_t i = 0; i < MANAGED; i++) left += managed[i].block != NULL;
    return left;
}

int cuMemFree_v2(ig_cuda_address address)
{
    struct managed *m = managed_of(address);
    if (!emu_is_device((void *)(uintptr_t)address, 1)) return INVALID_VALUE;
    if (m) m->block = NULL;
    emu_free((void *)(uintptr_t)address);
    return OK;
}

int cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    if (!current) return INVALID_CONTEXT;
    if (flags & ~(unsigned)(IG_CUDA_HOST_MAPPED | IG_CUDA_HOST_PORTABLE)) return INVALID_VALUE;
    if (flags & IG_CUDA_HOST_MAPPED && lacks("map")) return NOT_SUPPORTED;
    if (flags & IG_CUDA_HOST_MAPPED) { /* kernels may touch it */
        *address = emu_alloc(bytes);
        if (*address) emu_allow(*address, bytes, EMU_READ | EMU_WRITE);
    } else *address = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *address ? OK : NO_MEMORY;
}

int cuMemHostGetDevicePointer_v2(ig_cuda_address *address, void *host, unsigned flags)
{
    *address = (uintptr_t)host;
    return flags || lacks("map") || !(emu_is_device(host, 1) || emu_is_registered(host, 1)) ? INVALID_VALUE : OK;
}

int cuMemFreeHost(void *address)
{
    if (emu_is_device(address, 1)) emu_free(address);
    else free(address);
    return OK;
}

int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    if (!current) return INVALID_CONTEXT;
    if (lacks("register")) return NOT_SUPPORTED;
    if (!bytes || flags != (IG_CUDA_HOST_PORTABLE | IG_CUDA_HOST_MAPPED)) return INVALID_VALUE;
    return emu_register(address, bytes) ? ALREADY_REGISTERED : OK;
}

int cuMemHostUnregister(void *address)
{
    return emu_unregister(address) ? NOT_REGISTERED : OK;
}

/* --- streams --- */

static int is_named(const char *variable, const char *kernel)
{
    const char *name = getenv(variable);
    return name && !strcmp(name, kernel);
}

static int perform(const struct work *w)
{
    if (w->kind != LAUNCH) {
        if (w->kind == TO_DEVICE || !fails("result")) memcpy(w->to, w->from, w->bytes);
        if (w->kind == TO_HOST && fails("stray")) *(unsigned char *)w->to ^= 1;
        copies++;
        locked_copies += emu_is_registered(w->kind == TO_DEVICE ? w->from : w->to, w->bytes);
        return OK;
    }
    if (fails("launch")) return LAUNCH_FAILED;
    if (is_named("EMU_CUDA_SKIPS", w->name)) return OK;
    slow_ms += 1e3 * is_named("EMU_CUDA_SLOWS", w->name);
    if (!emu_launch(w->name, w->function, w->grid, w->threads, w->params)) return OK;
    fprintf(stderr, "emulated GPU: %s\n", emu_fault());
    return LAUNCH_FAILED;
}

static int enqueue(ig_cuda_stream stream, const struct work *w)
{
    if (!current) return INVALID_CONTEXT;
    struct ig_cuda_graph *g = stream->capture;
    if (!g) {
        int error = perform(w);
        if (error) stream->error = error;
        return OK; /* a real one tells later too */
    }
    if (g->n == g->room) {
        g->room = g->room * 2 + 16;
        g->work = realloc(g->work, g->room * sizeof *g->work);
        if (!g->work) return NO_MEMORY;
    }
    g->work[g->n++] = *w;
    return OK;
}

int cuMemcpyHtoDAsync_v2(ig_cuda_address to, const void *from, size_t bytes, ig_cuda_stream stream)
{
    struct work w = {.kind = TO_DEVICE, .to = (void *)(uintptr_t)to, .from = from, .bytes = bytes};
    return emu_is_device(w.to, bytes) ? enqueue(stream, &w) : INVALID_VALUE;
}

int cuMemcpyDtoHAsync_v2(void *to, ig_cuda_address from, size_t bytes, ig_cuda_stream stream)
{
    struct work w = {.kind = TO_HOST, .to = to, .from = (void *)(uintptr_t)from, .bytes = bytes};
    return emu_is_device(w.from, bytes) ? enqueue(stream, &w) : INVALID_VALUE;
}

int cuMemcpyDtoDAsync_v2(ig_cuda_address to, ig_cuda_address from, size_t bytes, ig_cuda_stream stream)
{
    struct work w = {.kind = TO_DEVICE, .to = (void *)(uintptr_t)to, .from = (void *)(uintptr_t)from, .bytes = bytes};
    return emu_is_device(w.to, bytes) && emu_is_device((void *)(uintptr_t)from, bytes) ? enqueue(stream, &w) : INVALID_VALUE;
}

int cuStreamCreate(ig_cuda_stream *stream, unsigned flags)
{
    (void)flags;
    if (!current) return INVALID_CONTEXT;
    *stream = calloc(1, sizeof **stream);
    return *stream ? OK : NO_MEMORY;
}

int cuStreamDestroy_v2(ig_cuda_stream stream)
{
    free(stream);
    return OK;
}

int cuStreamSynchronize(ig_cuda_stream stream)
{
    if (!current) return INVALID_CONTEXT;
    if (stream->capture) return CAPTURE_UNSUPPORTED;
    return stream->error;
}

int cuLaunchKernel(ig_cuda_function f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   ig_cuda_stream stream, void **params, void **extra)
{
    struct work w = {.kind = LAUNCH, .name = f->name, .function = f->run, .grid = {x, y, z}, .threads = bx};
    if (params || by != 1 || bz != 1 || shared || !x || !y || !z || y > EMU_MAX_GRID || z > EMU_MAX_GRID) return INVALID_VALUE;
    if (extra[0] != (void *)(uintptr_t)IG_CUDA_PARAMS_POINTER || extra[2] != (void *)(uintptr_t)IG_CUDA_PARAMS_SIZE || extra[4])
        return INVALID_VALUE;
    size_t bytes = *(size_t *)extra[3];
    if (bytes > sizeof w.params) return INVALID_VALUE;
    memcpy(w.params, extra[1], bytes);
    single_launches += !stream->capture;
    return enqueue(stream, &w);
}

/* --- events: work is done when it is enqueued, and so are they --- */

int cuEventCreate(ig_cuda_event *event, unsigned flags)
{
    if (!current || flags) return current ? INVALID_VALUE : INVALID_CONTEXT;
    *event = calloc(1, sizeof **event);
    return *event ? OK : NO_MEMORY;
}

int cuEventDestroy_v2(ig_cuda_event event)
{
    free(event);
    return OK;
}

/* The GPU's clock is what this process computes: others on the machine cost it no time. */
int cuEventRecord(ig_cuda_event event, ig_cuda_stream stream)
{
    struct timespec t;
    if (!current) return INVALID_CONTEXT;
    if (stream->capture) return CAPTURE_UNSUPPORTED;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    event->ms = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6 + slow_ms;
    return OK;
}

int cuEventSynchronize(ig_cuda_event event)
{
    return event->ms > 0 ? OK : INVALID_VALUE;
}

int cuEventElapsedTime(float *ms, ig_cuda_event from, ig_cuda_event to)
{
    if (!(from->ms > 0) || !(to->ms > 0)) return INVALID_VALUE;
    *ms = (float)(to->ms - from->ms);
    return OK;
}

/* --- graphs --- */

int cuStreamBeginCapture_v2(ig_cuda_stream stream, int mode)
{
    if (stream->capture || mode < 0 || mode > 2) return CAPTURE_UNSUPPORTED;
    stream->capture = calloc(1, sizeof *stream->capture);
    return stream->capture ? OK : NO_MEMORY;
}

int cuStreamEndCapture(ig_cuda_stream stream, ig_cuda_graph *graph)
{
    if (!stream->capture) return CAPTURE_INVALID;
    *graph = stream->capture;
    stream->capture = NULL;
    return OK;
}

int cuGraphDestroy(ig_cuda_graph graph)
{
    free(graph->work);
    free(graph);
    return OK;
}

int cuGraphInstantiateWithFlags(ig_cuda_exec *exec, ig_cuda_graph graph, unsigned long long flags)
{
    if (flags) return INVALID_VALUE;
    *exec = malloc(sizeof **exec);
    if (!*exec) return NO_MEMORY;
    **exec = (struct ig_cuda_exec){malloc((graph->n + 1) * sizeof *graph->work), graph->n};
    if (!(*exec)->work) abort();
    memcpy((*exec)->work, graph->work, graph->n * sizeof *graph->work);
    return OK;
}

int cuGraphLaunch(ig_cuda_exec exec, ig_cuda_stream stream)
{
    graph_launches++;
    for (size_t i = 0; i < exec->n; i++) {
        int error = fails("graph") && exec->work[i].kind == LAUNCH ? OK : enqueue(stream, &exec->work[i]);
        if (error) return error;
    }
    return OK;
}

int cuGraphExecDestroy(ig_cuda_exec exec)
{
    free(exec->work);
    free(exec);
    return OK;
}

int cuGetErrorName(int error, const char **name)
{
    static const struct { int error; const char *name; } names[] = {
        {OK, "CUDA_SUCCESS"}, {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}, {NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"}, {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"}, {NO_IMAGE, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"}, {NEWER_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"}, {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
        {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
        {CAPTURE_INVALID, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"}, {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error) {
            *name = names[i].name;
            return OK;
        }
    *name = NULL;
    return INVALID_VALUE;
}
