/*
 * The graph's memory and its building blocks. Everything lives in chunks that the graph owns: small things
 * are cut from shared chunks, anything large has a chunk of its own (calloc: the pages of a big constant are
 * touched once, by whoever fills it). Arrays that grow leave their old copy behind until the graph is freed.
 */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64, CHUNK_BYTES = 1 << 16, LARGE_BYTES = 1 << 15, HUGE_BYTES = 1 << 21, FIRST_SLOTS = 16 };

struct ig_chunk {
    struct ig_chunk *next;
    char *at;    /* next free byte of a shared chunk, 64-byte aligned */
    size_t left; /* bytes from `at` */
    void *owned; /* memory of somebody else's making, or NULL */
    size_t owned_bytes;
    void (*release)(void *, size_t); /* how to give `owned` back */
};

static void *must_calloc(size_t bytes) {
    void *p = calloc(1, bytes);
    if (p) return p;
    fprintf(stderr, "ingot: out of memory (%zu bytes)\n", bytes);
    exit(1);
}

static char *aligned(char *p) {
    return p + (-(uintptr_t)p & (ALIGN - 1));
}

static struct ig_chunk *new_chunk(struct ig_graph *g, size_t bytes) {
    struct ig_chunk *c = must_calloc(sizeof *c + ALIGN + bytes);
    c->at = aligned((char *)(c + 1));
    c->left = bytes;
    c->next = g->memory;
    g->memory = c;
    return c;
}

/* The whole huge pages inside: one fault instead of 512. */
static void use_huge_pages(char *p, size_t bytes) {
    char *from = p + (-(uintptr_t)p & (HUGE_BYTES - 1)), *to = p + bytes - ((uintptr_t)(p + bytes) & (HUGE_BYTES - 1));
    if (from < to) madvise(from, (size_t)(to - from), MADV_HUGEPAGE);
}

void *ig_graph_alloc(struct ig_graph *g, size_t bytes) {
    size_t take = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct ig_chunk *c = g->memory; /* the newest shared chunk stays in front */
    if (!take) take = ALIGN;
    if (take >= LARGE_BYTES) {
        struct ig_chunk *large = must_calloc(sizeof *large + ALIGN + take);
        if (take >= HUGE_BYTES) use_huge_pages((char *)large, take);
        large->next = c->next;
        c->next = large;
        return aligned((char *)(large + 1));
    }
    if (c->left < take) c = new_chunk(g, CHUNK_BYTES);
    char *p = c->at;
    c->at += take;
    c->left -= take;
    return p;
}

void ig_graph_own(struct ig_graph *g, void *p, size_t bytes, void (*release)(void *, size_t)) {
    struct ig_chunk *c = must_calloc(sizeof *c);
    c->owned = p;
    c->owned_bytes = bytes;
    c->release = release;
    c->next = g->memory->next;
    g->memory->next = c;
}

char *ig_graph_strdup(struct ig_graph *g, const char *s) {
    return strcpy(ig_graph_alloc(g, strlen(s) + 1), s);
}

struct ig_graph *ig_graph_new(const char *name) {
    struct ig_graph *g = must_calloc(sizeof *g);
    new_chunk(g, CHUNK_BYTES);
    g->name = ig_graph_strdup(g, name);
    g->source_sha256 = ig_graph_strdup(g, "");
    return g;
}

void ig_graph_free(struct ig_graph *g) {
    if (!g) return;
    for (struct ig_chunk *c = g->memory, *next; c; c = next) {
        next = c->next;
        if (c->release) c->release(c->owned, c->owned_bytes);
        free(c);
    }
    free(g);
}

/* An array of n elements has room for the next power of two, at least FIRST_SLOTS. */
static size_t slots(int32_t n) {
    size_t room = FIRST_SLOTS;
    while (room < (size_t)n)
        room *= 2;
    return room;
}

static void *copy_array(struct ig_graph *g, const void *array, int32_t n, size_t room, size_t bytes) {
    void *p = ig_graph_alloc(g, room * bytes);
    if (n) memcpy(p, array, (size_t)n * bytes);
    return p;
}

static void *room_for_one_more(struct ig_graph *g, void *array, int32_t n, size_t bytes) {
    if (array && slots(n) == slots(n + 1)) return array;
    return copy_array(g, array, n, slots(n + 1), bytes);
}

struct ig_graph *ig_graph_clone(const struct ig_graph *g) {
    struct ig_graph *c = ig_graph_new(g->name);
    struct ig_chunk *memory = c->memory;
    *c = *g;
    c->memory = memory;
    c->digest = NULL;
    c->name = ig_graph_strdup(c, g->name);
    c->values = copy_array(c, g->values, g->n_values, slots(g->n_values), sizeof *g->values);
    c->nodes = copy_array(c, g->nodes, g->n_nodes, slots(g->n_nodes), sizeof *g->nodes);
    c->inputs = copy_array(c, g->inputs, g->n_inputs, (size_t)g->n_inputs, sizeof *g->inputs);
    c->outputs = copy_array(c, g->outputs, g->n_outputs, (size_t)g->n_outputs, sizeof *g->outputs);
    for (int i = 0; i < c->n_values; i++)
        c->values[i].name = ig_graph_strdup(c, g->values[i].name);
    for (int i = 0; i < c->n_nodes; i++) {
        struct ig_node *n = &c->nodes[i];
        n->name = ig_graph_strdup(c, n->name);
        n->onnx = ig_graph_strdup(c, n->onnx);
        n->in = copy_array(c, n->in, n->n_in, (size_t)n->n_in, sizeof *n->in);
        n->out = copy_array(c, n->out, n->n_out, (size_t)n->n_out, sizeof *n->out);
    }
    return c;
}

static const char *value_at(const struct ig_graph *g, int32_t i) {
    return g->values[i].name;
}

static const char *node_at(const struct ig_graph *g, int32_t i) {
    return g->nodes[i].name;
}

/* The number of a name like "base_7"; 0: it is none. */
static unsigned long number_of(const char *name, const char *base, size_t n) {
    char *end;
    if (strncmp(name, base, n) || name[n] != '_' || name[n + 1] < '1' || name[n + 1] > '9') return 0;
    unsigned long number = strtoul(name + n + 1, &end, 10);
    return *end ? 0 : number;
}

/* `name`, or with the least number behind it that none of the n names has. */
static char *unique(struct ig_graph *g, const char *name, const char *(*at)(const struct ig_graph *, int32_t),
                    int32_t n) {
    size_t length = strlen(name), least = 1;
    int32_t same = 0;
    while (same < n && strcmp(at(g, same), name))
        same++;
    if (same == n) return ig_graph_strdup(g, name);
    uint8_t *taken = must_calloc((size_t)n + 2); /* numbers 1 to n + 1, one of which is free */
    for (int32_t i = 0; i < n; i++) {
        unsigned long number = number_of(at(g, i), name, length);
        if (number <= (unsigned long)n) taken[number] = 1;
    }
    while (taken[least])
        least++;
    free(taken);
    char *made = ig_graph_alloc(g, length + 16);
    snprintf(made, length + 16, "%s_%zu", name, least);
    return made;
}

int32_t ig_add_value(struct ig_graph *g, const char *name, const struct ig_shape *shape) {
    char *own = unique(g, name, value_at, g->n_values);
    g->values = room_for_one_more(g, g->values, g->n_values, sizeof *g->values);
    struct ig_value *v = &g->values[g->n_values];
    *v = (struct ig_value){.name = own, .shape = *shape, .producer = -1};
    for (int i = shape->rank; i < IG_MAX_RANK; i++)
        v->shape.dims[i] = 1;
    return g->n_values++;
}

int32_t ig_add_const(struct ig_graph *g, const char *name, const struct ig_shape *shape, const void *data) {
    size_t bytes = (size_t)ig_bytes(shape);
    void *own = ig_graph_alloc(g, bytes);
    if (data) memcpy(own, data, bytes);
    int32_t v = ig_add_value(g, name, shape);
    g->values[v].data = own;
    return v;
}

struct ig_node *ig_add_node(struct ig_graph *g, const char *name, enum ig_op op, int32_t n_in,
                            int32_t n_out) {
    char made[64];
    if (!name || !*name) {
        snprintf(made, sizeof made, "%s_%d", ig_op_info(op)->name, g->n_nodes);
        name = made;
    }
    char *own = unique(g, name, node_at, g->n_nodes);
    int32_t *ends = ig_graph_alloc(g, (size_t)(n_in + n_out) * sizeof *ends);
    for (int i = 0; i < n_in + n_out; i++)
        ends[i] = -1;
    g->nodes = room_for_one_more(g, g->nodes, g->n_nodes, sizeof *g->nodes);
    struct ig_node *n = &g->nodes[g->n_nodes++];
    *n = (struct ig_node){.name = own,
                          .onnx = ig_graph_strdup(g, "pass"),
                          .op = op,
                          .n_in = n_in,
                          .n_out = n_out,
                          .in = ends,
                          .out = ends + n_in};
    return n;
}

static void append(struct ig_graph *g, int32_t **array, int32_t *n, int32_t v) {
    *array = copy_array(g, *array, *n, (size_t)*n + 1, sizeof **array);
    (*array)[(*n)++] = v;
}

void ig_add_input(struct ig_graph *g, int32_t v) {
    append(g, &g->inputs, &g->n_inputs, v);
}

void ig_add_output(struct ig_graph *g, int32_t v) {
    append(g, &g->outputs, &g->n_outputs, v);
}

int32_t ig_use_count(const struct ig_graph *g, int32_t v) {
    int32_t uses = 0;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            uses += g->nodes[i].in[k] == v;
    return uses;
}

static int among(const int32_t *list, int32_t n, int32_t v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return 1;
    return 0;
}

int32_t ig_channel_dim(const struct ig_graph *g, const struct ig_shape *s) {
    return g->channels_last || s->rank < 2 ? s->rank - 1 : 1;
}

int ig_is_pixel(const struct ig_graph *g, const struct ig_shape *x, const struct ig_shape *y) {
    if (x->rank != y->rank || y->rank < 3) return 0;
    for (int i = 0; i < y->rank; i++)
        if (x->dims[i] != (i == 0 || i == ig_channel_dim(g, y) ? y->dims[i] : 1)) return 0;
    return 1;
}

int ig_is_output(const struct ig_graph *g, int32_t v) {
    return among(g->outputs, g->n_outputs, v);
}

int ig_is_input(const struct ig_graph *g, int32_t v) {
    return among(g->inputs, g->n_inputs, v);
}

void ig_replace_uses(struct ig_graph *g, int32_t from, int32_t to) {
    if (ig_is_output(g, from) && !ig_is_output(g, to) && !ig_is_input(g, to)) {
        char *name = g->values[from].name;
        g->values[from].name = g->values[to].name;
        g->values[to].name = name;
    }
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == from) g->nodes[i].in[k] = to;
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == from) g->outputs[i] = to;
}
