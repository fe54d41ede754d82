#include "runtime/host/text.h"

#include <math.h>

const char *ig_shape_text(const struct ig_shape *s, char *text, size_t n)
{
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < s->rank && at < n; i++)
        at += (size_t)snprintf(text + at, n - at, "%s%d", i ? "x" : "", s->dims[i]);
    if (at < n) snprintf(text + at, n - at, "%s %s", s->rank ? "" : "scalar", ig_type_name(s->type));
    return text;
}

const char *ig_name_text(const char *name, char *text, size_t n)
{
    size_t i = 0;
    for (; name[i] && i + 1 < n; i++) text[i] = (unsigned char)name[i] < 32 || name[i] == 127 ? '.' : name[i];
    text[i] = 0;
    return text;
}

int ig_utf8_bytes(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int n = s[0] < 0x80                   ? 1
            : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
            : (s[0] & 0xf0) == 0xe0       ? 3
            : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return n;
}

void ig_json_string(FILE *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', f);
    while (*s) {
        int n = ig_utf8_bytes((const char *)s);
        if (*s == '"' || *s == '\\') fprintf(f, "\\%c", *s);
        else if (*s < 32 || *s == 127) fprintf(f, "\\u%04x", *s);
        else if (n) fwrite(s, 1, (size_t)n, f);
        else fputs("\\ufffd", f);
        s += n ? n : 1;
    }
    fputc('"', f);
}

void ig_json_number(FILE *f, double v)
{
    if (isfinite(v)) fprintf(f, "%.9g", v);
    else fputs("null", f);
}

void ig_json_tensor(FILE *f, const char *name, const struct ig_shape *s)
{
    fputs("{\"name\":", f);
    ig_json_string(f, name);
    fputs(",\"shape\":[", f);
    for (int i = 0; i < s->rank; i++) fprintf(f, "%s%d", i ? "," : "", s->dims[i]);
    fprintf(f, "],\"type\":\"%s\"}", ig_type_name(s->type));
}
