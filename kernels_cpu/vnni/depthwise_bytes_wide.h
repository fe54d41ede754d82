/*
 * Depthwise convolution of quantised numbers by vectors of 64 channels, behind common/depthwise_fours.inc: two rounds of unpacking make of
 * four pixels' bytes four vectors of words, and narrowing their sums undoes the order. Where there are 32, 16 or 8 channels a vector has
 * those of 2, 4 or 8 units. A unit is what four pixels are the words of: two outputs where the stride is 1, else one. Sums, of 8 registers, become
 * outputs without passing through memory; units at an image's edge are as the others, but that each of their pixels may be the padding.
 */
enum { WIDE = 64, PARTS = WIDE / N };

struct units {                  /* of a row */
    const struct ig_bytes_head *head;
    const uint8_t **at;         /* [words][4] the first one's pixels */
    const int64_t *next;        /* [words] bytes from a unit's pixels to the next one's, 0 in the padding */
    int32_t words, count;       /* of a unit; units */
    const int32_t *weights;     /* of the channels at hand, see common/conv_bytes.h */
    int64_t c, stride;          /* their first; bytes from an output to the next */
    int32_t n;                  /* channels at hand, WIDE at most */
    uint8_t *to;                /* where the first unit's outputs go */
};

/* A pixel at p of a unit and of those behind it. */
INLINE __m512i pixel_of(const uint8_t *p, int64_t next, __mmask64 there, const int together)
{
    if (together == 1) return _mm512_maskz_loadu_epi8(there, p);
    if (together == 2)
        return _mm512_mask_broadcast_i64x4(_mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p)), 0xf0,
                                           _mm256_loadu_si256((const __m256i *)(p + next)));
    __m512i v = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
    v = _mm512_mask_broadcast_i32x4(v, 0x00f0, _mm_loadu_si128((const __m128i *)(p + next)));
    v = _mm512_mask_broadcast_i32x4(v, 0x0f00, _mm_loadu_si128((const __m128i *)(p + 2 * next)));
    return _mm512_mask_broadcast_i32x4(v, 0xf000, _mm_loadu_si128((const __m128i *)(p + 3 * next)));
}

/* Four pixels at p of eight units, two pixels apart, of an image of 8 channels; or of the padding. */
INLINE void pixels_of_eights(const uint8_t *p, int64_t next, __m512i x[4])
{
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    if (!next) {
        x[0] = x[1] = x[2] = x[3] = _mm512_set1_epi8((char)*p);
        return;
    }
    const __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64), c = _mm512_loadu_si512(p + 16), d = _mm512_loadu_si512(p + 80);
    x[0] = _mm512_permutex2var_epi64(a, even, b);
    x[1] = _mm512_permutex2var_epi64(a, odd, b);
    x[2] = _mm512_permutex2var_epi64(c, even, d);
    x[3] = _mm512_permutex2var_epi64(c, odd, d);
}

/* Words of four pixels, which lie `skip` behind those at `at`. */
INLINE void wide_words(const uint8_t *const *at, int64_t skip, int64_t next, __mmask64 there, __m512i flip, const int together, __m512i x[PARTS])
{
    if (together == 8) pixels_of_eights(at[0] + skip, next, x);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) x[j] = _mm512_xor_si512(together == 8 ? x[j] : pixel_of(at[j] + skip, next, there, together), flip);
    const __m512i low = _mm512_unpacklo_epi8(x[0], x[1]), high = _mm512_unpackhi_epi8(x[0], x[1]);
    const __m512i low2 = _mm512_unpacklo_epi8(x[2], x[3]), high2 = _mm512_unpackhi_epi8(x[2], x[3]);
    x[0] = _mm512_unpacklo_epi16(low, low2), x[1] = _mm512_unpackhi_epi16(low, low2);
    x[2] = _mm512_unpacklo_epi16(high, high2), x[3] = _mm512_unpackhi_epi16(high, high2);
}

/* One output's bytes, of each unit, `apart` bytes from one's to the next one's. */
INLINE void store_wide(uint8_t *to, int64_t apart, __m512i v, int32_t n, const int together)
{
    const __m128i lanes[4] = {_mm512_castsi512_si128(v), _mm512_extracti32x4_epi32(v, 1), _mm512_extracti32x4_epi32(v, 2),
                              _mm512_extracti32x4_epi32(v, 3)};
    if (together == 1 && n == WIDE) _mm512_storeu_si512(to, v);
    if (together == 1 && n < WIDE) _mm512_mask_storeu_epi8(to, (1ull << n) - 1, v);
    if (together == 2) {
        _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(v));
        _mm256_storeu_si256((__m256i *)(to + apart), _mm512_extracti64x4_epi64(v, 1));
    }
#pragma GCC unroll 4
    for (int l = 0; together == 4 && l < 4; l++) _mm_storeu_si128((__m128i *)(to + l * apart), lanes[l]);
#pragma GCC unroll 4
    for (int l = 0; together == 8 && l < 4; l++) {
        _mm_storel_epi64((__m128i *)(to + 2 * l * apart), lanes[l]);
        _mm_storel_epi64((__m128i *)(to + (2 * l + 1) * apart), _mm_unpackhi_epi64(lanes[l], lanes[l]));
    }
}

/* Sums of unit i and of those behind it, `together`. */
INLINE void sum_units(const struct units *u, int64_t i, __m512i flip, const int outputs, const int together, __m512i s[2][PARTS])
{
    const int32_t *w = u->weights + 2 * WIDE;
    const __mmask64 there = u->n == WIDE ? ~0ull : (1ull << u->n) - 1;
    const uint8_t *const *at = u->at, *const *end = at + 4 * u->words;
    const int64_t *next = u->next, c = u->c;
    __m512i x[PARTS];
#pragma GCC unroll 4
    for (int j = 0; j < PARTS; j++) s[0][j] = s[1][j] = _mm512_loadu_si512(u->weights + j * N);
    for (; at < end; at += 4, next++, w += 2 * WIDE) {
        wide_words(at, i * *next + c, *next, there, flip, together, x);
#pragma GCC unroll 2
        for (int o = 0; o < outputs; o++)
#pragma GCC unroll 4
            for (int j = 0; j < PARTS; j++) s[o][j] = _mm512_dpbusd_epi32(s[o][j], x[j], _mm512_loadu_si512(w + o * WIDE + j * N));
    }
}

/* All units, `together` of so many at least; the last ones overlap those before. */
INLINE void run_units(const struct units *u, const int outputs, const int together)
{
    const struct ig_bytes_head h = *u->head; /* which outputs, as bytes, might be */
    const __m512i flip = _mm512_set1_epi8((char)h.flip);
    __m512 scale[PARTS];
    __m512i s[2][PARTS];
#pragma GCC unroll 4
    for (int j = 0; j < PARTS; j++) scale[j] = _mm512_loadu_ps((const float *)u->weights + WIDE + j * N);
    for (int32_t first = 0; first < u->count; first += together) {
        const int64_t i = first + together <= u->count ? first : u->count - together;
        sum_units(u, i, flip, outputs, together, s);
#pragma GCC unroll 2
        for (int o = 0; o < outputs; o++) {
#pragma GCC unroll 4
            for (int j = 0; j < PARTS; j++) s[o][j] = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(s[o][j]), scale[j]));
            store_wide(u->to + (i * outputs + o) * u->stride, outputs * u->stride, ig_bytes_in_lanes(s[o][0], s[o][1], s[o][2], s[o][3], &h), u->n,
                       together);
        }
    }
}

/* How many units a vector has. */
static int32_t together_of(const struct ig_call *call, int32_t n)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    if (n == 8) return call->in[0].c == 8 && call->in[0].pixel_stride == 8 && w->sw <= 2 ? 8 : 1;
    return n == 16 ? 4 : n == 32 ? 2 : 1;
}

static void run_all(const struct units *u, int outputs, int32_t together)
{
#define UNITS(o, t) case 16 * o + t: run_units(u, o, t); break
    switch (16 * outputs + (together <= u->count ? together : 1)) {
        UNITS(1, 1); UNITS(1, 2); UNITS(1, 4); UNITS(1, 8);
        UNITS(2, 1); UNITS(2, 2); UNITS(2, 4);
    default: run_units(u, 2, 8); break;
    }
#undef UNITS
}

/* Weights of n channels from c on. */
static void order_weights(const struct job *job, int32_t c, int32_t n, int32_t *to)
{
    const int32_t rows = 2 * (1 + job->fours.n), blocks = (n + N - 1) / N;
    const int32_t *block = (const int32_t *)(job->head + 1) + c / N * rows * N;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t j = 0; j < PARTS; j++)
            for (int32_t l = 0; l < 4; l++, to += 4)
                memcpy(to, block + (l % blocks * rows + r) * N + 4 * (n == 8 ? j % 2 : j), 4 * sizeof *to);
}

/* Units from output x of row y on, all channels of each. */
static void run_channels(const struct job *job, const int32_t *weights, int32_t y, int32_t x, int32_t count, int outputs)
{
    const struct ig_operand *out = &job->call->out[0];
    const struct fours *f = &job->fours;
    uint8_t *to = (uint8_t *)ig_row(out, y, 1) + x * out->pixel_stride;
    struct units u = {job->head, f->at, f->step, f->n, count, weights, job->range.c0, out->pixel_stride, 0, NULL};
    for (; u.c < job->range.c1; u.c += WIDE, u.weights += ig_bytes_wide_words(job->w)) {
        u.n = job->range.c1 - u.c < WIDE ? (int32_t)(job->range.c1 - u.c) : WIDE;
        u.to = to + u.c;
        run_all(&u, outputs, together_of(job->call, u.n));
    }
}

static void run_row(const struct job *job, const int32_t *weights, int32_t y)
{
    const struct ig_window *w = job->w;
    const struct ig_operand *in = &job->call->in[0];
    const int outputs = w->sw == 1 ? 2 : 1;
    const int32_t apart = outputs * w->sw, width = job->call->out[0].w;
    for (int32_t x = 0, count; x < width; x += count * outputs) {
        x = x + outputs <= width ? x : width - outputs;
        const int32_t x0 = x * w->sw - w->left, room = in->w - 4 * job->fours.row - x0, most = (width - x) / outputs;
        count = x0 < 0 || room < 0 ? 1 : room / apart + 1 < most ? room / apart + 1 : most;
        find_pixels(job, y * w->sh - w->top, x0);
        for (int32_t k = 0; k < job->fours.n; k++) job->fours.step[k] *= apart;
        run_channels(job, weights, y, x, count, outputs);
    }
}

static int is_wide(const struct ig_call *call)
{
    return ((const struct ig_bytes_head *)call->weights)->narrows && (call->out[0].w > 1 || ((const struct ig_conv *)call->attrs)->w.sw > 1);
}

static void depthwise_wide(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct job job = job_of(call, range, scratch);
    int32_t *weights = (int32_t *)((char *)scratch + ig_bytes_wide_at(call)), *to = weights;
    for (int32_t c = range.c0; c < range.c1; c += WIDE, to += ig_bytes_wide_words(job.w))
        order_weights(&job, c, range.c1 - c < WIDE ? range.c1 - c : WIDE, to);
    for (int32_t y = range.y0; y < range.y1; y++) run_row(&job, weights, y);
}
