/* The files that others read of a deployment: who sends what to whom, on which cores each rank runs. AutoDiCE's formats. */
#ifndef PLANNER_DEPLOY_PACKAGE_H
#define PLANNER_DEPLOY_PACKAGE_H

#include <stdio.h>

#include "planner/deploy/mapping.h"
#include "planner/deploy/site.h"

struct ig_sent {        /* a tensor that one rank sends to another */
    const char *tensor; /* as AutoDiCE names it */
    int32_t from, to;   /* ranks */
};

/*
 * sender.json and receiver.json of a list; each is the transpose of the other. What one rank sends of one tensor stands
 * together in it, by rising rank. They are the public tool's to the byte.
 */
void ig_write_sent(FILE *f, const struct ig_mapping *m, const struct ig_sent *sent, int32_t n);
void ig_write_received(FILE *f, const struct ig_mapping *m, const struct ig_sent *sent, int32_t n);
/* What layers send by the mapping, in the network's order; free() takes it. Names are those of l. */
struct ig_sent *ig_sent_make(const struct ig_layers *l, const struct ig_mapping *m, int32_t *n);
/* The two at once. */
void ig_write_sender(FILE *f, const struct ig_layers *l, const struct ig_mapping *m);
void ig_write_receiver(FILE *f, const struct ig_layers *l, const struct ig_mapping *m);
/*
 * Gives GPU keys the core of their host thread, and checks the keys against the site (NULL: none): devices, cores and
 * GPUs that it has. 0, or -1 with all that is wrong in err; `path` is what messages call the mapping.
 */
int ig_mapping_place(struct ig_mapping *m, const struct ig_site *s, const char *path, char *err, size_t err_bytes);
/*
 * Cores that a rank may run on, into cores[IG_MAX_CORES]: its own; a GPU's host thread's; else all that its device is known to
 * have. Returns how many.
 */
int32_t ig_key_cores(const struct ig_mapping *m, const struct ig_site *s, int32_t rank, int16_t *cores);
/* The name of a key's files: the key's own, with '_' for each of "[],". No two keys of a mapping share one. */
const char *ig_key_file(const struct ig_key *key, char name[IG_KEY_FILE_BYTES]);

/* "rank 0=nodeA    slots=1,2,3", one line a key; hosts of the site, or the devices' names where it is NULL. */
void ig_write_rankfile(FILE *f, const struct ig_mapping *m, const struct ig_site *s);
void ig_write_hostfile(FILE *f, const struct ig_mapping *m, const struct ig_site *s);
/* mpirun's --app file: "-np 1 ./nodeA_arm123" a line. */
void ig_write_appfile(FILE *f, const struct ig_mapping *m);

#endif
