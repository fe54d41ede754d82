/* A user's program: a pipeline of the library with a stage on the GPU, which may not be there. Prints where it ran. */
#include <math.h>
#include <stdio.h>

#include "fashion_gpu_stages.h"

enum { FRAMES = 6, CLASSES = FASHION_GPU_STAGES_OUTPUT0_BYTES / sizeof(float) };

static _Alignas(FASHION_GPU_STAGES_ALIGN) unsigned char arena[FASHION_GPU_STAGES_ARENA_BYTES(1)];
static float input[FRAMES][FASHION_GPU_STAGES_INPUT0_BYTES / sizeof(float)], cpu[FRAMES][CLASSES], gpu[CLASSES];

int main(int argc, char **argv)
{
    static struct fashion_gpu_stages_gpu on;
    static struct fashion_gpu_stages_stages stages;
    static struct fashion_gpu_stages_ctx ctx;
    char why[200];
    int pushed = 0;
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!f || fread(input, 1, sizeof input, f) != sizeof input) return 2;
    fclose(f);
    if (fashion_gpu_stages_init(&ctx, arena, sizeof arena)) return 1;
    for (int k = 0; k < FRAMES; k++)
        if (fashion_gpu_stages_run(&ctx, (const void *[]){input[k]}, (void *[]){cpu[k]})) return 1;
    int none = fashion_gpu_stages_start_gpu_stages(&ctx, &stages, &on, why, sizeof why);
    if (none > 0 || (none && fashion_gpu_stages_start_stages(&ctx, &stages))) return 1;
    for (int k = 0; k < FRAMES; k++) {
        while (pushed < FRAMES && !fashion_gpu_stages_push(&stages, (const void *[]){input[pushed]}, 0)) pushed++;
        if (fashion_gpu_stages_pop(&stages, (void *[]){gpu}, 1)) return 1;
        for (int i = 0; i < CLASSES; i++)
            if (!(fabsf(cpu[k][i] - gpu[i]) <= 1e-4f)) return 3;
    }
    fashion_gpu_stages_stop_stages(&stages);
    if (none) printf("CPU: %s\n", why);
    else fashion_gpu_stages_gpu_close(&on);
    if (!none) puts("GPU");
    return 0;
}
