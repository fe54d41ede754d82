/* Random convolutions: pointwise, 3x3, depthwise, first layer, grouped, dilated, 1-D, 3-D, wide; all epilogues. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/windows.h"

static const int32_t channels[] = {1,  2,  3,  4,  5,  7,  8,  9,  12, 15, 16,
                                   17, 19, 24, 31, 32, 33, 40, 48, 63, 64};
enum { CHANNELS = sizeof channels / sizeof *channels };

static int32_t some_channels(struct rng *r, int32_t at_most)
{
    int32_t c;
    do c = rng_pick(r, channels, CHANNELS);
    while (c > at_most);
    return c;
}

/* Input channels, output channels and groups by the kind of layer. */
static void kind(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc)
{
    a->groups = 1;
    *ic = some_channels(r, 64);
    *oc = some_channels(r, 64);
    switch (rng_int(r, 0, 7)) {
    case 0: /* first layer */
        *ic = rng_int(r, 1, 4);
        break;
    case 1: /* depthwise */
    case 2:
        if (rng_one_in(r, 8)) *ic = 512; /* pixels that share sets of a cache */
        a->groups = *oc = *ic;
        break;
    case 3: /* depthwise with a multiplier */
        *ic = some_channels(r, 24);
        a->groups = *ic;
        *oc = *ic * rng_int(r, 1, 3);
        break;
    case 4: /* grouped */
        a->groups = rng_int(r, 2, 4);
        if (rng_one_in(r, 2)) { /* many groups of few channels, whose kernels take several at a time, or part of one */
            const int32_t c = RNG_OF(r, 1, 2, 4, 8, 16, 24);
            a->groups = rng_int(r, 2, c > 8 ? 3 : 21);
            *ic = a->groups * c;
            *oc = a->groups * (c < 8 && rng_one_in(r, 3) ? 2 * c : c);
            break;
        }
        *ic = a->groups * some_channels(r, 17);
        *oc = a->groups * some_channels(r, 24);
        break;
    default: break;
    }
}

/* Many channels under a window of one pixel. */
static void wide_pointwise(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    int32_t stride = rng_one_in(r, 4) ? 2 : 1;
    a->groups = 1;
    *ic = RNG_OF(r, 100, 128, 144, 192, 272);
    *oc = RNG_OF(r, 48, 128, 160, 192);
    a->w = (struct ig_window){1, 1, 1, 1, stride, stride, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    in[0] = out[0] = 1;
    for (int i = 1; i < 3; i++) {
        in[i] = rng_int(r, 1, 15);
        out[i] = (in[i] - 1) / stride + 1;
    }
}

/* The same of an image of one pixel, as squeeze-and-excite has it, in few groups at times; of very many channels at others; a window that the image is. */
static void pixel(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    wide_pointwise(r, a, ic, oc, in, out);
    in[1] = out[1] = in[2] = out[2] = 1;
    *oc = RNG_OF(r, 6, 20, 48, 136, 200, 800);
    a->groups = rng_one_in(r, 4) ? 2 : 1;
    if (rng_one_in(r, 2)) return;
    a->w.kh = in[1] = rng_int(r, 1, 7), a->w.kw = in[2] = rng_int(r, 1, 7);
    if (rng_one_in(r, 4)) *(rng_one_in(r, 2) ? &a->w.top : &a->w.left) = 1, a->w.sh = a->w.sw = 3; /* it is shifted */
    *ic = RNG_OF(r, 2, 10, 32, 64);
}

/* Few pixels of very many channels: weights that no cache near the core holds. */
static int is_wide(struct rng *r, const struct ig_conv *a, const int32_t *out)
{
    return a->groups == 1 && a->w.kh == 3 && out[0] * out[1] * out[2] <= 40 && rng_one_in(r, 5);
}

/* A network's first layer: a usual window on an image wide enough for kernels that are made for it. */
static void first_layer(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out, int32_t *ic)
{
    int32_t k = RNG_OF(r, 3, 3, 5, 7, 11), s = k == 11 ? 4 : k == 7 ? 2 : rng_int(r, 1, 2);
    *ic = s == 1 && rng_one_in(r, 2) ? 1 : 3;
    for (int i = 1; i < 3; i++) in[i] = rng_int(r, i == 1 ? 1 : 12 * s, i == 1 ? 11 : 42 * s);
    *w = (struct ig_window){1, k, k, 1, s, s, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1};
    if (rng_one_in(r, 3)) w->top = w->left = s - 1;
    if (rng_one_in(r, 3)) w->right = rng_int(r, 0, k - 1);
    if (rng_one_in(r, 6)) w->left = rng_int(r, k, 40); /* FCN has 100 */
    if (rng_one_in(r, 6)) w->right = rng_int(r, k, 40);
    in[0] = out[0] = 1;
    while (in[1] + w->top + w->bottom < k) in[1]++;
    out[1] = (in[1] + w->top + w->bottom - k) / s + 1;
    out[2] = (in[2] + w->left + w->right - k) / s + 1;
}

/* A row or a column of taps, or as many of both: what is made for such windows is rare among random ones. */
static void taps(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out)
{
    int32_t k = RNG_OF(r, 3, 5, 7), way = rng_int(r, 0, 2), kh = way == 0 ? 1 : k, kw = way == 1 ? 1 : k;
    *w = (struct ig_window){1, kh, kw, 1, 1, 1, 1, 1, 1, 0, kh / 2, kw / 2, 0, kh / 2, kw / 2, 1, 1};
    if (rng_one_in(r, 3)) w->top = rng_int(r, 0, kh - 1);
    if (rng_one_in(r, 3)) w->right = rng_int(r, 0, kw - 1);
    in[0] = out[0] = 1;
    in[1] = rng_int(r, 1, 17);
    in[2] = rng_int(r, 1, rng_one_in(r, 4) ? 40 : 17);
    while (in[1] + w->top + w->bottom < kh) in[1]++;
    while (in[2] + w->left + w->right < kw) in[2]++;
    out[1] = in[1] + w->top + w->bottom - kh + 1;
    out[2] = in[2] + w->left + w->right - kw + 1;
}

/* Channels each by itself under a window that is large, or high, or wide, on an image that is not; taps apart at times. */
static void large_depthwise(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc, int32_t *in, int32_t *out)
{
    const int alike = rng_one_in(r, 4); /* pixels that share a set of a cache */
    const int32_t kh = alike ? 7 : RNG_OF(r, 1, 5, 9, 11, 31, 51), kw = alike ? 9 : kh > 11 ? RNG_OF(r, 3, 5, 31) : RNG_OF(r, 1, 3, 9, 11, 13);
    const int32_t d = rng_one_in(r, 3) ? 2 : 1, s = rng_one_in(r, 4) ? 2 : 1, high = d * (kh - 1), wide = d * (kw - 1);
    a->w = (struct ig_window){1, kh, kw, 1, s, s, 1, d, d, 0, high / 2, wide / 2, 0, high - high / 2, wide - wide / 2, 1, 1};
    a->groups = *oc = *ic = alike ? 1024 : RNG_OF(r, 5, 16, 24, 33);
    in[0] = out[0] = 1;
    in[1] = alike ? rng_int(r, 8, 15) : rng_int(r, 1, 12);
    in[2] = rng_int(r, s == 2 ? 13 : 7, alike ? 14 : 33);
    for (int i = 1; i < 3; i++) out[i] = (in[i] - 1) / s + 1;
}

/* A volume under a window of 3x3 whose outputs are whole tiles of Winograd's, of most of them. */
static void whole_tiles(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out, int32_t *ic)
{
    int32_t s = rng_one_in(r, 3) ? 2 : 1, kd = RNG_OF(r, 1, 2, 3, 3), dd = rng_one_in(r, 3) ? 2 : 1, span = (kd - 1) * dd + 1;
    *w = (struct ig_window){kd, 3, 3, rng_int(r, 1, 2), s, s, dd, 1, 1, rng_int(r, 0, span), 1, 1, rng_int(r, 0, span), 1, 1, 1, 1};
    *ic = RNG_OF(r, 16, 32, 48, 20);
    in[0] = w->in_d = rng_int(r, span > 1 ? span - 1 : 1, 5);
    while (in[0] + w->front + w->back < span) w->back++;
    out[0] = w->out_d = (in[0] + w->front + w->back - span) / w->sd + 1;
    out[1] = RNG_OF(r, 2, 4, 4, 6, 8, 12, 5);
    in[1] = (out[1] - 1) * s + 1;
    in[2] = rng_int(r, 1, 17);
    out[2] = (in[2] - 1) / s + 1;
}

/* A volume each of whose rows is computed from one, of most of them; pointwise at times, to few channels at times. */
static void rows_alone(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out, int32_t *oc)
{
    int32_t k = RNG_OF(r, 1, 1, 3, 5), before = rng_int(r, 0, k - 1), kd = RNG_OF(r, 1, 1, 1, 2), kh = RNG_OF(r, 1, 1, 1, 2);
    *w = (struct ig_window){kd, kh, k, 1, 1, 1, 1, 1, 1, 0, 0, before, 0, 0, k - 1 - before, 1, 1};
    out[0] = w->out_d = rng_int(r, 1, 4);
    in[0] = w->in_d = out[0] + kd - 1;
    out[1] = rng_int(r, 1, 5);
    in[1] = out[1] + kh - 1;
    in[2] = out[2] = rng_int(r, 1, 40);
    if (rng_one_in(r, 2)) *oc = rng_int(r, 1, 4);
}

/* Few channels out, of rows of all widths up to some tiles; of one pixel each, most of them, at times beyond one side of the image. */
static void few_outputs(struct rng *r, struct ig_window *w, int32_t *in, int32_t *out, int32_t *oc)
{
    const int32_t k = RNG_OF(r, 1, 1, 1, 3), s = rng_int(r, 1, 2), beyond = rng_one_in(r, 2) ? rng_int(r, 1, 3) : k / 2, top = rng_one_in(r, 2);
    *w = (struct ig_window){1, k, k, 1, s, s, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1};
    if (beyond != k / 2 && top) w->top = beyond;
    if (beyond != k / 2 && !top) w->bottom = beyond;
    in[0] = out[0] = 1;
    in[1] = rng_int(r, 1, 9);
    in[2] = rng_int(r, 1, rng_one_in(r, 4) ? 70 : 17);
    *oc = rng_int(r, 1, 4);
    out[1] = (in[1] + w->top + w->bottom - k) / s + 1;
    out[2] = (in[2] + w->left + w->right - k) / s + 1;
}

/* Many channels, few of them out, under a window of 3x3: kernels may take some of them at a time. */
static void deep(struct rng *r, struct ig_conv *a, int32_t *ic, int32_t *oc)
{
    const struct ig_window *w = &a->w;
    if (a->groups > 1 || w->kh != 3 || w->kw != 3 || w->sh != 1 || w->sw != 1 || !rng_one_in(r, 4)) return;
    *ic = RNG_OF(r, 65, 100, 128, 136);
    *oc = RNG_OF(r, 3, 16, 31, 48);
}

static void make(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_conv *a = &p->attrs.conv;
    int32_t ic, oc, rank = 2, in[3], out[3];
    if (rng_one_in(r, 6)) {
        wide_pointwise(r, a, &ic, &oc, in, out);
    } else if (rng_one_in(r, 12)) {
        pixel(r, a, &ic, &oc, in, out);
    } else if (rng_one_in(r, 24)) {
        large_depthwise(r, a, &ic, &oc, in, out);
    } else {
        if (rng_one_in(r, 4)) rank = RNG_OF(r, 1, 3, 3, 3);
        kind(r, a, &ic, &oc);
        windows_make(r, &a->w, rank, in, out);
        if (rank == 2 && a->groups == 1 && rng_one_in(r, 5)) taps(r, &a->w, in, out);
        if (rank == 3 && a->groups == 1 && rng_one_in(r, 2)) whole_tiles(r, &a->w, in, out, &ic);
        else if (rank == 3 && a->groups == 1 && rng_one_in(r, 3)) rows_alone(r, &a->w, in, out, &oc);
        if (rank == 2 && a->groups == 1 && ic <= 4 && !rng_one_in(r, 3)) first_layer(r, &a->w, in, out, &ic);
        else if (rank == 2 && a->groups == 1 && rng_one_in(r, 3)) few_outputs(r, &a->w, in, out, &oc);
    }
    if (is_wide(r, a, out)) {
        ic = RNG_OF(r, 200, 390, 520);
        oc = ic == 520 ? RNG_OF(r, 8, 16, 40) : RNG_OF(r, 200, 390); /* sums of 4680 products */
    } else if (rank == 2) {
        deep(r, a, &ic, &oc);
    }
    a->act = windows_act(r, pass);
    int32_t weights[5] = {oc, ic / a->groups}, taps = a->w.kd * a->w.kh * a->w.kw;
    const int32_t k[3] = {a->w.kd, a->w.kh, a->w.kw};
    memcpy(weights + 2, k + 3 - rank, (size_t)rank * sizeof *k);
    windows_image(p, 0, rank, in, ic, 0);
    windows_image(p, 0, rank, out, oc, 1);
    check_in(p, 1, IG_F32, rank + 2, weights);
    if (!rng_one_in(r, 4)) check_in(p, 2, IG_F32, 1, &oc);
    if (rng_one_in(r, 4)) windows_image(p, 3, rank, out, oc, 0);
    p->constant = rng_one_in(r, 12) ? 0 : 6;
    p->dense = 6;
    p->exact = pass == CHECK_INTEGERS;
    p->terms = (double)taps * weights[1] + 2;
    p->abs = windows_act_is_linear(&a->act) ? 0 : 16;
    p->magnitude = p->attrs;
    p->magnitude.conv.act.kind = IG_NONE;
    windows_text(p, &a->w, in, ic, oc);
    size_t n = strlen(p->text);
    snprintf(p->text + n, sizeof p->text - n, " groups %d act %s%s%s", a->groups, ig_unary_name(a->act.kind),
             p->has_in >> 2 & 1 ? " bias" : "", p->has_in >> 3 & 1 ? " residual" : "");
}

static void rows(const struct check_problem *p, int in, int32_t y0, int32_t y1, int32_t *a, int32_t *b)
{
    if (in == 0) windows_rows(p, &p->attrs.conv.w, y0, y1, a, b);
}

int main(int argc, char **argv)
{
    static const struct check_body body = {IG_CONV, 36, 1800, make, rows};
    return check_main(&body, argc, argv);
}
