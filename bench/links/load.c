#include "bench/links/load.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Between two looks, as ranks have them that compute for milliseconds (runtime/mpi/main.c). */
enum { NAP_NS = 800000, SLOTS = 2, TAG = 4 };
static const int alone_ms = 60;

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    clockid_t clock;   /* of the thread's own time: what other programs take of the core is nobody's loss */
    atomic_int counts; /* 0: it sleeps; -1: it ends */
    _Atomic uint64_t counted;
    atomic_uint mixed; /* what counting computes, so that no compiler leaves it out */
    double rate;       /* counts a second of its time when nothing else happens */
} load = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap(int64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

static void *count(void *unused)
{
    uint32_t x = 1;
    (void)unused;
    while (atomic_load(&load.counts) >= 0) {
        pthread_mutex_lock(&load.lock);
        while (!atomic_load(&load.counts)) pthread_cond_wait(&load.wake, &load.lock);
        pthread_mutex_unlock(&load.lock);
        while (atomic_load_explicit(&load.counts, memory_order_relaxed) > 0) {
            for (int i = 0; i < 200; i++) x = x * 1664525u + 1013904223u;
            atomic_store_explicit(&load.mixed, x, memory_order_relaxed);
            atomic_store_explicit(&load.counted, load.counted + 1, memory_order_relaxed);
        }
    }
    return NULL;
}

static void set(int counts)
{
    pthread_mutex_lock(&load.lock);
    atomic_store(&load.counts, counts);
    pthread_cond_signal(&load.wake);
    pthread_mutex_unlock(&load.lock);
}

/* Rank i keeps to the i-th core that it may use: several of one machine to one each. */
static void pin(int rank)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    int n = CPU_COUNT(&all), at = rank % n;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && at-- == 0) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
}

void load_begin(int rank)
{
    pin(rank);
    prctl(PR_SET_TIMERSLACK, 1000ul);
    if (pthread_create(&load.thread, NULL, count, NULL)) MPI_Abort(MPI_COMM_WORLD, 1);
    pthread_getcpuclockid(load.thread, &load.clock);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) { /* the best: nothing else happened */
        set(1);
        nap(1000000);
        double time = seconds(load.clock);
        uint64_t from = load.counted;
        nap(alone_ms * 1000000ll);
        double rate = (double)(load.counted - from) / (seconds(load.clock) - time);
        if (rate > load.rate) load.rate = rate;
        set(0);
    }
}

void load_end(void)
{
    set(-1);
    pthread_join(load.thread, NULL);
}

static void pass(MPI_Request *requests, int messages)
{
    int started = 0, done = 0;
    while (done < messages) {
        int moved = 0, over = 0;
        for (; started < messages && started - done < SLOTS; started++, moved++) MPI_Start(&requests[started % SLOTS]);
        MPI_Test(&requests[done % SLOTS], &over, MPI_STATUS_IGNORE);
        done += over;
        if (!moved && !over) nap(NAP_NS);
    }
}

double load_run(int peer, void *data, int bytes, int messages, int sends)
{
    MPI_Request requests[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        char *slot = (char *)data + (size_t)i * (size_t)bytes;
        if (sends) MPI_Ssend_init(slot, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
        else MPI_Recv_init(slot, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, TAG + 1, NULL, 0, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    set(1);
    nap(1000000);
    double own = seconds(CLOCK_THREAD_CPUTIME_ID), time = seconds(load.clock);
    uint64_t from = load.counted;
    pass(requests, messages);
    double counted = (double)(load.counted - from);
    time = seconds(load.clock) - time;
    own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
    set(0);
    for (int i = 0; i < SLOTS; i++) MPI_Request_free(&requests[i]);
    double lost = own + time - counted / load.rate; /* by this thread, and by interrupts of the other */
    return lost > 0 ? lost / messages : 0;
}
