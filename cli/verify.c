#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/verify.h"
#include "kernels_cpu/registry.h"
#include "runtime/host/text.h"
#include "runtime/run.h"

static const char help[] =
    "ingot verify /usr/share/libonnx-testdata/data/node/test_relu\n"
    "ingot verify -q --in-process DIR...\n\n"
    "Builds and runs ONNX backend tests: each folder with model.onnx and test_data_set_*, or folders\n"
    "of such folders. One line each: PASS, FAIL or REFUSED, name, largest error; a FAIL says which\n"
    "layer first differs from the reference kernels. Exit 1 if any FAILs.\n"
    "  --in-process      run the plan's tables in this process instead of building a program\n"
    "  --threads N       threads of the program (default 2)\n"
    "  --gpu FATBIN      run on GPU 0 by these kernels, as nvcc -fatbin makes them of kernels_gpu/module.cu\n"
    "  --precision half  weights and activations of 16 bits\n"
    "  --draw SEED       kernels, cuts, bands and objective of the plans at random, not the fastest\n"
    "  --tolerance X     largest error allowed, of the largest value (default: 1e-4 of networks, 2e-2 by --precision half)\n"
    "  --isa NAME        host (default), ref, avx2, avxvnni, avx512, vnni, amx, neon, fp16, dotprod\n"
    "  --target NAME     libraries of out/NAME (default host); with --cc and --run for another machine\n"
    "  --cc COMMAND      C compiler (default: the one that links programs here)\n"
    "  --run COMMAND     runs the program, e.g. qemu-aarch64-static\n"
    "  -j N              cases at a time (default: all cores)\n"
    "  --timeout S       seconds a case may take (default 300)\n"
    "  --expect FILE     lines of \"NAME VERDICT\": only a difference from them is a failure\n"
    "  --json            one object a line: name, verdict, text\n"
    "  --tap             lines of the Test Anything Protocol\n"
    "  -o FILE           write there instead of to stdout\n"
    "  -q                only what fails, and the counts\n"
    "  --keep            leave the work folders, and say where\n";

enum { MAX_CASES = 20000, MAX_JOBS = 64, LINE = IG_VERDICT_BYTES };

struct job {
    pid_t pid;
    int pipe;
};

static char *cases[MAX_CASES];
static int n_cases, timeout_s = 300;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_cases(const char *dir, int depth)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/model.onnx", dir);
    if (!access(path, R_OK)) {
        if (n_cases < MAX_CASES) cases[n_cases++] = strdup(dir);
        return;
    }
    DIR *d = opendir(dir);
    if (!d || depth > 3) {
        if (!depth) ig_fatal("%s: %s", dir, d ? "no model.onnx" : strerror(errno));
        if (d) closedir(d);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%.3900s/%s", dir, e->d_name);
        if (e->d_type == DT_DIR || e->d_type == DT_LNK || e->d_type == DT_UNKNOWN)
            find_cases(path, depth + 1);
    }
    closedir(d);
}

static struct job start(const char *dir, const struct ig_verify_options *o)
{
    int fds[2];
    char line[LINE];
    fflush(NULL);
    if (pipe(fds)) ig_fatal("pipe: %s", strerror(errno));
    struct job j = {fork(), fds[0]};
    if (j.pid < 0) ig_fatal("fork: %s", strerror(errno));
    if (!j.pid) {
        close(fds[0]);
        alarm((unsigned)timeout_s);
        ig_verify_case(dir, o, line);
        if (write(fds[1], line, strlen(line)) < 0) _exit(1);
        _exit(0);
    }
    close(fds[1]);
    return j;
}

static void finish(struct job *j, char *line)
{
    int status;
    size_t n = 0;
    for (ssize_t got; n < LINE - 1 && (got = read(j->pipe, line + n, LINE - 1 - n)) > 0;) n += (size_t)got;
    line[n] = 0;
    close(j->pipe);
    waitpid(j->pid, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(line, LINE, "FAIL not done after %d s (--timeout)", timeout_s);
    else if (WIFSIGNALED(status)) snprintf(line, LINE, "FAIL killed by signal %d", WTERMSIG(status));
    else if (!n) snprintf(line, LINE, "FAIL ended without a verdict");
}

/* The verdict that FILE expects of `name`: "PASS" unless it says otherwise. */
static void expected(const char *file, const char *name, char verdict[16])
{
    char line[1024], key[512];
    strcpy(verdict, "PASS");
    FILE *f = file ? fopen(file, "r") : NULL;
    if (file && !f) ig_fatal("%s: %s", file, strerror(errno));
    while (f && fgets(line, sizeof line, f)) {
        char word[16];
        if (line[0] != '#' && sscanf(line, "%511s %15s", key, word) == 2 && !strcmp(key, name))
            strcpy(verdict, word);
    }
    if (f) fclose(f);
}

enum form { TEXT, JSON, TAP };

struct report {
    FILE *f;
    const char *expect;
    enum form form;
    int quiet, count[3], unexpected;
};

/* One object: {"name":...,"text":...,"verdict":...} */
static void print_json(FILE *f, const char *name, const char *line, size_t n)
{
    fputs("{\"name\":", f);
    ig_json_string(f, name);
    fputs(",\"text\":", f);
    ig_json_string(f, line[n] ? line + n + 1 : "");
    fprintf(f, ",\"verdict\":\"%.*s\"}\n", (int)n, line);
}

static void print(struct report *r, int index, const char *dir, const char *line)
{
    static const char *const words[] = {"PASS", "FAIL", "REFUSED"};
    const char *slash = strrchr(dir, '/'), *name = slash && slash[1] ? slash + 1 : dir;
    char want[16];
    size_t n = strcspn(line, " ");
    for (int i = 0; i < 3; i++) r->count[i] += !strncmp(line, words[i], n) && !words[i][n];
    if (r->expect) expected(r->expect, name, want);
    else snprintf(want, sizeof want, "%s", line[0] == 'R' ? "REFUSED" : "PASS");
    int good = !strncmp(line, want, n) && !want[n];
    r->unexpected += !good;
    if (r->quiet && good) return;
    if (r->form == TAP) fprintf(r->f, "%sok %d - %s %s\n", good ? "" : "not ", index + 1, name, line);
    else if (r->form == JSON) print_json(r->f, name, line, n);
    else fprintf(r->f, "%-8.*s %s%s\n", (int)n, line, name, line + n);
}

static void run_all(const struct ig_verify_options *o, struct report *r, int parallel)
{
    struct job jobs[MAX_JOBS];
    char line[LINE];
    for (int next = 0, done = 0; done < n_cases; done++) {
        for (; next < n_cases && next < done + parallel; next++)
            jobs[next % parallel] = start(cases[next], o);
        finish(&jobs[done % parallel], line);
        print(r, done, cases[done], line);
        if (!isatty(fileno(r->f))) ig_progress("verify", done + 1, n_cases);
    }
    if (r->form == TAP) fprintf(r->f, "1..%d\n", n_cases);
    if (r->form == TEXT)
        fprintf(r->f, "%d passed, %d failed, %d refused\n", r->count[0], r->count[1], r->count[2]);
}

static int is_half(const char *precision)
{
    if (!strcmp(precision, "half")) return 1;
    if (strcmp(precision, "single")) ig_fatal("--precision '%s': single or half", precision);
    return 0;
}

int ig_verb_verify(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},    {"in-process", 0, 0, 'I'},
                                          {"threads", 1, 0, 't'}, {"isa", 1, 0, 'i'}, {"gpu", 1, 0, 'g'},
                                          {"target", 1, 0, 'T'},  {"cc", 1, 0, 'c'},
                                          {"run", 1, 0, 'r'},     {"quiet", 0, 0, 'q'},
                                          {"keep", 0, 0, 'k'},    {"expect", 1, 0, 'e'},
                                         {"draw", 1, 0, 'd'},    {"precision", 1, 0, 'P'}, {"tolerance", 1, 0, 'O'},
                                          {"json", 0, 0, 'J'},    {"tap", 0, 0, 'p'},
                                          {"output", 1, 0, 'o'},  {"timeout", 1, 0, 'l'},
                                          {0, 0, 0, 0}};
    struct ig_verify_options o = {.threads = 2, .isa = ig_host_isa(), .target = "host"};
    struct report r = {.expect = NULL};
    const char *out = "-";
    int parallel = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int c; (c = getopt_long(argc, argv, "j:o:qh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'I': o.in_process = 1; break;
        case 'g': o.fatbin = ig_read_fatbin(optarg), o.isa = IG_ISA_CUDA; break;
        case 't': o.threads = (int)ig_whole_number(optarg, "--threads", 1, IG_MAX_THREADS); break;
        case 'i': o.isa = ig_isa_option(optarg); break;
        case 'T': o.target = optarg; break;
        case 'c': o.cc = optarg; break;
        case 'r': o.runner = optarg; break;
        case 'q': r.quiet = 1; break;
        case 'k': o.keep = 1; break;
        case 'd': o.draw = (uint64_t)ig_whole_number(optarg, "--draw", 1, INT32_MAX); break;
        case 'P': o.half = is_half(optarg); break;
        case 'O': o.tolerance = ig_number(optarg, "--tolerance", 1e-9, 1); break;
        case 'e': r.expect = optarg; break;
        case 'J': r.form = JSON; break;
        case 'p': r.form = TAP; break;
        case 'o': out = optarg; break;
        case 'l': timeout_s = (int)ig_whole_number(optarg, "--timeout", 1, 86400); break;
        case 'j': parallel = (int)ig_whole_number(optarg, "-j", 1, MAX_JOBS); break;
        default: ig_usage(help);
        }
    if (optind == argc) ig_usage(help);
    if (o.in_process && !ig_isa_runs_here(o.isa))
        ig_fatal("%s kernels do not run on this machine", ig_isa_name(o.isa));
    for (int i = optind; i < argc; i++) find_cases(argv[i], 0);
    if (!n_cases) ig_fatal("%s: no folder with a model.onnx", argv[optind]);
    qsort(cases, (size_t)n_cases, sizeof *cases, by_name);
    r.f = ig_open_output(out);
    run_all(&o, &r, parallel > MAX_JOBS ? MAX_JOBS : parallel);
    ig_close_output();
    return r.unexpected > 0;
}
