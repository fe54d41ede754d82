/* A user's program: the library in static memory, two contexts, one of them on a team of threads. */
#include <stdio.h>
#include <string.h>

#include "fashion.h"

enum { TEAM = 2 };

static _Alignas(FASHION_ALIGN) unsigned char arena[2][FASHION_ARENA_BYTES(TEAM)];
static float input[FASHION_INPUT0_BYTES / sizeof(float)];
static float output[2][FASHION_OUTPUT0_BYTES / sizeof(float)];

static int fail(const char *what, int status)
{
    fprintf(stderr, "%s: %s\n", what, fashion_strerror(status));
    return 1;
}

int main(int argc, char **argv)
{
    static struct fashion_ctx ctx[2];
    static struct fashion_team team;
    const void *in[FASHION_INPUTS] = {input};
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!f || fread(input, 1, sizeof input, f) != sizeof input) return 2;
    fclose(f);
    if (!fashion_run(&ctx[0], in, (void *[]){output[0]})) return fail("ran before init", 0);
    if (!fashion_init(&ctx[0], arena[0] + 1, sizeof arena[0])) return fail("took an unaligned arena", 0);
    if (!fashion_init(&ctx[0], arena[0], 64)) return fail("took a small arena", 0);
    for (int i = 0; i < 2; i++) {
        void *out[FASHION_OUTPUTS] = {output[i]};
        int status = fashion_init(&ctx[i], arena[i], sizeof arena[i]);
        if (!status && i) status = fashion_start_threads(&ctx[i], &team, TEAM);
        if (!status) status = fashion_run(&ctx[i], in, out);
        if (!status) status = fashion_run(&ctx[i], in, out);
        if (status) return fail("run", status);
    }
    fashion_stop_threads(&ctx[1]);
    puts(fashion_info());
    return memcmp(output[0], output[1], sizeof output[0]) != 0;
}
