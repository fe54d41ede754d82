#include "runtime/gpu/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct entry {
    const char *name;
    size_t member;
    int optional;
} entries[] = {
#define ENTRY(name, member) {name, offsetof(struct ig_cuda, member), 0}
    ENTRY("cuInit", init),
    ENTRY("cuDeviceGetCount", device_count),
    ENTRY("cuDeviceGet", device),
    ENTRY("cuDeviceGetName", device_name),
    ENTRY("cuDeviceGetAttribute", device_attribute),
    ENTRY("cuDevicePrimaryCtxRetain", context_retain),
    ENTRY("cuDevicePrimaryCtxRelease", context_release),
    ENTRY("cuCtxSetCurrent", context_set),
    ENTRY("cuModuleLoadData", module_load),
    ENTRY("cuModuleUnload", module_unload),
    ENTRY("cuModuleGetFunction", module_function),
    ENTRY("cuMemAlloc_v2", memory),
    ENTRY("cuMemFree_v2", memory_free),
    ENTRY("cuMemHostAlloc", host_memory),
    ENTRY("cuMemFreeHost", host_memory_free),
    ENTRY("cuMemHostGetDevicePointer_v2", host_address),
    ENTRY("cuMemHostRegister_v2", host_register),
    ENTRY("cuMemHostUnregister", host_unregister),
    ENTRY("cuMemAllocManaged", managed),
    ENTRY("cuStreamAttachMemAsync", attach),
    ENTRY("cuMemcpyHtoDAsync_v2", to_device),
    ENTRY("cuMemcpyDtoHAsync_v2", to_host),
    ENTRY("cuStreamCreate", stream),
    ENTRY("cuStreamDestroy_v2", stream_free),
    ENTRY("cuStreamSynchronize", stream_wait),
    ENTRY("cuLaunchKernel", launch),
    ENTRY("cuStreamBeginCapture_v2", capture_begin),
    ENTRY("cuStreamEndCapture", capture_end),
    ENTRY("cuGraphDestroy", graph_free),
    ENTRY("cuGraphLaunch", exec_launch),
    ENTRY("cuGraphExecDestroy", exec_free),
    ENTRY("cuEventCreate", event),
    ENTRY("cuEventDestroy_v2", event_free),
    ENTRY("cuEventRecord", event_record),
    ENTRY("cuEventSynchronize", event_wait),
    ENTRY("cuEventElapsedTime", event_ms),
    ENTRY("cuGetErrorName", error_name),
#undef ENTRY
    {"cuGraphInstantiateWithFlags", offsetof(struct ig_cuda, exec_with_flags), 1},
    {"cuGraphInstantiate_v2", offsetof(struct ig_cuda, exec_old), 1},
};

int ig_cuda_find(struct ig_cuda *cuda, char *why, size_t bytes)
{
    memset(cuda, 0, sizeof *cuda);
    cuda->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda->library) {
        snprintf(why, bytes, "no CUDA driver: %s", dlerror());
        return -1;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *address = dlsym(cuda->library, entries[i].name);
        if (!address && !entries[i].optional) {
            snprintf(why, bytes, "the CUDA driver has no %s: it is older than 10.2", entries[i].name);
            dlclose(cuda->library);
            return -1;
        }
        memcpy((char *)cuda + entries[i].member, &address, sizeof address);
    }
    if (cuda->exec_with_flags || cuda->exec_old) return 0;
    void *address = dlsym(cuda->library, "cuGraphInstantiate"); /* the same five arguments until 11.0 */
    memcpy(&cuda->exec_old, &address, sizeof address);
    return 0;
}

int ig_cuda_make_exec(const struct ig_cuda *cuda, ig_cuda_exec *exec, ig_cuda_graph graph)
{
    if (cuda->exec_with_flags) return cuda->exec_with_flags(exec, graph, 0);
    return cuda->exec_old(exec, graph, NULL, NULL, 0);
}
