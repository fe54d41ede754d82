/* Weights piece by piece: the bytes and the hash of the blob packed whole, of every kernel that networks meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/stream.h"
#include "kernels_cpu/registry.h"
#include "kernels_cpu/slice.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"
#include "tests/support/plans.h"

struct taken {
    char *bytes;
    size_t n, room;
};

static int take(void *to, const void *bytes, size_t n)
{
    struct taken *t = to;
    if (n > t->room - t->n) return -1;
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return 0;
}

static void same(const struct ig_graph *g, const struct ig_plan *p)
{
    struct ig_lowered *l = ig_lower(g, p);
    size_t bytes = (size_t)l->model.weights_bytes;
    char *whole = aligned_alloc(64, bytes), *pieces = malloc(bytes);
    struct taken t = {pieces, 0, bytes};
    assert_true(whole && pieces);
    memset(whole, 0, bytes);
    ig_fill_weights(l, whole);
    uint64_t hash = l->model.weights_hash;
    l->model.weights_hash = 0;
    assert_int_equal(ig_stream_weights(l, take, &t), 0);
    assert_int_equal(t.n, bytes);
    assert_memory_equal(pieces, whole, bytes);
    assert_true(l->model.weights_hash == hash && hash == ig_blob_hash(whole, bytes));
    t.n = 1; /* no room for all */
    assert_int_equal(ig_stream_weights(l, take, &t), -1);
    free(whole);
    free(pieces);
    ig_lowered_free(l);
}

/* Fastest and smallest kernels, of all sets: packing is plain C. */
static void as_whole(void **state)
{
    (void)state;
    static const char *const nets[] = {"squeezenet1.1", "mobilenet_v2", "googlenet", "alexnet"};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct ig_graph *g = zoo_net(nets[i]);
        for (int32_t isa = IG_ISA_REF; isa <= IG_ISA_DOTPROD; isa++)
            for (int32_t lean = 0; lean < 2; lean++) {
                char err[1024];
                struct ig_plan_options o = {.target = "host", .isa = isa, .threads = 1, .lean = lean, .max_error = 1};
                struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
                if (!p) fail_msg("%s", err);
                same(g, p);
                ig_plan_free(p);
            }
        ig_graph_free(g);
    }
}

/* Every kernel that can be cut, on a convolution of odd sizes, at every multiple of its step. */
static void slices(void **state)
{
    (void)state;
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 8, 8, 5), y = net_conv(g, x, 53, 3, 1, -1), found = 0;
    ig_add_output(g, y);
    net_done(g);
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_call call;
    int32_t images;
    ig_compute_views(g, views);
    ig_node_call(g, views, &g->nodes[0], &call, &images);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (!k->pack || !ig_kernel_fits(k, g->nodes[0].op, &call) || !ig_slice_step(k, &call)) continue;
        size_t bytes = k->pack(&call, NULL), n = 0;
        char *whole = test_calloc(bytes, 1), *pieces = test_calloc(bytes, 1);
        int32_t step = ig_slice_step(k, &call), all = call.out[0].c;
        k->pack(&call, whole);
        for (int32_t c = 0; c < all; c += step) {
            struct ig_pack_slice s;
            ig_slice_call(&call, c, all - c < step ? all : c + step, &s);
            n += k->pack(&s.call, pieces + n);
        }
        assert_int_equal(n, bytes);
        assert_memory_equal(pieces, whole, bytes);
        test_free(whole);
        test_free(pieces);
        found++;
    }
    assert_true(found > 2);
    test_free(views);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices),
        cmocka_unit_test(as_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
