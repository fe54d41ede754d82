/*
 * A heap holds the best k of the elements so far, of which the last in order is its root: most of a long line's are compared with that alone. Taken from it
 * one by one they come in order, the last first.
 */
#include "kernels_cpu/common/topk.h"

#include "kernels_cpu/ref/walk.h"

/* a comes before b: a NaN is larger than all numbers; of equal elements the first. */
static inline int before(struct ig_topk_item a, struct ig_topk_item b, int largest)
{
    int order = (a.value > b.value) - (a.value < b.value);
    if (a.value != a.value || b.value != b.value) order = (a.value != a.value) - (b.value != b.value);
    if (!largest) order = -order;
    return order > 0 || (order == 0 && a.index < b.index);
}

/* `item` from the root of n items down to where it belongs. */
static void sink(struct ig_topk_item *heap, int64_t n, struct ig_topk_item item, int largest)
{
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(heap[child], heap[child + 1], largest)) child++;
        if (!before(item, heap[child], largest)) break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static void rise(struct ig_topk_item *heap, int64_t at, struct ig_topk_item item, int largest)
{
    for (int64_t parent; at > 0 && before(heap[parent = (at - 1) / 2], item, largest); at = parent) heap[at] = heap[parent];
    heap[at] = item;
}

/* The first k of n elements, `step` apart. */
static void fill(struct ig_topk_item *heap, int64_t k, const float *x, int64_t n, int64_t step, int largest)
{
    for (int64_t i = 0; i < n; i++) {
        const struct ig_topk_item item = {x[i * step], (int32_t)i};
        if (i < k) rise(heap, i, item, largest);
        else if (before(item, heap[0], largest)) sink(heap, k, item, largest);
    }
}

struct job {
    struct ig_lines l;
    int64_t k;
    const float *x;
    float *values;
    int64_t *indices;
    int32_t largest;
};

static void line(const struct job *j, struct ig_topk_item *heap, int64_t o, int64_t in_line)
{
    fill(heap, j->k, j->x + o * j->l.n * j->l.inner + in_line, j->l.n, j->l.inner, j->largest);
    for (int64_t i = j->k - 1; i >= 0; i--) {
        const int64_t at = (o * j->k + i) * j->l.inner + in_line;
        if (j->values) j->values[at] = heap[0].value;
        if (j->indices) j->indices[at] = heap[0].index;
        sink(heap, i, heap[i], j->largest);
    }
}

static struct job start(const struct ig_call *call)
{
    const struct ig_topk *a = (const struct ig_topk *)call->attrs;
    return (struct job){ig_lines_of(call->in[0].shape, a->axis), ig_topk_count(call), (const float *)call->in[0].data,
                        (float *)call->out[0].data, call->n_out > 1 ? (int64_t *)call->out[1].data : NULL, a->largest};
}

void ig_topk_rows(const struct ig_call *call, struct ig_range range, struct ig_topk_item *heap)
{
    const struct job j = start(call);
    const int64_t w = call->out[call->out[0].shape ? 0 : 1].w;
    for (int64_t i = range.y0 * w; i < range.y1 * w; i++) line(&j, heap, i, 0);
}

void ig_topk_across(const struct ig_call *call, struct ig_range range, struct ig_topk_item *heap)
{
    const struct job j = start(call);
    const int64_t c = call->in[0].c;
    for (int64_t o = 0; o < j.l.outer; o++)
        for (int64_t first = 0; first < j.l.inner; first += c)
            for (int32_t i = range.c0; i < range.c1; i++) line(&j, heap, o, first + i);
}
