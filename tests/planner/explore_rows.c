/* Groups of devices: the exact front against every deployment that there is, priced by definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/deploy/explore_rows.h"
#include "planner/nsga2.h"

enum { NODES = 5, DEVICES = 4, INSTANCES = 150 };

struct problem {                 /* chains of nodes on devices of one kind */
    struct ig_explore x;
    struct ig_explore_split split[NODES];
    int32_t first[NODES + 1], preds[NODES];
    int64_t bytes[NODES], ns[NODES * 2];
    uint8_t reads_input[NODES], is_output[NODES];
    uint64_t state;
};

static int64_t some(struct problem *p, int64_t low, int64_t high)
{
    return low + (int64_t)ig_draw(&p->state, (uint64_t)(high - low + 1));
}

static void make(struct problem *p, uint64_t seed)
{
    *p = (struct problem){.state = seed};
    struct ig_explore *x = &p->x;
    *x = (struct ig_explore){.n = (int32_t)some(p, 1, NODES), .n_kinds = 1, .n_ways = (int32_t)some(p, 1, 2),
                             .first = p->first, .preds = p->preds, .bytes = p->bytes, .ns = p->ns,
                             .reads_input = p->reads_input, .is_output = p->is_output, .input_bytes = some(p, 0, 50)};
    x->kinds[0] = (struct ig_explore_kind){(int32_t)some(p, 1, DEVICES), x->n_ways, some(p, 0, 2), 0};
    for (int32_t w = 0; w < x->n_ways; w++) x->ways[w] = (struct ig_explore_way){0, w + 1, 0, 3 * (w + 1)};
    x->link[0][0] = (struct ig_pipe_link){some(p, 0, 10), some(p, 0, 500000)};
    x->sends[0] = (struct ig_pipe_link){some(p, 0, 2), some(p, 0, 50000)};
    x->receives[0] = (struct ig_pipe_link){some(p, 0, 2), some(p, 0, 50000)};
    for (int32_t v = 0; v < x->n; v++) {
        int64_t work = some(p, 1, 30) * 10;
        p->first[v + 1] = v;
        if (v) p->preds[v - 1] = v - 1;
        p->bytes[v] = some(p, 0, 90);
        for (int32_t w = 0; w < x->n_ways; w++) p->ns[v * x->n_ways + w] = work / (w + 1);
        struct ig_explore_split *s = &p->split[v];
        if (some(p, 0, 2)) s->rows = (int32_t)some(p, 2, 9);
        for (int32_t n = 2; n <= s->rows && n <= DEVICES; n++) {
            s->most[n] = (s->rows + n - 1) / n;
            s->messages[n] = (int32_t)some(p, 0, 2);
            s->bytes[n] = s->messages[n] * some(p, 1, 20);
        }
    }
    p->reads_input[0] = p->is_output[x->n - 1] = 1;
}

/* --- by definition --- */

static int64_t moved(const struct ig_explore *x, int64_t messages, int64_t bytes, int link)
{
    int64_t each = messages ? (bytes + messages - 1) / messages : 0;
    return messages * ((link ? ig_pipe_transfer(&x->link[0][0], each) : 0) + ig_pipe_transfer(&x->receives[0], each) +
                       ig_pipe_transfer(&x->sends[0], each));
}

/* All bytes but one device's share. */
static int64_t met(const struct ig_explore *x, int32_t size, int64_t bytes)
{
    return moved(x, size - 1, (bytes + size - 1) / size * (size - 1), 1);
}

static int64_t node_ns(const struct problem *p, int32_t v, int32_t way, int32_t size)
{
    const struct ig_explore_split *s = &p->split[v];
    int64_t ns = p->ns[v * p->x.n_ways + way];
    int split = s->most[size] > 0;
    if (size == 1) return ns;
    if (split) ns = (ns * s->most[size] + s->rows - 1) / s->rows + moved(&p->x, s->messages[size], s->bytes[size], 1);
    if (split && v == 0) ns += met(&p->x, size, p->x.input_bytes);
    if (split && v == p->x.n - 1) ns += met(&p->x, size, p->bytes[v]);
    if (v && split != (p->split[v - 1].most[size] > 0)) ns += met(&p->x, size, p->bytes[v - 1]);
    return ns;
}

struct stage {
    int32_t first, end, way, size;
};

struct point {
    int64_t period, pj;
    int32_t devices;
};

struct everything {
    const struct problem *p;
    struct stage at[NODES];
    struct point best[4096];
    int32_t n;
};

static void offer(struct everything *e, int32_t stages)
{
    const struct ig_explore *x = &e->p->x;
    struct point now = {0, 0, 0};
    for (int32_t s = 0; s < stages; s++) {
        const struct stage *at = &e->at[s];
        int64_t ns = 0;
        for (int32_t v = at->first; v < at->end; v++) ns += node_ns(e->p, v, at->way, at->size);
        if (s) ns += ig_pipe_transfer(&x->receives[0], e->p->bytes[at->first - 1]);
        if (s + 1 < stages) ns += ig_pipe_transfer(&x->sends[0], e->p->bytes[at->end - 1]);
        if (ns > now.period) now.period = ns;
        if (ns * x->ways[at->way].mw > now.pj) now.pj = ns * x->ways[at->way].mw;
        now.devices += at->size;
        if (!s) continue;
        int32_t messages = at->size > e->at[s - 1].size ? at->size : e->at[s - 1].size;
        int64_t link = ig_pipe_transfer(&x->link[0][0], e->p->bytes[at->first - 1]) + (messages - 1) * x->link[0][0].x0_ns;
        if (link > now.period) now.period = link;
    }
    now.pj += x->kinds[0].idle_mw * now.period;
    assert_in_range(e->n, 0, 4095);
    e->best[e->n++] = now;
    for (int32_t i = 0; i < e->n - 1; i++)
        if (e->best[i].period <= now.period && e->best[i].pj <= now.pj && e->best[i].devices <= now.devices) {
            e->n--;
            return;
        }
}

/* Groups of a deployment are of one size. */
static void all_from(struct everything *e, int32_t first, int32_t stages, int32_t left, int32_t group)
{
    for (int32_t end = first + 1; end <= e->p->x.n; end++)
        for (int32_t way = 0; way < e->p->x.n_ways; way++)
            for (int32_t size = 1; size <= left; size++) {
                if (size > 1 && group > 1 && size != group) continue;
                e->at[stages] = (struct stage){first, end, way, size};
                if (end == e->p->x.n) offer(e, stages + 1);
                else all_from(e, end, stages + 1, left - size, size > 1 ? size : group);
            }
}

/* Of time, energy and devices; what is good by its memory alone is there, too. */
static void front_is_exact(void **state)
{
    static struct everything e;
    (void)state;
    int64_t groups = 0;
    for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
        struct problem p;
        struct ig_ranges r;
        struct ig_explore_front f;
        make(&p, seed);
        ig_ranges_make(&p.x, &r);
        ig_explore_rows(&r, p.split, DEVICES, &f);
        e.p = &p;
        e.n = 0;
        all_from(&e, 0, 0, p.x.kinds[0].count, 1);
        for (int32_t i = 0; i < e.n; i++) {
            int is_covered = 0;
            for (int32_t k = 0; k < f.n; k++)
                is_covered |= f.at[k].n_devices <= e.best[i].devices && f.at[k].period_ns <= e.best[i].period &&
                              f.at[k].device_pj <= e.best[i].pj;
            if (!is_covered) fail_msg("seed %d: %d devices, %d ns", (int)seed, e.best[i].devices, (int)e.best[i].period);
        }
        for (int32_t k = 0; k < f.n; k++) { /* and each is there */
            int is_there = 0;
            for (int32_t i = 0; i < e.n; i++)
                is_there |= e.best[i].devices <= f.at[k].n_devices && e.best[i].period <= f.at[k].period_ns &&
                            e.best[i].pj <= f.at[k].device_pj;
            assert_int_equal(is_there, 1);
            for (int32_t s = 0; s < f.at[k].n_stages; s++) groups += f.at[k].group[s].devices > 1;
        }
        ig_explore_front_free(&f);
        ig_ranges_free(&r);
    }
    assert_in_range(groups, INSTANCES / 2, INSTANCES * 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(front_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
