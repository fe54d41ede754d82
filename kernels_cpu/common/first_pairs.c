/* How first layers of quantised numbers are cut into pairs, see first_pairs.h. */
#include "kernels_cpu/common/first_pairs.h"

enum { LINE = IG_BYTES_LINE / 2 }; /* numbers of a line of a cache */

struct ig_first_pairs_cut ig_first_pairs_cut_of(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t ic = call->in[0].c, out_w = call->out[0].w;
    struct ig_first_pairs_cut c = {.words = (w->kw * ic + 1) / 2, .step = (int64_t)w->sw * ic};
    c.panel = IG_FIRST_PAIRS_PANEL * (2 + (int64_t)w->kh * c.words);
    c.pitch = ((out_w - 1) * c.step + 2 * c.words + LINE - 1) / LINE * LINE;
    const int64_t rows = (IG_BYTES_SMALL / (2 * c.pitch) - w->kh) / w->sh + 1;
    c.rows = rows < 1 ? 1 : rows > call->out[0].h ? call->out[0].h : (int32_t)rows;
    return c;
}

size_t ig_first_pairs_scratch(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_first_pairs_cut c = ig_first_pairs_cut_of(call);
    return (size_t)(((int64_t)(c.rows - 1) * w->sh + w->kh) * c.pitch) * sizeof(int16_t);
}
