/*
 * How short a period can be at all: for multipliers m >= 0 of sum 1, T >= sum over p of m_p * load_p >= sum over nodes
 * of min over p of m_p * t(v, p): the dual of the linear programme that splits nodes at will. For two processors the
 * programme itself is solved - nodes by the ratio of their times, one split - else multipliers are improved step by
 * step.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/pipe.h"

int64_t ig_pipe_dual(const struct ig_pipe *p, const int32_t *multiplier, int32_t from)
{
    int64_t sum = 0;
    for (int32_t v = from; v < p->n; v++) {
        int64_t least = INT64_MAX;
        for (int32_t k = 0; k < p->n_processors; k++) {
            int64_t t = p->ns[(int64_t)v * p->n_processors + k];
            if (t < IG_PIPE_NEVER && t * multiplier[k] < least) least = t * multiplier[k];
        }
        sum += least;
    }
    return sum;
}

/* Moves ever smaller parts of the unit from one processor to another as long as that proves more. */
int64_t ig_pipe_multipliers(const struct ig_pipe *p, int32_t *multiplier)
{
    int32_t n = p->n_processors;
    for (int32_t k = 0; k < n; k++) multiplier[k] = IG_PIPE_UNIT / n + (k < IG_PIPE_UNIT % n);
    int64_t best = ig_pipe_dual(p, multiplier, 0);
    for (int32_t step = IG_PIPE_UNIT / 2; step;) {
        int better = 0;
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++) {
                if (a == b || multiplier[a] < step) continue;
                multiplier[a] -= step;
                multiplier[b] += step;
                int64_t now = ig_pipe_dual(p, multiplier, 0);
                if (now > best) {
                    best = now;
                    better = 1;
                } else {
                    multiplier[a] += step;
                    multiplier[b] -= step;
                }
            }
        if (!better) step /= 2;
    }
    return (best + IG_PIPE_UNIT - 1) / IG_PIPE_UNIT;
}

/* --- two processors --- */

struct node_times {
    int64_t t[2];
};

static int by_ratio(const void *a, const void *b)
{
    const struct node_times *x = a, *y = b;
    __int128 left = (__int128)x->t[0] * y->t[1], right = (__int128)y->t[0] * x->t[1];
    if (left != right) return left < right ? -1 : 1;
    return (x->t[0] > y->t[0]) - (x->t[0] < y->t[0]);
}

/* Nodes that one processor is better at, first: it takes them until both are busy equally long. */
static int64_t split_bound(struct node_times *nodes, int32_t n, int64_t first, int64_t second)
{
    for (int32_t i = 0; i < n; i++) second += nodes[i].t[1];
    qsort(nodes, (size_t)n, sizeof *nodes, by_ratio);
    if (first >= second) return first;
    for (int32_t i = 0; i < n; i++) {
        int64_t a = nodes[i].t[0], b = nodes[i].t[1];
        if (first + a >= second - b) {
            __int128 part = (__int128)a * (second - first), both = a + b;
            return first + (both ? (int64_t)((part + both - 1) / both) : 0);
        }
        first += a;
        second -= b;
    }
    return second;
}

static int64_t bound_of_two(const struct ig_pipe *p)
{
    struct node_times *nodes = ig_must_alloc((size_t)p->n, sizeof *nodes);
    int64_t pinned[2] = {0, 0};
    int32_t n = 0;
    for (int32_t v = 0; v < p->n; v++) {
        struct node_times now = {{p->ns[2 * (int64_t)v], p->ns[2 * (int64_t)v + 1]}};
        if (now.t[0] >= IG_PIPE_NEVER)
            pinned[1] += now.t[1];
        else if (now.t[1] >= IG_PIPE_NEVER)
            pinned[0] += now.t[0];
        else
            nodes[n++] = now;
    }
    int64_t bound = split_bound(nodes, n, pinned[0], pinned[1]);
    free(nodes);
    return bound;
}

int64_t ig_pipe_bound(const struct ig_pipe *p)
{
    int32_t multiplier[IG_PIPE_PROCESSORS];
    int64_t bound = p->n_processors == 2 ? bound_of_two(p) : ig_pipe_multipliers(p, multiplier);
    for (int32_t v = 0; v < p->n; v++) {
        int64_t least = IG_PIPE_NEVER;
        for (int32_t k = 0; k < p->n_processors; k++) {
            int64_t t = p->ns[(int64_t)v * p->n_processors + k];
            if (t < least) least = t;
        }
        if (least > bound) bound = least;
    }
    return bound;
}

int64_t ig_pipe_gap_ppm(int64_t period_ns, int64_t bound_ns)
{
    return bound_ns > 0 ? (int64_t)((__int128)(period_ns - bound_ns) * 1000000 / bound_ns) : 0;
}
