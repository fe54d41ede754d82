/* Kernels on halves, by kernels on floats: see half.h. */
#include "kernels_cpu/common/half.h"

#include <string.h>

#include "kernels_cpu/reach.h"

enum {
    ROWS_BYTES = 32 << 10,     /* most of widened rows, where all weights are there at once */
    ROWS_PART = 8,             /* and of the layer's bytes: scratch is to stay small beside tensors */
    REUSE_BYTES = 128 << 10,   /* where weights are widened anew for so many rows */
    PANELS_BYTES = 64 << 10,   /* of widened weights */
    LINE = 16                  /* floats of a cache line */
};

const struct ig_half_kind ig_half_conv16 = {IG_CONV, IG_HALF_PANELS, 16, 0};
const struct ig_half_kind ig_half_conv16_lean = {IG_CONV, IG_HALF_PANELS, 16, 1};
const struct ig_half_kind ig_half_deconv16 = {IG_DECONV, IG_HALF_PANELS, 16, 0};
const struct ig_half_kind ig_half_depthwise8 = {IG_CONV, IG_HALF_SLICES, 8, 1};
const struct ig_half_kind ig_half_fc16 = {IG_FC, IG_HALF_PANELS, 16, 1};
const struct ig_half_kind ig_half_pool = {IG_POOL, IG_HALF_SLICES, 8, 1};
const struct ig_half_kind ig_half_unary = {IG_UNARY, IG_HALF_SLICES, 8, 1};
const struct ig_half_kind ig_half_binary = {IG_BINARY, IG_HALF_SLICES, 8, 1};
const struct ig_half_kind ig_half_softmax = {IG_SOFTMAX, IG_HALF_WHOLE, 8, 1};

struct sizes {                  /* of the pieces, and of their rooms in scratch */
    struct ig_reach reach;      /* of input 0 */
    int32_t groups, ic, oc;     /* channels of one group */
    int32_t width;              /* most output channels of a call */
    int32_t rows, in_rows;      /* most output rows of a call, input rows for them */
    int32_t pixel;              /* there is no more than one, of a product by panels: weights are not widened beforehand */
    int32_t phases;             /* of a transposed convolution whose weights are widened a phase at a time; else 0 */
    int64_t panel;              /* floats of a panel of weights, of the largest phase's; 0: the op has none */
    int64_t weights, in[IG_MAX_IN], out; /* floats of each room */
};

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int is_half(const struct ig_operand *o)
{
    return o->shape && o->shape->type == IG_F16;
}

static int is_window(int32_t op)
{
    return op == IG_CONV || op == IG_DECONV || op == IG_POOL;
}

static int has_weights(int32_t op)
{
    return op == IG_CONV || op == IG_DECONV || op == IG_FC;
}

/* Weights and bias are packed; the other inputs have rows. */
static int has_rows(const struct ig_call *call, const struct ig_half_kind *kind, int32_t k)
{
    return k < call->n_in && call->in[k].shape && !(has_weights(kind->op) && (k == 1 || k == 2));
}

static const struct ig_window *window_of(const struct ig_call *call, int32_t op)
{
    static const struct ig_window one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    if (op == IG_CONV || op == IG_DECONV) return &((const struct ig_conv *)call->attrs)->w;
    return op == IG_POOL ? &((const struct ig_pool *)call->attrs)->w : &one;
}

/* Floats of a widened row of input k. */
static int64_t row_floats(const struct ig_call *call, const struct ig_half_kind *kind, const struct sizes *s, int32_t k)
{
    const struct ig_operand *o = &call->in[k];
    int32_t c = k == 0 && kind->cut == IG_HALF_PANELS ? s->ic : o->c < s->width ? o->c : s->width;
    return (int64_t)o->w * c;
}

static int32_t rows_of(const struct ig_call *call, const struct sizes *s, int32_t k)
{
    int32_t rows = k == 0 ? s->in_rows : s->rows;
    return min32(rows, call->in[k].h);
}

/* The rooms for `rows` rows of at most `width` channels; returns the floats of all rows. */
static int64_t measure(const struct ig_call *call, const struct ig_half_kind *kind, struct sizes *s)
{
    int64_t floats = s->out = round_up((int64_t)s->rows * call->out[0].w * s->width, LINE);
    s->in_rows = ((s->rows - 1) * s->reach.mul + s->reach.hi - s->reach.lo + s->reach.div - 1) / s->reach.div + 1;
    for (int32_t k = 0; k < IG_MAX_IN; k++) {
        s->in[k] = 0;
        if (!has_rows(call, kind, k) || !is_half(&call->in[k])) continue;
        s->in[k] = round_up(rows_of(call, s, k) * row_floats(call, kind, s, k), LINE);
        floats += s->in[k];
    }
    return floats;
}

/* All phases' panels, or where these are too large the largest phase's. */
static void set_phases(const struct ig_window *w, int32_t nr, struct sizes *s)
{
    int32_t phases = ig_deconv_phases(w);
    int64_t most = 0;
    for (int32_t i = 0; i < phases; i++) {
        int64_t panel = ig_deconv_panel(w, i, s->ic, nr);
        s->panel += panel;
        if (panel > most) most = panel;
    }
    if (phases == 1 || (s->oc + nr - 1) / nr * s->panel <= PANELS_BYTES / 4) return;
    s->phases = phases;
    s->panel = most;
}

static void set_panels(const struct ig_call *call, const struct ig_half_kind *kind, struct sizes *s)
{
    const struct ig_window *w = window_of(call, kind->op);
    int64_t taps = (int64_t)w->kh * w->kw;
    if (kind->op != IG_FC && has_weights(kind->op) && kind->cut == IG_HALF_PANELS) s->groups = ((const struct ig_conv *)call->attrs)->groups;
    s->ic = call->in[0].c / s->groups;
    s->oc = call->out[0].c / s->groups;
    s->pixel = kind->op != IG_DECONV && kind->cut == IG_HALF_PANELS && ig_gemm_is_pixel(call, w);
    if (kind->op == IG_DECONV) set_phases(w, kind->nr, s);
    else if (has_weights(kind->op)) s->panel = kind->nr * (1 + taps * (kind->cut == IG_HALF_PANELS ? s->ic : 1));
}

/* Of input 0: kernels_cpu/reach.c. */
static struct ig_reach reach_of(const struct ig_call *call, int32_t op)
{
    const struct ig_window *w = window_of(call, op);
    int32_t more = (w->kh - 1) * w->dh - w->top;
    if (op == IG_DECONV) return (struct ig_reach){1, w->sh, w->sh - 1 - more, w->top};
    return (struct ig_reach){w->sh, 1, -w->top, more};
}

/* Of what has weights to widen again, as many rows as a second-level cache holds, if it may; else a few. */
static struct sizes sizes_of(const struct ig_call *call, const struct ig_half_kind *kind)
{
    struct sizes s = {.reach = reach_of(call, kind->op), .groups = 1};
    int64_t most = (ig_bytes(call->in[0].shape) + ig_bytes(call->out[0].shape)) / ROWS_PART / 4;
    int32_t nr = kind->nr;
    if (most > ROWS_BYTES / 4) most = ROWS_BYTES / 4;
    set_panels(call, kind, &s);
    s.width = (int32_t)round_up(s.oc, nr);
    if (kind->cut == IG_HALF_PANELS && !s.pixel) {
        int64_t panels = (kind->lean ? most : PANELS_BYTES / 4) / s.panel;
        if (panels < 1) panels = 1;
        if (!kind->lean && (s.phases || panels * nr < s.width)) most = REUSE_BYTES / 4;
        if (panels * nr < s.width) s.width = (int32_t)panels * nr;
    }
    s.rows = min32(call->out[0].h, 1 + (s.reach.hi - s.reach.lo) / s.reach.mul);
    while (kind->cut == IG_HALF_SLICES && s.width > nr && measure(call, kind, &s) > most)
        s.width = (int32_t)round_up(s.width / 2, nr);
    s.rows = call->out[0].h;
    while (measure(call, kind, &s) > most && s.rows > 1) s.rows = (s.rows + 1) / 2;
    if (!s.pixel) s.weights = round_up(s.width / nr * s.panel, LINE);
    return s;
}

size_t ig_half_scratch(const struct ig_call *call, const struct ig_half_kind *kind)
{
    struct sizes s = sizes_of(call, kind);
    int64_t floats = s.weights + s.out;
    for (int32_t k = 0; k < IG_MAX_IN; k++) floats += s.in[k];
    return (size_t)floats * sizeof(float);
}

struct job {
    const struct ig_call *call;
    const struct ig_half *half;
    struct sizes s;
    struct ig_call piece;        /* what the float kernel is given */
    struct ig_conv conv;         /* its attributes, of a convolution */
    float *weights, *in[IG_MAX_IN], *out; /* the rooms */
    void *scratch;               /* its own */
    int32_t c0, c1;              /* channels that are wanted */
};

static void start(struct job *j, const struct ig_call *call, const struct ig_half *half, void *scratch)
{
    float *room = (float *)scratch;
    j->call = call;
    j->half = half;
    j->s = sizes_of(call, &half->kind);
    j->piece = *call;
    if (half->kind.op == IG_CONV || half->kind.op == IG_DECONV) {
        j->conv = *(const struct ig_conv *)call->attrs;
        j->piece.attrs = &j->conv;
    }
    j->weights = room;
    room += j->s.weights;
    for (int32_t k = 0; k < IG_MAX_IN; k++) {
        j->in[k] = room;
        room += j->s.in[k];
    }
    j->out = room;
    j->scratch = room + j->s.out;
}

/* Channels [c, c+n) of o as floats in a room of `rows` rows. */
static struct ig_operand in_room(const struct ig_operand *o, int32_t n, int32_t rows, float *room)
{
    struct ig_operand to = *o;
    to.data = room;
    to.c = n;
    to.ring_rows = min32(rows, o->h);
    to.pixel_stride = n;
    to.row_stride = (int64_t)o->w * n;
    return to;
}

/* Input k of the piece: channels [c, c+n), or the one that all share. */
static void view_input(struct job *j, int32_t k, int32_t c, int32_t n)
{
    const struct ig_operand *o = &j->call->in[k];
    if (o->c == 1) c = 0, n = 1;
    if (is_half(o)) {
        j->piece.in[k] = in_room(o, n, rows_of(j->call, &j->s, k), j->in[k]);
    } else {
        j->piece.in[k].data = (float *)o->data + c;
        j->piece.in[k].c = n;
    }
}

/* Rows [a, b) of input k, from channel c on. */
static void widen_rows(struct job *j, int32_t k, int32_t c, int32_t a, int32_t b)
{
    const struct ig_operand *o = &j->call->in[k], *to = &j->piece.in[k];
    if (!is_half(o)) return;
    if (o->c == 1) c = 0;
    for (int32_t y = a; y < b; y++) {
        const uint16_t *from = (const uint16_t *)ig_row(o, y, 2) + c;
        if (o->pixel_stride == to->c) j->half->widen(ig_row_f32(to, y), 0, from, 0, (int64_t)o->w * to->c, 1);
        else j->half->widen(ig_row_f32(to, y), to->c, from, o->pixel_stride, to->c, o->w);
    }
}

/* Those of the piece's rows and channels, which start at c, that are wanted. */
static void store_rows(struct job *j, int32_t y0, int32_t y1, int32_t c)
{
    const struct ig_operand *o = &j->call->out[0], *from = &j->piece.out[0];
    int32_t c0 = c < j->c0 ? j->c0 : c, c1 = min32(c + from->c, j->c1), n = c1 - c0;
    for (int32_t y = y0; y < y1; y++) {
        const float *p = ig_row_f32(from, y) + (c0 - c);
        if (o->shape->type == IG_F32) {
            float *to = ig_row_f32(o, y) + c0;
            for (int32_t x = 0; x < o->w; x++)
                memcpy(to + x * o->pixel_stride, p + x * from->pixel_stride, (size_t)n * sizeof(float));
            continue;
        }
        uint16_t *to = (uint16_t *)ig_row(o, y, 2) + c0;
        if (n == from->c && o->pixel_stride == n) j->half->narrow(to, 0, p, 0, (int64_t)o->w * n, 1);
        else j->half->narrow(to, o->pixel_stride, p, from->pixel_stride, n, o->w);
    }
}

/* `count` panels of a phase, or of all weights, from number `panel` on; those of which have `floats` each. */
static float *widen_part(struct job *j, const uint16_t *from, int64_t panel, int64_t count, int64_t floats, float *to)
{
    j->half->widen(to, 0, from + panel * floats, 0, count * floats, 1);
    return to + count * floats;
}

/* Floats from a phase's weights to the next one's. */
static int64_t phase_floats(const struct job *j, int32_t i)
{
    int32_t nr = j->half->kind.nr;
    return (int64_t)j->s.groups * ((j->s.oc + nr - 1) / nr) * ig_deconv_panel(&j->conv.w, i, j->s.ic, nr);
}

/* The weights of the panels of n channels, the first of them number `panel` of all, or of every phase's. */
static void widen_panels(struct job *j, int64_t panel, int32_t n)
{
    const uint16_t *from = (const uint16_t *)j->call->weights;
    int32_t nr = j->half->kind.nr, count = (n + nr - 1) / nr;
    float *to = j->weights;
    if (!j->s.panel || j->s.phases) return;
    j->piece.weights = j->s.pixel ? (const void *)(from + panel * j->s.panel) : to;
    if (j->s.pixel) return;
    if (j->half->kind.op != IG_DECONV) {
        widen_part(j, from, panel, count, j->s.panel, to);
        return;
    }
    for (int32_t i = 0; i < ig_deconv_phases(&j->conv.w); i++) {
        to = widen_part(j, from, panel, count, ig_deconv_panel(&j->conv.w, i, j->s.ic, nr), to);
        from += phase_floats(j, i);
    }
}

/* The piece, a phase after the other. */
static void run_phases(struct job *j, struct ig_range range, int64_t panel)
{
    const uint16_t *from = (const uint16_t *)j->call->weights;
    int32_t nr = j->half->kind.nr;
    for (int32_t i = 0; i < j->s.phases; from += phase_floats(j, i), i++) {
        if (!ig_deconv_meets(&j->conv.w, i, range.y0, range.y1)) continue;
        widen_part(j, from, panel, (range.c1 + nr - 1) / nr, ig_deconv_panel(&j->conv.w, i, j->s.ic, nr), j->weights);
        ig_gemm_deconv_phase(&j->piece, &j->conv, range, i, j->weights, j->scratch, j->half->set);
    }
}

/* The piece, of one pixel, by panels of halves. */
static void run_pixel(struct job *j, struct ig_range range)
{
    const struct ig_half *half = j->half;
    const struct ig_act *act = half->kind.op == IG_FC ? &((const struct ig_fc *)j->piece.attrs)->act : &j->conv.act;
    ig_gemm_pixel(&j->piece, act, range, j->piece.in[0].c, j->scratch, half->set, half->gemv, sizeof(uint16_t));
}

/* Output channels [c, c+n) of rows [y0, y1), from panel number `panel` on; what they are made of is there but for the rows beside them. */
static void run_piece(struct job *j, int32_t y0, int32_t y1, int32_t c, int32_t n, int64_t panel)
{
    const struct ig_range range = {y0, y1, 0, n};
    j->piece.out[0] = in_room(&j->call->out[0], n, j->s.rows, j->out);
    for (int32_t k = 1; k < j->call->n_in; k++) {
        if (!has_rows(j->call, &j->half->kind, k)) continue;
        int same = j->call->in[k].h != 1;
        view_input(j, k, c, n);
        widen_rows(j, k, c, same ? y0 : 0, same ? y1 : 1);
    }
    if (j->s.phases) run_phases(j, range, panel);
    else if (j->s.pixel) run_pixel(j, range);
    else j->half->run(&j->piece, range, j->scratch);
    store_rows(j, y0, y1, c);
}

/* Input rows for outputs [y0, y1), of which those below *there are there already. */
static void widen_input(struct job *j, int32_t c, int32_t y0, int32_t y1, int32_t *there)
{
    const struct ig_operand *in = &j->call->in[0];
    struct ig_rows need = {0, 1};
    int32_t op = j->half->kind.op;
    if (in->h > 1 || is_window(op)) need = ig_reach_rows(&j->s.reach, y0, y1, in->h);
    if (need.a < *there) need.a = *there;
    if (need.a >= need.b) return;
    widen_rows(j, 0, c, need.a, need.b);
    *there = need.b;
}

/* Output channels [c, end), panel by panel from number `panel` on, of inputs [in_c, in_c + in_n). */
static void run_channels(struct job *j, struct ig_range range, int32_t in_c, int32_t in_n, int32_t c, int32_t end,
                         int64_t panel)
{
    int32_t width = j->s.width, there = 0, once = end - c <= width;
    view_input(j, 0, in_c, in_n);
    if (once) widen_panels(j, panel, end - c);
    for (int32_t y = range.y0, y1; y < range.y1; y = y1) {
        y1 = min32(y + j->s.rows, range.y1);
        widen_input(j, in_c, y, y1, &there);
        for (int32_t at = c; at < end; at += width) {
            int32_t n = min32(width, end - at);
            int64_t first = panel + (at - c) / j->half->kind.nr;
            if (!once) widen_panels(j, first, n);
            run_piece(j, y, y1, at, n, first);
        }
    }
}

static void run_slices(struct job *j, struct ig_range range)
{
    int32_t width = j->half->kind.cut == IG_HALF_WHOLE ? j->call->out[0].c : j->s.width;
    for (int32_t c = range.c0; c < range.c1; c += width) {
        int32_t n = min32(width, range.c1 - c);
        j->conv.groups = n;
        run_channels(j, range, c, n, c, c + n, c / j->half->kind.nr);
    }
}

/* A range may start within a group's panel. */
static void run_groups(struct job *j, struct ig_range range)
{
    int32_t nr = j->half->kind.nr, oc = j->s.oc, panels = (oc + nr - 1) / nr;
    j->conv.groups = 1;
    for (int32_t g = range.c0 / oc; g * oc < range.c1; g++) {
        int32_t first = range.c0 > g * oc ? (range.c0 - g * oc) / nr : 0, end = min32((g + 1) * oc, range.c1);
        run_channels(j, range, g * j->s.ic, j->s.ic, g * oc + first * nr, end, (int64_t)g * panels + first);
    }
}

void ig_half_run(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half *half)
{
    struct job j = {.c0 = range.c0, .c1 = range.c1};
    if (range.y0 >= range.y1 || range.c0 >= range.c1) return;
    start(&j, call, half, scratch);
    if (half->kind.cut == IG_HALF_PANELS) run_groups(&j, range);
    else run_slices(&j, range);
}

/* --- global pooling --- */

enum { POOL_CHANNELS = 32 }; /* of a call */

/* Rows of a call: of the whole image's extent alone, so that the bits do not depend on the cut. */
static int32_t pool_rows(const struct ig_operand *in)
{
    int32_t rows = ROWS_BYTES / 4 / POOL_CHANNELS / in->w;
    return rows < 1 ? 1 : min32(rows, in->h);
}

size_t ig_half_global_pool_scratch(const struct ig_call *call)
{
    const struct ig_operand *in = &call->in[0];
    return ((size_t)pool_rows(in) * (size_t)in->w + 2) * POOL_CHANNELS * sizeof(float);
}

/* Rows [y, y+rows) into part[0..n). */
static void pool_part(const struct ig_call *call, const struct ig_half *half, int32_t y, int32_t rows, int32_t c,
                      int32_t n, float *part, float *room)
{
    const struct ig_operand *in = &call->in[0];
    struct ig_call piece = *call;
    struct ig_operand *to = &piece.in[0], *out = &piece.out[0];
    *to = in_room(in, n, rows, room);
    *out = in_room(&call->out[0], n, 1, part);
    to->h = rows;
    for (int32_t i = 0; i < rows; i++) {
        float *row = ig_row_f32(to, i);
        if (is_half(in)) {
            half->widen(row, n, (const uint16_t *)ig_row(in, y + i, 2) + c, in->pixel_stride, n, in->w);
            continue;
        }
        const float *from = ig_row_f32(in, y + i) + c;
        for (int32_t x = 0; x < in->w; x++)
            memcpy(row + (int64_t)x * n, from + x * in->pixel_stride, (size_t)n * sizeof(float));
    }
    half->run(&piece, (struct ig_range){0, 1, 0, n}, NULL);
}

/* sum = sum and part, the mean or maximum of `rows` of h rows. */
static void pool_join(float *sum, const float *part, int32_t n, int32_t rows, int32_t h, int max)
{
    float weight = (float)rows / (float)h;
    for (int32_t i = 0; i < n; i++) {
        if (!max) sum[i] += part[i] * weight;
        else if (part[i] > sum[i] || part[i] != part[i]) sum[i] = part[i];
    }
}

void ig_half_global_pool(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half *half)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int max = ((const struct ig_global_pool *)call->attrs)->kind == IG_POOL_MAX;
    float *sum = (float *)scratch, *part = sum + POOL_CHANNELS, *room = part + POOL_CHANNELS;
    int32_t rows = pool_rows(in);
    if (range.y0 >= range.y1) return;
    for (int32_t c = range.c0; c < range.c1; c += POOL_CHANNELS) {
        int32_t n = min32(POOL_CHANNELS, range.c1 - c);
        for (int32_t i = 0; i < n; i++) sum[i] = max ? -__builtin_inff() : 0;
        for (int32_t y = 0; y < in->h; y += rows) {
            int32_t some = min32(rows, in->h - y);
            pool_part(call, half, y, some, c, n, part, room);
            pool_join(sum, part, n, some, in->h, max);
        }
        if (is_half(out)) half->narrow((uint16_t *)ig_row(out, 0, 2) + c, 0, sum, 0, n, 1);
        else memcpy(ig_row_f32(out, 0) + c, sum, (size_t)n * sizeof(float));
    }
}
