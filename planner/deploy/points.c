/* Points of a split: sizes or ends, both as the public tool has had them. */
#include <stdio.h>
#include <string.h>

#include "planner/deploy/horizontal.h"

enum { LIST_BYTES = 160 };

/* Part i of `points` as a size; the last one may be a sentinel. */
static int as_sizes(const int64_t *points, int32_t n, int64_t extent, int64_t *sizes)
{
    int64_t before = 0;
    for (int32_t i = 0; i < n - 1; i++) before += sizes[i] = points[i];
    sizes[n - 1] = points[n - 1] > extent ? extent - before : points[n - 1];
    return before < extent && before + sizes[n - 1] == extent ? 0 : -1;
}

static int as_ends(const int64_t *points, int32_t n, int64_t extent, int64_t *sizes)
{
    int64_t before = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t end = i == n - 1 && points[i] > extent ? extent : points[i];
        if (end <= before) return -1;
        sizes[i] = end - before;
        before = end;
    }
    return before == extent ? 0 : -1;
}

/* "100 200 65535" */
static const char *list(char text[LIST_BYTES], const int64_t *x, int32_t n)
{
    int at = 0;
    text[0] = 0;
    for (int32_t i = 0; i < n && at < LIST_BYTES - 24; i++)
        at += snprintf(text + at, (size_t)(LIST_BYTES - at), "%s%lld", i ? " " : "", (long long)x[i]);
    if (at >= LIST_BYTES - 24) snprintf(text + at, (size_t)(LIST_BYTES - at), " ...");
    return text;
}

static int refuse(const struct ig_hsplit *s, int64_t extent, const char *why, char *err, size_t err_bytes)
{
    static const char *const of[] = {"output channels", "input channels", "rows", "columns"};
    char points[LIST_BYTES];
    snprintf(err, err_bytes, "layer '%.200s': points %s of %lld %s %s", s->layer, list(points, s->points, s->n),
             (long long)extent, of[s->mode], why);
    return -1;
}

int ig_hsplit_sizes(const struct ig_hsplit *s, int64_t extent, int64_t *sizes, char *err, size_t err_bytes)
{
    int64_t ends[IG_MAX_KEYS];
    int sized = s->reading != IG_POINTS_ENDS && !as_sizes(s->points, s->n, extent, sizes);
    int ended = s->reading != IG_POINTS_SIZES && !as_ends(s->points, s->n, extent, ends);
    if (sized && ended && memcmp(sizes, ends, (size_t)s->n * sizeof *ends)) {
        char why[3 * LIST_BYTES], a[LIST_BYTES], b[LIST_BYTES];
        snprintf(why, sizeof why, "may mean the sizes %s or %s: write {\"sizes\": [..]} or {\"ends\": [..]} for the list",
                 list(a, sizes, s->n), list(b, ends, s->n));
        return refuse(s, extent, why, err, err_bytes);
    }
    if (!sized && ended) memcpy(sizes, ends, (size_t)s->n * sizeof *ends);
    if (sized || ended) return 0;
    return refuse(s, extent,
                  s->reading == IG_POINTS_SIZES  ? "are no sizes: they do not add up to it"
                  : s->reading == IG_POINTS_ENDS ? "are no ends: they must increase up to it"
                                                 : "are neither sizes that add up to it nor ends that increase up to it",
                  err, err_bytes);
}
