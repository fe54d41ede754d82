/* A refined nest as a person reads it: the loop nest of ALOHA's Listings 3-6, and what the analysis makes of it. */
#ifndef PLANNER_EXPLAIN_H
#define PLANNER_EXPLAIN_H

#include <stdio.h>

#include "planner/analyse.h"

/* The steps of the refinement, as far as which a nest is printed. */
enum ig_listing { IG_LISTING_ORDER = 3, IG_LISTING_LANES, IG_LISTING_TRANSFERS, IG_LISTING_TILES };

void ig_explain_nest(FILE *f, const struct ig_nest *nest, int listing);
/* Operations, bytes, channels, the bound and the time, a line each. */
void ig_explain_analysis(FILE *f, const struct ig_nest *nest, const struct ig_analysis *a);

#endif
