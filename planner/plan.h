/*
 * The plan: which kernel runs each node, cut into which pieces, with every tensor at which bytes of which
 * memory. Plain data with a text form (plan.json); gen turns it into C tables and decides nothing itself.
 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"
#include "kernels_cpu/reach.h"

enum ig_memory {       /* where a tensor's bytes are */
    IG_MEMORY_NONE = 0,
    IG_MEMORY_ARENA,   /* offset from the arena's start */
    IG_MEMORY_WEIGHTS, /* a constant; offset from the weight blob's start, set by gen */
    IG_MEMORY_INPUT,   /* caller's input `index` */
    IG_MEMORY_OUTPUT,  /* caller's output `index` */
    IG_MEMORY_RING,    /* a few rows in the thread's scratch, inside a band; offset from the scratch's start */
    IG_MEMORY_SLOT     /* passed from stage to stage: one of the copies of slot `index`; offset from the copy's start */
};

enum { IG_ALIGN = 64 };  /* bytes: alignment of every buffer in the arena and of every packed constant */

/*
 * A value as a view of its root: element (y, x, ch) of the value's collapsed [h, w, c] form (kernel.h; all images
 * of a batch count as rows) is element offset + y*row_stride + x*pixel_stride + ch of the root's dense storage.
 */
struct ig_view {
    int32_t root;          /* the value that owns the storage; itself if it is no view */
    int64_t offset;        /* elements */
    int64_t row_stride;    /* elements */
    int64_t pixel_stride;  /* elements */
};

struct ig_plan_step {      /* one node, in execution order */
    int32_t node;
    const struct ig_kernel *kernel; /* NULL: nothing to run, the output is a view (reshape, concat, slice) */
    int32_t processor, stage;       /* numbers of its processor (stages on the same one share it) and stage; 0, 0 without
                                       stages */
    int32_t split;         /* 0: whole, 1: by rows, 2: by channels */
    int32_t chunk;         /* rows or channels per piece, a multiple of the kernel's tile */
    int32_t chunks;        /* pieces; threads take them in any order */
    double predicted_ns;   /* with all the plan's, or its stage's, threads */
    int64_t scratch_bytes; /* a thread's own while it runs, a multiple of IG_ALIGN; of a band at its last step, rings
                              and all */
    int64_t scratch_offset; /* of thread 0's in the arena; the plan's other threads' follow, where it has chunks for
                               them. 0 if there is none */
};

/*
 * A segment of the plan that is run by rows: all steps from first to last, or a step alone whose output begins below its
 * input and grows into it (planner/overlap.h). It runs in the place of its last step, which
 * says how its rows are cut for threads; a phase makes `rows` of them, all at once, or where that is the least there can
 * be, every step goes tile by tile. Tensors that nobody else reads or writes are rings; one that is written inside and
 * needed later stays whole.
 */
struct ig_band {
    int32_t first, last;   /* steps */
    int32_t rows;          /* of the last step's output a phase, a multiple of its kernel's row tile */
    double predicted_ns;   /* of the band, with all the plan's threads: the sum of its steps' */
    double apart_ns;       /* of the same steps one after the other */
};

struct ig_plan_buffer {    /* one value */
    int32_t value;
    int32_t memory;        /* enum ig_memory */
    int32_t index;         /* input or output number */
    int64_t offset;        /* bytes, of element 0 of this value's view, from the memory's start */
    int64_t bytes;         /* dense size of the value: shape x type; of a ring: its rows */
    int32_t ring_rows;     /* rows of a ring; 0: no ring */
    int32_t first, last;   /* steps, inclusive, in which the storage must hold the value; inputs from 0. All of a band
                              happens at its last step */
    int32_t alias_of;      /* value whose storage this one shares (its root, or the input it overwrites); -1: own */
    struct ig_view view;   /* strides, for views */
};

enum { IG_PLAN_STAGES = 8, IG_PLAN_SLOTS = 64, IG_PROCESSOR_NAME = 32 }; /* the most; bytes */
enum { IG_PLAN_ALTERNATIVES = 32, IG_PLAN_PROCESSORS = 4 };              /* the most of a plan with alternatives */

/*
 * A stage of a pipeline: steps that a team of threads of its own runs, while other stages work on other frames. Stages
 * follow each other in the order of the steps.
 */
struct ig_plan_stage {
    char processor[IG_PROCESSOR_NAME]; /* "cpu:0", "cpu:2-3": a set of cores; "gpu": its kernels are in a plan of their own,
                                          those of the steps serve where there is no GPU */
    uint64_t cores;        /* the same, a bit each */
    double gpu_ns;         /* predicted, by the GPU's kernels; 0 of a set of cores */
    double pass_ns;        /* predicted: what passing tensors to the GPU and from it takes of this stage (planner/passes.h) */
    int32_t threads;       /* of its team, >= 1 */
    int32_t first, last;   /* steps, inclusive */
    int32_t slots;         /* copies of what it gives the next stage (the caller behind the last one): 1 makes the two take
                              turns; 0, before planning: 3 where the two are within 10 % of each other, else 2 */
};

/*
 * A tensor that passes from stage to stage, or between the caller and a stage: frame after frame another copy of it, so
 * that a stage fills one while others are read. First the inputs', then the outputs', then all others.
 */
struct ig_plan_slot {
    int32_t value;         /* the storage's owner */
    int32_t from, to;      /* stages: the first that touches it and the last; -1: the caller's push, n_stages: its pop */
    int32_t copies;
    int64_t offset;        /* of the first copy in the arena, a multiple of IG_ALIGN */
    int64_t bytes;         /* from one copy to the next, a multiple of IG_ALIGN */
};

enum ig_pass_kind {        /* how a tensor passes between processor and GPU: planner/passes.h */
    IG_PASS_PINNED = 0,    /* copied, by way of page-locked memory */
    IG_PASS_MAPPED,        /* page-locked memory that the GPU uses in place, past its caches */
    IG_PASS_MANAGED        /* memory that processor and GPU have by turns */
};

struct ig_plan_pass {
    int32_t value;         /* a root */
    int32_t kind;          /* enum ig_pass_kind */
};

struct ig_plan {
    char *model;           /* graph name */
    char *graph_sha256;    /* of graph.json's text */
    char *profile_sha256;  /* of profile.json's text; "" : the estimator */
    char *target;          /* "host", "aarch64", ... */
    char *isa;             /* "avx2", "neon", "ref" */
    int32_t threads;
    int32_t n_steps, n_buffers, n_bands;
    struct ig_plan_step *steps;
    struct ig_plan_buffer *buffers;    /* one per value of the graph, by value index */
    struct ig_band *bands;             /* by last step; no step is in two, nor in two stages */
    int32_t n_stages, n_slots;         /* 0: the plan has no stages */
    struct ig_plan_stage *stages;
    struct ig_plan_slot *slots;
    int32_t n_passes;                  /* of a GPU's plan, and of one with a stage on the GPU; what it does not name is
                                          pinned */
    struct ig_plan_pass *passes;
    int32_t n_others;                  /* alternatives: the same stages, kernels and weights, cut elsewhere */
    struct ig_plan **others;           /* each a plan of its own; planner/unite.c says how they share an arena */
    int64_t arena_bytes;               /* activations, slots and the threads' scratch: max(offset + bytes) */
    int64_t arena_lower_bound_bytes;   /* max over steps of the live bytes (aliases counted once) and its scratch; of
                                          stages: the sum of that, with all slots */
    int64_t scratch_bytes;             /* max over steps: what each thread beyond the plan's needs, behind the arena */
    int64_t weights_bytes;             /* packed blob, as gen will lay it out */
    int64_t memory_budget;             /* what arena and weights were planned within; 0: none */
    double latency_ns;                 /* sum of predicted_ns: of a frame alone */
    double energy_mj;                  /* a frame, by the powers that it was planned with; 0: not known */
    double period_ns, full_ns;         /* with stages: from one result to the next, and a frame's latency, where there are
                                          always frames waiting; else 0 */
    int32_t dense_rings;               /* while it is made: rings get no gaps, which would keep pixels from sharing cache
                                          sets */
};

/* --- views: planner/views.c --- */

/*
 * Makes the graph executable without concat kernels where possible: inserts IG_COPY nodes where a value cannot be a
 * view (concat pieces that are inputs, constants, outputs or in two concats; reshapes of strided views; outputs that
 * are views, inputs or constants). Run once, as the last change of the graph, before graph.json is written.
 * Returns the number of copies.
 */
int ig_prepare_views(struct ig_graph *g);
/*
 * After that, for least memory: a piece that the other pieces of its concatenation are made of, and that is not half of
 * it, gets a copy in front of the concatenation (planner/detach.c). Returns the number of copies.
 */
int ig_detach_pieces(struct ig_graph *g);
/* The view of every value of a prepared graph; views[n_values]. A value that is no view has root == itself. */
void ig_compute_views(const struct ig_graph *g, struct ig_view *views);
/* 1 if the node moves no data (its outputs are views of, or around, its inputs). */
int ig_node_is_view(const struct ig_graph *g, const struct ig_view *views, int32_t node);
/*
 * The kernel call of node `n` with strides of `views` (data pointers NULL but for constants).
 * *batch: images; in[k].data and out[k].data of runtime operands are NULL.
 */
void ig_node_call(const struct ig_graph *g, const struct ig_view *views, const struct ig_node *n,
                  struct ig_call *call, int32_t *batch);
/* 1 if kernel k may run this call (op, supports, strides). */
int ig_kernel_fits(const struct ig_kernel *k, int32_t op, const struct ig_call *call);

/* --- selection: planner/select.c --- */

struct ig_timing {            /* one line of a profile: a kernel on a node, cut for that many threads */
    int32_t node;
    const struct ig_kernel *kernel;
    int32_t split, chunk, threads;
    double alone_ns;          /* median, this layer repeated */
    double in_order_ns;       /* median, inside the whole network; on a GPU alone_ns and a price of weights; 0: not measured */
    double error;             /* max|y - direct| / max|direct| of unit-normal inputs; 0: it is a direct sum */
};

struct ig_band_timing {       /* a band inside the whole network, and its steps there one after the other */
    int32_t first, last;      /* nodes */
    int32_t rows, chunk, threads; /* chunk 0: the last step is not cut */
    int32_t n;                /* members */
    const struct ig_kernel *kernels[IG_MAX_BAND];
    double in_order_ns, apart_ns;
};

struct ig_gpu_copies {        /* what a frame takes longer for each tensor that is copied to the GPU, and from it */
    int known;
    struct ig_copy_cost { int64_t ns, fs_per_byte; } in, out; /* ns + bytes * fs_per_byte */
    double off;               /* of the measurements, from these lines on average */
};

struct ig_profile {
    char *sha256;             /* of the file's text; "" if made in memory */
    char *graph_sha256;
    char *cpu;                /* model name, as found on the target */
    char *isa;
    int32_t threads;
    double peak_gflops;       /* one thread, register-only FMA loop */
    int32_t beside;           /* other cores that ran the same network meanwhile */
    double whole_over_sum;    /* all times have been multiplied by it, so that they sum up to a whole frame; 0: not known */
    struct ig_gpu_copies copies; /* of the GPU's kernels only */
    int32_t n, n_bands;
    struct ig_timing *timings;
    struct ig_band_timing *bands;
};

struct ig_away {              /* of a layer inside a network, bytes touched */
    double weights;           /* since it last read its weights; 0: the last call was this one */
    double output;            /* since anybody touched its output's memory */
};

/*
 * The legal ways to cut a call for `threads` threads with kernel k: whole, rows, channels. Writes up to `max` of them
 * and returns how many; the first is the estimator's favourite.
 */
struct ig_cut { int32_t split, chunk, chunks; };
int ig_legal_cuts(const struct ig_kernel *k, const struct ig_call *call, int32_t threads,
                  const struct ig_away *away, struct ig_cut *cuts, int max);

/*
 * What ig_plan_options.max_error is unless the user says otherwise: the benchmark networks keep within 1e-4
 * of onnxruntime with it, end to end.
 */
#define IG_MAX_ERROR 5e-5

/* What a kernel's error may be on a call: of pixels or weights of halves, whose storing alone is off by 4.9e-4 of a number, so many times as much. */
static inline double ig_error_allowed(double max_error, const struct ig_call *call)
{
    enum { OF_HALVES = 64 };
    int halves = 0;
    for (int32_t k = 0; k < call->n_in && k < 2; k++) halves |= call->in[k].shape && call->in[k].shape->type == IG_F16;
    return halves ? OF_HALVES * max_error : max_error;
}

/* One processor that runs frames one after another makes throughput, and with so many threads energy, of latency. */
enum ig_objective {
    IG_OBJECTIVE_LATENCY = 0, IG_OBJECTIVE_MEMORY, IG_OBJECTIVE_THROUGHPUT, IG_OBJECTIVE_ENERGY
};
enum ig_algorithm { IG_ALGORITHM_EXACT = 0, IG_ALGORITHM_NSGA2 };
enum { IG_LEAN_LEAST = 2, IG_LEAN_FLAT = 5, IG_LEAN_LOW = 6, IG_LEAN_WAYS = 8 };
enum ig_band_choice { IG_BANDS_AUTO = 0, IG_BANDS_OFF, IG_BANDS_CHAINS, IG_BANDS_ALL, IG_BANDS_GIVEN };

struct ig_platform;

struct ig_plan_options {
    const char *target;       /* name written in the plan */
    const struct ig_plan_stage *stages; /* n_stages, in order, all steps among them; planner/stages.h makes them */
    int32_t n_stages;         /* 0: none */
    double host_ns[2];        /* of a CPU before the first step and behind the last: where to cut counts it; 0: none */
    const struct ig_plan *like; /* each step gets that plan's kernel, any where it has none; NULL: any */
    const struct ig_platform *board; /* whose memory a stage on the GPU may share (planner/passes.h); NULL: it has its own */
    int32_t isa;              /* enum ig_isa: kernels of this ISA and of IG_ISA_REF may be chosen */
    int32_t sm;               /* of a GPU without a profile: the least chip, such as 72 of sm_72; 0: one without tensor cores */
    int32_t threads;          /* >= 1 */
    const struct ig_profile *profile; /* NULL: estimate */
    const struct ig_profile *gpu_profile; /* of the GPU, for its stage; NULL: estimate */
    int64_t memory_budget;    /* bytes of arena + weights; 0: none */
    double max_latency_ms;    /* 0: none */
    double min_fps;           /* 0: none */
    double max_error;         /* largest error of a layer's kernel, as in the timing or the descriptor (ig_error_allowed); 0: direct only */
    int32_t bands;            /* enum ig_band_choice: where it should pay, nowhere, wherever a chain can, wherever any
                                 part can, as given */
    int32_t lean;             /* kernels: 0: the fastest; 1: the fastest of those whose weights and scratch come near the
                                 least there is; IG_LEAN_LEAST and more: of those of the least weights, with little
                                 scratch, with some, with more, with any but tiles of a row, of two rows, with any; and
                                 rings without gaps */
    const uint8_t *leans;     /* [n_nodes] another for each node, rings as by `lean`; or NULL */
    int32_t objective;        /* enum ig_objective; memory: bands and kernels of the least, within the constraints */
    int32_t algorithm;        /* enum ig_algorithm: how bands are searched for under a budget or for least memory */
    uint64_t seed;            /* of IG_ALGORITHM_NSGA2 */
    const struct ig_band_timing *given; /* legal bands that do not meet; chunk as wished */
    int32_t n_given;
};

/*
 * The whole planner. NULL with one line in err: no kernel for a node, or a constraint that cannot be met (by how much,
 * and what can). Where the fastest plan is beyond the memory budget, the fastest within it (planner/tradeoff.h).
 */
struct ig_plan *ig_plan_make(const struct ig_graph *g, const struct ig_plan_options *options, char *err, size_t err_bytes);
void ig_plan_free(struct ig_plan *p);

/* --- bands: planner/band.c --- */

/* The band that step `step` belongs to; NULL: none. */
const struct ig_band *ig_band_of(const struct ig_plan *p, int32_t step);
/* The steps of a band that run something, members[IG_MAX_BAND]; returns how many, 0 if they are too many. */
int32_t ig_band_members(const struct ig_plan *p, const struct ig_band *b, int32_t *members);

/* What a band keeps out of the arena, and what it keeps instead; p is placed. */
void ig_band_bytes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b, int64_t *tensors,
                   int64_t *rings);

struct ig_flow {             /* how rows pass between the members of a band */
    int32_t n;
    int32_t step[IG_MAX_BAND];
    int32_t n_feeds[IG_MAX_BAND];
    struct ig_feed feeds[IG_MAX_BAND][IG_MAX_FEEDS];
    uint32_t kept;           /* members whose output is no ring, a bit each; the last is one */
};

/* 1, or 0 if the steps are no band. */
int ig_band_flow(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b, struct ig_flow *flow);

enum ig_band_shape { IG_SHAPE_CHAINS = 0, IG_SHAPE_ALL, IG_SHAPE_ANY };
/*
 * Every band that p's steps could be, with a few heights of phases each, in the order of their last steps; the times
 * are estimates. Chains: each member but the first reads what the one before it writes, and nobody else does; all: any
 * branches too, these with the lowest height alone and never cut; any: steps alone, too. *bands is malloc'ed. Returns how many.
 */
int32_t ig_band_candidates(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                           int32_t isa, enum ig_band_shape shape, struct ig_band_timing **bands);

/*
 * A band's schedule as loops, planner/schedule.c: "[l3]x3 ([l4][l3])x29 [l4]x3" is what one thread calls, in order, if it
 * runs all of the band. Layer i of the band is written with numbers[i], one that computes r > 1 rows at a time as l3:r.
 * Returns the length as snprintf does; a text that does not fit ends in "...". 0 where the plan's steps are no such band.
 */
size_t ig_schedule_text(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *band,
                        const int32_t *numbers, char *text, size_t bytes);

/* --- stages: planner/stages.h says more --- */

static inline int ig_stage_is_gpu(const struct ig_plan_stage *s)
{
    return s->processor[0] == 'g';
}

/* The stage that is the GPU's, of which there is one at most; -1: none. */
int32_t ig_gpu_stage_of(const struct ig_plan *p);
/* Predicted ns of stage i: its steps, and what passing tensors to the GPU and from it takes of it. */
double ig_stage_ns(const struct ig_plan *p, int32_t i);
/*
 * Frames that may be pushed and not yet through the last stage, at most IG_PLAN_FLIGHT: one in each stage, one that waits for the first, and what slots hold
 * beyond the two that let neighbours work. More would wait longer, and none would come sooner. p has stages.
 */
enum { IG_PLAN_FLIGHT = 32 };
int32_t ig_plan_flight(const struct ig_plan *p);

/* --- scratch: planner/scratch.c --- */

/* Threads that run a step. */
static inline int32_t ig_step_threads(const struct ig_plan *p, const struct ig_plan_step *s)
{
    return s->stage < p->n_stages ? p->stages[s->stage].threads : p->threads;
}

/* Those of them that have a scratch of their own while it runs. */
static inline int32_t ig_scratch_threads(const struct ig_plan *p, const struct ig_plan_step *s)
{
    return s->chunks > 1 ? ig_step_threads(p, s) : 1;
}

/* --- estimate: planner/estimate.c --- */

/*
 * Predicted ns of one call (one image) by `threads` threads, by the costs of a calibrated board where kernels of the
 * ISA have some (planner/costs.h), else work over peak, bytes over bandwidth. away: NULL: as the last call left the
 * caches.
 */
double ig_estimate_ns(const struct ig_kernel *k, const struct ig_call *call, int32_t threads,
                      const struct ig_away *away);
/* Which input is an op's second operand, weights mostly: where it is quantised, scale and zero point of the first are before it. */
int32_t ig_second_operand(int32_t op);
/* How far frame after frame pushes what each node uses: at[n_nodes]; zeros: nodes that run nothing (planner/away.c). */
void ig_frame_away(const struct ig_graph *g, const struct ig_view *views, struct ig_away *at);
/* What it takes a machine for: GFLOP/s and GB/s of memory with so many threads. */
/* The same of a whole image on a GPU whose chip is sm_<sm>, where tensor cores of that chip make it another. */
double ig_estimate_chip_ns(const struct ig_kernel *k, const struct ig_call *call, int32_t sm, double ns);
void ig_estimate_rates(int32_t isa, int32_t threads, double *gflops, double *gbytes);

/* --- memory: planner/memory.c --- */

struct ig_pack_item {         /* a buffer to place */
    int32_t lower, upper;     /* live in steps [lower, upper) */
    int64_t size;             /* bytes */
    int64_t offset;           /* result, a multiple of IG_ALIGN */
};
struct ig_pack_pair {         /* two items that may overlap: the one `over` if it begins `distance` above the one `under` */
    int32_t under, over;      /* indices; an item is in one pair at the most on either side */
    int64_t distance;         /* bytes, a multiple of IG_ALIGN, more than 0 and less than the size of `under` */
};
struct ig_pack_result {
    int64_t height;           /* max(offset + size) */
    int64_t max_live;         /* lower bound */
    int64_t proven;           /* best proven lower bound >= max_live; == height: optimal */
    int64_t nodes;            /* search nodes used */
};
/* Places all items without overlap, as low as it can be proven (memory.c says how). Deterministic. */
struct ig_pack_result ig_pack_offsets(struct ig_pack_item *items, int32_t n);
/* The same, but for those pairs. */
struct ig_pack_result ig_pack_overlapping(struct ig_pack_item *items, int32_t n, const struct ig_pack_pair *pairs,
                                          int32_t n_pairs);

/* --- alternatives: planner/unite.c --- */

/*
 * One arena for a plan with stages and its alternatives. Frames on their way may have been cut differently, so that
 * each stage has a part of the arena of its own that serves it in every alternative, and what passes from one stage to
 * another lies in one block for each pair of stages, a copy of which holds what any alternative passes there.
 */
struct ig_share_of {                 /* where an alternative's memory is in the common arena */
    int64_t shift[IG_PLAN_STAGES];   /* bytes to add to the offsets of what is a stage's own, scratch too */
    int32_t slot[IG_PLAN_SLOTS];     /* by slot of the plan: of the common ones */
    int64_t offset[IG_PLAN_SLOTS];   /* of its first copy in the common arena */
};

struct ig_united {
    int64_t arena_bytes;
    int32_t n, n_slots;              /* alternatives, the plan itself the first; common slots */
    struct ig_plan_slot slots[IG_PLAN_SLOTS]; /* inputs, outputs, then a block for each pair of stages; value -1 */
    struct ig_share_of *parts;       /* [n] */
};

/* Alternative `i` of p; 0: p. */
static inline const struct ig_plan *ig_alternative(const struct ig_plan *p, int32_t i)
{
    return i ? p->others[i - 1] : p;
}

/* Of a valid plan with stages. */
void ig_unite(const struct ig_plan *p, struct ig_united *u);
void ig_united_free(struct ig_united *u);
/* Bytes of p's arena, which with alternatives is the common one. */
int64_t ig_united_bytes(const struct ig_plan *p);

/* --- weights: planner/weights.c --- */

/*
 * The weight blob, every part aligned to IG_ALIGN: as many zeros as any step may read, then for each step in
 * order what its kernel packs, and the constants that it reads as they are, each constant once. A kernel that
 * packs gets no pointers to constant inputs 1 and 2; constant inputs elsewhere it reads as they are.
 * *zeros: offset of the zeros; packed[n_steps], consts[n_values]: offsets, -1 where there is nothing. A constant that
 * is a view of another one is found through its root. Reads p's steps and views only. Returns the blob's bytes.
 */
int64_t ig_weight_layout(const struct ig_graph *g, const struct ig_plan *p, int64_t *zeros, int64_t *packed,
                         int64_t *consts);

/* --- text: planner/json.c --- */
int ig_plan_write(const struct ig_plan *p, const struct ig_graph *g, const char *path, char *err, size_t err_bytes);
struct ig_plan *ig_plan_read(const char *path, const struct ig_graph *g, char *err, size_t err_bytes);
int ig_profile_write(const struct ig_profile *p, const struct ig_graph *g, const char *path, char *err, size_t err_bytes);
struct ig_profile *ig_profile_read(const char *path, const struct ig_graph *g, char *err, size_t err_bytes);
/* The lines through copies of so many bytes, to the GPU and from it; none where they are too far off. */
void ig_fit_copies(const int64_t *bytes, const int64_t *in_ns, const int64_t *out_ns, int32_t n, struct ig_gpu_copies *to);
void ig_profile_free(struct ig_profile *p);

/* --- validate: planner/validate.c; trusts nothing of the above --- */

enum ig_verdict { /* first failure in this order wins */
    IG_PLAN_OK = 0, IG_BAD_COUNT, IG_BAD_BAND, IG_BAD_KERNEL, IG_BAD_SIZE, IG_MISALIGNED, IG_OUT_OF_ARENA,
    IG_BAD_ORDER, IG_BAD_ALIAS, IG_BAD_CUT, IG_PHASE_GAP, IG_PHASE_TWICE, IG_READ_UNWRITTEN, IG_READ_OVERWRITTEN,
    IG_OVERLAP_LIVE, IG_SLOT_RACE, IG_BAD_HEIGHT, IG_BAD_BOUND, IG_OVER_BUDGET, IG_VERDICTS
};
const char *ig_verdict_name(int verdict);
/* Checks the plan against the graph from scratch; `why` gets one line naming the step or buffer. */
int ig_validate(const struct ig_graph *g, const struct ig_plan *p, int64_t memory_budget, char *why, size_t why_bytes);
/* ig_validate of p and each alternative, and whether all have the same stages, kernels and weights: a verdict. */
int ig_validate_all(const struct ig_graph *g, const struct ig_plan *p, int64_t memory_budget, char *why,
                    size_t why_bytes);

/* --- passes to a GPU and from it: planner/passes.c --- */

/* Who touches a storage: before the GPU's steps, these, and behind them. */
enum { IG_MADE_BEFORE = 1, IG_TOUCHED = 2, IG_MADE = 4, IG_READ_BEHIND = 8 };

/* marks[n_values], zeroed, of roots; `s`: the GPU's stage, NULL: all steps are the GPU's. Steps that run nothing touch
 * nothing. */
void ig_mark_passes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *s, uint8_t *marks);

static inline int ig_passes_in(uint8_t marks)
{
    return (marks & IG_MADE_BEFORE) && (marks & IG_TOUCHED);
}

static inline int ig_passes_out(uint8_t marks)
{
    return (marks & IG_MADE) && (marks & IG_READ_BEHIND);
}
/* enum ig_pass_kind of a root; pinned if the plan does not say. */
int32_t ig_pass_kind(const struct ig_plan *p, int32_t value);

#endif
