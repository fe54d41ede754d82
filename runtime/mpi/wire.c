#include "runtime/mpi/wire.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

#include "runtime/mpi/hello.h"

struct edge {
    struct ig_wire_edge is;
    MPI_Request *requests;  /* [n], request k of frames k, k + n, .. */
    MPI_Request last;       /* of the message that ends the stream */
    uint64_t n;             /* a multiple of the flow's copies and of the tags */
    uint64_t started, done; /* frames */
    int closing, over;
};

struct ig_wire {
    const struct ig_rank *rank;
    MPI_Comm own; /* for messages that are not the network's */
    struct edge *edges;
    int32_t n, n_sending;
    MPI_Request *watched; /* [n] the oldest started request of each edge, or none */
    int *index;           /* [n] */
    MPI_Status *status;   /* [n] */
    int64_t *heard;
    int64_t sending_since;
    struct ig_traffic traffic;
};

static int is_send(const struct edge *e)
{
    return e->is.reader >= 0;
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Edges may differ in copies, and no two have a tag in common. */
static int tag_of(const struct edge *e, uint64_t frame)
{
    return (int)(e->is.edge.number * IG_RANK_COPIES + (int32_t)(frame % (uint64_t)e->is.edge.copies));
}

static MPI_Comm comm_of(const struct ig_wire *w, const struct edge *e)
{
    return e->is.counts ? MPI_COMM_WORLD : w->own;
}

static _Noreturn void fail(const struct ig_wire *w, const struct edge *e, uint64_t frame, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    MPI_Error_string(error, text, &n);
    ig_die("rank %d: tensor '%s' of frame %llu %s rank %d '%s': %s", w->rank->rank, e->is.tensor,
           (unsigned long long)frame, is_send(e) ? "to" : "from", e->is.edge.peer, w->rank->keys[e->is.edge.peer],
           text);
}

static void must(const struct ig_wire *w, const struct edge *e, uint64_t frame, int error)
{
    if (error != MPI_SUCCESS) fail(w, e, frame, error);
}

/* --- messages --- */

static void send_begins(struct ig_wire *w)
{
    if (!w->n_sending++) w->sending_since = ig_now_ns();
}

static void send_ends(struct ig_wire *w)
{
    if (!--w->n_sending) w->traffic.sending_ns += ig_now_ns() - w->sending_since;
}

static int start_receives(struct ig_wire *w, struct edge *e)
{
    int moved = 0;
    for (; e->started - e->done < (uint64_t)e->is.flow->copies && ig_flow_free(e->is.flow, e->started); moved++) {
        must(w, e, e->started, MPI_Start(&e->requests[e->started % e->n]));
        e->started++;
    }
    return moved;
}

static int start_sends(struct ig_wire *w, struct edge *e)
{
    int moved = 0;
    for (; ig_flow_has(e->is.flow, e->started); moved++) {
        must(w, e, e->started, MPI_Start(&e->requests[e->started % e->n]));
        e->started++;
        if (e->is.counts) send_begins(w);
    }
    if (e->done < e->started || e->closing || !ig_flow_over(e->is.flow, e->started)) return moved;
    must(w, e, e->started,
         MPI_Issend(NULL, 0, MPI_BYTE, e->is.edge.peer, tag_of(e, e->started), comm_of(w, e), &e->last));
    e->closing = 1;
    return moved + 1;
}

static MPI_Request oldest(const struct edge *e)
{
    if (e->over) return MPI_REQUEST_NULL;
    if (e->done < e->started) return e->requests[e->done % e->n];
    return e->closing ? e->last : MPI_REQUEST_NULL;
}

static void received(struct ig_wire *w, struct edge *e, MPI_Status *status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (!bytes) {
        e->over = 1;
        ig_flow_close(e->is.flow, e->done);
        return;
    }
    if (bytes != e->is.flow->bytes)
        ig_die("rank %d: tensor '%s' of frame %llu has %d bytes, rank %d '%s' sent of %lld", w->rank->rank,
               e->is.tensor, (unsigned long long)e->done, bytes, e->is.edge.peer, w->rank->keys[e->is.edge.peer],
               (long long)e->is.flow->bytes);
    if (e->is.counts) w->traffic.received_bytes += bytes;
    ig_flow_fill(e->is.flow, ++e->done);
}

static void sent(struct ig_wire *w, struct edge *e)
{
    if (e->done == e->started) {
        e->over = 1;
        return;
    }
    if (e->is.counts) {
        send_ends(w);
        w->traffic.sent_bytes += e->is.flow->bytes;
    }
    ig_flow_use(e->is.flow, e->is.reader, ++e->done);
}

struct ig_moved ig_wire_poll(struct ig_wire *w)
{
    struct ig_moved moved = {0, 0};
    int n_done;
    for (int32_t i = 0; i < w->n; i++) {
        struct edge *e = &w->edges[i];
        if (!e->over) moved.started += is_send(e) ? start_sends(w, e) : start_receives(w, e);
        w->watched[i] = oldest(e);
    }
    int error = MPI_Testsome(w->n, w->watched, &n_done, w->index, w->status);
    if (n_done == MPI_UNDEFINED) return moved;
    for (int k = 0; k < n_done; k++) {
        struct edge *e = &w->edges[w->index[k]];
        if (error == MPI_ERR_IN_STATUS) must(w, e, e->done, w->status[k].MPI_ERROR);
        w->heard[e->is.edge.peer] = ig_now_ns();
        if (is_send(e))
            sent(w, e);
        else
            received(w, e, &w->status[k]);
    }
    moved.retired = n_done;
    return moved;
}

int ig_wire_over(const struct ig_wire *w)
{
    for (int32_t i = 0; i < w->n; i++)
        if (!w->edges[i].over) return 0;
    return 1;
}

struct ig_traffic ig_wire_traffic(const struct ig_wire *w)
{
    return w->traffic;
}

const char *ig_wire_awaited(const struct ig_wire *w, int32_t peer, uint64_t *frame, const char **doing)
{
    const struct edge *found = NULL;
    for (int32_t i = 0; i < w->n; i++) {
        const struct edge *e = &w->edges[i];
        if (e->is.edge.peer != peer || !e->is.counts) continue;
        if (!found || (found->done == found->started && e->done < e->started)) found = e;
    }
    if (!found) return NULL;
    *frame = found->done;
    *doing = is_send(found) ? "to be taken" : "to come";
    return found->is.tensor;
}

/* --- open and close --- */

static void *make(size_t n, size_t bytes)
{
    void *p = calloc(n + 1, bytes);
    if (!p) ig_die("out of memory");
    return p;
}

static void check(const struct ig_wire *w, const struct edge *e)
{
    int *most = NULL, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&most, &found);
    if (e->is.edge.copies > IG_RANK_COPIES)
        ig_die("rank %d: tensor '%s' has %d copies, at most %d can be told apart", w->rank->rank, e->is.tensor,
               e->is.edge.copies, IG_RANK_COPIES);
    int64_t last = (int64_t)e->is.edge.number * IG_RANK_COPIES + e->is.edge.copies - 1;
    if (last > (found ? *most : 32767))
        ig_die("rank %d: tensor '%s' needs message tag %lld, this MPI has tags up to %d", w->rank->rank, e->is.tensor,
               (long long)last, found ? *most : 32767);
    if (e->is.flow->bytes > INT_MAX)
        ig_die("rank %d: tensor '%s' of %lld bytes: more than a message can have", w->rank->rank, e->is.tensor,
               (long long)e->is.flow->bytes);
}

/* What the runtime adds to a frame is small, and no more of it is on its way than frames are: nobody waits for it. */
static void prepare(const struct ig_wire *w, struct edge *e)
{
    check(w, e);
    e->last = MPI_REQUEST_NULL;
    e->n = common_multiple((uint64_t)e->is.flow->copies, (uint64_t)e->is.edge.copies);
    e->requests = make(e->n, sizeof *e->requests);
    for (uint64_t k = 0; k < e->n; k++) {
        void *at = ig_flow_at(e->is.flow, k);
        int bytes = (int)e->is.flow->bytes, peer = e->is.edge.peer, tag = tag_of(e, k);
        MPI_Comm comm = comm_of(w, e);
        must(w, e, k,
             !is_send(e)       ? MPI_Recv_init(at, bytes, MPI_BYTE, peer, tag, comm, &e->requests[k])
             : e->is.counts ? MPI_Ssend_init(at, bytes, MPI_BYTE, peer, tag, comm, &e->requests[k])
                            : MPI_Send_init(at, bytes, MPI_BYTE, peer, tag, comm, &e->requests[k]));
    }
}

struct ig_wire *ig_wire_open(const struct ig_rank *rank, const struct ig_wire_edge *edges, int32_t n, int64_t *heard)
{
    struct ig_wire *w = make(1, sizeof *w);
    w->rank = rank;
    w->n = n;
    w->heard = heard;
    ig_own_comm(&w->own);
    w->edges = make((size_t)n, sizeof *w->edges);
    w->watched = make((size_t)n, sizeof *w->watched);
    w->index = make((size_t)n, sizeof *w->index);
    w->status = make((size_t)n, sizeof *w->status);
    for (int32_t i = 0; i < n; i++) {
        w->edges[i].is = edges[i];
        prepare(w, &w->edges[i]);
    }
    return w;
}

/* Receives behind the stream's end were started and will not be met. */
static void close_edge(struct edge *e)
{
    for (; !is_send(e) && e->done + 1 < e->started; e->started--) {
        MPI_Request *r = &e->requests[(e->started - 1) % e->n];
        MPI_Cancel(r);
        MPI_Wait(r, MPI_STATUS_IGNORE);
    }
    for (uint64_t k = 0; k < e->n; k++) MPI_Request_free(&e->requests[k]);
    free(e->requests);
}

void ig_wire_close(struct ig_wire *w)
{
    for (int32_t i = 0; i < w->n; i++) close_edge(&w->edges[i]);
    MPI_Comm_free(&w->own);
    free(w->edges);
    free(w->watched);
    free(w->index);
    free(w->status);
    free(w);
}
