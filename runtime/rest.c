#include "runtime/rest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 16384, SECOND = 1000000000 };

/* The line's fourth and fifth number: ticks without work, and waiting for a disk. */
static int64_t idle_ticks(char *at)
{
    int64_t ticks[5];
    for (int i = 0; i < 5; i++) ticks[i] = strtoll(at, &at, 10);
    return ticks[3] + ticks[4];
}

int ig_rest_ns(uint64_t cores, int64_t rest[IG_REST_CORES])
{
    char text[TEXT];
    long hertz = sysconf(_SC_CLK_TCK);
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    uint64_t found = 0;
    if (fd >= 0) close(fd);
    if (n <= 0 || hertz <= 0) return -1;
    text[n] = 0;
    for (char *line = text; line && !strncmp(line, "cpu", 3); line = strchr(line, '\n'), line += line != NULL) {
        char *end;
        long core = strtol(line + 3, &end, 10);
        if (end == line + 3 || core >= IG_REST_CORES || !(cores >> core & 1) || !strchr(end, '\n')) continue;
        rest[core] = idle_ticks(end) * (SECOND / hertz);
        found |= (uint64_t)1 << core;
    }
    return cores && found == cores ? 0 : -1;
}
