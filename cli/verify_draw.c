/* A plan whose kernels, cuts and bands are drawn, so that networks are tested with more than what is fastest here. */
#include <string.h>

#include "cli/verify.h"
#include "planner/draw.h"
#include "planner/nsga2.h"

/* The folder in which model.onnx lies, whatever folders that one is in. */
static const char *case_of(const char *model)
{
    const char *at = strrchr(model, '/');
    while (at && at > model && at[-1] != '/') at--;
    return at ? at : model;
}

void ig_verify_draw(const struct ig_graph *g, const struct ig_verify_options *o, const char *model, struct ig_profile *p,
                    struct ig_plan_options *po)
{
    static const int32_t bands[] = {IG_BANDS_AUTO, IG_BANDS_OFF, IG_BANDS_CHAINS, IG_BANDS_ALL};
    uint64_t state = o->draw;
    for (const char *at = case_of(model); *at; at++) state = state * 31 + (unsigned char)*at;
    if (ig_draw_profile(p, g, o->isa, o->threads, &state)) ig_fatal("out of memory");
    po->profile = p;
    if (o->fatbin) return;
    po->bands = bands[ig_draw(&state, 4)];
    if (!ig_draw(&state, 4)) po->objective = IG_OBJECTIVE_MEMORY;
}
