/*
 * Keys: DEVICE_RESOURCE, the device all before the last '_'.
 *
 *     arm123 cpu123   a digit a core, AutoDiCE's; the two mean the same
 *     cpu[0-3,10]     cores by number; behind arm and x86 too
 *     arm cpu x86     one thread on any core
 *     gpu gpu0        the GPU; the number says nothing
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/mapping.h"

enum { NAME_BYTES = 200 };

static int add_core(struct ig_key *key, long core)
{
    int32_t at = key->n_cores;
    if (core < 0 || core >= IG_MAX_CORES) return -1;
    while (at && key->cores[at - 1] > core) at--;
    if (at && key->cores[at - 1] == core) return -1;
    memmove(key->cores + at + 1, key->cores + at, (size_t)(key->n_cores++ - at) * sizeof *key->cores);
    key->cores[at] = (int16_t)core;
    return 0;
}

static int add_digits(struct ig_key *key, const char *digits)
{
    for (; *digits; digits++)
        if (!isdigit((unsigned char)*digits) || add_core(key, *digits - '0')) return -1;
    return 0;
}

/* A number without sign or space in front; -1: none. */
static long number(const char **at)
{
    char *end;
    if (!isdigit((unsigned char)**at)) return -1;
    long n = strtol(*at, &end, 10);
    *at = end;
    return n;
}

/* "[0-3,10]" */
static int add_list(struct ig_key *key, const char *at)
{
    do {
        long first, last;
        at++;
        first = last = number(&at);
        if (*at == '-') at++, last = number(&at);
        if (first < 0 || last < first || last >= IG_MAX_CORES) return -1;
        for (long core = first; core <= last; core++)
            if (add_core(key, core)) return -1;
    } while (*at == ',');
    return strcmp(at, "]");
}

static int parse_resource(struct ig_key *key)
{
    const char *r = key->resource, *rest = r + 3;
    if (!strncmp(r, "gpu", 3)) {
        key->kind = IG_KEY_GPU;
        return rest[strspn(rest, "0123456789")] ? -1 : 0;
    }
    if (strncmp(r, "arm", 3) && strncmp(r, "cpu", 3) && strncmp(r, "x86", 3)) return -1;
    return *rest == '[' ? add_list(key, rest) : add_digits(key, rest);
}

/* A device's name is that of files and of a host. */
static int is_name(const char *s)
{
    if (*s == '-' || *s == '.' || !*s) return 0;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("._-", *s)) return 0;
    return 1;
}

static int refuse(struct ig_key *key, char *err, size_t err_bytes, const char *name, const char *why)
{
    snprintf(err, err_bytes, "key '%.*s': %s", NAME_BYTES, name, why);
    ig_key_free(key);
    return -1;
}

int ig_key_parse(const char *name, struct ig_key *key, char *err, size_t err_bytes)
{
    const char *last = strrchr(name, '_');
    *key = (struct ig_key){.kind = IG_KEY_CPU};
    if (strlen(name) > NAME_BYTES) return refuse(key, err, err_bytes, name, "it is longer than 200 bytes");
    if (!last)
        return refuse(key, err, err_bytes, name, "no '_' between a device and what it computes with, as in nodeA_cpu0");
    key->name = ig_copy_text(name);
    key->device = ig_copy_text(name);
    key->device[last - name] = 0;
    key->resource = ig_copy_text(last + 1);
    key->cores = ig_must_alloc(IG_MAX_CORES, sizeof *key->cores);
    if (!is_name(key->device))
        return refuse(key, err, err_bytes, name,
                      "a device's name has letters, digits, '.', '-' and '_', and begins with none of '.' and '-'");
    if (strlen(key->resource) < 3 || parse_resource(key))
        return refuse(key, err, err_bytes, name,
                      "behind the last '_' is none of arm or cpu with a digit for each core (arm123), cpu[0-3,10], x86 "
                      "and gpu; no core twice, none beyond 1023");
    return 0;
}

void ig_key_free(struct ig_key *key)
{
    free(key->name);
    free(key->device);
    free(key->resource);
    free(key->cores);
    free(key->layers);
    *key = (struct ig_key){.n_cores = 0};
}
