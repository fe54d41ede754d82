/* Products: Gemm, MatMul and their integer kin. */
#include "graph/onnx/import.h"

/* factor * v: at import for constants. */
static int32_t scaled(struct im *m, int32_t v, float factor)
{
    struct ig_shape s = im_shape(m, v);
    void *data;
    if (factor == 1) return v;
    if (!im_is_const(m, v) || s.type != IG_F32) return im_unary(m, IG_AFFINE, v, factor, 0);
    int32_t made = im_const(m, &s, &data);
    const float *from = m->g->values[v].data;
    for (int64_t i = 0; i < ig_count(&s); i++)
        ((float *)data)[i] = factor * from[i];
    return made;
}

void im_op_gemm(struct im *m, const struct im_node *n)
{
    int32_t a = im_need(m, n, 0), b = im_need(m, n, 1);
    float alpha = im_float(m, n, "alpha", 1), beta = im_float(m, n, "beta", 1);
    union ig_attrs t = {.matmul = {im_int(m, n, "transA", 0) != 0, im_int(m, n, "transB", 0) != 0, 1}};
    if (im_shape(m, a).rank != 2 || im_shape(m, b).rank != 2) im_fail(m, "its operands must be matrices");
    if (im_is_const(m, b))
        b = scaled(m, b, alpha);
    else
        t.matmul.alpha = alpha;
    int32_t y = im_emit1(m, IG_MATMUL, 2, (int32_t[]){a, b}, &t);
    if (im_in(m, n, 2) != IM_ABSENT && beta != 0)
        y = im_binary(m, IG_ADD, y, scaled(m, im_need(m, n, 2), beta));
    im_set(m, n, 0, y);
}

/* A vector as a matrix: [K] -> [1,K] on the left, [K,1] on the right. */
static int32_t as_matrix(struct im *m, int32_t v, int right)
{
    struct ig_shape s = im_shape(m, v);
    if (s.rank == 0) im_fail(m, "a scalar cannot be multiplied");
    return s.rank == 1 ? im_reshape(m, v, 2, right ? (int64_t[]){s.dims[0], 1} : (int64_t[]){1, s.dims[0]})
                       : v;
}

void im_op_matmul(struct im *m, const struct im_node *n)
{
    int32_t a = im_need(m, n, 0), b = im_need(m, n, 1);
    int vector_a = im_shape(m, a).rank == 1, vector_b = im_shape(m, b).rank == 1;
    union ig_attrs t = {.matmul = {0, 0, 1}};
    int64_t dims[IG_MAX_RANK];
    int32_t rank = 0;
    int32_t y = im_emit1(m, IG_MATMUL, 2, (int32_t[]){as_matrix(m, a, 0), as_matrix(m, b, 1)}, &t);
    struct ig_shape s = im_shape(m, y);
    for (int i = 0; i < s.rank; i++)
        if (!(vector_a && i == s.rank - 2) && !(vector_b && i == s.rank - 1)) dims[rank++] = s.dims[i];
    im_set(m, n, 0, im_reshape(m, y, rank, dims));
}

void im_op_matmul_integer(struct im *m, const struct im_node *n)
{
    int32_t in[4] = {im_need(m, n, 0), im_need(m, n, 1), IM_ABSENT, IM_ABSENT};
    for (int i = 2; i < 4; i++)
        if (im_in(m, n, i) != IM_ABSENT) in[i] = im_need(m, n, i);
    im_set(m, n, 0, im_emit1(m, IG_MATMUL_INTEGER, 4, in, NULL));
}

void im_op_qlinear_matmul(struct im *m, const struct im_node *n)
{
    int32_t in[8];
    for (int i = 0; i < 8; i++)
        in[i] = im_need(m, n, i);
    im_set(m, n, 0, im_emit1(m, IG_QLINEAR_MATMUL, 8, in, NULL));
}

enum { DET_MOST = 3 };

static int32_t product(struct im *m, int32_t a, int32_t b)
{
    return im_binary(m, IG_MUL, a, b);
}

/* Of rows i and i + 1 and the columns j and k. */
static int32_t minor(struct im *m, int32_t e[DET_MOST][DET_MOST], int i, int j, int k)
{
    return im_binary(m, IG_SUB, product(m, e[i][j], e[i + 1][k]), product(m, e[i][k], e[i + 1][j]));
}

/* Determinants written out. */
void im_op_det(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), e[DET_MOST][DET_MOST], step[IG_MAX_RANK], start[IG_MAX_RANK] = {0};
    struct ig_shape s = im_shape(m, x);
    int64_t extent[IG_MAX_RANK];
    int32_t size = s.rank < 2 ? 0 : s.dims[s.rank - 1];
    if (s.rank < 2 || s.dims[s.rank - 2] != size) im_fail(m, "its matrices are not square");
    if (s.type != IG_F32) im_refuse(m, "only float32 data is supported");
    if (size > DET_MOST) im_refuse(m, "determinants of more than %d rows", DET_MOST);
    for (int d = 0; d < s.rank; d++) step[d] = 1, extent[d] = d < s.rank - 2 ? s.dims[d] : 1;
    for (int i = 0; i < size * size; i++) {
        start[s.rank - 2] = i / size, start[s.rank - 1] = i % size;
        e[i / size][i % size] = im_reshape(m, im_slice(m, x, start, step, extent), s.rank - 2, extent);
    }
    int32_t y = size == 1 ? e[0][0] : size == 2 ? minor(m, e, 0, 0, 1) : product(m, e[0][0], minor(m, e, 1, 1, 2));
    if (size == 3) {
        y = im_binary(m, IG_SUB, y, product(m, e[0][1], minor(m, e, 1, 0, 2)));
        y = im_binary(m, IG_ADD, y, product(m, e[0][2], minor(m, e, 1, 0, 1)));
    }
    im_set(m, n, 0, y);
}
