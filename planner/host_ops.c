#include "planner/host_ops.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ns on a core of a Zen 4: an element of the input; one of the output, and one of softmax; finding the best of it. */
static const double element_ns = 3.2, best_ns = 2.0, softmax_ns = 8.0, score_ns = 0.9; /* a score of a box */

struct error {
    char *text;
    size_t n;
};

enum { KEYS = 14 }; /* that there are */

static int wrong(const struct error *e, const char *key, const char *value, const char *takes)
{
    snprintf(e->text, e->n, "input spec: %s=%.60s: %s", key, value, takes);
    return -1;
}

/* "224" or "320x240" */
static int read_size(const char *value, int32_t *w, int32_t *h)
{
    int end = 0;
    if (sscanf(value, "%5d%n", w, &end) == 1 && !value[end])
        *h = 0;
    else if (sscanf(value, "%5dx%5d%n", w, h, &end) != 2 || value[end] || *h < 1)
        return -1;
    return *w < 1 || *w > 16384 || *h > 16384 ? -1 : 0;
}

static int read_frames(const char *value, struct ig_host_ops *o)
{
    int end = 0;
    if (sscanf(value, "%5dx%5dx%1d%n", &o->frame_w, &o->frame_h, &o->frame_c, &end) != 3) return -1;
    if (value[end] && strcmp(value + end, " uint8")) return -1;
    return o->frame_w < 1 || o->frame_h < 1 || o->frame_w > 16384 || o->frame_h > 16384 ||
                   (o->frame_c != 1 && o->frame_c != 3)
               ? -1
               : 0;
}

/* Up to four numbers: how many, or -1. The last counts for the channels that are left. */
static int read_channels(const char *value, int positive, float v[4])
{
    char *end;
    int n = 0;
    for (const char *p = value; n < 4; p = end + 1) {
        v[n] = strtof(p, &end);
        if (end == p || !isfinite(v[n]) || (positive && v[n] <= 0)) return -1;
        n++;
        if (*end != ',') break;
    }
    for (int i = n; i < 4; i++) v[i] = v[n - 1];
    return *end ? -1 : n;
}

/* "0.5" or "1/255" */
static int read_scale(const char *value, float *scale)
{
    double a, b = 1;
    int end = 0;
    if (sscanf(value, "%lf/%lf%n", &a, &b, &end) != 2 || value[end]) {
        b = 1;
        if (sscanf(value, "%lf%n", &a, &end) != 1 || value[end]) return -1;
    }
    *scale = (float)(a / b);
    return isfinite(*scale) && *scale > 0 ? 0 : -1;
}

static int read_number(const char *value, double low, double high, float *v)
{
    char *end;
    double x = strtod(value, &end);
    *v = (float)x;
    return end == value || *end || !(x >= low && x <= high) ? -1 : 0;
}

/* 1 or 0 for the first or the second word, -1 for another. */
static int choice(const char *value, const char *yes, const char *no)
{
    return !strcmp(value, yes) ? 1 : !strcmp(value, no) ? 0 : -1;
}

static int set(struct ig_host_ops *o, const char *key, const char *value, const struct error *e)
{
    if (!strcmp(key, "resize")) {
        o->short_side = 0;
        if (read_size(value, &o->width, &o->height))
            return wrong(e, key, value, "takes the shorter side or width x height in pixels: 256 or 320x240");
        if (!o->height) o->short_side = o->width, o->width = 0;
    } else if (!strcmp(key, "crop")) {
        if (read_size(value, &o->crop_w, &o->crop_h))
            return wrong(e, key, value, "takes a side or width x height in pixels: 224 or 320x240");
        if (!o->crop_h) o->crop_h = o->crop_w;
    } else if (!strcmp(key, "frames")) {
        if (read_frames(value, o)) return wrong(e, key, value, "takes width x height x 1 or 3: 640x480x3");
    } else if (!strcmp(key, "order")) {
        if ((o->bgr = choice(value, "bgr", "rgb")) < 0) return wrong(e, key, value, "takes rgb or bgr");
    } else if (!strcmp(key, "layout")) {
        int nchw = choice(value, "nchw", "nhwc");
        if (nchw < 0) return wrong(e, key, value, "takes nchw or nhwc");
        o->layout = nchw ? IG_SPEC_NCHW : IG_SPEC_NHWC;
    } else if (!strcmp(key, "softmax")) {
        if ((o->softmax = choice(value, "yes", "no")) < 0) return wrong(e, key, value, "takes yes or no");
    } else if (!strcmp(key, "top")) {
        int end = 0;
        if (sscanf(value, "%3d%n", &o->top, &end) != 1 || value[end] || o->top < 1 || o->top > 100)
            return wrong(e, key, value, "takes a number from 1 to 100");
    } else if (!strcmp(key, "nms")) {
        if (read_number(value, 1e-6, 1, &o->nms))
            return wrong(e, key, value, "takes the overlap that is too much, above 0 up to 1: 0.5");
    } else if (!strcmp(key, "score")) {
        if (read_number(value, -1e9, 1e9, &o->score))
            return wrong(e, key, value, "takes the score above which boxes count: 0.25");
    } else if (!strcmp(key, "boxes")) {
        int end = 0;
        if (sscanf(value, "%3d%n", &o->boxes, &end) != 1 || value[end] || o->boxes < 1 || o->boxes > 100)
            return wrong(e, key, value, "takes the most boxes of a class, 1 to 100");
    } else if (!strcmp(key, "box")) {
        if ((o->center = choice(value, "center", "corners")) < 0) return wrong(e, key, value, "takes corners or center");
    } else if (!strcmp(key, "scale")) {
        o->has_scale = 1;
        if (read_scale(value, &o->scale)) return wrong(e, key, value, "takes a positive number or fraction: 1/255");
    } else if (!strcmp(key, "mean") || !strcmp(key, "std")) {
        int n = read_channels(value, *key == 's', *key == 's' ? o->std : o->mean);
        o->has_scale = 1;
        *(*key == 's' ? &o->n_std : &o->n_mean) = n;
        if (n < 0)
            return wrong(e, key, value,
                         *key == 's' ? "takes one positive number, or one for each channel"
                                     : "takes one number, or one for each channel");
    } else {
        snprintf(e->text, e->n,
                 "input spec: there is no key '%.40s'; keys are resize, crop, order, scale, mean, std, "
                 "layout, frames, softmax, top, nms, score, boxes and box",
                 key);
        return -1;
    }
    return 0;
}

/* key=value, ...; what has no sign belongs to the value before. Lines end as commas do. */
static int parse_list(char *text, struct ig_host_ops *o, const struct error *e)
{
    const char *keys[KEYS];
    int n = 0;
    for (char *at = text; (at = strpbrk(at, "\r\n")) != NULL;) *at = ',';
    for (char *key = text + strspn(text, ", \t"), *next; *key; key = next) {
        char *value = strchr(key, '='), *sign;
        if (!value) {
            snprintf(e->text, e->n, "input spec: '%.40s' is no key=value; resize=256,crop=224,scale=1/255", key);
            return -1;
        }
        *value++ = 0;
        sign = strchr(value, '=');
        next = sign ? sign : value + strlen(value);
        while (sign && next > value && *next != ',') next--;
        if (sign && next == value) {
            snprintf(e->text, e->n, "input spec: %.40s=%.40s: a comma is missing before the next key", key, value);
            return -1;
        }
        char *end = next;
        while (end > value && (end[-1] == ',' || end[-1] == ' ')) end--;
        next += strspn(next, ", \t");
        *end = 0;
        key[strcspn(key, " \t")] = 0;
        if (set(o, key, value, e)) return -1;
        for (int i = 0; i < n; i++)
            if (!strcmp(keys[i], key)) return wrong(e, key, value, "is there already");
        keys[n++] = key;
    }
    return 0;
}

/* A JSON value as the list has it: numbers with commas between, true as yes. */
static int json_text(const json_t *v, char *text, size_t n)
{
    size_t at = 0;
    if (json_is_string(v)) return snprintf(text, n, "%s", json_string_value(v)) >= (int)n;
    if (json_is_boolean(v)) return snprintf(text, n, "%s", json_is_true(v) ? "yes" : "no") >= (int)n;
    if (json_is_number(v)) return snprintf(text, n, "%.17g", json_number_value(v)) >= (int)n;
    if (!json_is_array(v)) return -1;
    text[0] = 0;
    for (size_t i = 0; i < json_array_size(v) && at < n; i++) {
        if (!json_is_number(json_array_get(v, i))) return -1;
        at += (size_t)snprintf(text + at, n - at, "%s%.17g", i ? "," : "", json_number_value(json_array_get(v, i)));
    }
    return at >= n;
}

static int parse_json(const char *text, struct ig_host_ops *o, const struct error *e)
{
    json_error_t where;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &where), *v;
    const char *key;
    char value[200];
    int status = 0;
    if (!json_is_object(object)) {
        snprintf(e->text, e->n, "input spec: line %d: %s; one JSON object is read", where.line, where.text);
        json_decref(object);
        return -1;
    }
    json_object_foreach(object, key, v)
    {
        if (json_text(v, value, sizeof value))
            status = wrong(e, key, "...", "takes text, a number or a list of numbers");
        else
            status = set(o, key, value, e);
        if (status) break;
    }
    json_decref(object);
    return status;
}

int ig_host_ops_parse(const char *spec, struct ig_host_ops *o, char *err, size_t err_bytes)
{
    struct error e = {err, err_bytes};
    *o = (struct ig_host_ops){.scale = 1, .std = {1, 1, 1, 1}};
    if (spec[strspn(spec, " \t\r\n")] == '{') return parse_json(spec, o, &e);
    char *copy = strdup(spec);
    int status = copy ? parse_list(copy, o, &e) : -1;
    free(copy);
    return status;
}

/* --- for a network --- */

static int find_layout(struct ig_host_ops *o, const struct ig_shape *s)
{
    int32_t first = s->rank == 4 && (s->dims[1] == 1 || s->dims[1] == 3),
            last = s->rank == 4 && (s->dims[3] == 1 || s->dims[3] == 3);
    if (s->rank != 4 || s->dims[0] != 1 || (s->type != IG_F32 && s->type != IG_F16 && s->type != IG_U8)) return -1;
    if (o->layout == IG_SPEC_NHWC) first = 0;
    if (o->layout == IG_SPEC_NCHW) last = 0;
    if (!first && !last) return -1;
    o->channels_last = !first;
    o->c = s->dims[first ? 1 : 3];
    o->h = s->dims[first ? 2 : 1];
    o->w = s->dims[first ? 3 : 2];
    o->type = s->type;
    return 0;
}

static void add(struct ig_host_ops *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct ig_host_ops *o, const char *format, ...)
{
    size_t at = strlen(o->text);
    va_list args;
    va_start(args, format);
    vsnprintf(o->text + at, sizeof o->text - at, format, args);
    va_end(args);
}

/* In the fewest digits that read back as v. */
static void add_float(struct ig_host_ops *o, float v)
{
    char text[32];
    for (int digits = 1; digits < 10; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)v);
        if (strtof(text, NULL) == v) break;
    }
    add(o, "%s", text);
}

static void add_channels(struct ig_host_ops *o, const char *key, const float v[4])
{
    add(o, ",%s=", key);
    for (int32_t k = 0; k < o->c; k++) add(o, "%s", k ? "," : ""), add_float(o, v[k]);
}

static void write_text(struct ig_host_ops *o)
{
    o->text[0] = 0;
    if (o->short_side) add(o, "resize=%d,", o->short_side);
    if (o->width) add(o, "resize=%dx%d,", o->width, o->height);
    add(o, "crop=%dx%d", o->w, o->h);
    if (o->c == 3) add(o, ",order=%s", o->bgr ? "bgr" : "rgb");
    if (o->type != IG_U8) {
        add(o, ",scale=");
        add_float(o, o->scale);
        add_channels(o, "mean", o->mean);
        add_channels(o, "std", o->std);
    }
    add(o, ",layout=%s", o->channels_last ? "nhwc" : "nchw");
    if (o->frame_w) add(o, ",frames=%dx%dx%d", o->frame_w, o->frame_h, o->frame_c);
    if (o->softmax) add(o, ",softmax=yes");
    if (o->top) add(o, ",top=%d", o->top);
    if (!o->nms) return;
    add(o, ",nms=");
    add_float(o, o->nms);
    add(o, ",score=");
    add_float(o, o->score);
    add(o, ",boxes=%d,box=%s", o->boxes ? o->boxes : 100, o->center ? "center" : "corners");
}

/* Pixels of a frame, or of any picture, after resizing are no fewer than the input's. */
static int too_small(const struct ig_host_ops *o)
{
    if (o->short_side) return o->short_side < o->w || o->short_side < o->h;
    if (o->width) return o->width < o->w || o->height < o->h;
    return o->frame_w && (o->frame_w < o->w || o->frame_h < o->h);
}

static int fit_channels(const char *key, int32_t n, int32_t channels, char *err, size_t err_bytes)
{
    if (n <= 1 || n == channels) return 0;
    snprintf(err, err_bytes, "input spec: %s= has %d numbers, but the input %d channel%s: give one, or one for each", key, n, channels,
             channels == 1 ? "" : "s");
    return -1;
}

int ig_host_ops_fit(struct ig_host_ops *o, const struct ig_shape *input, const struct ig_shape *output, char *err,
                    size_t err_bytes)
{
    const char *why = NULL;
    if (!input || find_layout(o, input))
        why = "the first input is no picture: float, float16 or uint8 of [1,C,H,W] or [1,H,W,C] with 1 or 3 channels (layout=)";
    else if (o->type == IG_U8 && o->has_scale)
        why = "the input is uint8, which scale, mean and std would not fit; leave them out";
    else if (o->softmax && (!output || output->type != IG_F32))
        why = "softmax=yes is for a first output of floats";
    if (why) {
        snprintf(err, err_bytes, "input spec: %s", why);
        return -1;
    }
    if (fit_channels("mean", o->n_mean, o->c, err, err_bytes) || fit_channels("std", o->n_std, o->c, err, err_bytes)) return -1;
    if (o->crop_w && (o->crop_w != o->w || o->crop_h != o->h)) {
        snprintf(err, err_bytes, "input spec: crop=%dx%d, but the network takes %dx%d: crop=%dx%d", o->crop_w,
                 o->crop_h, o->w, o->h, o->w, o->h);
        return -1;
    }
    if (too_small(o)) {
        snprintf(err, err_bytes, "input spec: what %s leaves is smaller than the network's %dx%d: take a larger resize",
                 o->short_side || o->width ? "resize" : "frames", o->w, o->h);
        return -1;
    }
    double outputs = output ? (double)ig_count(output) : 0;
    o->pre_ns = element_ns * o->c * o->h * o->w;
    o->post_ns = outputs * (best_ns + (o->softmax ? softmax_ns : 0));
    write_text(o);
    return 0;
}

/* 1: [1,N,4] and [1,C,N] of floats. */
static int are_boxes(const struct ig_shape *boxes, const struct ig_shape *scores)
{
    return boxes->rank == 3 && scores->rank == 3 && boxes->type == IG_F32 && scores->type == IG_F32 &&
           boxes->dims[0] == 1 && scores->dims[0] == 1 && boxes->dims[2] == 4 && scores->dims[2] == boxes->dims[1];
}

int ig_host_ops_fit_boxes(struct ig_host_ops *o, const struct ig_shape *const *outputs, int32_t n, char *err,
                          size_t err_bytes)
{
    const char *why = NULL;
    if (!o->nms && !o->score && !o->boxes && !o->center) return 0;
    if (!o->nms) why = "score, boxes and box are for nms=";
    else if (o->softmax) why = "softmax=yes is not for boxes";
    else if (n < 2 || (!are_boxes(outputs[0], outputs[1]) && !are_boxes(outputs[1], outputs[0])))
        why = "nms= takes boxes [1,N,4] and scores [1,C,N] as the first two outputs: cut the network there with --outputs";
    if (why) {
        snprintf(err, err_bytes, "input spec: %s", why);
        return -1;
    }
    o->boxes_out = !are_boxes(outputs[0], outputs[1]);
    o->scores_out = !o->boxes_out;
    o->n_boxes = outputs[o->boxes_out]->dims[1];
    o->n_classes = outputs[o->scores_out]->dims[1];
    if (!o->boxes) o->boxes = 100;
    o->post_ns = score_ns * o->n_boxes * o->n_classes;
    return 0;
}
