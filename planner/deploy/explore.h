/*
 * Deployments of a network over several devices: which run of its nodes goes to which device, on how many cores or the
 * GPU. Devices of a kind are alike. Whole numbers only - ns, bytes, mW, pJ - and every loop in a fixed order, so that a
 * front depends on nothing but the problem.
 *
 * A stage is a run of nodes in their order, on one device; a device has one stage, or two that follow each other, one on
 * cores and one on the GPU. A frame's time is the longest of all stages and of all hand-overs, which go on meanwhile;
 * what passes a cut goes over the link between the devices on both sides, x0 + bytes * rate.
 */
#ifndef PLANNER_DEPLOY_EXPLORE_H
#define PLANNER_DEPLOY_EXPLORE_H

#include <stddef.h>
#include <stdint.h>

#include "planner/pipe.h"

enum {
    IG_EXPLORE_KINDS = 4, IG_EXPLORE_WAYS = 32, IG_EXPLORE_DEVICES = 64, IG_EXPLORE_STAGES = 2 * IG_EXPLORE_DEVICES,
    IG_EXPLORE_NODES = 1024
};

struct ig_explore_way {          /* what computes a stage */
    int32_t kind;                /* of device */
    int32_t cores;               /* threads; of a GPU: 1, the host's */
    int32_t gpu;                 /* 1: it is the GPU */
    int64_t mw;                  /* drawn while it computes, beyond the device's idle power; 0: not known */
};

struct ig_explore_kind {
    int32_t count;               /* devices */
    int32_t cores;               /* of each */
    int64_t idle_mw;             /* all of the device */
    int64_t memory_bytes;        /* most that a device may hold; 0: no limit */
};

struct ig_explore {
    int32_t n;                   /* nodes, each behind its predecessors */
    const int32_t *first, *preds; /* node v reads what preds[first[v]..first[v + 1]) make */
    const int64_t *bytes;        /* [n] of what the node makes and others read */
    const int64_t *weights_bytes; /* [n] */
    const uint8_t *reads_input, *is_output; /* [n] */
    int64_t input_bytes;         /* of a frame */
    int32_t n_ways, n_kinds;
    struct ig_explore_way ways[IG_EXPLORE_WAYS];
    struct ig_explore_kind kinds[IG_EXPLORE_KINDS];
    const int64_t *ns, *scratch; /* [n][n_ways]; ns IG_PIPE_NEVER: it cannot run there; scratch: bytes of all threads */
    struct ig_pipe_link link[IG_EXPLORE_KINDS][IG_EXPLORE_KINDS]; /* from a device of one kind to one of another, or of the
                                                                     same */
    struct ig_pipe_link own[IG_EXPLORE_KINDS]; /* between CPU and GPU of one device */
    struct ig_pipe_link sends[IG_EXPLORE_KINDS], receives[IG_EXPLORE_KINDS]; /* what cores that compute a stage lose to what
                                                                                passes its ends from or to other devices */
    const uint8_t *may_cut;      /* [n + 1] 0: the node in front of it stays with it; NULL: all may */
    int32_t copies;              /* of every tensor that passes, on either side; 0: 2 */
    int32_t apart;               /* 1: a device has one stage only */
};

struct ig_explore_stage {
    int32_t first, end;          /* nodes first .. end - 1 */
    int32_t way, device;         /* device: number among all used, in order; of a group's the first */
};

struct ig_explore_group {        /* a stage on several devices (planner/deploy/explore_rows.h) */
    int32_t devices, n_split;    /* over which so many of its nodes are split by rows; 0: it is on one */
    int64_t ns, bytes;           /* of the first of them */
};

/* What is to be small: ns a frame, pJ of the busiest device without its idle power, bytes of the fullest device. */
enum ig_explore_axis { IG_EXPLORE_PERIOD = 0, IG_EXPLORE_ENERGY, IG_EXPLORE_MEMORY, IG_EXPLORE_AXES };

struct ig_explore_point {
    int32_t n_stages, n_devices, cores, gpus;
    struct ig_explore_stage stages[IG_EXPLORE_STAGES];
    struct ig_explore_group group[IG_EXPLORE_STAGES]; /* of each stage */
    int64_t x[IG_EXPLORE_AXES];
    int64_t period_ns;           /* x[IG_EXPLORE_PERIOD] */
    int64_t latency_ns;          /* stages and hand-overs one after the other */
    int64_t device_pj, total_pj; /* a frame's at that period, idle power paid: the most of a device, the sum of those used */
    int64_t memory_bytes, weights_bytes; /* of the fullest device: weights, arena, buffers; and its weights */
    int64_t link_bytes, moved_bytes; /* a frame's: the most that passes a cut between devices, the sum of those */
};

struct ig_explore_front {
    int32_t n;
    struct ig_explore_point *at; /* by falling period */
    int64_t solves, cells;       /* dynamic programmes, and runs of nodes that they looked at; evaluations of a search */
    int64_t priced;              /* what a device can do with a run, as often as one was worked out */
};

/* --- planner/deploy/explore.c: what runs of nodes cost --- */

/* 0, or -1 with a line in err: sizes, order, a number out of range, a node that runs nowhere. */
int ig_explore_check(const struct ig_explore *x, char *err, size_t err_bytes);

struct ig_ranges {               /* what each run i .. k - 1 costs, in tables; row i, column k */
    const struct ig_explore *x;
    int64_t *ns;                 /* [n_ways][n + 1] sums up to there */
    int64_t *weights;            /* [n + 1] sums */
    int64_t *passing;            /* [n + 1] bytes that pass a cut in front of that node */
    int64_t *held;               /* [n + 1][n + 1] arena and buffers */
    int64_t *scratch;            /* [n_ways][n + 1][n + 1] the most of a node's */
};
void ig_ranges_make(const struct ig_explore *x, struct ig_ranges *r);
void ig_ranges_free(struct ig_ranges *r);
/* Each at least 0; IG_PIPE_NEVER and more: a node of the run cannot run there. */
int64_t ig_range_ns(const struct ig_ranges *r, int32_t way, int32_t i, int32_t k);
int64_t ig_range_bytes(const struct ig_ranges *r, int32_t way, int32_t i, int32_t k);
/* ns that moving what comes from, and goes to, other devices takes of the stage's own cores. */
int64_t ig_range_receive_ns(const struct ig_ranges *r, int32_t way, int32_t i);
int64_t ig_range_send_ns(const struct ig_ranges *r, int32_t way, int32_t k);
/* pJ beyond idle power. */
int64_t ig_range_pj(const struct ig_ranges *r, int32_t way, int32_t i, int32_t k);
/* Of a point's stage, what it loses to messages counted. */
int64_t ig_explore_stage_ns(const struct ig_ranges *r, const struct ig_explore_point *p, int32_t s);
/* Everything else of a point from its stages. */
void ig_explore_fill(const struct ig_ranges *r, struct ig_explore_point *p);
/* 1 if a is as good as b in all of x. */
int ig_explore_covers(const struct ig_explore_point *a, const struct ig_explore_point *b);
void ig_explore_front_free(struct ig_explore_front *f);

/* 1 if stages may meet in front of node i. */
static inline int ig_explore_may_cut(const struct ig_explore *x, int32_t i)
{
    return i == 0 || i == x->n || !x->may_cut || x->may_cut[i];
}

/* --- planner/deploy/explore_exact.c --- */

/*
 * Every deployment on at most so many devices that no other one beats in all of x, exactly; of equals the one of fewest
 * devices, then of the least energy in all. Empty if memory is too small for any.
 */
void ig_explore_exact(const struct ig_ranges *r, int32_t devices, struct ig_explore_front *f);
/*
 * The same for 1, 2, ... devices, together: no other one is as good in time, energy and memory on as few devices. Here
 * energy has that of waiting in it, which devices of one idle power do not change the front by; of several, points may be
 * missing that are good by it alone. By devices, then by falling period.
 */
void ig_explore_all(const struct ig_ranges *r, struct ig_explore_front *f);

/* What a deployment must keep; 0: no limit. */
struct ig_explore_limits {
    int64_t period_ns, pj, bytes;
};
enum ig_explore_sum { IG_EXPLORE_LATENCY = 0, IG_EXPLORE_TOTAL_ENERGY }; /* what adds up over stages */
/* The deployment of least sum within limits, exactly; 0, or -1: there is none. Energy: without idle power. */
int ig_explore_least(const struct ig_ranges *r, struct ig_explore_limits limits, enum ig_explore_sum sum,
                     struct ig_explore_point *p);

/* --- planner/deploy/explore_nsga2.c --- */

enum { IG_EXPLORE_PEOPLE = 100, IG_EXPLORE_GENERATIONS = 400 };
/*
 * The search of Guo, Pimentel & Stefanov (2023) as a baseline: NSGA-II over one gene a resource, its first node, resources
 * in the order of their genes, those behind the last node unused; one core, all cores and the GPU of each device are its
 * resources. Mutation 0.1 a gene, crossover 0.5. On the same tables; the same seed gives the same front.
 */
void ig_explore_nsga2(const struct ig_ranges *r, uint64_t seed, int32_t generations, struct ig_explore_front *f);

#endif
