/*
 * Links between the hosts that mpirun starts this on: times of messages of several sizes, every pair in both directions,
 * one pair at a time. Prints "FROM TO BYTES NS SENDS RECEIVES" a line: numbers of ranks, the median time one way, and, of some
 * sizes (else 0), what a core at either end loses of other work (bench/links/load.h). Wants MPI.
 *
 * A message of so many bytes goes there, an empty one comes back: what that took, less half of what two empty ones take.
 * Messages are synchronous, as ranks send them: the other side has to be ready before one goes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/links/load.h"

enum { MOST_RUNS = 64, LEAST_RUNS = 8, WARM_UP = 2, MOST_BYTES = 4 << 20, LEAST_BYTES = 4096 };
enum { LEAST_LOAD = 6, MOST_LOAD = 400 }; /* messages under load */
static const double load_s = 0.4; /* of messages under load */
static const double size_s = 0.25; /* of runs of one size */
static const double long_s = 0.06; /* a message that takes as long is the largest */

static char *data;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Seconds there and back, the median of `runs`. */
static double serve(int peer, int bytes, int runs)
{
    double s[MOST_RUNS];
    for (int i = -WARM_UP; i < runs; i++) {
        double start = MPI_Wtime();
        (bytes ? MPI_Ssend : MPI_Send)(data, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i >= 0) s[i] = MPI_Wtime() - start;
    }
    qsort(s, (size_t)runs, sizeof *s, ascending);
    return s[runs / 2];
}

enum { ECHO, LOAD, END }; /* what the other side is to do */

static double order(int peer, int bytes, int runs) /* the other side, then this one */
{
    MPI_Send((int[]){ECHO, bytes, runs}, 3, MPI_INT, peer, 0, MPI_COMM_WORLD);
    return serve(peer, bytes, runs);
}

/* Seconds that the cores of this and the other side lose a message. */
static void order_load(int peer, int bytes, int runs, double *sends, double *receives)
{
    MPI_Send((int[]){LOAD, bytes, runs}, 3, MPI_INT, peer, 0, MPI_COMM_WORLD);
    *sends = load_run(peer, data, bytes, runs, 1);
    MPI_Recv(receives, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_all(int from, int to)
{
    double empty = order(to, 0, MOST_RUNS), took = empty;
    for (int bytes = LEAST_BYTES, i = 0; bytes <= MOST_BYTES && took < long_s; bytes *= 2, i++) {
        int runs = (int)(size_s / (2 * took));
        took = order(to, bytes, runs < LEAST_RUNS ? LEAST_RUNS : runs > MOST_RUNS ? MOST_RUNS : runs);
        int loads = (int)(load_s / took);
        double sends = 0, receives = 0;
        if (loads < LEAST_LOAD) loads = LEAST_LOAD;
        if (loads > MOST_LOAD) loads = MOST_LOAD;
        if (i % 2 == 0) order_load(to, bytes, loads, &sends, &receives);
        printf("%d %d %d %.0f %.0f %.0f\n", from, to, bytes, (took - empty / 2) * 1e9, sends * 1e9, receives * 1e9);
    }
    MPI_Send((int[]){END, 0, 0}, 3, MPI_INT, to, 0, MPI_COMM_WORLD);
}

static void answer_all(int peer)
{
    for (int what[3];;) {
        MPI_Recv(what, 3, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (what[0] == END) return;
        if (what[0] == LOAD) {
            double lost = load_run(peer, data, what[1], what[2], 0);
            MPI_Send(&lost, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD);
            continue;
        }
        for (int i = -WARM_UP; i < what[2]; i++) {
            MPI_Recv(data, what[1], MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
        }
    }
}

/* A barrier that leaves the processor to those who measure. */
static void wait_for_all(void)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    data = calloc(2, MOST_BYTES);
    load_begin(rank);
    if (!data || n < 2) {
        fprintf(stderr, "links: %s\n", data ? "one process a host, on two or more" : "out of memory");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) {
            if (from == to) continue;
            if (rank == from) send_all(from, to);
            if (rank == to) answer_all(from);
            wait_for_all();
        }
    load_end();
    fflush(stdout);
    free(data);
    MPI_Finalize();
    return 0;
}
