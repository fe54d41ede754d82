/*
 * Rounds: each plans the network with every layer's next kernel, brings it to the GPU and times the steps. Scratch and
 * packed weights thus are those of a plan, and a layer's operands lie where a plan puts them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/copies.h"
#include "bench/gpu/gpu.h"
#include "bench/profile.h"
#include "kernels_cpu/registry.h"

enum { MOST_KERNELS = 32 };

/* The round-th GPU kernel that fits the node, or NULL past the last. */
static const struct ig_kernel *kernel_of(const struct ig_graph *g, const struct ig_view *views, int32_t node, int round)
{
    const struct ig_node *n = &g->nodes[node];
    struct ig_call call;
    int32_t batch;
    if (ig_node_is_view(g, views, node)) return NULL;
    ig_node_call(g, views, n, &call, &batch);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->isa == IG_ISA_CUDA && ig_kernel_fits(k, n->op, &call) && round-- == 0) return k;
    }
    return NULL;
}

static char *text(const char *s)
{
    char *copy = strdup(s);
    if (!copy) abort();
    return copy;
}

static struct ig_profile *profile_new(const struct ig_graph *g)
{
    struct ig_profile *p = calloc(1, sizeof *p);
    if (!p) abort();
    *p = (struct ig_profile){.sha256 = text(""), .graph_sha256 = text(""), .cpu = text("GPU"), .isa = text("cuda"), .threads = 1};
    p->timings = calloc((size_t)g->n_nodes * MOST_KERNELS + 1, sizeof *p->timings);
    if (!p->timings) abort();
    return p;
}

/* A round's times, of layers that have a kernel of that number, go to `p`. */
static int time_round(struct ig_gpu_bed *b, const struct ig_graph *g, const struct ig_kernel **now,
                      int repeats, int runs, struct ig_profile *p, char *err, size_t err_bytes)
{
    for (int32_t s = 0; s < b->lowered->model.n_steps; s++) {
        int32_t node = (int32_t)(b->lowered->nodes[s] - g->nodes);
        if (!now[node] || b->lowered->kernels[s] != now[node]) continue;
        double ns = ig_gpu_step_ns(b, s, repeats, runs);
        if (ns < 0) {
            snprintf(err, err_bytes, "%s, %s: CUDA error %d", g->nodes[node].name, now[node]->name, (int)-ns);
            return -1;
        }
        p->timings[p->n++] = (struct ig_timing){node, now[node], 0, 0, 1, ns, 0, now[node]->error};
    }
    return 0;
}

static int by_node(const void *a, const void *b)
{
    const struct ig_timing *x = a, *y = b;
    return x->node != y->node ? (x->node > y->node) - (x->node < y->node) : strcmp(x->kernel->name, y->kernel->name);
}

struct ig_profile *ig_gpu_profile(const struct ig_graph *g, const void *const *modules, int repeats, int runs, char *err, size_t err_bytes)
{
    struct ig_profile *p = profile_new(g), *chosen = profile_new(g);
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    const struct ig_kernel **now = calloc((size_t)g->n_nodes + 1, sizeof *now);
    int bad = 0, any = 1;
    if (!views || !now) abort();
    ig_compute_views(g, views);
    for (int round = 0; round < MOST_KERNELS && any && !bad; round++) {
        struct ig_gpu_bed bed;
        any = chosen->n = 0;
        for (int32_t i = 0; i < g->n_nodes; i++) {
            const struct ig_kernel *k = now[i] = kernel_of(g, views, i, round);
            any |= k != NULL;
            if (!k) k = kernel_of(g, views, i, 0);
            if (k) chosen->timings[chosen->n++] = (struct ig_timing){i, k, 0, 0, 1, 1, 0, 0};
        }
        if (!any) break;
        bad = ig_gpu_bed_make(&bed, g, chosen, 1, modules, err, err_bytes);
        if (bad) break;
        free(p->cpu);
        p->cpu = text(bed.gpu.name);
        if (!round) ig_gpu_time_copies(&bed.gpu, &p->copies);
        bad = time_round(&bed, g, now, repeats, runs, p, err, err_bytes);
        ig_gpu_bed_free(&bed);
    }
    qsort(p->timings, (size_t)p->n, sizeof *p->timings, by_node);
    ig_profile_free(chosen);
    free(views);
    free(now);
    if (!bad) return p;
    ig_profile_free(p);
    return NULL;
}
