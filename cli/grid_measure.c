/*
 * The file of times: a line "ingot-times 1 CPU", then a layer a line: kernel ic oc size k stride groups ns. Lines are
 * only ever added, so an interrupted measurement goes on where it ended. Later passes measure all layers again, and
 * then those again whose two least times do not agree: the least of each counts, as what else the machine does may slow
 * it for minutes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/grid.h"
#include "bench/machine.h"
#include "bench/profile.h"
#include "cli/cli.h"
#include "cli/grid.h"
#include "kernels_cpu/registry.h"

enum { MOST = 16384, RUNS = 8, MOST_TIMES = 8 /* a layer */ };
static const double layer_s = 0.05, agree = 0.01; /* of the least time */

static int takes(const struct ig_kernel *k, const struct ig_grid_layer *l)
{
    struct ig_single_problem p;
    union ig_attrs attrs;
    struct ig_call call;
    ig_grid_problem(&p, &attrs, k, 0, l);
    return ig_single_call(&p, &call);
}

/* The first of this machine's convolutions that is made for such a layer: few channels, else any. */
static const struct ig_kernel *kernel_for(const struct ig_grid_layer *l)
{
    for (int first = 1; first >= 0; first--)
        for (int i = 0; i < ig_kernel_count(); i++) {
            const struct ig_kernel *k = ig_kernel_at(i);
            if (k->op == IG_CONV && k->isa != IG_ISA_REF && ig_isa_runs_here(k->isa) &&
                (!first || strstr(k->name, "first")) && takes(k, l))
                return k;
        }
    return NULL;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns ns, in the file, too. */
static double measure(FILE *f, const char *path, const struct ig_kernel *k, const struct ig_grid_layer *l)
{
    struct ig_single_problem p;
    union ig_attrs attrs;
    struct ig_single s;
    ig_grid_problem(&p, &attrs, k, 0, l);
    if (ig_single_make(&s, &p)) ig_fatal("%s: cannot measure", path);
    double ns = ig_single_ns(&s, RUNS, layer_s);
    ig_single_free(&s);
    fprintf(f, "%s %d %d %d %d %d %d %.1f\n", k->name, l->ic, l->oc, l->size, l->k, l->stride, l->groups, ns);
    if (fflush(f)) ig_fatal("%s: cannot write", path);
    return ns;
}

/* Layers that the file has of this kernel (NULL: of any). */
static int32_t count_done(FILE *f, const char *kernel)
{
    char line[512], name[128];
    int32_t n = 0;
    rewind(f);
    while (fgets(line, sizeof line, f))
        n += sscanf(line, "%127s %*d %*d %*d", name) == 1 && strncmp(line, "ingot-times", 11) &&
             (!kernel || !strcmp(name, kernel));
    return n;
}

/* --- once more --- */

struct seen { /* of a layer in the file */
    const struct ig_kernel *kernel;
    struct ig_grid_layer layer;
    double least, second;
    int32_t times;
};

static void note(struct seen *s, double ns)
{
    s->times++;
    if (s->times == 1 || ns < s->least) {
        s->second = s->times > 1 ? s->least : ns;
        s->least = ns;
    } else if (s->times == 2 || ns < s->second) {
        s->second = ns;
    }
}

static int32_t read_seen(FILE *f, struct seen *seen)
{
    char line[512], name[128];
    int32_t n = 0;
    rewind(f);
    while (fgets(line, sizeof line, f)) {
        struct seen new = {0};
        struct ig_grid_layer *l = &new.layer;
        double ns;
        int32_t i = 0;
        if (sscanf(line, "%127s %d %d %d %d %d %d %lf", name, &l->ic, &l->oc, &l->size, &l->k, &l->stride, &l->groups,
                   &ns) != 8 ||
            !(new.kernel = ig_kernel_by_name(name)))
            continue;
        while (i < n && (seen[i].kernel != new.kernel || memcmp(&seen[i].layer, l, sizeof *l))) i++;
        if (i == MOST) continue;
        if (i == n) seen[n++] = new;
        note(&seen[i], ns);
    }
    return n;
}

/* Layers whose least time was not met a second time, until it is, or often enough. Returns how many are left. */
static int32_t measure_again(FILE *f, const char *path, double end)
{
    static struct seen seen[MOST];
    int32_t n = read_seen(f, seen), left = 1;
    for (int32_t round = 0; left && round < MOST_TIMES; round++) {
        left = 0;
        for (int32_t i = 0; i < n; i++) {
            struct seen *s = &seen[i];
            if (s->times >= MOST_TIMES || (s->times > 1 && s->second <= (1 + agree) * s->least)) continue;
            left++;
            if (s->times <= round && seconds_now() < end) note(s, measure(f, path, s->kernel, &s->layer));
        }
        if (seconds_now() >= end) break;
    }
    return left;
}

void ig_grid_measure(const char *times, const struct ig_grid_options *o)
{
    static struct ig_grid_layer grid[MOST];
    const struct ig_kernel *given = o->kernel ? ig_kernel_by_name(o->kernel) : NULL;
    char cpu[128];
    if (o->kernel && !given) ig_fatal("no kernel is called '%s'", o->kernel);
    FILE *f = fopen(times, "a+");
    if (!f) ig_fatal("%s: %s", times, strerror(errno));
    int32_t all = ig_grid_table6(grid, MOST, o->most_macs), done = count_done(f, o->kernel), at = 0, most = 0;
    ig_cpu_name(cpu, sizeof cpu);
    fseek(f, 0, SEEK_END);
    if (!ftell(f)) fprintf(f, "ingot-times 1 %s\n", cpu);
    ig_machine_pin();
    double end = seconds_now() + o->seconds;
    for (int32_t pass = 0; pass < o->passes; pass++) {
        most += o->layers;
        for (int32_t i = o->skip; i < all && at < most && seconds_now() < end; i++) {
            const struct ig_kernel *k = given ? given : kernel_for(&grid[i]);
            if (!k || !takes(k, &grid[i]) || at++ < done) continue;
            measure(f, times, k, &grid[i]);
        }
        most = at < most ? at : most; /* the grid has fewer */
    }
    int32_t left = o->passes > 1 && at >= most ? measure_again(f, times, end) : 0;
    fprintf(stderr, "%s: %d layers measured, %d passes", times, at > done ? at : done, o->passes);
    fprintf(stderr, left ? ", %d to be measured again\n" : "\n", left);
    fclose(f);
}
