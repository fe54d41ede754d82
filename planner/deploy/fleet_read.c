#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/fleet.h"
#include "planner/text.h"

enum { MOST_RECORDS = 1 << 20 };

struct building { /* a fleet that is its own */
    struct ig_fleet fleet;
    int32_t *device, *machine, *threads; /* threads[n_ranks]: 0: nothing that it runs computes */
    uint8_t *pinned;           /* [n_ranks] */
    char **keys, **devices;
    struct ig_fleet_part *parts;
    struct ig_fleet_buffer *buffers;
    struct ig_fleet_message *messages;
};

/* The array of that name, whose records are read next; its length. */
static const json_t *open_list(struct ig_reader *r, const json_t *root, const char *key, int32_t *n)
{
    r->where = "";
    const json_t *list = ig_get_array(r, root, key);
    if (!r->failed && json_array_size(list) > MOST_RECORDS) ig_reader_fail(r, "'%s' has too many records", key);
    *n = r->failed ? 0 : (int32_t)json_array_size(list);
    r->where = key;
    r->at = 0;
    return list;
}

static int32_t device_of(struct building *b, const char *name)
{
    int32_t i = 0;
    while (i < b->fleet.n_devices && strcmp(b->devices[i], name)) i++;
    if (i == b->fleet.n_devices) b->devices[b->fleet.n_devices++] = ig_copy_text(name);
    return i;
}

static void read_ranks(struct ig_reader *r, const json_t *root, struct building *b)
{
    int32_t n;
    const json_t *list = open_list(r, root, "ranks", &n);
    b->device = ig_must_alloc((size_t)n, sizeof *b->device);
    b->threads = ig_must_alloc((size_t)n, sizeof *b->threads);
    b->pinned = ig_must_alloc((size_t)n, 1);
    b->keys = ig_must_alloc((size_t)n, sizeof *b->keys);
    b->devices = ig_must_alloc((size_t)n, sizeof *b->devices);
    for (; (int32_t)r->at < n && !r->failed; r->at++) {
        const json_t *o = json_array_get(list, r->at);
        ig_reader_only(r, o, "arena_bytes buffers_bytes cores device file host key rank target threads time_ms weights_bytes");
        b->threads[b->fleet.n_ranks] = json_object_get(o, "threads") ? (int32_t)ig_get_int(r, o, "threads", 0, 1024) : 1;
        b->pinned[b->fleet.n_ranks] = json_array_size(json_object_get(o, "cores")) > 0;
        b->keys[b->fleet.n_ranks] = ig_copy_text(ig_get_text(r, o, "key"));
        b->device[b->fleet.n_ranks++] = device_of(b, ig_get_text(r, o, "device"));
    }
}

static int32_t rank_of(struct ig_reader *r, const json_t *o, const char *key, const struct building *b)
{
    return (int32_t)ig_get_int(r, o, key, 0, b->fleet.n_ranks - 1);
}

/* Tensors wait for their writers. */
static void read_tensors(struct ig_reader *r, const json_t *root, struct building *b)
{
    int32_t n;
    const json_t *list = open_list(r, root, "tensors", &n);
    b->buffers = ig_must_alloc((size_t)n, sizeof *b->buffers);
    for (; (int32_t)r->at < n && !r->failed; r->at++) {
        const json_t *o = json_array_get(list, r->at);
        ig_reader_only(r, o, "bytes copies output rank tensor");
        struct ig_fleet_buffer *buffer = &b->buffers[b->fleet.n_buffers++];
        *buffer = (struct ig_fleet_buffer){.rank = rank_of(r, o, "rank", b), .writer = IG_FLEET_USER};
        buffer->copies = (int32_t)ig_get_int(r, o, "copies", 1, 1 << 16);
        buffer->bytes = ig_get_int(r, o, "bytes", 0, INT64_C(1) << 40);
        buffer->is_output = json_is_true(json_object_get(o, "output"));
        buffer->tensor = ig_copy_text(ig_get_text(r, o, "tensor"));
    }
}

static int32_t find_tensor(struct ig_reader *r, const struct building *b, int32_t rank, const char *tensor)
{
    for (int32_t i = 0; i < b->fleet.n_buffers; i++)
        if (b->buffers[i].rank == rank && !strcmp(b->buffers[i].tensor, tensor)) return i;
    ig_reader_fail(r, "rank %d has no tensor '%.100s'", rank, tensor);
    return 0;
}

static int32_t *read_names(struct ig_reader *r, const json_t *o, const char *key, const struct building *b, int32_t rank,
                           int32_t *n)
{
    const json_t *list = ig_get_array(r, o, key);
    *n = r->failed ? 0 : (int32_t)json_array_size(list);
    int32_t *numbers = ig_must_alloc((size_t)*n, sizeof *numbers);
    for (int32_t i = 0; i < *n; i++) {
        const char *name = json_string_value(json_array_get(list, (size_t)i));
        if (name) numbers[i] = find_tensor(r, b, rank, name);
        else ig_reader_fail(r, "'%s' must have names of tensors", key);
    }
    return numbers;
}

/* More than any replay takes stays more. */
static int64_t whole_ns(double ns)
{
    return ns < 1e15 ? (int64_t)(ns + 0.5) : INT64_MAX;
}

static int64_t read_ns(struct ig_reader *r, const json_t *o, const char *key)
{
    double ms = ig_get_double(r, o, key, 0);
    return whole_ns(ms * 1e6);
}

static void read_parts(struct ig_reader *r, const json_t *root, struct building *b)
{
    int32_t n;
    const json_t *list = open_list(r, root, "parts", &n);
    b->parts = ig_must_alloc((size_t)n, sizeof *b->parts);
    for (; (int32_t)r->at < n && !r->failed; r->at++) {
        const json_t *o = json_array_get(list, r->at);
        ig_reader_only(r, o,
                       "arena_bytes beside_ms demand gpu in nodes out plan_sha256 prefix rank threads time_ms weights_bytes "
                       "weights_hash");
        struct ig_fleet_part *p = &b->parts[b->fleet.n_parts++];
        p->rank = rank_of(r, o, "rank", b);
        p->ns = read_ns(r, o, "time_ms");
        if (json_object_get(o, "beside_ms")) p->beside_ns = read_ns(r, o, "beside_ms");
        if (json_object_get(o, "demand")) p->demand = (int32_t)fmin(1e3 * ig_get_double(r, o, "demand", 0), INT32_MAX);
        p->in = read_names(r, o, "in", b, p->rank, &p->n_in);
        p->out = read_names(r, o, "out", b, p->rank, &p->n_out);
        for (int32_t i = 0; i < p->n_out && !r->failed; i++) b->buffers[p->out[i]].writer = b->fleet.n_parts - 1;
    }
}

static void read_links(struct ig_reader *r, const json_t *root, struct building *b)
{
    int32_t n;
    const json_t *list = open_list(r, root, "links", &n);
    b->messages = ig_must_alloc((size_t)n, sizeof *b->messages);
    for (; (int32_t)r->at < n && !r->failed; r->at++) {
        const json_t *o = json_array_get(list, r->at);
        ig_reader_only(r, o, "bytes copies from number tensor to");
        struct ig_fleet_message *m = &b->messages[b->fleet.n_messages++];
        const char *tensor = ig_get_text(r, o, "tensor");
        m->from = find_tensor(r, b, rank_of(r, o, "from", b), tensor);
        m->to = find_tensor(r, b, rank_of(r, o, "to", b), tensor);
        if (!r->failed) b->buffers[m->to].writer = IG_FLEET_MESSAGE;
    }
}

static void read_all(struct ig_reader *r, const json_t *root, struct building *b)
{
    ig_reader_only(r, root,
                   "format input_spec links network output_rank parts period_ms plan_sha256 ranks source_sha256 tensors tool "
                   "version");
    read_ranks(r, root, b);
    read_tensors(r, root, b);
    read_parts(r, root, b);
    read_links(r, root, b);
    struct ig_fleet *f = &b->fleet;
    f->device = b->device;
    f->machine = b->machine = ig_must_alloc((size_t)f->n_ranks, sizeof *b->machine);
    for (int32_t i = 0; i < f->n_ranks; i++) b->machine[i] = b->device[i];
    f->keys = (const char *const *)b->keys;
    f->devices = (const char *const *)b->devices;
    f->parts = b->parts;
    f->buffers = b->buffers;
    f->messages = b->messages;
    char words[400];
    r->where = "";
    if (!r->failed && ig_fleet_check(f, words, sizeof words)) ig_reader_fail(r, "%s", words);
}

struct ig_fleet *ig_fleet_read(const char *path, char *err, size_t err_bytes)
{
    struct ig_reader r;
    json_t *root = ig_reader_open(&r, path, IG_DEPLOY_FORMAT, err, err_bytes);
    if (!root) return NULL;
    struct building *b = ig_must_alloc(1, sizeof *b);
    read_all(&r, root, b);
    json_decref(root);
    if (!r.failed) return &b->fleet;
    ig_fleet_free(&b->fleet);
    return NULL;
}

void ig_fleet_free(struct ig_fleet *f)
{
    struct building *b = (struct building *)f;
    if (!b) return;
    for (int32_t i = 0; i < f->n_ranks; i++) free(b->keys[i]);
    for (int32_t i = 0; i < f->n_devices; i++) free(b->devices[i]);
    for (int32_t i = 0; i < f->n_parts; i++) {
        free((int32_t *)(uintptr_t)b->parts[i].in);
        free((int32_t *)(uintptr_t)b->parts[i].out);
    }
    for (int32_t i = 0; i < f->n_buffers; i++) free((char *)(uintptr_t)b->buffers[i].tensor);
    void *lists[] = {b->device, b->machine, b->threads, b->pinned, b->keys, b->devices, b->parts, b->buffers, b->messages};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
    free(b);
}

/* --- changes --- */

static int32_t device_at(const struct ig_fleet *f, int32_t buffer)
{
    return f->device[f->buffers[buffer].rank];
}

/* Of the site; one that it lacks has a number that no link names, and so those of "any". */
static int32_t site_device(const struct ig_fleet *f, const struct ig_site *s, int32_t device)
{
    int32_t i = ig_site_find(s, f->devices[device]);
    return i < 0 ? -2 - device : i;
}

/*
 * Does the rank's thread that calls MPI run on a core where it computes, too? Pinned ranks keep all threads to their
 * cores; others have one more if their device has.
 */
static int shares_core(const struct building *b, const struct ig_site *s, int32_t rank, int32_t device)
{
    int32_t threads = 0;
    for (int32_t i = 0; i < b->fleet.n_ranks; i++)
        if (b->device[i] == b->device[rank]) threads += b->threads[i];
    if (!b->threads[rank]) return 0;
    return b->pinned[rank] || device < 0 || !s->devices[device].n_cores || s->devices[device].n_cores <= threads;
}

/* The first device of the fleet that the site has on the same machine. */
static int32_t machine_of(const struct ig_fleet *f, const struct ig_site *s, int32_t device)
{
    int32_t own = ig_site_find(s, f->devices[device]);
    for (int32_t i = 0; own >= 0 && s->devices[own].machine && i < device; i++)
        if (ig_site_same_machine(s, own, ig_site_find(s, f->devices[i]))) return i;
    return device;
}

void ig_fleet_link(struct ig_fleet *f, const struct ig_site *s)
{
    struct ig_fleet_message *messages = ((struct building *)f)->messages;
    int32_t *machine = ((struct building *)f)->machine;
    for (int32_t i = 0; i < f->n_ranks; i++) machine[i] = machine_of(f, s, f->device[i]);
    for (int32_t i = 0; i < f->n_messages; i++) {
        struct ig_fleet_message *m = &messages[i];
        int32_t from = site_device(f, s, device_at(f, m->from)), to = site_device(f, s, device_at(f, m->to));
        int64_t bytes = f->buffers[m->from].bytes;
        int sends = shares_core((struct building *)f, s, f->buffers[m->from].rank, from);
        int receives = shares_core((struct building *)f, s, f->buffers[m->to].rank, to);
        m->ns = whole_ns(ig_link_ns(s, from, to, bytes));
        m->send_ns = sends ? whole_ns(ig_link_host_ns(s, from, to, bytes, IG_LINK_SENDS)) : 0;
        m->receive_ns = receives ? whole_ns(ig_link_host_ns(s, from, to, bytes, IG_LINK_RECEIVES)) : 0;
        if (m->ns < m->send_ns) m->ns = m->send_ns; /* a core moves bytes no faster than it can */
        if (m->ns < m->receive_ns) m->ns = m->receive_ns;
    }
}

void ig_fleet_link_all(struct ig_fleet *f, double alpha_ns, double beta_ns)
{
    struct ig_fleet_message *messages = ((struct building *)f)->messages;
    for (int32_t i = 0; i < f->n_messages; i++) {
        double bytes = (double)f->buffers[messages[i].from].bytes;
        int apart = device_at(f, messages[i].from) != device_at(f, messages[i].to);
        messages[i].ns = apart ? whole_ns(alpha_ns + beta_ns * bytes) : 0;
        messages[i].send_ns = messages[i].receive_ns = 0;
    }
}

void ig_fleet_copies(struct ig_fleet *f, int32_t copies)
{
    struct ig_fleet_buffer *buffers = ((struct building *)f)->buffers;
    for (int32_t i = 0; i < f->n_buffers; i++) buffers[i].copies = copies;
}
