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
