/* Non-maximum suppression: the examples of ONNX's own tests, and what must hold of any boxes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/nms.h"
#include "tests/support/rng.h"

static const float corners[6][4] = {{0, 0, 1, 1},         {0, 0.1f, 1, 1.1f},   {0, -0.1f, 1, 0.9f},
                                    {0, 10, 1, 11},       {0, 10.1f, 1, 11.1f}, {0, 100, 1, 101}};
static const float flipped[6][4] = {{1, 1, 0, 0},         {0, 0.1f, 1, 1.1f},   {0, 0.9f, 1, -0.1f},
                                    {0, 10, 1, 11},       {1, 10.1f, 0, 11.1f}, {1, 101, 0, 100}};
static const float centers[6][4] = {{0.5f, 0.5f, 1, 1},   {0.5f, 0.6f, 1, 1},   {0.5f, 0.4f, 1, 1},
                                    {0.5f, 10.5f, 1, 1},  {0.5f, 10.6f, 1, 1},  {0.5f, 100.5f, 1, 1}};
static const float scores[12] = {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f, 0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f};

static void examples(void **state)
{
    static const struct {
        const float (*boxes)[4];
        struct ig_nms nms;
        int n;
        int32_t picks[6][2]; /* class, box; best first */
    } rows[] = {
        {corners, {6, 1, 0, 3, 0.5f, 0}, 3, {{0, 3}, {0, 0}, {0, 5}}},
        {flipped, {6, 1, 0, 3, 0.5f, 0}, 3, {{0, 3}, {0, 0}, {0, 5}}},
        {centers, {6, 1, 1, 3, 0.5f, 0}, 3, {{0, 3}, {0, 0}, {0, 5}}},
        {corners, {6, 1, 0, 30, 0.5f, 0}, 3, {{0, 3}, {0, 0}, {0, 5}}},
        {corners, {6, 1, 0, 2, 0.5f, 0}, 2, {{0, 3}, {0, 0}}},
        {corners, {6, 1, 0, 3, 0.5f, 0.4f}, 2, {{0, 3}, {0, 0}}},
        {corners, {1, 1, 0, 3, 0.5f, 0}, 1, {{0, 0}}},
        {corners, {6, 2, 0, 2, 0.5f, 0}, 4, {{0, 3}, {1, 3}, {0, 0}, {1, 0}}},
        {corners, {6, 1, 0, 6, 1, 0.95f}, 0, {{0, 0}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t left[6];
        struct ig_pick picks[6];
        assert_int_equal(ig_nms(&rows[i].nms, rows[i].boxes[0], scores, left, picks, 6), rows[i].n);
        for (int k = 0; k < rows[i].n; k++) {
            assert_int_equal(picks[k].of, rows[i].picks[k][0]);
            assert_int_equal(picks[k].box, rows[i].picks[k][1]);
            assert_true(picks[k].score == scores[6 * picks[k].of + picks[k].box]);
        }
    }
}

static void equal_boxes(void **state)
{
    const struct ig_nms m = {10, 1, 0, 3, 0.5f, 0};
    float boxes[10][4], same[10];
    int32_t left[10];
    struct ig_pick picks[10];
    (void)state;
    for (int i = 0; i < 10; i++) {
        memcpy(boxes[i], corners[0], sizeof *boxes);
        same[i] = 0.9f;
    }
    assert_int_equal(ig_nms(&m, boxes[0], same, left, picks, 10), 1);
    assert_int_equal(picks[0].box, 0);
}

static double covered(const float *a, const float *b)
{
    double common = 1, area_a = 1, area_b = 1;
    for (int k = 0; k < 2; k++) {
        double a0 = fmin(a[k], a[k + 2]), a1 = fmax(a[k], a[k + 2]), b0 = fmin(b[k], b[k + 2]), b1 = fmax(b[k], b[k + 2]);
        common *= fmax(fmin(a1, b1) - fmax(a0, b0), 0);
        area_a *= a1 - a0;
        area_b *= b1 - b0;
    }
    return common > 0 ? common / (area_a + area_b - common) : 0;
}

enum { N = 60, CLASSES = 3, ROOM = N * CLASSES };

/* No two that are kept overlap; what is dropped overlaps a better one that is kept; fewer are the first of all. */
static void any_boxes(void **state)
{
    struct rng r = {7};
    (void)state;
    for (int round = 0; round < 200; round++) {
        float boxes[N][4], values[CLASSES][N];
        int32_t left[N], kept[CLASSES][N] = {{0}};
        struct ig_pick picks[ROOM], few[5];
        const struct ig_nms m = {N, CLASSES, 0, N, 0.4f, 0.3f};
        for (int i = 0; i < N * 4; i++) boxes[i / 4][i % 4] = (float)rng_int(&r, 0, 999) / 100;
        for (int i = 0; i < N * CLASSES; i++) values[i / N][i % N] = (float)rng_int(&r, 0, 999) / 1000;
        int n = ig_nms(&m, boxes[0], values[0], left, picks, ROOM), least = n < 5 ? n : 5;
        assert_int_equal(ig_nms(&m, boxes[0], values[0], left, few, 5), least);
        assert_memory_equal(few, picks, (size_t)least * sizeof *few);
        for (int i = 0; i < n; i++) {
            assert_true(!i || picks[i - 1].score >= picks[i].score);
            kept[picks[i].of][picks[i].box] = 1;
            for (int k = 0; k < i; k++)
                if (picks[k].of == picks[i].of) assert_true(covered(boxes[picks[k].box], boxes[picks[i].box]) < 0.4 + 1e-5);
        }
        for (int c = 0; c < CLASSES; c++)
            for (int i = 0; i < N; i++) {
                int why = kept[c][i] || values[c][i] <= 0.3f;
                for (int k = 0; k < N && !why; k++)
                    why = kept[c][k] && values[c][k] >= values[c][i] && covered(boxes[k], boxes[i]) > 0.4 - 1e-5;
                assert_true(why);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples), cmocka_unit_test(equal_boxes),
                                       cmocka_unit_test(any_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
