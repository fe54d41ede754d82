/*
 * The CUDA driver, found when the program starts: libcuda.so.1 belongs to the machine's kernel module and cannot be linked
 * statically. Own prototypes of just the functions used, all of which a 10.2 driver has; names with their ABI's suffix, as
 * those without are older ones.
 */
#ifndef RUNTIME_GPU_DRIVER_H
#define RUNTIME_GPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct ig_cuda_context *ig_cuda_context;
typedef struct ig_cuda_module *ig_cuda_module;
typedef struct ig_cuda_function *ig_cuda_function;
typedef struct ig_cuda_stream *ig_cuda_stream;
typedef struct ig_cuda_graph *ig_cuda_graph;
typedef struct ig_cuda_exec *ig_cuda_exec;
typedef struct ig_cuda_event *ig_cuda_event;
typedef uint64_t ig_cuda_address;

enum { /* of cuda.h */
    IG_CUDA_OK = 0,
    IG_CUDA_NO_MEMORY = 2,
    IG_CUDA_NO_DEVICE = 100,
    IG_CUDA_INVALID_IMAGE = 200,     /* what a driver says of a module that it cannot read, */
    IG_CUDA_NO_IMAGE = 209,          /* of one without code for this chip, */
    IG_CUDA_NEWER_PTX = 222,         /* and of PTX that is newer than it */
    IG_CUDA_CAPTURE_THREAD = 1,      /* capture mode: only this thread's calls */
    IG_CUDA_NON_BLOCKING = 1,        /* stream */
    IG_CUDA_HOST_PORTABLE = 1, IG_CUDA_HOST_MAPPED = 2, /* page-locked memory: of all contexts; that the device reads and
                                                           writes in place */
    IG_CUDA_ATTACH_HOST = 2, IG_CUDA_ATTACH_SINGLE = 4, /* managed memory is the processor's; is one stream's */
    IG_CUDA_PARAMS_POINTER = 1, IG_CUDA_PARAMS_SIZE = 2, /* cuLaunchKernel's `extra`: parameters as a block */
    IG_CUDA_ATTRIBUTE_PROCESSORS = 16, IG_CUDA_ATTRIBUTE_INTEGRATED = 18, IG_CUDA_ATTRIBUTE_MAPS = 19,
    IG_CUDA_ATTRIBUTE_MAJOR = 75, IG_CUDA_ATTRIBUTE_MINOR = 76, IG_CUDA_ATTRIBUTE_MANAGES = 83,
    IG_CUDA_ATTRIBUTE_CONCURRENT = 89, IG_CUDA_ATTRIBUTE_REGISTERS = 99
};

struct ig_cuda { /* the functions; their names are cu + the member's in camel case */
    void *library;
    int (*init)(unsigned flags);
    int (*device_count)(int *n);
    int (*device)(int *device, int i);
    int (*device_name)(char *name, int bytes, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*context_retain)(ig_cuda_context *context, int device);
    int (*context_release)(int device);
    int (*context_set)(ig_cuda_context context);
    int (*module_load)(ig_cuda_module *module, const void *image); /* a fatbin, or PTX that ends with 0 */
    int (*module_unload)(ig_cuda_module module);
    int (*module_function)(ig_cuda_function *function, ig_cuda_module module, const char *name);
    int (*memory)(ig_cuda_address *address, size_t bytes);
    int (*memory_free)(ig_cuda_address address);
    int (*host_memory)(void **address, size_t bytes, unsigned flags);
    int (*host_memory_free)(void *address);
    int (*host_address)(ig_cuda_address *address, void *host, unsigned flags); /* as the device sees mapped memory */
    int (*host_register)(void *host, size_t bytes, unsigned flags);
    int (*host_unregister)(void *host);
    int (*managed)(ig_cuda_address *address, size_t bytes, unsigned flags);
    int (*attach)(ig_cuda_stream stream, ig_cuda_address address, size_t bytes, unsigned flags); /* bytes 0: all */
    int (*to_device)(ig_cuda_address to, const void *from, size_t bytes, ig_cuda_stream stream);
    int (*to_host)(void *to, ig_cuda_address from, size_t bytes, ig_cuda_stream stream);
    int (*stream)(ig_cuda_stream *stream, unsigned flags);
    int (*stream_free)(ig_cuda_stream stream);
    int (*stream_wait)(ig_cuda_stream stream);
    int (*launch)(ig_cuda_function f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned,
                  unsigned shared_bytes, ig_cuda_stream stream, void **params, void **extra);
    int (*capture_begin)(ig_cuda_stream stream, int mode);
    int (*capture_end)(ig_cuda_stream stream, ig_cuda_graph *graph);
    int (*graph_free)(ig_cuda_graph graph);
    int (*exec_with_flags)(ig_cuda_exec *exec, ig_cuda_graph graph, unsigned long long flags); /* from 11.4, or NULL */
    int (*exec_old)(ig_cuda_exec *exec, ig_cuda_graph graph, void **node, char *log, size_t bytes); /* before */
    int (*exec_launch)(ig_cuda_exec exec, ig_cuda_stream stream);
    int (*exec_free)(ig_cuda_exec exec);
    int (*event)(ig_cuda_event *event, unsigned flags);
    int (*event_free)(ig_cuda_event event);
    int (*event_record)(ig_cuda_event event, ig_cuda_stream stream);
    int (*event_wait)(ig_cuda_event event);
    int (*event_ms)(float *ms, ig_cuda_event from, ig_cuda_event to); /* both of them reached */
    int (*error_name)(int error, const char **name);
};

/* Finds the driver. 0, or -1 with one line in `why`: there is none, or it is older than 10.2. */
int ig_cuda_find(struct ig_cuda *cuda, char *why, size_t bytes);
/* Makes an executable graph by whichever of the driver's functions exists; the driver's error. */
int ig_cuda_make_exec(const struct ig_cuda *cuda, ig_cuda_exec *exec, ig_cuda_graph graph);

#endif
