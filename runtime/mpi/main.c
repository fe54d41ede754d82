/* The program of a rank: the thread that calls MPI, from MPI_Init to MPI_Finalize. */
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "runtime/host/spec.h"
#include "runtime/mpi/fail.h"
#include "runtime/mpi/figures.h"
#include "runtime/mpi/gpu.h"
#include "runtime/mpi/hello.h"
#include "runtime/mpi/pulse.h"
#include "runtime/mpi/station.h"

/* Between two looks at messages: while the worker waits, behind one that came, then, and in a stream that rests; while it
   computes. */
enum { NAP_NS = 20000, IDLE_NAP_NS = 50000, REST_NAP_NS = 2000000, LEAST_NAP_NS = 100000, LONGEST_NAP_NS = 800000 };
enum { WORDS_NS = 200000000 };
enum { REST = 128, LOOKS = 4 }; /* of the time that nothing has happened for, and of the rank's work on a frame */

enum gpu { AUTO, REQUIRE, OFF };

struct flags { /* of this rank's own command line */
    enum gpu gpu;
    int unpinned, per_rank, help, info, json;
    const char *input; /* in place of stdin */
    const char *check; /* nothing but this: "options" or "files", options and whether the inputs can be read */
};

/* --- command line --- */

static void usage(const struct ig_rank *r, const char *name)
{
    const struct ig_model *m = r->whole->model;
    char text[128], tensor[128];
    printf("%s is rank %d of %d of %s; run.sh starts all, whose options are those of rank 0.\n", name, r->rank,
           r->n_ranks, r->network);
    fputs("usage: run.sh [INPUT...] [-o OUT.npy...] [options]\n", stdout);
    for (int i = 0; i < m->n_inputs; i++)
        printf(
            "  INPUT %d       '%s' %s: .npy, raw bytes, PGM/PPM; files of rank 0's machine\n",
            i + 1, ig_name_text(m->inputs[i].name, tensor, sizeof tensor),
            ig_shape_text(m->inputs[i].shape, text, sizeof text));
    if (r->whole->spec) printf("                of input spec %s, pictures of any size\n", r->whole->spec->text);
    fputs("  -             raw frames on stdin, a result each; a stream without any has no result, and is no error\n"
          "  -o OUT        an output as .npy, in order, on the machine where results leave\n"
          "  --top K       print the K best of the first output (default 5)\n"
          "  --bench[=S]   frames for S seconds (default 3): frames a second, latency, what each rank does and sends\n"
          "  --per-rank    every rank prints IRank: min, max, avg and writes RANK_PERFORMANCE.txt, RANK_MEMORY.txt\n"
          "  --stdin=FILE  the frames of - from this file or pipe of rank 0's machine\n"
          "  --unpinned    on any cores, not those of the mapping\n"
          "  --gpu=MODE    GPU keys compute on their GPU where there is one (auto), only there (require), or on a core (off)\n"
          "  --json        one JSON object a result on stdout\n"
          "  --info        what this rank runs, keeps, sends and receives\n"
          "  --help        this text\n",
          stdout);
}

static int take(char **argv, int *argc, const char *name)
{
    int to = 1, found = 0;
    for (int i = 1; i < *argc; i++)
        if (!strcmp(argv[i], name))
            found = 1;
        else
            argv[to++] = argv[i];
    argv[*argc = to] = NULL;
    return found;
}

/* The value of NAME=VALUE, taken out of the arguments; NULL if it is not there. */
static const char *take_value(char **argv, int *argc, const char *name)
{
    const char *value = NULL;
    size_t n = strlen(name);
    int to = 1;
    for (int i = 1; i < *argc; i++)
        if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
            value = argv[i] + n + 1;
        else
            argv[to++] = argv[i];
    argv[*argc = to] = NULL;
    return value;
}

static enum gpu gpu_of(const char *text, const char *program)
{
    if (!text || !strcmp(text, "auto")) return AUTO;
    if (!strcmp(text, "require")) return REQUIRE;
    if (!strcmp(text, "off")) return OFF;
    fprintf(stderr, "%s: --gpu takes auto, require or off, not '%s'\n", program, text);
    exit(2);
}

static struct flags flags_of(int *argc, char **argv)
{
    struct flags f = {.help = take(argv, argc, "--help") | take(argv, argc, "-h")};
    for (int i = 1; i < *argc; i++) {
        f.info |= !strcmp(argv[i], "--info");
        f.json |= !strcmp(argv[i], "--json");
    }
    f.unpinned = take(argv, argc, "--unpinned");
    f.per_rank = take(argv, argc, "--per-rank");
    f.input = take_value(argv, argc, "--stdin");
    f.check = take_value(argv, argc, "--check");
    f.gpu = gpu_of(take_value(argv, argc, "--gpu"), argv[0]);
    return f;
}

static struct ig_options parse(int argc, char **argv, const struct ig_program *whole)
{
    optind = 1;
    struct ig_options o = ig_parse(argc, argv, whole);
    if (o.whole || o.trace || (o.bench && o.seconds <= 0)) {
        fprintf(stderr, "%s: --threads, --trace and --bench=- are not for a network on several ranks\n", argv[0]);
        exit(2);
    }
    return o;
}

/* For run.sh: what is wrong is said before MPI has words of its own. */
static void try(const struct flags *f, int argc, char **argv, const struct ig_program *whole)
{
    struct ig_options o = parse(argc, argv, whole);
    for (int i = 0; i < o.n_inputs && !strcmp(f->check, "files"); i++)
        if (strcmp(o.inputs[i], "-") && access(o.inputs[i], R_OK)) ig_die("%s: %s", o.inputs[i], strerror(errno));
}

/* Rank 0's arguments are everyone's: an option cannot mean something else elsewhere. */
static struct ig_options parse_line(struct ig_met *met, const struct ig_program *whole)
{
    char **argv = calloc((size_t)met->n_arguments + 1, sizeof *argv), *at = met->line;
    if (!argv) ig_die("out of memory");
    for (int i = 0; i < met->n_arguments; at += strlen(at) + 1) argv[i++] = at;
    return parse(met->n_arguments, argv, whole); /* which keeps pointers to them */
}

/* --- cores --- */

/* The rank's cores for all threads that are started from now on. */
static void pin(const struct ig_rank *r)
{
    cpu_set_t want, got;
    if (!r->n_cores) return;
    CPU_ZERO(&want);
    for (int32_t i = 0; i < r->n_cores; i++)
        if (r->cores[i] < CPU_SETSIZE) CPU_SET(r->cores[i], &want);
    sched_setaffinity(0, sizeof want, &want);
    sched_getaffinity(0, sizeof got, &got);
    for (int32_t i = 0; i < r->n_cores; i++)
        if (r->cores[i] >= CPU_SETSIZE || !CPU_ISSET(r->cores[i], &got))
            ig_die("rank %d '%s' is for core %d, which this machine does not have or give: map it to others, or "
                   "--unpinned",
                   r->rank, r->keys[r->rank], r->cores[i]);
}

/* --- GPU --- */

/* Contexts of the rank's parts on its GPU; NULL: it has none to do with. */
static struct ig_ctx *look_for_gpu(const struct ig_rank *r, enum gpu mode)
{
    char why[300];
    if (!r->gpu || mode == OFF) return NULL;
    struct ig_ctx *on = calloc((size_t)r->n_parts + 1, sizeof *on);
    if (!on) ig_die("out of memory");
    if (!r->gpu->open(r, on, why, sizeof why)) return on;
    if (mode == REQUIRE) ig_die("no GPU (%s)", why);
    fprintf(stderr, "%s: no GPU (%s): running on the CPU\n", r->keys[r->rank], why);
    free(on);
    return NULL;
}

/* Buffers that the GPU reaches where they are. */
static void let_reach(const struct ig_station *s, const struct ig_ctx *on_gpu)
{
    char why[300];
    const struct ig_rank *r = s->rank;
    if (on_gpu && r->gpu->reach(r, on_gpu, s->flows, why, sizeof why)) ig_die("%s", why);
}

/* --- the run --- */

static int32_t silence_ms(const struct ig_rank *r)
{
    return r->silence_ms ? r->silence_ms : IG_SILENCE_MS;
}

static _Noreturn void silent(const struct ig_station *s, const struct ig_wire *w, int32_t peer)
{
    const struct ig_rank *r = s->rank;
    const char *doing, *tensor = NULL;
    uint64_t frame;
    if (w) tensor = ig_wire_awaited(w, peer, &frame, &doing);
    if (!tensor)
        ig_die("rank %d '%s': no sign of life of rank %d '%s' for %d s at the end of the stream", r->rank,
               r->keys[r->rank], peer, r->keys[peer], silence_ms(r) / 1000);
    ig_die("rank %d '%s': no sign of life of rank %d '%s' for %d s: tensor '%s' of frame %llu was %s", r->rank,
           r->keys[r->rank], peer, r->keys[peer], silence_ms(r) / 1000, tensor, (unsigned long long)frame, doing);
}

struct witness { /* of a run that is ended from outside */
    const struct ig_station *station;
    const struct ig_wire *wire;
    const struct ig_pulse *pulse;
};

/* mpirun ends all ranks when one has died, and says which; its neighbours here say what was lost with it. */
static void say_who_is_gone(void *arg)
{
    const struct witness *w = arg;
    const struct ig_rank *r = w->station->rank;
    const char *doing, *tensor;
    uint64_t frame;
    int32_t peer = ig_pulse_gone(w->pulse);
    if (peer < 0 || !(tensor = ig_wire_awaited(w->wire, peer, &frame, &doing))) return;
    fprintf(stderr, "%s: rank %d '%s': rank %d '%s' is gone: tensor '%s' of frame %llu was %s\n", r->keys[r->rank], r->rank,
            r->keys[r->rank], peer, r->keys[peer], tensor, (unsigned long long)frame, doing);
    ig_nap(WORDS_NS); /* mpirun may drop what a rank says last */
}

static int64_t within(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

/*
 * A look takes 10 to 25 us of a core that the worker computes on, if it has one core: then they are rare, as the worker
 * rings whenever a part is done, and when it has nothing more to do.
 */
static int64_t nap_of(const struct ig_station *s, int64_t quiet_ns, int64_t nap)
{
    int waits = atomic_load_explicit(&s->worker.waits, memory_order_relaxed);
    int64_t longest = within(quiet_ns / REST, IDLE_NAP_NS, REST_NAP_NS);
    if (!waits) return within((int64_t)(s->rank->rank_ns / LOOKS), LEAST_NAP_NS, LONGEST_NAP_NS);
    if (!quiet_ns) return NAP_NS;
    return nap * 2 < longest ? nap * 2 : longest;
}

static int is_over(const struct ig_station *s, const struct ig_wire *w)
{
    return ig_wire_over(w) && atomic_load(&s->worker.over) && (!s->enters || atomic_load(&s->entry.over)) &&
           (!s->leaves || atomic_load(&s->result.over));
}

static int64_t own_time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns the processor time that it took. */
static int64_t serve(struct ig_station *s, struct ig_wire *w, struct ig_pulse *p)
{
    int64_t nap = NAP_NS, moved_ns = ig_now_ns(), begin = own_time_ns();
    uint32_t last = ig_bell_seen(&s->bell);
    while (!is_over(s, w)) {
        uint32_t seen = ig_bell_seen(&s->bell);
        struct ig_moved moved = ig_wire_poll(w);
        int32_t peer = ig_pulse_poll(p);
        int64_t now = ig_now_ns();
        if (peer >= 0) silent(s, w, peer);
        if (moved.started || moved.retired || seen != last) moved_ns = now;
        last = seen;
        if (moved.retired && ig_bell_ring(&s->bell) == seen + 1) last = ++seen; /* nobody else has rung */
        nap = nap_of(s, now - moved_ns, nap);
        ig_bell_wait(&s->bell, seen, nap);
    }
    return own_time_ns() - begin;
}

static void start_user(struct ig_station *s, const struct ig_options *o, struct ig_clock clock)
{
    const struct ig_rank *r = s->rank;
    struct ig_flow *stamp = &s->flows[r->n_buffers];
    if (s->leaves) {
        struct ig_result *out = &s->result;
        out->rank = r, out->flows = s->flows, out->stamp = stamp;
        out->bell = &s->bell, out->options = o, out->clock = clock;
        if (o->bench) {
            out->done_ns = ig_memory(2 * IG_TIMED * (int64_t)sizeof(int64_t));
            out->latency_ns = out->done_ns + IG_TIMED;
        }
        ig_result_start(out);
    }
    if (!s->enters) return;
    s->entry = (struct ig_entry){.rank = r, .flows = s->flows, .stamp = stamp, .bell = &s->bell, .options = o};
    ig_entry_start(&s->entry);
}

/* What each rank did goes to all: nobody leaves before the last one is there. */
static void part(struct ig_station *s, struct ig_wire *w, struct ig_pulse *p, const struct ig_options *o,
                 int64_t passing_ns)
{
    const struct ig_rank *r = s->rank;
    struct ig_traffic t = ig_wire_traffic(w);
    struct ig_figures mine = {(int64_t)s->worker.frames, s->worker.busy_ns, s->worker.wait_ns, t.sending_ns,
                              passing_ns, t.sent_bytes, t.received_bytes};
    struct ig_figures *all = calloc((size_t)r->n_ranks, sizeof *all);
    if (!all) ig_die("out of memory");
    int32_t peer = ig_pulse_share(p, &mine, sizeof mine, all);
    if (peer < 0) peer = ig_pulse_close(p);
    if (peer >= 0) silent(s, NULL, peer);
    if (o->bench && s->leaves) ig_print_figures(&s->result, all, o->json);
    free(all);
    ig_wire_close(w);
}

static void check(const struct ig_rank *r)
{
    const struct ig_model *m = r->whole->model;
    if (m->n_inputs < 1 || m->n_inputs > IG_MAX_ENDS || m->n_outputs < 1 || m->n_outputs > IG_MAX_ENDS)
        ig_die("%s: a network on several ranks has 1 to %d inputs and outputs", r->network, IG_MAX_ENDS);
    for (int i = 0; i < r->n_parts; i++) /* which would never end */
        if (r->parts[i].program->model->n_inputs < 1)
            ig_die("part '%s' reads nothing", r->parts[i].program->model->name);
    for (int i = 0; !r->rank && i < m->n_inputs; i++)
        if (r->inputs[i] < 0) ig_die("%s: input '%s' does not enter at rank 0", r->network, m->inputs[i].name);
    for (int i = 0; r->outputs && r->outputs[0] >= 0 && i < m->n_outputs; i++)
        if (r->outputs[i] < 0)
            ig_die("%s: output '%s' does not leave where the first one does", r->network, m->outputs[i].name);
}

int ig_rank_main(int argc, char **argv, const struct ig_rank *rank)
{
    static struct ig_station s;
    static struct ig_met met;
    struct ig_options o;
    ig_name_program(argv[0], rank->keys[rank->rank]);
    signal(SIGXFSZ, SIG_IGN); /* as in ig_main */
    struct flags f = flags_of(&argc, argv);
    if (f.help)
        usage(rank, argv[0]);
    else if (f.info)
        ig_print_rank(rank, f.json);
    if (f.help || f.info) return fflush(stdout) ? 1 : 0;
    ig_fail_begin();
    check(rank);
    if (f.check) {
        try(&f, argc, argv, rank->whole);
        return 0;
    }
    if (!rank->rank) parse(argc, argv, rank->whole); /* wrong words end it before anything is started */
    if (f.input && !rank->rank && !freopen(f.input, "rb", stdin)) ig_die("--stdin=%s: %s", f.input, strerror(errno));
    if (!f.unpinned) pin(rank);
    prctl(PR_SET_TIMERSLACK, 1000ul);
    const struct ig_ctx *on_gpu = look_for_gpu(rank, f.gpu);
    ig_station_build(&s, rank, !f.unpinned, on_gpu);
    let_reach(&s, on_gpu);
    ig_hello(&argc, &argv, rank, f.per_rank, &met);
    o = parse_line(&met, rank->whole);
    ig_station_connect(&s, met.out);
    struct ig_pulse *pulse = ig_pulse_open(s.peers, s.n_peers, rank->n_ranks, silence_ms(rank));
    struct ig_wire *wire = ig_wire_open(rank, s.edges, s.n_edges, ig_pulse_heard(pulse));
    ig_worker_start(&s.worker);
    start_user(&s, &o, met.clock);
    struct witness witness = {&s, wire, pulse};
    ig_fail_last_words(say_who_is_gone, &witness);
    int64_t passing_ns = serve(&s, wire, pulse);
    ig_fail_last_words(NULL, NULL);
    ig_worker_join(&s.worker);
    part(&s, wire, pulse, &o, passing_ns);
    if (met.per_rank) ig_write_rank_files(rank->rank, &s.worker.intervals);
    ig_fail_parted();
    MPI_Finalize();
    if (s.enters && s.entry.bytes)
        ig_die("stdin: the stream ends in the middle of a frame (%zu of %zu bytes)", s.entry.got, s.entry.bytes);
    if (fflush(stdout) || ferror(stdout)) ig_die("stdout: %s", strerror(errno));
    return 0;
}
