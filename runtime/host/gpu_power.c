/*
 * NVML, which comes with the driver: loaded when it is asked for, with own prototypes. Its GPU is the one that the
 * program runs on, by its place on the bus: CUDA numbers devices otherwise, and hides some.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/host/energy.h"
#include "runtime/host/gpu.h"

enum { NOT_SUPPORTED = 3 }; /* of nvml.h */

static struct {
    char bus[32]; /* "0000:3b:00.0" */
    int (*by_bus)(const char *bus, void **device);
    struct ig_nvml api;
} nvml;

static int device(unsigned index, void **found)
{
    (void)index;
    return nvml.by_bus(nvml.bus, found);
}

static int counts_nothing(void *at, unsigned long long *mj)
{
    (void)at;
    *mj = 0;
    return NOT_SUPPORTED;
}

/* ISO C has no cast from an object's address to a function's. */
static int find(void *library, const char *name, void *to)
{
    void *address = dlsym(library, name);
    if (address) memcpy(to, &address, sizeof address);
    return address ? 0 : -1;
}

int ig_gpu_power(struct ig_power *p)
{
    int (*bus_of)(char *text, int bytes, int at);
    const struct ig_gpu *gpu = ig_gpu_in_use();
    if (!gpu) return 1;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return ig_power_open_nvml(p, NULL);
    nvml.api = (struct ig_nvml){.device = device, .energy = counts_nothing};
    find(library, "nvmlDeviceGetTotalEnergyConsumption", &nvml.api.energy);
    find(library, "nvmlDeviceGetPowerUsage", &nvml.api.power);
    if (find(gpu->cuda.library, "cuDeviceGetPCIBusId", &bus_of) ||
        bus_of(nvml.bus, sizeof nvml.bus, gpu->device) || find(library, "nvmlInit_v2", &nvml.api.init) ||
        find(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_bus)) {
        *p = (struct ig_power){.kind = IG_POWER_NONE};
        snprintf(p->why, sizeof p->why, "no sensor: NVML does not tell which GPU is the program's");
        return -1;
    }
    return ig_power_open_nvml(p, &nvml.api);
}
