#include "graph/draft.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OPEN = 16 };

static char *volatile pending[MAX_OPEN]; /* names of the drafts that are open */
static volatile pid_t owner[MAX_OPEN];   /* whose they are: a child that ends leaves its parent's */

struct part { /* of a folder that is being made: itself, or a file in it */
    struct part *before;
    pid_t owner;
    int is_folder;
    char path[];
};
static struct part *volatile parts; /* the latest; what is in a folder is later than the folder */

void ig_drafts_remove(void) {
    for (int i = 0; i < MAX_OPEN; i++)
        if (pending[i] && owner[i] == getpid()) unlink(pending[i]);
    for (const struct part *p = parts; p; p = p->before)
        if (p->owner == getpid()) p->is_folder ? rmdir(p->path) : unlink(p->path);
}

static int add_part(const char *path, int is_folder) {
    size_t n = strlen(path) + 1;
    struct part *p = malloc(sizeof *p + n);
    if (!p) return -1;
    *p = (struct part){parts, getpid(), is_folder};
    memcpy(p->path, path, n);
    parts = p;
    return 0;
}

static int in_new_folder(const char *path) {
    for (const struct part *p = parts; p; p = p->before) {
        size_t n = strlen(p->path);
        if (p->is_folder && !strncmp(path, p->path, n) && path[n] == '/') return 1;
    }
    return 0;
}

/* A signal waits while what is on the disk and the list of parts differ. */
static sigset_t hold_signals(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    return before;
}

static void release_signals(sigset_t before) {
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static int make_part(const char *path) {
    if (!mkdir(path, 0777)) return add_part(path, 1);
    return errno == EEXIST ? 0 : -1;
}

int ig_folder_make(const char *path) {
    sigset_t before = hold_signals();
    int status = make_part(path);
    release_signals(before);
    return status;
}

void ig_folders_keep(void) {
    sigset_t before = hold_signals();
    while (parts) {
        struct part *p = parts;
        parts = p->before;
        free(p);
    }
    release_signals(before);
}

static int fail(const struct ig_draft *d, const char *what, char *err, size_t err_bytes) {
    snprintf(err, err_bytes, "%s: %s: %s", strcmp(d->path, "-") ? d->path : "stdout", what, strerror(errno));
    return -1;
}

static int name_draft(struct ig_draft *d) {
    struct stat st;
    size_t n = strlen(d->path) + 32;
    if (!stat(d->path, &st) && !S_ISREG(st.st_mode)) return 0;
    d->temporary = malloc(n);
    if (!d->temporary || (in_new_folder(d->path) && add_part(d->path, 0))) return -1;
    snprintf(d->temporary, n, "%s.%ld.tmp", d->path, (long)getpid());
    for (int i = 0; d->slot < 0 && i < MAX_OPEN; i++)
        if (!pending[i]) owner[i] = getpid(), pending[d->slot = i] = d->temporary;
    return 0;
}

static void free_draft(struct ig_draft *d) {
    if (d->slot >= 0) pending[d->slot] = NULL;
    free(d->temporary);
    free(d->path);
}

int ig_draft_open(struct ig_draft *d, const char *path, char *err, size_t err_bytes) {
    *d = (struct ig_draft){.path = strdup(path), .slot = -1};
    if (!strcmp(path, "-")) d->f = stdout;
    else if (d->path && !name_draft(d)) d->f = d->temporary ? fopen(d->temporary, "w+b") : fopen(path, "wb");
    if (d->path && d->f) return 0;
    if (d->path) fail(d, "cannot write", err, err_bytes);
    else snprintf(err, err_bytes, "out of memory");
    free_draft(d);
    return -1;
}

static int same_bytes(FILE *a, FILE *b) {
    static char x[65536], y[65536];
    for (;;) {
        size_t n = fread(x, 1, sizeof x, a), m = fread(y, 1, sizeof y, b);
        if (n != m || memcmp(x, y, n)) return 0;
        if (n < sizeof x) return !ferror(a) && !ferror(b);
    }
}

static int replace(const struct ig_draft *d) {
    FILE *a = fopen(d->temporary, "rb"), *b = fopen(d->path, "rb");
    int same = a && b && same_bytes(a, b);
    if (a) fclose(a);
    if (b) fclose(b);
    return same ? unlink(d->temporary) : rename(d->temporary, d->path);
}

int ig_draft_close(struct ig_draft *d, int keep, char *err, size_t err_bytes) {
    int bad = !keep;
    int lost = ferror(d->f);
    errno = 0; /* which has changed since a write failed: that is tried again to learn why */
    if (lost) fputc('\n', d->f);
    if (fflush(d->f)) lost = 1;
    if (lost && !errno) errno = EIO;
    if (d->f != stdout && fclose(d->f)) lost = 1;
    if (lost && !bad) bad = fail(d, "cannot write", err, err_bytes);
    if (d->temporary && !bad && replace(d)) bad = fail(d, "cannot rename", err, err_bytes);
    if (d->temporary && bad) unlink(d->temporary);
    free_draft(d);
    return bad ? -1 : 0;
}
