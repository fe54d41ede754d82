/*
 * Convolution in single precision by products of bfloat16 tiles, which multiply sixteen times as much at a time as a vector does. The 24
 * bits of a float are three numbers of 8, x = x0 + x1 + x2, exactly: the upper half of x, of what is left, and of what is left of that.
 * Of the nine products of the pieces of x and y six are added up,
 *   xy = x0y0 + (x0y1 + x1y0) + (x0y2 + x1y1 + x2y0) + r,   |r| < 2^-20 |xy|, 2^-24 |xy| as a rule
 * (Henry, Tang, Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations, ARITH 2019).
 * A tile's product adds sixteen even and sixteen odd k up on their own, rounded, then both to the sum, so that there are six roundings
 * of it in 32 k. Subnormal pieces and sums count as 0, infinite operands give NaN.
 *
 * Four tiles of sums are 32 pixels x 32 channels, two tiles of each have a piece of pixels and of weights: 24 products of a step of 32 k
 * go with 14 loads. Some hundred KiB of pieces of pixels are made once for all channels; then two of the packed panels of 16 channels
 * after the other are cut and multiplied by all tiles of these pixels. What is needed next is cut between the products of what is there:
 * by the first two panels' tiles their own next steps and the pixels two tiles ahead, later the next two panels, a part by every two tiles.
 * The k of a step lie as cutting makes them: word j of a row is of k = j and 16 + j, of pixels and of weights. There are at most 32
 * steps at a time; sums wait for the others in memory.
 */
#include <immintrin.h>

#include "kernels_cpu/amx/kernels.h"
#include "kernels_cpu/amx/tile.h"
#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/common/conv_gemm.h"
#include "kernels_cpu/common/pieces.h"

enum {
    PANEL = 16,
    SIDES = 2,                          /* tiles side by side, of pixels and of channels */
    ROW = 64,                           /* bytes of a tile's row */
    PIXEL = IG_PIECES * ROW,            /* from a pixel to the next: pieces of a step [row][piece][64 bytes] */
    CHANNELS = SIDES * IG_PIECES * ROW, /* of weights: [row][piece][side][64 bytes] */
    PIXELS_STEP = IG_PIECES_ROWS * PIXEL,
    WEIGHTS_STEP = IG_PIECES_ROWS * CHANNELS,
    WIDE = IG_PIECES_WIDE,
    SUMS = SIDES * IG_PIECES_ROWS * WIDE, /* floats of four tiles */
    SUMS_ROW = WIDE * sizeof(float)
};

struct place { /* an output pixel */
    int32_t y, x;
    float *to;
    const float *residual; /* or NULL */
};

struct panels {
    const float *left, *right; /* bias and weights; NULL: there are none */
};

struct job {
    const struct ig_call *call;
    const struct ig_conv *conv;
    struct ig_range range;
    struct ig_pieces cut;
    int32_t ic, oc;             /* of a group */
    int32_t group, rows;        /* the group at hand; pixels of a tile */
    int32_t first, count;       /* pixels of the range at hand */
    int32_t step0, step1;       /* steps at hand */
    int64_t tile, panel;        /* bytes of a tile of pixels, all steps at hand; floats of a packed panel */
    char *pixels, *weights[2];  /* pieces [tile][step], [step]: of the panels at hand and the next ones, */
    int32_t side;               /* which change places */
    float *out, *sums;          /* four tiles; those that wait for the rest of the steps */
    struct place *place;        /* [count] */
};

/* A step of two tiles of pixels, by the pieces of the weights' step; NEXT(0) ... NEXT(5) are done in between. */
#define PIXELS(i) TILE_LOAD(4, a0 + (i) * ROW, PIXEL); TILE_LOAD(5, a1 + (i) * ROW, PIXEL)
#define WEIGHTS(i) TILE_LOAD(6, b + (i) * SIDES * ROW, CHANNELS); TILE_LOAD(7, b + ((i) * SIDES + 1) * ROW, CHANNELS)
#define DOTS TILE_DOT(0, 4, 6); TILE_DOT(1, 4, 7); TILE_DOT(2, 5, 6); TILE_DOT(3, 5, 7)
#define STEP(NEXT) \
    PIXELS(0); WEIGHTS(2); DOTS; NEXT(0); \
    WEIGHTS(1); DOTS; NEXT(1); \
    PIXELS(1); DOTS; NEXT(2); \
    WEIGHTS(0); DOTS; NEXT(3); \
    PIXELS(2); DOTS; NEXT(4); \
    PIXELS(0); DOTS; NEXT(5)
#define NOTHING(i) (void)0

/* The pieces of two vectors, pairs of which make a word each, `step` bytes apart. */
static inline __attribute__((always_inline)) void cut(__m512 low, __m512 high, char *to, int64_t step)
{
    const __m512i upper = _mm512_set1_epi32((int32_t)0xffff0000);
#pragma GCC unroll 3
    for (int i = 0; i < IG_PIECES; i++) {
        __m512i l = _mm512_castps_si512(low), h = _mm512_castps_si512(high);
        _mm512_store_si512(to + i * step, _mm512_ternarylogic_epi32(_mm512_srli_epi32(l, 16), h, upper, 0xf8)); /* a | (b & c) */
        if (i == IG_PIECES - 1) break;
        low = _mm512_sub_ps(low, _mm512_castsi512_ps(_mm512_and_si512(l, upper)));
        high = _mm512_sub_ps(high, _mm512_castsi512_ps(_mm512_and_si512(h, upper)));
    }
}

/* Pixels of tile t; those beyond the last one have none. */
static int32_t in_tile(const struct job *job, int32_t t)
{
    int32_t n = job->count - t * job->rows;
    return n < 0 ? 0 : n < job->rows ? n : job->rows;
}

/* Addresses of a tap of tile t's pixels. */
static void find(const struct job *job, int32_t t, int32_t tap, const float **at)
{
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0];
    const struct place *p = job->place + t * job->rows;
    int32_t down = tap / w->kw * w->dh - w->top, right = tap % w->kw * w->dw - w->left;
    for (int32_t i = 0, n = in_tile(job, t); i < n; i++) {
        int32_t y = p[i].y * w->sh + down, x = p[i].x * w->sw + right;
        int inside = y >= 0 && y < in->h && x >= 0 && x < in->w;
        at[i] = inside ? ig_row_f32(in, y) + x * in->pixel_stride + job->group * job->ic : (const float *)job->call->zeros;
    }
}

/* Channels of a step: the first of them in its tap; 32, but at the tap's end. */
static int32_t first_of(const struct job *job, int32_t step)
{
    return step % job->cut.of_tap * IG_PIECES_K;
}

static int32_t count_of(const struct job *job, int32_t step)
{
    int32_t left = job->ic - first_of(job, step);
    return left < IG_PIECES_K ? left : IG_PIECES_K;
}

/* Pixels [i, n) of a whole step. */
static inline __attribute__((always_inline)) void cut_some(const float *const *at, int32_t i, int32_t n, char *to)
{
    for (; i < n; i++) cut(_mm512_loadu_ps(at[i]), _mm512_loadu_ps(at[i] + 16), to + i * PIXEL, ROW);
}

/* n pixels of a step, `k` channels of each. */
static void cut_all(const float *const *at, int32_t k, int32_t n, char *to)
{
    __mmask16 low = ig_mask16(k < 16 ? k : 16), high = ig_mask16(k < 16 ? 0 : k - 16);
    for (int32_t i = 0; i < n; i++) cut(_mm512_maskz_loadu_ps(low, at[i]), _mm512_maskz_loadu_ps(high, at[i] + 16), to + i * PIXEL, ROW);
}

/* Where tile t's part of a step begins, from where it lay in the step before. */
static void move_on(const struct job *job, int32_t t, int32_t step, const float **at)
{
    int32_t first = first_of(job, step);
    if (first && step > job->step0) {
        for (int32_t i = 0, n = in_tile(job, t); i < n; i++) at[i] += IG_PIECES_K;
        return;
    }
    find(job, t, step / job->cut.of_tap, at);
    for (int32_t i = 0, n = in_tile(job, t); first && i < n; i++) at[i] += first;
}

static void cut_tile(const struct job *job, int32_t t)
{
    const float *at[IG_PIECES_ROWS];
    char *to = job->pixels + t * job->tile;
    for (int32_t s = job->step0; s < job->step1; s++, to += PIXELS_STEP) {
        move_on(job, t, s, at);
        cut_all(at, count_of(job, s), in_tile(job, t), to);
    }
}

/* Row j of a whole step's weights, whose panels' first row is at `left` and `right`. */
static inline __attribute__((always_inline)) void cut_channels(const float *left, const float *right, int32_t j, char *to)
{
    cut(_mm512_loadu_ps(left + j * PANEL), _mm512_loadu_ps(left + (16 + j) * PANEL), to + j * CHANNELS, SIDES * ROW);
    cut(_mm512_loadu_ps(right + j * PANEL), _mm512_loadu_ps(right + (16 + j) * PANEL), to + j * CHANNELS + ROW, SIDES * ROW);
}

/* Rows [j, end) of a step's weights, of n channels. */
static void cut_step(const float *left, const float *right, int32_t n, int32_t j, int32_t end, char *to)
{
    for (; j < end; j++) {
        if (n == IG_PIECES_K) {
            cut_channels(left, right, j, to);
            continue;
        }
        const __mmask16 low = j < n ? 0xffff : 0, high = 16 + j < n ? 0xffff : 0;
        const int32_t at = j * PANEL, next = (16 + j) * PANEL;
        char *row = to + j * CHANNELS;
        cut(_mm512_maskz_loadu_ps(low, left + at), _mm512_maskz_loadu_ps(high, left + next), row, SIDES * ROW);
        cut(_mm512_maskz_loadu_ps(low, right + at), _mm512_maskz_loadu_ps(high, right + next), row + ROW, SIDES * ROW);
    }
}

/* Where a panel's weights of the first step at hand are, behind its bias. */
static const float *weights_at(const struct job *job, const float *panel)
{
    return panel + (1 + job->step0 / job->cut.of_tap * (int64_t)job->ic + first_of(job, job->step0)) * PANEL;
}

/* All steps at hand of two tiles, while rows [j, end) of each step of the next two panels' weights are cut, if there are any. */
static void multiply(const struct job *job, int32_t t, const struct panels *next, int32_t j, int32_t end)
{
    const char *a0 = job->pixels + t * job->tile, *a1 = a0 + job->tile, *b = job->weights[job->side];
    const int32_t n = next->left ? end - j : 0;
    const float *left = n ? weights_at(job, next->left) : NULL, *right = n ? weights_at(job, next->right) : NULL;
    char *to = job->weights[!job->side];
    for (int32_t s = job->step0; s < job->step1; s++, a0 += PIXELS_STEP, a1 += PIXELS_STEP, b += WEIGHTS_STEP, to += WEIGHTS_STEP) {
        const int32_t k = count_of(job, s);
        if (k < IG_PIECES_K || n == 0) {
            if (n) cut_step(left, right, k, j, end, to);
            STEP(NOTHING);
        } else {
#define NEXT(i) for (int32_t row = j + n * (i) / 6; row < j + n * ((i) + 1) / 6; row++) cut_channels(left, right, row, to)
            STEP(NEXT);
#undef NEXT
        }
        if (n) {
            left += k * PANEL;
            right += k * PANEL;
        }
    }
}

/* The same of tiles 0 and 1, where a step's own weights are cut during the one before. */
static void multiply_and_cut_weights(const struct job *job, const struct panels *now)
{
    const char *a0 = job->pixels, *a1 = a0 + job->tile;
    const float *left = weights_at(job, now->left), *right = weights_at(job, now->right);
    char *b = job->weights[job->side];
    cut_step(left, right, count_of(job, job->step0), 0, 16, b);
    for (int32_t s = job->step0; s < job->step1; s++, a0 += PIXELS_STEP, a1 += PIXELS_STEP, b += WEIGHTS_STEP) {
        char *to = b + WEIGHTS_STEP;
        left += count_of(job, s) * PANEL;
        right += count_of(job, s) * PANEL;
        if (s + 1 == job->step1 || count_of(job, s + 1) < IG_PIECES_K) {
            if (s + 1 < job->step1) cut_step(left, right, count_of(job, s + 1), 0, 16, to);
            STEP(NOTHING);
            continue;
        }
#define NEXT(i) for (int32_t j = (i) * 8 / 3; j < ((i) + 1) * 8 / 3; j++) cut_channels(left, right, j, to)
        STEP(NEXT);
#undef NEXT
    }
}

/* The same of tiles t and t + 1, while the two behind them are cut. */
static void multiply_and_cut_pixels(const struct job *job, int32_t t)
{
    const char *a0 = job->pixels + t * job->tile, *a1 = a0 + job->tile, *b = job->weights[job->side];
    char *to0 = job->pixels + (t + 2) * job->tile, *to1 = to0 + job->tile;
    const float *at0[IG_PIECES_ROWS], *at1[IG_PIECES_ROWS];
    const int32_t n0 = in_tile(job, t + 2), n1 = in_tile(job, t + 3), sixth = (job->rows + 5) / 6;
    for (int32_t s = job->step0; s < job->step1;
         s++, a0 += PIXELS_STEP, a1 += PIXELS_STEP, b += WEIGHTS_STEP, to0 += PIXELS_STEP, to1 += PIXELS_STEP) {
        move_on(job, t + 2, s, at0);
        move_on(job, t + 3, s, at1);
        if (count_of(job, s) < IG_PIECES_K) {
            cut_all(at0, count_of(job, s), n0, to0);
            cut_all(at1, count_of(job, s), n1, to1);
            STEP(NOTHING);
            continue;
        }
#define UNTIL(i, n) ((i) * sixth < (n) ? (i) * sixth : (n))
#define NEXT(i) \
    cut_some(at0, (i) * sixth, UNTIL((i) + 1, n0), to0); \
    cut_some(at1, (i) * sixth, UNTIL((i) + 1, n1), to1)
        STEP(NEXT);
#undef NEXT
#undef UNTIL
    }
}

/* act(from + residual) to channels [c, c + n) of a pixel. */
static void put_part(const struct job *job, const struct place *p, const float *from, int32_t c, int32_t n)
{
    for (int32_t k = 0; k < n; k++) p->to[c + k] = p->residual ? from[k] + p->residual[c + k] : from[k];
    if (job->conv->act.kind != IG_NONE) ig_act_row_avx512(p->to + c, p->to + c, n, &job->conv->act);
}

/* The same of the pixels of tiles t and t + 1, from job->out's channel `from` on. */
static void put(const struct job *job, int32_t t, int32_t c, int32_t from, int32_t n)
{
    const struct ig_act *act = &job->conv->act;
    const int32_t clip = act->kind == IG_CLIP, whole = n == WIDE && (act->kind == IG_NONE || act->kind == IG_RELU || clip);
    const __m512 lo = _mm512_set1_ps(clip ? act->alpha : 0), hi = _mm512_set1_ps(act->beta);
    for (int32_t side = 0; side < SIDES; side++) {
        const struct place *p = job->place + (t + side) * job->rows;
        const float *sums = job->out + side * SUMS / 2 + from;
        for (int32_t i = 0, end = in_tile(job, t + side); i < end; i++, p++, sums += WIDE) {
            if (!whole) {
                put_part(job, p, sums, c, n);
                continue;
            }
#pragma GCC unroll 2
            for (int32_t k = 0; k < WIDE; k += PANEL) {
                __m512 v = _mm512_load_ps(sums + k);
                if (p->residual) v = _mm512_add_ps(v, _mm512_loadu_ps(p->residual + c + k));
                if (act->kind != IG_NONE) v = _mm512_max_ps(lo, v); /* of a NaN and a bound the second stays, the NaN */
                if (clip) v = _mm512_min_ps(hi, v);
                _mm512_storeu_ps(p->to + c + k, v);
            }
        }
    }
}

#define FOUR(OP, p0, p1, p2, p3, step) OP(0, p0, step); OP(1, p1, step); OP(2, p2, step); OP(3, p3, step)

/*
 * 32 channels of tiles t and t + 1, behind the `done` first ones of the range. The next ones' weights are cut meanwhile: by the first
 * channels' last tiles, which alone cut no pixels, later by all tiles a part.
 */
static void run_tiles(const struct job *job, int32_t t, int32_t tiles, int32_t done, const struct panels *now, const struct panels *next)
{
    float *waiting = job->sums + (t / SIDES * (int64_t)job->cut.oc + done) * SIDES * IG_PIECES_ROWS;
    if (job->step0) {
        FOUR(TILE_LOAD, waiting, waiting + PANEL, waiting + SUMS / 2, waiting + SUMS / 2 + PANEL, SUMS_ROW);
    } else {
        FOUR(TILE_LOAD, now->left, now->right, now->left, now->right, 0);
    }
    if (t == 0 && (!done || tiles == SIDES)) multiply_and_cut_weights(job, now);
    else if (!done && t + SIDES < tiles) multiply_and_cut_pixels(job, t);
    else if (!done) multiply(job, t, next, 0, 16);
    else multiply(job, t, next, 16 * t / tiles, 16 * (t + SIDES) / tiles);
    float *to = job->step1 < job->cut.steps ? waiting : job->out;
    FOUR(TILE_STORE, to, to + PANEL, to + SUMS / 2, to + SUMS / 2 + PANEL, SUMS_ROW);
}

/* The two panels of a group's channels [c, c + 32), the first twice where `end` leaves one; nothing from `end` on. */
static struct panels panels_at(const struct job *job, int32_t c, int32_t end)
{
    const int32_t panels = (job->oc + PANEL - 1) / PANEL;
    const float *left = (const float *)job->call->weights + (job->group * (int64_t)panels + c / PANEL) * job->panel;
    return c < end ? (struct panels){left, c + PANEL < end ? left + job->panel : left} : (struct panels){NULL, NULL};
}

/* The range's channels of the group, of the pixels and steps at hand. */
static void run_steps(struct job *job)
{
    const int32_t base = job->group * job->oc, begin = job->range.c0 > base ? job->range.c0 - base : 0;
    const int32_t end = job->range.c1 - base < job->oc ? job->range.c1 - base : job->oc;
    int32_t tiles = (job->count + job->rows - 1) / job->rows;
    tiles += tiles % SIDES;
    job->tile = (job->step1 - job->step0) * (int64_t)PIXELS_STEP;
    for (int32_t t = 0; t < tiles && t < 2 * SIDES; t++) cut_tile(job, t);
    for (int32_t first = begin / PANEL * PANEL, c = first; c < end; c += WIDE, job->side = !job->side) {
        const struct panels now = panels_at(job, c, end), next = panels_at(job, c + WIDE, end);
        const int32_t lo = c < begin ? begin - c : 0, n = (end - c < WIDE ? end - c : WIDE) - lo;
        for (int32_t t = 0; t < tiles; t += SIDES) {
            run_tiles(job, t, tiles, c - first, &now, &next);
            if (job->step1 == job->cut.steps) put(job, t, base + c + lo, lo, n);
        }
    }
}

/* The pixels at hand, from the range's `first` on. */
static void find_places(const struct job *job)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    const int residual = job->call->n_in > 3 && r->data;
    int32_t y = job->range.y0 + job->first / out->w, x = job->first % out->w;
    for (int32_t i = 0; i < job->count; i++) {
        job->place[i] = (struct place){y, x, ig_row_f32(out, y) + x * out->pixel_stride,
                                       residual ? ig_row_f32(r, y) + x * r->pixel_stride : NULL};
        if (++x == out->w) x = 0, y++;
    }
}

/* Tiles of equally many pixels, two by two. Returns how many pixels there are. */
static int32_t start(struct job *job, void *scratch)
{
    struct ig_tile_config config = {.palette = 1};
    const int32_t pixels = (job->range.y1 - job->range.y0) * job->call->out[0].w;
    int32_t tiles = (pixels + IG_PIECES_ROWS - 1) / IG_PIECES_ROWS;
    tiles += tiles > 1 ? tiles % SIDES : 0;
    job->rows = (pixels + tiles - 1) / tiles;
    job->pixels = scratch;
    job->weights[0] = job->pixels + ig_pieces_pixels(&job->cut);
    job->weights[1] = job->weights[0] + ig_pieces_weights(&job->cut) / 2;
    job->out = (float *)(job->weights[0] + ig_pieces_weights(&job->cut));
    job->sums = job->out + SUMS;
    job->place = (struct place *)((char *)job->out + ig_pieces_sums(&job->cut));
    for (int i = 0; i < 8; i++) {
        config.row_bytes[i] = ROW;
        config.rows[i] = (uint8_t)(i < 6 ? job->rows : IG_PIECES_ROWS); /* sums, pixels, weights */
    }
    TILE_CONFIGURE(&config);
    return pixels;
}

void conv_f32_32x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {.call = call, .conv = conv, .range = range, .cut = ig_pieces_of(call)};
    _Static_assert(sizeof(struct place) <= IG_PIECES_PLACE, "room for places");
    job.ic = call->in[0].c / conv->groups;
    job.oc = call->out[0].c / conv->groups;
    job.panel = ig_gemm_panel((int64_t)conv->w.kh * conv->w.kw, job.ic, PANEL);
    const int32_t pixels = start(&job, scratch), most = job.cut.tiles * job.rows;
    for (job.group = range.c0 / job.oc; job.group * job.oc < range.c1; job.group++)
        for (job.first = 0; job.first < pixels; job.first += job.count) {
            job.count = pixels - job.first < most ? pixels - job.first : most;
            find_places(&job);
            for (job.step0 = 0; job.step0 < job.cut.steps; job.step0 = job.step1) {
                job.step1 = job.step0 + job.cut.most < job.cut.steps ? job.step0 + job.cut.most : job.cut.steps;
                run_steps(&job);
            }
        }
    TILE_RELEASE();
}
