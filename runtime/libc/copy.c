/*
 * memcpy, memmove and memset for programs whose C library's are slow at what layers copy, runs of 4 to 1000 bytes: bare metal has none, and
 * musl's for x86 is `rep movsq`, which takes 3 to 10 ns to begin. Vectors of 16 bytes at any address; a linker finds these before the library's.
 */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);

#define UNALIGNED aligned(1), may_alias
typedef uint8_t vec __attribute__((vector_size(16), UNALIGNED));
typedef uint64_t eight __attribute__((UNALIGNED));
typedef uint32_t four __attribute__((UNALIGNED));
typedef uint16_t two __attribute__((UNALIGNED));

enum { V = sizeof(vec), BLOCK = 4 * V, LONG = 1536 };

#define AT(type, p) (*(type *)(p))

/* The first and the last bytes of a type's size, which meet or overlap; all is read before anything is written, as it is below. */
#define BOTH_ENDS(type) \
    do { \
        const type first = AT(const type, s), last = AT(const type, s + n - sizeof(type)); \
        AT(type, d) = first; \
        AT(type, d + n - sizeof(type)) = last; \
    } while (0)

static inline void copy_block(char *d, const char *s)
{
    const vec a = AT(const vec, s), b = AT(const vec, s + V), c = AT(const vec, s + 2 * V), e = AT(const vec, s + 3 * V);
    AT(vec, d) = a;
    AT(vec, d + V) = b;
    AT(vec, d + 2 * V) = c;
    AT(vec, d + 3 * V) = e;
}

static inline void copy_short(char *d, const char *s, size_t n)
{
    if (n > 2 * V) {
        const vec a = AT(const vec, s), b = AT(const vec, s + V), c = AT(const vec, s + n - 2 * V), e = AT(const vec, s + n - V);
        AT(vec, d) = a;
        AT(vec, d + V) = b;
        AT(vec, d + n - 2 * V) = c;
        AT(vec, d + n - V) = e;
    } else if (n >= V)
        BOTH_ENDS(vec);
    else if (n >= 8)
        BOTH_ENDS(eight);
    else if (n >= 4)
        BOTH_ENDS(four);
    else if (n >= 2)
        BOTH_ENDS(two);
    else if (n)
        *d = *s;
}

/* More than a block, from the first to the last; the last block's bytes are those of before, whatever was written over them. */
static inline void copy_forward(char *d, const char *s, size_t n)
{
    const vec a = AT(const vec, s + n - BLOCK), b = AT(const vec, s + n - 3 * V), c = AT(const vec, s + n - 2 * V), e = AT(const vec, s + n - V);
    char *last = d + n - BLOCK;
    for (; d < last; d += BLOCK, s += BLOCK) copy_block(d, s);
    AT(vec, last) = a;
    AT(vec, last + V) = b;
    AT(vec, last + 2 * V) = c;
    AT(vec, last + 3 * V) = e;
}

/* Long runs that do not overlap, to whole lines of 64 bytes. */
static inline void copy_long(char *d, const char *s, size_t n)
{
#ifdef __x86_64__
    const size_t head = BLOCK - (uintptr_t)d % BLOCK;
    size_t words = (n - head) / 8;
    copy_block(d, s);
    copy_block(d + n - BLOCK, s + n - BLOCK);
    d += head, s += head;
    __asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(words) : : "memory");
#else
    copy_forward(d, s, n);
#endif
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    if (n <= BLOCK) copy_short(dst, src, n);
    else if (n < LONG) copy_forward(dst, src, n);
    else copy_long(dst, src, n);
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    char *d = dst;
    const char *s = src;
    if (n <= BLOCK) copy_short(d, s, n);
    else if ((uintptr_t)d - (uintptr_t)s >= n) copy_forward(d, s, n);
    else {
        for (; n > BLOCK; n -= BLOCK) copy_block(d + n - BLOCK, s + n - BLOCK);
        copy_short(d, s, n);
    }
    return dst;
}

static inline void set_long(char *d, vec v, size_t n)
{
#ifdef __x86_64__
    size_t words = n / 8;
    __asm__ volatile("rep stosq" : "+D"(d), "+c"(words) : "a"(((union { vec v; uint64_t word; }){v}).word) : "memory");
#else
    for (size_t i = 0; i < n - V; i += V) AT(vec, d + i) = v;
#endif
}

void *memset(void *dst, int c, size_t n)
{
    char *d = dst;
    const vec v = (vec){0} + (uint8_t)c;
    if (n < V)
        for (const char *end = d + n; d < end; d++) *d = (char)c;
    else {
        AT(vec, d + n - V) = v;
        if (n >= LONG) set_long(d, v, n);
        else
            for (const char *last = d + n - V; d < last; d += V) AT(vec, d) = v;
    }
    return dst;
}
