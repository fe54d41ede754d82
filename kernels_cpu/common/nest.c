#include "kernels_cpu/common/nest.h"

#include "kernels_cpu/ref/walk.h"

struct nest {
    int n, operands;
    int64_t extent[IG_MAX_RANK];
    int64_t stride[IG_MAX_RANK][IG_NEST_MOST];
};

static int runs_on(const struct nest *m, const int64_t *stride, int64_t extent)
{
    for (int k = 0; k < m->operands; k++)
        if (m->stride[m->n - 1][k] != extent * stride[k]) return 0;
    return 1;
}

static void add(struct nest *m, int64_t extent, const int64_t *stride)
{
    if (m->n > 0 && runs_on(m, stride, extent)) m->extent[m->n - 1] *= extent;
    else m->extent[m->n++] = extent;
    for (int k = 0; k < m->operands; k++) m->stride[m->n - 1][k] = stride[k];
}

static struct nest nest_of(const struct ig_call *call, int operands)
{
    const struct ig_shape *to = call->out[0].shape;
    struct nest m = {.n = 0, .operands = operands};
    struct ig_walk w[IG_NEST_MOST];
    for (int k = 0; k < operands; k++) w[k] = ig_walk_broadcast(call->in[k].shape, to);
    for (int d = 0; d < to->rank; d++) {
        int64_t stride[IG_NEST_MOST] = {0};
        for (int k = 0; k < operands; k++) stride[k] = w[k].stride[d];
        if (to->dims[d] > 1) add(&m, to->dims[d], stride);
    }
    if (m.n == 0) m.extent[m.n++] = 1;
    return m;
}

struct place {                /* a line */
    int64_t i[IG_MAX_RANK];   /* in the loops around it */
    int64_t at[IG_NEST_MOST]; /* element of each operand that it starts with */
};

static struct place place_of(const struct nest *m, int64_t line)
{
    struct place p = {.at = {0}};
    for (int d = m->n - 2; d >= 0; line /= m->extent[d], d--) {
        p.i[d] = line % m->extent[d];
        for (int k = 0; k < m->operands; k++) p.at[k] += p.i[d] * m->stride[d][k];
    }
    return p;
}

static void step(const struct nest *m, struct place *p)
{
    for (int d = m->n - 2; d >= 0; d--) {
        const int64_t back = ++p->i[d] < m->extent[d] ? 0 : m->extent[d];
        for (int k = 0; k < m->operands; k++) p->at[k] += (1 - back) * m->stride[d][k];
        if (!back) return;
        p->i[d] = 0;
    }
}

void ig_nest_lines(const struct ig_call *call, struct ig_range range, int operands, ig_nest_fn *fn)
{
    const struct ig_operand *out = &call->out[0];
    const struct nest m = nest_of(call, operands);
    const int64_t row = (int64_t)out->w * out->c, n = m.extent[m.n - 1], end = range.y1 * row, bytes = ig_type_bytes(out->shape->type);
    struct place p = place_of(&m, range.y0 * row / n);
    for (int64_t at = range.y0 * row, skip = at % n; at < end; skip = 0, step(&m, &p)) {
        struct ig_nest_line line = {.y = (char *)out->data + at * bytes, .n = n - skip < end - at ? n - skip : end - at};
        for (int k = 0; k < operands; k++) {
            const int64_t stride = m.stride[m.n - 1][k];
            line.one[k] = stride == 0;
            line.in[k] = (const char *)call->in[k].data + (p.at[k] + skip * stride) * ig_type_bytes(call->in[k].shape->type);
        }
        fn(call, &line);
        at += line.n;
    }
}
