/* Stages as a person writes them, and the cuts that balance them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/balance.h"
#include "planner/stages.h"

enum { MOST_CORES = 64, TEXT = 4096 };

/* "cpu:0", "cpu:2-5", "cpu:0+3", "gpu": 0, or -1. */
static int parse_cores(const char *text, struct ig_plan_stage *s)
{
    const char *at = text + 4;
    memset(s, 0, sizeof *s);
    if (!strcmp(text, "gpu")) {
        strcpy(s->processor, text);
        s->threads = 1;
        return 0;
    }
    if (strncmp(text, "cpu:", 4) || strlen(text) >= sizeof s->processor) return -1;
    for (char *end;; at = end + 1) {
        long a = strtol(at, &end, 10), b = a;
        if (end == at) return -1;
        if (*end == '-') {
            at = end + 1;
            b = strtol(at, &end, 10);
            if (end == at) return -1;
        }
        if (a < 0 || b < a || b >= MOST_CORES) return -1;
        for (long i = a; i <= b; i++) s->cores |= (uint64_t)1 << i;
        if (!*end) break;
        if (*end != '+') return -1;
    }
    snprintf(s->processor, sizeof s->processor, "%s", text);
    s->threads = __builtin_popcountll(s->cores);
    return 0;
}

int ig_stages_beside(const char *text, uint64_t *cores, char *err, size_t err_bytes)
{
    uint64_t first = 0;
    *cores = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ","), name = strcspn(at, ",/@");
        struct ig_plan_stage s;
        char copy[IG_PROCESSOR_NAME];
        snprintf(copy, sizeof copy, "%.*s", (int)name, at);
        if (name >= sizeof copy || parse_cores(copy, &s)) {
            snprintf(err, err_bytes, "stages: '%.*s': no set of cores, 0 to 63, such as cpu:0, cpu:2-5 or cpu:0+3, nor gpu", (int)n, at);
            return -1;
        }
        if (!first) first = s.cores;
        *cores |= s.cores & ~first;
        at += n;
        if (!*at) return 0;
    }
}

static int parse_slots(const char *text, int32_t *slots)
{
    char *end;
    long n = strtol(text, &end, 10);
    *slots = (int32_t)n;
    return *text && !*end && n >= 1 && n <= 16 ? 0 : -1;
}

/* The step of that name or number; -1: none. */
static int32_t find_step(const struct ig_graph *g, const char *text)
{
    char *end;
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (!strcmp(g->nodes[i].name, text)) return i;
    long step = strtol(text, &end, 10);
    return *text && !*end && step >= 0 && step < g->n_nodes ? (int32_t)step : -1;
}

void ig_balance_stages(const double *ns, int32_t n_steps, int32_t n, int32_t *stage_of)
{
    double *each = ig_must_alloc((size_t)n * (size_t)n_steps, sizeof *each);
    for (int32_t k = 0; k < n; k++) memcpy(each + (size_t)k * (size_t)n_steps, ns, (size_t)n_steps * sizeof *ns);
    ig_balance_runs(each, n_steps, n, stage_of);
    free(each);
}

static void balance(const struct ig_graph *g, const struct ig_plan *whole, int32_t n, int32_t *stage_of)
{
    double *ns = ig_must_alloc((size_t)g->n_nodes, sizeof *ns);
    for (int32_t i = 0; i < g->n_nodes; i++) ns[i] = whole->steps[i].predicted_ns;
    ig_balance_stages(ns, g->n_nodes, n, stage_of);
    free(ns);
}

static int32_t refuse(char *err, size_t err_bytes, const char *what, const char *text)
{
    snprintf(err, err_bytes, "stages: '%s': %s", text, what);
    return -1;
}

int32_t ig_parse_stages(const struct ig_graph *g, const struct ig_plan *whole, const char *text,
                        struct ig_plan_stage *stages, int32_t *stage_of, char *err, size_t err_bytes)
{
    char copy[TEXT], *state = NULL;
    int32_t n = 0, cuts = 0, at = 0, gpus = 0;
    if (strlen(text) >= sizeof copy) return refuse(err, err_bytes, "too long", "...");
    strcpy(copy, text);
    for (char *s = strtok_r(copy, ",", &state); s; s = strtok_r(NULL, ",", &state), n++) {
        char *cut = strchr(s, '@'), *slots;
        if (n == IG_PLAN_STAGES) return refuse(err, err_bytes, "more than eight stages", text);
        if (cut) *cut++ = 0;
        if ((slots = strchr(s, '/'))) *slots++ = 0;
        if (parse_cores(s, &stages[n]))
            return refuse(err, err_bytes, "no set of cores, 0 to 63, such as cpu:0, cpu:2-5 or cpu:0+3, nor gpu", s);
        gpus += ig_stage_is_gpu(&stages[n]);
        if (gpus > 1) return refuse(err, err_bytes, "one stage at most is the GPU's", text);
        if (slots && parse_slots(slots, &stages[n].slots)) return refuse(err, err_bytes, "slots are 1 to 16", slots);
        if (!cut) continue;
        if (cuts < n) return refuse(err, err_bytes, "all stages but the last one end @ a step, or none does", text);
        int32_t last = find_step(g, cut);
        if (last < 0) return refuse(err, err_bytes, "no step of that name or number", cut);
        if (last < at) return refuse(err, err_bytes, "no step is left for this stage, which ends there", cut);
        cuts++;
        for (; at <= last; at++) stage_of[at] = n;
    }
    if (!n || n > g->n_nodes) return refuse(err, err_bytes, "no stages, or more of them than steps", text);
    if (cuts && cuts != n - 1)
        return refuse(err, err_bytes, "all stages but the last one end @ a step, or none does", text);
    if (!cuts && gpus && n > 1)
        return refuse(err, err_bytes, "with a GPU, all stages but the last one end @ a step; ingot pipeline finds which",
                      text);
    if (cuts && at >= g->n_nodes) return refuse(err, err_bytes, "no step is left for the last stage", text);
    if (!cuts)
        balance(g, whole, n, stage_of);
    else
        for (; at < g->n_nodes; at++) stage_of[at] = n - 1;
    return n;
}
