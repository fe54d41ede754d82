#include "planner/deploy/explore_bounds.h"

#include <stdlib.h>

#include "planner/alloc.h"

/* pJ of a node where it cannot run: more than any, and as many as there may be nodes add up. */
#define PJ_NEVER (INT64_MAX / 4 / IG_EXPLORE_NODES)

struct sums {                    /* of nodes up to there, [n + 1] each */
    int64_t *cores, *gpu;        /* [n_kinds] the least ns of each on cores; on the GPU */
    int64_t *beside;             /* [n_kinds] on cores with the GPU's host thread beside them */
    int64_t (*line)[IG_EXPLORE_AXES]; /* of runs from one node on */
};

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Cores beside the GPU's host thread, and the GPU: may those two ways share a device? */
static int share(const struct ig_explore *x, int32_t a, int32_t b)
{
    const struct ig_explore_way *u = &x->ways[a], *v = &x->ways[b];
    return u->kind == v->kind && u->gpu != v->gpu && u->cores + v->cores <= x->kinds[u->kind].cores;
}

static void list_pairs(struct ig_bounds *b)
{
    const struct ig_explore *x = b->r->x;
    b->pairs = ig_must_alloc((size_t)(x->n_ways * x->n_ways), sizeof *b->pairs);
    for (int32_t v = 0; v < x->n_ways && b->halves > 1; v++)
        for (int32_t w = 0; w < x->n_ways; w++) {
            if (!share(x, v, w)) continue;
            b->pairs[b->n_pairs][0] = (int16_t)v;
            b->pairs[b->n_pairs++][1] = (int16_t)w;
        }
}

static int has_partner(const struct ig_bounds *b, int32_t way)
{
    for (int32_t p = 0; p < b->n_pairs; p++)
        if (b->pairs[p][0] == way) return 1;
    return 0;
}

static void add_sums(const struct ig_bounds *b, struct sums *s)
{
    const struct ig_explore *x = b->r->x;
    int64_t n = x->n + 1, *lists[] = {s->cores, s->gpu, s->beside};
    for (int32_t v = 0; v < x->n; v++) {
        int64_t least[3][IG_EXPLORE_KINDS];
        for (int32_t k = 0; k < x->n_kinds; k++) least[0][k] = least[1][k] = least[2][k] = IG_PIPE_NEVER;
        for (int32_t w = 0; w < x->n_ways; w++) {
            const struct ig_explore_way *way = &x->ways[w];
            int64_t ns = ig_range_ns(b->r, w, v, v + 1), *at = b->pj + w * n + v;
            at[1] = at[0] + (ns < IG_PIPE_NEVER ? less(way->mw * ns, PJ_NEVER) : PJ_NEVER);
            least[way->gpu][way->kind] = less(least[way->gpu][way->kind], ns);
            if (!way->gpu && has_partner(b, w)) least[2][way->kind] = less(least[2][way->kind], ns);
        }
        for (int list = 0; list < 3; list++)
            for (int32_t k = 0; k < x->n_kinds; k++) {
                int64_t *at = lists[list] + k * n + v;
                at[1] = at[0] + least[list][k];
            }
    }
}

/* Nodes up to some one by a, the rest by b: where both take the same, as near as can be; *at is there, of longer runs too. */
static int64_t halve(const int64_t *a, const int64_t *b, int32_t i, int32_t k, int32_t *at)
{
    int32_t j = *at;
    while (a[j] - a[i] < b[k] - b[j]) j++;
    *at = j;
    return j == i ? 0 : less(a[j] - a[i], b[k] - b[j - 1]);
}

static void add_ns(const struct ig_bounds *b, const struct sums *s, int32_t i)
{
    const struct ig_explore *x = b->r->x;
    for (int32_t kind = 0; kind < x->n_kinds; kind++) {
        int64_t from = (int64_t)kind * (x->n + 1);
        const int64_t *cores = s->cores + from, *gpu = s->gpu + from, *beside = s->beside + from;
        int32_t at = i, other = i;
        for (int32_t k = i + 1; k <= x->n; k++) {
            int64_t best = less(cores[k] - cores[i], gpu[k] - gpu[i]), *to = &s->line[k][IG_EXPLORE_PERIOD];
            if (b->n_pairs)
                best = less(best, less(halve(beside, gpu, i, k, &at), halve(gpu, beside, i, k, &other)));
            *to = less(*to, best);
        }
    }
}

/* Of two ways the best cut of a run is where what the first adds to the other's sum is least. */
static void add_pj(const struct ig_bounds *b, const struct sums *s, int32_t i)
{
    const int64_t *pj = b->pj;
    int64_t n = b->r->x->n + 1;
    for (int32_t w = 0; w < b->r->x->n_ways; w++)
        for (int32_t k = i + 1; k < n; k++) {
            int64_t *to = &s->line[k][IG_EXPLORE_ENERGY];
            *to = less(*to, pj[w * n + k] - pj[w * n + i]);
        }
    for (int32_t p = 0; p < b->n_pairs; p++) {
        const int64_t *first = pj + b->pairs[p][0] * n, *second = pj + b->pairs[p][1] * n;
        int64_t least = INT64_MAX;
        for (int32_t k = i + 2; k < n; k++) {
            int64_t *to = &s->line[k][IG_EXPLORE_ENERGY];
            least = less(least, first[k - 1] - second[k - 1]);
            *to = less(*to, least + second[k] - first[i]);
        }
    }
}

/* So that the least of any range is that of two. */
static void add_dips(struct ig_bounds *b)
{
    int64_t n = b->r->x->n + 1, levels = 1;
    for (int64_t i = 2; i < n; i++) b->level[i] = (uint8_t)(b->level[i / 2] + 1);
    while ((int64_t)1 << levels < n) levels++;
    b->dips = ig_must_alloc((size_t)(levels * (b->n_pairs + 1) * n), sizeof *b->dips);
    for (int64_t p = 0; p < b->n_pairs; p++) {
        const int64_t *first = b->pj + b->pairs[p][0] * n, *second = b->pj + b->pairs[p][1] * n;
        for (int64_t j = 0; j < n; j++) b->dips[p * n + j] = first[j] - second[j];
        for (int64_t level = 1; level < levels; level++) {
            int64_t *to = b->dips + (level * b->n_pairs + p) * n, half = (int64_t)1 << (level - 1);
            const int64_t *from = to - b->n_pairs * n;
            for (int64_t j = 0; j + 2 * half <= n; j++) to[j] = less(from[j], from[j + half]);
        }
    }
}

int64_t ig_bounds_two_pj(const struct ig_bounds *b, int32_t pair, int32_t i, int32_t k)
{
    int64_t n = b->r->x->n + 1, level = b->level[k - 1 - i];
    const int64_t *at = b->dips + (level * b->n_pairs + pair) * n;
    const int64_t *first = b->pj + b->pairs[pair][0] * n, *second = b->pj + b->pairs[pair][1] * n;
    return less(at[i + 1], at[k - ((int64_t)1 << level)]) + second[k] - first[i];
}

static void add_times(const struct ig_bounds *b, const struct sums *s)
{
    int32_t n = b->r->x->n;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = i + 1; k <= n; k++) s->line[k][IG_EXPLORE_PERIOD] = s->line[k][IG_EXPLORE_ENERGY] = INT64_MAX;
        add_ns(b, s, i);
        add_pj(b, s, i);
        for (int32_t k = i + 1; k <= n; k++) {
            int64_t *to = b->of[(int64_t)k * (n + 1) + i];
            to[IG_EXPLORE_PERIOD] = s->line[k][IG_EXPLORE_PERIOD];
            to[IG_EXPLORE_ENERGY] = s->line[k][IG_EXPLORE_ENERGY];
        }
    }
}

/* One stage of nodes i .. k - 1: bytes beside weights. */
static int64_t held_by(const struct ig_ranges *r, int32_t i, int32_t k)
{
    size_t n = (size_t)r->x->n + 1, at = (size_t)i * n + (size_t)k;
    int64_t scratch = INT64_MAX;
    for (int32_t w = 0; w < r->x->n_ways; w++) scratch = less(scratch, r->scratch[(size_t)w * n * n + at]);
    return r->held[at] + scratch;
}

/* from[j], to[j]: of nodes up to j, and from j on; the least of both together. */
static int64_t least_of_two(const int64_t *from, const int64_t *to, int32_t i, int32_t k)
{
    int64_t best = INT64_MAX;
    for (int32_t j = i + 1; j < k; j++) best = less(best, from[j] + to[j]);
    return best;
}

/* A longer run may need less, as fewer tensors are in buffers: so the least of all that the run is part of. */
static void add_bytes(const struct ig_bounds *b)
{
    int32_t n = b->r->x->n;
    int64_t row = n + 1;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k <= n; k++) b->turned[k * row + i] = b->held[i * row + k] = held_by(b->r, i, k);
    for (int32_t k = n; k > 0; k--)
        for (int32_t i = 0; i < k; i++) {
            int64_t at = k * row + i, weights = b->r->weights[k] - b->r->weights[i], least = b->turned[at] + weights;
            b->two[at] = INT64_MAX;
            if (b->n_pairs && k - i > 1) b->two[at] = weights + least_of_two(b->held + i * row, b->turned + k * row, i, k);
            least = less(least, b->two[at]);
            if (k < n) least = less(least, b->of[at + row][IG_EXPLORE_MEMORY]);
            if (i > 0) least = less(least, b->of[at - 1][IG_EXPLORE_MEMORY]);
            b->of[at][IG_EXPLORE_MEMORY] = least;
        }
}

static void add_links(const struct ig_bounds *b)
{
    const struct ig_explore *x = b->r->x;
    for (int32_t i = 1; i < x->n; i++) {
        b->link[i] = INT64_MAX;
        for (int32_t pair = 0; pair < x->n_kinds * x->n_kinds; pair++)
            b->link[i] = less(b->link[i], ig_pipe_transfer(&x->link[pair / x->n_kinds][pair % x->n_kinds], b->r->passing[i]));
    }
}

struct side {                    /* of the nodes up to i, or with step 1 from there on */
    const struct ig_bounds *b;
    const int64_t (*others)[IG_EXPLORE_AXES]; /* of a device less */
    int32_t i, step, axis;
};

/* Of nodes from i to j on one device. */
static int64_t own_of(const struct side *s, int32_t j)
{
    return s->step < 0 ? ig_bounds_of(s->b, j, s->i)[s->axis] : ig_bounds_of(s->b, s->i, j)[s->axis];
}

/* The least of the worst device, as far as j may be where the last one ends: from `at` on by steps. */
static int64_t least_from(const struct side *s, int32_t at, int32_t step, int64_t best)
{
    for (int32_t j = at; j >= 0 && j <= s->b->r->x->n && j != s->i; j += step) {
        int64_t own = own_of(s, j), others = s->others[j][s->axis];
        if ((step == s->step ? own : others) >= best) break;
        if (!ig_explore_may_cut(s->b->r->x, j)) continue;
        if (s->axis == IG_EXPLORE_PERIOD) own = more(own, s->b->link[j]);
        best = less(best, more(own, others));
    }
    return best;
}

/* With more nodes the last device needs more, all others less: the best is near where they need the same. */
static int64_t least_of_worst(const struct side *s)
{
    int32_t low = 1, high = s->step < 0 ? s->i : s->b->r->x->n - s->i; /* nodes of the last device */
    while (low < high) {
        int32_t nodes = (low + high) / 2, j = s->i + nodes * s->step;
        if (own_of(s, j) >= s->others[j][s->axis]) high = nodes;
        else low = nodes + 1;
    }
    int64_t best = least_from(s, s->i + low * s->step, s->step, s->others[s->i][s->axis]);
    return least_from(s, s->i + (low - 1) * s->step, -s->step, best);
}

static void add_worst(const struct ig_bounds *b, int64_t (*to)[IG_EXPLORE_AXES], int32_t step)
{
    int32_t n = b->r->x->n, end = step < 0 ? 0 : n;
    for (int32_t d = 0; d <= b->devices; d++, to += n + 1)
        for (int32_t i = 0; i <= n; i++)
            for (int axis = 0; axis < IG_EXPLORE_AXES; axis++) {
                const struct side s = {b, (const int64_t(*)[IG_EXPLORE_AXES])(to - n - 1), i, step, axis};
                to[i][axis] = i == end ? 0 : d ? least_of_worst(&s) : INT64_MAX;
            }
}

void ig_bounds_make(const struct ig_ranges *r, int32_t halves, int32_t devices, struct ig_bounds *b)
{
    const struct ig_explore *x = r->x;
    size_t n = (size_t)x->n + 1, kinds = (size_t)x->n_kinds;
    struct sums s;
    s.cores = ig_must_alloc(n * kinds, sizeof *s.cores);
    s.gpu = ig_must_alloc(n * kinds, sizeof *s.gpu);
    s.beside = ig_must_alloc(n * kinds, sizeof *s.beside);
    s.line = ig_must_alloc(n, sizeof *s.line);
    *b = (struct ig_bounds){.r = r, .halves = halves};
    for (int32_t k = 0; k < x->n_kinds; k++) b->devices += x->kinds[k].count;
    b->devices = devices < b->devices ? devices : b->devices;
    b->of = ig_must_alloc(n * n, sizeof *b->of);
    b->pj = ig_must_alloc(n * (size_t)x->n_ways, sizeof *b->pj);
    b->level = ig_must_alloc(n, 1);
    b->held = ig_must_alloc(n * n, sizeof *b->held);
    b->turned = ig_must_alloc(n * n, sizeof *b->turned);
    b->two = ig_must_alloc(n * n, sizeof *b->two);
    b->link = ig_must_alloc(n, sizeof *b->link);
    b->front = ig_must_alloc(n * ((size_t)b->devices + 1), sizeof *b->front);
    b->back = ig_must_alloc(n * ((size_t)b->devices + 1), sizeof *b->back);
    list_pairs(b);
    add_sums(b, &s);
    add_dips(b);
    add_times(b, &s);
    add_bytes(b);
    add_links(b);
    add_worst(b, b->front, -1);
    add_worst(b, b->back, 1);
    free(s.cores);
    free(s.gpu);
    free(s.beside);
    free(s.line);
}

void ig_bounds_free(struct ig_bounds *b)
{
    void *owned[] = {b->pairs, b->of, b->pj, b->dips, b->level, b->held, b->turned, b->two, b->link, b->front, b->back};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* Of d devices in front of the run and the others behind it, with whichever d is best. */
static int64_t least_beside(const struct ig_bounds *b, int32_t i, int32_t k, int axis)
{
    int64_t n = b->r->x->n + 1;
    int32_t others = b->devices - 1, low = 0, high = others; /* the first d that is enough in front is in [low, high] */
    while (low < high) {
        int32_t d = (low + high) / 2;
        if (b->front[d * n + i][axis] <= b->back[(others - d) * n + k][axis]) high = d;
        else low = d + 1;
    }
    int64_t best = more(b->front[low * n + i][axis], b->back[(others - low) * n + k][axis]);
    return low ? less(best, b->front[(low - 1) * n + i][axis]) : best;
}

void ig_bounds_rest(const struct ig_bounds *b, int32_t i, int32_t k, int64_t x[IG_EXPLORE_AXES])
{
    const int64_t *all = b->front[(int64_t)b->devices * (b->r->x->n + 1) + b->r->x->n];
    for (int axis = 0; axis < IG_EXPLORE_AXES; axis++) x[axis] = more(all[axis], least_beside(b, i, k, axis));
    x[IG_EXPLORE_PERIOD] = more(x[IG_EXPLORE_PERIOD], more(b->link[i], b->link[k]));
}
