/* Files that appear whole or not at all: written under another name beside their place, renamed when complete. */
#ifndef GRAPH_DRAFT_H
#define GRAPH_DRAFT_H

#include <stddef.h>
#include <stdio.h>

struct ig_draft {
    FILE *f;
    char *path;      /* "-": standard output; what exists and is no regular file is written as it is */
    char *temporary; /* NULL: written directly */
    int slot;        /* where an interrupted program finds it */
};

/* 0, or -1 with "path: reason" in err. */
int ig_draft_open(struct ig_draft *d, const char *path, char *err, size_t err_bytes);
/*
 * Ends the draft: as the file if `keep` and all could be written, else as nothing. A file that has these very bytes keeps its time, so that
 * what is made from it need not be made again. 0, or -1 with "path: reason" in err unless !keep.
 */
int ig_draft_close(struct ig_draft *d, int keep, char *err, size_t err_bytes);
/* Removes the drafts that are open. Safe in a signal handler that ends the program. */
void ig_drafts_remove(void);

#endif
