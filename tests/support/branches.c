/* Random pieces of networks whose rows branch: those of ResNets, Inceptions and DenseNets. */
#include "tests/support/nets.h"

static int32_t channels(const struct ig_graph *g, int32_t x)
{
    return g->values[x].shape.dims[3];
}

/* 1x1, 3x3 of that stride, 1x1 with what was before added; or two 3x3. */
static int32_t residual_block(struct ig_graph *g, struct rng *r, int32_t x)
{
    int32_t stride = g->values[x].shape.dims[1] > 5 && rng_one_in(r, 3) ? 2 : 1, c = channels(g, x);
    int32_t oc = stride > 1 || rng_one_in(r, 2) ? RNG_OF(r, 4, 8, 20) : c, skip = x, early = rng_one_in(r, 2);
    int32_t projected = oc != c || stride > 1;
    if (projected && early) skip = net_conv(g, x, oc, 1, stride, -1);
    int32_t y = net_conv(g, net_conv(g, x, RNG_OF(r, 3, 8), RNG_OF(r, 1, 1, 3), 1, -1), RNG_OF(r, 4, 9), 3, stride, -1);
    if (projected && !early) skip = net_conv(g, x, oc, 1, stride, -1);
    if (rng_one_in(r, 3)) return net_relu(g, net_add(g, net_conv(g, y, oc, 3, 1, -1), skip));
    return net_conv(g, y, oc, RNG_OF(r, 1, 3), 1, skip);
}

/* Two to four branches of one to three layers, and their concatenation. */
static int32_t fork(struct ig_graph *g, struct rng *r, int32_t x)
{
    int32_t piece[4], n = rng_int(r, 2, 4), stride = g->values[x].shape.dims[1] > 6 && rng_one_in(r, 4) ? 2 : 1;
    for (int32_t i = 0; i < n; i++) {
        int32_t y = x;
        if (rng_one_in(r, 4)) y = net_pool(g, y, 3, 1);
        for (int32_t k = rng_int(r, 0, 2); k > 0; k--) y = net_conv(g, y, RNG_OF(r, 4, 8), RNG_OF(r, 1, 3, 5), 1, -1);
        piece[i] = net_conv(g, y, RNG_OF(r, 3, 4, 8), stride > 1 ? 3 : RNG_OF(r, 1, 3), stride, -1);
    }
    return net_concat(g, 3, n, piece);
}

/* Scale, relu, 1x1, 3x3; what they make joins what was there. */
static int32_t dense_layers(struct ig_graph *g, struct rng *r, int32_t x)
{
    for (int32_t i = rng_int(r, 1, 4); i > 0; i--) {
        int32_t y = net_conv(g, net_conv(g, net_relu(g, net_scale(g, x)), 8, 1, 1, -1), 4, 3, 1, -1);
        x = NET_CONCAT(g, 3, x, y);
    }
    return x;
}

struct ig_graph *net_branches(struct rng *r, int32_t blocks)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, rng_int(r, 3, 40), rng_int(r, 3, 12), rng_int(r, 1, 9));
    x = net_conv(g, x, 8, RNG_OF(r, 1, 3), 1, -1);
    for (int32_t i = 0; i < blocks; i++) {
        switch (rng_int(r, 0, 3)) {
        case 0: x = residual_block(g, r, x); break;
        case 1: x = fork(g, r, x); break;
        case 2: x = dense_layers(g, r, x); break;
        default: x = rng_one_in(r, 2) ? net_depthwise(g, x, 3, 1) : net_conv(g, x, RNG_OF(r, 4, 16), 3, 1, -1);
        }
        if (rng_one_in(r, 8)) ig_add_output(g, net_relu(g, x));
    }
    ig_add_output(g, net_conv(g, x, 5, 1, 1, -1));
    net_done(g);
    return g;
}
