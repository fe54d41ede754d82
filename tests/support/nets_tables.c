/* Networks in the executor's hands: the tables that gen makes, the kernels of this processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bed.h"
#include "tests/support/nets.h"

enum { GUARD = 4096 /* a bed has room behind its arena */, POISON = 0xf5 };

void net_run_tables(const struct ig_graph *g, const struct ig_plan *p, int32_t threads, uint64_t seed, void **out)
{
    char err[256];
    struct ig_lowered *l = ig_lower(g, p);
    struct ig_bed bed;
    void **in = ig_io_buffers(l->model.inputs, l->model.n_inputs);
    if (ig_bed_make(&bed, l, threads, err, sizeof err)) fail_msg("%s", err);
    memset(bed.arena, POISON, bed.arena_bytes + GUARD);
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const struct ig_shape *s = &g->values[g->inputs[i]].shape;
        struct rng r = {seed};
        for (int64_t k = 0; k < ig_count(s); k++) ((float *)in[i])[k] = (float)rng_real(&r, -1, 1);
    }
    for (int32_t i = 0; i < g->n_outputs; i++) out[i] = test_malloc((size_t)ig_bytes(&g->values[g->outputs[i]].shape));
    assert_int_equal(ig_ctx_run(&bed.ctx, (const void *const *)in, out), IG_OK);
    for (size_t i = bed.arena_bytes; i < bed.arena_bytes + GUARD; i++)
        assert_int_equal(((const unsigned char *)bed.arena)[i], POISON);
    ig_io_buffers_free(in, l->model.inputs, l->model.n_inputs);
    ig_bed_free(&bed);
    ig_lowered_free(l);
}
