#include "runtime/mpi/hello.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mpi/fail.h"

enum { COME_S = 120, NAP_NS = 200000, LATE_MS = 3000, SPIN_NS = 20000, SHORT_NAP_NS = 10000 };

/* Of two clocks: how many times they are compared, and the error that is small enough to end it. */
enum { LEAST_ROUNDS = 8, MOST_ROUNDS = 64, ERROR_NS = 20000 };

enum { MACHINE_BYTES = 80 }; /* of what tells one machine's clock from another's */

struct card { /* a rank's own */
    int32_t format, rank, n_ranks, has_results;
    unsigned char plan_hash[32];
    char key[80];
};

/* MPI's own waiting takes all of a core, which another rank of the machine may want. */
static void await(MPI_Request *request)
{
    int64_t begin = ig_now_ns();
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE), !done) {
        if (ig_now_ns() - begin < SPIN_NS) continue;
        ig_nap(SHORT_NAP_NS);
        ig_heed();
    }
}

void ig_own_comm(void *comm)
{
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, comm, &request);
    await(&request);
}

static void from_first(void *data, int bytes)
{
    MPI_Request request;
    MPI_Ibcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    await(&request);
}

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

/* --- clocks --- */

struct question { /* from where results leave */
    char machine[MACHINE_BYTES];
    int32_t more; /* there will be another one */
};

struct answer { /* of rank 0, by its clock */
    int64_t came, left;
    int32_t same; /* machine */
};

/*
 * A machine's boot, and the namespace that a container's clock may be set in: where both are the same, so is the clock.
 * Empty if the system does not say.
 */
static void read_machine(char *id)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    memset(id, 0, MACHINE_BYTES);
    size_t n = f ? fread(id, 1, MACHINE_BYTES / 2, f) : 0;
    if (f) fclose(f);
    if (n && readlink("/proc/self/ns/time", id + n, MACHINE_BYTES - 1 - n) < 0) id[n] = 0; /* older than namespaces */
}

static void pass(void *data, int bytes, int peer, int sends)
{
    MPI_Request request;
    if (sends) MPI_Isend(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &request);
    else MPI_Irecv(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &request);
    await(&request);
}

static void answer_all(int out)
{
    struct question q = {"", 1};
    char machine[MACHINE_BYTES];
    read_machine(machine);
    while (q.more) {
        struct answer a;
        memset(&a, 0, sizeof a);
        pass(&q, sizeof q, out, 0);
        a.came = ig_now_ns();
        a.same = *machine && !memcmp(machine, q.machine, MACHINE_BYTES);
        a.left = ig_now_ns();
        pass(&a, sizeof a, out, 1);
    }
}

static struct ig_clock ask(void)
{
    struct ig_clock c;
    struct question q;
    struct answer a = {0, 0, 0};
    memset(&q, 0, sizeof q);
    read_machine(q.machine);
    ig_clock_begin(&c);
    for (int i = 1; i == 1 || q.more; i++) {
        q.more = i < LEAST_ROUNDS || (i < MOST_ROUNDS && !a.same && ig_clock_error(&c) > ERROR_NS);
        int64_t left = ig_now_ns();
        pass(&q, sizeof q, 0, 1);
        pass(&a, sizeof a, 0, 0);
        ig_clock_to(&c, left, a.came);
        ig_clock_from(&c, a.left, ig_now_ns());
    }
    if (a.same && c.least <= 0 && c.most >= 0) ig_clock_same(&c); /* twins of a machine that was copied differ */
    return c;
}

/* Where results leave, how far rank 0's clock is ahead. */
static struct ig_clock compare_clocks(int self, int out)
{
    struct ig_clock c;
    ig_clock_same(&c);
    if (out && self == 0) answer_all(out);
    return out && self == out ? ask() : c;
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

/*
 * Open MPI, where it was told that cores are shared, yields the core at every look that finds nothing. A rank sleeps between
 * looks anyway, and who yields to a thread that computes gets the core back when that one's slice is over, milliseconds later.
 */
void ig_hello(int *argc, char ***argv, const struct ig_rank *r, int per_rank, struct ig_met *met)
{
    struct card mine = {IG_RANK_FORMAT, r->rank, r->n_ranks, r->outputs && r->outputs[0] >= 0, {0}, ""}, *all;
    int level, self;
    memcpy(mine.plan_hash, r->plan_hash, sizeof mine.plan_hash);
    snprintf(mine.key, sizeof mine.key, "%s", r->keys[r->rank]);
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
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
    from_first(&met->per_rank, sizeof met->per_rank);
    from_first(&met->n_arguments, sizeof met->n_arguments);
    from_first(met->line, sizeof met->line);
    met->clock = compare_clocks(self, met->out);
}
