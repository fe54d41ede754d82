/* Recurrent layers, direction by direction and row by row of the batch: the formulas of struct ig_recurrent (graph/op.h), states in double. */
#include "kernels_cpu/ref/act.h"
#include "kernels_cpu/ref/ref_tensor.h"

struct layer {
    const struct ig_recurrent *a;
    const float *x, *r, *bias, *h0, *c0, *peepholes; /* those that are not there: NULL; r, bias, peepholes: of the row's direction */
    float *y, *last_h, *last_c;
    int32_t steps, directions, batch, hidden, gates;
    double *h, *c, *s; /* [H], [H], [G H]: the states, and what the gates are given */
};

static int is_f32(const struct ig_call *call, int k)
{
    return k >= call->n_in || !call->in[k].shape || call->in[k].shape->type == IG_F32;
}

int recurrent_f32_nd__supports(const struct ig_call *call)
{
    for (int k = 0; k < call->n_in; k++)
        if (!is_f32(call, k)) return 0;
    return ig_ref_is_f32(call);
}

size_t ig_ref_scratch_recurrent(const struct ig_call *call)
{
    return ((size_t)call->in[0].shape->dims[2] + 2 * (size_t)call->out[0].shape->dims[3]) * sizeof(double);
}

static const float *given(const struct ig_call *call, int k)
{
    return k < call->n_in && call->in[k].shape ? (const float *)call->in[k].data : NULL;
}

static float *wanted(const struct ig_call *call, int k)
{
    return k < call->n_out && call->out[k].shape ? (float *)call->out[k].data : NULL;
}

static double act(const struct layer *l, const struct ig_act *f, double x)
{
    return ig_ref_act(f, l->a->clip > 0 ? ig_ref_clamp(x, -l->a->clip, l->a->clip) : x);
}

/* R h of row i of R; `by`, [H] or NULL, multiplies h first. */
static double product(const struct layer *l, int32_t i, const double *by)
{
    const float *r = l->r + (int64_t)i * l->hidden;
    double sum = 0;
    for (int32_t k = 0; k < l->hidden; k++) sum += r[k] * (by ? by[k] * l->h[k] : l->h[k]);
    return sum;
}

static void rnn(const struct layer *l, const float *x)
{
    for (int32_t j = 0; j < l->hidden; j++) l->s[j] = act(l, &l->a->f, x[j] + product(l, j, NULL));
    for (int32_t j = 0; j < l->hidden; j++) l->h[j] = l->s[j];
}

static void gru(const struct layer *l, const float *x)
{
    const int32_t n = l->hidden, most = 2 * n;
    double *z = l->s, *r = z + n, *next = r + n;
    for (int32_t i = 0; i < most; i++) l->s[i] = act(l, &l->a->f, x[i] + product(l, i, NULL));
    for (int32_t j = 0; j < n; j++) {
        double own = l->bias ? l->bias[j] : 0;
        double sum = l->a->reset_after ? r[j] * (product(l, most + j, NULL) + own) : product(l, most + j, r);
        next[j] = act(l, &l->a->g, x[most + j] + sum);
    }
    for (int32_t j = 0; j < n; j++) l->h[j] = (1 - z[j]) * next[j] + z[j] * l->h[j];
}

static void lstm(const struct layer *l, const float *x)
{
    const int32_t n = l->hidden;
    const float *p = l->peepholes;
    for (int32_t i = 0; i < l->gates * n; i++) l->s[i] = x[i] + product(l, i, NULL);
    for (int32_t j = 0; j < n; j++) {
        double i = act(l, &l->a->f, l->s[j] + (p ? p[j] * l->c[j] : 0));
        double f = act(l, &l->a->f, l->s[2 * n + j] + (p ? p[2 * n + j] * l->c[j] : 0));
        l->c[j] = (l->a->input_forget ? 1 - i : f) * l->c[j] + i * act(l, &l->a->g, l->s[3 * n + j]);
        l->h[j] = act(l, &l->a->f, l->s[n + j] + (p ? p[n + j] * l->c[j] : 0)) * ig_ref_act(&l->a->u, l->c[j]);
    }
}

static void put(float *to, const double *from, int32_t n)
{
    for (int32_t j = 0; to && j < n; j++) to[j] = (float)from[j];
}

/* Row b of direction d. */
static void row(const struct layer *l, int32_t d, int32_t b)
{
    const int64_t at = ((int64_t)d * l->batch + b) * l->hidden, width = (int64_t)l->gates * l->hidden;
    for (int32_t j = 0; j < l->hidden; j++) {
        l->h[j] = l->h0 ? l->h0[at + j] : 0;
        l->c[j] = l->c0 ? l->c0[at + j] : 0;
    }
    for (int32_t i = 0; i < l->steps; i++) {
        const int64_t t = l->a->reverse >> d & 1 ? l->steps - 1 - i : i;
        (l->a->kind == IG_LSTM ? lstm : l->a->kind == IG_GRU ? gru : rnn)(l, l->x + ((t * l->batch + b) * l->directions + d) * width);
        put(l->y + t * l->directions * l->batch * l->hidden + at, l->h, l->hidden);
    }
    put(l->last_h ? l->last_h + at : NULL, l->h, l->hidden);
    put(l->last_c ? l->last_c + at : NULL, l->c, l->hidden);
}

void recurrent_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_recurrent *a = call->attrs;
    const int32_t *y = call->out[0].shape->dims;
    double *h = scratch;
    const struct layer l = {a, given(call, 0), given(call, 1), given(call, 2), given(call, 3), given(call, 4), given(call, 5), wanted(call, 0),
                            wanted(call, 1), wanted(call, 2), y[0], y[1], y[2], y[3], ig_gates_of(a), h, h + y[3], h + 2 * (int64_t)y[3]};
    for (int32_t i = range.y0; i < range.y1; i++) {
        const int32_t d = i / l.batch;
        struct layer own = l;
        own.r += (int64_t)d * l.gates * l.hidden * l.hidden;
        if (l.bias) own.bias += (int64_t)d * l.hidden;
        if (l.peepholes) own.peepholes += 3 * (int64_t)d * l.hidden;
        row(&own, d, i - d * l.batch);
    }
}
