/* Pictures as inputs: against a straightforward one in double, numbers of another implementation, and plain copies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/picture.h"
#include "tests/support/rng.h"

/* A pixel before it is normalised has three roundings in f32 of values up to 255, each of half a unit in the last
 * place, 2^-17: 4 units are allowed, and the grey of three channels has as many sums again. */
#define TOLERANCE (8 * 0x1p-17)

static double at(const uint8_t *p, int w, int h, int c, int x, int y, int k)
{
    x = x < 0 ? 0 : x > w - 1 ? w - 1 : x;
    y = y < 0 ? 0 : y > h - 1 ? h - 1 : y;
    return p[(y * w + x) * c + k];
}

static double sample(const uint8_t *p, int w, int h, int c, double x, double y, int k)
{
    int x0 = (int)floor(x), y0 = (int)floor(y);
    double fx = x - x0, fy = y - y0;
    return (at(p, w, h, c, x0, y0, k) * (1 - fx) + at(p, w, h, c, x0 + 1, y0, k) * fx) * (1 - fy) +
           (at(p, w, h, c, x0, y0 + 1, k) * (1 - fx) + at(p, w, h, c, x0 + 1, y0 + 1, k) * fx) * fy;
}

/* Of the input's pixel, before scale, mean and std. */
static double expected(const struct ig_picture *p, const uint8_t *src, int w, int h, int c, int rw, int rh, int x,
                       int y, int k)
{
    double X = (x + nearbyint((rw - p->w) / 2.0) + 0.5) * w / rw - 0.5,
           Y = (y + nearbyint((rh - p->h) / 2.0) + 0.5) * h / rh - 0.5;
    if (c == 1) return sample(src, w, h, c, X, Y, 0);
    if (p->c == 3) return sample(src, w, h, c, X, Y, p->bgr ? 2 - k : k);
    return 0.299 * sample(src, w, h, c, X, Y, 0) + 0.587 * sample(src, w, h, c, X, Y, 1) +
           0.114 * sample(src, w, h, c, X, Y, 2);
}

static void check_one(struct rng *r)
{
    int w = 1 + (int)(rng_next(r) % 40), h = 1 + (int)(rng_next(r) % 40), c = rng_next(r) % 3 ? 3 : 1, rw = w, rh = h;
    struct ig_tap columns[64];
    struct ig_picture p = {.c = rng_next(r) % 3 ? 3 : 1,
                           .scale = 1.0f / 255,
                           .mean = {0.4f, 0.5f, 0.3f},
                           .std = {0.2f, 0.3f, 0.25f},
                           .columns = columns};
    p.channels_last = rng_next(r) % 2;
    p.bgr = rng_next(r) % 2;
    p.type = (const int32_t[]){IG_U8, IG_F16, IG_F32, IG_F32}[rng_next(r) % 4];
    int way = (int)(rng_next(r) % 3);
    if (way == 1) p.short_side = 1 + (int)(rng_next(r) % 40);
    if (way == 2) p.width = 1 + (int)(rng_next(r) % 40), p.height = 1 + (int)(rng_next(r) % 40);
    if (way == 1) rw = w < h ? p.short_side : p.short_side * w / h, rh = w < h ? p.short_side * h / w : p.short_side;
    if (way == 2) rw = p.width, rh = p.height;
    p.w = 1 + (int)(rng_next(r) % (unsigned)(rw < 64 ? rw : 64));
    p.h = 1 + (int)(rng_next(r) % (unsigned)(rh < 64 ? rh : 64));
    uint8_t *src = malloc((size_t)(w * h * c));
    size_t n = (size_t)(p.c * p.h * p.w);
    float *got = malloc(n * sizeof *got);
    for (int i = 0; i < w * h * c; i++) src[i] = (uint8_t)rng_next(r);
    assert_int_equal(ig_picture_fit(&p, src, w, h, c, got), 0);
    for (int y = 0; y < p.h; y++)
        for (int x = 0; x < p.w; x++)
            for (int k = 0; k < p.c; k++) {
                int i = p.channels_last ? (y * p.w + x) * p.c + k : (k * p.h + y) * p.w + x;
                double v = expected(&p, src, w, h, c, rw, rh, x, y, k);
                double have = ig_as_double(p.type, got, i);
                if (p.type != IG_U8) have = (have * (double)p.std[k] + (double)p.mean[k]) * 255;
                /* what normalising rounds is undone here: 2 units of values up to 4, times std and 255; of a half one */
                double most = p.type == IG_U8 ? 0.5 + TOLERANCE : TOLERANCE + 4 * (p.type == IG_F16 ? 0x1p-13 : 0x1p-22) * 255;
                if (fabs(v - have) > most)
                    fail_msg("%dx%dx%d to %dx%d, %dx%dx%d at %d,%d,%d: %.9g, not %.9g", w, h, c, rw, rh, p.w, p.h, p.c,
                             x, y, k, have, v);
            }
    p.w = rw + 1;
    assert_int_equal(ig_picture_fit(&p, src, w, h, c, got), -1);
    free(src);
    free(got);
}

static void as_in_double(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rng r = {seed};
        check_one(&r);
    }
}

/* ONNX Resize, linear, half_pixel, of the same pixels by another runtime, which rounds in other places. */
static void golden(void **state)
{
    static const float less[12] = {26,      76,     126,        176,        117.25f,    184.75f,
                                   188.25f, 63.75f, 165.83334f, 58.833336f, 122.49999f, 207.49998f},
                       more[18] = {0,           15.5f,      36.166664f, 56.83333f,  77.5f,      98.16667f,
                                   118.833336f, 139.5f,     155,        23.1875f,   40.21875f,  62.927086f,
                                   85.635414f,  108.34375f, 131.0521f,  153.76042f, 176.46875f, 193.5f};
    struct ig_tap columns[9];
    uint8_t src[30];
    float got[72];
    (void)state;
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 6; x++) src[y * 6 + x] = (uint8_t)(y * 53 + x * 31 + y * x * 7);
    struct ig_picture p = {.c = 1, .h = 3, .w = 4, .width = 4, .height = 3, .scale = 1, .std = {1}, .columns = columns};
    assert_int_equal(ig_picture_fit(&p, src, 6, 5, 1, got), 0);
    for (int i = 0; i < 12; i++) assert_float_equal(got[i], less[i], 1e-4);
    p.h = p.height = 8;
    p.w = p.width = 9;
    assert_int_equal(ig_picture_fit(&p, src, 6, 5, 1, got), 0);
    for (int i = 0; i < 18; i++) assert_float_equal(got[i], more[i], 1e-4);
}

/* A picture of the input's size: the bits of (v - mean)/std. */
static void not_resized(void **state)
{
    struct ig_tap columns[16];
    uint8_t src[256 * 3];
    float got[256 * 3];
    (void)state;
    for (int i = 0; i < 256 * 3; i++) src[i] = (uint8_t)(i / 3 + i % 3 * 85);
    for (int resize = 0; resize < 2; resize++) {
        struct ig_picture p = {.c = 3,
                               .h = 16,
                               .w = 16,
                               .short_side = resize * 16,
                               .scale = 1,
                               .mean = {123.7f, 116.3f, 103.5f},
                               .std = {58.4f, 57.1f, 57.4f},
                               .columns = columns};
        assert_int_equal(ig_picture_fit(&p, src, 16, 16, 3, got), 0);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 256; i++) {
                float want = ((float)src[i * 3 + k] - p.mean[k]) / p.std[k];
                assert_memory_equal(&got[k * 256 + i], &want, sizeof want);
            }
    }
}

static void softmax(void **state)
{
    float v[6] = {1, 2, 3, 1000, 1000, -INFINITY};
    (void)state;
    ig_softmax_rows(v, 2, 3);
    assert_float_equal(v[0], 0.09003057, 1e-7);
    assert_float_equal(v[1], 0.24472847, 1e-7);
    assert_float_equal(v[2], 0.66524096, 1e-7);
    assert_true(v[3] == 0.5f && v[4] == 0.5f && v[5] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_in_double), cmocka_unit_test(golden),
                                       cmocka_unit_test(not_resized), cmocka_unit_test(softmax)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
