/*
 * Rounds: each plans the network with every layer's next kernel, brings it to the GPU and times the steps. Scratch and
 * packed weights thus are those of a plan, and a layer's operands lie where a plan puts them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/copies.h"
#include "bench/gpu/expected.h"
#include "bench/gpu/gpu.h"
#include "bench/profile.h"
#include "bench/whole.h"
#include "kernels_cpu/registry.h"

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

static void *room(size_t n, size_t bytes)
{
    void *p = calloc(n + 1, bytes);
    if (!p) abort();
    return p;
}

static char *text(const char *s)
{
    char *copy = strdup(s);
    if (!copy) abort();
    return copy;
}

/* GPU kernels of the op that has most. */
static size_t most_kernels(void)
{
    size_t most = 0;
    for (int i = 0; i < ig_kernel_count(); i++) {
        size_t n = 0;
        for (int k = 0; k < ig_kernel_count(); k++) n += ig_kernel_at(k)->isa == IG_ISA_CUDA && ig_kernel_at(k)->op == ig_kernel_at(i)->op;
        if (n > most) most = n;
    }
    return most;
}

static struct ig_profile *profile_new(const struct ig_graph *g)
{
    struct ig_profile *p = calloc(1, sizeof *p);
    if (!p) abort();
    *p = (struct ig_profile){.sha256 = text(""), .graph_sha256 = text(""), .cpu = text("GPU"), .isa = text("cuda"), .threads = 1};
    p->timings = calloc((size_t)g->n_nodes * most_kernels() + 1, sizeof *p->timings);
    if (!p->timings) abort();
    return p;
}

static int same_operand(const struct ig_operand *a, const struct ig_operand *b)
{
    if (!a->shape || !b->shape) return a->shape == b->shape;
    return !memcmp(a->shape, b->shape, sizeof *a->shape) && a->h == b->h && a->w == b->w && a->c == b->c && !a->data == !b->data &&
           a->row_stride == b->row_stride && a->pixel_stride == b->pixel_stride;
}

static int same_call(const struct ig_call *a, const struct ig_call *b)
{
    int same = a->n_in == b->n_in && a->n_out == b->n_out;
    for (int i = 0; same && i < a->n_in; i++) same = same_operand(&a->in[i], &b->in[i]);
    for (int i = 0; same && i < a->n_out; i++) same = same_operand(&a->out[i], &b->out[i]);
    return same;
}

/* The first node that is as this one but for its data, perhaps itself. */
static int32_t first_like(const struct ig_graph *g, const struct ig_view *views, int32_t node)
{
    const struct ig_node *n = &g->nodes[node];
    struct ig_call call, other;
    int32_t batch, other_batch;
    ig_node_call(g, views, n, &call, &batch);
    for (int32_t i = 0; i < node; i++) {
        const struct ig_node *m = &g->nodes[i];
        if (m->op != n->op || memcmp(&m->attrs, &n->attrs, sizeof n->attrs) || ig_node_is_view(g, views, i)) continue;
        ig_node_call(g, views, m, &other, &other_batch);
        if (batch == other_batch && same_call(&call, &other)) return i;
    }
    return node;
}

/* A GPU that did nothing runs at a sixth of its clock, and its link as slowly: what is timed first would look slow. */
static void warm_up(struct ig_gpu_bed *b, int repeats)
{
    enum { WARM_NS = 200000000 };
    int64_t from = ig_bench_ns();
    for (int32_t s = 0; ig_bench_ns() - from < WARM_NS && b->lowered->model.n_steps; s = (s + 1) % b->lowered->model.n_steps)
        if (ig_gpu_step_ns(b, s, repeats, 1) < 0) return;
}

enum { HOPELESS = 4, PROBES = 2 }; /* times as long as another: one launch tells enough, and is timed so often */

/* What all rounds have to do with. */
struct rounds {
    const struct ig_graph *g;
    struct ig_gpu_expected *expected;
    const struct ig_kernel **now; /* by node; NULL: none is timed */
    double *best;                 /* by node: ns; 0: none yet */
    char *wrong;                  /* by node: 1: a kernel is */
    struct ig_profile *profile;   /* of all times */
    int repeats, runs;
    ig_gpu_wrong *tell;           /* or NULL */
};

/* The node of a step that has its kernel of this round; -1: it is not timed. */
static int32_t node_of(const struct rounds *r, const struct ig_gpu_bed *b, int32_t step)
{
    int32_t node = (int32_t)(b->lowered->nodes[step] - r->g->nodes);
    return r->now[node] && b->lowered->kernels[step] == r->now[node] ? node : -1;
}

static int failed(const struct rounds *r, int32_t node, int error, char *err, size_t err_bytes)
{
    snprintf(err, err_bytes, "%s, %s: CUDA error %d", r->g->nodes[node].name, r->now[node]->name, error);
    return -1;
}

/* Layers whose kernel is wrong have none in this round, before any is timed: a GPU that waits for the CPU slows down. 0, or -1 with a line in err. */
static int check_round(const struct rounds *r, struct ig_gpu_bed *b, char *err, size_t err_bytes)
{
    for (int32_t s = 0; s < b->lowered->model.n_steps; s++) {
        int32_t node = node_of(r, b, s);
        char what[200];
        int differ = node < 0 ? 0 : ig_gpu_step_agrees(r->expected, b, s, what, sizeof what);
        if (differ < 0) return failed(r, node, -differ, err, err_bytes);
        if (!differ) continue;
        if (r->tell) r->tell(r->g->nodes[node].name, r->now[node]->name, what);
        r->wrong[node] = 1;
        r->now[node] = NULL;
    }
    return 0;
}

/* A round's times, of layers that have a kernel of that number. 0, or -1 with a line in err. */
static int time_round(const struct rounds *r, struct ig_gpu_bed *b, char *err, size_t err_bytes)
{
    struct ig_profile *p = r->profile;
    for (int32_t s = 0; s < b->lowered->model.n_steps; s++) {
        int32_t node = node_of(r, b, s);
        if (node < 0) continue;
        double ns = ig_gpu_step_ns(b, s, 1, r->runs < PROBES ? r->runs : PROBES);
        int more = r->repeats > 1 || r->runs > PROBES;
        if (ns >= 0 && more && !(r->best[node] > 0 && ns > HOPELESS * r->best[node])) ns = ig_gpu_step_ns(b, s, r->repeats, r->runs);
        if (ns < 0) return failed(r, node, (int)-ns, err, err_bytes);
        if (ns < 1) ns = 1;
        if (!(r->best[node] > 0 && r->best[node] < ns)) r->best[node] = ns;
        p->timings[p->n++] = (struct ig_timing){node, r->now[node], 0, 0, 1, ns, 0, r->now[node]->error};
    }
    return 0;
}

/* What is as a node that was timed takes as long. */
static void copy_times(const int32_t *like, int32_t n_nodes, struct ig_profile *p)
{
    int32_t timed = p->n;
    for (int32_t i = 0; i < n_nodes; i++)
        for (int32_t t = 0; t < timed && like[i] != i; t++) {
            if (p->timings[t].node != like[i]) continue;
            p->timings[p->n] = p->timings[t];
            p->timings[p->n++].node = i;
        }
}

static int by_node(const void *a, const void *b)
{
    const struct ig_timing *x = a, *y = b;
    return x->node != y->node ? (x->node > y->node) - (x->node < y->node) : strcmp(x->kernel->name, y->kernel->name);
}

/* The round's bed, in which layers that have a kernel of that number have it; `timed` marks them. 1; 0: none has; -1 with a line in err. */
static int make_round(const struct rounds *r, const struct ig_view *views, const int32_t *like, int round, char *timed,
                      const void *const *modules, struct ig_gpu_bed *bed, char *err, size_t err_bytes)
{
    struct ig_profile *chosen = profile_new(r->g);
    int any = 0;
    for (int32_t i = 0; i < r->g->n_nodes; i++) {
        const struct ig_kernel *k = r->now[i] = like[i] == i ? kernel_of(r->g, views, i, round) : NULL;
        any |= timed[i] = k != NULL;
        if (!k) k = kernel_of(r->g, views, i, 0);
        if (k) chosen->timings[chosen->n++] = (struct ig_timing){i, k, 0, 0, 1, 1, 0, 0};
    }
    if (any && ig_gpu_bed_make(bed, r->g, chosen, 1, timed, modules, err, err_bytes)) any = -1;
    ig_profile_free(chosen);
    return any;
}

/* 0, or -1 with a line in err. */
static int all_rounds(const struct rounds *r, const struct ig_view *views, const int32_t *like, const void *const *modules, char *err,
                      size_t err_bytes)
{
    char *timed = room((size_t)r->g->n_nodes, 1);
    int any = 1, bad = 0;
    for (int round = 0; any > 0 && !bad; round++) {
        struct ig_gpu_bed bed;
        any = make_round(r, views, like, round, timed, modules, &bed, err, err_bytes);
        if (any <= 0) break;
        free(r->profile->cpu);
        r->profile->cpu = text(bed.gpu.name);
        bad = check_round(r, &bed, err, err_bytes);
        if (!round && !bad) warm_up(&bed, r->repeats);
        if (!bad) bad = time_round(r, &bed, err, err_bytes);
        if (!round && !bad) ig_gpu_time_copies(&bed.gpu, &r->profile->copies);
        ig_gpu_bed_free(&bed);
    }
    free(timed);
    return any < 0 ? any : bad;
}

/* 0, or -1 with a line in err: a layer of whose kernels none is right. */
static int any_right(const struct rounds *r, char *err, size_t err_bytes)
{
    for (int32_t i = 0; i < r->g->n_nodes; i++) {
        if (!r->wrong[i] || r->best[i] > 0) continue;
        snprintf(err, err_bytes, "%s: no kernel computes on this GPU what the CPU does", r->g->nodes[i].name);
        return -1;
    }
    return 0;
}

struct ig_profile *ig_gpu_profile(const struct ig_graph *g, const void *const *modules, int repeats, int runs, ig_gpu_wrong *wrong,
                                  char *err, size_t err_bytes)
{
    size_t n = (size_t)g->n_nodes;
    struct ig_gpu_expected *expected = ig_gpu_expected_new(g, err, err_bytes);
    if (!expected) return NULL;
    struct rounds r = {g, expected, room(n, sizeof *r.now), room(n, sizeof *r.best), room(n, 1), profile_new(g), repeats, runs, wrong};
    struct ig_view *views = room((size_t)g->n_values, sizeof *views);
    int32_t *like = room(n, sizeof *like);
    ig_compute_views(g, views);
    for (int32_t i = 0; i < g->n_nodes; i++) like[i] = ig_node_is_view(g, views, i) ? i : first_like(g, views, i);
    int bad = all_rounds(&r, views, like, modules, err, err_bytes) || any_right(&r, err, err_bytes);
    copy_times(like, g->n_nodes, r.profile);
    qsort(r.profile->timings, (size_t)r.profile->n, sizeof *r.profile->timings, by_node);
    ig_gpu_expected_free(expected);
    free(views);
    free(like);
    free(r.now);
    free(r.best);
    free(r.wrong);
    if (!bad) return r.profile;
    ig_profile_free(r.profile);
    return NULL;
}

static void weigh(const struct ig_graph *g, const struct ig_profile *p, double *bytes)
{
    struct ig_view *views = room((size_t)g->n_values, sizeof *views);
    struct ig_call call;
    int32_t batch;
    ig_compute_views(g, views);
    for (int32_t i = 0; i < p->n; i++) {
        ig_node_call(g, views, &g->nodes[p->timings[i].node], &call, &batch);
        bytes[i] = p->timings[i].kernel->pack ? (double)p->timings[i].kernel->pack(&call, NULL) : 0;
    }
    free(views);
}

static void set_price(struct ig_profile *p, const double *bytes, double price)
{
    for (int32_t i = 0; i < p->n; i++) p->timings[i].in_order_ns = price > 0 ? p->timings[i].alone_ns + price * bytes[i] : 0;
}

/* The kernel of every step; 0, or -1 with a line in err. */
static int kernels_by(const struct ig_graph *g, const struct ig_profile *p, const struct ig_kernel **kernels, char *err, size_t err_bytes)
{
    struct ig_plan *plan = ig_gpu_plan(g, p, IG_MAX_ERROR, err, err_bytes);
    for (int32_t i = 0; plan && i < plan->n_steps; i++) kernels[i] = plan->steps[i].kernel;
    ig_plan_free(plan);
    return plan ? 0 : -1;
}

static double frame_by(const struct ig_graph *g, const struct ig_profile *p, const void *const *modules, int repeats, int runs, char *err,
                       size_t err_bytes)
{
    struct ig_gpu_bed bed;
    if (ig_gpu_bed_make(&bed, g, p, IG_MAX_ERROR, NULL, modules, err, err_bytes)) return -1;
    warm_up(&bed, repeats);
    double ns = ig_gpu_frame_ns(&bed, runs);
    ig_gpu_bed_free(&bed);
    if (ns < 0) snprintf(err, err_bytes, "a whole frame: CUDA error %d", (int)-ns);
    return ns;
}

/* ns of a byte, by the kernel that reads its weights fastest. */
static double least_price(const struct ig_profile *p, const double *bytes)
{
    double least = 0;
    for (int32_t i = 0; i < p->n; i++) {
        double ns = bytes[i] > 0 ? p->timings[i].alone_ns / bytes[i] : 0;
        if (ns > 0 && (least == 0 || ns < least)) least = ns;
    }
    return least;
}

int ig_gpu_profile_weights(const struct ig_graph *g, const void *const *modules, int repeats, int runs, struct ig_profile *p, char *err,
                           size_t err_bytes)
{
    static const double times[] = {0, 1, 2, 4};
    size_t n = (size_t)g->n_nodes;
    const struct ig_kernel **last = room(n, sizeof *last), **now = room(n, sizeof *now);
    double *bytes = room((size_t)p->n, sizeof *bytes), ns = 0, best_ns = 0, best = 0;
    weigh(g, p, bytes);
    double least = least_price(p, bytes);
    for (size_t i = 0; i < sizeof times / sizeof *times && ns >= 0; i++) {
        set_price(p, bytes, times[i] * least);
        if (kernels_by(g, p, now, err, err_bytes)) ns = -1;
        if (ns < 0 || (i && !memcmp(now, last, n * sizeof *now))) continue;
        memcpy(last, now, n * sizeof *now);
        ns = frame_by(g, p, modules, repeats, runs, err, err_bytes);
        if (!i || ns < best_ns) best_ns = ns, best = times[i] * least;
    }
    set_price(p, bytes, best);
    free(bytes);
    free(last);
    free(now);
    return ns < 0 ? -1 : 0;
}

int ig_gpu_profile_whole(const struct ig_graph *g, const void *const *modules, int repeats, int runs, struct ig_profile *p, char *err,
                         size_t err_bytes)
{
    struct ig_gpu_bed bed;
    if (ig_gpu_bed_make(&bed, g, p, IG_MAX_ERROR, NULL, modules, err, err_bytes)) return -1;
    warm_up(&bed, repeats);
    double frame_ns = ig_gpu_frame_ns(&bed, runs), sum_ns = bed.plan->latency_ns;
    ig_gpu_bed_free(&bed);
    if (frame_ns < 0) {
        snprintf(err, err_bytes, "a whole frame: CUDA error %d", (int)-frame_ns);
        return -1;
    }
    if (frame_ns > 0 && sum_ns > 0) ig_profile_scale(p, frame_ns / sum_ns);
    return 0;
}
