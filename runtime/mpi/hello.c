#include "runtime/mpi/hello.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mpi/fail.h"

enum { COME_S = 120, NAP_NS = 200000, ROUNDS = 16, LATE_MS = 3000 };

struct card { /* a rank's own */
    int32_t format, rank, n_ranks, has_results;
    unsigned char plan_hash[32];
    char key[80];
};

/* One rank says it for all, the others end with it. */
static _Noreturn void refuse(int self, const char *text)
{
    for (int i = 0; self && i < LATE_MS; i++) {
        ig_nap(1000000);
        ig_heed();
    }
    ig_die("%s", text);
}

static void exchange(const struct card *mine, struct card *all)
{
    int64_t end = ig_now_ns() + COME_S * (int64_t)1000000000;
    MPI_Request request;
    int done = 0;
    MPI_Iallgather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) {
        if (ig_now_ns() > end) ig_die("rank %d: the other ranks have not come within %d s", mine->rank, COME_S);
        ig_nap(NAP_NS);
        ig_heed();
    }
}

/* The same on all ranks, as they have the same cards. */
static void check(const struct ig_rank *r, const struct card *all, int self)
{
    char text[400];
    for (int i = 0; i < r->n_ranks; i++) {
        const struct card *c = &all[i];
        *text = 0;
        if (c->format != all[0].format)
            snprintf(text, sizeof text,
                     "rank %d '%.79s' has rank format %d, rank 0 '%.79s' format %d: build all by one Ingot", i, c->key,
                     c->format, all[0].key, all[0].format);
        else if (c->rank != i)
            snprintf(text, sizeof text,
                     "'%.79s' is rank %d of its plan, but was started as rank %d: keep to the plan's order", c->key,
                     c->rank, i);
        else if (memcmp(c->plan_hash, all[0].plan_hash, sizeof c->plan_hash))
            snprintf(text, sizeof text,
                     "rank %d '%.79s' is of another plan than rank 0 '%.79s': deploy all of one build", i, c->key,
                     all[0].key);
        if (*text) refuse(self, text);
    }
}

static void check_size(const struct ig_rank *r, int self)
{
    char text[200];
    int n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (n == r->n_ranks) return;
    snprintf(text, sizeof text,
             "mpirun started %d rank%s, the plan has %d: start each of its programs once (run.sh does)", n,
             n == 1 ? "" : "s", r->n_ranks);
    refuse(self, text);
}

/* Of two clocks: half of the shortest round trip is how far the other one's answer is behind. */
static int64_t clock_behind(int self, int out)
{
    int64_t best = INT64_MAX, behind = 0, theirs = 0;
    if (!out) return 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = ig_now_ns(), now = begin;
        if (self == 0) {
            MPI_Recv(&theirs, 1, MPI_INT64_T, out, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            now = ig_now_ns();
            MPI_Send(&now, 1, MPI_INT64_T, out, 0, MPI_COMM_WORLD);
        } else if (self == out) {
            MPI_Send(&now, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(&theirs, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            now = ig_now_ns();
            if (now - begin < best) best = now - begin, behind = theirs - (begin + (now - begin) / 2);
        }
    }
    return behind;
}

static void join_line(char *const *argv, int argc, struct ig_met *met)
{
    size_t at = 0;
    for (int i = 0; i < argc; i++) {
        size_t n = strlen(argv[i]) + 1;
        if (at + n > sizeof met->line) ig_die("more than %d bytes of arguments", IG_LINE_BYTES);
        memcpy(met->line + at, argv[i], n);
        at += n;
    }
    met->n_arguments = argc;
}

void ig_hello(int *argc, char ***argv, const struct ig_rank *r, int per_rank, struct ig_met *met)
{
    struct card mine = {IG_RANK_FORMAT, r->rank, r->n_ranks, r->outputs && r->outputs[0] >= 0, {0}, ""}, *all;
    int level, self;
    memcpy(mine.plan_hash, r->plan_hash, sizeof mine.plan_hash);
    snprintf(mine.key, sizeof mine.key, "%s", r->keys[r->rank]);
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level)) ig_die("MPI_Init failed");
    ig_fail_joined();
    ig_fail_guard();
    if (level < MPI_THREAD_FUNNELED)
        ig_die("this MPI cannot be used beside threads that compute (MPI_THREAD_FUNNELED)");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    check_size(r, self);
    all = calloc((size_t)r->n_ranks, sizeof *all);
    if (!all) ig_die("out of memory");
    exchange(&mine, all);
    check(r, all, self);
    met->out = 0;
    for (int i = r->n_ranks; i-- > 0;)
        if (all[i].has_results) met->out = i;
    free(all);
    join_line(*argv, *argc, met);
    met->per_rank = per_rank;
    MPI_Bcast(&met->per_rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&met->n_arguments, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(met->line, sizeof met->line, MPI_BYTE, 0, MPI_COMM_WORLD);
    met->clock_ns = clock_behind(self, met->out);
}
