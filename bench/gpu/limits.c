#include "bench/gpu/limits.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { COPIED = 256 << 20 /* several times the last cache */, RUNS = 10, ATTRIBUTE_CLOCK_KHZ = 13, LARGE = 64 << 20 /* bytes */ };

typedef int copy_fn(ig_cuda_address to, ig_cuda_address from, size_t bytes, ig_cuda_stream stream);

/* Lanes of a multiprocessor for f32, by the chip (CUDA C++ Programming Guide, arithmetic instructions); 0: an unknown one. */
static int lanes(int32_t sm)
{
    switch (sm) {
    case 60: case 70: case 72: case 75: case 80: return 64;
    case 50: case 52: case 53: case 61: case 62: case 86: case 87: case 89: case 90: case 100: case 101: case 103: case 120:
        return 128;
    default: return 0;
    }
}

/* The least ms of some copies; 0: they fail. */
static float copy_ms(const struct ig_gpu *g, copy_fn *copy, ig_cuda_address to, ig_cuda_address from)
{
    ig_cuda_event first = NULL, last = NULL;
    float least = 0, ms = 0;
    int error = g->cuda.event(&first, 0);
    if (!error) error = g->cuda.event(&last, 0);
    for (int i = 0; i < RUNS && !error; i++) {
        error = g->cuda.event_record(first, g->stream);
        if (!error) error = copy(to, from, COPIED, g->stream);
        if (!error) error = g->cuda.event_record(last, g->stream);
        if (!error) error = g->cuda.event_wait(last);
        if (!error) error = g->cuda.event_ms(&ms, first, last);
        if (!i || ms < least) least = ms;
    }
    if (first) g->cuda.event_free(first);
    if (last) g->cuda.event_free(last);
    return error ? 0 : least;
}

static double copy_rate(const struct ig_gpu *g)
{
    ig_cuda_address a = 0, b = 0;
    copy_fn *copy;
    void *found = dlsym(g->cuda.library, "cuMemcpyDtoDAsync_v2"); /* programs have no use for it */
    memcpy(&copy, &found, sizeof copy);
    float ms = 0;
    if (found && !g->cuda.memory(&a, COPIED) && !g->cuda.memory(&b, COPIED)) ms = copy_ms(g, copy, a, b);
    if (a) g->cuda.memory_free(a);
    if (b) g->cuda.memory_free(b);
    return ms > 0 ? 2.0 * COPIED / ((double)ms * 1e6) : 0;
}

struct ig_gpu_limits ig_gpu_limits(const struct ig_gpu *g)
{
    int khz = 0;
    if (g->cuda.device_attribute(&khz, ATTRIBUTE_CLOCK_KHZ, g->device)) khz = 0;
    return (struct ig_gpu_limits){2e-6 * g->processors * lanes(g->sm) * khz, copy_rate(g)};
}

/* A large image's channels do not fit a chip, and their means and variances must be known before the first is scaled. */
static int is_read_twice(const struct ig_node *n, int i, double bytes)
{
    return i == 0 && n->op == IG_NORM && n->attrs.norm.kind == IG_NORM_INSTANCE && bytes >= LARGE;
}

/* Of an operand that is read in part, as much as there is of the result; of a choice, one side. */
static double read_bytes(const struct ig_graph *g, const struct ig_node *n, int i)
{
    double all = (double)ig_bytes(&g->values[n->in[i]].shape);
    int part = i == 0 && (n->op == IG_SLICE || n->op == IG_GATHER || n->op == IG_GATHER_ELEMENTS || n->op == IG_GATHER_ND);
    if (n->op == IG_WHERE && i == 2) return 0;
    if (is_read_twice(n, i, all)) return 2 * all;
    return part && n->out[0] >= 0 ? fmin(all, (double)ig_bytes(&g->values[n->out[0]].shape)) : all;
}

double ig_gpu_moved(const struct ig_graph *g, const struct ig_node *n)
{
    double bytes = 0;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) bytes += read_bytes(g, n, i);
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0) bytes += (double)ig_bytes(&g->values[n->out[i]].shape);
    return bytes;
}
