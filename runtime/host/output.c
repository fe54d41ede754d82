/* Results: .npy files, the best classes, --info. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/file.h"
#include "runtime/host/program.h"
#include "runtime/host/spec.h"
#include "runtime/host/stages.h"

void ig_write_npy(const char *path, const struct ig_shape *s, const void *data)
{
    static const char *const types[IG_TYPES] = {"<f4", "<i4", "<i8", "|u1", "|i1", "|b1", "<f2"};
    char dims[160] = "", header[300];
    for (int i = 0; i < s->rank; i++) {
        size_t at = strlen(dims);
        snprintf(dims + at, sizeof dims - at, "%d%s", s->dims[i],
                 i + 1 < s->rank ? ", "
                 : s->rank == 1  ? ","
                                 : "");
    }
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                     types[s->type], dims);
    int padded = (10 + n + 1 + 63) / 64 * 64 - 10;
    FILE *f = ig_file_create(path);
    if (!f) ig_die("%s: %s", path, strerror(errno));
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc(padded & 255, f);
    fputc(padded >> 8, f);
    fprintf(f, "%s%*s\n", header, padded - n - 1, "");
    fwrite(data, 1, (size_t)ig_bytes(s), f);
    if (ig_file_close(f, path)) ig_die("%s: cannot write: %s", path, strerror(errno));
}

/* NaN is below everything. */
static int above(double a, double b)
{
    return a > b || (isnan(b) && !isnan(a));
}

int ig_best(const struct ig_shape *s, const void *data, int k, int64_t *index)
{
    int found = 0;
    for (int64_t i = 0; i < ig_count(s); i++) {
        double v = ig_as_double(s->type, data, i);
        int at = found;
        while (at > 0 && above(v, ig_as_double(s->type, data, index[at - 1]))) at--;
        if (at >= k) continue;
        if (found < k) found++;
        for (int m = found - 1; m > at; m--) index[m] = index[m - 1];
        index[at] = i;
    }
    return found;
}

static void print_value(const struct ig_shape *s, const void *data, int64_t i, int json)
{
    double v = ig_as_double(s->type, data, i);
    if (s->type == IG_I64) printf("%lld", (long long)((const int64_t *)data)[i]);
    else if (s->type != IG_F32 && s->type != IG_F16) printf("%.0f", v);
    else if (json) ig_json_number(stdout, v);
    else printf("%.4g", v);
}

static void print_text(const struct ig_program *p, const void *data, const int64_t *index, int k)
{
    for (int i = 0; i < k; i++) {
        if (i) fputs(" | ", stdout);
        if (index[i] < p->n_labels) printf("%s ", p->labels[index[i]]);
        else printf("#%lld ", (long long)index[i]);
        print_value(p->model->outputs[0].shape, data, index[i], 0);
    }
    putchar('\n');
}

static void print_json(const struct ig_program *p, const void *data, const int64_t *index, int k, double ms,
                       const char *network)
{
    printf("{\"ms\":%.4f,", ms);
    if (network) printf("\"network\":\"%s\",", network);
    fputs("\"top\":[", stdout);
    for (int i = 0; i < k; i++) {
        printf("%s{\"index\":%lld,\"label\":", i ? "," : "", (long long)index[i]);
        if (index[i] < p->n_labels) ig_json_string(stdout, p->labels[index[i]]);
        else fputs("null", stdout);
        fputs(",\"value\":", stdout);
        print_value(p->model->outputs[0].shape, data, index[i], 1);
        putchar('}');
    }
    puts("]}");
}

void ig_print_result(const struct ig_session *s, const struct ig_options *o, double ms)
{
    int64_t index[IG_MAX_TOP];
    if (s->program->spec && s->program->spec->boxes) {
        s->program->spec->boxes->print(s, o, ms);
        fflush(stdout);
        return;
    }
    int k = ig_best(s->program->model->outputs[0].shape, s->outputs[0], o->top, index);
    if (o->json) print_json(s->program, s->outputs[0], index, k, ms, s->network);
    else print_text(s->program, s->outputs[0], index, k);
    fflush(stdout);
}

static void print_ios(const char *key, const struct ig_io *io, int n)
{
    printf("\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        if (i) putchar(',');
        ig_json_tensor(stdout, io[i].name, io[i].shape);
    }
    printf("],");
}

static void print_io(const char *what, const struct ig_io *io)
{
    char name[256], shape[128];
    printf("%s %s %s\n", what, ig_name_text(io->name, name, sizeof name),
           ig_shape_text(io->shape, shape, sizeof shape));
}

/* The linker's own names for the ends of the program's text. */
extern const char __executable_start[] __attribute__((weak)), etext[] __attribute__((weak));

void ig_print_info(const struct ig_session *s, int json)
{
    const struct ig_program *p = s->program;
    const struct ig_model *m = p->model;
    long long code = (long long)((uintptr_t)etext - (uintptr_t)__executable_start);
    if (json) {
        putchar('{');
        printf("\"arena_bytes\":%lld,\"code_bytes\":%lld,", (long long)m->arena_bytes, code);
        if (p->spec) p->spec->info(p->spec, 1);
        print_ios("inputs", m->inputs, m->n_inputs);
        printf("\"layers\":%d,\"model\":\"%s\",\"model_sha256\":\"%s\",", m->n_steps, m->name,
               p->source_sha256);
        print_ios("outputs", m->outputs, m->n_outputs);
        if (p->staged) p->staged->info(p, 1);
        printf("\"plan_sha256\":\"%s\",\"scratch_bytes\":%lld,\"target\":", p->plan_sha256,
               (long long)m->scratch_bytes);
        ig_json_string(stdout, p->target);
        printf(",\"threads\":%d,\"tool\":\"%s\",\"weights_bytes\":%lld}\n", m->threads, p->tool,
               (long long)m->weights_bytes);
        return;
    }
    printf("%s: %d layer%s, planned for %d thread%s of %s by %s\n", m->name, m->n_steps, m->n_steps == 1 ? "" : "s", m->threads,
           m->threads == 1 ? "" : "s", p->target, p->tool);
    for (int i = 0; i < m->n_inputs; i++) print_io("input", &m->inputs[i]);
    for (int i = 0; i < m->n_outputs; i++) print_io("output", &m->outputs[i]);
    if (p->spec) p->spec->info(p->spec, 0);
    printf("arena %lld B, %lld B for each thread more, weights %lld B, code %lld B\n", (long long)m->arena_bytes,
           (long long)m->scratch_bytes, (long long)m->weights_bytes, code);
    if (p->staged) p->staged->info(p, 0);
    printf("model %s\nplan  %s\n", p->source_sha256, p->plan_sha256);
}
