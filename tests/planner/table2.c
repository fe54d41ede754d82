/*
 * Table II of Guo, Pimentel & Stefanov (2023), and what the paper says of it, computed again: what follows from the
 * printed numbers, and what does not. Deployments here are reported by the same three measures and the ones that the
 * table leaves out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/zoo/zoo.h"

enum { DENSENET, RESNET, VGG, NETS };

static const struct { /* J of the busiest device, frames/s, MiB of the fullest device */
    char name;
    int32_t net;
    double j, fps, mib;
    int32_t devices, cores, gpus;
} rows[] = {
    {'c', DENSENET, .905, 7.987, 129.984, 1, 6, 0}, {'c', RESNET, 1.635, 5.786, 656.527, 1, 6, 0},
    {'c', VGG, 1.471, 7.273, 1310.91, 1, 6, 0},     {'g', DENSENET, .650, 12.807, 251.172, 1, 0, 1},
    {'g', RESNET, 1.031, 21.767, 955.012, 1, 0, 1}, {'g', VGG, 1.523, 11.664, 1666.418, 1, 0, 1},
    {'A', DENSENET, .430, 27.941, 152.336, 4, 0, 4}, {'B', DENSENET, .408, 23.551, 149.941, 6, 6, 5},
    {'C', DENSENET, .977, 7.546, 51.066, 8, 38, 0}, {'D', RESNET, .425, 26.406, 360.766, 7, 0, 7},
    {'E', RESNET, .488, 30.048, 329.641, 7, 12, 5}, {'F', RESNET, .886, 12.123, 127.883, 8, 48, 0},
    {'G', VGG, .680, 11.651, 998.273, 6, 0, 6},     {'H', VGG, .791, 17.385, 868.496, 6, 6, 5},
    {'I', VGG, 1.035, 7.194, 604.504, 7, 30, 2},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int32_t row(char name, int32_t net)
{
    for (int32_t i = 0; i < ROWS; i++)
        if (rows[i].name == name && rows[i].net == net) return i;
    fail();
    return -1;
}

static int32_t point(char name)
{
    return row(name, name < 'D' ? DENSENET : name < 'G' ? RESNET : VGG);
}

/* To the digits that are printed. */
static void assert_prints(double x, double printed, double digit)
{
    if (fabs(x - printed) > 0.5000001 * digit) fail_msg("%g is not %g", x, printed);
}

static double percent(double of, double than)
{
    return 100 * (of / than - 1);
}

/*
 * The networks are those of the paper: parameters, two statistics a normalised channel among them, and the multiply-adds
 * that its rates stand for. Its ResNet is of the second kind, which has fewer normalised channels.
 */
static void networks(void **state)
{
    static const struct {
        const char *name;
        double parameters, digit, macs, cpu, gpu; /* millions, thousands of millions, and those a second */
    } of[NETS] = {{"densenet121", 8.0625, 1e-4, 2.834, 22.6, 36.3}, {"resnet101", 44.639, .04, 7.801, 45.1, 169.8},
                  {"vgg19", 143.667, 1e-3, 19.632, 142.8, 229.0}};
    (void)state;
    for (int32_t i = 0; i < NETS; i++) {
        struct ig_zoo_counts n;
        ig_zoo_count(ig_zoo_find(of[i].name), &n);
        double statistics = 2 * (double)(n.parameters - n.folded), macs = (double)n.macs * 1e-9;
        assert_prints(((double)n.parameters + statistics) * 1e-6, of[i].parameters, of[i].digit);
        assert_prints(macs, of[i].macs, .001);
        assert_prints(macs * rows[row('c', i)].fps, of[i].cpu, .1);
        assert_prints(macs * rows[row('g', i)].fps, of[i].gpu, .1);
    }
}

/* What the text says of point A is so; of ResNet on eight devices the memory is, the energy is not. */
static void claims(void **state)
{
    int32_t a = point('A'), c = row('c', DENSENET), g = row('g', DENSENET), f = point('F');
    (void)state;
    assert_prints(percent(rows[a].j, rows[c].j), -52.49, .01);
    assert_prints(percent(rows[a].j, rows[g].j), -33.85, .01);
    assert_prints(rows[a].fps / rows[c].fps, 3.498, .001);
    assert_prints(rows[a].fps / rows[g].fps, 2.182, .001);
    assert_prints(percent(rows[a].mib, rows[g].mib), -39.35, .01);
    assert_prints(percent(rows[a].mib, rows[c].mib), 17.20, .01);
    assert_prints(percent(rows[f].mib, rows[row('c', RESNET)].mib), -80.5, .1); /* printed: -80 */
    assert_prints(percent(rows[f].j, rows[row('g', RESNET)].j), -14.1, .1);     /* printed: -40 */
}

/* Frames/s of a device over those of the best single row: what every further device is worth. */
static void worth_of_a_device(void **state)
{
    static const struct {
        char name;
        double part;
    } of[] = {{'A', .55}, {'B', .31}, {'H', .25}, {'E', .20}, {'D', .17}, {'G', .17}, {'I', .09}, {'C', .07}, {'F', .07}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int32_t p = point(of[i].name);
        double cpu = rows[row('c', rows[p].net)].fps, gpu = rows[row('g', rows[p].net)].fps;
        assert_prints(rows[p].fps / rows[p].devices / (cpu > gpu ? cpu : gpu), of[i].part, .01);
    }
}

/* The table has the busiest device's energy alone: that of all may be so many times as much, 2.6 to 12 times one device's. */
static void energy_of_all(void **state)
{
    static const struct {
        char name;
        double j;
    } of[] = {{'A', 1.7}, {'D', 3.0}, {'G', 4.1}, {'F', 7.1}, {'C', 7.8}};
    double least = 100, most = 0;
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int32_t p = point(of[i].name);
        double c = rows[row('c', rows[p].net)].j, g = rows[row('g', rows[p].net)].j, all = rows[p].j * rows[p].devices;
        assert_prints(all, of[i].j, .1);
        double times = all / (c < g ? c : g);
        if (times < least) least = times;
        if (times > most) most = times;
    }
    assert_prints(least, 2.6, .1);
    assert_prints(most, 12, 1);
}

/* J a frame times frames/s: all but one row are within what a module of 20 W can draw. */
static void powers(void **state)
{
    double least = 100, most = 0, outlier = 0;
    (void)state;
    for (int32_t i = 0; i < ROWS; i++) {
        double w = rows[i].j * rows[i].fps;
        if (w > 20) outlier += w;
        else if (w > most) most = w;
        if (w < least) least = w;
    }
    assert_prints(least, 7.2, .1);
    assert_prints(most, 17.8, .1);
    assert_prints(outlier, 22.4, .1);
}

/* One device's memory over the weights' (32, 171 and 549 MiB). */
static void memory_over_weights(void **state)
{
    static const double weights[NETS] = {32, 171, 549}, cpu[NETS] = {4.1, 3.8, 2.4}, gpu[NETS] = {7.8, 5.6, 3.0};
    (void)state;
    for (int32_t i = 0; i < NETS; i++) {
        assert_prints(rows[row('c', i)].mib / weights[i], cpu[i], .1);
        assert_prints(rows[row('g', i)].mib / weights[i], gpu[i], .1);
    }
}

/* Every device runs on cores or on its GPU, all six cores or one: CPU and GPU of one board are never together. */
static void devices_use_one_kind(void **state)
{
    (void)state;
    for (int32_t i = 0; i < ROWS; i++) {
        int32_t left = rows[i].devices - rows[i].gpus, found = 0;
        for (int32_t six = 0; six <= left; six++) found |= six * 6 + (left - six) == rows[i].cores;
        assert_int_equal(found, 1);
    }
}

/* A trial splits, generates and builds: a search of 100 people and 400 generations is days of that. */
static void days_of_search(void **state)
{
    static const double tool_s[NETS] = {1.93 + .3 + 21.3, 7.30 + .1 + 23.3, 21.50 + .4 + 26.9}, days[NETS] = {10.9, 14.2, 22.6};
    (void)state;
    for (int32_t i = 0; i < NETS; i++) assert_prints(100 * 400 * tool_s[i] / 86400, days[i], .1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks),      cmocka_unit_test(claims), cmocka_unit_test(worth_of_a_device),
        cmocka_unit_test(energy_of_all), cmocka_unit_test(powers), cmocka_unit_test(memory_over_weights),
        cmocka_unit_test(devices_use_one_kind), cmocka_unit_test(days_of_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
