#include "planner/deploy/mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

enum { LINE_BYTES = 512, COUNT_BYTES = 40 };

void ig_mistake(struct ig_mistakes *m, const char *words, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, words);
    vsnprintf(line, sizeof line, words, args);
    va_end(args);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = '.';
    size_t bytes = strlen(line) + 1;
    if (bytes > m->room - m->used) {
        char *more = ig_must_alloc(m->room = 2 * m->room + 4096, 1);
        if (m->used) memcpy(more, m->text, m->used);
        free(m->text);
        m->text = more;
    }
    memcpy(m->text + m->used, line, bytes);
    m->used += bytes;
    m->n++;
}

static void tell_all(const struct ig_mistakes *m, const char *path, char *err, size_t err_bytes)
{
    const char *line = m->text;
    size_t at = (size_t)snprintf(err, err_bytes, "%.1000s: %d mistakes:", path, m->n);
    for (int32_t i = 0; i < m->n; i++, line += strlen(line) + 1) {
        if (at + strlen(line) + 4 + COUNT_BYTES > err_bytes) {
            if (at < err_bytes) snprintf(err + at, err_bytes - at, "\n  and %d more", m->n - i);
            return;
        }
        at += (size_t)snprintf(err + at, err_bytes - at, "\n  %s", line);
    }
}

int ig_mistakes_tell(struct ig_mistakes *m, const char *path, char *err, size_t err_bytes)
{
    int32_t n = m->n;
    if (n == 1) snprintf(err, err_bytes, "%s: %s", path, m->text);
    if (n > 1) tell_all(m, path, err, err_bytes);
    free(m->text);
    *m = (struct ig_mistakes){.n = 0};
    return n ? -1 : 0;
}
