#include "tests/support/check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/contract.h"
#include "tests/support/guard.h"
#include "tests/support/image.h"

static const double eps = 1.0 / (1 << 24); /* half a unit in the last place of 1.0f */

static void set_shape(struct ig_shape *s, int type, int rank, const int32_t *dims)
{
    *s = (struct ig_shape){.type = type, .rank = rank, .dims = {1, 1, 1, 1, 1, 1, 1, 1}};
    memcpy(s->dims, dims, (size_t)rank * sizeof *dims);
}

void check_in(struct check_problem *p, int k, int type, int rank, const int32_t *dims)
{
    set_shape(&p->in[k], type, rank, dims);
    p->has_in |= 1u << k;
    if (p->n_in <= k) p->n_in = k + 1;
}

void check_out(struct check_problem *p, int k, int type, int rank, const int32_t *dims)
{
    set_shape(&p->out[k], type, rank, dims);
    p->has_out |= 1u << k;
    if (p->n_out <= k) p->n_out = k + 1;
}

/* --- values --- */

static int is_float(int32_t type)
{
    return type == IG_F32 || type == IG_F16;
}

static void put(void *data, int32_t type, int64_t i, double v)
{
    switch (type) {
    case IG_F32: ((float *)data)[i] = (float)v; break;
    case IG_I32: ((int32_t *)data)[i] = (int32_t)v; break;
    case IG_I64: ((int64_t *)data)[i] = (int64_t)v; break;
    case IG_I8: ((int8_t *)data)[i] = (int8_t)v; break;
    case IG_F16: ((uint16_t *)data)[i] = ig_float_to_half((float)v); break;
    default: ((uint8_t *)data)[i] = (uint8_t)v; break;
    }
}

static double special(struct rng *r)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, -0.0};
    return values[rng_int(r, 0, 3)];
}

/* bell: a mean of six, whose deviation is an eighth of the range; of a thousand one is at an end. */
static int32_t int_value(struct rng *r, int bell, int32_t low, int32_t high)
{
    int32_t sum = 0;
    if (!bell) return rng_int(r, low, high);
    for (int i = 0; i < 6; i++) sum += rng_int(r, low, high) - low;
    return rng_one_in(r, 1000) ? RNG_OF(r, low, high) : low + sum / 6;
}

static void random_values(struct rng *r, const struct check_problem *p, int k, enum check_pass pass, void *data)
{
    const struct ig_shape *s = &p->in[k];
    int real = pass == CHECK_REALS && is_float(s->type), natural = s->type == IG_U8 || s->type == IG_BOOL;
    double low = p->low[k], high = p->high[k];
    if (low == 0 && high == 0) high = real || s->type == IG_BOOL ? 1 : 4, low = natural ? 0 : -high;
    for (int64_t i = 0; i < ig_count(s); i++) {
        double v = real ? rng_real(r, low, high) : int_value(r, p->bell >> k & 1, (int32_t)ceil(low), (int32_t)floor(high));
        if (real && p->specials && rng_one_in(r, 8)) v = p->specials == CHECK_NO_NUMBERS ? NAN : special(r);
        put(data, s->type, i, v);
    }
}

static void *zeroed(const struct ig_shape *s)
{
    void *data = calloc(1, (size_t)ig_bytes(s) + 1);
    if (!data) abort();
    return data;
}

static void *absolute(const struct ig_shape *s, const void *data)
{
    void *a = malloc((size_t)ig_bytes(s));
    if (!a) abort();
    for (int64_t i = 0; i < ig_count(s); i++) put(a, s->type, i, fabs(ig_as_double(s->type, data, i)));
    return a;
}

/* f32 or f16 data as f32; caller frees. */
static float *as_floats(const struct ig_shape *s, const void *data)
{
    float *to = malloc((size_t)ig_count(s) * sizeof *to + 1);
    if (!to) abort();
    for (int64_t i = 0; i < ig_count(s); i++) to[i] = (float)ig_as_double(s->type, data, i);
    return to;
}

/* Of any type: the reference, and the GPU's kernels that follow it. */
static int takes_all(const struct ig_kernel *k)
{
    return strstr(k->name, "__ref") || (k->isa == IG_ISA_CUDA && strstr(k->name, "_any_"));
}

static int takes_halves(const struct ig_kernel *k)
{
    static const int32_t ops[] = {IG_CONV, IG_DECONV, IG_FC, IG_POOL, IG_GLOBAL_POOL, IG_UNARY, IG_BINARY, IG_SOFTMAX, IG_RESIZE};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i] == k->op) return strstr(k->name, "_f16_") || strstr(k->name, "_b16_") || takes_all(k);
    return 0;
}

/* Kernels on halves get problems with halves for all floats or for some, and at times those of any type. */
static void halve(struct rng *r, const struct ig_kernel *k, struct check_problem *p)
{
    if (!takes_halves(k) || (takes_all(k) && !rng_one_in(r, 4))) return;
    int all = rng_one_in(r, 2);
    for (int i = 0; i < p->n_in; i++)
        if (p->in[i].type == IG_F32 && (all || p->dense >> i & 1 || rng_one_in(r, 2))) p->in[i].type = IG_F16;
    for (int i = 0; i < p->n_out; i++)
        if (p->out[i].type == IG_F32 && (all || rng_one_in(r, 2))) p->out[i].type = IG_F16;
}

/* --- the oracle --- */

static const struct ig_kernel *reference(enum ig_op op, const struct ig_call *call)
{
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->op == (int)op && k->isa == IG_ISA_REF && k->supports(call)) return k;
    }
    return NULL;
}

/* The reference on dense operands. 0, or -1: it does not know such a call. */
static int oracle(const struct contract *c, void *const *in, const union ig_attrs *attrs, void **out)
{
    struct ig_call call = contract_plan_call(c);
    call.attrs = attrs;
    const struct ig_kernel *k = reference(c->body->op, &call);
    if (!k) return -1;
    for (int i = 0; i < call.n_in; i++)
        if (call.in[i].shape) call.in[i].data = in[i];
    for (int i = 0; i < call.n_out; i++)
        if (call.out[i].shape) call.out[i].data = out[i] = calloc(1, (size_t)ig_bytes(&c->problem->out[i]));
    void *scratch = malloc(k->scratch ? k->scratch(&call) + 1 : 1);
    k->run(&call, (struct ig_range){0, call.out[0].h, 0, call.out[0].c}, scratch);
    free(scratch);
    return 0;
}

/* sum |a||b| of every element of out[0]; NULL where the problem has no sums. Caller frees. */
static float *magnitudes(const struct contract *c)
{
    const struct check_problem *p = c->problem;
    void *in[IG_MAX_IN] = {NULL}, *out[IG_MAX_OUT] = {NULL};
    if (p->terms == 0) return NULL;
    for (int k = 0; k < p->n_in; k++)
        if (p->has_in >> k & 1) in[k] = absolute(&p->in[k], c->in[k]);
    oracle(c, in, &p->magnitude, out);
    for (int k = 0; k < p->n_in; k++) free(in[k]);
    float *sums = out[0] ? as_floats(&p->out[0], out[0]) : NULL;
    for (int k = 0; k < p->n_out; k++) free(out[k]);
    return sums;
}

static int is_exact(const struct contract *c)
{
    return c->problem->exact && c->kernel->error == 0;
}

/*
 * The largest output that the descriptor's bound is relative to. A small problem has too few outputs to show
 * it: of many random sums of `terms` products, whose mean size is the root of that below sum |a||b|, the largest
 * would be four deviations.
 */
static double largest(const struct contract *c, const float *want, const float *magnitude)
{
    double most = 0, expected = 4 / sqrt(c->problem->terms);
    for (int64_t i = 0; i < ig_count(&c->problem->out[0]); i++)
        most = fmax(most, fmax(fabs((double)want[i]), expected * magnitude[i]));
    return most;
}

/* Two results on either side of a boundary between halves are one step apart, however near they were before. */
static double step(int32_t type, double want)
{
    int exponent;
    frexp(want, &exponent);
    return type == IG_F16 ? ldexp(1, (exponent < -13 ? -13 : exponent) - 11) : 0;
}

/* How far got may be from want: the rounding of a sum grows with the root of its length (random signs). */
static double bound(const struct contract *c, double want, const float *magnitude, int64_t i)
{
    const struct check_problem *p = c->problem;
    double sum = magnitude ? (4 + 2 * sqrt(p->terms)) * magnitude[i] : 0;
    return eps * (sum + (1 + p->rel) * fabs(want) + p->abs);
}

/* Are both no number, and was got written? */
static int both_nan(float got, float want)
{
    return isnan(got) && isnan(want) && !guard_is_poison(&got, sizeof got);
}

static int compare_floats(struct contract *c, int k, const float *want, const float *got)
{
    float *magnitude = k == 0 && !is_exact(c) ? magnitudes(c) : NULL;
    int64_t n = ig_count(&c->problem->out[k]), i = 0;
    int32_t type = c->problem->out[k].type;
    double limit = 0, stated = c->kernel->error > 0 ? c->kernel->error * largest(c, want, magnitude) : 0;
    for (; i < n; i++) {
        if (got[i] == want[i] || both_nan(got[i], want[i])) continue;
        limit = is_exact(c) ? 0 : (stated > 0 ? stated : bound(c, want[i], magnitude, i)) + step(type, want[i]);
        if (isinf(want[i]) || !(fabs((double)got[i] - want[i]) <= limit)) break;
    }
    free(magnitude);
    if (i == n) return 0;
    snprintf(c->why, c->why_bytes,
             "wrong value: out[%d] element %lld is %.9g, the reference says %.9g (off %.3g, allowed %.3g)", k,
             (long long)i, (double)got[i], (double)want[i], fabs((double)got[i] - want[i]), limit);
    return -1;
}

static int compare_reals(struct contract *c, int k, const void *want)
{
    float *w = as_floats(&c->problem->out[k], want), *got = as_floats(&c->problem->out[k], c->whole[k]);
    int bad = compare_floats(c, k, w, got);
    free(w);
    free(got);
    return bad;
}

static int compare_bytes(struct contract *c, int k, const void *want)
{
    const struct ig_shape *s = &c->problem->out[k];
    int bytes = ig_type_bytes(s->type);
    char a[32], b[32];
    for (int64_t i = 0; i < ig_count(s); i++) {
        if (!memcmp((char *)c->whole[k] + i * bytes, (const char *)want + i * bytes, (size_t)bytes)) continue;
        image_text(a, sizeof a, c->whole[k], s->type, i);
        image_text(b, sizeof b, want, s->type, i);
        snprintf(c->why, c->why_bytes, "wrong value: out[%d] element %lld is %s, the reference says %s", k,
                 (long long)i, a, b);
        return -1;
    }
    return 0;
}

/* Halves that are only moved must be the same bits. */
static int is_real(const struct contract *c, int k)
{
    int32_t type = c->problem->out[k].type;
    return type == IG_F32 || (type == IG_F16 && takes_halves(c->kernel));
}

static int compare(struct contract *c)
{
    const struct check_problem *p = c->problem;
    void *want[IG_MAX_OUT] = {NULL};
    int bad = 0;
    if (oracle(c, c->in, &p->attrs, want)) {
        snprintf(c->why, c->why_bytes, "the reference does not support the problem");
        return -1;
    }
    for (int k = 0; k < p->n_out && !bad; k++)
        if (p->has_out >> k & 1)
            bad = is_real(c, k) ? compare_reals(c, k, want[k]) : compare_bytes(c, k, want[k]);
    for (int k = 0; k < p->n_out; k++) free(want[k]);
    return bad;
}

/* --- a kernel --- */

/* Problems per kernel and pass where memory alone is of interest, as under valgrind; 0: results are, too. */
static int memory_problems(void)
{
    const char *n = getenv("INGOT_MEMORY");
    return n ? atoi(n) : 0;
}

/* One in so many of a kernel's problems, where tests are run that take many times as long as on the processor itself. */
static int share(void)
{
    const char *n = getenv("INGOT_SHARE");
    return n && atoi(n) > 0 ? atoi(n) : 1;
}

/* The most products of a problem where memory alone is of interest: valgrind takes very long for a multiply-add. */
static const double few_products = 1e6;

/*
 * Values come once the kernel is known to take the problem, of zeros: of most draws a special kernel takes none. As it may look at
 * constants it is asked again.
 */
static int check_values(struct contract *c, enum check_pass pass)
{
    const struct check_problem *p = c->problem;
    for (int k = 0; k < p->n_in; k++)
        if (p->has_in >> k & 1) random_values(c->rng, p, k, pass, c->in[k]);
    struct ig_call plan = contract_plan_call(c);
    if (p->constant && c->kernel->supports && !c->kernel->supports(&plan)) return 0;
    if (contract_whole(c)) return -1;
    return (!memory_problems() && compare(c)) || contract_check(c) ? -1 : 1;
}

/* 1: checked; 0: not supported, or of more than `most` products; -1 with why. */
static int check_problem(const struct ig_kernel *kernel, const struct check_body *body, struct rng *r,
                         enum check_pass pass, double most, char *why, size_t why_bytes)
{
    struct check_problem p = {.op = body->op};
    body->make(r, pass, &p);
    halve(r, kernel, &p);
    if (p.terms * (double)ig_count(&p.out[0]) > most) return 0;
    char text[512] = "";
    struct contract c = {kernel, body, &p, {NULL}, {NULL}, r, text, sizeof text};
    for (int k = 0; k < p.n_in; k++)
        if (p.has_in >> k & 1) c.in[k] = zeroed(&p.in[k]);
    for (int k = 0; k < p.n_out; k++)
        if (p.has_out >> k & 1) c.whole[k] = malloc((size_t)ig_bytes(&p.out[k]));
    struct ig_call plan = contract_plan_call(&c);
    int result = !kernel->supports || kernel->supports(&plan) ? check_values(&c, pass) : 0;
    if (result < 0) snprintf(why, why_bytes, "%s\n    problem: %s", text, p.text);
    for (int k = 0; k < p.n_in; k++) free(c.in[k]);
    for (int k = 0; k < p.n_out; k++) free(c.whole[k]);
    return result;
}

/* Random problems until as many are done as are wanted, or draws come to an end: how many were; -1 with why. */
static int check_problems(const struct ig_kernel *k, const struct check_body *body, uint64_t seed, enum check_pass pass,
                          double most, char *why, size_t why_bytes)
{
    int wanted = memory_problems() ? memory_problems() : (body->problems + share() - 1) / share(), done = 0;
    for (int draw = 0; draw < body->draws && done < wanted; draw++) {
        struct rng r = {rng_hash(k->name) ^ (seed << 20) ^ (uint64_t)(pass * 1000000 + draw)};
        int result = check_problem(k, body, &r, pass, most, why, why_bytes);
        if (result < 0) return -1;
        done += result;
    }
    return done;
}

int check_kernel(const struct ig_kernel *k, const struct check_body *body, uint64_t seed, char *why,
                 size_t why_bytes)
{
    int done = 1;
    char text[800];
    guard_catch_begin();
    for (int pass = 0; pass < CHECK_PASSES && done > 0; pass++) {
        done = check_problems(k, body, seed, pass, memory_problems() ? few_products : INFINITY, text, sizeof text);
        if (!done && memory_problems()) done = check_problems(k, body, seed, pass, INFINITY, text, sizeof text);
    }
    guard_catch_end();
    if (!done) snprintf(text, sizeof text, "none of %d random problems is supported", body->draws);
    if (done <= 0)
        snprintf(why, why_bytes, "%s: %s\n    again: INGOT_SEED=%llu", k->name, text,
                 (unsigned long long)seed);
    return done > 0 ? 0 : -1;
}

/* --- main --- */

static const struct check_body *bodies_under_test;
static int n_bodies;

static const struct check_body *body_of(const struct ig_kernel *k)
{
    for (int i = 0; i < n_bodies; i++)
        if (k->op == (int)bodies_under_test[i].op) return &bodies_under_test[i];
    return NULL;
}

static void test_kernel(void **state)
{
    const char *seed = getenv("INGOT_SEED");
    char why[1024];
    if (check_kernel(*state, body_of(*state), seed ? strtoull(seed, NULL, 0) : 1, why, sizeof why)) fail_msg("%s", why);
}

int check_main_of(const struct check_body *bodies, int n, int argc, char **argv)
{
    struct CMUnitTest *tests = calloc((size_t)ig_kernel_count(), sizeof *tests);
    const char *name = ig_op_info(bodies->op)->name;
    size_t kernels = 0;
    if (!tests) abort();
    bodies_under_test = bodies;
    n_bodies = n;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (!body_of(k) || !k->run || !ig_isa_runs_here(k->isa)) continue;
        if (argc > 1 && !strstr(k->name, argv[1])) continue;
        tests[kernels++] = (struct CMUnitTest){
            .name = k->name, .test_func = test_kernel, .initial_state = (void *)(uintptr_t)k};
    }
    if (!kernels) {
        fprintf(stderr, "no kernel of %s%s%s is built here\n", name, argc > 1 ? " named " : "", argc > 1 ? argv[1] : "");
        free(tests);
        return 1;
    }
    int failed = _cmocka_run_group_tests(name, tests, kernels, NULL, NULL);
    free(tests);
    return failed;
}

int check_main(const struct check_body *body, int argc, char **argv)
{
    return check_main_of(body, 1, argc, argv);
}
