/*
 * out/bench/adapt graph.json plan.json CORE [ROUNDS]: a plan with alternatives (ingot plan --stages --alternatives)
 * while another process begins to spin on one of its cores. Each round runs frames in calm, starts the load, lets 50
 * frames pass, times the next ones, and then each alternative alone under the same load. Medians of the rounds.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bed.h"
#include "runtime/cuts.h"

enum { CALM = 120, REACTION = 50, TIMED = 60, SETTLE = 10, MOST_ROUNDS = 99 };

struct adapt {
    struct ig_pipeline pipeline;
    struct ig_cut_run cuts;
    int32_t fixed;       /* the alternative that is forced */
    uint32_t frames;     /* of the round's loaded part that entered */
    uint32_t first;      /* of these that took another alternative than the first; 0: none */
    int32_t before;      /* alternative of the calm */
    pid_t load;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "adapt: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static pid_t spin(int core)
{
    pid_t pid = fork();
    if (pid < 0) fail("cannot start the load");
    if (pid) return pid;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (sched_setaffinity(0, sizeof set, &set)) _exit(1);
    for (;;) __asm__ volatile("" ::: "memory");
}

static int32_t forced(void *arg, uint32_t frame)
{
    (void)frame;
    return ((struct adapt *)arg)->fixed;
}

/* The pipeline's own answer, and when it first changed. */
static int32_t watched(void *arg, uint32_t frame)
{
    struct adapt *a = arg;
    int32_t cut = atomic_load(&a->cuts.next);
    (void)frame;
    a->frames++;
    if (!a->first && cut != a->before) a->first = a->frames;
    return cut;
}

/* That many frames, one after the other; frames a second of those behind the first `skip`. */
static double flow(struct ig_pipeline *p, int frames, int skip)
{
    void *at[IG_MAX_SLOTS];
    double begin = now_s();
    for (int pushed = 0, popped = 0; popped < frames;) {
        if (pushed < frames && ig_push_begin(p, at, 0) == IG_OK) {
            ig_push_end(p);
            pushed++;
            continue;
        }
        if (ig_pop_begin(p, at, 1, NULL)) fail("a frame failed");
        ig_pop_end(p);
        if (++popped == skip) begin = now_s();
    }
    return (frames - skip) / (now_s() - begin);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return x[n / 2];
}

struct rates { /* frames a second, by round */
    double calm[MOST_ROUNDS], adapted[MOST_ROUNDS], first[MOST_ROUNDS];
    double alone[IG_ADAPT_ALTERNATIVES][MOST_ROUNDS];
};

static void round_of(struct adapt *a, int core, struct rates *r, int k)
{
    a->cuts.choose = NULL;
    r->calm[k] = flow(&a->pipeline, CALM, CALM / 2);
    a->before = atomic_load(&a->cuts.next);
    a->frames = a->first = 0;
    a->cuts.choose = watched;
    a->load = spin(core);
    r->adapted[k] = flow(&a->pipeline, REACTION + TIMED, REACTION);
    r->first[k] = a->first;
    a->cuts.choose = forced;
    for (a->fixed = 0; a->fixed < a->cuts.cuts->n; a->fixed++)
        r->alone[a->fixed][k] = flow(&a->pipeline, SETTLE + TIMED, SETTLE);
    kill(a->load, SIGKILL);
    waitpid(a->load, NULL, 0);
}

static void report(const struct adapt *a, struct rates *r, int rounds)
{
    double best = 0, adapted = median(r->adapted, rounds), calm = median(r->calm, rounds);
    const struct ig_cuts *c = a->cuts.cuts;
    for (int32_t i = 0; i < c->n; i++) {
        double rate = median(r->alone[i], rounds);
        printf("alternative %d:", i);
        for (int32_t s = 0; s < c->pipe->n_stages; s++)
            printf(" %.3f", c->stages[i * c->pipe->n_stages + s].predicted_ns * 1e-6);
        printf(" ms predicted, %.1f frames/s under the load\n", rate);
        if (rate > best) best = rate;
    }
    printf("calm %.1f frames/s; under the load, from frame %d on, %.1f: %.1f %% of the best alternative, first switch "
           "after %.0f frames (%d rounds)\n",
           calm, REACTION, adapted, 100 * adapted / best, median(r->first, rounds), rounds);
}

int main(int argc, char **argv)
{
    static struct adapt a;
    static struct rates r;
    char err[1024];
    struct ig_bed bed;
    if (argc < 4) fail("adapt graph.json plan.json CORE [ROUNDS]");
    int core = atoi(argv[3]), rounds = argc > 4 ? atoi(argv[4]) : 5;
    if (rounds < 1 || rounds > MOST_ROUNDS) fail("1 to 99 rounds");
    struct ig_graph *g = ig_graph_read(argv[1], err, sizeof err);
    struct ig_plan *p = g ? ig_plan_read(argv[2], g, err, sizeof err) : NULL;
    if (!p || ig_validate_all(g, p, 0, err, sizeof err)) fail(err);
    if (!p->n_others) fail("the plan has no alternatives");
    struct ig_lowered *l = ig_lower(g, p);
    if (ig_bed_make(&bed, l, 1, err, sizeof err)) fail(err);
    ig_pipeline_clear(&a.pipeline);
    if (ig_cuts_attach(&a.cuts, &l->cuts, &a.pipeline)) fail("too many alternatives");
    a.cuts.choose_arg = &a;
    if (ig_pipeline_start(&a.pipeline, &l->pipe, bed.weights, bed.arena, bed.arena_bytes)) fail("cannot start stages");
    for (int k = 0; k < rounds; k++) round_of(&a, core, &r, k);
    ig_pipeline_stop(&a.pipeline);
    report(&a, &r, rounds);
    ig_bed_free(&bed);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
    return 0;
}
