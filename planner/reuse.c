/*
 * Algorithm 1 of Minakova & Stefanov 2022, after Pisarchyk & Lee 2020: every edge in turn goes to the buffer that
 * grows least, if no edge in there is used at the same time. The baseline; ig_app_place is what we use.
 */
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/app.h"

struct life { int32_t partition, first, last; };

/* In steps of the edge's own partition; a layer of another one counts as the first or last step. */
static struct life life_of(const struct ig_app *a, int32_t edge)
{
    const struct ig_app_edge *e = &a->edges[edge];
    const struct ig_app_layer *from = &a->layers[e->from], *to = &a->layers[e->to];
    return (struct life){e->partition, from->partition == e->partition ? from->first : 0,
                         to->partition == e->partition ? to->last : a->steps[e->partition] - 1};
}

/* May the two be in one buffer? */
static int may_share(const struct ig_app *a, struct life e, struct life f)
{
    if (e.partition != f.partition) return !a->concurrent[e.partition * a->n_partitions + f.partition];
    return e.last < f.first || f.last < e.first;
}

static int buffer_suits(const struct ig_app *a, const struct ig_app_buffers *b, int32_t buffer, int32_t edge)
{
    for (int32_t f = 0; f < edge; f++)
        if (b->buffer[f] == buffer && !may_share(a, life_of(a, edge), life_of(a, f))) return 0;
    return 1;
}

void ig_app_reuse(const struct ig_app *a, struct ig_app_buffers *b)
{
    *b = (struct ig_app_buffers){0};
    b->buffer = ig_must_alloc((size_t)a->n_edges, sizeof *b->buffer);
    b->size = ig_must_alloc((size_t)a->n_edges, sizeof *b->size);
    for (int32_t e = 0; e < a->n_edges; e++) {
        int64_t size = ig_app_edge_elements(a, e), least = INT64_MAX;
        int32_t best = b->n;
        for (int32_t i = 0; i < b->n; i++) {
            int64_t cost = size > b->size[i] ? size - b->size[i] : 0;
            if (cost >= least || !buffer_suits(a, b, i, e)) continue;
            best = i;
            least = cost;
        }
        if (best == b->n) least = size;
        b->n += best == b->n;
        b->buffer[e] = best;
        b->size[best] += least;
        b->total += least;
    }
}

void ig_app_buffers_free(struct ig_app_buffers *b)
{
    free(b->buffer);
    free(b->size);
}
