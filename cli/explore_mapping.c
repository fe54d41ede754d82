/* A deployment that was found as the files that build one: mapping.json, and horizontal.json where layers are split. */
#include <stdlib.h>

#include "cli/explore.h"
#include "planner/alloc.h"
#include "planner/deploy/assign.h"
#include "planner/deploy/rewrite.h"
#include "planner/text.h"

struct places {           /* where a point has the layers of the file */
    int32_t n;
    int32_t *home;        /* [n] node of each layer; -1: none */
    int32_t *stage;       /* [n] */
    uint8_t *is_split;    /* [n] over all devices of the stage's group */
};

static const char *name_of(const struct ig_exploration *x, int32_t i)
{
    return x->layers ? x->layers->at[i].autodice : x->g->nodes[i].name;
}

int ig_explore_has_groups(const struct ig_explore_point *p)
{
    for (int32_t s = 0; s < p->n_stages; s++)
        if (p->group[s].devices > 1) return 1;
    return 0;
}

static int is_split(const struct ig_exploration *x, const struct ig_explore_point *p, int32_t stage, int32_t node)
{
    const struct ig_explore_stage *at = &p->stages[stage];
    int32_t devices = p->group[stage].devices;
    for (int32_t v = at->first; v < at->end && devices > 1 && x->split; v++)
        if (x->e->plan->steps[x->e->net.first_step[v]].node == node) return x->split[v].most[devices] > 0;
    return 0;
}

/* Of the layers that one node computes the first stands for them all. */
static int is_first(const struct places *p, int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (p->home[k] == p->home[i]) return 0;
    return 1;
}

static struct places find_places(const struct ig_exploration *x, const struct ig_explore_point *p)
{
    size_t n = (size_t)(x->layers ? x->layers->n : x->g->n_nodes);
    struct places at = {.n = (int32_t)n};
    int32_t *stage_of = ig_must_alloc((size_t)x->g->n_nodes, sizeof *stage_of);
    at.home = ig_must_alloc(n, sizeof *at.home);
    at.stage = ig_must_alloc(n, sizeof *at.stage);
    at.is_split = ig_must_alloc(n, 1);
    for (int32_t i = 0; i < at.n; i++) at.home[i] = i;
    if (x->layers) ig_find_homes(x->g, x->layers, at.home);
    ig_explore_stages(x->g, x->e, p, stage_of);
    for (int32_t i = 0; i < at.n; i++) {
        if (at.home[i] < 0) continue;
        at.stage[i] = stage_of[at.home[i]];
        at.is_split[i] = is_first(&at, i) && is_split(x, p, at.stage[i], at.home[i]);
    }
    free(stage_of);
    return at;
}

static void free_places(struct places *at)
{
    free(at->home);
    free(at->stage);
    free(at->is_split);
}

static void put_key(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p, const struct places *at,
                    int32_t s, int32_t member)
{
    char key[128];
    int32_t before = 0;
    ig_explore_key(x, p, s, member, key);
    ig_put_text(f, key);
    fputs(": [", f);
    for (int32_t i = 0; i < at->n; i++) {
        if (at->stage[i] != s || (member && !at->is_split[i])) continue;
        if (before++) fputs(", ", f);
        ig_put_text(f, name_of(x, i));
    }
    fputs("]", f);
}

void ig_explore_mapping(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p)
{
    struct places at = find_places(x, p);
    fputs("{", f);
    for (int32_t s = 0; s < p->n_stages; s++)
        for (int32_t member = 0; !member || member < p->group[s].devices; member++) {
            fputs(s || member ? ",\n" : "\n", f);
            put_key(f, x, p, &at, s, member);
        }
    fputs("\n}\n", f);
    free_places(&at);
}

static void put_order(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p, int32_t stage, int32_t node)
{
    const struct ig_kernel *kernel = NULL;
    int32_t n = p->group[stage].devices, rows = ig_split_extent(x->g, node, IG_SPLIT_HEIGHT);
    for (int32_t i = 0; i < x->e->plan->n_steps; i++)
        if (x->e->plan->steps[i].node == node) kernel = x->e->plan->steps[i].kernel;
    fputs("[\"height\", {\"sizes\": [", f);
    for (int32_t i = 0; i < n; i++) {
        struct ig_rows part = ig_explore_part(rows, ig_split_step(x->g, node, IG_SPLIT_HEIGHT, kernel), i, n);
        fprintf(f, "%s%d", i ? ", " : "", part.b - part.a);
    }
    fputs("]}, [", f);
    for (int32_t i = 0; i < n; i++) {
        char key[128];
        ig_explore_key(x, p, stage, i, key);
        if (i) fputs(", ", f);
        ig_put_text(f, key);
    }
    fputs("]]", f);
}

void ig_explore_horizontal(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p)
{
    struct places at = find_places(x, p);
    int32_t before = 0;
    fputs("{", f);
    for (int32_t i = 0; i < at.n; i++) {
        if (!at.is_split[i]) continue;
        fputs(before++ ? ",\n" : "\n", f);
        ig_put_text(f, name_of(x, i));
        fputs(": ", f);
        put_order(f, x, p, at.stage[i], at.home[i]);
    }
    fputs("\n}\n", f);
    free_places(&at);
}
