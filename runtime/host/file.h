/* Files that appear whole or not at all. */
#ifndef RUNTIME_HOST_FILE_H
#define RUNTIME_HOST_FILE_H

#include <stdio.h>

/*
 * Opens `path` for writing: "-" is stdout; what exists and is no regular file (a pipe, /dev/null) is written
 * as it is; anything else through a temporary file beside it, until ig_file_close renames it. NULL with errno
 * set.
 */
FILE *ig_file_create(const char *path);
/* Ends what ig_file_create began (stdout is flushed only). 0; or -1 with errno set, and no file is left. */
int ig_file_close(FILE *f, const char *path);

#endif
