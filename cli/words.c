/* What the user says of a network's classes and of its pictures: --labels, --mean and --std. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "gen/emit.h"

int32_t ig_channels_option(const char *text, const char *option, float v[4])
{
    char *end;
    int32_t n = 0;
    for (const char *p = text; n < 4; p = end + 1) {
        v[n++] = strtof(p, &end);
        if (end == p || (*end && *end != ','))
            ig_fatal("%s takes numbers such as 123.7,116.3,103.5, not '%s'", option, text);
        if (!*end) break;
    }
    if (*end) ig_fatal("%s takes at most four numbers, not '%s'", option, text);
    for (int i = n; i < 4; i++) v[i] = v[n - 1];
    int positive = !strcmp(option, "--std");
    for (int i = 0; i < 4; i++)
        if (!isfinite(v[i]) || (positive && v[i] <= 0))
            ig_fatal("%s takes %s numbers, not '%s'", option, positive ? "positive" : "finite", text);
    return n;
}

/* 1 if a line of n bytes is text of any encoding that has ASCII in it. */
static int is_text(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' && !strchr("\t\r\n", line[i] ? line[i] : 1)) return 0;
    return 1;
}

void ig_labels_option(struct ig_emit *e, const char *path)
{
    const char **labels = NULL;
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    if (!f) ig_fatal("%s: %s", path, strerror(errno));
    for (ssize_t n; (n = getline(&line, &room, f)) >= 0;) {
        if (!is_text(line, (size_t)n)) ig_fatal("%s: line %d is no text: --labels takes class names, one a line", path, e->n_labels + 1);
        line[strcspn(line, "\r\n")] = 0;
        labels = realloc(labels, (size_t)(e->n_labels + 1) * sizeof *labels);
        if (!labels) ig_fatal("out of memory");
        labels[e->n_labels++] = strdup(line);
    }
    if (ferror(f)) ig_fatal("%s: %s", path, strerror(errno));
    fclose(f);
    free(line);
    e->labels = labels;
}

/* Channels of a picture of floats, [1,C,H,W] or [1,H,W,C]; 0: it is none. */
static int32_t channels(const struct ig_shape *s)
{
    if (s->rank != 4 || s->dims[0] != 1 || (s->type != IG_F32 && s->type != IG_F16)) return 0;
    return s->dims[1] == 1 || s->dims[1] == 3 ? s->dims[1] : s->dims[3] == 1 || s->dims[3] == 3 ? s->dims[3] : 0;
}

static void fit_channels(const struct ig_graph *g, const char *option, int32_t n)
{
    int32_t pictures = 0, of = 0;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        int32_t c = channels(&g->values[g->inputs[i]].shape);
        if (!c) continue;
        if (n == 1 || n == c) return;
        pictures++;
        of = c;
    }
    if (!pictures) ig_fatal("%s: the network takes no picture of floats, [1,C,H,W] or [1,H,W,C] with 1 or 3 channels", option);
    ig_fatal("%s: %d numbers, but the network's picture has %d channel%s: give one, or one for each", option, n, of, of == 1 ? "" : "s");
}

void ig_words_fit(const struct ig_emit *e, const struct ig_graph *g)
{
    if (e->n_mean) fit_channels(g, "--mean", e->n_mean);
    if (e->n_std) fit_channels(g, "--std", e->n_std);
    if (!e->n_labels || !g->n_outputs) return;
    const struct ig_value *out = &g->values[g->outputs[0]];
    int64_t classes = e->host_ops && e->host_ops->nms ? e->host_ops->n_classes : ig_count(&out->shape);
    if (e->n_labels != classes)
        fprintf(stderr, "ingot: --labels: %d name%s, but %s has %lld classes\n", e->n_labels, ig_plural(e->n_labels), out->name, (long long)classes);
}
