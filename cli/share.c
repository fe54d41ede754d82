#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "graph/draft.h"
#include "graph/version.h"
#include "kernels_cpu/registry.h"
#include "planner/joint.h"
#include "planner/share.h"
#include "planner/text.h"
#include "runtime/run.h"

static const char help[] =
    "ingot share a.onnx b.onnx --memory-budget 30MB\n"
    "ingot share --at-once -o plans a.graph.json b.graph.json\n\n"
    "Plans several networks of one program together. They run in turn and share one arena, or at the same time.\n"
    "With -o every network's plan.json and an arena.h with the size of the arena are written; ingot gen takes\n"
    "the plans. Without a profile, plans rest on the estimator.\n"
    "  -o DIR              where to write DIR/NAME.plan.json and DIR/arena.h; made if it is not there\n"
    "  --at-once           they run at the same time: arenas lie behind each other\n"
    "  --memory-budget B   most bytes of the arena and all weights, e.g. 30MB; the least sum of times within it\n"
    "  --objective X       latency (default) or memory: the fewest bytes\n"
    "  --threads N         threads to plan for (default: all cores)\n"
    "  --isa NAME          host (default), ref, avx2, avxvnni, avx512, vnni, amx, neon, fp16, dotprod\n"
    "  --max-error X       as of ingot plan\n"
    "  --json              the figures as one object\n" IG_SOURCE_HELP;

enum { MOST = 64 };

struct nets {
    int32_t n, way;
    const char *path[MOST];
    struct ig_graph *graph[MOST];
    struct ig_tradeoff front[MOST];
    struct ig_plan *plan[MOST];
    int64_t bytes[MOST], base[MOST]; /* of the arena that each has */
    int64_t arena_bytes, weights_bytes;
};

static void read_nets(struct nets *x, char **paths, const struct ig_source_options *source, const struct ig_plan_options *o)
{
    char err[4096];
    for (int32_t i = 0; i < x->n; i++) {
        x->path[i] = paths[i];
        x->graph[i] = ig_load_graph(paths[i], source);
        for (int32_t k = 0; k < i; k++)
            if (!strcmp(x->graph[i]->name, x->graph[k]->name))
                ig_fatal("%s and %s: both networks are called '%s'; rename one of the files", paths[k], paths[i],
                         x->graph[i]->name);
        if (ig_tradeoff_make(x->graph[i], o, &x->front[i], err, sizeof err)) ig_fatal("%s: %s", paths[i], err);
    }
}

static void drop_plans(struct nets *x)
{
    for (int32_t i = 0; i < x->n; i++) ig_plan_free(x->plan[i]);
}

/* The plans of these points, with kernels as fast as there is room for, and what they really take. */
static void make_plans(struct nets *x, const struct ig_plan_options *o, const int32_t *point, int64_t budget)
{
    char err[4096], why[4096], hex[65];
    struct ig_joint sum = ig_joint_sum(x->front, point, x->n, x->way);
    int64_t room = sum.arena_bytes;
    if (budget && o->objective != IG_OBJECTIVE_MEMORY) room = budget - sum.weights_bytes;
    x->weights_bytes = 0;
    for (int32_t i = 0; i < x->n; i++) {
        struct ig_plan_options one = *o;
        const struct ig_tradeoff_point *at = &x->front[i].at[point[i]];
        one.memory_budget = 0;
        int64_t most = at->bytes + (x->way == IG_JOINT_IN_TURN ? room - at->arena_bytes : 0);
        struct ig_plan *p = ig_tradeoff_refine(x->graph[i], one, at, most, err, sizeof err);
        if (!p) ig_fatal("%s: %s", x->path[i], err);
        if (ig_validate(x->graph[i], p, 0, why, sizeof why))
            ig_fatal("%s: internal error: the validator refuses the plan: %s", x->path[i], why);
        ig_hash_graph(x->graph[i], x->path[i], hex);
        x->plan[i] = p;
        free(p->graph_sha256);
        p->graph_sha256 = strdup(hex);
        x->bytes[i] = x->way == IG_JOINT_AT_ONCE ? (p->arena_bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN : p->arena_bytes;
        x->base[i] = 0;
        x->weights_bytes += p->weights_bytes;
    }
    x->arena_bytes = ig_share_alternate(x->bytes, x->n);
    if (x->way == IG_JOINT_AT_ONCE) x->arena_bytes = ig_share_stack(x->bytes, x->n, x->base);
}

static void refuse(const struct nets *x, int64_t budget, const int32_t *point)
{
    struct ig_joint least = ig_joint_sum(x->front, point, x->n, x->way);
    int64_t bytes = least.arena_bytes + least.weights_bytes;
    ig_fatal("memory budget of %lld bytes exceeded by %lld: the least of these %d networks is %lld, one arena of %lld and "
             "weights of %lld, at %.3f ms for a frame of each",
             (long long)budget, (long long)(bytes - budget), x->n, (long long)bytes, (long long)least.arena_bytes,
             (long long)least.weights_bytes, (double)least.ns * 1e-6);
}

/* Points are bounds: where packing or alignment takes more, the budget is asked for with so much less. */
static void choose(struct nets *x, const struct ig_plan_options *o)
{
    int32_t point[MOST];
    for (int64_t budget = o->memory_budget;;) {
        if (ig_joint_choose(x->front, x->n, x->way, o->objective, budget, point)) refuse(x, o->memory_budget, point);
        make_plans(x, o, point, budget);
        int64_t over = x->arena_bytes + x->weights_bytes - o->memory_budget;
        if (!o->memory_budget || over <= 0) return;
        drop_plans(x);
        budget -= over;
        if (budget < 1) refuse(x, o->memory_budget, point);
    }
}

static void print_text(const struct nets *x)
{
    int64_t apart = 0;
    double ms = 0;
    char a[32], b[32], c[32];
    printf("%-24s %14s %14s %14s %9s\n", "network", "arena B", "from", "weights B", "ms");
    for (int32_t i = 0; i < x->n; i++) {
        const struct ig_plan *p = x->plan[i];
        printf("%-24s %14s %14s %14s %9.3f\n", x->graph[i]->name, ig_commas(x->bytes[i], a), ig_commas(x->base[i], b),
               ig_commas(p->weights_bytes, c), p->latency_ns * 1e-6);
        apart += x->bytes[i];
        ms += p->latency_ns * 1e-6;
    }
    printf("%s: one arena of %s B (%s B apart), weights of %s B", x->way ? "at once" : "in turn",
           ig_commas(x->arena_bytes, a), ig_commas(apart, b), ig_commas(x->weights_bytes, c));
    printf(": %s B; %.3f ms for a frame of each\n", ig_commas(x->arena_bytes + x->weights_bytes, a), ms);
}

static void print_json(const struct nets *x)
{
    printf("{\"arena_bytes\":%lld,\n\"at_once\":%s,\n\"networks\":[", (long long)x->arena_bytes,
           x->way ? "true" : "false");
    for (int32_t i = 0; i < x->n; i++) {
        printf("%s\n{\"arena_bytes\":%lld,\"arena_offset\":%lld,\"latency_ms\":", i ? "," : "", (long long)x->bytes[i],
               (long long)x->base[i]);
        ig_put_double(stdout, x->plan[i]->latency_ns * 1e-6);
        fputs(",\"name\":", stdout);
        ig_put_text(stdout, x->graph[i]->name);
        printf(",\"weights_bytes\":%lld}", (long long)x->plan[i]->weights_bytes);
    }
    printf("\n],\n\"weights_bytes\":%lld}\n", (long long)x->weights_bytes);
}

/* A name as a macro's; what a macro may not hold is an underscore. */
static void upper(char *to, size_t bytes, const char *s)
{
    size_t i = 0;
    for (; s[i] && i + 1 < bytes; i++) to[i] = (char)(isalnum((unsigned char)s[i]) ? toupper((unsigned char)s[i]) : '_');
    to[i] = 0;
}

/* Where a network's own header has been read, its arena is checked against the shared one. */
static void write_header(const struct nets *x, const char *path, int64_t budget)
{
    FILE *f = ig_open_output(path);
    fprintf(f, "/*\n * Do not edit: ingot " INGOT_VERSION " share. One arena for %d networks that run %s.\n", x->n,
            x->way ? "at the same time" : "in turn");
    fputs(" * Read it behind the networks' own headers, then it checks that they fit.\n */\n", f);
    fputs("#ifndef INGOT_ARENA_H\n#define INGOT_ARENA_H\n\n#include <stdint.h>\n\n#define INGOT_ARENA_ALIGN 64\n", f);
    fprintf(f, "#define INGOT_ARENA_BYTES INT64_C(%lld)\n", (long long)x->arena_bytes);
    if (budget)
        fprintf(f, "#define INGOT_MEMORY_BUDGET_BYTES %lld /* of the arena and all weights */\n", (long long)budget);
    fputs("\n#ifdef __cplusplus\n#define INGOT_ARENA_ASSERT static_assert\n#else\n#define INGOT_ARENA_ASSERT _Static_assert\n"
          "#endif\n",
          f);
    for (int32_t i = 0; i < x->n; i++) {
        char up[256];
        upper(up, sizeof up, x->graph[i]->name);
        fprintf(f, "\n#define INGOT_ARENA_%s INT64_C(%lld) /* bytes into the arena */\n", up, (long long)x->base[i]);
        fprintf(f, "#ifdef %s_ARENA_BYTES\n", up);
        fprintf(f, "INGOT_ARENA_ASSERT(INGOT_ARENA_%s + %s_ARENA_BYTES(%d) <= INGOT_ARENA_BYTES,\n", up, up,
                x->plan[i]->threads);
        fputs("    \"the network was not made from the plan beside this file\");\n#endif\n", f);
    }
    if (budget)
        fprintf(f, "\nINGOT_ARENA_ASSERT(INGOT_ARENA_BYTES + %lld <= INGOT_MEMORY_BUDGET_BYTES, \"arena and weights exceed "
                   "the budget\");\n",
                (long long)x->weights_bytes);
    fputs("\n#endif\n", f);
    ig_close_output();
}

static void write_all(const struct nets *x, const char *dir, int64_t budget)
{
    char path[4096], err[4096];
    ig_make_folder(dir);
    for (int32_t i = 0; i < x->n; i++) {
        snprintf(path, sizeof path, "%s/%s.plan.json", dir, x->graph[i]->name);
        if (ig_plan_write(x->plan[i], x->graph[i], path, err, sizeof err)) ig_fatal("%s", err);
    }
    snprintf(path, sizeof path, "%s/arena.h", dir);
    write_header(x, path, budget);
    ig_folders_keep();
}

int ig_verb_share(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},          {"output", 1, 0, 'o'},    {"at-once", 0, 0, 'a'},
                                          {"memory-budget", 1, 0, 'm'}, {"objective", 1, 0, 'O'}, {"threads", 1, 0, 't'},
                                          {"isa", 1, 0, 'i'},           {"max-error", 1, 0, 'E'}, {"json", 0, 0, 'j'},
                                          IG_SOURCE_OPTIONS,            {0, 0, 0, 0}};
    static struct nets x;
    struct ig_source_options source = {.n_binds = 0};
    struct ig_plan_options o = {.target = "host", .isa = ig_host_isa(), .threads = ig_cores(), .max_error = IG_MAX_ERROR};
    const char *dir = NULL;
    int json = 0;
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'o': dir = optarg; break;
        case 'a': x.way = IG_JOINT_AT_ONCE; break;
        case 'm': o.memory_budget = ig_size_option(optarg, "--memory-budget"); break;
        case 'O':
            o.objective = ig_objective_option(optarg);
            if (o.objective > IG_OBJECTIVE_MEMORY) ig_fatal("--objective=%s: of several networks latency or memory", optarg);
            break;
        case 't': o.threads = (int32_t)ig_whole_number(optarg, "--threads", 1, IG_MAX_THREADS); break;
        case 'i': o.isa = ig_isa_option(optarg); break;
        case 'E': o.max_error = ig_number(optarg, "--max-error", 0, 1); break;
        case 'j': json = 1; break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(help);
        }
    x.n = argc - optind;
    if (x.n < 1 || x.n > MOST) ig_usage(help);
    read_nets(&x, argv + optind, &source, &o);
    choose(&x, &o);
    if (json) print_json(&x);
    else print_text(&x);
    if (dir) write_all(&x, dir, o.memory_budget);
    drop_plans(&x);
    for (int32_t i = 0; i < x.n; i++) {
        ig_tradeoff_free(&x.front[i]);
        ig_graph_free(x.graph[i]);
    }
    return 0;
}
