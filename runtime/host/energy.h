/* What a frame of --bench costs: sensors (power.h) are read while frames run. Only in programs that measure it. */
#ifndef RUNTIME_HOST_ENERGY_H
#define RUNTIME_HOST_ENERGY_H

#include "runtime/host/power.h"
#include "runtime/host/program.h"

struct ig_energy_run { /* what else than frames of the session is to be measured */
    int (*frames)(void *arg, double seconds); /* runs some for about so long: how many */
    void *arg;
    const char *of; /* "frame"; "round": of several networks, which nobody predicts */
};

struct ig_energy {        /* filled by the generated main file */
    double predicted_mj;  /* of a frame as it was planned; < 0: no powers are known */
    const char *platform; /* whose powers they are, or NULL */
    int32_t gpu_stage;    /* a stage of that plan is the GPU's */
    /* Of a program with a GPU ig_gpu_power: 0: its sensor; -1: it has none, p->why; 1: the CPU runs all. Else NULL. */
    int (*open_gpu)(struct ig_power *p);
    /* ig_energy_measure */
    void (*measure)(const struct ig_session *s, const struct ig_options *o, const struct ig_energy_run *run);
};

/*
 * Runs frames for --bench's time while sensors are read, and prints what one took, in lines or as a member of an object
 * with a comma behind it; no frame runs where there is no sensor, and that is said. Sensors are looked for below the directory that the environment names as INGOT_ROOT, else the machine's.
 */
void ig_energy_measure(const struct ig_session *s, const struct ig_options *o, const struct ig_energy_run *run);
/* runtime/host/gpu_power.c: of the GPU that the program runs on, by NVML. */
int ig_gpu_power(struct ig_power *p);

#endif
