#include "planner/pipe_wish.h"

#include "planner/plan.h"

struct search {
    const struct ig_pipe *p;
    const struct ig_pipe_wish *w;
    struct ig_pipe_plan *best;
    int64_t excess; /* of the best */
    struct ig_pipe_choice *c;
};

int64_t ig_pipe_value(const struct ig_pipe_plan *plan, int32_t objective)
{
    switch (objective) {
    case IG_OBJECTIVE_LATENCY: return plan->latency_ns;
    case IG_OBJECTIVE_ENERGY: return plan->energy_pj;
    case IG_OBJECTIVE_MEMORY: return plan->memory_bytes;
    default: return plan->period_ns;
    }
}

/* Parts per million of the limit, 1 at the least where it is exceeded. */
static int64_t over(int64_t value, int64_t limit)
{
    return limit <= 0 || value <= limit ? 0 : (value - limit) / (limit / 1000000 + 1) + 1;
}

static int64_t excess_of(const struct ig_pipe_wish *w, const struct ig_pipe_plan *plan)
{
    return over(plan->period_ns, w->period_ns) + over(plan->latency_ns, w->latency_ns) +
           over(plan->energy_pj, w->energy_pj) + over(plan->memory_bytes, w->memory_bytes);
}

static int is_better(const struct search *s, const struct ig_pipe_plan *plan, int64_t excess)
{
    if (!s->best->n_stages) return 1;
    if (excess != s->excess) return excess < s->excess;
    int64_t now = ig_pipe_value(plan, s->w->objective), best = ig_pipe_value(s->best, s->w->objective);
    return now != best ? now < best : ig_pipe_compare(plan, s->best) < 0;
}

static int64_t paced(const struct ig_pipe_plan *plan, const struct ig_pipe_wish *w)
{
    return plan->period_ns > w->period_ns ? plan->period_ns : w->period_ns;
}

static void look(void *arg, const struct ig_pipe_plan *plan)
{
    struct search *s = arg;
    struct ig_pipe_plan now = *plan; /* its arrays are the other's */
    now.energy_pj = ig_pipe_energy(s->p, plan, paced(plan, s->w));
    int64_t excess = excess_of(s->w, &now);
    s->c->looked++;
    s->c->kept += !excess;
    if (!is_better(s, &now, excess)) return;
    s->excess = excess;
    ig_pipe_plan_copy(s->best, &now);
}

void ig_pipe_choose(const struct ig_pipe *p, const struct ig_pipe_wish *w, struct ig_pipe_plan *plan,
                    struct ig_pipe_choice *c)
{
    struct search s = {.p = p, .w = w, .best = plan, .c = c};
    struct ig_pipe_plan fastest;
    *c = (struct ig_pipe_choice){0, 0};
    plan->n_stages = 0;
    ig_pipe_each(p, look, &s);
    ig_pipe_plan_start(p, &fastest);
    ig_pipe_stages(p, &fastest);
    if (fastest.n_stages > IG_FRONT_STAGES) look(&s, &fastest);
    ig_pipe_plan_free(&fastest);
    plan->proven = 1;
}

void ig_pipe_choose_map(const struct ig_pipe *p, const struct ig_pipe_wish *w, struct ig_pipe_plan *plan)
{
    int64_t weight[IG_PIPE_PROCESSORS];
    for (int32_t k = 0; k < p->n_processors; k++)
        weight[k] = w->objective == IG_OBJECTIVE_ENERGY ? p->active_mw[k] - p->idle_mw[k] : 1;
    ig_pipe_map_within(p, IG_PIPE_LABELS, w->period_ns ? w->period_ns : IG_PIPE_NEVER, weight, plan);
    if (plan->n_stages) plan->energy_pj = ig_pipe_energy(p, plan, paced(plan, w));
}
