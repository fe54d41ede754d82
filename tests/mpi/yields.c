/* Preloaded into a rank: how often it gives its core up by sched_yield, in words at its end. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long yields;

int sched_yield(void)
{
    atomic_fetch_add(&yields, 1);
    return (int)syscall(SYS_sched_yield);
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "yields: %ld\n", yields);
}
