/* How an import ends badly: one line, or the list of all nodes that cannot be compiled. */
#include "graph/onnx/import.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Line breaks in a model's names would break the report's lines. */
static void one_line(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 32 || *s == 127) *s = '?';
}

static const char *label(struct im *m, const struct im_node *n)
{
    if (*n->name) return n->name;
    for (int i = 0; i < n->n_out; i++)
        if (*n->out[i]) return im_format(m, "(%s)", n->out[i]);
    return "(no name)";
}

void im_fail(struct im *m, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (m->node)
        snprintf(m->err, m->err_bytes, "%s: node '%.200s' (%.80s): %s", m->path, label(m, m->node),
                 m->node->op, text);
    else
        snprintf(m->err, m->err_bytes, "%s: %s", m->path, text);
    if (m->err_bytes) one_line(m->err);
    m->refused = 0;
    longjmp(*m->stop, 1);
}

void im_misfit(struct im *m, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    im_fail(m, "%s%s", text, im_doubt(m));
}

const char *im_op_text(struct im *m, const struct im_node *n)
{
    const char *dot = *n->domain ? "." : "";
    return im_format(m, "%s%s%s-%lld", n->domain, dot, n->op, (long long)n->opset);
}

void im_report_node(struct im *m, const struct im_node *n, const char *why)
{
    const char *line = im_format(m, "\n  %.200s  %.200s  %s", label(m, n), im_op_text(m, n), why);
    size_t bytes = strlen(line);
    m->report.n++;
    if (m->report.used + bytes + 1 > m->report.room) {
        size_t room = 2 * m->report.room + bytes + 256;
        char *text = room < 1 << 22 ? realloc(m->report.text, room) : NULL;
        if (!text) return; /* counted, not listed */
        m->report.text = text;
        m->report.room = room;
    }
    strcpy(m->report.text + m->report.used, line);
    for (char *p = m->report.text + m->report.used + 1; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127) *p = '?';
    m->report.used += bytes;
}

void im_refuse(struct im *m, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!m->node) im_fail(m, "%s", text);
    im_report_node(m, m->node, text);
    m->refused = 1;
    longjmp(*m->stop, 1);
}
