/* Clocks on a made-up /sys: what is pinned, in which order, every fault, settings given back. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/host/clocks.h"
#include "tests/support/sys.h"

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

/* The clocks below `root`, whose writes j notes. */
static void open_noting(struct ig_clocks *c, struct journal *j)
{
    ig_clocks_open(c, root);
    c->write = journal_write;
    c->context = j;
}

static void write_order(void **state)
{
    struct journal j = {.n = 0};
    struct ig_clocks c;
    char err[200];
    int64_t got;
    (void)state;
    board();
    open_noting(&c, &j);
    int32_t cpu = ig_clocks_find(&c, "policy0");
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
    open_noting(&c, &j);
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
    open_noting(&c, &j);
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
    open_noting(&c, &j);
    int32_t cpu = ig_clocks_find(&c, "policy0");
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

int main(void)
{
    const struct CMUnitTest sysfs_fake_tree[] = {IN_TREE(clocks_found_and_pinned), IN_TREE(write_order), IN_TREE(power_gate),
                                                 IN_TREE(refused_and_clamped), IN_TREE(clocks_denied_and_vanished), IN_TREE(restore_on_signal)};
    return cmocka_run_group_tests(sysfs_fake_tree, NULL, NULL);
}
