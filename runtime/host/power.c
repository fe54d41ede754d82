#include "runtime/host/power.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/found.h"

/* A file's first line without its end; 0, or -1. */
static int read_line(const char *path, char *text, int bytes)
{
    FILE *f = fopen(path, "r");
    int got = f && fgets(text, bytes, f);
    int reason = errno;
    if (f) fclose(f);
    errno = reason;
    if (got) text[strcspn(text, "\n")] = 0;
    return got ? 0 : -1;
}

static int read_number(const char *path, int64_t *value)
{
    char text[64], *end;
    if (read_line(path, text, sizeof text)) return -1;
    *value = strtoll(text, &end, 10);
    return end == text ? -1 : 0;
}

static void say(struct ig_power *p, const char *path)
{
    snprintf(p->why, sizeof p->why, "%s: %s", path, errno ? strerror(errno) : "no number");
}

/* The directory of `path`, and `name` in it. */
static void beside(const char *path, const char *name, char *to)
{
    const char *slash = strrchr(path, '/');
    snprintf(to, IG_POWER_PATH, "%.*s/%s", (int)(slash - path), path, name);
}

static struct ig_power_rail *add(struct ig_power *p, const char *name, const char *path)
{
    if (p->n == IG_POWER_RAILS) return NULL;
    struct ig_power_rail *r = &p->rails[p->n];
    *r = (struct ig_power_rail){.range_uj = 0};
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->path, sizeof r->path, "%s", path);
    int64_t value;
    errno = 0;
    if (read_number(path, &value)) {
        say(p, path);
        return NULL;
    }
    p->n++;
    return r;
}

/* Packages only: psys holds them, core, uncore and dram lie in them or beside, and -mmio zones count the same again. */
static void find_rapl(void *power, const char *name_path)
{
    struct ig_power *p = power;
    char name[32], path[IG_POWER_PATH];
    int64_t range = 0;
    if (read_line(name_path, name, sizeof name) || strncmp(name, "package-", 8)) return;
    for (int32_t i = 0; i < p->n; i++)
        if (!strcmp(p->rails[i].name, name)) return;
    beside(name_path, "max_energy_range_uj", path);
    read_number(path, &range);
    beside(name_path, "energy_uj", path);
    struct ig_power_rail *r = add(p, name, path);
    if (r) r->range_uj = range;
}

static void find_iio(void *power, const char *name_path)
{
    struct ig_power *p = power;
    char name[32], file[32], path[IG_POWER_PATH];
    if (read_line(name_path, name, sizeof name)) return;
    snprintf(file, sizeof file, "in_power%s_input", name_path + strlen(name_path) - 1);
    beside(name_path, file, path);
    add(p, name, path);
}

/* Channels 1 to 3 are rails; what comes behind is shunt voltages and sums. */
static void find_hwmon(void *power, const char *label_path)
{
    struct ig_power *p = power;
    char name[32], file[32], path[IG_POWER_PATH];
    const char *slash = strrchr(label_path, '/');
    int channel = atoi(slash + 3);
    if (channel < 1 || channel > 3 || read_line(label_path, name, sizeof name)) return;
    snprintf(file, sizeof file, "in%d_input", channel);
    beside(label_path, file, path);
    struct ig_power_rail *r = add(p, name, path);
    snprintf(file, sizeof file, "curr%d_input", channel);
    if (r) beside(label_path, file, r->current);
}

static const struct source {
    int32_t kind;
    const char *pattern;
    void (*find)(void *power, const char *path);
} sources[] = {
    {IG_POWER_RAPL, "/sys/class/powercap/intel-rapl:*/name", find_rapl},
    {IG_POWER_IIO, "/sys/bus/i2c/drivers/ina3221x/*-00*/iio:device*/rail_name_[0-2]", find_iio},
    {IG_POWER_HWMON, "/sys/bus/i2c/drivers/ina3221/*-00*/hwmon/hwmon*/in*_label", find_hwmon},
};

/* Where one rail feeds the whole module the others are part of it. */
static void keep_whole(struct ig_power *p)
{
    for (int32_t i = 0; i < p->n; i++)
        if (!strcmp(p->rails[i].name, "VDD_IN")) {
            p->rails[0] = p->rails[i];
            p->n = 1;
        }
}

int ig_power_open(struct ig_power *p, const char *root)
{
    *p = (struct ig_power){.kind = IG_POWER_NONE};
    snprintf(p->why, sizeof p->why, "no sensor: neither RAPL counters nor INA3221 rails");
    for (size_t i = 0; i < sizeof sources / sizeof *sources && !p->n; i++) {
        ig_found(root, sources[i].pattern, sources[i].find, p);
        if (p->n) p->kind = sources[i].kind;
    }
    keep_whole(p);
    if (p->n) p->why[0] = 0;
    return p->n ? 0 : -1;
}

int ig_power_open_nvml(struct ig_power *p, const struct ig_nvml *api)
{
    unsigned long long mj;
    unsigned mw;
    *p = (struct ig_power){.kind = IG_POWER_NONE};
    int status = api ? api->init() : -1, kind = IG_POWER_NVML;
    if (!status) status = api->device(0, &p->device);
    if (!status && (status = api->energy(p->device, &mj)) && api->power && !api->power(p->device, &mw)) {
        status = 0;
        kind = IG_POWER_NVML_MW;
    }
    if (status) {
        if (api)
            snprintf(p->why, sizeof p->why, "no sensor: NVML counts no energy here (status %d)", status);
        else
            snprintf(p->why, sizeof p->why, "no sensor: no NVML library");
        return -1;
    }
    p->kind = kind;
    p->n = 1;
    p->nvml = *api;
    snprintf(p->rails[0].name, sizeof p->rails[0].name, "GPU 0");
    return 0;
}

/* --- samples --- */

static int read_rail(struct ig_power *p, const struct ig_power_rail *r, int64_t *value)
{
    int64_t ma;
    unsigned mw;
    if (p->kind == IG_POWER_NVML_MW) {
        if (p->nvml.power(p->device, &mw)) return -1;
        *value = mw;
        return 0;
    }
    if (p->kind == IG_POWER_NVML) {
        unsigned long long mj;
        if (p->nvml.energy(p->device, &mj)) return -1;
        *value = (int64_t)mj * 1000;
        return 0;
    }
    if (read_number(r->path, value)) return -1;
    if (p->kind != IG_POWER_HWMON) return 0;
    if (read_number(r->current, &ma)) return -1;
    *value = *value * ma / 1000;
    return 0;
}

/* What the rail adds between two readings. */
static int64_t between(const struct ig_power *p, const struct ig_power_rail *r, int64_t now, int64_t ns)
{
    if (ig_power_counts(p))
        return now >= r->last ? now - r->last : now - r->last + r->range_uj;
    return (now + r->last) / 2 * (ns / 1000) / 1000; /* mW times us are nJ */
}

int ig_power_sample(struct ig_power *p, int64_t now_ns)
{
    int64_t now[IG_POWER_RAILS];
    if (!p->n || p->broken) return -1;
    for (int32_t i = 0; i < p->n; i++) {
        errno = 0;
        if (read_rail(p, &p->rails[i], &now[i])) {
            say(p, p->rails[i].path[0] ? p->rails[i].path : p->rails[i].name);
            p->broken = 1;
            return -1;
        }
    }
    if (!p->samples) p->first_ns = p->last_ns = now_ns;
    for (int32_t i = 0; i < p->n; i++) {
        if (p->samples) p->energy_uj += between(p, &p->rails[i], now[i], now_ns - p->last_ns);
        p->rails[i].last = now[i];
    }
    p->last_ns = now_ns;
    p->samples++;
    return 0;
}

int ig_power_is_board(const struct ig_power *p)
{
    return p->kind == IG_POWER_IIO || p->kind == IG_POWER_HWMON;
}

int ig_power_counts(const struct ig_power *p)
{
    return p->kind == IG_POWER_RAPL || p->kind == IG_POWER_NVML;
}

const char *ig_power_method(const struct ig_power *p)
{
    static const char *const methods[] = {
        "no sensor", "energy counters of the CPU packages (RAPL)", "power of board rails (INA3221), integrated",
        "voltage times current of board rails (INA3221), integrated", "energy counter of the GPU (NVML)",
        "power of the GPU (NVML), integrated"};
    return methods[p->kind];
}
