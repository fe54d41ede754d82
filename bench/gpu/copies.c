/*
 * What a stage on the GPU takes longer for a tensor that it is given, and for one that it leaves: graphs of a copy in, and of
 * one in and one out, of page-locked memory, from launching to having waited, as a stage does (runtime/gpu/stage.c).
 */
#include "bench/gpu/copies.h"

#include <string.h>

#include "bench/profile.h"

enum { LEAST = 4096, SIZES = 6, MOST = LEAST << 2 * (SIZES - 1), RUNS = 24 };

struct copying {
    const struct ig_cuda *cuda;
    ig_cuda_stream stream;
    ig_cuda_address device;
    void *host;
};

static int graph_of(const struct copying *c, size_t bytes, int out, ig_cuda_exec *exec)
{
    ig_cuda_graph graph = NULL;
    int error = c->cuda->capture_begin(c->stream, IG_CUDA_CAPTURE_THREAD), inner, ended;
    if (error) return error;
    inner = c->cuda->to_device(c->device, c->host, bytes, c->stream);
    if (!inner && out) inner = c->cuda->to_host((char *)c->host + MOST, c->device, bytes, c->stream);
    ended = c->cuda->capture_end(c->stream, &graph);
    error = inner ? inner : ended;
    if (!error) error = ig_cuda_make_exec(c->cuda, exec, graph);
    if (graph) c->cuda->graph_free(graph);
    return error;
}

/* The least of some runs; 0: they fail. */
static int64_t least_ns(const struct copying *c, size_t bytes, int out)
{
    ig_cuda_exec exec = NULL;
    int64_t least = 0;
    int error = graph_of(c, bytes, out, &exec);
    for (int i = 0; i < RUNS && !error; i++) {
        int64_t from = ig_bench_ns(), ns;
        error = c->cuda->exec_launch(exec, c->stream);
        if (!error) error = c->cuda->stream_wait(c->stream);
        ns = ig_bench_ns() - from;
        if (!least || ns < least) least = ns;
    }
    if (exec) c->cuda->exec_free(exec);
    return error ? 0 : least;
}

static void measure(const struct copying *c, struct ig_gpu_copies *to)
{
    int64_t bytes[SIZES], in[SIZES], out[SIZES];
    for (int i = 0; i < SIZES; i++) {
        bytes[i] = (int64_t)LEAST << 2 * i;
        in[i] = least_ns(c, (size_t)bytes[i], 0);
        out[i] = least_ns(c, (size_t)bytes[i], 1) - in[i];
    }
    ig_fit_copies(bytes, in, out, SIZES, to);
}

void ig_gpu_time_copies(const struct ig_gpu *g, struct ig_gpu_copies *to)
{
    struct copying c = {&g->cuda, g->stream, 0, NULL};
    if (!g->cuda.memory(&c.device, MOST) && !g->cuda.host_memory(&c.host, 2 * (size_t)MOST, IG_CUDA_HOST_PORTABLE)) {
        memset(c.host, 0, 2 * (size_t)MOST);
        measure(&c, to);
    }
    if (c.host) g->cuda.host_memory_free(c.host);
    if (c.device) g->cuda.memory_free(c.device);
}
