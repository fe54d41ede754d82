#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void ig_progress(const char *what, int done, int all)
{
    static double start, last;
    static int shown;
    int terminal = isatty(STDERR_FILENO);
    double t = now();
    if (!start) start = last = t;
    if (terminal && ((done == all && shown) || (t - start > 1 && t - last > 0.1))) {
        fprintf(stderr, "\r%s %d of %d, %.0f s%s", what, done, all, t - start, done == all ? "\n" : " ");
        last = t;
        shown = 1;
    } else if (!terminal && t - last > 10) {
        fprintf(stderr, "%s %d of %d, %.0f s\n", what, done, all, t - start);
        last = t;
    }
}
