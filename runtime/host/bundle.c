/* The command line of a program of several networks. That of one of them, --network=NAME, is that of its own program. */
#include "runtime/host/bundle.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/spec.h"
#include "runtime/team.h"

static const struct ig_bundle *own; /* this program's */

static const void *weights_of(const struct ig_bundle *b, int i)
{
    const struct ig_program *p = b->at[i].program;
    return p->weights ? p->weights : ig_map_bundled_weights(p->model, i);
}

void ig_bundle_start(struct ig_session *s, int threads)
{
    static struct ig_program found;
    int i = 0;
    while (own->at[i].program != s->program) i++;
    found = *s->program;
    found.weights = weights_of(own, i);
    s->program = &found;
    ig_start(s, threads);
}

static int find(const struct ig_bundle *b, const char *name, size_t n)
{
    for (int i = 0; i < b->n; i++)
        if (strlen(b->at[i].program->model->name) == n && !strncmp(b->at[i].program->model->name, name, n)) return i;
    return -1;
}

/* A number of a network, or a usage error that lists them. */
static int named(const struct ig_bundle *b, const char *name, size_t n)
{
    int i = find(b, name, n);
    if (i >= 0) return i;
    fprintf(stderr, "%s: no network '%.*s'; there are", b->name, (int)n, name);
    for (i = 0; i < b->n; i++) fprintf(stderr, " %s", b->at[i].program->model->name);
    fputc('\n', stderr);
    exit(2);
}

static void usage(FILE *f, const struct ig_bundle *b)
{
    const char *first = b->at[0].program->model->name;
    fprintf(f, "%s --network=%s picture.ppm     one of its networks (default: the first)\n", b->name, first);
    fprintf(f, "%s --network=%s --help          how to use that one\n\n", b->name, first);
    fprintf(f, "usage: %s [--network=NAME] ... | --sequence=LIST|- - [options] | --bench[=S] | --info\n", b->name);
    fputs("  --sequence A,B  frames of these networks in turn on stdin, again and again; one arena serves them\n"
          "  --sequence=-    a line with a network's name before every frame\n"
          "                  a stream without frames has no result, and is no error\n"
          "  --bench[=S]     every network alone and all in turn, or in the order of --sequence, for S seconds\n"
          "  --top K, --threads N, --json   as of one network; threads at most those planned for\n"
          "  --info          all networks, their memory and the shared arena\n"
          "networks:\n",
          f);
    for (int i = 0; i < b->n; i++) fprintf(f, "  %s\n", b->at[i].program->model->name);
}

static void print_info(const struct ig_bundle *b, int json)
{
    int64_t weights = 0, apart = 0;
    for (int i = 0; i < b->n; i++) {
        weights += b->at[i].program->model->weights_bytes;
        apart += b->at[i].program->model->arena_bytes;
    }
    if (json) printf("{\"arena_bytes\":%lld,\"name\":\"%s\",\"networks\":[", (long long)b->arena_bytes, b->name);
    else
        printf("%s: %d networks, one arena of %lld B (%lld B apart), weights %lld B\n", b->name, b->n,
               (long long)b->arena_bytes, (long long)apart, (long long)weights);
    for (int i = 0; i < b->n; i++) {
        const struct ig_session s = {.program = b->at[i].program};
        if (json) printf("%s\n{\"arena_offset\":%lld,\"network\":\n", i ? "," : "", (long long)b->at[i].base);
        else printf("\nfrom byte %lld of the arena\n", (long long)b->at[i].base);
        ig_print_info(&s, json);
        if (json) putchar('}');
    }
    if (json) printf("\n],\"weights_bytes\":%lld}\n", (long long)weights);
}

/* All networks, ready in one arena behind which the inputs and outputs are of whichever runs; one team for all. */
static void start(struct ig_turns *t, int threads)
{
    static struct ig_team team;
    const struct ig_bundle *b = t->bundle;
    int64_t arena = (b->arena_bytes + 63) / 64 * 64, io = 0;
    for (int i = 0; i < b->n; i++) {
        int64_t bytes = ig_io_bytes(b->at[i].program->model);
        if (bytes > io) io = bytes;
    }
    char *block = ig_memory(arena + io);
    for (int i = 0; i < b->n; i++) {
        struct ig_session *s = &t->sessions[i];
        const struct ig_model *m = b->at[i].program->model;
        ig_check_cpu(b->at[i].program);
        const void *weights = weights_of(b, i);
        *s = (struct ig_session){.program = b->at[i].program, .network = m->name, .threads = threads};
        if (threads > m->threads) ig_die("the shared arena is for %d threads, not %d", m->threads, threads);
        int status = ig_ctx_init(&s->ctx, m, weights, block + b->at[i].base, (size_t)(arena - b->at[i].base));
        if (!status && threads > 1 && !i) status = ig_ctx_start_threads(&s->ctx, &team, threads);
        if (status) ig_die("%s", ig_status_text(status));
        s->ctx.team = t->sessions[0].ctx.team;
        s->ctx.run_team = t->sessions[0].ctx.run_team;
        ig_place_io(s, block + arena);
        ig_map_all(weights, m->weights_bytes);
    }
    t->threads = threads;
}

/* The network of the next frame, or -1 at the end of the stream. */
static int next(const struct ig_turns *t, int turn)
{
    char line[256], text[41];
    if (t->n) return t->order[turn % t->n];
    if (!fgets(line, sizeof line, stdin)) return -1;
    size_t n = strcspn(line, "\n");
    int i = line[n] ? find(t->bundle, line, n) : -1;
    line[n] = 0;
    if (i < 0)
        ig_die("stdin: frame %d: a line with a network's name is to stand before it, not '%s'", turn,
               ig_name_text(line, text, sizeof text));
    return i;
}

static void stream(struct ig_turns *t, const struct ig_options *o)
{
    for (int turn = 0, i; (i = next(t, turn)) >= 0; turn++) {
        struct ig_session *s = &t->sessions[i];
        struct ig_options with = *o;
        if (!o->top_said) with.top = ig_default_top(s->program);
        if (!ig_next_frame(s)) {
            if (!t->n) ig_die("stdin: the stream ends behind the name of a network");
            return;
        }
        int64_t begin = ig_now_ns();
        int status = ig_ctx_run(&s->ctx, (const void *const *)s->inputs, s->outputs);
        if (status) ig_die("%s", ig_status_text(status));
        double ms = (double)(ig_now_ns() - begin) * 1e-6;
        if (s->program->spec) s->program->spec->finish(s);
        if (!o->json) printf("%s: ", s->network);
        ig_print_result(s, &with, ms);
    }
}

static void read_order(struct ig_turns *t, const char *list)
{
    if (!list)
        for (; t->n < t->bundle->n; t->n++) t->order[t->n] = t->n;
    else if (strcmp(list, "-"))
        for (const char *p = list;; p++) {
            size_t n = strcspn(p, ",");
            if (t->n == IG_MAX_SEQUENCE) ig_die("--sequence: more than %d frames", IG_MAX_SEQUENCE);
            t->order[t->n++] = named(t->bundle, p, n);
            p += n;
            if (!*p) break;
        }
}

static int not_in_turn(const struct ig_bundle *b)
{
    fprintf(stderr, "%s: networks in turn take their frames from stdin (a last argument -) or run --bench; for the rest say --network\n",
            b->name);
    return 2;
}

static int in_turn(int argc, char **argv, const struct ig_bundle *b, const char *list)
{
    static struct ig_session sessions[IG_MAX_BUNDLE];
    struct ig_turns t = {.bundle = b, .sessions = sessions};
    int64_t begin = ig_now_ns();
    if (argc < 2) return not_in_turn(b); /* nothing but --sequence */
    struct ig_options o = ig_parse(argc, argv, b->at[0].program);
    if (o.info) {
        print_info(b, o.json);
        return ig_finish();
    }
    read_order(&t, list);
    if (o.trace || o.n_outputs || (!o.bench && !o.stream) || (o.bench && (!t.n || o.seconds <= 0))) return not_in_turn(b);
    start(&t, o.threads);
    t.init_ms = (double)(ig_now_ns() - begin) * 1e-6;
    if (o.bench) ig_bench_bundle(&t, &o);
    else stream(&t, &o);
    ig_ctx_stop_threads(&sessions[0].ctx);
    return ig_finish();
}

/* Takes option `name` with its value out of the arguments; NULL if it is not there. */
static const char *take(int *argc, char **argv, const char *name)
{
    const char *value = NULL;
    size_t n = strlen(name);
    int to = 1;
    for (int i = 1; i < *argc; i++) {
        if (!strcmp(argv[i], name) && i + 1 < *argc) value = argv[++i];
        else if (!strncmp(argv[i], name, n) && argv[i][n] == '=') value = argv[i] + n + 1;
        else argv[to++] = argv[i];
    }
    argv[*argc = to] = NULL;
    return value;
}

static int has(char **argv, const char *text, size_t n)
{
    for (argv++; *argv; argv++)
        if (!strncmp(*argv, text, n) && strcmp(*argv, "--bench=-")) return 1;
    return 0;
}

int ig_bundle_main(int argc, char **argv, const struct ig_bundle *b)
{
    own = b;
    ig_name_program(argc ? argv[0] : NULL, b->name);
    signal(SIGXFSZ, SIG_IGN); /* as in ig_main */
    const char *network = take(&argc, argv, "--network"), *list = take(&argc, argv, "--sequence");
    if (network) return ig_main(argc, argv, b->at[named(b, network, strlen(network))].program);
    if (has(argv, "--help", 7) || has(argv, "-h", 3)) {
        usage(stdout, b);
        return ig_finish();
    }
    if (argc < 2 && !list) {
        usage(stderr, b);
        return 2;
    }
    if (list || has(argv, "--info", 7) || has(argv, "--bench", 7)) return in_turn(argc, argv, b, list);
    return ig_main(argc, argv, b->at[0].program);
}
