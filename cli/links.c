/* ingot profile --links: what messages between hosts take, measured by a program that mpirun starts on them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "planner/pipe_transfer.h"
#include "planner/text.h"

enum { MOST_HOSTS = 64, MOST_SIZES = 64, LEAST_SIZES = 4 };

static const double fits_well = 0.02; /* mean error of a line */

static const char help[] =
    "ingot profile --links --hosts nodeA,nodeB=10.0.0.2 -o links.json\n\n"
    "Times messages of 4 KiB to 4 MiB between every two hosts, in both directions, and writes what they take as\n"
    "alpha + beta * bytes, and what they take of a core at either end that computes meanwhile: a site file\n"
    "(docs/formats.md) of these devices and the links between them.\n"
    "  --hosts A,B=HOST  devices, with the hosts that mpirun knows them by where those are called otherwise\n"
    "  -o FILE           where to (default links.json; - is stdout)\n"
    "  --program FILE    the program that measures, as the hosts have it (default: out/bench/links of this build)\n"
    "  --mpirun FILE     default: mpirun\n"
    "  -q                no summary\n";

struct links {
    const char *devices[MOST_HOSTS], *hosts[MOST_HOSTS];
    int32_t n;
    const char *program, *mpirun;
    int quiet;
};

struct host { /* what a core loses over messages of some sizes */
    int64_t bytes[MOST_SIZES], ns[MOST_SIZES];
    int32_t n;
};

struct sizes { /* of one direction */
    int64_t bytes[MOST_SIZES], ns[MOST_SIZES];
    int32_t n;
    struct host sends, receives;
};

static void take_hosts(struct links *l, char *list)
{
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        if (l->n == MOST_HOSTS) ig_fatal("--hosts: more than %d", MOST_HOSTS);
        char *equals = strchr(name, '=');
        if (equals) *equals = 0;
        l->devices[l->n] = name;
        l->hosts[l->n++] = equals ? equals + 1 : name;
    }
}

/* mpirun -np 1 --host A PROGRAM : -np 1 --host B PROGRAM: rank i is host i. */
static void run_in_child(const struct links *l, FILE *out)
{
    const char *arguments[6 * MOST_HOSTS + 2];
    int n = 0;
    arguments[n++] = l->mpirun;
    for (int32_t i = 0; i < l->n; i++) {
        const char *one[] = {":", "-np", "1", "--host", l->hosts[i], l->program};
        for (size_t k = i ? 0 : 1; k < sizeof one / sizeof *one; k++) arguments[n++] = one[k];
    }
    arguments[n] = NULL;
    if (dup2(fileno(out), STDOUT_FILENO) >= 0) execvp(l->mpirun, (char *const *)(uintptr_t)arguments);
    fprintf(stderr, "ingot: %s: %s\n", l->mpirun, strerror(errno));
    _exit(127);
}

/* Its output, rewound. A file and no pipe: what a dying mpirun leaves behind would keep that open. */
static FILE *measure(const struct links *l)
{
    FILE *out = tmpfile();
    if (!out) ig_fatal("a temporary file: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) ig_fatal("fork: %s", strerror(errno));
    if (!child) run_in_child(l, out);
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) ig_fatal("waitpid: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        ig_fatal("%s ended with %s %d", l->mpirun, WIFEXITED(status) ? "status" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    rewind(out);
    return out;
}

static void add_host(struct host *h, int64_t bytes, int64_t ns)
{
    if (ns <= 0) return; /* of this size nobody has looked */
    h->bytes[h->n] = bytes;
    h->ns[h->n++] = ns;
}

static struct sizes *read_sizes(const struct links *l, FILE *out)
{
    struct sizes *all = calloc((size_t)l->n * (size_t)l->n, sizeof *all);
    int from, to;
    long long bytes, ns, sends, receives;
    if (!all) ig_fatal("out of memory");
    while (fscanf(out, "%d %d %lld %lld %lld %lld", &from, &to, &bytes, &ns, &sends, &receives) == 6) {
        if (from < 0 || from >= l->n || to < 0 || to >= l->n) ig_fatal("%s: rank %d to %d?", l->program, from, to);
        struct sizes *s = &all[from * l->n + to];
        if (s->n == MOST_SIZES) ig_fatal("%s: too many sizes", l->program);
        s->bytes[s->n] = bytes;
        s->ns[s->n++] = ns;
        add_host(&s->sends, bytes, sends);
        add_host(&s->receives, bytes, receives);
    }
    return all;
}

/*
 * Small messages go another way through MPI than large ones, and may pass as what a link allows in a burst: sizes are left out
 * from below until a line fits well, else until one fits. How many; if none fits, none are, and the error says by how much.
 */
static int32_t fit_sizes(const struct sizes *s, struct ig_transfer_fit *fit, char *err, size_t err_bytes)
{
    for (int32_t well = 1; well >= 0; well--)
        for (int32_t skip = 0; skip + LEAST_SIZES <= s->n; skip++)
            if (!ig_transfer_fit(s->bytes + skip, s->ns + skip, s->n - skip, fit, err, err_bytes) &&
                (!well || fit->mean_error < fits_well))
                return skip;
    fit->link.fs_per_byte = 0;
    if (ig_transfer_fit(s->bytes, s->ns, s->n, fit, err, err_bytes) && !fit->link.fs_per_byte) return -1;
    return 0;
}

/* alpha + beta * bytes, neither below 0, by least squares of relative errors. */
static void fit_host(const struct host *h, double *alpha, double *beta)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (int32_t i = 0; i < h->n; i++) {
        double x = (double)h->bytes[i], y = (double)h->ns[i], weight = 1 / (y * y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    double spread = w * wxx - wx * wx;
    *beta = spread > 0 ? (w * wxy - wx * wy) / spread : 0;
    if (*beta < 0) *beta = 0;
    *alpha = w > 0 ? (wy - *beta * wx) / w : 0;
    if (*alpha >= 0 || wxx <= 0) return;
    *alpha = 0;
    *beta = wxy / wxx;
}

static void put_host(FILE *f, const char *end, const struct host *h)
{
    double alpha, beta;
    fit_host(h, &alpha, &beta);
    fprintf(f, ",\"%s_alpha_ns\":%.0f,\"%s_beta_ns\":", end, alpha, end);
    ig_put_double(f, beta);
}

static void print_host(const char *end, const struct host *h)
{
    double alpha, beta;
    fit_host(h, &alpha, &beta);
    fprintf(stderr, "    %s takes %.0f us + %.4g ns a byte of a core\n", end, alpha / 1e3, beta);
}

static void put_field(FILE *f, const char *before, const char *key, const char *text)
{
    fprintf(f, "%s\"%s\":", before, key);
    ig_put_text(f, text);
}

static void write_link(FILE *f, const struct links *l, int32_t from, int32_t to, const struct sizes *s, int first)
{
    struct ig_transfer_fit fit;
    char err[200];
    int32_t skip = fit_sizes(s, &fit, err, sizeof err);
    if (skip < 0) ig_fatal("%s to %s: %s", l->devices[from], l->devices[to], err);
    double beta = (double)fit.link.fs_per_byte / 1e6;
    put_field(f, first ? "\n{" : ",\n{", "from", l->devices[from]);
    put_field(f, ",", "to", l->devices[to]);
    fprintf(f, ",\"alpha_ns\":%lld,\"beta_ns\":", (long long)fit.link.x0_ns);
    ig_put_double(f, beta);
    put_host(f, "send", &s->sends);
    put_host(f, "receive", &s->receives);
    fputc('}', f);
    if (l->quiet) return;
    fprintf(stderr, "%s to %s: %.0f us + %.4g ns a byte, %.1f Mbit/s; messages from %lld KiB on are %.1f %% off, %.1f %% at worst%s\n",
            l->devices[from], l->devices[to], (double)fit.link.x0_ns / 1e3, beta, 8e3 / beta,
            (long long)s->bytes[skip] / 1024, 100 * fit.mean_error, 100 * fit.worst_error,
            fit.mean_error > 0.1 ? ": noise? measure again" : "");
    print_host("sending", &s->sends);
    print_host("receiving", &s->receives);
}

static void write_links(const struct links *l, const struct sizes *all, const char *path)
{
    FILE *f = ig_open_output(path);
    int first = 1;
    fputs("{\"format\":\"ingot-site\",\"version\":1,\n\"devices\":[", f);
    for (int32_t i = 0; i < l->n; i++) {
        put_field(f, i ? ",\n{" : "\n{", "name", l->devices[i]);
        put_field(f, ",", "host", l->hosts[i]);
        fputc('}', f);
    }
    fputs("\n],\n\"links\":[", f);
    for (int32_t from = 0; from < l->n; from++)
        for (int32_t to = 0; to < l->n; to++) {
            if (from == to) continue;
            write_link(f, l, from, to, &all[from * l->n + to], first);
            first = 0;
        }
    fputs("\n]}\n", f);
    ig_close_output();
}

static int measure_links(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},    {"links", 0, 0, 'l'},   {"hosts", 1, 0, 'H'},
                                          {"program", 1, 0, 'p'}, {"mpirun", 1, 0, 'm'},  {"output", 1, 0, 'o'},
                                          {"quiet", 0, 0, 'q'},   {0, 0, 0, 0}};
    static char built[4096], whole[PATH_MAX];
    struct links l = {.mpirun = "mpirun"};
    const char *out = "links.json";
    for (int c; (c = getopt_long(argc, argv, "o:qh", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'l': break;
        case 'H': take_hosts(&l, optarg); break;
        case 'p': l.program = optarg; break;
        case 'm': l.mpirun = optarg; break;
        case 'o': out = optarg; break;
        case 'q': l.quiet = 1; break;
        default: ig_usage(help);
        }
    if (optind != argc || l.n < 2) ig_usage(help);
    if (!l.program) {
        l.program = realpath(ig_built("out/bench/links", built), whole);
        if (!l.program) ig_fatal("out/bench/links: %s; it is built where mpicc is", strerror(errno));
    }
    ig_check_output(out);
    FILE *times = measure(&l);
    struct sizes *all = read_sizes(&l, times);
    write_links(&l, all, out);
    fclose(times);
    free(all);
    return 0;
}

const char ig_profile_help[] = IG_PROFILE_HELP(
    "ingot profile net.onnx -o profile.json\n"
    "ingot profile graph.json --seconds 2 -o profile.json\n"
    "ingot profile --links --hosts nodeA,nodeB   messages between hosts instead (ingot profile --links --help)\n",
    "  --gpu FATBIN   instead times copies and every GPU kernel on every layer on GPU 0, by these kernels, as nvcc -fatbin makes them of\n"
    "                 kernels_gpu/module.cu; of --seconds less than 10 it makes fewer runs. Each is first compared with the\n"
    "                 CPU; what is wrong is named and left out\n",
    IG_SOURCE_HELP);
const void *const *const ig_profile_modules = NULL;

int ig_verb_measure(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--links")) return measure_links(argc, argv);
    return ig_verb_profile(argc, argv);
}
