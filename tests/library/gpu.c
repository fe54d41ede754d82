/* A user's program: the library with a GPU, which may not be there. Prints where it ran. */
#include <math.h>
#include <stdio.h>

#include "fashion_gpu.h"

static _Alignas(FASHION_GPU_ALIGN) unsigned char arena[FASHION_GPU_ARENA_BYTES(1)];
static float input[FASHION_GPU_INPUT0_BYTES / sizeof(float)];
static float cpu[FASHION_GPU_OUTPUT0_BYTES / sizeof(float)], gpu[FASHION_GPU_OUTPUT0_BYTES / sizeof(float)];

int main(int argc, char **argv)
{
    static struct fashion_gpu_gpu on;
    static struct fashion_gpu_ctx ctx;
    const void *in[] = {input};
    void *out[] = {cpu}, *there[] = {gpu};
    char why[200];
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!f || fread(input, 1, sizeof input, f) != sizeof input) return 2;
    fclose(f);
    if (fashion_gpu_init(&ctx, arena, sizeof arena) || fashion_gpu_run(&ctx, in, out)) return 1;
    if (fashion_gpu_gpu_open(&on, why, sizeof why)) {
        printf("CPU: %s\n", why);
        return 0;
    }
    for (int frame = 0; frame < 2; frame++)
        if (fashion_gpu_gpu_run(&on, in, there, why, sizeof why)) return 1;
    fashion_gpu_gpu_close(&on);
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++)
        if (!(fabsf(cpu[i] - gpu[i]) <= 1e-4f)) return 3;
    puts("GPU");
    return 0;
}
