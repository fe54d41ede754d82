/* Running one backend test on the GPU, by the driver that is here. */
#include <stdlib.h>
#include <string.h>

#include "cli/verify.h"
#include "gen/lower_gpu.h"

static void *packed(struct ig_lowered *l)
{
    size_t bytes = (size_t)(l->model.weights_bytes + 63) / 64 * 64;
    void *constants = aligned_alloc(64, bytes ? bytes : 64);
    if (!constants) ig_fatal("out of memory");
    memset(constants, 0, bytes);
    ig_fill_weights(l, constants);
    return constants;
}

int ig_verify_gpu(struct ig_lowered *l, const void *fatbin, const void *const *inputs, void *const *outputs, char *err, size_t n)
{
    struct ig_gpu_lowered *launches = ig_lower_gpu(l, err, n);
    if (!launches) return -1;
    struct ig_gpu gpu;
    void *constants = packed(l);
    launches->plan.fatbin = fatbin;
    int status = ig_gpu_open(&gpu, &launches->plan, constants, err, n);
    if (!status) {
        status = ig_gpu_run(&gpu, inputs, outputs, err, n);
        ig_gpu_close(&gpu);
    }
    free(constants);
    ig_gpu_lowered_free(launches);
    return status;
}
