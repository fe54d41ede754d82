#include "planner/deploy/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct event {
    int64_t ns;
    int32_t what; /* a part's number, or n_parts + a message's, that ends */
};

struct work { /* what a rank computes: of a core ONE a ns, less what messages take */
    int32_t part;      /* -1: nothing */
    int64_t left;      /* of its time alone, times ONE, at `since` */
    int64_t since, started, taken;
    int64_t rate;      /* of ONE, by what other ranks of the machine want of the memory */
};
enum { ONE = 1 << 20 }; /* of a core */

struct lists { /* of numbers, one an owner: at[first[i]..first[i + 1]) */
    int32_t *first, *at;
};

struct set { /* what has to be looked at again, in the order in which that was noticed */
    int32_t *at, n;
    uint8_t *in;
};

struct state {
    const struct ig_fleet *f;
    struct ig_fleet_run *run;
    int64_t now, interval;
    int32_t frames;
    struct event *heap;
    int32_t n_heap, *place;            /* [n_parts + n_messages] in the heap */
    int32_t *begun, *ended;            /* [n_parts + n_messages] frames */
    int32_t *filled, *freed, *readers; /* [n_buffers] frames, frames, how many read it */
    int32_t *base, *left;              /* [n_buffers] its first copy; [copies] readers that each waits for */
    int32_t *filler;                   /* [n_buffers] message that fills it; -1 */
    struct work *work;                 /* [n_ranks] */
    uint8_t *sends, *receives;         /* [n_devices] */
    struct set ranks, devices;
    struct lists parts_of;             /* by rank */
    struct lists sent_by, sent_to;     /* messages by device */
    struct lists kept_by;              /* messages within a device */
    struct lists share;                /* ranks by machine, where they share memories */
    int32_t *inputs, n_inputs, entered;
    int32_t *outputs_left;             /* [frames] */
};

/* --- the heap: the earliest first, of equals the lowest number --- */

static int before(const struct event *a, const struct event *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->what < b->what;
}

static void put(struct state *s, int32_t i, struct event e)
{
    s->heap[i] = e;
    s->place[e.what] = i;
}

static void rise(struct state *s, int32_t i, struct event e)
{
    for (; i && before(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) put(s, i, s->heap[(i - 1) / 2]);
    put(s, i, e);
}

static void sink(struct state *s, int32_t i, struct event e)
{
    for (int32_t child; (child = 2 * i + 1) < s->n_heap; i = child) {
        if (child + 1 < s->n_heap && before(&s->heap[child + 1], &s->heap[child])) child++;
        if (!before(&s->heap[child], &e)) break;
        put(s, i, s->heap[child]);
    }
    put(s, i, e);
}

static void push(struct state *s, int64_t ns, int32_t what)
{
    rise(s, s->n_heap++, (struct event){ns, what});
}

static struct event pop(struct state *s)
{
    struct event top = s->heap[0];
    if (--s->n_heap) sink(s, 0, s->heap[s->n_heap]);
    return top;
}

static void move(struct state *s, int64_t ns, int32_t what)
{
    int32_t i = s->place[what], later = ns > s->heap[i].ns;
    (later ? sink : rise)(s, i, (struct event){ns, what});
}

/* --- what cores do --- */

/* Messages that take more than there is of a core leave it work to catch up with: below 0. */
static int64_t speed(const struct work *w)
{
    return (ONE - w->taken) * w->rate / ONE;
}

static int64_t ends(const struct state *s, const struct work *w)
{
    if (w->left <= 0) return s->now;
    return speed(w) > 0 ? s->now + (w->left + speed(w) - 1) / speed(w) : INT64_MAX; /* before that, messages end */
}

/* What is done up to now is done at the speed until now. */
static void settle(const struct state *s, struct work *w)
{
    if (w->part >= 0) w->left -= (s->now - w->since) * speed(w);
    w->since = s->now;
}

/* A message that begins (sign 1) or ends (-1) takes so many ns of a rank's core while it is under way. */
static void burden(struct state *s, int32_t rank, int64_t ns, const struct ig_fleet_message *m, int sign)
{
    struct work *w = &s->work[rank];
    if (!ns) return;
    settle(s, w);
    w->taken += sign * (ns * ONE / m->ns);
    if (w->part >= 0) move(s, ends(s, w), w->part);
}

static void burden_both(struct state *s, const struct ig_fleet_message *m, int sign)
{
    burden(s, s->f->buffers[m->from].rank, m->send_ns, m, sign);
    burden(s, s->f->buffers[m->to].rank, m->receive_ns, m, sign);
}

/* How fast a rank computes beside what the others of its machine do: each slows it down by what it wants of the memory. */
static int64_t rate_of(const struct state *s, int32_t rank)
{
    const struct ig_fleet_part *p = &s->f->parts[s->work[rank].part];
    int64_t machine = s->f->machine[rank], demand = 0, slower = p->beside_ns - p->ns;
    if (!p->ns || slower <= 0) return ONE;
    for (int32_t i = s->share.first[machine]; i < s->share.first[machine + 1]; i++) {
        int32_t other = s->share.at[i];
        if (other != rank && s->work[other].part >= 0) demand += s->f->parts[s->work[other].part].demand;
    }
    if (demand > IG_FLEET_DEMAND) demand = IG_FLEET_DEMAND;
    int64_t rate = p->ns * ONE / (p->ns + slower * demand / 1000);
    return rate ? rate : 1;
}

/* A rank has begun or ended a part: the others of its machine go on at another speed. */
static void felt(struct state *s, int32_t rank)
{
    int64_t machine = s->f->machine ? s->f->machine[rank] : 0;
    if (!s->f->machine) return;
    for (int32_t i = s->share.first[machine]; i < s->share.first[machine + 1]; i++) {
        struct work *w = &s->work[s->share.at[i]];
        if (s->share.at[i] == rank || w->part < 0) continue;
        settle(s, w);
        w->rate = rate_of(s, s->share.at[i]);
        move(s, ends(s, w), w->part);
    }
}

/* --- buffers --- */

static void look(struct set *set, int32_t i)
{
    if (!set->in[i]) set->at[set->n++] = i;
    set->in[i] = 1;
}

static int32_t device_of(const struct state *s, int32_t buffer)
{
    return s->f->device[s->f->buffers[buffer].rank];
}

static int has_copy(const struct state *s, int32_t buffer, int32_t frame)
{
    return frame < s->freed[buffer] + s->f->buffers[buffer].copies;
}

static void release(struct state *s, int32_t buffer)
{
    s->freed[buffer]++;
    look(&s->ranks, s->f->buffers[buffer].rank);
    if (s->filler[buffer] >= 0) look(&s->devices, device_of(s, s->f->messages[s->filler[buffer]].from));
}

static void has_read(struct state *s, int32_t buffer, int32_t frame)
{
    if (!--s->left[s->base[buffer] + frame % s->f->buffers[buffer].copies]) release(s, buffer);
}

static void fill(struct state *s, int32_t buffer)
{
    const struct ig_fleet_buffer *b = &s->f->buffers[buffer];
    int32_t frame = s->filled[buffer]++;
    s->left[s->base[buffer] + frame % b->copies] = s->readers[buffer];
    if (b->is_output && !--s->outputs_left[frame]) s->run->out_ns[frame] = s->now;
    look(&s->ranks, b->rank);
    look(&s->devices, device_of(s, buffer));
    if (!s->readers[buffer]) release(s, buffer);
}

/* --- what can start --- */

static void enter(struct state *s)
{
    while (s->entered < s->frames && s->now >= s->entered * s->interval) {
        for (int32_t i = 0; i < s->n_inputs; i++)
            if (!has_copy(s, s->inputs[i], s->entered)) return;
        s->run->in_ns[s->entered++] = s->now;
        for (int32_t i = 0; i < s->n_inputs; i++) fill(s, s->inputs[i]);
    }
}

static int can_compute(const struct state *s, int32_t part)
{
    const struct ig_fleet_part *p = &s->f->parts[part];
    int32_t frame = s->begun[part];
    for (int32_t i = 0; i < p->n_in; i++)
        if (s->filled[p->in[i]] <= frame) return 0;
    for (int32_t i = 0; i < p->n_out; i++)
        if (!has_copy(s, p->out[i], frame)) return 0;
    return 1;
}

/* Of equally old frames the part that is nearest to the end. */
static void compute(struct state *s, int32_t rank)
{
    int32_t best = -1;
    struct work *w = &s->work[rank];
    for (int32_t i = s->parts_of.first[rank]; w->part < 0 && i < s->parts_of.first[rank + 1]; i++) {
        int32_t part = s->parts_of.at[i];
        if (s->begun[part] < s->frames && can_compute(s, part) && (best < 0 || s->begun[part] <= s->begun[best]))
            best = part;
    }
    if (best < 0) return;
    w->part = best;
    w->since = w->started = s->now;
    w->left = s->f->parts[best].ns * ONE;
    w->rate = s->f->machine ? rate_of(s, rank) : ONE;
    s->run->part_ns[(int64_t)s->begun[best]++ * s->f->n_parts + best] = s->now;
    push(s, ends(s, w), best);
    felt(s, rank);
}

/* The tensor is made, the one before has arrived, and there is room for it. */
static int can_send(const struct state *s, int32_t message)
{
    const struct ig_fleet_message *m = &s->f->messages[message];
    int32_t frame = s->begun[s->f->n_parts + message];
    return s->filled[m->from] > frame && has_copy(s, m->to, frame) && s->ended[s->f->n_parts + message] == frame;
}

static void send(struct state *s, int32_t message)
{
    s->begun[s->f->n_parts + message]++;
    burden_both(s, &s->f->messages[message], 1);
    push(s, s->now + s->f->messages[message].ns, s->f->n_parts + message);
}

static void send_over(struct state *s, int32_t message)
{
    const struct ig_fleet_message *m = &s->f->messages[message];
    int32_t from = device_of(s, m->from), to = device_of(s, m->to);
    s->sends[from] = s->receives[to] = 1;
    s->run->sends_ns[from] += m->ns;
    s->run->receives_ns[to] += m->ns;
    send(s, message);
}

/* The message of the oldest frame that can go now; -1: none. */
static int32_t oldest(const struct state *s, const struct lists *l, int32_t device)
{
    int32_t best = -1, best_frame = 0;
    for (int32_t i = l->first[device]; i < l->first[device + 1]; i++) {
        const struct ig_fleet_message *m = &s->f->messages[l->at[i]];
        int32_t frame = s->begun[s->f->n_parts + l->at[i]];
        if (best >= 0 && frame >= best_frame) continue;
        if (s->sends[device_of(s, m->from)] || s->receives[device_of(s, m->to)] || !can_send(s, l->at[i])) continue;
        best = l->at[i];
        best_frame = frame;
    }
    return best;
}

static void transfer(struct state *s, int32_t device)
{
    for (int32_t i = s->kept_by.first[device]; i < s->kept_by.first[device + 1]; i++)
        if (can_send(s, s->kept_by.at[i])) send(s, s->kept_by.at[i]);
    int32_t m = s->sends[device] ? -1 : oldest(s, &s->sent_by, device);
    if (m >= 0) send_over(s, m);
    m = s->receives[device] ? -1 : oldest(s, &s->sent_to, device);
    if (m >= 0) send_over(s, m);
}

static void start_all(struct state *s)
{
    enter(s);
    for (int32_t i = 0; i < s->ranks.n; i++) compute(s, s->ranks.at[i]);
    for (int32_t i = 0; i < s->devices.n; i++) transfer(s, s->devices.at[i]);
    for (int32_t i = 0; i < s->ranks.n; i++) s->ranks.in[s->ranks.at[i]] = 0;
    for (int32_t i = 0; i < s->devices.n; i++) s->devices.in[s->devices.at[i]] = 0;
    s->ranks.n = s->devices.n = 0;
}

/* --- what ends --- */

static void part_ends(struct state *s, int32_t part)
{
    const struct ig_fleet_part *p = &s->f->parts[part];
    int32_t frame = s->ended[part]++;
    s->work[p->rank].part = -1;
    felt(s, p->rank);
    s->run->busy_ns[p->rank] += s->now - s->work[p->rank].started;
    look(&s->ranks, p->rank);
    for (int32_t i = 0; i < p->n_in; i++) has_read(s, p->in[i], frame);
    for (int32_t i = 0; i < p->n_out; i++) fill(s, p->out[i]);
}

static void message_ends(struct state *s, int32_t message)
{
    const struct ig_fleet_message *m = &s->f->messages[message];
    int32_t frame = s->ended[s->f->n_parts + message]++, from = device_of(s, m->from), to = device_of(s, m->to);
    burden_both(s, m, -1);
    if (from != to) s->sends[from] = s->receives[to] = 0;
    look(&s->devices, from);
    look(&s->devices, to);
    has_read(s, m->from, frame);
    fill(s, m->to);
}

/* Everything that ends at one moment ends before anything starts. 0 once nothing is under way. */
static int step(struct state *s)
{
    int64_t comes = s->entered < s->frames ? s->entered * s->interval : -1;
    if (!s->n_heap && comes <= s->now) return 0;
    int64_t next = s->n_heap ? s->heap[0].ns : comes;
    s->now = comes > s->now && comes < next ? comes : next;
    while (s->n_heap && s->heap[0].ns == s->now) {
        int32_t what = pop(s).what;
        s->run->events++;
        if (what < s->f->n_parts) part_ends(s, what);
        else message_ends(s, what - s->f->n_parts);
    }
    start_all(s);
    return 1;
}

/* --- memory --- */

static int32_t *numbers(int64_t n)
{
    return ig_must_alloc((size_t)(n ? n : 1), sizeof(int32_t));
}

static struct set set_of(int32_t n)
{
    return (struct set){.at = numbers(n), .in = ig_must_alloc((size_t)(n ? n : 1), 1)};
}

/* Members 0..n - 1 by their owners, in order; an owner below 0 has none. */
static struct lists by_owner(int32_t owners, const int32_t *owner, int32_t n)
{
    struct lists l = {numbers((int64_t)owners + 2), numbers(n)};
    for (int32_t i = 0; i < n; i++)
        if (owner[i] >= 0) l.first[owner[i] + 2]++;
    for (int32_t i = 0; i < owners; i++) l.first[i + 2] += l.first[i + 1];
    for (int32_t i = 0; i < n; i++)
        if (owner[i] >= 0) l.at[l.first[owner[i] + 1]++] = i;
    return l;
}

static void index_all(struct state *s)
{
    const struct ig_fleet *f = s->f;
    int32_t n = f->n_parts > f->n_messages ? f->n_parts : f->n_messages;
    int32_t *rank = numbers(n), *from = numbers(n), *to = numbers(n), *kept = numbers(n);
    for (int32_t i = 0; i < f->n_parts; i++) rank[i] = f->parts[i].rank;
    for (int32_t i = 0; i < f->n_messages; i++) {
        from[i] = kept[i] = device_of(s, f->messages[i].from);
        to[i] = device_of(s, f->messages[i].to);
        if (from[i] == to[i]) from[i] = to[i] = -1;
        else kept[i] = -1;
    }
    s->parts_of = by_owner(f->n_ranks, rank, f->n_parts);
    s->sent_by = by_owner(f->n_devices, from, f->n_messages);
    s->sent_to = by_owner(f->n_devices, to, f->n_messages);
    s->kept_by = by_owner(f->n_devices, kept, f->n_messages);
    if (f->machine) s->share = by_owner(f->n_devices, f->machine, f->n_ranks);
    free(rank);
    free(from);
    free(to);
    free(kept);
}

static void count_readers(struct state *s)
{
    const struct ig_fleet *f = s->f;
    int32_t copies = 0, outputs = 0;
    for (int32_t b = 0; b < f->n_buffers; b++) {
        s->base[b] = copies;
        copies += f->buffers[b].copies;
        outputs += f->buffers[b].is_output;
        s->filler[b] = -1;
        if (f->buffers[b].writer == IG_FLEET_USER) s->inputs[s->n_inputs++] = b;
    }
    s->left = numbers(copies);
    for (int32_t i = 0; i < f->n_parts; i++)
        for (int32_t k = 0; k < f->parts[i].n_in; k++) s->readers[f->parts[i].in[k]]++;
    for (int32_t i = 0; i < f->n_messages; i++) {
        s->readers[f->messages[i].from]++;
        s->filler[f->messages[i].to] = i;
    }
    for (int32_t i = 0; i < s->frames; i++) s->outputs_left[i] = outputs;
}

static void start_state(struct state *s)
{
    const struct ig_fleet *f = s->f;
    int32_t n = f->n_parts + f->n_messages;
    s->heap = ig_must_alloc((size_t)n + 1, sizeof *s->heap); /* each is under way once at most */
    s->place = numbers(n);
    s->begun = numbers(n);
    s->ended = numbers(n);
    int32_t **of_buffers[] = {&s->filled, &s->freed, &s->readers, &s->base, &s->filler, &s->inputs};
    for (size_t i = 0; i < sizeof of_buffers / sizeof *of_buffers; i++) *of_buffers[i] = numbers(f->n_buffers);
    s->outputs_left = numbers(s->frames);
    s->work = ig_must_alloc((size_t)f->n_ranks, sizeof *s->work);
    for (int32_t i = 0; i < f->n_ranks; i++) s->work[i] = (struct work){.part = -1, .rate = ONE};
    s->sends = ig_must_alloc((size_t)f->n_devices, 1);
    s->receives = ig_must_alloc((size_t)f->n_devices, 1);
    s->ranks = set_of(f->n_ranks);
    s->devices = set_of(f->n_devices);
    index_all(s);
    count_readers(s);
}

static void free_state(struct state *s)
{
    void *all[] = {s->heap, s->place, s->begun, s->ended, s->filled, s->freed, s->readers, s->base, s->left, s->filler, s->inputs,
                   s->outputs_left, s->work, s->sends, s->receives, s->ranks.at, s->ranks.in, s->devices.at,
                   s->devices.in, s->parts_of.first, s->parts_of.at, s->sent_by.first, s->sent_by.at, s->sent_to.first,
                   s->sent_to.at, s->kept_by.first, s->kept_by.at, s->share.first, s->share.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void start_run(const struct ig_fleet *f, int32_t frames, struct ig_fleet_run *run)
{
    *run = (struct ig_fleet_run){.frames = frames};
    run->in_ns = ig_must_alloc((size_t)frames, sizeof *run->in_ns);
    run->out_ns = ig_must_alloc((size_t)frames, sizeof *run->out_ns);
    run->part_ns = ig_must_alloc((size_t)frames * (size_t)f->n_parts, sizeof *run->part_ns);
    run->busy_ns = ig_must_alloc((size_t)f->n_ranks, sizeof *run->busy_ns);
    run->sends_ns = ig_must_alloc((size_t)f->n_devices, sizeof *run->sends_ns);
    run->receives_ns = ig_must_alloc((size_t)f->n_devices, sizeof *run->receives_ns);
}

void ig_fleet_run_free(struct ig_fleet_run *run)
{
    free(run->in_ns);
    free(run->out_ns);
    free(run->part_ns);
    free(run->busy_ns);
    free(run->sends_ns);
    free(run->receives_ns);
    *run = (struct ig_fleet_run){.frames = 0};
}

/* --- from outside --- */

int ig_fleet_replay(const struct ig_fleet *f, int32_t frames, int64_t interval_ns, struct ig_fleet_run *run, char *err,
                    size_t err_bytes)
{
    *run = (struct ig_fleet_run){.frames = 0};
    if (frames < 1 || interval_ns < 0) {
        snprintf(err, err_bytes, "%d frames every %lld ns", frames, (long long)interval_ns);
        return -1;
    }
    if (ig_fleet_check(f, err, err_bytes)) return -1;
    start_run(f, frames, run);
    struct state s = {.f = f, .run = run, .now = -1, .interval = interval_ns, .frames = frames};
    start_state(&s);
    while (step(&s)) {}
    int32_t stuck = 0;
    while (stuck < frames && !s.outputs_left[stuck]) stuck++;
    free_state(&s);
    if (stuck == frames) return 0;
    snprintf(err, err_bytes, "the deployment stands still: frame %d never comes out", stuck);
    return -1;
}

double ig_fleet_period(const struct ig_fleet_run *run)
{
    int32_t last = run->frames - 1, from = last / 2;
    if (!last) return (double)(run->out_ns[0] - run->in_ns[0]);
    return (double)(run->out_ns[last] - run->out_ns[from]) / (last - from);
}
