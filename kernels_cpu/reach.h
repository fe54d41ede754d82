/* Which rows of an operand a range of output rows needs: what fused chains and phases by rows rest on. */
#ifndef KERNELS_CPU_REACH_H
#define KERNELS_CPU_REACH_H

#include "kernels_cpu/kernel.h"

enum { IG_MAX_BAND = 32, IG_MAX_FEEDS = 2 }; /* the most members of a band; operands of one that members write */

struct ig_reach { /* output row y needs rows floor((y*mul + lo)/div) .. floor((y*mul + hi)/div), inclusive */
    int32_t mul, div; /* >= 1 */
    int32_t lo, hi;
};

struct ig_feed { /* an operand that earlier members of the band write, several where it is a concatenation */
    struct ig_reach reach; /* of the member's rows into it */
    uint32_t from;         /* those members, a bit each */
};

struct ig_rows { /* rows [a, b); a == b: none */
    int32_t a, b;
};

static inline int32_t ig_floor_div(int64_t n, int32_t d)
{
    return (int32_t)(n / d - (n % d < 0));
}

/* Rows of an operand of `h` rows that output rows [y0, y1) need, y0 < y1; rows in the padding do not count.
 */
static inline struct ig_rows ig_reach_rows(const struct ig_reach *r, int32_t y0, int32_t y1, int32_t h)
{
    int32_t a = ig_floor_div((int64_t)y0 * r->mul + r->lo, r->div);
    int32_t b = ig_floor_div((int64_t)(y1 - 1) * r->mul + r->hi, r->div) + 1;
    struct ig_rows rows = {a < 0 ? 0 : a, b > h ? h : b};
    if (rows.b < rows.a) rows.b = rows.a;
    return rows;
}

/*
 * Where a member's next rows begin, of which [need.a, need.b) are wanted. Rows that its only reader passes over are left
 * out; what several read goes on from row to row, as one may want what another does not.
 */
static inline int32_t ig_next_row(int32_t done, int32_t tile, struct ig_rows need, int several)
{
    int32_t a = need.a / tile * tile;
    return several || a < done ? done : a;
}

/* The reach of `op` into operand k of `call`; 0 if its rows do not follow the output's. */
int ig_reach_of(enum ig_op op, const struct ig_call *call, int32_t k, struct ig_reach *reach);

#endif
