/* Results: .npy files, the best classes, --info. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/program.h"

void ig_write_npy(const char *path, const struct ig_shape *s, const void *data)
{
    static const char *const types[IG_TYPES] = {"<f4", "<i4", "<i8", "|u1", "|i1", "|b1", "<f2"};
    char dims[160] = "", header[300], temp[4200];
    for (int i = 0; i < s->rank; i++) {
        size_t at = strlen(dims);
        snprintf(dims + at, sizeof dims - at, "%d%s", s->dims[i], i + 1 < s->rank ? ", " : s->rank == 1 ? "," : "");
    }
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                     types[s->type], dims);
    int padded = (10 + n + 1 + 63) / 64 * 64 - 10;
    if (snprintf(temp, sizeof temp, "%s.tmp", path) >= (int)sizeof temp) ig_die("%s: name too long", path);
    FILE *f = fopen(temp, "wb");
    if (!f) ig_die("%s: %s", path, strerror(errno));
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc(padded & 255, f);
    fputc(padded >> 8, f);
    fprintf(f, "%s%*s\n", header, padded - n - 1, "");
    fwrite(data, 1, (size_t)ig_bytes(s), f);
    int failed = ferror(f);
    if (fclose(f) || failed || rename(temp, path)) {
        int error = errno;
        remove(temp);
        ig_die("%s: cannot write: %s", path, strerror(error));
    }
}

/* The k largest of a row, ties to the lower index. */
static int best(const struct ig_shape *s, const void *data, int64_t n, int k, int64_t *index)
{
    int found = 0;
    for (int64_t i = 0; i < n; i++) {
        int at = found;
        while (at > 0 && element(s, data, index[at - 1]) < element(s, data, i)) at--;
        if (at >= k) continue;
        if (found < k) found++;
        for (int m = found - 1; m > at; m--) index[m] = index[m - 1];
        index[at] = i;
    }
    return found;
}

void ig_print_result(const struct ig_session *s, const struct ig_options *o, double ms)
{
    const struct ig_io *io = &s->program->model->outputs[0];
    int64_t n = ig_count(io->shape), index[100];
    int k = best(io->shape, s->outputs[0], n, o->top, index);
    if (o->json) fprintf(stdout, "{\"ms\":%.4f,\"top\":[", ms);
    for (int i = 0; i < k; i++) {
        double value = element(io->shape, s->outputs[0], index[i]);
        const char *label = index[i] < s->program->n_labels ? s->program->labels[index[i]] : NULL;
        if (o->json) {
            printf("%s{\"index\":%lld,\"label\":", i ? "," : "", (long long)index[i]);
            if (label) ig_json_string(stdout, label);
            else fputs("null", stdout);
            printf(",\"value\":%.9g}", value);
        } else if (label) printf("%s%s %.4g", i ? " | " : "", label, value);
        else printf("%s#%lld %.4g", i ? " | " : "", (long long)index[i], value);
    }
    puts(o->json ? "]}" : "");
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

/* The linker's own names for the ends of the program's text. */
extern const char __executable_start[] __attribute__((weak)), etext[] __attribute__((weak));

void ig_print_info(const struct ig_session *s, int json)
{
    const struct ig_program *p = s->program;
    const struct ig_model *m = p->model;
    long long code = (long long)((uintptr_t)etext - (uintptr_t)__executable_start);
    char text[128];
    if (json) {
        printf("{\"arena_bytes\":%lld,\"code_bytes\":%lld,", (long long)m->arena_bytes, code);
        print_ios("inputs", m->inputs, m->n_inputs);
        printf("\"layers\":%d,\"model\":\"%s\",\"model_sha256\":\"%s\",", m->n_steps, m->name, p->source_sha256);
        print_ios("outputs", m->outputs, m->n_outputs);
        printf("\"plan_sha256\":\"%s\",\"scratch_bytes\":%lld,\"target\":\"%s\",\"threads\":%d,\"tool\":\"%s\","
               "\"weights_bytes\":%lld}\n", p->plan_sha256, (long long)m->scratch_bytes, p->target, m->threads,
               p->tool, (long long)m->weights_bytes);
        return;
    }
    printf("%s: %d layers, planned for %d thread%s of %s by %s\n", m->name, m->n_steps, m->threads,
           m->threads == 1 ? "" : "s", p->target, p->tool);
    for (int i = 0; i < m->n_inputs; i++)
        printf("input %s %s\n", m->inputs[i].name, ig_shape_text(m->inputs[i].shape, text, sizeof text));
    for (int i = 0; i < m->n_outputs; i++)
        printf("output %s %s\n", m->outputs[i].name, ig_shape_text(m->outputs[i].shape, text, sizeof text));
    printf("arena %lld B, scratch %lld B a thread, weights %lld B, code %lld B\n", (long long)m->arena_bytes,
           (long long)m->scratch_bytes, (long long)m->weights_bytes, code);
    printf("model %s\nplan  %s\n", p->source_sha256, p->plan_sha256);
}
