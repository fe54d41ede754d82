#include "runtime/mpi/fail.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ABORT_S = 5, LINE_MS = 1000, WORDS_NS = 200000000 };

enum { APART, JOINED, PARTED };

static _Atomic int state = PARTED;
static pthread_t caller; /* of MPI_Init */
static pid_t parent;
static volatile sig_atomic_t ending;
static void (*last_words)(void *arg);
static void *last_words_arg;
_Atomic int ig_printing;

/* mpirun of MPICH, whose ranks these variables are for, lets the others wait for one that ended before MPI_Init. */
static int is_awaited(void)
{
    return getenv("PMI_RANK") || getenv("PMI_FD");
}

/* Only one thread may call MPI. Another's exit status is what mpirun ends the rest for. */
static void leave(void)
{
    int was = atomic_exchange(&state, PARTED);
    if (was == PARTED || (was == APART && !is_awaited())) return;
    if (!pthread_equal(pthread_self(), caller)) _exit(1);
    signal(SIGTERM, SIG_DFL);
    alarm(ABORT_S); /* MPI_Abort may wait for a board that does not answer */
    if (was == APART) MPI_Init(NULL, NULL);
    ig_nap(WORDS_NS); /* mpirun may drop what a rank said last if it is ended at once */
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

void ig_fail_begin(void)
{
    static char line[1024];
    setvbuf(stderr, line, _IOLBF, sizeof line); /* ranks' lines come out whole */
    caller = pthread_self();
    atomic_store(&state, APART);
    atexit(leave);
}

void ig_fail_joined(void)
{
    atomic_store(&state, JOINED);
}

void ig_fail_parted(void)
{
    atomic_store(&state, PARTED);
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

void ig_fail_last_words(void (*say)(void *arg), void *arg)
{
    last_words = say;
    last_words_arg = arg;
}

void ig_heed(void)
{
    if (!ending && getppid() == parent) return;
    int number = ending ? ending : SIGTERM;
    for (int i = 0; i < LINE_MS && atomic_load(&ig_printing); i++) ig_nap(1000000);
    if (last_words && number == SIGTERM) last_words(last_words_arg);
    signal(number, SIG_DFL);
    raise(number);
}

void ig_nap(int64_t ns)
{
    struct timespec t = {0, (long)ns};
    nanosleep(&t, NULL);
}
