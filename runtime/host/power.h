/*
 * Sensors of power and energy as Linux shows them, below a root that is a parameter: "" on a machine, a directory in
 * tests. Files are found by name patterns, never by device numbers. Where there is none, that is said: never 0 J.
 */
#ifndef RUNTIME_HOST_POWER_H
#define RUNTIME_HOST_POWER_H

#include <stdint.h>

enum ig_power_kind {
    IG_POWER_NONE = 0,
    IG_POWER_RAPL,  /* energy counters of CPU packages, /sys/class/powercap */
    IG_POWER_IIO,   /* INA3221 of Jetson boards up to R32: in_power<c>_input, mW */
    IG_POWER_HWMON, /* INA3221 from R34 on: in<c>_input mV times curr<c>_input mA */
    IG_POWER_NVML,  /* energy counter of an NVIDIA GPU, mJ */
    IG_POWER_NVML_MW /* the power of one that has no such counter, mW */
};
enum { IG_POWER_RAILS = 16, IG_POWER_PATH = 256 };

struct ig_power_rail {
    char name[32];               /* "package-0", "VDD_IN" */
    char path[IG_POWER_PATH];    /* of energy, power or voltage */
    char current[IG_POWER_PATH]; /* hwmon: of current */
    int64_t range_uj, last;      /* counters wrap there; last reading: uJ, or mW */
};

struct ig_nvml { /* the functions of libnvidia-ml that are needed; they return 0, or a status */
    int (*init)(void);
    int (*device)(unsigned index, void **device);
    int (*energy)(void *device, unsigned long long *mj);
    int (*power)(void *device, unsigned *mw); /* or NULL */
};

struct ig_power {
    int32_t kind, n; /* enum ig_power_kind; rails that add up to all there is */
    struct ig_power_rail rails[IG_POWER_RAILS];
    int64_t energy_uj;         /* since the first sample */
    int64_t first_ns, last_ns; /* times of samples */
    int32_t samples;
    int32_t broken; /* a rail has vanished: energy_uj ends there */
    struct ig_nvml nvml;
    void *device;
    char why[IG_POWER_PATH + 64]; /* no sensor, or one that broke: the reason */
};

/* Finds the sensors below root: package counters, else board rails. 0, or -1: none, and why. */
int ig_power_open(struct ig_power *p, const char *root);
/* An NVIDIA GPU's. 0, or -1: no library (api NULL), or one that neither counts energy nor tells power. */
int ig_power_open_nvml(struct ig_power *p, const struct ig_nvml *api);
/*
 * Reads all rails; the first time only where they stand. At least every 30 s for counters, which wrap within minutes,
 * and every few ms for rails, whose power is integrated by the trapezoidal rule over now_ns. 0, or -1: a rail is gone.
 */
int ig_power_sample(struct ig_power *p, int64_t now_ns);
/* 1: its rails are the whole board's, a GPU there included. */
int ig_power_is_board(const struct ig_power *p);
/* 1: counters, of which the first and the last reading tell all; 0: power, which is integrated. */
int ig_power_counts(const struct ig_power *p);
/* How it is measured, in words. */
const char *ig_power_method(const struct ig_power *p);

#endif
