#include "planner/deploy/explore_seeds.h"

#include <stdlib.h>

#include "planner/alloc.h"

struct seed {
    const struct ig_ranges *r;
    int32_t way, axis, devices;
    int64_t room;                /* bytes of a device */
};

/* Of nodes i .. k - 1, with the hand-over in front of node i. */
static int64_t of_run(const struct seed *s, int32_t i, int32_t k)
{
    int32_t kind = s->r->x->ways[s->way].kind;
    int64_t ns = ig_range_ns(s->r, s->way, i, k), link = i ? ig_pipe_transfer(&s->r->x->link[kind][kind], s->r->passing[i]) : 0;
    if (s->axis == IG_EXPLORE_ENERGY) return s->r->x->ways[s->way].mw * ns;
    if (s->axis == IG_EXPLORE_MEMORY) return ig_range_bytes(s->r, s->way, i, k);
    return ns > link ? ns : link;
}

/* Runs as long as they can be with that much of the measure each; 1 if there are devices enough. */
static int cut(const struct seed *s, int64_t most, struct ig_explore_point *p)
{
    int32_t n = s->r->x->n, i = 0;
    p->n_stages = 0;
    while (i < n && p->n_stages < s->devices) {
        int32_t far = i;
        for (int32_t k = i + 1; k <= n; k++) {
            if (!ig_explore_may_cut(s->r->x, k)) continue;
            if (ig_range_bytes(s->r, s->way, i, k) <= s->room && of_run(s, i, k) <= most) far = k;
            else if (s->axis != IG_EXPLORE_MEMORY) break;
        }
        if (far == i) return 0;
        p->stages[p->n_stages] = (struct ig_explore_stage){i, far, s->way, p->n_stages};
        p->n_stages++;
        i = far;
    }
    return i == n;
}

/* To one part in 256 of what there is. 0: none was found. */
static int balance(const struct seed *s, struct ig_explore_point *p)
{
    int64_t low = 0, high = of_run(s, 0, s->r->x->n), step = high / 256;
    if (!cut(s, high, p)) return 0;
    while (high - low > step + 1) {
        int64_t middle = low + (high - low) / 2;
        if (cut(s, middle, p)) high = middle;
        else low = middle;
    }
    cut(s, high, p);
    ig_explore_fill(s->r, p);
    return 1;
}

void ig_explore_seeds(const struct ig_ranges *r, int32_t devices, struct ig_explore_front *f)
{
    const struct ig_explore *x = r->x;
    *f = (struct ig_explore_front){.at = ig_must_alloc((size_t)(x->n_ways * IG_EXPLORE_AXES), sizeof *f->at)};
    for (int32_t way = 0; way < x->n_ways; way++) {
        const struct ig_explore_kind *kind = &x->kinds[x->ways[way].kind];
        if (ig_range_ns(r, way, 0, x->n) >= IG_PIPE_NEVER) continue;
        for (int32_t axis = 0; axis < IG_EXPLORE_AXES; axis++) {
            struct seed s = {r, way, axis, devices < kind->count ? devices : kind->count,
                             kind->memory_bytes ? kind->memory_bytes : INT64_MAX};
            f->n += balance(&s, &f->at[f->n]);
        }
    }
}
