/* GPU kernels on this machine's GPU, called as CPU kernels are: run functions of the registry, for tests. */
#ifndef TESTS_DEVICE_RUN_H
#define TESTS_DEVICE_RUN_H

#include <stddef.h>

/* Opens GPU 0 and loads the module. 0, or -1 with one line in `why`. */
int device_open(const void *fatbin, char *why, size_t bytes);
/* Its name. */
const char *device_name(void);

#endif
