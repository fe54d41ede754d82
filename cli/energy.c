#include "cli/energy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/estimate.h"
#include "planner/energy.h"

/* What describes this machine, with or without costs of kernels; NULL: nothing yet. */
static const char *host_file(char to[4096])
{
    static const char *const files[] = {"out/platforms/host.json", "out/platforms/machine.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = ig_built(files[i], to);
        if (!access(path, R_OK)) return path;
    }
    return NULL;
}

void ig_load_powers(struct ig_powers *w, const char *name, const struct ig_plan_options *o, double deadline_ms)
{
    double limit_s = o->max_latency_ms * 1e-3, frame_s = o->min_fps > 0 ? 1 / o->min_fps : 0;
    char to[4096];
    const char *path = name && strcmp(name, "host") ? name : host_file(to);
    w->board = path ? ig_load_board(path) : NULL;
    w->cpu = w->board ? ig_powered_cpu(w->board) : NULL;
    if (!w->cpu)
        ig_fatal("--objective=energy: board '%s' does not say what its CPU draws; add active_w (one core computing) and "
                 "idle_w (none) to a copy of its file and give that with --platform=FILE",
                 w->board ? w->board->name : "host");
    w->deadline_s = limit_s > 0 && (frame_s <= 0 || limit_s < frame_s) ? limit_s : frame_s;
    if (deadline_ms > 0) w->deadline_s = deadline_ms * 1e-3;
    for (int32_t n = 0; n <= IG_MAX_THREADS; n++) w->mj[n] = IG_UNKNOWN;
}

/* Of stages at full rate. */
static double mj_of(const struct ig_plan *p, const struct ig_powers *w)
{
    if (p->n_stages) return ig_plan_mj(w->board, p);
    return ig_frame_mj(w->cpu, p->threads, p->latency_ns * 1e-9, w->deadline_s);
}

struct ig_plan *ig_energy_plan(const struct ig_graph *g, const struct ig_plan_options *o, struct ig_powers *w, char *err,
                               size_t err_bytes)
{
    struct ig_plan *best = NULL;
    for (int32_t n = o->profile ? o->threads : 1; n <= o->threads; n++) {
        struct ig_plan_options with = *o;
        with.threads = n;
        struct ig_plan *p = ig_plan_make(g, &with, err, err_bytes), *worse = p;
        if (!p) continue;
        w->mj[n] = mj_of(p, w);
        if (!best || w->mj[n] < w->mj[best->threads]) {
            worse = best;
            best = p;
        }
        ig_plan_free(worse);
    }
    return best;
}

void ig_set_energy(struct ig_plan *p, const struct ig_powers *w)
{
    double mj = mj_of(p, w);
    p->energy_mj = mj > 0 ? mj : 0;
}

void ig_put_energy(FILE *f, const struct ig_plan *p, const struct ig_powers *w)
{
    const char *before = "; threads and mJ weighed: ";
    if (p->n_stages) {
        if (mj_of(p, w) < 0) fprintf(f, "energy: board '%s' lacks powers of the stages' processors\n", w->board->name);
        else fprintf(f, "energy: %.3f mJ a frame on '%s' with all %d stages busy\n", mj_of(p, w), w->board->name, p->n_stages);
        return;
    }
    fprintf(f, "energy: %.3f mJ a frame on '%s' with %d thread%s", mj_of(p, w), w->board->name, p->threads,
            p->threads == 1 ? "" : "s");
    for (int32_t n = 1; n <= IG_MAX_THREADS; n++) {
        if (w->mj[n] < 0) continue;
        fprintf(f, "%s%d %.3f", before, n, w->mj[n]);
        before = ", ";
    }
    fputs("\n", f);
}
