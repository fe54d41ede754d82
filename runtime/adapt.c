#include "runtime/adapt.h"

enum {
    LN2 = 45426, /* ln 2 * 65536 */
    GAIN = 1324, /* -ln 0.98: a switch has to promise that much */
    LEAST_SIGMA = 30,
    DWELL = 8,
    SETTLE = 2,
    JUDGED = 6,
    OFTEN = 64,
    FIRST_BAN = 64,
    LONGEST_BAN = 1024,
    KEPT = IG_ADAPT_KEPT,
    EVEN = KEPT / 2,  /* frames that tell how uneven they are */
    OLD = 1 << 20,
    FIRST_LOOK = 6,   /* frames of a new load until it is acted upon; at 2, 4 and 8 times as many it is again */
    SLICES = 4,       /* of other programs, that are to be seen before */
    FADE = 32,        /* of that often: what is known of alternatives that were not tried since */
    FOLLOW = 64,      /* frames in which a slow drift is followed; faster would hide steps from the CUSUM */
    FOLLOW_SUM = 16,  /* the same of sums */
    FORGET = 32,      /* frames after which the load of a processor without work is half forgotten, or so */
    FAR = 8,          /* sigmas from the level: such a frame is uneven */
    STEP = 19661,     /* ln 1.35: sums of KEPT frames that are that far from the load have another one */
    FREE = 7864,      /* ln 1.13: not more than that above the least load ever is like none */
    WHILE_FREE = 16,  /* frames after which an easy processor is taken for one without load, */
    WHILE_FILLED = 160, /* the same where somebody works whenever it waits, */
    WHILE_SHARED = 64, /* and for one with less */
    MOST_PATIENCE = 6, /* doublings of both: it was not so, which was seen */
    REGRET = 128       /* frames later at most */
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
            a->predicted_ns[i][k] = ns > 0 ? ns : 0;
            a->predicted[i][k] = ns > 0 ? ig_adapt_log(ns) : -1;
        }
    for (int32_t k = 0; k < processors; k++) {
        a->processors[k].sigma = (sigma[k] < LEAST_SIGMA ? LEAST_SIGMA : sigma[k]) * 65536 / 1000;
        a->processors[k].least = INT32_MAX;
        a->processors[k].eased = OLD;
        a->processors[k].shared = -1;
    }
}

static int32_t clamp(int32_t x, int32_t most)
{
    return x > most ? most : x < -most ? -most : x;
}

static int32_t least_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t most_of(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t distance(int32_t a, int32_t b)
{
    return a < b ? b - a : a - b;
}

static int32_t median(const int32_t *x, int32_t n)
{
    int32_t sorted[KEPT];
    for (int32_t i = 0; i < n; i++) {
        int32_t j = i;
        for (; j > 0 && sorted[j - 1] > x[i]; j--) sorted[j] = sorted[j - 1];
        sorted[j] = x[i];
    }
    return sorted[n / 2];
}

/* --- what a processor is like now --- */

/* Where its i-th last frame is kept. */
static int32_t kept(const struct ig_adapt_processor *p, int32_t i)
{
    return (int32_t)((p->n - 1 - (uint32_t)i) % KEPT);
}

/* Of the last n frames. */
static int32_t level_by_sum(const struct ig_adapt_processor *p, int32_t n)
{
    int64_t busy = 0, predicted = 0;
    for (int32_t i = 0; i < n; i++) {
        busy += p->busy[kept(p, i)];
        predicted += p->predicted[kept(p, i)];
    }
    return ig_adapt_log(busy) - ig_adapt_log(predicted);
}

/* The same, or the median of the last ones, unless these are uneven: as many are far off as slices make. */
static int32_t level_of(struct ig_adapt_processor *p, int32_t n, int *uneven)
{
    int32_t ratio[EVEN] = {0}, last = least_of(n, EVEN), far = 0, lately = 0, turns = 0, was = 0;
    for (int32_t i = 0; i < last; i++) ratio[i] = p->ratio[kept(p, i)];
    int32_t middle = median(ratio, last);
    for (int32_t i = 0; i < last; i++) {
        int is = distance(ratio[i], middle) > FAR * p->sigma;
        turns += is != was;
        was = is;
        far += is;
        if (i == EVEN / 2 - 1) lately = far;
    }
    *uneven = turns > 2 && (far * 8 >= last || lately > 2);
    p->hits = far * n / last;
    return *uneven ? level_by_sum(p, n) : middle;
}

/* Does it work all the time, so that it could do no more than it does? */
static int is_full(const struct ig_adapt_processor *p)
{
    int64_t busy = 0, interval = 0;
    for (int32_t i = 0; i < least_of((int32_t)p->n, EVEN / 2); i++) {
        busy += p->busy[kept(p, i)];
        interval += p->interval[kept(p, i)];
    }
    return busy * 8 >= interval * 7;
}

/* Frames of another load, this one the last of them; 0: it is as it was. */
static int32_t changed(struct ig_adapt_processor *p, int32_t e)
{
    int32_t z = clamp((int32_t)((int64_t)e * 256 / p->sigma), 3 * 256), slack = 256 * 4 / 5;
    p->up = p->up + z - slack > 0 ? p->up + z - slack : 0;
    p->down = p->down - z - slack > 0 ? p->down - z - slack : 0;
    p->n_up = p->up ? p->n_up + 1 : 0;
    p->n_down = p->down ? p->n_down + 1 : 0;
    if (p->up > 8 * 256) return p->n_up;
    if (p->down > 8 * 256) return p->n_down;
    return 0;
}

/* The same of uneven frames: by sums of some slices, or when there have been none for long. */
static int32_t stepped(struct ig_adapt_processor *p)
{
    int began = p->uneven < EVEN / 2;
    int32_t n = began ? EVEN / 2 : EVEN;
    p->up = p->down = p->n_up = p->n_down = 0;
    if (p->age < KEPT) return 0;
    if (distance(level_by_sum(p, n), p->load) > (began ? STEP * 3 / 2 : STEP * 2)) return n;
    if (distance(level_by_sum(p, 2 * n), p->load) > STEP) return 2 * n;
    return 0;
}

static void keep(struct ig_adapt_processor *p, int64_t predicted, int64_t busy, int64_t interval, int32_t ratio)
{
    int32_t at = (int32_t)(p->n++ % KEPT);
    p->ratio[at] = ratio;
    p->busy[at] = busy;
    p->predicted[at] = predicted;
    p->interval[at] = interval;
    p->quiet = ratio < p->load ? p->quiet + 1 : 0;
    if (p->age < OLD) p->age++;
    if (p->eased < OLD) p->eased++;
    if (p->eased == 4 * REGRET) p->patience = 0;
}

/* Counts frames in which an easy processor was below its load; 1: not to be believed yet. */
static int doubted(struct ig_adapt_processor *p, int32_t recent)
{
    int32_t wait = recent < p->least + FREE ? WHILE_FREE : WHILE_SHARED;
    p->easy = !is_full(p) && recent < p->load - 2 * p->sigma ? p->easy + 1 : 0;
    if (p->told && p->shared == 1 && wait == WHILE_FREE) wait = WHILE_FILLED;
    else if (p->told) return p->easy && p->shared;
    return p->easy && p->easy <= wait << p->patience;
}

/* From `since` frames ago on the load is another one. */
static void begin(struct ig_adapt_processor *p, int32_t since)
{
    int32_t had = p->load;
    int uneven;
    p->age = since;
    p->load = level_of(p, least_of(since, KEPT), &uneven);
    p->up = p->down = p->n_up = p->n_down = p->quiet = 0;
    p->shared = -1;
    if (p->load > had && p->eased < REGRET) p->patience += p->patience < MOST_PATIENCE;
    if (p->load > had) p->eased = OLD;
}

/* One frame's work on a processor; for how many frames it has another load, or 0. */
static int32_t follow(struct ig_adapt_processor *p, int64_t predicted, int64_t busy, int64_t interval)
{
    int32_t ratio = ig_adapt_log(busy) - ig_adapt_log(predicted), e = ratio - p->load, had = p->load;
    int uneven, lately;
    keep(p, predicted, busy, interval, ratio);
    int32_t recent = level_of(p, least_of((int32_t)p->n, EVEN / 2), &lately);
    int doubt = doubted(p, recent);
    int32_t n = least_of(p->age, KEPT), level = level_of(p, n, &uneven);
    p->uneven = uneven ? p->uneven + (p->uneven < OLD) : 0;
    int32_t since = uneven ? stepped(p) : changed(p, e);
    if (uneven && p->quiet > 8 + 3 * n / p->hits) since = p->quiet;
    if (p->easy && !doubt) {
        since = least_of(p->easy, KEPT);
        p->easy = p->eased = 0;
    }
    if (since && !(doubt && e < 0)) begin(p, since);
    else if (uneven && p->shared && !is_full(p)) p->load = had;
    else if (p->age < KEPT) p->load = level;
    else p->load += p->uneven > EVEN ? (level - p->load) / FOLLOW_SUM : clamp(e, 3 * p->sigma) / FOLLOW;
    if (doubt && p->load < had) {
        p->load = had;
        p->down = p->n_down = 0;
    }
    if (p->age >= FIRST_LOOK) p->least = least_of(p->least, p->load);
    return p->load != had ? since : 0;
}

/* Another load: what the one before took is no longer true, unless the present one has been so from the first. */
static void alarm(struct ig_adapt *a, int32_t processor, int32_t since)
{
    a->wanted = 1;
    a->alarms++;
    if (a->back < 0 || a->predicted[a->back][processor] < 0 || since + SETTLE >= a->frames) return;
    a->back = -1;
}

static void observe(struct ig_adapt *a, int32_t alternative, const int64_t *busy_ns, int64_t interval_ns)
{
    for (int32_t k = 0; k < a->n_processors; k++) {
        struct ig_adapt_processor *p = &a->processors[k];
        if (a->predicted[alternative][k] < 0) {
            p->load -= p->load / FORGET;
            p->n = 0;
            p->age = p->up = p->down = p->uneven = p->easy = 0;
            continue;
        }
        int32_t since = follow(p, a->predicted_ns[alternative][k], busy_ns[k], interval_ns);
        if (since) alarm(a, k, since);
        a->wanted |= p->age == 2 * FIRST_LOOK || p->age == 4 * FIRST_LOOK || p->age == 8 * FIRST_LOOK ||
                     p->age == KEPT;
    }
}

/* --- what the alternatives would be --- */

/* Log of the period, as the model has it. */
static int32_t period_of(const struct ig_adapt *a, int32_t i)
{
    int32_t most = 0;
    for (int32_t k = 0; k < a->n_processors; k++) {
        int32_t t = a->predicted[i][k] + a->processors[k].load;
        if (a->predicted[i][k] >= 0 && t > most) most = t;
    }
    return most;
}

/* The same, by what is known of its error, or else of the present one's. */
static int32_t promise_of(const struct ig_adapt *a, int32_t i)
{
    return period_of(a, i) + a->error[a->known[i] ? i : a->current];
}

/* Frames for which all loads have been what they are. */
static int32_t age_of(const struct ig_adapt *a)
{
    int32_t age = OLD;
    for (int32_t k = 0; k < a->n_processors; k++)
        if (a->predicted[a->current][k] >= 0) age = least_of(age, a->processors[k].age);
    return age;
}

/* What two periods have to differ by: sums of few slices tell little. */
static int32_t margin(const struct ig_adapt *a)
{
    int32_t most = GAIN;
    for (int32_t k = 0; k < a->n_processors; k++) {
        const struct ig_adapt_processor *p = &a->processors[k];
        if (a->predicted[a->current][k] >= 0 && p->uneven) most = most_of(most, GAIN + 65536 / 3 / (1 + p->hits));
    }
    return most;
}

/* Slices that have been seen of the processor that has seen fewest, if some have seen any. */
static int32_t hits_of(const struct ig_adapt *a)
{
    int32_t hits = OLD;
    for (int32_t k = 0; k < a->n_processors; k++)
        if (a->predicted[a->current][k] >= 0 && a->processors[k].uneven) hits = least_of(hits, a->processors[k].hits);
    return hits;
}

static int is_uneven(const struct ig_adapt *a)
{
    int any = 0;
    for (int32_t k = 0; k < a->n_processors; k++) any |= a->predicted[a->current][k] >= 0 && a->processors[k].uneven;
    return any;
}

/* Log of the present alternative's period, of the last frames under the present loads. */
static int32_t measured(const struct ig_adapt *a)
{
    int32_t n = least_of(least_of(a->frames - SETTLE, age_of(a)), KEPT), last = least_of(n, EVEN / 2);
    int32_t ratio[EVEN / 2] = {0};
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t ns = a->interval[(a->frames - 1 - i) % KEPT];
        if (i < last) ratio[i] = ig_adapt_log(ns);
        sum += ns;
    }
    return is_uneven(a) ? ig_adapt_log(sum / n) : median(ratio, last);
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
    int32_t best = a->current, least = margin(a);
    for (int32_t i = 0; i < a->n_alternatives; i++)
        if (!a->banned[i] && promise_of(a, i) < promise_of(a, best)) best = i;
    a->wanted = 0;
    if (best == a->current) return;
    if (promise_of(a, best) >= measured(a) - least || promise_of(a, best) >= promise_of(a, a->current) - least) return;
    a->back = a->current;
    a->back_period = measured(a);
    a->promised = period_of(a, best);
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
    int uneven = is_uneven(a);
    int32_t i = a->current, now = measured(a), off = now - period_of(a, i);
    int32_t last = SETTLE + (uneven ? 4 : 2) * JUDGED;
    if (!uneven && (a->frames == SETTLE + JUDGED || a->frames == last)) {
        a->error[i] = a->back >= 0 ? now - a->promised : off;
        a->known[i] = 1;
    } else if (!uneven && a->known[i]) {
        a->error[i] += clamp(off - a->error[i], 2 * GAIN) / 16;
    }
    if (a->frames == last && a->back >= 0 && now > a->back_period + margin(a) - GAIN && !a->banned[a->back])
        retreat(a);
}

/* What was found out long ago may have had other reasons. */
static void fade(struct ig_adapt *a)
{
    for (int32_t i = 0; i < a->n_alternatives; i++)
        if (a->known[i]) a->error[i] -= (a->error[i] - a->error[a->current]) / FADE;
}

int32_t ig_adapt_frame(struct ig_adapt *a, int32_t alternative, const int64_t *busy_ns, int64_t interval_ns)
{
    observe(a, alternative, busy_ns, interval_ns);
    for (int32_t i = 0; i < a->n_alternatives; i++) a->banned[i] -= a->banned[i] > 0;
    if (alternative != a->current) return a->current;
    a->interval[a->frames++ % KEPT] = interval_ns > 0 ? interval_ns : 1;
    if (a->frames >= SETTLE + JUDGED) judge(a);
    if (a->frames % OFTEN == 0) fade(a);
    int due = a->wanted && age_of(a) >= FIRST_LOOK && hits_of(a) >= SLICES;
    if (a->frames >= DWELL && (due || a->frames % OFTEN == 0)) decide(a);
    return a->current;
}

void ig_adapt_tell(struct ig_adapt *a, int32_t processor, int rests)
{
    a->processors[processor].told = 1;
    a->processors[processor].shared = !rests;
}

int ig_adapt_asks(const struct ig_adapt *a)
{
    int any = 0;
    for (int32_t k = 0; k < a->n_processors; k++)
        any |= a->processors[k].least < a->processors[k].load - FREE;
    return any;
}
