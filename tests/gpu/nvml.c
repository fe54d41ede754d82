/*
 * The face of libnvidia-ml.so.1 for tests: the emulated driver's GPU draws 50 W. EMU_NVML in the environment: "power"
 * (it counts no energy), "none" (nor does it tell its power), "init" (the library does not start), "lost" (the third
 * reading fails), "bus" (there is no such GPU).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15, MILLIWATTS = 50000 };

#define API __attribute__((visibility("default"))) int

API nvmlInit_v2(void);
API nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
API nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
API nvmlDeviceGetPowerUsage(void *device, unsigned *mw);

static int gpu;

static int is(const char *what)
{
    const char *wanted = getenv("EMU_NVML");
    return wanted && !strcmp(wanted, what);
}

int nvmlInit_v2(void)
{
    return is("init") ? DRIVER_NOT_LOADED : OK;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    *device = &gpu;
    return is("bus") || strcmp(bus, "0000:3b:00.0") ? NOT_FOUND : OK;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
    static int readings;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    *mj = ((unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000) * MILLIWATTS / 1000;
    if (is("power") || is("none")) return NOT_SUPPORTED;
    return device != &gpu || (is("lost") && ++readings > 2) ? GPU_IS_LOST : OK;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
    *mw = MILLIWATTS;
    return device != &gpu || is("none") ? NOT_SUPPORTED : OK;
}
