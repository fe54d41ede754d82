/*
 * Pipelines: which processor computes which node of a network while frames overlap. Whole numbers only - ns, bytes, mW,
 * pJ - and every loop in the order of the nodes, so that a plan depends on nothing but the problem.
 *
 * Transfers go over one memory that all processors reach, the hub: a tensor that leaves the processor where it was made
 * is flushed there once (`out` of its maker), and every other processor that needs it loads it once (`in` of the
 * reader).
 */
#ifndef PLANNER_PIPE_H
#define PLANNER_PIPE_H

#include <stddef.h>
#include <stdint.h>

enum { IG_PIPE_PROCESSORS = 8 };
#define IG_PIPE_NEVER INT64_C(100000000000000) /* ns: the node cannot, or must not, run there; more than any sum */

struct ig_pipe_link {           /* one direction between a processor and the hub: x0 + bytes * rate, rounded up */
    int64_t x0_ns, fs_per_byte; /* 10 GB/s are 100,000 fs a byte */
};

struct ig_pipe {
    int32_t n, n_processors;       /* nodes, each behind its predecessors; 1..IG_PIPE_PROCESSORS */
    int32_t in_order;              /* 1: stages are runs of nodes in this very order; 0: any order will do */
    const int64_t *ns;             /* [n][n_processors]; IG_PIPE_NEVER */
    const int32_t *first, *preds;  /* node v reads what nodes preds[first[v]..first[v + 1]) make; each once */
    const int64_t *bytes;          /* [n] of what the node makes */
    const uint8_t *reads_input;    /* [n] 1: it reads the frame, which is in the hub; NULL: nobody's read is counted */
    const uint8_t *is_output;      /* [n] 1: the caller reads it from the hub; NULL: no flush is counted */
    int64_t input_bytes;           /* of a frame */
    const int64_t *weights_bytes;  /* [n]; NULL: 0 */
    const char *const *names;      /* [n]; NULL: "node 7" */
    const char *const *processors; /* [n_processors]; NULL: "processor 1" */
    struct ig_pipe_link in[IG_PIPE_PROCESSORS], out[IG_PIPE_PROCESSORS];
    int64_t active_mw[IG_PIPE_PROCESSORS], idle_mw[IG_PIPE_PROCESSORS], board_mw, pj_per_byte;
    int32_t slots; /* between two stages; 0: 2 */
};

struct ig_pipe_plan {
    int32_t n, n_stages;                 /* 0 stages: there is no such plan */
    int32_t *on, *stage;                 /* [n] processor and stage of each node */
    int32_t *processor;                  /* [n_stages] */
    int64_t *stage_ns;                   /* [n_stages] transfers included */
    int64_t load_ns[IG_PIPE_PROCESSORS]; /* of each processor a frame: the sum of its stages */
    int64_t period_ns;                   /* T: the largest load */
    int64_t latency_ns;                  /* L: all stages one after the other, as a paced source sees it */
    int64_t energy_pj;                   /* E: a frame's at period T, idle time paid; 0 where no powers are given */
    int64_t moved_bytes;                 /* loaded by processors that did not make it */
    int64_t memory_bytes;                /* stages' live tensors, slots, weights */
    int32_t proven;                      /* 1: no plan of its kind has a smaller period */
};

/* --- planner/pipe.c: plans and what they cost --- */

/* 0, or -1 with a line in err: the order, a number out of range, or a node that no processor may run, by name. */
int ig_pipe_check(const struct ig_pipe *p, char *err, size_t err_bytes);
/* An empty plan for that problem; release with ig_pipe_plan_free. */
void ig_pipe_plan_start(const struct ig_pipe *p, struct ig_pipe_plan *plan);
void ig_pipe_plan_free(struct ig_pipe_plan *plan);
void ig_pipe_plan_copy(struct ig_pipe_plan *to, const struct ig_pipe_plan *from);
/* Everything else from on[], stage[], processor[] and n_stages. */
void ig_pipe_fill(const struct ig_pipe *p, struct ig_pipe_plan *plan);
/* From on[] alone: few stages, each of all nodes of one processor that can follow; runs of nodes if they are in order.
 */
void ig_pipe_group(const struct ig_pipe *p, struct ig_pipe_plan *plan);
/* < 0 if a is better: period, stages, bytes moved, latency, memory, then the processors of the nodes in order. */
int ig_pipe_compare(const struct ig_pipe_plan *a, const struct ig_pipe_plan *b);
/* A frame's energy in pJ where frames come every period_ns, no less than the plan's own. */
int64_t ig_pipe_energy(const struct ig_pipe *p, const struct ig_pipe_plan *plan, int64_t period_ns);
/* The best single processor; no stages if there is none that runs all. */
void ig_pipe_single(const struct ig_pipe *p, struct ig_pipe_plan *plan);
/* ns to move that many bytes. */
int64_t ig_pipe_transfer(const struct ig_pipe_link *l, int64_t bytes);
/* order[n]: the nodes as the stages run them, one stage after the other, nodes of one in the problem's order. */
void ig_pipe_order(const struct ig_pipe_plan *plan, int32_t *order);

/* --- planner/pipe_canonical.c --- */

/*
 * The same problem with nodes in canonical order, the ready one with the smallest id first; from[n]: what each was. So
 * no result depends on the order in which nodes are given. To be released with ig_pipe_free; NULL if there is a cycle.
 */
struct ig_pipe *ig_pipe_canonical(const struct ig_pipe *p, const int32_t *id, int32_t *from);
void ig_pipe_free(struct ig_pipe *p);

/* --- the searches. Each leaves a plan without stages where there is none of its kind. --- */

enum { IG_PIPE_MOST_IDEALS = 40000, IG_PIPE_LABELS = 4096 };

/*
 * A, planner/pipe_stages.c: every processor computes at most one stage. Exact: dynamic programme over pairs of ideals
 * and the processors used. Of equal periods, the fewest stages, then the fewest bytes moved, then the least latency.
 */
void ig_pipe_stages(const struct ig_pipe *p, struct ig_pipe_plan *plan);
/* B, planner/pipe_shared.c: at most three stages, of which two may share a processor, or A's plan where that is better.
 */
void ig_pipe_shared(const struct ig_pipe *p, struct ig_pipe_plan *plan);
/*
 * C, planner/pipe_map.c: any node anywhere. Starts from B's plan; proven as long as no step needs more than `labels`
 * labels, else the most promising ones go on. limit_ns 0: least period. Else: least sum of weight[p] * load of p among
 * plans whose period is at most limit_ns (weights of active - idle power: energy at a given frame rate).
 */
void ig_pipe_map(const struct ig_pipe *p, int32_t labels, struct ig_pipe_plan *plan);
void ig_pipe_map_within(const struct ig_pipe *p, int32_t labels, int64_t limit_ns, const int64_t *weight,
                        struct ig_pipe_plan *plan);

/* --- planner/pipe_bound.c --- */

/* No plan of any kind has a smaller period; transfers are not counted. */
int64_t ig_pipe_bound(const struct ig_pipe *p);
/* The multipliers of the processors that prove it, of IG_PIPE_UNIT in sum. */
enum { IG_PIPE_UNIT = 4096 };
int64_t ig_pipe_multipliers(const struct ig_pipe *p, int32_t *multiplier);
/* Sum over nodes of the least multiplier * ns; divided by IG_PIPE_UNIT a bound, for multipliers of that sum. */
int64_t ig_pipe_dual(const struct ig_pipe *p, const int32_t *multiplier, int32_t from);
/* (T - bound) / bound in parts per million. */
int64_t ig_pipe_gap_ppm(int64_t period_ns, int64_t bound_ns);

/* --- planner/pipe_front.c --- */

/* Calls `visit` with every contiguous plan of up to three stages, in the same order always; none where cuts are too many. */
typedef void ig_pipe_visit(void *arg, const struct ig_pipe_plan *plan);
void ig_pipe_each(const struct ig_pipe *p, ig_pipe_visit *visit, void *arg);
enum { IG_FRONT_STAGES = 3 };
struct ig_pipe_front {
    int32_t n;
    struct ig_pipe_plan *plans;
    int64_t points;
};
/* D: contiguous plans of up to three stages that no other one beats in period, energy and memory, by period. */
void ig_pipe_front_make(const struct ig_pipe *p, struct ig_pipe_front *f);
void ig_pipe_front_free(struct ig_pipe_front *f);

#endif
