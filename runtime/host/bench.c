/* --bench: warm frames, within a time budget or as many as stdin asks for; --trace: one frame as Chrome trace
 * JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/energy.h"
#include "runtime/host/file.h"
#include "runtime/host/spec.h"

enum { MAX_FRAMES = 1 << 20, MIN_FRAMES = 30, LAYER_FRAMES = 15 };

struct figures {
    double first, median, min, p99, total; /* ms */
    int frames;
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t frame(struct ig_session *s, int64_t *step_ns)
{
    int64_t start = ig_now_ns();
    int status = ig_ctx_run_timed(&s->ctx, (const void *const *)s->inputs, s->outputs, step_ns, ig_now_ns);
    if (status) ig_die("%s", ig_status_text(status));
    return ig_now_ns() - start;
}

static int64_t frame_ns[MAX_FRAMES];

static struct figures measure(struct ig_session *s, double seconds)
{
    struct figures f = {0};
    f.first = (double)frame(s, NULL) * 1e-6;
    frame(s, NULL);
    frame(s, NULL);
    int64_t start = ig_now_ns(), end = start + (int64_t)(seconds * 1e9);
    while (f.frames < MAX_FRAMES && (f.frames < MIN_FRAMES || ig_now_ns() < end))
        frame_ns[f.frames++] = frame(s, NULL);
    f.total = (double)(ig_now_ns() - start) * 1e-6;
    qsort(frame_ns, (size_t)f.frames, sizeof *frame_ns, by_size);
    f.min = (double)frame_ns[0] * 1e-6;
    f.median = (double)frame_ns[f.frames / 2] * 1e-6;
    f.p99 = (double)frame_ns[(f.frames - 1) * 99 / 100] * 1e-6;
    return f;
}

void ig_bench_energy(const struct ig_session *s, const struct ig_options *o, const struct ig_energy_run *run)
{
    if (s->program->energy) s->program->energy->measure(s, o, run);
    else if (o->json) fputs("\"energy\":{\"mj\":null,\"why\":\"not built in\"},", stdout);
}

/* Another program holds the watch: every line of stdin is a number of frames to run; a JSON array of their
 * times in ns answers it. */
static void serve(struct ig_session *s)
{
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        long n = strtol(line, NULL, 10);
        if (n < 1 || n > MAX_FRAMES) ig_die("--bench=-: 1 to %d frames at a time", MAX_FRAMES);
        for (long i = 0; i < n; i++) frame_ns[i] = frame(s, NULL);
        for (long i = 0; i < n; i++) printf("%c%lld", i ? ',' : '[', (long long)frame_ns[i]);
        puts("]");
        fflush(stdout);
    }
}

/* Median over some frames of every step's time, ns; malloc'ed. */
static int64_t *measure_layers(struct ig_session *s)
{
    int n = s->program->model->n_steps;
    int64_t *all = calloc((size_t)(n + 1) * LAYER_FRAMES, sizeof *all),
            *median = calloc((size_t)n + 1, sizeof *median);
    if (!all || !median) ig_die("out of memory");
    for (int r = 0; r < LAYER_FRAMES; r++) {
        frame(s, median);
        for (int i = 0; i < n; i++) all[i * LAYER_FRAMES + r] = median[i];
    }
    for (int i = 0; i < n; i++) {
        qsort(all + i * LAYER_FRAMES, LAYER_FRAMES, sizeof *all, by_size);
        median[i] = all[i * LAYER_FRAMES + LAYER_FRAMES / 2];
    }
    free(all);
    return median;
}

long ig_peak_rss_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6)) kib = strtol(line + 6, NULL, 10);
    if (f) fclose(f);
    return kib;
}

void ig_spoilers(char *text, size_t n)
{
    char line[64] = "";
    double load = 0;
    *text = 0;
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "r");
    if (f && fgets(line, sizeof line, f) && strncmp(line, "performance", 11)) {
        line[strcspn(line, "\n")] = 0;
        snprintf(text, n, ", %s governor: figures may be low", line);
    }
    if (f) fclose(f);
    f = fopen("/proc/loadavg", "r");
    if (f && fgets(line, sizeof line, f)) load = strtod(line, NULL);
    if (load > 1.5) {
        size_t at = strlen(text);
        snprintf(text + at, n - at, ", load %.1f: other programs were running", load);
    }
    if (f) fclose(f);
}

struct entry { /* of the table of layers: a layer, or a band of them */
    char name[160], kernel[40];
    double macs, predicted_ns;
    int next; /* the step after it */
};

static struct entry entry_at(const struct ig_program *p, int step)
{
    const struct ig_layer *l = &p->layers[step];
    int members = p->model->steps[step].band;
    struct entry e = {.macs = l->macs, .predicted_ns = l->predicted_ns, .next = step + 1};
    snprintf(e.name, sizeof e.name, "%s", l->name);
    snprintf(e.kernel, sizeof e.kernel, "%s", l->kernel);
    if (!members) return e;
    for (; e.next < step + members; e.next++) {
        e.macs += p->layers[e.next].macs;
        e.predicted_ns += p->layers[e.next].predicted_ns;
    }
    snprintf(e.name, sizeof e.name, "%.76s..%.76s", l->name, p->layers[e.next - 1].name);
    snprintf(e.kernel, sizeof e.kernel, "%d layers by %d row%s", members, p->model->steps[step].phase,
             p->model->steps[step].phase == 1 ? "" : "s");
    return e;
}

static void print_layers(const struct ig_session *s, const int64_t *ns)
{
    const struct ig_program *p = s->program;
    char name[37];
    double total = 0;
    for (int i = 0; i < p->model->n_steps; i++) total += (double)ns[i];
    printf("  %-36s %-34s %9s %5s %8s\n", "layer", "kernel", "ms", "%", "GFLOP/s");
    for (int i = 0; i < p->model->n_steps;) {
        struct entry e = entry_at(p, i);
        printf("  %-36s %-34s %9.4f %5.1f", ig_name_text(e.name, name, sizeof name), e.kernel,
               (double)ns[i] * 1e-6, 100 * (double)ns[i] / total);
        if (e.macs > 0 && ns[i] > 0) printf(" %8.1f", 2 * e.macs / (double)ns[i]);
        putchar('\n');
        i = e.next;
    }
}

static void print_layers_json(const struct ig_session *s, const int64_t *ns)
{
    const struct ig_program *p = s->program;
    fputs("\"layers\":[", stdout);
    for (int i = 0; i < p->model->n_steps;) {
        struct entry e = entry_at(p, i);
        printf("%s{\"kernel\":\"%s\",\"macs\":%.0f,\"ms\":%.6f,\"name\":", i ? "," : "", e.kernel, e.macs,
               (double)ns[i] * 1e-6);
        ig_json_string(stdout, e.name);
        printf(",\"predicted_ms\":%.6f}", e.predicted_ns * 1e-6);
        i = e.next;
    }
    fputs("],", stdout);
}

void ig_bench(struct ig_session *s, const struct ig_options *o)
{
    char spoiled[160];
    if (o->seconds <= 0) {
        serve(s);
        return;
    }
    struct figures f = measure(s, o->seconds);
    int64_t *layers = measure_layers(s);
    ig_spoilers(spoiled, sizeof spoiled);
    if (o->json) {
        putchar('{');
        ig_bench_energy(s, o, NULL);
        printf("\"first_ms\":%.4f,\"fps\":%.3f,", f.first, f.frames * 1e3 / f.total);
        if (s->program->spec) s->program->spec->bench(s, f.median, 1);
        printf("\"init_ms\":%.4f,", s->init_ms);
        print_layers_json(s, layers);
        printf("\"median_ms\":%.4f,\"min_ms\":%.4f,\"model\":\"%s\",\"p99_ms\":%.4f,\"peak_rss_kib\":%ld,"
               "\"runs\":%d,\"threads\":%d}\n",
               f.median, f.min, s->program->model->name, f.p99, ig_peak_rss_kib(), f.frames, s->threads);
    } else {
        printf("init %.2f ms   first %.2f ms   then median %.3f ms, min %.3f ms, p99 %.3f ms "
               "(%d frames, %.1f s, %d thread%s%s)\n",
               s->init_ms, f.first, f.median, f.min, f.p99, f.frames, f.total * 1e-3, s->threads,
               s->threads == 1 ? "" : "s", spoiled);
        printf("%.1f frames a second; peak RSS %.1f MB, arena %lld B, weights %lld B\n",
               f.frames * 1e3 / f.total, (double)ig_peak_rss_kib() * 1.024e-3,
               (long long)s->program->model->arena_bytes, (long long)s->program->model->weights_bytes);
        if (s->program->spec) s->program->spec->bench(s, f.median, 0);
        ig_bench_energy(s, o, NULL);
        print_layers(s, layers);
    }
    free(layers);
}

void ig_write_trace(struct ig_session *s, const char *path)
{
    const struct ig_program *p = s->program;
    int64_t *ns = calloc((size_t)p->model->n_steps + 1, sizeof *ns), at = 0;
    if (!ns) ig_die("out of memory");
    frame(s, NULL);
    frame(s, ns);
    FILE *f = ig_file_create(path);
    if (!f) ig_die("%s: %s", path, strerror(errno));
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", f);
    for (int i = 0, next; i < p->model->n_steps; at += ns[i], i = next) {
        struct entry e = entry_at(p, i);
        next = e.next;
        fputs("{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":", f);
        ig_json_string(f, e.name);
        fprintf(f, ",\"cat\":\"layer\",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"kernel\":\"%s\"}}%s\n",
                (double)at * 1e-3, (double)ns[i] * 1e-3, e.kernel, next < p->model->n_steps ? "," : "");
    }
    fputs("]}\n", f);
    if (ig_file_close(f, path)) ig_die("%s: cannot write: %s", path, strerror(errno));
    free(ns);
}
