#include "runtime/mpi/flow.h"

#include <time.h>

#include "runtime/wait.h"

static int64_t stride(int64_t bytes)
{
    return (bytes + IG_FLOW_LINE - 1) / IG_FLOW_LINE * IG_FLOW_LINE;
}

int64_t ig_flow_room(int64_t bytes, int32_t copies)
{
    return stride(bytes) * copies;
}

void ig_flow_start(struct ig_flow *f, void *data, int64_t bytes, int32_t copies)
{
    f->data = data;
    f->bytes = bytes;
    f->copies = copies;
    atomic_store(&f->filled, 0);
    atomic_store(&f->end, IG_NO_END);
    for (int32_t i = 0; i < f->n_readers; i++) atomic_store(&f->used[i].frames, 0);
}

int ig_flow_free(const struct ig_flow *f, uint64_t frame)
{
    for (int32_t i = 0; i < f->n_readers; i++)
        if (frame - atomic_load_explicit(&f->used[i].frames, memory_order_acquire) >= (uint64_t)f->copies) return 0;
    return 1;
}

void ig_flow_fill(struct ig_flow *f, uint64_t frames)
{
    atomic_store_explicit(&f->filled, frames, memory_order_release);
}

void ig_flow_close(struct ig_flow *f, uint64_t frames)
{
    atomic_store_explicit(&f->end, frames, memory_order_release);
}

int ig_flow_has(const struct ig_flow *f, uint64_t frame)
{
    return atomic_load_explicit(&f->filled, memory_order_acquire) > frame;
}

int ig_flow_over(const struct ig_flow *f, uint64_t frame)
{
    return atomic_load_explicit(&f->end, memory_order_acquire) <= frame;
}

void ig_flow_use(struct ig_flow *f, int32_t reader, uint64_t frames)
{
    atomic_store_explicit(&f->used[reader].frames, frames, memory_order_release);
}

void *ig_flow_at(const struct ig_flow *f, uint64_t frame)
{
    return f->data + stride(f->bytes) * (int64_t)(frame % (uint64_t)f->copies);
}

/* A sleeper is counted before the kernel compares the word: either it sees the ring or it is woken. */
uint32_t ig_bell_ring(struct ig_bell *b)
{
    uint32_t rings = atomic_fetch_add(&b->rings, 1) + 1;
    if (atomic_load(&b->sleepers)) ig_futex_wake(&b->rings);
    return rings;
}

uint32_t ig_bell_seen(struct ig_bell *b)
{
    return atomic_load(&b->rings);
}

void ig_bell_wait(struct ig_bell *b, uint32_t seen, int64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    atomic_fetch_add(&b->sleepers, 1);
    syscall(SYS_futex, (uint32_t *)&b->rings, IG_PRIVATE_WAIT, seen, ns < 0 ? NULL : &t, NULL, 0);
    atomic_fetch_sub(&b->sleepers, 1);
}
