#include "bench/band_times.h"

void ig_band_note(struct ig_band_times *b, double in_order_ns, double apart_ns, int confirms)
{
    double before = b->confirmed;
    b->timed = 1;
    b->confirmed += confirms;
    b->t.in_order_ns = (before * b->t.in_order_ns + in_order_ns) / (before + 1);
    b->t.apart_ns = (before * b->t.apart_ns + apart_ns) / (before + 1);
}

struct ig_band_timing ig_band_believed(const struct ig_band_times *b)
{
    struct ig_band_timing t = b->t;
    if (!b->confirmed && t.in_order_ns < t.apart_ns) t.in_order_ns = t.apart_ns;
    return t;
}
