/*
 * Deployments made by hand for tests: parts that sleep and mix bytes. What a part writes depends on every tensor that
 * it reads and on the place of every number there: a frame that is lost, doubled, late or torn changes the result.
 */
#ifndef TESTS_MPI_RANKS_H
#define TESTS_MPI_RANKS_H

#include "runtime/mpi/rank.h"

enum { RANKS_PARTS = 16, RANKS_TENSORS = 32, RANKS_IN = 8 };

struct ranks_part {
    int32_t key, n_in, in[RANKS_IN], out; /* tensors; 0 is the network's input, the highest its output */
    double ms;                            /* a frame */
    int computes;                         /* all that time; else it sleeps */
};

struct ranks_spec { /* "0:0>1@20 1:1>2 0:1,2>3%5" is: key 0 makes tensor 1 of tensor 0, sleeping 20 ms, ..;
                       of tensors 1 and 2 tensor 3, computing for 5 ms */
    struct ranks_part parts[RANKS_PARTS]; /* in topological order */
    int32_t n_parts, n_keys, n_tensors;
    int32_t width; /* floats of every tensor */
    int32_t copies;
};

/* 0, or -1: not of that form. */
int ranks_parse(struct ranks_spec *s, const char *text, int32_t width, int32_t copies);
/* The tables of one rank; never freed. */
struct ig_rank *ranks_table(const struct ranks_spec *s, int32_t rank);

#endif
