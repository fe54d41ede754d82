#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/deploy.h"
#include "planner/alloc.h"
#include "planner/deploy/part_plan.h"

/* A C identifier that begins with the network's name; keys that differ only in what is no letter get their number. */
static void name_rank(struct ig_deployment *d, int32_t rank)
{
    struct ig_deployed_rank *r = &d->rank[rank];
    char file[IG_KEY_FILE_BYTES];
    snprintf(r->binary, sizeof r->binary, "%s", ig_key_file(&d->mapping->keys[rank], file));
    snprintf(r->stem, sizeof r->stem, "%s_%.200s", d->g->name, r->binary);
    for (char *p = r->stem; *p; p++)
        if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') && !(*p >= '0' && *p <= '9')) *p = '_';
    for (int32_t i = 0; i < rank; i++) {
        size_t n = strlen(r->stem);
        if (!strcmp(d->rank[i].stem, r->stem)) snprintf(r->stem + n, sizeof r->stem - n, "_r%d", rank);
    }
}

const char *ig_deploy_target(const struct ig_deployment *d, int32_t rank)
{
    int32_t device = d->site ? ig_site_find(d->site, d->mapping->keys[rank].device) : -1;
    const char *target = device < 0 ? NULL : d->site->devices[device].target;
    return target && *target ? target : "host";
}

/* NEON for the targets that are aarch64, this machine's kernels for this machine. */
int32_t ig_deploy_isa(const struct ig_deployment *d, const char *target)
{
    return strcmp(target, "host") ? IG_ISA_NEON : d->options.isa;
}

static int64_t zeros_of(const struct ig_lowered *l)
{
    int64_t first = l->model.weights_bytes;
    for (int32_t i = 0; i < l->plan->n_steps; i++)
        if (l->packed[i] >= 0 && l->packed[i] < first) first = l->packed[i];
    for (int32_t v = 0; v < l->graph->n_values; v++)
        if (l->consts[v] >= 0 && l->consts[v] < first) first = l->consts[v];
    return first;
}

/* What it takes while no other core is at work, by the other profile and the same kernels. */
static void time_alone(struct ig_deployment *d, const struct ig_plan *like, struct ig_plan_options o,
                       struct ig_deployed_part *part)
{
    char err[4096];
    part->ns = part->plan->latency_ns;
    if (!d->alone || part->gpu) return;
    double beside = o.profile->beside; /* so many cores */
    o.profile = d->alone;
    struct ig_plan *p = ig_part_plan(d->g, like, part->graph, &o, err, sizeof err);
    if (!p) ig_fatal("%s: %s", part->prefix, err);
    if (p->latency_ns < part->ns) part->ns = p->latency_ns;
    part->beside_ns = part->ns + (part->plan->latency_ns - part->ns) / beside;
    ig_plan_free(p);
}

static void plan_part(struct ig_deployment *d, const struct ig_plan *like, int32_t rank, int32_t i)
{
    struct ig_deployed_part *part = &d->at[d->ranks->at[rank].parts[i]];
    struct ig_deployed_rank *r = &d->rank[rank];
    struct ig_plan_options o = d->options;
    char err[4096];
    snprintf(part->prefix, sizeof part->prefix, "%s_p%d", r->stem, i);
    part->graph = ig_part_graph(d->g, &d->parts->at[d->ranks->at[rank].parts[i]], part->prefix);
    ig_part_prepare(part->graph);
    if (ig_graph_check(part->graph, err, sizeof err)) ig_fatal("%s: internal error: %s", part->prefix, err);
    o.threads = ig_key_threads(&d->mapping->keys[rank]);
    o.target = r->target;
    o.isa = ig_deploy_isa(d, r->target);
    part->plan = ig_part_plan(d->g, like, part->graph, &o, err, sizeof err);
    if (!part->plan) ig_fatal("%s: %s", d->mapping->keys[rank].name, err);
    if (ig_validate(part->graph, part->plan, 0, err, sizeof err))
        ig_fatal("internal error: the validator refuses the plan of %s: %s", part->prefix, err);
    part->lowered = ig_lower(part->graph, part->plan);
    part->weights_bytes = part->lowered->model.weights_bytes - zeros_of(part->lowered);
    if (part->lowered->model.arena_bytes > r->arena_bytes) r->arena_bytes = part->lowered->model.arena_bytes;
    r->weights_bytes += part->weights_bytes;
    r->blob_bytes += part->lowered->model.weights_bytes;
    if (ig_deploy_is_gpu(d, rank)) ig_deploy_plan_gpu(d, rank, part);
    time_alone(d, like, o, part);
    if (part->gpu) part->ns = part->gpu->plan->latency_ns;
}

void ig_deploy_plan(struct ig_deployment *d, const struct ig_plan *like)
{
    d->at = ig_must_alloc((size_t)d->parts->n, sizeof *d->at);
    d->rank = ig_must_alloc((size_t)d->ranks->n, sizeof *d->rank);
    for (int32_t rank = 0; rank < d->ranks->n; rank++) {
        d->rank[rank].target = ig_deploy_target(d, rank);
        if (d->exact && ig_deploy_isa(d, d->rank[rank].target) != d->options.isa)
            ig_fatal("--exact: %s is a %s, whose kernels do not give the bits of this machine's", d->mapping->keys[rank].name,
                     d->rank[rank].target);
        if (d->exact && ig_deploy_is_gpu(d, rank))
            ig_fatal("--exact: %s is a GPU, whose kernels do not give the bits of a core's", d->mapping->keys[rank].name);
        name_rank(d, rank);
        for (int32_t i = 0; i < d->ranks->at[rank].n_parts; i++) plan_part(d, like, rank, i);
    }
    ig_deploy_predict(d);
}

static const char *file_of(const struct ig_deployment *d, const char *name, const char *suffix, char path[4096])
{
    if (snprintf(path, 4096, "%s/%s%s", d->sources, name, suffix) >= 4096) ig_fatal("%s: name too long", d->sources);
    return path;
}

static void write_part(struct ig_deployment *d, struct ig_deployed_part *p)
{
    char path[4096], blob[4096], err[4096];
    struct ig_emit e = {.lowered = p->lowered, .prefix = p->prefix, .plan_sha256 = p->plan_sha256, .std = {1, 1, 1, 1}};
    file_of(d, p->prefix, ".plan.json", path);
    if (ig_plan_write(p->plan, p->graph, path, err, sizeof err)) ig_fatal("%s", err);
    ig_hash_file(path, p->plan_sha256);
    if (p->gpu) {
        e.gpu = &p->gpu->emit;
        ig_deploy_write_gpu(d, &e, p->gpu);
    }
    file_of(d, p->prefix, "_weights.bin", blob);
    ig_emit_weights(ig_open_output(file_of(d, p->prefix, "_weights.S", path)), &e, blob);
    ig_close_output();
    ig_emit_tables(ig_open_output(file_of(d, p->prefix, "_plan.c", path)), &e);
    ig_close_output();
}

struct writing {      /* weights of all parts, by two threads */
    struct ig_deployment *d;
    _Atomic int32_t next;
};

/* The largest part first: what it takes, all take. */
static void *write_weights(void *arg)
{
    struct writing *w = arg;
    char path[4096];
    for (int32_t i; (i = w->next++) < w->d->parts->n;) {
        struct ig_deployed_part *p = &w->d->at[w->d->by_weight[i]];
        ig_write_weights(p->lowered, file_of(w->d, p->prefix, "_weights.bin", path));
    }
    return NULL;
}

static const struct ig_deployed_part *sorted; /* qsort has no argument of its own */

static int heavier_first(const void *a, const void *b)
{
    const struct ig_deployed_part *x = &sorted[*(const int32_t *)a], *y = &sorted[*(const int32_t *)b];
    return (x->weights_bytes < y->weights_bytes) - (x->weights_bytes > y->weights_bytes);
}

static void write_all_weights(struct ig_deployment *d)
{
    struct writing w = {.d = d};
    pthread_t helper;
    d->by_weight = ig_must_alloc((size_t)d->parts->n, sizeof *d->by_weight);
    for (int32_t i = 0; i < d->parts->n; i++) d->by_weight[i] = i;
    sorted = d->at;
    qsort(d->by_weight, (size_t)d->parts->n, sizeof *d->by_weight, heavier_first);
    int helped = ig_cores() > 1 && !pthread_create(&helper, NULL, write_weights, &w);
    write_weights(&w);
    if (helped) pthread_join(helper, NULL);
    free(d->by_weight);
}

void ig_deploy_write_parts(struct ig_deployment *d)
{
    ig_make_folder(d->sources);
    write_all_weights(d);
    ig_graph_settle(d->g); /* it stands in the tables */
    for (int32_t i = 0; i < d->parts->n; i++) {
        if (!d->quiet) ig_progress("writing parts", i, d->parts->n);
        write_part(d, &d->at[i]);
    }
    if (!d->quiet) ig_progress("writing parts", d->parts->n, d->parts->n);
}
