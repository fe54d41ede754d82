/* Tensor data in a file beside the model: a relative path below the model's folder, an offset and a length.
 */
#include "graph/onnx/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *entry(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++) {
        const Onnx__StringStringEntryProto *e = t->external_data[i];
        if (e->key && e->value && !strcmp(e->key, key)) return e->value;
    }
    return NULL;
}

static int64_t number(struct im *m, const Onnx__TensorProto *t, const char *key, int64_t absent,
                      const char *what)
{
    const char *text = entry(t, key);
    char *end;
    if (!text) return absent;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end || v < 0)
        im_fail(m, "%s: external %s '%s' is not a number", what, key, text);
    return v;
}

static int leaves_folder(const char *location)
{
    if (*location == '/') return 1;
    for (const char *p = location; *p; p += strcspn(p, "/"), p += *p == '/')
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2])) return 1;
    return 0;
}

/* A file under several names is one. */
static void note_file(struct ig_graph *g, const char *path, const struct stat *st)
{
    const struct ig_data_file own = {.device = (uint64_t)st->st_dev, .inode = (uint64_t)st->st_ino};
    for (int32_t i = 0; i < g->n_data_files; i++)
        if (g->data_files[i].device == own.device && g->data_files[i].inode == own.inode) return;
    if (!(g->n_data_files & (g->n_data_files - 1))) { /* no room, at powers of two */
        struct ig_data_file *room = ig_graph_alloc(g, 2 * ((size_t)g->n_data_files + 1) * sizeof *room);
        if (g->n_data_files) memcpy(room, g->data_files, (size_t)g->n_data_files * sizeof *room);
        g->data_files = room;
    }
    g->data_files[g->n_data_files] = own;
    g->data_files[g->n_data_files++].path = ig_graph_strdup(g, path);
}

/* Opens the file; its path, for the time of the import. */
static int open_beside(struct im *m, const char *location, const char *what, const char **path)
{
    const char *slash = strrchr(m->path, '/');
    int folder = slash ? (int)(slash - m->path) + 1 : 0;
    if (!*location || leaves_folder(location))
        im_fail(m, "%s: external data at '%s' must be a relative path below the model's folder", what,
                location);
    *path = im_format(m, "%.*s%s", folder, m->path, location);
    int fd = open(*path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        im_fail(m, "%s: external data '%s': %s%s", what, location, strerror(errno), errno == ENOENT ? "; it belongs beside the .onnx file" : "");
    return fd;
}

int im_read(int fd, char *to, size_t n, int64_t offset)
{
    while (n) {
        ssize_t got = pread(fd, to, n < 1 << 30 ? n : 1 << 30, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            if (got == 0) errno = 0;
            return -1;
        }
        to += got;
        offset += got;
        n -= (size_t)got;
    }
    return 0;
}

const void *im_external(struct im *m, const Onnx__TensorProto *t, size_t n, const char *what)
{
    const char *location = entry(t, "location"), *path;
    int64_t offset = number(m, t, "offset", 0, what), length = number(m, t, "length", (int64_t)n, what);
    struct stat st;
    if (!location) im_fail(m, "%s: external data without a location", what);
    if ((size_t)length != n)
        im_fail(m, "%s has %lld bytes of external data, its shape needs %zu", what, (long long)length, n);
    if ((int64_t)n > m->bytes_left) im_fail(m, "%s: the constants are too large (%zu bytes more)", what, n);
    int fd = open_beside(m, location, what, &path);
    int regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
    if (!regular || offset > st.st_size || length > st.st_size - offset) {
        close(fd);
        im_fail(m, "%s: external data '%s' %s", what, location,
                regular ? "is too short" : "is not a regular file");
    }
    note_file(m->g, path, &st);
    char *data = ig_graph_alloc(m->g, n);
    int wrong = im_read(fd, data, n, offset);
    close(fd);
    if (wrong) im_fail(m, "%s: external data '%s' cannot be read", what, location);
    m->bytes_left -= (int64_t)n;
    return data;
}
