/*
 * Memory of a program, had at once: a page fault costs more than clearing or mapping its page does, and a
 * first frame would take one for every page that it touches.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/host/program.h"

/* Of Linux 5.14, where one call takes all faults of a range; older kernels refuse it and fault as before. */
enum { POPULATE_READ = 22, POPULATE_WRITE = 23 };
/* A huge page takes a quarter of the time of its small ones. One that is used by less than three quarters
 * would take memory for it: small ones serve there. */
enum { HUGE_BYTES = 2 << 20 };

static char *up(char *p, uintptr_t unit)
{
    return p + (-(uintptr_t)p & (unit - 1));
}

void *ig_memory(int64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size_t)(bytes > 0 ? bytes : 64);
    size_t huge = (n + HUGE_BYTES / 4) / HUGE_BYTES * HUGE_BYTES, most = n > huge ? n : huge;
    size_t spare = huge ? HUGE_BYTES : 0; /* to align by */
    char *p = mmap(NULL, most + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) ig_die("cannot get %lld bytes of memory", (long long)bytes);
    if (huge) {
        p = up(p, HUGE_BYTES);
        madvise(p, huge, MADV_HUGEPAGE);
    }
    madvise(p, (n + page - 1) / page * page, POPULATE_WRITE);
    return p;
}

void ig_map_all(const void *data, int64_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data & ~(page - 1);
    uintptr_t end = ((uintptr_t)data + (uintptr_t)bytes + page - 1) & ~(page - 1);
    if (bytes > 0) madvise((void *)at, end - at, POPULATE_READ);
}
