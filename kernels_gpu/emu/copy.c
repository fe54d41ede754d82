/*
 * Copies from device to shared memory that go on while their thread does (cp.async of sm_80). Here each is done as late as it may
 * be, where its thread waits for it: what is read before that is not there. It may be done as early as where it was asked for,
 * so that what it writes is checked there, too.
 */
#include <string.h>

#include "kernels_gpu/emu/emu.h"

enum { COPIES = 128, GROUPS = 16 };

struct copy {
    float *to;
    const float *from;   /* NULL: zeros */
    unsigned bytes;
};

static struct queue {    /* of a thread: what it has not waited for, in order */
    struct copy copies[COPIES];
    unsigned n, ends[GROUPS], n_groups; /* copies up to the end of each group */
} queues[EMU_MAX_THREADS];

void emu_copy_block(void)
{
    for (unsigned i = 0; i < EMU_MAX_THREADS; i++) queues[i].n = queues[i].n_groups = 0;
}

/* It is counted here, once, as two accesses of the kernel's code. */
void emu_copy(float *to, const float *from, unsigned bytes)
{
    struct queue *q = &queues[emu_now.thread.x];
    const char *site = __builtin_return_address(0);
    if (q->n == COPIES) emu_fail("more than %d copies under way", COPIES);
    if (from && emu_is_counting) emu_traffic_access(site - 1, from, bytes, EMU_GLOBAL_LOAD);
    emu_check_write(to, bytes, site);
    q->copies[q->n++] = (struct copy){to, from, bytes};
}

void emu_copy_group(void)
{
    struct queue *q = &queues[emu_now.thread.x];
    if (q->n_groups == GROUPS) emu_fail("more than %d groups of copies under way", GROUPS);
    q->ends[q->n_groups++] = q->n;
}

void emu_copy_wait(unsigned left)
{
    struct queue *q = &queues[emu_now.thread.x];
    unsigned groups = q->n_groups > left ? q->n_groups - left : 0, done = groups ? q->ends[groups - 1] : 0;
    const int counting = emu_is_counting;
    emu_is_counting = 0;
    for (unsigned i = 0; i < done; i++) {
        const struct copy *c = &q->copies[i];
        if (c->from) emu_check_read(c->from, c->bytes);
        emu_check_write(c->to, c->bytes, NULL);
        if (c->from) memcpy(c->to, c->from, c->bytes);
        else memset(c->to, 0, c->bytes);
    }
    emu_is_counting = counting;
    memmove(q->copies, q->copies + done, (q->n - done) * sizeof *q->copies);
    q->n -= done;
    q->n_groups -= groups;
    for (unsigned i = 0; i < q->n_groups; i++) q->ends[i] = q->ends[i + groups] - done;
}
