#include "runtime/mpi/fail.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ABORT_S = 5, LINE_MS = 1000 };

static _Atomic int joined;
static pthread_t caller; /* of MPI_Init */
static pid_t parent;
static volatile sig_atomic_t ending;
_Atomic int ig_printing;

/* Only one thread may call MPI. Another's exit status is what mpirun ends the rest for. */
static void leave(void)
{
    if (!atomic_exchange(&joined, 0)) return;
    if (!pthread_equal(pthread_self(), caller)) _exit(1);
    signal(SIGTERM, SIG_DFL);
    alarm(ABORT_S); /* MPI_Abort may wait for a board that does not answer */
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

void ig_fail_joined(void)
{
    caller = pthread_self();
    atomic_store(&joined, 1);
    atexit(leave);
}

void ig_fail_parted(void)
{
    atomic_store(&joined, 0);
}

static void on_signal(int number)
{
    ending = number;
}

void ig_fail_guard(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    for (int i = 0; i < 3; i++) sigaction(numbers[i], &a, NULL);
    parent = getppid();
}

void ig_heed(void)
{
    if (!ending && getppid() == parent) return;
    int number = ending ? ending : SIGTERM;
    for (int i = 0; i < LINE_MS && atomic_load(&ig_printing); i++) ig_nap(1000000);
    signal(number, SIG_DFL);
    raise(number);
}

void ig_nap(int64_t ns)
{
    struct timespec t = {0, (long)ns};
    nanosleep(&t, NULL);
}
