#include "runtime/mpi/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/file.h"

enum { WARM = 5 }; /* frames that fill the ranks before times count; fewer where there are few */

struct times { /* ms */
    double first, median, min, p99, total, latency, error;
    int64_t n;
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double at(int64_t *ns, int64_t n, double share)
{
    qsort(ns, (size_t)n, sizeof *ns, by_size);
    return n ? (double)ns[(int64_t)((double)(n - 1) * share)] * 1e-6 : 0;
}

/* The arrays become intervals, sorted. */
static struct times times_of(const struct ig_result *r)
{
    struct times t = {0};
    int64_t frames = r->frames < IG_TIMED ? (int64_t)r->frames : IG_TIMED, skip = frames > 3 * WARM ? WARM : 1;
    int64_t *ns = r->done_ns;
    if (frames < 2) return t;
    t.n = frames - skip;
    t.error = (double)ig_clock_error(&r->clock) * 1e-6;
    t.first = (double)r->latency_ns[0] * 1e-6;
    t.total = (double)(ns[frames - 1] - ns[skip - 1]) * 1e-6;
    for (int64_t i = 0; i < t.n; i++) ns[i] = ns[skip + i] - ns[skip + i - 1];
    t.latency = at(r->latency_ns + skip, t.n, 0.5);
    t.median = at(ns, t.n, 0.5);
    t.min = at(ns, t.n, 0);
    t.p99 = at(ns, t.n, 0.99);
    return t;
}

static double per_frame(const struct ig_figures *f, int64_t sum)
{
    return f->frames ? (double)sum / (double)f->frames : 0;
}

static void print_json(const struct ig_rank *rank, const struct ig_figures *ranks, const struct times *t)
{
    printf("{\"clock_error_ms\":%.4f,\"first_ms\":%.4f,\"fps\":%.3f,\"latency_ms\":%.4f,\"median_ms\":%.4f,"
           "\"min_ms\":%.4f,\"model\":\"%s\",\"p99_ms\":%.4f,\"predicted_fps\":%.3f,\"ranks\":[",
           t->error, t->first, t->total > 0 ? (double)t->n * 1e3 / t->total : 0, t->latency, t->median, t->min,
           rank->network, t->p99, rank->period_ns > 0 ? 1e9 / rank->period_ns : 0);
    for (int i = 0; i < rank->n_ranks; i++) {
        const struct ig_figures *f = &ranks[i];
        printf("%s\n{\"busy_ms\":%.4f,\"frames\":%lld,\"key\":", i ? "," : "", per_frame(f, f->busy_ns) * 1e-6,
               (long long)f->frames);
        ig_json_string(stdout, rank->keys[i]);
        printf(",\"passing_ms\":%.4f,\"received_bytes\":%.0f,\"sending_ms\":%.4f,\"sent_bytes\":%.0f,"
               "\"wait_ms\":%.4f}",
               per_frame(f, f->passing_ns) * 1e-6, per_frame(f, f->received_bytes),
               per_frame(f, f->sending_ns) * 1e-6, per_frame(f, f->sent_bytes), per_frame(f, f->wait_ns) * 1e-6);
    }
    printf("\n],\"runs\":%lld}\n", (long long)t->n);
}

static void print_text(const struct ig_rank *rank, const struct ig_figures *ranks, const struct times *t)
{
    char spoiled[160], name[40];
    ig_spoilers(spoiled, sizeof spoiled);
    printf(
        "first %.2f ms   then a result every %.3f ms (median), min %.3f, p99 %.3f (%lld frames, %.1f s, %d ranks%s)\n",
        t->first, t->median, t->min, t->p99, (long long)t->n, t->total * 1e-3, rank->n_ranks, spoiled);
    printf("%.1f frames a second, predicted %.1f; latency %.3f ms with frames waiting",
           t->total > 0 ? (double)t->n * 1e3 / t->total : 0, rank->period_ns > 0 ? 1e9 / rank->period_ns : 0,
           t->latency);
    if (t->error > 0) printf(", to %.3f by two clocks", t->error);
    putchar('\n');
    printf("  %-4s %-24s %10s %10s %10s %10s %12s %12s   a frame\n", "rank", "key", "busy ms", "wait ms",
           "sending ms", "passing ms", "sent B", "received B");
    for (int i = 0; i < rank->n_ranks; i++) {
        const struct ig_figures *f = &ranks[i];
        printf("  %-4d %-24s %10.3f %10.3f %10.3f %10.3f %12.0f %12.0f\n", i,
               ig_name_text(rank->keys[i], name, sizeof name), per_frame(f, f->busy_ns) * 1e-6,
               per_frame(f, f->wait_ns) * 1e-6, per_frame(f, f->sending_ns) * 1e-6,
               per_frame(f, f->passing_ns) * 1e-6, per_frame(f, f->sent_bytes), per_frame(f, f->received_bytes));
    }
}

void ig_print_figures(const struct ig_result *r, const struct ig_figures *ranks, int json)
{
    struct times t = times_of(r);
    if (json)
        print_json(r->rank, ranks, &t);
    else
        print_text(r->rank, ranks, &t);
    fflush(stdout);
}

/* --- AutoDiCE's files --- */

static void write_number(int32_t rank, const char *what, double v)
{
    char path[64];
    snprintf(path, sizeof path, "%d_%s.txt", rank, what);
    FILE *f = ig_file_create(path);
    if (!f) ig_die("%s: %s", path, strerror(errno));
    fprintf(f, "%.3f\n", v);
    if (ig_file_close(f, path)) ig_die("%s: cannot write: %s", path, strerror(errno));
}

static double resident_mib(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmRSS:", 6)) kib = strtod(line + 6, NULL);
    if (f) fclose(f);
    return kib / 1024;
}

void ig_write_rank_files(int32_t rank, const struct ig_intervals *v)
{
    double mean = v->n ? (double)v->sum / (double)v->n * 1e-6 : 0;
    fprintf(stderr, "IRank: %d  min = %7.2f  max = %7.2f  avg = %7.2f\n", rank, (double)v->least * 1e-6,
            (double)v->most * 1e-6, mean);
    write_number(rank, "PERFORMANCE", mean);
    write_number(rank, "MEMORY", resident_mib());
}
