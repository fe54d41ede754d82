#include "runtime/host/found.h"

#include <dirent.h>
#include <string.h>

struct search {
    char path[IG_FOUND_PATH];
    void (*found)(void *arg, const char *path);
    void *arg;
};

static int matches(const char *p, const char *end, const char *name)
{
    for (; p < end; p++, name++) {
        if (*p == '*') {
            while (!matches(p + 1, end, name))
                if (!*name++) return 0;
            return 1;
        }
        if (*p == '[') {
            if (*name < p[1] || *name > p[3]) return 0;
            p += 4;
        } else if (*p != *name) {
            return 0;
        }
    }
    return !*name;
}

/* The first name behind `last` in the directory that fits [p, end), into `last`: 1, or 0. Directories are small. */
static int next_name(const char *directory, const char *p, const char *end, char last[IG_FOUND_PATH])
{
    char best[IG_FOUND_PATH] = "";
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strlen(e->d_name) < sizeof best && matches(p, end, e->d_name) && strcmp(e->d_name, last) > 0 &&
            (!*best || strcmp(e->d_name, best) < 0))
            strcpy(best, e->d_name);
    if (d) closedir(d);
    if (*best) strcpy(last, best);
    return *best != 0;
}

/* s->path is a directory of n characters; the pattern goes on with p. */
static void walk(struct search *s, size_t n, const char *p)
{
    const char *end = p + strcspn(p, "/");
    char name[IG_FOUND_PATH] = "";
    while (next_name(n ? s->path : "/", p, end, name)) {
        size_t more = strlen(name);
        if (n + 1 + more >= IG_FOUND_PATH) continue;
        s->path[n] = '/';
        strcpy(s->path + n + 1, name);
        if (*end) walk(s, n + 1 + more, end + 1);
        else s->found(s->arg, s->path);
        s->path[n] = 0;
    }
}

void ig_found(const char *root, const char *pattern, void (*found)(void *arg, const char *path), void *arg)
{
    struct search s = {.found = found, .arg = arg};
    size_t n = strlen(root);
    if (n >= IG_FOUND_PATH) return;
    strcpy(s.path, root);
    walk(&s, n, pattern + 1);
}
