/* Are a plan's alternatives valid plans of the same stages, kernels and weights, which fit one arena? */
#include <stdio.h>
#include <string.h>

#include "planner/plan.h"

static int say(char *why, size_t why_bytes, int verdict, int32_t i, const char *what)
{
    snprintf(why, why_bytes, "alternative %d: %s", i, what);
    return verdict;
}

/* Whose memory and threads serve both. */
static int same_stages(const struct ig_plan *a, const struct ig_plan *b)
{
    if (a->n_stages != b->n_stages || a->n_stages < 2) return 0;
    for (int32_t i = 0; i < a->n_stages; i++)
        if (strcmp(a->stages[i].processor, b->stages[i].processor) || a->stages[i].cores != b->stages[i].cores ||
            a->stages[i].threads != b->stages[i].threads)
            return 0;
    return 1;
}

static int same_weights(const struct ig_plan *a, const struct ig_plan *b)
{
    if (a->n_steps != b->n_steps || a->weights_bytes != b->weights_bytes) return 0;
    for (int32_t i = 0; i < a->n_steps; i++)
        if (a->steps[i].node != b->steps[i].node || a->steps[i].kernel != b->steps[i].kernel) return 0;
    return 1;
}

int ig_validate_all(const struct ig_graph *g, const struct ig_plan *p, int64_t memory_budget, char *why,
                    size_t why_bytes)
{
    int verdict = ig_validate(g, p, memory_budget, why, why_bytes);
    if (p->n_others && !verdict && g->n_inputs + g->n_outputs + p->n_stages * (p->n_stages - 1) / 2 > IG_PLAN_SLOTS)
        return say(why, why_bytes, IG_BAD_COUNT, 0, "more slots than there can be");
    for (int32_t i = 0; i < p->n_others && !verdict; i++) {
        const struct ig_plan *other = p->others[i];
        char line[512];
        if ((verdict = ig_validate(g, other, 0, line, sizeof line))) return say(why, why_bytes, verdict, i + 1, line);
        if (!same_stages(p, other)) return say(why, why_bytes, IG_BAD_COUNT, i + 1, "its stages are others");
        if (!same_weights(p, other)) return say(why, why_bytes, IG_BAD_KERNEL, i + 1, "its kernels are others");
    }
    if (verdict || !p->n_others || memory_budget <= 0) return verdict;
    int64_t bytes = ig_united_bytes(p) + p->weights_bytes;
    if (bytes <= memory_budget) return IG_PLAN_OK;
    snprintf(why, why_bytes, "with alternatives %lld bytes, %lld over the budget", (long long)bytes,
             (long long)(bytes - memory_budget));
    return IG_OVER_BUDGET;
}
