/* Algorithm 1 of Velasco-Montero et al. 2023: one cut through the layers in their order, two processors, O(N). */
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/pipe_baselines.h"

static int64_t ns_of(const struct ig_pipe *p, int32_t v, int32_t k)
{
    return p->ns[(int64_t)v * p->n_processors + k];
}

static int64_t sum_of(const struct ig_pipe *p, int32_t k)
{
    int64_t sum = 0;
    for (int32_t v = 0; v < p->n; v++) sum += ns_of(p, v, k);
    return sum;
}

static int32_t *last_readers(const struct ig_pipe *p)
{
    int32_t *last = ig_must_alloc((size_t)p->n, sizeof *last);
    for (int32_t v = 0; v < p->n; v++)
        for (int32_t i = p->first[v]; i < p->first[v + 1]; i++) last[p->preds[i]] = v;
    return last;
}

/* To move what nodes 0..i make and later ones read over link l. */
static int64_t cut_ns(const struct ig_pipe *p, const int32_t *last, int32_t i, const struct ig_pipe_link *l)
{
    int64_t ns = 0;
    for (int32_t v = 0; v <= i; v++)
        if (last[v] > i) ns += ig_pipe_transfer(l, p->bytes[v]);
    return ns;
}

struct ig_pipe_cut ig_algorithm1_printed(const struct ig_pipe *p)
{
    struct ig_pipe_cut best = {.ns = IG_PIPE_NEVER};
    int32_t *last = last_readers(p);
    for (int32_t a = 0; a < 2 && p->n_processors == 2; a++) {
        int64_t first = 0, second = sum_of(p, !a);
        for (int32_t i = 0; i < p->n; i++) {
            first += ns_of(p, i, a);
            second -= ns_of(p, i, !a);
            int64_t to_a = cut_ns(p, last, i, &p->in[a]), to_b = cut_ns(p, last, i, &p->in[!a]);
            if (i == p->n - 1) {
                to_a = ig_pipe_transfer(&p->in[a], p->bytes[i]);
                to_b = ig_pipe_transfer(&p->in[!a], p->bytes[i]);
            }
            int64_t m = first + to_a > second + to_b ? first + to_a : second + to_b;
            if (m < best.ns) best = (struct ig_pipe_cut){a, !a, i, m};
        }
    }
    free(last);
    return best;
}

/* Where the frame is read, and what leaves, is charged as by the model that all plans are compared by. */
void ig_pipe_cut_plan(const struct ig_pipe *p, const struct ig_pipe_cut *cut, struct ig_pipe_plan *plan)
{
    plan->n_stages = 0;
    if (cut->ns >= IG_PIPE_NEVER) return;
    for (int32_t v = 0; v < p->n; v++) {
        plan->stage[v] = v >= cut->index;
        plan->on[v] = plan->stage[v] ? cut->second : cut->first;
        if (ns_of(p, v, plan->on[v]) >= IG_PIPE_NEVER) return;
    }
    plan->processor[0] = cut->first;
    plan->processor[1] = cut->second;
    plan->n_stages = 1 + (cut->index < p->n);
    ig_pipe_fill(p, plan);
}

static void try_cuts(const struct ig_pipe *p, int32_t a, int32_t b, struct ig_pipe_plan *now, struct ig_pipe_cut *best)
{
    int64_t first = 0, second = sum_of(p, b);
    for (int32_t n = 1; n < p->n; n++) {
        first += ns_of(p, n - 1, a);
        second -= ns_of(p, n - 1, b);
        if (first >= best->ns || second >= best->ns) continue;
        struct ig_pipe_cut cut = {a, b, n, 0};
        ig_pipe_cut_plan(p, &cut, now);
        if (!now->n_stages || now->period_ns >= best->ns) continue;
        *best = cut;
        best->ns = now->period_ns;
    }
}

struct ig_pipe_cut ig_algorithm1(const struct ig_pipe *p)
{
    struct ig_pipe_cut best = {.index = p->n, .ns = IG_PIPE_NEVER};
    struct ig_pipe_plan now;
    ig_pipe_plan_start(p, &now);
    ig_pipe_single(p, &now);
    if (now.n_stages) best = (struct ig_pipe_cut){now.processor[0], now.processor[0], p->n, now.period_ns};
    for (int32_t a = 0; a < p->n_processors; a++)
        for (int32_t b = 0; b < p->n_processors; b++)
            if (a != b) try_cuts(p, a, b, &now, &best);
    ig_pipe_plan_free(&now);
    return best;
}

/* --- Equation 2 --- */

static int64_t choose(int32_t n, int32_t k)
{
    int64_t c = 1;
    for (int32_t i = 1; i <= k; i++) c = c * (n - k + i) / i;
    return c;
}

static int64_t power(int64_t x, int32_t n)
{
    int64_t y = 1;
    while (n-- > 0) y *= x;
    return y;
}

int64_t ig_mappings_printed(int32_t n, int32_t processors)
{
    int64_t sum = 0;
    for (int32_t s = 1; s <= n; s++) sum += choose(n - 1, s - 1) * power(processors, s);
    return sum;
}

int64_t ig_mappings(int32_t n, int32_t processors)
{
    int64_t sum = 0;
    for (int32_t s = 1; s <= n; s++) sum += choose(n - 1, s - 1) * processors * power(processors - 1, s - 1);
    return sum;
}
