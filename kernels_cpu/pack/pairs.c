/*
 * Words two at a time, pairs.h. Words of which weights add up to too much by themselves are in two parts of half of each. Then the word that has
 * the largest sum goes with the first other one that fits, by falling sums, so that those that fit many are left for later. Words are taken BLOCK
 * at a time: fewer are tried in vain, a pair's words are near each other, and hardly more are left over.
 */
#include "kernels_cpu/pack/pairs.h"

#include <stddef.h>
#include <string.h>

enum { BLOCK = 256, SUMS = IG_PAIR_BYTES / 2, NONE = -1 };

struct part {
    uint8_t above[SUMS], below[SUMS]; /* of two weights: what is positive, what is negative */
    int32_t word, kind;
    int32_t next;                     /* by falling sums */
};

int8_t ig_pair_weight(int8_t w, int32_t part)
{
    return (int8_t)((w + (part == IG_PAIR_UPPER)) >> (part != IG_PAIR_WHOLE));
}

/* The largest sum, of -128 twice one less. */
static int32_t add_up(const int8_t *words, int32_t word, int32_t kind, struct part *p)
{
    const int8_t *w = words + (int64_t)word * IG_PAIR_BYTES;
    uint8_t above[IG_PAIR_BYTES], below[IG_PAIR_BYTES], largest = 0;
    for (int32_t i = 0; i < IG_PAIR_BYTES; i++) {
        const int16_t part = ig_pair_weight(w[i], kind);
        above[i] = (uint8_t)(part > 0 ? part : 0);
        below[i] = (uint8_t)(part < 0 ? -part : 0);
    }
    for (int32_t i = 0; i < SUMS; i++) {
        const int32_t sum = below[2 * i] + below[2 * i + 1];
        p->above[i] = (uint8_t)(above[2 * i] + above[2 * i + 1]);
        p->below[i] = (uint8_t)(sum > UINT8_MAX ? UINT8_MAX : sum);
    }
    for (int32_t i = 0; i < SUMS; i++) {
        const uint8_t most = p->above[i] > p->below[i] ? p->above[i] : p->below[i];
        largest = most > largest ? most : largest;
    }
    p->word = word, p->kind = kind;
    return largest;
}

static int fit(const struct part *a, const struct part *b)
{
    uint8_t beyond = 0;
    for (int32_t i = 0; i < SUMS; i++) {
        const uint8_t above = (uint8_t)(IG_PAIR_MOST - a->above[i]), below = (uint8_t)(IG_PAIR_MOST - a->below[i]);
        beyond |= (uint8_t)((b->above[i] > above) | (b->below[i] > below));
    }
    return !beyond;
}

/* Parts by their largest sum. */
struct sorted {
    struct part parts[2 * BLOCK];
    int32_t n, first[IG_PAIR_MOST + 1];
};

static void add(struct sorted *s, int32_t largest)
{
    s->parts[s->n].next = s->first[largest];
    s->first[largest] = s->n++;
}

/* Words [a, b); those of which a sum is more than can be in parts or, if there are to be none, alone. */
static void sort(const int8_t *words, int32_t a, int32_t b, int in_parts, struct sorted *s, struct ig_pairs *to)
{
    s->n = 0;
    memset(s->first, NONE, sizeof s->first);
    for (int32_t word = a; word < b; word++) {
        const int32_t largest = add_up(words, word, IG_PAIR_WHOLE, &s->parts[s->n]);
        if (largest > IG_PAIR_MOST && !in_parts) to->alone[to->n_alone++] = word;
        else if (largest > IG_PAIR_MOST)
            for (int32_t kind = IG_PAIR_LOWER; kind <= IG_PAIR_UPPER; kind++) add(s, add_up(words, word, kind, &s->parts[s->n]));
        else if (largest) add(s, largest);
    }
}

/* One list of all; its first. */
static int32_t joined(struct sorted *s)
{
    int32_t first = NONE, *end = &first;
    for (int32_t largest = IG_PAIR_MOST; largest > 0; largest--) {
        *end = s->first[largest];
        while (*end != NONE) end = &s->parts[*end].next;
    }
    return first;
}

/* Takes the first of the list that fits out of it; NONE: there is none. */
static int32_t take(struct sorted *s, const struct part *with, int32_t *list)
{
    while (*list != NONE && !fit(with, &s->parts[*list])) list = &s->parts[*list].next;
    const int32_t found = *list;
    if (found != NONE) *list = s->parts[found].next;
    return found;
}

/* 0, or -1: there are more pairs than `most`. */
static int pair_parts(const int8_t *words, int32_t n, int32_t most, int in_parts, struct ig_pairs *to)
{
    struct sorted s;
    to->n = to->n_alone = 0;
    for (int32_t a = 0; a < n; a += BLOCK) {
        sort(words, a, n - a < BLOCK ? n : a + BLOCK, in_parts, &s, to);
        for (int32_t list = joined(&s); list != NONE;) {
            const struct part *first = &s.parts[list];
            list = first->next;
            const int32_t second = take(&s, first, &list);
            const struct part *other = second == NONE ? NULL : &s.parts[second];
            if (!other && !in_parts) to->alone[to->n_alone++] = first->word;
            else if (to->n == most) return -1;
            else to->pair[to->n++] = (struct ig_pair){{first->word, other ? other->word : NONE}, {first->kind, other ? other->kind : IG_PAIR_WHOLE}};
        }
    }
    return 0;
}

void ig_pair_words(const int8_t *words, int32_t n, int32_t most, struct ig_pairs *to)
{
    if (pair_parts(words, n, most, 1, to)) pair_parts(words, n, most, 0, to);
}
