/* A fleet as it is given: whether it is sound, and how fast it can be at best. */
#include <stdio.h>
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/deploy/replay.h"

static const int64_t most_ns = INT64_C(1000000000000); /* of a part or a message: 1,000 s */

static int wrong(char *err, size_t err_bytes, const char *what, int32_t i, const char *how)
{
    snprintf(err, err_bytes, "%s %d %s", what, i, how);
    return -1;
}

static int within(const int32_t *list, int32_t n, int32_t below)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] < 0 || list[i] >= below) return 0;
    return 1;
}

/* Buffers of a part lie in its rank; those that it fills say so. */
static const char *part_fault(const struct ig_fleet *f, int32_t part, int32_t *filled)
{
    const struct ig_fleet_part *p = &f->parts[part];
    if (p->rank < 0 || p->rank >= f->n_ranks) return "has no rank";
    if (p->ns < 0 || p->ns > most_ns || p->beside_ns < 0 || p->beside_ns > most_ns) return "takes no possible time";
    if (p->demand < 0 || p->demand > IG_FLEET_DEMAND) return "wants more of the memory than can be";
    if (!within(p->in, p->n_in, f->n_buffers) || !within(p->out, p->n_out, f->n_buffers))
        return "has a buffer that is not there";
    for (int32_t i = 0; i < p->n_in; i++)
        if (f->buffers[p->in[i]].rank != p->rank) return "reads another rank's buffer";
    for (int32_t i = 0; i < p->n_out; i++) {
        const struct ig_fleet_buffer *b = &f->buffers[p->out[i]];
        if (b->writer != part || b->rank != p->rank) return "fills a buffer that does not say so";
        filled[p->out[i]]++;
    }
    return NULL;
}

static const char *message_fault(const struct ig_fleet *f, const struct ig_fleet_message *m, int32_t *filled)
{
    if (!within((const int32_t[]){m->from, m->to}, 2, f->n_buffers)) return "has a buffer that is not there";
    if (m->ns < 0 || m->ns > most_ns) return "takes no possible time";
    if (m->send_ns < 0 || m->send_ns > m->ns || m->receive_ns < 0 || m->receive_ns > m->ns)
        return "takes more of a core than its time";
    if (f->buffers[m->to].writer != IG_FLEET_MESSAGE) return "fills a buffer that does not say so";
    filled[m->to]++;
    return NULL;
}

static const char *buffer_fault(const struct ig_fleet *f, const struct ig_fleet_buffer *b, int32_t filled)
{
    if (b->rank < 0 || b->rank >= f->n_ranks) return "has no rank";
    if (b->copies < 1 || b->copies > 1 << 16) return "has no possible number of copies";
    if (filled != (b->writer != IG_FLEET_USER)) return "is not filled by one";
    return NULL;
}

static int check_all(const struct ig_fleet *f, int32_t *filled, char *err, size_t err_bytes)
{
    const char *fault;
    int32_t outputs = 0;
    for (int32_t i = 0; i < f->n_ranks; i++)
        if (f->device[i] < 0 || f->device[i] >= f->n_devices) return wrong(err, err_bytes, "rank", i, "has no device");
    if (f->machine && !within(f->machine, f->n_ranks, f->n_devices))
        return wrong(err, err_bytes, "of", f->n_ranks, "ranks one has no machine");
    for (int32_t i = 0; i < f->n_parts; i++)
        if ((fault = part_fault(f, i, filled))) return wrong(err, err_bytes, "part", i, fault);
    for (int32_t i = 0; i < f->n_messages; i++)
        if ((fault = message_fault(f, &f->messages[i], filled))) return wrong(err, err_bytes, "message", i, fault);
    for (int32_t i = 0; i < f->n_buffers; i++) {
        if ((fault = buffer_fault(f, &f->buffers[i], filled[i]))) return wrong(err, err_bytes, "buffer", i, fault);
        outputs += f->buffers[i].is_output;
    }
    return outputs ? 0 : wrong(err, err_bytes, "of", f->n_buffers, "buffers none is an output");
}

int ig_fleet_check(const struct ig_fleet *f, char *err, size_t err_bytes)
{
    int32_t *filled = ig_must_alloc((size_t)f->n_buffers + 1, sizeof *filled);
    int failed = check_all(f, filled, err, err_bytes);
    free(filled);
    return failed;
}

static int64_t largest(const int64_t *x, int32_t n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

int64_t ig_fleet_bound(const struct ig_fleet *f)
{
    int64_t *rank = ig_must_alloc((size_t)f->n_ranks + 1, sizeof *rank);
    int64_t *sends = ig_must_alloc((size_t)f->n_devices + 1, sizeof *sends);
    int64_t *receives = ig_must_alloc((size_t)f->n_devices + 1, sizeof *receives);
    for (int32_t i = 0; i < f->n_parts; i++) rank[f->parts[i].rank] += f->parts[i].ns;
    for (int32_t i = 0; i < f->n_messages; i++) {
        const struct ig_fleet_message *m = &f->messages[i];
        int32_t from = f->device[f->buffers[m->from].rank], to = f->device[f->buffers[m->to].rank];
        if (from == to) continue;
        sends[from] += m->ns;
        receives[to] += m->ns;
    }
    int64_t loads[] = {largest(rank, f->n_ranks), largest(sends, f->n_devices), largest(receives, f->n_devices)};
    free(rank);
    free(sends);
    free(receives);
    return largest(loads, 3);
}
