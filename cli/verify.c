#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/verify.h"
#include "kernels_cpu/registry.h"

static const char help[] =
    "ingot verify /usr/share/libonnx-testdata/data/node/test_relu\n"
    "ingot verify -q DIR...                 only what fails, and the counts\n\n"
    "Builds and runs ONNX backend tests: each folder with model.onnx and test_data_set_*, or folders of such folders.\n"
    "One line each: PASS, FAIL or REFUSED, name, largest error. Exit 1 if any FAILs.\n"
    "  --in-process      run the plan's tables in this process instead of building a program\n"
    "  --threads N       threads of the program (default 2)\n"
    "  --isa NAME        host (default), ref, avx2, neon\n"
    "  --target NAME     libraries of out/NAME (default host); with --cc and --run for another machine\n"
    "  --cc COMMAND      C compiler (default cc)\n"
    "  --run COMMAND     runs the program, e.g. qemu-aarch64-static\n"
    "  -j N              cases at a time (default: all cores)\n"
    "  --expect FILE     lines of \"NAME VERDICT\": only a difference from them is a failure\n"
    "  --tap             lines of the Test Anything Protocol\n";

enum { MAX_CASES = 20000, MAX_JOBS = 64, LINE = 1024 };

struct job {
    pid_t pid;
    int pipe;
};

static char *cases[MAX_CASES];
static int n_cases;

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
        if (e->d_type == DT_DIR || e->d_type == DT_LNK || e->d_type == DT_UNKNOWN) find_cases(path, depth + 1);
    }
    closedir(d);
}

/* "PASS 1.2e-07", "FAIL ...", "REFUSED ..." for one data set. */
static void judge(struct ig_case *c, const struct ig_verify_options *o, char *line)
{
    static char err[IG_ERROR_BYTES];
    void *outputs[IG_CASE_TENSORS] = {NULL};
    double worst = 0;
    struct ig_graph *g = ig_case_compile(c, err, sizeof err);
    if (!g) {
        for (char *p = err; *p; p++)
            if (*p == '\n') *p = ' ';
        snprintf(line, LINE, "REFUSED %.900s", err);
        return;
    }
    if (ig_case_run(c, g, o, outputs, err, sizeof err)) {
        snprintf(line, LINE, "FAIL %.900s", err);
        return;
    }
    snprintf(line, LINE, "PASS");
    for (int i = 0; i < c->n_out && i < g->n_outputs; i++) {
        const struct ig_shape *s = &g->values[g->outputs[i]].shape;
        int real = s->type == IG_F16 && c->out[i].shape.type == IG_F32; /* an oracle in single precision */
        if ((s->type != c->out[i].shape.type && !real) || s->rank != c->out[i].shape.rank ||
            memcmp(s->dims, c->out[i].shape.dims, (size_t)s->rank * sizeof *s->dims)) {
            snprintf(line, LINE, "FAIL output %d has another shape or type", i);
            return;
        }
        if (ig_case_compare(&c->out[i], s->type, outputs[i], g->onnx_nodes > 20, &worst) > 1)
            snprintf(line, LINE, "FAIL output %d", i);
    }
    if (!c->n_out) snprintf(line, LINE, "FAIL no expected output");
    size_t at = strlen(line);
    snprintf(line + at, LINE - at, " %.3g", worst);
    ig_graph_free(g);
}

static void one_case(const char *dir, const struct ig_verify_options *o, char *line)
{
    char err[4096] = "";
    snprintf(line, LINE, "REFUSED no test_data_set_0");
    for (int set = 0; set < 100; set++) {
        struct ig_case c;
        int got = ig_case_read(&c, dir, set, err, sizeof err);
        if (!got) break;
        if (got < 0) {
            snprintf(line, LINE, "REFUSED %.900s", err);
            return;
        }
        judge(&c, o, line);
        ig_case_free(&c);
        if (strncmp(line, "PASS", 4)) return;
    }
}

static struct job start(const char *dir, const struct ig_verify_options *o)
{
    int fds[2];
    char line[LINE];
    fflush(stdout);
    if (pipe(fds)) ig_fatal("pipe: %s", strerror(errno));
    struct job j = {fork(), fds[0]};
    if (j.pid < 0) ig_fatal("fork: %s", strerror(errno));
    if (!j.pid) {
        close(fds[0]);
        alarm(300);
        one_case(dir, o, line);
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
    if (WIFSIGNALED(status)) snprintf(line, LINE, "FAIL killed by signal %d", WTERMSIG(status));
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
        if (line[0] != '#' && sscanf(line, "%511s %15s", key, word) == 2 && !strcmp(key, name)) strcpy(verdict, word);
    }
    if (f) fclose(f);
}

struct report {
    const char *expect;
    int quiet, tap, count[3], unexpected;
};

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
    if (r->tap) printf("%sok %d - %s %s\n", good ? "" : "not ", index + 1, name, line);
    else if (!r->quiet || !good) printf("%-8.*s %s%s\n", (int)n, line, name, line + n);
}

int ig_verb_verify(int argc, char **argv)
{
    static const struct option longs[] = {
        {"help", 0, 0, 'h'}, {"in-process", 0, 0, 'I'}, {"threads", 1, 0, 't'}, {"isa", 1, 0, 'i'}, {"target", 1, 0, 'T'},
        {"cc", 1, 0, 'c'}, {"run", 1, 0, 'r'}, {"quiet", 0, 0, 'q'}, {"keep", 0, 0, 'k'}, {"expect", 1, 0, 'e'},
        {"tap", 0, 0, 'p'}, {0, 0, 0, 0}};
    struct ig_verify_options o = {.threads = 2, .isa = ig_host_isa(), .target = "host", .cc = "cc"};
    struct report r = {.expect = NULL};
    struct job jobs[MAX_JOBS];
    int parallel = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int c; (c = getopt_long(argc, argv, "j:qh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'I': o.in_process = 1; break;
        case 't': o.threads = (int)ig_number(optarg, "--threads", 1, 64); break;
        case 'i': o.isa = ig_isa_option(optarg); break;
        case 'T': o.target = optarg; break;
        case 'c': o.cc = optarg; break;
        case 'r': o.runner = optarg; break;
        case 'q': r.quiet = 1; break;
        case 'k': o.keep = 1; break;
        case 'e': r.expect = optarg; break;
        case 'p': r.tap = 1; break;
        case 'j': parallel = (int)ig_number(optarg, "-j", 1, MAX_JOBS); break;
        default: ig_usage(help);
        }
    if (optind == argc) ig_usage(help);
    if (o.in_process && !ig_isa_runs_here(o.isa)) ig_fatal("%s kernels do not run on this machine", ig_isa_name(o.isa));
    for (int i = optind; i < argc; i++) find_cases(argv[i], 0);
    qsort(cases, (size_t)n_cases, sizeof *cases, by_name);
    if (parallel > MAX_JOBS) parallel = MAX_JOBS;
    for (int next = 0, done = 0; done < n_cases; done++) {
        char line[LINE];
        for (; next < n_cases && next < done + parallel; next++) jobs[next % parallel] = start(cases[next], &o);
        finish(&jobs[done % parallel], line);
        print(&r, done, cases[done], line);
    }
    if (r.tap) printf("1..%d\n", n_cases);
    else printf("%d passed, %d failed, %d refused\n", r.count[0], r.count[1], r.count[2]);
    return r.unexpected > 0;
}
