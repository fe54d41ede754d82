/*
 * Words two at a time (kernels_cpu/pack/pairs.h): whatever the weights, no sum of a pair leaves 16 bits, each word is there once, and its parts add
 * up to it. A convolution of which panels have words that are alone gives the reference's bits, with the largest inputs, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/pack/pairs.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "tests/support/node.h"
#include "tests/support/rng.h"

enum { MOST_WORDS = 700, BYTES = IG_PAIR_BYTES };

enum kind { BELL, WIDE_BELL, UNIFORM, ENDS, SPARSE, KINDS };

static int8_t weight(struct rng *r, enum kind kind)
{
    int32_t sum = 0, of = kind == WIDE_BELL ? 4 : 8;
    for (int32_t i = 0; i < of; i++) sum += rng_int(r, -127, 127);
    if (kind == UNIFORM) return (int8_t)rng_int(r, -128, 127);
    if (kind == ENDS) return (int8_t)RNG_OF(r, -128, -127, -65, -64, -63, -1, 0, 1, 63, 64, 65, 127);
    if (kind == SPARSE) return (int8_t)(rng_one_in(r, 100) ? rng_int(r, -128, 127) : 0);
    return (int8_t)(sum / of);
}

/* What positive and negative weights of a pair add up to, of the two weights from w on. */
static void check_sums(const struct ig_pair *p, const int8_t *words, int32_t w)
{
    int32_t above = 0, below = 0;
    for (int i = 0; i < 2 && p->word[i] >= 0; i++)
        for (int32_t k = w; k < w + 2; k++) {
            const int32_t v = ig_pair_weight(words[p->word[i] * BYTES + k], p->part[i]);
            above += v > 0 ? v : 0, below += v < 0 ? v : 0;
        }
    assert_true(above * 255 <= INT16_MAX);
    assert_true(below * 255 >= INT16_MIN);
}

/* Takes what pairs have off a copy of the words, of which nothing is left then. */
static void check_pairs(const struct ig_pairs *p, const int8_t *words, int32_t n)
{
    static int32_t left[MOST_WORDS * BYTES], times[MOST_WORDS];
    for (int32_t i = 0; i < n * BYTES; i++) left[i] = words[i];
    memset(times, 0, sizeof times);
    for (int32_t i = 0; i < p->n; i++) {
        for (int32_t w = 0; w < BYTES; w += 2) check_sums(&p->pair[i], words, w);
        for (int j = 0; j < 2 && p->pair[i].word[j] >= 0; j++) {
            const int32_t word = p->pair[i].word[j], part = p->pair[i].part[j];
            for (int32_t k = word * BYTES; k < (word + 1) * BYTES; k++) left[k] -= ig_pair_weight(words[k], part);
            times[word] += part == IG_PAIR_WHOLE ? 2 : 1;
        }
    }
    for (int32_t i = 0; i < p->n_alone; i++) {
        for (int32_t k = 0; k < BYTES; k++) left[p->alone[i] * BYTES + k] -= words[p->alone[i] * BYTES + k];
        times[p->alone[i]] += 2;
    }
    for (int32_t i = 0; i < n * BYTES; i++) assert_int_equal(left[i], 0);
    for (int32_t i = 0; i < n; i++) assert_true(times[i] >= 0 && times[i] <= 2);
}

static void make(struct rng *r, enum kind kind, int32_t n, int8_t *words)
{
    for (int32_t i = 0; i < n * BYTES; i++) words[i] = weight(r, kind);
    if (n > 1 && rng_one_in(r, 3)) memset(words + rng_int(r, 0, n - 1) * BYTES, rng_one_in(r, 2) ? 0 : -128, BYTES);
}

static void any_weights(void **state)
{
    static int8_t words[MOST_WORDS * BYTES];
    static struct ig_pair pairs[2 * MOST_WORDS], again[2 * MOST_WORDS];
    static int32_t alone[MOST_WORDS], others[MOST_WORDS];
    struct rng r = {1};
    (void)state;
    for (int i = 0; i < 300; i++) {
        const int32_t n = rng_one_in(&r, 8) ? rng_int(&r, 250, MOST_WORDS) : rng_int(&r, 1, 60);
        const int32_t most = rng_int(&r, (n + 1) / 2, rng_one_in(&r, 2) ? n : 2 * n);
        struct ig_pairs p = {0, 0, pairs, alone}, q = {0, 0, again, others};
        make(&r, (enum kind)(i % KINDS), n, words);
        ig_pair_words(words, n, most, &p);
        assert_true(p.n <= most);
        assert_true(2 * p.n + p.n_alone <= 2 * most);
        check_pairs(&p, words, n);
        ig_pair_words(words, n, most, &q);
        assert_int_equal(p.n, q.n);
        assert_memory_equal(pairs, again, (size_t)p.n * sizeof *pairs);
    }
}

/* Two words whose weights 0 and 1 are `a`, or 2 and 3; how many pairs they are. */
static int32_t two_words(int32_t a, int32_t b, int32_t at)
{
    int8_t words[2 * BYTES] = {0};
    struct ig_pair pairs[4];
    int32_t alone[2];
    struct ig_pairs p = {0, 0, pairs, alone};
    words[at] = (int8_t)a, words[BYTES + at + 1] = (int8_t)b;
    ig_pair_words(words, 2, 4, &p);
    check_pairs(&p, words, 2);
    return p.n;
}

/* Every word is in a pair as long as that fits, in each lane. */
static void limits(void **state)
{
    (void)state;
    for (int32_t at = 0; at < BYTES; at += 2) {
        assert_int_equal(two_words(64, 64, at), 1);
        assert_int_equal(two_words(65, 64, at), 2);
        assert_int_equal(two_words(-64, -64, at), 1);
        assert_int_equal(two_words(-64, -65, at), 2);
        assert_int_equal(two_words(127, -128, at), 1);
        assert_int_equal(two_words(1, 127, at), 1);
        assert_int_equal(two_words(2, 127, at), 2);
    }
}

/* Trained weights pair well: what the kernels live on. */
static void are_few(void **state)
{
    static int8_t words[288 * BYTES];
    static struct ig_pair pairs[2 * 288];
    static int32_t alone[288];
    struct ig_pairs p = {0, 0, pairs, alone};
    struct rng r = {2};
    (void)state;
    make(&r, BELL, 288, words);
    ig_pair_words(words, 288, 2 * 288, &p);
    assert_true(p.n >= 144 && p.n <= 152);
}

/* --- layers --- */

enum { SIDE = 7, IC = 64, OC = 80, PIXELS = SIDE * SIDE };

static const float one = 1, no_zero = 0;
static const uint8_t x_zero = 3;
static const int8_t w_zero;

static void *lines(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p) abort();
    return p;
}

static void run(const char *name, const struct ig_call *call, float *y)
{
    const struct ig_kernel *k = ig_kernel_by_name(name);
    struct ig_call now = *call;
    void *weights = lines(k->pack ? k->pack(call, NULL) : 0), *scratch = lines(k->scratch ? k->scratch(call) : 0);
    void *zeros = lines(ig_zeros_bytes(call));
    assert_true(k->supports(call));
    if (k->pack) k->pack(call, weights);
    memset(zeros, 0, ig_zeros_bytes(call));
    now.weights = weights, now.zeros = zeros, now.out[0].data = y;
    k->run(&now, ig_full_range(&now), scratch);
    free(weights), free(scratch), free(zeros);
}

/* Of the five panels, the second and the fourth have weights of another kind, by which nothing is decided. */
static void layer(enum kind kind, int32_t kernel, int32_t largest)
{
    static uint8_t x[PIXELS * IC];
    static int8_t w[OC * IC * 9];
    static float want[PIXELS * OC], got[PIXELS * OC];
    const int32_t pad = kernel / 2, of_one = IC * kernel * kernel;
    const struct ig_conv attrs = {{1, kernel, kernel, 1, 1, 1, 1, 1, 1, 0, pad, pad, 0, pad, pad, 1, 1}, 1, {0}};
    const struct ig_shape number = {IG_F32, 0, {1, 1, 1, 1, 1, 1, 1, 1}}, byte = {IG_U8, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    const struct ig_shape signed_byte = {IG_I8, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    const struct ig_shape in_shape = SHAPE(IG_U8, 1, SIDE, SIDE, IC), w_shape = SHAPE(IG_I8, OC, IC, kernel, kernel);
    const struct ig_shape out_shape = SHAPE(IG_F32, 1, SIDE, SIDE, OC);
    const struct ig_shape *in[8] = {&in_shape, &number, &byte, &w_shape, &number, &signed_byte, &number, &number}, *out[1] = {&out_shape};
    const void *data[8] = {x, &one, &x_zero, w, &one, &w_zero, &one, &no_zero};
    struct rng r = {(uint64_t)kind};
    struct ig_call call;
    int batch;
    for (int32_t i = 0; i < PIXELS * IC; i++) x[i] = (uint8_t)(largest ? 255 : rng_int(&r, 0, 255));
    for (int32_t i = 0; i < OC * of_one; i++) w[i] = weight(&r, i / of_one / 16 % 2 ? kind : BELL);
    assert_int_equal(ig_build_call(IG_QLINEAR_CONV, &attrs, in, data, 8, out, 1, &call, &batch), 0);
    run("qlinear_conv_any_1x1__ref", &call, want);
    run("qlinear_conv_i8_paired4x16__avx2", &call, got);
    assert_memory_equal(got, want, sizeof want);
}

static void layers(void **state)
{
    (void)state;
    if (!ig_isa_runs_here(IG_ISA_AVX2)) return;
    for (int32_t kind = 0; kind < KINDS; kind++)
        for (int32_t kernel = 1; kernel <= 3; kernel += 2)
            for (int32_t largest = 0; largest < 2; largest++) layer((enum kind)kind, kernel, largest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_weights), cmocka_unit_test(limits), cmocka_unit_test(are_few), cmocka_unit_test(layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
