/* The functions of the emulated module by their names. */
#include <string.h>

#include "kernels_gpu/emu/emu.h"

#define FUNCTION(name) emu_kernel_fn name##__emu;
#include "kernels_gpu/functions.inc"
#undef FUNCTION

static const struct function {
    const char *name;
    emu_kernel_fn *run;
} functions[] = {
#define FUNCTION(name) {#name, name##__emu},
#include "kernels_gpu/functions.inc"
#undef FUNCTION
};

emu_kernel_fn *emu_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name)) return functions[i].run;
    return NULL;
}
