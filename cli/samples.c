/*
 * Layers are measured in passes over all families, and the least time counts: what else the machine does at the time
 * may slow a whole pass down. From the third pass on only those whose least time was not met twice.
 */
#include "cli/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/grid.h"
#include "bench/machine.h"
#include "bench/profile.h"
#include "cli/cli.h"
#include "kernels_cpu/registry.h"
#include "planner/fit.h"

enum {
    RUNS = 3, /* a pass, beside two to warm up */
    PASSES = 3,
    MOST_PASSES = 10,
    MOST_LAYERS = 32,
    FEWEST_LAYERS = 4
};
static const double agree = 0.01; /* of the least time */

struct layer {
    const struct ig_grid_layer *at;
    struct ig_sample sample;
    double second; /* least but one, ns */
    int32_t times;
};

struct family {
    const struct ig_kernel *kernel;
    const struct ig_calibration *set;
    char name[IG_WORD_BYTES];
    struct layer layers[MOST_LAYERS];
    int32_t n;
};

static void note(struct layer *l, double ns)
{
    l->times++;
    if (l->times == 1 || ns < l->sample.ns) {
        l->second = l->times > 1 ? l->sample.ns : ns;
        l->sample.ns = ns;
    } else if (l->times == 2 || ns < l->second) {
        l->second = ns;
    }
}

static int settled(const struct layer *l)
{
    return l->times >= MOST_PASSES || (l->times >= PASSES && l->second <= (1 + agree) * l->sample.ns);
}

/* The layers of the set that the kernel takes. */
static void find_layers(struct family *f, const struct ig_caches *caches)
{
    for (int32_t i = 0; i < f->set->n && f->n < MOST_LAYERS; i++) {
        struct ig_single_problem p;
        union ig_attrs attrs;
        struct ig_call call;
        struct layer *l = &f->layers[f->n];
        ig_grid_problem(&p, &attrs, f->kernel, f->set->kind, &f->set->layers[i]);
        if (!ig_single_call(&p, &call) || !ig_family(f->kernel, &call, f->name) ||
            ig_features(f->kernel, &call, caches, l->sample.f))
            continue;
        l->at = &f->set->layers[i];
        f->n++;
    }
}

static int has_costs(const struct ig_processor *p, const char *family)
{
    int32_t i = 0;
    while (i < p->n_costs && strcmp(p->costs[i].family, family)) i++;
    return i < p->n_costs;
}

/* The families of the kernels that run here, but for those that p has costs of. */
static int32_t find_families(struct family *f, int32_t most, const struct ig_processor *p, const struct ig_caches *caches)
{
    int32_t n = 0;
    const struct ig_calibration *set;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->isa == IG_ISA_REF || !ig_isa_runs_here(k->isa)) continue;
        for (int kind = 0; n < most && (set = ig_calibration_of(k, kind)); kind++) {
            f[n] = (struct family){.kernel = k, .set = set};
            find_layers(&f[n], caches);
            n += f[n].n >= FEWEST_LAYERS && !has_costs(p, f[n].name);
        }
    }
    return n;
}

/* --- the file of times --- */

static void take_line(struct family *f, int32_t n, const char *line)
{
    char name[128];
    struct ig_grid_layer l;
    double ns;
    if (sscanf(line, "%127s %d %d %d %d %d %d %lf", name, &l.ic, &l.oc, &l.size, &l.k, &l.stride, &l.groups, &ns) != 8)
        return;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < f[i].n && !strcmp(f[i].name, name); j++)
            if (!memcmp(f[i].layers[j].at, &l, sizeof l)) note(&f[i].layers[j], ns);
}

static FILE *open_times(const char *path, struct family *f, int32_t n)
{
    char line[512], cpu[128];
    FILE *file = path ? fopen(path, "a+") : NULL;
    if (!path) return NULL;
    if (!file) ig_fatal("%s: %s", path, strerror(errno));
    rewind(file);
    while (fgets(line, sizeof line, file)) take_line(f, n, line);
    fseek(file, 0, SEEK_END);
    ig_cpu_name(cpu, sizeof cpu);
    if (!ftell(file)) fprintf(file, "ingot-times 1 %s\n", cpu);
    return file;
}

static void put_line(FILE *file, const char *name, const struct ig_grid_layer *l, double ns)
{
    if (!file) return;
    fprintf(file, "%s %d %d %d %d %d %d %.1f\n", name, l->ic, l->oc, l->size, l->k, l->stride, l->groups, ns);
    if (fflush(file)) ig_fatal("cannot write the times");
}

/* --- measuring --- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(const struct family *f, struct layer *l, double seconds, FILE *file)
{
    struct ig_single_problem p;
    union ig_attrs attrs;
    struct ig_single s;
    ig_grid_problem(&p, &attrs, f->kernel, f->set->kind, l->at);
    if (ig_single_make(&s, &p)) ig_fatal("%s: out of memory", f->name);
    double ns = ig_single_ns(&s, RUNS, seconds);
    ig_single_free(&s);
    note(l, ns);
    put_line(file, f->name, l->at, ns);
}

/* Returns how many layers are left. */
static int32_t measure_all(struct family *f, int32_t n, const struct ig_samples_options *o, FILE *file)
{
    double end = seconds_now() + o->seconds;
    int32_t left = 1;
    for (int32_t pass = 0; left && pass < MOST_PASSES; pass++) {
        left = 0;
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < f[i].n; j++) {
                struct layer *l = &f[i].layers[j];
                if (settled(l)) continue;
                left++;
                if (l->times <= pass && seconds_now() < end) measure(&f[i], l, o->layer_s / PASSES, file);
            }
            if (o->words && pass < PASSES) ig_progress("calibrate: family", pass * n + i + 1, PASSES * n);
        }
        if (seconds_now() >= end) break;
    }
    return left;
}

/* --- the fit --- */

enum { CYCLE_OPS = 32 }; /* of the multiply-add pipes; what is no product counts its work in vectors */

static int multiplies(const struct ig_kernel *k)
{
    return k->op == IG_CONV || k->op == IG_FC;
}

static double least_work_ns(const struct ig_processor *p, const struct ig_kernel *k)
{
    return multiplies(k) ? CYCLE_OPS * 1e9 / (double)p->ops_per_s : 0;
}

/* What a direct kernel attained pointwise the machine can do, whatever disturbed the measurement of its peak. */
static void raise_peak(struct ig_processor *p, const struct family *f, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int direct = f[i].kernel->op == IG_CONV && f[i].kernel->error <= 0 && !strstr(f[i].name, "strassen");
        for (int32_t j = 0; j < f[i].n && direct; j++) {
            const struct layer *l = &f[i].layers[j];
            double rate = l->times && l->at->k == 1 ? 2e9 * ig_grid_macs(l->at) / l->sample.ns : 0;
            if (rate > (double)p->ops_per_s) p->ops_per_s = (int64_t)rate;
        }
    }
}

static void print_fit(const struct family *f, const struct ig_cost *c, int words)
{
    if (words >= IG_SAMPLES_FAMILIES)
        fprintf(stderr, "%-34s %2d layers, error %.1f %%\n", c->family, c->layers, c->error * 100);
    for (int32_t i = 0; i < f->n && words >= IG_SAMPLES_LAYERS; i++) {
        const struct ig_grid_layer *l = f->layers[i].at;
        const struct ig_sample *s = &f->layers[i].sample;
        if (!f->layers[i].times) continue;
        fprintf(stderr, "  %4d %4d %3dx%-3d %2d/%d %12.0f ns %+6.1f %%\n", l->ic, l->oc, l->size, l->size, l->k,
                l->stride, s->ns, (ig_fit_ns(c, s->f) / s->ns - 1) * 100);
    }
}

static void fit(struct ig_processor *p, const struct family *f, int words)
{
    struct ig_sample samples[MOST_LAYERS];
    int32_t n = 0;
    for (int32_t i = 0; i < f->n; i++)
        if (f->layers[i].times) samples[n++] = f->layers[i].sample;
    if (n < FEWEST_LAYERS) return;
    struct ig_cost *c = &p->costs[p->n_costs++];
    ig_fit(c, f->name, samples, n, least_work_ns(p, f->kernel));
    print_fit(f, c, words);
}

void ig_samples_fit(struct ig_platform *b, const struct ig_samples_options *o)
{
    static struct family families[IG_MAX_COSTS];
    struct ig_caches caches = ig_caches_of(b, &b->processors[0], NULL);
    int32_t n = find_families(families, IG_MAX_COSTS - b->processors[0].n_costs, &b->processors[0], &caches);
    FILE *file = open_times(o->file, families, n);
    ig_machine_pin();
    int32_t left = measure_all(families, n, o, file);
    if (file) fclose(file);
    if (!o->missing) raise_peak(&b->processors[0], families, n);
    for (int32_t i = 0; i < n; i++) fit(&b->processors[0], &families[i], o->words);
    if (left && o->words) fprintf(stderr, "%d layer%s to be measured again\n", left, ig_plural(left));
}
