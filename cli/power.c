/* ingot power: what this machine can tell of its energy, and what a program costs of it, at clocks that are pinned. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runtime/host/clocks.h"
#include "runtime/host/power.h"
#include "runtime/host/text.h"

static const char help[] =
    "ingot power\n"
    "ingot power --pin policy0=1200 -- out/net --bench=10\n\n"
    "Lists sensors of energy and clocks that can be pinned; or runs a command and says what it cost. Sensors: RAPL "
    "counters of\n"
    "CPU packages, INA3221 rails of Jetson boards (energy of the whole machine, whatever else runs). Reading them, "
    "and\n"
    "pinning, mostly needs root. Clocks are given back when the command ends, or on SIGINT and SIGTERM.\n"
    "  --pin CLOCK=MHZ    pin that clock while the command runs; may be given for several\n"
    "  --every MS         how often to read (default 10)\n"
    "  --root DIR         where /sys is looked for (default the machine's own)\n"
    "  --json             as one object\n";

enum { MOST_PINS = 16 };

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void list(const struct ig_power *p, const struct ig_clocks *c)
{
    if (p->n)
        printf("sensors: %s\n", ig_power_method(p));
    else
        printf("%s\n", p->why);
    for (int32_t i = 0; i < p->n; i++) printf("  %s: %s\n", p->rails[i].name, p->rails[i].path);
    printf("%s\n", c->n ? "clocks:" : "no clocks that can be pinned");
    for (int32_t i = 0; i < c->n; i++)
        printf("  %s: %.0f..%.0f MHz, %d steps\n", c->at[i].name, (double)c->at[i].least_hz * 1e-6,
               (double)c->at[i].most_hz * 1e-6, c->at[i].n_steps);
}

static void list_json(const struct ig_power *p, const struct ig_clocks *c)
{
    printf("{\"clocks\":[");
    for (int32_t i = 0; i < c->n; i++) {
        printf("%s\n{\"least_hz\":%lld,\"most_hz\":%lld,\"name\":", i ? "," : "", (long long)c->at[i].least_hz,
               (long long)c->at[i].most_hz);
        ig_json_string(stdout, c->at[i].name);
        printf(",\"steps\":%d}", c->at[i].n_steps);
    }
    printf("],\n\"method\":\"%s\",\n\"sensors\":[", ig_power_method(p));
    for (int32_t i = 0; i < p->n; i++) {
        printf("%s\n{\"name\":", i ? "," : "");
        ig_json_string(stdout, p->rails[i].name);
        printf(",\"path\":");
        ig_json_string(stdout, p->rails[i].path);
        putchar('}');
    }
    printf("],\n\"why\":");
    if (p->n) printf("null}\n");
    else ig_json_string(stdout, p->why), printf("}\n");
}

static void pin(struct ig_clocks *c, const char *text)
{
    const char *sign = strrchr(text, '=');
    char name[64], err[200];
    int64_t got;
    if (!sign || sign - text >= (int)sizeof name) ig_fatal("--pin=%s: CLOCK=MHZ", text);
    snprintf(name, sizeof name, "%.*s", (int)(sign - text), text);
    int32_t i = ig_clocks_find(c, name);
    if (i < 0) ig_fatal("--pin: there is no clock '%s'", name);
    int64_t hz = (int64_t)(ig_number(sign + 1, "--pin", 1, 1e6) * 1000) * 1000;
    int rc = ig_clocks_pin(c, i, hz, &got, err, sizeof err);
    if (rc < 0) ig_fatal("%s", err);
    if (rc)
        fprintf(stderr, "ingot: %s: %.1f MHz asked for, the system took %.1f\n", name, (double)hz * 1e-6,
                (double)got * 1e-6);
}

/* Reads while the command runs. Its exit status. */
static int run(struct ig_power *p, char **command, double every_ms)
{
    struct timespec pause = {.tv_nsec = (long)(every_ms * 1e6)};
    int status = 0;
    ig_power_sample(p, now_ns());
    pid_t child = fork();
    if (child < 0) ig_fatal("fork: %s", strerror(errno));
    if (!child) {
        ig_clocks_guard(NULL);
        execvp(command[0], command);
        fprintf(stderr, "ingot: %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    while (!waitpid(child, &status, WNOHANG)) {
        nanosleep(&pause, NULL);
        ig_power_sample(p, now_ns());
    }
    ig_power_sample(p, now_ns());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void tell(const struct ig_power *p, double seconds, int json)
{
    double joule = (double)p->energy_uj * 1e-6, covered = (double)(p->last_ns - p->first_ns) * 1e-9;
    int known = p->n && !p->broken && p->samples > 1;
    if (json) {
        printf("{\"energy_j\":");
        if (known)
            printf("%.6f", joule);
        else
            printf("null");
        printf(",\"method\":\"%s\",\"samples\":%d,\"seconds\":%.6f,\"why\":", ig_power_method(p), p->samples, seconds);
        if (known)
            printf("null}\n");
        else
            ig_json_string(stdout, p->why), printf("}\n");
    } else if (known) {
        fprintf(stderr, "%.3f J in %.3f s, %.2f W: %s, %d samples\n", joule, seconds, joule / covered,
                ig_power_method(p), p->samples);
    } else {
        fprintf(stderr, "NO ENERGY MEASURED: %s; %.3f s\n", p->why, seconds);
    }
}

int ig_verb_power(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"pin", 1, 0, 'p'},  {"every", 1, 0, 'e'},
                                          {"root", 1, 0, 'r'}, {"json", 0, 0, 'j'}, {0, 0, 0, 0}};
    static struct ig_clocks clocks; /* outlives this function: exit gives them back */
    const char *pins[MOST_PINS], *root = "";
    int n_pins = 0, json = 0;
    double every_ms = 10;
    struct ig_power p;
    for (int c; (c = getopt_long(argc, argv, "+h", longs, NULL)) != -1;) switch (c) {
        case 'h':
            return fputs(help, stdout) < 0;
        case 'p':
            if (n_pins == MOST_PINS) ig_fatal("--pin: given more than %d times", MOST_PINS);
            pins[n_pins++] = optarg;
            break;
        case 'e':
            every_ms = ig_number(optarg, "--every", 0.1, 999);
            break;
        case 'r':
            root = optarg;
            break;
        case 'j':
            json = 1;
            break;
        default:
            ig_usage(help);
        }
    ig_power_open(&p, root);
    ig_clocks_open(&clocks, root);
    if (optind == argc) {
        if (n_pins) ig_usage(help);
        (json ? list_json : list)(&p, &clocks);
        return 0;
    }
    ig_clocks_guard(&clocks);
    for (int i = 0; i < n_pins; i++) pin(&clocks, pins[i]);
    int64_t start = now_ns();
    int status = run(&p, argv + optind, every_ms);
    tell(&p, (double)(now_ns() - start) * 1e-9, json);
    if (ig_clocks_restore(&clocks)) ig_fatal("some clocks would not take their old limits back");
    return status;
}
