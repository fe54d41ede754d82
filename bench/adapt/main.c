/*
 * out/bench/adapt graph.json plan.json CORE [ROUNDS [JSON]]: a plan with alternatives (ingot plan --stages --alternatives)
 * while another process begins to spin on one of its cores. Each round runs frames in calm until the first alternative is
 * taken, starts the load, lets 50 frames pass, times the next 60 and the 200 behind these, then each alternative alone
 * under the same load; it ends the load, lets 50 frames pass, times the next 60, and then the first alternative alone.
 * Medians of the rounds in which the rest of the machine took at most 10 % of what the stages and the load wanted of the
 * cores. Every output is compared with that of a run step by step.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bed.h"
#include "runtime/cuts.h"

enum { CALM = 120, REACTION = 50, TIMED = 60, LATER = 200, SETTLE = 10, CALMS = 8, MOST_ROUNDS = 99, COPIES = 64 };
static const double most_others = 0.1;

struct adapt {
    struct ig_pipeline pipeline;
    struct ig_cut_run cuts;
    const struct ig_model *model;
    int core;            /* that is loaded */
    void **in, **out;    /* every frame's, and what a run step by step makes of it */
    int32_t fixed;       /* the alternative that is forced */
    uint32_t frames;     /* of the round's part that entered */
    uint32_t first;      /* of these that took another alternative than before; 0: none */
    int32_t before;      /* alternative until then */
    uint32_t pushed, differ; /* frames; that were not the same */
    pid_t load;
    double others, all;  /* core seconds of this round that others took, and that there were */
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "adapt: %s\n", what);
    exit(1);
}

static double clock_s(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t)) return 0;
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

/* --- what others take --- */

/* A thread's seconds on its core, and ready but not on it. */
static void schedule_of(const char *path, double *ran, double *waited)
{
    unsigned long long ns[2] = {0, 0};
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%llu %llu", &ns[0], &ns[1]) != 2) fail("the system does not say how long threads wait");
    fclose(f);
    *ran = (double)ns[0] * 1e-9;
    *waited = (double)ns[1] * 1e-9;
}

/*
 * Core seconds that other programs had which a stage or the load would have had: of the core that the load fills, all that
 * neither has; of others, what the stage was ready for.
 */
static double lost(const struct adapt *a, double at)
{
    double sum = a->load ? at : 0, ran, waited;
    char path[300];
    struct dirent *e;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) fail("/proc/self/task cannot be read");
    while ((e = readdir(tasks))) {
        cpu_set_t set;
        int tid = atoi(e->d_name);
        if (!tid || tid == getpid() || sched_getaffinity(tid, sizeof set, &set)) continue;
        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
        schedule_of(path, &ran, &waited);
        sum += a->load && CPU_ISSET(a->core, &set) ? -ran : waited;
    }
    closedir(tasks);
    if (!a->load) return sum;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)a->load);
    schedule_of(path, &ran, &waited);
    return sum - ran;
}

/* --- frames --- */

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

static void push(struct adapt *a, void *const *at)
{
    for (int32_t i = 0; a->pushed < COPIES && i < a->model->n_inputs; i++) /* copies keep what they have */
        memcpy(at[i], a->in[i], (size_t)ig_bytes(a->model->inputs[i].shape));
    a->pushed++;
    ig_push_end(&a->pipeline);
}

static void pop(struct adapt *a)
{
    void *at[IG_MAX_SLOTS];
    if (ig_pop_begin(&a->pipeline, at, 1, NULL)) fail("a frame failed");
    for (int32_t i = 0; i < a->model->n_outputs; i++)
        if (memcmp(at[i], a->out[i], (size_t)ig_bytes(a->model->outputs[i].shape))) a->differ++;
    ig_pop_end(&a->pipeline);
}

/* That many frames, one after the other; when frame first[i] came out, at[n]. */
static void flow(struct adapt *a, int frames, const int *first, double *at, int n)
{
    void *in[IG_MAX_SLOTS];
    double begin = clock_s(CLOCK_MONOTONIC), had = lost(a, begin);
    for (int pushed = 0, popped = 0, k = 0; popped < frames;) {
        if (pushed < frames && ig_push_begin(&a->pipeline, in, 0) == IG_OK) {
            push(a, in);
            pushed++;
            continue;
        }
        pop(a);
        if (++popped == first[k]) at[k++] = clock_s(CLOCK_MONOTONIC);
        if (k == n) k = n - 1;
    }
    double end = clock_s(CLOCK_MONOTONIC);
    a->others += lost(a, end) - had;
    a->all += (end - begin) * a->cuts.cuts->pipe->n_stages;
}

/* Frames a second of those behind the first `skip`. */
static double rate(struct adapt *a, int frames, int skip)
{
    double at[2];
    flow(a, frames, (const int[]){skip, frames}, at, 2);
    return (frames - skip) / (at[1] - at[0]);
}

static double alone(struct adapt *a, int32_t cut)
{
    a->cuts.choose = forced;
    a->fixed = cut;
    return rate(a, SETTLE + TIMED, SETTLE);
}

/* --- rounds --- */

struct rates { /* frames a second, by round; frames until the first switch */
    double calm[MOST_ROUNDS], soon[MOST_ROUNDS], later[MOST_ROUNDS], first[MOST_ROUNDS], over[MOST_ROUNDS];
    double alone[IG_ADAPT_ALTERNATIVES][MOST_ROUNDS], free[MOST_ROUNDS];
    double others[MOST_ROUNDS];
    double cut[2][MOST_ROUNDS]; /* alternative that was taken in the end, under the load and without */
};

static void watch(struct adapt *a)
{
    a->before = atomic_load(&a->cuts.next);
    a->frames = a->first = 0;
    a->cuts.choose = watched;
}

static void round_of(struct adapt *a, int core, struct rates *r, int k)
{
    double at[3];
    a->others = a->all = 0;
    a->cuts.choose = NULL;
    for (int i = 0; i < CALMS; i++) {
        r->calm[k] = rate(a, CALM, CALM / 2);
        if (!atomic_load(&a->cuts.next)) break;
    }
    watch(a);
    a->load = spin(core);
    flow(a, REACTION + TIMED + LATER, (const int[]){REACTION, REACTION + TIMED, REACTION + TIMED + LATER}, at, 3);
    r->soon[k] = TIMED / (at[1] - at[0]);
    r->later[k] = LATER / (at[2] - at[1]);
    r->first[k] = a->first;
    r->cut[0][k] = atomic_load(&a->cuts.next);
    for (int32_t i = 0; i < a->cuts.cuts->n; i++) r->alone[i][k] = alone(a, i);
    a->cuts.choose = NULL;
    rate(a, CALM, CALM / 2);
    kill(a->load, SIGKILL);
    waitpid(a->load, NULL, 0);
    a->load = 0;
    r->over[k] = rate(a, REACTION + TIMED, REACTION);
    r->cut[1][k] = atomic_load(&a->cuts.next);
    r->free[k] = alone(a, 0);
    r->others[k] = a->others / a->all;
    fprintf(stderr,
            "round: calm %.1f, under the load %.1f, then %.1f (cut %.0f), without it %.1f frames/s (cut %.0f); others took "
            "%.1f %%\n",
            r->calm[k], r->soon[k], r->later[k], r->cut[0][k], r->over[k], r->cut[1][k], 100 * r->others[k]);
}

/* --- the report --- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *x, int n, double q)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    return sorted[(int)(q * (n - 1) + .5)];
}

static double median(const double *x, int n)
{
    return quantile(x, n, .5);
}

static void print_stages(FILE *f, const struct ig_cuts *c, int32_t cut, const char *between)
{
    for (int32_t s = 0; s < c->pipe->n_stages; s++)
        fprintf(f, "%s%.3f", s ? between : "", c->stages[cut * c->pipe->n_stages + s].predicted_ns * 1e-6);
}

static double best_of(const struct rates *r, int32_t alternatives, int n, int32_t *which)
{
    double best = 0;
    for (int32_t i = 0; i < alternatives; i++)
        if (median(r->alone[i], n) > best) best = median(r->alone[i], n), *which = i;
    return best;
}

/* x over y, round by round: what a machine's changes of pace leave alone. */
static void divide(const double *x, const double *y, int n, double *to)
{
    for (int i = 0; i < n; i++) to[i] = x[i] / y[i];
}

static void print_ratio(const char *what, const double *x, const double *y, int n)
{
    double of[MOST_ROUNDS];
    divide(x, y, n, of);
    printf("%s: %.1f frames/s, %.1f %% of it, rounds from %.1f to %.1f %%\n", what, median(x, n), 100 * median(of, n),
           100 * quantile(of, n, 0), 100 * quantile(of, n, 1));
}

static void report(const struct adapt *a, const struct rates *r, int n, int dropped)
{
    const struct ig_cuts *c = a->cuts.cuts;
    int32_t which = 0;
    double best = best_of(r, c->n, n, &which);
    for (int32_t i = 0; i < c->n; i++) {
        printf("alternative %d: ", i);
        print_stages(stdout, c, i, " ");
        printf(" ms predicted, %.1f frames/s under the load\n", median(r->alone[i], n));
    }
    printf("calm %.1f frames/s; load: first switch after %.0f frames\n", median(r->calm, n), median(r->first, n));
    printf("best under the load: alternative %d with %.1f frames/s\n", which, best);
    print_ratio("frames 50 to 110 under the load", r->soon, r->alone[which], n);
    print_ratio("the next 200", r->later, r->alone[which], n);
    printf("without the load: the first alternative with %.1f frames/s\n", median(r->free, n));
    print_ratio("frames 50 to 110 when it is gone", r->over, r->free, n);
    printf("%d rounds, others took %.1f %%; %d rounds dropped; %u frames, %u differ\n", n, 100 * median(r->others, n), dropped,
           a->pushed, a->differ);
}

static void put(FILE *f, const char *name, const double *x, int n)
{
    fprintf(f, "\"%s\":[", name);
    for (int i = 0; i < n; i++) fprintf(f, "%s%.3f", i ? "," : "", x[i]);
    fprintf(f, "]");
}

/* All rounds. */
static void write_json(const char *path, const struct adapt *a, const struct rates *r, int n, int dropped, int core)
{
    const struct ig_cuts *c = a->cuts.cuts;
    FILE *f = fopen(path, "w");
    if (!f) fail("cannot write the results");
    fprintf(f, "{\"model\":\"%s\",\"core\":%d,\"rounds\":%d,\"dropped\":%d,\"frames\":%u,\"differ\":%u,\n\"alternatives\":[\n",
            a->model->name, core, n, dropped, a->pushed, a->differ);
    for (int32_t i = 0; i < c->n; i++) {
        fprintf(f, "{\"predicted_ms\":[");
        print_stages(f, c, i, ",");
        fprintf(f, "],");
        put(f, "loaded_fps", r->alone[i], n);
        fprintf(f, "}%s\n", i + 1 < c->n ? "," : "],");
    }
    const struct { const char *name; const double *of; } rows[] = {
        {"calm_fps", r->calm}, {"frames_50_to_110_fps", r->soon}, {"next_200_fps", r->later}, {"first_switch", r->first},
        {"cut", r->cut[0]}, {"gone_50_to_110_fps", r->over}, {"gone_cut", r->cut[1]},
        {"gone_first_alternative_fps", r->free}, {"others_share", r->others}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put(f, rows[i].name, rows[i].of, n);
        fprintf(f, "%s\n", i + 1 < sizeof rows / sizeof *rows ? "," : "}");
    }
    if (fclose(f)) fail("cannot write the results");
}

static void make_frame(struct adapt *a, struct ig_bed *bed)
{
    const struct ig_model *m = a->model;
    uint32_t x = 1;
    a->in = ig_io_buffers(m->inputs, m->n_inputs);
    a->out = ig_io_buffers(m->outputs, m->n_outputs);
    for (int32_t i = 0; i < m->n_inputs; i++)
        for (int64_t k = 0; m->inputs[i].shape->type == IG_F32 && k < ig_count(m->inputs[i].shape); k++) {
            x = x * 1664525u + 1013904223u;
            ((float *)a->in[i])[k] = (float)(x >> 8) / (1 << 24);
        }
    if (ig_ctx_run(&bed->ctx, (const void *const *)a->in, a->out)) fail("the network does not run");
}

int main(int argc, char **argv)
{
    static struct adapt a;
    static struct rates r;
    char err[1024];
    struct ig_bed bed;
    int n = 0, dropped = 0;
    if (argc < 4) fail("adapt graph.json plan.json CORE [ROUNDS [JSON]]");
    int core = atoi(argv[3]), rounds = argc > 4 ? atoi(argv[4]) : 5;
    if (rounds < 1 || rounds > MOST_ROUNDS) fail("1 to 99 rounds");
    struct ig_graph *g = ig_graph_read(argv[1], err, sizeof err);
    struct ig_plan *p = g ? ig_plan_read(argv[2], g, err, sizeof err) : NULL;
    if (!p || ig_validate_all(g, p, 0, err, sizeof err)) fail(err);
    if (!p->n_others) fail("the plan has no alternatives");
    if (setpriority(PRIO_PROCESS, 0, -20)) fprintf(stderr, "adapt: at ordinary priority, as everybody else\n");
    struct ig_lowered *l = ig_lower(g, p);
    if (ig_bed_make(&bed, l, 1, err, sizeof err)) fail(err);
    a.model = &l->model;
    a.core = core;
    make_frame(&a, &bed);
    ig_pipeline_clear(&a.pipeline);
    if (ig_cuts_attach(&a.cuts, &l->cuts, &a.pipeline)) fail("too many alternatives");
    a.cuts.choose_arg = &a;
    if (ig_pipeline_start(&a.pipeline, &l->pipe, bed.weights, bed.arena, bed.arena_bytes)) fail("cannot start stages");
    while (n < rounds && n + dropped < 2 * rounds) {
        round_of(&a, core, &r, n);
        if (r.others[n] <= most_others) n++;
        else dropped++;
    }
    ig_pipeline_stop(&a.pipeline);
    if (!n) fail("others took more than 10 % of the cores in every round");
    report(&a, &r, n, dropped);
    if (argc > 5) write_json(argv[5], &a, &r, n, dropped, core);
    ig_io_buffers_free(a.in, a.model->inputs, a.model->n_inputs);
    ig_io_buffers_free(a.out, a.model->outputs, a.model->n_outputs);
    ig_bed_free(&bed);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
    return a.differ != 0;
}
