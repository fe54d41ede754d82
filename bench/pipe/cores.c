/*
 * cores A B: are two cores two, and how far apart? For each line on stdin one on stdout: how many times as long as alone core
 * A takes for arithmetic while core B has some, and ns that a cache line takes from one to the other. Two cores of a virtual
 * machine may for a while be the two threads of one: then the first is 1.5 to 2. Or they are of two chips with a last cache
 * each, instead of sharing one: then the second is several times what it was.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef float vector __attribute__((vector_size(16)));

#if defined(__x86_64__)
#define REGISTER "+x"
#elif defined(__aarch64__)
#define REGISTER "+w"
#else
#define REGISTER "+m"
#endif

enum { CHAINS = 12, LOOPS = 5000, FIRST = 400, RUNS = 40, PASSES = 2000, GAMES = 5 };

static sem_t begin;
static atomic_int busy;
static _Alignas(128) atomic_int ball;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (!sched_setaffinity(0, sizeof set, &set)) return;
    fprintf(stderr, "cores: core %d cannot be had\n", core);
    exit(1);
}

/* Independent chains of products and sums, as many as keep every unit at work. */
static double arithmetic_ns(void)
{
    vector a[CHAINS] = {{0}}, b = {0};
    double start = now_ns();
    for (int i = 0; i < LOOPS; i++)
#pragma GCC unroll 12
        for (int k = 0; k < CHAINS; k++) {
            a[k] = a[k] * b + b;
            __asm__ volatile("" : REGISTER(a[k]));
        }
    return now_ns() - start;
}

/* The ball is odd when it comes, and even when it goes back. */
static void *other(void *core)
{
    pin(*(int *)core);
    for (;;) {
        sem_wait(&begin);
        while (atomic_load(&busy)) arithmetic_ns();
        for (int i = 1; i < 2 * PASSES * GAMES; i += 2) {
            while (atomic_load(&ball) != i) continue;
            atomic_store(&ball, i + 1);
        }
    }
    return NULL;
}

/* One way, the least mean of some games. */
static double distance_ns(void)
{
    double least = 1e18;
    int at = 0;
    for (int game = 0; game < GAMES; game++) {
        double start = now_ns();
        for (int i = 0; i < PASSES; i++, at += 2) {
            atomic_store(&ball, at + 1);
            while (atomic_load(&ball) != at + 2) continue;
        }
        double ns = (now_ns() - start) / (2 * PASSES);
        least = ns < least ? ns : least;
    }
    return least;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    double alone = 1e18, beside[RUNS];
    int cores[2] = {argc == 3 ? atoi(argv[1]) : -1, argc == 3 ? atoi(argv[2]) : -1};
    if (cores[0] < 0 || cores[1] < 0 || cores[0] == cores[1]) return fprintf(stderr, "usage: cores A B\n"), 2;
    pin(cores[0]);
    for (int i = 0; i < FIRST; i++) {
        double ns = arithmetic_ns();
        alone = ns < alone ? ns : alone;
    }
    if (sem_init(&begin, 0, 0) || pthread_create(&thread, NULL, other, &cores[1])) return 1;
    while (getchar() != EOF) {
        atomic_store(&busy, 1);
        atomic_store(&ball, 0);
        sem_post(&begin);
        for (int i = 0; i < RUNS; i++) beside[i] = arithmetic_ns();
        atomic_store(&busy, 0);
        qsort(beside, RUNS, sizeof *beside, by_size);
        printf("%.3f %.1f\n", beside[RUNS / 2] / alone, distance_ns());
        fflush(stdout);
    }
    return 0;
}
