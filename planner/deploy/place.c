/* Keys on the cores of their devices. AutoDiCE pins a GPU's host thread to core 5; a board of four has none. */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/mistakes.h"
#include "planner/deploy/package.h"

enum { GPU_CORE = 5 };

static const struct ig_device *device_of(const struct ig_site *s, const struct ig_key *key)
{
    int32_t at = s ? ig_site_find(s, key->device) : -1;
    return at < 0 ? NULL : &s->devices[at];
}

/* Cores that the key's device has for certain: as the site says, else as far as keys of the device name them. */
static int32_t known_cores(const struct ig_mapping *m, const struct ig_site *s, const struct ig_key *key)
{
    const struct ig_device *d = device_of(s, key);
    int32_t n = 1;
    if (d && d->n_cores) return d->n_cores;
    for (int32_t i = 0; i < m->n; i++) {
        const struct ig_key *k = &m->keys[i];
        int32_t last = k->n_cores ? k->cores[k->n_cores - 1] : 0;
        if (last >= n && !strcmp(k->device, key->device)) n = last + 1;
    }
    return n;
}

static int is_taken(const struct ig_mapping *m, const struct ig_key *key, int32_t core)
{
    for (int32_t i = 0; i < m->n; i++) {
        const struct ig_key *k = &m->keys[i];
        if (k->kind == IG_KEY_GPU || strcmp(k->device, key->device)) continue;
        for (int32_t c = 0; c < k->n_cores; c++)
            if (k->cores[c] == core) return 1;
    }
    return 0;
}

/* Core of a GPU's host thread: AutoDiCE's where it exists, else the last one that no other key of the device has. */
static int16_t host_core(const struct ig_mapping *m, const struct ig_site *s, const struct ig_key *key)
{
    int32_t n = known_cores(m, s, key), core = n - 1;
    if (n > GPU_CORE) return GPU_CORE;
    while (core && is_taken(m, key, core)) core--;
    return (int16_t)(is_taken(m, key, core) ? n - 1 : core);
}

int32_t ig_key_cores(const struct ig_mapping *m, const struct ig_site *s, int32_t rank, int16_t *cores)
{
    const struct ig_key *key = &m->keys[rank];
    int32_t n = key->n_cores;
    if (n) memcpy(cores, key->cores, (size_t)n * sizeof *cores);
    else if (key->kind == IG_KEY_GPU) cores[n++] = host_core(m, s, key);
    else
        for (int32_t known = known_cores(m, s, key); n < known; n++) cores[n] = (int16_t)n;
    return n;
}

static int is_board(const struct ig_device *d)
{
    return !strcmp(d->target, "tx2") || !strcmp(d->target, "xavier");
}

static void check_key(const struct ig_site *s, const struct ig_key *key, struct ig_mistakes *wrong)
{
    const struct ig_device *d = device_of(s, key);
    int32_t last = key->n_cores ? key->cores[key->n_cores - 1] : 0;
    if (!d) ig_mistake(wrong, "key '%s': the platform has no device '%s'", key->name, key->device);
    else if (d->n_cores && last >= d->n_cores)
        ig_mistake(wrong, "key '%s': core %d is beyond the %d that device '%s' has", key->name, last, d->n_cores, d->name);
    else if (key->kind == IG_KEY_GPU && d->n_cores && !d->gpu && !is_board(d))
        ig_mistake(wrong, "key '%s': device '%s' has no GPU", key->name, d->name);
    else if (!strncmp(key->resource, "x86", 3) && strcmp(d->target, "host"))
        ig_mistake(wrong, "key '%s': device '%s' is no x86 but a target '%s'", key->name, d->name, d->target);
}

int ig_mapping_place(struct ig_mapping *m, const struct ig_site *s, const char *path, char *err, size_t err_bytes)
{
    struct ig_mistakes wrong = {.n = 0};
    for (int32_t i = 0; i < m->n && s; i++) check_key(s, &m->keys[i], &wrong);
    if (ig_mistakes_tell(&wrong, path, err, err_bytes)) return -1;
    for (int32_t i = 0; i < m->n; i++) {
        struct ig_key *key = &m->keys[i];
        if (key->kind != IG_KEY_GPU || key->n_cores) continue;
        key->cores[0] = host_core(m, s, key);
        key->n_cores = 1;
    }
    return 0;
}
