#include "tests/support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct ig_plan *plan_make(const struct ig_graph *g, struct ig_plan_options o)
{
    char err[1024] = "";
    o.target = "host";
    o.max_error = 1;
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    plan_check(g, p, 0);
    return p;
}

void plan_check(const struct ig_graph *g, const struct ig_plan *p, uint64_t seed)
{
    char why[1024];
    int verdict = ig_validate(g, p, 0, why, sizeof why);
    if (verdict) fail_msg("seed %d: %s: %s", (int)seed, ig_verdict_name(verdict), why);
}

/* The ring of v, and what lies in it, have `more` rows more. */
static void resize(struct ig_plan *p, int32_t v, int32_t more)
{
    struct ig_plan_buffer *b = &p->buffers[v];
    b->bytes += b->bytes / b->ring_rows * more;
    for (int32_t u = 0; u < p->n_buffers; u++)
        if (u == v || (p->buffers[u].alias_of == v && p->buffers[u].ring_rows)) p->buffers[u].ring_rows += more;
}

void plan_shorten_rings(const struct ig_graph *g, struct ig_plan *p, int *rings, int *slack)
{
    for (int32_t v = 0; v < p->n_buffers; v++) {
        char why[512];
        if (p->buffers[v].ring_rows < 2 || p->buffers[v].alias_of >= 0) continue;
        resize(p, v, -1);
        int verdict = ig_validate(g, p, 0, why, sizeof why);
        *rings += 1;
        *slack += verdict != IG_READ_OVERWRITTEN;
        resize(p, v, 1);
    }
}

void outputs_same(const struct ig_graph *g, void **a, void **b, uint64_t seed)
{
    for (int32_t i = 0; i < g->n_outputs; i++) {
        if (memcmp(a[i], b[i], (size_t)ig_bytes(&g->values[g->outputs[i]].shape)))
            fail_msg("seed %d: output %d differs", (int)seed, i);
        test_free(a[i]);
        test_free(b[i]);
    }
}
