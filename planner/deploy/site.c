/* Sites: found, asked for links, written as JSON. site_text.c and site_json.c read them. */
#include "planner/deploy/site.h"

#include <stdlib.h>
#include <string.h>

#include "planner/deploy/site_read.h"
#include "planner/text.h"

struct ig_site *ig_site_read(const char *path, char *err, size_t err_bytes)
{
    size_t bytes;
    char *text = ig_read_text(path, &bytes, err, err_bytes);
    if (!text) return NULL;
    size_t blank = strspn(text, " \t\r\n");
    int json = text[blank] == '{' || text[blank] == '[';
    struct ig_site *s = (json ? ig_site_parse_json : ig_site_parse_text)(text, bytes, path, err, err_bytes);
    free(text);
    return s;
}

void ig_site_free(struct ig_site *s)
{
    if (!s) return;
    for (int32_t i = 0; i < s->n_devices; i++) {
        struct ig_device *d = &s->devices[i];
        free(d->name);
        free(d->host);
        free(d->target);
        free(d->gpu);
        free(d->platform);
        free(d->machine);
    }
    free(s->devices);
    free(s->links);
    free(s);
}

int32_t ig_site_find(const struct ig_site *s, const char *device)
{
    for (int32_t i = 0; i < s->n_devices; i++)
        if (!strcmp(s->devices[i].name, device)) return i;
    return -1;
}

int ig_site_same_machine(const struct ig_site *s, int32_t a, int32_t b)
{
    if (a < 0 || b < 0) return 0;
    const char *x = s->devices[a].machine, *y = s->devices[b].machine;
    return a == b || (x && y && !strcmp(x, y));
}

static const struct ig_link *find_link(const struct ig_site *s, int32_t from, int32_t to)
{
    for (int32_t i = 0; i < s->n_links; i++)
        if (s->links[i].from == from && s->links[i].to == to) return &s->links[i];
    return NULL;
}

static const struct ig_link *link_between(const struct ig_site *s, int32_t from, int32_t to)
{
    const int32_t pairs[][2] = {{from, to}, {to, from}, {from, -1}, {-1, to}, {-1, -1}};
    const struct ig_link *link = NULL;
    size_t tries = from == to ? 1 : sizeof pairs / sizeof *pairs; /* "any" is any other device */
    for (size_t i = 0; s && !link && i < tries; i++) link = find_link(s, pairs[i][0], pairs[i][1]);
    return link;
}

double ig_link_ns(const struct ig_site *s, int32_t from, int32_t to, int64_t bytes)
{
    const struct ig_link *link = link_between(s, from, to);
    if (link) return link->alpha_ns + link->beta_ns * (double)bytes;
    return from == to ? 0 : IG_LINK_ALPHA_NS + (double)IG_LINK_BETA_NS * (double)bytes;
}

double ig_link_host_ns(const struct ig_site *s, int32_t from, int32_t to, int64_t bytes, enum ig_link_end end)
{
    const struct ig_link *link = link_between(s, from, to);
    if (!link) return 0;
    return end == IG_LINK_SENDS ? link->send_alpha_ns + link->send_beta_ns * (double)bytes
                                : link->receive_alpha_ns + link->receive_beta_ns * (double)bytes;
}

static void put_text(FILE *f, const char *key, const char *text)
{
    if (!text) return;
    fprintf(f, ",\"%s\":", key);
    ig_put_text(f, text);
}

static void put_device(FILE *f, const struct ig_device *d)
{
    fputs("{\"name\":", f);
    ig_put_text(f, d->name);
    put_text(f, "host", d->host);
    put_text(f, "target", d->target);
    if (d->n_cores) fprintf(f, ",\"cores\":%d", d->n_cores);
    put_text(f, "gpu", d->gpu);
    put_text(f, "platform", d->platform);
    put_text(f, "machine", d->machine);
    if (d->memory_bytes > 0) fprintf(f, ",\"memory_bytes\":%.0f", d->memory_bytes);
    fputc('}', f);
}

static void put_told(FILE *f, const char *key, double ns)
{
    if (ns <= 0) return;
    fprintf(f, ",\"%s\":", key);
    ig_put_double(f, ns);
}

static void put_link(FILE *f, const struct ig_site *s, const struct ig_link *link)
{
    fputs("{\"from\":", f);
    ig_put_text(f, link->from < 0 ? "*" : s->devices[link->from].name);
    fputs(",\"to\":", f);
    ig_put_text(f, link->to < 0 ? "*" : s->devices[link->to].name);
    fputs(",\"alpha_ns\":", f);
    ig_put_double(f, link->alpha_ns);
    fputs(",\"beta_ns\":", f);
    ig_put_double(f, link->beta_ns);
    put_told(f, "send_alpha_ns", link->send_alpha_ns);
    put_told(f, "send_beta_ns", link->send_beta_ns);
    put_told(f, "receive_alpha_ns", link->receive_alpha_ns);
    put_told(f, "receive_beta_ns", link->receive_beta_ns);
    fputc('}', f);
}

void ig_site_write(FILE *f, const struct ig_site *s)
{
    fprintf(f, "{\"format\":\"" IG_SITE_FORMAT "\",\"version\":1,\n\"devices\":[\n");
    for (int32_t i = 0; i < s->n_devices; i++) {
        put_device(f, &s->devices[i]);
        fputs(i + 1 < s->n_devices ? ",\n" : "\n", f);
    }
    fputs("],\n\"links\":[\n", f);
    for (int32_t i = 0; i < s->n_links; i++) {
        put_link(f, s, &s->links[i]);
        fputs(i + 1 < s->n_links ? ",\n" : "\n", f);
    }
    fputs("]}\n", f);
}
