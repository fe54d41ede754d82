#include "runtime/mpi/clock.h"

void ig_clock_begin(struct ig_clock *c)
{
    c->most = INT64_MAX / 4; /* sums of some of them are numbers yet */
    c->least = -c->most;
}

void ig_clock_same(struct ig_clock *c)
{
    c->least = c->most = 0;
}

/* Clocks that run apart leave their range, which then goes along: it is as wide as before. */
void ig_clock_from(struct ig_clock *c, int64_t left, int64_t came)
{
    int64_t width = c->most - c->least, least = left - came;
    if (least > c->least) c->least = least;
    if (c->least > c->most) c->most = c->least + width;
}

void ig_clock_to(struct ig_clock *c, int64_t left, int64_t came)
{
    int64_t width = c->most - c->least, most = came - left;
    if (most < c->most) c->most = most;
    if (c->most < c->least) c->least = c->most - width;
}

int64_t ig_clock_ahead(const struct ig_clock *c)
{
    return c->least + (c->most - c->least) / 2;
}

int64_t ig_clock_error(const struct ig_clock *c)
{
    return (c->most - c->least + 1) / 2;
}

int64_t ig_clock_since(struct ig_clock *c, int64_t left, int64_t came)
{
    ig_clock_from(c, left, came);
    return came + ig_clock_ahead(c) - left;
}
