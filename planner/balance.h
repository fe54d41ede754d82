/* Cutting steps into runs, one after the other, whose greatest time is the least. */
#ifndef PLANNER_BALANCE_H
#define PLANNER_BALANCE_H

#include <stdint.h>

/*
 * Cuts n_steps into n runs of a step or more; ns[n][n_steps]: what each step takes in each run. stage_of[n_steps]: the
 * run of each step. Of equal cuts the one whose last runs begin latest.
 */
void ig_balance_runs(const double *ns, int32_t n_steps, int32_t n, int32_t *stage_of);

#endif
