/*
 * NeuroPipe (Kim 2020). A frame takes 1 without overlap: alpha on the host, 1 - alpha on the accelerator. While the
 * accelerator computes the head of one frame the CPU does the host's work and the tail of the frame before; both are
 * busy equally long if alpha + n = (N - n) / gamma, where N = (1 - alpha) gamma is the whole network on the CPU.
 */
#include <math.h>
#include <stdlib.h>

#include "planner/pipe_baselines.h"

double ig_neuropipe_n(double alpha, double gamma)
{
    return alpha < 0.5 ? (1 - 2 * alpha) * gamma / (gamma + 1) : 0;
}

double ig_neuropipe_n_printed(double alpha, double gamma)
{
    return (1 - alpha) * gamma / (gamma + 1);
}

double ig_neuropipe_speedup_of(double alpha, double gamma, double n)
{
    return 1 / fmax(alpha + n, ((1 - alpha) * gamma - n) / gamma);
}

double ig_neuropipe_speedup(double alpha, double gamma)
{
    return alpha < 0.5 ? (gamma + 1) / (1 - (alpha - 1) * (gamma - 1)) : 1 / alpha;
}

double ig_neuropipe_hidden(double alpha)
{
    return 1 / fmax(alpha, 1 - alpha);
}

double ig_neuropipe_share(double alpha, double gamma, double n)
{
    return n / ((1 - alpha) * gamma);
}

int32_t ig_neuropipe_tail(const double *operations, int32_t n, double share)
{
    double all = 0, tail = 0;
    int32_t layers = 0;
    for (int32_t i = 0; i < n; i++) all += operations[i];
    while (layers < n && tail + operations[n - 1 - layers] <= share * all) tail += operations[n - 1 - layers++];
    return layers;
}

void ig_neuropipe_plan(const struct ig_pipe *p, int32_t host, int32_t accelerator, const double *operations,
                       int printed, struct ig_pipe_plan *plan)
{
    int64_t pinned = 0, on_host = 0, on_accelerator = 0;
    plan->n_stages = 0;
    for (int32_t v = 0; v < p->n; v++) {
        int64_t h = p->ns[(int64_t)v * p->n_processors + host], a = p->ns[(int64_t)v * p->n_processors + accelerator];
        if (a >= IG_PIPE_NEVER) {
            pinned += h;
        } else {
            if (h < IG_PIPE_NEVER) on_host += h;
            on_accelerator += a;
        }
    }
    if (pinned >= IG_PIPE_NEVER || on_accelerator <= 0) return;
    double alpha = (double)pinned / (double)(pinned + on_accelerator), gamma = (double)on_host / (double)on_accelerator;
    double n = printed ? ig_neuropipe_n_printed(alpha, gamma) : ig_neuropipe_n(alpha, gamma);
    int32_t tail = gamma > 0 ? ig_neuropipe_tail(operations, p->n, ig_neuropipe_share(alpha, gamma, n)) : 0;
    for (int32_t v = 0; v < p->n; v++) {
        int64_t h = p->ns[(int64_t)v * p->n_processors + host], a = p->ns[(int64_t)v * p->n_processors + accelerator];
        plan->on[v] = a >= IG_PIPE_NEVER || (v >= p->n - tail && h < IG_PIPE_NEVER) ? host : accelerator;
    }
    ig_pipe_group(p, plan);
}
