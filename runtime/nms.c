#include "runtime/nms.h"

static float least(float a, float b)
{
    return a < b ? a : b;
}

static float most(float a, float b)
{
    return a > b ? a : b;
}

/* The lower and the upper end along one of the two axes. */
static void ends(const struct ig_nms *m, const float *box, int axis, float *low, float *high)
{
    float a = box[axis], b = box[axis + 2];
    if (m->center) {
        *low = a - b / 2;
        *high = a + b / 2;
        return;
    }
    *low = least(a, b);
    *high = most(a, b);
}

/* 1: they have more in common than m->iou of what they cover together. */
static int overlap(const struct ig_nms *m, const float *a, const float *b)
{
    float common = 1, area_a = 1, area_b = 1;
    for (int axis = 0; axis < 2; axis++) {
        float a0, a1, b0, b1;
        ends(m, a, axis, &a0, &a1);
        ends(m, b, axis, &b0, &b1);
        common *= most(least(a1, b1) - most(a0, b0), 0);
        area_a *= a1 - a0;
        area_b *= b1 - b0;
    }
    float both = area_a + area_b - common;
    return common > 0 && area_a > 0 && area_b > 0 && both > 0 && common / both > m->iou;
}

/* The place in left[n] of the best box there. */
static int32_t best_of(const float *scores, const int32_t *left, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (scores[left[i]] > scores[left[best]]) best = i;
    return best;
}

/* What is left without the box at `best` and those that overlap it, in order: how many. */
static int32_t thin_out(const struct ig_nms *m, const float *boxes, int32_t *left, int32_t n, int32_t best)
{
    const float *box = boxes + 4 * left[best];
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (i != best && !overlap(m, box, boxes + 4 * left[i])) left[kept++] = left[i];
    return kept;
}

/* Into n picks, of which there may be `room`: how many there are then. */
static int32_t keep(struct ig_pick *picks, int32_t n, int32_t room, struct ig_pick pick)
{
    int32_t at = n;
    while (at > 0 && pick.score > picks[at - 1].score) at--;
    if (at >= room) return n;
    if (n < room) n++;
    for (int32_t i = n - 1; i > at; i--) picks[i] = picks[i - 1];
    picks[at] = pick;
    return n;
}

int32_t ig_nms(const struct ig_nms *m, const float *boxes, const float *scores, int32_t *left, struct ig_pick *picks,
               int32_t room)
{
    int32_t n = 0;
    for (int32_t c = 0; c < m->classes; c++, scores += m->n) {
        int32_t some = 0;
        for (int32_t i = 0; i < m->n; i++)
            if (scores[i] > m->score) left[some++] = i;
        for (int32_t k = 0; some && k < m->most; k++) {
            int32_t best = best_of(scores, left, some);
            n = keep(picks, n, room, (struct ig_pick){left[best], c, scores[left[best]]});
            some = thin_out(m, boxes, left, some, best);
        }
    }
    return n;
}
