#include "graph/late.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/passes/edit.h"

static void release(void *p, size_t bytes)
{
    struct ig_late *l = p;
    (void)bytes;
    close(l->fd);
    free(l);
}

int ig_late_add(struct ig_graph *g, const void *data, int fd, int64_t offset, int64_t bytes)
{
    struct ig_late *l = calloc(1, sizeof *l);
    if (!l) abort();
    *l = (struct ig_late){.data = data, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .offset = offset, .bytes = bytes, .next = g->late};
    if (l->fd < 0) {
        free(l);
        return -1;
    }
    ig_graph_own(g, l, sizeof *l, release);
    g->late = l;
    return 0;
}

struct ig_late *ig_late_of(const struct ig_graph *g, const void *data)
{
    struct ig_late *l = data ? g->late : NULL;
    while (l && l->data != data) l = l->next;
    return l;
}

static int read_all(int fd, char *to, int64_t n, int64_t offset)
{
    while (n) {
        ssize_t got = pread(fd, to, n < 1 << 30 ? (size_t)n : (size_t)1 << 30, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = ENODATA;
        if (got <= 0) return -1;
        to += got;
        offset += got;
        n -= got;
    }
    return 0;
}

int ig_late_read(const struct ig_late *l, int64_t first, int64_t end, int64_t rows, void *to)
{
    int64_t bytes = l->bytes / rows, at = l->offset + first * bytes;
    struct ig_shape row = l->from;
    if (!row.rank) return read_all(l->fd, to, (end - first) * bytes, at);
    char *copy = malloc((size_t)bytes), *out = to;
    int bad = 0;
    if (!copy) abort();
    row.dims[0] = 1;
    for (int64_t i = first; i < end && !bad; i++, at += bytes, out += bytes) {
        bad = read_all(l->fd, copy, bytes, at);
        if (!bad) edit_permute(&row, copy, l->perm, out);
    }
    free(copy);
    return bad;
}

void ig_late_fetch(const struct ig_graph *g, const void *data)
{
    struct ig_late *l = ig_late_of(g, data);
    int64_t rows = l && l->from.rank ? l->from.dims[0] : 1;
    if (!l) return;
    if (ig_late_read(l, 0, rows, rows, (void *)(uintptr_t)data)) {
        fprintf(stderr, "ingot: a constant cannot be read: %s\n", strerror(errno));
        exit(1);
    }
    l->data = NULL;
}
