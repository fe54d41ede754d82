#include "bench/grid.h"

#include <string.h>

static const int32_t table_ic[] = {3, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024},
                     table_oc[] = {16, 32, 48, 64, 128, 192, 256, 384, 512, 1024},
                     table_size[] = {2, 4, 8, 14, 16, 28, 32, 56, 64, 112, 128, 224, 256, 512},
                     table_k[] = {1, 3, 5, 7, 11};
enum { IC = 13, OC = 10, SIZE = 14, K = 5, ALL = IC * OC * SIZE * K };

double ig_grid_macs(const struct ig_grid_layer *l)
{
    double out = (l->size + 2 * (l->k / 2) - l->k) / l->stride + 1;
    return out * out * l->oc * (l->ic / l->groups) * l->k * l->k;
}

/* Fisher and Yates, from a fixed seed. */
static void shuffle(int32_t *order, int32_t n)
{
    uint64_t state = 6;
    for (int32_t i = n - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int32_t j = (int32_t)((state >> 33) % (uint64_t)(i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

int32_t ig_grid_table6(struct ig_grid_layer *at, int32_t most, double most_macs)
{
    static int32_t order[ALL];
    int32_t n = 0;
    for (int32_t i = 0; i < ALL; i++) order[i] = i;
    shuffle(order, ALL);
    for (int32_t i = 0; i < ALL; i++) {
        int32_t c = order[i];
        struct ig_grid_layer l = {table_ic[c % IC],
                                  table_oc[c / IC % OC],
                                  table_size[c / (IC * OC) % SIZE],
                                  table_k[c / (IC * OC * SIZE)],
                                  1,
                                  1};
        if (l.k > l.size || ig_grid_macs(&l) > most_macs) continue;
        if (n < most) at[n] = l;
        n++;
    }
    return n;
}

/* --- calibration --- */

/*
 * {ic, oc, size, k, stride, groups}. The two lists of convolutions are chosen from all layers of such channels, sizes
 * and windows (none in the grid) by their features, relative to the time: the first such that these 32 determine the
 * costs best together (D-optimal), the second such that the error taken to the others is least (I-optimal).
 */
static const struct ig_grid_layer direct[] = {
    {8, 16, 3, 1, 1, 1},    {1024, 1024, 3, 3, 1, 1},  {128, 16, 100, 1, 1, 1}, {128, 16, 400, 1, 1, 1},
    {8, 128, 100, 1, 1, 1}, {64, 16, 400, 1, 1, 1},    {8, 1024, 150, 1, 1, 1}, {8, 16, 60, 1, 1, 1},
    {8, 128, 400, 1, 1, 1}, {8, 1024, 3, 1, 1, 1},     {1024, 16, 24, 1, 1, 1}, {8, 1024, 40, 1, 1, 1},
    {8, 16, 60, 11, 1, 1},  {1024, 1024, 10, 1, 1, 1}, {1024, 80, 5, 5, 1, 1},  {8, 256, 3, 1, 1, 1},
    {8, 1024, 3, 3, 1, 1},  {160, 640, 3, 1, 1, 1},    {16, 1024, 24, 3, 1, 1}, {8, 512, 12, 1, 1, 1},
    {8, 16, 250, 1, 1, 1},  {160, 1024, 10, 1, 1, 1},  {8, 1024, 5, 5, 1, 1},   {64, 16, 150, 1, 1, 1},
    {8, 16, 60, 5, 1, 1},   {8, 48, 400, 1, 1, 1},     {128, 16, 300, 1, 1, 1}, {8, 128, 80, 1, 1, 1},
    {1024, 48, 5, 5, 1, 1}, {128, 16, 80, 1, 1, 1},    {8, 128, 300, 1, 1, 1},  {1024, 16, 150, 1, 1, 1},
};

static const struct ig_grid_layer first[] = {
    {3, 640, 10, 7, 1, 1}, {3, 16, 72, 1, 1, 1}, {3, 1024, 150, 1, 1, 1}, {3, 128, 300, 1, 1, 1},
    {3, 1024, 40, 1, 1, 1}, {3, 1024, 6, 1, 1, 1}, {3, 128, 400, 1, 1, 1}, {3, 24, 60, 1, 1, 1},
    {3, 640, 30, 7, 1, 1}, {3, 16, 80, 5, 1, 1}, {3, 256, 150, 3, 1, 1}, {3, 128, 100, 1, 1, 1},
    {3, 320, 3, 1, 1, 1}, {3, 320, 60, 11, 1, 1}, {3, 16, 300, 1, 1, 1}, {3, 512, 15, 11, 1, 1},
    {3, 16, 100, 5, 1, 1}, {3, 640, 60, 7, 1, 1}, {3, 1024, 48, 1, 1, 1}, {3, 1024, 200, 1, 1, 1},
    {3, 128, 120, 1, 1, 1}, {3, 16, 3, 1, 1, 1}, {3, 640, 12, 7, 1, 1}, {3, 48, 400, 1, 1, 1},
    {3, 1024, 10, 1, 1, 1}, {3, 640, 48, 7, 1, 1}, {3, 16, 72, 5, 1, 1}, {3, 384, 150, 1, 1, 1},
    {3, 320, 48, 11, 1, 1}, {3, 24, 300, 1, 1, 1}, {3, 128, 200, 3, 1, 1}, {3, 16, 300, 5, 1, 1},
};

static const struct ig_grid_layer strassen[] = {
    {128, 128, 6, 1, 1, 1},   {128, 128, 20, 1, 1, 1},  {160, 160, 12, 1, 1, 1},  {192, 256, 40, 1, 1, 1},
    {256, 128, 10, 1, 1, 1},  {320, 320, 20, 1, 1, 1},  {512, 512, 7, 1, 1, 1},   {640, 640, 10, 1, 1, 1},
    {1024, 1024, 5, 1, 1, 1}, {1280, 640, 7, 1, 1, 1},  {128, 1024, 30, 1, 1, 1}, {1024, 128, 30, 1, 1, 1},
    {256, 256, 60, 1, 1, 1},  {128, 512, 80, 1, 1, 1},  {512, 128, 80, 1, 1, 1},  {960, 320, 12, 1, 1, 1},
    {320, 1280, 10, 1, 1, 1}, {128, 128, 150, 1, 1, 1}, {512, 128, 150, 1, 1, 1}, {128, 512, 150, 1, 1, 1},
};

static const struct ig_grid_layer depthwise3[] = {
    {8, 8, 3, 3, 1, 8},        {8, 8, 6, 3, 1, 8},        {16, 16, 10, 3, 1, 16},      {8, 8, 40, 3, 1, 8},
    {24, 24, 150, 3, 1, 24},   {96, 96, 60, 3, 1, 96},    {144, 144, 56, 3, 1, 144},   {192, 192, 30, 3, 1, 192},
    {384, 384, 15, 3, 1, 384}, {576, 576, 10, 3, 1, 576}, {960, 960, 7, 3, 1, 960},    {1024, 1024, 14, 3, 1, 1024},
    {256, 256, 5, 3, 1, 256},  {48, 48, 300, 3, 1, 48},   {160, 160, 200, 3, 1, 160},  {640, 640, 80, 3, 1, 640},
    {96, 96, 110, 3, 2, 96},   {144, 144, 60, 3, 2, 144}, {192, 192, 28, 3, 2, 192},   {576, 576, 14, 3, 2, 576},
    {32, 32, 220, 3, 2, 32},   {960, 960, 10, 3, 2, 960}, {512, 512, 15, 3, 1, 512},   {256, 256, 30, 3, 1, 256},
    {128, 128, 60, 3, 1, 128}, {512, 512, 30, 3, 2, 512}, {1024, 1024, 8, 3, 1, 1024}, {256, 256, 60, 3, 2, 256},
};

static const struct ig_grid_layer depthwise7[] = {
    {8, 8, 7, 3, 1, 8},        {32, 32, 100, 3, 1, 32},     {96, 96, 60, 3, 1, 96},     {144, 144, 56, 3, 1, 144},
    {192, 192, 30, 3, 1, 192}, {384, 384, 15, 3, 1, 384},   {960, 960, 7, 3, 1, 960},   {512, 512, 15, 3, 1, 512},
    {256, 256, 30, 3, 1, 256}, {1024, 1024, 8, 3, 1, 1024}, {160, 160, 200, 3, 1, 160}, {96, 96, 110, 3, 2, 96},
    {192, 192, 28, 3, 2, 192}, {512, 512, 30, 3, 2, 512},   {32, 32, 220, 3, 2, 32},    {16, 16, 10, 5, 1, 16},
    {72, 72, 40, 5, 1, 72},    {240, 240, 20, 5, 1, 240},   {672, 672, 14, 5, 1, 672},  {960, 960, 7, 5, 1, 960},
    {48, 48, 200, 5, 1, 48},   {72, 72, 56, 5, 2, 72},      {240, 240, 28, 5, 2, 240},  {672, 672, 14, 5, 2, 672},
    {96, 96, 56, 7, 1, 96},    {192, 192, 28, 7, 1, 192},   {384, 384, 14, 7, 1, 384},  {768, 768, 7, 7, 1, 768},
    {32, 32, 100, 7, 1, 32},   {512, 512, 14, 5, 1, 512},   {128, 128, 150, 3, 1, 128}, {40, 40, 12, 3, 1, 40},
};

static const struct ig_grid_layer depthwise[] = {
    {16, 16, 10, 5, 1, 16},    {72, 72, 40, 5, 1, 72},     {120, 120, 30, 5, 1, 120}, {240, 240, 20, 5, 1, 240},
    {480, 480, 14, 5, 1, 480}, {672, 672, 14, 5, 1, 672},  {960, 960, 7, 5, 1, 960},  {48, 48, 200, 5, 1, 48},
    {72, 72, 56, 5, 2, 72},    {240, 240, 28, 5, 2, 240},  {672, 672, 14, 5, 2, 672}, {96, 96, 56, 7, 1, 96},
    {192, 192, 28, 7, 1, 192}, {384, 384, 14, 7, 1, 384},  {768, 768, 7, 7, 1, 768},  {32, 32, 100, 7, 1, 32},
    {8, 8, 12, 7, 1, 8},       {128, 128, 150, 5, 1, 128},
};

static const struct ig_grid_layer dense[] = {
    {16, 16, 1, 1, 1, 1},     {64, 16, 1, 1, 1, 1},     {100, 1000, 1, 1, 1, 1},   {256, 64, 1, 1, 1, 1},
    {512, 512, 1, 1, 1, 1},   {1024, 1000, 1, 1, 1, 1}, {2048, 1000, 1, 1, 1, 1},  {4096, 4096, 1, 1, 1, 1},
    {1280, 1000, 1, 1, 1, 1}, {9216, 512, 1, 1, 1, 1},  {25088, 1024, 1, 1, 1, 1}, {64, 2000, 1, 1, 1, 1},
    {8192, 16, 1, 1, 1, 1},   {128, 128, 1, 1, 1, 1},   {512, 10, 1, 1, 1, 1},     {84, 10, 1, 1, 1, 1},
    {4096, 1000, 1, 1, 1, 1}, {9216, 1000, 1, 1, 1, 1}, {16384, 1000, 1, 1, 1, 1}, {640, 200, 1, 1, 1, 1},
};

static const struct ig_grid_layer pools[] = {
    {64, 64, 112, 3, 2, 1},  {16, 16, 20, 2, 2, 1},   {64, 64, 224, 2, 2, 1},  {256, 256, 28, 2, 2, 1},
    {512, 512, 14, 2, 2, 1}, {192, 192, 30, 3, 2, 1}, {480, 480, 14, 3, 1, 1}, {832, 832, 7, 3, 1, 1},
    {32, 32, 8, 3, 1, 1},    {128, 128, 60, 3, 2, 1}, {24, 24, 100, 2, 2, 1},  {1024, 1024, 6, 2, 2, 1},
    {8, 8, 300, 3, 2, 1},    {320, 320, 40, 5, 1, 1}, {8, 8, 4, 2, 2, 1},
};

static const struct ig_grid_layer images[] = {
    {8, 8, 4, 1, 1, 1},       {16, 16, 20, 1, 1, 1},   {64, 64, 56, 1, 1, 1},   {256, 256, 56, 1, 1, 1},
    {64, 64, 112, 1, 1, 1},   {32, 32, 200, 1, 1, 1},  {64, 64, 300, 1, 1, 1},  {512, 512, 14, 1, 1, 1},
    {1024, 1024, 7, 1, 1, 1}, {128, 128, 80, 1, 1, 1}, {64, 64, 8, 1, 1, 1},    {2048, 2048, 7, 1, 1, 1},
    {1280, 1280, 7, 1, 1, 1}, {16, 16, 60, 1, 1, 1},   {960, 960, 10, 1, 1, 1}, {24, 24, 30, 1, 1, 1},
};

static const struct ig_grid_layer winograd[] = {
    {16, 16, 10, 3, 1, 1},   {40, 48, 20, 3, 1, 1},   {80, 80, 40, 3, 1, 1},  {64, 64, 60, 3, 1, 1},
    {128, 128, 30, 3, 1, 1}, {256, 256, 15, 3, 1, 1}, {512, 512, 7, 3, 1, 1}, {640, 640, 10, 3, 1, 1},
    {320, 160, 20, 3, 1, 1}, {24, 24, 150, 3, 1, 1},  {64, 64, 220, 3, 1, 1}, {48, 96, 100, 3, 1, 1},
    {160, 160, 60, 3, 1, 1}, {512, 512, 20, 3, 1, 1}, {12, 32, 80, 3, 1, 1},  {1024, 1024, 5, 3, 1, 1},
    {256, 512, 12, 3, 1, 1}, {96, 24, 48, 3, 1, 1},   {8, 64, 200, 3, 1, 1},  {384, 384, 24, 3, 1, 1},
    {128, 64, 150, 3, 1, 1}, {32, 640, 40, 3, 1, 1},  {640, 32, 40, 3, 1, 1}, {16, 16, 300, 3, 1, 1},
    {8, 64, 5, 3, 1, 1},     {16, 192, 3, 3, 1, 1},   {3, 24, 60, 3, 1, 1},   {3, 256, 200, 3, 1, 1},
    {16, 256, 120, 3, 1, 1}, {8, 1024, 30, 3, 1, 1},  {40, 512, 5, 3, 1, 1},  {1024, 16, 40, 3, 1, 1},
};

/* Of other windows, and of stride 2. */
#define WINDOWS(k, s)                                                                                                  \
    {16, 16, 10, k, s, 1}, {40, 48, 20, k, s, 1}, {80, 80, 40, k, s, 1}, {64, 64, 60, k, s, 1},                        \
        {128, 128, 30, k, s, 1}, {256, 256, 15, k, s, 1}, {320, 160, 20, k, s, 1}, {24, 24, 150, k, s, 1},             \
        {48, 96, 100, k, s, 1}, {12, 32, 80, k, s, 1}, {256, 512, 12, k, s, 1}, {96, 24, 48, k, s, 1},                 \
        {8, 64, 200, k, s, 1}, {32, 640, 40, k, s, 1}, {640, 32, 40, k, s, 1}, {8, 64, 5, k, s, 1},                    \
        {3, 24, 60, k, s, 1}, {16, 256, 120, k, s, 1}, {40, 512, 7, k, s, 1},                                          \
    {                                                                                                                  \
        1024, 16, 40, k, s, 1                                                                                          \
    }
static const struct ig_grid_layer winograd5[] = {WINDOWS(5, 1)}, winograd7[] = {WINDOWS(7, 1)}, winograd_s2[] = {WINDOWS(3, 2)};

static const struct ig_grid_layer rows[] = {
    {16, 16, 10, 7, 1, 1},   {40, 48, 20, 3, 1, 1},   {80, 80, 40, 5, 1, 1},  {64, 64, 60, 7, 1, 1},
    {128, 128, 30, 3, 1, 1}, {256, 256, 15, 7, 1, 1}, {512, 512, 7, 3, 1, 1}, {320, 160, 20, 7, 1, 1},
    {24, 24, 150, 3, 1, 1},  {64, 64, 220, 7, 1, 1},  {48, 96, 100, 5, 1, 1}, {160, 160, 60, 3, 1, 1},
    {512, 512, 20, 7, 1, 1}, {12, 32, 80, 5, 1, 1},   {256, 512, 12, 3, 1, 1}, {96, 24, 48, 7, 1, 1},
    {8, 64, 200, 3, 1, 1},   {384, 384, 24, 5, 1, 1}, {32, 640, 40, 7, 1, 1}, {640, 32, 40, 3, 1, 1},
    {8, 64, 5, 3, 1, 1},     {3, 24, 60, 7, 1, 1},    {16, 256, 120, 3, 1, 1}, {1024, 16, 40, 5, 1, 1},
    {128, 192, 18, 7, 1, 1}, {192, 192, 17, 7, 1, 1}, {160, 160, 18, 7, 1, 1}, {448, 384, 9, 3, 1, 1},
};

/* Pixels of a classifier, of segmentations and of detections. */
static const struct ig_grid_layer classes[] = {
    {10, 10, 1, 1, 1, 1},    {100, 100, 1, 1, 1, 1},   {1000, 1000, 1, 1, 1, 1}, {4096, 4096, 1, 1, 1, 1},
    {21, 21, 100, 1, 1, 1},  {21, 21, 220, 1, 1, 1},   {21, 21, 30, 1, 1, 1},    {19, 19, 150, 1, 1, 1},
    {2, 2, 100, 1, 1, 1},    {2, 2, 300, 1, 1, 1},     {80, 80, 40, 1, 1, 1},    {91, 91, 44, 1, 1, 1},
    {64, 64, 14, 1, 1, 1},   {197, 197, 14, 1, 1, 1},  {512, 512, 8, 1, 1, 1},   {1000, 1000, 6, 1, 1, 1},
    {150, 150, 120, 1, 1, 1}, {32, 32, 200, 1, 1, 1},  {8, 8, 60, 1, 1, 1},      {2048, 2048, 4, 1, 1, 1},
};

static const struct ig_grid_layer nearest[] = {
    {256, 256, 13, 1, 2, 1},  {128, 128, 26, 1, 2, 1}, {64, 64, 52, 1, 2, 1},   {32, 32, 80, 1, 2, 1},
    {512, 512, 7, 1, 2, 1},   {1024, 1024, 5, 1, 2, 1}, {16, 16, 120, 1, 2, 1}, {8, 8, 20, 1, 2, 1},
    {24, 24, 28, 1, 4, 1},    {64, 64, 28, 1, 4, 1},   {21, 21, 28, 1, 8, 1},   {3, 3, 56, 1, 4, 1},
    {256, 256, 40, 1, 2, 1},  {128, 128, 100, 1, 2, 1}, {40, 40, 60, 1, 2, 1},  {96, 96, 14, 1, 2, 1},
    {8, 8, 200, 1, 2, 1},     {320, 320, 10, 1, 2, 1},
};

static const struct ig_grid_layer linear[] = {
    {256, 256, 13, 1, 2, 1}, {128, 128, 26, 1, 2, 1}, {64, 64, 52, 1, 2, 1},   {32, 32, 80, 1, 2, 1},
    {512, 512, 7, 1, 2, 1},  {16, 16, 120, 1, 2, 1},  {8, 8, 20, 1, 2, 1},     {24, 24, 28, 1, 4, 1},
    {64, 64, 28, 1, 4, 1},   {21, 21, 28, 1, 8, 1},   {21, 21, 65, 1, 4, 1},   {3, 3, 56, 1, 4, 1},
    {256, 256, 40, 1, 2, 1}, {128, 128, 100, 1, 2, 1}, {40, 40, 60, 1, 2, 1},  {96, 96, 14, 1, 2, 1},
    {8, 8, 200, 1, 2, 1},    {256, 256, 4, 1, 8, 1},  {19, 19, 64, 1, 8, 1},   {320, 320, 10, 1, 2, 1},
};

static const struct ig_grid_layer permuted[] = {
    {3, 3, 224, 1, 1, 1},    {3, 3, 300, 1, 1, 1},    {3, 3, 32, 1, 1, 1},     {3, 3, 100, 1, 1, 1},
    {3, 3, 224, 1, 2, 1},    {3, 3, 32, 1, 2, 1},     {3, 3, 400, 1, 2, 1},    {4, 4, 160, 1, 1, 1},
    {1, 1, 224, 1, 1, 1},    {2, 2, 100, 1, 1, 1},    {2, 2, 30, 1, 2, 1},     {6, 6, 60, 1, 1, 1},
    {16, 16, 40, 1, 1, 1},   {64, 64, 28, 1, 1, 1},   {64, 64, 28, 1, 2, 1},   {256, 256, 14, 1, 1, 1},
    {256, 256, 14, 1, 2, 1}, {512, 512, 7, 1, 2, 1},  {1024, 1024, 7, 1, 1, 1}, {24, 24, 56, 1, 1, 1},
    {24, 24, 56, 1, 2, 1},   {21, 21, 200, 1, 2, 1},  {85, 85, 40, 1, 2, 1},   {255, 255, 52, 1, 2, 1},
    {128, 128, 100, 1, 1, 1}, {128, 128, 100, 1, 2, 1}, {32, 32, 64, 1, 1, 1}, {64, 64, 64, 1, 2, 1},
    {8, 8, 8, 1, 1, 1},      {12, 12, 150, 1, 2, 1},
};

/* Of each window, stride and number of channels that there is a kernel for. */
#define LINES(ic, k, s)                                                                                                \
    {ic, 16, 10, k, s, 1}, {ic, 24, 60, k, s, 1}, {ic, 32, 150, k, s, 1}, {ic, 64, 40, k, s, 1},                       \
        {ic, 96, 220, k, s, 1}, {ic, 16, 300, k, s, 1}, {ic, 128, 100, k, s, 1}, {ic, 8, 30, k, s, 1},                 \
        {ic, 48, 20, k, s, 1}, {ic, 64, 250, k, s, 1}, {ic, 32, 80, k, s, 1}, {ic, 256, 50, k, s, 1},                  \
        {ic, 8, 200, k, s, 1}, {ic, 160, 15, k, s, 1}, {ic, 40, 180, k, s, 1}, {ic, 512, 24, k, s, 1},                 \
        {ic, 16, 120, k, s, 1},                                                                                        \
    {                                                                                                                  \
        ic, 64, 7, k, s, 1                                                                                             \
    }
static const struct ig_grid_layer lines[] = {LINES(3, 3, 1), LINES(3, 3, 2), LINES(3, 5, 1), LINES(3, 5, 2),
                                             LINES(3, 7, 2), LINES(1, 3, 1), LINES(1, 5, 1)};

#define SET(op, kind, part, list)                                                                                      \
    {                                                                                                                  \
        op, kind, part, list, sizeof list / sizeof *list                                                               \
    }
static const struct ig_calibration sets[] = {
    SET(IG_CONV, 0, "first6x", first),
    SET(IG_CONV, 0, "first", lines),
    SET(IG_CONV, 0, "winograd2of5", winograd5),
    SET(IG_CONV, 0, "winograd4of5", winograd5),
    SET(IG_CONV, 0, "winograd2of7", winograd7),
    SET(IG_CONV, 0, "winograd2s2", winograd_s2),
    SET(IG_CONV, 0, "winograd4s2", winograd_s2),
    SET(IG_CONV, IG_GRID_ROW, "winograd4row", rows),
    SET(IG_CONV, IG_GRID_COLUMN, "winograd4column", rows),
    SET(IG_CONV, 0, "winograd", winograd),
    SET(IG_CONV, 0, "strassen", strassen),
    SET(IG_CONV, 0, "depthwise3x3", depthwise3),
    SET(IG_CONV, 0, "depthwise7", depthwise7),
    SET(IG_CONV, 0, "depthwise", depthwise),
    SET(IG_CONV, 0, "", direct),
    SET(IG_FC, 0, "", dense),
    SET(IG_POOL, 0, "", pools),
    SET(IG_GLOBAL_POOL, 0, "", images),
    SET(IG_UNARY, IG_RELU, "", images),
    SET(IG_UNARY, IG_CLIP, "", images),
    SET(IG_UNARY, IG_SIGMOID, "", images),
    SET(IG_UNARY, IG_HARD_SIGMOID, "", images),
    SET(IG_UNARY, IG_HARD_SWISH, "", images),
    SET(IG_UNARY, IG_SWISH, "", images),
    SET(IG_BINARY, IG_ADD, "", images),
    SET(IG_BINARY, IG_MUL, "", images),
    SET(IG_COPY, 0, "", images),
    SET(IG_SOFTMAX, 0, "", classes),
    SET(IG_RESIZE, IG_NEAREST, "nearest", nearest),
    SET(IG_RESIZE, IG_LINEAR, "linear", linear),
    SET(IG_TRANSPOSE, 0, "", permuted),
};

const struct ig_calibration *ig_calibration_at(int i)
{
    return i < (int)(sizeof sets / sizeof *sets) ? &sets[i] : NULL;
}

/* Sets with a name come before the one without; a kernel has the first, and all of its op's kinds. */
const struct ig_calibration *ig_calibration_of(const struct ig_kernel *k, int i)
{
    int kinds = k->op == IG_UNARY || k->op == IG_BINARY;
    for (int s = 0; s < (int)(sizeof sets / sizeof *sets); s++)
        if (sets[s].op == k->op && strstr(k->name, sets[s].part)) {
            if (i-- == 0) return &sets[s];
            if (!kinds) return NULL;
        }
    return NULL;
}

static struct ig_window window_of(const struct ig_grid_layer *l, int32_t kh, int32_t kw)
{
    return (struct ig_window){.kd = 1,
                              .kh = kh,
                              .kw = kw,
                              .sd = 1,
                              .sh = l->stride,
                              .sw = l->stride,
                              .dd = 1,
                              .dh = 1,
                              .dw = 1,
                              .top = kh / 2,
                              .left = kw / 2,
                              .bottom = kh / 2,
                              .right = kw / 2,
                              .in_d = 1,
                              .out_d = 1};
}

static struct ig_shape shape(int32_t rank, int32_t a, int32_t b, int32_t c, int32_t d)
{
    return (struct ig_shape){IG_F32, rank, {a, b, c, d, 1, 1, 1, 1}};
}

static void weights(struct ig_single_problem *p, const struct ig_grid_layer *l, int32_t kh, int32_t kw)
{
    p->n_in = 3;
    p->in[1] = shape(4, l->oc, l->ic / l->groups, kh, kw);
    p->in[2] = shape(1, l->oc, 1, 1, 1);
    p->constants = 6;
}

static void resize(struct ig_single_problem *p, union ig_attrs *attrs, int32_t kind, const struct ig_grid_layer *l)
{
    float factor = (float)l->stride;
    p->out = shape(4, 1, l->size * l->stride, l->size * l->stride, l->oc);
    attrs->resize = (struct ig_resize){.mode = kind, .coord = kind == IG_LINEAR ? IG_HALF_PIXEL : IG_ASYMMETRIC,
                                       .nearest = IG_NEAREST_FLOOR, .scale = {1, factor, factor, 1, 1, 1, 1, 1}};
}

static void transpose(struct ig_single_problem *p, union ig_attrs *attrs, const struct ig_grid_layer *l)
{
    struct ig_shape planes = shape(4, 1, l->ic, l->size, l->size), pixels = shape(4, 1, l->size, l->size, l->ic);
    p->in[0] = l->stride == 1 ? planes : pixels;
    p->out = l->stride == 1 ? pixels : planes;
    attrs->transpose = l->stride == 1 ? (struct ig_transpose){{0, 2, 3, 1}} : (struct ig_transpose){{0, 3, 1, 2}};
}

void ig_grid_problem(struct ig_single_problem *p, union ig_attrs *attrs, const struct ig_kernel *k, int32_t kind,
                     const struct ig_grid_layer *l)
{
    int32_t out = (l->size + 2 * (l->k / 2) - l->k) / l->stride + 1;
    memset(attrs, 0, sizeof *attrs);
    *p = (struct ig_single_problem){.kernel = k, .attrs = attrs, .n_in = 1};
    p->in[0] = shape(4, 1, l->size, l->size, l->ic);
    p->out = shape(4, 1, out, out, l->oc);
    if (k->op == IG_CONV) {
        int32_t kh = kind == IG_GRID_ROW ? 1 : l->k, kw = kind == IG_GRID_COLUMN ? 1 : l->k;
        attrs->conv = (struct ig_conv){.w = window_of(l, kh, kw), .groups = l->groups};
        weights(p, l, kh, kw);
    } else if (k->op == IG_FC) {
        weights(p, l, 1, 1);
        p->in[0] = shape(2, 1, l->ic, 1, 1);
        p->in[1] = shape(2, l->oc, l->ic, 1, 1);
        p->out = shape(2, 1, l->oc, 1, 1);
    } else if (k->op == IG_POOL) {
        attrs->pool = (struct ig_pool){.w = window_of(l, l->k, l->k), .kind = IG_POOL_MAX};
    } else if (k->op == IG_GLOBAL_POOL) {
        attrs->global_pool.kind = IG_POOL_AVERAGE;
        p->out = shape(4, 1, 1, 1, l->oc);
    } else if (k->op == IG_UNARY) {
        attrs->unary.act = (struct ig_act){kind, kind == IG_CLIP ? 0 : 1.f / 6, kind == IG_CLIP ? 6 : .5f};
    } else if (k->op == IG_BINARY) {
        attrs->binary.kind = kind;
        p->n_in = 2;
        p->in[1] = p->in[0];
    } else if (k->op == IG_SOFTMAX) {
        attrs->axis = (struct ig_axis){3, IG_SOFTMAX_EXP};
    } else if (k->op == IG_RESIZE) {
        resize(p, attrs, kind, l);
    } else if (k->op == IG_TRANSPOSE) {
        transpose(p, attrs, l);
    }
}
