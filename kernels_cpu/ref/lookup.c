/* y[i] = table[x[i]], by the byte as it is stored: any function of one quantised tensor. */
#include "kernels_cpu/ref/quantized.h"
#include "kernels_cpu/ref/ref.h"

int lookup_any_1x1__supports(const struct ig_call *call)
{
    const struct ig_operand *x = &call->in[0], *table = &call->in[1], *out = &call->out[0];
    return call->n_in == 2 && ig_is_byte(x) && ig_is_byte(table) && ig_count(table->shape) == 256 &&
           out->shape->type == table->shape->type && x->h == out->h && x->w == out->w && x->c == out->c;
}

void lookup_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const uint8_t *table = call->in[1].data;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const uint8_t *from = ig_row(in, y, 1);
        uint8_t *to = ig_row(out, y, 1);
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++) to[x * out->pixel_stride + c] = table[from[x * in->pixel_stride + c]];
    }
}
