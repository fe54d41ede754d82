/*
 * The kernel test under test: kernels that are wrong in one way each must be caught, and the message name the
 * way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/check.h"
#include "tests/support/registers.h"

/* y = max(x, 0) over the range, as it should be. */
static void right(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = r.c0; c < r.c1; c++) {
                float v = ig_row_f32(in, y)[x * in->pixel_stride + c];
                ig_row_f32(out, y)[x * out->pixel_stride + c] = v < 0 ? 0 : v;
            }
}

static float *pixel(const struct ig_operand *o, int32_t y, int32_t x)
{
    return ig_row_f32(o, y) + x * o->pixel_stride;
}

static void wrong_value(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.y1 == call->out[0].h && r.c1 == call->out[0].c) pixel(&call->out[0], r.y1 - 1, 0)[r.c1 - 1] += 1;
}

/* Off by 1e-4: nothing on integers that small kernels get wrong. */
static void inaccurate(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    for (int32_t y = r.y0; y < r.y1; y++) {
        float *p = pixel(&call->out[0], y, 0) + r.c0;
        if (*p != (float)(int)*p) *p *= 1.0001f;
    }
}

static void writes_right(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.c1 < call->out[0].c) pixel(&call->out[0], r.y0, 0)[r.c1] = 0;
}

static void writes_left(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.c0 > 0) pixel(&call->out[0], r.y1 - 1, 0)[r.c0 - 1] = 0;
}

static void writes_below(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.y1 < call->out[0].h && call->out[0].ring_rows == call->out[0].h)
        pixel(&call->out[0], r.y1, 0)[r.c0] = 0;
}

static void writes_above(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.y0 > 0 && call->out[0].ring_rows == call->out[0].h) pixel(&call->out[0], r.y0 - 1, 0)[r.c0] = 0;
}

static void writes_gap(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const struct ig_operand *out = &call->out[0];
    right(call, r, scratch);
    if (out->pixel_stride > out->c && out->w > 1) pixel(out, r.y0, 0)[out->c] = 0;
}

static void writes_before(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.y0 == 0) pixel(&call->out[0], 0, 0)[-1] = 0;
}

static void writes_input(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    pixel(&call->in[0], r.y0, 0)[r.c0] = 1;
}

static void writes_zeros(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    *(float *)(uintptr_t)call->zeros = 1;
}

static volatile float sink;

static void reads_past(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const struct ig_operand *in = &call->in[0];
    right(call, r, scratch);
    if (r.y1 == in->h) sink = pixel(in, in->h - 1, in->w - 1)[in->c];
}

static void reads_before(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.y0 == 0) sink = pixel(&call->in[0], 0, 0)[-1];
}

/* Adds 0 times memory that was never written: only valgrind sees it, where outputs are compared. */
static void reads_unwritten(const struct ig_call *call, struct ig_range r, void *scratch)
{
    volatile uint32_t *left = malloc(4 * sizeof *left);
    right(call, r, scratch);
    if (!left) return;
    left[0] = 0;
    pixel(&call->out[0], r.y0, 0)[r.c0] += (float)(left[0] * left[3]);
    free((void *)(uintptr_t)left);
}

static void ignores_strides(const struct ig_call *call, struct ig_range r, void *scratch)
{
    struct ig_call dense = *call;
    dense.in[0].pixel_stride = dense.in[0].c;
    right(&dense, r, scratch);
}

static void ignores_ring(const struct ig_call *call, struct ig_range r, void *scratch)
{
    struct ig_call whole = *call;
    whole.in[0].ring_rows = whole.in[0].h;
    right(&whole, r, scratch);
}

/* The first row of a range comes out another way. */
static void depends_on_cut(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    if (r.y0 > 0) pixel(&call->out[0], r.y0, 0)[r.c0] += 1e-6f;
}

static void leaves_holes(const struct ig_call *call, struct ig_range r, void *scratch)
{
    if (r.y1 - r.y0 > 1 || r.y1 == 1) right(call, r, scratch);
}

static void traps(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    __builtin_trap();
}

/* Clears the output before it reads the input. */
static void not_in_place(const struct ig_call *call, struct ig_range r, void *scratch)
{
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < call->out[0].w; x++)
            memset(pixel(&call->out[0], y, x) + r.c0, 0, (size_t)(r.c1 - r.c0) * sizeof(float));
    right(call, r, scratch);
}

static void trusts_scratch(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    pixel(&call->out[0], r.y0, 0)[r.c0] += *(float *)scratch;
}

static void overflows_scratch(const struct ig_call *call, struct ig_range r, void *scratch)
{
    memset(scratch, 0, 65);
    right(call, r, scratch);
}

/* Every second call is wrong: state between calls. */
static void remembers(const struct ig_call *call, struct ig_range r, void *scratch)
{
    static int calls;
    right(call, r, scratch);
    if (++calls % 2 == 0) pixel(&call->out[0], r.y0, 0)[r.c0] += 1;
}

static void loses_registers(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    lose_registers();
}

/* Of what is no number, in turns this one and another. */
static void turns_nan(const struct ig_call *call, struct ig_range r, void *scratch)
{
    static const uint32_t nans[2] = {0x7fc00000, 0xffc00000};
    static int calls;
    right(call, r, scratch);
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < call->out[0].w; x++)
            for (int32_t c = r.c0; c < r.c1; c++) {
                float *p = pixel(&call->out[0], y, x) + c;
                if (*p != *p) memcpy(p, &nans[calls % 2], sizeof *p);
            }
    calls++;
}

/* As a maximum of most machines. */
static void loses_nan(const struct ig_call *call, struct ig_range r, void *scratch)
{
    right(call, r, scratch);
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < call->out[0].w; x++)
            for (int32_t c = r.c0; c < r.c1; c++) {
                float *p = pixel(&call->out[0], y, x) + c;
                if (*p != *p) *p = 0;
            }
}

/* What is no number stays unwritten: that is none either. */
static void leaves_nan(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = r.c0; c < r.c1; c++) {
                float v = pixel(in, y, x)[c];
                if (v == v) pixel(out, y, x)[c] = v < 0 ? 0 : v;
            }
}

/* --- packing: a constant operand to multiply with --- */

static size_t pack_right(const struct ig_call *call, void *dst)
{
    size_t bytes = (size_t)ig_bytes(call->in[1].shape);
    if (dst) memcpy(dst, call->in[1].data, bytes);
    return bytes;
}

static size_t pack_overflows(const struct ig_call *call, void *dst)
{
    size_t bytes = (size_t)ig_bytes(call->in[1].shape);
    if (dst) memset(dst, 0, bytes + 64);
    return bytes;
}

static size_t pack_disagrees(const struct ig_call *call, void *dst)
{
    return pack_right(call, dst) + (dst ? 4 : 0);
}

/* y = x + packed constant [C] */
static void adds_packed(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = r.c0; c < r.c1; c++)
                pixel(out, y, x)[c] = pixel(in, y, x)[c] + ((const float *)call->weights)[c];
}

/* The constant is packed, so that in[1] has no data. */
static void reads_constant(const struct ig_call *call, struct ig_range r, void *scratch)
{
    adds_packed(call, r, scratch);
    sink = *(volatile float *)call->in[1].data;
}

/* --- the table --- */

static int any(const struct ig_call *call)
{
    return call->out[0].shape->rank == 4;
}

static int none(const struct ig_call *call)
{
    return call->out[0].shape->rank != 4;
}

static size_t scratch64(const struct ig_call *call)
{
    (void)call;
    return 64;
}

struct row {
    struct ig_kernel kernel;
    const char *message; /* expected in the failure; NULL: passes */
};

enum { STRIDED = IG_STRIDED, PLACED = IG_IN_PLACE_0 };

#define RELU(fn, flags, supports, message) \
    {{#fn, fn, IG_UNARY, IG_ISA_REF, flags, 1, 1, supports, NULL, scratch64, 0, 0}, message}
#define NANS(name, fn, isa, message) \
    {{name, fn, IG_UNARY, isa, 0, 1, 1, any, NULL, scratch64, 0, 0}, message}
#define PLUS(name, fn, pack, message) \
    {{name, fn, IG_BINARY, IG_ISA_REF, STRIDED, 1, 1, any, pack, NULL, 0, 0}, message}

static const struct row rows[] = {
    RELU(right, STRIDED | PLACED, any, NULL),
    RELU(right, STRIDED, none, "none of"),
    RELU(reads_unwritten, 0, any, NULL),
    RELU(wrong_value, STRIDED, any, "wrong value: out[0]"),
    RELU(inaccurate, STRIDED, any, "wrong value: out[0]"),
    RELU(writes_right, STRIDED, any, "channels to the right"),
    RELU(writes_left, STRIDED, any, "channels to the left"),
    RELU(writes_below, STRIDED, any, "in a row below"),
    RELU(writes_above, STRIDED, any, "in a row above"),
    RELU(writes_gap, STRIDED, any, "in the gap after a pixel"),
    RELU(writes_before, 0, any, "before the tensor's first element"),
    RELU(writes_input, 0, any, "writing to in[0]"),
    RELU(writes_zeros, 0, any, "writing to zeros"),
    RELU(reads_past, 0, any, "past the end of in[0]"),
    RELU(reads_before, 0, any, "before in[0]"),
    RELU(ignores_strides, STRIDED, any, "views"),
    RELU(ignores_ring, STRIDED, any, "rings of rows"),
    RELU(depends_on_cut, 0, any, "differs from the whole run"),
    RELU(leaves_holes, 0, any, "differs from the whole run"),
    RELU(traps, 0, any, "whole run: "),
    RELU(not_in_place, PLACED, any, "in place"),
    RELU(trusts_scratch, 0, any, "nan"),
    RELU(overflows_scratch, 0, any, "past the end of scratch"),
    RELU(loses_registers, 0, any, REGISTERS_LOST),
    RELU(remembers, 0, any, "differs from the whole run"),
    NANS("nans", right, IG_ISA_REF, NULL),
    NANS("nans_turn", turns_nan, IG_ISA_REF, "differs from the whole run"),
    NANS("nans_turn_gpu", turns_nan, IG_ISA_CUDA, NULL),
    NANS("nans_lost", loses_nan, IG_ISA_REF, "wrong value: out[0]"),
    NANS("nans_lost_gpu", loses_nan, IG_ISA_CUDA, "wrong value: out[0]"),
    NANS("nans_left", leaves_nan, IG_ISA_REF, "wrong value: out[0]"),
    NANS("nans_left_gpu", leaves_nan, IG_ISA_CUDA, "wrong value: out[0]"),
    PLUS("packs", adds_packed, pack_right, NULL),
    PLUS("pack_overflows", adds_packed, pack_overflows, "pack: Segmentation fault"),
    PLUS("pack_disagrees", adds_packed, pack_disagrees, "bytes asked for"),
    PLUS("reads_constant", reads_constant, pack_right, "at no operand's address"),
};

enum { ROWS = sizeof rows / sizeof *rows };

static void make_relu(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    const int32_t dims[4] = {1, rng_int(r, 2, 9), rng_int(r, 2, 9), rng_int(r, 2, 20)};
    p->attrs.unary.act.kind = IG_RELU;
    check_in(p, 0, IG_F32, 4, dims);
    check_out(p, 0, IG_F32, 4, dims);
    p->exact = pass == CHECK_INTEGERS;
    p->rel = 16;
}

static void make_special(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    make_relu(r, pass, p);
    p->specials = 1;
}

static void make_plus(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    const int32_t dims[4] = {1, rng_int(r, 2, 9), rng_int(r, 2, 9), rng_int(r, 2, 5) * 16};
    (void)pass;
    p->attrs.binary.kind = IG_ADD;
    check_in(p, 0, IG_F32, 4, dims);
    check_in(p, 1, IG_F32, 1, &dims[3]);
    check_out(p, 0, IG_F32, 4, dims);
    p->constant = 2;
    p->exact = 1;
}

static void test_row(void **state)
{
    static const struct check_body relu = {IG_UNARY, 12, 20, make_relu, NULL},
                                   special = {IG_UNARY, 12, 20, make_special, NULL}, plus = {IG_BINARY, 12, 20, make_plus, NULL};
    const struct row *row = *state;
    char why[1024] = "";
    const struct check_body *body = row->kernel.op == IG_BINARY ? &plus : strncmp(row->kernel.name, "nans", 4) ? &relu : &special;
    int bad = check_kernel(&row->kernel, body, 1, why, sizeof why);
    if (!row->message && bad) fail_msg("a right kernel fails: %s", why);
    if (row->message && !bad) fail_msg("%s passes", row->kernel.name);
    if (row->message && !strstr(why, row->message)) fail_msg("expected \"%s\": %s", row->message, why);
}

/* The seed is in the message, and another seed makes other problems. */
static void test_seed(void **state)
{
    static const struct check_body relu = {IG_UNARY, 12, 20, make_relu, NULL};
    const struct ig_kernel wrong = {"wrong_value", wrong_value, IG_UNARY, IG_ISA_REF, 0, 1, 1,
                                    any,           NULL,        NULL,    0, 0};
    char a[1024], b[1024], c[1024];
    (void)state;
    assert_int_equal(check_kernel(&wrong, &relu, 12345, a, sizeof a), -1);
    assert_int_equal(check_kernel(&wrong, &relu, 12345, b, sizeof b), -1);
    assert_int_equal(check_kernel(&wrong, &relu, 54321, c, sizeof c), -1);
    assert_true(strstr(a, "INGOT_SEED=12345") != NULL);
    assert_true(!strcmp(a, b));
    assert_true(strstr(c, "INGOT_SEED=54321") != NULL);
    assert_true(strncmp(a, c, strlen(a) - 20) != 0);
}

/* argv[1]: only kernels of that name. */
int main(int argc, char **argv)
{
    struct CMUnitTest tests[ROWS + 1];
    size_t n = 0;
    for (int i = 0; i < ROWS; i++)
        if (argc < 2 || !strcmp(rows[i].kernel.name, argv[1]))
            tests[n++] = (struct CMUnitTest){.name = rows[i].kernel.name,
                                             .test_func = test_row,
                                             .initial_state = (void *)(uintptr_t)&rows[i]};
    if (argc < 2) tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_seed);
    return _cmocka_run_group_tests("harness", tests, n, NULL, NULL);
}
