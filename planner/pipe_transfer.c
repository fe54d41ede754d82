#include "planner/pipe_transfer.h"

#include <math.h>
#include <stdio.h>

#include "planner/plan.h"

enum { LEAST_SIZES = 4 };
static const double most_error = 0.1;

struct sums {
    double w, x, y, xx, xy;
};

static struct sums weigh(const int64_t *bytes, const int64_t *ns, int32_t n)
{
    struct sums s = {0, 0, 0, 0, 0};
    for (int32_t i = 0; i < n; i++) {
        double x = (double)bytes[i], y = (double)ns[i], w = 1 / (y * y);
        s.w += w;
        s.x += w * x;
        s.y += w * y;
        s.xx += w * x * x;
        s.xy += w * x * y;
    }
    return s;
}

static int32_t sizes(const int64_t *bytes, int32_t n)
{
    int32_t different = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (k < i && bytes[k] != bytes[i]) k++;
        different += k == i;
    }
    return different;
}

static void errors(const int64_t *bytes, const int64_t *ns, int32_t n, double x0, double k, struct ig_transfer_fit *fit)
{
    fit->mean_error = fit->worst_error = 0;
    for (int32_t i = 0; i < n; i++) {
        double e = fabs(x0 + k * (double)bytes[i] - (double)ns[i]) / (double)ns[i];
        fit->mean_error += e / n;
        if (e > fit->worst_error) fit->worst_error = e;
    }
}

int ig_transfer_fit(const int64_t *bytes, const int64_t *ns, int32_t n, struct ig_transfer_fit *fit, char *err,
                    size_t err_bytes)
{
    for (int32_t i = 0; i < n; i++)
        if (ns[i] <= 0) {
            snprintf(err, err_bytes, "moving %lld bytes took %lld ns", (long long)bytes[i], (long long)ns[i]);
            return -1;
        }
    if (sizes(bytes, n) < LEAST_SIZES) {
        snprintf(err, err_bytes, "%d sizes measured, %d are needed", sizes(bytes, n), LEAST_SIZES);
        return -1;
    }
    struct sums s = weigh(bytes, ns, n);
    double k = (s.w * s.xy - s.x * s.y) / (s.w * s.xx - s.x * s.x), x0 = (s.y - k * s.x) / s.w;
    if (x0 < 0) { /* a line through the origin, then */
        x0 = 0;
        k = s.xy / s.xx;
    }
    errors(bytes, ns, n, x0, k, fit);
    if (!(k >= 0)) {
        snprintf(err, err_bytes, "more bytes take less time");
        return -1;
    }
    fit->link = (struct ig_pipe_link){llround(x0), llround(k * 1e6)};
    if (fit->mean_error > most_error) {
        snprintf(err, err_bytes, "x0 + k * bytes is %.0f %% off on average", 100 * fit->mean_error);
        return -1;
    }
    return 0;
}

static int fit_copies(const int64_t *bytes, const int64_t *ns, int32_t n, struct ig_copy_cost *to, double *off)
{
    static const double most_off = 0.3; /* on average: what is further off tells nothing */
    struct ig_transfer_fit line = {.mean_error = 2 * most_off};
    char err[300];
    if (ig_transfer_fit(bytes, ns, n, &line, err, sizeof err) && (line.mean_error > most_off || !line.link.x0_ns)) return -1;
    *to = (struct ig_copy_cost){line.link.x0_ns, line.link.fs_per_byte};
    if (line.mean_error > *off) *off = line.mean_error;
    return 0;
}

void ig_fit_copies(const int64_t *bytes, const int64_t *in_ns, const int64_t *out_ns, int32_t n, struct ig_gpu_copies *to)
{
    struct ig_gpu_copies found = {.off = 0};
    found.known = !fit_copies(bytes, in_ns, n, &found.in, &found.off) && !fit_copies(bytes, out_ns, n, &found.out, &found.off);
    *to = found.known ? found : (struct ig_gpu_copies){.known = 0};
}
