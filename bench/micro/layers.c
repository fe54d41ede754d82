/* Layers of a network, one kernel call each, outside the network: warm caches, or weights from memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/micro/micro.h"
#include "gen/lower.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"

enum { COLD_BYTES = 128 << 20 }; /* copies of the weights, taken in turn, that no cache holds */

struct bed {                     /* a call with memory of its own */
    const struct ig_kernel *kernel;
    struct ig_call call;
    struct ig_range range;
    void *scratch;
    char *weights;
    int64_t weights_bytes;
    int32_t copies, turn;
};

static void *fresh(int64_t bytes)
{
    void *p = aligned_alloc(64, (size_t)(bytes + 127) / 64 * 64);
    if (!p) abort();
    memset(p, 0, (size_t)(bytes + 127) / 64 * 64);
    return p;
}

static int64_t span(const struct ig_operand *o)
{
    return ((o->h - 1) * o->row_stride + (o->w - 1) * o->pixel_stride + o->c) * ig_type_bytes(o->shape->type);
}

static int64_t dense_bytes(const struct ig_operand *o)
{
    return o->shape ? (int64_t)o->h * o->w * o->c * ig_type_bytes(o->shape->type) : 0;
}

/* Kernels that see the whole batch through `shape` need all of it. */
static void *operand_memory(const struct ig_operand *o)
{
    int64_t all = ig_bytes(o->shape), seen = span(o), n = (all > seen ? all : seen) / 4;
    float *p = fresh(n * 4);
    for (int64_t i = 0; o->shape->type == IG_F32 && i < n; i++) p[i] = (float)(i * 7919 % 1000) * 1e-3f;
    return p;
}

static void run_bed(void *data)
{
    struct bed *b = data;
    if (b->weights) b->call.weights = b->weights + b->turn * b->weights_bytes;
    b->turn = b->turn + 1 < b->copies ? b->turn + 1 : 0;
    b->kernel->run(&b->call, b->range, b->scratch);
}

static void pack(struct bed *b, const struct ig_call *constants, int cold)
{
    b->copies = 1;
    if (!b->kernel->pack) return;
    b->weights_bytes = ((int64_t)b->kernel->pack(constants, NULL) + 63) / 64 * 64;
    if (cold && b->weights_bytes) b->copies = (int32_t)(COLD_BYTES / b->weights_bytes) + 2;
    b->weights = fresh(b->copies * b->weights_bytes);
    b->kernel->pack(constants, b->weights);
    for (int32_t i = 1; i < b->copies; i++)
        memcpy(b->weights + i * b->weights_bytes, b->weights, (size_t)b->weights_bytes);
}

static double time_kernel(const struct ig_kernel *k, const struct ig_call *call, const struct ig_micro_options *o)
{
    struct bed b = {.kernel = k, .call = *call, .range = ig_full_range(call)};
    void *zeros = fresh((int64_t)ig_zeros_bytes(call));
    pack(&b, call, o->cold);
    b.scratch = fresh(k->scratch ? (int64_t)k->scratch(call) : 64);
    b.call.zeros = zeros;
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i].shape && !call->in[i].data) b.call.in[i].data = operand_memory(&call->in[i]);
    for (int32_t i = 0; i < call->n_out; i++)
        if (call->out[i].shape) b.call.out[i].data = operand_memory(&call->out[i]);
    double ns = ig_time_least(run_bed, &b, o->seconds);
    for (int32_t i = 0; i < call->n_in; i++)
        if (!call->in[i].data) free(b.call.in[i].data);
    for (int32_t i = 0; i < call->n_out; i++) free(b.call.out[i].data);
    free(b.scratch);
    free(b.weights);
    free(zeros);
    return ns;
}

/* The least time that the layer can take: its arithmetic, or the streaming of all that it reads and writes. */
static double bound_ns(const struct ig_node *n, const struct ig_call *call, double peak, double gbytes, int cold,
                       int *streams)
{
    int64_t read = 0, write = 0, weights = 0;
    for (int32_t i = 0; i < call->n_in; i++)
        *(call->in[i].data ? &weights : &read) += dense_bytes(&call->in[i]);
    for (int32_t i = 0; i < call->n_out; i++) write += dense_bytes(&call->out[i]);
    double compute = 2 * n->macs / peak;
    double move = cold ? ig_stream_ns(read, write) + (double)weights / gbytes : ig_stream_ns(read + weights, write);
    *streams = move > compute;
    return move > compute ? move : compute;
}

/* Depthwise: the share of the FMA peak beside what the ports allow. */
static void print_ports(const struct ig_node *n, const struct ig_call *call, double ns, double peak, int streams)
{
    if (n->op != IG_CONV || n->attrs.conv.groups == 1 || n->attrs.conv.groups != call->in[0].c ||
        n->attrs.conv.groups != call->out[0].c)
        return;
    if (streams) printf(", %.1f%% of FMA peak", 200 * n->macs / peak / ns);
    printf("; ports allow %.0f%%", 100 * ig_depthwise_ports(&n->attrs.conv.w));
}

struct total {
    double bound, ns;
};

static void one_layer(const struct ig_graph *g, const struct ig_view *views, int32_t i, int count, double peak,
                      double gbytes, const struct ig_micro_options *o, struct total *total)
{
    const struct ig_node *n = &g->nodes[i];
    struct ig_call call;
    int32_t batch;
    int streams, isa = IG_ISA_REF, any = 0;
    double best = 0;
    char text[128];
    ig_node_call(g, views, n, &call, &batch);
    ig_micro_describe(n, &call, text, sizeof text);
    if (o->layer && !strstr(text, o->layer)) return;
    double bound = bound_ns(n, &call, peak, gbytes, o->cold, &streams);
    for (int k = 0; k < ig_kernel_count(); k++)
        if (ig_isa_runs_here(ig_kernel_at(k)->isa) && ig_kernel_fits(ig_kernel_at(k), n->op, &call) &&
            ig_kernel_at(k)->isa > isa)
            isa = ig_kernel_at(k)->isa;
    for (int k = 0; k < ig_kernel_count(); k++) {
        const struct ig_kernel *kernel = ig_kernel_at(k);
        if (!ig_isa_runs_here(kernel->isa) || (kernel->isa == IG_ISA_REF && isa != IG_ISA_REF)) continue;
        if (!kernel->run || !ig_kernel_fits(kernel, n->op, &call)) continue;
        if (o->kernel && !strstr(kernel->name, o->kernel)) continue;
        double ns = time_kernel(kernel, &call, o);
        printf("%3d  %-44s %-28s %10.1f us  %5.1f%% of %s", count, text, kernel->name, ns * 1e-3, 100 * bound / ns,
               streams ? "streaming" : "FMA peak");
        print_ports(n, &call, ns, peak, streams);
        puts("");
        fflush(stdout);
        if (!any++ || ns < best) best = ns;
    }
    if (!any) return;
    total->ns += best * count;
    total->bound += bound * count;
}

int ig_micro_layers(struct ig_graph *g, double peak, const struct ig_micro_options *o)
{
    struct total total = {0, 0};
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    double gbytes = ig_memory_gbytes();
    if (!views) return -1;
    ig_compute_views(g, views);
    ig_count_macs(g);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int count = ig_node_is_view(g, views, i) ? 0 : ig_micro_count(g, views, i);
        if (count) one_layer(g, views, i, count, peak, gbytes, o, &total);
    }
    printf("sum of the fastest: %.3f ms, bound %.3f ms (%.1f%%)\n", total.ns * 1e-6, total.bound * 1e-6,
           100 * total.bound / total.ns);
    free(views);
    return 0;
}
