/*
 * What a C library of its own time would have linked into a program, against the glibc of a board: the
 * toolchain's start files and libc_nonshared.a belong to its newer one. Before 2.34 a program brings the call of
 * its constructors itself, before 2.33 stat and fstat were functions of the program, and atexit is one still.
 */
#include <stddef.h>
#include <stdint.h>

struct stat;

enum { STAT_VERSION = 0 }; /* of struct stat on aarch64 */

int main(int argc, char **argv, char **environment);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void), void (*exit_of_linker)(void),
                      void *stack_end);
int __cxa_atexit(void (*call)(void *), void *argument, void *library);
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);

typedef void constructor(int argc, char **argv, char **environment);
extern constructor *__init_array_start[] __attribute__((visibility("hidden")));
extern constructor *__init_array_end[] __attribute__((visibility("hidden")));

/* stack: argc, argv[argc], 0, environment. */
_Noreturn void ig_board_start(uintptr_t *stack, void (*exit_of_linker)(void));
int atexit(void (*call)(void));
int stat(const char *path, struct stat *st);
int lstat(const char *path, struct stat *st);
int fstat(int fd, struct stat *st);

static int construct(int argc, char **argv, char **environment)
{
    for (constructor **c = __init_array_start; c < __init_array_end; c++) (*c)(argc, argv, environment);
    return 0;
}

_Noreturn void ig_board_start(uintptr_t *stack, void (*exit_of_linker)(void))
{
    __libc_start_main(main, (int)stack[0], (char **)(stack + 1), construct, NULL, exit_of_linker, stack);
    __builtin_unreachable();
}

int atexit(void (*call)(void))
{
    return __cxa_atexit((void (*)(void *))(uintptr_t)call, NULL, NULL);
}

int stat(const char *path, struct stat *st)
{
    return __xstat(STAT_VERSION, path, st);
}

int lstat(const char *path, struct stat *st)
{
    return __lxstat(STAT_VERSION, path, st);
}

int fstat(int fd, struct stat *st)
{
    return __fxstat(STAT_VERSION, fd, st);
}
