/* What a pipeline costs: loads by the hub rule, stages of a map, energy, memory, and which of two plans is better. */
#include "planner/pipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

int64_t ig_pipe_transfer(const struct ig_pipe_link *l, int64_t bytes)
{
    return l->x0_ns + (bytes / 1000000 * l->fs_per_byte) + (bytes % 1000000 * l->fs_per_byte + 999999) / 1000000;
}

static const char *node_name(const struct ig_pipe *p, int32_t v, char text[32])
{
    if (p->names) return p->names[v];
    snprintf(text, 32, "node %d", v);
    return text;
}

static int check_node(const struct ig_pipe *p, int32_t v, int64_t *sum, char *err, size_t err_bytes)
{
    int64_t least = IG_PIPE_NEVER, most = 0;
    char name[32];
    for (int32_t i = p->first[v]; i < p->first[v + 1]; i++)
        if (p->preds[i] < 0 || p->preds[i] >= v) {
            snprintf(err, err_bytes, "%s is not behind what it reads", node_name(p, v, name));
            return -1;
        }
    for (int32_t k = 0; k < p->n_processors; k++) {
        int64_t t = p->ns[(int64_t)v * p->n_processors + k];
        if (t < 0 || t > IG_PIPE_NEVER) {
            snprintf(err, err_bytes, "%s: a time of %lld ns", node_name(p, v, name), (long long)t);
            return -1;
        }
        if (t < least) least = t;
        if (t > most && t < IG_PIPE_NEVER) most = t;
    }
    *sum += most;
    if (least < IG_PIPE_NEVER) return 0;
    snprintf(err, err_bytes, "%s runs on none of the processors", node_name(p, v, name));
    return -1;
}

int ig_pipe_check(const struct ig_pipe *p, char *err, size_t err_bytes)
{
    int64_t sum = 0;
    if (p->n < 1 || p->n_processors < 1 || p->n_processors > IG_PIPE_PROCESSORS) {
        snprintf(err, err_bytes, "%d nodes on %d processors", p->n, p->n_processors);
        return -1;
    }
    for (int32_t v = 0; v < p->n; v++)
        if (check_node(p, v, &sum, err, err_bytes)) return -1;
    if (sum < IG_PIPE_NEVER / 4) return 0;
    snprintf(err, err_bytes, "a frame of %lld ns is too long", (long long)sum);
    return -1;
}

void ig_pipe_plan_start(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    size_t n = (size_t)p->n;
    *plan = (struct ig_pipe_plan){.n = p->n};
    plan->stage_ns = ig_must_alloc(n, sizeof *plan->stage_ns + 3 * sizeof *plan->on);
    plan->on = (int32_t *)(plan->stage_ns + n);
    plan->stage = plan->on + n;
    plan->processor = plan->stage + n;
}

void ig_pipe_plan_free(struct ig_pipe_plan *plan)
{
    free(plan->stage_ns);
    *plan = (struct ig_pipe_plan){.n = 0};
}

void ig_pipe_plan_copy(struct ig_pipe_plan *to, const struct ig_pipe_plan *from)
{
    int64_t *stage_ns = to->stage_ns;
    int32_t *on = to->on, *stage = to->stage, *processor = to->processor;
    size_t n = (size_t)from->n;
    memcpy(stage_ns, from->stage_ns, n * (sizeof *stage_ns + 3 * sizeof *on));
    *to = *from;
    to->stage_ns = stage_ns;
    to->on = on;
    to->stage = stage;
    to->processor = processor;
}

void ig_pipe_order(const struct ig_pipe_plan *plan, int32_t *order)
{
    int32_t at = 0;
    for (int32_t s = 0; s < plan->n_stages; s++)
        for (int32_t v = 0; v < plan->n; v++)
            if (plan->stage[v] == s) order[at++] = v;
}

/* --- what a plan costs --- */

/* Node v's load of everything that its processor does not hold yet; 1 << p in held[] says that p holds it. */
static void load_inputs(const struct ig_pipe *p, struct ig_pipe_plan *plan, int32_t v, uint32_t *held, int *frame)
{
    int32_t on = plan->on[v], s = plan->stage[v];
    if (p->reads_input && p->reads_input[v] && !(*frame >> on & 1)) {
        *frame |= 1 << on;
        plan->stage_ns[s] += ig_pipe_transfer(&p->in[on], p->input_bytes);
    }
    for (int32_t i = p->first[v]; i < p->first[v + 1]; i++) {
        int32_t u = p->preds[i], from = plan->on[u];
        if (held[u] >> on & 1) continue;
        if (held[u] == 1u << from && !(p->is_output && p->is_output[u]))
            plan->stage_ns[plan->stage[u]] += ig_pipe_transfer(&p->out[from], p->bytes[u]);
        held[u] |= 1u << on;
        plan->stage_ns[s] += ig_pipe_transfer(&p->in[on], p->bytes[u]);
        plan->moved_bytes += p->bytes[u];
    }
}

/* Bytes of the slots: a tensor lies in one as long as a later stage reads it. */
static int64_t slot_bytes(const struct ig_pipe *p, const struct ig_pipe_plan *plan, const int32_t *last_stage)
{
    int64_t sum = 0, slots = p->slots ? p->slots : 2;
    for (int32_t v = 0; v < p->n; v++)
        if (last_stage[v] > plan->stage[v]) sum += slots * p->bytes[v];
    return sum;
}

/* The most bytes alive at once of what a stage makes for itself, summed over stages. */
static int64_t arena_bytes(const struct ig_pipe *p, const struct ig_pipe_plan *plan, const int32_t *order,
                           const int32_t *last_stage, const int32_t *last_reader)
{
    int64_t sum = 0, live = 0, most = 0;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t v = order[i];
        if (i && plan->stage[order[i - 1]] != plan->stage[v]) {
            sum += most;
            live = most = 0;
        }
        if (last_stage[v] <= plan->stage[v]) live += p->bytes[v];
        if (live > most) most = live;
        for (int32_t k = p->first[v]; k < p->first[v + 1]; k++) {
            int32_t u = p->preds[k];
            if (last_reader[u] == v && last_stage[u] == plan->stage[u]) live -= p->bytes[u];
        }
    }
    return sum + most;
}

static int64_t memory_bytes(const struct ig_pipe *p, const struct ig_pipe_plan *plan)
{
    int32_t *order = ig_must_alloc((size_t)p->n * 3, sizeof *order), *last_stage = order + p->n;
    int32_t *last_reader = last_stage + p->n;
    int64_t sum = 0;
    ig_pipe_order(plan, order);
    for (int32_t i = 0; i < p->n; i++) last_reader[i] = last_stage[i] = -1;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t v = order[i];
        for (int32_t k = p->first[v]; k < p->first[v + 1]; k++) {
            last_reader[p->preds[k]] = v;
            last_stage[p->preds[k]] = plan->stage[v];
        }
        if (p->weights_bytes) sum += p->weights_bytes[v];
    }
    sum += slot_bytes(p, plan, last_stage) + arena_bytes(p, plan, order, last_stage, last_reader);
    free(order);
    return sum;
}

int64_t ig_pipe_energy(const struct ig_pipe *p, const struct ig_pipe_plan *plan, int64_t period_ns)
{
    int64_t pj = p->board_mw * period_ns + p->pj_per_byte * plan->moved_bytes;
    for (int32_t k = 0; k < p->n_processors; k++)
        pj += p->idle_mw[k] * period_ns + (p->active_mw[k] - p->idle_mw[k]) * plan->load_ns[k];
    return pj;
}

void ig_pipe_fill(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    uint32_t *held = ig_must_alloc((size_t)p->n, sizeof *held);
    int frame = 0;
    plan->moved_bytes = plan->period_ns = plan->latency_ns = 0;
    memset(plan->load_ns, 0, sizeof plan->load_ns);
    memset(plan->stage_ns, 0, (size_t)p->n * sizeof *plan->stage_ns);
    for (int32_t v = 0; v < p->n; v++) {
        held[v] = 1u << plan->on[v];
        plan->stage_ns[plan->stage[v]] += p->ns[(int64_t)v * p->n_processors + plan->on[v]];
        if (p->is_output && p->is_output[v])
            plan->stage_ns[plan->stage[v]] += ig_pipe_transfer(&p->out[plan->on[v]], p->bytes[v]);
    }
    /* Who loads a tensor first does not change its processor's load; stages in order charge the first of them. */
    int32_t *order = ig_must_alloc((size_t)p->n, sizeof *order);
    ig_pipe_order(plan, order);
    for (int32_t i = 0; i < p->n; i++) load_inputs(p, plan, order[i], held, &frame);
    for (int32_t s = 0; s < plan->n_stages; s++) {
        plan->load_ns[plan->processor[s]] += plan->stage_ns[s];
        plan->latency_ns += plan->stage_ns[s];
    }
    for (int32_t k = 0; k < p->n_processors; k++)
        if (plan->load_ns[k] > plan->period_ns) plan->period_ns = plan->load_ns[k];
    plan->energy_pj = ig_pipe_energy(p, plan, plan->period_ns);
    plan->memory_bytes = memory_bytes(p, plan);
    free(order);
    free(held);
}

/* --- stages of a map --- */

/* Puts all nodes of processor k that can follow into stage s (-1: only counts them, in no stage yet). */
static int32_t follow(const struct ig_pipe *p, struct ig_pipe_plan *plan, int32_t k, int32_t s)
{
    int32_t n = 0;
    for (int32_t v = 0; v < p->n; v++) {
        int ready = plan->on[v] == k && plan->stage[v] == -1;
        for (int32_t i = p->first[v]; i < p->first[v + 1] && ready; i++) ready = plan->stage[p->preds[i]] != -1;
        if (!ready) continue;
        plan->stage[v] = s >= 0 ? s : -2;
        n++;
    }
    for (int32_t v = 0; v < p->n && s < 0; v++)
        if (plan->stage[v] == -2) plan->stage[v] = -1;
    return n;
}

static int32_t widest(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    int32_t best = 0, most = 0;
    for (int32_t k = 0; k < p->n_processors; k++) {
        int32_t n = follow(p, plan, k, -1);
        if (n > most) {
            most = n;
            best = k;
        }
    }
    return best;
}

static int32_t group_from(const struct ig_pipe *p, struct ig_pipe_plan *plan, int32_t k)
{
    int32_t done = 0, s = 0;
    for (int32_t v = 0; v < p->n; v++) plan->stage[v] = -1;
    for (; done < p->n; s++) {
        int32_t n = follow(p, plan, k, s);
        if (!n) return p->n + 1;
        plan->processor[s] = k;
        done += n;
        if (done < p->n) k = widest(p, plan);
    }
    return s;
}

static void group_runs(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    int32_t s = -1;
    for (int32_t v = 0; v < p->n; v++) {
        if (!v || plan->on[v] != plan->on[v - 1]) plan->processor[++s] = plan->on[v];
        plan->stage[v] = s;
    }
    plan->n_stages = s + 1;
}

void ig_pipe_group(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    int32_t best = 0, least = p->n + 1;
    if (p->in_order) group_runs(p, plan);
    for (int32_t k = 0; k < p->n_processors && !p->in_order; k++) {
        int32_t stages = group_from(p, plan, k);
        if (stages < least) {
            least = stages;
            best = k;
        }
    }
    if (!p->in_order) plan->n_stages = group_from(p, plan, best);
    ig_pipe_fill(p, plan);
}

int ig_pipe_compare(const struct ig_pipe_plan *a, const struct ig_pipe_plan *b)
{
    if (!a->n_stages || !b->n_stages) return !a->n_stages - !b->n_stages;
    int64_t of_a[] = {a->period_ns, a->n_stages, a->moved_bytes, a->latency_ns, a->memory_bytes};
    int64_t of_b[] = {b->period_ns, b->n_stages, b->moved_bytes, b->latency_ns, b->memory_bytes};
    for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
        if (of_a[i] != of_b[i]) return of_a[i] < of_b[i] ? -1 : 1;
    for (int32_t v = 0; v < a->n; v++)
        if (a->on[v] != b->on[v]) return a->on[v] < b->on[v] ? -1 : 1;
    return 0;
}

void ig_pipe_single(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    struct ig_pipe_plan now;
    ig_pipe_plan_start(p, &now);
    plan->n_stages = 0;
    for (int32_t k = 0; k < p->n_processors; k++) {
        int runs = 1;
        for (int32_t v = 0; v < p->n; v++) {
            runs &= p->ns[(int64_t)v * p->n_processors + k] < IG_PIPE_NEVER;
            now.on[v] = k;
            now.stage[v] = 0;
        }
        if (!runs) continue;
        now.n_stages = 1;
        now.processor[0] = k;
        ig_pipe_fill(p, &now);
        now.proven = 1;
        if (ig_pipe_compare(&now, plan) < 0) ig_pipe_plan_copy(plan, &now);
    }
    ig_pipe_plan_free(&now);
}
