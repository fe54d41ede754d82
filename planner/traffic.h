/* Bytes that a kernel moves, by the cache that they come from: features of its time. */
#ifndef PLANNER_TRAFFIC_H
#define PLANNER_TRAFFIC_H

#include "planner/features.h"

/* Parts that come from L2, L3, memory; what is left of 1 stays in the first cache. */
struct ig_split {
    double l2, l3, dram;
};

/* The parts, if `reach` bytes lie between two uses. */
struct ig_split ig_split_of(const struct ig_caches *c, double reach);
/* Adds `bytes` to the features `first`, first + 1, first + 2 (L2, L3, memory). */
void ig_book(double *f, int first, const struct ig_caches *c, double bytes, double reach);
/* Bytes of a dense operand; 0 where there is none. */
double ig_operand_bytes(const struct ig_operand *o);
/*
 * Image, residual and output once each, when all of them and `weights` bytes are passed over in turns; runs: pixels far
 * apart count as streams of the image, too.
 */
void ig_book_operands(double *f, const struct ig_caches *c, const struct ig_call *call, double weights, int runs);
/*
 * For what does little more than to read and write: images and output as one kind of traffic, as layers of one kind
 * have about as many bytes of both, from which no fit could tell the two apart. The output's memory may be cold.
 */
void ig_book_streams(double *f, const struct ig_caches *c, const struct ig_call *call);
/* Of what was booked, what comes in while the work goes on: up to half of it where the work takes far longer. */
void ig_overlap(double *f);

#endif
