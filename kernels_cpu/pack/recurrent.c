/* Recurrent layers, common/recurrent.h: which, packed weights, scratch. */
#include <string.h>

#include "kernels_cpu/common/recurrent.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

int ig_supports_recurrent(const struct ig_call *call)
{
    return recurrent_f32_nd__supports(call) && ig_is_const_f32(call, 1) && (!ig_has(call, 2) || ig_is_const_f32(call, 2));
}

/* r [rows][hidden] in panels. */
static float *pack_rows(float *to, const float *r, int32_t rows, int32_t hidden, int32_t n)
{
    const int64_t whole = ig_recurrent_up(rows, n);
    for (int64_t first = 0; first < whole; first += IG_RECURRENT_PANEL * n) {
        const int64_t width = whole - first < IG_RECURRENT_PANEL * n ? whole - first : IG_RECURRENT_PANEL * n;
        for (int32_t k = 0; k < hidden; k++)
            for (int64_t i = first; i < first + width; i++) *to++ = i < rows ? r[i * hidden + k] : 0;
    }
    return to;
}

static size_t pack(const struct ig_call *call, int32_t n, void *dst)
{
    const struct ig_recurrent *a = (const struct ig_recurrent *)call->attrs;
    const int32_t *dims = call->in[1].shape->dims, directions = dims[0], all = dims[1], hidden = dims[2], first = ig_recurrent_first(a, hidden);
    const int64_t own = ig_recurrent_up(hidden, n);
    float *to = (float *)dst;
    for (int32_t d = 0; dst && d < directions; d++, to += own) {
        const float *r = (const float *)call->in[1].data + (int64_t)d * all * hidden;
        to = pack_rows(to, r, first, hidden, n);
        to = pack_rows(to, r + (int64_t)first * hidden, all - first, hidden, n);
        memset(to, 0, (size_t)own * sizeof *to);
        if (ig_has(call, 2)) memcpy(to, (const float *)call->in[2].data + (int64_t)d * hidden, (size_t)hidden * sizeof *to);
    }
    return (size_t)(directions * ig_recurrent_packed(a, hidden, n)) * sizeof(float);
}

size_t ig_pack_recurrent4(const struct ig_call *call, void *dst)
{
    return pack(call, 4, dst);
}

size_t ig_pack_recurrent8(const struct ig_call *call, void *dst)
{
    return pack(call, 8, dst);
}

size_t ig_pack_recurrent16(const struct ig_call *call, void *dst)
{
    return pack(call, 16, dst);
}

size_t ig_scratch_recurrent(const struct ig_call *call)
{
    const struct ig_recurrent *a = (const struct ig_recurrent *)call->attrs;
    const int32_t *y = call->out[0].shape->dims;
    return (size_t)(y[2] * (3 * ig_recurrent_state(y[3]) + ig_recurrent_gates(a, y[3]))) * sizeof(float);
}
