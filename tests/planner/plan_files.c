/* Plans and profiles as files: what is written is read again, and what is wrong is refused in one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "tests/support/nets.h"
#include "tests/support/plans.h"

static struct ig_plan *make(const struct ig_graph *g, int32_t isa, int32_t threads)
{
    return plan_make(g, (struct ig_plan_options){.isa = isa, .threads = threads});
}

static char path[] = "/tmp/ingot-plan-XXXXXX";

static char *slurp(const char *name)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    char *text = test_calloc(1 << 20, 1);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void spit(const char *name, const char *text)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void plans_survive_a_file(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct rng r = {seed};
        char err[1024] = "";
        struct ig_graph *g = net_random(&r, 30);
        ig_prepare_views(g);
        struct ig_plan *p = make(g, IG_ISA_AVX2, 2);
        assert_int_equal(ig_plan_write(p, g, path, err, sizeof err), 0);
        char *first = slurp(path);
        struct ig_plan *q = ig_plan_read(path, g, err, sizeof err);
        if (!q) fail_msg("%s", err);
        plan_check(g, q, seed);
        for (int32_t v = 0; v < g->n_values; v++) {
            assert_int_equal(p->buffers[v].view.root, q->buffers[v].view.root);
            assert_int_equal(p->buffers[v].view.offset, q->buffers[v].view.offset);
        }
        assert_int_equal(ig_plan_write(q, g, path, err, sizeof err), 0);
        char *second = slurp(path);
        assert_string_equal(first, second);
        test_free(first);
        test_free(second);
        ig_plan_free(p);
        ig_plan_free(q);
        ig_graph_free(g);
    }
}

/*
 * The rings of a plan of least memory have no gaps between pixels, and what can write but dense rows opens a band: the
 * file's strides say what is one.
 */
static void bands_of_dense_rings_survive_a_file(void **state)
{
    struct ig_graph *g = net_new();
    char err[1024] = "";
    void *want[1], *got[1];
    (void)state;
    int32_t x = net_transpose(g, net_input(g, 1, 24, 24, 64));
    ig_add_output(g, net_conv(g, net_conv(g, x, 64, 3, 1, -1), 64, 3, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .objective = IG_OBJECTIVE_MEMORY});
    assert_int_equal(p->buffers[g->nodes[0].out[0]].memory, IG_MEMORY_RING);
    assert_int_equal(p->buffers[g->nodes[0].out[0]].view.pixel_stride, 64);
    assert_int_equal(ig_plan_write(p, g, path, err, sizeof err), 0);
    struct ig_plan *q = ig_plan_read(path, g, err, sizeof err);
    if (!q) fail_msg("%s", err);
    for (int32_t i = 0; i < q->n_bands; i++) {
        struct ig_flow flow;
        int32_t members[IG_MAX_BAND];
        assert_true(ig_band_flow(g, q, &q->bands[i], &flow));
        assert_int_equal(flow.n, ig_band_members(q, &q->bands[i], members));
    }
    net_run_tables(g, p, 1, 1, want);
    net_run_tables(g, q, 1, 1, got);
    outputs_same(g, want, got, 1);
    ig_plan_free(p);
    ig_plan_free(q);
    ig_graph_free(g);
}

/* Every byte of a plan is changed in turn: it is read or refused with a line, never worse. */
static void damaged_plans_are_refused(void **state)
{
    struct ig_graph *g = net_dense(1, 1);
    char err[1024];
    int refused = 0;
    (void)state;
    ig_prepare_views(g);
    struct ig_plan *p = make(g, IG_ISA_REF, 1);
    assert_int_equal(ig_plan_write(p, g, path, err, sizeof err), 0);
    char *text = slurp(path);
    for (size_t i = 0; text[i]; i++) {
        char was = text[i], why[1024];
        text[i] = was == '1' ? '9' : was == '"' ? '}' : '1';
        spit(path, text);
        text[i] = was;
        struct ig_plan *q = ig_plan_read(path, g, err, sizeof err);
        refused += !q;
        if (q) ig_validate(g, q, 0, why, sizeof why);
        if (!q) assert_true(!strncmp(err, path, strlen(path)) && !strchr(err, '\n'));
        ig_plan_free(q);
    }
    assert_true(refused > 100);
    assert_null(ig_plan_read("/nonexistent/plan.json", g, err, sizeof err));
    assert_string_equal(err, "/nonexistent/plan.json: No such file or directory");
    test_free(text);
    ig_plan_free(p);
    ig_graph_free(g);
}

/* What pages and summaries print as it stands is one of few words. */
static void unknown_isas_are_refused(void **state)
{
    struct ig_graph *g = net_dense(1, 1);
    char err[1024] = "";
    (void)state;
    ig_prepare_views(g);
    struct ig_plan *p = make(g, IG_ISA_REF, 1);
    assert_int_equal(ig_plan_write(p, g, path, err, sizeof err), 0);
    char *text = slurp(path), *isa = strstr(text, "\"isa\":\"ref\"");
    assert_non_null(isa);
    memcpy(isa + 7, "<i>", 3);
    spit(path, text);
    assert_null(ig_plan_read(path, g, err, sizeof err));
    assert_non_null(strstr(err, "there are no kernels for '<i>'"));
    test_free(text);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void a_full_disk_is_an_error(void **state)
{
    struct ig_graph *g = net_dense(2, 1);
    char err[1024] = "";
    (void)state;
    ig_prepare_views(g);
    struct ig_plan *p = make(g, IG_ISA_REF, 1);
    assert_int_equal(ig_plan_write(p, g, "/dev/full", err, sizeof err), -1);
    assert_string_equal(err, "/dev/full: cannot write: No space left on device");
    assert_int_equal(ig_plan_write(p, g, "/nonexistent/plan.json", err, sizeof err), -1);
    assert_string_equal(err, "/nonexistent/plan.json: cannot write: No such file or directory");
    ig_plan_free(p);
    ig_graph_free(g);
}

static void profiles_survive_a_file(void **state)
{
    struct ig_graph *g = net_dense(2, 1);
    char err[1024] = "", hash[65];
    (void)state;
    const struct ig_kernel *k = ig_kernel_by_name("conv_f32_1x1__ref");
    const struct ig_kernel *w = ig_kernel_by_name("conv_f32_winograd4_6x16__neon");
    struct ig_timing t[] = {
        {0, k, 0, 0, 1, 1234.5, 0, 0}, {0, k, 1, 2, 4, 1.0 / 3, 1e9, 0}, {2, k, 2, 16, 4, 20000, 7, 0},
        {2, w, 2, 16, 4, 20000, 7, 1.5e-6}};
    memset(hash, 'a', 64);
    hash[64] = 0;
    struct ig_profile p = {.sha256 = (char *)"", .graph_sha256 = hash, .cpu = (char *)"a \"cpu\"\\\n",
                           .isa = (char *)"avx2", .threads = 4, .peak_gflops = 99.25, .whole_over_sum = 1.1, .n = 4, .timings = t};
    assert_int_equal(ig_profile_write(&p, g, path, err, sizeof err), 0);
    char *first = slurp(path);
    struct ig_profile *q = ig_profile_read(path, g, err, sizeof err);
    if (!q) fail_msg("%s", err);
    assert_int_equal(strlen(q->sha256), 64);
    assert_string_equal(q->cpu, p.cpu);
    assert_string_equal(q->graph_sha256, hash);
    assert_true(q->whole_over_sum == 1.1);
    assert_int_equal(q->n, 4);
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(q->timings[i].kernel, t[i].kernel);
        assert_true(q->timings[i].error == t[i].error);
        assert_true(q->timings[i].alone_ns == t[i].alone_ns && q->timings[i].in_order_ns == t[i].in_order_ns);
    }
    assert_int_equal(ig_profile_write(q, g, path, err, sizeof err), 0);
    char *second = slurp(path);
    assert_string_equal(first, second);
    *strstr(second, "conv_f32_1x1__ref") = 'x';
    spit(path, second);
    assert_null(ig_profile_read(path, g, err, sizeof err));
    assert_non_null(strstr(err, "timings[0]: no kernel is called 'xonv_f32_1x1__ref'"));
    test_free(first);
    test_free(second);
    ig_profile_free(q);
    ig_graph_free(g);
}

/* In whatever record of the text at `path` a key is that nobody knows: read refuses it by name. */
static void refuses_unknown_keys(const struct ig_graph *g, int (*reads)(const struct ig_graph *g, char *err, size_t bytes))
{
    char *text = slurp(path), *more = test_calloc(1 << 20, 1), err[1024] = "";
    int records = 0;
    assert_true(reads(g, err, sizeof err));
    for (const char *at = text; (at = strchr(at, '{')); at++, records++) {
        snprintf(more, 1 << 20, "%.*s{\"extra\":1,%s", (int)(at - text), text, at + 1);
        spit(path, more);
        assert_false(reads(g, err, sizeof err));
        assert_int_equal(strncmp(err, path, strlen(path)), 0);
        assert_non_null(strstr(err, "unknown field 'extra'; there are: "));
        assert_null(strchr(err, '\n'));
    }
    assert_true(records > 2);
    test_free(text);
    test_free(more);
}

static int reads_plan(const struct ig_graph *g, char *err, size_t bytes)
{
    struct ig_plan *p = ig_plan_read(path, g, err, bytes);
    ig_plan_free(p);
    return p != NULL;
}

static int reads_profile(const struct ig_graph *g, char *err, size_t bytes)
{
    struct ig_profile *p = ig_profile_read(path, g, err, bytes);
    ig_profile_free(p);
    return p != NULL;
}

static void unknown_keys_are_refused(void **state)
{
    struct ig_graph *g = net_new();
    char err[1024] = "", hash[65];
    (void)state;
    ig_add_output(g, net_conv(g, net_conv(g, net_input(g, 1, 24, 24, 16), 16, 3, 1, -1), 16, 3, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .objective = IG_OBJECTIVE_MEMORY});
    assert_true(p->n_bands > 0);
    assert_int_equal(ig_plan_write(p, g, path, err, sizeof err), 0);
    refuses_unknown_keys(g, reads_plan);
    const struct ig_kernel *k = ig_kernel_by_name("conv_f32_1x1__ref");
    struct ig_timing t = {0, k, 0, 0, 1, 1234.5, 0, 0};
    struct ig_band_timing band = {.first = 0, .last = 1, .n = 2, .kernels = {k, k}, .rows = 1, .threads = 1};
    memset(hash, 'a', 64);
    hash[64] = 0;
    struct ig_profile profile = {.sha256 = (char *)"", .graph_sha256 = hash, .cpu = (char *)"cpu", .isa = (char *)"ref", .threads = 1,
                                 .n = 1, .timings = &t, .n_bands = 1, .bands = &band};
    assert_int_equal(ig_profile_write(&profile, g, path, err, sizeof err), 0);
    refuses_unknown_keys(g, reads_profile);
    ig_plan_free(p);
    ig_graph_free(g);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int make_file(void **state)
{
    int f = mkstemp(path);
    (void)state;
    return f < 0 || close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_survive_a_file),
        cmocka_unit_test(bands_of_dense_rings_survive_a_file),
        cmocka_unit_test(damaged_plans_are_refused),
        cmocka_unit_test(unknown_isas_are_refused),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(profiles_survive_a_file),
        cmocka_unit_test(unknown_keys_are_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
