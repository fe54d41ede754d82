/* The ways to cut a call for threads, and what each would cost. */
#include "kernels_cpu/problem.h"
#include "planner/select.h"

/* Below this a barrier costs more than threads win. */
static const double tiny_ns = 20000;
static const double chunk_ns = 300;          /* to take one more piece */
static const double reread_bytes_per_ns = 8; /* what every piece reads again mostly comes from a cache */

int32_t ig_cut_extent(const struct ig_call *call, int32_t split)
{
    struct ig_range full = ig_full_range(call);
    return split == 2 ? full.c1 : full.y1;
}

static double read_bytes(const struct ig_call *call, int32_t i)
{
    const struct ig_operand *o = &call->in[i];
    return i < call->n_in && o->shape ? (double)o->h * o->w * o->c * ig_type_bytes(o->shape->type) : 0;
}

/*
 * The slowest thread's share of the work, what every piece reads again (pieces of rows the weights, pieces of
 * channels the image), and the taking of pieces.
 */
double ig_cut_ns(const struct ig_kernel *k, const struct ig_call *call, struct ig_cut cut, int32_t threads,
                 const struct ig_away *away)
{
    double whole = ig_estimate_ns(k, call, 1, away);
    if (cut.chunks <= 1) return whole;
    double ideal = ig_estimate_ns(k, call, threads, away), turns = (cut.chunks + threads - 1) / threads;
    double share = turns * cut.chunk / ig_cut_extent(call, cut.split);
    double again = read_bytes(call, cut.split == 1 ? ig_second_operand(k->op) : 0);
    double balanced = ideal * share * threads;
    return balanced + turns * (chunk_ns + again / reread_bytes_per_ns / threads);
}

static int same_cut(struct ig_cut a, struct ig_cut b)
{
    return a.split == b.split && a.chunk == b.chunk;
}

static int add_cut(struct ig_cut *cuts, int n, int max, struct ig_cut cut)
{
    for (int i = 0; i < n; i++)
        if (same_cut(cuts[i], cut)) return n;
    if (n < max) cuts[n++] = cut;
    return n;
}

/* Into about `pieces`, in multiples of the tile; whole if that makes one piece. */
static struct ig_cut cut_into(const struct ig_call *call, int32_t split, int32_t tile, int64_t pieces)
{
    int32_t extent = ig_cut_extent(call, split);
    int64_t chunk = (extent + pieces - 1) / pieces;
    chunk = (chunk + tile - 1) / tile * tile;
    if (chunk >= extent) return (struct ig_cut){0, 0, 1};
    return (struct ig_cut){split, (int32_t)chunk, (int32_t)((extent + chunk - 1) / chunk)};
}

static void favourite_first(const struct ig_kernel *k, const struct ig_call *call, int32_t threads,
                            const struct ig_away *away, struct ig_cut *cuts, int n)
{
    int best = 0;
    double least = ig_cut_ns(k, call, cuts[0], threads, away);
    for (int i = 1; i < n; i++) {
        double ns = ig_cut_ns(k, call, cuts[i], threads, away);
        if (ns < least) best = i, least = ns;
    }
    struct ig_cut first = cuts[best];
    for (int i = best; i > 0; i--) cuts[i] = cuts[i - 1];
    cuts[0] = first;
}

int ig_legal_cuts(const struct ig_kernel *k, const struct ig_call *call, int32_t threads, const struct ig_away *away,
                  struct ig_cut *cuts, int max)
{
    struct ig_cut all[IG_MAX_CUTS] = {{0, 0, 1}};
    int n = 1;
    if (threads > 1 && ig_estimate_ns(k, call, 1, away) >= tiny_ns) {
        for (int64_t pieces = threads; pieces <= 4 * (int64_t)threads; pieces *= 2) {
            if (k->row_tile) n = add_cut(all, n, IG_MAX_CUTS, cut_into(call, 1, k->row_tile, pieces));
            if (k->col_tile) n = add_cut(all, n, IG_MAX_CUTS, cut_into(call, 2, k->col_tile, pieces));
        }
        favourite_first(k, call, threads, away, all, n);
    }
    for (int i = 0; i < n && i < max; i++) cuts[i] = all[i];
    return n < max ? n : max;
}
