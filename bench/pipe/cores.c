/*
 * cores A B: are two cores two? For each line on stdin one on stdout: how many times as long as alone core A takes for
 * arithmetic while core B has some. Two cores of a virtual machine may for a while be the two threads of one: then it is 1.5
 * to 2, and whatever is measured of two cores meanwhile is not that.
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

enum { CHAINS = 12, LOOPS = 5000, FIRST = 400, RUNS = 40 };

static sem_t begin;
static atomic_int busy;

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

static void *other(void *core)
{
    pin(*(int *)core);
    for (;;) {
        sem_wait(&begin);
        while (atomic_load(&busy)) arithmetic_ns();
    }
    return NULL;
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
        sem_post(&begin);
        for (int i = 0; i < RUNS; i++) beside[i] = arithmetic_ns();
        atomic_store(&busy, 0);
        qsort(beside, RUNS, sizeof *beside, by_size);
        printf("%.3f\n", beside[RUNS / 2] / alone);
        fflush(stdout);
    }
    return 0;
}
