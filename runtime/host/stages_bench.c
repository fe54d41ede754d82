/* --bench and --trace of a pipeline: what it was predicted to do beside what it does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/frames.h"
#include "runtime/host/energy.h"
#include "runtime/host/file.h"
#include "runtime/host/spec.h"
#include "runtime/host/stages.h"

enum { MAX_FRAMES = 1 << 20, MIN_FRAMES = 40, ALONE = 15, TRACED = 24 };

static int64_t interval_ns[MAX_FRAMES], latency_ns[MAX_FRAMES];

struct figures { /* ms */
    double first, alone, median, min, p99, full, total;
    double busy[IG_MAX_STAGES];
    int frames;
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double quantile_ms(int64_t *ns, int n, double at)
{
    qsort(ns, (size_t)n, sizeof *ns, by_size);
    return n ? (double)ns[(int)((n - 1) * at)] * 1e-6 : 0;
}

/* See ig_frames_run; what fails ends the program. */
static int flow(struct ig_pipeline *p, int least, int most, int64_t end)
{
    int n = ig_frames_run(p, &(const struct ig_frames){least, most, end, ig_now_ns, interval_ns, latency_ns});
    if (n < 0) ig_die("%s", ig_status_text(-n));
    return n;
}

/* Frames beyond those that fill the pipeline and those that leave it empty. */
static struct figures measure(struct ig_pipeline *p, double seconds)
{
    struct figures f = {0};
    int64_t busy[IG_MAX_STAGES], alone[ALONE];
    flow(p, 1, 1, 0);
    f.first = (double)latency_ns[0] * 1e-6;
    for (int i = 0; i < ALONE; i++) {
        flow(p, 1, 1, 0);
        alone[i] = latency_ns[0];
    }
    f.alone = quantile_ms(alone, ALONE, 0.5);
    for (int i = 0; i < p->pipe->n_stages; i++) busy[i] = p->stages[i].busy_ns;
    f.frames = flow(p, MIN_FRAMES, MAX_FRAMES, ig_now_ns() + (int64_t)(seconds * 1e9));
    int skip = MIN_FRAMES / 4, n = f.frames - skip;
    for (int i = 0; i < p->pipe->n_stages; i++) f.busy[i] = (double)(p->stages[i].busy_ns - busy[i]) * 1e-6 / f.frames;
    for (int i = skip; i < f.frames; i++) f.total += (double)interval_ns[i] * 1e-6;
    f.full = quantile_ms(latency_ns + skip, n - skip, 0.5);
    f.median = quantile_ms(interval_ns + skip, n, 0.5);
    f.min = (double)interval_ns[skip] * 1e-6;
    f.p99 = (double)interval_ns[skip + (n - 1) * 99 / 100] * 1e-6;
    f.frames = n;
    return f;
}

/* As ig_bench's: another program says how many frames; their times are those between results. */
static void serve(struct ig_pipeline *p)
{
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        long n = strtol(line, NULL, 10);
        if (n < 1 || n > MAX_FRAMES) ig_die("--bench=-: 1 to %d frames at a time", MAX_FRAMES);
        flow(p, (int)n, (int)n, 0);
        for (long i = 0; i < n; i++) printf("%c%lld", i ? ',' : '[', (long long)interval_ns[i]);
        puts("]");
        fflush(stdout);
    }
}

static double alone_ms(const struct ig_pipe *pipe)
{
    double ns = 0;
    for (int i = 0; i < pipe->n_stages; i++) ns += pipe->stages[i].predicted_ns;
    return ns * 1e-6;
}

static int threads_of(const struct ig_pipe *pipe)
{
    int n = 0;
    for (int i = 0; i < pipe->n_stages; i++) n += pipe->stages[i].model.threads;
    return n;
}

static int frames_for(void *arg, double seconds)
{
    return flow(arg, MIN_FRAMES, MAX_FRAMES, ig_now_ns() + (int64_t)(seconds * 1e9));
}

static void print_json(const struct ig_session *s, const struct ig_options *o, struct ig_pipeline *p,
                       const struct figures *f)
{
    const struct ig_pipe *pipe = p->pipe;
    const struct ig_staged *staged = s->program->staged;
    putchar('{');
    if (staged->calls) staged->calls->bench(staged->cuts, 1);
    ig_bench_energy(s, o, &(const struct ig_energy_run){frames_for, p, "frame"});
    printf("\"first_ms\":%.4f,\"fps\":%.3f,", f->first, f->frames * 1e3 / f->total);
    if (s->program->spec) s->program->spec->bench(s, f->median, 1);
    printf("\"init_ms\":%.4f,\"latency_alone_ms\":%.4f,\"latency_ms\":%.4f,"
           "\"median_ms\":%.4f,\"min_ms\":%.4f,\"model\":\"%s\",\"p99_ms\":%.4f,\"peak_rss_kib\":%ld,",
           s->init_ms, f->alone, f->full, f->median, f->min, pipe->model->name,
           f->p99, ig_peak_rss_kib());
    printf("\"predicted_fps\":%.3f,\"predicted_latency_alone_ms\":%.4f,\"predicted_latency_ms\":%.4f,\"runs\":%d,"
           "\"stages\":[",
           1e9 / pipe->period_ns, alone_ms(pipe), pipe->full_ns * 1e-6, f->frames);
    for (int i = 0; i < pipe->n_stages; i++)
        printf("%s{\"ms\":%.4f,\"predicted_ms\":%.4f,\"processor\":\"%s\",\"threads\":%d}", i ? "," : "", f->busy[i],
               pipe->stages[i].predicted_ns * 1e-6, pipe->stages[i].processor, pipe->stages[i].model.threads);
    printf("],\"threads\":%d}\n", threads_of(pipe));
}

static void print_text(const struct ig_session *s, const struct ig_options *o, struct ig_pipeline *p,
                       const struct figures *f)
{
    const struct ig_pipe *pipe = p->pipe;
    char spoiled[160];
    ig_spoilers(spoiled, sizeof spoiled);
    printf(
        "init %.2f ms   first %.2f ms   then a result every %.3f ms (median), min %.3f, p99 %.3f (%d frames, %.1f s, "
        "%d stages, %d threads%s)\n",
        s->init_ms, f->first, f->median, f->min, f->p99, f->frames, f->total * 1e-3, pipe->n_stages, threads_of(pipe),
        spoiled);
    printf("%.1f frames a second, predicted %.1f; latency %.3f ms alone, predicted %.3f; %.3f ms with frames waiting, "
           "predicted %.3f\n",
           f->frames * 1e3 / f->total, 1e9 / pipe->period_ns, f->alone, alone_ms(pipe), f->full, pipe->full_ns * 1e-6);
    printf("peak RSS %.1f MB, arena %lld B, weights %lld B\n", (double)ig_peak_rss_kib() * 1.024e-3,
           (long long)pipe->model->arena_bytes, (long long)pipe->model->weights_bytes);
    if (s->program->spec) s->program->spec->bench(s, f->median, 0);
    ig_bench_energy(s, o, &(const struct ig_energy_run){frames_for, p, "frame"});
    printf("  %-5s %-16s %7s %7s %10s %10s %6s\n", "stage", "processor", "threads", "layers", "ms", "predicted",
           "busy %");
    for (int i = 0; i < pipe->n_stages; i++)
        printf("  %-5d %-16s %7d %7d %10.4f %10.4f %6.1f\n", i, pipe->stages[i].processor,
               pipe->stages[i].model.threads, pipe->stages[i].model.n_steps, f->busy[i],
               pipe->stages[i].predicted_ns * 1e-6, 100 * f->busy[i] * f->frames / f->total);
    if (s->program->staged->calls) s->program->staged->calls->bench(s->program->staged->cuts, 0);
}

void ig_bench_stages(struct ig_session *s, const struct ig_options *o, struct ig_pipeline *p)
{
    if (o->seconds <= 0) {
        serve(p);
        return;
    }
    struct figures f = measure(p, o->seconds);
    if (o->json)
        print_json(s, o, p, &f);
    else
        print_text(s, o, p, &f);
}

/* --- trace --- */

/* A frame's work in a stage, and an arrow to it from the stage before. */
static void write_span(FILE *f, const struct ig_span *span, int64_t start, int frame, int stage, int n_stages)
{
    double begin = (double)(span->begin - start) * 1e-3, us = (double)(span->end - span->begin) * 1e-3;
    fprintf(f,
            ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":\"frame %d\",\"cat\":\"stage\",\"ts\":%.3f,\"dur\":%.3f}",
            stage + 1, frame, begin, us);
    if (n_stages > 1)
        fprintf(f,
                ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%d,\"name\":\"frame\",\"cat\":\"frame\",\"id\":%d,\"ts\":%.3f%s}",
                !stage                 ? "s"
                : stage < n_stages - 1 ? "t"
                                       : "f",
                stage + 1, frame, stage ? begin : begin + us, stage ? ",\"bp\":\"e\"" : "");
}

void ig_trace_stages(struct ig_session *s, const char *path, struct ig_pipeline *p)
{
    static struct ig_span spans[TRACED * IG_MAX_STAGES];
    const struct ig_pipe *pipe = s->program->staged->pipe;
    p->spans = spans;
    p->n_spans = TRACED;
    int status = ig_pipeline_start(p, pipe, s->ctx.weights, s->ctx.arena, (size_t)s->ctx.arena_bytes);
    if (status) ig_die("%s", ig_status_text(status));
    flow(p, TRACED, TRACED, 0);
    ig_pipeline_stop(p);
    FILE *f = ig_file_create(path);
    if (!f) ig_die("%s: %s", path, strerror(errno));
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", f);
    for (int i = 0; i < pipe->n_stages; i++)
        fprintf(f,
                "%s{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"stage %d, %s\"}}",
                i ? ",\n" : "", i + 1, i, pipe->stages[i].processor);
    for (int k = 0; k < TRACED; k++)
        for (int i = 0; i < pipe->n_stages; i++)
            write_span(f, &spans[k * pipe->n_stages + i], spans[0].begin, k, i, pipe->n_stages);
    fputs("\n]}\n", f);
    if (ig_file_close(f, path)) ig_die("%s: cannot write: %s", path, strerror(errno));
}
