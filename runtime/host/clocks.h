/*
 * Clocks of CPUs (cpufreq, kHz) and GPUs (devfreq, Hz) below a root: pinned by their limits, read back, and given back
 * as they were found - in reverse, on exit, error, SIGINT and SIGTERM.
 */
#ifndef RUNTIME_HOST_CLOCKS_H
#define RUNTIME_HOST_CLOCKS_H

#include <stdint.h>

enum { IG_CLOCKS = 16, IG_CLOCK_STEPS = 64, IG_CLOCK_PATH = 256 };

struct ig_clock {
    char name[64];                                /* "policy0", "17000000.gp10b" */
    char low[IG_CLOCK_PATH], high[IG_CLOCK_PATH]; /* the files of its limits */
    char was_low[32], was_high[32];               /* what was in them */
    char control[IG_CLOCK_PATH], was_control[32]; /* of its power, and what was in it; "": it is never off */
    int64_t unit_hz;                              /* of the files: 1000 or 1 */
    int64_t least_hz, most_hz;                    /* of the hardware */
    int32_t n_steps;                              /* 0: any */
    int64_t step_hz[IG_CLOCK_STEPS];
    int32_t changed;
};

typedef int ig_write_fn(void *context, const char *path, const char *text); /* 0, or -1 with errno */

struct ig_clocks {
    int32_t n;
    struct ig_clock at[IG_CLOCKS];
    int32_t order[IG_CLOCKS], n_changed; /* in which they were changed first */
    ig_write_fn *write;                  /* NULL: files */
    void *context;
};

/* Finds all below root, and saves their limits. Returns how many. */
int32_t ig_clocks_open(struct ig_clocks *c, const char *root);
/* The clock whose name is, or ends with, that; -1: none. */
int32_t ig_clocks_find(const struct ig_clocks *c, const char *name);
/*
 * Pins clock i at hz: up, the upper limit first, down the lower one. 0; 1: the system took another frequency, *got;
 * -1 with a line in err: out of range, no step of the hardware, or refused (limits are then as they were).
 */
int ig_clocks_pin(struct ig_clocks *c, int32_t i, int64_t hz, int64_t *got, char *err, int32_t err_bytes);
/* Everything as it was. 0, or -1: some file would not take it. Only open, write and close: signal handlers may. */
int ig_clocks_restore(struct ig_clocks *c);
/* From now on SIGINT and SIGTERM restore c first, and so does exit. NULL: no more. */
void ig_clocks_guard(struct ig_clocks *c);

#endif
