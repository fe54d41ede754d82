/* Inputs from files: NumPy .npy (format 1-3), PGM/PPM pictures, raw bytes. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/host/spec.h"

#define NPY_MAGIC "\x93NUMPY"

enum { MORE = 65536 }; /* bytes that a file may have beside the input's: a header */

struct file {
    const char *path;
    unsigned char *data;
    size_t n;
};

static struct file slurp(const char *path, size_t limit)
{
    struct file f = {path, NULL, 0};
    FILE *in = fopen(path, "rb");
    if (!in) ig_die("%s: %s", path, strerror(errno));
    f.data = malloc(limit + 1);
    if (!f.data) ig_die("%s: out of memory", path);
    f.n = fread(f.data, 1, limit + 1, in);
    if (ferror(in)) ig_die("%s: %s", path, strerror(errno));
    fclose(in);
    return f;
}

static const char *npy_type(int32_t type)
{
    static const char *const names[IG_TYPES] = {"<f4", "<i4", "<i8", "|u1", "|i1", "|b1", "<f2"};
    return names[type];
}

/* Dimensions equal, leading ones apart. */
static int same_dims(const struct ig_shape *s, const long *dims, int rank)
{
    int a = 0, b = 0;
    while (a < s->rank && s->dims[a] == 1) a++;
    while (b < rank && dims[b] == 1) b++;
    if (s->rank - a != rank - b) return 0;
    for (; a < s->rank; a++, b++)
        if (s->dims[a] != dims[b]) return 0;
    return 1;
}

static void load_npy(const struct file *f, const struct ig_shape *s, void *dst)
{
    char want[64], header[1025];
    size_t start = f->data[6] == 1 ? 10 : 12, len = 0;
    if (f->n < 12) ig_die("%s: truncated .npy header", f->path);
    for (size_t i = start; i-- > 8;) len = len << 8 | f->data[i];
    if (len > 1024 || f->n < start + len) ig_die("%s: truncated .npy header", f->path);
    for (size_t i = 0; i < len; i++) header[i] = iscntrl(f->data[start + i]) ? ' ' : (char)f->data[start + i];
    header[len] = 0;
    ig_shape_text(s, want, sizeof want);
    const char *descr = strstr(header, "'descr':"), *shape = strstr(header, "'shape':");
    if (!descr || !shape || !strchr(shape, '(')) ig_die("%s: not a .npy header", f->path);
    if (strstr(header, "'fortran_order': True"))
        ig_die("%s: Fortran order; save it with numpy.ascontiguousarray", f->path);
    const char *quote = strchr(descr + 8, '\'');
    if (!quote || strncmp(quote + 1, npy_type(s->type), 3))
        ig_die("%s: type %.5s, but the network takes %s: convert with .astype", f->path, quote ? quote : "?",
               want);
    const char *given = strchr(shape, '(');
    long dims[32];
    int rank = 0;
    for (const char *p = given + 1; *p && *p != ')' && rank < 32;) {
        char *end;
        long d = strtol(p, &end, 10);
        if (end == p) p++;
        else dims[rank++] = d, p = end;
    }
    int shown = (int)strcspn(given, ")") + 1;
    if (!same_dims(s, dims, rank))
        ig_die("%s: shape %.*s differs from the network's %s", f->path, shown < 60 ? shown : 60, given, want);
    if (f->n - start - len != (size_t)ig_bytes(s))
        ig_die("%s: %zu bytes of data, %s needs %lld", f->path, f->n - start - len, want,
               (long long)ig_bytes(s));
    memcpy(dst, f->data + start + len, (size_t)ig_bytes(s));
}

static long pnm_number(const struct file *f, size_t *at)
{
    long v = 0;
    int digits = 0;
    while (*at < f->n && (isspace(f->data[*at]) || f->data[*at] == '#'))
        if (f->data[(*at)++] == '#')
            while (*at < f->n && f->data[*at] != '\n') ++*at;
    for (; *at < f->n && isdigit(f->data[*at]) && v < 1000000; digits++) v = v * 10 + (f->data[(*at)++] - '0');
    if (!digits || !v || v >= 1000000) ig_die("%s: malformed PNM header", f->path);
    return v;
}

size_t ig_pnm_header(const char *path, const unsigned char *data, size_t n, long *w, long *h)
{
    const struct file f = {path, (unsigned char *)(uintptr_t)data, n};
    size_t at = 2;
    *w = pnm_number(&f, &at);
    *h = pnm_number(&f, &at);
    long max = pnm_number(&f, &at);
    if (max != 255) ig_die("%s: maximum value %ld; only 8-bit pictures (255) are read", path, max);
    return at + 1;
}

void ig_die_of_pixels(const char *path, size_t n, size_t at, long bytes)
{
    if (n < at || n - at < (size_t)bytes) ig_die("%s: truncated picture", path);
    ig_die("%s: more bytes behind the header than the picture's %ld: one picture a file is read", path, bytes);
}

/* Channels, height, width of a picture input [1,C,H,W] or [1,H,W,C]; channels = 0 if it is none. */
struct picture {
    int c, h, w, channels_last;
};

static struct picture picture_of(const struct ig_shape *s)
{
    struct picture p = {0, 0, 0, 0};
    if (s->rank != 4 || s->dims[0] != 1 || (s->type != IG_F32 && s->type != IG_F16 && s->type != IG_U8)) return p;
    if (s->dims[1] == 1 || s->dims[1] == 3) p = (struct picture){s->dims[1], s->dims[2], s->dims[3], 0};
    else if (s->dims[3] == 1 || s->dims[3] == 3) p = (struct picture){s->dims[3], s->dims[1], s->dims[2], 1};
    return p;
}

static void load_pnm(const struct ig_session *s, const struct file *f, const struct ig_shape *shape,
                     void *dst)
{
    int colours = f->data[1] == '6' ? 3 : 1;
    long w, h;
    size_t at = ig_pnm_header(f->path, f->data, f->n, &w, &h);
    struct picture p = picture_of(shape);
    char want[64];
    if (!p.c)
        ig_die("%s: a picture, but the network takes %s", f->path, ig_shape_text(shape, want, sizeof want));
    if (w != p.w || h != p.h)
        ig_die("%s: %ld x %ld pixels, the network takes %d x %d: resize it first, or build with an --input-spec", f->path, w, h, p.w, p.h);
    if (colours == 3 && p.c == 1) ig_die("%s: colour, the network takes grey: convert it to PGM", f->path);
    if (f->n < at || f->n - at != (size_t)(w * h * colours)) ig_die_of_pixels(f->path, f->n, at, w * h * colours);
    for (int y = 0; y < p.h; y++)
        for (int x = 0; x < p.w; x++)
            for (int c = 0; c < p.c; c++) {
                unsigned char v = f->data[at + (size_t)((y * p.w + x) * colours + (colours == 3 ? c : 0))];
                size_t to = (size_t)(p.channels_last ? (y * p.w + x) * p.c + c : (c * p.h + y) * p.w + x);
                float value = ((float)v - s->program->mean[c]) / s->program->std[c];
                if (shape->type == IG_U8) ((unsigned char *)dst)[to] = v;
                else if (shape->type == IG_F16) ((uint16_t *)dst)[to] = ig_float_to_half(value);
                else ((float *)dst)[to] = value;
            }
}

/* 1 if the file has just the input's bytes, which are then read to their place without another buffer. What is no regular
 * file is not opened: who writes to a pipe would be without a reader in between. */
static int load_raw(const char *path, void *dst, size_t bytes)
{
    struct stat st;
    size_t n = 0;
    if (stat(path, &st)) ig_die("%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size != (off_t)bytes) return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) ig_die("%s: %s", path, strerror(errno));
    for (ssize_t got; n < bytes && (got = read(fd, (char *)dst + n, bytes - n)) > 0;) n += (size_t)got;
    close(fd);
    return n == bytes && (n <= 12 || memcmp(dst, NPY_MAGIC, 6));
}

void ig_load_input(const struct ig_session *s, int i, const char *path)
{
    const struct ig_io *io = &s->program->model->inputs[i];
    size_t bytes = (size_t)ig_bytes(io->shape);
    char want[64], name[128];
    if (!i && s->program->spec && s->program->spec->load(s, path)) return;
    if (load_raw(path, s->inputs[i], bytes)) return;
    struct file f = slurp(path, bytes + MORE);
    if (f.n > 12 && !memcmp(f.data, NPY_MAGIC, 6)) load_npy(&f, io->shape, s->inputs[i]);
    else if (f.n > 2 && f.data[0] == 'P' && (f.data[1] == '5' || f.data[1] == '6') && f.n != bytes)
        load_pnm(s, &f, io->shape, s->inputs[i]);
    else if (f.n == bytes) memcpy(s->inputs[i], f.data, bytes);
    else if (f.n > 4 && (!memcmp(f.data, "\x89PNG", 4) || !memcmp(f.data, "\xff\xd8\xff", 3)))
        ig_die("%s: a picture in %s; PGM and PPM are read: convert it, as by ImageMagick's convert %s picture.ppm", path,
               f.data[1] == 'P' ? "PNG" : "JPEG", path);
    else
        ig_die("%s: %s%zu bytes, neither .npy nor PGM/PPM nor the %zu raw bytes of input '%s' %s", path,
               f.n > bytes + MORE ? "at least " : "", f.n, bytes, ig_name_text(io->name, name, sizeof name),
               ig_shape_text(io->shape, want, sizeof want));
    free(f.data);
}

size_t ig_read_input(const struct ig_program *p, int i, void *dst, size_t *bytes)
{
    const struct ig_spec *spec = i ? NULL : p->spec;
    *bytes = (size_t)ig_bytes(p->model->inputs[i].shape);
    int fits = spec && spec->frame;
    if (fits) *bytes = (size_t)spec->frame_w * (size_t)spec->frame_h * (size_t)spec->frame_c;
    size_t got = fread(fits ? spec->frame : dst, 1, *bytes, stdin);
    if (ferror(stdin)) ig_die("stdin: %s", strerror(errno));
    if (fits && got == *bytes)
        spec->fit(&spec->picture, spec->frame, spec->frame_w, spec->frame_h, spec->frame_c, dst);
    return got;
}

int ig_next_frame(const struct ig_session *s)
{
    for (int i = 0; i < s->program->model->n_inputs; i++) {
        size_t bytes, got = ig_read_input(s->program, i, s->inputs[i], &bytes);
        if (!got && !i) return 0;
        if (got != bytes)
            ig_die("stdin: the stream ends in the middle of a frame (%zu of %zu bytes)", got, bytes);
    }
    return 1;
}
