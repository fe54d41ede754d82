#include "tests/support/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct sigaction before[SIGNALS];
static _Thread_local sigjmp_buf escape;
static _Thread_local volatile sig_atomic_t armed;
static _Thread_local struct guard_fault fault;

void guard_pattern(unsigned char *dst, size_t size)
{
    static const unsigned char word[4] = {0xc5, 0xc5, 0xc5, 0x7f};
    memcpy(dst, word, size < sizeof word ? size : sizeof word);
    for (size_t done = sizeof word, n; done < size; done += n) { /* as much again, up to what a cache holds */
        n = done < 8192 ? done : 8192;
        n = n < size - done ? n : size - done;
        memcpy(dst + done, dst, n);
    }
}

int guard_is_poison(const void *at, size_t bytes)
{
    unsigned char word[4];
    guard_pattern(word, sizeof word);
    return !memcmp(at, word, bytes);
}

void guard_make(struct guard *g, size_t bytes, size_t align, int front)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), padded = (bytes + align - 1) / align * align;
    g->bytes = bytes;
    g->size = padded ? (padded + page - 1) / page * page : page;
    unsigned char *map = mmap(NULL, g->size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, g->size, PROT_READ | PROT_WRITE)) {
        perror("guard_make");
        exit(1);
    }
    g->base = map + page;
    g->data = front ? g->base : g->base + g->size - padded;
    guard_poison(g);
}

void guard_free(struct guard *g)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (g->base) munmap(g->base - page, g->size + 2 * page);
    g->base = g->data = NULL;
}

void guard_poison(struct guard *g)
{
    guard_pattern(g->base, g->size);
}

void guard_read_only(struct guard *g, int on)
{
    mprotect(g->base, g->size, on ? PROT_READ : PROT_READ | PROT_WRITE);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!armed) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    fault = (struct guard_fault){number, info->si_addr};
    siglongjmp(escape, 1);
}

void guard_catch_begin(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &action, &before[i]);
}

void guard_catch_end(void)
{
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
}

struct guard_fault guard_call(void (*fn)(void *), void *arg)
{
    fault = (struct guard_fault){0, NULL};
    if (!sigsetjmp(escape, 1)) {
        armed = 1;
        fn(arg);
    }
    armed = 0;
    return fault;
}
