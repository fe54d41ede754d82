/* Two networks in one arena, in turn: the bits of each with an arena of its own. */
#include <stdio.h>
#include <string.h>

#include "fashion.h"
#include "mobilenet_v1_025.h"

#include "arena.h"

static _Alignas(INGOT_ARENA_ALIGN) unsigned char shared[INGOT_ARENA_BYTES], first[FASHION_ARENA_BYTES(1)],
    second[MOBILENET_V1_025_ARENA_BYTES(1)];
static float in[2][MOBILENET_V1_025_INPUT0_BYTES / sizeof(float)], out[2][2][MOBILENET_V1_025_OUTPUT0_BYTES / sizeof(float)];

static int run(int which, void *arena_a, size_t bytes_a, void *arena_b, size_t bytes_b)
{
    static struct fashion_ctx a;
    static struct mobilenet_v1_025_ctx b;
    int status = fashion_init(&a, arena_a, bytes_a) | mobilenet_v1_025_init(&b, arena_b, bytes_b);
    for (int turn = 0; turn < 3 && !status; turn++) {
        status |= fashion_run(&a, (const void *[]){in[0]}, (void *[]){out[which][0]});
        status |= mobilenet_v1_025_run(&b, (const void *[]){in[1]}, (void *[]){out[which][1]});
    }
    return status;
}

int main(void)
{
    unsigned char *at = shared;
    for (size_t i = 0; i < sizeof in[1] / sizeof(float); i++) in[0][i] = in[1][i] = (float)(i * 7919 % 1000) / 1000;
    memset(shared, 0xff, sizeof shared); /* not a number */
    if (run(0, first, sizeof first, second, sizeof second)) return 2;
    if (run(1, at + INGOT_ARENA_FASHION, sizeof shared - INGOT_ARENA_FASHION, at + INGOT_ARENA_MOBILENET_V1_025,
            sizeof shared - INGOT_ARENA_MOBILENET_V1_025))
        return 3;
    printf("one arena of %zu bytes instead of %zu\n", sizeof shared, sizeof first + sizeof second);
    return sizeof shared >= sizeof first + sizeof second || memcmp(out[0], out[1], sizeof out[0]) != 0;
}
