#include "planner/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *ig_must_alloc(size_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes);
    if (p) return p;
    fprintf(stderr, "ingot: out of memory (%zu x %zu bytes)\n", n, bytes);
    exit(1);
}

char *ig_copy_text(const char *s)
{
    return strcpy(ig_must_alloc(strlen(s) + 1, 1), s);
}
