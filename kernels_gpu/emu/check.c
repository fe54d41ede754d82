/*
 * What every access of a kernel must keep to. The compiler's -fsanitize=thread calls the functions below before each
 * load and store; nothing of its own runtime is linked.
 *
 * Shared memory: a word that a thread wrote may be touched by another only after a barrier, a word that a thread read
 * may be written by another only after one. That is checked against who did what since the last barrier, whatever the
 * order in which the threads happened to run. Device memory: every byte has its permission; a word that one thread of a launch writes no other
 * thread of it touches, in either order, but by atomics. Anything else a thread touches must lie on its stack.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels_gpu/emu/emu.h"

#define INLINE static inline __attribute__((always_inline)) /* what each access goes through, for sizes known */

enum { ARRAYS = 256, HERE = 8, MANY = EMU_MAX_THREADS + 1, THREAD_BITS = 11, PHASES = 1 << (31 - THREAD_BITS) };
_Static_assert(MANY < 1 << THREAD_BITS, "every thread needs a number");

/* Who did something when: a phase, and in its low THREAD_BITS bits a thread, counted from 1. Later phases are larger. */
typedef int32_t tag;
typedef tag tags __attribute__((vector_size(16)));

struct array {
    const char *name;
    unsigned char *guarded, *data;
    size_t guarded_bytes, bytes;
    tag *write, *read;        /* by four bytes: the last */
};

static struct array arrays[ARRAYS], here[HERE]; /* all that ever were; those of the running block */
static unsigned n_arrays, n_here;
static tag phase = 1;
static tag now;               /* the running thread in this phase */
static uint32_t in_grid;      /* it among all threads of all grids, in this one from `grid` + 1 */
static uint32_t grid = 1, next_grid = 1;
static const unsigned char *stack_low, *stack_high;

void emu_check_phase(void)
{
    if (emu_is_counting) emu_traffic_phase();
    if (++phase < PHASES) return;
    phase = 1;
    for (unsigned i = 0; i < n_arrays; i++) memset(arrays[i].write, 0, 2 * (arrays[i].bytes / 4 + 1) * sizeof(tag));
}

void emu_check_block(void)
{
    emu_check_phase();
    n_here = 0;
    emu_watch_block();
    emu_traffic_block();
    emu_copy_block();
}

void emu_check_thread(const void *low, const void *high)
{
    const struct emu_dim *b = &emu_now.block, *g = &emu_now.grid_dim;
    stack_low = low;
    stack_high = high;
    now = phase << THREAD_BITS | (tag)(emu_now.thread.x + 1);
    in_grid = grid + 1 + ((b->z * g->y + b->y) * g->x + b->x) * EMU_MAX_THREADS + emu_now.thread.x;
}

void emu_shared(const char *name, void *guarded, size_t guarded_bytes, void *data, size_t bytes)
{
    for (unsigned i = 0; i < n_here; i++)
        if (here[i].data == data) return;
    struct array *a = arrays;
    while (a < arrays + n_arrays && a->data != data) a++;
    if (a == arrays + ARRAYS || n_here == HERE) emu_fail("too many arrays of shared memory");
    if (a == arrays + n_arrays) {
        n_arrays++;
        size_t words = bytes / 4 + 1;
        *a = (struct array){name, guarded, data, guarded_bytes, bytes, calloc(2 * words, sizeof(tag)), NULL};
        if (!a->write) abort();
        a->read = a->write + words;
    }
    here[n_here++] = *a;
    memset(data, 0xff, bytes);
}

void emu_aligned(const void *p, size_t bytes)
{
    if ((uintptr_t)p % bytes) emu_fail("%zu bytes at %p, which is no multiple of that", bytes, p);
}

void emu_vector(const void *p, size_t bytes)
{
    emu_aligned(p, bytes);
    if (emu_is_counting) emu_traffic_vector(p, bytes);
}

/* --- shared memory --- */

static void race(const struct array *a, size_t i, const char *what, tag t)
{
    unsigned other = t & ((1 << THREAD_BITS) - 1);
    if (other == MANY) emu_fail("race on shared %s, byte %zu: %s several threads, no barrier between", a->name, 4 * i, what);
    emu_fail("race on shared %s, byte %zu: %s thread %u, no barrier between", a->name, 4 * i, what, other - 1);
}

/* 1 if another thread, or several, left the tag since the last barrier. */
static inline int is_others(tag t)
{
    return t != now && t >= phase << THREAD_BITS;
}

static inline void shared_read(const struct array *a, size_t i)
{
    if (is_others(a->write[i])) race(a, i, "reads what was written by", a->write[i]);
    a->read[i] = is_others(a->read[i]) ? phase << THREAD_BITS | MANY : now;
}

static inline void shared_write(const struct array *a, size_t i)
{
    if (is_others(a->write[i])) race(a, i, "writes what was written by", a->write[i]);
    if (is_others(a->read[i])) race(a, i, "writes what was read by", a->read[i]);
    a->write[i] = now;
}

/* Of four words, the last in *of: bits for those that is_others() holds for. */
INLINE tags others(const tag *of, tags *t)
{
    memcpy(t, of, sizeof *t);
    return (*t != now) & (*t >= phase << THREAD_BITS);
}

INLINE int is_any(tags t)
{
    int64_t half[2];
    memcpy(half, &t, sizeof half);
    return (half[0] | half[1]) != 0;
}

/* All of four words at once; 0 if one of them needs a closer look. */
INLINE int are_right(const struct array *a, size_t i, int writes)
{
    tags w, r, by = others(a->read + i, &r);
    if (is_any(others(a->write + i, &w)) || (writes && is_any(by))) return 0;
    r = writes ? (tags){now, now, now, now} : (by & (phase << THREAD_BITS | MANY)) | (~by & now);
    memcpy((writes ? a->write : a->read) + i, &r, sizeof r);
    return 1;
}

static void beyond(const struct array *a, const unsigned char *p, int writes)
{
    emu_fail("%s shared %s at byte %lld of %zu", writes ? "writes" : "reads", a->name, (long long)(p - a->data), a->bytes);
}

/* 1 if the access is one of shared memory, and right. */
INLINE int is_shared(const unsigned char *p, size_t size, int writes)
{
    for (unsigned k = 0; k < n_here; k++) {
        const struct array *a = &here[k];
        if (p + size <= a->guarded || p >= a->guarded + a->guarded_bytes) continue;
        if (p < a->data || p + size > a->data + a->bytes) beyond(a, p, writes);
        size_t from = (size_t)(p - a->data), to = (from + size + 3) / 4;
        if (size == sizeof(tags) && are_right(a, from / 4, writes)) return 1;
        for (size_t i = from / 4; i < to; i++) {
            if (writes) shared_write(a, i);
            else shared_read(a, i);
        }
        return 1;
    }
    return 0;
}

/* --- device memory --- */

enum { GRAIN = 256 };
static const size_t device_bytes = (size_t)1 << 32;

struct block {
    size_t offset, bytes;     /* whole grains */
};

static unsigned char *device, *access_of; /* memory and, for every byte, enum emu_access */
static struct touched { /* by word: the last threads; `grid` as the reader: several of it. 0: none */
    uint32_t writer, reader; /* the one that wrote may read again whatever the access; reads of what may be written alone are kept */
} *touched;
static struct block *blocks;
static size_t n_blocks, room_blocks;

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) abort();
    return p;
}

/* Blocks are kept in the order of their offsets, a grain apart. */
void *emu_alloc(size_t bytes)
{
    size_t size = (bytes + GRAIN - 1) / GRAIN * GRAIN + GRAIN, offset = GRAIN, at = 0;
    if (!device) device = reserve(device_bytes), access_of = reserve(device_bytes), touched = reserve(device_bytes / 4 * sizeof *touched);
    while (at < n_blocks && blocks[at].offset < offset + size) {
        offset = blocks[at].offset + blocks[at].bytes;
        at++;
    }
    if (bytes > device_bytes || offset + size > device_bytes) return NULL;
    if (n_blocks == room_blocks) {
        room_blocks = room_blocks * 2 + 64;
        blocks = realloc(blocks, room_blocks * sizeof *blocks);
        if (!blocks) abort();
    }
    memmove(blocks + at + 1, blocks + at, (n_blocks - at) * sizeof *blocks);
    blocks[at] = (struct block){offset, size};
    n_blocks++;
    memset(device + offset, 0xff, size);
    memset(access_of + offset, EMU_GAP, size);
    memset(touched + offset / 4, 0, size / 4 * sizeof *touched);
    return device + offset;
}

void emu_free(void *p)
{
    size_t offset = (size_t)((unsigned char *)p - device), at = 0;
    while (at < n_blocks && blocks[at].offset != offset) at++;
    if (!p || at == n_blocks) return;
    memset(access_of + offset, EMU_GAP, blocks[at].bytes);
    memmove(blocks + at, blocks + at + 1, (n_blocks - at - 1) * sizeof *blocks);
    n_blocks--;
}

int emu_is_device(const void *address, size_t bytes)
{
    const unsigned char *p = address;
    for (size_t i = 0; device && i < n_blocks; i++)
        if (p >= device + blocks[i].offset && p + bytes <= device + blocks[i].offset + blocks[i].bytes) return 1;
    return 0;
}

void emu_allow(void *address, size_t bytes, unsigned access)
{
    memset(access_of + ((unsigned char *)address - device), (int)access, bytes);
}

void emu_check_launch(uint64_t of_grid)
{
    const uint64_t threads = of_grid * EMU_MAX_THREADS + 1;
    if (next_grid + threads > UINT32_MAX) {
        next_grid = 1;
        if (touched) madvise(touched, device_bytes / 4 * sizeof *touched, MADV_DONTNEED);
    }
    grid = next_grid;
    next_grid += (uint32_t)threads;
}

static int is_own(size_t offset, size_t size)
{
    for (size_t i = offset / 4; i < (offset + size + 3) / 4; i++)
        if (touched[i].writer != in_grid) return 0;
    return 1;
}

/* Of an access that not all of its bytes allow; returns if it is right all the same. */
static void forbidden(size_t offset, size_t size, int writes)
{
    const unsigned char *allowed = access_of + offset;
    unsigned char need = writes ? EMU_WRITE : EMU_READ;
    if (!writes && (*allowed & EMU_WRITE) && !(*allowed & EMU_READ) && is_own(offset, size)) return;
    while (*allowed & need) allowed++;
    emu_fail("%s %zu bytes of device memory at %p, %s", writes ? "writes" : "reads", size, (const void *)(device + offset),
             *allowed ? writes ? "which are read only" : "which are write only" : "which belong to nothing");
}

/* 1 if all of `size` bytes, 16 at most, have the bit of enum emu_access. */
INLINE int all_have(const unsigned char *access, size_t size, unsigned bit)
{
    uint64_t every = 0x0101010101010101u * bit, first = every, second = every;
    memcpy(&first, access, size < 8 ? size : 8);
    if (size > 8) memcpy(&second, access + 8, size - 8);
    return (first & second & every) == every;
}

static void race_of_grid(size_t offset, const char *what, uint32_t by)
{
    const uint32_t thread = by - grid - 1, block = thread / EMU_MAX_THREADS;
    const struct emu_dim *n = &emu_now.grid_dim;
    if (by == grid) emu_fail("race on device memory at %p: %s several threads of the grid", (const void *)(device + offset), what);
    emu_fail("race on device memory at %p: %s block (%u,%u,%u), thread %u", (const void *)(device + offset), what, block % n->x,
             block / n->x % n->y, block / n->x / n->y, thread % EMU_MAX_THREADS);
}

/* Of whole words: bytes of one may be of several threads. */
INLINE void write_words(size_t offset, size_t size)
{
    for (size_t i = 0; i < size; i += 4) {
        struct touched *t = &touched[(offset + i) / 4];
        if (size >= 4 && t->writer > grid && t->writer != in_grid) race_of_grid(offset + i, "writes what was written by", t->writer);
        if (size >= 4 && t->reader >= grid && t->reader != in_grid) race_of_grid(offset + i, "writes what was read by", t->reader);
        t->writer = in_grid;
    }
}

INLINE void read_words(size_t offset, size_t size)
{
    for (size_t i = 0; size >= 4 && i < size; i += 4) {
        struct touched *t = &touched[(offset + i) / 4];
        if (t->writer > grid && t->writer != in_grid) race_of_grid(offset + i, "reads what was written by", t->writer);
        t->reader = t->reader >= grid && t->reader != in_grid ? grid : in_grid;
    }
}

INLINE int is_global(const unsigned char *p, size_t size, int writes)
{
    if (!device || p < device || p + size > device + device_bytes) return 0;
    size_t offset = (size_t)(p - device);
    if (!all_have(access_of + offset, size, writes ? EMU_WRITE : EMU_READ)) forbidden(offset, size, writes);
    if (writes) write_words(offset, size);
    else if (access_of[offset] & EMU_WRITE) read_words(offset, size);
    return 1;
}

/* --- memory of the host --- */

enum { REGISTERED = 16 };

static struct range {
    const unsigned char *from, *to;
} registered[REGISTERED];
static unsigned n_registered;

int emu_register(void *address, size_t bytes)
{
    struct range r = {address, (const unsigned char *)address + bytes};
    for (unsigned i = 0; i < n_registered; i++)
        if (r.from < registered[i].to && registered[i].from < r.to) return -1;
    if (n_registered == REGISTERED) abort();
    registered[n_registered++] = r;
    return 0;
}

int emu_unregister(void *address)
{
    for (unsigned i = 0; i < n_registered; i++)
        if (registered[i].from == address) {
            registered[i] = registered[--n_registered];
            return 0;
        }
    return -1;
}

int emu_is_registered(const void *address, size_t bytes)
{
    const unsigned char *p = address;
    for (unsigned i = 0; i < n_registered; i++)
        if (p >= registered[i].from && p + bytes <= registered[i].to) return 1;
    return 0;
}

/* --- the hooks --- */

static void elsewhere(const unsigned char *p, size_t size, int writes)
{
    if (emu_is_registered(p, size)) return;
    if (!writes && p >= (const unsigned char *)&emu_now && p + size <= (const unsigned char *)(&emu_now + 1)) return;
    emu_fail("%s %zu bytes at %p, which is neither shared nor device memory", writes ? "writes" : "reads", size, (const void *)p);
}

#define SITE __builtin_return_address(0)

/* `site`: where the access is, in the kernel's code. */
INLINE void touch(const void *address, size_t size, int writes, const void *site)
{
    const unsigned char *p = address;
    if (p >= stack_low && p + size <= stack_high) return;
    if ((uintptr_t)p % size) emu_aligned(p, size);
    if (is_shared(p, size, writes)) {
        if (emu_is_counting) emu_traffic_access(site, p, size, writes ? EMU_SHARED_STORE : EMU_SHARED_LOAD);
        return;
    }
    if (!is_global(p, size, writes)) {
        elsewhere(p, size, writes);
        return;
    }
    if (!writes && emu_is_watching) emu_watch_read(p, size);
    if (emu_is_counting) emu_traffic_access(site, p, size, writes ? EMU_GLOBAL_STORE : EMU_GLOBAL_LOAD);
}

int emu_atomic_max(int *p, int value)
{
    const size_t offset = (size_t)((unsigned char *)p - device);
    const int old = *p;
    emu_aligned(p, sizeof *p);
    if (!emu_is_device(p, sizeof *p) || !all_have(access_of + offset, sizeof *p, EMU_READ | EMU_WRITE))
        emu_fail("an atomic of device memory at %p, which may not be read and written", (void *)p);
    if (value > old) *p = value;
    return old;
}

void emu_check_read(const void *p, size_t bytes)
{
    touch(p, bytes, 0, SITE);
}

void emu_check_write(const void *p, size_t bytes, const void *site)
{
    touch(p, bytes, 1, site);
}

#define HOOK(bytes)                                                                    \
    void __tsan_read##bytes(const void *p);                                            \
    void __tsan_write##bytes(void *p);                                                 \
    void __tsan_unaligned_read##bytes(const void *p);                                  \
    void __tsan_unaligned_write##bytes(void *p);                                       \
    void __tsan_read##bytes(const void *p) { touch(p, bytes, 0, SITE); }               \
    void __tsan_write##bytes(void *p) { touch(p, bytes, 1, SITE); }                    \
    void __tsan_unaligned_read##bytes(const void *p) { touch(p, bytes, 0, SITE); }     \
    void __tsan_unaligned_write##bytes(void *p) { touch(p, bytes, 1, SITE); }

HOOK(1)
HOOK(2)
HOOK(4)
HOOK(8)
HOOK(16)

void __tsan_read_range(const void *p, size_t n);
void __tsan_write_range(void *p, size_t n);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void);

/* By words, and what is none by bytes. */
static void touch_range(const char *p, size_t n, int writes, const void *site)
{
    while (n) {
        size_t size = n >= 4 && (uintptr_t)p % 4 == 0 ? 4 : 1;
        touch(p, size, writes, site);
        p += size;
        n -= size;
    }
}

void __tsan_read_range(const void *p, size_t n)
{
    touch_range(p, n, 0, SITE);
}

void __tsan_write_range(void *p, size_t n)
{
    touch_range(p, n, 1, SITE);
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_init(void)
{
}
