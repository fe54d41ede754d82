#include "kernels_cpu/common/matmul.h"

#include <string.h>

#include "kernels_cpu/ref/matmul.h"

enum { NR = IG_MATMUL_NR };

struct job {
    const struct ig_call *call;
    const struct ig_gemm_set *set;
    ig_transpose_fn *transpose;
    struct ig_matrices s;
    float alpha;
    int32_t c0, c1;
    void *tables;
    float *left;   /* [m][k] of a transposed left side; NULL: it is read as it is */
    float *panels; /* [(c1 - c0) / NR] { 0[NR], b[k][NR] } */
};

static size_t lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t left_bytes(const struct ig_call *call, const struct ig_matrices *s)
{
    return ((const struct ig_matmul *)call->attrs)->trans_a ? lines((size_t)(s->m * s->k) * sizeof(float)) : 0;
}

static struct ig_matrices matrices_of(const struct ig_call *call)
{
    const struct ig_matmul *a = (const struct ig_matmul *)call->attrs;
    return ig_matrices_of(call->in[0].shape, call->in[1].shape, a->trans_a, a->trans_b);
}

size_t ig_gemm_matmul_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_matrices s = matrices_of(call);
    return lines(ig_gemm_fc_scratch(call, mr)) + left_bytes(call, &s) + (size_t)((s.n + NR - 1) / NR * ig_gemm_panel(1, s.k, NR)) * sizeof(float);
}

/* alpha times n floats, of which a compiler makes vectors where it knows n. */
static inline __attribute__((always_inline)) void pack_some(float *restrict to, const float *restrict b, float alpha, const int32_t n)
{
    for (int32_t j = 0; j < n; j++) to[j] = alpha * b[j];
}

/* The same of a panel's row. */
static inline void pack_row(float *to, const float *b, float alpha, int32_t n)
{
    if (n == NR) pack_some(to, b, alpha, NR);
    else if (n == IG_GEMM_STEP) pack_some(to, b, alpha, IG_GEMM_STEP);
    else pack_some(to, b, alpha, n);
}

/* Columns [c, c + n) of the matrix at b, the others zero. */
static void pack_panel(const struct job *job, const float *b, int32_t c, int32_t n, float *to)
{
    const int64_t k_step = job->s.b_k, n_step = job->s.b_n, k = job->s.k;
    memset(to, 0, (size_t)(n < NR ? ig_gemm_panel(1, k, NR) : NR) * sizeof *to);
    to += NR;
    b += c * n_step;
    if (n_step != 1) {
        job->transpose(b, n_step, to, NR, n, k);
        for (int64_t i = 0; job->alpha != 1 && i < k * NR; i++) to[i] *= job->alpha;
    } else {
        for (int64_t i = 0; i < k; i++, b += k_step, to += NR) pack_row(to, b, job->alpha, n);
    }
}

static void pack_right(const struct job *job, const float *b)
{
    const int64_t panel = ig_gemm_panel(1, job->s.k, NR);
    for (int32_t c = job->c0; c < job->c1; c += NR)
        pack_panel(job, b, c, job->c1 - c < NR ? job->c1 - c : NR, job->panels + (c - job->c0) / NR * panel);
}

static const float *pack_left(const struct job *job, const float *a)
{
    const int64_t m = job->s.m, k = job->s.k;
    if (!job->left) return a;
    job->transpose(a, m, job->left, k, k, m);
    return job->left;
}

/* A matrix whose rows are pixels. */
static struct ig_operand matrix(const struct ig_operand *of, const float *data, int64_t rows, int32_t columns, int64_t step)
{
    return (struct ig_operand){(void *)(uintptr_t)data, of->shape, (int32_t)rows, 1, columns, (int32_t)rows, step, step};
}

/* Rows [m0, m1) of product i. */
static void product(const struct job *job, int64_t i, int32_t m0, int32_t m1)
{
    static const struct ig_fc plain = {.act = {.kind = IG_NONE}};
    const struct ig_operand *a = &job->call->in[0], *out = &job->call->out[0];
    const struct ig_matrices *s = &job->s;
    struct ig_call call = {.attrs = &plain, .weights = job->panels, .n_in = 1, .n_out = 1};
    pack_right(job, (const float *)job->call->in[1].data + ig_walk_at(&s->b, i));
    call.in[0] = matrix(a, pack_left(job, (const float *)a->data + ig_walk_at(&s->a, i)), s->m, (int32_t)s->k, s->k);
    call.out[0] = matrix(out, (const float *)out->data + i * s->m * s->n + job->c0, s->m, job->c1 - job->c0, s->n);
    ig_gemm_fc(&call, (struct ig_range){m0, m1, 0, job->c1 - job->c0}, job->tables, job->set);
}

void ig_gemm_matmul(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_gemm_set *set, ig_transpose_fn *transpose)
{
    struct job job = {.call = call, .set = set, .transpose = transpose, .s = matrices_of(call), .alpha = ((const struct ig_matmul *)call->attrs)->alpha,
                      .c0 = range.c0, .c1 = range.c1, .tables = scratch};
    char *rest = (char *)scratch + lines(ig_gemm_fc_scratch(call, set->mr));
    const size_t left = left_bytes(call, &job.s);
    if (left) job.left = (float *)rest;
    job.panels = (float *)(rest + left);
    if (call->out[0].shape->rank == 2) product(&job, 0, range.y0, range.y1);
    else
        for (int32_t i = range.y0; i < range.y1; i++) product(&job, i, 0, (int32_t)job.s.m);
}
