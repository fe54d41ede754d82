/* A user's program: frames by push and pop, as there is room for them, against those of run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

enum { FRAMES = 40 };

static struct net_ctx ctx;
static struct net_stages stages;
static float in[NET_INPUT0_BYTES / 4], out[FRAMES][NET_OUTPUT0_BYTES / 4], got[NET_OUTPUT0_BYTES / 4];

static const void *frame(int k)
{
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) in[i] = (float)((i * 7 + (size_t)k * 13) % 29) / 29;
    return in;
}

int main(void)
{
    void *arena = aligned_alloc(NET_ALIGN, (NET_ARENA_BYTES(1) + 63) / 64 * 64), *borrowed[1];
    int popped = 0, ready, bad = 0;
    if (!arena || net_init(&ctx, arena, NET_ARENA_BYTES(1))) return 1;
    for (int k = 0; k < FRAMES; k++)
        if (net_run(&ctx, (const void *[]){frame(k)}, (void *[]){out[k]})) return 2;
    if (net_start_stages(&ctx, &stages)) return 3;
    for (int k = 0; k < FRAMES;) {
        if (net_push_begin(&stages, borrowed, 0) == 0) {
            memcpy(borrowed[0], frame(k++), sizeof in);
            net_push_end(&stages);
        } else if (net_pop(&stages, (void *[]){got}, 1) == 0) {
            bad |= memcmp(got, out[popped++], sizeof got);
        }
    }
    net_push_close(&stages);
    while (net_pop_begin(&stages, borrowed, 1, &ready) == 0) {
        bad |= memcmp(borrowed[0], out[popped++], sizeof got);
        net_pop_end(&stages);
    }
    if (net_push(&stages, (const void *[]){in}, 1) != NET_END || net_pop(&stages, (void *[]){got}, 0) != NET_END) return 4;
    net_stop_stages(&stages);
    puts(net_strerror(NET_AGAIN));
    return bad || popped != FRAMES || ready;
}
