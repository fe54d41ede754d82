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
/*
 * Makes a folder unless it is there. One that was made is there whole or not at all, too, with what drafts become in it: until
 * ig_folders_keep drafts are then for one thread at a time. 0, or -1 with errno.
 */
int ig_folder_make(const char *path);
/* The folders that were made are whole. */
void ig_folders_keep(void);
/* Removes the drafts that are open, and the folders that are not whole. Safe in a signal handler that ends the program. */
void ig_drafts_remove(void);

#endif
