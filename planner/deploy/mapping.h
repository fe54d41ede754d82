/*
 * mapping.json: which key runs which layers. A key is one process of one device, an MPI rank: "nodeA_arm123" is three
 * cores of nodeA, "nodeA_gpu" its GPU (AutoDiCE, seed formats; docs/formats.md has all forms of keys).
 */
#ifndef PLANNER_DEPLOY_MAPPING_H
#define PLANNER_DEPLOY_MAPPING_H

#include <stdio.h>

#include "planner/deploy/layers.h"

enum ig_key_kind { IG_KEY_CPU = 0, IG_KEY_GPU }; /* what computes */
enum { IG_MAX_KEYS = 1024, IG_MAX_CORES = 1024, IG_KEY_FILE_BYTES = 256 };

struct ig_key {
    char *name;      /* whole: "nodeA_arm123" */
    char *device;    /* all before the last '_' */
    char *resource;  /* behind it: "arm123", "cpu[0-3,10]", "x86", "gpu0" */
    int32_t kind;    /* enum ig_key_kind */
    int32_t n_cores; /* threads; 0: one thread on any core. Of a GPU key: 1, the host thread's, once it is placed */
    int16_t *cores;  /* ascending; none for "x86" and "cpu" without digits, and for "gpu" before ig_mapping_place */
    int32_t *layers; /* indices, ascending */
    int32_t n_layers;
};

struct ig_mapping {
    struct ig_key *keys; /* in the file's order, which is that of the ranks */
    int32_t n;
};

/*
 * Reads and checks it against the layers: every layer on at least one key; those that are on several must be split by
 * `horizontal` (n_split names, or 0). NULL with a line in err, then a line for each offender: all of them are named.
 */
struct ig_mapping *ig_mapping_read(const char *path, const struct ig_layers *l, const char *const *split,
                                   int32_t n_split, char *err, size_t err_bytes);
void ig_mapping_free(struct ig_mapping *m);
/* Without that key: the ranks behind it move up. */
void ig_mapping_leave_out(struct ig_mapping *m, int32_t key);
/* The same file again, keys in order, a line each, layers in the network's order by AutoDiCE's names. */
void ig_mapping_write(FILE *f, const struct ig_layers *l, const struct ig_mapping *m);
/* The key of that name; -1: none. */
int32_t ig_mapping_find(const struct ig_mapping *m, const char *key);

/* Device, kind and cores of a key by its name, a malloc'ed copy of each; 0, or -1 with a line in err. */
int ig_key_parse(const char *name, struct ig_key *key, char *err, size_t err_bytes);
void ig_key_free(struct ig_key *key); /* what is in it */
int ig_key_has(const struct ig_key *key, int32_t layer);
static inline int32_t ig_key_threads(const struct ig_key *key)
{
    return key->n_cores ? key->n_cores : 1;
}

#endif
