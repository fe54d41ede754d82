#include "runtime/picture.h"

#include <math.h>

/* Sample i of `out` across `in`: ((2i + 1) in/out - 1)/2 in whole numbers, so that the way between two pixels is
 * rounded once. `step`: elements from a pixel to the next. */
static struct ig_tap tap(int64_t i, int64_t in, int64_t out, int32_t step)
{
    int64_t halves = (2 * i + 1) * in - out, at = halves < 0 ? 0 : halves / (2 * out);
    if (halves < 0) return (struct ig_tap){0, 0, 0};
    if (at >= in - 1) return (struct ig_tap){(int32_t)(in - 1) * step, (int32_t)(in - 1) * step, 0};
    return (struct ig_tap){(int32_t)at * step, (int32_t)(at + 1) * step,
                           (float)(halves % (2 * out)) / (float)(2 * out)};
}

/* Half of an even or odd difference, halves to the even number. */
static int32_t margin(int32_t more)
{
    return (more + ((more / 2) & 1)) / 2;
}

void ig_picture_resized(const struct ig_picture *p, int32_t *w, int32_t *h)
{
    int64_t side = p->short_side;
    if (p->width) {
        *w = p->width;
        *h = p->height;
    } else if (side && *w < *h) {
        *h = (int32_t)(side * *h / *w);
        *w = p->short_side;
    } else if (side) {
        *w = (int32_t)(side * *w / *h);
        *h = p->short_side;
    }
}

static float between(const uint8_t *above, const uint8_t *below, const struct ig_tap *x, int32_t c, float part)
{
    float a = above[x->at + c], b = above[x->next + c], d = below[x->at + c], e = below[x->next + c];
    float top = a + (b - a) * x->part, bottom = d + (e - d) * x->part;
    return top + (bottom - top) * part;
}

/* One channel's value of a pixel; grey: of all three. */
static float pixel(const uint8_t *above, const uint8_t *below, const struct ig_tap *x, int32_t c, float part, int grey)
{
    if (!grey) return between(above, below, x, c, part);
    return 0.299f * between(above, below, x, 0, part) + 0.587f * between(above, below, x, 1, part) +
           0.114f * between(above, below, x, 2, part);
}

/* One channel of one row of the input; pixels of it are `step` elements apart. */
static void fit_row(const struct ig_picture *p, const uint8_t *above, const uint8_t *below, float part, int32_t k,
                    int32_t source_c, void *dst, int64_t to)
{
    const struct ig_tap *x = p->columns, *end = x + p->w;
    const float scale = p->scale, mean = p->mean[k], std = p->std[k];
    const int32_t from = source_c == 1 ? 0 : p->bgr ? 2 - k : k, step = p->channels_last ? p->c : 1;
    const int grey = p->c == 1 && source_c == 3;
    uint8_t *bytes = (uint8_t *)dst + to;
    uint16_t *halves = (uint16_t *)dst + to;
    float *f = (float *)dst + to;
    if (p->type == IG_U8)
        for (; x < end; x++, bytes += step) *bytes = (uint8_t)(pixel(above, below, x, from, part, grey) + 0.5f);
    else if (p->type == IG_F16)
        for (; x < end; x++, halves += step) *halves = ig_float_to_half((pixel(above, below, x, from, part, grey) * scale - mean) / std);
    else if (grey)
        for (; x < end; x++, f += step) *f = (pixel(above, below, x, from, part, 1) * scale - mean) / std;
    else
        for (; x < end; x++, f += step) *f = (between(above, below, x, from, part) * scale - mean) / std;
}

int ig_picture_fit(const struct ig_picture *p, const uint8_t *pixels, int32_t w, int32_t h, int32_t c, void *dst)
{
    int32_t rw = w, rh = h;
    ig_picture_resized(p, &rw, &rh);
    if (rw < p->w || rh < p->h) return -1;
    for (int32_t x = 0; x < p->w; x++) p->columns[x] = tap(x + margin(rw - p->w), w, rw, c);
    for (int32_t y = 0; y < p->h; y++) {
        struct ig_tap row = tap(y + margin(rh - p->h), h, rh, 1);
        const uint8_t *above = pixels + (int64_t)row.at * w * c, *below = pixels + (int64_t)row.next * w * c;
        for (int32_t k = 0; k < p->c; k++)
            fit_row(p, above, below, row.part, k, c, dst,
                    p->channels_last ? (int64_t)y * p->w * p->c + k : ((int64_t)k * p->h + y) * p->w);
    }
    return 0;
}

void ig_softmax_rows(float *v, int64_t rows, int64_t n)
{
    for (int64_t r = 0; r < rows; r++, v += n) {
        float most = -INFINITY;
        double sum = 0;
        for (int64_t i = 0; i < n; i++) most = v[i] > most ? v[i] : most;
        for (int64_t i = 0; i < n; i++) sum += v[i] = expf(v[i] - most);
        for (int64_t i = 0; i < n; i++) v[i] = (float)(v[i] / sum);
    }
}
