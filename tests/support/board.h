/* The platforms of the source tree, for tests. */
#ifndef TESTS_SUPPORT_BOARD_H
#define TESTS_SUPPORT_BOARD_H

#include <stdio.h>
#include <stdlib.h>

#include "planner/platform.h"
#include "tests/support/golden.h"

/* platforms/<name>.json, or the test ends. */
static inline struct ig_platform *board_read(const char *name)
{
    char path[1024], err[1024];
    snprintf(path, sizeof path, "%s/platforms/%s.json", source_dir(), name);
    struct ig_platform *b = ig_platform_read(path, err, sizeof err);
    if (b) return b;
    fprintf(stderr, "%s\n", err);
    abort();
}

#endif
