/* What mpirun reads: rankfile, hostfile, appfile. */
#include "planner/deploy/package.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

static const char *host_of(const struct ig_site *s, const struct ig_key *key)
{
    int32_t at = s ? ig_site_find(s, key->device) : -1;
    return at < 0 ? key->device : s->devices[at].host;
}

void ig_write_rankfile(FILE *f, const struct ig_mapping *m, const struct ig_site *s)
{
    int16_t *cores = ig_must_alloc(IG_MAX_CORES, sizeof *cores);
    for (int32_t i = 0; i < m->n; i++) {
        int32_t n = ig_key_cores(m, s, i, cores);
        fprintf(f, "rank %d=%s    slots=", i, host_of(s, &m->keys[i]));
        for (int32_t k = 0; k < n; k++) fprintf(f, "%s%d", k ? "," : "", cores[k]);
        fputc('\n', f);
    }
    free(cores);
}

static int is_used(const struct ig_mapping *m, const char *device)
{
    for (int32_t i = 0; i < m->n; i++)
        if (!strcmp(m->keys[i].device, device)) return 1;
    return 0;
}

/* Adds a name that is not there yet. */
static void put_once(FILE *f, const char **hosts, int32_t *n, const char *host)
{
    int32_t at = 0;
    hosts[*n] = host;
    while (strcmp(hosts[at], host)) at++;
    if (at == *n) fprintf(f, "%s\n", hosts[(*n)++]);
}

/* Hosts with a rank, each once: in the order of the site, then of the ranks. */
void ig_write_hostfile(FILE *f, const struct ig_mapping *m, const struct ig_site *s)
{
    int32_t devices = s ? s->n_devices : 0, n = 0;
    const char **hosts = ig_must_alloc((size_t)(devices + m->n) + 1, sizeof *hosts);
    for (int32_t i = 0; i < devices; i++)
        if (is_used(m, s->devices[i].name)) put_once(f, hosts, &n, s->devices[i].host);
    for (int32_t i = 0; i < m->n; i++) put_once(f, hosts, &n, host_of(s, &m->keys[i]));
    free(hosts);
}

const char *ig_key_file(const struct ig_key *key, char name[IG_KEY_FILE_BYTES])
{
    snprintf(name, IG_KEY_FILE_BYTES, "%s", key->name);
    for (char *c = name; *c; c++)
        if (strchr("[],", *c)) *c = '_';
    return name;
}

void ig_write_appfile(FILE *f, const struct ig_mapping *m)
{
    char name[IG_KEY_FILE_BYTES];
    for (int32_t i = 0; i < m->n; i++) fprintf(f, "-np 1 ./%s\n", ig_key_file(&m->keys[i], name));
}
