/* A group set-up: libcuda.so.1 is the emulated driver from here on. */
#ifndef TESTS_SUPPORT_EMULATED_H
#define TESTS_SUPPORT_EMULATED_H

#include <dlfcn.h>
#include <stdio.h>

static inline int emulate(void **state)
{
    (void)state;
    if (dlopen("out/emu/libcuda.so.1", RTLD_NOW)) return 0;
    fprintf(stderr, "%s\n", dlerror());
    return -1;
}

#endif
