/* Looking at a word in memory until another thread changes it, and sleeping where that takes long. Linux. */
#ifndef RUNTIME_WAIT_H
#define RUNTIME_WAIT_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Between two looks. */
static inline void ig_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* linux/futex.h's, which are the kernel's ABI; not every C library's compiler finds the kernel's headers. */
enum { IG_PRIVATE_WAIT = 128, IG_PRIVATE_WAKE = 129 };

/* Sleeps while *word is `seen`; may return early. */
static inline void ig_futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, (uint32_t *)word, IG_PRIVATE_WAIT, seen, NULL, NULL, 0);
}

/* Wakes all that sleep on *word. */
static inline void ig_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, (uint32_t *)word, IG_PRIVATE_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
