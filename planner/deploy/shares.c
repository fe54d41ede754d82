#include "planner/deploy/shares.h"

#include <stddef.h>

struct rows {
    int64_t extent, step, units; /* units of `step` rows; the last may be shorter */
    int32_t n;
    ig_rows_ns_fn *ns;
    const void *context;
};

static double ns_of(const struct rows *r, int32_t device, int64_t units)
{
    int64_t rows = units * r->step;
    if (!units) return 0;
    return r->ns(r->context, device, rows < r->extent ? rows : r->extent);
}

/* The most units that a device does within ns. */
static int64_t most_within(const struct rows *r, int32_t device, double ns)
{
    int64_t low = 0, high = r->units;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (ns_of(r, device, middle) <= ns) low = middle;
        else high = middle - 1;
    }
    return low;
}

static int64_t fill(const struct rows *r, double ns, int64_t *units)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < r->n; i++) {
        int64_t most = most_within(r, i, ns);
        if (units) units[i] = most;
        sum += most;
    }
    return sum;
}

static int32_t slowest(const struct rows *r, const int64_t *units)
{
    int32_t at = -1;
    for (int32_t i = 0; i < r->n; i++)
        if (units[i] && (at < 0 || ns_of(r, i, units[i]) > ns_of(r, at, units[at]))) at = i;
    return at;
}

/* One device's time for all is enough; halves until no two times of a number of rows lie between. */
static double least_time(const struct rows *r)
{
    double low = 0, high = ns_of(r, 0, r->units);
    for (int32_t i = 1; i < r->n; i++)
        if (ns_of(r, i, r->units) < high) high = ns_of(r, i, r->units);
    for (int32_t i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high) break;
        if (fill(r, middle, NULL) >= r->units) high = middle;
        else low = middle;
    }
    return high;
}

double ig_share_rows(int64_t extent, int64_t step, int32_t n, ig_rows_ns_fn *ns, const void *context, int64_t *sizes)
{
    struct rows r = {extent, step, (extent + step - 1) / step, n, ns, context};
    int64_t left = fill(&r, least_time(&r), sizes) - r.units, begin = 0;
    for (; left > 0; left--) sizes[slowest(&r, sizes)]--;
    double longest = ns_of(&r, slowest(&r, sizes), sizes[slowest(&r, sizes)]);
    for (int32_t i = 0; i < n; i++) {
        int64_t end = begin + sizes[i] * step;
        sizes[i] = (end < extent ? end : extent) - begin;
        begin += sizes[i];
    }
    return longest;
}
