/* Inside the replay: where it is, and what is looked up in it. */
#ifndef PLANNER_DEPLOY_REPLAY_STATE_H
#define PLANNER_DEPLOY_REPLAY_STATE_H

#include "planner/deploy/replay.h"

struct ig_fleet_event {
    int64_t ns;
    int32_t what; /* a part's number, or n_parts + a message's, that ends */
};

enum { IG_FLEET_CORE = 1 << 20 }; /* what a core does in a ns */

struct ig_fleet_work { /* what a rank computes: IG_FLEET_CORE a ns, less what messages take */
    int32_t part;      /* -1: nothing */
    int64_t left;      /* of its time alone, times that, at `since` */
    int64_t since, started, taken;
    int64_t rate;      /* of it, by what other ranks of the machine want of the memory */
};

struct ig_fleet_lists { /* of numbers, one an owner: at[first[i]..first[i + 1]) */
    int32_t *first, *at;
};

struct ig_fleet_set { /* what has to be looked at again, in the order in which that was noticed */
    int32_t *at, n;
    uint8_t *in;
};

struct ig_fleet_state {
    const struct ig_fleet *f;
    struct ig_fleet_run *run;
    int64_t now, interval;
    int32_t frames;
    struct ig_fleet_event *heap;
    int32_t n_heap, *place;            /* [n_parts + n_messages] in the heap */
    int32_t *begun, *ended;            /* [n_parts + n_messages] frames */
    int32_t *filled, *freed, *readers; /* [n_buffers] frames, frames, how many read it */
    int32_t *base, *left;              /* [n_buffers] its first copy; [copies] readers that each waits for */
    int32_t *filler;                   /* [n_buffers] message that fills it; -1 */
    struct ig_fleet_work *work;            /* [n_ranks] */
    uint8_t *sends, *receives;         /* [n_devices] */
    struct ig_fleet_set ranks, devices;
    struct ig_fleet_lists parts_of;        /* by rank */
    struct ig_fleet_lists sent_by, sent_to; /* messages by device */
    struct ig_fleet_lists kept_by;         /* messages within a device */
    struct ig_fleet_lists share;           /* ranks by machine, where they share memories */
    int32_t *inputs, n_inputs, entered;
    int32_t *outputs_left;             /* [frames] */
};

/* Before anything has started: f, run, now, interval and frames are set. */
void ig_fleet_state_start(struct ig_fleet_state *s);
void ig_fleet_state_free(struct ig_fleet_state *s);

static inline int32_t ig_fleet_device(const struct ig_fleet_state *s, int32_t buffer)
{
    return s->f->device[s->f->buffers[buffer].rank];
}

#endif
