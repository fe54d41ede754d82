/* Sites in JSON: devices with hosts and targets, and the links between them. A list of bare names will do, too. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/site_read.h"
#include "planner/text.h"

int ig_site_is_name(const char *s)
{
    if (!*s || *s == '-' || *s == '.' || strlen(s) > IG_NAME_BYTES) return 0;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("._-:", *s)) return 0;
    return 1;
}

static char *optional_text(struct ig_reader *r, const json_t *o, const char *key)
{
    return json_object_get(o, key) ? ig_copy_text(ig_get_text(r, o, key)) : NULL;
}

static void read_device(struct ig_reader *r, const json_t *o, struct ig_site *s)
{
    struct ig_device *d = &s->devices[s->n_devices];
    ig_reader_only(r, o, "name host target cores gpu platform memory_bytes machine");
    const char *name = ig_get_text(r, o, "name");
    if (!ig_site_is_name(name)) ig_reader_fail(r, "'name' must have letters, digits, '.', '-' and '_'");
    if (ig_site_find(s, name) >= 0) ig_reader_fail(r, "device '%s' is there twice", name);
    s->n_devices++;
    d->name = ig_copy_text(name);
    d->host = json_object_get(o, "host") ? optional_text(r, o, "host") : ig_copy_text(name);
    d->target = json_object_get(o, "target") ? optional_text(r, o, "target") : ig_copy_text("host");
    d->gpu = optional_text(r, o, "gpu");
    d->platform = optional_text(r, o, "platform");
    d->machine = optional_text(r, o, "machine");
    if (!ig_site_is_name(d->host)) ig_reader_fail(r, "'host' must be a name or an address");
    if (json_object_get(o, "target"))
        ig_get_name(r, o, "target", (const char *const[]){"host", "aarch64", "tx2", "xavier"}, 4);
    if (json_object_get(o, "cores")) d->n_cores = (int32_t)ig_get_int(r, o, "cores", 1, IG_SITE_CORES);
    if (json_object_get(o, "memory_bytes")) d->memory_bytes = ig_get_double(r, o, "memory_bytes", 1);
}

/* An end of a link: "*", or left out, is any other device. */
static int32_t end_of(struct ig_reader *r, const json_t *o, const char *key, const struct ig_site *s)
{
    if (!json_object_get(o, key)) return -1;
    const char *name = ig_get_text(r, o, key);
    int32_t at = strcmp(name, "*") ? ig_site_find(s, name) : -1;
    if (at < 0 && strcmp(name, "*")) ig_reader_fail(r, "'%s': there is no device '%.100s'", key, name);
    return at;
}

static double optional_ns(struct ig_reader *r, const json_t *o, const char *key)
{
    return json_object_get(o, key) ? ig_get_double(r, o, key, 0) : 0;
}

/* A message of a byte takes a thousand seconds at most: sums of ns stay far from what 64 bits hold. */
static void check_link(struct ig_reader *r, const struct ig_link *l)
{
    const double of_all[] = {l->alpha_ns, l->send_alpha_ns, l->receive_alpha_ns};
    const double of_bytes[] = {l->beta_ns, l->send_beta_ns, l->receive_beta_ns};
    for (int i = 0; i < 3; i++)
        if (of_all[i] > 1e12 || of_bytes[i] > 1e9) ig_reader_fail(r, "a link that takes more than 1e12 ns, or 1e9 ns a byte");
}

static void read_link(struct ig_reader *r, const json_t *o, struct ig_site *s)
{
    struct ig_link *link = &s->links[s->n_links];
    ig_reader_only(r, o, "from to alpha_ns beta_ns bytes_per_s send_alpha_ns send_beta_ns receive_alpha_ns receive_beta_ns");
    link->from = end_of(r, o, "from", s);
    link->to = end_of(r, o, "to", s);
    link->alpha_ns = ig_get_double(r, o, "alpha_ns", 0);
    int beta = json_object_get(o, "beta_ns") != NULL, rate = json_object_get(o, "bytes_per_s") != NULL;
    if (beta + rate != 1) ig_reader_fail(r, "one of 'beta_ns' (of a byte) and 'bytes_per_s' must be there");
    link->beta_ns = beta ? ig_get_double(r, o, "beta_ns", 0) : 1e9 / ig_get_double(r, o, "bytes_per_s", 1);
    link->send_alpha_ns = optional_ns(r, o, "send_alpha_ns");
    link->send_beta_ns = optional_ns(r, o, "send_beta_ns");
    link->receive_alpha_ns = optional_ns(r, o, "receive_alpha_ns");
    link->receive_beta_ns = optional_ns(r, o, "receive_beta_ns");
    check_link(r, link);
    s->n_links++;
}

static int by_ends(const void *a, const void *b)
{
    const struct ig_link *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

static const char *end_name(const struct ig_site *s, int32_t device)
{
    return device < 0 ? "*" : s->devices[device].name;
}

/* Sorts the links, so that one that is there twice stands beside itself. */
static void check_links(struct ig_reader *r, struct ig_site *s)
{
    qsort(s->links, (size_t)s->n_links, sizeof *s->links, by_ends);
    for (int32_t i = 1; i < s->n_links; i++)
        if (!by_ends(&s->links[i - 1], &s->links[i]))
            ig_reader_fail(r, "the link from %s to %s is there twice", end_name(s, s->links[i].from),
                           end_name(s, s->links[i].to));
}

static size_t count(struct ig_reader *r, const json_t *root, const char *key, size_t low, size_t high)
{
    size_t n = json_array_size(ig_get_array(r, root, key));
    if (!r->failed && (n < low || n > high)) ig_reader_fail(r, "'%s' has %zu records, not %zu to %zu", key, n, low, high);
    return r->failed ? 0 : n;
}

static void read_object(struct ig_reader *r, const json_t *root, struct ig_site *s)
{
    ig_reader_only(r, root, "format version tool note devices links");
    const char *format = ig_get_text(r, root, "format");
    if (strcmp(format, IG_SITE_FORMAT)) ig_reader_fail(r, "format is '%.100s', not '%s'", format, IG_SITE_FORMAT);
    ig_get_int(r, root, "version", 1, 1);
    size_t n = count(r, root, "devices", 1, IG_SITE_DEVICES);
    s->devices = ig_must_alloc(n, sizeof *s->devices);
    r->where = "devices";
    for (r->at = 0; !r->failed && r->at < n; r->at++)
        read_device(r, json_array_get(json_object_get(root, "devices"), r->at), s);
    r->where = "";
    n = json_object_get(root, "links") && !r->failed ? count(r, root, "links", 0, IG_SITE_LINKS) : 0;
    s->links = ig_must_alloc(n, sizeof *s->links);
    r->where = "links";
    for (r->at = 0; !r->failed && r->at < n; r->at++)
        read_link(r, json_array_get(json_object_get(root, "links"), r->at), s);
    r->where = "";
    check_links(r, s);
}

/* ["nodeA", "nodeB"] */
static void read_names(struct ig_reader *r, const json_t *root, struct ig_site *s)
{
    size_t n = json_array_size(root);
    if (!n || n > IG_SITE_DEVICES) ig_reader_fail(r, "a list of devices has 1 to %d names", IG_SITE_DEVICES);
    s->devices = ig_must_alloc(n, sizeof *s->devices);
    for (size_t i = 0; i < n && !r->failed; i++) {
        const char *name = json_string_value(json_array_get(root, i));
        if (!name || !ig_site_is_name(name)) ig_reader_fail(r, "element %zu is no name of a device", i);
        else if (ig_site_find(s, name) >= 0) ig_reader_fail(r, "device '%s' is there twice", name);
        else s->devices[s->n_devices++] = (struct ig_device){
                 .name = ig_copy_text(name), .host = ig_copy_text(name), .target = ig_copy_text("host")};
    }
}

struct ig_site *ig_site_parse_json(const char *text, size_t bytes, const char *path, char *err, size_t err_bytes)
{
    struct ig_reader r;
    json_t *root = ig_reader_parse(&r, text, bytes, path, err, err_bytes);
    if (!root) return NULL;
    struct ig_site *s = ig_must_alloc(1, sizeof *s);
    if (json_is_array(root)) read_names(&r, root, s);
    else read_object(&r, root, s);
    json_decref(root);
    if (!r.failed) return s;
    ig_site_free(s);
    return NULL;
}
