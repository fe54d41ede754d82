/*
 * JSON (RFC 8259), and nothing laxer but that UTF-8 is passed through unchecked. Two members of one name are
 * refused, and so is a \u0000. A value points to its children; the first error frees what there is.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { OBJECT, ARRAY, STRING, INTEGER, REAL, TRUTH, NOTHING };
enum { MOST_DEPTH = 256 };

struct json_t {
    enum kind kind;
    char *name;          /* of a member; else NULL */
    char *text;          /* of a string */
    json_int_t integer;  /* of an integer; 1 of true, 0 of false */
    double number;       /* of any number */
    json_t **at;         /* children of an object or array */
    size_t n, room;
    json_t *next;        /* the next child of the same object */
};

struct parser {
    const char *at, *end;
    int line, depth;
    json_error_t *e;
};

static json_t *parse_value(struct parser *p);

/* --- values --- */

static json_t *make(enum kind kind)
{
    json_t *v = calloc(1, sizeof *v);
    if (v) v->kind = kind;
    return v;
}

void json_decref(json_t *v)
{
    if (!v) return;
    for (size_t i = 0; i < v->n; i++) json_decref(v->at[i]);
    free(v->at);
    free(v->name);
    free(v->text);
    free(v);
}

static int push(json_t *parent, json_t *child)
{
    if (parent->n == parent->room) {
        json_t **more = realloc(parent->at, (2 * parent->room + 8) * sizeof *more);
        if (!more) return -1;
        parent->at = more;
        parent->room = 2 * parent->room + 8;
    }
    if (parent->n) parent->at[parent->n - 1]->next = child;
    parent->at[parent->n++] = child;
    return 0;
}

json_t *json_object(void)
{
    return make(OBJECT);
}

json_t *json_integer(json_int_t n)
{
    json_t *v = make(INTEGER);
    if (v) v->number = (double)(v->integer = n);
    return v;
}

int json_object_set_new(json_t *object, const char *name, json_t *value)
{
    if (value && (value->name = strdup(name)) && !push(object, value)) return 0;
    json_decref(value);
    return -1;
}

static int is(const json_t *v, enum kind kind)
{
    return v && v->kind == kind;
}

int json_is_object(const json_t *v) { return is(v, OBJECT); }
int json_is_array(const json_t *v) { return is(v, ARRAY); }
int json_is_string(const json_t *v) { return is(v, STRING); }
int json_is_integer(const json_t *v) { return is(v, INTEGER); }
int json_is_number(const json_t *v) { return is(v, INTEGER) || is(v, REAL); }
int json_is_null(const json_t *v) { return is(v, NOTHING); }
int json_is_boolean(const json_t *v) { return is(v, TRUTH); }
int json_is_true(const json_t *v) { return is(v, TRUTH) && v->integer; }

size_t json_object_size(const json_t *v) { return is(v, OBJECT) ? v->n : 0; }
size_t json_array_size(const json_t *v) { return is(v, ARRAY) ? v->n : 0; }
json_t *json_array_get(const json_t *v, size_t i) { return i < json_array_size(v) ? v->at[i] : NULL; }
json_t *json_first(const json_t *v) { return json_object_size(v) ? v->at[0] : NULL; }
json_t *json_next(const json_t *v) { return v->next; }
const char *json_name(const json_t *v) { return v->name; }
const char *json_string_value(const json_t *v) { return is(v, STRING) ? v->text : NULL; }
json_int_t json_integer_value(const json_t *v) { return is(v, INTEGER) ? v->integer : 0; }
double json_number_value(const json_t *v) { return json_is_number(v) ? v->number : 0; }

json_t *json_object_get(const json_t *v, const char *name)
{
    for (json_t *m = json_first(v); m; m = m->next)
        if (!strcmp(m->name, name)) return m;
    return NULL;
}

/* --- text --- */

static json_t *fail(struct parser *p, const char *words, json_t *v)
{
    if (!p->e->text[0]) { /* the first error is the one */
        p->e->line = p->line;
        snprintf(p->e->text, sizeof p->e->text, "%s", words);
    }
    json_decref(v);
    return NULL;
}

static int next(struct parser *p) /* the next character that is no space; 0 at the end */
{
    for (; p->at < p->end && memchr(" \t\r\n", *p->at, 4); p->at++) p->line += *p->at == '\n';
    return p->at < p->end ? (unsigned char)*p->at : 0;
}

static int take(struct parser *p, int c)
{
    if (next(p) != c) return 0;
    p->at++;
    return 1;
}

static int hex4(struct parser *p)
{
    int code = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = p->at < p->end && *p->at ? strchr(digits, *p->at | 32) : NULL;
        if (!digit || !*digit) return -1;
        code = 16 * code + (int)(digit - digits);
    }
    return code;
}

static char *put_utf8(char *to, int code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (char)((0xff00 >> (more + 1) & 0xff) | code >> 6 * more);
    while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

/* Behind a backslash; NULL if that is no escape. */
static char *put_escape(struct parser *p, char *to)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = p->at < p->end ? *p->at++ : 0;
    const char *known = c ? strchr(names, c) : NULL;
    if (known) {
        *to++ = meant[known - names];
        return to;
    }
    int code = c == 'u' ? hex4(p) : -1;
    if (code >= 0xd800 && code < 0xdc00 && p->end - p->at > 6 && p->at[0] == '\\' && p->at[1] == 'u') {
        p->at += 2;
        int low = hex4(p);
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + low - 0xdc00 : -1;
    }
    return code > 0 && (code < 0xd800 || code >= 0xe000) ? put_utf8(to, code) : NULL;
}

static char *parse_text(struct parser *p)
{
    if (!take(p, '"')) return (void)fail(p, "a string expected", NULL), NULL;
    const char *end = p->at;
    while (end < p->end && *end != '"' && (unsigned char)*end >= 32) end += *end == '\\' ? 2 : 1;
    if (end >= p->end || *end != '"') return (void)fail(p, "a string without an end", NULL), NULL;
    char *text = malloc((size_t)(end - p->at) + 1), *to = text; /* an escape is longer than what it means */
    while (to && p->at < end)
        if (*p->at != '\\') *to++ = *p->at++;
        else p->at++, to = put_escape(p, to);
    if (!to) {
        free(text);
        return (void)fail(p, text ? "no such escape" : "out of memory", NULL), NULL;
    }
    *to = 0;
    p->at = end + 1;
    return text;
}

static json_t *parse_string(struct parser *p)
{
    char *text = parse_text(p);
    json_t *v = text ? make(STRING) : NULL;
    if (v) v->text = text;
    else free(text);
    return v;
}

static const char *digits_of(const char *s)
{
    return s + strspn(s, "0123456789");
}

/* The end of what is a number in JSON at s; s if none is. */
static const char *number_end(const char *s)
{
    const char *whole = s + (*s == '-'), *end = *whole == '0' ? whole + 1 : digits_of(whole);
    if (end == whole) return s;
    if (*end == '.') {
        const char *fraction = end + 1;
        if ((end = digits_of(fraction)) == fraction) return s;
    }
    if (*end != 'e' && *end != 'E') return end;
    const char *power = end + 1 + (end[1] == '-' || end[1] == '+');
    end = digits_of(power);
    return end == power ? s : end;
}

static json_t *parse_number(struct parser *p)
{
    char digits[64];
    size_t n = 0;
    while (n < sizeof digits - 1 && p->at + n < p->end && memchr("+-.0123456789eE", p->at[n], 15)) n++;
    memcpy(digits, p->at, n);
    digits[n] = 0;
    json_t *v = make(digits[strcspn(digits, ".eE")] ? REAL : INTEGER);
    if (!v) return fail(p, "out of memory", NULL);
    errno = 0;
    v->number = strtod(digits, NULL);
    if (!n || *number_end(digits)) return fail(p, "no value", v);
    if (v->kind == INTEGER) v->integer = strtoll(digits, NULL, 10);
    if ((errno && v->kind == INTEGER) || isinf(v->number)) return fail(p, "a number that is too large", v);
    p->at += n;
    return v;
}

static json_t *parse_word(struct parser *p)
{
    static const struct {
        const char *text;
        enum kind kind;
    } words[] = {{"true", TRUTH}, {"false", TRUTH}, {"null", NOTHING}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].text);
        if ((size_t)(p->end - p->at) < n || memcmp(p->at, words[i].text, n)) continue;
        p->at += n;
        json_t *v = make(words[i].kind);
        if (v) v->integer = *words[i].text == 't';
        return v;
    }
    return parse_number(p);
}

static json_t *parse_member(struct parser *p, const json_t *object)
{
    char *name = parse_text(p);
    if (!name) return NULL;
    json_t *v = json_object_get(object, name) ? fail(p, "two members of one name", NULL)
                : take(p, ':')                ? parse_value(p)
                                              : fail(p, "':' expected", NULL);
    if (v) v->name = name;
    else free(name);
    return v;
}

static json_t *parse_children(struct parser *p, enum kind kind, int close)
{
    json_t *parent = make(kind);
    p->at++;
    if (!parent || ++p->depth > MOST_DEPTH) return fail(p, "too deep, or out of memory", parent);
    for (int more = !take(p, close); more; more = take(p, ',')) {
        json_t *child = kind == OBJECT ? parse_member(p, parent) : parse_value(p);
        if (!child || push(parent, child)) {
            json_decref(child);
            return fail(p, "out of memory", parent);
        }
        if (next(p) != ',' && next(p) != close) return fail(p, "',' or an end expected", parent);
        if (next(p) == close) {
            p->at++;
            break;
        }
    }
    p->depth--;
    return parent;
}

static json_t *parse_value(struct parser *p)
{
    switch (next(p)) {
    case '{': return parse_children(p, OBJECT, '}');
    case '[': return parse_children(p, ARRAY, ']');
    case '"': return parse_string(p);
    default: return parse_word(p);
    }
}

json_t *json_loadb(const char *text, size_t bytes, size_t flags, json_error_t *e)
{
    struct parser p = {.at = text, .end = text + bytes, .line = 1, .e = e};
    (void)flags;
    *e = (json_error_t){.line = 0};
    json_t *root = parse_value(&p);
    return root && next(&p) ? fail(&p, "something behind the end", root) : root;
}

json_t *json_load_file(const char *path, size_t flags, json_error_t *e)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t bytes = 0, room = 0, got;
    *e = (json_error_t){.line = 0};
    if (!f) {
        snprintf(e->text, sizeof e->text, "%s", strerror(errno));
        return NULL;
    }
    do {
        char *more = bytes + 65536 > room ? realloc(text, room = 2 * room + 65536) : text;
        if (!more) break;
        text = more;
        bytes += got = fread(text + bytes, 1, room - bytes, f);
    } while (got);
    json_t *root = json_loadb(text ? text : "", bytes, flags, e);
    fclose(f);
    free(text);
    return root;
}
