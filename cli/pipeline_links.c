/* ingot pipeline --link=measured: what sets of cores take to hand tensors over, on this machine. */
#include "bench/handover.h"
#include "cli/cli.h"
#include "cli/pipeline.h"
#include "planner/pipe_transfer.h"

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a - b : 0;
}

/* The line through the sizes, without the smallest if it needs be. From which size on. */
static int64_t fit(const int64_t *bytes, const int64_t *ns, struct ig_transfer_fit *to, const char *from_name, const char *to_name)
{
    enum { LEAST_SIZES = 4 };
    char err[200];
    for (int skip = 0; skip + LEAST_SIZES <= IG_HANDOVER_SIZES; skip++)
        if (!ig_transfer_fit(bytes + skip, ns + skip, IG_HANDOVER_SIZES - skip, to, err, sizeof err)) return bytes[skip];
    ig_fatal("--link=measured: %s to %s: %s; measure again, with nothing else at work", from_name, to_name, err);
}

/* One direction: what reading takes longer than of what the reader wrote itself, which its layers' times have in them. */
static struct ig_pipe_link measure(const char *from, int32_t writer, const char *to, int32_t reader)
{
    struct ig_handover h;
    struct ig_transfer_fit other, own;
    if (ig_handover_measure(writer, reader, &h))
        ig_fatal("--link=measured: %s and %s: this process may not use these cores", from, to);
    int64_t least = fit(h.bytes, h.other_ns, &other, from, to);
    fit(h.bytes, h.own_ns, &own, from, to);
    struct ig_pipe_link link = {more(other.link.x0_ns, own.link.x0_ns), more(other.link.fs_per_byte, own.link.fs_per_byte)};
    fprintf(stderr,
            "%s to %s: %.3f us + %.4f ns a byte, from %lld KiB on %.1f %% off, %.1f %% at worst; of its own %.3f us + %.4f, %.1f %% and "
            "%.1f %%: handing over takes %.3f us + %.4f ns a byte\n",
            from, to, (double)other.link.x0_ns * 1e-3, (double)other.link.fs_per_byte * 1e-6, (long long)least / 1024,
            100 * other.mean_error, 100 * other.worst_error, (double)own.link.x0_ns * 1e-3, (double)own.link.fs_per_byte * 1e-6,
            100 * own.mean_error, 100 * own.worst_error, (double)link.x0_ns * 1e-3, (double)link.fs_per_byte * 1e-6);
    return link;
}

void ig_pipeline_measure(const char *const *names, const int32_t *cores, int32_t n, struct ig_pipe_link *in)
{
    for (int32_t to = 0; to < n; to++) {
        in[to] = (struct ig_pipe_link){0, 0};
        for (int32_t from = 0; from < n; from++) {
            if (from == to) continue;
            struct ig_pipe_link link = measure(names[from], cores[from], names[to], cores[to]);
            if (link.x0_ns > in[to].x0_ns) in[to].x0_ns = link.x0_ns;
            if (link.fs_per_byte > in[to].fs_per_byte) in[to].fs_per_byte = link.fs_per_byte;
        }
    }
}
