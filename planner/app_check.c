/*
 * Are an application's offsets safe? Nothing here is shared with what made them. An edge is held in its writer's
 * partition from the writer's step to the end, in its reader's from the start to the reader's step, in those of the
 * same network between them throughout; an edge between partitions that run at the same time is a slot, which may be
 * written or read at any moment of either.
 */
#include <stdio.h>

#include "planner/app.h"

static int at_once(const struct ig_app *a, int32_t p, int32_t q)
{
    return a->concurrent[p * a->n_partitions + q];
}

static int partition_cnn(const struct ig_app *a, int32_t p)
{
    for (int32_t i = 0; i < a->n_layers; i++)
        if (a->layers[i].partition == p) return a->layers[i].cnn;
    return -1;
}

/* The steps of partition p in which edge e is held; 0: in none. */
static int held(const struct ig_app *a, int32_t e, int32_t p, int32_t *first, int32_t *last)
{
    const struct ig_app_layer *from = &a->layers[a->edges[e].from], *to = &a->layers[a->edges[e].to];
    *first = 0;
    *last = a->steps[p] - 1;
    if (at_once(a, from->partition, to->partition)) return p == from->partition || p == to->partition;
    if (p < from->partition || p > to->partition || partition_cnn(a, p) != from->cnn) return 0;
    if (p == from->partition) *first = from->first;
    if (p == to->partition) *last = to->last;
    return 1;
}

/* How the lives of two edges meet. */
static int meet(const struct ig_app *a, int32_t e, int32_t f)
{
    int verdict = IG_APP_OK;
    for (int32_t p = 0; p < a->n_partitions; p++)
        for (int32_t q = 0; q < a->n_partitions; q++) {
            int32_t e0, e1, f0, f1;
            if (!held(a, e, p, &e0, &e1) || !held(a, f, q, &f0, &f1)) continue;
            if (p != q && at_once(a, p, q)) return IG_APP_CONCURRENT_OVERLAP;
            if (p == q && e0 <= f1 && f0 <= e1) verdict = IG_APP_OVERLAP_LIVE;
        }
    return verdict;
}

const char *ig_app_verdict_name(int verdict)
{
    static const char *const names[] = {"OK", "OVERLAP_LIVE", "CONCURRENT_OVERLAP"};
    return names[verdict];
}

int ig_app_check(const struct ig_app *a, int32_t data_bytes, const int64_t *offset, char *why,
                 size_t why_bytes)
{
    int worst = IG_APP_OK;
    for (int32_t e = 0; e < a->n_edges; e++)
        for (int32_t f = 0; f < e; f++) {
            int64_t e_end = offset[e] + ig_app_edge_elements(a, e) * data_bytes;
            int64_t f_end = offset[f] + ig_app_edge_elements(a, f) * data_bytes;
            if (offset[e] >= f_end || offset[f] >= e_end) continue;
            int verdict = meet(a, e, f);
            if (verdict == IG_APP_OK || (worst && verdict >= worst)) continue;
            worst = verdict;
            snprintf(why, why_bytes, "edges %d and %d are held at the same time and meet", f, e);
        }
    return worst;
}
