/* From the zoo's builder to a graph, through memory. */
#include "tests/support/nets_zoo.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels_cpu/eval.h"
#include "models/zoo/zoo.h"
#include "planner/plan.h"

static void check(int failed, const char *name, const char *err)
{
    if (!failed) return;
    fprintf(stderr, "%s: %s\n", name, err);
    abort();
}

static struct ig_graph *import(const char *name)
{
    struct ig_import_options o = {.eval = ig_ref_eval};
    char err[IG_ERROR_BYTES] = "", *bytes = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&bytes, &n);
    check(!f || ig_zoo_write(ig_zoo_find(name), f, err, sizeof err) || fclose(f), name, err);
    struct ig_graph *g = ig_import_bytes(name, bytes, n, &o, err, sizeof err);
    check(!g, name, err);
    free(bytes);
    return g;
}

struct ig_graph *zoo_net_unprepared(const char *name)
{
    struct ig_graph *g = import(name);
    char err[1024] = "";
    check(ig_run_passes(g, ig_ref_eval, err, sizeof err), name, err);
    return g;
}

struct ig_graph *zoo_net(const char *name)
{
    struct ig_graph *g = zoo_net_unprepared(name);
    char err[1024] = "";
    ig_prepare_views(g);
    check(ig_graph_check(g, err, sizeof err), name, err);
    return g;
}

struct ig_graph *zoo_net_as_published(const char *name)
{
    struct ig_graph *g = import(name);
    char err[1024] = "";
    check(ig_graph_sort(g, err, sizeof err), name, err);
    ig_graph_sweep(g);
    while (ig_pass_identity(g) + ig_pass_fold_constants(g, ig_ref_eval)) continue;
    ig_pass_layout(g);
    while (ig_pass_fold_constants(g, ig_ref_eval) + ig_pass_identity(g) + ig_pass_global_pool(g) +
           ig_pass_matmul_to_fc(g) + ig_pass_fuse_pad(g) + ig_pass_fold_affine(g) + ig_pass_fuse_activation(g) +
           ig_pass_flatten_fc(g))
        continue;
    check(ig_graph_sort(g, err, sizeof err), name, err);
    ig_graph_sweep(g);
    check(ig_graph_check(g, err, sizeof err), name, err);
    return g;
}
