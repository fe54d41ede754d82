#include "planner/platform.h"
const char *const ig_feature_names[IG_COST_TERMS + 1] = {"start", "work"};
