#include "bench/grid.h"

#include <stdlib.h>

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
        struct ig_grid_layer l = {table_ic[c % IC], table_oc[c / IC % OC], table_size[c / (IC * OC) % SIZE],
                                  table_k[c / (IC * OC * SIZE)], 1, 1};
        if (l.k > l.size || ig_grid_macs(&l) > most_macs) continue;
        if (n < most) at[n] = l;
        n++;
    }
    return n;
}
