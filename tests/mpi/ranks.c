#include "tests/mpi/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct work {
    double ms;
    int computes;
};

/* Time of the processor, not of the clock: what others take of the core is not in it. */
static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void take_time(const struct work *w)
{
    struct timespec t = {(time_t)(w->ms / 1e3), (long)(w->ms * 1e6) % 1000000000};
    double end = w->computes ? now_ms() + w->ms : 0;
    if (!w->computes) nanosleep(&t, NULL);
    while (w->computes && now_ms() < end) continue;
}

static void mix(const struct ig_call *call, struct ig_range r, void *scratch)
{
    const struct work *work = call->attrs;
    float *y = call->out[0].data;
    int32_t last = call->out[0].c - 1;
    (void)scratch;
    if (!r.c0 && work->ms > 0) take_time(work);
    for (int32_t c = r.c0; c < r.c1; c++) {
        y[c] = (float)(c % 7) * 0.125f;
        for (int32_t i = 0; i < call->n_in; i++) {
            const float *x = call->in[i].data;
            y[c] += x[i ? c : last - c] * (i ? 0.25f : 0.5f);
        }
    }
}

/* --- the spec --- */

static int parse_part(struct ranks_part *p, const char **at)
{
    char *end;
    p->key = (int32_t)strtol(*at, &end, 10);
    if (*end != ':') return -1;
    do {
        if (p->n_in == RANKS_IN) return -1;
        p->in[p->n_in++] = (int32_t)strtol(end + 1, &end, 10);
    } while (*end == ',');
    if (*end != '>') return -1;
    p->out = (int32_t)strtol(end + 1, &end, 10);
    p->computes = *end == '%';
    if (*end == '@' || *end == '%') p->ms = strtod(end + 1, &end);
    while (*end == ' ') end++;
    *at = end;
    return 0;
}

int ranks_parse(struct ranks_spec *s, const char *text, int32_t width, int32_t copies)
{
    memset(s, 0, sizeof *s);
    s->width = width;
    s->copies = copies;
    while (*text) {
        struct ranks_part *p = &s->parts[s->n_parts++];
        if (s->n_parts > RANKS_PARTS || parse_part(p, &text) || p->out >= RANKS_TENSORS) return -1;
        if (p->key >= s->n_keys) s->n_keys = p->key + 1;
        if (p->out >= s->n_tensors) s->n_tensors = p->out + 1;
    }
    return 0;
}

/* Of a tensor: the key that makes it; of the input rank 0. */
static int32_t maker(const struct ranks_spec *s, int32_t tensor)
{
    for (int32_t i = 0; i < s->n_parts; i++)
        if (s->parts[i].out == tensor) return s->parts[i].key;
    return 0;
}

static int reads(const struct ranks_spec *s, int32_t key, int32_t tensor)
{
    for (int32_t i = 0; i < s->n_parts; i++)
        for (int32_t k = 0; s->parts[i].key == key && k < s->parts[i].n_in; k++)
            if (s->parts[i].in[k] == tensor) return 1;
    return 0;
}

/* --- tables --- */

static void *make(size_t n, size_t bytes)
{
    void *p = calloc(n + 1, bytes);
    if (!p) abort();
    return p;
}

static struct ig_shape *shape_of(const struct ranks_spec *s)
{
    struct ig_shape *shape = make(1, sizeof *shape);
    *shape = (struct ig_shape){IG_F32, 2, {1, s->width, 1, 1, 1, 1, 1, 1}};
    return shape;
}

static struct ig_io *ios(const struct ranks_spec *s, int32_t n)
{
    struct ig_io *io = make((size_t)n, sizeof *io);
    for (int32_t i = 0; i < n; i++) io[i] = (struct ig_io){"tensor", shape_of(s)};
    return io;
}

static struct ig_place place(const struct ranks_spec *s, int16_t space, int32_t index)
{
    return (struct ig_place){.shape = shape_of(s),
                             .h = 1,
                             .w = 1,
                             .c = s->width,
                             .ring_rows = 1,
                             .row_stride = s->width,
                             .pixel_stride = s->width,
                             .space = space,
                             .index = (int16_t)index};
}

static struct ig_step *step_of(const struct ranks_spec *s, const struct ranks_part *p)
{
    struct ig_step *step = make(1, sizeof *step);
    struct ig_place *in = make((size_t)p->n_in, sizeof *in), *out = make(1, sizeof *out);
    struct work *work = make(1, sizeof *work);
    *work = (struct work){p->ms, p->computes};
    for (int32_t i = 0; i < p->n_in; i++) in[i] = place(s, IG_SPACE_INPUT, i);
    *out = place(s, IG_SPACE_OUTPUT, 0);
    *step = (struct ig_step){.run = mix,
                             .attrs = work,
                             .in = in,
                             .out = out,
                             .weights = -1,
                             .images = 1,
                             .rows = 1,
                             .cols = s->width,
                             .chunk = s->width,
                             .chunks = 1,
                             .n_in = (int16_t)p->n_in,
                             .n_out = 1};
    return step;
}

static const struct ig_program *program_of(const struct ranks_spec *s, const struct ranks_part *p)
{
    static const _Alignas(64) char weights[64];
    struct ig_program *program = make(1, sizeof *program);
    struct ig_model *m = make(1, sizeof *m);
    *m = (struct ig_model){.name = "relay",
                           .inputs = ios(s, p ? p->n_in : 1),
                           .outputs = ios(s, 1),
                           .n_inputs = p ? p->n_in : 1,
                           .n_outputs = 1,
                           .threads = 1,
                           .arena_bytes = 64,
                           .weights_bytes = 64};
    if (p) m->steps = step_of(s, p), m->n_steps = 1;
    *program = (struct ig_program){.model = m,
                                   .weights = weights,
                                   .plan_sha256 = "",
                                   .source_sha256 = "",
                                   .target = "host",
                                   .tool = "tests",
                                   .std = {1, 1, 1, 1}};
    return program;
}

/* The rank's buffers: all that it makes or reads; of tensor t number at[t], or -1. */
static void make_buffers(const struct ranks_spec *s, struct ig_rank *r, int32_t *at)
{
    struct ig_rank_buffer *b = make(RANKS_TENSORS, sizeof *b);
    static const char *const names[] = {"in", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"};
    for (int32_t t = 0; t < s->n_tensors; t++) {
        at[t] = -1;
        if (maker(s, t) != r->rank && !reads(s, r->rank, t)) continue;
        at[t] = r->n_buffers;
        b[r->n_buffers++] = (struct ig_rank_buffer){names[t % 10], 4 * (int64_t)s->width, s->copies, -1};
    }
    r->buffers = b;
}

static void make_parts(const struct ranks_spec *s, struct ig_rank *r, const int32_t *at)
{
    struct ig_rank_part *parts = make(RANKS_PARTS, sizeof *parts);
    for (int32_t i = 0; i < s->n_parts; i++) {
        const struct ranks_part *p = &s->parts[i];
        if (p->key != r->rank) continue;
        int32_t *in = make((size_t)p->n_in, sizeof *in), *out = make(1, sizeof *out);
        for (int32_t k = 0; k < p->n_in; k++) in[k] = at[p->in[k]];
        *out = at[p->out];
        parts[r->n_parts++] = (struct ig_rank_part){program_of(s, p), 0, in, out};
    }
    r->parts = parts;
}

static void make_edges(const struct ranks_spec *s, struct ig_rank *r, const int32_t *at)
{
    struct ig_rank_edge *sends = make(RANKS_TENSORS * 8, sizeof *sends),
                        *receives = make(RANKS_TENSORS, sizeof *receives);
    int32_t number = 0;
    for (int32_t t = 0; t < s->n_tensors; t++)
        for (int32_t to = 0; to < s->n_keys; to++) {
            int32_t from = maker(s, t);
            if (to == from || !reads(s, to, t)) continue;
            int32_t copies = s->copies + (3 - number % 3) % 3; /* all that tells messages apart is that edges differ */
            if (from == r->rank) sends[r->n_sends++] = (struct ig_rank_edge){at[t], to, number, copies};
            if (to == r->rank) receives[r->n_receives++] = (struct ig_rank_edge){at[t], from, number, copies};
            number++;
        }
    r->sends = sends;
    r->receives = receives;
}

struct ig_rank *ranks_table(const struct ranks_spec *s, int32_t rank)
{
    static const char *const keys[RANKS_PARTS] = {"nodeA_cpu0", "nodeB_cpu0", "nodeC_cpu0", "nodeD_cpu0", "nodeE_cpu0"};
    struct ig_rank *r = make(1, sizeof *r);
    int32_t at[RANKS_TENSORS], *io = make(2, sizeof *io);
    *r = (struct ig_rank){.network = "relay",
                          .whole = program_of(s, NULL),
                          .keys = keys,
                          .rank = rank,
                          .n_ranks = s->n_keys,
                          .threads = 1,
                          .arena_bytes = 64,
                          .period_ns = 1e6};
    for (int32_t i = 0; i < s->n_parts; i++) r->rank_ns += s->parts[i].key == rank ? s->parts[i].ms * 1e6 : 0;
    make_buffers(s, r, at);
    make_parts(s, r, at);
    make_edges(s, r, at);
    io[0] = rank ? -1 : at[0];
    io[1] = maker(s, s->n_tensors - 1) == rank ? at[s->n_tensors - 1] : -1;
    r->inputs = &io[0];
    r->outputs = &io[1];
    return r;
}
