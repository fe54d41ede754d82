/* What a frame costs on cores of one processor: Equation 12 (ALOHA, section VII) for plans of so many threads. */
#ifndef PLANNER_ENERGY_H
#define PLANNER_ENERGY_H

#include "planner/plan.h"
#include "planner/platform.h"

/* The board's processor that runs plans: its first CPU with powers, more when active than idle; NULL: it has none. */
const struct ig_processor *ig_powered_cpu(const struct ig_platform *b);
/*
 * W while n threads, one a core, run a plan. active_w is with one core computing, idle_w with none; every further core
 * takes the difference again. A thread that waits for the others of its step counts like one that computes: it spins.
 */
double ig_threads_w(const struct ig_processor *p, int32_t n);
/*
 * mJ a frame: busy for `frame_s` with n threads, then idle up to the deadline (0: none). Traffic to memory is not in it: it
 * is the same for all numbers of threads.
 */
double ig_frame_mj(const struct ig_processor *p, int32_t n, double frame_s, double deadline_s);
/*
 * mJ of a frame of that plan, frame after frame: of stages each one's own time at its power, and every processor that
 * has one idle for the rest of the period. A stage that waits counts as idle: after some microseconds it sleeps. The
 * GPU is the board's first processor that is no CPU. < 0: a power that is needed is not known.
 */
double ig_plan_mj(const struct ig_platform *b, const struct ig_plan *p);

#endif
