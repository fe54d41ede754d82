/* Element-wise functions of one operand: the formulas of act.c, a row at a time where rows have no gaps. */
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"

void unary_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_act *act = &((const struct ig_unary_attr *)call->attrs)->act;
    int32_t c = out->c, n = range.c1 - range.c0, w = out->w;
    int dense = n == c && in->pixel_stride == c && out->pixel_stride == c;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const float *x = ig_row_f32(in, y) + range.c0;
        float *p = ig_row_f32(out, y) + range.c0;
        if (dense)
            ig_act_row_neon(p, x, (int64_t)w * c, act);
        else
            for (int32_t i = 0; i < w; i++, x += in->pixel_stride, p += out->pixel_stride)
                ig_act_row_neon(p, x, n, act);
    }
}
