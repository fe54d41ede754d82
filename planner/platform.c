/* platforms/NAME.json -> struct ig_platform. Every field is known or refused, every reference is resolved. */
#include "planner/platform.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/text.h"

#define FORMAT "ingot-platform"

const char *const ig_loop_names[IG_LOOPS] = {"OF", "IF", "FH", "FW", "KH", "KW"};
const char *const ig_role_names[IG_ROLES] = {"X", "Y", "W"};

static const int64_t MOST = (int64_t)1 << 53; /* what a JSON number says exactly */
static const int64_t MOST_NS = 1000000000;

enum {
    PART_BYTES = 48, /* of "parallelism[0]: " and such, the place inside a record */
    LIST_BYTES = 100 /* of ids */
};

static const json_t *given(const json_t *o, const char *key)
{
    const json_t *field = json_object_get(o, key);
    return field && !json_is_null(field) ? field : NULL;
}

static int64_t optional_int(struct ig_reader *r, const json_t *o, const char *key, int64_t low, int64_t otherwise)
{
    return given(o, key) ? ig_get_int(r, o, key, low, MOST) : otherwise;
}

static double optional_double(struct ig_reader *r, const json_t *o, const char *key)
{
    return given(o, key) ? ig_get_double(r, o, key, 0) : IG_UNKNOWN;
}

static void text(struct ig_reader *r, const json_t *o, const char *key, char *to, size_t bytes, int needed)
{
    if (!needed && !given(o, key)) return;
    const char *s = ig_get_text(r, o, key);
    if (strlen(s) >= bytes)
        ig_reader_fail(r, "'%s' is longer than %zu bytes", key, bytes - 1);
    else
        strcpy(to, s);
}

static void list_id(char there[LIST_BYTES], int32_t id)
{
    size_t n = strlen(there);
    snprintf(there + n, LIST_BYTES - n, " %d", id);
}

/* The index of the memory of that id; `part` says who asks. */
static int32_t store_of(struct ig_reader *r, const struct ig_platform *b, const char *part, int64_t id)
{
    for (int32_t i = 0; i < b->n_stores; i++)
        if (b->stores[i].id == id) return i;
    char there[LIST_BYTES] = "";
    for (int32_t i = 0; i < b->n_stores; i++) list_id(there, b->stores[i].id);
    ig_reader_fail(r, "%smemory %lld is not among 'memories'; there are:%s", part, (long long)id, there);
    return 0;
}

static int loop_of(struct ig_reader *r, const char *part, const json_t *name)
{
    const char *s = json_is_string(name) ? json_string_value(name) : "";
    for (int d = 0; d < IG_LOOPS; d++)
        if (!strcmp(s, ig_loop_names[d])) return d;
    ig_reader_fail(r, "%s'%s' is no loop; there are: OF IF FH FW KH KW", part, s);
    return 0;
}

static void read_store(struct ig_reader *r, const json_t *o, struct ig_platform *p)
{
    struct ig_store *s = &p->stores[p->n_stores];
    ig_reader_only(r, o, "id bytes note");
    s->id = (int32_t)ig_get_int(r, o, "id", 0, INT32_MAX);
    s->bytes = ig_get_int(r, o, "bytes", 1, MOST);
    text(r, o, "note", s->note, sizeof s->note, 0);
    for (int32_t i = 0; i < p->n_stores; i++)
        if (p->stores[i].id == s->id) ig_reader_fail(r, "id %d is there twice", s->id);
    p->n_stores++;
}

static void read_channel(struct ig_reader *r, const json_t *o, struct ig_platform *p)
{
    struct ig_channel *c = &p->channels[p->n_channels];
    ig_reader_only(r, o, "id bytes_per_s printed note");
    c->id = (int32_t)ig_get_int(r, o, "id", 0, INT32_MAX);
    c->bytes_per_s = ig_get_int(r, o, "bytes_per_s", 1, MOST);
    c->printed = optional_int(r, o, "printed", 1, IG_UNKNOWN);
    text(r, o, "note", c->note, sizeof c->note, 0);
    for (int32_t i = 0; i < p->n_channels; i++)
        if (p->channels[i].id == c->id) ig_reader_fail(r, "id %d is there twice", c->id);
    p->n_channels++;
}

/* --- processors --- */

static void read_grid(struct ig_reader *r, const json_t *list, struct ig_processor *p)
{
    size_t i;
    json_t *o;
    int seen[IG_LOOPS] = {0}, fused = 0;
    char part[PART_BYTES];
    if (!json_is_array(list)) ig_reader_fail(r, "'parallelism' must be an array");
    if (json_array_size(list) > IG_MAX_GRID) ig_reader_fail(r, "parallelism: more than %d levels", IG_MAX_GRID);
    json_array_foreach(list, i, o)
    {
        if (r->failed) return;
        struct ig_grid *g = &p->grid[p->n_grid++];
        snprintf(part, sizeof part, "parallelism[%zu]: ", i);
        r->part = part;
        ig_reader_only(r, o, "lanes loops");
        g->lanes = (int32_t)ig_get_int(r, o, "lanes", 1, 1 << 20);
        const json_t *loops = ig_get_array(r, o, "loops");
        size_t n = json_array_size(loops);
        if (!r->failed && (n < 1 || n > 2))
            ig_reader_fail(r, "%sa level unrolls one loop or two, not %zu", part, n);
        for (size_t k = 0; k < n && !r->failed; k++) {
            int d = g->loops[g->n_loops++] = loop_of(r, part, json_array_get(loops, k));
            if (seen[d]++) ig_reader_fail(r, "%sloop %s is named twice", part, ig_loop_names[d]);
        }
        if (n == 2 && fused++) ig_reader_fail(r, "%sa second level is fused; there may be one", part);
        r->part = NULL;
    }
}

static void read_order(struct ig_reader *r, const json_t *list, struct ig_processor *p)
{
    int seen[IG_LOOPS] = {0};
    if (json_array_size(list) != IG_LOOPS) ig_reader_fail(r, "'order' must name the six loops OF IF FH FW KH KW");
    for (int l = 0; l < IG_LOOPS && !r->failed; l++) {
        int d = p->order[l] = loop_of(r, "order: ", json_array_get(list, (size_t)l));
        if (seen[d]++) ig_reader_fail(r, "order: loop %s is named twice", ig_loop_names[d]);
    }
}

static void read_place(struct ig_reader *r, const struct ig_platform *b, const json_t *o, int role,
                       struct ig_placement *t)
{
    char part[8];
    snprintf(part, sizeof part, "%s: ", ig_role_names[role]);
    r->part = part;
    ig_reader_only(r, o, role == IG_W ? "level channel memory limit extra" : "level channel memory limit");
    int64_t level = ig_get_int(r, o, "level", INT64_MIN, INT64_MAX);
    if (!r->failed && (level < 0 || level >= IG_LOOPS))
        ig_reader_fail(r, "%slevel %lld: there are six loops, so levels go from 0 to 5", part, (long long)level);
    int32_t channel = (int32_t)ig_get_int(r, o, "channel", 0, INT32_MAX);
    char there[LIST_BYTES] = "";
    int64_t memory = ig_get_int(r, o, "memory", 0, INT32_MAX);
    t->level = (int32_t)level;
    for (t->channel = 0; t->channel < b->n_channels && b->channels[t->channel].id != channel;) t->channel++;
    for (int32_t i = 0; i < b->n_channels; i++) list_id(there, b->channels[i].id);
    if (t->channel == b->n_channels)
        ig_reader_fail(r, "%schannel %d is not among 'channels'; there are:%s", part, channel, there);
    t->memory = store_of(r, b, part, memory);
    if (!r->failed) t->limit = loop_of(r, part, json_object_get(o, "limit"));
    if (role == IG_W) t->extra = (int32_t)optional_int(r, o, "extra", 0, 0);
    r->part = NULL;
}

static void read_points(struct ig_reader *r, const json_t *list, struct ig_processor *p)
{
    size_t i;
    json_t *o;
    char part[PART_BYTES];
    if (!json_is_array(list) || json_array_size(list) > IG_MAX_POINTS)
        ig_reader_fail(r, "'operating_points' must be an array of at most %d", IG_MAX_POINTS);
    json_array_foreach(list, i, o)
    {
        if (r->failed) return;
        struct ig_point *point = &p->points[p->n_points++];
        snprintf(part, sizeof part, "operating_points[%zu]: ", i);
        r->part = part;
        ig_reader_only(r, o, "hz active_w idle_w");
        point->hz = ig_get_int(r, o, "hz", 1, MOST);
        point->active_w = optional_double(r, o, "active_w");
        point->idle_w = optional_double(r, o, "idle_w");
        r->part = NULL;
    }
}

/* An array of integers of at least `low`; returns how many. */
static int32_t read_team(struct ig_reader *r, const char *part, const json_t *o, const char *key, int64_t low,
                         int64_t *to)
{
    const json_t *list = json_object_get(o, key);
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n < 1 || n > IG_MAX_POINTS)
        ig_reader_fail(r, "%s'%s' must be an array of 1 to %d integers: of one core, of two, ...", part, key,
                       IG_MAX_POINTS);
    for (size_t i = 0; i < n && !r->failed; i++) {
        const json_t *x = json_array_get(list, i);
        to[i] = json_integer_value(x);
        if (!json_is_integer(x) || to[i] < low || to[i] > MOST)
            ig_reader_fail(r, "%s%s[%zu] must be an integer from %lld", part, key, i, (long long)low);
    }
    return r->failed ? 0 : (int32_t)n;
}

static void read_rates_measured(struct ig_reader *r, const json_t *list, struct ig_processor *p)
{
    char part[PART_BYTES];
    if (!json_is_array(list) || json_array_size(list) > IG_MAX_RATES)
        ig_reader_fail(r, "'rates' must be an array of at most %d", IG_MAX_RATES);
    for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
        const json_t *o = json_array_get(list, i);
        struct ig_rate *rate = &p->rates[p->n_rates++];
        snprintf(part, sizeof part, "rates[%zu]: ", i);
        r->part = part;
        ig_reader_only(r, o, "isa ops_per_s");
        text(r, o, "isa", rate->isa, sizeof rate->isa, 1);
        r->part = NULL;
        if (!r->failed) rate->n = read_team(r, part, o, "ops_per_s", 1, rate->ops_per_s);
    }
}

static void read_caches(struct ig_reader *r, const struct ig_platform *b, const json_t *list, struct ig_processor *p)
{
    size_t i;
    json_t *o;
    if (!json_is_array(list) || json_array_size(list) > IG_MAX_CACHES)
        ig_reader_fail(r, "'caches' must be an array of at most %d memories", IG_MAX_CACHES);
    json_array_foreach(list, i, o)
    {
        if (!json_is_integer(o)) ig_reader_fail(r, "'caches' must hold ids of memories");
        if (r->failed) return;
        p->caches[p->n_caches++] = store_of(r, b, "caches: ", json_integer_value(o));
    }
}

static void read_terms(struct ig_reader *r, const char *part, const json_t *terms, struct ig_cost *c)
{
    const char *key;
    json_t *x;
    if (!json_is_object(terms)) ig_reader_fail(r, "%s'ns' must be an object", part);
    json_object_foreach((json_t *)(uintptr_t)terms, key, x)
    {
        int k = 0;
        while (ig_feature_names[k] && strcmp(ig_feature_names[k], key)) k++;
        if (!ig_feature_names[k]) ig_reader_fail(r, "%sns: '%s' is no feature of planner/features.c; calibrate anew", part, key);
        if (r->failed) return;
        c->ns[k] = ig_get_double(r, terms, key, 0);
    }
}

static void read_costs(struct ig_reader *r, const json_t *list, struct ig_processor *p)
{
    size_t i;
    json_t *o;
    char part[PART_BYTES];
    if (!json_is_array(list) || json_array_size(list) > IG_MAX_COSTS)
        ig_reader_fail(r, "'costs' must be an array of at most %d", IG_MAX_COSTS);
    json_array_foreach(list, i, o)
    {
        if (r->failed) return;
        struct ig_cost *c = &p->costs[p->n_costs++];
        snprintf(part, sizeof part, "costs[%zu]: ", i);
        r->part = part;
        ig_reader_only(r, o, "family layers error ns");
        text(r, o, "family", c->family, sizeof c->family, 1);
        c->layers = (int32_t)ig_get_int(r, o, "layers", 0, INT32_MAX);
        c->error = ig_get_double(r, o, "error", 0);
        r->part = NULL;
        read_terms(r, part, json_object_get(o, "ns"), c);
    }
}

/* Order and the three tensors: all of them or none. */
static void read_mapping(struct ig_reader *r, const struct ig_platform *b, const json_t *o, struct ig_processor *p)
{
    const char *missing = NULL;
    for (int role = 0; role < IG_ROLES; role++)
        if (!given(o, ig_role_names[role]))
            missing = ig_role_names[role];
        else
            p->mapped++;
    if (!given(o, "order"))
        missing = "order";
    else
        p->mapped++;
    if (!p->mapped) {
        if (p->n_grid) ig_reader_fail(r, "'parallelism' needs 'order', 'X', 'Y' and 'W' beside it");
        return;
    }
    if (missing) ig_reader_fail(r, "'order', 'X', 'Y' and 'W' belong together: '%s' is missing", missing);
    p->mapped = 1;
    if (!r->failed) read_order(r, json_object_get(o, "order"), p);
    for (int role = 0; role < IG_ROLES && !r->failed; role++)
        read_place(r, b, json_object_get(o, ig_role_names[role]), role, &p->place[role]);
}

static void read_rates(struct ig_reader *r, const json_t *o, struct ig_processor *p)
{
    p->id = (int32_t)ig_get_int(r, o, "id", 0, INT32_MAX);
    text(r, o, "type", p->type, sizeof p->type, 1);
    text(r, o, "subtype", p->subtype, sizeof p->subtype, 0);
    text(r, o, "note", p->note, sizeof p->note, 0);
    p->count = (int32_t)optional_int(r, o, "count", 1, 1);
    if (p->count > 64) ig_reader_fail(r, "'count' is out of range: %d; an integer from 1 to 64", p->count);
    p->ops_per_s = ig_get_int(r, o, "ops_per_s", 1, MOST);
    p->hz = ig_get_int(r, o, "hz", 1, MOST);
    p->printed = optional_int(r, o, "printed", 1, IG_UNKNOWN);
    p->printed_hz = optional_int(r, o, "printed_hz", 1, IG_UNKNOWN);
    p->active_w = optional_double(r, o, "active_w");
    p->idle_w = optional_double(r, o, "idle_w");
    p->dram_pj_per_bit = optional_double(r, o, "dram_pj_per_bit");
    p->overhead_ns = optional_int(r, o, "overhead_ns", 0, 0);
    if (p->overhead_ns > MOST_NS) ig_reader_fail(r, "'overhead_ns' is out of range: %lld; from 0 to a second", (long long)p->overhead_ns);
}

static void read_integrated(struct ig_reader *r, const json_t *o, struct ig_integrated *m)
{
    r->part = "integrated: ";
    ig_reader_only(r, o, "attach_ns coherent copy_bytes_per_s mapped_bytes_per_s");
    m->given = 1;
    m->attach_ns = ig_get_int(r, o, "attach_ns", 0, MOST_NS);
    m->copy_bytes_per_s = ig_get_int(r, o, "copy_bytes_per_s", 1, MOST);
    m->mapped_bytes_per_s = ig_get_int(r, o, "mapped_bytes_per_s", 1, MOST);
    if (!r->failed && !json_is_boolean(json_object_get(o, "coherent")))
        ig_reader_fail(r, "integrated: 'coherent' must be true or false");
    m->coherent = json_is_true(json_object_get(o, "coherent"));
    r->part = NULL;
}

static void read_processor(struct ig_reader *r, const json_t *o, struct ig_platform *b)
{
    struct ig_processor *p = &b->processors[b->n_processors];
    ig_reader_only(r, o,
                   "id type subtype count ops_per_s printed hz printed_hz parallelism active_w idle_w "
                   "dram_pj_per_bit overhead_ns order X Y W operating_points caches rates "
                   "team_overhead_ns costs integrated "
                   "note");
    read_rates(r, o, p);
    for (int32_t i = 0; i < b->n_processors; i++)
        if (b->processors[i].id == p->id) ig_reader_fail(r, "id %d is there twice", p->id);
    if (given(o, "parallelism")) read_grid(r, json_object_get(o, "parallelism"), p);
    read_mapping(r, b, o, p);
    if (given(o, "operating_points")) read_points(r, json_object_get(o, "operating_points"), p);
    if (given(o, "caches")) read_caches(r, b, json_object_get(o, "caches"), p);
    if (given(o, "rates")) read_rates_measured(r, json_object_get(o, "rates"), p);
    if (given(o, "team_overhead_ns") && !r->failed)
        p->n_teams = read_team(r, "", o, "team_overhead_ns", 0, p->team_overhead_ns);
    if (given(o, "integrated")) read_integrated(r, json_object_get(o, "integrated"), &p->integrated);
    if (given(o, "costs")) read_costs(r, json_object_get(o, "costs"), p);
    b->n_processors++;
}

typedef void read_fn(struct ig_reader *r, const json_t *o, struct ig_platform *p);

static void read_list(struct ig_reader *r, const json_t *root, const char *key, size_t low, size_t high, read_fn *read,
                      struct ig_platform *p)
{
    const json_t *list = ig_get_array(r, root, key);
    size_t n = json_array_size(list);
    if (!r->failed && (n < low || n > high))
        ig_reader_fail(r, "'%s' has %zu records, not %zu to %zu", key, n, low, high);
    r->where = key;
    for (r->at = 0; !r->failed && r->at < n; r->at++) read(r, json_array_get(list, r->at), p);
    r->where = "";
}

static struct ig_platform *read_platform(struct ig_reader *r, json_t *root)
{
    if (!root) return NULL;
    struct ig_platform *p = ig_must_alloc(1, sizeof *p);
    ig_reader_only(r, root, "format version tool name note element_bytes memories channels processors");
    text(r, root, "name", p->name, sizeof p->name, 1);
    text(r, root, "note", p->note, sizeof p->note, 0);
    p->element_bytes = (int32_t)ig_get_int(r, root, "element_bytes", 1, 8);
    read_list(r, root, "memories", 1, IG_MAX_STORES, read_store, p);
    read_list(r, root, "channels", 1, IG_MAX_CHANNELS, read_channel, p);
    read_list(r, root, "processors", 1, IG_MAX_PROCESSORS, read_processor, p);
    json_decref(root);
    if (!r->failed) return p;
    free(p);
    return NULL;
}

struct ig_platform *ig_platform_read(const char *path, char *err, size_t err_bytes)
{
    struct ig_reader r;
    return read_platform(&r, ig_reader_open(&r, path, FORMAT, err, err_bytes));
}

struct ig_platform *ig_platform_parse(const char *text, const char *name, char *err, size_t err_bytes)
{
    struct ig_reader r;
    return read_platform(&r, ig_reader_open_text(&r, text, name, FORMAT, err, err_bytes));
}

void ig_processor_at(struct ig_processor *p, const struct ig_point *point)
{
    p->ops_per_s = (int64_t)((double)p->ops_per_s * (double)point->hz / (double)p->hz + 0.5);
    p->hz = point->hz;
    p->active_w = point->active_w;
    p->idle_w = point->idle_w;
}
