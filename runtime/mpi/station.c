#include "runtime/mpi/station.h"

#include <stdlib.h>
#include <string.h>

static void *make(int64_t n, size_t bytes)
{
    void *p = aligned_alloc(IG_FLOW_LINE, ((size_t)(n + 1) * bytes + IG_FLOW_LINE - 1) / IG_FLOW_LINE * IG_FLOW_LINE);
    if (!p) ig_die("out of memory");
    memset(p, 0, (size_t)(n + 1) * bytes);
    return p;
}

/* --- readers of flows --- */

/* A first time they are counted, a second time numbered. */
static int32_t reader_of(struct ig_flow *f)
{
    return f->n_readers++;
}

static void number_readers(struct ig_station *s)
{
    const struct ig_rank *r = s->rank;
    for (int32_t i = 0; i <= r->n_buffers; i++) s->flows[i].n_readers = 0;
    for (int32_t i = 0; i < r->n_parts; i++)
        for (int32_t k = 0; k < r->parts[i].program->model->n_inputs; k++)
            s->worker.parts[i].reader[k] = reader_of(&s->flows[r->parts[i].in[k]]);
    for (int32_t i = 0; i < s->n_edges; i++)
        if (s->edges[i].reader >= 0) s->edges[i].reader = reader_of(s->edges[i].flow);
    if (!s->leaves) return;
    for (int32_t i = 0; i < r->whole->model->n_outputs; i++) s->result.reader[i] = reader_of(&s->flows[r->outputs[i]]);
    s->result.stamp_reader = reader_of(&s->flows[r->n_buffers]);
}

static void make_readers(struct ig_station *s)
{
    int64_t n = 0;
    number_readers(s);
    for (int32_t i = 0; i <= s->rank->n_buffers; i++) n += s->flows[i].n_readers;
    struct ig_used *used = make(n, sizeof *used);
    for (int32_t i = 0; i <= s->rank->n_buffers; used += s->flows[i++].n_readers) s->flows[i].used = used;
}

/* --- memory --- */

/* The arena that the parts share, then the copies of all buffers: one block, so that pages are had in one call. */
static char *make_memory(struct ig_station *s, int64_t arena_bytes)
{
    const struct ig_rank *r = s->rank;
    int64_t arena = ig_flow_room(arena_bytes, 1), bytes = arena + ig_flow_room(sizeof(int64_t), IG_STAMPS);
    for (int32_t i = 0; i < r->n_buffers; i++) bytes += ig_flow_room(r->buffers[i].bytes, r->buffers[i].copies);
    char *block = ig_memory(bytes), *at = block + arena;
    for (int32_t i = 0; i < r->n_buffers; i++) {
        const struct ig_rank_buffer *b = &r->buffers[i];
        ig_flow_start(&s->flows[i], at, b->bytes, b->copies);
        at += ig_flow_room(b->bytes, b->copies);
    }
    ig_flow_start(&s->flows[r->n_buffers], at, sizeof(int64_t), IG_STAMPS);
    return block;
}

/* A part of the CPU's, which runs in the shared arena. */
static void ready_part(struct ig_station *s, int32_t i, char *arena)
{
    const struct ig_rank *r = s->rank;
    const struct ig_program *p = r->parts[i].program;
    struct ig_ctx *ctx = &s->worker.parts[i].ctx;
    int64_t room = r->arena_bytes - r->parts[i].base;
    ig_check_cpu(p);
    const void *weights = p->weights ? p->weights : ig_map_bundled_weights(p->model, i);
    int status = ig_ctx_init(ctx, p->model, weights, arena + r->parts[i].base, (size_t)room);
    if (!status && room < ig_arena_total(p->model, r->threads)) status = IG_ERROR_ARENA_SMALL;
    if (status) ig_die("%s: %s", p->model->name, ig_status_text(status));
    ig_map_all(weights, p->model->weights_bytes);
}

void ig_station_build(struct ig_station *s, const struct ig_rank *r, int pinned, const struct ig_ctx *on_gpu)
{
    memset(s, 0, sizeof *s);
    s->rank = r;
    s->flows = make(r->n_buffers + 1, sizeof *s->flows);
    char *arena = make_memory(s, on_gpu ? 0 : r->arena_bytes); /* parts on a GPU have theirs there */
    s->worker = (struct ig_worker){.rank = r, .flows = s->flows, .bell = &s->bell, .pinned = pinned};
    s->worker.parts = make(r->n_parts, sizeof *s->worker.parts);
    for (int32_t i = 0; i < r->n_parts; i++) {
        struct ig_part_run *p = &s->worker.parts[i];
        p->part = &r->parts[i];
        p->reader = make(p->part->program->model->n_inputs, sizeof *p->reader);
        if (on_gpu) p->ctx = on_gpu[i];
        else ready_part(s, i, arena);
    }
    s->enters = !r->rank;
    s->leaves = r->outputs && r->outputs[0] >= 0;
    s->result.reader = make(r->whole->model->n_outputs, sizeof *s->result.reader);
}

/* --- edges --- */

static void add_peer(struct ig_station *s, int32_t rank)
{
    for (int32_t i = 0; i < s->n_peers; i++)
        if (s->peers[i] == rank) return;
    s->peers[s->n_peers++] = rank;
}

static void add_edges(struct ig_station *s, const struct ig_rank_edge *e, int32_t n, int send)
{
    for (int32_t i = 0; i < n; i++) {
        s->edges[s->n_edges++] =
            (struct ig_wire_edge){e[i], s->rank->buffers[e[i].buffer].tensor, &s->flows[e[i].buffer], send ? 0 : -1, 1};
        add_peer(s, e[i].peer);
    }
}

/* The times go from where frames enter to where results leave. */
static void add_stamps(struct ig_station *s, int32_t out)
{
    const struct ig_rank *r = s->rank;
    int32_t sends = !r->rank, peer = sends ? out : 0;
    if (!out || (r->rank && r->rank != out)) return;
    s->edges[s->n_edges++] =
        (struct ig_wire_edge){{-1, peer, 0, 1}, "time", &s->flows[r->n_buffers], sends ? 0 : -1, 0};
    add_peer(s, peer);
}

void ig_station_connect(struct ig_station *s, int32_t out)
{
    const struct ig_rank *r = s->rank;
    s->edges = make(r->n_sends + r->n_receives + 1, sizeof *s->edges);
    s->peers = make(r->n_ranks, sizeof *s->peers);
    add_edges(s, r->receives, r->n_receives, 0);
    add_edges(s, r->sends, r->n_sends, 1);
    add_stamps(s, out);
    make_readers(s);
    number_readers(s);
}
