#include "runtime/mpi/pulse.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mpi/fail.h"
#include "runtime/mpi/hello.h"

enum { TICK_MS = 50, NAP_NS = 50000, BYE = -1 };

struct words {             /* what is said */
    int32_t what, pid;
    char host[56];         /* where pid is one */
};

struct peer {
    int32_t rank;
    struct words out, in;
    int64_t said_ns;
    int sending, left;
    MPI_Request send, receive;
};

struct ig_pulse {
    MPI_Comm comm;
    struct peer *peers;
    int32_t n;
    int64_t *heard;
    int64_t tick_ns; /* the last look */
    int64_t beat_ns, silence_ns;
};

static void say(struct peer *p, int32_t what, int64_t now)
{
    p->out.what = what;
    p->said_ns = now;
    p->sending = 1;
    MPI_Start(&p->send);
}

/* An inactive request would test as complete: each is tested only while it is started. */
static void look(struct ig_pulse *pulse, struct peer *p, int64_t now)
{
    int done = 0;
    if (p->sending) MPI_Test(&p->send, &done, MPI_STATUS_IGNORE);
    if (done) p->sending = 0;
    done = 0;
    if (!p->left) MPI_Test(&p->receive, &done, MPI_STATUS_IGNORE);
    if (!done) return;
    pulse->heard[p->rank] = now;
    p->left = p->in.what == BYE;
    if (!p->left) MPI_Start(&p->receive);
}

int64_t *ig_pulse_heard(struct ig_pulse *p)
{
    return p->heard;
}

static int64_t ms(int64_t n)
{
    return n * 1000000;
}

/*
 * Whoever did not listen has heard nobody, which is nobody's fault: a tick that comes late, as this rank was stopped or its
 * cores are overrun, counts as two. What is under way then needs as many looks as ever, but longer.
 */
static void catch_up(struct ig_pulse *p, int64_t late_ns, int64_t now)
{
    for (int32_t i = 0; i < p->n; i++) {
        int64_t *heard = &p->heard[p->peers[i].rank];
        *heard = *heard + late_ns < now ? *heard + late_ns : now;
    }
}

int32_t ig_pulse_poll(struct ig_pulse *pulse)
{
    int64_t now = ig_now_ns(), last = pulse->tick_ns;
    if (now - last < ms(TICK_MS)) return -1;
    pulse->tick_ns = now;
    if (now - last > ms(2 * TICK_MS)) catch_up(pulse, now - last - ms(2 * TICK_MS), now);
    ig_heed();
    for (int32_t i = 0; i < pulse->n; i++) {
        struct peer *p = &pulse->peers[i];
        look(pulse, p, now);
        if (!p->sending && p->out.what != BYE && now - p->said_ns >= pulse->beat_ns) say(p, 0, now);
        if (!p->left && now - pulse->heard[p->rank] > pulse->silence_ns) return p->rank;
    }
    return -1;
}

int32_t ig_pulse_share(struct ig_pulse *p, const void *mine, int bytes, void *all)
{
    MPI_Request request;
    int done = 0;
    MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, p->comm, &request);
    for (;;) {
        int32_t silent = ig_pulse_poll(p);
        if (silent >= 0) return silent;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) return -1;
        ig_nap(NAP_NS);
    }
}

struct ig_pulse *ig_pulse_open(const int32_t *peers, int32_t n, int32_t n_ranks, int32_t silence_ms)
{
    struct ig_pulse *pulse = calloc(1, sizeof *pulse);
    if (pulse) {
        pulse->peers = calloc((size_t)n + 1, sizeof *pulse->peers);
        pulse->heard = calloc((size_t)n_ranks, sizeof *pulse->heard);
    }
    if (!pulse || !pulse->peers || !pulse->heard) ig_die("out of memory");
    pulse->n = n;
    pulse->silence_ns = ms(silence_ms);
    pulse->beat_ns = pulse->silence_ns / 15 * 2;
    pulse->tick_ns = ig_now_ns();
    ig_own_comm(&pulse->comm);
    for (int32_t i = 0; i < n; i++) {
        struct peer *p = &pulse->peers[i];
        p->rank = peers[i];
        pulse->heard[p->rank] = ig_now_ns();
        p->out.pid = (int32_t)getpid();
        gethostname(p->out.host, sizeof p->out.host - 1);
        MPI_Send_init(&p->out, sizeof p->out, MPI_BYTE, p->rank, 0, pulse->comm, &p->send);
        MPI_Recv_init(&p->in, sizeof p->in, MPI_BYTE, p->rank, 0, pulse->comm, &p->receive);
        MPI_Start(&p->receive);
    }
    return pulse;
}

int32_t ig_pulse_gone(const struct ig_pulse *pulse)
{
    for (int32_t i = 0; i < pulse->n; i++) {
        const struct peer *p = &pulse->peers[i];
        int is_here = p->in.pid > 0 && !p->left && !strncmp(p->in.host, p->out.host, sizeof p->out.host);
        if (is_here && kill(p->in.pid, 0) && errno == ESRCH) return p->rank;
    }
    return -1;
}

/* Has everyone said its last word and heard everyone's? */
static int parted(struct ig_pulse *pulse)
{
    int32_t n = 0;
    for (int32_t i = 0; i < pulse->n; i++) {
        struct peer *p = &pulse->peers[i];
        look(pulse, p, ig_now_ns());
        if (!p->sending && p->out.what != BYE) say(p, BYE, ig_now_ns());
        n += !p->sending && p->left;
    }
    return n == pulse->n;
}

int32_t ig_pulse_close(struct ig_pulse *pulse)
{
    while (!parted(pulse)) {
        int32_t silent = ig_pulse_poll(pulse);
        if (silent >= 0) return silent;
        ig_nap(NAP_NS);
    }
    for (int32_t i = 0; i < pulse->n; i++) {
        MPI_Request_free(&pulse->peers[i].send);
        MPI_Request_free(&pulse->peers[i].receive);
    }
    MPI_Comm_free(&pulse->comm);
    free(pulse->peers);
    free(pulse->heard);
    free(pulse);
    return -1;
}
