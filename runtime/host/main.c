/* The command line of a generated program. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/host/spec.h"
#include "runtime/host/stages.h"
#include "runtime/team.h"

static const char *program_name = "model";

void ig_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

void ig_name_program(const char *path, const char *otherwise)
{
    const char *slash = strrchr(path ? path : "", '/');
    program_name = slash ? slash + 1 : path ? path : otherwise;
}

int ig_finish(void)
{
    if (fflush(stdout) || ferror(stdout)) ig_die("stdout: %s", strerror(errno));
    return 0;
}

int64_t ig_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void usage(FILE *f, const struct ig_program *p)
{
    const struct ig_model *m = p->model;
    char text[128], name[128];
    fprintf(f, "%s picture.ppm --top 3        the best classes of a picture\n", program_name);
    fprintf(f, "%s --bench                    how fast it is here\n\n", program_name);
    fprintf(f, "usage: %s [INPUT...] [-o OUT.npy...] [options]\n", program_name);
    for (int i = 0; i < m->n_inputs; i++)
        fprintf(f, "  INPUT %d       '%s' %s: .npy, raw bytes%s\n", i + 1,
                ig_name_text(m->inputs[i].name, name, sizeof name),
                ig_shape_text(m->inputs[i].shape, text, sizeof text),
                i         ? ""
                : p->spec ? ", PGM/PPM of any size"
                          : ", PGM/PPM");
    if (p->spec) fprintf(f, "                of input spec %s\n", p->spec->text);
    fputs("  -             raw frames on stdin, a result each; a stream without any has no result, and is no error\n", f);
    for (int i = 0; i < m->n_outputs; i++)
        fprintf(f, "  -o OUT        output %d: '%s' %s as .npy\n", i + 1,
                ig_name_text(m->outputs[i].name, name, sizeof name),
                ig_shape_text(m->outputs[i].shape, text, sizeof text));
    fputs("  --top K       print the K best of the first output (default 5)\n"
          "  --bench[=S]   run for S seconds (default 3) and print times and layers\n"
          "  --bench=-     run as many frames as each line of stdin says and print their times, ns\n"
          "  --threads N   threads (default: as planned)\n"
          "  --json        one JSON object a result on stdout\n"
          "  --trace FILE  one frame as Chrome trace JSON\n"
          "  --info        what this program was made from, and its memory\n"
          "  --help        this text\n",
          f);
}

static int number(const char *text, const char *what, long low, long high)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < low || v > high) {
        fprintf(stderr, "%s: %s takes a number from %ld to %ld, not '%s'\n", program_name, what, low, high,
                text);
        exit(2);
    }
    return (int)v;
}

static double seconds(const char *text)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0 && v <= 3600)) {
        fprintf(stderr, "%s: --bench takes seconds up to 3600, not '%s'\n", program_name, text);
        exit(2);
    }
    return v;
}

/* --gpu of a program without a GPU's plan: what is not "require" it does anyway. */
static void without_gpu(const char *text)
{
    if (!strcmp(text, "require"))
        ig_die("--gpu=require: this program is for the CPU alone; ./configure --gpu makes one with a GPU's plan");
    if (!strcmp(text, "auto") || !strcmp(text, "off")) return;
    fprintf(stderr, "%s: --gpu takes auto, require or off, not '%s'\n", program_name, text);
    exit(2);
}

struct ig_options ig_parse(int argc, char **argv, const struct ig_program *p)
{
    static const struct option longs[] = {{"top", required_argument, 0, 'k'},
                                          {"bench", optional_argument, 0, 'b'},
                                          {"threads", required_argument, 0, 't'},
                                          {"json", no_argument, 0, 'j'},
                                          {"trace", required_argument, 0, 'c'},
                                          {"info", no_argument, 0, 'i'},
                                          {"help", no_argument, 0, 'h'},
                                          {"output", required_argument, 0, 'o'},
                                          {"gpu", required_argument, 0, 'g'},
                                          {0, 0, 0, 0}};
    struct ig_options o = {.top = -1, .threads = p->model->threads, .seconds = 3};
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) switch (c) {
        case 'o':
            if (o.n_outputs == p->model->n_outputs || o.n_outputs == IG_MAX_ENDS) {
                fprintf(stderr, "%s: -o %s: the network has %d output%s\n", program_name, optarg,
                        p->model->n_outputs, p->model->n_outputs == 1 ? "" : "s");
                exit(2);
            }
            o.outputs[o.n_outputs++] = optarg;
            break;
        case 'k':
            o.top = number(optarg, "--top", 0, IG_MAX_TOP);
            o.top_said = 1;
            break;
        case 'b':
            o.bench = 1;
            if (optarg) o.seconds = strcmp(optarg, "-") ? seconds(optarg) : 0;
            break;
        case 't':
            o.threads = number(optarg, "--threads", 1, IG_MAX_THREADS);
            o.whole = 1;
            break;
        case 'j': o.json = 1; break;
        case 'c': o.trace = optarg; break;
        case 'i': o.info = 1; break;
        case 'g': without_gpu(optarg); break;
        case 'h': usage(stdout, p); exit(ig_finish());
        default:
            fprintf(stderr, "usage: %s [INPUT...] [-o OUT.npy...] [options]; --help says more\n", program_name);
            exit(2);
        }
    if (o.top < 0) o.top = o.n_outputs && !o.json ? 0 : ig_default_top(p);
    for (; optind < argc; optind++)
        if (o.n_inputs++ < IG_MAX_ENDS) o.inputs[o.n_inputs - 1] = argv[optind];
    o.stream = o.n_inputs == 1 && !strcmp(o.inputs[0], "-");
    if (o.n_inputs && o.n_inputs != p->model->n_inputs && !(o.stream && p->model->n_inputs)) {
        fprintf(stderr, "%s: %d input%s given, the network has %d\n", program_name, o.n_inputs, o.n_inputs == 1 ? "" : "s",
                p->model->n_inputs);
        exit(2);
    }
    if (!o.n_inputs && p->model->n_inputs && !o.bench && !o.info && !o.trace) {
        fprintf(stderr, "%s: no input: give a file, or - for raw frames on stdin; --help says more\n", program_name);
        exit(2);
    }
    return o;
}

/* Bytes of a tensor in a block of several, each at a multiple of a cache line. */
static int64_t room(const struct ig_shape *s)
{
    return (ig_bytes(s) + IG_LINE - 1) / IG_LINE * IG_LINE;
}

int64_t ig_io_bytes(const struct ig_model *m)
{
    int64_t bytes = 0;
    for (int i = 0; i < m->n_inputs; i++) bytes += room(m->inputs[i].shape);
    for (int i = 0; i < m->n_outputs; i++) bytes += room(m->outputs[i].shape);
    return bytes;
}

void ig_place_io(struct ig_session *s, char *at)
{
    const struct ig_model *m = s->program->model;
    if (m->n_inputs > IG_MAX_ENDS || m->n_outputs > IG_MAX_ENDS) ig_die("more than %d inputs or outputs: use the library", IG_MAX_ENDS);
    for (int i = 0; i < m->n_inputs; at += room(m->inputs[i++].shape)) s->inputs[i] = at;
    for (int i = 0; i < m->n_outputs; at += room(m->outputs[i++].shape)) s->outputs[i] = at;
}

/* The arena, then inputs and outputs: one block, so that pages are had in one call. */
static char *buffers(struct ig_session *s, int64_t arena)
{
    char *block = ig_memory(arena + ig_io_bytes(s->program->model));
    ig_place_io(s, block + arena);
    return block;
}

void ig_start(struct ig_session *s, int threads)
{
    static struct ig_team team;
    const struct ig_model *m = s->program->model;
    ig_check_cpu(s->program);
    int64_t bytes = (ig_arena_total(m, threads) / IG_LINE + 1) * IG_LINE;
    const void *weights = s->program->weights ? s->program->weights : ig_map_weights(m);
    int status = ig_ctx_init(&s->ctx, m, weights, buffers(s, bytes), (size_t)bytes);
    if (!status && threads > 1) status = ig_ctx_start_threads(&s->ctx, &team, threads);
    if (status) ig_die("%s", ig_status_text(status));
    ig_map_all(weights, m->weights_bytes);
    s->threads = threads;
}

static void one_frame(struct ig_session *s, const struct ig_options *o)
{
    int64_t begin = ig_now_ns();
    int status = ig_ctx_run(&s->ctx, (const void *const *)s->inputs, s->outputs);
    if (status) ig_die("%s", ig_status_text(status));
    double ms = (double)(ig_now_ns() - begin) * 1e-6;
    if (s->program->spec) s->program->spec->finish(s);
    for (int i = 0; i < o->n_outputs; i++)
        ig_write_npy(o->outputs[i], s->program->model->outputs[i].shape, s->outputs[i]);
    if (o->top || o->json) ig_print_result(s, o, ms);
}

int ig_main(int argc, char **argv, const struct ig_program *program)
{
    int64_t begin = ig_now_ns();
    struct ig_session s = {.program = program};
    ig_name_program(argv[0], program->model->name);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is met as a full disk is, by write() */
    struct ig_options o = ig_parse(argc, argv, program);
    if (o.info) {
        ig_print_info(&s, o.json);
        return ig_finish();
    }
    program->start(&s, o.threads);
    s.init_ms = (double)(ig_now_ns() - begin) * 1e-6;
    for (int i = 0; !o.stream && i < o.n_inputs; i++) ig_load_input(&s, i, o.inputs[i]);
    if (program->staged && !o.whole && (o.bench || o.stream || o.trace)) {
        program->staged->run(&s, &o);
        o.trace = NULL;
    } else if (o.bench) ig_bench(&s, &o);
    else if (o.stream)
        while (ig_next_frame(&s)) one_frame(&s, &o);
    else if (o.n_inputs || !program->model->n_inputs) one_frame(&s, &o);
    if (o.trace) ig_write_trace(&s, o.trace);
    ig_ctx_stop_threads(&s.ctx);
    return ig_finish();
}
