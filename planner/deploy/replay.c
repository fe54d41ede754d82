#include "planner/deploy/replay_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

/* --- the heap: the earliest first, of equals the lowest number --- */

static int before(const struct ig_fleet_event *a, const struct ig_fleet_event *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->what < b->what;
}

static void put(struct ig_fleet_state *s, int32_t i, struct ig_fleet_event e)
{
    s->heap[i] = e;
    s->place[e.what] = i;
}

static void rise(struct ig_fleet_state *s, int32_t i, struct ig_fleet_event e)
{
    for (; i && before(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) put(s, i, s->heap[(i - 1) / 2]);
    put(s, i, e);
}

static void sink(struct ig_fleet_state *s, int32_t i, struct ig_fleet_event e)
{
    for (int32_t child; (child = 2 * i + 1) < s->n_heap; i = child) {
        if (child + 1 < s->n_heap && before(&s->heap[child + 1], &s->heap[child])) child++;
        if (!before(&s->heap[child], &e)) break;
        put(s, i, s->heap[child]);
    }
    put(s, i, e);
}

static void push(struct ig_fleet_state *s, int64_t ns, int32_t what)
{
    rise(s, s->n_heap++, (struct ig_fleet_event){ns, what});
}

static struct ig_fleet_event pop(struct ig_fleet_state *s)
{
    struct ig_fleet_event top = s->heap[0];
    if (--s->n_heap) sink(s, 0, s->heap[s->n_heap]);
    return top;
}

static void move(struct ig_fleet_state *s, int64_t ns, int32_t what)
{
    int32_t i = s->place[what], later = ns > s->heap[i].ns;
    (later ? sink : rise)(s, i, (struct ig_fleet_event){ns, what});
}

/* --- what cores do --- */

/* Messages that take more than there is of a core leave it work to catch up with: below 0. */
static int64_t speed(const struct ig_fleet_work *w)
{
    return (IG_FLEET_CORE - w->taken) * w->rate / IG_FLEET_CORE;
}

static int64_t ends(const struct ig_fleet_state *s, const struct ig_fleet_work *w)
{
    if (w->left <= 0) return s->now;
    return speed(w) > 0 ? s->now + (w->left + speed(w) - 1) / speed(w) : INT64_MAX; /* before that, messages end */
}

/* What is done up to now is done at the speed until now. */
static void settle(const struct ig_fleet_state *s, struct ig_fleet_work *w)
{
    if (w->part >= 0) w->left -= (s->now - w->since) * speed(w);
    w->since = s->now;
}

/* A message that begins (sign 1) or ends (-1) takes so many ns of a rank's core while it is under way. */
static void burden(struct ig_fleet_state *s, int32_t rank, int64_t ns, const struct ig_fleet_message *m, int sign)
{
    struct ig_fleet_work *w = &s->work[rank];
    if (!ns) return;
    settle(s, w);
    w->taken += sign * (ns * IG_FLEET_CORE / m->ns);
    if (w->part >= 0) move(s, ends(s, w), w->part);
}

static void burden_both(struct ig_fleet_state *s, const struct ig_fleet_message *m, int sign)
{
    burden(s, s->f->buffers[m->from].rank, m->send_ns, m, sign);
    burden(s, s->f->buffers[m->to].rank, m->receive_ns, m, sign);
}

/* How fast a rank computes beside what the others of its machine do: each slows it down by what it wants of the memory. */
static int64_t rate_of(const struct ig_fleet_state *s, int32_t rank)
{
    const struct ig_fleet_part *p = &s->f->parts[s->work[rank].part];
    int64_t machine = s->f->machine[rank], demand = 0, slower = p->beside_ns - p->ns;
    if (!p->ns || slower <= 0) return IG_FLEET_CORE;
    for (int32_t i = s->share.first[machine]; i < s->share.first[machine + 1]; i++) {
        int32_t other = s->share.at[i];
        if (other != rank && s->work[other].part >= 0) demand += s->f->parts[s->work[other].part].demand;
    }
    if (demand > IG_FLEET_DEMAND) demand = IG_FLEET_DEMAND;
    int64_t rate = p->ns * IG_FLEET_CORE / (p->ns + slower * demand / 1000);
    return rate ? rate : 1;
}

/* A rank has begun or ended a part: the others of its machine go on at another speed. */
static void felt(struct ig_fleet_state *s, int32_t rank)
{
    int64_t machine = s->f->machine ? s->f->machine[rank] : 0;
    if (!s->f->machine) return;
    for (int32_t i = s->share.first[machine]; i < s->share.first[machine + 1]; i++) {
        struct ig_fleet_work *w = &s->work[s->share.at[i]];
        if (s->share.at[i] == rank || w->part < 0) continue;
        settle(s, w);
        w->rate = rate_of(s, s->share.at[i]);
        move(s, ends(s, w), w->part);
    }
}

/* --- buffers --- */

static void look(struct ig_fleet_set *set, int32_t i)
{
    if (!set->in[i]) set->at[set->n++] = i;
    set->in[i] = 1;
}

static int has_copy(const struct ig_fleet_state *s, int32_t buffer, int32_t frame)
{
    return frame < s->freed[buffer] + s->f->buffers[buffer].copies;
}

static void release(struct ig_fleet_state *s, int32_t buffer)
{
    s->freed[buffer]++;
    look(&s->ranks, s->f->buffers[buffer].rank);
    if (s->filler[buffer] >= 0) look(&s->devices, ig_fleet_device(s, s->f->messages[s->filler[buffer]].from));
}

static void has_read(struct ig_fleet_state *s, int32_t buffer, int32_t frame)
{
    if (!--s->left[s->base[buffer] + frame % s->f->buffers[buffer].copies]) release(s, buffer);
}

static void fill(struct ig_fleet_state *s, int32_t buffer)
{
    const struct ig_fleet_buffer *b = &s->f->buffers[buffer];
    int32_t frame = s->filled[buffer]++;
    s->left[s->base[buffer] + frame % b->copies] = s->readers[buffer];
    if (b->is_output && !--s->outputs_left[frame]) s->run->out_ns[frame] = s->now;
    look(&s->ranks, b->rank);
    look(&s->devices, ig_fleet_device(s, buffer));
    if (!s->readers[buffer]) release(s, buffer);
}

/* --- what can start --- */

static void enter(struct ig_fleet_state *s)
{
    while (s->entered < s->frames && s->now >= s->entered * s->interval) {
        for (int32_t i = 0; i < s->n_inputs; i++)
            if (!has_copy(s, s->inputs[i], s->entered)) return;
        s->run->in_ns[s->entered++] = s->now;
        for (int32_t i = 0; i < s->n_inputs; i++) fill(s, s->inputs[i]);
    }
}

static int can_compute(const struct ig_fleet_state *s, int32_t part)
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
static void compute(struct ig_fleet_state *s, int32_t rank)
{
    int32_t best = -1;
    struct ig_fleet_work *w = &s->work[rank];
    for (int32_t i = s->parts_of.first[rank]; w->part < 0 && i < s->parts_of.first[rank + 1]; i++) {
        int32_t part = s->parts_of.at[i];
        if (s->begun[part] < s->frames && can_compute(s, part) && (best < 0 || s->begun[part] <= s->begun[best]))
            best = part;
    }
    if (best < 0) return;
    w->part = best;
    w->since = w->started = s->now;
    w->left = s->f->parts[best].ns * IG_FLEET_CORE;
    w->rate = s->f->machine ? rate_of(s, rank) : IG_FLEET_CORE;
    s->run->part_ns[(int64_t)s->begun[best]++ * s->f->n_parts + best] = s->now;
    push(s, ends(s, w), best);
    felt(s, rank);
}

/* The tensor is made, the one before has arrived, and there is room for it. */
static int can_send(const struct ig_fleet_state *s, int32_t message)
{
    const struct ig_fleet_message *m = &s->f->messages[message];
    int32_t frame = s->begun[s->f->n_parts + message];
    return s->filled[m->from] > frame && has_copy(s, m->to, frame) && s->ended[s->f->n_parts + message] == frame;
}

static void send(struct ig_fleet_state *s, int32_t message)
{
    s->begun[s->f->n_parts + message]++;
    burden_both(s, &s->f->messages[message], 1);
    push(s, s->now + s->f->messages[message].ns, s->f->n_parts + message);
}

static void send_over(struct ig_fleet_state *s, int32_t message)
{
    const struct ig_fleet_message *m = &s->f->messages[message];
    int32_t from = ig_fleet_device(s, m->from), to = ig_fleet_device(s, m->to);
    s->sends[from] = s->receives[to] = 1;
    s->run->sends_ns[from] += m->ns;
    s->run->receives_ns[to] += m->ns;
    send(s, message);
}

/* The message of the oldest frame that can go now; -1: none. */
static int32_t oldest(const struct ig_fleet_state *s, const struct ig_fleet_lists *l, int32_t device)
{
    int32_t best = -1, best_frame = 0;
    for (int32_t i = l->first[device]; i < l->first[device + 1]; i++) {
        const struct ig_fleet_message *m = &s->f->messages[l->at[i]];
        int32_t frame = s->begun[s->f->n_parts + l->at[i]];
        if (best >= 0 && frame >= best_frame) continue;
        if (s->sends[ig_fleet_device(s, m->from)] || s->receives[ig_fleet_device(s, m->to)] || !can_send(s, l->at[i])) continue;
        best = l->at[i];
        best_frame = frame;
    }
    return best;
}

static void transfer(struct ig_fleet_state *s, int32_t device)
{
    for (int32_t i = s->kept_by.first[device]; i < s->kept_by.first[device + 1]; i++)
        if (can_send(s, s->kept_by.at[i])) send(s, s->kept_by.at[i]);
    int32_t m = s->sends[device] ? -1 : oldest(s, &s->sent_by, device);
    if (m >= 0) send_over(s, m);
    m = s->receives[device] ? -1 : oldest(s, &s->sent_to, device);
    if (m >= 0) send_over(s, m);
}

static void start_all(struct ig_fleet_state *s)
{
    enter(s);
    for (int32_t i = 0; i < s->ranks.n; i++) compute(s, s->ranks.at[i]);
    for (int32_t i = 0; i < s->devices.n; i++) transfer(s, s->devices.at[i]);
    for (int32_t i = 0; i < s->ranks.n; i++) s->ranks.in[s->ranks.at[i]] = 0;
    for (int32_t i = 0; i < s->devices.n; i++) s->devices.in[s->devices.at[i]] = 0;
    s->ranks.n = s->devices.n = 0;
}

/* --- what ends --- */

static void part_ends(struct ig_fleet_state *s, int32_t part)
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

static void message_ends(struct ig_fleet_state *s, int32_t message)
{
    const struct ig_fleet_message *m = &s->f->messages[message];
    int32_t frame = s->ended[s->f->n_parts + message]++, from = ig_fleet_device(s, m->from), to = ig_fleet_device(s, m->to);
    burden_both(s, m, -1);
    if (from != to) s->sends[from] = s->receives[to] = 0;
    look(&s->devices, from);
    look(&s->devices, to);
    has_read(s, m->from, frame);
    fill(s, m->to);
}

/* Everything that ends at one moment ends before anything starts. 0 once nothing is under way. */
static int step(struct ig_fleet_state *s)
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

/* --- what comes out --- */

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
    struct ig_fleet_state s = {.f = f, .run = run, .now = -1, .interval = interval_ns, .frames = frames};
    ig_fleet_state_start(&s);
    while (step(&s)) {}
    int32_t stuck = 0;
    while (stuck < frames && !s.outputs_left[stuck]) stuck++;
    ig_fleet_state_free(&s);
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
