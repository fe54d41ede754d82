/* Folding a list into loops, and unfolding it. */
#include "planner/loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

enum { LONGEST_BODY = 1024 };

/* How often the first `body` elements of list[n] stand one after the other. */
static int32_t repetitions(const int32_t *list, int32_t n, int32_t body)
{
    int32_t same = 0;
    while (same < n - body && list[same] == list[same + body]) same++;
    return 1 + same / body;
}

/* Length of the body that reaches furthest when repeated; 0 if none repeats. */
static int32_t best_body(const int32_t *list, int32_t n)
{
    int32_t best = 0, reach = 0;
    for (int32_t body = 1; body <= LONGEST_BODY && body <= n / 2; body++) {
        int32_t times = repetitions(list, n, body);
        if (times < 2 || times * body <= reach) continue;
        best = body;
        reach = times * body;
    }
    return best;
}

static void add_loop(struct ig_loops *l, const int32_t *list, int32_t length, int32_t count)
{
    l->loops[l->n++] = (struct ig_loop){l->n_body, length, count};
    memcpy(l->body + l->n_body, list, (size_t)length * sizeof *list);
    l->n_body += length;
}

void ig_loops_make(struct ig_loops *l, const int32_t *firings, int32_t n)
{
    *l = (struct ig_loops){0};
    l->loops = ig_must_alloc((size_t)n, sizeof *l->loops);
    l->body = ig_must_alloc((size_t)n, sizeof *l->body);
    for (int32_t at = 0, step; at < n; at += step) {
        int32_t body = best_body(firings + at, n - at);
        int32_t count = body ? repetitions(firings + at, n - at, body) : 1;
        step = body ? body * count : 1;
        add_loop(l, firings + at, body ? body : 1, count);
    }
}

void ig_loops_free(struct ig_loops *l)
{
    free(l->loops);
    free(l->body);
}

int32_t *ig_loops_expand(const struct ig_loops *l, int32_t *n)
{
    size_t total = 0, at = 0;
    for (int32_t i = 0; i < l->n; i++) total += (size_t)l->loops[i].length * (size_t)l->loops[i].count;
    int32_t *list = ig_must_alloc(total, sizeof *list);
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->loops[i].count; k++) {
            memcpy(list + at, l->body + l->loops[i].first, (size_t)l->loops[i].length * sizeof *list);
            at += (size_t)l->loops[i].length;
        }
    *n = (int32_t)total;
    return list;
}

static size_t put(char *text, size_t bytes, size_t at, const char *word)
{
    for (size_t i = 0; word[i]; i++)
        if (at + i + 1 < bytes) text[at + i] = word[i];
    return at + strlen(word);
}

static size_t put_loop(const struct ig_loops *l, int32_t i, const char *const *names, char *text,
                       size_t bytes, size_t at)
{
    const struct ig_loop *loop = &l->loops[i];
    char times[16];
    if (i) at = put(text, bytes, at, " ");
    if (loop->count == 1 && loop->length == 1) return put(text, bytes, at, names[l->body[loop->first]]);
    if (loop->length > 1) at = put(text, bytes, at, "(");
    for (int32_t k = 0; k < loop->length; k++) {
        at = put(text, bytes, at, "[");
        at = put(text, bytes, at, names[l->body[loop->first + k]]);
        at = put(text, bytes, at, "]");
    }
    if (loop->length > 1) at = put(text, bytes, at, ")");
    snprintf(times, sizeof times, "x%d", loop->count);
    return put(text, bytes, at, times);
}

size_t ig_loops_text(const struct ig_loops *l, const char *const *names, char *text, size_t bytes)
{
    size_t at = 0;
    for (int32_t i = 0; i < l->n; i++) at = put_loop(l, i, names, text, bytes, at);
    if (bytes) text[at < bytes ? at : bytes - 1] = 0;
    return at;
}
