/* All passes in the standard order, until a whole round changes nothing. */
#include "graph/graph.h"

enum { MAX_ROUNDS = 1000 };

/*
 * What the rest presumes: no identities left, constants folded, channels-last. Quantised weights become floats where they are
 * folded: ops on bytes are made before.
 */
static void prepare(struct ig_graph *g, ig_eval_fn *eval) {
    ig_graph_sweep(g);
    ig_pass_identity(g);
    ig_pass_quantised(g, eval);
    for (int round = 0; round < MAX_ROUNDS; round++)
        if (!(ig_pass_identity(g) + ig_pass_fold_constants(g, eval))) break;
    ig_pass_group_norm(g);
    ig_pass_layout(g);
    ig_pass_layer_norm(g);
}

/*
 * Activations are composed before affine nodes are folded, which would tear x + 3 out of a hard sigmoid;
 * branches are merged and residuals fused after batch norm is folded and before activations, which come last in an epilogue.
 */
static int one_round(struct ig_graph *g, ig_eval_fn *eval) {
    int rewrites = ig_pass_fold_constants(g, eval);
    rewrites += ig_pass_identity(g);
    rewrites += ig_pass_transposes(g);
    rewrites += ig_pass_global_pool(g);
    rewrites += ig_pass_matmul_to_fc(g);
    rewrites += ig_pass_scales(g);
    rewrites += ig_pass_fuse_pad(g);
    rewrites += ig_pass_trim_windows(g);
    rewrites += ig_pass_compose(g);
    rewrites += ig_pass_fold_affine(g);
    rewrites += ig_pass_merge_branches(g);
    rewrites += ig_pass_fuse_residual(g);
    rewrites += ig_pass_fuse_activation(g);
    return rewrites + ig_pass_flatten_fc(g);
}

int ig_run_passes(struct ig_graph *g, ig_eval_fn *eval, char *err, size_t err_bytes) {
    if (ig_graph_sort(g, err, err_bytes) || ig_graph_check(g, err, err_bytes)) return -1;
    prepare(g, eval);
    for (int round = 0; one_round(g, eval) || ig_pass_batch(g); round++) {
        if (round < MAX_ROUNDS) continue;
        snprintf(err, err_bytes, "the passes do not settle after %d rounds", MAX_ROUNDS);
        return -1;
    }
    ig_pass_extremes(g);
    if (ig_graph_sort(g, err, err_bytes)) return -1;
    ig_graph_sweep(g);
    ig_count_macs(g);
    return ig_graph_check(g, err, err_bytes);
}
