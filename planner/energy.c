#include "planner/energy.h"

#include <string.h>

#include "planner/aggregate.h"

const struct ig_processor *ig_powered_cpu(const struct ig_platform *b)
{
    for (int32_t i = 0; i < b->n_processors; i++) {
        const struct ig_processor *p = &b->processors[i];
        if (!strcmp(p->type, "CPU") && p->idle_w >= 0 && p->active_w > p->idle_w) return p;
    }
    return NULL;
}

double ig_threads_w(const struct ig_processor *p, int32_t n)
{
    return p->idle_w + n * (p->active_w - p->idle_w);
}

double ig_frame_mj(const struct ig_processor *p, int32_t n, double frame_s, double deadline_s)
{
    const struct ig_platform alone = {.n_processors = 1, .processors = {*p}};
    return ig_network_mj(&alone, frame_s * ig_threads_w(p, n) * 1e3, &frame_s, deadline_s);
}

static const struct ig_processor *powered_gpu(const struct ig_platform *b)
{
    for (int32_t i = 0; i < b->n_processors; i++)
        if (strcmp(b->processors[i].type, "CPU"))
            return b->processors[i].active_w >= 0 && b->processors[i].idle_w >= 0 ? &b->processors[i] : NULL;
    return NULL;
}

double ig_plan_mj(const struct ig_platform *b, const struct ig_plan *p)
{
    const struct ig_processor *cpu = ig_powered_cpu(b), *gpu = powered_gpu(b);
    if (!cpu || (ig_gpu_stage_of(p) >= 0 && !gpu)) return -1;
    if (!p->n_stages) return ig_frame_mj(cpu, p->threads, p->latency_ns * 1e-9, 0);
    double mj = p->period_ns * 1e-6 * cpu->idle_w;
    if (ig_gpu_stage_of(p) >= 0) mj += p->period_ns * 1e-6 * gpu->idle_w;
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_processor *on = ig_stage_is_gpu(&p->stages[i]) ? gpu : cpu;
        mj += ig_stage_ns(p, i) * 1e-6 * p->stages[i].threads * (on->active_w - on->idle_w);
    }
    return mj;
}
