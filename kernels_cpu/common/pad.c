#include "kernels_cpu/common/pad.h"

#include <string.h>

#include "kernels_cpu/ref/pad.h"
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

struct dim {
    int64_t out;            /* extent of the output */
    int64_t crop, kept;     /* first element that stays; how many do */
    int64_t before;         /* outputs in front of it */
    int64_t stride;         /* bytes of the input */
};

struct job {
    struct dim dims[IG_MAX_RANK];
    int last;               /* the last padded dim, or the row's first: a line is along it */
    int32_t mode;
    size_t run;             /* bytes of an element of a line */
    size_t bytes;           /* of an element */
    char value[8];
};

static int64_t source(const struct dim *d, int64_t i, int32_t mode)
{
    const int64_t x = ig_pad_inside(i - d->before, d->kept, mode);
    return x < 0 ? -1 : (x + d->crop) * d->stride;
}

static void put_value(const struct job *job, char *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += job->bytes) memcpy(to + i, job->value, job->bytes);
}

/* The line whose first input element is at `from`, NULL: it is outside. */
static void line(const struct job *job, char *to, const char *from)
{
    const struct dim *d = &job->dims[job->last];
    if (!from) {
        put_value(job, to, (size_t)d->out * job->run);
        return;
    }
    for (int64_t i = 0; i < d->out; i++, to += job->run) {
        const int64_t at = source(d, i, job->mode), many = i == d->before && d->kept > 0 ? d->kept < d->out - i ? d->kept : d->out - i : 1;
        if (at < 0) put_value(job, to, job->run);
        else memcpy(to, from + at, (size_t)many * job->run);
        i += many - 1;
        to += (size_t)(many - 1) * job->run;
    }
}

static struct job start(const struct ig_call *call)
{
    const struct ig_pad *a = (const struct ig_pad *)call->attrs;
    const struct ig_shape *s = call->in[0].shape, *to = call->out[0].shape;
    const int row = call->out[0].w == 1 || s->rank < 2 ? s->rank - 1 : s->rank - 2;
    struct job job = {.last = row < 0 ? 0 : row, .mode = a->mode, .bytes = (size_t)ig_type_bytes(s->type)};
    int64_t stride = (int64_t)job.bytes;
    for (int d = s->rank - 1; d >= 0; stride *= s->dims[d], d--) {
        struct dim *dim = &job.dims[d];
        *dim = (struct dim){to->dims[d], a->begin[d] < 0 ? -a->begin[d] : 0, 0, a->begin[d] > 0 ? a->begin[d] : 0, stride};
        dim->kept = s->dims[d] - dim->crop + (a->end[d] < 0 ? a->end[d] : 0);
        if (job.last < d && (a->begin[d] || a->end[d])) job.last = d;
    }
    job.run = (size_t)job.dims[job.last].stride;
    if (s->type != IG_F16) ig_put_real(job.value, s->type, 0, (double)a->value);
    return job;
}

void ig_pad_runs(const struct ig_call *call, struct ig_range range)
{
    const struct job job = start(call);
    const struct ig_operand *out = &call->out[0];
    const int64_t row = (int64_t)out->w * out->c * (int64_t)job.bytes, line_bytes = job.dims[job.last].out * (int64_t)job.run;
    char *to = (char *)out->data + range.y0 * row;
    for (int64_t i = range.y0 * row / line_bytes; i < range.y1 * row / line_bytes; i++, to += line_bytes) {
        int64_t at = 0, rest = i;
        for (int d = job.last - 1; d >= 0 && at >= 0; rest /= job.dims[d].out, d--) {
            const int64_t x = source(&job.dims[d], rest % job.dims[d].out, job.mode);
            at = x < 0 ? -1 : at + x;
        }
        line(&job, to, at < 0 ? NULL : (const char *)call->in[0].data + at);
    }
}
