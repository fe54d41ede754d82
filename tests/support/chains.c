/* Random chains for bands: the layers of MobileNets, VGGs and decoders, with what makes rows awkward. */
#include "tests/support/nets.h"

static struct ig_window odd_window(struct rng *r, const struct ig_shape *s)
{
    int32_t k = RNG_OF(r, 1, 2, 3, 3, 3, 5), d = rng_one_in(r, 5) ? 2 : 1, span = (k - 1) * d + 1;
    int32_t sh = RNG_OF(r, 1, 1, 1, 2, 3), sw = rng_one_in(r, 4) ? 2 : 1;
    struct ig_window w = {1, k, k, 1, sh, sw, 1, d, d, 0, span / 2, span / 2, 0, span / 2, span / 2, 1, 1};
    if (rng_one_in(r, 3)) w.top = rng_int(r, 0, span - 1);
    if (rng_one_in(r, 3)) w.bottom = rng_int(r, 0, span - 1);
    if (s->dims[1] + w.top + w.bottom < span) w.top = w.bottom = span - 1;
    if (s->dims[2] + w.left + w.right < span) w.left = w.right = span - 1;
    return w;
}

/* An earlier value of x's shape, or -1. */
static int32_t skip(const struct ig_graph *g, struct rng *r, int32_t x)
{
    int32_t found = -1, met = 0;
    const struct ig_shape *s = &g->values[x].shape;
    for (int32_t v = 0; v < x; v++) {
        const struct ig_shape *o = &g->values[v].shape;
        int same = o->rank == 4 && !ig_is_const(g, v);
        for (int i = 0; same && i < 4; i++) same = o->dims[i] == s->dims[i];
        if (same && rng_one_in(r, ++met)) found = v;
    }
    return found;
}

static int32_t any_conv(struct ig_graph *g, struct rng *r, int32_t x, int32_t groups)
{
    struct ig_window w = odd_window(r, &g->values[x].shape);
    int32_t c = g->values[x].shape.dims[3];
    return net_conv_window(g, x, groups == c ? c : RNG_OF(r, 3, 8, 16, 24), &w, groups, -1);
}

static int32_t chain_node(struct ig_graph *g, struct rng *r, int32_t x)
{
    const struct ig_shape s = g->values[x].shape;
    struct ig_window w = odd_window(r, &s);
    int32_t other = skip(g, r, x);
    switch (rng_int(r, 0, 9)) {
    case 0:
    case 1: return net_conv(g, x, RNG_OF(r, 4, 8, 17, 32), 1, 1, -1);
    case 2: return any_conv(g, r, x, 1);
    case 3:
    case 4: return any_conv(g, r, x, s.dims[3]);
    case 5: return net_pool_window(g, x, &w, rng_int(r, IG_POOL_MAX, IG_POOL_AVERAGE));
    case 6: return net_relu(g, x);
    case 7: return net_scale(g, x);
    case 8:
        if (s.dims[1] > 20 || s.dims[2] > 20) return net_relu(g, x);
        if (rng_one_in(r, 2)) return net_deconv(g, x, 8, RNG_OF(r, 1, 3, 5), rng_int(r, 1, 3));
        return net_resize(g, x, 2, rng_int(r, IG_NEAREST, IG_LINEAR));
    default:
        if (other < 0) return net_relu(g, x);
        return rng_one_in(r, 2) ? net_add(g, x, other) : net_conv(g, x, s.dims[3], 1, 1, other);
    }
}

struct ig_graph *net_chain(struct rng *r, int32_t nodes)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, rng_int(r, 5, 33), rng_int(r, 3, 20), rng_int(r, 1, 9));
    for (int32_t i = 0; i < nodes; i++) x = chain_node(g, r, x);
    ig_add_output(g, net_conv(g, x, 5, 1, 1, -1));
    net_done(g);
    return g;
}
