#include "planner/balance.h"

#include <stdlib.h>

#include "planner/alloc.h"

/* Least greatest sum of steps [0, i) in k runs: best[k][i]; the last run begins at from[k][i]. */
struct table {
    int32_t n_steps, n;
    double *sum, *best; /* [n + 1][n_steps + 1]; sum of steps [0, i) in run k - 1 */
    int32_t *from;
};

static size_t at(const struct table *t, int32_t k, int32_t i)
{
    return (size_t)k * ((size_t)t->n_steps + 1) + (size_t)i;
}

static void fill(struct table *t, int32_t k, int32_t i)
{
    for (int32_t j = i - 1; j >= k - 1; j--) {
        double last = t->sum[at(t, k, i)] - t->sum[at(t, k, j)], before = t->best[at(t, k - 1, j)];
        double most = last > before ? last : before;
        if (j < i - 1 && most >= t->best[at(t, k, i)]) continue;
        t->best[at(t, k, i)] = most;
        t->from[at(t, k, i)] = j;
    }
}

void ig_balance_runs(const double *ns, int32_t n_steps, int32_t n, int32_t *stage_of)
{
    size_t all = ((size_t)n_steps + 1) * (size_t)(n + 1);
    struct table t = {n_steps, n, ig_must_alloc(all, sizeof *t.sum), ig_must_alloc(all, sizeof *t.best),
                      ig_must_alloc(all, sizeof *t.from)};
    for (int32_t k = 1; k <= n; k++)
        for (int32_t i = 0; i < n_steps; i++)
            t.sum[at(&t, k, i + 1)] = t.sum[at(&t, k, i)] + ns[(size_t)(k - 1) * (size_t)n_steps + (size_t)i];
    for (int32_t i = 0; i <= n_steps; i++) t.best[at(&t, 1, i)] = t.sum[at(&t, 1, i)];
    for (int32_t k = 2; k <= n; k++)
        for (int32_t i = k; i <= n_steps; i++) fill(&t, k, i);
    for (int32_t k = n, i = n_steps; k >= 1; k--) {
        int32_t begin = k > 1 ? t.from[at(&t, k, i)] : 0;
        while (i > begin) stage_of[--i] = k - 1;
    }
    free(t.sum);
    free(t.best);
    free(t.from);
}
