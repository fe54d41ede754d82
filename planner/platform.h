/*
 * A board as data: the ALOHA platform model (Busia et al., IEEE Access 9, 2021, section V, Tables 4 and 5) with
 * operating points and, where a kernel library was calibrated on it, the constants of its kernels. Text form:
 * platforms/NAME.json, described by docs/platform.schema.json. Plain data: copies and compares as bytes.
 */
#ifndef PLANNER_PLATFORM_H
#define PLANNER_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

enum ig_loop { /* the loops of a computational tensor (Listing 1), by what they count */
    IG_OF = 0, /* output features */
    IG_IF,     /* input features */
    IG_FH,     /* rows */
    IG_FW,     /* columns */
    IG_KH,     /* kernel rows */
    IG_KW,     /* kernel columns */
    IG_LOOPS
};
enum ig_role { IG_X = 0, IG_Y, IG_W, IG_ROLES }; /* input, output, weights */

enum {
    IG_MAX_STORES = 8, IG_MAX_CHANNELS = 8, IG_MAX_PROCESSORS = 8, IG_MAX_GRID = 6, IG_MAX_POINTS = 8,
    IG_MAX_CACHES = 3, IG_MAX_RATES = 4, IG_MAX_COSTS = 128, IG_COST_TERMS = 24, IG_WORD_BYTES = 48, IG_NOTE_BYTES = 160
};
enum { IG_UNKNOWN = -1 };    /* of powers, energies and optional numbers: not given */

struct ig_store {            /* a memory in which tensors are buffered */
    int32_t id;
    int64_t bytes;
    char note[IG_NOTE_BYTES];
};

struct ig_channel {          /* what tensors move over; those that share one add up */
    int32_t id;
    int64_t bytes_per_s;
    int64_t printed;         /* the paper's figure where another is used; IG_UNKNOWN: the same */
    char note[IG_NOTE_BYTES];
};

struct ig_grid {             /* a level of parallel lanes: unrolls one loop, or two fused */
    int32_t lanes;           /* >= 1 */
    int32_t n_loops;         /* 1 or 2; at most one level of a processor is fused */
    int32_t loops[2];        /* enum ig_loop */
};

struct ig_placement {        /* of one tensor */
    int32_t level;           /* 0..5: its copy sits directly outside the temporal loop of that level */
    int32_t channel, memory; /* indices, not ids */
    int32_t limit;           /* enum ig_loop: the loop to tile until the buffer fits */
    int32_t extra;           /* weights only: further weights per kernel (1 on NEURAghe) */
};

struct ig_point {            /* an operating point; powers as of the processor */
    int64_t hz;
    double active_w, idle_w; /* W; IG_UNKNOWN */
};

struct ig_rate {             /* measured multiply-add peaks with one set of vector instructions */
    char isa[IG_WORD_BYTES];
    int32_t n;               /* 1..IG_MAX_POINTS */
    int64_t ops_per_s[IG_MAX_POINTS]; /* of 1, 2, ... n cores at once */
};

struct ig_cost {             /* calibrated constants of one kernel family (planner/features.h) */
    char family[IG_WORD_BYTES];
    int32_t layers;              /* it was fitted on */
    double error;                /* mean |estimate - measured|/measured on them */
    double ns[IG_COST_TERMS];    /* per unit of each feature, >= 0 */
};

struct ig_integrated {           /* of a GPU that shares the processor's memory (planner/passes.h) */
    int32_t given;               /* 0: it has its own */
    int32_t coherent;            /* 1: the processor caches page-locked memory */
    int64_t attach_ns;           /* managed memory goes to the GPU and comes back */
    int64_t copy_bytes_per_s;    /* by way of page-locked memory */
    int64_t mapped_bytes_per_s;  /* of launches, and of a processor that does not cache it, in page-locked memory */
};

struct ig_processor {
    int32_t id;
    char type[IG_WORD_BYTES];    /* what op_dist names: "CPU", "accelerator" */
    char subtype[IG_WORD_BYTES];
    int32_t count;               /* of them that work apart, >= 1 */
    int64_t ops_per_s, hz;       /* of one; ops: a multiply-add is 2 */
    int64_t printed, printed_hz; /* the paper's figures where others are used; IG_UNKNOWN */
    double active_w, idle_w;     /* W; IG_UNKNOWN */
    double dram_pj_per_bit;      /* off-chip traffic; IG_UNKNOWN */
    int64_t overhead_ns;         /* start cost per layer */
    int32_t n_grid;
    struct ig_grid grid[IG_MAX_GRID];
    int32_t mapped;              /* 1: order and place are given; 0: only rates are known */
    int32_t order[IG_LOOPS];     /* the loop of each level, 0 outermost */
    struct ig_placement place[IG_ROLES];
    int32_t n_points;
    struct ig_point points[IG_MAX_POINTS];
    int32_t n_caches, caches[IG_MAX_CACHES]; /* indices of memories, near to far */
    int32_t n_rates;             /* 0: not known */
    struct ig_rate rates[IG_MAX_RATES];
    int32_t n_teams;             /* start cost of a layer on 1, 2, ... n cores; 0: not known */
    int64_t team_overhead_ns[IG_MAX_POINTS];
    struct ig_integrated integrated;
    int32_t n_costs;
    struct ig_cost costs[IG_MAX_COSTS];
    char note[IG_NOTE_BYTES];
};

struct ig_platform {
    char name[IG_WORD_BYTES];
    int32_t element_bytes;       /* of activations and weights */
    int32_t n_stores, n_channels, n_processors;
    struct ig_store stores[IG_MAX_STORES];
    struct ig_channel channels[IG_MAX_CHANNELS];
    struct ig_processor processors[IG_MAX_PROCESSORS];
    char note[IG_NOTE_BYTES];
};

/* "OF", "IF", ...; "X", "Y", "W". */
extern const char *const ig_loop_names[IG_LOOPS];
extern const char *const ig_role_names[IG_ROLES];

/* The names of the features, in the order of ig_cost.ns; NULL behind the last (planner/features.c). */
extern const char *const ig_feature_names[IG_COST_TERMS + 1];

/* The platform of a file ("-": stdin), to be freed; NULL with one line in err that says where it is wrong. */
struct ig_platform *ig_platform_read(const char *path, char *err, size_t err_bytes);
/* The same of a text that is in memory; `name` is what messages call it. */
struct ig_platform *ig_platform_parse(const char *text, const char *name, char *err, size_t err_bytes);
/* Canonical text. 0, or -1 with a line in err. */
int ig_platform_write(const struct ig_platform *p, const char *path, char *err, size_t err_bytes);

/* Makes `point` the rate and the power of the processor: ops_per_s scales with hz. */
void ig_processor_at(struct ig_processor *p, const struct ig_point *point);

#endif
