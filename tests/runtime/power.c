/* Sensors and clocks on a made-up /sys: every style and every fault, settings given back. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/host/clocks.h"
#include "runtime/host/power.h"

static char root[64];

static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = strchr(full + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(full, 0755);
        *at = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void assert_holds(const char *path, const char *text)
{
    char full[512], got[64] = "";
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *f = fopen(full, "r");
    assert_non_null(f);
    if (!fgets(got, sizeof got, f)) got[0] = 0;
    fclose(f);
    got[strcspn(got, "\n")] = 0;
    assert_string_equal(got, text);
}

static void drop(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    assert_int_equal(remove(full), 0);
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static int fresh(void **state)
{
    (void)state;
    strcpy(root, "/tmp/ingot-sys-XXXXXX");
    return !mkdtemp(root) || chmod(root, 0755);
}

static int clean(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- sensors --- */

#define IIO "/sys/bus/i2c/drivers/ina3221x/"
#define HWMON "/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/"
#define RAPL "/sys/class/powercap/intel-rapl"

static void rail(const char *dir, int c, const char *name, const char *mw)
{
    char path[256];
    snprintf(path, sizeof path, IIO "%s/rail_name_%d", dir, c);
    put(path, name);
    snprintf(path, sizeof path, IIO "%s/in_power%d_input", dir, c);
    put(path, mw);
}

/* A TX2: the module's rail holds all others; device numbers are whatever they are. */
static void iio_module(void **state)
{
    struct ig_power p;
    (void)state;
    rail("0-0040/iio:device7", 0, "VDD_SYS_GPU\n", "1500\n");
    rail("0-0040/iio:device7", 1, "VDD_SYS_SOC\n", "700\n");
    rail("0-0041/iio:device3", 0, "VDD_IN\n", "6000\n");
    rail("0-0041/iio:device3", 1, "VDD_SYS_CPU\n", "900\n");
    assert_int_equal(ig_power_open(&p, root), 0);
    assert_int_equal(p.kind, IG_POWER_IIO);
    assert_int_equal(p.n, 1);
    assert_string_equal(p.rails[0].name, "VDD_IN");
    assert_int_equal(ig_power_sample(&p, 1000000000), 0);
    rail("0-0041/iio:device3", 0, "VDD_IN\n", "8000\n");
    assert_int_equal(ig_power_sample(&p, 1500000000), 0);
    assert_int_equal(p.energy_uj, 3500000);
}

/* An AGX Xavier: six rails that add up; one has no name and is left out. */
static void iio_sum(void **state)
{
    struct ig_power p;
    (void)state;
    static const char *const names[] = {"GPU\n", "CPU\n", "SOC\n", "CV\n", "VDDRQ\n", "SYS5V\n"};
    for (int i = 0; i < 6; i++) rail(i < 3 ? "1-0040/iio:device0" : "1-0041/iio:device1", i % 3, names[i], "1000\n");
    assert_int_equal(ig_power_open(&p, root), 0);
    assert_int_equal(p.n, 6);
    ig_power_sample(&p, 0);
    ig_power_sample(&p, 2000000000);
    assert_int_equal(p.energy_uj, 12000000);
    drop(IIO "1-0041/iio:device1/rail_name_2");
    assert_int_equal(ig_power_open(&p, root), 0);
    assert_int_equal(p.n, 5);
}

static void hwmon(void **state)
{
    struct ig_power p;
    (void)state;
    for (int c = 1; c <= 7; c++) {
        char path[256];
        snprintf(path, sizeof path, HWMON "hwmon4/in%d_label", c);
        put(path, c == 1 ? "GPU\n" : c == 2 ? "CPU\n" : c == 3 ? "SOC\n" : "sum of shunt voltages\n");
        snprintf(path, sizeof path, HWMON "hwmon4/in%d_input", c);
        put(path, "5000\n");
        snprintf(path, sizeof path, HWMON "hwmon4/curr%d_input", c);
        put(path, "400\n");
    }
    assert_int_equal(ig_power_open(&p, root), 0);
    assert_int_equal(p.kind, IG_POWER_HWMON);
    assert_int_equal(p.n, 3);
    ig_power_sample(&p, 0);
    ig_power_sample(&p, 1000000000);
    assert_int_equal(p.energy_uj, 6000000);
    drop(HWMON "hwmon4/curr2_input");
    assert_int_equal(ig_power_sample(&p, 2000000000), -1);
    assert_int_equal(p.energy_uj, 6000000);
    assert_non_null(strstr(p.why, "No such file"));
    assert_int_equal(ig_power_sample(&p, 3000000000), -1);
}

static void zone(const char *suffix, const char *name, const char *uj)
{
    char path[256];
    snprintf(path, sizeof path, RAPL "%s/name", suffix);
    put(path, name);
    snprintf(path, sizeof path, RAPL "%s/energy_uj", suffix);
    put(path, uj);
    snprintf(path, sizeof path, RAPL "%s/max_energy_range_uj", suffix);
    put(path, "262143328850\n");
}

static void rapl_wrap(void **state)
{
    struct ig_power p;
    (void)state;
    zone(":0", "package-0\n", "262143328000\n");
    assert_int_equal(ig_power_open(&p, root), 0);
    ig_power_sample(&p, 0);
    zone(":0", "package-0\n", "150\n");
    ig_power_sample(&p, 1000000000);
    assert_int_equal(p.energy_uj, 1000);
    zone(":0", "package-0\n", "650\n");
    ig_power_sample(&p, 2000000000);
    assert_int_equal(p.energy_uj, 1500);
}

static void rapl_no_double_count(void **state)
{
    struct ig_power p;
    (void)state;
    zone(":0", "package-0\n", "0\n");
    zone(":0:0", "core\n", "0\n");
    zone(":0:1", "dram\n", "0\n");
    zone(":1", "package-1\n", "0\n");
    zone(":2", "psys\n", "0\n");
    zone("-mmio:0", "package-0\n", "0\n");
    zone(":3", "package-0\n", "0\n");
    assert_int_equal(ig_power_open(&p, root), 0);
    assert_int_equal(p.n, 2);
    assert_string_equal(p.rails[0].name, "package-0");
    assert_string_equal(p.rails[1].name, "package-1");
}

/* Nobody but root may read the counters since Linux 5.10. */
static void permission_denied(void **state)
{
    (void)state;
    char path[256];
    zone(":0", "package-0\n", "0\n");
    snprintf(path, sizeof path, "%s" RAPL ":0/energy_uj", root);
    assert_int_equal(chmod(path, 0400), 0);
    pid_t child = fork();
    if (!child) {
        struct ig_power p;
        if (!geteuid() ? setuid(65534) : chmod(path, 0)) _exit(3);
        int rc = ig_power_open(&p, root);
        _exit(rc == -1 && p.kind == IG_POWER_NONE && strstr(p.why, "Permission denied") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static int nvml_ok(void)
{
    return 0;
}

static int nvml_device(unsigned index, void **device)
{
    *device = NULL;
    return (int)index;
}

static unsigned long long nvml_mj;

static int nvml_energy(void *device, unsigned long long *mj)
{
    (void)device;
    *mj = nvml_mj;
    return 0;
}

static int nvml_not_supported(void *device, unsigned long long *mj)
{
    (void)device;
    *mj = 0;
    return 3;
}

static int nvml_power(void *device, unsigned *mw)
{
    (void)device;
    *mw = 40000;
    return 0;
}

/* An older GPU, which counts nothing but tells its power. */
static void nvml_power_is_integrated(void **state)
{
    struct ig_power p;
    const struct ig_nvml api = {nvml_ok, nvml_device, nvml_not_supported, nvml_power};
    (void)state;
    assert_int_equal(ig_power_open_nvml(&p, &api), 0);
    assert_int_equal(p.kind, IG_POWER_NVML_MW);
    assert_true(!ig_power_counts(&p) && !ig_power_is_board(&p));
    ig_power_sample(&p, 0);
    ig_power_sample(&p, 500000000);
    assert_int_equal(p.energy_uj, 20000000);
}

static void nvml_notsupported(void **state)
{
    struct ig_power p;
    struct ig_nvml api = {nvml_ok, nvml_device, nvml_not_supported, NULL};
    (void)state;
    assert_int_equal(ig_power_open_nvml(&p, NULL), -1);
    assert_string_equal(p.why, "no sensor: no NVML library");
    assert_int_equal(ig_power_open_nvml(&p, &api), -1);
    assert_string_equal(ig_power_method(&p), "no sensor");
    assert_int_equal(ig_power_sample(&p, 0), -1);
    api.energy = nvml_energy;
    nvml_mj = 5000;
    assert_int_equal(ig_power_open_nvml(&p, &api), 0);
    ig_power_sample(&p, 0);
    nvml_mj = 5250;
    ig_power_sample(&p, 1000000000);
    assert_int_equal(p.energy_uj, 250000);
    assert_int_equal(ig_power_open(&p, root), -1);
    assert_non_null(strstr(p.why, "no sensor"));
}

/* --- clocks --- */

#define POLICY "/sys/devices/system/cpu/cpufreq/policy"
#define GPU "/sys/class/devfreq/17000000.gp10b/"

static void board(void)
{
    put(POLICY "0/scaling_min_freq", "345600\n");
    put(POLICY "0/scaling_max_freq", "2035200\n");
    put(POLICY "0/scaling_available_frequencies", "345600 499200 1190400 2035200 \n");
    put(POLICY "3/scaling_min_freq", "400000\n");
    put(POLICY "3/scaling_max_freq", "3000000\n");
    put(POLICY "3/cpuinfo_min_freq", "400000\n");
    put(POLICY "3/cpuinfo_max_freq", "3600000\n");
    put(GPU "min_freq", "114750000\n");
    put(GPU "max_freq", "1300500000\n");
    put(GPU "available_frequencies", "114750000 854250000 1300500000\n");
    put("/sys/class/devfreq/15340000.vic/min_freq", "1\n");
    put("/sys/class/devfreq/15340000.vic/max_freq", "2\n");
}

static void clocks_found_and_pinned(void **state)
{
    struct ig_clocks c;
    char err[200];
    int64_t got;
    (void)state;
    board();
    assert_int_equal(ig_clocks_open(&c, root), 3);
    int32_t gpu = ig_clocks_find(&c, "gp10b"), cpu = ig_clocks_find(&c, "policy0"),
            wide = ig_clocks_find(&c, "policy3");
    assert_true(gpu >= 0 && cpu >= 0 && wide >= 0 && ig_clocks_find(&c, "vic") < 0);
    assert_int_equal(ig_clocks_pin(&c, cpu, 1190400000, &got, err, sizeof err), 0);
    assert_int_equal(ig_clocks_pin(&c, gpu, 854250000, &got, err, sizeof err), 0);
    assert_int_equal(ig_clocks_pin(&c, wide, 3300000000, &got, err, sizeof err), 0);
    assert_holds(POLICY "0/scaling_min_freq", "1190400");
    assert_holds(POLICY "0/scaling_max_freq", "1190400");
    assert_holds(GPU "max_freq", "854250000");
    assert_int_equal(ig_clocks_pin(&c, cpu, 1200000000, &got, err, sizeof err), -1);
    assert_non_null(strstr(err, "none of its 4 frequencies"));
    assert_int_equal(ig_clocks_pin(&c, gpu, 5000000000, &got, err, sizeof err), -1);
    assert_non_null(strstr(err, "not within"));
    assert_int_equal(ig_clocks_restore(&c), 0);
    assert_holds(POLICY "0/scaling_min_freq", "345600");
    assert_holds(POLICY "0/scaling_max_freq", "2035200");
    assert_holds(POLICY "3/scaling_max_freq", "3000000");
    assert_holds(GPU "min_freq", "114750000");
}

/* What is written, in order; some files refuse, or clamp. */
struct journal {
    char order[8][8];
    int n;
    const char *refused, *clamped;
    char gates[64]; /* what the power's control was told, and an m for each limit between */
};

static int journal_write(void *context, const char *path, const char *text)
{
    struct journal *j = context;
    int limit = strstr(path, "_freq") != NULL;
    snprintf(j->gates + strlen(j->gates), sizeof j->gates - strlen(j->gates), "%s ", limit ? "m" : text);
    if (limit && j->n < 8) strcpy(j->order[j->n++], strstr(path, "min_freq") ? "min" : "max");
    if (j->refused && strstr(path, j->refused) && !strcmp(text, "1190400")) {
        errno = EINVAL;
        return -1;
    }
    put(path + strlen(root), j->clamped ? j->clamped : text);
    return 0;
}

static void write_order(void **state)
{
    struct journal j = {.n = 0};
    struct ig_clocks c;
    char err[200];
    int64_t got;
    (void)state;
    board();
    ig_clocks_open(&c, root);
    int32_t cpu = ig_clocks_find(&c, "policy0");
    c.write = journal_write;
    c.context = &j;
    assert_int_equal(ig_clocks_pin(&c, cpu, 499200000, &got, err, sizeof err), 0);
    assert_int_equal(ig_clocks_pin(&c, cpu, 1190400000, &got, err, sizeof err), 0);
    static const char *const order[] = {"min", "max", "max", "min"};
    for (int i = 0; i < 4; i++) assert_string_equal(j.order[i], order[i]);
    ig_clocks_restore(&c);
}

/* A GPU's power gate is open while limits are written, and as it was behind them. */
static void power_gate(void **state)
{
    struct journal j = {.n = 0};
    struct ig_clocks c;
    char err[200];
    int64_t got;
    (void)state;
    board();
    put(GPU "device/power/control", "auto\n");
    ig_clocks_open(&c, root);
    c.write = journal_write;
    c.context = &j;
    assert_int_equal(ig_clocks_pin(&c, ig_clocks_find(&c, "gp10b"), 854250000, &got, err, sizeof err), 0);
    assert_int_equal(ig_clocks_pin(&c, ig_clocks_find(&c, "policy0"), 499200000, &got, err, sizeof err), 0);
    assert_string_equal(j.gates, "on m m auto m m ");
    assert_holds(GPU "device/power/control", "auto");
    assert_holds(GPU "min_freq", "854250000");
    assert_int_equal(ig_clocks_restore(&c), 0);
    assert_holds(GPU "device/power/control", "auto");
    assert_holds(GPU "min_freq", "114750000");
    put(GPU "device/power/control", "on\n"); /* always on: nobody touches it */
    j = (struct journal){.n = 0};
    ig_clocks_open(&c, root);
    c.write = journal_write;
    c.context = &j;
    assert_int_equal(ig_clocks_pin(&c, ig_clocks_find(&c, "gp10b"), 854250000, &got, err, sizeof err), 0);
    assert_string_equal(j.gates, "m m ");
}

/* A frequency that is refused leaves everything as it was; one that is clamped is told. */
static void refused_and_clamped(void **state)
{
    struct journal j = {.refused = "scaling_max_freq"};
    struct ig_clocks c;
    char err[200];
    int64_t got;
    (void)state;
    board();
    ig_clocks_open(&c, root);
    int32_t cpu = ig_clocks_find(&c, "policy0");
    c.write = journal_write;
    c.context = &j;
    assert_int_equal(ig_clocks_pin(&c, cpu, 1190400000, &got, err, sizeof err), -1);
    assert_non_null(strstr(err, "refused: Invalid argument"));
    assert_holds(POLICY "0/scaling_min_freq", "345600");
    assert_holds(POLICY "0/scaling_max_freq", "2035200");
    j = (struct journal){.clamped = "499200\n"};
    assert_int_equal(ig_clocks_pin(&c, cpu, 1190400000, &got, err, sizeof err), 1);
    assert_int_equal(got, 499200000);
}

/* Whoever may not write limits, or finds them gone, is told; what was there stays. */
static void clocks_denied_and_vanished(void **state)
{
    struct ig_clocks c;
    char err[200];
    int64_t got;
    (void)state;
    board();
    pid_t child = fork();
    if (!child) {
        char path[256];
        snprintf(path, sizeof path, "%s" POLICY "0/scaling_max_freq", root);
        if (!geteuid() ? setuid(65534) : chmod(path, 0444)) _exit(3);
        ig_clocks_open(&c, root);
        int rc = ig_clocks_pin(&c, ig_clocks_find(&c, "policy0"), 2035200000, &got, err, sizeof err);
        _exit(rc == -1 && strstr(err, "policy0: 2035200000 Hz refused: Permission denied") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_holds(POLICY "0/scaling_min_freq", "345600");
    assert_holds(POLICY "0/scaling_max_freq", "2035200");
    ig_clocks_open(&c, root);
    drop(POLICY "0/scaling_max_freq");
    assert_int_equal(ig_clocks_pin(&c, ig_clocks_find(&c, "policy0"), 1190400000, &got, err, sizeof err), -1);
    assert_non_null(strstr(err, "refused: No such file"));
    assert_holds(POLICY "0/scaling_min_freq", "345600");
    assert_int_equal(ig_clocks_restore(&c), -1);
    assert_int_equal(ig_clocks_open(&c, root), 2); /* without limits it is no clock */
}

/* A run that is ended, or that ends, gives back what it changed, the last change first. */
static void restore_on_signal(void **state)
{
    (void)state;
    for (int end = 0; end < 3; end++) {
        board();
        pid_t child = fork();
        if (!child) {
            struct ig_clocks *c = calloc(1, sizeof *c);
            char err[200];
            int64_t got;
            ig_clocks_open(c, root);
            ig_clocks_guard(c);
            ig_clocks_pin(c, ig_clocks_find(c, "policy0"), 499200000, &got, err, sizeof err);
            ig_clocks_pin(c, ig_clocks_find(c, "gp10b"), 114750000, &got, err, sizeof err);
            if (end == 2) exit(0);
            raise(end ? SIGINT : SIGTERM);
            _exit(9);
        }
        int status;
        waitpid(child, &status, 0);
        if (end == 2)
            assert_int_equal(status, 0);
        else
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == (end ? SIGINT : SIGTERM));
        assert_holds(POLICY "0/scaling_min_freq", "345600");
        assert_holds(POLICY "0/scaling_max_freq", "2035200");
        assert_holds(GPU "min_freq", "114750000");
        assert_holds(GPU "max_freq", "1300500000");
    }
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, fresh, clean)

int main(void)
{
    const struct CMUnitTest sysfs_fake_tree[] = {IN_TREE(iio_module),
                                                 IN_TREE(iio_sum),
                                                 IN_TREE(hwmon),
                                                 IN_TREE(permission_denied),
                                                 IN_TREE(clocks_found_and_pinned),
                                                 IN_TREE(write_order),
                                                 IN_TREE(power_gate),
                                                 IN_TREE(refused_and_clamped),
                                                 IN_TREE(clocks_denied_and_vanished),
                                                 IN_TREE(restore_on_signal),
                                                 IN_TREE(rapl_wrap),
                                                 IN_TREE(rapl_no_double_count),
                                                 IN_TREE(nvml_notsupported),
                                                 IN_TREE(nvml_power_is_integrated)};
    return cmocka_run_group_tests(sysfs_fake_tree, NULL, NULL);
}
