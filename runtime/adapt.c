#include "runtime/adapt.h"

enum {
    LN2 = 45426, /* ln 2 * 65536 */
    GAIN = 1324, /* -ln 0.98: a switch has to promise that much */
    LEAST_SIGMA = 30,
    DWELL = 12,
    SETTLE = 2,
    OFTEN = 64,
    FIRST_BAN = 64,
    LONGEST_BAN = 1024,
    FOLLOW = 64, /* frames in which a slow drift is followed; faster would hide steps from the CUSUM */
    FORGET = 32  /* frames after which the load of a processor without work is half forgotten, or so */
};

int32_t ig_adapt_log(int64_t x)
{
    int32_t whole = 63 - __builtin_clzll((unsigned long long)(x > 0 ? x : 1)), part = 0;
    uint64_t m = (uint64_t)(x > 0 ? x : 1) << (63 - whole) >> 32; /* in [1, 2) times 2^31 */
    for (int32_t i = 0; i < 16; i++) {
        m = m * m >> 31;
        part = part << 1 | (int32_t)(m >> 32);
        if (m >> 32) m >>= 1;
    }
    return (int32_t)(((int64_t)whole * 65536 + part) * LN2 / 65536);
}

void ig_adapt_start(struct ig_adapt *a, const int64_t *predicted_ns, int32_t alternatives, int32_t processors,
                    const int32_t *sigma, int32_t first)
{
    *a = (struct ig_adapt){.n_alternatives = alternatives, .n_processors = processors, .current = first, .back = -1};
    for (int32_t i = 0; i < alternatives; i++)
        for (int32_t k = 0; k < processors; k++) {
            int64_t ns = predicted_ns[i * processors + k];
            a->predicted[i][k] = ns > 0 ? ig_adapt_log(ns) : -1;
        }
    for (int32_t k = 0; k < processors; k++)
        a->sigma[k] = (sigma[k] < LEAST_SIGMA ? LEAST_SIGMA : sigma[k]) * 65536 / 1000;
}

/* --- what the processors are like now --- */

static int32_t clamp(int32_t x, int32_t most)
{
    return x > most ? most : x < -most ? -most : x;
}

static int32_t median(const int32_t *last, int32_t n)
{
    int32_t sorted[IG_ADAPT_LAST];
    for (int32_t i = 0; i < n; i++) {
        int32_t j = i;
        for (; j > 0 && sorted[j - 1] > last[i]; j--) sorted[j] = sorted[j - 1];
        sorted[j] = last[i];
    }
    return sorted[n / 2];
}

/* One frame's work on processor k; 1 if its load has changed. */
static int follow(struct ig_adapt *a, int32_t k, int32_t e)
{
    int32_t sigma = a->sigma[k], z = clamp(e, 3 * sigma), slack = sigma * 4 / 5;
    a->last[k][a->n_last[k]++ % IG_ADAPT_LAST] = e;
    a->up[k] = a->up[k] + z - slack > 0 ? a->up[k] + z - slack : 0;
    a->down[k] = a->down[k] - z - slack > 0 ? a->down[k] - z - slack : 0;
    if (a->up[k] <= 8 * sigma && a->down[k] <= 8 * sigma) {
        a->load[k] += z / FOLLOW;
        return 0;
    }
    a->load[k] += median(a->last[k], a->n_last[k] < IG_ADAPT_LAST ? a->n_last[k] : IG_ADAPT_LAST);
    a->up[k] = a->down[k] = a->n_last[k] = 0;
    a->alarms++;
    return 1;
}

static int observe(struct ig_adapt *a, int32_t alternative, const int64_t *busy_ns)
{
    int changed = 0;
    for (int32_t k = 0; k < a->n_processors; k++) {
        if (a->predicted[alternative][k] < 0)
            a->load[k] -= a->load[k] / FORGET;
        else if (follow(a, k, ig_adapt_log(busy_ns[k]) - a->predicted[alternative][k] - a->load[k])) {
            changed = 1;
            if (a->back >= 0 && a->predicted[a->back][k] >= 0) a->back = -1; /* what it took is no longer true */
        }
    }
    return changed;
}

/* --- what the alternatives would be --- */

/* Log of the period, as the model has it. */
static int32_t period_of(const struct ig_adapt *a, int32_t i)
{
    int32_t most = 0;
    for (int32_t k = 0; k < a->n_processors; k++) {
        int32_t t = a->predicted[i][k] + a->load[k];
        if (a->predicted[i][k] >= 0 && t > most) most = t;
    }
    return most;
}

/* The same, by what is known of its error, or else of the present one's. */
static int32_t promise_of(const struct ig_adapt *a, int32_t i)
{
    return period_of(a, i) + a->error[a->known[i] ? i : a->current];
}

static int32_t measured(const struct ig_adapt *a)
{
    return median(a->measured, a->frames < IG_ADAPT_LAST ? a->frames : IG_ADAPT_LAST);
}

static void change_to(struct ig_adapt *a, int32_t i)
{
    a->current = i;
    a->frames = 0;
    a->wanted = 0;
    a->switches++;
}

static void decide(struct ig_adapt *a)
{
    int32_t best = a->current;
    for (int32_t i = 0; i < a->n_alternatives; i++)
        if (!a->banned[i] && promise_of(a, i) < promise_of(a, best)) best = i;
    a->wanted = 0;
    if (best == a->current || promise_of(a, best) >= measured(a) - GAIN) return;
    a->back = a->current;
    a->back_period = measured(a);
    change_to(a, best);
}

/* What was left was better: back, and longer each time before this one is tried again. */
static void retreat(struct ig_adapt *a)
{
    int32_t i = a->current, back = a->back;
    a->ban[i] = !a->ban[i] ? FIRST_BAN : a->ban[i] < LONGEST_BAN ? 2 * a->ban[i] : LONGEST_BAN;
    a->banned[i] = a->ban[i];
    a->back = -1;
    change_to(a, back);
}

/* After a few frames of an alternative: how wrong the prediction was. A bad surprise is looked at twice. */
static void judge(struct ig_adapt *a)
{
    int32_t i = a->current, now = measured(a), off = now - period_of(a, i);
    if (a->frames == SETTLE + IG_ADAPT_LAST || a->frames == SETTLE + 2 * IG_ADAPT_LAST) {
        a->error[i] = off;
        a->known[i] = 1;
        if (a->frames > SETTLE + IG_ADAPT_LAST && a->back >= 0 && now > a->back_period && !a->banned[a->back])
            retreat(a);
    } else if (a->known[i]) {
        a->error[i] += (off - a->error[i]) / 16;
    }
}

int32_t ig_adapt_frame(struct ig_adapt *a, int32_t alternative, const int64_t *busy_ns, int64_t interval_ns)
{
    int changed = observe(a, alternative, busy_ns);
    for (int32_t i = 0; i < a->n_alternatives; i++) a->banned[i] -= a->banned[i] > 0;
    if (changed) a->wanted = 1;
    if (alternative != a->current) return a->current;
    a->measured[a->frames++ % IG_ADAPT_LAST] = ig_adapt_log(interval_ns);
    if (a->frames >= SETTLE + IG_ADAPT_LAST) judge(a);
    if (a->frames >= DWELL && (a->wanted || a->frames % OFTEN == 0)) decide(a);
    return a->current;
}
