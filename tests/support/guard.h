/* Memory between pages that nobody may touch, and calls that may fault. */
#ifndef TESTS_SUPPORT_GUARD_H
#define TESTS_SUPPORT_GUARD_H

#include <stddef.h>

struct guard {
    unsigned char *base; /* first accessible byte; the page before it and the one after the last are not */
    size_t size;         /* accessible bytes, whole pages */
    unsigned char *data; /* the block asked for */
    size_t bytes;        /* its length */
};

/*
 * Maps `bytes` filled with poison, next to an inaccessible page: the one before if `front`, else the one
 * after. `align`: of data, a power of two; where it asks for it, up to align - 1 bytes of poison lie after
 * the block. Ends the program when memory is out.
 */
void guard_make(struct guard *g, size_t bytes, size_t align, int front);
void guard_free(struct guard *g); /* fine after {0} and twice */
/* Poison over all accessible bytes: as floats they are NaN. */
void guard_poison(struct guard *g);
/* The same pattern elsewhere; dst stands for accessible byte 0. */
void guard_pattern(unsigned char *dst, size_t size);
/* 1 if these bytes of a word-aligned place, at most 4 and from its first on, are still poison. */
int guard_is_poison(const void *at, size_t bytes);
/* From now on (until 0) writing faults. */
void guard_read_only(struct guard *g, int on);

struct guard_fault {
    int signal;          /* 0: none */
    const void *address; /* of the access, for SIGSEGV and SIGBUS */
};

/* Between these two, guard_call catches SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP in any thread. */
void guard_catch_begin(void);
void guard_catch_end(void);
/* Calls fn(arg) and tells how it went. */
struct guard_fault guard_call(void (*fn)(void *), void *arg);

#endif
