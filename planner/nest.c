#include "planner/nest.h"

#include <string.h>

#include "planner/analyse.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int is_fused(const struct ig_nest *nest, int d)
{
    return nest->fused_lanes > 1 && (d == nest->fused[0] || d == nest->fused[1]);
}

/* A fused pair sits where the outer of its loops does. */
static void set_levels(struct ig_nest *nest)
{
    int outer = IG_LOOPS;
    for (int level = IG_LOOPS - 1; level >= 0; level--) {
        int d = nest->pe->order[level];
        nest->level[d] = level;
        if (is_fused(nest, d)) outer = level;
    }
    for (int d = 0; d < IG_LOOPS; d++)
        if (is_fused(nest, d)) nest->level[d] = outer;
}

void ig_nest_start(struct ig_nest *nest, const struct ig_layer *l, const struct ig_platform *b,
                   const struct ig_processor *pe)
{
    *nest = (struct ig_nest){.layer = l, .board = b, .pe = pe, .fused = {IG_LOOPS, IG_LOOPS}, .fused_lanes = 1};
    nest->infeasible = IG_ROLES;
    for (int d = 0; d < IG_LOOPS; d++) nest->p[d] = nest->tiles[d] = 1;
    for (int32_t k = 0; k < pe->n_grid; k++) {
        const struct ig_grid *g = &pe->grid[k];
        if (g->n_loops == 1) {
            nest->p[g->loops[0]] = g->lanes;
        } else {
            memcpy(nest->fused, g->loops, sizeof nest->fused);
            nest->fused_lanes = g->lanes;
        }
    }
    set_levels(nest);
    for (int d = 0; d < IG_LOOPS; d++) nest->t[d] = nest->t0[d] = nest->last[d] = ceil_div(l->n[d], nest->p[d]);
}

void ig_nest_tile(struct ig_nest *nest, int d, int64_t steps)
{
    nest->tiles[d] = ceil_div(nest->t0[d], steps);
    nest->t[d] = ceil_div(nest->t0[d], nest->tiles[d]);
    nest->tiles[d] = ceil_div(nest->t0[d], nest->t[d]);
    nest->last[d] = nest->t0[d] - (nest->tiles[d] - 1) * nest->t[d];
}

/* --- bytes --- */

/* Of a fused pair outside the copy's level, the lanes lie along the second loop. */
int64_t ig_nest_extent(const struct ig_nest *nest, int role, int d, int64_t steps)
{
    if (nest->level[d] >= nest->pe->place[role].level) return nest->p[d] * steps;
    return is_fused(nest, d) && d == nest->fused[1] ? nest->fused_lanes : nest->p[d];
}

int64_t ig_nest_span(const struct ig_nest *nest, int positions, int64_t ext, int64_t kernel)
{
    const struct ig_layer *l = nest->layer;
    int rows = positions == IG_FH;
    int64_t span = (ext - 1) * (rows ? l->sh : l->sw) + (rows ? l->dh : l->dw) * (kernel - 1) + 1;
    int64_t all = rows ? l->x_h : l->x_w;
    return strcmp(nest->pe->type, "CPU") ? span : min64(span, all); /* a CPU reads no padding */
}

/* Input channels that `of` output channels read of every group's slice. */
static int64_t slices(const struct ig_layer *l, int64_t of)
{
    return l->groups > 1 ? ceil_div(of * l->groups, l->n[IG_OF]) : 1;
}

int64_t ig_nest_bytes_of(const struct ig_nest *nest, int role, const int64_t *t)
{
    const struct ig_layer *l = nest->layer;
    int64_t e[IG_LOOPS], n = nest->board->element_bytes;
    for (int d = 0; d < IG_LOOPS; d++) e[d] = ig_layer_has(l, role, d) ? ig_nest_extent(nest, role, d, t[d]) : 1;
    if (role == IG_W) {
        if (!l->elements[IG_W]) return 0;
        return n * e[IG_OF] * e[IG_IF] * e[IG_FH] * e[IG_FW] * (e[IG_KH] * e[IG_KW] + nest->pe->place[IG_W].extra);
    }
    n *= role == IG_Y ? e[IG_OF] : e[IG_IF] * l->inputs * slices(l, e[IG_OF]);
    if (role != l->window) return n * e[IG_FH] * e[IG_FW];
    return n * ig_nest_span(nest, IG_FH, e[IG_FH], e[IG_KH]) * ig_nest_span(nest, IG_FW, e[IG_FW], e[IG_KW]);
}

int64_t ig_nest_bytes(const struct ig_nest *nest, int role)
{
    return ig_nest_bytes_of(nest, role, nest->t);
}

/* Full and last tiles of every tiled loop, all combinations: f(steps) * how many there are, summed. */
typedef int64_t tile_fn(const struct ig_nest *nest, int role, const int64_t *t);

static int64_t over_tiles(const struct ig_nest *nest, int d, int64_t *t, int role, tile_fn *f)
{
    while (d < IG_LOOPS && nest->tiles[d] == 1) d++;
    if (d == IG_LOOPS) return f(nest, role, t);
    t[d] = nest->t[d];
    int64_t sum = (nest->tiles[d] - 1) * over_tiles(nest, d + 1, t, role, f);
    t[d] = nest->last[d];
    return sum + over_tiles(nest, d + 1, t, role, f);
}

static int64_t sum_over_tiles(const struct ig_nest *nest, int role, tile_fn *f)
{
    int64_t t[IG_LOOPS];
    memcpy(t, nest->t, sizeof t);
    return over_tiles(nest, 0, t, role, f);
}

/* All transfers of one tile: once per iteration of the loops outside the copy's level. */
static int64_t tile_traffic(const struct ig_nest *nest, int role, const int64_t *t)
{
    int64_t bytes = ig_nest_bytes_of(nest, role, t);
    int pair = 0;
    for (int d = 0; d < IG_LOOPS; d++) {
        if (nest->level[d] >= nest->pe->place[role].level) continue;
        if (!is_fused(nest, d))
            bytes *= t[d];
        else if (!pair++)
            bytes *= ceil_div(t[nest->fused[0]] * t[nest->fused[1]], nest->fused_lanes);
    }
    return role == IG_Y && nest->layer->residual ? 2 * bytes : bytes;
}

int64_t ig_nest_traffic(const struct ig_nest *nest, int role)
{
    return sum_over_tiles(nest, role, tile_traffic);
}

static int64_t tile_ops(const struct ig_nest *nest, int role, const int64_t *t)
{
    int64_t ops = nest->layer->step_ops;
    (void)role;
    for (int d = 0; d < IG_LOOPS; d++)
        if (!is_fused(nest, d)) ops *= nest->p[d] * t[d];
    if (nest->fused_lanes == 1) return ops;
    return ops * ceil_div(t[nest->fused[0]] * t[nest->fused[1]], nest->fused_lanes) * nest->fused_lanes;
}

int64_t ig_nest_ops(const struct ig_nest *nest)
{
    return sum_over_tiles(nest, IG_ROLES, tile_ops);
}

/* --- tiles --- */

static int64_t capacity(const struct ig_nest *nest, int role)
{
    return nest->board->stores[nest->pe->place[role].memory].bytes;
}

/* Bytes of a copy if loop d had so many steps a tile. */
static int64_t bytes_at(const struct ig_nest *nest, int role, int d, int64_t steps)
{
    int64_t t[IG_LOOPS];
    memcpy(t, nest->t, sizeof t);
    t[d] = steps;
    return ig_nest_bytes_of(nest, role, t);
}

/* Step 4 for one tensor: 0, or 1 if no tile fits. */
static int limit(struct ig_nest *nest, int role)
{
    int d = nest->pe->place[role].limit;
    int64_t cap = capacity(nest, role), low = 0, high = nest->t[d];
    if (ig_nest_bytes(nest, role) <= cap) return 0;
    if (!ig_layer_has(nest->layer, role, d)) {
        nest->not_limitable |= 1 << role;
        return 0;
    }
    while (high - low > 1) { /* low steps fit, high do not; bytes grow with steps */
        int64_t middle = (low + high) / 2;
        if (bytes_at(nest, role, d, middle) <= cap)
            low = middle;
        else
            high = middle;
    }
    if (!low) return 1;
    ig_nest_tile(nest, d, low);
    return 0;
}

int ig_nest_refine(struct ig_nest *nest, const struct ig_layer *l, const struct ig_platform *b,
                   const struct ig_processor *pe)
{
    ig_nest_start(nest, l, b, pe);
    for (int role = 0; role < IG_ROLES && nest->infeasible == IG_ROLES; role++)
        if (limit(nest, role)) nest->infeasible = role;
    return nest->infeasible == IG_ROLES;
}

int ig_nest_fits(const struct ig_nest *nest)
{
    for (int role = 0; role < IG_ROLES; role++)
        if (ig_layer_has(nest->layer, role, nest->pe->place[role].limit) &&
            ig_nest_bytes(nest, role) > capacity(nest, role))
            return 0;
    return 1;
}

/* --- the best tiling --- */

struct best {
    struct ig_nest nest;
    double s;
    int64_t bytes;
    int found;
};

static void consider(struct best *best, const struct ig_nest *nest)
{
    struct ig_analysis a;
    int64_t bytes = 0;
    if (!ig_nest_fits(nest)) return;
    ig_analyse(&a, nest);
    for (int role = 0; role < IG_ROLES; role++) bytes += a.traffic[role];
    if (best->found && (a.s > best->s || (a.s == best->s && bytes >= best->bytes))) return;
    *best = (struct best){*nest, a.s, bytes, 1};
}

/* Every way to cut loop d and those after it evenly: as many tile sizes as there are different ones. */
static void cut_from(struct best *best, struct ig_nest *nest, int d, int mask)
{
    while (d < IG_LOOPS && !(mask >> d & 1)) d++;
    if (d == IG_LOOPS) {
        consider(best, nest);
        return;
    }
    for (int64_t steps = nest->t0[d]; steps >= 1; steps = nest->t[d] - 1) {
        ig_nest_tile(nest, d, steps);
        cut_from(best, nest, d + 1, mask);
    }
    ig_nest_tile(nest, d, nest->t0[d]);
}

int ig_nest_best(struct ig_nest *nest, const struct ig_layer *l, const struct ig_platform *b,
                 const struct ig_processor *pe, int mask)
{
    struct best best = {.found = 0};
    ig_nest_refine(nest, l, b, pe);
    struct ig_nest from = *nest;
    for (int d = 0; d < IG_LOOPS; d++) ig_nest_tile(&from, d, from.t0[d]);
    from.infeasible = IG_ROLES;
    cut_from(&best, &from, 0, mask);
    if (best.found) *nest = best.nest;
    return best.found;
}
