/* memcpy, memmove and memset of small programs, beside loops over bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define memcpy own_memcpy
#define memmove own_memmove
#define memset own_memset
#include "runtime/libc/copy.c"
#undef memcpy
#undef memmove
#undef memset

enum { MOST = 5000, EDGE = 64, ROOM = MOST + 4 * EDGE };

static unsigned char is[ROOM], should[ROOM];

static void fill(void)
{
    for (int i = 0; i < ROOM; i++) is[i] = should[i] = (unsigned char)rand();
}

static void compare(const char *what, size_t n, size_t to, size_t from)
{
    for (int i = 0; i < ROOM; i++)
        if (is[i] != should[i]) fail_msg("%s of %zu bytes from %zu to %zu: byte %d is %d, not %d", what, n, from, to, i, is[i], should[i]);
}

/* All lengths that have a path of their own, then some. */
static size_t next_length(size_t n)
{
    return n + (n < 300 ? 1 : n < 1500 ? 37 : n < 1600 ? 5 : 211);
}

static void apart(void **state)
{
    static unsigned char source[ROOM];
    (void)state;
    for (int i = 0; i < ROOM; i++) source[i] = (unsigned char)rand();
    for (size_t n = 0; n <= MOST; n = next_length(n))
        for (size_t to = EDGE; to < 2 * EDGE; to += 1 + (size_t)rand() % 7) {
            const size_t from = (size_t)rand() % EDGE;
            fill();
            for (size_t i = 0; i < n; i++) should[to + i] = source[from + i];
            assert_ptr_equal(own_memcpy(is + to, source + from, n), is + to);
            compare("memcpy", n, to, from);
            fill();
            for (size_t i = 0; i < n; i++) should[to + i] = source[from + i];
            if (n > BLOCK) copy_forward((char *)is + to, (const char *)source + from, n); /* what is long, too, where no instruction copies */
            else copy_short((char *)is + to, (const char *)source + from, n);
            compare("copy_forward", n, to, from);
        }
}

static void overlapping(void **state)
{
    static unsigned char before[ROOM];
    (void)state;
    for (size_t n = 0; n <= MOST; n = next_length(n))
        for (size_t to = 0; to < 3 * EDGE; to += 1 + (size_t)rand() % 17) {
            const size_t from = (size_t)rand() % (3 * EDGE);
            fill();
            for (int i = 0; i < ROOM; i++) before[i] = is[i];
            for (size_t i = 0; i < n; i++) should[to + i] = before[from + i];
            assert_ptr_equal(own_memmove(is + to, is + from, n), is + to);
            compare("memmove", n, to, from);
        }
}

static void set(void **state)
{
    (void)state;
    for (size_t n = 0; n <= MOST; n = next_length(n))
        for (size_t to = EDGE; to < 2 * EDGE; to += 1 + (size_t)rand() % 7) {
            const int value = rand(); /* of which only the low byte counts */
            fill();
            for (size_t i = 0; i < n; i++) should[to + i] = (unsigned char)value;
            assert_ptr_equal(own_memset(is + to, value, n), is + to);
            compare("memset", n, to, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(apart), cmocka_unit_test(overlapping), cmocka_unit_test(set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
