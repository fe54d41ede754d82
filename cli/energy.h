/* `ingot plan --objective energy`: the number of threads whose plan takes the least energy a frame. */
#ifndef CLI_ENERGY_H
#define CLI_ENERGY_H

#include "planner/plan.h"
#include "planner/platform.h"
#include "runtime/run.h"

struct ig_powers {
    struct ig_platform *board;
    const struct ig_processor *cpu;
    double deadline_s;           /* idle energy is counted up to there; 0: to the end of the frame */
    double mj[IG_MAX_THREADS + 1]; /* a frame, by threads; IG_UNKNOWN where none were weighed */
};

/*
 * A board with powers of its CPU, by file or name (NULL: host), and the deadline: deadline_ms, else the tightest limit of
 * time (0: none). Fatal on error, with what to do.
 */
void ig_load_powers(struct ig_powers *w, const char *name, const struct ig_plan_options *o, double deadline_ms);
/*
 * Of the plans for 1, 2, ... o->threads threads, or with a profile for those alone that it is of, the one of least energy;
 * of equals the fewest threads. NULL with a line in err where none keeps the constraints.
 */
struct ig_plan *ig_energy_plan(const struct ig_graph *g, const struct ig_plan_options *o, struct ig_powers *w, char *err,
                               size_t err_bytes);
/* The energy of a frame goes into the plan, if the powers say it. */
void ig_set_energy(struct ig_plan *p, const struct ig_powers *w);
/* One line: the plan's energy, and that of the plans it was weighed against. */
void ig_put_energy(FILE *f, const struct ig_plan *p, const struct ig_powers *w);

#endif
