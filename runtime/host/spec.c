#include "runtime/host/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ROUNDS = 31, MOST_SIDE = 65535 };

static void *room(int64_t bytes)
{
    void *p = malloc((size_t)bytes);
    if (!p) ig_die("out of memory");
    return p;
}

static void fit(const struct ig_session *s, const char *path, const unsigned char *pixels, long w, long h, int c)
{
    const struct ig_spec *spec = s->program->spec;
    const struct ig_picture *p = &spec->picture;
    int32_t rw = (int32_t)w, rh = (int32_t)h;
    ig_picture_resized(p, &rw, &rh);
    if (ig_picture_fit(p, pixels, (int32_t)w, (int32_t)h, c, s->inputs[0]))
        ig_die("%s: %ld x %ld pixels are %d x %d after resizing, the network takes %d x %d: a larger picture, or "
               "resize= in "
               "the input spec",
               path, w, h, rw, rh, p->w, p->h);
}

static void fit_pnm(const struct ig_session *s, const char *path, const unsigned char *data, size_t n)
{
    long w, h;
    int c = data[1] == '6' ? 3 : 1;
    size_t at = ig_pnm_header(path, data, n, &w, &h);
    if (w < 1 || h < 1 || w > MOST_SIDE || h > MOST_SIDE || w * h > INT32_MAX / 4)
        ig_die("%s: %ld x %ld pixels; sides of 1 to %d are read", path, w, h, MOST_SIDE);
    if (n < at || n - at != (size_t)(w * h * c)) ig_die_of_pixels(path, n, at, w * h * c);
    fit(s, path, data + at, w, h, c);
}

int ig_spec_load(const struct ig_session *s, const char *path)
{
    const struct ig_spec *spec = s->program->spec;
    int64_t input = ig_bytes(s->program->model->inputs[0].shape),
            frame = (int64_t)spec->frame_w * spec->frame_h * spec->frame_c;
    struct stat st;
    if (stat(path, &st)) ig_die("%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size <= 2 || st.st_size == input) return 0;
    FILE *f = fopen(path, "rb");
    if (!f) ig_die("%s: %s", path, strerror(errno));
    unsigned char *data = room(st.st_size);
    size_t n = fread(data, 1, (size_t)st.st_size, f);
    int known = n > 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '6');
    if (frame && n == (size_t)frame)
        fit(s, path, data, spec->frame_w, spec->frame_h, spec->frame_c);
    else if (known)
        fit_pnm(s, path, data, n);
    known |= frame && n == (size_t)frame;
    free(data);
    fclose(f);
    return known;
}

void ig_spec_finish(const struct ig_session *s)
{
    const struct ig_shape *shape = s->program->model->outputs[0].shape;
    int64_t n = shape->rank ? shape->dims[shape->rank - 1] : 1;
    if (s->program->spec->softmax && n) ig_softmax_rows(s->outputs[0], ig_count(shape) / n, n);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(const struct ig_session *s, double ms[2])
{
    const struct ig_spec *spec = s->program->spec;
    const struct ig_shape *shape = s->program->model->outputs[0].shape;
    int32_t w = spec->frame_w, h = spec->frame_h, c = spec->frame_c;
    int64_t ns[2][ROUNDS], index[IG_MAX_TOP];
    struct ig_pick picks[IG_MAX_TOP];
    if (!w) w = 640, h = 480, c = spec->picture.c;
    while (w < spec->picture.w || h < spec->picture.h) w *= 2, h *= 2;
    unsigned char *pixels = room((int64_t)w * h * c);
    struct ig_session copy = *s;
    memset(pixels, 127, (size_t)w * (size_t)h * (size_t)c);
    copy.outputs[0] = room(ig_bytes(shape));
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(copy.outputs[0], s->outputs[0], (size_t)ig_bytes(shape));
        ns[0][i] = ig_now_ns();
        fit(s, "frame", pixels, w, h, c);
        ns[1][i] = ig_now_ns();
        ns[0][i] = ns[1][i] - ns[0][i];
        ig_spec_finish(&copy);
        if (spec->boxes) spec->boxes->find(&copy, picks, spec->top);
        else ig_best(shape, copy.outputs[0], spec->top ? spec->top : 5, index);
        ns[1][i] = ig_now_ns() - ns[1][i];
    }
    for (int i = 0; i < 2; i++) {
        qsort(ns[i], ROUNDS, sizeof ns[i][0], by_size);
        ms[i] = (double)ns[i][ROUNDS / 2] * 1e-6;
    }
    free(copy.outputs[0]);
    free(pixels);
}

void ig_spec_info(const struct ig_spec *spec, int json)
{
    if (!json) {
        printf("input spec %s\nplanned on the CPU: pre %.4f ms, post %.4f ms a frame\n", spec->text,
               spec->pre_ns * 1e-6, spec->post_ns * 1e-6);
        return;
    }
    printf("\"input_spec\":{\"post_ns\":%.0f,\"pre_ns\":%.0f,\"processor\":\"cpu\",\"text\":", spec->post_ns,
           spec->pre_ns);
    ig_json_string(stdout, spec->text);
    fputs("},", stdout);
}

void ig_spec_bench(const struct ig_session *s, double network_ms, int json)
{
    const struct ig_spec *spec = s->program->spec;
    double ms[2];
    measure(s, ms);
    if (json)
        printf("\"host_ops\":{\"post_ms\":%.5f,\"pre_ms\":%.5f,\"predicted_post_ms\":%.5f,\"predicted_pre_ms\":%.5f},",
               ms[1], ms[0], spec->post_ns * 1e-6, spec->pre_ns * 1e-6);
    else
        printf(
            "pre %.4f ms, network %.4f ms, post %.4f ms (medians; pre and post on one core, predicted %.4f and %.4f)\n",
            ms[0], network_ms, ms[1], spec->pre_ns * 1e-6, spec->post_ns * 1e-6);
}
