/* Files that appear when they are complete. */
#ifndef GRAPH_FILE_H
#define GRAPH_FILE_H

/*
 * Puts the complete file `temporary` in the place of `path`; if that has the same bytes it is left alone with its time
 * stamp, so that a build goes no further than what changed. 0, or -1 with errno set.
 */
int ig_replace_file(const char *temporary, const char *path);

#endif
