/* Files by patterns. The C library's glob also knows users' homes, which is 25 KB of a static program. */
#ifndef RUNTIME_HOST_FOUND_H
#define RUNTIME_HOST_FOUND_H

enum { IG_FOUND_PATH = 256 };

/*
 * Calls `found` with every path root/pattern, in order of names: `*` is any part of a name, `[0-2]` one of these
 * characters. Paths of IG_FOUND_PATH bytes and more are passed over.
 */
void ig_found(const char *root, const char *pattern, void (*found)(void *arg, const char *path), void *arg);

#endif
