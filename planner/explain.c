#include "planner/explain.h"

#include <stdarg.h>
#include <string.h>

static const char *const loop_words[IG_LOOPS] = {"o_feat", "i_feat", "fh", "fw", "k_y", "k_x"};
static const char *const tile_words[IG_LOOPS] = {"out_tile", "in_tile", "row_tile", "col_tile", "ky_tile", "kx_tile"};
static const char *const role_words[IG_ROLES] = {"input data", "output data", "weights"};

static void line(FILE *f, int depth, const char *words, ...) __attribute__((format(printf, 3, 4)));

static void line(FILE *f, int depth, const char *words, ...)
{
    va_list args;
    fprintf(f, "%*s", 2 * depth, "");
    va_start(args, words);
    vfprintf(f, words, args);
    va_end(args);
    fputc('\n', f);
}

/* "9*28*28*2": the extents of the copy, then the bytes of an element. */
static void put_extents(FILE *f, const struct ig_nest *nest, int role)
{
    const struct ig_layer *l = nest->layer;
    for (int d = IG_OF; d <= IG_FW; d++) {
        int64_t e = ig_nest_extent(nest, role, d, nest->t[d]);
        if (role == l->window && d >= IG_FH) e = ig_nest_span(nest, d, e, nest->p[d + 2] * l->n[d + 2]);
        if (ig_layer_has(l, role, d)) fprintf(f, "%lld*", (long long)e);
    }
    if (role == IG_W && nest->pe->place[role].extra)
        fprintf(f, "(%lld*%lld+%d)*", (long long)l->n[IG_KH], (long long)l->n[IG_KW], nest->pe->place[role].extra);
    else if (role == IG_W && l->window != IG_ROLES)
        fprintf(f, "%lld*%lld*", (long long)l->n[IG_KH], (long long)l->n[IG_KW]);
    fprintf(f, "%d", nest->board->element_bytes);
}

static void put_transfer(FILE *f, const struct ig_nest *nest, int role, const char *word, int depth)
{
    const struct ig_placement *t = &nest->pe->place[role];
    fprintf(f, "%*s%s(", 2 * depth, "", word);
    put_extents(f, nest, role);
    fprintf(f, ", mem%d, ch%d) # %s, %lld B\n", nest->board->stores[t->memory].id, nest->board->channels[t->channel].id,
            role_words[role], (long long)ig_nest_bytes(nest, role));
}

static void put_loads(FILE *f, const struct ig_nest *nest, int level, int depth)
{
    static const int roles[] = {IG_X, IG_W};
    for (int k = 0; k < 2; k++)
        if (nest->pe->place[roles[k]].level == level && ig_nest_bytes(nest, roles[k]))
            put_transfer(f, nest, roles[k], "load", depth);
    if (nest->layer->residual && nest->pe->place[IG_Y].level == level) put_transfer(f, nest, IG_Y, "load", depth);
}

static int is_fused(const struct ig_nest *nest, int d)
{
    return nest->fused_lanes > 1 && (d == nest->fused[0] || d == nest->fused[1]);
}

/* Two loops as one: steps and lanes of their product. */
static void put_fused(FILE *f, const struct ig_nest *nest, int *depth)
{
    int64_t both = nest->t[nest->fused[0]] * nest->t[nest->fused[1]];
    line(f, (*depth)++, "for %s_%s in range(%lld):", loop_words[nest->fused[0]], loop_words[nest->fused[1]],
         (long long)((both + nest->fused_lanes - 1) / nest->fused_lanes));
}

/* The loop of a level; nothing where it is the inner one of a fused pair. */
static void put_loop(FILE *f, const struct ig_nest *nest, int level, int *depth)
{
    int d = nest->pe->order[level];
    if (is_fused(nest, d)) {
        if (nest->level[d] == level) put_fused(f, nest, depth);
        return;
    }
    line(f, (*depth)++, "for %s in range(%lld):", loop_words[d], (long long)nest->t[d]);
}

/* The last level that a fused pair takes up: its own, or the next where the other loop of the pair is. */
static int fused_end(const struct ig_nest *nest, int level)
{
    return level + 1 < IG_LOOPS && is_fused(nest, nest->pe->order[level + 1]) ? level + 1 : level;
}

/* The parallel loops of a level, behind its temporal one and the transfers inside that. */
static void put_lanes(FILE *f, const struct ig_nest *nest, int level, int *depth, int *par)
{
    int d = nest->pe->order[level];
    if (is_fused(nest, d)) {
        if (fused_end(nest, nest->level[d]) == level)
            line(f, (*depth)++, "for par%d in range(%lld):", (*par)++, (long long)nest->fused_lanes);
    } else if (nest->p[d] > 1) {
        line(f, (*depth)++, "for par%d in range(%lld):", (*par)++, (long long)nest->p[d]);
    }
}

static void put_order(FILE *f, const struct ig_nest *nest)
{
    int depth = 0;
    for (int level = 0; level < IG_LOOPS; level++)
        line(f, depth++, "for %s in range(%lld):", loop_words[nest->pe->order[level]],
             (long long)nest->layer->n[nest->pe->order[level]]);
    line(f, depth, "do %s", nest->layer->step_ops == 2 ? "MAC" : "OP");
}

static void put_tile_loops(FILE *f, const struct ig_nest *nest, int *depth)
{
    for (int d = 0; d < IG_LOOPS; d++)
        if (nest->tiles[d] > 1)
            line(f, (*depth)++, "for %s in range(%lld): # %s in steps of %lld, the last %lld", tile_words[d],
                 (long long)nest->tiles[d], loop_words[d], (long long)nest->t[d], (long long)nest->last[d]);
}

void ig_explain_nest(FILE *f, const struct ig_nest *nest, int listing)
{
    int depth = 0, par = 0, inside[IG_LOOPS + 1], moves = listing >= IG_LISTING_TRANSFERS;
    if (listing == IG_LISTING_ORDER) {
        put_order(f, nest);
        return;
    }
    put_tile_loops(f, nest, &depth);
    for (int level = 0; level < IG_LOOPS; level++) {
        inside[level] = depth;
        if (moves) put_loads(f, nest, level, depth);
        if (level) put_lanes(f, nest, level - 1, &depth, &par);
        put_loop(f, nest, level, &depth);
    }
    put_lanes(f, nest, IG_LOOPS - 1, &depth, &par);
    line(f, depth, "do %s", nest->layer->step_ops == 2 ? "MAC" : "OP");
    if (moves) put_transfer(f, nest, IG_Y, "store", inside[nest->pe->place[IG_Y].level]);
}

static void put_rate(FILE *f, const char *what, double s)
{
    fprintf(f, "%-24s %12.6f ms\n", what, s * 1e3);
}

static void put_problems(FILE *f, const struct ig_nest *nest)
{
    for (int role = 0; role < IG_ROLES; role++) {
        const struct ig_placement *t = &nest->pe->place[role];
        const struct ig_store *m = &nest->board->stores[t->memory];
        if (nest->infeasible == role)
            fprintf(f, "infeasible: %s does not fit memory %d (%lld B) with any tile of %s\n", ig_role_names[role],
                    m->id, (long long)m->bytes, ig_loop_names[t->limit]);
        if (nest->not_limitable >> role & 1)
            fprintf(f, "%s (%lld B) exceeds memory %d (%lld B), not limitable: %s does not index it\n",
                    ig_role_names[role], (long long)ig_nest_bytes(nest, role), m->id, (long long)m->bytes,
                    ig_loop_names[t->limit]);
    }
}

void ig_explain_analysis(FILE *f, const struct ig_nest *nest, const struct ig_analysis *a)
{
    fprintf(f, "operations %lld, with rounding %lld (%.1f %% lost)\n", (long long)a->ops_th, (long long)a->ops_re,
            100. - 100. * (double)a->ops_th / (double)a->ops_re);
    for (int role = 0; role < IG_ROLES; role++)
        fprintf(f, "%s %lld B, moved %lld B\n", ig_role_names[role], (long long)a->size[role],
                (long long)a->traffic[role]);
    put_rate(f, "compute", a->compute_s);
    for (int32_t c = 0; c < nest->board->n_channels; c++) {
        char what[32];
        snprintf(what, sizeof what, "channel %d", nest->board->channels[c].id);
        if (a->channel_bytes[c]) put_rate(f, what, a->channel_s[c]);
    }
    put_rate(f, "overhead", (double)nest->pe->overhead_ns * 1e-9);
    put_rate(f, "estimate", a->s);
    put_rate(f, "by operations alone", a->ops_s);
    put_rate(f, "by the roofline", a->roofline_s);
    if (a->mj >= 0) fprintf(f, "%-24s %12.6f mJ\n", "energy", a->mj);
    put_problems(f, nest);
}
