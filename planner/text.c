#include "planner/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/keys.h"
#include "graph/sha256.h"
#include "planner/alloc.h"

/* --- out --- */

void ig_put_text(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 32 || c == 127)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

void ig_put_double(FILE *f, double x)
{
    char text[40];
    int digits = 1;
    do snprintf(text, sizeof text, "%.*g", digits, x);
    while (strtod(text, NULL) != x && ++digits <= 17);
    fputs(isfinite(x) ? text : "0", f);
}

/* --- in --- */

void ig_reader_fail(struct ig_reader *r, const char *words, ...)
{
    char text[512], place[96] = "";
    if (r->failed++) return;
    va_list args;
    va_start(args, words);
    vsnprintf(text, sizeof text, words, args);
    va_end(args);
    for (char *c = text; *c; c++) /* a name in it may hold anything; an error is one line */
        if ((unsigned char)*c < 32 || *c == 127) *c = '.';
    if (r->where[0]) snprintf(place, sizeof place, "%s[%zu]: ", r->where, r->at);
    snprintf(r->err, r->err_bytes, "%s: %s%s", r->path, place, text);
}

static char *read_all(FILE *f, size_t *bytes)
{
    char *text = NULL;
    size_t room = 0, n = 0, got;
    do {
        if (n + 1 >= room) { /* a zero ends it */
            char *more = ig_must_alloc(room = 2 * room + 65536, 1);
            if (n) memcpy(more, text, n);
            free(text);
            text = more;
        }
        got = fread(text + n, 1, room - n - 1, f);
        n += got;
    } while (got);
    *bytes = n;
    return text;
}

static json_t *parse(struct ig_reader *r, const char *text, size_t bytes)
{
    json_error_t e = {.line = 0};
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &e);
    ig_sha256(text, bytes, r->sha256);
    const char first = text[strspn(text, " \t\r\n")];
    if (!root) ig_reader_fail(r, "%sline %d: %s", first == '{' || first == '[' ? "" : "no JSON: ", e.line, e.text);
    return root;
}

char *ig_read_text(const char *path, size_t *bytes, char *err, size_t err_bytes)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    char *text = f ? read_all(f, bytes) : NULL;
    if (f && !ferror(f)) {
        if (f != stdin) fclose(f);
        return text;
    }
    snprintf(err, err_bytes, "%s: %s", path, strerror(errno));
    if (f && f != stdin) fclose(f);
    free(text);
    return NULL;
}

static json_t *parse_file(struct ig_reader *r)
{
    size_t bytes;
    char *text = ig_read_text(r->path, &bytes, r->err, r->err_bytes);
    r->failed = !text;
    json_t *root = text ? parse(r, text, bytes) : NULL;
    free(text);
    return root;
}

/* The root, if it is of that format. */
static json_t *checked(struct ig_reader *r, json_t *root, const char *format)
{
    if (!root) return NULL;
    const char *found = json_string_value(json_object_get(root, "format")), *maker = ig_maker_of(format);
    if (!found) ig_reader_fail(r, "it has no 'format': %s makes a file of '%s'", maker, format);
    else if (strcmp(found, format)) ig_reader_fail(r, "format is '%s', not '%s', which %s makes", found, format, maker);
    int64_t version = ig_get_int(r, root, "version", 1, INT32_MAX);
    if (!r->failed && version != 1) ig_reader_fail(r, "version %lld of '%s', not 1: make it anew: %s", (long long)version, format, maker);
    if (!r->failed) return root;
    json_decref(root);
    return NULL;
}

json_t *ig_reader_open(struct ig_reader *r, const char *path, const char *format, char *err, size_t err_bytes)
{
    *r = (struct ig_reader){.path = path, .where = "", .err = err, .err_bytes = err_bytes};
    return checked(r, parse_file(r), format);
}

json_t *ig_reader_open_any(struct ig_reader *r, const char *path, char *err, size_t err_bytes)
{
    *r = (struct ig_reader){.path = path, .where = "", .err = err, .err_bytes = err_bytes};
    return parse_file(r);
}

json_t *ig_reader_parse(struct ig_reader *r, const char *text, size_t bytes, const char *path, char *err,
                        size_t err_bytes)
{
    *r = (struct ig_reader){.path = path, .where = "", .err = err, .err_bytes = err_bytes};
    return parse(r, text, bytes);
}

json_t *ig_reader_open_text(struct ig_reader *r, const char *text, const char *path, const char *format, char *err,
                            size_t err_bytes)
{
    *r = (struct ig_reader){.path = path, .where = "", .err = err, .err_bytes = err_bytes};
    return checked(r, parse(r, text, strlen(text)), format);
}

enum { LIMITS_BYTES = 80 };

/* " from 1 to 9", as far as the ends are limits and not what a number can hold at all; and whether it is there. */
static const char *limits(char text[LIMITS_BYTES], const json_t *field, int64_t low, int64_t high)
{
    int n = 0;
    text[0] = 0;
    if (low > INT32_MIN) n = snprintf(text, LIMITS_BYTES, " from %lld", (long long)low);
    if (high < INT32_MAX) n += snprintf(text + n, LIMITS_BYTES - (size_t)n, "%s to %lld", n ? "" : " up", (long long)high);
    if (!field) snprintf(text + n, LIMITS_BYTES - (size_t)n, "; it is missing");
    return text;
}

static const char *part_of(const struct ig_reader *r)
{
    return r->part ? r->part : "";
}

void ig_reader_only(struct ig_reader *r, const json_t *o, const char *known)
{
    const char *key = ig_unknown_key(o, known);
    if (!json_is_object(o)) ig_reader_fail(r, "%sit must be an object", part_of(r));
    if (key) ig_reader_fail(r, "%sunknown field '%.100s'; there are: %s", part_of(r), key, known);
}

int64_t ig_get_int(struct ig_reader *r, const json_t *o, const char *key, int64_t low, int64_t high)
{
    const json_t *field = json_object_get(o, key);
    int64_t x = json_integer_value(field);
    char text[LIMITS_BYTES];
    if (!json_is_integer(field))
        ig_reader_fail(r, "%s'%s' must be an integer%s", part_of(r), key, limits(text, field, low, high));
    if (x < low || x > high)
        ig_reader_fail(r, "%s'%s' is out of range: %lld; an integer%s", part_of(r), key, (long long)x,
                       limits(text, field, low, high));
    return r->failed ? 0 : x;
}

double ig_get_double(struct ig_reader *r, const json_t *o, const char *key, double low)
{
    const json_t *field = json_object_get(o, key);
    double x = json_number_value(field);
    const char *missing = field ? "" : "; it is missing";
    if (!json_is_number(field)) ig_reader_fail(r, "%s'%s' must be a number from %g%s", part_of(r), key, low, missing);
    if (!(x >= low)) ig_reader_fail(r, "%s'%s' is out of range: %g; a number from %g", part_of(r), key, x, low);
    return r->failed ? 0 : x;
}

const char *ig_get_text(struct ig_reader *r, const json_t *o, const char *key)
{
    const json_t *field = json_object_get(o, key);
    const char *text = json_string_value(field);
    if (!text) ig_reader_fail(r, "%s'%s' must be a string%s", part_of(r), key, field ? "" : "; it is missing");
    return text ? text : "";
}

const char *ig_get_hash(struct ig_reader *r, const json_t *o, const char *key)
{
    const char *text = ig_get_text(r, o, key);
    size_t n = strlen(text);
    if (n != strspn(text, "0123456789abcdef") || (n && n != 64)) ig_reader_fail(r, "'%s' is no SHA-256", key);
    return text;
}

const json_t *ig_get_array(struct ig_reader *r, const json_t *o, const char *key)
{
    const json_t *array = json_object_get(o, key);
    if (!json_is_array(array))
        ig_reader_fail(r, "%s'%s' must be an array%s", part_of(r), key, array ? "" : "; it is missing");
    return array;
}

int ig_get_name(struct ig_reader *r, const json_t *o, const char *key, const char *const *names, int n)
{
    const char *text = ig_get_text(r, o, key);
    for (int i = 0; i < n; i++)
        if (!strcmp(text, names[i])) return i;
    ig_reader_fail(r, "'%s' is unknown: '%s'", key, text);
    return 0;
}
