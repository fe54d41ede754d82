/*
 * Layers split over several keys: the rewriting of the final graph, after all passes, into one in which
 * every node has one key. A split layer L becomes part nodes, L_splith_<key> and likewise, that take what
 * they need of their operands in slices made on the producer's key, and a join that keeps the name L, a
 * concatenation or a sum, on the first key with a consumer. Where consumers are parts themselves they take
 * their pieces directly, and there is neither join nor slice.
 */
#ifndef PLANNER_DEPLOY_REWRITE_H
#define PLANNER_DEPLOY_REWRITE_H

#include "graph/graph.h"
#include "kernels_cpu/kernel.h"
#include "planner/deploy/horizontal.h"
#include "planner/deploy/site.h"

struct ig_hsplit_order {
    int32_t node;          /* of the graph; no two orders have the same */
    int32_t mode;          /* enum ig_split_mode */
    int32_t n;             /* parts, >= 1 */
    const int64_t *sizes;  /* [n] > 0, that add up to the layer's output channels, input channels, rows or columns */
    const int32_t *keys;   /* [n] */
};

enum ig_split_cuts {       /* between two layers of a run that are cut by rows over the same keys */
    IG_CUTS_CHEAPEST = 0,  /* the cheaper of the two, cut by cut */
    IG_CUTS_FUSED,         /* each key computes all rows that its next layer needs, some of them twice */
    IG_CUTS_EXCHANGED      /* each key computes its own rows and is sent what else it needs */
};

enum ig_split_border {     /* rows that other keys wait for, of layers that are cut by rows */
    IG_BORDER_LAST = 0,    /* with all others of the part */
    IG_BORDER_FIRST,       /* before them, where that saves more time than it takes */
    IG_BORDER_ALWAYS       /* wherever it can be */
};
enum { IG_LATE = 1 << 20 }; /* added to the key of a node that is in a part of its own, behind the key's others */

struct ig_split_options {
    const struct ig_kernel *const *kernels; /* --exact: [n_nodes] of the whole network's plan (NULL where nothing
                                               runs); cuts are moved to their tiles, parts that they do not
                                               compute are refused. NULL: the bits may differ */
    int32_t cuts;          /* enum ig_split_cuts */
    int32_t border;        /* enum ig_split_border; only where it is not IG_BORDER_LAST are keys IG_LATE */
    const double *rates;   /* [n_keys] multiply-accumulates a ns; NULL: 20 each */
    const double *const *layer_ns; /* [n_keys][n_nodes] of a node, whole, on that key; 0, or NULL: by the key's rate */
    const struct ig_site *site; /* whose links ig_link_ns asks for */
    const int32_t *devices; /* [n_keys] of the site; NULL: each key is a device of its own, on gigabit Ethernet */
};

/*
 * Rewrites g. keys: in: malloc'ed, the key of each node (of split ones anything); out: of each node of the
 * new graph, which has others. whole: of each node of the new graph the node of the old one whose kernel it
 * is pinned to under --exact, and -1 for slices, joins and partial sums, which may have any; malloc'ed. The
 * network's inputs are on key 0. 0; or -1 with a line in err, g is then good for nothing but ig_graph_free.
 */
int ig_split_graph(struct ig_graph *g, const struct ig_hsplit_order *orders, int32_t n,
                   const struct ig_split_options *options, int32_t **keys, int32_t **whole, char *err, size_t err_bytes);
/* What an order of that mode divides: channels, rows or columns of the node; 0: it cannot be split so. */
int32_t ig_split_extent(const struct ig_graph *g, int32_t node, int32_t mode);
/*
 * Sizes for an order that has none yet, so that the slowest part is as fast as it can be by the options'
 * rates and links; some may be 0: such a key is better left out. keys: of the nodes; macs are counted.
 * Returns the ns of the slowest part.
 */
double ig_split_share(const struct ig_graph *g, const struct ig_hsplit_order *order,
                      const struct ig_split_options *options, const int32_t *keys, int64_t *sizes);
/* The same for n layers that pass rows on to each other, of the same mode and keys; sizes: of the first. */
double ig_split_share_run(const struct ig_graph *g, const struct ig_hsplit_order *orders, int32_t n,
                          const struct ig_split_options *options, const int32_t *keys, int64_t *sizes);
/*
 * What a part's begin must be a multiple of for the bits of the whole layer by that kernel; 0: they differ
 * wherever it is cut, or it cannot be.
 */
int32_t ig_split_step(const struct ig_graph *g, int32_t node, int32_t mode, const struct ig_kernel *kernel);
/*
 * Moves the bounds between parts to the nearest multiples of `step` that leave none empty, or some, where
 * there are fewer multiples than parts. The sum stays.
 */
void ig_split_round(int64_t *sizes, int32_t n, int32_t step);

#endif
