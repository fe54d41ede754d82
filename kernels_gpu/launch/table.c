/* The launchers by the names of the registry's kernels. */
#include "kernels_gpu/launch/launch.h"

static const struct ig_gpu_kernel kernels[] = {
#define KERNEL_GPU(symbol, name, op, flags, supports, pack, scratch, launch) {name, launch},
#define KERNEL_GPU_ERROR(symbol, name, op, flags, supports, pack, scratch, launch, error) {name, launch},
#include "kernels_gpu/kernels.inc"
#undef KERNEL_GPU
#undef KERNEL_GPU_ERROR
};

ig_gpu_launch_fn *ig_gpu_launcher(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!strcmp(kernels[i].name, name)) return kernels[i].launch;
    return NULL;
}
