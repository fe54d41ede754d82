#include "planner/passes.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "cli/estimate.h"

void ig_passes_of_board(const struct ig_graph *g, struct ig_plan *p, const char *board)
{
    struct ig_platform *b = ig_load_board(board);
    ig_plan_passes(g, p, NULL, b);
    free(b);
}
