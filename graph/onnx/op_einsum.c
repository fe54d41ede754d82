/*
 * Einsum: an equation such as "bij,bjk->bik" labels every dim of every input; the result is the product of all inputs, summed
 * over the labels that it does not have. Inputs are multiplied from left to right, two at a time (contract.c).
 *
 * The dims of an ellipsis have digits for labels, the last one '1': the same digit is the same dim, counted from the right, as
 * broadcasting has it.
 */
#include <string.h>

#include "graph/onnx/contract.h"

enum {
    TEXT = 256,  /* im_string gives no longer ones */
    LABELS = 64, /* letters, digits and the end */
    SIZES = 128
};

struct equation {
    int32_t n;               /* inputs */
    struct im_labelled *in;
    const char *terms, *out; /* without spaces: the inputs' terms, one after the other, each with its end; the result's, or NULL */
    int wide;                /* dims of the widest ellipsis */
};

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *next(const char *term)
{
    return term + strlen(term) + 1;
}

/* Cuts the text into terms. */
static struct equation read_text(struct im *m, const struct im_node *n)
{
    struct equation e = {.n = 1};
    const char *from = im_string(m, n, "equation", NULL);
    if (!from) im_fail(m, "attribute 'equation' is missing");
    if (strlen(from) >= TEXT) im_refuse(m, "an equation of %d characters or more is not supported", TEXT);
    char *text = im_alloc(m, TEXT), *to = text;
    for (; *from; from++)
        if (*from != ' ') *to++ = *from;
    char *arrow = strstr(text, "->");
    if (arrow) *arrow = 0;
    for (to = text; (to = strchr(to, ',')); e.n++)
        *to++ = 0;
    e.terms = text;
    e.out = arrow ? arrow + 2 : NULL;
    return e;
}

/* How many letters a term has; *dots: it has an ellipsis. */
static int letters_of(struct im *m, const char *term, int *dots)
{
    int letters = 0;
    *dots = 0;
    for (const char *c = term; *c; c++)
        if (!*dots && !strncmp(c, "...", 3)) {
            *dots = 1;
            c += 2;
        } else if (is_letter(*c)) letters++;
        else im_fail(m, "'%.60s' is no term of an equation: letters and at most one ellipsis", term);
    return letters;
}

/* The term with `wide` digits for its ellipsis. */
static void spell(const char *term, int wide, char *labels)
{
    for (; *term; term++)
        if (*term != '.') *labels++ = *term;
        else {
            for (int i = wide; i > 0; i--)
                *labels++ = (char)('0' + i);
            term += 2;
        }
    *labels = 0;
}

/* Of two dims with one label, `first` and `second`, those elements whose indices agree. */
static struct im_labelled diagonal(struct im *m, struct im_labelled t, int first, int second)
{
    struct im_labelled y = {0};
    struct ig_shape s = im_shape(m, t.v);
    int32_t perm[IG_MAX_RANK], start[IG_MAX_RANK] = {0}, step[IG_MAX_RANK], n = 0, rank = 0, d = s.dims[first];
    int64_t dims[IG_MAX_RANK], extent[IG_MAX_RANK];
    if (d != s.dims[second]) im_fail(m, "dimensions '%c' of an input are %d and %d", t.labels[first], d, s.dims[second]);
    for (int i = 0; i < s.rank; i++) {
        if (i == second) continue;
        perm[n++] = i;
        if (i == first) perm[n++] = second;
        y.labels[rank] = t.labels[i];
        step[rank] = i == first && d > 1 ? d + 1 : 1;
        extent[rank] = s.dims[i];
        dims[rank++] = i == first ? (int64_t)d * d : s.dims[i];
    }
    y.v = im_slice(m, im_reshape(m, im_transpose(m, t.v, perm), rank, dims), start, step, extent);
    return y;
}

static struct im_labelled read_input(struct im *m, int32_t v, const char *term, int *wide)
{
    struct im_labelled t = {.v = v};
    int dots, letters = letters_of(m, term, &dots), rank = im_shape(m, v).rank;
    if (dots ? letters > rank : letters != rank) im_fail(m, "'%.60s' of its equation does not fit a tensor of rank %d", term, rank);
    spell(term, rank - letters, t.labels);
    if (rank - letters > *wide) *wide = rank - letters;
    for (int second = 1; t.labels[second]; second++) {
        int first = (int)(strchr(t.labels, t.labels[second]) - t.labels);
        if (first < second) t = diagonal(m, t, first, second--);
    }
    return t;
}

/* Dims with the same label are equal, or 1. */
static void check_sizes(struct im *m, const struct equation *e)
{
    int32_t size[SIZES] = {0};
    for (int32_t i = 0; i < e->n; i++)
        for (const char *c = e->in[i].labels; *c; c++) {
            int32_t *known = &size[(int)*c], d = im_label_size(m, &e->in[i], *c);
            if (*known > 1 && d > 1 && *known != d)
                im_fail(m, "dimensions '%s' of its inputs are %d and %d", is_letter(*c) ? (char[]){*c, 0} : "...", *known, d);
            if (d > *known) *known = d;
        }
}

static int32_t count(const struct equation *e, char c)
{
    int32_t n = 0;
    const char *term = e->terms;
    for (int32_t i = 0; i < e->n; i++, term = next(term))
        for (const char *at = term; *at; at++)
            n += *at == c;
    return n;
}

/* The result's labels: as its term has them; without one the ellipsis' dims, and the letters that are there once, sorted. */
static void read_result(struct im *m, const struct equation *e, char *labels)
{
    char implied[LABELS] = "...";
    const char *term = e->out ? e->out : implied;
    for (char c = 'A', *to = implied + 3; !e->out && c <= 'z'; c++)
        if (is_letter(c) && count(e, c) == 1) *to++ = c;
    int dots, rank = letters_of(m, term, &dots) + e->wide;
    if (e->wide && !dots) im_refuse(m, "the result of its equation leaves out the ellipsis; sum over named dimensions");
    if (rank > IG_MAX_RANK) im_refuse(m, "a result of rank %d; at most %d is supported", rank, IG_MAX_RANK);
    spell(term, e->wide, labels);
    for (const char *c = labels; *c; c++) {
        if (strchr(c + 1, *c)) im_fail(m, "'%c' is there twice in the result of its equation", *c);
        if (is_letter(*c) && !count(e, *c)) im_fail(m, "'%c' of the result of its equation is in no input", *c);
    }
}

static struct equation read_equation(struct im *m, const struct im_node *n, char *result)
{
    struct equation e = read_text(m, n);
    const char *term = e.terms;
    if (n->n_in != e.n) im_fail(m, "its equation has %d terms for %d inputs", e.n, n->n_in);
    e.in = im_array(m, (size_t)e.n, sizeof *e.in);
    for (int32_t i = 0; i < e.n; i++, term = next(term))
        e.in[i] = read_input(m, im_need(m, n, i), term, &e.wide);
    check_sizes(m, &e);
    read_result(m, &e, result);
    return e;
}

/* Adds to a set of labels those of `more` that are also in `of`, which may be NULL: all. */
static void unite(char *set, const char *more, const char *of)
{
    size_t n = strlen(set);
    for (; *more; more++)
        if (!strchr(set, *more) && (!of || strchr(of, *more))) {
            set[n++] = *more;
            set[n] = 0;
        }
}

void im_op_einsum(struct im *m, const struct im_node *n)
{
    char result[IG_MAX_RANK + 1];
    struct equation e = read_equation(m, n, result);
    struct im_labelled y = e.in[0];
    for (int32_t i = 1; i < e.n; i++) {
        char later[LABELS] = "", made[LABELS] = "";
        unite(later, result, NULL);
        for (int32_t k = i + 1; k < e.n; k++)
            unite(later, e.in[k].labels, NULL);
        unite(made, y.labels, later);
        unite(made, e.in[i].labels, later);
        if (strlen(made) > IG_MAX_RANK) im_refuse(m, "a product of rank %zu; at most %d is supported", strlen(made), IG_MAX_RANK);
        y = im_contract(m, y, e.in[i], i == e.n - 1 ? result : made);
    }
    y = im_sum_others(m, y, result, "");
    im_set(m, n, 0, im_in_order(m, &y, result));
}
