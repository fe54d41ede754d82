/*
 * Lawson and Hanson's active set method on the normal equations G = A'A, h = A'b, columns scaled to length 1:
 * the columns of a passive set are solved for by Cholesky's method; what would leave c >= 0 stops at the border.
 */
#include "planner/nnls.h"

#include <math.h>
#include <string.h>

struct system {
    int32_t n;
    double g[IG_NNLS_MAX][IG_NNLS_MAX], h[IG_NNLS_MAX], length[IG_NNLS_MAX];
    uint8_t passive[IG_NNLS_MAX], barred[IG_NNLS_MAX];
};

static const double tiny = 1e-12, singular = 1e-13;

static void make(struct system *s, const double *a, const double *b, int32_t rows, int32_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = 0; i < rows; i++) s->length[j] += a[i * n + j] * a[i * n + j];
        s->length[j] = sqrt(s->length[j]);
        s->barred[j] = !(s->length[j] > 0);
        if (s->barred[j]) s->length[j] = 1;
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < rows; i++) {
            double x = a[i * n + j] / s->length[j];
            s->h[j] += x * b[i];
            for (int32_t k = 0; k < n; k++) s->g[j][k] += x * a[i * n + k] / s->length[k];
        }
}

/* Solves for the passive columns; -1 if one depends on the others. */
static int solve(const struct system *s, double *z)
{
    double l[IG_NNLS_MAX][IG_NNLS_MAX];
    int32_t at[IG_NNLS_MAX], m = 0;
    for (int32_t j = 0; j < s->n; j++)
        if (s->passive[j]) at[m++] = j;
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j <= i; j++) {
            double x = s->g[at[i]][at[j]];
            for (int32_t k = 0; k < j; k++) x -= l[i][k] * l[j][k];
            if (i != j)
                l[i][j] = x / l[j][j];
            else if (x < singular)
                return -1;
            else
                l[i][i] = sqrt(x);
        }
    double y[IG_NNLS_MAX];
    for (int32_t i = 0; i < m; i++) {
        y[i] = s->h[at[i]];
        for (int32_t k = 0; k < i; k++) y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
    }
    memset(z, 0, sizeof *z * (size_t)s->n);
    for (int32_t i = m - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < m; k++) y[i] -= l[k][i] * y[k];
        z[at[i]] = y[i] /= l[i][i];
    }
    return 0;
}

/* Minus the gradient of column j: what is gained by more of it. */
static double pull(const struct system *s, const double *c, int32_t j)
{
    double w = s->h[j];
    for (int32_t k = 0; k < s->n; k++) w -= s->g[j][k] * c[k];
    return w;
}

/* The column that gains the most, or -1. */
static int32_t enter(const struct system *s, const double *c)
{
    int32_t best = -1;
    double most = tiny;
    for (int32_t j = 0; j < s->n; j++) {
        double w = s->passive[j] || s->barred[j] ? 0 : pull(s, c, j);
        if (w <= most) continue;
        most = w;
        best = j;
    }
    return best;
}

/* Towards z as far as c >= 0 allows; what reaches 0 leaves. 1 if z was reached. */
static int step(struct system *s, double *c, const double *z)
{
    double alpha = 1;
    for (int32_t j = 0; j < s->n; j++)
        if (s->passive[j] && z[j] <= 0 && c[j] / (c[j] - z[j]) < alpha) alpha = c[j] / (c[j] - z[j]);
    int reached = 1;
    for (int32_t j = 0; j < s->n; j++) {
        if (!s->passive[j]) continue;
        c[j] += alpha * (z[j] - c[j]);
        if (z[j] > 0 || c[j] > tiny) continue;
        c[j] = 0;
        s->passive[j] = reached = 0;
    }
    return reached;
}

static double violation(const struct system *s, const double *c)
{
    double most = 0;
    for (int32_t j = 0; j < s->n; j++) {
        double w = pull(s, c, j), bad = c[j] > 0 ? fabs(w) : w;
        if (bad > most) most = bad;
    }
    return most;
}

double ig_nnls(const double *a, const double *b, int32_t rows, int32_t n, double *c)
{
    struct system s;
    double z[IG_NNLS_MAX];
    make(&s, a, b, rows, n);
    memset(c, 0, sizeof *c * (size_t)n);
    for (int32_t turn = 0, j; turn < 10 * n && (j = enter(&s, c)) >= 0; turn++) {
        s.passive[j] = 1;
        if (solve(&s, z) || z[j] <= 0) { /* depends on the others: no gain is real */
            s.passive[j] = 0;
            s.barred[j] = 1;
            continue;
        }
        while (!step(&s, c, z))
            if (solve(&s, z)) break;
    }
    double worst = violation(&s, c);
    for (int32_t j = 0; j < n; j++) c[j] /= s.length[j];
    return worst;
}
