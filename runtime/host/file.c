#include "runtime/host/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/*
 * The temporary file's name, or `path` itself where that is to be written as it is; NULL if it is too long.
 */
static const char *written(const char *path, char temp[PATH_BYTES])
{
    struct stat st;
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) return path;
    return snprintf(temp, PATH_BYTES, "%s.%ld.tmp", path, (long)getpid()) < PATH_BYTES ? temp : NULL;
}

FILE *ig_file_create(const char *path)
{
    char temp[PATH_BYTES];
    if (!strcmp(path, "-")) return stdout;
    const char *to = written(path, temp);
    if (to) return fopen(to, "wb");
    errno = ENAMETOOLONG;
    return NULL;
}

int ig_file_close(FILE *f, const char *path)
{
    char temp[PATH_BYTES];
    int failed = fflush(f) || ferror(f), error = errno;
    if (f == stdout) return failed ? -1 : 0;
    const char *from = written(path, temp);
    if (fclose(f) && !failed) failed = 1, error = errno;
    if (!failed && from == temp && rename(temp, path)) failed = 1, error = errno;
    if (failed && from == temp) remove(temp);
    errno = error;
    return failed ? -1 : 0;
}
