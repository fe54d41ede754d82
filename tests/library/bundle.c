/* Two networks by the functions of both: the bits of each in an arena of its own, in turn and, where that was said, at once. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "app.h"

enum { FRAMES = 6 };
#define AT_ONCE (APP_ARENA_OF_FASHION != APP_ARENA_OF_MOB)

static _Alignas(APP_ALIGN) unsigned char shared[APP_ARENA_BYTES + APP_ALIGN], first[FASHION_ARENA_BYTES(1)],
    second[MOB_ARENA_BYTES(1)];
static float in[MOB_INPUT0_BYTES / sizeof(float)], out[2][2][MOB_OUTPUT0_BYTES / sizeof(float)];
static struct app_ctx ctx;

static int apart(void)
{
    static struct fashion_ctx a;
    static struct mob_ctx b;
    return fashion_init(&a, first, sizeof first) | mob_init(&b, second, sizeof second) |
           fashion_run(&a, (const void *[]){in}, (void *[]){out[0][0]}) | mob_run(&b, (const void *[]){in}, (void *[]){out[0][1]});
}

static void *frames(void *network)
{
    int which = *(const int *)network;
    for (int i = 0; i < FRAMES; i++)
        if (app_run(&ctx, which, (const void *[]){in}, (void *[]){out[1][which]})) return network;
    return NULL;
}

static int at_once(void)
{
    static const int networks[] = {APP_NETWORK_FASHION, APP_NETWORK_MOB};
    pthread_t thread;
    void *failed = NULL;
    if (pthread_create(&thread, NULL, frames, (void *)(size_t)&networks[0])) return 1;
    int bad = frames((void *)(size_t)&networks[1]) != NULL;
    return pthread_join(thread, &failed) || failed || bad;
}

static int in_turn(void)
{
    int status = 0;
    for (int i = 0; i < FRAMES && !status; i++)
        status = app_run(&ctx, i % APP_NETWORKS, (const void *[]){in}, (void *[]){out[1][i % APP_NETWORKS]});
    return status;
}

int main(void)
{
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) in[i] = (float)(i * 7919 % 1000) / 1000;
    memset(shared, 0xff, sizeof shared); /* not a number */
    if (app_init(&ctx, shared, APP_ARENA_BYTES - 1) == 0 || app_init(&ctx, shared + 4, APP_ARENA_BYTES) == 0) return 2;
    if (apart() || app_init(&ctx, shared, APP_ARENA_BYTES)) return 3;
    if (in_turn() || (AT_ONCE && at_once()) || !app_run(&ctx, APP_NETWORKS, (const void *[]){in}, (void *[]){in})) return 4;
    for (int i = 0; i < APP_ALIGN; i++)
        if (shared[APP_ARENA_BYTES + i] != 0xff) return 5;
    printf("%s: an arena of %lld bytes\n", AT_ONCE ? "at once" : "in turn", (long long)APP_ARENA_BYTES);
    return memcmp(out[0], out[1], sizeof out[0]) != 0;
}
