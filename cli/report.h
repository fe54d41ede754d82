/* `ingot report`: the figures of a plan, and the parts of the page that show them. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "planner/plan.h"
#include "planner/platform.h"

enum ig_report_kind { /* of layers, as they are coloured */
    IG_KIND_POINTWISE = 0, IG_KIND_CONV, IG_KIND_DEPTHWISE, IG_KIND_DENSE, IG_KIND_OTHER, IG_KINDS
};
extern const char *const ig_kind_names[IG_KINDS];

struct ig_report_layer {     /* one step of the plan; times in ns, 0: not known */
    int32_t kind;            /* enum ig_report_kind */
    double flops, bytes;     /* 2 a multiply-add; read and written, each tensor once, rings left out */
    double ns;               /* predicted */
    double roof_ns;          /* the least by the roofline */
    double alone_ns, in_order_ns; /* measured */
    double estimated_ns;
    int calibrated;          /* 1: estimated by the board's costs; 0: by the planner's stand-in */
};

enum { IG_MAX_ROOFS = IG_MAX_CHANNELS };
struct ig_roof {             /* what the machine can at most, with the plan's threads */
    double gflops, gbytes;   /* 1e9 operations, bytes of memory a second */
    const char *gflops_from, *gbytes_from; /* who says so */
    int32_t n_caches;
    struct { double gbytes; const char *name; } caches[IG_MAX_ROOFS];
};

struct ig_front_point {
    double bytes, ms;
    int32_t bands;
    char kernels[16];        /* "fastest", "small", "smallest" */
};
struct ig_front {            /* pareto.json */
    int32_t n;
    struct ig_front_point *at;
    struct ig_front_point chosen; /* 0 bytes: no plan kept the constraints */
};

enum { IG_RUN_FRAMES = 10 };
struct ig_report_run {       /* what a program of a plan with stages did; 0: not known */
    double fps, latency_ms, alone_ms; /* with frames waiting; of a frame alone */
    double stage_ms[IG_PLAN_STAGES];
    int32_t frames;          /* in a trace: the first ones, us from the start of all */
    double begin_us[IG_RUN_FRAMES][IG_PLAN_STAGES], end_us[IG_RUN_FRAMES][IG_PLAN_STAGES];
};

enum { IG_MAX_OTHERS = 3 };
struct ig_report {
    const struct ig_graph *g;
    const struct ig_plan *p;
    struct ig_profile *profile;       /* NULL: none */
    struct ig_profile *others[IG_MAX_OTHERS]; /* of the same graph on other processors */
    int32_t n_others;
    const struct ig_platform *board;  /* NULL: none */
    const struct ig_front *front;     /* NULL: none */
    const struct ig_report_run *run;  /* NULL: none */
    struct ig_report_layer *layers;   /* [n_steps] */
    struct ig_roof roof;
    double flops, roof_ns;            /* of all layers */
};

/* Fills layers and roof of a report whose other pointers are set. Fatal on error. */
void ig_report_measure(struct ig_report *r);
/* Reads what `ingot plan --pareto` wrote for that plan's model. Fatal on error. */
void ig_front_read(struct ig_front *front, const char *path, const struct ig_plan *p);
/* Read what a program of the plan wrote with --bench --json, and with --trace. Fatal on error. */
void ig_run_read_bench(struct ig_report_run *run, const char *path, const struct ig_plan *p);
void ig_run_read_trace(struct ig_report_run *run, const char *path, const struct ig_plan *p);

/* Parts of the page, a section each, nothing where there is nothing to show. */
void ig_report_roofline(FILE *f, const struct ig_report *r);
void ig_report_front(FILE *f, const struct ig_report *r);
void ig_report_strip(FILE *f, const struct ig_report *r);
void ig_report_layers(FILE *f, const struct ig_report *r);
void ig_report_bands(FILE *f, const struct ig_report *r);
void ig_report_measured(FILE *f, const struct ig_report *r);
/* Of a plan with stages, or beside others' profiles. */
void ig_report_processors(FILE *f, const struct ig_report *r);
/* Of a plan with stages. */
void ig_report_stages(FILE *f, const struct ig_report *r);
void ig_report_cuts(FILE *f, const struct ig_report *r);

#endif
