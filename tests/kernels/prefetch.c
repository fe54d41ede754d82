/* What is fetched while panels of weights are multiplied is what comes next: no result tells. Micro-kernels here write down what they are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels_cpu/common/winograd.h"

enum { MOST = 4096, MR = 12, NR = 16 };

static struct ig_gemm_args calls[MOST];
static int n_calls;

static void note(const struct ig_gemm_args *args)
{
    assert_true(n_calls < MOST);
    calls[n_calls++] = *args;
}

static void no_in(const struct ig_winograd_in *args)
{
    (void)args;
}

static void no_out(const struct ig_winograd_out *args)
{
    (void)args;
}

/* Each run of calls by the same panels begins with the address of the next run's, and fetches as many bytes as its own panels have. */
static void check_calls(int64_t k)
{
    for (int i = 0, end; i < n_calls; i = end) {
        int64_t fetched = 0;
        for (end = i; end < n_calls && calls[end].bias == calls[i].bias; end++)
            fetched += calls[end].groups * (k / 4) * ((calls[end].panels + 1) / 2) * calls[end].ahead_step;
        if (end == n_calls) break; /* what is next then is another block's */
        assert_ptr_equal(calls[i].ahead, calls[end].bias);
        assert_true(fetched >= calls[i].panels * ig_gemm_panel(1, k - 1, NR) * (int64_t)sizeof(float));
    }
}

/* A whole layer of 3x3, channels that are chunks of M and that are not, one group of tiles and several, a range of channels. */
static void points(void **state)
{
    static ig_gemm_fn *const fns[MR] = {note, note, note, note, note, note, note, note, note, note, note, note};
    static const struct ig_gemm_set gemm = {.mr = MR, .nr = NR, .fn = {fns, fns}, .loops = 2, .block = 32};
    static const int layers[][4] = {{28, 128, 0, 128}, {14, 256, 0, 256}, {7, 64, 0, 64}, {28, 128, 32, 112}}; /* rows, channels, range */
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (int m = 2; m <= 6; m += 2) {
            const struct ig_winograd_set set = {.rows = m, .m = m, .in = no_in, .out = no_out, .gemm = &gemm};
            const int size = layers[i][0], c = layers[i][1], points = (m + 2) * (m + 2);
            const struct ig_conv conv = {.w = {1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}, .groups = 1};
            float *x = calloc((size_t)(size * size * c), sizeof *x), *y = calloc((size_t)(size * size * c), sizeof *y);
            float *zeros = calloc((size_t)c, sizeof *zeros);
            float *weights = calloc((size_t)(c + points * (c / NR) * ig_gemm_panel(1, c, NR)), sizeof *weights);
            struct ig_call call = {.attrs = &conv, .weights = weights, .zeros = zeros, .n_in = 3, .n_out = 1};
            call.in[0] = (struct ig_operand){x, NULL, size, size, c, size, size * c, c};
            call.out[0] = (struct ig_operand){y, NULL, size, size, c, size, size * c, c};
            void *scratch = malloc(ig_winograd_scratch(&call, m, MR));
            assert_true(x && y && zeros && weights && scratch);
            n_calls = 0;
            ig_winograd(&call, (struct ig_range){0, size, layers[i][2], layers[i][3]}, scratch, &set);
            assert_true(n_calls > points);
            check_calls(c);
            free(x), free(y), free(zeros), free(weights), free(scratch);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
