/* Sensors of energy on a made-up /sys: every style and every fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/host/power.h"
#include "tests/support/sys.h"

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

int main(void)
{
    const struct CMUnitTest sysfs_fake_tree[] = {IN_TREE(iio_module), IN_TREE(iio_sum), IN_TREE(hwmon), IN_TREE(permission_denied),
                                                 IN_TREE(rapl_wrap), IN_TREE(rapl_no_double_count), IN_TREE(nvml_notsupported),
                                                 IN_TREE(nvml_power_is_integrated)};
    return cmocka_run_group_tests(sysfs_fake_tree, NULL, NULL);
}
